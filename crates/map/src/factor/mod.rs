//! Factors whose quadratic step has a closed form.
//!
//! Few primitives serve all: with negated links, implication is an OR, AND-with-output is an OR-with-output,
//! and XOR-with-output is an exactly-one. For each primitive there are three questions, answered in its file:
//! the projection (AD3's quadratic step), the best configuration under scores (dual bounds, subgradient), and
//! whether a given configuration is allowed.

mod budget;
mod knapsack;
mod logic;
mod pair;

use crate::group::{Factors, Slave};

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
    /// At most this many links are on.
    Budget(usize),
    /// The costs of links that are on sum to at most the limit. The relaxation is the continuous knapsack
    /// polytope.
    Knapsack {
        costs: Box<[f64]>,
        limit: f64,
    },
}

/// All closed-form factors of a graph.
pub(crate) type ClosedGroup = Factors<Closed>;

/// Closed forms keep nothing between iterations.
impl Slave for Closed {
    type Memory = ();
    type Scratch = Scratch;
    const IS_SHORT: bool = true;

    fn forget((): &mut ()) {}

    #[inline(always)]
    fn project(
        &self,
        (): &mut (),
        point: &[f64],
        copy: &mut [f64],
        eta: f64,
        _: usize,
        scratch: &mut Scratch,
    ) {
        copy.copy_from_slice(point);
        match self {
            Closed::ExactlyOne => logic::project_exactly_one(copy, scratch),
            Closed::AtMostOne => logic::project_at_most_one(copy, scratch),
            Closed::AtLeastOne => logic::project_at_least_one(copy, scratch),
            Closed::OrWithOutput => logic::project_or_with_output(copy, scratch),
            Closed::Pair(score) => pair::project(copy, score / eta),
            Closed::Budget(limit) => budget::project(copy, *limit, scratch),
            Closed::Knapsack { costs, limit } => knapsack::project(copy, costs, *limit, scratch),
        }
    }

    fn best_point(&self, scores: &[f64], best: &mut [f64], scratch: &mut Scratch) -> f64 {
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

    fn own_score(&self, on: &[bool], _: f64, _: &mut Scratch) -> f64 {
        self.score(on)
    }

    fn size(&self) -> Option<f64> {
        Some(if let Closed::Pair(score) = self { score.abs() } else { 0.0 })
    }
}

/// Costs and limits between this and its inverse stay as they are.
const ORDINARY: f64 = 1e30;

impl Closed {
    /// A knapsack. Costs whose squares would overflow or vanish in a projection are counted in limits; what is far
    /// beyond the limit is as good as 2⁶⁰ limits.
    pub(crate) fn knapsack(costs: &[f64], limit: f64) -> Self {
        let is_ordinary = |&x: &f64| x == 0.0 || (ORDINARY.recip()..ORDINARY).contains(&x);
        if costs.iter().chain([&limit]).all(is_ordinary) {
            return Closed::Knapsack { costs: costs.into(), limit };
        }
        let in_limits = |&cost: &f64| match (cost > 0.0, limit > 0.0) {
            (true, true) => (cost / limit).min(2f64.powi(60)),
            (is_costly, _) => f64::from(is_costly),
        };
        Closed::Knapsack { costs: costs.iter().map(in_limits).collect(), limit: f64::from(limit > 0.0) }
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

#[cfg(test)]
#[path = "../../tests/unit/factors.rs"]
mod tests;
