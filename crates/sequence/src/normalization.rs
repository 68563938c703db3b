//! Local normalization of first-order chains: each label's distribution given its neighbour, in closed form.
//!
//! In a model that predicts y_t given y_{t-1}, the score of a pair is node(t, y_t) + edge(y_{t-1}, y_t) - log
//! Z(t, y_{t-1}). The last term depends on y_{t-1} alone: it is a correction of the node before. So the best
//! sequence of a locally normalized model is that of an ordinary chain with corrected nodes, and its
//! marginals are those of the chain.

use crate::inference::kernels;

/// The exponentials of edge scores, by previous label and by label, for sums over one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EdgeSums {
    labels: usize,
    pub(crate) scores: Vec<f32>,
    /// exp(score − shift), rows by previous label.
    pub(crate) by_previous: Vec<f64>,
    /// The same, rows by label.
    by_label: Vec<f64>,
    pub(crate) shift: f64,
    nodes: Vec<f64>,
}

/// On which side of a label its condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A label is predicted given the one before.
    Before,
    /// A label is predicted given the one after.
    After,
}

impl EdgeSums {
    /// Takes edge scores, rows by previous label, unless they are those it has.
    pub(crate) fn load(&mut self, labels: usize, scores: &[f32]) {
        if self.labels == labels && self.scores == scores {
            return;
        }
        self.labels = labels;
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        self.shift = f64::from(scores.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score)));
        self.by_previous.resize(labels * labels, 0.0);
        kernels::exp_row(scores, self.shift, &mut self.by_previous);
        self.by_label.resize(labels * labels, 0.0);
        for previous in 0..labels {
            for label in 0..labels {
                self.by_label[label * labels + previous] = self.by_previous[previous * labels + label];
            }
        }
    }

    /// Writes exp(node − largest node) and returns the largest node.
    pub(crate) fn exponentiate(nodes: &[f32], out: &mut Vec<f64>) -> f64 {
        let most = f64::from(nodes.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score)));
        out.resize(nodes.len(), 0.0);
        kernels::exp_row(nodes, most, out);
        most
    }

    /// Corrects the nodes of a sentence so that the chain is the locally normalized model. `edges`: what each
    /// step adds to the edge scores, or nothing.
    pub(crate) fn normalize(&mut self, side: Side, edges: &[f32], nodes: &mut [f32]) {
        let labels = self.labels;
        if !edges.is_empty() {
            return normalize_with_edges(side, labels, &self.scores, edges, nodes);
        }
        let length = nodes.len() / labels;
        let mut values = std::mem::take(&mut self.nodes);
        for step in 1..length {
            // The node that is normalized must not be corrected yet: go towards the side of the condition's
            // condition.
            let (predicted, condition, rows) = match side {
                Side::Before => (step, step - 1, &self.by_previous),
                Side::After => (length - 1 - step, length - step, &self.by_label),
            };
            let most = Self::exponentiate(&nodes[predicted * labels..(predicted + 1) * labels], &mut values);
            let corrected = &mut nodes[condition * labels..(condition + 1) * labels];
            for (node, row) in corrected.iter_mut().zip(rows.chunks_exact(labels)) {
                let sum = dot(row, &values);
                *node -= (most + self.shift + sum.max(f64::MIN_POSITIVE).ln()) as f32;
            }
        }
        self.nodes = values;
    }
}

/// The inner product, in sums that need not wait for each other.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// As [`EdgeSums::normalize`] where every step has edge scores of its own, `edges[step]` for positions step
/// and step + 1.
fn normalize_with_edges(side: Side, labels: usize, transitions: &[f32], edges: &[f32], nodes: &mut [f32]) {
    let length = nodes.len() / labels;
    let mut scores = vec![0.0f64; labels];
    for step in 1..length {
        let (predicted, condition) = match side {
            Side::Before => (step, step - 1),
            Side::After => (length - 1 - step, length - step),
        };
        let edges = &edges[predicted.min(condition) * labels * labels..][..labels * labels];
        for fixed in 0..labels {
            for (open, score) in scores.iter_mut().enumerate() {
                let pair = if side == Side::Before { fixed * labels + open } else { open * labels + fixed };
                *score = f64::from(nodes[predicted * labels + open] + transitions[pair] + edges[pair]);
            }
            nodes[condition * labels + fixed] -= kernels::log_sum_exp(scores.iter().copied()) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With both forms and both sides, the sum over all sequences of a locally normalized chain is that of
    /// its first node.
    #[test]
    fn corrected_chains_sum_to_the_unconditional_end() {
        let (labels, length) = (3, 4);
        let nodes: Vec<f32> = (0..labels * length).map(|i| (i as f32 * 0.7).sin() * 3.0).collect();
        let edges: Vec<f32> = (0..labels * labels).map(|i| (i as f32 * 1.3).cos() * 2.0).collect();
        for side in [Side::Before, Side::After] {
            let mut fast = nodes.clone();
            let mut sums = EdgeSums::default();
            sums.load(labels, &edges);
            sums.normalize(side, &[], &mut fast);
            let mut slow = nodes.clone();
            normalize_with_edges(side, labels, &edges, &vec![0.0; (length - 1) * labels * labels], &mut slow);
            for (fast, slow) in fast.iter().zip(&slow) {
                assert!((fast - slow).abs() < 1e-4);
            }
            let mut total = 0.0f64;
            for code in 0..labels.pow(length as u32) {
                let path: Vec<usize> = (0..length).map(|t| code / labels.pow(t as u32) % labels).collect();
                let score: f32 = (0..length).map(|t| fast[t * labels + path[t]]).sum::<f32>()
                    + path.windows(2).map(|p| edges[p[0] * labels + p[1]]).sum::<f32>();
                total += f64::from(score).exp();
            }
            let end = if side == Side::Before { 0 } else { length - 1 };
            let expected: f64 = (0..labels).map(|label| f64::from(nodes[end * labels + label]).exp()).sum();
            assert!((total / expected - 1.0).abs() < 1e-4, "{total} {expected}");
        }
    }
}
