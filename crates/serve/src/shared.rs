//! What all requests share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use axum::body::Bytes;
use axum::http::StatusCode;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::api::{Lane, Work};
use crate::gate::Gate;
use crate::limits::Limits;
use crate::loaded::Loaded;
use crate::metrics::Metrics;
use crate::problem::Problem;

#[derive(Debug)]
pub struct Shared {
    pub limits: Limits,
    pub token: Option<String>,
    /// Whether only this machine may ask, so that names of other hosts are somebody's trick.
    pub local_only: bool,
    pub folder: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub metrics: Metrics,
    pub sentences: Gate,
    pub solvers: Gate,
    pub openapi: Bytes,
    loaded: RwLock<Arc<Loaded>>,
}

impl Shared {
    pub fn new(
        limits: Limits,
        token: Option<String>,
        local_only: bool,
        folder: Option<PathBuf>,
        log: Option<PathBuf>,
    ) -> Result<Self, consonant::Error> {
        let threads = rayon::current_num_threads().max(1);
        Ok(Self {
            loaded: RwLock::new(Arc::new(Loaded::open(folder.as_deref())?)),
            sentences: Gate::new(threads, limits.queue),
            solvers: Gate::new(threads, limits.queue),
            openapi: crate::openapi::document(),
            metrics: Metrics::default(),
            limits,
            token,
            local_only,
            folder,
            log,
        })
    }

    /// The models as they are now.
    pub fn models(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the models anew; if that fails, those that are open stay.
    pub fn reload(&self) -> Result<(), consonant::Error> {
        let loaded = Arc::new(Loaded::open(self.folder.as_deref())?);
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        self.metrics.reloads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Does a piece of work when its turn has come, off the threads that speak with clients. Work that nobody waits for any more
    /// still ends before its turn is over: there is never more of it than there are turns.
    pub async fn work<R: Send + 'static>(
        self: &Arc<Self>,
        lane: Lane,
        task: impl FnOnce(&Work) -> Result<R, Problem> + Send + 'static,
    ) -> Result<R, Problem> {
        let deadline = Instant::now() + self.limits.time();
        let gate = match lane {
            Lane::Sentences => &self.sentences,
            Lane::Solvers => &self.solvers,
        };
        let permit = gate.enter(deadline).await?;
        let work = Work { shared: Arc::clone(self), models: self.models(), deadline: deadline.into_std() };
        let (sender, receiver) = oneshot::channel();
        let run = move || {
            // A panic must not end the process, nor leave the client without an answer.
            let outcome = catch_unwind(AssertUnwindSafe(|| task(&work)));
            drop(permit);
            let failed = |_| {
                Problem::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the work failed in a way that is a bug of this program",
                )
            };
            let _ = sender.send(outcome.map_err(failed).and_then(|outcome| outcome));
        };
        match lane {
            Lane::Sentences => rayon::spawn(run),
            Lane::Solvers => drop(tokio::task::spawn_blocking(run)),
        }
        match timeout_at(deadline, receiver).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is ending")),
            Err(_) => Err(Problem::late(self.limits.time_limit)),
        }
    }
}
