//! What is asked of random small problems, against enumeration.

use consonant_map::Status;
use consonant_map::problem::{Kind, Problem};
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::questions::{conflict, n_best, otherwise, proven_n_best};
use consonant_map::solver::{Limits, Method};
use consonant_map::verify::verify;
use consonant_testing::Random;
use consonant_testing::problem::{all, random_problem};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs().max(b.abs()).max(1e-300)
}

#[test]
fn the_next_best_are_those_of_enumeration() {
    let mut random = Random::new(5);
    let mut asked = 0;
    for _ in 0..400 {
        let problem = random_problem(&mut random);
        let all = all(&problem);
        let Ok(best) = n_best(&problem, 4, 1, Method::Exact, &Limits::default()) else { continue };
        for (rank, solution) in best.iter().enumerate() {
            match (solution.certificate.status(), all.get(rank)) {
                (Status::Optimal, Some((value, _))) => {
                    assert!(close(solution.certificate.value().unwrap(), *value), "{rank}: {problem:?}");
                    asked += 1;
                }
                (Status::Infeasible, None) => {}
                // Gaps of the size of rounding may stay open.
                (Status::Feasible, Some((value, _))) => assert!(solution.certificate.bound() >= *value),
                (status, other) => panic!("{status} for {other:?}: {problem:?}"),
            }
        }
    }
    assert!(asked > 500, "{asked}");
}

#[test]
fn solutions_differ_by_as_much_as_was_asked() {
    let mut problem = Problem::new();
    for (name, score) in [("a", 3.0), ("b", 2.0), ("c", 1.0)] {
        problem.binary(name, score);
    }
    let best = n_best(&problem, 9, 2, Method::Exact, &Limits::default()).unwrap();
    let found: Vec<Vec<u32>> = best.iter().filter_map(|s| s.assignment().map(<[u32]>::to_vec)).collect();
    assert_eq!(found, [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    assert_eq!(best.last().unwrap().certificate.status(), Status::Infeasible);
    assert_eq!(n_best(&problem, 9, 4, Method::Exact, &Limits::default()).unwrap().len(), 1);
}

/// The proofs of the next best hold for the problem without those before, and for no other.
#[test]
fn the_next_best_are_proven_in_turn() {
    let mut random = Random::new(6);
    let (mut verified, mut refused) = (0, 0);
    for _ in 0..60 {
        let problem = random_problem(&mut random);
        let limits = Limits::default();
        let Ok(best) = proven_n_best(&problem, 3, 1, Method::Exact, &limits, 5.0) else { continue };
        let all = all(&problem);
        let mut rest = problem.clone();
        for (rank, (proof, solution)) in best.iter().enumerate() {
            let proven = verify(&rest, proof).unwrap();
            assert_eq!(solution.certificate.value().is_some(), proven.value.is_some());
            assert!(all.get(rank).is_none_or(|(value, _)| proven.bound >= value - 1e-9 * value.abs()));
            verified += 1;
            // The first proof says what the whole can be worth, which no later one does.
            refused += (rank > 0 && verify(&problem, proof).is_err()) as usize;
            if let Some(states) = solution.assignment() {
                rest.exclude(&states[..problem.variables.len()], 1);
            }
        }
    }
    assert!(verified > 100 && refused > 30, "{verified} verified, {refused} refused");
}

/// A constraint that is broken without need is not another solution.
#[test]
fn penalties_make_no_solutions_of_their_own() {
    let mut problem = Problem::new();
    let (a, b) = (problem.binary("a", 2.0), problem.binary("b", 1.0));
    problem.constrain(Kind::AtMostOne, vec![a, b]);
    problem.soften(0, 0.5).unwrap();
    let best = n_best(&problem, 9, 1, Method::Exact, &Limits::default()).unwrap();
    let values: Vec<_> = best.iter().filter_map(|solution| solution.certificate.value()).collect();
    assert_eq!(values, [2.5, 2.0, 1.0, 0.0]);
}

#[test]
fn a_conflict_is_one_and_each_piece_of_it_is_needed() {
    let mut random = Random::new(11);
    let (mut conflicts, mut none) = (0, 0);
    for _ in 0..1500 {
        let problem = random_problem(&mut random);
        let feasible = !all(&problem).is_empty();
        let Ok(told) = conflict(&problem, &Limits::default()) else { continue };
        assert_eq!(told.is_none(), feasible, "{problem:?}");
        let Some(told) = told else {
            none += 1;
            continue;
        };
        conflicts += 1;
        assert!(told.smallest && all(&told.problem).is_empty());
        for factor in 0..told.problem.factors.len() {
            let mut without = told.problem.clone();
            without.factors.remove(factor);
            assert!(!all(&without).is_empty(), "factor {factor} is not needed: {problem:?}");
        }
        for &variable in &told.variables {
            let mut without = told.problem.clone();
            without.variables[variable].scores.fill(0.0);
            assert!(!all(&without).is_empty(), "variable {variable} is not needed: {problem:?}");
        }
        // And the checker, which trusts nobody, says so too.
        let graph = consonant_map::Graph::from_problem(&told.problem).unwrap();
        let solution = consonant_map::solver::solve(&graph, Method::Exact, &Limits::default()).unwrap();
        let (proof, _) = prove(&told.problem, solution, &ProofOptions::default()).unwrap();
        assert_eq!(verify(&told.problem, &proof).unwrap().bound, f64::NEG_INFINITY);
    }
    assert!(conflicts > 50 && none > 50, "{conflicts}, {none}");
}

#[test]
fn other_states_cost_what_enumeration_says() {
    let mut random = Random::new(3);
    let mut asked = 0;
    for _ in 0..200 {
        let problem = random_problem(&mut random);
        let all = all(&problem);
        let Some((_, states)) = all.first() else { continue };
        let Ok(told) = otherwise(&problem, states, Method::Exact, &Limits::default()) else { continue };
        for other in told {
            let expected =
                all.iter().find(|(_, other_states)| other_states[other.variable] != states[other.variable]);
            match (other.solution.certificate.status(), expected) {
                (Status::Optimal, Some((value, _))) => {
                    assert!(close(other.solution.certificate.value().unwrap(), *value), "{problem:?}");
                    asked += 1;
                }
                (Status::Infeasible, None) => {}
                (Status::Feasible, Some((value, _))) => assert!(other.solution.certificate.bound() >= *value),
                (status, expected) => panic!("{status} for {expected:?}: {problem:?}"),
            }
        }
    }
    assert!(asked > 200, "{asked}");
}
