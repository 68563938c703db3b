//! Forward-backward over the automaton of sparse grams in scaled probability space.
//!
//! With sub(c) the mass of all states that have the context c as a suffix, the mass that takes an arc `(c, y)` is
//! sub(c) less the sub(c′) of the longer contexts c′ that have their own arc for y. Those arcs are the ones whose
//! `shorter` arc is `(c, y)`. So one pass over states and one over arcs make a step, instead of states × labels; the
//! backward step adds to a state's sum what its own arcs change in that of its failure state.
//!
//! Subtraction can lose digits. Each difference carries a bound on its rounding error; where that could show in a
//! result, the sum is made again without subtraction.

use super::{Sums, Underflow, node_factors};
use crate::inference::chain::{Allowed, Chain};
use crate::inference::grams::Grams;
use crate::inference::potentials::Potentials;

/// Rounding error of a difference, relative to what it is taken from: some units in the last place.
const ROUNDING: f64 = 1e-14;
/// Relative error that is tolerated in a label's forward value or a state's backward value.
const TOLERANCE: f64 = 1e-10;

/// Buffers of the step.
#[derive(Debug, Clone, Default)]
pub(crate) struct GramSums {
    /// α of each state in the column at hand, 0 elsewhere.
    alpha: Vec<f64>,
    /// Mass of all states with this suffix; the root's stands last.
    sub: Vec<f64>,
    /// Mass that takes each arc.
    pub(crate) mass: Vec<f64>,
    /// Total into each label.
    into_label: Vec<f64>,
    into_state: Vec<f64>,
    /// Node factor of each label that is allowed at the position at hand, 0 for others.
    factor: Vec<f64>,
    /// Inflow of each state in the column at hand, 0 elsewhere.
    inflow: Vec<f64>,
    gain: Vec<f64>,
    backward: Vec<f64>,
    backward_error: Vec<f64>,
    arcs: Vec<u32>,
    touched: Vec<u32>,
}

impl GramSums {
    fn prepare(&mut self, grams: &Grams) {
        let states = grams.states();
        for (buffer, length) in [
            (&mut self.alpha, states),
            (&mut self.sub, states + 1),
            (&mut self.mass, grams.arc_count()),
            (&mut self.into_label, grams.labels()),
            (&mut self.into_state, states),
            (&mut self.factor, grams.labels()),
            (&mut self.inflow, states),
            (&mut self.gain, grams.arc_count()),
            (&mut self.backward, states + 1),
            (&mut self.backward_error, states + 1),
        ] {
            buffer.clear();
            buffer.resize(length, 0.0);
        }
    }

    /// Fills `mass` with what takes each arc out of a column.
    pub(crate) fn fill_masses(
        &mut self,
        grams: &Grams,
        potentials: &Potentials,
        states: &[u32],
        alpha: &[f64],
    ) {
        let (labels, root) = (grams.labels(), grams.root());
        for (&state, &alpha) in states.iter().zip(alpha) {
            self.alpha[state as usize] = alpha;
        }
        self.sub[..root as usize].copy_from_slice(&self.alpha);
        self.sub[root as usize] = 0.0;
        for state in (0..root).rev() {
            self.sub[grams.failure(state) as usize] += self.sub[state as usize];
        }
        for arc in 1..grams.arc_count() {
            self.mass[arc] = self.sub[grams.arc_parent(arc) as usize];
        }
        for arc in labels + 1..grams.arc_count() {
            self.mass[grams.arc_shorter(arc)] -= self.sub[grams.arc_parent(arc) as usize];
        }
        self.into_label.fill(0.0);
        for arc in 1..grams.arc_count() {
            let mass = self.mass[arc].max(0.0);
            self.mass[arc] = mass;
            self.into_label[grams.arc_label(arc) as usize] += mass * potentials.values[arc];
        }
        // Histories with the same last label differ in their future by the grams already begun, at most `spread`.
        let spread = if grams.order() == 1 { 1.0 } else { grams.spread().exp() };
        for arc in 1..grams.arc_count() {
            if !grams.is_fallback(arc) || grams.is_blocked(arc) {
                continue;
            }
            let (context, label) = (grams.arc_parent(arc), grams.arc_label(arc));
            let error = ROUNDING * self.sub[context as usize];
            let doubtful =
                error * potentials.values[arc] * spread > TOLERANCE * self.into_label[label as usize];
            if error > TOLERANCE * self.mass[arc] && (doubtful || spread.is_nan()) {
                self.mass[arc] = self.exact_mass(grams, context, label);
            }
        }
        for &state in states {
            self.alpha[state as usize] = 0.0;
        }
    }

