//! Exact search on any graph.
//!
//! Graphs of tables go to the solver for networks, graphs with factors that only an oracle knows to branch
//! and bound over AD3. Graphs with logic can go either way, and neither is always better: message passing on
//! tables stalls where AD3's relaxation of a large constraint is nearly exact, while puzzles, on which any
//! relaxation is loose, fall to propagation on tables. So both work, one after the other, on the problem that
//! the one before left open.

use super::ad3::{Ad3, Ad3Options};
use super::lowering::Lowering;
use super::{Limits, branch_and_bound, exact};
use crate::certificate::{Certificate, Gap, Status};
use crate::factor::Closed;
use crate::model::Graph;
use crate::solution::{Solution, TracePoint};
use std::time::{Duration, Instant};

/// Where AD3 ends within this relative gap, the search over its bound has all the time there is.
const NEARLY_EXACT: f64 = 0.02;

/// Elsewhere the search over AD3's bound gets this many nodes before it is the tables' turn again.
const RELAXED_NODES: usize = 1000;

/// Solves exactly, unless a limit stops the search first.
pub(super) fn solve(graph: &Graph, limits: &Limits) -> Solution {
    match Lowering::new(graph) {
        None => branch_and_bound::solve(graph, limits),
        Some(tables) if !has_logic(graph) => search_tables(graph, &tables, limits),
        Some(tables) => {
            Turns { scale: tables.network.scale(), graph, tables, limits, start: Instant::now() }.take()
        }
    }
}

/// Whether a factor constrains variables, rather than scores them.
fn has_logic(graph: &Graph) -> bool {
    graph.closed().any(|(kind, _)| !matches!(kind, Closed::Pair(_)))
}

/// Tables and AD3's relaxation in turn.
struct Turns<'a> {
    graph: &'a Graph,
    tables: Lowering,
    limits: &'a Limits,
    /// The size of a score, as either of the two sees it.
    scale: f64,
    start: Instant,
}

impl Turns<'_> {
    fn take(mut self) -> Solution {
        let narrow = search_tables(self.graph, &self.tables, &self.share(0, 1, 0.1));
        if !self.goes_on(&narrow) {
            return narrow;
        }
        let limits = self.share(narrow.certificate.iterations, usize::MAX, 1.0);
        let mut ad3 = Ad3::new(Ad3Options {
            gap: limits.gap,
            parallel: limits.parallel,
            time_limit: limits.time_limit.map(|limit| 0.5 * limit),
            stop: limits.stop.clone(),
            ..Ad3Options::default()
        });
        let mut root = ad3.solve(self.graph);
        self.scale = self.scale.max(ad3.scale());
        root.certificate.iterations = 1;
        let (value, bound) = (root.certificate.lower(), root.certificate.bound());
        let nearly_exact = Gap::from(NEARLY_EXACT).at_scale(0.0).closes(value, bound);
        let found = self.merge(narrow, root.clone());
        if !self.goes_on(&found) {
            return found;
        }
        let (nodes, part) = if nearly_exact { (usize::MAX, 1.0) } else { (RELAXED_NODES, 0.5) };
        let relaxed = ad3.close(self.graph, root, &self.share(found.certificate.iterations, nodes, part));
        let found = self.merge(found, relaxed);
        if !self.goes_on(&found) {
            return found;
        }
        let rest = search_tables(
            self.graph,
            &self.tables,
            &self.share(found.certificate.iterations, usize::MAX, 1.0),
        );
        self.merge(found, rest)
    }

    /// Limits of one turn: `nodes` at most, and a part of the time that is left.
    fn share(&self, spent: usize, nodes: usize, part: f64) -> Limits {
        let left = |limit: f64| (limit - self.seconds()).max(0.0);
        let most =
            self.limits.max_iterations.map_or(usize::MAX, |most| most.saturating_sub(spent)).min(nodes);
        Limits {
            max_iterations: Some(most).filter(|&most| most < usize::MAX),
            time_limit: self.limits.time_limit.map(|limit| part * left(limit)),
            ..self.limits.clone()
        }
    }

    /// Whether there is something left to find or to prove, and the means to do so.
    fn goes_on(&self, found: &Solution) -> bool {
        !found.certificate.is_settled()
            && !self.limits.stop.is_raised()
            && self.limits.time_limit.is_none_or(|limit| self.seconds() < limit)
            && self.limits.max_iterations.is_none_or(|most| found.certificate.iterations < most)
    }

    /// What two turns have shown together.
    fn merge(&self, mut first: Solution, second: Solution) -> Solution {
        let (one, two) = (first.certificate, second.certificate);
        let mut trace = std::mem::take(&mut first.trace);
        trace.extend(second.trace.iter().map(|point| TracePoint {
            iteration: one.iterations + point.iteration,
            seconds: one.seconds + point.seconds,
            bound: one.bound().min(point.bound),
            value: one.lower().max(point.value),
        }));
        let best = if two.lower() > one.lower() { second } else { first };
        let certificate = match [one, two].iter().any(|found| found.status() == Status::Infeasible) {
            true => Certificate::infeasible(),
            false => Certificate::judge(
                best.certificate.value(),
                one.bound().min(two.bound()),
                Gap::from(self.limits.gap).at_scale(self.scale),
            ),
        };
        let certificate = certificate.after(one.iterations + two.iterations, self.seconds());
        best.with(certificate, trace)
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Exact search on the graph's tables.
fn search_tables(graph: &Graph, tables: &Lowering, limits: &Limits) -> Solution {
    let start = Instant::now();
    let options = exact::Options {
        time_limit: limits.time_limit.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, 1e9))),
        stop: limits.stop.clone(),
        node_limit: limits.max_iterations.map(|nodes| nodes as u64),
        gap: limits.gap,
        ..Default::default()
    };
    let mut trace = Vec::new();
    let answer = exact::solve(&tables.network, &options, &mut |progress: exact::Progress| {
        if limits.trace {
            let value = progress.value.unwrap_or(f64::NEG_INFINITY);
            let iteration = trace.len();
            trace.push(TracePoint { iteration, seconds: progress.seconds, bound: progress.bound, value });
        }
    });
    let assignment = answer.assignment.map(|states| tables.assignment(graph, &states)).unwrap_or_default();
    let certificate = match answer.certificate.value() {
        // The graph adds up the same scores in another order.
        Some(_) => {
            let gap = Gap::from(limits.gap).at_scale(tables.network.scale());
            Certificate::judge(Some(graph.value(&assignment)), answer.certificate.bound(), gap)
        }
        None => answer.certificate,
    };
    let certificate = certificate.after(answer.certificate.iterations, start.elapsed().as_secs_f64());
    let marginals = graph.slots_on(&assignment).into_iter().map(|on| on as u8 as f64).collect();
    Solution::new(graph, certificate, assignment, marginals, trace)
}
