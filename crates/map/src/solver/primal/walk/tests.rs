//! Walks against the values of graphs.

use super::*;
use crate::model::ModelError;
use crate::oracle::arborescence::{Arborescence, RootChildren};
use crate::oracle::cut::MinimumCut;
use crate::oracle::sequence::Sequence;
use crate::oracle::tree_budget::BudgetedTree;
use consonant_testing::Random;

/// A graph with factors of every kind.
fn random_graph(random: &mut Random) -> Result<Graph, ModelError> {
    let mut graph = Graph::new();
    let scores: Vec<f64> = (0..12).map(|_| random.uniform() - 0.5).collect();
    let x = graph.binaries(&scores)?;
    let choices = [graph.choice(&scores[..3])?, graph.choice(&[0.3, f64::NEG_INFINITY, 0.1])?];
    let literals = |random: &mut Random, count: usize| -> Vec<Literal> {
        let chosen = random.choose(count, 12).into_iter();
        chosen.map(|v| if random.chance(0.3) { !x[v] } else { x[v].into() }).collect()
    };
    for _ in 0..6 {
        let over = literals(random, 4);
        match random.below(9) {
            0 => graph.exactly_one(&over).map(drop),
            1 => graph.at_most_one(&over).map(drop),
            2 => graph.at_least_one(&over).map(drop),
            3 => graph.or_with_output(&over[..3], over[3]).map(drop),
            4 => graph.budget(&over, 2).map(drop),
            5 => graph.knapsack(&over, &[0.5, 1.25, 2.0, 0.75], 2.5).map(drop),
            6 => graph.pattern(&over[..3], random.uniform()).map(drop),
            7 => graph.pair(over[0], over[1], random.uniform() - 0.5).map(drop),
            _ => {
                let both = [choices[0].is(1), over[0], choices[1].is(2)];
                graph.at_most_one(both).map(drop)
            }
        }?;
    }
    let table: Vec<f64> = (0..9).map(|_| random.uniform()).collect();
    let variables = [choices[0].into(), choices[1].into()];
    graph.table(&variables, &table)?;
    graph.oracle_over(Sequence::uniform(2, 3, table)?, &variables)?;
    match random.below(3) {
        0 => {
            let arcs = [(0, 1), (0, 2), (1, 2), (2, 1), (0, 3), (1, 3), (2, 3)];
            graph.oracle(Arborescence::new(4, &arcs, RootChildren::Any)?, &x[..7])?;
        }
        1 => {
            let tree = BudgetedTree::new(&[None, Some(0), Some(1), Some(0)], &[1, 2, 1, 1], 3)?;
            graph.oracle(tree, &x[2..6])?;
        }
        _ => {
            graph.oracle(MinimumCut::new(4, &[(0, 1, 0.4), (1, 3, 0.2)])?, &x[4..8])?;
        }
    }
    Ok(graph)
}

#[test]
fn a_walk_knows_what_it_is_worth_and_what_it_breaks() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let graph = random_graph(&mut random).unwrap();
        let mut walk = Walk::new(&graph).unwrap();
        for _ in 0..30 {
            let variable = walk.free[random.below(walk.free.len())] as usize;
            walk.set(variable, random.below(walk.size(variable)));
            let worth = walk.worth();
            let states = assignment(&graph, &walk.sites, |v| walk.states[v] as usize);
            let value = graph.value(&states);
            assert_eq!(walk.is_sound(), value > f64::NEG_INFINITY, "seed {seed}");
            if walk.is_sound() {
                assert!((worth - value).abs() < 1e-9, "seed {seed}: {worth}, {value}");
            }
        }
    }
}

#[test]
fn a_walk_ends_no_worse_than_it_began_and_repeats() {
    let mut found = 0;
    for seed in 0..200 {
        let graph = random_graph(&mut Random::new(seed)).unwrap();
        let best =
            |start: Option<&[u32]>, effort| Walk::new(&graph).unwrap().improve(start, effort, || false);
        let Some(states) = best(None, 2000) else { continue };
        found += 1;
        let value = graph.value(&states);
        assert!(value > f64::NEG_INFINITY, "seed {seed}");
        let further = best(Some(&states), 2000).unwrap();
        assert!(graph.value(&further) >= value - 1e-9, "seed {seed}");
        assert_eq!(best(None, 2000), Some(states), "seed {seed}");
    }
    assert!(found > 100, "{found}");
}
