//! The two-slave decomposition of Qian & Liu (2014): a tree and a cut.
//!
//! The first slave labels a spanning forest by dynamic programming, the second maximizes everything else, edges and
//! patterns of any order and sign, as a supermodular pseudo-Boolean function by minimum cut. Both share one multiplier for
//! each literal that the cut knows; vertices outside of it have none. The cut restarts warm, since only unary terms move.

mod reduce;

use crate::cut::Cut;
use crate::pattern::PatternModel;
use crate::solution::Solution;
use crate::solver::master::{Component, Decomposition, Master, MasterOptions};
use reduce::{NONE, Slaves};

/// How negative weights reach the cut slave, which takes only products with positive weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Through the states that are *not* chosen: a negative pair `−w x y` is `w (1 − x) y − w y`; for a larger pattern a
    /// new vertex says which member fails. Psi is never needed, and each pattern is relaxed as tightly as if it had a
    /// slave of its own.
    #[default]
    Witness,
    /// As in the paper: a negative pattern becomes pair products minus the product (h3, h4), and psi lifts every cell of an
    /// edge until none is negative. Simpler and looser; kept for comparison.
    Lifted,
}

/// Decodes pattern models by the two-slave decomposition. Keeps its memory between models.
#[derive(Default)]
pub struct TwoSlave {
    /// Limits, step rule, tree and trace.
    pub options: MasterOptions,
    /// The form of the cut slave.
    pub reduction: Reduction,
    master: Master<TreeAndCut>,
}

impl TwoSlave {
    /// A solver with these options.
    pub fn new(options: MasterOptions) -> Self {
        TwoSlave { options, ..TwoSlave::default() }
    }

    /// The best assignment found, with its certificate.
    pub fn solve(&mut self, model: &PatternModel) -> Solution {
        self.master.solve(model, &self.options, self.reduction)
    }
}

/// The slaves of one component at work.
#[derive(Default)]
struct TreeAndCut {
    slaves: Slaves,
    cut: Cut,
    /// Scores of the tree slave with multipliers.
    unary: Vec<f64>,
    labels: Vec<u32>,
    vertices: usize,
    tree_magnitude: f64,
}

impl Decomposition for TreeAndCut {
    type Settings = Reduction;

    fn build(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        settings: Reduction,
        preferred: &[bool],
    ) {
        self.slaves.build(model, component, local, settings, |edge| preferred[edge as usize]);
        self.cut.rebuild(&self.slaves.function);
        self.vertices = component.vertices.len();
        self.labels.clear();
        self.labels.resize(self.slaves.first_slot.len() - 1, 0);
        self.unary.clone_from(&self.slaves.base);
        let base: f64 = self.slaves.base.iter().filter(|x| x.is_finite()).map(|x| x.abs()).sum();
        self.tree_magnitude = base + self.slaves.forest.magnitude();
    }

    fn multipliers(&self) -> usize {
        self.slaves.literals.len()
    }

    /// The tree gets an even share of every product, so that the cut starts without gain.
    fn start(&self, lambda: &mut [f64]) {
        for (l, share) in lambda.iter_mut().zip(&self.slaves.share) {
            *l = -share;
        }
    }

    fn evaluate(&mut self, lambda: &[f64], gradient: &mut [f64]) -> f64 {
        let slaves = &mut self.slaves;
        let multiplier = |literal: u32| if literal == NONE { 0.0 } else { lambda[literal as usize] };
        // Both literals of a slot are read, so that the order in which multipliers changed leaves no trace.
        let (mut constant, mut size) = (slaves.constant, slaves.constant.abs());
        for (i, literal) in slaves.literals.iter().enumerate() {
            let slot = literal.slot as usize;
            self.unary[slot] =
                slaves.base[slot] - multiplier(slaves.plain[slot]) + multiplier(slaves.negated[slot]);
            self.cut.set_unary(i, lambda[i]);
            if literal.negated {
                constant -= lambda[i];
            }
            size += lambda[i].abs();
        }
        let tree = slaves.forest.solve(&self.unary, &mut self.labels);
        self.cut.solve();
        for (i, literal) in slaves.literals.iter().enumerate() {
            let chosen = (self.labels[literal.vertex as usize] == literal.state) != literal.negated;
            gradient[i] = f64::from(u8::from(self.cut.is_one(i))) - f64::from(u8::from(chosen));
        }
        let operations = (3 * self.labels.len() + slaves.literals.len()) as f64;
        let rounding = f64::EPSILON * operations * (self.tree_magnitude + size);
        tree + self.cut.upper_bound() + constant + rounding
    }

    fn labels(&self) -> &[u32] {
        &self.labels[..self.vertices]
    }

    fn magnitude(&self) -> f64 {
        self.slaves.magnitude
    }
}

#[cfg(test)]
mod tests;
