//! Assignments: where they come from and how they are improved. Nothing here affects bounds.
//!
//! For graphs, a dive: structured oracles first (each is asked for its best configuration under the beliefs),
//! then variables from the most to the least decided, propagating every decision through the logic factors.
//! The result is improved by local search, and the best assignment ever seen is kept. For networks
//! (`network`), what message passing prefers is improved by local search and by exact moves of whole
//! `neighbourhoods`. Pattern models (`pattern`) have assignments from their slaves. `local_search` is the
//! same for all three.

mod dive;
mod local_search;
mod neighbourhoods;
mod network;
mod pattern;
mod slots;
mod walk;

pub(crate) use local_search::{Chain, Connected, Dice, Fusion, Position, Record};
pub(crate) use network::{Effort, losses};
pub(crate) use pattern::Labels;
pub(crate) use walk::Walk;

use super::dual::{Dual, Sum};
use super::layout::Layout;
use crate::factor::{Closed, ClosedGroup};
use crate::flat::Refill;
use crate::group::Warm;
use crate::model::Graph;
use crate::oracle::dense::DenseTable;

const UNKNOWN: i8 = -1;

/// The best assignment so far and the buffers to look for better ones.
#[derive(Default)]
pub(crate) struct Primal {
    /// The best assignment: a state for each variable; empty while there is none.
    pub assignment: Vec<u32>,
    /// Its value; minus infinity while there is none.
    pub value: f64,
    /// For each slot: off, on or [`UNKNOWN`].
    slots: Vec<i8>,
    order: Vec<u128>,
    queue: Vec<u32>,
    /// Slots in the order in which they were decided, to take decisions back.
    trail: Vec<u32>,
    on: Vec<bool>,
    state_scores: Vec<f64>,
    /// What each variable costs to look at, see [`Position::cost`]; empty until somebody asks.
    costs: Vec<Option<usize>>,
    tally: Vec<Tally>,
    /// For each group, the number of the first of its factors.
    first_factor: Vec<usize>,
    /// Structured oracle factors as (group, factor), most links first.
    structured: Vec<(u32, u32)>,
    /// For each slot, whether it is the output of a logic factor: those follow from the rest and are decided
    /// last.
    is_output: Vec<bool>,
    /// Links visited so far: what rounding has cost, counted so that callers can ration it.
    pub work: usize,
    /// The typical size of a score.
    scale: f64,
    /// A score larger than any the factors hold.
    large: f64,
}

/// How far a logic factor is decided.
#[derive(Clone, Copy, Default)]
struct Tally {
    on: u32,
    unknown: u32,
    /// What a budget or knapsack has left.
    room: f64,
}

/// The parts of a solve that rounding reads.
pub(crate) struct View<'a> {
    pub graph: &'a Graph,
    pub layout: &'a Layout,
    pub warm: &'a mut [Warm],
}

impl<'a> View<'a> {
    /// The links of a slot as (group, factor, position in the factor).
    fn links_of(&self, slot: usize) -> impl Iterator<Item = (usize, usize, usize)> + use<'a> {
        let (graph, layout) = (self.graph, self.layout);
        layout.links_of(slot).iter().map(move |&link| {
            let link = (link >> 1) as usize;
            let group = layout.group_start.partition_point(|&start| start <= link) - 1;
            let factor = layout.link_factor[link] as usize;
            let first = layout.group_start[group] + layout.group(graph, group).range(factor).start;
            (group, factor, link - first)
        })
    }

    fn closed(&self, group: usize) -> Option<&ClosedGroup> {
        self.layout.group(self.graph, group).of()
    }

    fn is_table(&self, group: usize) -> bool {
        self.layout.group(self.graph, group).of::<DenseTable>().is_some()
    }
}

impl Primal {
    pub(crate) fn new(graph: &Graph, layout: &Layout, scale: f64, large: f64) -> Self {
        let mut primal = Self::default();
        primal.reset(graph, layout, scale, large);
        primal
    }

