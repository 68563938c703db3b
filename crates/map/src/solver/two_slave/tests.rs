use super::*;
use crate::Status;
use crate::pattern::sample::{BINARY, MANY_STATES, Random, Shape, check, random_model};
use crate::solver::master::StepRule;
use crate::solver::spanning_trees::SpanningTrees;

const RUSH: StepRule = StepRule::Rush { first: 1.0 };

/// Checks many random models and returns the share that was proven optimal (or infeasible).
fn certified(shape: Shape, seeds: std::ops::Range<u64>, reduction: Reduction, step: StepRule) -> f64 {
    let mut solver = TwoSlave::new(MasterOptions { max_iterations: 300, step, ..MasterOptions::default() });
    solver.reduction = reduction;
    let total = (seeds.end - seeds.start) as f64;
    let proven = seeds.filter(|&seed| {
        let model = random_model(&mut Random(seed), shape);
        let solution = solver.solve(&model);
        check(&model, &solution, &format!("seed {seed}"));
        solution.certificate.is_settled()
    });
    proven.count() as f64 / total
}

#[test]
fn binary_models_against_enumeration() {
    let share = certified(BINARY, 0..1500, Reduction::Tight, StepRule::Level);
    assert!(share > 0.85, "{share}");
}

#[test]
fn many_states_against_enumeration() {
    for shape in [MANY_STATES, Shape { dense: false, ..MANY_STATES }] {
        let share = certified(shape, 0..800, Reduction::Tight, StepRule::Level);
        assert!(share > 0.9, "{share}");
    }
}

#[test]
fn hard_constraints_against_enumeration() {
    for shape in [Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }, Shape { hard: 2, ..BINARY }]
    {
        let share = certified(shape, 0..800, Reduction::Tight, StepRule::Level);
        assert!(share > 0.9, "{share}");
    }
}

#[test]
fn the_papers_reduction_and_step_rule_against_enumeration() {
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }] {
        let tight = certified(shape, 0..400, Reduction::Tight, RUSH);
        let lifted = certified(shape, 0..400, Reduction::Lifted, RUSH);
        assert!(tight > lifted && lifted > 0.3, "{tight} {lifted}");
    }
}

#[test]
fn the_scale_of_scores_does_not_matter() {
    let share = |scale| certified(Shape { scale, ..BINARY }, 0..300, Reduction::Tight, StepRule::Level);
    let plain = share(1.0);
    for scale in [1e-6, 1e6] {
        assert!((share(scale) - plain).abs() < 0.02, "{} {plain}", share(scale));
    }
}

/// Edges between all vertices and nothing else: section 3.1 of the paper.
#[test]
fn fully_connected_pairwise_models_against_enumeration() {
    let mut solver = TwoSlave::default();
    for seed in 0..200 {
        let mut random = Random(seed);
        let states = 2 + seed as usize % 2;
        let mut model = PatternModel::new();
        for v in 0..6 {
            let scores: Vec<f64> = (0..states).map(|_| random.weight()).collect();
            model.add_vertex(&scores).unwrap();
            for u in 0..v {
                let values: Vec<f64> = (0..states * states).map(|_| 0.5 * random.weight()).collect();
                let table = model.add_table(states, states, &values).unwrap();
                model.add_edge(v, u, table).unwrap();
            }
        }
        for reduction in [Reduction::Tight, Reduction::Lifted] {
            solver.reduction = reduction;
            check(&model, &solver.solve(&model), &format!("seed {seed}"));
        }
    }
}

