//! The two-slave decomposition of Qian & Liu (2014): a tree and a cut.
//!
//! The first slave labels a spanning forest by dynamic programming, the second maximizes everything else,
//! edges and patterns of any order and sign, as a supermodular pseudo-Boolean function by minimum cut. Both
//! share one multiplier for each literal that the cut knows; vertices outside of it have none. The cut
//! restarts warm, since only unary terms move.

mod bits;
mod pairs;
mod reduce;

use std::fmt;

use crate::cut::Cut;
use crate::flat::Refill;
use crate::pattern::PatternModel;
use crate::solution::Solution;
use crate::solver::master::{Component, Decomposition, Master, MasterOptions, StepRule};
use reduce::Slaves;

/// What becomes of the edges outside of the tree and of the patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Whatever the cut relaxes as tightly as a slave of its own goes there; the rest (patterns over the same
    /// vertices that compete, tables with more than two states that are not sparse) gets small slaves of its
    /// own. So the bound at convergence is never above that of the spanning-tree cover.
    #[default]
    Tight,
    /// Everything goes to the cut, as in the paper: a negative pattern becomes pair products minus the
    /// product (h3, h4), and psi lifts every cell of an edge until none is negative.
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

impl fmt::Debug for TwoSlave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoSlave").field("options", &self.options).finish_non_exhaustive()
    }
}

impl TwoSlave {
    /// A solver with these options.
    pub fn new(options: MasterOptions) -> Self {
        TwoSlave { options, ..TwoSlave::default() }
    }

    /// The decomposition as the paper has it: everything outside of the tree goes to the cut, and steps are those
    /// of Rush et al.
    pub fn of_the_paper(options: MasterOptions) -> Self {
        let step = StepRule::Rush { first: 1.0 };
        TwoSlave { reduction: Reduction::Lifted, ..TwoSlave::new(MasterOptions { step, ..options }) }
    }

    /// The best assignment found, with its certificate.
    pub fn solve(&mut self, model: &PatternModel) -> Solution {
        self.master.solve(model, &self.options, self.reduction)
    }
}

/// The slaves of one component at work. Multipliers: one for each literal of the cut, then
/// three for each triple, then those of the other small slaves.
#[derive(Default)]
struct TreeAndCut {
    slaves: Slaves,
    cut: Cut,
    /// Scores of the tree slave with multipliers.
    unary: Vec<f64>,
    labels: Vec<u32>,
    vertices: usize,
    tree_magnitude: f64,
    /// Scores of one small slave.
    scores: Vec<f64>,
    choice: Vec<u32>,
    /// All multipliers to begin with.
    start: Vec<f64>,
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
        self.labels.refill(self.slaves.first_slot.len() - 1, 0);
        let base: f64 = self.slaves.base.iter().filter(|x| x.is_finite()).map(|x| x.abs()).sum();
        self.tree_magnitude = base + self.slaves.forest.magnitude();
        self.split_evenly();
    }

    fn multipliers(&self) -> usize {
        self.start.len()
    }

    fn start(&self, lambda: &mut [f64]) {
        lambda.copy_from_slice(&self.start);
    }

    fn evaluate(&mut self, lambda: &[f64], gradient: &mut [f64]) -> f64 {
        let size = self.share_scores(lambda);
        let mut constant = self.slaves.constant;
        for (i, literal) in self.slaves.literals.iter().enumerate() {
            self.cut.set_unary(i, lambda[i]);
            if literal.negated {
                constant -= lambda[i];
            }
        }
        let tree = self.slaves.forest.solve(&self.unary, &mut self.labels);
        self.cut.solve();
        for (i, literal) in self.slaves.literals.iter().enumerate() {
            let chosen = (self.labels[literal.vertex as usize] == literal.state) != literal.negated;
            gradient[i] = f64::from(u8::from(self.cut.is_one(i))) - f64::from(u8::from(chosen));
        }
        let after =
            self.slaves.literals.len()..self.slaves.literals.len() + 3 * self.slaves.triples.vertices.len();
        let triples =
            self.slaves.triples.solve(&lambda[after.clone()], &self.labels, &mut gradient[after.clone()]);
        let groups = self.solve_groups(&lambda[after.end..], &mut gradient[after.end..]);
        let operations = (3 * self.labels.len() + lambda.len()) as f64;
        let rounding = f64::EPSILON * operations * (self.tree_magnitude + size + constant.abs());
        tree + self.cut.upper_bound() + triples + groups + constant + rounding
    }

    fn labels(&self) -> &[u32] {
        &self.labels[..self.vertices]
    }

    fn magnitude(&self) -> f64 {
        self.slaves.magnitude
    }
}