    /// Forgets all assignments and turns to a graph, in the same memory.
    pub(crate) fn reset(&mut self, graph: &Graph, layout: &Layout, scale: f64, large: f64) {
        let Primal { first_factor, structured, is_output, .. } = self;
        first_factor.clear();
        first_factor.push(0);
        structured.clear();
        is_output.refill(graph.slots(), false);
        for group in 0..layout.groups() {
            let g = layout.group(graph, group);
            first_factor.push(first_factor[group] + g.factors());
            if g.of::<Closed>().is_none() && g.of::<DenseTable>().is_none() {
                structured.extend((0..g.factors()).map(|f| (group as u32, f as u32)));
            }
        }
        for (kind, links) in graph.closed() {
            if let (Closed::OrWithOutput, [.., output]) = (kind, links) {
                is_output[output.slot()] = true;
            }
        }
        let size =
            |(group, factor): (u32, u32)| layout.group(graph, group as usize).range(factor as usize).len();
        structured.sort_unstable_by_key(|&id| (std::cmp::Reverse(size(id)), id));
        self.assignment.clear();
        self.value = f64::NEG_INFINITY;
        self.slots.clear();
        self.order.clear();
        self.queue.clear();
        self.trail.clear();
        self.on.clear();
        self.tally.clear();
        self.costs.clear();
        self.work = 0;
        (self.scale, self.large) = (scale, large);
    }

    /// Rounds `beliefs` to an assignment, improves it, and keeps it if it is the best so far.
    pub(crate) fn consider(&mut self, view: &mut View<'_>, beliefs: &[f64]) {
        if self.dive(view, beliefs).is_err() {
            // Constraints contradicted the beliefs; plain rounding may still be mended by local search.
            self.round(view.graph, beliefs);
        }
        self.improve(view);
        self.keep(view);
    }

    /// Evaluates an assignment found elsewhere (a state for each variable) and keeps it if it is the best so
    /// far.
    pub(crate) fn offer(&mut self, view: &mut View<'_>, assignment: &[u32]) {
        self.slots.clear();
        self.slots.extend(view.graph.slots_on(assignment).into_iter().map(|on| on as i8));
        self.keep(view);
    }

    fn keep(&mut self, view: &mut View<'_>) {
        let value = self.evaluate(view);
        if value > self.value {
            self.value = value;
            let graph = view.graph;
            self.assignment.clear();
            let state = |variable| graph.state_of(variable, |slot| self.slots[slot] == 1).unwrap_or(0) as u32;
            self.assignment.extend((0..graph.variables()).map(state));
        }
    }

    fn evaluate(&mut self, view: &mut View<'_>) -> f64 {
        let mut value = Sum::from(view.graph.offset);
        for (&on, score) in self.slots.iter().zip(&view.graph.scores) {
            if on == 1 {
                value += *score;
            }
        }
        for group in 0..view.layout.groups() {
            for factor in 0..view.layout.group(view.graph, group).factors() {
                if value.value() == f64::NEG_INFINITY {
                    return f64::NEG_INFINITY;
                }
                value += self.factor_score(view, group, factor);
            }
        }
        value.value()
    }

    fn factor_score(&mut self, view: &mut View<'_>, group: usize, factor: usize) -> f64 {
        let g = view.layout.group(view.graph, group);
        let range = g.range(factor);
        self.work += range.len();
        self.on.clear();
        self.on.extend(g.links()[range].iter().map(|l| (self.slots[l.slot()] == 1) != l.is_negated()));
        if let Some(tables) = g.of::<DenseTable>() {
            return tables.factor(factor).0.score_of(&self.on).unwrap_or(f64::NEG_INFINITY);
        }
        g.score(&mut view.warm[group], factor, &self.on, self.large)
    }

    /// Each variable to its most believed state.
    fn round(&mut self, graph: &Graph, beliefs: &[f64]) {
        self.slots.refill(graph.slots(), 0);
        for variable in 0..graph.variables() {
            let first = graph.first_slot[variable] as usize;
            if graph.is_binary(variable) {
                self.slots[first] = (beliefs[first] > 0.5) as i8;
            } else {
                self.slots[first + best_state(graph, variable, beliefs)] = 1;
            }
        }
    }
}

/// The value of one assignment.
pub(crate) fn evaluate(graph: &Graph, assignment: &[u32]) -> f64 {
    let mut dual = Dual::new(graph);
    dual.read_scores(graph, &[]);
    let mut primal = Primal::new(graph, &dual.layout, dual.scale, dual.large);
    primal.offer(&mut View { graph, layout: &dual.layout, warm: &mut dual.warm }, assignment);
    primal.value
}

fn best_state(graph: &Graph, variable: usize, beliefs: &[f64]) -> usize {
    let beliefs = &beliefs[graph.slots_of(variable)];
    (0..beliefs.len()).fold(0, |best, state| if beliefs[state] > beliefs[best] { state } else { best })
}
