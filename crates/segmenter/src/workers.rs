//! Buffers that threads take and give back.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A pool of workers, each with the buffers that one thread needs; as many are made as threads ever work at a time.
pub(crate) struct Workers<W> {
    idle: Mutex<Vec<W>>,
}

impl<W> Default for Workers<W> {
    fn default() -> Self {
        Self { idle: Mutex::default() }
    }
}

impl<W> fmt::Debug for Workers<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl<W> Workers<W> {
    /// Lets `work` use a worker, one that is idle or else a new one. A worker whose work fails to end is not used again.
    pub fn with<R, E>(
        &self,
        new: impl FnOnce() -> Result<W, E>,
        work: impl FnOnce(&mut W) -> Result<R, E>,
    ) -> Result<R, E> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut worker = taken.map_or_else(new, Ok)?;
        let result = work(&mut worker);
        idle().push(worker);
        result
    }
}
