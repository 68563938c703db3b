//! The server: listens, hands connections to the routes, ends gracefully.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

use crate::connection::Connection;
use crate::limits::Limits;
use crate::routes::router;
use crate::shared::Shared;

/// What a server listens to, and who may ask it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The address; this machine alone unless somebody names another.
    pub host: IpAddr,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// What clients must show as `Authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// Whether a server that others can reach may go without a token.
    pub no_token: bool,
    /// A folder of models; those that are part of the library without one.
    pub models: Option<PathBuf>,
    /// The log of a training that the page follows.
    pub log: Option<PathBuf>,
    /// How much it takes.
    pub limits: Limits,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 8765,
            token: None,
            no_token: false,
            models: None,
            log: None,
            limits: Limits::default(),
        }
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others could use it without being asked who they are.
    #[error(
        "{0} can be reached by others: give a token that they must show, or say that none is needed (--token T, --no-token)"
    )]
    Open(IpAddr),
    /// The address cannot be listened to.
    #[error("cannot listen to {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The models cannot be opened.
    #[error(transparent)]
    Models(#[from] consonant::Error),
    /// The system refuses something else.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// What a server tells whoever runs it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// It was asked to end, and finishes what runs.
    Ending,
    /// The models were opened anew.
    Reloaded,
    /// The models could not be opened anew; those from before stay.
    NotReloaded(consonant::Error),
}

/// A server that listens.
///
/// ```no_run
/// use consonant_serve::{Server, ServerOptions};
///
/// let server = Server::bind(ServerOptions::default())?;
/// println!("http://{}/", server.address());
/// server.run()?;
/// # Ok::<(), consonant_serve::ServeError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Runtime,
    stop: watch::Sender<bool>,
}

/// Ends a server, or has its models reloaded, from another thread.
#[derive(Debug, Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
}

impl Handle {
    /// No new connections; what runs is finished.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Opens the models anew; requests that run keep those that they began with.
    pub fn reload(&self) -> Result<(), consonant::Error> {
        self.shared.reload()
    }
}

/// Heads of requests: bytes, and lines.
const HEAD_BYTES: usize = 32 << 10;
const HEAD_LINES: usize = 64;
/// Threads that speak with clients; the work is done by others.
const SPEAKERS: usize = 2;

impl Server {
    /// Opens the models and listens.
    pub fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        let ServerOptions { host, port, token, no_token, models, log, limits } = options;
        if !host.is_loopback() && token.is_none() && !no_token {
            return Err(ServeError::Open(host));
        }
        let local_only = host.is_loopback() && token.is_none();
        let shared = Arc::new(Shared::new(limits, token, local_only, models, log)?);
        let address = SocketAddr::new(host, port);
        let listener = TcpListener::bind(address).map_err(|source| ServeError::Listen { address, source })?;
        listener.set_nonblocking(true)?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(SPEAKERS).enable_all().build()?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            shared,
            runtime,
            stop: watch::Sender::new(false),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it from another thread.
    pub fn handle(&self) -> Handle {
        Handle { shared: Arc::clone(&self.shared), stop: self.stop.clone() }
    }

    /// Serves until [`Handle::stop`].
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, shared, runtime, stop, .. } = self;
        let mut stopped = stop.subscribe();
        let ended = async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        runtime.block_on(serve(listener, shared, ended))?;
        Ok(())
    }

    /// Serves until the process is interrupted or asked to end; the signal HUP reloads the models. `hear` is told of both.
    pub fn run_until_signal(self, hear: impl Fn(Event) + Send + Sync + 'static) -> Result<(), ServeError> {
        let handle = self.handle();
        {
            let _inside = self.runtime.enter();
            self.runtime.spawn(signals(handle, hear)?);
        }
        self.run()
    }
}

#[cfg(unix)]
fn signals(handle: Handle, hear: impl Fn(Event) + Send + 'static) -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            let end = {
                let interrupted = std::pin::pin!(interrupt.recv());
                let terminated = std::pin::pin!(terminate.recv());
                let hung_up = std::pin::pin!(hang_up.recv());
                let ended = futures_util::future::select(interrupted, terminated);
                matches!(
                    futures_util::future::select(ended, hung_up).await,
                    futures_util::future::Either::Left(_)
                )
            };
            if end {
                hear(Event::Ending);
                handle.stop();
                return;
            }
            let reloading = handle.clone();
            let outcome = tokio::task::spawn_blocking(move || reloading.reload()).await;
            match outcome {
                Ok(Err(error)) => hear(Event::NotReloaded(error)),
                _ => hear(Event::Reloaded),
            }
        }
    })
}

#[cfg(not(unix))]
fn signals(handle: Handle, hear: impl Fn(Event) + Send + 'static) -> io::Result<impl Future<Output = ()>> {
    Ok(async move {
        let _ = tokio::signal::ctrl_c().await;
        hear(Event::Ending);
        handle.stop();
    })
}

/// Accepts connections until the end, then finishes what runs.
async fn serve(
    listener: TcpListener,
    shared: Arc<Shared>,
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = router(Arc::clone(&shared));
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(shared.limits.max_connections));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.silence())
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES);
    let mut ended = std::pin::pin!(ended);
    loop {
        let next = std::pin::pin!(async {
            let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
            Ok::<_, io::Error>((listener.accept().await?.0, place))
        });
        let (stream, place) = match futures_util::future::select(next, &mut ended).await {
            futures_util::future::Either::Right(_) => break,
            futures_util::future::Either::Left((Ok(accepted), _)) => accepted,
            // Out of descriptors, or a client that left at once: others may still come.
            futures_util::future::Either::Left((Err(_), _)) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(Connection::new(stream, shared.limits.silence()));
        let connection = builder.serve_connection(io, TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            shared.metrics.connections.fetch_add(1, Ordering::Relaxed);
            // What goes wrong with a connection is the client's: it left, or it was too slow.
            let _ = connection.await;
            shared.metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    // Whatever runs has its time limit, and its client some patience.
    let longest = shared.limits.time() + shared.limits.silence();
    let _ = tokio::time::timeout(longest, graceful.shutdown()).await;
    Ok(())
}
