//! Every closed form against its own polytope: u projects a exactly when no point of the polytope is better
//! than u under a − u, and the best point is checked by enumeration.

use super::*;
use proptest::prelude::*;

fn factor(kind: usize, degree: usize, limit: usize, costs: &[f64], score: f64) -> Closed {
    match kind {
        0 => Closed::ExactlyOne,
        1 => Closed::AtMostOne,
        2 => Closed::AtLeastOne,
        3 => Closed::OrWithOutput,
        4 => Closed::Pair(score),
        5 => Closed::Budget(limit),
        _ => Closed::Knapsack { costs: costs[..degree].into(), limit: limit as f64 * 1.3 },
    }
}

/// The best value over all allowed 0/1 configurations.
fn enumerate(closed: &Closed, scores: &[f64]) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for mask in 0..1u32 << scores.len() {
        let on: Vec<bool> = (0..scores.len()).map(|i| mask >> i & 1 == 1).collect();
        let linear: f64 = scores.iter().zip(&on).filter(|(_, on)| **on).map(|(s, _)| s).sum();
        best = best.max(linear + closed.score(&on));
    }
    best
}

/// The best value of the continuous knapsack, by sorting.
fn fractional(costs: &[f64], limit: f64, scores: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i] > 0.0).collect();
    order.sort_by(|&i, &j| (scores[j] * costs[i]).total_cmp(&(scores[i] * costs[j])));
    let (mut left, mut value) = (limit, 0.0);
    for i in order {
        let part = if costs[i] <= left { 1.0 } else { left / costs[i] };
        value += part * scores[i];
        left -= part * costs[i];
    }
    value
}

fn point(degree: usize) -> impl Strategy<Value = Vec<f64>> {
    // Small integers make ties and degenerate breakpoints common.
    prop::collection::vec(prop_oneof![-2.0..3.0f64, (-2..3i32).prop_map(f64::from), Just(0.5)], degree)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn maximizers_are_best(
        kind in 0..7usize, scores in (2..7usize).prop_flat_map(point), limit in 0..5usize,
        costs in prop::collection::vec(prop_oneof![0.1..3.0f64, Just(0.0), Just(1.0)], 7), score in -2.0..2.0f64,
    ) {
        let scores = if kind == 4 { scores[..2].to_vec() } else { scores };
        let closed = factor(kind, scores.len(), limit, &costs, score);
        let mut best = vec![0.0; scores.len()];
        let value = closed.best_point(&scores, &mut best, &mut Scratch::default());
        let expected = match &closed {
            Closed::Knapsack { costs, limit } => fractional(costs, *limit, &scores),
            other => enumerate(other, &scores),
        };
        prop_assert!((value - expected).abs() < 1e-9, "{closed:?} {scores:?}: {value}, expected {expected}");
        if !matches!(closed, Closed::Knapsack { .. }) {
            let on: Vec<bool> = best.iter().map(|&x| x == 1.0).collect();
            let linear: f64 = scores.iter().zip(&best).map(|(s, x)| s * x).sum();
            prop_assert!((linear + closed.score(&on) - value).abs() < 1e-9);
        }
    }

    #[test]
    fn projections_are_nearest(
        kind in 0..7usize, target in (2..9usize).prop_flat_map(point), limit in 0..5usize,
        costs in prop::collection::vec(prop_oneof![0.1..3.0f64, Just(0.0), Just(1.0)], 9), score in -2.0..2.0f64,
    ) {
        let target = if kind == 4 { target[..2].to_vec() } else { target };
        let closed = factor(kind, target.len(), limit, &costs, score);
        let mut projected = vec![0.0; target.len()];
        closed.project(&mut (), &target, &mut projected, 1.0, usize::MAX, &mut Scratch::default());
        let gradient: Vec<f64> = target.iter().zip(&projected).map(|(a, u)| a - u).collect();
        let best = closed.best_point(&gradient, &mut vec![0.0; target.len()], &mut Scratch::default());
        let mut here: f64 = gradient.iter().zip(&projected).map(|(g, u)| g * u).sum();
        if let Closed::Pair(score) = closed {
            let (x, y) = (projected[0], projected[1]);
            here += score * if score >= 0.0 { x.min(y) } else { (x + y - 1.0).max(0.0) };
        }
        prop_assert!((here - best).abs() < 1e-9, "{closed:?} {target:?} -> {projected:?}: {here} against {best}");
    }
}

#[test]
fn large_knapsack_projection_is_feasible_and_tight() {
    let n = 10_001;
    let costs: Vec<f64> = (0..n).map(|i| 1.0 + (i * 7919 % 13) as f64).collect();
    let mut point: Vec<f64> = (0..n).map(|i| (i * 104_729 % 1000) as f64 / 500.0 - 0.5).collect();
    knapsack::project(&mut point, &costs, 5000.0, &mut Scratch::default());
    let used: f64 = point.iter().zip(&costs).map(|(x, c)| x * c).sum();
    assert!((used - 5000.0).abs() < 1e-6, "{used}");
    assert!(point.iter().all(|x| (0.0..=1.0).contains(x)));
}
