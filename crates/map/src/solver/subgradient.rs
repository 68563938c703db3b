//! Projected subgradient on the dual: every factor answers with its best configuration, and multipliers move
//! against the disagreement. Kept for comparison with AD3: the same decomposition, slower to agree.

use super::Limits;
use super::dual::Dual;
use super::primal::{Primal, View};
use crate::certificate::{Certificate, Gap};
use crate::group::in_sense;
use crate::model::Graph;
use crate::solution::{Solution, TracePoint};
use std::time::Instant;

/// How steps shrink. Both count how often the dual went up instead of down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepRule {
    /// The first step divided by one plus the count (Koo et al. 2010; Chieu & Teow 2012, Algorithm 1).
    #[default]
    Harmonic,
    /// The first step halved each time (Rush et al. 2010).
    Halving,
}

/// How long the steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// How they shrink.
    pub rule: StepRule,
    /// The first one, in units of the largest score.
    pub first: f64,
}

impl Default for Steps {
    fn default() -> Self {
        Self { rule: StepRule::default(), first: 1.0 }
    }
}

/// Iterations when no limit is given.
const DEFAULT_ITERATIONS: usize = 1000;

/// Iterations between attempts to round.
const ROUND_EVERY: usize = 10;

/// Lowers the dual by subgradient steps and rounds on the way.
pub fn solve(graph: &Graph, steps: Steps, limits: &Limits) -> Solution {
    let start = Instant::now();
    let mut dual = Dual::new(graph);
    dual.read_scores(graph, &[]);
    let mut primal = Primal::new(graph, &dual.layout, dual.scale, dual.large);
    let mut beliefs = vec![0.5; graph.slots()];
    let (mut bound, mut last, mut rises) = (f64::INFINITY, f64::INFINITY, 0u32);
    let mut trace = Vec::new();
    let max_iterations = limits.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
    let mut iteration = 0;
    let gap = Gap::of(limits.gap, graph);
    let infeasible = loop {
        let current = dual.bound(graph, limits.parallel);
        rises += (current > last) as u32;
        last = current;
        bound = bound.min(current);
        let disagreement = average(&dual, &mut beliefs);
        let seconds = start.elapsed().as_secs_f64();
        let stop = iteration >= max_iterations
            || limits.time_limit.is_some_and(|limit| seconds >= limit)
            || limits.stop.is_raised();
        if iteration % ROUND_EVERY == 0 || stop || disagreement == 0.0 {
            let mut view = View { graph, layout: &dual.layout, warm: &mut dual.warm };
            primal.consider(&mut view, &beliefs);
        }
        if limits.trace {
            trace.push(TracePoint { iteration, seconds, bound, value: primal.value });
        }
        if dual.proves_infeasible(graph, bound) {
            break true;
        }
        if gap.closes(primal.value, bound) || stop || disagreement == 0.0 {
            break false;
        }
        let step = dual.scale
            * steps.first
            * match steps.rule {
                StepRule::Harmonic => 1.0 / (1.0 + rises as f64),
                StepRule::Halving => 0.5f64.powi(rises as i32),
            };
        for (slot, belief) in beliefs.iter().enumerate() {
            for &link in dual.layout.links_of(slot) {
                let copy = in_sense(link, dual.best[(link >> 1) as usize]);
                dual.multipliers[(link >> 1) as usize] -= step * (copy - belief);
            }
        }
        iteration += 1;
    };
    let certificate = match infeasible {
        true => Certificate::infeasible(),
        false => Certificate::judge(Some(primal.value), bound + dual.rounding(graph), gap),
    };
    let certificate = certificate.after(iteration, start.elapsed().as_secs_f64());
    Solution::new(graph, certificate, primal.assignment, beliefs, trace)
}

/// Averages the copies of each slot; returns the sum of squared disagreements.
fn average(dual: &Dual, beliefs: &mut [f64]) -> f64 {
    let mut disagreement = 0.0;
    for (slot, belief) in beliefs.iter_mut().enumerate() {
        let links = dual.layout.links_of(slot);
        let copy = |&link: &u32| in_sense(link, dual.best[(link >> 1) as usize]);
        if links.is_empty() {
            *belief = (dual.share[slot] > 0.0) as u8 as f64;
            continue;
        }
        *belief = links.iter().map(copy).sum::<f64>() / links.len() as f64;
        disagreement += links.iter().map(|link| (copy(link) - *belief).powi(2)).sum::<f64>();
    }
    disagreement
}
