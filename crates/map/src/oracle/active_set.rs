//! The quadratic step of a factor known by its oracle.
//!
//! AD3 asks each factor for the point u of its polytope that maximizes  t·u + score(u) − η/2 ‖u‖², where t =
//! η·point. Write u = Σ_s v_s M_s with configurations s, their marginals M_s, and v on the simplex. Few v_s
//! are positive (at most one more than there are links), and the set of those changes little between
//! iterations. So (Martins et al. 2015, section 6):
//!
//! 1. solve the equality-constrained problem over the current set S: K v = b − τ with K_{rs} = M_r·M_s, b_s =
//!    score_s(t)/η;
//! 2. if some v_s would be negative, go only as far as the first to reach zero and drop it; go to 1;
//! 3. otherwise ask the oracle for the best configuration under t − η u: none better than those in S: done;
//!    else add it.
//!
//! In place of an explicit inverse of the KKT matrix we keep the Cholesky factor of K + 1 (all ones added,
//! which leaves the solution with Σ v = 1 as it is, and makes the matrix positive definite exactly when the
//! M_s are affinely independent). A configuration that depends affinely on the set would make it singular:
//! then it enters by exchange, as in the simplex method. The factor is rebuilt after a number of downdates.

use super::Oracle;
use crate::flat::Refill;
use crate::group::OracleScratch;

/// Additions and removals in one call, mostly, before the current point is accepted as it is. AD3 tolerates
/// inexact steps, and the next iteration goes on from here.
pub(crate) const MAX_CHANGES: usize = 40;

/// Downdates after which the Cholesky factor is computed afresh.
const REBUILD_AFTER: u32 = 50;

/// A pivot below this share of the diagonal means affine dependence (K holds small integers).
const SINGULAR: f64 = 1e-8;

/// The configurations that make up a factor's current point, with their weights.
#[derive(Clone)]
pub(crate) struct ActiveSet<C> {
    configurations: Vec<C>,
    /// Non-negative, summing to one.
    weights: Vec<f64>,
    /// Lower Cholesky factor of K + 1 by rows, with the reciprocal on the diagonal.
    cholesky: Vec<f64>,
    /// (K + 1)⁻¹ 1.
    ones: Vec<f64>,
    downdates: u32,
    /// Configurations that left the set; others are written over them.
    spare: Vec<C>,
}

impl<C> Default for ActiveSet<C> {
    fn default() -> Self {
        let (configurations, weights, cholesky, ones, spare) = Default::default();
        ActiveSet { configurations, weights, cholesky, ones, downdates: 0, spare }
    }
}

fn row(i: usize) -> usize {
    i * (i + 1) / 2
}

impl<C: Clone + PartialEq + Default> ActiveSet<C> {
    /// Forgets all configurations.
    pub(crate) fn clear(&mut self) {
        self.spare.append(&mut self.configurations);
        self.downdates = 0;
    }

    /// Takes a copy of a configuration into the set.
    fn push(&mut self, configuration: &C) {
        let mut own = self.spare.pop().unwrap_or_default();
        own.clone_from(configuration);
        self.configurations.push(own);
    }

    /// Writes the projection of `point` to `copy`; `false` if another call, which goes on from there, would come closer.
    pub(crate) fn project<O: Oracle<Configuration = C>>(
        &mut self,
        oracle: &O,
        point: &[f64],
        copy: &mut [f64],
        eta: f64,
        changes: usize,
        scratch: &mut OracleScratch<O>,
    ) -> bool {
        let OracleScratch { workspace, configuration, scores, values, reduced } = scratch;
        scores.clear();
        scores.extend(point.iter().map(|x| x * eta));
        if self.configurations.is_empty() && !self.restart(oracle, scores, workspace, configuration) {
            // The factor allows nothing; the bound will say so.
            copy.fill(0.0);
            return true;
        }
        let (mut done, mut is_read) = (false, false);
        for change in 0..changes {
            let Some(level) = self.solve(oracle, scores, 1.0 / eta, values) else {
                // The factor has degraded beyond repair: begin again from one configuration.
                if change > changes / 2 || !self.restart(oracle, scores, workspace, configuration) {
                    done = true;
                    break;
                }
                continue;
            };
            if self.step(oracle, values) {
                continue;
            }
            copy.fill(0.0);
            self.add_marginals(oracle, copy);
            reduced.clear();
            reduced.extend(point.iter().zip(&*copy).map(|(x, u)| eta * (x - u)));
            let best = oracle.maximize(reduced, workspace, configuration);
            // `level` is what every configuration of the set scores under these scores.
            let level = eta * level;
            if best <= level + eta * 1e-9 + level.abs() * 1e-12 || self.configurations.contains(configuration)
            {
                (done, is_read) = (true, true);
                break;
            }
            self.add(oracle, configuration, values);
        }
        if !is_read {
            copy.fill(0.0);
            self.add_marginals(oracle, copy);
        }
        if copy.iter().any(|x| !x.is_finite()) {
            // Points too far apart for the numbers at hand: one configuration is an answer, too.
            copy.fill(0.0);
            if self.restart(oracle, scores, workspace, configuration) {
                self.add_marginals(oracle, copy);
            }
            done = true;
        }
        done
    }

