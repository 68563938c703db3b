//! Forward-backward in single precision for the inner loop of likelihood training.
//!
//! Training evaluates the same first-order chain millions of times and needs marginals to six digits. Single
//! precision in scaled probability space has twice the lanes and half the memory traffic of the general
//! [`forward_backward`](crate::inference::Workspace::forward_backward), which stays in charge of everything
//! else: masks, candidates, higher orders, and transition scores so far apart that a scaled value could
//! overflow.

use crate::inference::kernels::vectorized;

/// Rows are padded to whole blocks, whose sums stay in registers.
const BLOCK: usize = 32;

/// With scores no farther apart than this, b ≤ L·e^36 and every scaled value stays below 1e36.
const WIDEST: f32 = 36.0;

#[derive(Debug, Clone, Default)]
pub(crate) struct SingleSums {
    labels: usize,
    stride: usize,
    /// exp(score − shift), rows by previous label and rows by label.
    by_previous: Vec<f32>,
    by_label: Vec<f32>,
    shift: f64,
    factors: Vec<f32>,
    alpha: Vec<f32>,
    /// Node factor times beta over the scale of the position.
    inflow: Vec<f32>,
    beta: Vec<f32>,
    scales: Vec<f32>,
    products: Vec<f32>,
}

impl SingleSums {
    /// Takes the scores of all label pairs; says whether single precision is enough for them.
    pub(crate) fn load(&mut self, labels: usize, scores: &[f32]) -> bool {
        self.labels = labels;
        self.stride = labels.next_multiple_of(BLOCK);
        let most = scores.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score));
        let least = scores.iter().fold(f32::INFINITY, |least, &score| least.min(score));
        self.shift = f64::from(most);
        self.by_previous.clear();
        self.by_previous.resize(labels * self.stride, 0.0);
        self.by_label.clear();
        self.by_label.resize(labels * self.stride, 0.0);
        for previous in 0..labels {
            for label in 0..labels {
                let potential = (scores[previous * labels + label] - most).exp();
                self.by_previous[previous * self.stride + label] = potential;
                self.by_label[label * self.stride + previous] = potential;
            }
        }
        most - least < WIDEST
    }

    /// Sums over all label sequences of a sentence, `nodes` being its label scores row by row. Writes the
    /// marginals of the labels and the expected count of every pair; returns the logarithm of the sum, or
    /// nothing where precision did not suffice.
    pub(crate) fn run(&mut self, nodes: &[f32], marginals: &mut Vec<f32>, counts: &mut [f64]) -> Option<f64> {
        let (labels, stride) = (self.labels, self.stride);
        let length = nodes.len() / labels;
        for buffer in [&mut self.factors, &mut self.alpha, &mut self.inflow, &mut self.beta] {
            // Padding is written once as zero and stays zero.
            if buffer.len() < length * stride {
                buffer.resize(length * stride, 0.0);
            }
        }
        self.scales.clear();
        let mut log_sum = 0.0;
        for (position, nodes) in nodes.chunks_exact(labels).enumerate() {
            let here = position * stride..(position + 1) * stride;
            let factors = &mut self.factors[here.clone()];
            log_sum += f64::from(exponentials(nodes, &mut factors[..labels]));
            let (before, alpha) = self.alpha.split_at_mut(here.start);
            let alpha = &mut alpha[..stride];
            if position == 0 {
                alpha.copy_from_slice(factors);
            } else {
                weighted_rows(&before[here.start - stride..][..labels], &self.by_previous, stride, alpha);
                multiply(alpha, factors);
                log_sum += self.shift;
            }
            let scale = total(alpha);
            log_sum += f64::from(scale).ln();
            self.scales.push(scale);
            let inverse = 1.0 / scale;
            alpha.iter_mut().for_each(|value| *value *= inverse);
        }
        let last = (length - 1) * stride;
        self.beta[last..last + labels].fill(1.0);
        for position in (1..length).rev() {
            let here = position * stride;
            let inflow = &mut self.inflow[here..here + stride];
            let inverse = 1.0 / self.scales[position];
            for ((inflow, factor), beta) in
                inflow.iter_mut().zip(&self.factors[here..]).zip(&self.beta[here..])
            {
                *inflow = factor * beta * inverse;
            }
            weighted_rows(&inflow[..labels], &self.by_label, stride, &mut self.beta[here - stride..here]);
        }
        marginals.clear();
        for position in 0..length {
            let here = position * stride..position * stride + labels;
            marginals.extend(
                self.alpha[here.clone()].iter().zip(&self.beta[here]).map(|(alpha, beta)| alpha * beta),
            );
        }
        if length > 1 {
            self.products.resize(labels * stride, 0.0);
            outer_products(
                labels,
                stride,
                &self.alpha[..(length - 1) * stride],
                &self.inflow[stride..length * stride],
                &mut self.products,
            );
            for previous in 0..labels {
                let row = previous * stride..previous * stride + labels;
                let products = self.products[row.clone()].iter().zip(&self.by_previous[row]);
                let counts = &mut counts[previous * labels..(previous + 1) * labels];
                counts
                    .iter_mut()
                    .zip(products)
                    .for_each(|(count, (product, potential))| *count = f64::from(product * potential));
            }
        } else {
            counts.fill(0.0);
        }
        // A sum that is not 1 tells of a value that was lost on the way.
        let certain: f32 = marginals[..labels].iter().sum();
        (log_sum.is_finite() && (certain - 1.0).abs() < 1e-3).then_some(log_sum)
    }
}