impl TreeAndCut {
    /// The slots of a vertex that a small slave has multipliers for: of two states one is enough.
    fn shared_slots(slaves: &Slaves, vertex: u32) -> std::ops::Range<usize> {
        let slots =
            slaves.first_slot[vertex as usize] as usize..slaves.first_slot[vertex as usize + 1] as usize;
        if slots.len() == 2 { slots.start + 1..slots.end } else { slots }
    }

    /// Multipliers to begin with: the cut's products give each member an even share, so that the cut has no
    /// gain; the small slaves give each member its share of the best weight that goes with each state.
    fn split_evenly(&mut self) {
        let slaves = &self.slaves;
        self.start.clear();
        self.start.extend(slaves.share.iter().map(|share| -share));
        self.start.extend(slaves.triples.start());
        let mut members = slaves.group_vertices.iter();
        for group in 0..slaves.groups.len() {
            slaves.groups.best_weights(group, &mut self.scores);
            let size = slaves.groups.vertices(group);
            let mut best = self.scores.as_slice();
            for &v in members.by_ref().take(size) {
                let (own, rest) = best.split_at(slaves.states(v));
                best = rest;
                let reference = if own.len() == 2 { own[0] } else { 0.0 };
                let shared = &own[own.len() - Self::shared_slots(slaves, v).len()..];
                self.start.extend(shared.iter().map(|x| (reference - x) / size as f64));
            }
        }
    }

    /// Gives the tree its scores less all multipliers; returns the sum of their absolute values.
    fn share_scores(&mut self, lambda: &[f64]) -> f64 {
        let slaves = &self.slaves;
        self.unary.clone_from(&slaves.base);
        for (literal, l) in slaves.literals.iter().zip(lambda) {
            self.unary[literal.slot as usize] -= if literal.negated { -l } else { *l };
        }
        let mut own = lambda[slaves.literals.len()..].iter();
        for &v in slaves.triples.vertices.iter().flatten() {
            if let Some(l) = own.next() {
                self.unary[slaves.first_slot[v as usize] as usize + 1] -= l;
            }
        }
        for &v in &slaves.group_vertices {
            for (slot, l) in Self::shared_slots(slaves, v).zip(&mut own) {
                self.unary[slot] -= l;
            }
        }
        2.0 * lambda.iter().map(|l| l.abs()).sum::<f64>()
    }

    /// Solves the small slaves that are not triples, given their part of multipliers and gradient; returns
    /// the sum of their values.
    fn solve_groups(&mut self, lambda: &[f64], gradient: &mut [f64]) -> f64 {
        let slaves = &mut self.slaves;
        let mut at = 0;
        let mut start = 0;
        let mut total = 0.0;
        for group in 0..slaves.groups.len() {
            let vertices = start..start + slaves.groups.vertices(group);
            start = vertices.end;
            let mut next = at;
            self.scores.clear();
            for &v in &slaves.group_vertices[vertices.clone()] {
                let shared = Self::shared_slots(slaves, v);
                let all = slaves.first_slot[v as usize] as usize..shared.end;
                let multipliers = std::iter::repeat_n(0.0, all.len() - shared.len())
                    .chain(lambda[next..next + shared.len()].iter().copied());
                next += shared.len();
                let allowed = |slot: usize| slaves.base[slot] > f64::NEG_INFINITY;
                self.scores.extend(
                    all.zip(multipliers).map(|(slot, l)| if allowed(slot) { l } else { f64::NEG_INFINITY }),
                );
            }
            self.choice.refill(vertices.len(), 0);
            total += slaves.groups.solve(group, &self.scores, &mut self.choice);
            for (&v, &choice) in slaves.group_vertices[vertices].iter().zip(&self.choice) {
                let first = slaves.first_slot[v as usize] as usize;
                for slot in Self::shared_slots(slaves, v) {
                    let state = (slot - first) as u32;
                    let chosen = self.labels[v as usize] == state;
                    gradient[at] = f64::from(u8::from(choice == state)) - f64::from(u8::from(chosen));
                    at += 1;
                }
            }
        }
        total
    }
}
