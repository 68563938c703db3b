//! The best tree under given scores of parts, with its certificate.
//!
//! First order is one call of the arborescence oracle. Beyond that, a binary variable stands for each
//! candidate arc, and factors over them are made to agree: the tree, head automata on both sides of each
//! head, the sequence of heads, pairs. Outside of training, [`ascent`](crate::ascent) narrows the problem
//! first, and AD3 has what is left.

use std::fmt;
use std::time::Instant;

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren, Workspace};
use consonant_map::oracle::sequence::Sequence;
use consonant_map::solver::subgradient::{self, Steps};
use consonant_map::solver::{Limits, Method};
use consonant_map::{Ad3, Ad3Options, Binary, Certificate, FactorId, Gap, Graph, Solution, Status};
use consonant_task::{Solver, Usage};

use crate::ascent::{Ascent, CoreGraph, Nodes, Outcome, PricedTree};
use crate::automaton::{Head, HeadSide};
use crate::parts::{Side, TreeParts, pairs_below, triples_below};
use crate::{ParserError, projective};

/// How a [`TreeDecoder`] works.
#[derive(Debug, Clone)]
pub struct TreeDecoderOptions {
    /// AD3, with a short branch and bound where it leaves a gap ([`nodes`](Self::nodes)); subgradient steps
    /// on the same decomposition, for comparison; or exact: branch and bound to the end. At first order all
    /// are one call of the arborescence oracle.
    pub method: Method,
    /// The best tree without crossing arcs instead, by dynamic programming; first order only.
    pub projective: bool,
    /// How many words may depend on the root.
    pub root_children: RootChildren,
    /// Iterations at most; each algorithm has a default of its own.
    pub max_iterations: Option<usize>,
    /// Nodes of branch and bound at most, where AD3 leaves a gap. Training does without: there the tree
    /// matters, not its certificate.
    pub nodes: usize,
    /// The first step of subgradient, in units of the largest score.
    pub first_step: f64,
}

impl Default for TreeDecoderOptions {
    fn default() -> Self {
        Self {
            method: Method::Ad3,
            projective: false,
            root_children: RootChildren::One,
            max_iterations: None,
            nodes: 0,
            first_step: 1.0,
        }
    }
}

/// Iterations of AD3 at most: sentences that agree at all mostly do so within a few dozen.
const AD3_ITERATIONS: usize = 150;
/// Long sentences get fewer iterations, and fewer nodes to prove their trees: this many, divided by the
/// number of words.
const WORD_ITERATIONS: usize = 9000;
const WORD_NODES: usize = 900;
/// So do those with many candidates, on which an iteration takes longer: a pair of siblings below a
/// grandparent is looked at this many times, in all iterations (and, with a node for an iteration, in all
/// nodes). Of the 2,001 sentences of English-EWT's dev data none needs as much. Words drawn at random have
/// twice as many candidates as a text, five times the work, and no tree that is worth a proof.
const PAIR_ITERATIONS: usize = 3_000_000;
const PAIR_NODES: usize = 200_000;
/// Long sentences, and those with many candidates, still get this many iterations.
const LEAST_ITERATIONS: usize = 30;
const FEWEST_ITERATIONS: usize = 20;
/// And fewer nodes than this are not worth their time: with so many candidates they prove next to nothing.
const LEAST_NODES: usize = 8;
/// AD3's penalty at the start: automata and trees are best begun near one configuration (twice as fast as the
/// default). Automata of second order bear more: on English-EWT's dev data a fifth fewer iterations
/// (`predict --report`). Training keeps to one penalty.
const AD3_PENALTY: f64 = 0.05;
const SECOND_ORDER_PENALTY: f64 = 0.12;
/// Where the relaxation is fractional, more digits of it would not change the tree that it is rounded to.
const AD3_RESIDUAL: f64 = 1e-4;
/// Changes of a factor's point in an iteration: the trees of long sentences ask for many, and need not be exact.
const AD3_CHANGES: usize = 6;
/// Iterations of AD3 between looks at the bound.
const AD3_REPORT: usize = 5;

/// Where ascent on the dual is stuck, as many times as this, AD3 gets it going again, by as many iterations,
/// with a penalty that keeps it near the best tree so far.
const SHAKES: usize = 5;
const SHAKE_ITERATIONS: usize = 10;
const SHAKE_PENALTY: f64 = 0.5;
const SHAKE_CHANGES: usize = 3;

