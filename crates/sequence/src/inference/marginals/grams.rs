//! Forward-backward over the automaton of sparse grams in scaled probability space.
//!
//! With sub(c) the mass of all states that have the context c as a suffix, an arc `(c, y)` moves sub(c) to
//! its target and takes it back from the target of the next shorter context's arc for y, which had counted it
//! in. One pass over the arcs is a step, instead of states × labels. Backward, a state's sum is that of its
//! failure state, changed by its own arcs.
//!
//! Taking back can lose digits. The largest potential is 1 and all of a column's mass is 1, so rounding
//! errors are absolute; a label or state that ends up so small that they could show is summed again without
//! taking back.

use super::{Sums, Underflow, node_factors};
use crate::inference::chain::{Allowed, Chain};
use crate::inference::grams::Grams;
use crate::inference::potentials::Potentials;

/// Rounding error of a sum of which parts are taken back, relative to all that was added.
const ROUNDING: f64 = 1e-15;
/// Relative error that is tolerated in a label's forward value or a state's backward value.
const TOLERANCE: f64 = 1e-9;

/// Buffers of the step.
#[derive(Debug, Clone, Default)]
pub(crate) struct GramSums {
    /// Mass of all states with this suffix; the root's stands last.
    pub(crate) sub: Vec<f64>,
    into_label: Vec<f64>,
    into_state: Vec<f64>,
    /// Node factor of each label that is allowed at the position at hand, 0 for others.
    factor: Vec<f64>,
    /// Inflow of each state in the column at hand, 0 elsewhere.
    pub(crate) inflow: Vec<f64>,
    backward: Vec<f64>,
    backward_error: Vec<f64>,
    pub(crate) arcs: Vec<u32>,
    touched: Vec<u32>,
    /// Labels whose sums are too small to trust after taking back.
    doubted: Vec<u32>,
}

impl GramSums {
    pub(crate) fn prepare(&mut self, grams: &Grams) {
        let states = grams.states();
        for (buffer, length) in [
            (&mut self.sub, states + 1),
            (&mut self.into_label, grams.labels()),
            (&mut self.into_state, states),
            (&mut self.factor, grams.labels()),
            (&mut self.inflow, states),
            (&mut self.backward, states + 1),
            (&mut self.backward_error, states + 1),
        ] {
            buffer.clear();
            buffer.resize(length, 0.0);
        }
    }

    /// Fills `sub` from a column.
    pub(crate) fn fill_suffixes(&mut self, grams: &Grams, states: &[u32], alpha: &[f64]) {
        self.sub.fill(0.0);
        for (&state, &alpha) in states.iter().zip(alpha) {
            self.sub[state as usize] = alpha;
        }
        for state in (0..grams.root()).rev() {
            self.sub[grams.failure(state) as usize] += self.sub[state as usize];
        }
    }

    /// Moves the mass of a column along the arcs into `into_state`, without node factors.
    fn push(&mut self, grams: &Grams, potentials: &Potentials, states: &[u32], alpha: &[f64]) {
        self.fill_suffixes(grams, states, alpha);
        let (labels, root) = (grams.labels(), grams.root());
        let total = self.sub[root as usize];
        for (into, potential) in self.into_state.iter_mut().zip(&potentials.values[1..=labels]) {
            *into = total * potential;
        }
        for state in 0..root {
            let mass = self.sub[state as usize];
            let arcs = grams.arcs_of(state);
            let (targets, shorter) = grams.targets(arcs.clone());
            let given = potentials.values[arcs.clone()].iter().zip(&potentials.counterpart[arcs]);
            if grams.order() == 1 {
                for (&target, (own, default)) in targets.iter().zip(given) {
                    self.into_state[target as usize] += mass * (own - default);
                }
            } else {
                for ((&target, &shorter), (own, default)) in targets.iter().zip(shorter).zip(given) {
                    self.into_state[target as usize] += mass * own;
                    self.into_state[shorter as usize] -= mass * default;
                }
            }
        }
        self.into_label.fill(0.0);
        for state in 0..root as usize {
            let into = self.into_state[state].max(0.0);
            self.into_state[state] = into;
            self.into_label[grams.last_label(state as u32) as usize] += into;
        }
        let doubtful = total * ROUNDING * (grams.order() + 1) as f64 * potentials.spread / TOLERANCE;
        // A label that is no candidate needs no digits.
        self.doubted.clear();
        for (label, (&into, &factor)) in self.into_label.iter().zip(&self.factor).enumerate() {
            if factor > 0.0 && into <= doubtful {
                self.doubted.push(label as u32);
            }
        }
        if self.doubted.len() * 16 > labels {
            self.into_state.fill(0.0);
            for (&state, &alpha) in states.iter().zip(alpha) {
                grams.visit_arcs(state, Allowed::All(labels), &mut self.arcs, |arc| {
                    self.into_state[grams.arc_target(arc) as usize] += alpha * potentials.values[arc];
                });
            }
        } else {
            for index in 0..self.doubted.len() {
                self.push_label(grams, potentials, states, alpha, self.doubted[index]);
            }
        }
    }

