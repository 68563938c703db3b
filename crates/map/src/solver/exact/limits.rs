//! Time and node limits.

use crate::solver::Stop;
use std::time::{Duration, Instant};

/// When to stop; shared by all stages of one solve.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    start: Instant,
    deadline: Option<Instant>,
    stop: Stop,
    pub(crate) max_nodes: Option<u64>,
}

impl Limits {
    pub(crate) fn new(time: Option<Duration>, max_nodes: Option<u64>, stop: Stop) -> Self {
        let start = Instant::now();
        Self { start, deadline: time.and_then(|time| start.checked_add(time)), max_nodes, stop }
    }

    /// Whether the time is over, or somebody asked for an end.
    pub(crate) fn expired(&self) -> bool {
        self.stop.is_raised() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}
