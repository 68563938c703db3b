//! A way to end a search from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that somebody else may raise: the search then ends as if its time were over, with what it has found and proven.
///
/// ```
/// use consonant_map::solver::{Limits, Method, Stop, solve};
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// let mut graph = consonant_map::Graph::new();
/// graph.binaries(&[1.0])?;
/// // Whoever holds the flag may raise it while the search is on.
/// let flag = Arc::new(AtomicBool::new(false));
/// let limits = Limits { stop: Stop::from(Arc::clone(&flag)), ..Limits::default() };
/// assert_eq!(solve(&graph, Method::Exact, &limits)?.certificate.value(), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// Whether somebody asked for an end.
    pub fn is_raised(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl From<Arc<AtomicBool>> for Stop {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }
}