/// Finds best trees, sentence after sentence, in the same buffers: graph, automata and the solver's state
/// too.
#[derive(Default)]
pub struct TreeDecoder {
    /// How; may be changed from sentence to sentence.
    pub options: TreeDecoderOptions,
    arborescence: Option<Arborescence>,
    tree: Workspace,
    links: Vec<u32>,
    scores: Vec<f64>,
    projective: projective::Workspace,
    graph: GraphBuilder,
    solver: Ad3,
    ascent: Ascent,
    left: CoreGraph,
    priced: PricedTree,
    divided: Vec<f64>,
}

impl fmt::Debug for TreeDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeDecoder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl TreeDecoder {
    /// A decoder with these options.
    pub fn new(options: TreeDecoderOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Writes the head of each word (0: the root) of the best tree under `scores`, one for each part.
    ///
    /// # Panics
    /// If there is not one score for each part.
    pub fn decode(
        &mut self,
        parts: &TreeParts,
        scores: &[f32],
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        assert_eq!(scores.len(), parts.len(), "one score for each part");
        let start = Instant::now();
        heads.clear();
        let is_first_order = parts.len() == parts.arcs().len();
        let certificate = match (self.options.projective, is_first_order) {
            (true, false) => {
                return Err(Usage("projective trees are made of arcs only; use order 1".to_owned()).into());
            }
            (true, true) => {
                let root_children = self.options.root_children;
                Certificate::exact(self.projective.maximize(parts, scores, root_children, heads))
            }
            (false, true) => {
                self.scores.clear();
                self.scores.extend(scores.iter().map(|&score| f64::from(score)));
                let earlier = self.arborescence.take();
                let arborescence = arborescence_of(parts, self.options.root_children, earlier)?;
                let arborescence = self.arborescence.insert(arborescence);
                let value = best_tree(arborescence, &self.scores, &mut self.tree, &mut self.links, heads);
                Certificate::exact(value)
            }
            (false, false) => self.agree(parts, scores, heads)?,
        };
        match certificate.value() {
            Some(_) => Ok(certificate.after(certificate.iterations, start.elapsed().as_secs_f64())),
            None => Err(ParserError::NoTree { words: parts.words() }),
        }
    }

    fn agree(
        &mut self,
        parts: &TreeParts,
        scores: &[f32],
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        let has_ascent = matches!(self.options.method, Method::Ad3 | Method::Exact);
        let is_fit = scores.iter().all(|score| score.is_finite());
        if !has_ascent || !is_fit {
            return self.relax(parts, scores, heads);
        }
        let mut ascent = std::mem::take(&mut self.ascent);
        let certificate = self.ascend(&mut ascent, parts, scores, heads);
        self.ascent = ascent;
        certificate
    }

    /// Narrows the problem as far as that goes, with iterations of AD3 in between, and leaves the rest to AD3
    /// and its branch and bound.
    fn ascend(
        &mut self,
        ascent: &mut Ascent,
        parts: &TreeParts,
        scores: &[f32],
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        let mut outcome = ascent.run(parts, scores, heads);
        let mut iterations = 0;
        for _ in 0..SHAKES {
            if outcome == Outcome::Narrowed {
                iterations += self.shake(ascent, parts, heads)?;
                outcome = ascent.resume(parts, scores, heads);
            }
        }
        match outcome {
            Outcome::Proven => {}
            Outcome::Nothing => return Ok(Certificate::infeasible()),
            Outcome::Narrowed => iterations += self.finish(ascent, parts, scores, heads)?,
        }
        // A tree that is better has only arcs that are left; others are no better than this one.
        let Ascent { value, bound, .. } = *ascent;
        Ok(Certificate::judge(Some(value), bound.max(value), Gap::default()).after(iterations, 0.0))
    }

    /// Some iterations of AD3 on what is left, from the best tree and from how the scores are divided among
    /// the factors; how AD3 divides them is where the ascent goes on. Returns their number.
    fn shake(
        &mut self,
        ascent: &mut Ascent,
        parts: &TreeParts,
        heads: &[usize],
    ) -> Result<usize, ParserError> {
        let Self { left, solver, divided, .. } = self;
        let Ascent { core, dual, .. } = ascent;
        left.rebuild(core)?;
        let graph = &left.graph;
        solver.options = Ad3Options {
            max_iterations: SHAKE_ITERATIONS,
            penalty: SHAKE_PENALTY,
            changes: SHAKE_CHANGES,
            residual: AD3_RESIDUAL,
            report_every: SHAKE_ITERATIONS,
            round: false,
            ..Ad3Options::default()
        };
        let arcs = core.arcs.iter().map(|&arc| parts.arcs()[arc as usize]);
        let beliefs = arcs.map(|(head, modifier)| f64::from(u8::from(heads[modifier - 1] == head)));
        solver.begin(graph, beliefs);
        for (id, links) in left.factors() {
            dual.read(links, divided);
            solver.divide(graph, id, divided);
        }
        let iterations = solver.solve(graph).certificate.iterations;
        for (id, links) in left.factors() {
            dual.write(links, solver.divided(graph, id));
        }
        dual.settle(core);
        Ok(iterations)
    }

    /// AD3 and branch and bound on what is left. Returns the number of iterations.
    fn finish(
        &mut self,
        ascent: &mut Ascent,
        parts: &TreeParts,
        scores: &[f32],
        heads: &mut Vec<usize>,
    ) -> Result<usize, ParserError> {
        let Ascent { core, live, value, bound, .. } = ascent;
        self.left.rebuild(core)?;
        let pairs = core.automata().iter().map(|automaton| automaton.head.size()).sum();
        let effort = self.effort(parts, pairs);
        let solution = self.solve(effort, true)?;
        let mut best = Vec::new();
        if let Some(states) = solution.assignment() {
            best.extend((0..).zip(states).filter(|(_, state)| **state == 1).map(|(arc, _)| arc as u32));
        } else if solution.certificate.status() != Status::Infeasible {
            // No agreement and no luck on the way: the tree that is closest to what the factors believe.
            Nodes::maximize(&core.nodes, &solution.marginals, &mut self.priced, &mut best);
        }
        if best.len() == core.nodes.len() {
            let mut found = Vec::new();
            core.heads(parts, live, &best, &mut found);
            let worth = parts.value(scores, &found);
            if worth > *value {
                *value = worth;
                *heads = found;
            }
        }
        *bound = match solution.certificate.status() {
            Status::Infeasible => *value,
            _ => bound.min(solution.certificate.bound() + core.constant),
        };
        Ok(solution.certificate.iterations)
    }

    /// Factors over the arcs, made to agree.
    fn relax<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        heads: &mut Vec<usize>,
    ) -> Result<Certificate, ParserError> {
        let tree = self.graph.build(parts, scores, self.options.root_children)?;
        let heads_of = parts.sides().chunk_by(|a, b| a.head == b.head);
        let pairs_of = |sides: &[Side]| {
            let pairs: usize = sides.iter().map(|side| pairs_below(side.modifiers() + 2)).sum();
            sides[0].incoming.len().max(1) * pairs
        };
        let effort = self.effort(parts, heads_of.map(pairs_of).sum());
        let solution = self.solve(effort, false)?;
        let certificate = solution.certificate;
        if let Some(states) = solution.assignment() {
            let on = states.iter().zip(parts.arcs()).filter(|(on, _)| **on == 1);
            heads.extend(on.map(|(_, &(head, _))| head));
        } else if certificate.status() != Status::Infeasible
            && let Some(arborescence) = self.graph.graph.oracle_ref::<Arborescence>(tree)
        {
            // No agreement and no luck on the way: the tree that is closest to what the factors believe.
            let beliefs = &solution.marginals;
            let value = best_tree(arborescence, beliefs, &mut self.tree, &mut self.links, heads);
            if value > f64::NEG_INFINITY {
                let value = parts.value(scores, heads);
                let found = Certificate::judge(Some(value), certificate.bound(), Gap::default());
                return Ok(found.after(certificate.iterations, 0.0));
            }
        }
        Ok(certificate)
    }

