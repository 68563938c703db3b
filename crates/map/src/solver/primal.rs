//! Feasible assignments from relaxed ones.
//!
//! A dive: structured oracles first (each is asked for its best configuration under the beliefs), then variables from the most
//! to the least decided, propagating every decision through the logic factors. The result is improved by iterated
//! conditional modes, and the best assignment ever seen is kept. Nothing here affects bounds.

use super::dual::Dual;
use super::layout::Layout;
use crate::factor::{Closed, ClosedGroup};
use crate::group::{OracleGroup, Warm};
use crate::model::Graph;
use crate::oracle::dense::DenseTable;

const UNKNOWN: i8 = -1;

/// Link evaluations that iterated conditional modes may spend in one call, as a multiple of the number of links.
const LOCAL_SEARCH_EFFORT: usize = 30;

/// The best assignment so far and the buffers to look for better ones.
pub(crate) struct Primal {
    /// The best assignment: a state for each variable; empty while there is none.
    pub assignment: Vec<u32>,
    /// Its value; minus infinity while there is none.
    pub value: f64,
    /// For each slot: off, on or [`UNKNOWN`].
    slots: Vec<i8>,
    order: Vec<u32>,
    queue: Vec<u32>,
    /// Slots in the order in which they were decided, to take decisions back.
    trail: Vec<u32>,
    on: Vec<bool>,
    tally: Vec<Tally>,
    /// For each group, the number of the first of its factors.
    first_factor: Vec<usize>,
    /// Structured oracle factors as (group, factor), most links first.
    structured: Vec<(u32, u32)>,
    /// For each slot, whether it is the output of a logic factor: those follow from the rest and are decided last.
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

/// A decision contradicts a constraint.
struct Conflict;

/// The parts of a solve that rounding reads.
pub(crate) struct View<'a> {
    pub graph: &'a Graph,
    pub layout: &'a Layout,
    pub warm: &'a mut [Box<dyn Warm>],
}

impl View<'_> {
    fn closed(&self, group: usize) -> Option<&ClosedGroup> {
        self.layout.group(self.graph, group).as_any().downcast_ref()
    }

    fn is_table(&self, group: usize) -> bool {
        self.layout.group(self.graph, group).as_any().is::<OracleGroup<DenseTable>>()
    }
}

