//! Forward-backward for dense transitions in scaled probability space.

use super::{Sums, Underflow, node_factors};
use crate::inference::chain::{Allowed, Chain};
use crate::inference::kernels::{self, SUM_LANES, padded};
use crate::inference::potentials::Potentials;
use crate::inference::transitions::Dense;

/// Potentials of one step: the shared ones, or those of this position's edge scores.
pub(crate) struct Step<'a> {
    /// Rows by previous label; `None` when every potential is 1 (order 0).
    rows: Option<&'a [f64]>,
    transposed: Option<&'a [f64]>,
    stride: usize,
    shift: f64,
    smallest: f64,
    advantage: f64,
}

/// Room for the potentials of a step whose scores depend on the position.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepMatrix {
    values: Vec<f64>,
    scores: Vec<f64>,
}

impl StepMatrix {
    /// The potentials of the step that enters `position`.
    pub(crate) fn step<'a>(
        &'a mut self,
        chain: &Chain,
        dense: &Dense,
        potentials: &'a Potentials,
        position: usize,
    ) -> Step<'a> {
        let stride = padded(chain.labels(), SUM_LANES);
        if chain.edges.is_none() {
            let ordered = dense.row_step > 0;
            return Step {
                rows: ordered.then_some(&potentials.values[..]),
                transposed: ordered.then_some(&potentials.counterpart[..]),
                stride,
                shift: potentials.shift,
                smallest: potentials.smallest,
                advantage: potentials.advantage,
            };
        }
        let labels = chain.labels();
        self.scores.resize(labels * labels, 0.0);
        self.values.clear();
        self.values.resize(labels * stride, 0.0);
        let mut most = f64::NEG_INFINITY;
        for (previous, out) in self.scores.chunks_exact_mut(labels).enumerate() {
            let edges = chain.edge_row(position, previous).unwrap_or(&[]);
            for ((out, &score), &edge) in out.iter_mut().zip(dense.row(previous)).zip(edges) {
                *out = score as f64 + edge as f64;
                most = if *out > most { *out } else { most };
            }
        }
        let shift = if most > f64::NEG_INFINITY { most } else { 0.0 };
        let (mut smallest, mut least) = (f64::INFINITY, f64::INFINITY);
        for (scores, out) in self.scores.chunks_exact(labels).zip(self.values.chunks_exact_mut(stride)) {
            smallest = smallest.min(kernels::exp_row_f64(scores, shift, &mut out[..labels]));
            least = scores.iter().fold(least, |a, &b| if b < a { b } else { a });
        }
        let advantage = if least == f64::NEG_INFINITY { f64::INFINITY } else { 1.0 / smallest };
        Step { rows: Some(&self.values), transposed: None, stride, shift, smallest, advantage }
    }
}

impl Step<'_> {
    /// Potential of one pair.
    pub(crate) fn potential(&self, previous: u32, label: u32) -> f64 {
        self.rows.map_or(1.0, |rows| rows[previous as usize * self.stride + label as usize])
    }

    /// `out[k] = Σ_i alpha[i] · potential(from[i], to[k])`.
    fn push(&self, from: Allowed, alpha: &[f64], to: Allowed, out: &mut [f64]) {
        let Some(rows) = self.rows else {
            out.fill(alpha.iter().sum());
            return;
        };
        match (from, to) {
            (Allowed::All(_), Allowed::All(_)) => kernels::weighted_sum(alpha, rows, self.stride, out),
            _ => {
                out.fill(0.0);
                for (previous, &weight) in from.iter().zip(alpha) {
                    let row = &rows[previous as usize * self.stride..][..self.stride];
                    for (out, label) in out.iter_mut().zip(to.iter()) {
                        *out += weight * row[label as usize];
                    }
                }
            }
        }
    }

    /// `out[i] = Σ_k potential(from[i], to[k]) · inflow[k]`.
    fn pull(&self, from: Allowed, to: Allowed, inflow: &[f64], out: &mut [f64]) {
        let Some(rows) = self.rows else {
            out.fill(inflow.iter().sum());
            return;
        };
        match (from, to, self.transposed) {
            (Allowed::All(_), Allowed::All(_), Some(transposed)) => {
                kernels::weighted_sum(inflow, transposed, self.stride, out);
            }
            _ => {
                for (out, previous) in out.iter_mut().zip(from.iter()) {
                    let row = &rows[previous as usize * self.stride..][..self.stride];
                    *out = to.iter().zip(inflow).map(|(label, &inflow)| row[label as usize] * inflow).sum();
                }
            }
        }
    }
}

