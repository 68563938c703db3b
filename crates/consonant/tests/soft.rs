//! Soft answers: marginals against the definition, gradients against finite differences.

use consonant::decode::{Labelling, Sequences, sparse_tree};

const LABELS: [&str; 3] = ["O", "B-X", "I-X"];
/// A power of two: scores that are multiples of it are moved without rounding.
const STEP: f32 = 1.0 / 128.0;

/// Numbers between -1 and 1, multiples of `STEP`.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % 257) as f32 * STEP - 1.0
    };
    (0..count).map(next).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

type Answer = fn(&Labelling, Sequences<'_>) -> Result<consonant::decode::Soft, consonant::Error>;
type Gradient = fn(&Labelling, Sequences<'_>, &[f64]) -> Result<consonant::decode::Soft, consonant::Error>;

/// The derivative of `weights · answer` with respect to every score, by the gradient and by differences.
fn compare(answer: Answer, gradient: Gradient, tolerance: f64) {
    let (positions, lengths) = (4, [4, 2, 0]);
    let scores = numbers(lengths.len() * positions * LABELS.len(), 3);
    let transitions = numbers(LABELS.len() * LABELS.len(), 4);
    let weights: Vec<f64> = numbers(scores.len(), 5).into_iter().map(f64::from).collect();
    let value = |scores: &[f32], transitions: &[f32]| {
        let labelling = Labelling::of_scheme(&LABELS, None, Some(transitions)).unwrap();
        dot(&answer(&labelling, Sequences { scores, positions, lengths: &lengths }).unwrap().labels, &weights)
    };
    let slope = |numbers: &[f32], at: usize, value: &dyn Fn(&[f32]) -> f64| {
        let moved = |step: f32| {
            let mut numbers = numbers.to_vec();
            numbers[at] += step;
            value(&numbers)
        };
        (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP)
    };
    let labelling = Labelling::of_scheme(&LABELS, None, Some(&transitions)).unwrap();
    let batch = Sequences { scores: &scores, positions, lengths: &lengths };
    let found = gradient(&labelling, batch, &weights).unwrap();
    for at in 0..scores.len() {
        let wanted = slope(&scores, at, &|scores| value(scores, &transitions));
        assert!((found.labels[at] - wanted).abs() < tolerance, "{at}: {} {wanted}", found.labels[at]);
    }
    let pairs = LABELS.len() * LABELS.len();
    for at in 0..pairs {
        let wanted = slope(&transitions, at, &|transitions| value(&scores, transitions));
        let found: f64 = (0..lengths.len()).map(|sequence| found.pairs[sequence * pairs + at]).sum();
        assert!((found - wanted).abs() < tolerance, "pair {at}: {found} {wanted}");
    }
}

#[test]
fn gradients_of_marginals_are_finite_differences() {
    compare(Labelling::marginals_of_batch, Labelling::marginals_gradient, 1e-4);
}

#[test]
fn gradients_of_sparse_map_are_finite_differences() {
    compare(Labelling::sparse_map_of_batch, Labelling::sparse_map_gradient, 2e-2);
}

#[test]
fn marginals_are_the_gradient_of_the_logarithm_of_the_sum() {
    let scores = numbers(12, 9);
    let labelling = Labelling::of_scheme(&LABELS, None, Some(&numbers(9, 10))).unwrap();
    let soft =
        labelling.marginals_of_batch(Sequences { scores: &scores, positions: 4, lengths: &[4] }).unwrap();
    let (marginals, log_sum) = labelling.marginals(&scores).unwrap();
    assert_eq!((&soft.labels, soft.log_sums[0]), (&marginals, log_sum));
    assert!((soft.pairs.iter().sum::<f64>() - 3.0).abs() < 1e-9);
    assert!(
        labelling.marginals_of_batch(Sequences { scores: &scores, positions: 5, lengths: &[4] }).is_err()
    );
}

#[test]
fn sparse_trees_are_trees_and_have_gradients() {
    let scores: Vec<f64> = numbers(16, 11).into_iter().map(f64::from).collect();
    let weights: Vec<f64> = numbers(16, 12).into_iter().map(f64::from).collect();
    let shares = sparse_tree(&scores, true, None).unwrap();
    for word in 1..4 {
        let sum: f64 = (0..4).map(|head| shares[head * 4 + word]).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    assert!((shares[1..4].iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let gradient = sparse_tree(&scores, true, Some(&weights)).unwrap();
    for at in 0..16 {
        let moved = |step: f64| {
            let mut scores = scores.clone();
            scores[at] += step;
            dot(&sparse_tree(&scores, true, None).unwrap(), &weights)
        };
        let wanted = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((gradient[at] - wanted).abs() < 1e-4, "{at}: {} {wanted}", gradient[at]);
    }
    assert!(sparse_tree(&scores[..15], true, None).is_err());
}
