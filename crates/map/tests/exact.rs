//! The exact solver against brute force.

use consonant_map::Status;
use consonant_map::solver::exact::{Network, Options, solve};
use consonant_testing::Random;
use consonant_testing::network::{Recipe, check, optimum, random_network};
use std::time::Duration;

fn recipes() -> Vec<Recipe> {
    let base = Recipe { variables: 9, states: 2, arity: 2, tables: 24, forbidden: 0, integer: false };
    vec![
        base,
        Recipe { integer: true, ..base },
        Recipe { forbidden: 4, ..base },
        Recipe { forbidden: 2, tables: 10, ..base },
        Recipe { variables: 6, states: 4, tables: 14, ..base },
        Recipe { variables: 6, states: 4, tables: 14, forbidden: 3, ..base },
        Recipe { variables: 6, states: 3, arity: 4, tables: 10, ..base },
        Recipe { variables: 6, states: 3, arity: 4, tables: 10, forbidden: 5, integer: true },
        Recipe { variables: 8, arity: 3, tables: 14, forbidden: 6, ..base },
    ]
}

#[test]
fn random_networks_agree_with_optimum() {
    let quick = Options::default();
    // Without elimination everything rests on bounds and branching.
    let searching = Options { elimination_work: 0.0, ..Options::default() };
    let plain = Options {
        elimination_work: 0.0,
        dominance: false,
        cycles: false,
        small_table: 0,
        ..Options::default()
    };
    let mut random = Random::new(7);
    for recipe in recipes() {
        for _ in 0..400 {
            let network = random_network(recipe, &mut random);
            let optimum = optimum(&network);
            for options in [&quick, &searching, &plain] {
                let answer = solve(&network, options, &mut |progress| {
                    assert!(progress.bound >= optimum - 1e-9);
                    assert!(progress.value.is_none_or(|value| value <= optimum + 1e-9));
                });
                check(&network, &answer, optimum, true);
            }
        }
    }
}

#[test]
fn bounds_hold_when_stopped_early() {
    let mut random = Random::new(11);
    for recipe in recipes() {
        for round in 0..300 {
            let network = random_network(recipe, &mut random);
            let optimum = optimum(&network);
            let stopped = Options {
                elimination_work: 0.0,
                small_table: 0,
                node_limit: Some(round % 4),
                time_limit: (round % 5 == 0).then_some(Duration::ZERO),
                ..Options::default()
            };
            check(&network, &solve(&network, &stopped, &mut |_| {}), optimum, false);
        }
    }
}

/// A grid with random couplings and fields, too wide for enumeration but narrow for elimination.
fn grid(rows: usize, columns: usize, states: usize, random: &mut Random) -> Network {
    let mut network = Network::new(&vec![states; rows * columns]).unwrap();
    let mut random =
        |count: usize| -> Vec<f64> { (0..count).map(|_| random.below(2001) as f64 / 100.0 - 10.0).collect() };
    for row in 0..rows {
        for column in 0..columns {
            let v = row * columns + column;
            let field: Vec<f64> = random(states).iter().map(|s| s / 4.0).collect();
            network.add_table(&[v], &field).unwrap();
            if column + 1 < columns {
                network.add_table(&[v, v + 1], &random(states * states)).unwrap();
            }
            if row + 1 < rows {
                network.add_table(&[v, v + columns], &random(states * states)).unwrap();
            }
        }
    }
    network
}

#[test]
fn branching_and_elimination_agree_on_grids() {
    let mut random = Random::new(3);
    for (rows, columns, states) in [(6, 6, 2), (8, 8, 2), (5, 5, 3), (4, 5, 4)] {
        for _ in 0..3 {
            let network = grid(rows, columns, states, &mut random);
            let eliminated = solve(&network, &Options::default(), &mut |_| {});
            let searching = Options { elimination_work: 1e3, ..Options::default() };
            let searched = solve(&network, &searching, &mut |_| {});
            assert_eq!(eliminated.certificate.status(), Status::Optimal);
            check(&network, &searched, eliminated.certificate.value().unwrap(), true);
        }
    }
}

#[test]
fn corner_cases_are_answered() {
    let options = Options::default();
    let empty = solve(&Network::new(&[]).unwrap(), &options, &mut |_| {});
    assert_eq!(empty.certificate.status(), Status::Optimal);
    assert_eq!(empty.assignment, Some(vec![]));
    let no_states = solve(&Network::new(&[2, 0]).unwrap(), &options, &mut |_| {});
    assert_eq!(no_states.certificate.status(), Status::Infeasible);
    let single = solve(&Network::new(&[1, 1]).unwrap(), &options, &mut |_| {});
    assert_eq!(single.assignment, Some(vec![0, 0]));
    let mut forbidden = Network::new(&[2]).unwrap();
    forbidden.add_table(&[], &[f64::NEG_INFINITY]).unwrap();
    assert_eq!(solve(&forbidden, &options, &mut |_| {}).certificate.status(), Status::Infeasible);
}

