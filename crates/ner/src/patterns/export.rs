//! The graph of a group as a problem file, for `consonant solve` and other people's solvers.

use serde_json::{Value, json};

use super::GroupProblem;
use super::network::Network;
use crate::parts::LabelSet;

/// The problem in the JSON form of `consonant_problem`; its value is that of the whole group.
pub(crate) fn to_json(problem: &GroupProblem<'_>, labels: &LabelSet) -> String {
    let network = Network::new(problem);
    let name = |vertex: usize| format!("t{vertex}");
    let number = |score: f64| if score.is_finite() { json!(score) } else { json!("-inf") };
    let variables: Vec<Value> = network
        .vertices
        .iter()
        .enumerate()
        .map(|(vertex, of)| {
            let states: Vec<&str> = of.labels.iter().map(|&label| labels.name(label)).collect();
            let scores: Vec<Value> = of.unary.iter().map(|&score| number(score)).collect();
            json!({"name": name(vertex), "states": states, "scores": scores})
        })
        .collect();
    let mut factors: Vec<Value> = Vec::new();
    for (vertex, table) in &network.steps {
        let scores: Vec<Value> = table.iter().map(|&score| number(score)).collect();
        factors.push(json!({"kind": "table", "over": [name(vertex - 1), name(*vertex)], "scores": scores}));
    }
    for (one, other, cells) in &network.skips {
        let columns = network.vertices[*other].labels.len();
        let mut scores = vec![0.0; network.vertices[*one].labels.len() * columns];
        cells.iter().for_each(|&(row, column, score)| scores[row * columns + column] = score);
        factors.push(json!({"kind": "table", "over": [name(*one), name(*other)], "scores": scores}));
    }
    for (members, weight) in &network.patterns {
        let over: Vec<String> =
            members.iter().map(|&(vertex, state)| format!("{}={state}", name(vertex))).collect();
        factors.push(json!({"kind": "pattern", "over": over, "score": weight}));
    }
    let alone = problem.scores.iter().zip(&problem.links.linked).filter(|(_, linked)| !**linked);
    let constant: f64 = alone.map(|(scores, _)| scores.value).sum();
    json!({"constant": constant, "variables": variables, "factors": factors}).to_string()
}
