//! Sums over all sequences: partition function, marginals, expected counts, samples.
//!
//! Sums run in scaled probability space, where a step is a multiplication and an addition, as long as it is
//! certain that nothing of weight is lost to underflow (see [`Sums::keeps_mass`]); otherwise the sentence is
//! done again in log space, slower and without any such limit.

pub(crate) mod dense;
pub(crate) mod grams;
pub(crate) mod log_space;
mod posterior;

pub use posterior::{Generator, Posterior, Span};

use super::chain::{Allowed, Chain};
use super::error::Result;
use super::kernels;
use super::potentials::Potentials;
use super::transitions::Kind;
use super::trellis::Trellis;

/// Positive forward values below this end the linear pass.
const SMALLEST_FORWARD: f64 = 1e-280;
/// A column that keeps less than this of its predecessor's mass ends the linear pass.
const SMALLEST_COLUMN: f64 = 1e-200;
/// Transitions that cannot favour one history over another by more than this factor cannot revive a lost one.
const HARMLESS_ADVANTAGE: f64 = 1e60;

/// Why a linear pass stopped.
pub(crate) struct Underflow;

/// Buffers and results of forward-backward.
///
/// For every entry of the trellis: `value` is α, `beta` is β with α·β the state's marginal, and `inflow` is
/// such that α(from) · potential · inflow(to) is the marginal of a step. In log space all three are
/// logarithms.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    pub(crate) trellis: Trellis,
    pub(crate) beta: Vec<f64>,
    pub(crate) inflow: Vec<f64>,
    /// ln of what each column was divided by; they add up to ln Z.
    pub(crate) costs: Vec<f64>,
    /// The sum by which each column was divided, after its shift.
    divisors: Vec<f64>,
    pub(crate) log_space: bool,
    pub(crate) log_partition: f64,
    pub(crate) nodes: Vec<f64>,
    pub(crate) grams: grams::GramSums,
    pub(crate) matrix: dense::StepMatrix,
    scratch: Vec<f64>,
}

impl Sums {
    pub(crate) fn run(&mut self, chain: &Chain, potentials: &Potentials) -> Result<()> {
        self.nodes.clear();
        self.nodes.resize(chain.len() * chain.labels(), 0.0);
        self.log_partition = 0.0;
        self.log_space = false;
        self.costs.clear();
        self.divisors.clear();
        self.beta.clear();
        self.inflow.clear();
        self.trellis.clear();
        if chain.is_empty() {
            return Ok(());
        }
        let linear = match &chain.transitions.kind {
            Kind::Dense(dense) => self.run_dense(chain, dense, potentials),
            Kind::Grams(grams) => self.run_grams(chain, grams, potentials),
        };
        if linear.is_err() {
            self.log_space = true;
            self.run_log_space(chain)?;
        }
        self.collect_nodes(chain);
        Ok(())
    }

    /// Sums the states of each label, so that a position's marginals add up to 1 to the last digits.
    fn collect_nodes(&mut self, chain: &Chain) {
        let labels = chain.labels();
        // With an entry for every label, the trellis has the shape of the answer.
        let plain =
            !self.log_space && self.trellis.state.len() == self.nodes.len() && !chain.transitions.has_grams();
        for (position, row) in self.nodes.chunks_exact_mut(labels).enumerate() {
            if plain {
                let column = position * labels..(position + 1) * labels;
                for ((out, alpha), beta) in
                    row.iter_mut().zip(&self.trellis.value[column.clone()]).zip(&self.beta[column])
                {
                    *out = alpha * beta;
                }
                kernels::scale_row(1.0 / kernels::sum(row), row);
                continue;
            }
            for index in self.trellis.column(position) {
                let (alpha, beta) = (self.trellis.value[index], self.beta[index]);
                let marginal = if self.log_space { (alpha + beta).exp() } else { alpha * beta };
                row[chain.label_of(self.trellis.state[index]) as usize] += marginal;
            }
            kernels::scale_row(1.0 / kernels::sum(row), row);
        }
    }

    /// Whether a step surely keeps all that can matter.
    ///
    /// Either no transition can favour a history by more than a modest factor over another, so that a state
    /// whose share fell below the smallest number can never come back; or the smallest shares, potentials and
    /// node factors multiply to a number that is still exact.
    pub(crate) fn keeps_mass(advantage: f64, share: f64, potential: f64, node: f64) -> bool {
        advantage <= HARMLESS_ADVANTAGE || share * potential * node >= SMALLEST_FORWARD
    }

    /// Normalizes the column just pushed at `start`; returns its smallest positive share.
    fn close_scaled(&mut self, start: usize, log_factor: f64) -> std::result::Result<f64, Underflow> {
        let total = kernels::sum(&self.trellis.value[start..]);
        if total.is_nan() || total < SMALLEST_COLUMN {
            return Err(Underflow);
        }
        let smallest = kernels::scale_row(1.0 / total, &mut self.trellis.value[start..]);
        self.trellis.close_column();
        self.divisors.push(total);
        self.costs.push(log_factor + total.ln());
        Ok(smallest)
    }
}

/// exp(node scores − their maximum) of one position for its allowed labels, in order; with the maximum and
/// the smallest positive factor.
fn node_factors(chain: &Chain, position: usize, factors: &mut Vec<f64>) -> (f64, f64) {
    let row = chain.row(position);
    let (mut smallest, mut most) = (f64::INFINITY, f32::NEG_INFINITY);
    factors.clear();
    match chain.allowed(position) {
        Allowed::All(labels) => {
            for &score in row {
                most = if score > most { score } else { most };
            }
            factors.resize(labels, 0.0);
            if most > f32::NEG_INFINITY {
                smallest = kernels::exp_row(row, most as f64, factors);
            }
        }
        Allowed::Listed(list) => {
            for &label in list {
                most = most.max(row[label as usize]);
            }
            for &label in list {
                let score = row[label as usize];
                let factor =
                    if score > f32::NEG_INFINITY { kernels::exp(score as f64 - most as f64) } else { 0.0 };
                if score > f32::NEG_INFINITY {
                    smallest = smallest.min(factor);
                }
                factors.push(factor);
            }
        }
    }
    (most as f64, smallest)
}
