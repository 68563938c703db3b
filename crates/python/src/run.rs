//! Work away from the interpreter: the GIL is released, threads are bounded, and Ctrl-C is heard while it runs.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use consonant::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{raise, usage};

/// How long Ctrl-C may wait.
const PATIENCE: Duration = Duration::from_millis(40);

/// Pools by process and size. A forked child has none of its parent's threads, so it makes its own. Only touched with the GIL held, so
/// that no fork finds it locked.
static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

/// A pool of so many threads; all cores without a number.
pub fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let threads = match threads {
        Some(0) => return Err(usage("threads must be 1 or more")),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, Into::into),
    };
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, pool)) = pools.iter().find(|(owner, size, _)| (*owner, *size) == (process, threads)) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "consonant".to_owned()).build();
    let pool =
        Arc::new(pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?);
    // The parent's pools have no threads here: nobody would ever end them.
    pools.extract_if(.., |(owner, ..)| *owner != process).for_each(std::mem::forget);
    pools.push((process, threads, Arc::clone(&pool)));
    Ok(pool)
}

/// Leaves the pools to the work that nobody waits for any more: what comes next has threads of its own.
fn abandon_pools() {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

type Outcome<T> = Result<Result<T, Error>, Box<dyn Any + Send>>;

/// What work in progress sends.
enum Message<T> {
    Told(String),
    Done(Outcome<T>),
}

/// Work that runs on a pool.
pub struct Running<T> {
    /// Locked by nobody: Python's classes must be such as could be shared.
    messages: Mutex<Receiver<Message<T>>>,
    stop: Arc<AtomicBool>,
}

/// How work speaks while it runs.
pub struct Told<T>(Sender<Message<T>>);

impl<T> Told<T> {
    /// Tells something to the listener.
    pub fn tell(&self, text: String) {
        // Nobody listens any more after Ctrl-C.
        let _ = self.0.send(Message::Told(text));
    }
}

/// Starts work on a pool; it sees a flag that is raised when nobody waits for it any more.
pub fn start<T: Send + 'static>(
    pool: &ThreadPool,
    work: impl FnOnce(&Told<T>, &Arc<AtomicBool>) -> Result<T, Error> + Send + 'static,
) -> Running<T> {
    let (sender, messages) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    pool.spawn(move || {
        let told = Told(sender);
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&told, &flag)));
        let _ = told.0.send(Message::Done(outcome));
    });
    Running { messages: Mutex::new(messages), stop }
}

impl<T: Send> Running<T> {
    /// Waits for the work, with the GIL released. Ctrl-C ends the waiting at once; the work hears of it and ends by itself.
    pub fn wait(self, py: Python<'_>, listener: Option<&Bound<'_, PyAny>>) -> PyResult<T> {
        let Self { messages, stop } = self;
        let mut messages = messages.into_inner().unwrap_or_else(PoisonError::into_inner);
        let result = loop {
            let heard;
            (heard, messages) = py.detach(move || (messages.recv_timeout(PATIENCE), messages));
            match heard {
                Ok(Message::Done(outcome)) => break outcome,
                Ok(Message::Told(text)) => {
                    if let Some(Err(error)) = listener.map(|listener| listener.call1((text,))) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work ended without a result"));
                }
            }
            if let Err(interrupt) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                abandon_pools();
                return Err(interrupt);
            }
        };
        match result {
            Ok(result) => result.map_err(raise),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
                Err(PyRuntimeError::new_err(format!("a bug in consonant: {}", text.unwrap_or_default())))
            }
        }
    }
}

/// Runs work on a pool of so many threads and waits for it.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    start(&*pool(threads)?, move |_, _| work()).wait(py, None)
}

/// The program `consonant` with its arguments, of which the first is its name; returns its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    let code = py.detach(|| consonant_cli::run(arguments));
    // The standard library does not say the number of an exit code, but compares.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(1)
}