    /// The configurations with their weights.
    pub(crate) fn weighted(&self) -> impl Iterator<Item = (&C, f64)> {
        self.configurations.iter().zip(self.weights.iter().copied())
    }

    /// How the weights of the set move when the scores of the links do.
    pub(crate) fn weight_changes<O: Oracle<Configuration = C>>(
        &self,
        oracle: &O,
        scores: &[f64],
    ) -> Vec<f64> {
        // The factor's own scores do not move, so they are taken off again.
        let still = vec![0.0; scores.len()];
        let moved = |s: &C| oracle.score(scores, s) - oracle.score(&still, s);
        let mut changes: Vec<f64> = self.configurations.iter().map(moved).collect();
        self.substitute(&mut changes);
        let tau = changes.iter().sum::<f64>() / self.ones.iter().sum::<f64>();
        changes.iter_mut().zip(&self.ones).for_each(|(change, one)| *change -= tau * one);
        changes
    }

    fn add_marginals<O: Oracle<Configuration = C>>(&self, oracle: &O, out: &mut [f64]) {
        for (configuration, &weight) in self.configurations.iter().zip(&self.weights) {
            oracle.add_marginals(configuration, weight, out);
        }
    }

    /// Begins with the best configuration alone; `false` when there is none.
    fn restart<O: Oracle<Configuration = C>>(
        &mut self,
        oracle: &O,
        scores: &[f64],
        workspace: &mut O::Workspace,
        configuration: &mut C,
    ) -> bool {
        self.spare.append(&mut self.configurations);
        if oracle.maximize(scores, workspace, configuration) == f64::NEG_INFINITY {
            return false;
        }
        self.push(configuration);
        self.weights.clear();
        self.weights.push(1.0);
        self.rebuild(oracle)
    }

    /// Solves the problem with equality only; weights to `values`. Returns what every configuration of the
    /// set then scores, divided by eta, or nothing if the numbers degraded.
    fn solve<O: Oracle<Configuration = C>>(
        &mut self,
        oracle: &O,
        scores: &[f64],
        inverse_eta: f64,
        values: &mut Vec<f64>,
    ) -> Option<f64> {
        values.clear();
        values.extend(self.configurations.iter().map(|s| oracle.score(scores, s) * inverse_eta));
        self.substitute(values);
        let (sum, ones): (f64, f64) = (values.iter().sum(), self.ones.iter().sum());
        let tau = (sum - 1.0) / ones;
        for (value, one) in values.iter_mut().zip(&self.ones) {
            *value -= tau * one;
        }
        // (K + 1) v = b − τ and Σ v = 1 give b_s − (K v)_s = τ + 1.
        tau.is_finite().then_some(tau + 1.0)
    }

    /// Moves the weights towards `values` as far as they stay non-negative. `true`: a configuration was
    /// dropped on the way.
    fn step<O: Oracle<Configuration = C>>(&mut self, oracle: &O, values: &[f64]) -> bool {
        let (mut length, mut blocking) = (1.0, None);
        for (s, (&from, &to)) in self.weights.iter().zip(values).enumerate() {
            if to < 0.0 {
                let reach = if from > to { from / (from - to) } else { 0.0 };
                if reach < length {
                    (length, blocking) = (reach, Some(s));
                }
            }
        }
        let Some(blocking) = blocking else {
            self.weights.copy_from_slice(values);
            return false;
        };
        for (weight, &to) in self.weights.iter_mut().zip(values) {
            *weight = (*weight + length * (to - *weight)).max(0.0);
        }
        self.remove(oracle, blocking);
        true
    }

    /// Solves (K + 1) x = x in place by the Cholesky factor.
    fn substitute(&self, x: &mut [f64]) {
        self.forward(x);
        self.backward(x);
    }

    fn backward(&self, x: &mut [f64]) {
        for i in (0..x.len()).rev() {
            let r = &self.cholesky[row(i)..=row(i) + i];
            let xi = x[i] * r[i];
            x[i] = xi;
            for (xj, l) in x[..i].iter_mut().zip(r) {
                *xj -= l * xi;
            }
        }
    }

