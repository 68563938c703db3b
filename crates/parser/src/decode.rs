//! The best tree under given scores of parts, with its certificate.
//!
//! First order is one call of the arborescence oracle. Beyond that, a binary variable stands for each candidate arc, and
//! factors over them are made to agree: the tree, head automata on both sides of each head, the sequence of heads, pairs.

use std::time::Instant;

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren, Workspace};
use consonant_map::oracle::sequence::Sequence;
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Ad3, Ad3Options, Graph, Solution, Status};
use serde::Serialize;

use crate::automaton::grand_siblings::GrandSiblings;
use crate::automaton::tri_siblings::TriSiblings;
use crate::parts::{Parts, Side, pairs_below, triples_below};
use crate::{ParserError, projective};

/// How trees are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Alternating directions; one call of the arborescence oracle at first order.
    #[default]
    Ad3,
    /// Subgradient steps on the same decomposition, for comparison.
    Subgradient,
    /// Branch and bound: always the best tree.
    Exact,
    /// The best tree without crossing arcs, by dynamic programming; first order only.
    Projective,
}

/// What is known about a tree that was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Certificate {
    /// The score of the tree.
    pub value: f64,
    /// No tree scores more than this.
    pub bound: f64,
    /// What has been proven.
    pub status: Status,
    /// Iterations, or nodes of the search tree.
    pub iterations: usize,
    /// Wall-clock seconds of decoding.
    pub seconds: f64,
}

impl Certificate {
    /// The certificate of the empty tree.
    pub(crate) fn trivial() -> Self {
        proven(0.0)
    }
}

/// How a [`Decoder`] works.
#[derive(Debug, Clone)]
pub struct DecoderOptions {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// How many words may depend on the root.
    pub root_children: RootChildren,
    /// Iterations at most; each algorithm has a default of its own.
    pub max_iterations: Option<usize>,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        Self { algorithm: Algorithm::Ad3, root_children: RootChildren::One, max_iterations: None }
    }
}

/// Iterations of AD3 at most: sentences that agree at all mostly do so within a few dozen.
const AD3_ITERATIONS: usize = 150;
/// AD3's penalty at the start: automata and trees are best begun near one configuration (twice as fast as the default).
const AD3_PENALTY: f64 = 0.05;
/// Where the relaxation is fractional, more digits of it would not change the tree that it is rounded to.
const AD3_RESIDUAL: f64 = 1e-4;

/// Finds best trees, sentence after sentence, in the same buffers.
#[derive(Default)]
pub struct Decoder {
    options: DecoderOptions,
    tree: Workspace,
    links: Vec<u32>,
    scores: Vec<f64>,
    projective: projective::Workspace,
}

