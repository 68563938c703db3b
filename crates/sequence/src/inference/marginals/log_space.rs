//! Forward-backward on logarithms, for scores that probability space cannot hold: any order, any constraint.

use super::Sums;
use crate::inference::chain::Chain;
use crate::inference::error::{InferenceError, Result};
use crate::inference::kernels::log_sum_exp;

impl Sums {
    /// Fills the trellis, β and inflow with logarithms.
    pub(crate) fn run_log_space(&mut self, chain: &Chain) -> Result<()> {
        self.trellis.open(chain)?;
        let states = chain.transitions.states();
        let mut most = vec![f64::NEG_INFINITY; states];
        let mut sum = vec![0.0; states];
        let mut touched: Vec<u32> = Vec::new();
        for position in 1..chain.len() {
            let previous = self.trellis.column(position - 1);
            let steps = || {
                let trellis = &self.trellis;
                previous.clone().flat_map(move |index| {
                    let (state, value) = (trellis.state[index], trellis.value[index]);
                    chain.allowed(position).iter().map(move |label| {
                        let (target, score) = chain.arc(position, state, label);
                        (target, value + (score + chain.node(position, label)))
                    })
                })
            };
            for (target, value) in steps() {
                let best = &mut most[target as usize];
                if value > *best {
                    if *best == f64::NEG_INFINITY {
                        touched.push(target);
                    }
                    *best = value;
                }
            }
            for (target, value) in steps() {
                if value > f64::NEG_INFINITY {
                    sum[target as usize] += (value - most[target as usize]).exp();
                }
            }
            if touched.is_empty() {
                return Err(InferenceError::NoAllowedSequence { position });
            }
            touched.sort_unstable();
            for state in touched.drain(..) {
                let index = state as usize;
                self.trellis.push(state, most[index] + sum[index].ln());
                (most[index], sum[index]) = (f64::NEG_INFINITY, 0.0);
            }
            self.trellis.close_column();
        }
        self.trellis.best_end(chain)?;
        self.backward_log_space(chain);
        Ok(())
    }

    fn backward_log_space(&mut self, chain: &Chain) {
        let last = chain.len() - 1;
        let entries = self.trellis.state.len();
        self.costs.clear();
        self.costs.resize(chain.len(), 0.0);
        self.beta.clear();
        self.beta.resize(entries, f64::NEG_INFINITY);
        self.inflow.clear();
        self.inflow.resize(entries, f64::NEG_INFINITY);
        let may_end = |index: usize| chain.transitions.allows_end(chain.label_of(self.trellis.state[index]));
        let column = self.trellis.column(last);
        self.log_partition = log_sum_exp(
            column.clone().filter(|&index| may_end(index)).map(|index| self.trellis.value[index]),
        );
        for index in column {
            if may_end(index) {
                self.beta[index] = -self.log_partition;
            }
        }
        let mut inflow = vec![f64::NEG_INFINITY; chain.transitions.states()];
        for position in (1..=last).rev() {
            for index in self.trellis.column(position) {
                let state = self.trellis.state[index];
                self.inflow[index] = self.beta[index] + chain.node(position, chain.label_of(state));
                inflow[state as usize] = self.inflow[index];
            }
            for index in self.trellis.column(position - 1) {
                let state = self.trellis.state[index];
                self.beta[index] = log_sum_exp(chain.allowed(position).iter().map(|label| {
                    let (target, score) = chain.arc(position, state, label);
                    score + inflow[target as usize]
                }));
            }
            for index in self.trellis.column(position) {
                inflow[self.trellis.state[index] as usize] = f64::NEG_INFINITY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::{Potentials, Transitions, Workspace};

    /// The logarithms share no shortcut with the other passes, which hold these scores too.
    #[test]
    fn sums_of_logarithms_are_those_of_probabilities() {
        let grams: Vec<Vec<u32>> = (0..60u32)
            .map(|at| (0..2 + at % 2).map(|place| (at * 7 + place * 5 + at / 4) % 9).collect())
            .collect();
        let unique: std::collections::BTreeSet<_> = grams.into_iter().collect();
        let grams: Vec<Vec<u32>> = unique.into_iter().collect();
        let mut transitions = Transitions::grams(9, 2, &grams, None).unwrap();
        let scores: Vec<f32> = (0..grams.len()).map(|at| (at * 37 % 19) as f32 / 5.0 - 2.0).collect();
        transitions.load(&scores).unwrap();
        let nodes: Vec<f32> = (0..25 * 9).map(|at| (at * 53 % 31) as f32 / 9.0 - 1.5).collect();
        let chain = Chain::new(&nodes, &transitions).unwrap();
        let mut sums = Sums::default();
        sums.run_log_space(&chain).unwrap();
        let (mut workspace, potentials) = (Workspace::new(), Potentials::new(&transitions));
        let posterior = workspace.forward_backward(&chain, &potentials).unwrap();
        assert!(!posterior.in_log_space());
        assert!((sums.log_partition - posterior.log_partition()).abs() < 1e-9);
    }
}