    fn forward(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let r = &self.cholesky[row(i)..=row(i) + i];
            let mut sum = x[i];
            for (l, xj) in r[..i].iter().zip(&x[..i]) {
                sum -= l * xj;
            }
            x[i] = sum * r[i];
        }
    }

    /// Extends the factor by a configuration; `values` is left holding L⁻¹ k. `false`: affinely dependent.
    fn extend<O: Oracle<Configuration = C>>(
        &mut self,
        oracle: &O,
        new: &C,
        count: usize,
        values: &mut Vec<f64>,
    ) -> bool {
        values.clear();
        values.extend(self.configurations[..count].iter().map(|s| oracle.overlap(s, new) as f64 + 1.0));
        self.forward(values);
        let own = oracle.overlap(new, new) as f64 + 1.0;
        let pivot = own - values.iter().map(|x| x * x).sum::<f64>();
        if pivot <= SINGULAR * own || pivot.is_nan() {
            return false;
        }
        self.cholesky.extend_from_slice(values);
        self.cholesky.push(1.0 / pivot.sqrt());
        true
    }

    fn add<O: Oracle<Configuration = C>>(&mut self, oracle: &O, new: &C, values: &mut Vec<f64>) {
        if !self.extend(oracle, new, self.configurations.len(), values) {
            // M_new = Σ c_s M_s with Σ c = 1: weight flows from the set to `new` without moving u, until one
            // runs dry.
            self.backward(values);
            let (mut amount, mut leaving) = (f64::INFINITY, 0);
            for (s, (&weight, &c)) in self.weights.iter().zip(values.iter()).enumerate() {
                if c > 1e-9 && weight / c < amount {
                    (amount, leaving) = (weight / c, s);
                }
            }
            if !amount.is_finite() {
                return;
            }
            for (weight, c) in self.weights.iter_mut().zip(values.iter()) {
                *weight = (*weight - amount * c).max(0.0);
            }
            self.remove(oracle, leaving);
            if !self.extend(oracle, new, self.configurations.len(), values) {
                return;
            }
            self.weights.push(amount);
        } else {
            self.weights.push(0.0);
        }
        self.push(new);
        self.refresh_ones();
    }

    fn refresh_ones(&mut self) {
        let mut ones = std::mem::take(&mut self.ones);
        ones.refill(self.configurations.len(), 1.0);
        self.substitute(&mut ones);
        self.ones = ones;
    }

    /// Takes a configuration out: its row goes, and Givens rotations restore the triangle below it.
    fn remove<O: Oracle<Configuration = C>>(&mut self, oracle: &O, s: usize) {
        self.spare.push(self.configurations.remove(s));
        self.weights.remove(s);
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 {
            self.weights.iter_mut().for_each(|w| *w /= total);
        }
        self.downdates += 1;
        if self.downdates > REBUILD_AFTER {
            self.rebuild(oracle);
            return;
        }
        let count = self.configurations.len();
        // Row i + 1 of the old factor becomes row i; it has one entry too many, which a rotation of the
        // columns (i, i + 1) moves onto the diagonal.
        let l = &mut self.cholesky;
        for i in s..count {
            let (from, to) = (row(i + 1), row(i));
            let (kept, extra) = (l[from + i], 1.0 / l[from + i + 1]);
            let radius = kept.hypot(extra);
            let (cosine, sine) = (kept / radius, extra / radius);
            l.copy_within(from..from + i, to);
            l[to + i] = 1.0 / radius;
            for later in i + 2..=count {
                let at = row(later) + i;
                let (a, b) = (l[at], l[at + 1]);
                l[at] = cosine * a + sine * b;
                l[at + 1] = cosine * b - sine * a;
            }
        }
        l.truncate(row(count));
        self.refresh_ones();
    }

    /// Computes the factor from the configurations, dropping those that turn out dependent.
    fn rebuild<O: Oracle<Configuration = C>>(&mut self, oracle: &O) -> bool {
        self.cholesky.clear();
        self.downdates = 0;
        let mut values = Vec::new();
        let mut kept = 0;
        for s in 0..self.configurations.len() {
            let new = std::mem::take(&mut self.configurations[s]);
            let is_kept = self.extend(oracle, &new, kept, &mut values);
            self.configurations[s] = new;
            if is_kept {
                self.configurations.swap(kept, s);
                self.weights.swap(kept, s);
                kept += 1;
            }
        }
        self.configurations.truncate(kept);
        self.weights.truncate(kept);
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 {
            self.weights.iter_mut().for_each(|w| *w /= total);
        } else if let Some(first) = self.weights.first_mut() {
            *first = 1.0;
        }
        self.refresh_ones();
        kept > 0
    }
}