#[test]
fn the_same_input_gives_the_same_answer() {
    let network = grid(7, 7, 3, &mut Random::new(5));
    let options = Options { elimination_work: 1e4, ..Options::default() };
    let first = solve(&network, &options, &mut |_| {});
    let second = solve(&network, &options, &mut |_| {});
    assert_eq!(first.assignment, second.assignment);
    assert_eq!(first.certificate.bound(), second.certificate.bound());
    assert_eq!(first.certificate.iterations, second.certificate.iterations);
}

#[test]
fn bad_tables_are_refused() {
    let mut network = Network::new(&[2, 3]).unwrap();
    assert!(network.add_table(&[0, 2], &[0.0; 6]).is_err());
    assert!(network.add_table(&[1, 1], &[0.0; 9]).is_err());
    assert!(network.add_table(&[0, 1], &[0.0; 5]).is_err());
    assert!(network.add_table(&[0], &[f64::NAN, 0.0]).is_err());
    assert!(network.add_table(&[0], &[f64::INFINITY, 0.0]).is_err());
    assert!(network.add_table(&[], &[]).is_err());
    assert!(Network::new(&[70_000]).is_err());
}

#[test]
fn domains_of_hundreds_of_states_are_eliminated() {
    let mut random = Random::new(13);
    let sizes = [300, 5, 4];
    let mut network = Network::new(&sizes).unwrap();
    for scope in [[0, 1], [1, 2], [0, 2]] {
        let entries = sizes[scope[0]] * sizes[scope[1]];
        let scores: Vec<f64> = (0..entries).map(|_| random.below(1000) as f64 / 7.0).collect();
        network.add_table(&scope, &scores).unwrap();
    }
    let options = Options { small_table: 0, dominance: false, ..Options::default() };
    check(&network, &solve(&network, &options, &mut |_| {}), optimum(&network), true);
}

#[test]
fn the_scale_of_the_scores_changes_nothing() {
    let network = spin_glass(7, 1.0, &mut Random::new(19));
    let options = Options { elimination_work: 1e3, ..Options::default() };
    let plain = solve(&network, &options, &mut |_| {});
    for power in [-300, -40, 40, 300] {
        let factor = f64::from(power).exp2();
        let answer = solve(&spin_glass(7, factor, &mut Random::new(19)), &options, &mut |_| {});
        assert_eq!(answer.assignment, plain.assignment);
        assert_eq!(answer.certificate.iterations, plain.certificate.iterations);
        assert_eq!(answer.certificate.bound(), plain.certificate.bound() * factor);
    }
}

/// A square grid of spins with random couplings and weak fields: full of frustrated squares.
fn spin_glass(side: usize, scale: f64, random: &mut Random) -> Network {
    let mut network = Network::new(&vec![2; side * side]).unwrap();
    let mut random = |size: f64| scale * size * (random.below(2001) as f64 / 1000.0 - 1.0);
    for v in 0..side * side {
        let field = random(0.5);
        network.add_table(&[v], &[field, -field]).unwrap();
        for (other, exists) in [(v + 1, (v + 1) % side != 0), (v + side, v + side < side * side)] {
            if exists {
                let j = random(5.0);
                network.add_table(&[v, other], &[j, -j, -j, j]).unwrap();
            }
        }
    }
    network
}

#[test]
fn tightening_closes_what_the_pairwise_bound_leaves_open() {
    let mut random = Random::new(17);
    let network = spin_glass(9, 1.0, &mut random);
    let loose = Options { elimination_work: 1e3, cycles: false, ..Options::default() };
    let tight = Options { cycles: true, ..loose.clone() };
    let loose = solve(&network, &loose, &mut |_| {});
    let tight = solve(&network, &tight, &mut |_| {});
    assert_eq!((loose.certificate.status(), tight.certificate.status()), (Status::Optimal, Status::Optimal));
    assert!((loose.certificate.value().unwrap() - tight.certificate.value().unwrap()).abs() < 1e-4);
    assert!(
        tight.certificate.iterations < loose.certificate.iterations,
        "{} nodes with cycles, {} without",
        tight.certificate.iterations,
        loose.certificate.iterations
    );
}
