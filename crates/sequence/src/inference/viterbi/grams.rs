//! Viterbi over the automaton of sparse grams: order 1 with thousands of labels, and every higher order.
//!
//! Exact, in time near to the number of states and arcs that matter:
//!
//! * An arc scores the same for every state that falls back on it, so only the best of those states needs to take it.
//!   States are taken from the best downwards; each claims the arcs still free along its failure links. A free arc
//!   that a state may not claim (because a longer context of that state has its own arc for the label) is paid for by
//!   that longer arc, so the total is the number of explicit arcs, not states times labels.
//! * A state is dropped when another with the same allowed successors beats it whatever follows: the grams already
//!   begun can add at most `most` to the one and at least `least` to the other. Strictly, so ties survive.

use crate::inference::chain::{Allowed, Chain};
use crate::inference::error::{InferenceError, Result};
use crate::inference::grams::Grams;
use crate::inference::trellis::Trellis;

/// Relative margin below which two sums of scores count as equal when states are dropped.
const SLACK: f64 = 1e-12;

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct GramSearch {
    /// Best value into each state of the column under construction; minus infinity outside `touched`.
    best: Vec<f64>,
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
    /// Labels that are candidates at the current position.
    wanted: Vec<u64>,
    floor: Vec<f64>,
    column: Vec<(f64, u32, u32)>,
}

impl GramSearch {
    fn prepare(&mut self, grams: &Grams) {
        self.best.clear();
        self.best.resize(grams.states(), f64::NEG_INFINITY);
        self.back.resize(grams.states(), 0);
        self.touched.clear();
        self.free.resize(grams.arc_count(), 0);
        self.free_count.resize(grams.states() + 1, 0);
        // Stamps are never reused, so stale entries of another model cannot match.
        self.free_epoch.resize(grams.states() + 1, 0);
        self.mark.resize(grams.labels(), 0);
        self.wanted.resize(grams.labels(), 0);
        self.floor.resize(grams.classes(), f64::NEG_INFINITY);
    }

    /// Fills the trellis with the best value of every state (or, when `prune`, of every state that the best sequence
    /// may pass) and its predecessor.
    pub(crate) fn run(
        &mut self,
        chain: &Chain,
        grams: &Grams,
        prune: bool,
        trellis: &mut Trellis,
    ) -> Result<()> {
        self.prepare(grams);
        trellis.open(chain)?;
        for position in 1..chain.len() {
            let previous = trellis.column(position - 1);
            self.epoch += 1;
            let allowed = chain.allowed(position);
            match allowed {
                Allowed::Listed(list)
                    if list.len() * previous.len() * 4 < grams.labels() + previous.len() =>
                {
                    for (rank, index) in previous.enumerate() {
                        for &label in list {
                            let arc = grams.resolve(trellis.state[index], label);
                            self.relax(grams, arc, trellis.value[index], rank as u32);
                        }
                    }
                }
                _ => {
                    for label in allowed.iter() {
                        self.wanted[label as usize] = self.epoch;
                    }
                    self.column.clear();
                    self.column.extend(
                        previous
                            .clone()
                            .map(|i| (trellis.value[i], trellis.state[i], (i - previous.start) as u32)),
                    );
                    self.column.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    for rank in 0..self.column.len() {
                        let (value, state, index) = self.column[rank];
                        self.claim_arcs(grams, state, value, index);
                    }
                }
            }
            // In the last column the better state may be one that must not end the sentence.
            self.finish_column(chain, grams, position, prune && position + 1 < chain.len(), trellis)?;
        }
        Ok(())
    }

    /// Offers a state's value to the target of an arc.
    #[inline]
    fn relax(&mut self, grams: &Grams, arc: usize, value: f64, source: u32) {
        let target = grams.arc_target(arc) as usize;
        let value = value + grams.arc_score(arc);
        let best = &mut self.best[target];
        if value > *best {
            if *best == f64::NEG_INFINITY {
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
                    } else if self.wanted[label as usize] == self.epoch {
                        self.relax(grams, arc, value, source);
                    }
                }
                self.free_count[context as usize] = (left - arcs.start) as u32;
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
        self.floor.fill(f64::NEG_INFINITY);
        let row = chain.row(position);
        for &state in &self.touched {
            let value = &mut self.best[state as usize];
            *value += row[grams.last_label(state) as usize] as f64;
            if prune {
                let floor = &mut self.floor[grams.class(state)];
                *floor = floor.max(*value + grams.least(state));
            }
        }
        for floor in &mut self.floor {
            *floor -= SLACK * floor.abs(); // sums in another order may differ in the last digits
        }
        let before = trellis.state.len();
        for &state in &self.touched {
            let value = std::mem::replace(&mut self.best[state as usize], f64::NEG_INFINITY);
            if value > f64::NEG_INFINITY
                && (!prune || value + grams.most(state) >= self.floor[grams.class(state)])
            {
                trellis.push(state, value);
                trellis.back.push(self.back[state as usize]);
            }
        }
        self.touched.clear();
        trellis.close_column();
        if trellis.state.len() == before {
            Err(InferenceError::NoAllowedSequence { position })
        } else {
            Ok(())
        }
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
