//! Weights in training: which weights there are, and where in the flat vector each stands.
//!
//! A feature owns a row of weights, one for each label it may speak of. Rows of features that speak of
//! (nearly) all labels come first and are full, so that no label ids are read for them; behind them stand
//! rows with a sorted list of label ids. Features are numbered by falling frequency within both kinds: the
//! rows that are touched all the time share cache lines. Where a full row is to say no more than what was
//! observed, its other weights are shut: they stay as they are.

use crate::sparse::{Gradient, LANES, SparseVector};

/// The rows of weights of all features.
#[derive(Debug, Clone)]
pub struct RowLayout {
    dimension: usize,
    dense: usize,
    /// For each sparse row the position of its first label id; one more at the end.
    starts: Vec<u32>,
    labels: Vec<u32>,
    /// For each weight of the full rows 1 if it is trained and 0 if it is shut; nothing where all are trained.
    open: Vec<f32>,
}

/// Where the weights of one feature stand.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All labels, one weight each, from this index on.
    Dense(usize),
    /// The weights of these labels, from this index on.
    Sparse(usize, &'a [u32]),
}

impl RowLayout {
    /// Lays out rows from the labels that each feature was seen with: `rows[i]` has the sorted labels of
    /// feature `i`.
    ///
    /// Returns the layout and, for each feature, its new number. `counts` orders the features. A row becomes
    /// full when at least a quarter of all labels are in it, for then adding a full row is faster than
    /// picking labels one by one. With `fill`, its further weights are trained, too: it can then say what
    /// speaks against a label.
    ///
    /// # Panics
    /// If there are 2^32 weights or more.
    pub fn new(dimension: usize, rows: &[Vec<u32>], counts: &[u32], fill: bool) -> (Self, Vec<u32>) {
        let full = |feature: usize| 4 * rows[feature].len() >= dimension;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&feature| (!full(feature), std::cmp::Reverse(counts[feature]), feature));
        let mut numbers = vec![0; rows.len()];
        let mut layout = Self { dimension, dense: 0, starts: vec![0], labels: Vec::new(), open: Vec::new() };
        for (number, &feature) in order.iter().enumerate() {
            numbers[feature] = number as u32;
            if full(feature) {
                layout.dense += 1;
                if !fill {
                    layout.open.resize(layout.dense * dimension, 0.0);
                    let row = &mut layout.open[(layout.dense - 1) * dimension..];
                    rows[feature].iter().for_each(|&label| row[label as usize] = 1.0);
                }
            } else {
                layout.labels.extend_from_slice(&rows[feature]);
                layout.starts.push(u32::try_from(layout.labels.len()).expect("fewer than 2^32 weights"));
            }
        }
        if layout.open.iter().all(|&open| open == 1.0) {
            layout.open = Vec::new();
        }
        assert!(u32::try_from(layout.parameters()).is_ok(), "fewer than 2^32 weights");
        (layout, numbers)
    }

    /// The number of labels.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.dense + self.starts.len() - 1
    }

    /// The number of weights of all rows.
    pub fn parameters(&self) -> usize {
        self.dense * self.dimension + self.labels.len()
    }

    /// The row of a feature.
    #[inline(always)]
    pub fn row(&self, feature: u32) -> Row<'_> {
        let feature = feature as usize;
        if feature < self.dense {
            return Row::Dense(feature * self.dimension);
        }
        let (start, end) =
            (self.starts[feature - self.dense] as usize, self.starts[feature - self.dense + 1] as usize);
        Row::Sparse(self.dense * self.dimension + start, &self.labels[start..end])
    }

    /// Adds `value` times the feature's weights to the scores of the labels.
    ///
    /// Always inlined, so that it is compiled for the vectors that its caller is compiled for.
    #[inline(always)]
    pub fn add_scores(&self, feature: u32, value: f32, weights: &[f32], scores: &mut [f32]) {
        match self.row(feature) {
            Row::Dense(start) => {
                for (score, weight) in scores.iter_mut().zip(&weights[start..start + self.dimension]) {
                    *score += value * weight;
                }
            }
            Row::Sparse(start, labels) => {
                for (&label, weight) in labels.iter().zip(&weights[start..start + labels.len()]) {
                    scores[label as usize] += value * weight;
                }
            }
        }
    }

    /// As [`add_scores`](Self::add_scores) for each of some features in turn; `values` may be empty, when all are 1.
    #[inline(always)]
    pub fn add_all_scores(&self, features: &[u32], values: &[f32], weights: &[f32], scores: &mut [f32]) {
        let mut at = 0;
        while at < features.len() {
            // Full rows that follow each other are summed in registers.
            let is_full = |feature: &u32| (*feature as usize) < self.dense;
            let full = features[at..].iter().take_while(|feature| is_full(feature)).count();
            let run = (&features[at..at + full], values.get(at..at + full).unwrap_or(&[]));
            match self.dimension.div_ceil(LANES) {
                _ if full == 0 => {
                    self.add_scores(features[at], *values.get(at).unwrap_or(&1.0), weights, scores);
                }
                // Rows that are too short for a block, or for which there are not enough registers.
                _ if self.dimension < LANES => self.add_each(run, weights, scores),
                1 => self.add_full::<1>(run, weights, scores),
                2 => self.add_full::<2>(run, weights, scores),
                3 => self.add_full::<3>(run, weights, scores),
                4 => self.add_full::<4>(run, weights, scores),
                5 => self.add_full::<5>(run, weights, scores),
                6 => self.add_full::<6>(run, weights, scores),
                7 => self.add_full::<7>(run, weights, scores),
                8 => self.add_full::<8>(run, weights, scores),
                _ => self.add_each(run, weights, scores),
            }
            at += full.max(1);
        }
    }

    #[inline(always)]
    fn add_each(&self, (features, values): (&[u32], &[f32]), weights: &[f32], scores: &mut [f32]) {
        for (at, &feature) in features.iter().enumerate() {
            self.add_scores(feature, *values.get(at).unwrap_or(&1.0), weights, scores);
        }
    }

    /// The sum of full rows as so many blocks, of which the last ends where the row ends and may lie over a part of
    /// the one before: what they share is the same in both.
    #[inline(always)]
    fn add_full<const BLOCKS: usize>(
        &self,
        (features, values): (&[u32], &[f32]),
        weights: &[f32],
        scores: &mut [f32],
    ) {
        let offset = |block: usize| (block * LANES).min(self.dimension - LANES);
        let mut sums = [[0.0; LANES]; BLOCKS];
        for (block, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&scores[offset(block)..][..LANES]);
        }
        for (at, &feature) in features.iter().enumerate() {
            let value = *values.get(at).unwrap_or(&1.0);
            let row = &weights[feature as usize * self.dimension..][..self.dimension];
            for (block, sums) in sums.iter_mut().enumerate() {
                let row: &[f32; LANES] = row[offset(block)..][..LANES].try_into().expect("as many lanes");
                for lane in 0..LANES {
                    sums[lane] += value * row[lane];
                }
            }
        }
        for (block, sums) in sums.iter().enumerate() {
            scores[offset(block)..][..LANES].copy_from_slice(sums);
        }
    }

    /// The index of the weight of one feature and label, if there is one that is trained.
    #[inline]
    pub fn parameter(&self, feature: u32, label: u32) -> Option<usize> {
        match self.row(feature) {
            Row::Dense(start) => {
                Some(start + label as usize).filter(|&at| self.open.get(at).is_none_or(|&open| open != 0.0))
            }
            Row::Sparse(start, labels) => labels.binary_search(&label).ok().map(|at| start + at),
        }
    }

    /// Adds `value` at the weight of one feature and label, where there is one.
    #[inline]
    pub fn push(&self, feature: u32, label: u32, value: f32, difference: &mut SparseVector) {
        if let Some(index) = self.parameter(feature, label) {
            difference.push(index as u32, value);
        }
    }

    /// Adds `value * by_label[label]` at every weight of the feature: one feature's share of a gradient.
    #[inline(always)]
    pub fn add_gradient<G: Gradient + ?Sized>(
        &self,
        feature: u32,
        value: f32,
        by_label: &[f32],
        gradient: &mut G,
    ) {
        match self.row(feature) {
            Row::Dense(start) => match self.open.get(start..start + self.dimension) {
                Some(open) => gradient.add_masked_run(start, value, open, &by_label[..self.dimension]),
                None => gradient.add_run(start, value, &by_label[..self.dimension]),
            },
            Row::Sparse(start, labels) => gradient.add_gathered(start, value, labels, by_label),
        }
    }

    /// The labels and weight indices of a feature.
    pub fn pairs(&self, feature: u32) -> impl Iterator<Item = (u32, usize)> {
        let (start, labels, length) = match self.row(feature) {
            Row::Dense(start) => (start, None, self.dimension),
            Row::Sparse(start, labels) => (start, Some(labels), labels.len()),
        };
        (0..length).map(move |at| (labels.map_or(at as u32, |labels| labels[at]), start + at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_rows_come_first_and_all_views_agree() {
        let rows = [vec![3], vec![0, 1, 2, 3, 4, 5, 6, 7, 8], vec![1, 8], vec![2, 4, 5]];
        for fill in [true, false] {
            let (layout, numbers) = RowLayout::new(9, &rows, &[5, 1, 7, 2], fill);
            assert_eq!(numbers, [3, 1, 2, 0]);
            assert_eq!((layout.features(), layout.parameters()), (4, 9 + 9 + 3));
            check(&layout, &rows, &numbers, fill);
        }
    }

    /// Dimensions below a block, of whole blocks, between, and beyond the largest that is summed in registers.
    #[test]
    fn scores_of_all_features_are_those_of_one_after_the_other_to_the_bit() {
        for dimension in [1, 3, 7, 8, 9, 13, 16, 23, 49, 64, 65, 130] {
            let labels = |feature: u32| (0..dimension as u32).filter(move |label| label % 9 <= feature);
            let rows: Vec<Vec<u32>> = (0..9).map(|feature| labels(feature).collect()).collect();
            let (layout, numbers) = RowLayout::new(dimension, &rows, &[1; 9], true);
            let weights: Vec<f32> = (0..layout.parameters()).map(|at| 1.0 / (3.0 + at as f32)).collect();
            let features: Vec<u32> = [8, 7, 0, 1, 6, 8, 2].map(|at: usize| numbers[at]).to_vec();
            for values in [vec![], (0..7).map(|at| 0.1 + at as f32).collect()] {
                let mut expected = vec![0.3; dimension];
                for (at, &feature) in features.iter().enumerate() {
                    layout.add_scores(feature, *values.get(at).unwrap_or(&1.0), &weights, &mut expected);
                }
                let mut scores = vec![0.3; dimension];
                layout.add_all_scores(&features, &values, &weights, &mut scores);
                assert_eq!(scores, expected, "{dimension} labels");
            }
        }
    }

    fn check(layout: &RowLayout, rows: &[Vec<u32>], numbers: &[u32], fill: bool) {
        let weights: Vec<f32> = (0..layout.parameters()).map(|i| i as f32).collect();
        for (feature, row) in rows.iter().enumerate() {
            let number = numbers[feature];
            let mut scores = [0.0; 9];
            layout.add_scores(number, 2.0, &weights, &mut scores);
            let mut gradient = vec![0.0; layout.parameters()];
            layout.add_gradient(number, 1.0, &[1.0; 9], gradient.as_mut_slice());
            let wide = row.len() * 4 >= 9;
            for label in 0..9 {
                let index = layout.parameter(number, label);
                assert_eq!(index.is_some(), (wide && fill) || row.contains(&label));
                if index.is_some() || fill {
                    assert_eq!(scores[label as usize], index.map_or(0.0, |index| 2.0 * weights[index]));
                }
                assert_eq!(
                    index.map_or(0.0, |index| gradient[index]),
                    if index.is_some() { 1.0 } else { 0.0 }
                );
            }
            for (label, index) in layout.pairs(number) {
                let trained = layout.parameter(number, label) == Some(index);
                assert!(trained || !fill);
                assert_eq!(gradient[index], if trained { 1.0 } else { 0.0 });
            }
        }
    }
}
