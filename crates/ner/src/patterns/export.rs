//! The graph of a group as a problem with its answer, for `consonant solve`, proofs and other people's solvers.

use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::proof::Answered;

use super::GroupProblem;
use super::network::Network;
use crate::parts::LabelSet;

/// The problem, whose value is that of the whole group, and the labels of its sentences as an assignment.
pub(crate) fn answered(problem: &GroupProblem<'_>, labels: &LabelSet, paths: &[Vec<u32>]) -> Answered {
    let network = Network::new(problem);
    let mut exported = Problem::new();
    exported.variables.extend(network.vertices.iter().enumerate().map(|(vertex, of)| Variable {
        name: format!("t{vertex}"),
        states: of.labels.iter().map(|&label| labels.name(label).to_owned()).collect(),
        scores: of.unary.clone(),
        binary: false,
    }));
    let mut table = |one: usize, other: usize, scores: Vec<f64>| {
        let scope = vec![one as u32, other as u32];
        exported.factors.push(Factor { kind: Kind::Table { scores }, literals: Vec::new(), scope });
    };
    for (vertex, scores) in &network.steps {
        table(vertex - 1, *vertex, scores.clone());
    }
    for (one, other, cells) in &network.skips {
        let columns = network.vertices[*other].labels.len();
        let mut scores = vec![0.0; network.vertices[*one].labels.len() * columns];
        cells.iter().for_each(|&(row, column, score)| scores[row * columns + column] = score);
        table(*one, *other, scores);
    }
    for (members, weight) in &network.patterns {
        let literal = |&(vertex, state): &(usize, usize)| Literal {
            variable: vertex as u32,
            state: state as u32,
            negated: false,
        };
        exported.constrain(Kind::Pattern { score: *weight }, members.iter().map(literal).collect());
    }
    let alone = problem.scores.iter().zip(&problem.links.linked).filter(|(_, linked)| !**linked);
    exported.constant = alone.map(|(scores, _)| scores.value).sum();
    Answered { problem: exported, answer: network.read(problem, paths) }
}
