//! The best set of links under given scores of parts, with its certificate.
//!
//! Without pairs every source decides alone. With them the decoders of `consonant_map` take over: two-slave
//! and spanning trees on a pattern model, AD3, subgradient and exact search on a factor graph.
//!
//! How many links a source has is a logic factor over its row. In the pattern model the row's chain, which
//! both decompositions keep whole in their first tree, carries it: a link's vertex has a third state,
//! "absent, and an earlier one is there", and the transitions from target to target allow what the factor
//! allows. So the constraint needs no slave of its own.

use std::fmt;
use std::time::Instant;

use consonant_map::pattern::PatternModel;
use consonant_map::problem::{self, Kind, Literal};
use consonant_map::proof::Answered;
use consonant_map::solver::master::MasterOptions;
use consonant_map::solver::spanning_trees::SpanningTrees;
use consonant_map::solver::two_slave::TwoSlave;
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Certificate, Graph, Solution};

use crate::LinkerError;
use crate::parts::{Constraint, LinkParts};
use crate::reduce::{Problem, Row};
use crate::rows::RowSearch;

consonant_task::names! {
    /// How links that depend on each other are found.
    #[derive(Default)]
    pub enum LinkMethod {
        /// A tree and a cut that agree, with small slaves; what they leave open is searched.
        #[default]
        TwoSlave = "two-slave",
        /// A tree and a cut that agree, as Qian & Liu (2014) have it.
        TreeCut = "tree-cut",
        /// A cover by spanning trees with a slave for each triple, the naive decomposition.
        SpanningTrees = "spanning-trees",
        /// Alternating directions.
        Ad3 = "ad3",
        /// Subgradient steps on AD3's decomposition.
        Subgradient = "subgradient",
        /// Branch and bound: always the best links.
        Exact = "exact",
    }
}

/// Finds best links, conversation after conversation, in the same buffers.
#[non_exhaustive]
pub struct LinkDecoder {
    /// How.
    pub method: LinkMethod,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Whether what two-slave leaves open is finished by dynamic programming over rows, where rows are short
    /// enough.
    pub finish: bool,
    /// Whether that dynamic program is tried before anything else, as in training.
    pub rows_first: bool,
    /// Whether to decide beforehand what needs no search; the best links stay the same.
    pub reduce: bool,
    problem: Problem,
    search: RowSearch,
    model: PatternModel,
    tree: Vec<usize>,
    two_slave: TwoSlave,
    tree_cut: TwoSlave,
    spanning_trees: SpanningTrees,
}

impl Default for LinkDecoder {
    fn default() -> Self {
        Self {
            method: LinkMethod::TwoSlave,
            max_iterations: 200,
            finish: true,
            rows_first: false,
            reduce: true,
            problem: Problem::default(),
            search: RowSearch::default(),
            model: PatternModel::default(),
            tree: Vec::new(),
            two_slave: TwoSlave::default(),
            tree_cut: TwoSlave::of_the_paper(MasterOptions::default()),
            spanning_trees: SpanningTrees::default(),
        }
    }
}

impl fmt::Debug for LinkDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkDecoder").field("method", &self.method).finish_non_exhaustive()
    }
}

impl LinkDecoder {
    /// A decoder that finds links in this way.
    pub fn new(method: LinkMethod) -> Self {
        Self { method, ..Self::default() }
    }

    /// Writes, for each possible link, whether it is there in the best set under `scores`, one for each part.
    ///
    /// # Panics
    /// If there is not one score for each part.
    pub fn decode(
        &mut self,
        parts: &LinkParts,
        scores: &[f32],
        present: &mut Vec<bool>,
    ) -> Result<Certificate, LinkerError> {
        assert_eq!(scores.len(), parts.len(), "one score for each part");
        let start = Instant::now();
        present.clear();
        present.resize(parts.links().len(), false);
        let mut certificate = if parts.len() == parts.links().len() {
            decide_alone(parts, scores, present)
        } else {
            self.agree(parts, scores, present)?
        };
        certificate.seconds = start.elapsed().as_secs_f64();
        Ok(certificate)
    }

