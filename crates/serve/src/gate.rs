//! Whose turn it is: as many requests work at a time as there are threads, some more wait, others are sent away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::problem::Problem;

#[derive(Debug)]
pub struct Gate {
    turns: Arc<Semaphore>,
    size: usize,
    waiting: AtomicUsize,
    queue: usize,
}

/// Somebody who waits, counted until it is over, also when the client goes away.
struct Waiting<'g>(&'g AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Gate {
    pub fn new(size: usize, queue: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(size)), size, waiting: AtomicUsize::new(0), queue }
    }

    /// Waits for a turn, which lasts until the permit is dropped.
    pub async fn enter(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, Problem> {
        if let Ok(permit) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(permit);
        }
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if before >= self.queue {
            return Err(Problem::busy());
        }
        let turn = timeout_at(deadline, Arc::clone(&self.turns).acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or_else(Problem::busy)
    }

    /// How many work, and how many wait.
    pub fn load(&self) -> (usize, usize) {
        let free = self.turns.available_permits();
        (self.size.saturating_sub(free), self.waiting.load(Ordering::Relaxed))
    }
}
