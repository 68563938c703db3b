//! Random numbers, the same for the same seed. Those of `consonant-testing` are for tests alone: what is packed cannot
//! depend on what is not published.

use consonant::learn::hash::combine;

/// A source of random numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        combine(self.0, 1)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// Whether something of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.next() as f64) < probability * u64::MAX as f64
    }
}
