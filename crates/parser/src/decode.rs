//! The best tree under given scores of parts, with its certificate.
//!
//! First order is one call of the arborescence oracle. Beyond that, a binary variable stands for each candidate arc, and
//! factors over them are made to agree: the tree, head automata on both sides of each head, the sequence of heads, pairs.

use std::time::Instant;

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren, Workspace};
use consonant_map::oracle::sequence::Sequence;
use consonant_map::solver::Limits;
use consonant_map::solver::subgradient::{self, StepRule};
use consonant_map::{Ad3, Ad3Options, Binary, Certificate, Gap, Graph, Solution, Status};

use crate::automaton::grand_siblings::GrandSiblings;
use crate::automaton::head::{Head, HeadSide};
use crate::automaton::tri_siblings::TriSiblings;
use crate::parts::{Parts, Side, pairs_below, triples_below};
use crate::{ParserError, projective};

/// How trees are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Alternating directions, and a short branch and bound where they leave a gap ([`DecoderOptions::nodes`]); one call of
    /// the arborescence oracle at first order.
    #[default]
    Ad3,
    /// Subgradient steps on the same decomposition, for comparison.
    Subgradient,
    /// Branch and bound: always the best tree.
    Exact,
    /// The best tree without crossing arcs, by dynamic programming; first order only.
    Projective,
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
    /// Nodes of branch and bound at most, where AD3 leaves a gap. Training does without: there the tree matters, not
    /// its certificate.
    pub nodes: usize,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        Self { algorithm: Algorithm::Ad3, root_children: RootChildren::One, max_iterations: None, nodes: 0 }
    }
}

/// Iterations of AD3 at most: sentences that agree at all mostly do so within a few dozen.
const AD3_ITERATIONS: usize = 150;
/// Long sentences have fewer iterations, and fewer nodes to prove their trees: so many in all words together.
const WORD_ITERATIONS: usize = 9000;
const WORD_NODES: usize = 900;
/// So have those with many candidates, on which an iteration takes longer: so many times a pair of siblings is looked at
/// below a grandparent, in all iterations (and, with a node for an iteration, in all nodes). Of the 2,001 sentences of English-EWT's
/// dev data none needs as much. Words drawn at random have twice as many candidates as a text, five times the work, and no
/// tree that is worth a proof.
const PAIR_ITERATIONS: usize = 3_000_000;
const PAIR_NODES: usize = 200_000;
/// But so many iterations they have, long ones and those with many candidates.
const LEAST_ITERATIONS: usize = 30;
const FEWEST_ITERATIONS: usize = 20;
/// And fewer nodes than this are not worth their time: with so many candidates they prove next to nothing.
const LEAST_NODES: usize = 8;
/// AD3's penalty at the start: automata and trees are best begun near one configuration (twice as fast as the default).
const AD3_PENALTY: f64 = 0.05;
/// Where the relaxation is fractional, more digits of it would not change the tree that it is rounded to.
const AD3_RESIDUAL: f64 = 1e-4;
/// Iterations of AD3 between looks at the bound: half of the sentences agree at the first look.
const AD3_REPORT: usize = 5;

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
                Certificate::exact(value)
            }
            _ if is_first_order => {
                self.scores.clear();
                self.scores.extend(scores.iter().map(|&score| f64::from(score)));
                Certificate::exact(self.best_tree(&arborescence, heads))
            }
            _ => self.agree(parts, scores, arborescence, heads)?,
        };
        if certificate.value().is_none() {
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
        let solution = self.solve(&graph, self.effort(parts));
        let certificate = solution.certificate;
        if let Some(states) = solution.assignment() {
            let on = states.iter().zip(parts.arcs()).filter(|(on, _)| **on == 1);
            heads.extend(on.map(|(_, &(head, _))| head));
        } else if certificate.status() != Status::Infeasible {
            // No agreement and no luck on the way: the tree that is closest to what the factors believe.
            self.scores.clone_from(&solution.marginals);
            if self.best_tree(&arborescence, heads) > f64::NEG_INFINITY {
                let value = parts.value(scores, heads);
                let found = Certificate::judge(Some(value), certificate.bound(), Gap::default());
                return Ok(found.after(certificate.iterations, 0.0));
            }
        }
        Ok(certificate)
    }

    /// How long a sentence is worked on: the same for any machine, so that results are.
    fn effort(&self, parts: &Parts) -> Effort {
        let heads = parts.sides().chunk_by(|a, b| a.head == b.head);
        let pairs_of = |sides: &[Side]| {
            let pairs: usize = sides.iter().map(|side| pairs_below(side.modifiers() + 2)).sum();
            sides[0].incoming.len().max(1) * pairs
        };
        let pairs = heads.map(pairs_of).sum::<usize>().max(1);
        let mut iterations = (WORD_ITERATIONS / parts.words()).clamp(LEAST_ITERATIONS, AD3_ITERATIONS);
        if self.options.nodes > 0 {
            // Not in training, where weights begin with no sense at all.
            iterations = iterations.min((PAIR_ITERATIONS / pairs).max(FEWEST_ITERATIONS));
        }
        let affordable = PAIR_NODES / pairs;
        Effort {
            iterations: self.options.max_iterations.unwrap_or(iterations),
            nodes: match self.options.algorithm {
                Algorithm::Exact => None,
                _ if affordable < LEAST_NODES => Some(0),
                _ => Some(self.options.nodes.min(WORD_NODES / parts.words()).min(affordable)),
            },
        }
    }

    fn solve(&self, graph: &Graph, effort: Effort) -> Solution {
        if self.options.algorithm == Algorithm::Subgradient {
            let limits = Limits { max_iterations: self.options.max_iterations, ..Limits::default() };
            return subgradient::solve(graph, StepRule::default(), &limits);
        }
        let mut solver = Ad3::new(Ad3Options {
            max_iterations: effort.iterations,
            penalty: AD3_PENALTY,
            residual: AD3_RESIDUAL,
            report_every: AD3_REPORT,
            ..Ad3Options::default()
        });
        let relaxed = solver.solve(graph);
        if effort.nodes == Some(0) {
            return relaxed;
        }
        let iterations = relaxed.certificate.iterations;
        let limits = Limits { max_iterations: effort.nodes, ..Limits::default() };
        let mut closed = solver.close(graph, relaxed, &limits);
        closed.certificate.iterations = closed.certificate.iterations.max(iterations);
        closed
    }
}

