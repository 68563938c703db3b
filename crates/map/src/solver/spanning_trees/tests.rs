use super::*;
use crate::pattern::sample::{BINARY, MANY_STATES, Random, Shape, check, optimum, random_model};
use crate::solution::Status;

fn certified(shape: Shape, seeds: std::ops::Range<u64>) -> f64 {
    let mut solver = SpanningTrees::new(MasterOptions { max_iterations: 300, ..MasterOptions::default() });
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
fn random_models_against_enumeration() {
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }] {
        let share = certified(shape, 0..600);
        eprintln!("naive {share}");
        assert!(share > 0.5, "{share}");
    }
}

#[test]
fn a_group_of_patterns_against_enumeration() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let size = 2 + random.below(3);
        let states = 2 + random.below(2);
        let mut model = PatternModel::new();
        let scores: Vec<Vec<f64>> =
            (0..size).map(|_| (0..states).map(|_| random.weight()).collect()).collect();
        for s in &scores {
            model.add_vertex(s).unwrap();
        }
        let mut patterns: Vec<(Vec<u32>, f64)> = (0..random.below(8))
            .map(|_| ((0..size).map(|_| random.below(states) as u32).collect(), random.weight()))
            .collect();
        patterns.sort_by(|a, b| a.0.cmp(&b.0));
        let mut group = Group::default();
        group.reset(size);
        for (members, weight) in &patterns {
            group.push(members.iter().copied(), *weight);
            let members: Vec<_> = members.iter().enumerate().map(|(v, &s)| (v, s as usize)).collect();
            model.add_pattern(&members, *weight).unwrap();
        }
        let views: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
        let mut labels = vec![0; size];
        let value = group.solve(&views, &mut labels);
        assert!((value - optimum(&model)).abs() < 1e-12);
        assert!((value - model.value(&labels)).abs() < 1e-12);
    }
}
