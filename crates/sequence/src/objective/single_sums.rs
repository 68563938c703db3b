//! Forward-backward in single precision for the inner loop of likelihood training.
//!
//! Training evaluates the same first-order chain millions of times and needs marginals to six digits. Single
//! precision in scaled probability space has twice the lanes and half the memory traffic of the general
//! [`forward_backward`](crate::inference::Workspace::forward_backward), which stays in charge of everything
//! else: masks, candidates, higher orders, and transition scores so far apart that a scaled value could
//! overflow.

use consonant_learn::vectorized;

use crate::inference::kernels::padded;

/// Rows are padded to whole vectors of this many numbers.
const LANES: usize = 8;

/// With scores no farther apart than this, b ≤ L·e^36 and every scaled value stays below 1e36.
const WIDEST: f32 = 36.0;

/// The logarithm of a product of scales is taken where it leaves this range, not at each position.
const NO_LOGARITHM_YET: std::ops::Range<f64> = 1e-200..1e200;

#[derive(Debug, Clone, Default)]
pub(crate) struct SingleSums {
    labels: usize,
    stride: usize,
    /// exp(score − shift), rows by previous label and rows by label.
    by_previous: Vec<f32>,
    by_label: Vec<f32>,
    /// For each place of a row 0 if there is a label, minus infinity if there is none.
    past_end: Vec<f32>,
    shift: f64,
    factors: Vec<f32>,
    alpha: Vec<f32>,
    /// Node factor times beta over the scale of the position.
    inflow: Vec<f32>,
    beta: Vec<f32>,
    /// 1 over the sum of each position.
    inverses: Vec<f32>,
}

impl SingleSums {
    /// Takes the scores of all label pairs; says whether single precision is enough for them.
    pub(crate) fn load(&mut self, labels: usize, scores: &[f32]) -> bool {
        self.labels = labels;
        self.stride = padded(labels, LANES);
        let most = scores.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score));
        let least = scores.iter().fold(f32::INFINITY, |least, &score| least.min(score));
        self.shift = f64::from(most);
        self.by_previous.clear();
        self.by_previous.resize(labels * self.stride, 0.0);
        self.by_label.clear();
        self.by_label.resize(labels * self.stride, 0.0);
        self.past_end.clear();
        self.past_end.resize(labels, 0.0);
        self.past_end.resize(self.stride, f32::NEG_INFINITY);
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
    pub(crate) fn run(
        &mut self,
        nodes: &[f32],
        marginals: &mut Vec<f32>,
        counts: &mut Vec<f32>,
    ) -> Option<f64> {
        let length = nodes.len() / self.labels;
        for buffer in [&mut self.factors, &mut self.alpha, &mut self.inflow, &mut self.beta] {
            // Every row is written before it is read.
            if buffer.len() < length * self.stride {
                buffer.resize(length * self.stride, 0.0);
            }
        }
        self.inverses.resize(length, 0.0);
        marginals.resize(nodes.len(), 0.0);
        counts.resize(self.labels * self.labels, 0.0);
        let log_sum = forward(self, nodes);
        backward(self, length, marginals, counts);
        // A sum that is not 1 tells of a value that was lost on the way.
        let certain: f32 = marginals[..self.labels].iter().sum();
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
    // The series up to r^7, in pairs that do not wait for each other.
    let square = r * r;
    let low = (1.0 + r) + (0.5 + r * (1.0 / 6.0)) * square;
    let high = (1.0 / 24.0 + r * (1.0 / 120.0)) + (1.0 / 720.0 + r * (1.0 / 5040.0)) * square;
    let p = low + high * (square * square);
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x > -87.0 { p * power } else { 0.0 }
}

/// Calls a function with the length of a row, which is a number that the compiler knows where rows are short: loops over
/// them are written out, and what they work on stays in registers.
macro_rules! by_stride {
    ($stride:expr, $function:ident($($argument:expr),*)) => {
        match $stride {
            8 => $function(8, $($argument),*),
            16 => $function(16, $($argument),*),
            24 => $function(24, $($argument),*),
            stride => $function(stride, $($argument),*),
        }
    };
}

vectorized! {
    fn forward(sums: &mut SingleSums, nodes: &[f32]) -> f64 {
        by_stride!(sums.stride, forward_by(sums, nodes))
    }
}

vectorized! {
    fn backward(sums: &mut SingleSums, length: usize, marginals: &mut [f32], counts: &mut [f32]) {
        by_stride!(sums.stride, backward_by(sums, length, marginals, counts))
    }
}