impl Sums {
    /// Both passes; every allowed label has an entry in the trellis, reachable or not, so that columns are
    /// plain rows.
    pub(crate) fn run_dense(
        &mut self,
        chain: &Chain,
        dense: &Dense,
        potentials: &Potentials,
    ) -> Result<(), Underflow> {
        let last = chain.len() - 1;
        self.inflow.clear();
        let mut share = 1.0;
        for position in 0..=last {
            let allowed = chain.allowed(position);
            let start = self.trellis.state.len();
            self.trellis.state.extend(allowed.iter());
            self.trellis.value.resize(start + allowed.len(), 0.0);
            let (most, factor) = node_factors(chain, position, &mut self.scratch);
            self.inflow.extend_from_slice(&self.scratch);
            let previous = if position == 0 { 0..0 } else { self.trellis.column(position - 1) };
            let (before, row) = self.trellis.value.split_at_mut(start);
            let mut shift = 0.0;
            if position == 0 {
                for (alpha, label) in row.iter_mut().zip(allowed.iter()) {
                    *alpha = if chain.transitions.allows_start(label) { 1.0 } else { 0.0 };
                }
            } else {
                let step = self.matrix.step(chain, dense, potentials, position);
                if !Self::keeps_mass(step.advantage, share, step.smallest, factor) {
                    return Err(Underflow);
                }
                shift = step.shift;
                step.push(chain.allowed(position - 1), &before[previous], allowed, row);
            }
            for (alpha, factor) in row.iter_mut().zip(&self.scratch) {
                *alpha *= factor;
            }
            if position == last {
                for (alpha, label) in row.iter_mut().zip(allowed.iter()) {
                    *alpha = if chain.transitions.allows_end(label) { *alpha } else { 0.0 };
                }
            }
            share = self.close_scaled(start, most + shift)?;
        }
        self.log_partition = self.costs.iter().sum();
        self.backward_dense(chain, dense, potentials);
        Ok(())
    }

    /// `inflow` holds the node factors when this begins.
    fn backward_dense(&mut self, chain: &Chain, dense: &Dense, potentials: &Potentials) {
        let last = chain.len() - 1;
        self.beta.clear();
        self.beta.resize(self.trellis.state.len(), 1.0);
        for position in (1..=last).rev() {
            let column = self.trellis.column(position);
            let before = self.trellis.column(position - 1);
            let step = self.matrix.step(chain, dense, potentials, position);
            let (alpha, beta) = (&self.trellis.value[column.clone()], &mut self.beta[column.clone()]);
            self.scratch.clear();
            self.scratch.resize(before.len(), 0.0);
            let inflow = &mut self.inflow[column.clone()];
            let divisor = self.divisors[position];
            for ((inflow, &alpha), beta) in inflow.iter_mut().zip(alpha).zip(beta) {
                // An unreachable label has no part in the future, which might otherwise overflow.
                *beta = if alpha > 0.0 { *beta } else { 0.0 };
                *inflow *= *beta / divisor;
            }
            step.pull(chain.allowed(position - 1), chain.allowed(position), inflow, &mut self.scratch);
            self.beta[before].copy_from_slice(&self.scratch);
        }
    }
}
