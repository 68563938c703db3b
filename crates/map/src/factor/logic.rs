//! Exactly one, at most one, at least one, OR with output: projections and best configurations.

use super::Scratch;

/// Euclidean projection onto the probability simplex.
///
/// Michelot's method: assume all coordinates stay positive, drop those that do not, repeat. Each round is
/// linear and few are needed; the links that matter are usually found in the first two.
#[inline(always)]
pub(super) fn project_exactly_one(point: &mut [f64], scratch: &mut Scratch) {
    let threshold = simplex_threshold(point, &mut scratch.values);
    for x in point.iter_mut() {
        *x = (*x - threshold).max(0.0);
    }
}

/// Points of at most so many coordinates are looked at as a whole in every round.
const SHORT: usize = 8;

/// The number that, taken from every coordinate and clipped at zero, makes the coordinates sum to one.
#[inline(always)]
fn simplex_threshold(point: &[f64], active: &mut Vec<f64>) -> f64 {
    if point.len() <= SHORT { short_threshold(point) } else { long_threshold(point, active) }
}

/// Without a list and without branches, which follow no pattern that a processor could learn.
#[inline(always)]
fn short_threshold(point: &[f64]) -> f64 {
    let mut threshold = (point.iter().sum::<f64>() - 1.0) / point.len() as f64;
    let mut before = point.len() as f64;
    loop {
        let (mut sum, mut count) = (0.0, 0.0);
        for &x in point {
            let is_active = x > threshold;
            sum += if is_active { x } else { 0.0 };
            count += if is_active { 1.0 } else { 0.0 };
        }
        if count >= before || count == 0.0 {
            return threshold;
        }
        (threshold, before) = ((sum - 1.0) / count, count);
    }
}

fn long_threshold(point: &[f64], active: &mut Vec<f64>) -> f64 {
    active.clear();
    // A coordinate more than one below the largest is zero in the projection.
    let top = point.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    active.extend(point.iter().copied().filter(|&x| x > top - 1.0));
    loop {
        let threshold = (active.iter().sum::<f64>() - 1.0) / active.len() as f64;
        let before = active.len();
        active.retain(|&x| x > threshold);
        if active.len() == before || active.is_empty() {
            return threshold;
        }
    }
}

#[inline(always)]
pub(super) fn project_at_most_one(point: &mut [f64], scratch: &mut Scratch) {
    if point.iter().map(|x| x.clamp(0.0, 1.0)).sum::<f64>() <= 1.0 {
        clip(point);
    } else {
        project_exactly_one(point, scratch);
    }
}

#[inline(always)]
pub(super) fn project_at_least_one(point: &mut [f64], scratch: &mut Scratch) {
    if point.iter().map(|x| x.clamp(0.0, 1.0)).sum::<f64>() >= 1.0 {
        clip(point);
    } else {
        project_exactly_one(point, scratch);
    }
}

fn clip(point: &mut [f64]) {
    for x in point {
        *x = x.clamp(0.0, 1.0);
    }
}

/// Projection onto the hull of OR-with-output: 0 ≤ x_i ≤ z ≤ min(1, Σ x_i) (Martins et al. 2015, appendix B).
///
/// First onto the inputs' constraints x_i ≤ z; if the sum then reaches z, that is the answer. Otherwise Σ x_i
/// = z is tight, which with the output negated is an exactly-one.
pub(super) fn project_or_with_output(point: &mut [f64], scratch: &mut Scratch) {
    let output = point.len() - 1;
    let z = point[output];
    // Project onto {x_i ≤ z}: the output and the inputs above it share their mean. Inputs enter from the
    // largest.
    let level = shared_level(&point[..output], z, &mut scratch.values).clamp(0.0, 1.0);
    let sum: f64 = point[..output].iter().map(|x| x.clamp(0.0, level)).sum();
    if sum >= level {
        for x in &mut point[..output] {
            *x = x.clamp(0.0, level);
        }
        point[output] = level;
    } else {
        point[output] = 1.0 - z;
        project_exactly_one(point, scratch);
        point[output] = 1.0 - point[output];
    }
}

/// The mean of `z` and of all inputs above that mean.
fn shared_level(inputs: &[f64], z: f64, above: &mut Vec<f64>) -> f64 {
    above.clear();
    above.extend(inputs.iter().copied().filter(|&x| x > z));
    if above.is_empty() {
        return z;
    }
    loop {
        let level = (z + above.iter().sum::<f64>()) / (above.len() + 1) as f64;
        let before = above.len();
        above.retain(|&x| x > level);
        if above.len() == before {
            return level;
        }
    }
}

fn argmax(scores: &[f64]) -> usize {
    let mut best = 0;
    for (i, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = i;
        }
    }
    best
}

pub(super) fn maximize_exactly_one(scores: &[f64], best: &mut [f64]) -> f64 {
    let top = argmax(scores);
    best.fill(0.0);
    best[top] = 1.0;
    scores[top]
}

pub(super) fn maximize_at_most_one(scores: &[f64], best: &mut [f64]) -> f64 {
    let top = argmax(scores);
    best.fill(0.0);
    if scores[top] <= 0.0 {
        return 0.0;
    }
    best[top] = 1.0;
    scores[top]
}

/// Switches on every positive link and returns their sum.
fn take_positive(scores: &[f64], best: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for (x, &score) in best.iter_mut().zip(scores) {
        *x = if score > 0.0 { 1.0 } else { 0.0 };
        value += score.max(0.0);
    }
    value
}

pub(super) fn maximize_at_least_one(scores: &[f64], best: &mut [f64]) -> f64 {
    let top = argmax(scores);
    if scores[top] > 0.0 {
        return take_positive(scores, best);
    }
    best.fill(0.0);
    best[top] = 1.0;
    scores[top]
}

pub(super) fn maximize_or_with_output(scores: &[f64], best: &mut [f64]) -> f64 {
    let (&output, inputs) = scores.split_last().expect("factors are not empty");
    let last = best.len() - 1;
    let value = output + maximize_at_least_one(inputs, &mut best[..last]);
    if value > 0.0 {
        best[last] = 1.0;
        return value;
    }
    best.fill(0.0);
    0.0
}