/// Fills factors, alpha and the inverses of the scales; returns the logarithm of the sum.
#[inline(always)]
fn forward_by(stride: usize, sums: &mut SingleSums, nodes: &[f32]) -> f64 {
    let SingleSums { labels, by_previous, past_end, shift, factors, alpha, inverses, .. } = sums;
    let labels = *labels;
    let (mut log_sum, mut product) = (0.0, 1.0);
    // All exponentials first: they need not wait for each other, as the sums below must.
    for position in 0..inverses.len() {
        let factors = &mut factors[position * stride..(position + 1) * stride];
        match nodes.get(position * labels..position * labels + stride) {
            // What comes after the row is read with it and then ruled out: whole vectors are copied.
            Some(nodes) => {
                let places = factors.iter_mut().zip(nodes).zip(&*past_end);
                places.for_each(|((factor, node), past_end)| *factor = node + past_end);
            }
            None => {
                factors[..labels].copy_from_slice(&nodes[position * labels..(position + 1) * labels]);
                factors[labels..].fill(f32::NEG_INFINITY);
            }
        }
        let most = largest(factors);
        // The place of the inverse is free until the sums are there.
        inverses[position] = most;
        log_sum += f64::from(most);
    }
    for (factors, most) in factors.chunks_exact_mut(stride).zip(&*inverses) {
        factors.iter_mut().for_each(|value| *value = exp(*value - most));
    }
    // Each column is scaled when the next is there: a sum and a division that the next column would wait for.
    let mut inverse = 1.0;
    for position in 0..inverses.len() {
        let factors = &factors[position * stride..(position + 1) * stride];
        let (before, alpha) = alpha.split_at_mut(position * stride);
        let alpha = &mut alpha[..stride];
        if position == 0 {
            alpha.copy_from_slice(factors);
        } else {
            let before = &mut before[(position - 1) * stride..];
            weighted_rows(&before[..labels], by_previous, Some((inverse, factors)), alpha);
            before.iter_mut().for_each(|value| *value *= inverse);
            log_sum += *shift;
        }
        let sum = total(alpha);
        product *= f64::from(sum);
        if !NO_LOGARITHM_YET.contains(&product) {
            log_sum += product.ln();
            product = 1.0;
        }
        inverse = 1.0 / sum;
        inverses[position] = inverse;
    }
    let last = (inverses.len() - 1) * stride;
    alpha[last..last + stride].iter_mut().for_each(|value| *value *= inverse);
    log_sum + product.ln()
}

/// Fills beta, and writes marginals and counts.
#[inline(always)]
fn backward_by(
    stride: usize,
    sums: &mut SingleSums,
    length: usize,
    marginals: &mut [f32],
    counts: &mut [f32],
) {
    let SingleSums { labels, by_previous, by_label, factors, alpha, inflow, beta, inverses, .. } = sums;
    let labels = *labels;
    beta[(length - 1) * stride..length * stride].fill(1.0);
    for position in (0..length).rev() {
        let here = position * stride..(position + 1) * stride;
        let (before, beta) = beta.split_at_mut(here.start);
        let marginals = &mut marginals[position * labels..(position + 1) * labels];
        let alpha = &alpha[here.clone()];
        for ((marginal, alpha), beta) in marginals.iter_mut().zip(alpha).zip(&*beta) {
            *marginal = alpha * beta;
        }
        if position > 0 {
            let inflow = &mut inflow[here.clone()];
            for ((inflow, factor), beta) in inflow.iter_mut().zip(&factors[here]).zip(&*beta) {
                *inflow = factor * beta * inverses[position];
            }
            weighted_rows(&inflow[..labels], by_label, None, &mut before[(position - 1) * stride..]);
        }
    }
    // The first position has no inflow, the last passes nothing on.
    let (alpha, inflow) =
        (&alpha[..(length - 1) * stride], &inflow[stride.min(length * stride)..length * stride]);
    for previous in (0..labels).step_by(ROWS) {
        let mut offset = 0;
        while offset < stride {
            let at = Cells { alpha, inflow, stride, previous, offset };
            offset += if stride - offset >= 16 {
                at.write::<16>(labels, by_previous, counts)
            } else {
                at.write::<8>(labels, by_previous, counts)
            };
        }
    }
}

/// Previous labels that are counted together: as many sums as the registers hold.
const ROWS: usize = 4;