    /// Mass of the states with suffix `context` that take its arc for `label`, by additions only.
    fn exact_mass(&self, grams: &Grams, context: u32, label: u32) -> f64 {
        let own = if context == grams.root() { 0.0 } else { self.alpha[context as usize] };
        let longer = grams
            .fallers(context)
            .iter()
            .filter(|&&state| self.sub[state as usize] > 0.0 && grams.explicit(state, label).is_none());
        own + longer.map(|&state| self.exact_mass(grams, state, label)).sum::<f64>()
    }

    /// Adds what each arc brings to its target, node factors included.
    fn add_to_targets(&mut self, grams: &Grams, potentials: &Potentials) {
        for arc in 1..grams.arc_count() {
            let value = self.mass[arc] * potentials.values[arc] * self.factor[grams.arc_label(arc) as usize];
            if value > 0.0 {
                self.add(grams.arc_target(arc), value);
            }
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
    fn fill_backward(&mut self, grams: &Grams, potentials: &Potentials, states: &[u32]) {
        let root = grams.root() as usize;
        for arc in 1..grams.arc_count() {
            self.gain[arc] = potentials.values[arc] * self.inflow[grams.arc_target(arc) as usize];
        }
        self.backward[root] = self.gain[1..=grams.labels()].iter().sum();
        self.backward_error[root] = ROUNDING * self.backward[root];
        for state in 0..grams.states() {
            let failure = grams.failure(state as u32) as usize;
            let (mut more, mut less) = (0.0, 0.0);
            for arc in grams.arcs_of(state as u32) {
                more += self.gain[arc];
                less += self.gain[grams.arc_shorter(arc)];
            }
            self.backward[state] = self.backward[failure] + (more - less);
            self.backward_error[state] = self.backward_error[failure] + ROUNDING * (more + less);
        }
        for &state in states {
            let index = state as usize;
            if self.backward_error[index] > TOLERANCE * self.backward[index] {
                grams.arc_of_each_label(state, &mut self.arcs);
                self.backward[index] = self.arcs.iter().map(|&arc| self.gain[arc as usize]).sum();
            }
        }
    }
}

/// Whether looking up every pair of a state and a candidate is cheaper than a pass over the automaton.
pub(crate) fn looks_up(grams: &Grams, allowed: Allowed, states: usize) -> bool {
    matches!(allowed, Allowed::Listed(list) if list.len() * states * 4 < grams.arc_count())
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
        if looks_up(grams, allowed, states.len()) {
            for (&state, &alpha) in states.iter().zip(alpha) {
                for label in allowed.iter() {
                    let arc = grams.resolve(state, label);
                    let value = alpha * potentials.values[arc] * self.grams.factor[label as usize];
                    if value > 0.0 {
                        self.grams.add(grams.arc_target(arc), value);
                    }
                }
            }
        } else {
            self.grams.fill_masses(grams, potentials, states, alpha);
            self.grams.add_to_targets(grams, potentials);
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
            if looks_up(grams, allowed, states.len()) {
                for (beta, &state) in self.beta[before].iter_mut().zip(states) {
                    let arcs = allowed.iter().map(|label| grams.resolve(state, label));
                    *beta = arcs
                        .map(|arc| potentials.values[arc] * self.grams.inflow[grams.arc_target(arc) as usize])
                        .sum();
                }
            } else {
                self.grams.fill_backward(grams, potentials, states);
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
