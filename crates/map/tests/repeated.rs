//! Factors that name a variable twice, against enumeration of what they say.

use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::verify::{Bound, Proof, Step, VERSION, verify};
use consonant_map::{Graph, Status};

/// Three binary variables and two with three states.
fn variables() -> Problem {
    let mut problem = Problem::new();
    for (name, score) in [("a", 1.0), ("b", -0.5), ("c", 0.75)] {
        problem.binary(name, score);
    }
    for (name, scores) in [("x", [0.5, 0.0, -0.25]), ("y", [0.0, 0.125, 1.5])] {
        let (name, states, binary) = (name.to_owned(), Vec::new(), false);
        problem.variables.push(Variable { name, states, scores: scores.to_vec(), binary });
    }
    problem
}

/// By every method, the answer is the best by enumeration and its proof is accepted.
fn check(kind: Kind, literals: &[&str], scope: &[u32]) {
    let mut problem = variables();
    let literals: Vec<Literal> = literals.iter().map(|text| problem.literal(text).unwrap()).collect();
    let name = format!("{} {literals:?} {scope:?}", kind.name());
    problem.factors.push(Factor { kind, literals, scope: scope.to_vec() });
    let states =
        |index: u32| vec![index & 1, index >> 1 & 1, index >> 2 & 1, (index >> 3) % 3, (index >> 3) / 3];
    let values = (0..8 * 9).filter_map(|index| consonant_map::verify::value(&problem, &states(index)).ok());
    let best = values.fold(f64::NEG_INFINITY, f64::max);
    let graph = Graph::from_problem(&problem).unwrap();
    for (method, by) in Method::NAMES {
        let limits = Limits { hint: Some(vec![1, 0, 1, 1, 2]), ..Limits::default() };
        let Ok(solution) = solve(&graph, by, &limits) else { continue };
        let certificate = solution.certificate;
        let optimal = if best > f64::NEG_INFINITY { Status::Optimal } else { Status::Infeasible };
        assert!(certificate.bound() >= best - 1e-9, "{name} by {method}: {certificate:?}, but {best}");
        assert!(certificate.value().is_none_or(|value| value <= best + 1e-9), "{name} by {method}");
        let (proof, solution) = prove(&problem, solution, &ProofOptions::default()).unwrap();
        verify(&problem, &proof).unwrap_or_else(|error| panic!("{name} by {method}: {error}"));
        if by == Method::Exact {
            assert_eq!((certificate.status(), solution.certificate.status()), (optimal, optimal), "{name}");
        }
    }
}

#[test]
fn literals_may_stand_twice() {
    let logic = [Kind::ExactlyOne, Kind::AtMostOne, Kind::AtLeastOne, Kind::Budget { limit: 1 }];
    for kind in logic {
        for literals in
            [&["a", "a"][..], &["a", "!a"], &["a", "a", "c"], &["!a", "b", "a", "!a"], &["x=1", "!x=1", "c"]]
        {
            check(kind.clone(), literals, &[]);
        }
    }
    for kind in [Kind::OrWithOutput, Kind::AndWithOutput, Kind::XorWithOutput] {
        for literals in
            [&["a", "a", "b"][..], &["a", "!a", "b"], &["a", "b", "a"], &["a", "b", "!a"], &["c", "c"]]
        {
            check(kind.clone(), literals, &[]);
        }
    }
    for literals in [["a", "a"], ["a", "!a"], ["y=2", "!y=2"]] {
        check(Kind::Implies, &literals, &[]);
        check(Kind::Pair { score: -3.0 }, &literals, &[]);
        check(Kind::Pair { score: 2.0 }, &literals, &[]);
    }
    check(Kind::Pattern { score: -3.0 }, &["a", "a", "c"], &[]);
    check(Kind::Pattern { score: 3.0 }, &["a", "!a", "c"], &[]);
    check(Kind::Knapsack { costs: vec![1.0, 1.0, 1.0], limit: 2.0 }, &["a", "a", "c"], &[]);
    let pairs = vec![(0, 1, 1.0), (1, 2, 2.0)];
    check(Kind::Cut { pairs }, &["b", "b", "!c"], &[]);
    check(
        Kind::TreeBudget { parents: vec![None, Some(0), Some(0)], budget: Some((vec![1; 3], 2)) },
        &["a", "b", "a"],
        &[],
    );
    check(
        Kind::Arborescence { nodes: 3, arcs: vec![(0, 1), (0, 2), (1, 2)], single_root: true },
        &["a", "b", "a"],
        &[],
    );
}

#[test]
fn of_tables_the_diagonal_counts() {
    let score = |entry: usize| (entry * 7 % 11) as f64 - 5.0;
    let scores = |length: usize| (0..length).map(score).collect::<Vec<f64>>();
    check(Kind::Table { scores: scores(9) }, &[], &[3, 3]);
    check(Kind::Table { scores: scores(4) }, &[], &[1, 1]);
    check(Kind::Table { scores: scores(54) }, &[], &[3, 0, 4, 3]);
    check(Kind::Sequence { pairs: scores(18), triples: None }, &[], &[3, 4, 3]);
    check(Kind::Sequence { pairs: scores(8), triples: Some(scores(8)) }, &[], &[0, 1, 0]);
    let edges = vec![(0, 1), (1, 2)];
    check(Kind::TreeLabelling { edges, tables: scores(12) }, &[], &[3, 0, 3]);
}

#[test]
fn proofs_see_the_diagonal_too() {
    let mut problem = variables();
    // What is off the diagonal never counts; what is on it does.
    let kind = Kind::Table { scores: vec![0.0, 9.0, 9.0, 0.0, 5.0, 9.0, 0.0, 9.0, 0.0] };
    problem.factors.push(Factor { kind, literals: Vec::new(), scope: vec![3, 3] });
    let proof = |bound: f64| Proof {
        consonant_proof: VERSION,
        assignment: Some(vec![1, 0, 1, 1, 2]),
        value: Some(8.25),
        bound: Some(bound),
        unit: None,
        steps: vec![Step::Bound(Bound { eliminate: vec![3], ..Bound::default() })],
    };
    assert_eq!(verify(&problem, &proof(8.25)).map(|verified| verified.bound), Ok(8.25));
    assert!(verify(&problem, &proof(3.75)).is_err());
}