    /// How long a sentence is worked on, with so many pairs of siblings below a grandparent: the same for any
    /// machine, so that results are.
    fn effort(&self, parts: &TreeParts, pairs: usize) -> Effort {
        let pairs = pairs.max(1);
        let mut iterations = (WORD_ITERATIONS / parts.words()).clamp(LEAST_ITERATIONS, AD3_ITERATIONS);
        let is_training = self.options.nodes == 0;
        if !is_training {
            // In training weights begin with no sense at all.
            iterations = iterations.min((PAIR_ITERATIONS / pairs).max(FEWEST_ITERATIONS));
        }
        let affordable = PAIR_NODES / pairs;
        let is_third_order = parts.sides().iter().any(Side::is_third_order);
        Effort {
            penalty: if is_training || is_third_order { AD3_PENALTY } else { SECOND_ORDER_PENALTY },
            iterations: self.options.max_iterations.unwrap_or(iterations),
            nodes: match self.options.method {
                Method::Exact => None,
                _ if affordable < LEAST_NODES => Some(0),
                _ => Some(self.options.nodes.min(WORD_NODES / parts.words()).min(affordable)),
            },
        }
    }

    /// Solves the graph of what is left, or of all candidates.
    fn solve(&mut self, effort: Effort, is_left: bool) -> Result<Solution, ParserError> {
        let graph = if is_left { &self.left.graph } else { &self.graph.graph };
        match self.options.method {
            Method::Ad3 | Method::Exact => {}
            Method::Subgradient => {
                let limits = Limits { max_iterations: self.options.max_iterations, ..Limits::default() };
                let steps = Steps { first: self.options.first_step, ..Steps::default() };
                return Ok(subgradient::solve(graph, steps, &limits));
            }
            other => {
                let name = Solver(other).name();
                let text = format!("a parser is decoded by ad3, subgradient or exact, not by {name}");
                return Err(Usage(text).into());
            }
        }
        let solver = &mut self.solver;
        solver.options = Ad3Options {
            max_iterations: effort.iterations,
            penalty: effort.penalty,
            changes: AD3_CHANGES,
            residual: AD3_RESIDUAL,
            report_every: AD3_REPORT,
            ..Ad3Options::default()
        };
        let relaxed = solver.solve(graph);
        if effort.nodes == Some(0) {
            return Ok(relaxed);
        }
        let iterations = relaxed.certificate.iterations;
        let limits = Limits { max_iterations: effort.nodes, ..Limits::default() };
        let mut closed = solver.close(graph, relaxed, &limits);
        closed.certificate.iterations = closed.certificate.iterations.max(iterations);
        Ok(closed)
    }
}