/// How long a sentence is worked on.
#[derive(Clone, Copy)]
struct Effort {
    /// Iterations of AD3.
    iterations: usize,
    /// Nodes of branch and bound; any number without it.
    nodes: Option<usize>,
}

/// The factor graph over the candidate arcs. Links of the tree and of the sequence are the arcs as they stand.
fn build(parts: &Parts, scores: &[f32], arborescence: Arborescence) -> Result<Graph, ParserError> {
    let at = |part: Option<usize>| part.map_or(0.0, |part| f64::from(scores[part]));
    let mut graph = Graph::new();
    let arc_scores: Vec<f64> = scores[..parts.arcs().len()].iter().map(|&score| f64::from(score)).collect();
    let arcs = graph.binaries(&arc_scores)?;
    graph.oracle(arborescence, &arcs)?;
    for sides in parts.sides().chunk_by(|a, b| a.head == b.head) {
        add_automata(&mut graph, parts, sides, &arcs, at)?;
    }
    for side in parts.sides() {
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

/// A head whose automaton would look at more prefixes than this has an automaton for each side, and others for three
/// siblings.
const MOST_PREFIXES: usize = 20_000;

/// The automata of one head, given its sides.
fn add_automata(
    graph: &mut Graph,
    parts: &Parts,
    sides: &[Side],
    arcs: &[Binary],
    at: impl Fn(Option<usize>) -> f64 + Copy,
) -> Result<(), ParserError> {
    let has_parts = |side: &&Side| side.has_automaton() || side.has_tri_siblings();
    let Some(first) = sides.iter().find(has_parts) else { return Ok(()) };
    let incoming = &arcs[first.incoming.clone()];
    let outgoing = |side: &Side| parts.arcs_of(side).iter().map(|&arc| arcs[arc as usize]);
    let prefixes = |side: &Side| match side.has_tri_siblings() {
        true => triples_below(side.modifiers() + 2),
        false => pairs_below(side.modifiers() + 2),
    };
    if incoming.len().max(1) * sides.iter().map(prefixes).sum::<usize>() <= MOST_PREFIXES {
        let side = |is_right: bool| match sides.iter().find(|side| side.is_right == is_right) {
            Some(side) => HeadSide {
                modifiers: side.modifiers(),
                pairs: pair_scores(parts, side, at),
                triples: triple_scores(side, at),
            },
            None => HeadSide::default(),
        };
        let links = incoming.iter().copied().chain(sides.iter().flat_map(outgoing));
        graph.oracle(Head::new(incoming.len(), [side(false), side(true)]), links)?;
        return Ok(());
    }
    for side in sides {
        if side.has_automaton() {
            let automaton =
                GrandSiblings::new(incoming.len(), side.modifiers(), pair_scores(parts, side, at));
            graph.oracle(automaton, incoming.iter().copied().chain(outgoing(side)))?;
        }
        if side.has_tri_siblings() {
            graph.oracle(TriSiblings::new(side.modifiers(), triple_scores(side, at)), outgoing(side))?;
        }
    }
    Ok(())
}

/// The scores of three siblings of a side.
fn triple_scores(side: &Side, at: impl Fn(Option<usize>) -> f64) -> Vec<f64> {
    match side.tri_sibling(0, 1, 2) {
        Some(start) => (0..triples_below(side.modifiers() + 2)).map(|i| at(Some(start + i))).collect(),
        None => Vec::new(),
    }
}

/// The scores of siblings, grandparents and grand-siblings of one side in one table.
fn pair_scores(parts: &Parts, side: &Side, at: impl Fn(Option<usize>) -> f64) -> Vec<f64> {
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
    table
}
