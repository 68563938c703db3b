//! How much a server takes.

use std::time::Duration;

// What the macro makes names the crate that it comes from.
use consonant::learn as consonant_learn;

consonant::task::settings! {
    /// How much of everything a server takes; more is refused with a word of what was too much.
    pub struct Limits {
        /// Bytes of a request's body at most, and of a line of a stream.
        max_bytes: usize = 8 << 20, "N" in 1.0..;
        /// Words of a request at most, split at white space.
        max_words: usize = 100_000, "N" in 1.0..;
        /// Variables of a problem at most.
        max_variables: usize = 100_000, "N" in 1.0..;
        /// Seconds that a request may take, the wait for its turn included; solvers stop there with their bound.
        time_limit: f64 = 30.0, "S" in 0.001..=86_400.0;
        /// Requests that may wait for their turn; more are told to come back later.
        queue: usize = 256, "N";
        /// Connections at a time; more wait to be accepted.
        max_connections: usize = 1024, "N" in 1.0..;
        /// Seconds that a client may take to send a request's head, to send a piece of its body, or to take a piece of the answer.
        patience: f64 = 10.0, "S" in 0.001..=86_400.0;
    }
}

impl Limits {
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs_f64(self.time_limit)
    }

    pub(crate) fn silence(&self) -> Duration {
        Duration::from_secs_f64(self.patience)
    }
}