/// Some previous labels and some labels, whose pairs are counted over all positions.
struct Cells<'a> {
    alpha: &'a [f32],
    inflow: &'a [f32],
    stride: usize,
    previous: usize,
    offset: usize,
}

impl Cells<'_> {
    #[inline(always)]
    fn write<const WIDTH: usize>(&self, labels: usize, potentials: &[f32], counts: &mut [f32]) -> usize {
        let &Self { alpha, inflow, stride, previous, offset } = self;
        let [mut first, mut second, mut third, mut fourth] = [[0.0f32; WIDTH]; ROWS];
        for (alpha, inflow) in alpha.chunks_exact(stride).zip(inflow.chunks_exact(stride)) {
            let alpha: &[f32; ROWS] = alpha[previous..previous + ROWS].try_into().expect("a padded row");
            let inflow: &[f32; WIDTH] = inflow[offset..offset + WIDTH].try_into().expect("a padded row");
            // Written out: a loop over the rows is not compiled to vectors.
            add(&mut first, alpha[0], inflow);
            add(&mut second, alpha[1], inflow);
            add(&mut third, alpha[2], inflow);
            add(&mut fourth, alpha[3], inflow);
        }
        let width = WIDTH.min(labels - offset);
        for (row, sums) in (previous..labels).zip([first, second, third, fourth]) {
            let potentials = &potentials[row * stride + offset..][..width];
            let counts = &mut counts[row * labels + offset..][..width];
            counts
                .iter_mut()
                .zip(sums.iter().zip(potentials))
                .for_each(|(count, (sum, potential))| *count = sum * potential);
        }
        WIDTH
    }
}

/// The largest score of a padded row.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    folded(lanes, |one, other| if one > other { one } else { other })
}

/// All lanes as one number, half with half: three steps that wait for each other instead of seven.
#[inline(always)]
fn folded(lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut four = [0.0; 4];
    for lane in 0..4 {
        four[lane] = join(lanes[lane], lanes[lane + 4]);
    }
    join(join(four[0], four[2]), join(four[1], four[3]))
}

/// The sum of a padded row. Never inlined: the compiler would take the whole loop over a sentence apart into pairs of
/// numbers, because the last steps of this sum are in pairs.
#[inline(never)]
fn total(row: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for chunk in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    folded(sums, |one, other| one + other)
}

/// `sums[j] += weight · row[j]`.
#[inline(always)]
fn add<const WIDTH: usize>(sums: &mut [f32; WIDTH], weight: f32, row: &[f32; WIDTH]) {
    for lane in 0..WIDTH {
        sums[lane] += weight * row[lane];
    }
}

/// `out[j] = Σ_i weights[i] · rows[i·out.len() + j]`, times a scale and a factor of its own, if there are any; the sums of a block of columns stay in
/// registers.
#[inline(always)]
fn weighted_rows(weights: &[f32], rows: &[f32], factors: Option<(f32, &[f32])>, out: &mut [f32]) {
    #[inline(always)]
    fn block<const WIDTH: usize>(
        weights: &[f32],
        rows: &[f32],
        factors: Option<(f32, &[f32])>,
        offset: usize,
        out: &mut [f32],
    ) -> usize {
        let mut sums = [0.0f32; WIDTH];
        for (row, &weight) in rows.chunks_exact(out.len()).zip(weights) {
            let row: &[f32; WIDTH] = row[offset..offset + WIDTH].try_into().expect("a block of this width");
            add(&mut sums, weight, row);
        }
        if let Some((scale, factors)) = factors {
            let factors: &[f32; WIDTH] =
                factors[offset..offset + WIDTH].try_into().expect("a block of this width");
            for lane in 0..WIDTH {
                sums[lane] *= factors[lane] * scale;
            }
        }
        out[offset..offset + WIDTH].copy_from_slice(&sums);
        WIDTH
    }
    let mut offset = 0;
    while offset < out.len() {
        offset += match out.len() - offset {
            8 => block::<8>(weights, rows, factors, offset, out),
            16 => block::<16>(weights, rows, factors, offset, out),
            24 => block::<24>(weights, rows, factors, offset, out),
            _ => block::<32>(weights, rows, factors, offset, out),
        };
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
            (13, 30, 4.0, 3.0),
            (7, 1, 3.0, 2.0),
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
            let (mut marginals, mut counts) = (Vec::new(), Vec::new());
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
            assert_eq!((marginals.len(), counts.len()), (labels * length, labels * labels));
            for (found, wanted) in counts.iter().zip(&expected) {
                let found = f64::from(*found);
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
