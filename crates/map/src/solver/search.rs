//! Exact search on any graph.
//!
//! Forests need no search. Other graphs of tables go to the solver for networks, graphs with factors that only an oracle knows to branch
//! and bound over AD3. Graphs with logic can go either way, and neither is always better: message passing on
//! tables stalls where AD3's relaxation of a large constraint is nearly exact, while puzzles, on which any
//! relaxation is loose, fall to propagation on tables. So both work, one after the other, on the problem that
//! the one before left open, and what costs little comes first. Between them local search walks from the best
//! assignment to better ones, the longer the more there was to do: how far it comes is counted in links, so
//! that results repeat.

use super::ad3::{Ad3, Ad3Options};
use super::exact::{self, Network};
use super::lowering::Lowering;
use super::primal::Walk;
use super::{Limits, forest};
use crate::certificate::{Certificate, Gap, Status};
use crate::factor::Closed;
use crate::model::Graph;
use crate::solution::{Solution, TracePoint};
use std::time::{Duration, Instant};

/// Where AD3 ends within this relative gap, the search over its bound has all the time there is.
const NEARLY_EXACT: f64 = 0.02;

/// Elsewhere the search over AD3's bound gets this many nodes before it is the tables' turn: before their
/// first node, and before all others.
const RELAXED_NODES: [usize; 2] = [16, 1000];

/// AD3 gives way to branching when it lowers the bound by less than this part of the gap.
const STALL: f64 = 0.05;

/// Links that a walk may visit, as a multiple of all links, and beyond that: at once, after AD3, before
/// branching, beside branching, and before tables are searched to the end.
const WALKS: [(usize, usize); 5] =
    [(4, 1000), (50, 20_000), (500, 500_000), (500, 10_000_000), (1000, 40_000_000)];

/// No walk takes more than this part of the time that is left.
const WALKING: f64 = 0.25;

/// Solves exactly, unless a limit stops the search first.
pub(super) fn solve(graph: &Graph, limits: &Limits) -> Solution {
    let start = Instant::now();
    let mut found = forest::solve(graph, limits).unwrap_or_else(|| {
        let tables = Lowering::new(graph);
        let mut turns = Turns { gap: Gap::of(limits.gap, graph), graph, tables, limits, start };
        let share = turns.share(0, usize::MAX, 1.0);
        match &mut turns.tables {
            Some(tables) if !has_logic(graph) => {
                // Nobody will look at the tables again.
                let known = limits.hint.as_ref().map(|hint| tables.states(graph, hint));
                let network = std::mem::take(&mut tables.network);
                search_tables(graph, tables, network, &share, known, false)
            }
            _ => turns.take(),
        }
    });
    // A trace begins with the first bound, and ends with the answer.
    found.trace.retain(|point| point.bound.is_finite());
    let Certificate { iterations: iteration, seconds, .. } = found.certificate;
    let (value, bound) = (found.certificate.lower(), found.certificate.bound());
    let is_told = found.trace.last().is_some_and(|last| (last.value, last.bound) == (value, bound));
    if limits.trace && bound.is_finite() && !is_told {
        found.trace.push(TracePoint { iteration, seconds, bound, value });
    }
    found
}

/// Whether a factor constrains variables, rather than scores them.
fn has_logic(graph: &Graph) -> bool {
    graph.closed().any(|(kind, _)| !matches!(kind, Closed::Pair(_)))
}

/// Tables, where there are some, and AD3's relaxation in turn, with walks between them.
struct Turns<'a> {
    graph: &'a Graph,
    tables: Option<Lowering>,
    limits: &'a Limits,
    gap: Gap,
    start: Instant,
}