/// Every part is relaxed at least as tightly as in the cover, so the bound cannot end above its.
#[test]
fn the_bound_is_not_above_that_of_the_spanning_trees() {
    let options = MasterOptions { max_iterations: 3000, stall: 1e-5, ..MasterOptions::default() };
    let mut two_slave = TwoSlave::new(options.clone());
    let mut naive = SpanningTrees::new(options);
    let mut tighter = 0;
    for shape in [BINARY, MANY_STATES, Shape { order: 3, patterns: 40, ..BINARY }] {
        for seed in 0..150 {
            let model = random_model(&mut Random(seed), shape);
            let (a, b) =
                (two_slave.solve(&model).certificate.bound(), naive.solve(&model).certificate.bound());
            assert!(a <= b + 2e-3 * (1.0 + b.abs()), "seed {seed}: {a} above {b}");
            tighter += usize::from(a < b - 1e-2);
        }
    }
    assert!(tighter > 0);
}

#[test]
fn scores_change_without_rebuilding() {
    let mut model = PatternModel::new();
    let vertices: Vec<usize> = (0..4).map(|_| model.add_vertex(&[0.1, 0.0]).unwrap()).collect();
    let table = model.add_sparse_table(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
    for (i, &u) in vertices.iter().enumerate() {
        for &v in &vertices[..i] {
            model.add_edge(u, v, table).unwrap();
        }
    }
    let pattern = model.add_pattern(&[(0, 1), (1, 1), (2, 1)], 1.0).unwrap();
    let mut solver = TwoSlave::default();
    assert_eq!(solver.solve(&model).assignment(), Some(&[1, 1, 1, 1][..]));
    model.set_pattern(pattern, -1.0).unwrap();
    assert_eq!(solver.solve(&model).assignment(), Some(&[0, 0, 0, 0][..]));
    model.set_unary(3, &[f64::NEG_INFINITY, 0.0]).unwrap();
    assert_eq!(solver.solve(&model).assignment(), Some(&[1, 1, 1, 1][..]));
    model.set_table(table, &[-1.0, -1.0]).unwrap();
    check(&model, &solver.solve(&model), "repelling");
}

#[test]
fn contradictions_are_infeasible_and_empty_models_are_solved() {
    let mut model = PatternModel::new();
    let solution = TwoSlave::default().solve(&model);
    assert_eq!(
        (solution.certificate.value(), solution.certificate.bound(), solution.certificate.status()),
        (Some(0.0), 0.0, Status::Optimal)
    );
    for _ in 0..3 {
        model.add_vertex(&[0.0, 0.0]).unwrap();
    }
    // Two colours do not suffice for a triangle: relaxed they do, so that no proof is to be expected, but no lie either.
    let differ =
        model.add_sparse_table(2, 2, &[(0, 0, f64::NEG_INFINITY), (1, 1, f64::NEG_INFINITY)]).unwrap();
    for (u, v) in [(0, 1), (1, 2), (0, 2)] {
        model.add_edge(u, v, differ).unwrap();
    }
    let solution = TwoSlave::default().solve(&model);
    assert!(matches!(solution.certificate.status(), Status::Infeasible | Status::Stopped));
    assert!(solution.assignment().is_none() && solution.certificate.value().is_none());
    model.set_unary(0, &[f64::NEG_INFINITY, f64::NEG_INFINITY]).unwrap();
    let solution = TwoSlave::default().solve(&model);
    assert_eq!(
        (solution.certificate.status(), solution.certificate.bound()),
        (Status::Infeasible, f64::NEG_INFINITY)
    );
}

#[test]
fn the_trace_and_the_limits_are_kept() {
    let model = random_model(&mut Random(3), Shape { vertices: 40, edges: 100, patterns: 60, ..BINARY });
    let options = MasterOptions {
        max_iterations: 5,
        trace: true,
        tree: vec![0, 1, 2, 1_000_000],
        ..MasterOptions::default()
    };
    let solution = TwoSlave::new(options.clone()).solve(&model);
    assert_eq!((solution.certificate.iterations, solution.trace.len()), (5, 5));
    assert!(solution.trace.windows(2).all(|w| w[1].bound <= w[0].bound && w[1].value >= w[0].value));
    let solution = TwoSlave::new(MasterOptions { time_limit: Some(0.0), ..options }).solve(&model);
    assert_eq!(solution.certificate.iterations, 1);
}