    fn agree(
        &mut self,
        parts: &LinkParts,
        scores: &[f32],
        present: &mut [bool],
    ) -> Result<Certificate, LinkerError> {
        self.problem.build(parts, scores, self.reduce);
        if self.problem.links.is_empty() {
            self.problem.complete(|_| false, present);
            return Ok(Certificate::exact(parts.value(scores, present)));
        }
        if self.rows_first && self.search.maximize(&self.problem) {
            return Ok(self.conclude(parts, scores, present));
        }
        let solution = self.solve()?;
        if self.method == LinkMethod::TwoSlave
            && !solution.certificate.is_optimal()
            && self.finish
            && self.search.maximize(&self.problem)
        {
            return Ok(self.conclude(parts, scores, present).after(solution.certificate.iterations, 0.0));
        }
        match solution.assignment() {
            Some(states) => self.problem.complete(|index| states[index] == LINKED, present),
            // No agreement and no luck on the way: what each source would choose alone satisfies the
            // constraint.
            None => drop(decide_alone(parts, scores, present)),
        }
        let bound = solution.certificate.bound() + self.problem.constant;
        let certificate = Certificate::judge(Some(parts.value(scores, present)), bound, PROVEN);
        Ok(certificate.after(solution.certificate.iterations, 0.0))
    }

    /// What the search by rows has found.
    fn conclude(&self, parts: &LinkParts, scores: &[f32], present: &mut [bool]) -> Certificate {
        self.problem.complete(|index| self.search.present[index], present);
        Certificate::exact(parts.value(scores, present))
    }

    fn solve(&mut self) -> Result<Solution, LinkerError> {
        let method = match self.method {
            LinkMethod::TwoSlave | LinkMethod::TreeCut | LinkMethod::SpanningTrees => {
                return self.decompose();
            }
            LinkMethod::Ad3 => Method::Ad3,
            LinkMethod::Subgradient => Method::Subgradient,
            LinkMethod::Exact => Method::Exact,
        };
        let max_iterations = (method != Method::Exact).then_some(self.max_iterations);
        let limits = Limits { max_iterations, gap: GAP, ..Limits::default() };
        let graph = Graph::from_problem(&stated(&self.problem))?;
        Ok(solve(&graph, method, &limits).expect("these methods take every factor"))
    }

    /// By a tree and a cut, or by spanning trees.
    fn decompose(&mut self) -> Result<Solution, LinkerError> {
        build_patterns(&self.problem, &mut self.model, &mut self.tree)?;
        let options = MasterOptions {
            max_iterations: self.max_iterations,
            gap: GAP,
            tree: std::mem::take(&mut self.tree),
            ..MasterOptions::default()
        };
        let (solution, options) = match self.method {
            LinkMethod::SpanningTrees => {
                self.spanning_trees.options = options;
                (self.spanning_trees.solve(&self.model), &mut self.spanning_trees.options)
            }
            LinkMethod::TreeCut => {
                self.tree_cut.options = MasterOptions { step: self.tree_cut.options.step, ..options };
                (self.tree_cut.solve(&self.model), &mut self.tree_cut.options)
            }
            _ => {
                self.two_slave.options = options;
                (self.two_slave.solve(&self.model), &mut self.two_slave.options)
            }
        };
        self.tree = std::mem::take(&mut options.tree);
        Ok(solution)
    }
}

/// Scores are sums of single-precision weights: what differs by less proves each other.
const GAP: f64 = 1e-7;
/// With what is decided beforehand, values and bounds are rounded once more.
const PROVEN: f64 = 1e-6;
/// The state of a vertex or variable whose link is there.
const LINKED: u32 = 1;