    /// Sums the mass that a label takes again, by additions only.
    fn push_label(
        &mut self,
        grams: &Grams,
        potentials: &Potentials,
        states: &[u32],
        alpha: &[f64],
        label: u32,
    ) {
        for state in grams.states_of(label) {
            self.into_state[state as usize] = 0.0;
        }
        for (&state, &alpha) in states.iter().zip(alpha) {
            let arc = grams.resolve(state, label);
            self.into_state[grams.arc_target(arc) as usize] += alpha * potentials.values[arc];
        }
    }

    fn add(&mut self, state: u32, value: f64) {
        let into = &mut self.into_state[state as usize];
        if *into == 0.0 {
            self.touched.push(state);
        }
        *into += value;
    }

    /// Fills `backward` for all states from the inflow of the next column.
    fn pull(&mut self, grams: &Grams, potentials: &Potentials, states: &[u32]) {
        let root = grams.root() as usize;
        let defaults = potentials.values[1..=grams.labels()].iter().zip(&self.inflow);
        self.backward[root] = defaults.map(|(potential, inflow)| potential * inflow).sum();
        self.backward_error[root] = ROUNDING * self.backward[root];
        for state in 0..grams.states() {
            let failure = grams.failure(state as u32) as usize;
            let arcs = grams.arcs_of(state as u32);
            let (targets, shorter) = grams.targets(arcs.clone());
            let given = potentials.values[arcs.clone()].iter().zip(&potentials.counterpart[arcs]);
            let (mut more, mut less) = (0.0, 0.0);
            for ((&target, &shorter), (own, default)) in targets.iter().zip(shorter).zip(given) {
                more += own * self.inflow[target as usize];
                less += default * self.inflow[shorter as usize];
            }
            self.backward[state] = self.backward[failure] + (more - less);
            self.backward_error[state] = self.backward_error[failure] + ROUNDING * (more + less);
        }
        for &state in states {
            let index = state as usize;
            // Written so that an error or a sum that is not a number is made again, too.
            let sound = self.backward_error[index] <= TOLERANCE * self.backward[index];
            if !sound {
                grams.arc_of_each_label(state, &mut self.arcs);
                let gain = |&arc: &u32| {
                    let arc = arc as usize;
                    potentials.values[arc] * self.inflow[grams.arc_target(arc) as usize]
                };
                self.backward[index] = self.arcs.iter().map(gain).sum();
            }
        }
    }
}

/// Whether taking every state's arcs one by one is about as cheap as a pass over the automaton, or the only
/// way to keep the digits.
pub(crate) fn goes_directly(grams: &Grams, potentials: &Potentials, allowed: Allowed, states: usize) -> bool {
    let steps = allowed.len().saturating_mul(states);
    potentials.loses_digits()
        || match allowed {
            Allowed::All(_) => steps <= 16 * grams.arc_count(),
            Allowed::Listed(_) => steps <= grams.arc_count() / 4,
        }
}

