use super::*;
use crate::pattern::sample::{BINARY, MANY_STATES, Random, Shape, check, random_model};

fn certified(shape: Shape, seeds: std::ops::Range<u64>) -> f64 {
    let mut solver = SpanningTrees::new(MasterOptions { max_iterations: 300, ..MasterOptions::default() });
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
fn random_models_against_enumeration() {
    for shape in [BINARY, MANY_STATES, Shape { hard: 6, ..BINARY }, Shape { hard: 5, ..MANY_STATES }] {
        let share = certified(shape, 0..600);
        assert!(share > 0.8, "{share}");
    }
}