/// The factor graph of a sentence: a binary variable for each arc, in order.
pub(crate) fn graph_of(
    parts: &TreeParts,
    scores: &[f32],
    root_children: RootChildren,
) -> Result<Graph, ParserError> {
    let mut builder = GraphBuilder::default();
    builder.build(parts, scores, root_children)?;
    Ok(builder.graph)
}

/// How long a sentence is worked on.
#[derive(Clone, Copy)]
struct Effort {
    /// AD3's penalty at the start.
    penalty: f64,
    /// Iterations of AD3.
    iterations: usize,
    /// Nodes of branch and bound; any number without it.
    nodes: Option<usize>,
}

/// The candidate arcs as the oracle of trees sees them, made of an earlier one if there is one.
fn arborescence_of(
    parts: &TreeParts,
    root_children: RootChildren,
    earlier: Option<Arborescence>,
) -> Result<Arborescence, ParserError> {
    let nodes = parts.words() + 1;
    let Some(mut arborescence) = earlier else {
        return Ok(Arborescence::new(nodes, parts.arcs(), root_children)?);
    };
    arborescence.rebuild(nodes, parts.arcs().iter().copied(), root_children)?;
    Ok(arborescence)
}

/// Writes the heads of the best tree under scores of arcs, and returns its value there.
fn best_tree(
    arborescence: &Arborescence,
    scores: &[f64],
    workspace: &mut Workspace,
    links: &mut Vec<u32>,
    heads: &mut Vec<usize>,
) -> f64 {
    let value = arborescence.maximize(scores, workspace, links);
    heads.clear();
    heads.extend(arborescence.heads(links));
    value
}

/// A head whose automaton would look at more prefixes than this has an automaton for each side, and others
/// for three siblings.
const MOST_PREFIXES: usize = 20_000;

/// The factor graph of one sentence after the other, in the same memory.
#[derive(Default)]
struct GraphBuilder {
    graph: Graph,
    arcs: Vec<Binary>,
    /// Scores of the sides of a head, on their way into its automaton.
    sides: [HeadSide; 2],
    states: Vec<usize>,
}

