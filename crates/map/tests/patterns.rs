//! Two-slave and spanning trees against enumeration.

use consonant_map::ModelError;
use consonant_map::pattern::PatternModel;
use consonant_map::solver::master::{MasterOptions, StepRule};
use consonant_map::solver::spanning_trees::SpanningTrees;
use consonant_map::solver::two_slave::{Reduction, TwoSlave};
use consonant_map::{Solution, Status};
use consonant_testing::Random;
use consonant_testing::pattern::{BINARY, MANY_STATES, Shape, check, optimum, random_model};

const RUSH: StepRule = StepRule::Rush { first: 1.0 };

/// Checks many random models and returns the share that was proven optimal (or infeasible).
fn settled(shape: Shape, seeds: u64, mut solve: impl FnMut(&PatternModel) -> Solution) -> f64 {
    let proven = (0..seeds).filter(|&seed| {
        let model = random_model(&mut Random::new(seed), shape);
        let solution = solve(&model);
        check(&model, &solution, &format!("seed {seed}"));
        solution.certificate.is_settled()
    });
    proven.count() as f64 / seeds as f64
}

fn certified(shape: Shape, seeds: u64, reduction: Reduction, step: StepRule) -> f64 {
    let mut solver = TwoSlave::new(MasterOptions { max_iterations: 300, step, ..MasterOptions::default() });
    solver.reduction = reduction;
    settled(shape, seeds, |model| solver.solve(model))
}

#[test]
fn spanning_trees_against_enumeration() {
    let mut solver = SpanningTrees::new(MasterOptions { max_iterations: 300, ..MasterOptions::default() });
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }] {
        let share = settled(shape, 600, |model| solver.solve(model));
        assert!(share > 0.8, "{share}");
    }
}

#[test]
fn binary_models_against_enumeration() {
    let share = certified(BINARY, 1500, Reduction::Tight, StepRule::Level);
    assert!(share > 0.85, "{share}");
}

#[test]
fn many_states_against_enumeration() {
    for shape in [MANY_STATES, Shape { dense: false, ..MANY_STATES }] {
        let share = certified(shape, 800, Reduction::Tight, StepRule::Level);
        assert!(share > 0.9, "{share}");
    }
}

#[test]
fn hard_constraints_against_enumeration() {
    for shape in [Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }, Shape { hard: 2, ..BINARY }]
    {
        let share = certified(shape, 800, Reduction::Tight, StepRule::Level);
        assert!(share > 0.9, "{share}");
    }
}

#[test]
fn the_papers_reduction_and_step_rule_against_enumeration() {
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }] {
        let tight = certified(shape, 400, Reduction::Tight, RUSH);
        let lifted = certified(shape, 400, Reduction::Lifted, RUSH);
        assert!(tight > lifted && lifted > 0.3, "{tight} {lifted}");
    }
}

#[test]
fn the_scale_of_scores_does_not_matter() {
    let share = |scale| certified(Shape { scale, ..BINARY }, 300, Reduction::Tight, StepRule::Level);
    let plain = share(1.0);
    for scale in [1e-6, 1e6] {
        assert!((share(scale) - plain).abs() < 0.02, "{} {plain}", share(scale));
    }
}

