use super::MasterOptions;
use crate::pattern::sample::{BINARY, Random, Shape, check, optimum, random_model};
use crate::solver::spanning_trees::SpanningTrees;
use crate::solver::two_slave::TwoSlave;

/// The first labelling may break a hard constraint. As long as all do the gap is endless, and an endless gap is not a closed
/// one: the descent must go on until there is a labelling that counts.
#[test]
fn models_that_have_a_labelling_are_given_one() {
    let options = MasterOptions { trace: true, ..MasterOptions::default() };
    let (mut two_slave, mut cover) = (TwoSlave::new(options.clone()), SpanningTrees::new(options));
    let mut late = [0, 0];
    for seed in 0..2000 {
        let model = random_model(&mut Random(seed), Shape { hard: 3, ..BINARY });
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
