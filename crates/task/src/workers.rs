//! Buffers that decoding reuses, whatever thread it runs on.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Sets of buffers, as many as were ever in use at once. They belong to no thread: whoever decodes takes one
/// and gives it back, so that any pool of threads may call, of any size.
pub struct Workers<W> {
    free: Arc<Mutex<Vec<W>>>,
}

impl<W> Workers<W> {
    /// None yet.
    pub fn new() -> Self {
        Self { free: Arc::default() }
    }

    /// Takes a set of buffers, made by `make` if all are in use; it comes back when the guard is dropped.
    pub fn take(&self, make: impl FnOnce() -> W) -> Worker<'_, W> {
        match self.try_take(|| Ok::<_, std::convert::Infallible>(make())) {
            Ok(worker) => worker,
            Err(never) => match never {},
        }
    }

    /// The same for buffers that cannot always be made.
    pub fn try_take<E>(&self, make: impl FnOnce() -> Result<W, E>) -> Result<Worker<'_, W>, E> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(Worker { worker: Some(free.map_or_else(make, Ok)?), home: self })
    }
}

impl<W> Default for Workers<W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Clones share their buffers.
impl<W> Clone for Workers<W> {
    fn clone(&self) -> Self {
        Self { free: Arc::clone(&self.free) }
    }
}

impl<W> fmt::Debug for Workers<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workers")
    }
}

/// A set of buffers in use.
#[derive(Debug)]
pub struct Worker<'w, W> {
    /// Present until the guard is dropped.
    worker: Option<W>,
    home: &'w Workers<W>,
}

impl<W> Deref for Worker<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        self.worker.as_ref().expect("present until dropped")
    }
}

impl<W> DerefMut for Worker<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        self.worker.as_mut().expect("present until dropped")
    }
}

impl<W> Drop for Worker<'_, W> {
    fn drop(&mut self) {
        // A panic may have left them half filled.
        if let Some(worker) = self.worker.take().filter(|_| !std::thread::panicking()) {
            self.home.free.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_are_made_only_when_all_are_in_use() {
        let workers: Workers<Vec<u8>> = Workers::new();
        {
            let mut one = workers.take(Vec::new);
            let other = workers.take(|| vec![7]);
            one.push(1);
            assert_eq!((one.len(), other.len()), (1, 1));
        }
        let again: Vec<_> =
            [workers.take(Vec::new), workers.take(Vec::new)].iter().map(|w| w.len()).collect();
        assert_eq!(again, [1, 1]);
        assert!(workers.try_take(|| Ok::<_, String>(vec![])).is_ok());
    }
}
