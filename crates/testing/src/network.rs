//! Random networks of tables, and their optima by enumeration.

use consonant_map::Status;
use consonant_map::solver::exact::{Answer, Network};

use crate::{Random, best_of_all};

/// The optimum by enumeration; minus infinity when no assignment is allowed.
pub fn optimum(network: &Network) -> f64 {
    let mut assignment = Vec::new();
    best_of_all(network.sizes(), |states| {
        assignment.clear();
        assignment.extend(states.iter().map(|&state| state as usize));
        network.value(&assignment)
    })
}

/// What random networks look like.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Variables at most.
    pub variables: usize,
    /// States of a variable at most.
    pub states: usize,
    /// Variables of a table at most.
    pub arity: usize,
    /// Tables at most.
    pub tables: usize,
    /// One entry in this many is forbidden; zero for none.
    pub forbidden: usize,
    /// Whether scores are whole numbers.
    pub integer: bool,
}

/// A random network.
pub fn random_network(recipe: Recipe, random: &mut Random) -> Network {
    let count = 1 + random.below(recipe.variables);
    let sizes: Vec<usize> = (0..count).map(|_| 1 + random.below(recipe.states)).collect();
    let mut network = Network::new(&sizes).unwrap();
    let score = |random: &mut Random| {
        if recipe.forbidden > 0 && random.below(recipe.forbidden) == 0 {
            f64::NEG_INFINITY
        } else if recipe.integer {
            random.below(21) as f64 - 10.0
        } else {
            random.below(2_000_001) as f64 / 1e6 - 1.0
        }
    };
    for (v, &size) in sizes.iter().enumerate() {
        let scores: Vec<f64> = (0..size).map(|_| score(random)).collect();
        network.add_table(&[v], &scores).unwrap();
    }
    for _ in 0..random.below(recipe.tables + 1) {
        let arity = (random.below(recipe.arity + 1)).min(count);
        let scope = random.choose(arity, count);
        let entries: usize = scope.iter().map(|&v| sizes[v]).product();
        let scores: Vec<f64> = (0..entries).map(|_| score(random)).collect();
        network.add_table(&scope, &scores).unwrap();
    }
    network
}

/// Bound, value and certificate hold against the true optimum.
pub fn check(network: &Network, answer: &Answer, optimum: f64, complete: bool) {
    let tolerance = 2e-6 * optimum.abs().max(1.0);
    assert!(
        answer.certificate.bound() >= optimum - 1e-12,
        "bound {} below optimum {optimum}",
        answer.certificate.bound()
    );
    if let Some(assignment) = &answer.assignment {
        let value = network.value(assignment);
        assert_eq!(Some(value), answer.certificate.value());
        assert!(value <= optimum + tolerance);
        assert!(answer.certificate.bound() >= value);
    }
    match answer.certificate.status() {
        Status::Optimal => {
            assert!(answer.certificate.value().unwrap() >= optimum - tolerance);
            assert!(answer.certificate.bound() - answer.certificate.value().unwrap() <= tolerance * 10.0);
        }
        Status::Infeasible => assert_eq!(optimum, f64::NEG_INFINITY),
        Status::Feasible => assert!(answer.certificate.value().is_some()),
        Status::Stopped => assert!(answer.certificate.value().is_none()),
    }
    if complete {
        let expected = if optimum == f64::NEG_INFINITY { Status::Infeasible } else { Status::Optimal };
        assert_eq!(answer.certificate.status(), expected);
    }
}
