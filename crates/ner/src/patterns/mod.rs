//! Pattern agreement: the generalized higher-order CRF of Qian & Liu (2014, 2-slave dual decomposition for
//! generalized higher order CRFs).
//!
//! A group of sentences is one graph: the chains of its sentences, skip edges between occurrences of a word,
//! and for phrases of several words that occur again the patterns "both are a whole entity of one type". An
//! occurrence is joined to the next two only, so a word that occurs n times makes at most 2n edges; agreement
//! travels along the occurrences.

mod export;
mod joint;
mod learn;
mod links;
mod network;
mod reach;

pub(crate) use export::answered;
pub(crate) use joint::TiedGroups;
pub(crate) use learn::PatternTask;
pub(crate) use links::{GroupLinks, Layout};
pub(crate) use network::GroupProblem;
pub(crate) use reach::reachable;

use consonant_map::oracle::sequence::Sequence;
use consonant_map::pattern::PatternModel;
use consonant_map::solver::master::MasterOptions;
use consonant_map::solver::spanning_trees::SpanningTrees;
use consonant_map::solver::two_slave::TwoSlave;
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Ad3, Ad3Options, Certificate, Choice, Gap, Graph, Solution, Variable};

use crate::NerError;
use network::{Network, Vertex};

/// Exact search is given up after this many seconds for a group; its bound still holds.
const EXACT_SECONDS: f64 = 60.0;

/// Decodes groups; keeps the memory of its solvers.
pub(crate) struct PatternDecoder {
    method: Method,
    model: PatternModel,
    two_slave: TwoSlave,
    spanning_trees: SpanningTrees,
}

impl PatternDecoder {
    pub(crate) fn new(method: Method, max_iterations: Option<usize>) -> Self {
        let defaults = MasterOptions::default();
        let options =
            MasterOptions { max_iterations: max_iterations.unwrap_or(defaults.max_iterations), ..defaults };
        Self {
            method,
            model: PatternModel::new(),
            two_slave: match method {
                Method::TreeCut => TwoSlave::of_the_paper(options.clone()),
                _ => TwoSlave::new(options.clone()),
            },
            spanning_trees: SpanningTrees::new(options),
        }
    }

    /// The best labels of a group, for each sentence, with their certificate.
    pub(crate) fn decode(
        &mut self,
        problem: &GroupProblem<'_>,
    ) -> Result<(Vec<Vec<u32>>, Certificate), NerError> {
        let mut paths: Vec<Vec<u32>> = problem.scores.iter().map(|scores| scores.path.clone()).collect();
        let local = problem.value(&paths);
        // Nothing is known of links that were not looked at.
        let least = if problem.links.is_cut { f64::INFINITY } else { local };
        if problem.links.is_empty() {
            return Ok((paths, Certificate::judge(Some(local), least, Gap::default()).after(1, 0.0)));
        }
        let network = Network::new(problem);
        let least = if network.is_cut { f64::INFINITY } else { least };
        let solution = match self.method {
            Method::TwoSlave | Method::TreeCut => {
                self.build(&network)?;
                self.two_slave.solve(&self.model)
            }
            Method::SpanningTrees => {
                self.build(&network)?;
                self.spanning_trees.solve(&self.model)
            }
            method => solve_graph(&network, method)?,
        };
        // The network leaves out what is settled; it is worth the same whatever is decided.
        let mut value = local;
        let mut bound = f64::INFINITY;
        if let Some((states, value_there)) = solution.assignment().zip(solution.certificate.value()) {
            let mut found = paths.clone();
            network.write(problem, states, &mut found);
            let joint = problem.value(&found);
            bound = joint + (solution.certificate.bound() - value_there);
            // A solver that was stopped may end with less than the sentences' own labels are worth.
            if joint >= local {
                (paths, value) = (found, joint);
            }
        }
        let certificate = Certificate::judge(Some(value), bound.max(least), Gap::default());
        Ok((paths, certificate.after(solution.certificate.iterations, 0.0)))
    }

    fn build(&mut self, network: &Network) -> Result<(), NerError> {
        let model = &mut self.model;
        model.clear();
        for Vertex { unary, .. } in &network.vertices {
            model.add_vertex(unary)?;
        }
        let states = |vertex: usize| network.vertices[vertex].labels.len();
        for (vertex, table) in &network.steps {
            let table = model.add_table(states(vertex - 1), states(*vertex), table)?;
            model.add_edge(vertex - 1, *vertex, table)?;
        }
        for (one, other, cells) in &network.skips {
            let table = model.add_sparse_table(states(*one), states(*other), cells)?;
            model.add_edge(*one, *other, table)?;
        }
        for (members, weight) in &network.patterns {
            model.add_pattern(members, *weight)?;
        }
        Ok(())
    }
}

/// The same problem as a factor graph, for the solvers that take any graph. Exact search wants tables where
/// AD3 takes whole chains.
fn solve_graph(network: &Network, method: Method) -> Result<Solution, NerError> {
    let mut graph = Graph::new();
    let mut choices: Vec<Choice> = Vec::new();
    for Vertex { unary, .. } in &network.vertices {
        choices.push(graph.choice(unary)?);
    }
    let variable = |vertex: usize| Variable::Choice(choices[vertex]);
    if method == Method::Exact {
        for (vertex, table) in &network.steps {
            graph.table(&[variable(vertex - 1), variable(*vertex)], table)?;
        }
    } else {
        // Steps that follow one another are one chain.
        for run in network.steps.chunk_by(|(one, _), (other, _)| one + 1 == *other) {
            let first = run[0].0 - 1;
            let vertices: Vec<usize> = (first..=first + run.len()).collect();
            let states: Vec<usize> = vertices.iter().map(|&vertex| choices[vertex].states()).collect();
            let tables = run.iter().flat_map(|(_, table)| table.iter().copied()).collect();
            let chain = Sequence::first_order(&states, tables)?;
            let variables: Vec<Variable> = vertices.into_iter().map(variable).collect();
            graph.oracle_over(chain, &variables)?;
        }
    }
    for (one, other, cells) in &network.skips {
        let columns = choices[*other].states();
        let mut table = vec![0.0; choices[*one].states() * columns];
        cells.iter().for_each(|&(row, column, score)| table[row * columns + column] = score);
        graph.table(&[variable(*one), variable(*other)], &table)?;
    }
    for (members, weight) in &network.patterns {
        graph.pattern(members.iter().map(|&(vertex, state)| choices[vertex].is(state)), *weight)?;
    }
    match method {
        Method::Ad3 => Ok(Ad3::new(Ad3Options::default()).solve(&graph)),
        method => {
            let limits = Limits { time_limit: Some(EXACT_SECONDS), ..Limits::default() };
            Ok(solve(&graph, method, &limits)?)
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/patterns.rs"]
mod tests;
