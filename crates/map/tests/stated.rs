//! Linear constraints and constraints that may be broken, against enumeration.

use consonant_map::Graph;
use consonant_map::problem::{Kind, Literal, Problem, Relation};
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::solver::{Limits, Method, solve};
use proptest::prelude::*;

/// What the engine finds; minus infinity if there is nothing.
fn best(problem: &Problem) -> f64 {
    let graph = Graph::from_problem(problem).unwrap();
    let certificate = solve(&graph, Method::Exact, &Limits::default()).unwrap().certificate;
    assert!(certificate.is_settled());
    certificate.value().unwrap_or(f64::NEG_INFINITY)
}

/// The best of all assignments to `scores.len()` binary variables.
fn enumerate(scores: &[f64], worth: impl Fn(&[bool]) -> f64) -> f64 {
    let states =
        (0..1u32 << scores.len()).map(|bits| (0..scores.len()).map(|i| bits >> i & 1 == 1).collect());
    let value = |states: Vec<bool>| {
        let own: f64 = scores.iter().zip(&states).filter(|(_, on)| **on).map(|(score, _)| score).sum();
        own + worth(&states)
    };
    states.map(value).fold(f64::NEG_INFINITY, f64::max)
}

fn problem(scores: &[f64]) -> (Problem, Vec<Literal>) {
    let mut problem = Problem::new();
    let literals =
        scores.iter().enumerate().map(|(i, &score)| problem.binary(format!("x{i}"), score)).collect();
    (problem, literals)
}

proptest! {
    #[test]
    fn linear_constraints(
        scores in prop::collection::vec(-4i8..=4, 4),
        coefficients in prop::collection::vec(-3i8..=3, 4),
        relation in prop::sample::select(vec![Relation::AtMost, Relation::AtLeast, Relation::Equal]),
        limit in -4i8..=4,
    ) {
        let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
        let (mut stated, literals) = problem(&scores);
        let terms: Vec<_> = literals.iter().copied().zip(coefficients.iter().map(|&c| f64::from(c))).collect();
        stated.linear(&terms, relation, limit.into()).unwrap();
        let worth = |states: &[bool]| {
            let sum: i8 = coefficients.iter().zip(states).filter(|(_, on)| **on).map(|(c, _)| c).sum();
            let holds = match relation {
                Relation::AtMost => sum <= limit,
                Relation::AtLeast => sum >= limit,
                Relation::Equal => sum == limit,
            };
            if holds { 0.0 } else { f64::NEG_INFINITY }
        };
        prop_assert_eq!(best(&stated), enumerate(&scores, worth));
    }

    #[test]
    fn soft_constraints(scores in prop::collection::vec(-4i8..=4, 3), kind in 0..9usize, penalty in 0u8..5) {
        let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
        let (mut stated, mut literals) = problem(&scores);
        let costs = vec![1.0, 2.0, 3.0];
        let kinds = [
            Kind::ExactlyOne,
            Kind::AtMostOne,
            Kind::AtLeastOne,
            Kind::Implies,
            Kind::Budget { limit: 1 },
            Kind::Knapsack { costs: costs.clone(), limit: 3.0 },
            Kind::OrWithOutput,
            Kind::AndWithOutput,
            Kind::XorWithOutput,
        ];
        let kind = kinds[kind].clone();
        if kind == Kind::Implies {
            literals.truncate(2);
        }
        stated.constrain(kind.clone(), literals);
        stated.soften(0, penalty.into()).unwrap();
        let worth = |states: &[bool]| {
            let count = states.iter().filter(|on| **on).count();
            let cost: f64 = costs.iter().zip(states).filter(|(_, on)| **on).map(|(cost, _)| cost).sum();
            let holds = match kind {
                Kind::ExactlyOne => count == 1,
                Kind::AtMostOne | Kind::Budget { .. } => count <= 1,
                Kind::AtLeastOne => count >= 1,
                Kind::Implies => !states[0] || states[1],
                Kind::OrWithOutput => (states[0] || states[1]) == states[2],
                Kind::AndWithOutput => (states[0] && states[1]) == states[2],
                Kind::XorWithOutput => !(states[0] && states[1]) && (states[0] != states[1]) == states[2],
                _ => cost <= 3.0,
            };
            if holds { 0.0 } else { -f64::from(penalty) }
        };
        prop_assert_eq!(best(&stated), enumerate(&scores, worth));
    }
}

#[test]
fn what_cannot_be_stated_is_refused() {
    let (mut stated, literals) = problem(&[1.0]);
    assert!(stated.linear(&[(literals[0], f64::NAN)], Relation::AtMost, 1.0).is_err());
    assert!("<".parse::<Relation>().is_err());
    stated.constrain(Kind::Pattern { score: 1.0 }, literals);
    assert!(
        stated.soften(0, 1.0).is_err() && stated.soften(7, 1.0).is_err() && stated.soften(0, -1.0).is_err()
    );
}

/// Costs whose squares are no numbers any more, or vanish.
#[test]
fn costs_of_any_size() {
    for (costs, limit, expected) in [
        ([1e200, 1.0, 1.0], 1.0, 3.0),
        ([1e-200, 2e-200, 4e-200], 5e-200, 4.0),
        ([1e299, 2e299, 4e299], 3e299, 3.0),
        ([1e-300, 1e299, 1e-300], 1e-300, 3.0),
        ([1e-310, 0.0, 1e250], 0.0, 2.0),
    ] {
        let (mut stated, literals) = problem(&[1.0, 2.0, 3.0]);
        let terms: Vec<_> = literals.into_iter().zip(costs).collect();
        stated.linear(&terms, Relation::AtMost, limit).unwrap();
        let graph = Graph::from_problem(&stated).unwrap();
        for method in [Method::Ad3, Method::Subgradient, Method::Exact] {
            let solution = solve(&graph, method, &Limits::default()).unwrap();
            let (_, proven) = prove(&stated, solution, &ProofOptions::default()).unwrap();
            let certificate = proven.certificate;
            let what = format!("{method:?} {costs:?} {limit}: {certificate:?}");
            assert!(
                certificate.value().is_none_or(|value| value <= expected)
                    && expected <= certificate.bound() + 1e-9,
                "{what}"
            );
            if method == Method::Exact {
                assert!(certificate.is_optimal(), "{what}");
            }
        }
    }
}