impl Decoder {
    /// A decoder with these options.
    pub fn new(options: DecoderOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Writes the head of each word (0: the root) of the best tree under `scores`, one for each part.
    ///
    /// # Panics
    /// If there is not one score for each part.
    pub fn decode(
        &mut self,
        parts: &Parts,
        scores: &[f32],
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        assert_eq!(scores.len(), parts.len(), "one score for each part");
        let start = Instant::now();
        heads.clear();
        let is_first_order = parts.len() == parts.arcs().len();
        let arborescence = Arborescence::new(parts.words() + 1, parts.arcs(), self.options.root_children)?;
        let mut certificate = match self.options.algorithm {
            Algorithm::Projective if !is_first_order => return Err(ParserError::Projective),
            Algorithm::Projective => {
                let value = self.projective.maximize(parts, scores, self.options.root_children, heads);
                proven(value)
            }
            _ if is_first_order => {
                self.scores.clear();
                self.scores.extend(scores.iter().map(|&score| f64::from(score)));
                proven(self.best_tree(&arborescence, heads))
            }
            _ => self.agree(parts, scores, arborescence, heads)?,
        };
        if certificate.value == f64::NEG_INFINITY {
            return Err(ParserError::NoTree { words: parts.words() });
        }
        certificate.seconds = start.elapsed().as_secs_f64();
        Ok(certificate)
    }

    /// The best tree under `self.scores`, and its value there.
    fn best_tree(&mut self, arborescence: &Arborescence, heads: &mut Vec<usize>) -> f64 {
        let value = arborescence.maximize(&self.scores, &mut self.tree, &mut self.links);
        heads.clear();
        heads.extend(arborescence.heads(&self.links));
        value
    }

    fn agree(
        &mut self,
        parts: &Parts,
        scores: &[f32],
        arborescence: Arborescence,
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        let graph = build(parts, scores, arborescence.clone())?;
        let solution = self.solve(&graph);
        let Solution { value, bound, status, iterations, .. } = solution;
        if value > f64::NEG_INFINITY {
            let on = solution.assignment.iter().zip(parts.arcs()).filter(|(on, _)| **on == 1);
            heads.extend(on.map(|(_, &(head, _))| head));
        } else if status != Status::Infeasible {
            // No agreement and no luck on the way: the tree that is closest to what the factors believe.
            self.scores.clone_from(&solution.marginals);
            if self.best_tree(&arborescence, heads) > f64::NEG_INFINITY {
                let value = parts.value(scores, heads);
                return Ok(Certificate { value, bound, status: Status::Feasible, iterations, seconds: 0.0 });
            }
        }
        Ok(Certificate { value, bound, status, iterations, seconds: 0.0 })
    }

    fn solve(&self, graph: &Graph) -> Solution {
        let method = match self.options.algorithm {
            Algorithm::Subgradient => Method::Subgradient,
            Algorithm::Exact => Method::Exact,
            Algorithm::Ad3 | Algorithm::Projective => {
                let max_iterations = self.options.max_iterations.unwrap_or(AD3_ITERATIONS);
                let (penalty, residual) = (AD3_PENALTY, AD3_RESIDUAL);
                let options = Ad3Options { max_iterations, penalty, residual, ..Ad3Options::default() };
                return Ad3::new(options).solve(graph);
            }
        };
        let limits = Limits { max_iterations: self.options.max_iterations, ..Limits::default() };
        solve(graph, method, &limits).expect("these methods take every factor")
    }
}

fn proven(value: f64) -> Certificate {
    Certificate { value, bound: value, status: Status::Optimal, iterations: 0, seconds: 0.0 }
}

/// The factor graph over the candidate arcs. Links of the tree and of the sequence are the arcs as they stand.
fn build(parts: &Parts, scores: &[f32], arborescence: Arborescence) -> Result<Graph, ParserError> {
    let at = |part: Option<usize>| part.map_or(0.0, |part| f64::from(scores[part]));
    let mut graph = Graph::new();
    let arc_scores: Vec<f64> = scores[..parts.arcs().len()].iter().map(|&score| f64::from(score)).collect();
    let arcs = graph.binaries(&arc_scores)?;
    graph.oracle(arborescence, &arcs)?;
    for side in parts.sides() {
        let outgoing = parts.arcs_of(side).iter().map(|&arc| arcs[arc as usize]);
        if side.has_automaton() {
            let links = arcs[side.incoming.clone()].iter().copied().chain(outgoing.clone());
            graph.oracle(grand_siblings(parts, side, at), links)?;
        }
        if side.has_tri_siblings() {
            let start = side.tri_sibling(0, 1, 2);
            let table = (0..triples_below(side.modifiers() + 2)).map(|i| at(start.map(|start| start + i)));
            graph.oracle(TriSiblings::new(side.modifiers(), table.collect()), outgoing)?;
        }
        for j in 2..=side.modifiers() {
            for i in 1..j {
                let score = at(side.arbitrary_sibling(i, j));
                if score != 0.0 {
                    let [a, b] = [i, j].map(|m| arcs[parts.arcs_of(side)[m - 1] as usize]);
                    graph.pair(a, b, score)?;
                }
            }
        }
    }
    if parts.has_head_bigrams() {
        let states: Vec<usize> = (1..=parts.words()).map(|word| parts.arcs_into(word).len()).collect();
        let first = parts.head_bigram(2, 0, 0).unwrap_or(parts.len());
        let pairs = scores[first..].iter().map(|&score| f64::from(score)).collect();
        graph.oracle(Sequence::first_order(&states, pairs)?, &arcs)?;
    }
    Ok(graph)
}

/// The scores of siblings, grandparents and grand-siblings of one side as one automaton.
fn grand_siblings(parts: &Parts, side: &Side, at: impl Fn(Option<usize>) -> f64) -> GrandSiblings {
    let end = side.modifiers() + 1;
    let mut table = Vec::with_capacity(side.incoming.len().max(1) * pairs_below(end + 1));
    for g in 0..side.incoming.len().max(1) {
        for j in 1..=end {
            let mut grandparent = 0.0;
            if let Some(&(grandparent_word, _)) = parts.arcs().get(side.incoming.start + g)
                && !side.incoming.is_empty()
                && j < end
            {
                // A word is not the head of its own head.
                grandparent = match grandparent_word == parts.modifier(side, j) {
                    true => f64::NEG_INFINITY,
                    false => at(side.grandparent(g, j)),
                };
            }
            for i in 0..j {
                let mut score = grandparent + at(side.sibling(i, j));
                if !side.incoming.is_empty() {
                    score += at(side.grand_sibling(g, i, j));
                }
                table.push(score);
            }
        }
    }
    GrandSiblings::new(side.incoming.len(), side.modifiers(), table)
}
