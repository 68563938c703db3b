//! Viterbi over the automaton of sparse grams: order 1 with thousands of labels, and every higher order.
//!
//! Exact, in time near to the number of states and arcs that matter:
//!
//! * An arc scores the same for every state that falls back on it, so only the best of those states needs to
//!   take it. States are taken from the best downwards; each claims the arcs still free along its failure
//!   links. A free arc that a state may not claim (because a longer context of that state has its own arc for
//!   the label) is paid for by that longer arc, so the total is the number of explicit arcs, not states times
//!   labels.
//! * A state is dropped when another with the same allowed successors beats it whatever follows: the grams
//!   already begun can add at most `most` to the one and at least `least` to the other. Strictly, so ties
//!   survive.

use crate::inference::chain::{Allowed, Chain};
use crate::inference::error::{InferenceError, Result};
use crate::inference::grams::Grams;
use crate::inference::kernels;
use crate::inference::trellis::Trellis;

/// Relative margin below which two sums of scores count as equal when states are dropped.
const SLACK: f64 = 1e-12;

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct GramSearch {
    /// Best value into each state of the column under construction. Single labels are states too and come
    /// first; of the longer states, those outside `touched` hold minus infinity.
    best: Vec<f64>,
    labels: usize,
    back: Vec<u32>,
    touched: Vec<u32>,
    /// Arcs not yet claimed, in the arc range of each context; `free_epoch` says which column they belong to.
    free: Vec<u32>,
    free_count: Vec<u32>,
    free_epoch: Vec<u64>,
    epoch: u64,
    /// Labels for which the current state has a longer arc than the context at hand.
    mark: Vec<u64>,
    stamp: u64,
    floor: Vec<f64>,
    column: Vec<(f64, u32, u32)>,
}

impl GramSearch {
    fn prepare(&mut self, grams: &Grams) {
        // Longer states are reset after each column; only the labels of the last model may be left.
        let stale = self.labels.min(self.best.len());
        self.best[..stale].fill(f64::NEG_INFINITY);
        self.labels = grams.labels();
        self.best.resize(grams.states(), f64::NEG_INFINITY);
        self.back.resize(grams.states(), 0);
        self.touched.clear();
        self.free.resize(grams.arc_count(), 0);
        self.free_count.resize(grams.states() + 1, 0);
        // Stamps are never reused, so stale entries of another model cannot match.
        self.free_epoch.resize(grams.states() + 1, 0);
        self.mark.resize(grams.labels(), 0);
        self.floor.resize(grams.classes(), f64::NEG_INFINITY);
    }

    /// Fills the trellis with the best value of every state (or, when `prune`, of every state that the best
    /// sequence may pass) and its predecessor.
    pub(crate) fn run(
        &mut self,
        chain: &Chain,
        grams: &Grams,
        prune: bool,
        trellis: &mut Trellis,
    ) -> Result<()> {
        self.prepare(grams);
        trellis.clear();
        for position in 0..chain.len() {
            let allowed = chain.allowed(position);
            if position == 0 {
                for label in allowed.iter().filter(|&label| chain.transitions.allows_start(label)) {
                    self.best[label as usize] = 0.0;
                }
            } else {
                let previous = trellis.column(position - 1);
                match allowed {
                    Allowed::Listed(list) if list.len() * previous.len() * 4 < grams.labels() => {
                        for &label in list {
                            self.best[label as usize] = f64::NEG_INFINITY;
                        }
                        for (rank, index) in previous.enumerate() {
                            for &label in list {
                                let arc = grams.resolve(trellis.state[index], label);
                                self.relax(grams, arc, trellis.value[index], rank as u32);
                            }
                        }
                    }
                    _ => self.step(grams, trellis, position),
                }
            }
            // In the last column the better state may be one that must not end the sentence.
            self.finish_column(chain, grams, position, prune && position + 1 < chain.len(), trellis)?;
        }
        Ok(())
    }

    /// Takes every state of the last closed column from the best downwards.
    fn step(&mut self, grams: &Grams, trellis: &Trellis, position: usize) {
        let previous = trellis.column(position - 1);
        self.epoch += 1;
        self.column.clear();
        for (rank, index) in previous.enumerate() {
            self.column.push((trellis.value[index], trellis.state[index], rank as u32));
        }
        self.column.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (value, state, source) = self.column[0];
        self.claim_defaults(grams, state, value, source);
        for rank in 0..self.column.len() {
            let (value, state, source) = self.column[rank];
            self.claim_arcs(grams, state, value, source);
        }
    }

    /// Lets the best state take the default arcs: those of all labels but the ones it has arcs of its own
    /// for, which stay free.
    fn claim_defaults(&mut self, grams: &Grams, state: u32, value: f64, source: u32) {
        let labels = grams.labels();
        self.best[..labels].fill(value);
        self.back[..labels].fill(source);
        for &label in grams.closed() {
            self.best[label as usize] = f64::NEG_INFINITY;
        }
        self.stamp += 1;
        let root = grams.root();
        let mut count = 0;
        let mut context = state;
        while context != root {
            for arc in grams.arcs_of(context) {
                let label = grams.arc_label(arc) as usize;
                if self.mark[label] != self.stamp {
                    self.mark[label] = self.stamp;
                    self.best[label] = f64::NEG_INFINITY;
                    self.free[1 + count] = 1 + label as u32;
                    count += 1;
                }
            }
            context = grams.failure(context);
        }
        self.free_count[root as usize] = count as u32;
        self.free_epoch[root as usize] = self.epoch;
    }