impl Primal {
    pub(crate) fn new(graph: &Graph, layout: &Layout, scale: f64, large: f64) -> Self {
        let mut first_factor = vec![0];
        let mut structured = Vec::new();
        let mut is_output = vec![false; graph.slots()];
        for group in 0..layout.groups() {
            let g = layout.group(graph, group);
            first_factor.push(first_factor[group] + g.factors());
            if let Some(closed) = g.as_any().downcast_ref::<ClosedGroup>() {
                for factor in 0..closed_len(closed) {
                    if let (Closed::OrWithOutput, [.., output]) = closed.factor(factor) {
                        is_output[output.slot()] = true;
                    }
                }
            }
            let plain = g.as_any().is::<ClosedGroup>() || g.as_any().is::<OracleGroup<DenseTable>>();
            if !plain {
                structured.extend((0..g.factors()).map(|f| (group as u32, f as u32)));
            }
        }
        let size = |&(group, factor): &(u32, u32)| {
            let offsets = layout.group(graph, group as usize).offsets();
            offsets[factor as usize + 1] - offsets[factor as usize]
        };
        structured.sort_by_key(|id| std::cmp::Reverse(size(id)));
        Primal {
            assignment: Vec::new(),
            value: f64::NEG_INFINITY,
            slots: Vec::new(),
            order: Vec::new(),
            queue: Vec::new(),
            trail: Vec::new(),
            on: Vec::new(),
            tally: Vec::new(),
            first_factor,
            structured,
            is_output,
            work: 0,
            scale,
            large,
        }
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

    /// Evaluates an assignment found elsewhere (a state for each variable) and keeps it if it is the best so far.
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
            self.assignment.extend((0..graph.variables()).map(|variable| {
                let slots =
                    &self.slots[graph.first_slot[variable] as usize..graph.first_slot[variable + 1] as usize];
                if graph.is_binary(variable) {
                    slots[0] as u32
                } else {
                    slots.iter().position(|&x| x == 1).unwrap_or(0) as u32
                }
            }));
        }
    }

    fn evaluate(&mut self, view: &mut View<'_>) -> f64 {
        let mut value = view.graph.offset;
        for (&on, score) in self.slots.iter().zip(&view.graph.scores) {
            if on == 1 {
                value += score;
            }
        }
        for group in 0..view.layout.groups() {
            for factor in 0..view.layout.group(view.graph, group).factors() {
                if value == f64::NEG_INFINITY {
                    return value;
                }
                value += self.factor_score(view, group, factor);
            }
        }
        value
    }

    fn factor_score(&mut self, view: &mut View<'_>, group: usize, factor: usize) -> f64 {
        let g = view.layout.group(view.graph, group);
        let range = g.offsets()[factor] as usize..g.offsets()[factor + 1] as usize;
        self.work += range.len();
        self.on.clear();
        self.on.extend(g.links()[range].iter().map(|l| (self.slots[l.slot()] == 1) != l.is_negated()));
        if let Some(tables) = g.as_any().downcast_ref::<OracleGroup<DenseTable>>() {
            return tables
                .oracle(factor)
                .and_then(|table| table.score_of(&self.on))
                .unwrap_or(f64::NEG_INFINITY);
        }
        g.score(&mut *view.warm[group], factor, &self.on, self.large)
    }

    /// Each variable to its most believed state.
    fn round(&mut self, graph: &Graph, beliefs: &[f64]) {
        self.slots.clear();
        self.slots.resize(graph.slots(), 0);
        for variable in 0..graph.variables() {
            let first = graph.first_slot[variable] as usize;
            if graph.is_binary(variable) {
                self.slots[first] = (beliefs[first] > 0.5) as i8;
            } else {
                self.slots[first + best_state(graph, variable, beliefs)] = 1;
            }
        }
    }

    fn dive(&mut self, view: &mut View<'_>, beliefs: &[f64]) -> Result<(), Conflict> {
        let graph = view.graph;
        self.slots.clear();
        self.slots.resize(graph.slots(), UNKNOWN);
        self.queue.clear();
        self.trail.clear();
        self.start_tallies(view);
        for slot in 0..graph.slots() {
            if graph.scores[slot] == f64::NEG_INFINITY {
                self.decide(view, slot, false)?;
            }
        }
        // Factors with one link, or with a limit of zero, decide at once.
        for group in 0..view.layout.groups() {
            if let Some(closed) = view.closed(group) {
                for factor in 0..closed_len(closed) {
                    self.propagate(view, group, factor)?;
                }
            }
        }
        for index in 0..self.structured.len() {
            let (group, factor) = self.structured[index];
            let mark = self.trail.len();
            if self.follow_oracle(view, group as usize, factor as usize, beliefs).is_err() {
                self.take_back(view, mark);
            }
        }
        let certainty = |variable: usize| {
            let first = graph.first_slot[variable] as usize;
            if graph.is_binary(variable) {
                (beliefs[first] - 0.5).abs() * 2.0
            } else {
                beliefs[first + best_state(graph, variable, beliefs)]
            }
        };
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..graph.variables() as u32);
        let is_output = |variable: usize| self.is_output[graph.first_slot[variable] as usize];
        order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            is_output(a).cmp(&is_output(b)).then(certainty(b).total_cmp(&certainty(a))).then(a.cmp(&b))
        });
        let outcome =
            order.iter().try_for_each(|&variable| self.decide_variable(view, variable as usize, beliefs));
        self.order = order;
        outcome
    }

    fn decide_variable(
        &mut self,
        view: &mut View<'_>,
        variable: usize,
        beliefs: &[f64],
    ) -> Result<(), Conflict> {
        let graph = view.graph;
        let slots = graph.first_slot[variable] as usize..graph.first_slot[variable + 1] as usize;
        if graph.is_binary(variable) {
            if self.slots[slots.start] == UNKNOWN {
                let on = beliefs[slots.start] > 0.5 && self.fits(view, slots.start);
                self.decide_either_way(view, slots.start, on)?;
            }
            return Ok(());
        }
        while !slots.clone().any(|slot| self.slots[slot] == 1) {
            let open = slots.clone().filter(|&slot| self.slots[slot] == UNKNOWN);
            let best = open.max_by(|&a, &b| beliefs[a].total_cmp(&beliefs[b]).then(b.cmp(&a)));
            let best = best.ok_or(Conflict)?;
            let on = self.fits(view, best);
            self.decide_either_way(view, best, on)?;
        }
        slots.into_iter().try_for_each(|slot| {
            if self.slots[slot] == UNKNOWN { self.decide(view, slot, false) } else { Ok(()) }
        })
    }

    /// Decides a slot, the other way if this way leads to a contradiction at once.
    fn decide_either_way(&mut self, view: &View<'_>, slot: usize, on: bool) -> Result<(), Conflict> {
        let mark = self.trail.len();
        self.decide(view, slot, on).or_else(|_| {
            self.take_back(view, mark);
            self.decide(view, slot, !on)
        })
    }

    /// Takes back all decisions after `mark`.
    fn take_back(&mut self, view: &View<'_>, mark: usize) {
        self.queue.clear();
        for index in (mark..self.trail.len()).rev() {
            let slot = self.trail[index] as usize;
            let on = self.slots[slot] == 1;
            self.slots[slot] = UNKNOWN;
            self.count(view, slot, on, -1.0);
        }
        self.trail.truncate(mark);
    }

    fn start_tallies(&mut self, view: &View<'_>) {
        self.tally.clear();
        self.tally.resize(*self.first_factor.last().expect("never empty"), Tally::default());
        for group in 0..view.layout.groups() {
            let Some(closed) = view.closed(group) else { continue };
            for factor in 0..closed_len(closed) {
                let (kind, links) = closed.factor(factor);
                let room = match kind {
                    Closed::Budget(limit) => *limit as f64,
                    Closed::Knapsack { limit, .. } => *limit,
                    _ => 0.0,
                };
                let tally = Tally { on: 0, unknown: links.len() as u32, room };
                self.tally[self.first_factor[group] + factor] = tally;
            }
        }
    }

    /// Whether every budget has room for this slot.
    fn fits(&self, view: &View<'_>, slot: usize) -> bool {
        self.links_of(view, slot).all(|(group, factor, position)| {
            let Some(closed) = view.closed(group) else { return true };
            let (kind, links) = closed.factor(factor);
            let room = self.tally[self.first_factor[group] + factor].room;
            match kind {
                _ if links[position].is_negated() => true,
                Closed::Budget(_) => room >= 1.0,
                Closed::Knapsack { costs, .. } => costs[position] <= room,
                _ => true,
            }
        })
    }

    /// The links of a slot as (group, factor, position in the factor).
    fn links_of<'a>(
        &self,
        view: &'a View<'_>,
        slot: usize,
    ) -> impl Iterator<Item = (usize, usize, usize)> + use<'a> {
        let layout = view.layout;
        let range = layout.slot_start[slot] as usize..layout.slot_start[slot + 1] as usize;
        let graph = view.graph;
        layout.slot_links[range].iter().map(move |&link| {
            let link = (link >> 1) as usize;
            let group = layout.group_start.partition_point(|&start| start <= link) - 1;
            let within = (link - layout.group_start[group]) as u32;
            let offsets = layout.group(graph, group).offsets();
            let factor = offsets.partition_point(|&o| o <= within) - 1;
            (group, factor, (within - offsets[factor]) as usize)
        })
    }

    /// Sets a slot and everything that follows from it.
    fn decide(&mut self, view: &View<'_>, slot: usize, on: bool) -> Result<(), Conflict> {
        self.assign(view, slot, on)?;
        while let Some(slot) = self.queue.pop() {
            for (group, factor, _) in self.links_of(view, slot as usize) {
                if view.closed(group).is_some() {
                    self.propagate(view, group, factor)?;
                }
            }
        }
        Ok(())
    }

    fn assign(&mut self, view: &View<'_>, slot: usize, on: bool) -> Result<(), Conflict> {
        if self.slots[slot] != UNKNOWN {
            return if (self.slots[slot] == 1) == on { Ok(()) } else { Err(Conflict) };
        }
        self.slots[slot] = on as i8;
        self.queue.push(slot as u32);
        self.trail.push(slot as u32);
        self.count(view, slot, on, 1.0);
        Ok(())
    }

    /// Books a decision in the tallies of its factors (`direction` 1), or takes it off (−1).
    fn count(&mut self, view: &View<'_>, slot: usize, on: bool, direction: f64) {
        self.work += view.layout.degree(slot);
        for (group, factor, position) in self.links_of(view, slot) {
            let Some(closed) = view.closed(group) else { continue };
            let (kind, links) = closed.factor(factor);
            let holds = on != links[position].is_negated();
            let tally = &mut self.tally[self.first_factor[group] + factor];
            let step = direction as i32;
            tally.unknown = tally.unknown.wrapping_add_signed(-step);
            if holds {
                tally.on = tally.on.wrapping_add_signed(step);
                tally.room -= match kind {
                    Closed::Budget(_) => direction,
                    Closed::Knapsack { costs, .. } => direction * costs[position],
                    _ => 0.0,
                };
            }
        }
    }

    /// What a logic factor implies for its open links. Budgets only refuse (see [`fits`](Self::fits)).
    fn propagate(&mut self, view: &View<'_>, group: usize, factor: usize) -> Result<(), Conflict> {
        let (kind, links) = view.closed(group).expect("only closed forms propagate").factor(factor);
        let Tally { on, unknown, room } = self.tally[self.first_factor[group] + factor];
        let rest = match kind {
            Closed::ExactlyOne if on > 1 || on + unknown == 0 => return Err(Conflict),
            Closed::AtMostOne if on > 1 => return Err(Conflict),
            Closed::AtLeastOne if on + unknown == 0 => return Err(Conflict),
            Closed::Budget(_) | Closed::Knapsack { .. } if room < -1e-9 => return Err(Conflict),
            Closed::ExactlyOne | Closed::AtMostOne if on == 1 => false,
            Closed::ExactlyOne | Closed::AtLeastOne if on == 0 && unknown == 1 => true,
            Closed::OrWithOutput => return self.propagate_or(view, group, factor),
            _ => return Ok(()),
        };
        if unknown == 0 {
            return Ok(());
        }
        for link in links {
            if self.slots[link.slot()] == UNKNOWN {
                self.assign(view, link.slot(), rest != link.is_negated())?;
            }
        }
        Ok(())
    }

    fn propagate_or(&mut self, view: &View<'_>, group: usize, factor: usize) -> Result<(), Conflict> {
        let (_, links) = view.closed(group).expect("only closed forms propagate").factor(factor);
        let (output, inputs) = links.split_last().expect("factors are not empty");
        let Tally { on, unknown, .. } = self.tally[self.first_factor[group] + factor];
        let state = |slots: &[i8], link: &crate::model::Literal| match slots[link.slot()] {
            UNKNOWN => None,
            x => Some((x == 1) != link.is_negated()),
        };
        let output_state = state(&self.slots, output);
        let inputs_on = on - (output_state == Some(true)) as u32;
        let inputs_unknown = unknown - output_state.is_none() as u32;
        if inputs_on > 0 {
            return self.assign(view, output.slot(), !output.is_negated());
        }
        if inputs_unknown == 0 {
            return self.assign(view, output.slot(), output.is_negated());
        }
        let rest = match output_state {
            Some(false) => false,
            Some(true) if inputs_unknown == 1 => true,
            _ => return Ok(()),
        };
        for link in inputs {
            if self.slots[link.slot()] == UNKNOWN {
                self.assign(view, link.slot(), rest != link.is_negated())?;
            }
        }
        Ok(())
    }

    /// Fills the open slots of a structured factor with its best configuration under the beliefs.
    fn follow_oracle(
        &mut self,
        view: &mut View<'_>,
        group: usize,
        factor: usize,
        beliefs: &[f64],
    ) -> Result<(), Conflict> {
        let g = view.layout.group(view.graph, group);
        let range = g.offsets()[factor] as usize..g.offsets()[factor + 1] as usize;
        let links = &g.links()[range];
        if links.iter().all(|l| self.slots[l.slot()] != UNKNOWN) {
            return Ok(());
        }
        let scores: Vec<f64> = links
            .iter()
            .map(|link| {
                let sign = if link.is_negated() { -1.0 } else { 1.0 };
                match self.slots[link.slot()] {
                    UNKNOWN => sign * (beliefs[link.slot()] - 0.5) * 10.0 * self.scale,
                    decided => sign * if decided == 1 { self.large } else { -self.large },
                }
            })
            .collect();
        let mut best = vec![0.0; links.len()];
        if g.maximize_one(&mut *view.warm[group], factor, &scores, &mut best) == f64::NEG_INFINITY {
            return Err(Conflict);
        }
        for (link, on) in links.iter().zip(best) {
            self.decide(view, link.slot(), (on > 0.5) != link.is_negated())?;
        }
        Ok(())
    }

    /// Iterated conditional modes: moves each variable to its best state given the others until nothing changes.
    fn improve(&mut self, view: &mut View<'_>) {
        let graph = view.graph;
        let mut effort = LOCAL_SEARCH_EFFORT * view.layout.links() + graph.slots();
        let mut changed = true;
        while changed && effort > 0 {
            changed = false;
            for variable in 0..graph.variables() {
                let Some(cost) = self.cost_of_moves(view, variable) else { continue };
                effort = effort.saturating_sub(cost);
                if effort == 0 {
                    return;
                }
                changed |= self.move_to_best(view, variable);
            }
        }
    }

    /// Link evaluations needed to try every state; nothing when a structured oracle is involved.
    fn cost_of_moves(&self, view: &View<'_>, variable: usize) -> Option<usize> {
        let graph = view.graph;
        let mut cost = 1;
        for slot in graph.first_slot[variable]..graph.first_slot[variable + 1] {
            for (group, factor, _) in self.links_of(view, slot as usize) {
                let offsets = view.layout.group(graph, group).offsets();
                if view.closed(group).is_none() && !view.is_table(group) {
                    return None;
                }
                cost += (offsets[factor + 1] - offsets[factor]) as usize;
            }
        }
        Some(cost * graph.states(variable))
    }

    fn move_to_best(&mut self, view: &mut View<'_>, variable: usize) -> bool {
        let graph = view.graph;
        let first = graph.first_slot[variable] as usize;
        let states = graph.states(variable);
        let binary = graph.is_binary(variable);
        let current = if binary {
            self.slots[first] as usize
        } else {
            (0..states).find(|&s| self.slots[first + s] == 1).unwrap_or(0)
        };
        let (mut best, mut best_value) = (current, self.local_value(view, variable));
        for state in (0..states).filter(|&s| s != current) {
            self.set_state(first, states, binary, state);
            let value = self.local_value(view, variable);
            let better = value.0 < best_value.0
                || (value.0 == best_value.0 && value.1 > best_value.1 + 1e-12 * best_value.1.abs());
            if better {
                (best, best_value) = (state, value);
            }
        }
        self.set_state(first, states, binary, best);
        best != current
    }

    fn set_state(&mut self, first: usize, states: usize, binary: bool, state: usize) {
        if binary {
            self.slots[first] = state as i8;
        } else {
            self.slots[first..first + states].fill(0);
            self.slots[first + state] = 1;
        }
    }

    /// Violated constraints and score around a variable.
    fn local_value(&mut self, view: &mut View<'_>, variable: usize) -> (usize, f64) {
        let graph = view.graph;
        let (mut violations, mut value) = (0, 0.0);
        let mut add = |score: f64| {
            if score == f64::NEG_INFINITY {
                violations += 1;
            } else {
                value += score;
            }
        };
        let slots = graph.first_slot[variable] as usize..graph.first_slot[variable + 1] as usize;
        let mut seen = usize::MAX;
        for slot in slots {
            if self.slots[slot] == 1 {
                add(graph.scores[slot]);
            }
            // All states of a choice in one table link to that table: count it once, at the state that holds.
            let links: Vec<(usize, usize, usize)> = self.links_of(view, slot).collect();
            for (group, factor, _) in links {
                let id = self.first_factor[group] + factor;
                if view.is_table(group) && !graph.is_binary(variable) && self.slots[slot] != 1 || id == seen {
                    continue;
                }
                seen = id;
                add(self.factor_score(view, group, factor));
            }
        }
        (violations, value)
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

fn closed_len(closed: &ClosedGroup) -> usize {
    crate::group::Group::factors(closed)
}

fn best_state(graph: &Graph, variable: usize, beliefs: &[f64]) -> usize {
    let slots = graph.first_slot[variable] as usize..graph.first_slot[variable + 1] as usize;
    let beliefs = &beliefs[slots];
    (0..beliefs.len()).fold(0, |best, state| if beliefs[state] > beliefs[best] { state } else { best })
}
