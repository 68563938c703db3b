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

/// Numbers of a row that are worked on together.
pub(crate) const LANES: usize = 8;

/// Adds `scale` times values, each times its number in the mask if there is one. Works in whole blocks: the last ends
/// where the sums end, and is computed before the others are written, so that it may lie over a part of the one
/// before. Fewer sums than a block has are added one by one.
#[inline(always)]
fn add_in_blocks(sums: &mut [f64], scale: f32, values: &[f32], mask: Option<&[f32]>) {
    let values = &values[..sums.len()];
    let Some(last) = sums.len().checked_sub(LANES) else {
        for (at, (sum, value)) in sums.iter_mut().zip(values).enumerate() {
            *sum += f64::from(scale * value * mask.map_or(1.0, |mask| mask[at]));
        }
        return;
    };
    let tail = block_sum(sums, scale, values, mask, last);
    let mut at = 0;
    while at < last {
        let block = block_sum(sums, scale, values, mask, at);
        sums[at..at + LANES].copy_from_slice(&block);
        at += LANES;
    }
    sums[last..].copy_from_slice(&tail);
}

#[inline(always)]
fn block_sum(sums: &[f64], scale: f32, values: &[f32], mask: Option<&[f32]>, at: usize) -> [f64; LANES] {
    let mut block: [f64; LANES] = sums[at..at + LANES].try_into().expect("as many lanes");
    let values: &[f32; LANES] = values[at..at + LANES].try_into().expect("as many lanes");
    match mask {
        Some(mask) => {
            let mask: &[f32; LANES] = mask[at..at + LANES].try_into().expect("as many lanes");
            for lane in 0..LANES {
                block[lane] += f64::from(scale * values[lane] * mask[lane]);
            }
        }
        None => {
            for lane in 0..LANES {
                block[lane] += f64::from(scale * values[lane]);
            }
        }
    }
    block
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
        add_in_blocks(&mut self[start..start + values.len()], scale, values, None);
    }

    #[inline(always)]
    fn add_masked_run(&mut self, start: usize, scale: f32, mask: &[f32], values: &[f32]) {
        add_in_blocks(&mut self[start..start + values.len()], scale, values, Some(mask));
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
    fn runs_of_every_length_are_added_once() {
        for length in 0..40 {
            let values: Vec<f32> = (0..length).map(|at| 1.0 / (1.0 + at as f32)).collect();
            let mask: Vec<f32> = (0..length).map(|at| (at % 3 % 2) as f32).collect();
            let begin: Vec<f64> = (0..length + 2).map(|at| 0.7 * at as f64).collect();
            for masked in [false, true] {
                let (mut sums, mut expected) = (begin.clone(), begin.clone());
                match masked {
                    true => sums.add_masked_run(1, 0.3, &mask, &values),
                    false => sums.add_run(1, 0.3, &values),
                }
                for at in 0..length {
                    expected[at + 1] += f64::from(0.3 * values[at] * if masked { mask[at] } else { 1.0 });
                }
                assert_eq!(sums, expected, "{length} numbers");
            }
        }
    }

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