impl Turns<'_> {
    fn take(self) -> Solution {
        let mut walk = Walk::new(self.graph);
        let nothing = Certificate::judge(None, f64::INFINITY, self.limits.gap);
        let nothing =
            Solution::new(self.graph, nothing, Vec::new(), vec![0.5; self.graph.slots()], Vec::new());
        let mut found = self.walk(&mut walk, nothing, WALKS[0]);
        if let Some(tables) = &self.tables {
            let limits = self.share(0, 1, 0.1);
            let narrow = self.search_tables(tables, &limits, &found, true);
            found = self.merge(found, narrow);
            if !self.goes_on(&found) {
                return found;
            }
        }
        let limits = self.share(found.certificate.iterations, usize::MAX, 1.0);
        let mut ad3 = Ad3::new(Ad3Options {
            gap: limits.gap,
            parallel: limits.parallel,
            time_limit: limits.time_limit.map(|limit| 0.5 * limit),
            stop: limits.stop.clone(),
            stall: STALL,
            ..Ad3Options::default()
        });
        let mut root = ad3.solve_knowing(self.graph, found.assignment());
        root.certificate.iterations = 1;
        let (value, bound) = (root.certificate.lower(), root.certificate.bound());
        let marginals = root.marginals.clone();
        found = self.merge(found, root);
        if !self.goes_on(&found) {
            return found;
        }
        found = self.walk(&mut walk, found, WALKS[1]);
        let nearly_exact = Gap::from(NEARLY_EXACT).at_scale(0.0).closes(value, bound);
        let alone = nearly_exact || self.tables.is_none();
        if let Some(tables) = self.tables.as_ref().filter(|_| !alone) {
            let limits = self.share(found.certificate.iterations, RELAXED_NODES[0], 0.1);
            let mut root = found.clone();
            (root.marginals, root.trace) = (marginals.clone(), Vec::new());
            let relaxed = ad3.close(self.graph, root, &limits);
            found = self.merge(found, relaxed);
            if !self.goes_on(&found) {
                return found;
            }
            let limits = self.share(found.certificate.iterations, 1, 0.1);
            let narrow = self.search_tables(tables, &limits, &found, false);
            found = self.merge(found, narrow);
            if !self.goes_on(&found) {
                return found;
            }
        }
        let (nodes, part) = if alone { (usize::MAX, 1.0) } else { (RELAXED_NODES[1], 0.5) };
        found = self.walk(&mut walk, found, WALKS[2]);
        let limits = self.share(found.certificate.iterations, nodes, part);
        let mut root = found.clone();
        (root.marginals, root.trace) = (marginals, Vec::new());
        let relaxed = ad3.close_beside(self.graph, root, &limits, &mut |known| {
            let best = self.wander(walk.as_mut()?, known, WALKS[3])?;
            Some((self.graph.value(&best), best))
        });
        found = self.merge(found, relaxed);
        if !self.goes_on(&found) {
            return found;
        }
        let Some(tables) = &self.tables else { return found };
        found = self.walk(&mut walk, found, WALKS[4]);
        let limits = self.share(found.certificate.iterations, usize::MAX, 1.0);
        let rest = self.search_tables(tables, &limits, &found, false);
        self.merge(found, rest)
    }

    /// A search on the tables that begins with what was found.
    fn search_tables(&self, tables: &Lowering, limits: &Limits, found: &Solution, quick: bool) -> Solution {
        let known = found.assignment().map(|states| tables.states(self.graph, states));
        search_tables(self.graph, tables, tables.network.clone(), limits, known, quick)
    }

    /// Looks for something better than what is known.
    fn wander(&self, walk: &mut Walk<'_>, known: Option<&[u32]>, effort: (usize, usize)) -> Option<Vec<u32>> {
        let effort = effort.0 * self.graph.links() + effort.1;
        let seconds = self.seconds();
        let until = self.limits.time_limit.map(|limit| seconds + WALKING * (limit - seconds).max(0.0));
        let expired = || self.limits.stop.is_raised() || until.is_some_and(|until| self.seconds() >= until);
        walk.improve(known.or(self.limits.hint.as_deref()), effort, expired)
    }

    /// Looks for something better than what was found, whose certificate may then prove more.
    fn walk(&self, walk: &mut Option<Walk<'_>>, found: Solution, effort: (usize, usize)) -> Solution {
        let Some(walk) = walk else { return found };
        let best = self.wander(walk, found.assignment(), effort);
        let best = best.map(|states| (self.graph.value(&states), states));
        let Some((value, states)) = best.filter(|best| best.0 > found.certificate.lower()) else {
            return found;
        };
        let mut found = found.better(self.graph, value, states, self.gap);
        found.certificate.seconds = self.seconds();
        if self.limits.trace {
            let Certificate { iterations: iteration, seconds, .. } = found.certificate;
            found.trace.push(TracePoint { iteration, seconds, bound: found.certificate.bound(), value });
        }
        found
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
        let began = (self.seconds() - two.seconds).max(one.seconds);
        trace.extend(second.trace.iter().map(|point| TracePoint {
            iteration: one.iterations + point.iteration,
            seconds: began + point.seconds,
            bound: one.bound().min(point.bound),
            value: one.lower().max(point.value),
        }));
        let best = if two.lower() > one.lower() { second } else { first };
        let certificate = match [one, two].iter().any(|found| found.status() == Status::Infeasible) {
            true => Certificate::infeasible(),
            false => Certificate::judge(best.certificate.value(), one.bound().min(two.bound()), self.gap),
        };
        let certificate = certificate.after(one.iterations + two.iterations, self.seconds());
        best.with(certificate, trace)
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Exact search on the graph's tables, or what is `quick` of it.
fn search_tables(
    graph: &Graph,
    tables: &Lowering,
    network: Network,
    limits: &Limits,
    known: Option<Vec<usize>>,
    quick: bool,
) -> Solution {
    let start = Instant::now();
    let options = exact::Options {
        time_limit: limits.time_limit.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, 1e9))),
        stop: limits.stop.clone(),
        quick,
        node_limit: limits.max_iterations.map(|nodes| nodes as u64),
        gap: limits.gap,
        start: known,
        ..Default::default()
    };
    let mut trace = Vec::new();
    let value_of = |states: &[usize]| graph.value(&tables.assignment(graph, states));
    let answer = exact::consume(network, &options, &value_of, &mut |progress: exact::Progress| {
        if limits.trace {
            let value = progress.value.unwrap_or(f64::NEG_INFINITY);
            let iteration = trace.len();
            trace.push(TracePoint { iteration, seconds: progress.seconds, bound: progress.bound, value });
        }
    });
    let assignment = answer.assignment.map(|states| tables.assignment(graph, &states)).unwrap_or_default();
    let certificate = match answer.certificate.value() {
        Some(value) => {
            let gap = Gap::of(limits.gap, graph);
            Certificate::judge(Some(value), answer.certificate.bound(), gap)
        }
        None => answer.certificate,
    };
    let certificate = certificate.after(answer.certificate.iterations, start.elapsed().as_secs_f64());
    let marginals = graph.slots_on(&assignment).into_iter().map(|on| on as u8 as f64).collect();
    Solution::new(graph, certificate, assignment, marginals, trace)
}