/// Edges between all vertices and nothing else: section 3.1 of the paper.
#[test]
fn fully_connected_pairwise_models_against_enumeration() {
    let (mut solver, mut of_the_paper) =
        (TwoSlave::default(), TwoSlave::of_the_paper(MasterOptions::default()));
    assert_eq!((of_the_paper.reduction, of_the_paper.options.step), (Reduction::Lifted, RUSH));
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let states = 2 + seed as usize % 2;
        let mut model = PatternModel::new();
        for v in 0..6 {
            let scores: Vec<f64> = (0..states).map(|_| random.uniform()).collect();
            model.add_vertex(&scores).unwrap();
            for u in 0..v {
                let values: Vec<f64> = (0..states * states).map(|_| 0.5 * random.uniform()).collect();
                let table = model.add_table(states, states, &values).unwrap();
                model.add_edge(v, u, table).unwrap();
            }
        }
        for solver in [&mut solver, &mut of_the_paper] {
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
            let model = random_model(&mut Random::new(seed), shape);
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
    // Two colours do not suffice for a triangle: relaxed they do, so that no proof is to be expected, but no
    // lie either.
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
    let model = random_model(&mut Random::new(3), Shape { vertices: 40, edges: 100, patterns: 60, ..BINARY });
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

/// The first labelling may break a hard constraint. As long as all do the gap is endless, and an endless gap
/// is not a closed one: the descent must go on until there is a labelling that counts.
#[test]
fn models_that_have_a_labelling_are_given_one() {
    let options = MasterOptions { trace: true, ..MasterOptions::default() };
    let (mut two_slave, mut cover) = (TwoSlave::new(options.clone()), SpanningTrees::new(options));
    let mut late = [0, 0];
    for seed in 0..8000 {
        let model = random_model(&mut Random::new(seed), Shape { hard: 3, ..BINARY });
        if optimum(&model) == f64::NEG_INFINITY {
            continue;
        }
        for (solution, late) in [two_slave.solve(&model), cover.solve(&model)].into_iter().zip(&mut late) {
            check(&model, &solution, &format!("seed {seed}"));
            assert!(solution.assignment().is_some(), "seed {seed}: {:?}", solution.certificate.status());
            *late += usize::from(solution.trace[0].value == f64::NEG_INFINITY);
        }
    }
    assert!(late.iter().all(|&late| late > 0), "models without a first labelling: {late:?}");
}

#[test]
fn wrong_parts_are_refused_and_named() {
    let mut model = PatternModel::new();
    assert!(matches!(model.add_vertex(&[]), Err(ModelError::Empty(what)) if what.contains("vertex 0")));
    assert!(matches!(model.add_vertex(&[0.0, f64::NAN]), Err(ModelError::Score { .. })));
    assert!(matches!(model.add_vertex(&[f64::INFINITY]), Err(ModelError::Score { .. })));
    model.add_vertex(&[0.0, 1.0]).unwrap();
    model.add_vertex(&[0.0, 1.0, f64::NEG_INFINITY]).unwrap();
    assert!(matches!(model.add_table(2, 3, &[0.0; 5]), Err(ModelError::Length { expected: 6, came: 5, .. })));
    assert!(matches!(model.add_table(usize::MAX, 3, &[0.0; 5]), Err(ModelError::Length { .. })));
    assert!(matches!(
        model.add_sparse_table(2, 3, &[(2, 0, 1.0)]),
        Err(ModelError::OutOfRange { index: 2, to: 2, .. })
    ));
    assert!(matches!(model.add_sparse_table(2, 3, &[(1, 0, f64::NAN)]), Err(ModelError::Score { .. })));
    assert!(matches!(model.add_edge(0, 1, 0), Err(ModelError::OutOfRange { to: 0, .. })));
    let table = model.add_table(2, 3, &[0.0; 6]).unwrap();
    assert!(matches!(model.add_edge(1, 0, table), Err(ModelError::Unfit { .. })));
    assert!(
        model
            .add_edge(1, 1, table)
            .unwrap_err()
            .to_string()
            .starts_with("edge (1, 1) joins a vertex with itself")
    );
    assert!(matches!(model.add_edge(0, 7, table), Err(ModelError::OutOfRange { index: 7, to: 2, .. })));
    assert_eq!(model.add_pattern(&[], 1.0), Err(ModelError::Empty("pattern 0".into())));
    let twice = model.add_pattern(&[(0, 1), (1, 2), (0, 0)], 1.0);
    assert_eq!(twice.unwrap_err().to_string(), "pattern 0 asks vertex 0 for states 0 and 1 at once");
    assert!(matches!(model.add_pattern(&[(0, 2)], 1.0), Err(ModelError::OutOfRange { index: 2, to: 2, .. })));
    assert!(matches!(model.add_pattern(&[(0, 1)], f64::INFINITY), Err(ModelError::Score { .. })));
    assert_eq!(model.patterns(), 0);
    assert_eq!(model.add_pattern(&[(1, 2), (0, 1), (1, 2)], 2.5), Ok(0));
    assert!(matches!(model.set_pattern(3, 1.0), Err(ModelError::OutOfRange { index: 3, to: 1, .. })));
    assert!(matches!(model.set_unary(0, &[1.0]), Err(ModelError::Length { expected: 2, came: 1, .. })));
    assert!(matches!(model.set_unary(9, &[1.0]), Err(ModelError::OutOfRange { index: 9, .. })));
    assert!(matches!(model.set_table(table, &[1.0]), Err(ModelError::Length { expected: 6, .. })));
    let message = model.add_edge(1, 0, table).unwrap_err().to_string();
    assert_eq!(message, "edge (1, 0) joins vertices with 3 and 2 states, but table 0 is 2 by 3");
}
