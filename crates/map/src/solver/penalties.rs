//! Scores so far from all others that they decide by themselves.
//!
//! People write hard constraints as large scores ("big-M"). Beside a score of 1e15 one of 0.3 has hardly a
//! digit left, no step size fits both, and nothing that is added up from them proves anything. But a state
//! that nothing can make up for need not be scored at all: where even the best of everything else stays below
//! a value that is known, it is as good as forbidden, and the problem that is left has scores of one size.

use super::Limits;
use super::ad3::{Ad3, Ad3Options};
use crate::certificate::{Certificate, Gap};
use crate::model::Graph;
use crate::solution::Solution;

/// A score this many times as large as the small ones is worth a look.
const FAR: f64 = 1e4;

/// Iterations of AD3 to find a value.
const ITERATIONS: usize = 500;

/// A graph without states that cannot be part of a best assignment, and an assignment that shows it.
pub(super) struct Penalties {
    pub graph: Graph,
    known: Solution,
}

impl Penalties {
    /// Nothing when no score stands out, or when nothing is found by which to judge it.
    pub(super) fn find(graph: &Graph, limits: &Limits) -> Option<Penalties> {
        let mut sizes: Vec<f64> =
            graph.scores.iter().map(|s| s.abs()).filter(|s| s.is_finite() && *s > 0.0).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let low = sizes.len() / 10;
        let stands_out = sizes.len() > 1 && {
            let (_, &mut low, _) = sizes.select_nth_unstable_by(low, f64::total_cmp);
            largest > FAR * low
        };
        if !stands_out {
            return None;
        }
        let (time_limit, stop) = (limits.time_limit, limits.stop.clone());
        let options = Ad3Options { max_iterations: ITERATIONS, time_limit, stop, ..Ad3Options::default() };
        let known = Ad3::new(options).solve(graph);
        let value = known.certificate.value()?;
        // The best of every variable and of every factor alone.
        let best = |variable: usize| {
            let none = if graph.is_binary(variable) { 0.0 } else { f64::NEG_INFINITY };
            graph.scores[graph.slots_of(variable)].iter().copied().fold(none, f64::max)
        };
        let factors = graph.groups.iter().map(|group| group.magnitude()).sum::<Option<f64>>()?;
        let bests: Vec<f64> = (0..graph.variables()).map(best).collect();
        let sum: f64 = bests.iter().sum::<f64>() + factors + graph.offset;
        let size: f64 =
            bests.iter().map(|b| b.abs()).sum::<f64>() + factors + graph.offset.abs() + value.abs();
        let rounding = f64::EPSILON * (graph.variables() + 64) as f64 * size;
        let hopeless = |variable: usize, score: f64| sum - bests[variable] + score + 2.0 * rounding < value;
        let (mut scores, mut offset, mut forced) = (graph.scores.clone(), graph.offset, Vec::new());
        for variable in 0..graph.variables() {
            if !graph.is_binary(variable) {
                graph
                    .slots_of(variable)
                    .filter(|&s| hopeless(variable, scores[s]))
                    .for_each(|s| forced.push((s, false)));
                continue;
            }
            let slot = graph.slots_of(variable).start;
            if hopeless(variable, scores[slot]) {
                forced.push((slot, false));
            } else if hopeless(variable, 0.0) {
                forced.push((slot, true));
            }
        }
        if forced.iter().all(|&(slot, on)| !on && scores[slot] == f64::NEG_INFINITY) {
            return None;
        }
        for &(slot, on) in &forced {
            if on {
                offset += scores[slot];
                scores[slot] = 0.0;
            } else {
                scores[slot] = f64::NEG_INFINITY;
            }
        }
        let mut reduced = graph.rescored(scores, offset);
        for &(slot, _) in forced.iter().filter(|(_, on)| *on) {
            reduced.at_least_one([crate::model::Literal::new(slot as u32, false)]).ok()?;
        }
        Some(Penalties { graph: reduced, known })
    }

    /// What a solution of the reduced graph says of the whole.
    pub(super) fn raise(self, graph: &Graph, found: Solution, gap: f64) -> Solution {
        let (first, second) = (self.known.certificate, found.certificate);
        let value =
            found.assignment().map(|states| graph.value(states)).filter(|&value| value >= first.lower());
        let trace = found.trace.clone();
        let (best, value) = match value {
            Some(value) => (found, value),
            None => (self.known, first.lower()),
        };
        let bound = second.bound().max(first.lower());
        let certificate = Certificate::judge(Some(value), bound, Gap::of(gap, graph));
        let effort = (first.iterations + second.iterations, first.seconds + second.seconds);
        best.with(certificate.after(effort.0, effort.1), trace)
    }
}