    /// Offers a state's value to the target of an arc.
    #[inline]
    fn relax(&mut self, grams: &Grams, arc: usize, value: f64, source: u32) {
        let target = grams.arc_target(arc) as usize;
        let value = value + grams.arc_score(arc);
        let best = &mut self.best[target];
        if value > *best {
            if *best == f64::NEG_INFINITY && target >= grams.labels() {
                self.touched.push(target as u32);
            }
            *best = value;
            self.back[target] = source;
        }
    }

    /// Lets a state take every arc along its failure links that no better state has taken.
    fn claim_arcs(&mut self, grams: &Grams, state: u32, value: f64, source: u32) {
        self.stamp += 1;
        let mut context = state;
        let mut unmarked = state;
        loop {
            let arcs = grams.arcs_of(context);
            let fresh = self.free_epoch[context as usize] != self.epoch;
            let count = if fresh { arcs.len() } else { self.free_count[context as usize] as usize };
            if count > 0 {
                if fresh && context == state {
                    for arc in arcs.clone() {
                        self.relax(grams, arc, value, source);
                    }
                    self.free_count[context as usize] = 0;
                } else {
                    let marking = self.mark_longer(grams, &mut unmarked, context, count);
                    let mut left = arcs.start;
                    for offset in arcs.start..arcs.start + count {
                        let arc = if fresh { offset } else { self.free[offset] as usize };
                        let label = grams.arc_label(arc);
                        let longer = if marking {
                            self.mark[label as usize] == self.stamp
                        } else {
                            has_longer(grams, state, context, label)
                        };
                        if longer {
                            self.free[left] = arc as u32;
                            left += 1;
                        } else {
                            self.relax(grams, arc, value, source);
                        }
                    }
                    self.free_count[context as usize] = (left - arcs.start) as u32;
                }
                self.free_epoch[context as usize] = self.epoch;
            }
            if context == grams.root() {
                return;
            }
            context = grams.failure(context);
        }
    }

    /// Marks the labels of all contexts longer than `context`, unless looking `count` labels up is cheaper.
    fn mark_longer(&mut self, grams: &Grams, unmarked: &mut u32, context: u32, count: usize) -> bool {
        let mut cost = 0;
        let mut longer = *unmarked;
        while longer != context {
            cost += grams.arcs_of(longer).len();
            longer = grams.failure(longer);
        }
        if cost > 8 * count {
            return false;
        }
        while *unmarked != context {
            for arc in grams.arcs_of(*unmarked) {
                self.mark[grams.arc_label(arc) as usize] = self.stamp;
            }
            *unmarked = grams.failure(*unmarked);
        }
        true
    }

    /// Adds the node scores, drops states that cannot win, and closes the column.
    fn finish_column(
        &mut self,
        chain: &Chain,
        grams: &Grams,
        position: usize,
        prune: bool,
        trellis: &mut Trellis,
    ) -> Result<()> {
        let (row, labels) = (chain.row(position), grams.labels());
        let allowed = chain.allowed(position);
        self.floor.fill(f64::NEG_INFINITY);
        if grams.classes() == 1 && matches!(allowed, Allowed::All(_)) {
            self.floor[0] =
                kernels::add_nodes(row, &grams.least_of_states()[..labels], &mut self.best[..labels]);
        } else {
            for label in allowed.iter() {
                self.settle(grams, label, row[label as usize]);
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        let restricted = matches!(allowed, Allowed::Listed(_));
        touched.retain(|&state| {
            let label = grams.last_label(state);
            let kept = !restricted || chain.is_candidate(position, label);
            if kept {
                self.settle(grams, state, row[label as usize]);
            } else {
                self.best[state as usize] = f64::NEG_INFINITY;
            }
            kept
        });
        for floor in &mut self.floor {
            // Sums made in another order may differ in the last digits.
            *floor = if prune { *floor - SLACK * floor.abs() } else { f64::NEG_INFINITY };
        }
        let before = trellis.state.len();
        let mut keep = |state: u32, value: f64, back: u32, floor: f64| {
            if value > f64::NEG_INFINITY && value + grams.most(state) >= floor {
                trellis.push(state, value);
                trellis.back.push(back);
            }
        };
        if grams.classes() == 1 && !restricted {
            let (floor, most) = (self.floor[0], grams.most_of_states());
            for (label, (&value, &most)) in self.best[..labels].iter().zip(most).enumerate() {
                if value + most >= floor {
                    keep(label as u32, value, self.back[label], floor);
                }
            }
        } else {
            for label in allowed.iter() {
                let floor = self.floor[grams.class(label)];
                keep(label, self.best[label as usize], self.back[label as usize], floor);
            }
        }
        for state in touched.drain(..) {
            let value = std::mem::replace(&mut self.best[state as usize], f64::NEG_INFINITY);
            keep(state, value, self.back[state as usize], self.floor[grams.class(state)]);
        }
        self.touched = touched;
        trellis.close_column();
        if trellis.state.len() == before {
            Err(InferenceError::NoAllowedSequence { position })
        } else {
            Ok(())
        }
    }

    /// Adds a node score and raises the floor of the state's class.
    fn settle(&mut self, grams: &Grams, state: u32, node: f32) {
        let value = &mut self.best[state as usize];
        *value += node as f64;
        let floor = &mut self.floor[grams.class(state)];
        *floor = floor.max(*value + grams.least(state));
    }
}

/// Whether a context of `state` longer than `context` has an arc of its own for `label`.
fn has_longer(grams: &Grams, state: u32, context: u32, label: u32) -> bool {
    let mut longer = state;
    while longer != context {
        if grams.explicit(longer, label).is_some() {
            return true;
        }
        longer = grams.failure(longer);
    }
    false
}
