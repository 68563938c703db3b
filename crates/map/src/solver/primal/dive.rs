//! The dive: decisions one after the other, each propagated through the logic factors.

use super::{Primal, Tally, UNKNOWN, View, best_state};
use crate::factor::Closed;
use crate::flat::Refill;
use crate::group::Group;
use crate::model::Literal;

/// A decision contradicts a constraint.
pub(super) struct Conflict;

/// Numbers that are ordered as [`f64::total_cmp`] orders theirs.
fn rank(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl Primal {
    /// Decides every slot, following the beliefs where the constraints allow.
    pub(super) fn dive(&mut self, view: &mut View<'_>, beliefs: &[f64]) -> Result<(), Conflict> {
        let graph = view.graph;
        self.slots.refill(graph.slots(), UNKNOWN);
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
                for factor in 0..closed.factors() {
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
        // Outputs come last, and of the others the most certain first. One number says all of it, with the
        // variable below: it is sorted faster than pairs are compared.
        order.extend((0..graph.variables()).map(|variable| {
            let is_output = self.is_output[graph.first_slot[variable] as usize];
            u128::from(is_output) << 96 | u128::from(!rank(certainty(variable))) << 32 | variable as u128
        }));
        order.sort_unstable();
        let outcome =
            order.iter().try_for_each(|&key| self.decide_variable(view, key as u32 as usize, beliefs));
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
        let slots = graph.slots_of(variable);
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
        self.tally.refill(*self.first_factor.last().expect("never empty"), Tally::default());
        for group in 0..view.layout.groups() {
            let Some(closed) = view.closed(group) else { continue };
            for (factor, (kind, links)) in closed.iter().enumerate() {
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
        view.links_of(slot).all(|(group, factor, position)| {
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

    /// Sets a slot and everything that follows from it.
    fn decide(&mut self, view: &View<'_>, slot: usize, on: bool) -> Result<(), Conflict> {
        self.assign(view, slot, on)?;
        while let Some(slot) = self.queue.pop() {
            for (group, factor, _) in view.links_of(slot as usize) {
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
        for (group, factor, position) in view.links_of(slot) {
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
        let state = |slots: &[i8], link: &Literal| match slots[link.slot()] {
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
        let links = &g.links()[g.range(factor)];
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
        if g.maximize_one(&mut view.warm[group], factor, &scores, &mut best) == f64::NEG_INFINITY {
            return Err(Conflict);
        }
        for (link, on) in links.iter().zip(best) {
            self.decide(view, link.slot(), (on > 0.5) != link.is_negated())?;
        }
        Ok(())
    }
}
