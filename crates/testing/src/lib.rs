//! What the tests of several crates share: numbers that are the same everywhere, random problems, and the
//! truth about them by enumeration. Not published.

#![forbid(unsafe_code)]

pub mod graph;
pub mod network;
pub mod pattern;
pub mod problem;

/// A small generator (xorshift), so that failures can be repeated.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that begins with a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    /// A number between -1 and 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    /// Whether something happens that does so with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        (self.uniform() + 1.0) / 2.0 < p
    }

    /// So many different numbers below `n`.
    pub fn choose(&mut self, count: usize, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in 0..count {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all
    }
}

/// The best value over all assignments of variables with these numbers of states; minus infinity without any.
pub fn best_of_all(sizes: &[usize], mut value: impl FnMut(&[u32]) -> f64) -> f64 {
    let mut best = f64::NEG_INFINITY;
    if sizes.contains(&0) {
        return best;
    }
    let mut states = vec![0; sizes.len()];
    loop {
        best = best.max(value(&states));
        let Some(i) = (0..sizes.len()).find(|&i| (states[i] as usize) + 1 < sizes[i]) else { return best };
        states[i] += 1;
        states[..i].fill(0);
    }
}
