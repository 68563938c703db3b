//! Ctrl-C (and TERM): files that are not complete yet are removed before the process ends. A training that
//! has something to show is asked to stop instead, and writes its model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};

/// Temporary files that exist now and have not got their final name.
static INCOMPLETE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether there is work that can be kept, so that the first interrupt asks for it.
static WORTH_KEEPING: AtomicBool = AtomicBool::new(false);
/// Whether a model is being trained.
static TRAINING: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether somebody else hears signals and ends the process in good order.
static LEFT: AtomicBool = AtomicBool::new(false);

/// By custom 128 + the number of the signal, which is SIGINT's where signals have none.
static EXIT: AtomicU8 = AtomicU8::new(130);

/// The exit code of work that a signal ended.
pub fn exit_code() -> u8 {
    EXIT.load(Ordering::Relaxed)
}

fn incomplete() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    INCOMPLETE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the handler; called once, at the start.
#[cfg(unix)]
pub fn install() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let install = || -> std::io::Result<()> {
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let hear = move || signals.forever().for_each(|signal| heard(128 + signal as u8));
        std::thread::Builder::new().name("signals".into()).spawn(hear)?;
        Ok(())
    };
    install().context("cannot install the interrupt handler")
}

/// Installs the handler; called once, at the start.
#[cfg(not(unix))]
pub fn install() -> Result<()> {
    ctrlc::set_handler(|| heard(exit_code())).context("cannot install the interrupt handler")
}

fn heard(code: u8) {
    if LEFT.load(Ordering::Relaxed) {
        return;
    }
    EXIT.store(code, Ordering::Relaxed);
    if WORTH_KEEPING.load(Ordering::Relaxed) && !STOP.swap(true, Ordering::Relaxed) {
        eprintln!("interrupted: the model is written as it is now; a second interrupt ends at once");
        return;
    }
    // The lock is never given back: no file can be finished or begun while the process ends.
    let files = incomplete();
    if TRAINING.load(Ordering::Relaxed) && !WORTH_KEEPING.load(Ordering::Relaxed) {
        eprintln!("interrupted before the first epoch was done: no model was written");
    }
    for path in files.iter() {
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(code.into());
}

/// From now on there is a training whose work is lost if it is interrupted, until [`keep_work`].
pub fn begin_training() {
    WORTH_KEEPING.store(false, Ordering::Relaxed);
    TRAINING.store(true, Ordering::Relaxed);
}

/// The model is written.
pub fn end_training() {
    TRAINING.store(false, Ordering::Relaxed);
}

/// From now on the first interrupt only raises the flag of [`stop`].
pub fn keep_work() {
    WORTH_KEEPING.store(true, Ordering::Relaxed);
}

/// From now on signals are left to who hears them, too: a server.
#[cfg(feature = "serve")]
pub fn leave() {
    LEFT.store(true, Ordering::Relaxed);
}

/// A flag for work that can stop and keep what it has.
pub fn stop() -> &'static AtomicBool {
    &STOP
}

/// Creates an incomplete file and registers it in one step, so that no interrupt falls in between.
pub fn create<F>(make: impl FnOnce() -> std::io::Result<(F, PathBuf)>) -> std::io::Result<(F, PathBuf)> {
    let mut files = incomplete();
    let (file, path) = make()?;
    files.insert(path.clone());
    Ok((file, path))
}

/// Ends the incomplete life of `path` by `finish` (a rename or a removal), undisturbed by interrupts.
pub fn release<R>(path: &Path, finish: impl FnOnce() -> R) -> R {
    let mut files = incomplete();
    let result = finish();
    files.remove(path);
    result
}
