//! Forests, which exact search solves in one pass, against enumeration.

use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Graph, Status};
use consonant_testing::Random;
use consonant_testing::problem::all;

/// A forest of up to nine variables, with tables over one and two of them and products of literals; sometimes with one edge
/// too many.
fn forest(random: &mut Random) -> Problem {
    let mut problem = Problem::new();
    let count = 1 + random.below(9);
    let score = |random: &mut Random, forbidding: usize| match random.below(forbidding) {
        0 => f64::NEG_INFINITY,
        _ => random.below(2000) as f64 / 100.0 - 10.0,
    };
    let forbidding = [4, 12, 1 << 20][random.below(3)];
    for number in 0..count {
        let name = format!("x{number}");
        let states = 1 + random.below(3);
        let variable = match random.below(3) {
            0 => Variable::binary(name, score(random, forbidding)),
            _ => {
                let scores = (0..states).map(|_| score(random, forbidding)).collect();
                Variable { name, states: Vec::new(), scores, binary: false }
            }
        };
        problem.variables.push(variable);
    }
    let mut ties: Vec<[usize; 2]> = (1..count).map(|own| [own, random.below(own)]).collect();
    ties.retain(|_| random.below(6) > 0);
    ties.extend((count > 2 && random.below(8) == 0).then(|| [0, 1 + random.below(count - 1)]));
    for tie in ties {
        let tie = if random.below(2) == 0 { tie } else { [tie[1], tie[0]] };
        let sizes = tie.map(|variable| problem.variables[variable].scores.len());
        if random.below(3) == 0 {
            let literals = tie.iter().zip(sizes).map(|(&variable, states)| Literal {
                variable: variable as u32,
                state: random.below(states) as u32,
                negated: random.below(2) == 0,
            });
            let literals = literals.collect();
            problem.constrain(Kind::Pair { score: score(random, 1 << 20) }, literals);
        } else {
            let scores = (0..sizes[0] * sizes[1]).map(|_| score(random, forbidding)).collect();
            let scope = tie.iter().map(|&variable| variable as u32).collect();
            problem.factors.push(Factor { kind: Kind::Table { scores }, literals: Vec::new(), scope });
        }
    }
    for variable in (0..count).filter(|_| random.below(4) == 0).collect::<Vec<_>>() {
        let scores =
            (0..problem.variables[variable].scores.len()).map(|_| score(random, forbidding)).collect();
        let scope = vec![variable as u32];
        problem.factors.push(Factor { kind: Kind::Table { scores }, literals: Vec::new(), scope });
    }
    problem
}

#[test]
fn forests_agree_with_enumeration() {
    let mut random = Random::new(3);
    let (mut solved, mut impossible) = (0, 0);
    for _ in 0..4000 {
        let problem = forest(&mut random);
        let graph = Graph::from_problem(&problem).unwrap();
        let certificate = solve(&graph, Method::Exact, &Limits::default()).unwrap().certificate;
        match all(&problem).first() {
            Some((best, _)) => {
                let value = certificate.value().unwrap();
                assert_eq!(certificate.status(), Status::Optimal, "{problem:?}");
                assert!(
                    (value - best).abs() < 1e-9 && certificate.bound() >= *best,
                    "{value} {best} {problem:?}"
                );
                solved += 1;
            }
            None => {
                assert_eq!(certificate.status(), Status::Infeasible, "{problem:?}");
                impossible += 1;
            }
        }
    }
    assert!(solved > 1000 && impossible > 100, "{solved} {impossible}");
}

/// A graph that takes a problem's factors is the one that copies them, and what is wrong is told in the same words.
#[test]
fn taking_a_problem_makes_the_same_graph() {
    let mut random = Random::new(4);
    for _ in 0..300 {
        let problem = consonant_testing::problem::random_problem(&mut random);
        let answer = |graph| {
            let solution = solve(&graph, Method::Ad3, &Limits::default()).unwrap();
            (
                solution.assignment().map(<[u32]>::to_vec),
                solution.certificate.bound().to_bits(),
                solution.marginals,
            )
        };
        let mut taken = problem.clone();
        match (Graph::from_problem(&problem), Graph::take_problem(&mut taken)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(answer(one), answer(other));
                assert!(taken.factors.is_empty() && taken.variables.len() == problem.variables.len());
            }
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            _ => panic!("one of the two failed: {problem:?}"),
        }
    }
}
