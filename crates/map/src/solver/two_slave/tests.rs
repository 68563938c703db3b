use super::*;
use crate::pattern::sample::{BINARY, MANY_STATES, Random, Shape, check, random_model};
use crate::solution::Status;
use crate::solver::master::StepRule;

/// Checks many random models and returns the share that was proven optimal (or infeasible).
fn certified(
    shape: Shape,
    seeds: std::ops::Range<u64>,
    reduction: Reduction,
    step: StepRule,
    iterations: usize,
) -> f64 {
    let mut solver =
        TwoSlave::new(MasterOptions { max_iterations: iterations, step, ..MasterOptions::default() });
    solver.reduction = reduction;
    let total = (seeds.end - seeds.start) as f64;
    let proven = seeds.filter(|&seed| {
        let model = random_model(&mut Random(seed), shape);
        let solution = solver.solve(&model);
        check(&model, &solution, &format!("seed {seed}"));
        matches!(solution.status, Status::Optimal | Status::Infeasible)
    });
    proven.count() as f64 / total
}

#[test]
fn binary_models_against_enumeration() {
    let share = certified(BINARY, 0..1500, Reduction::Tight, StepRule::Level, 300);
    eprintln!("binary {share}");
    assert!(share > 0.5, "{share}");
}

#[test]
fn many_states_against_enumeration() {
    let share = certified(MANY_STATES, 0..1000, Reduction::Tight, StepRule::Level, 300);
    eprintln!("many {share}");
    let sparse =
        certified(Shape { dense: false, ..MANY_STATES }, 0..1000, Reduction::Tight, StepRule::Level, 300);
    eprintln!("many sparse {sparse}");
    assert!(share > 0.5, "{share}");
}

#[test]
fn hard_constraints_against_enumeration() {
    for shape in [Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }] {
        let share = certified(shape, 0..800, Reduction::Tight, StepRule::Level, 300);
        eprintln!("hard {share}");
        assert!(share > 0.5, "{share}");
    }
}

#[test]
fn the_papers_reduction_against_enumeration() {
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }] {
        let a = certified(shape, 0..400, Reduction::Lifted, StepRule::Rush { first: 1.0 }, 100);
        let b = certified(shape, 0..400, Reduction::Lifted, StepRule::Level, 300);
        eprintln!("lifted {a} {b}");
    }
}

#[test]
fn scale_does_not_matter() {
    for scale in [1e-6, 1e6] {
        let share = certified(Shape { scale, ..BINARY }, 0..300, Reduction::Tight, StepRule::Level, 300);
        eprintln!("scale {share}");
        assert!(share > 0.5, "{share}");
    }
}