impl GraphBuilder {
    /// The factor graph over the candidate arcs; returns the factor of the tree. Links of the tree and of the
    /// sequence are the arcs as they stand.
    fn build<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        root_children: RootChildren,
    ) -> Result<FactorId, ParserError> {
        let at = |part: Option<usize>| part.map_or(0.0, |part| scores[part].into());
        self.graph.clear();
        self.arcs.clear();
        for &score in &scores[..parts.arcs().len()] {
            self.arcs.push(self.graph.binary(score.into())?);
        }
        let arborescence = arborescence_of(parts, root_children, self.graph.spare_oracle())?;
        let tree = self.graph.oracle(arborescence, &self.arcs)?;
        for sides in parts.sides().chunk_by(|a, b| a.head == b.head) {
            self.add_automata(parts, sides, at)?;
        }
        for side in parts.sides() {
            for j in 2..=side.modifiers() {
                for i in 1..j {
                    let score = at(side.arbitrary_sibling(i, j));
                    if score != 0.0 {
                        let [a, b] = [i, j].map(|m| self.arcs[parts.arcs_of(side)[m - 1] as usize]);
                        self.graph.pair(a, b, score)?;
                    }
                }
            }
        }
        if parts.has_head_bigrams() {
            self.states.clear();
            self.states.extend((1..=parts.words()).map(|word| parts.arcs_into(word).len()));
            let first = parts.head_bigram(2, 0, 0).unwrap_or(parts.len());
            let mut pairs = self.graph.spare_oracle().map_or_else(Vec::new, Sequence::into_pairs);
            pairs.clear();
            pairs.extend(scores[first..].iter().map(|&score| score.into()));
            self.graph.oracle(Sequence::first_order(&self.states, pairs)?, &self.arcs)?;
        }
        Ok(tree)
    }

    /// The automata of one head, given its sides.
    fn add_automata(
        &mut self,
        parts: &TreeParts,
        sides: &[Side],
        at: impl Fn(Option<usize>) -> f64 + Copy,
    ) -> Result<(), ParserError> {
        let Self { graph, arcs, sides: tables, .. } = self;
        let has_parts = |side: &&Side| side.has_automaton() || side.has_tri_siblings();
        let Some(first) = sides.iter().find(has_parts) else { return Ok(()) };
        let incoming = &arcs[first.incoming.clone()];
        let outgoing = |side: &Side| parts.arcs_of(side).iter().map(|&arc| arcs[arc as usize]);
        let prefixes = |side: &Side| match side.has_tri_siblings() {
            true => triples_below(side.modifiers() + 2),
            false => pairs_below(side.modifiers() + 2),
        };
        if incoming.len().max(1) * sides.iter().map(prefixes).sum::<usize>() <= MOST_PREFIXES {
            for (table, is_right) in tables.iter_mut().zip([false, true]) {
                let side = sides.iter().find(|side| side.is_right == is_right);
                table.modifiers = side.map_or(0, Side::modifiers);
                if let Some(side) = side {
                    pair_scores(parts, side, at, &mut table.pairs);
                    triple_scores(side, at, &mut table.triples);
                }
            }
            add_head(graph, tables, incoming, sides.iter().flat_map(outgoing))?;
            return Ok(());
        }
        // Pairs and triples of each side apart.
        tables[1].modifiers = 0;
        for side in sides {
            tables[0].modifiers = side.modifiers();
            if side.has_automaton() {
                pair_scores(parts, side, at, &mut tables[0].pairs);
                tables[0].triples.clear();
                add_head(graph, tables, incoming, outgoing(side))?;
            }
            if side.has_tri_siblings() {
                tables[0].pairs.clear();
                triple_scores(side, at, &mut tables[0].triples);
                add_head(graph, tables, &[], outgoing(side))?;
            }
        }
        Ok(())
    }
}

/// Adds an automaton over arcs into a head and arcs to its modifiers.
fn add_head(
    graph: &mut Graph,
    tables: &[HeadSide; 2],
    incoming: &[Binary],
    outgoing: impl Iterator<Item = Binary>,
) -> Result<(), ParserError> {
    let mut head: Head = graph.spare_oracle().unwrap_or_default();
    head.rebuild(incoming.len(), tables);
    graph.oracle(head, incoming.iter().copied().chain(outgoing))?;
    Ok(())
}

/// The scores of three siblings of a side.
pub(crate) fn triple_scores(side: &Side, at: impl Fn(Option<usize>) -> f64, table: &mut Vec<f64>) {
    table.clear();
    if let Some(start) = side.tri_sibling(0, 1, 2) {
        table.extend((0..triples_below(side.modifiers() + 2)).map(|i| at(Some(start + i))));
    }
}

/// The scores of siblings, grandparents and grand-siblings of one side in one table.
pub(crate) fn pair_scores(
    parts: &TreeParts,
    side: &Side,
    at: impl Fn(Option<usize>) -> f64,
    table: &mut Vec<f64>,
) {
    let end = side.modifiers() + 1;
    table.clear();
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
}
