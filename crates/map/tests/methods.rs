//! Every method against the truth on random small graphs.

mod random;

use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Solution, Status};
use random::{Recipe, Sample};

fn check(sample: &Sample, solution: &Solution, context: &str) {
    let optimum = sample.optimum();
    let tolerance = 1e-6 * (1.0 + optimum.abs().min(1e6));
    assert!(
        solution.bound >= optimum - tolerance,
        "{context}: bound {} below optimum {optimum}",
        solution.bound
    );
    assert!(
        solution.value <= optimum + tolerance,
        "{context}: value {} above optimum {optimum}",
        solution.value
    );
    match solution.status {
        Status::Optimal => assert!(
            (solution.value - optimum).abs() <= 2.0 * tolerance,
            "{context}: {} is not {optimum}",
            solution.value
        ),
        Status::Infeasible => assert_eq!(optimum, f64::NEG_INFINITY, "{context}: feasible after all"),
        Status::Feasible | Status::Stopped => {}
    }
    if solution.value > f64::NEG_INFINITY {
        let value = sample.value(&solution.assignment);
        assert!(
            (value - solution.value).abs() <= tolerance,
            "{context}: says {}, is {value}",
            solution.value
        );
    }
}

fn recipe(seed: u64) -> Recipe {
    Recipe {
        variables: 2 + seed as usize % 6,
        factors: 1 + seed as usize % 7,
        forbidden: if seed.is_multiple_of(3) { 0.1 } else { 0.0 },
        scale: [1.0, 1e-3, 1e4][seed as usize % 3],
        ..Recipe::default()
    }
}

fn run(method: Method, seeds: u64, limits: &Limits) -> (usize, usize) {
    let mut proven = 0;
    for seed in 0..seeds {
        let sample = Sample::new(seed, &recipe(seed));
        let solution = solve(&sample.graph, method, limits).unwrap();
        check(&sample, &solution, &format!("{method:?}, seed {seed}"));
        proven += matches!(solution.status, Status::Optimal | Status::Infeasible) as usize;
    }
    (proven, seeds as usize)
}

#[test]
fn exact_search_proves_everything() {
    let (proven, total) = run(Method::Exact, 1500, &Limits::default());
    assert_eq!(proven, total);
}

#[test]
fn exact_search_stopped_early_still_tells_the_truth() {
    run(Method::Exact, 500, &Limits { max_iterations: Some(1), ..Limits::default() });
}

#[test]
fn subgradient_certificates_hold() {
    let (proven, total) =
        run(Method::Subgradient, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 3 > total, "{proven} of {total}");
}

#[test]
fn two_slave_certificates_hold() {
    let (proven, total) =
        run(Method::TwoSlave, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 2 > total, "{proven} of {total}");
}

#[test]
fn spanning_tree_certificates_hold() {
    let (proven, total) =
        run(Method::SpanningTrees, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 3 > total, "{proven} of {total}");
}