/// A vertex for each open link; see the head of this file for its states. `tree` gets the edges of rows.
fn build_patterns(
    problem: &Problem,
    model: &mut PatternModel,
    tree: &mut Vec<usize>,
) -> Result<(), LinkerError> {
    const NEVER: f64 = f64::NEG_INFINITY;
    model.clear();
    tree.clear();
    for Row { links: row, constraint, .. } in &problem.rows {
        for at in row.clone() {
            let mut unary = [0.0, problem.links[at].1, 0.0];
            if *constraint == Constraint::Any {
                model.add_vertex(&unary[..2])?;
                continue;
            }
            if at == row.start {
                unary[2] = NEVER;
            }
            if at + 1 == row.end && !constraint.allows_none() {
                unary[0] = NEVER;
            }
            model.add_vertex(&unary)?;
        }
    }
    // From none yet, from a link, from one before: to none yet, to a link, to one before.
    let many =
        model.add_table(3, 3, [[0.0, 0.0, NEVER], [NEVER, 0.0, 0.0], [NEVER, 0.0, 0.0]].as_flattened())?;
    let one = model.add_table(
        3,
        3,
        [[0.0, 0.0, NEVER], [NEVER, NEVER, 0.0], [NEVER, NEVER, 0.0]].as_flattened(),
    )?;
    let nothing = model.add_sparse_table(2, 2, &[])?;
    for Row { links: row, constraint, .. } in &problem.rows {
        let table = match constraint {
            Constraint::Any => nothing,
            Constraint::AtLeastOne => many,
            Constraint::AtMostOne | Constraint::ExactlyOne => one,
        };
        for at in row.start..row.end - 1 {
            tree.push(model.add_edge(at, at + 1, table)?);
        }
    }
    for &([a, b], score) in &problem.pairs {
        let table = model.add_sparse_table(model.states(a), model.states(b), &[(1, 1, score)])?;
        model.add_edge(a, b, table)?;
    }
    for &(members, score) in &problem.triples {
        model.add_pattern(&members.map(|at| (at, 1)), score)?;
    }
    Ok(())
}

/// A binary variable for each open link, as data.
fn stated(problem: &Problem) -> problem::Problem {
    let mut stated = problem::Problem::new();
    let binary = |&(link, score): &(usize, f64)| stated.binary(format!("link{link}"), score);
    let links: Vec<Literal> = problem.links.iter().map(binary).collect();
    for Row { links: row, constraint, .. } in &problem.rows {
        let kind = match constraint {
            Constraint::Any => continue,
            Constraint::AtMostOne => Kind::AtMostOne,
            Constraint::AtLeastOne => Kind::AtLeastOne,
            Constraint::ExactlyOne => Kind::ExactlyOne,
        };
        stated.constrain(kind, links[row.clone()].to_vec());
    }
    for &(members, score) in &problem.pairs {
        stated.constrain(Kind::Pair { score }, members.map(|at| links[at]).to_vec());
    }
    for &(members, score) in &problem.triples {
        stated.constrain(Kind::Pattern { score }, members.map(|at| links[at]).to_vec());
    }
    stated
}

impl LinkParts {
    /// The whole problem of a conversation under scores of all parts, with nothing decided beforehand, and a choice of
    /// links as its answer.
    pub fn answered(&self, scores: &[f32], present: &[bool]) -> Answered {
        let mut problem = Problem::default();
        problem.build(self, scores, false);
        let answer = problem.links.iter().map(|&(link, _)| u32::from(present[link])).collect();
        Answered { problem: stated(&problem), answer: Some(answer) }
    }
}

/// Every source chooses among its links without regard to others; exact where there are no pairs.
fn decide_alone(parts: &LinkParts, scores: &[f32], present: &mut [bool]) -> Certificate {
    let constraint = parts.constraint();
    let mut value = 0.0;
    for source in 0..parts.units() {
        let row = parts.row(source);
        // The latest of the best, as ties among equal scores are rather won by the nearest unit.
        let Some(best) = row.clone().max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { continue };
        for link in row {
            let is_best = link == best;
            present[link] = match constraint {
                Constraint::Any => scores[link] > 0.0,
                Constraint::AtMostOne => is_best && scores[link] > 0.0,
                Constraint::AtLeastOne => is_best || scores[link] > 0.0,
                Constraint::ExactlyOne => is_best,
            };
            value += if present[link] { f64::from(scores[link]) } else { 0.0 };
        }
    }
    Certificate::exact(value)
}