/// eˣ for x ≤ 0 to within 2 units in the last place; 0 below −87, where numbers are no longer normal.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it leaves round(x) in the low bits
    let kept = if x > -87.0 { x } else { -87.0 };
    let shifted = kept * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (kept - k * 0.693_359_4) + k * 2.121_944_4e-4;
    let mut p = 1.0 / 5040.0;
    for inverse in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + inverse;
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x > -87.0 { p * power } else { 0.0 }
}

vectorized! {
    /// Writes exp(score − largest score); returns the largest score.
    fn exponentials(scores: &[f32], out: &mut [f32]) -> f32 {
        let most = scores[crate::objective::best_label(scores) as usize];
        for (out, &score) in out.iter_mut().zip(scores) {
            *out = exp(score - most);
        }
        most
    }
}

vectorized! {
    /// `out[j] = Σ_i weights[i] · rows[i·stride + j]`.
    fn weighted_rows(weights: &[f32], rows: &[f32], stride: usize, out: &mut [f32]) {
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let mut sums = [0.0f32; BLOCK];
            for (row, &weight) in rows.chunks_exact(stride).zip(weights) {
                let row: &[f32; BLOCK] = row[block * BLOCK..(block + 1) * BLOCK].try_into().expect("rows are whole blocks");
                for lane in 0..BLOCK {
                    sums[lane] += weight * row[lane];
                }
            }
            out.copy_from_slice(&sums);
        }
    }
}

vectorized! {
    fn multiply(values: &mut [f32], factors: &[f32]) {
        values.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
    }
}

vectorized! {
    /// The sum of a padded row.
    fn total(row: &[f32]) -> f32 {
        let mut sums = [0.0f32; 8];
        for chunk in row.chunks_exact(8) {
            for lane in 0..8 {
                sums[lane] += chunk[lane];
            }
        }
        sums.iter().sum()
    }
}

vectorized! {
    /// `sums[i·stride + j] = Σ_t left[t·stride + i] · right[t·stride + j]`.
    fn outer_products(labels: usize, stride: usize, left: &[f32], right: &[f32], sums: &mut [f32]) {
        for (i, sums) in sums.chunks_exact_mut(stride).enumerate().take(labels) {
            for (block, out) in sums.chunks_exact_mut(BLOCK).enumerate() {
                let mut sums = [0.0f32; BLOCK];
                for (left, right) in left.chunks_exact(stride).zip(right.chunks_exact(stride)) {
                    let right: &[f32; BLOCK] = right[block * BLOCK..(block + 1) * BLOCK].try_into().expect("rows are whole blocks");
                    for lane in 0..BLOCK {
                        sums[lane] += left[i] * right[lane];
                    }
                }
                out.copy_from_slice(&sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Chain, Potentials, Transitions, Workspace};
    use consonant_learn::hash::combine;

    #[test]
    fn agrees_with_double_precision_or_says_that_it_cannot() {
        let mut seed = 1;
        let mut random = |range: f32| {
            seed = combine(seed, 3);
            (seed % 20001) as f32 / 10000.0 * range - range
        };
        let (mut single, mut workspace) = (SingleSums::default(), Workspace::new());
        for (labels, length, node_range, edge_range) in [
            (1, 1, 1.0, 1.0),
            (3, 5, 3.0, 2.0),
            (49, 20, 10.0, 5.0),
            (33, 400, 60.0, 17.0),
            (5, 9, 500.0, 10.0),
            (4, 6, 1.0, 30.0),
        ] {
            let nodes: Vec<f32> = (0..labels * length).map(|_| random(node_range)).collect();
            let edges: Vec<f32> = (0..labels * labels).map(|_| random(edge_range)).collect();
            let transitions = Transitions::dense(labels, &edges, None).unwrap();
            let potentials = Potentials::new(&transitions);
            let chain = Chain::new(&nodes, &transitions).unwrap();
            let mut posterior = workspace.forward_backward(&chain, &potentials).unwrap();
            let mut expected = vec![0.0; labels * labels];
            posterior.add_transition_counts(1.0, &mut expected).unwrap();
            let usable = single.load(labels, &edges);
            assert_eq!(usable, edge_range < 20.0);
            let (mut marginals, mut counts) = (Vec::new(), vec![0.0; labels * labels]);
            if !usable {
                continue;
            }
            let log_sum = single.run(&nodes, &mut marginals, &mut counts).unwrap();
            assert!(
                (log_sum - posterior.log_partition()).abs() < 1e-5 * posterior.log_partition().abs().max(1.0)
            );
            for (found, wanted) in marginals.iter().zip(posterior.nodes()) {
                assert!(
                    (f64::from(*found) - wanted).abs() < 1e-4,
                    "{labels} labels: {found} is not {wanted}"
                );
            }
            for (found, wanted) in counts.iter().zip(&expected) {
                assert!(
                    (found - wanted).abs() < 1e-4 * wanted.max(1.0),
                    "{labels} labels: {found} is not {wanted}"
                );
            }
        }
    }

    #[test]
    fn exponentials_are_close_to_the_library() {
        for step in 0..87_000 {
            let x = -(step as f32) / 1000.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 4e-7, "exp({x})");
        }
        assert_eq!((exp(0.0), exp(-100.0), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }
}