impl Sums {
    pub(crate) fn run_grams(
        &mut self,
        chain: &Chain,
        grams: &Grams,
        potentials: &Potentials,
    ) -> Result<(), Underflow> {
        self.grams.prepare(grams);
        self.inflow.clear();
        let mut share = 1.0;
        for position in 0..chain.len() {
            let allowed = chain.allowed(position);
            let (most, factor) = node_factors(chain, position, &mut self.scratch);
            for (label, &factor) in allowed.iter().zip(&self.scratch) {
                self.grams.factor[label as usize] = factor;
            }
            if position == 0 {
                for label in allowed.iter().filter(|&label| chain.transitions.allows_start(label)) {
                    let factor = self.grams.factor[label as usize];
                    if factor > 0.0 {
                        self.grams.add(label, factor);
                    }
                }
            } else {
                if !Self::keeps_mass(potentials.advantage, share, potentials.smallest, factor) {
                    return Err(Underflow);
                }
                self.forward_step(grams, potentials, position, allowed);
            }
            let start = self.trellis.state.len();
            let last = position + 1 == chain.len();
            self.grams.touched.sort_unstable();
            for state in self.grams.touched.drain(..) {
                let label = grams.last_label(state);
                let value = std::mem::take(&mut self.grams.into_state[state as usize]);
                if !last || chain.transitions.allows_end(label) {
                    self.trellis.push(state, value);
                    self.inflow.push(self.grams.factor[label as usize]);
                }
            }
            for label in allowed.iter() {
                self.grams.factor[label as usize] = 0.0;
            }
            let shift = if position == 0 { 0.0 } else { potentials.shift };
            share = self.close_scaled(start, most + shift)?;
        }
        self.log_partition = self.costs.iter().sum();
        self.backward_grams(chain, grams, potentials);
        Ok(())
    }

    fn forward_step(&mut self, grams: &Grams, potentials: &Potentials, position: usize, allowed: Allowed) {
        let column = self.trellis.column(position - 1);
        let (states, alpha) = (&self.trellis.state[column.clone()], &self.trellis.value[column]);
        if goes_directly(grams, potentials, allowed, states.len()) {
            let mut arcs = std::mem::take(&mut self.grams.arcs);
            for (&state, &alpha) in states.iter().zip(alpha) {
                grams.visit_arcs(state, allowed, &mut arcs, |arc| {
                    let value =
                        alpha * potentials.values[arc] * self.grams.factor[grams.arc_label(arc) as usize];
                    if value > 0.0 {
                        self.grams.add(grams.arc_target(arc), value);
                    }
                });
            }
            self.grams.arcs = arcs;
        } else {
            self.grams.push(grams, potentials, states, alpha);
            for state in 0..grams.root() {
                let into = &mut self.grams.into_state[state as usize];
                *into *= self.grams.factor[grams.last_label(state) as usize];
                if *into > 0.0 {
                    self.grams.touched.push(state);
                }
            }
        }
    }

    /// `inflow` holds the node factors when this begins.
    fn backward_grams(&mut self, chain: &Chain, grams: &Grams, potentials: &Potentials) {
        self.beta.clear();
        self.beta.resize(self.trellis.state.len(), 1.0);
        for position in (1..chain.len()).rev() {
            let divisor = self.divisors[position];
            for index in self.trellis.column(position) {
                self.inflow[index] *= self.beta[index] / divisor;
                self.grams.inflow[self.trellis.state[index] as usize] = self.inflow[index];
            }
            let before = self.trellis.column(position - 1);
            let states = &self.trellis.state[before.clone()];
            let allowed = chain.allowed(position);
            if goes_directly(grams, potentials, allowed, states.len()) {
                for (beta, &state) in self.beta[before].iter_mut().zip(states) {
                    *beta = 0.0;
                    grams.visit_arcs(state, allowed, &mut self.grams.arcs, |arc| {
                        *beta += potentials.values[arc] * self.grams.inflow[grams.arc_target(arc) as usize];
                    });
                }
            } else {
                self.grams.pull(grams, potentials, states);
                for (beta, &state) in self.beta[before].iter_mut().zip(states) {
                    *beta = self.grams.backward[state as usize];
                }
            }
            for index in self.trellis.column(position) {
                self.grams.inflow[self.trellis.state[index] as usize] = 0.0;
            }
        }
    }
}
