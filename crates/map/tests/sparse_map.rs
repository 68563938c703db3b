//! SparseMAP against its conditions of optimality and finite differences.

use consonant_map::oracle::Oracle as _;
use consonant_map::oracle::sequence::Sequence;
use consonant_map::oracle::sparse_map::SparseMap;
use consonant_testing::Random;

fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| 2.0 * random.uniform() - 1.0).collect()
}

/// No configuration improves the objective to first order, and the gradient is that of finite differences.
#[test]
fn answers_are_optimal_and_their_gradients_are_finite_differences() {
    let mut random = Random::new(7);
    for _ in 0..100 {
        let (length, states) = (1 + random.below(5), 2 + random.below(3));
        let links = length * states;
        let pairs = numbers(&mut random, states * states);
        let scores = numbers(&mut random, links);
        let chain = Sequence::uniform(length, states, pairs.clone()).unwrap();
        let (mut sparse, mut marginals) = (SparseMap::default(), vec![0.0; links]);
        assert!(sparse.solve(&chain, &scores, &mut marginals));
        let total: f64 = sparse.support().map(|(_, weight)| weight).sum();
        assert!((total - 1.0).abs() < 1e-9);

        // Under scores − u every configuration of the mixture is best.
        let slope: Vec<f64> = scores.iter().zip(&marginals).map(|(s, u)| s - u).collect();
        let mut best = Default::default();
        let most = chain.maximize(&slope, &mut Default::default(), &mut best);
        for (configuration, weight) in sparse.support() {
            assert!(weight < 1e-9 || most - chain.score(&slope, configuration) < 1e-7);
        }

        let direction = numbers(&mut random, links);
        let mut gradient = vec![0.0; links];
        let changes = sparse.gradient(&chain, &direction, &mut gradient);
        let support = sparse.support().count();
        let along = |scores: &[f64], pairs: Vec<f64>| {
            let chain = Sequence::uniform(length, states, pairs).unwrap();
            let (mut sparse, mut marginals) = (SparseMap::default(), vec![0.0; links]);
            sparse.solve(&chain, scores, &mut marginals);
            let value: f64 = marginals.iter().zip(&direction).map(|(u, g)| u * g).sum();
            (value, sparse.support().count())
        };
        let close = |(more, a): (f64, usize), (less, b): (f64, usize), found: f64| {
            // Where the support changes there is a kink.
            a != support || b != support || (found - (more - less) / 2e-5).abs() < 1e-4
        };
        for link in 0..links {
            let moved = |step: f64| {
                let mut scores = scores.clone();
                scores[link] += step;
                along(&scores, pairs.clone())
            };
            assert!(close(moved(1e-5), moved(-1e-5), gradient[link]));
        }
        for pair in 0..states * states {
            let moved = |step: f64| {
                let mut pairs = pairs.clone();
                pairs[pair] += step;
                along(&scores, pairs)
            };
            let count = |path: &[u32]| {
                path.windows(2).filter(|w| w[0] as usize * states + w[1] as usize == pair).count() as f64
            };
            let found = sparse.support().zip(&changes).map(|((path, _), change)| change * count(path)).sum();
            assert!(close(moved(1e-5), moved(-1e-5), found));
        }
    }
}
