//! Sparse vectors over weight indices, and the receivers of gradients.

/// Pairs of weight index and value: the difference of two outputs' features, or one example's gradient.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseVector {
    pairs: Vec<(u32, f32)>,
}

impl SparseVector {
    /// An empty vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all pairs and keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Adds `value` at `index`; an index may come more than once.
    #[inline]
    pub fn push(&mut self, index: u32, value: f32) {
        self.pairs.push((index, value));
    }

    /// The pairs as they are now.
    #[inline]
    pub fn pairs(&self) -> &[(u32, f32)] {
        &self.pairs
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Sorts by index, sums the values of equal indices and drops zeros, so that each index stands once.
    pub fn compact(&mut self) {
        self.pairs.sort_by_key(|&(index, _)| index);
        let mut kept = 0;
        let mut at = 0;
        while at < self.pairs.len() {
            let (index, mut sum) = self.pairs[at];
            at += 1;
            while at < self.pairs.len() && self.pairs[at].0 == index {
                sum += self.pairs[at].1;
                at += 1;
            }
            if sum != 0.0 {
                self.pairs[kept] = (index, sum);
                kept += 1;
            }
        }
        self.pairs.truncate(kept);
    }

    /// The squared Euclidean length of a compact vector.
    pub fn squared_norm(&self) -> f64 {
        self.pairs.iter().map(|&(_, value)| f64::from(value) * f64::from(value)).sum()
    }
}

/// Receives a gradient piece by piece; known at compile time, so that no call is virtual.
pub trait Gradient {
    /// Adds `value` at one weight.
    fn add(&mut self, index: usize, value: f32);

    /// Adds `scale` times `values` at consecutive weights that begin at `start`.
    fn add_run(&mut self, start: usize, scale: f32, values: &[f32]);

    /// As [`add_run`](Self::add_run), where a weight gets its value times its number in `mask`, 1 or 0.
    fn add_masked_run(&mut self, start: usize, scale: f32, mask: &[f32], values: &[f32]);

    /// Adds `scale` times `values[labels[j]]` at weight `start + j`: a sparse row of labels.
    fn add_gathered(&mut self, start: usize, scale: f32, labels: &[u32], values: &[f32]);
}

impl Gradient for SparseVector {
    #[inline]
    fn add(&mut self, index: usize, value: f32) {
        self.push(index as u32, value);
    }

    #[inline]
    fn add_run(&mut self, start: usize, scale: f32, values: &[f32]) {
        self.pairs.extend(
            values.iter().enumerate().map(|(offset, value)| ((start + offset) as u32, scale * value)),
        );
    }

    #[inline]
    fn add_masked_run(&mut self, start: usize, scale: f32, mask: &[f32], values: &[f32]) {
        let kept = values.iter().zip(mask).enumerate().filter(|(_, (_, mask))| **mask != 0.0);
        self.pairs.extend(kept.map(|(offset, (value, _))| ((start + offset) as u32, scale * value)));
    }

    #[inline]
    fn add_gathered(&mut self, start: usize, scale: f32, labels: &[u32], values: &[f32]) {
        self.pairs.extend(
            labels
                .iter()
                .enumerate()
                .map(|(offset, &label)| ((start + offset) as u32, scale * values[label as usize])),
        );
    }
}

/// A gradient over all weights. Sums in double precision: hundreds of thousands of small terms meet in one
/// weight. Always inlined, so that they are compiled for the vectors that their caller is compiled for.
impl Gradient for [f64] {
    #[inline(always)]
    fn add(&mut self, index: usize, value: f32) {
        self[index] += f64::from(value);
    }

    #[inline(always)]
    fn add_run(&mut self, start: usize, scale: f32, values: &[f32]) {
        for (sum, value) in self[start..start + values.len()].iter_mut().zip(values) {
            *sum += f64::from(scale * value);
        }
    }

    #[inline(always)]
    fn add_masked_run(&mut self, start: usize, scale: f32, mask: &[f32], values: &[f32]) {
        for ((sum, value), mask) in self[start..start + values.len()].iter_mut().zip(values).zip(mask) {
            *sum += f64::from(scale * value * mask);
        }
    }

    #[inline(always)]
    fn add_gathered(&mut self, start: usize, scale: f32, labels: &[u32], values: &[f32]) {
        for (sum, &label) in self[start..start + labels.len()].iter_mut().zip(labels) {
            *sum += f64::from(scale * values[label as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_sums_equal_indices_and_drops_zeros() {
        let mut vector = SparseVector::new();
        for (index, value) in [(5, 1.0), (2, 2.0), (5, -1.0), (9, 0.5), (2, 1.0)] {
            vector.push(index, value);
        }
        vector.compact();
        assert_eq!(vector.pairs(), [(2, 3.0), (9, 0.5)]);
        assert_eq!(vector.squared_norm(), 9.25);
    }
}
