//! Factors whose quadratic step has a closed form.
//!
//! Few primitives serve all: with negated links, implication is an OR, AND-with-output is an OR-with-output, and
//! XOR-with-output is an exactly-one. For each primitive there are three questions, answered in its file: the
//! projection (AD3's quadratic step), the best configuration under scores (dual bounds, subgradient), and whether a
//! given configuration is allowed.

mod budget;
mod knapsack;
mod logic;
mod pair;

use crate::group::{Group, Sweep, Warm, maximize_factors, spare_warm, sweep_factors};
use crate::model::Literal;
use std::any::Any;

/// Buffers that closed forms reuse.
#[derive(Default)]
pub(crate) struct Scratch {
    values: Vec<f64>,
    items: Vec<(f64, f64)>,
}

/// A factor with a closed form; its links are kept by the [`ClosedGroup`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Closed {
    ExactlyOne,
    AtMostOne,
    AtLeastOne,
    /// The last link equals the OR of the others.
    OrWithOutput,
    /// A score that counts when both links are on.
    Pair(f64),
    /// At most so many links are on.
    Budget(usize),
    /// The costs of links that are on sum to at most the limit. The relaxation is the continuous knapsack polytope.
    Knapsack {
        costs: Box<[f64]>,
        limit: f64,
    },
}

impl Closed {
    /// Projects `point` onto the factor's polytope; for a factor with a score of its own, the proximal step with that
    /// score divided by `eta`.
    fn project(&self, point: &mut [f64], eta: f64, scratch: &mut Scratch) {
        match self {
            Closed::ExactlyOne => logic::project_exactly_one(point, scratch),
            Closed::AtMostOne => logic::project_at_most_one(point, scratch),
            Closed::AtLeastOne => logic::project_at_least_one(point, scratch),
            Closed::OrWithOutput => logic::project_or_with_output(point, scratch),
            Closed::Pair(score) => pair::project(point, score / eta),
            Closed::Budget(limit) => budget::project(point, *limit, scratch),
            Closed::Knapsack { costs, limit } => knapsack::project(point, costs, *limit, scratch),
        }
    }

    /// Writes a best point of the polytope under `scores` to `best` and returns its value.
    fn maximize(&self, scores: &[f64], best: &mut [f64], scratch: &mut Scratch) -> f64 {
        match self {
            Closed::ExactlyOne => logic::maximize_exactly_one(scores, best),
            Closed::AtMostOne => logic::maximize_at_most_one(scores, best),
            Closed::AtLeastOne => logic::maximize_at_least_one(scores, best),
            Closed::OrWithOutput => logic::maximize_or_with_output(scores, best),
            Closed::Pair(score) => pair::maximize(scores, *score, best),
            Closed::Budget(limit) => budget::maximize(scores, *limit, best, scratch),
            Closed::Knapsack { costs, limit } => knapsack::maximize(scores, costs, *limit, best, scratch),
        }
    }

    /// The factor's own score when these links are on; minus infinity when that is not allowed.
    pub(crate) fn score(&self, on: &[bool]) -> f64 {
        let count = || on.iter().filter(|&&x| x).count();
        let allowed = match self {
            Closed::ExactlyOne => count() == 1,
            Closed::AtMostOne => count() <= 1,
            Closed::AtLeastOne => count() >= 1,
            Closed::OrWithOutput => {
                let (output, inputs) = on.split_last().expect("factors are not empty");
                inputs.iter().any(|&x| x) == *output
            }
            Closed::Pair(score) => return if on[0] && on[1] { *score } else { 0.0 },
            Closed::Budget(limit) => count() <= *limit,
            Closed::Knapsack { costs, limit } => {
                let total: f64 = on.iter().zip(costs).filter(|(on, _)| **on).map(|(_, c)| c).sum();
                total <= limit * (1.0 + 1e-12)
            }
        };
        if allowed { 0.0 } else { f64::NEG_INFINITY }
    }
}

/// All closed-form factors of a graph, in flat arrays.
pub(crate) struct ClosedGroup {
    factors: Vec<Closed>,
    links: Vec<Literal>,
    /// `offsets[f]..offsets[f + 1]` are the links of factor f.
    offsets: Vec<u32>,
}

impl Default for ClosedGroup {
    fn default() -> Self {
        ClosedGroup { factors: Vec::new(), links: Vec::new(), offsets: vec![0] }
    }
}

impl ClosedGroup {
    pub(crate) fn push(&mut self, factor: Closed, literals: &[Literal]) -> u32 {
        self.factors.push(factor);
        self.links.extend_from_slice(literals);
        self.offsets.push(self.links.len() as u32);
        self.factors.len() as u32 - 1
    }

    pub(crate) fn factor(&self, index: usize) -> (&Closed, &[Literal]) {
        (&self.factors[index], &self.links[self.offsets[index] as usize..self.offsets[index + 1] as usize])
    }

    /// What each factor is.
    pub(crate) fn kinds(&self) -> &[Closed] {
        &self.factors
    }

    pub(crate) fn factor_mut(&mut self, index: usize) -> Option<&mut Closed> {
        self.factors.get_mut(index)
    }
}

impl Warm for Scratch {
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn scratch_of(warm: &mut dyn Warm) -> &mut Scratch {
    warm.as_any_mut().downcast_mut().expect("warm state belongs to its group")
}

impl Group for ClosedGroup {
    fn factors(&self) -> usize {
        self.factors.len()
    }

    fn links(&self) -> &[Literal] {
        &self.links
    }

    fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Closed forms keep nothing between iterations but their buffers.
    fn warm(&self, spare: &mut Vec<Box<dyn Warm>>) -> Box<dyn Warm> {
        spare_warm::<Scratch>(spare)
    }

    fn clear(&mut self) {
        self.factors.clear();
        self.links.clear();
        self.offsets.truncate(1);
    }

    fn quadratic(&self, warm: &mut dyn Warm, sweep: Sweep<'_>) {
        let project =
            |index: usize, (): &mut (), point: &[f64], copy: &mut [f64], eta: f64, scratch: &mut Scratch| {
                copy.copy_from_slice(point);
                self.factors[index].project(copy, eta, scratch);
            };
        let mut states = vec![(); self.factors.len()];
        sweep_factors(0, &self.offsets, &self.links, &mut states, sweep, scratch_of(warm), &project);
    }

    fn maximize(&self, warm: &mut dyn Warm, scores: &[f64], best: &mut [f64], parallel: bool) -> f64 {
        let maximize =
            |index: usize, (): &mut (), scores: &[f64], best: &mut [f64], scratch: &mut Scratch| {
                self.factors[index].maximize(scores, best, scratch)
            };
        let mut states = vec![(); self.factors.len()];
        maximize_factors(0, &self.offsets, &mut states, scores, best, parallel, scratch_of(warm), &maximize)
    }

    fn maximize_one(&self, warm: &mut dyn Warm, factor: usize, scores: &[f64], best: &mut [f64]) -> f64 {
        self.factors[factor].maximize(scores, best, scratch_of(warm))
    }

    fn magnitude(&self) -> Option<f64> {
        let own = |factor: &Closed| if let Closed::Pair(score) = factor { score.abs() } else { 0.0 };
        Some(self.factors.iter().map(own).sum())
    }

    fn score(&self, _: &mut dyn Warm, factor: usize, on: &[bool], _: f64) -> f64 {
        self.factors[factor].score(on)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

#[cfg(test)]
#[path = "../../tests/unit/factors.rs"]
mod tests;
