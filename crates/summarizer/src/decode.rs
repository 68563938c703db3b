//! How a summary is decoded: the relaxation by AD3, rounded as the paper does, with value, bound and status; or exactly.

use std::time::Instant;

use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Ad3, Ad3Options, Status};

use crate::SummarizerError;
use crate::dual::Dual;
use crate::graph::{ProblemGraph, Relaxed};
use crate::problem::{Problem, Scores};
use crate::rounding::Rounding;

/// Which decoder finds the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decoder {
    /// The relaxation by AD3, rounded.
    #[default]
    Ad3,
    /// Branch and bound.
    Exact,
}

/// When decoding stops.
#[derive(Debug, Clone, Copy)]
pub struct DecoderOptions {
    /// Which decoder.
    pub decoder: Decoder,
    /// Iterations of AD3 at most.
    pub max_iterations: usize,
    /// A proven gap between value and bound, relative to the value, at which AD3 is content.
    pub gap: f64,
    /// Seconds at most.
    pub time_limit: Option<f64>,
    /// Whether to look for better summaries near the rounded ones; without it, rounding is the paper's alone.
    pub search: bool,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        DecoderOptions {
            decoder: Decoder::Ad3,
            max_iterations: 1000,
            gap: 0.01,
            time_limit: None,
            search: true,
        }
    }
}

/// A decoded problem with its certificate.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// For each unit, whether it is in the summary.
    pub chosen: Vec<bool>,
    /// The relaxed solution that was rounded.
    pub relaxed: Relaxed,
    /// The score of the summary.
    pub value: f64,
    /// No summary of these sentences scores more.
    pub bound: f64,
    /// What is proven.
    pub status: Status,
    /// Iterations of AD3, or nodes of branch and bound.
    pub iterations: usize,
    /// Time taken.
    pub seconds: f64,
}

/// Iterations of AD3 between two roundings.
const ROUND_EVERY: usize = 20;

/// Steps of the tighter dual after each rounding.
const DUAL_STEPS: usize = 30;

/// Rounds in which the gap hardly closes, after which it is given up: what is left is the relaxation's own.
const IDLE_ROUNDS: usize = 4;

/// What counts as proven: value and bound that differ by less than this, relative to the value or the largest score.
const PROVEN: f64 = 1e-6;

/// Decodes a problem.
pub fn decode(
    problem: &Problem,
    scores: &Scores,
    options: &DecoderOptions,
) -> Result<Decoded, SummarizerError> {
    let start = Instant::now();
    if problem.sentences() == 0 {
        return Ok(Decoded {
            chosen: Vec::new(),
            relaxed: Relaxed::default(),
            value: 0.0,
            bound: 0.0,
            status: Status::Optimal,
            iterations: 0,
            seconds: 0.0,
        });
    }
    let built = ProblemGraph::new(problem, scores)?;
    let mut rounding = Rounding::new(problem, scores);
    let (relaxed, bound, iterations) = match options.decoder {
        Decoder::Ad3 => relax(problem, &built, &mut rounding, options, start),
        Decoder::Exact => {
            let limits = Limits {
                max_iterations: None,
                time_limit: options.time_limit,
                gap: 0.5 * PROVEN,
                ..Limits::default()
            };
            let solution = solve(&built.graph, Method::Exact, &limits)?;
            let relaxed = built.relaxed(&solution);
            if !solution.assignment.is_empty() {
                rounding.best = built.chosen(&solution);
                rounding.value = problem.value(scores, &rounding.best).max(0.0);
            }
            (relaxed, solution.bound, solution.iterations)
        }
    };
    let Rounding { best: chosen, value, .. } = rounding;
    let bound = bound.max(value);
    // Sums of scores carry rounding errors of the scores' size, also where the best summary is the empty one.
    let size = scores.concepts.iter().fold(value.abs(), |size, score| size.max(score.abs()));
    let proven = bound - value <= PROVEN * size.max(1e-9);
    let status = if proven { Status::Optimal } else { Status::Feasible };
    Ok(Decoded { chosen, relaxed, value, bound, status, iterations, seconds: start.elapsed().as_secs_f64() })
}

fn relax(
    problem: &Problem,
    built: &ProblemGraph,
    rounding: &mut Rounding<'_>,
    options: &DecoderOptions,
    start: Instant,
) -> (Relaxed, f64, usize) {
    let mut ad3 = Ad3::new(Ad3Options {
        max_iterations: ROUND_EVERY.min(options.max_iterations),
        round: false,
        ..Ad3Options::default()
    });
    let mut dual = Dual::new(problem, rounding.scores);
    let (mut bound, mut iterations) = (f64::INFINITY, 0);
    let (mut last_gap, mut idle) = (f64::INFINITY, 0);
    loop {
        let solution = ad3.solve(&built.graph);
        bound = bound.min(solution.bound);
        iterations += solution.iterations;
        let relaxed = built.relaxed(&solution);
        rounding.round(&relaxed, options.search);
        let closed = |bound: f64, value: f64| bound - value <= options.gap * value.abs().max(1e-9);
        if options.search {
            for _ in 0..DUAL_STEPS {
                if closed(bound, rounding.value) {
                    break;
                }
                dual.step(rounding.value);
                bound = bound.min(dual.bound);
                rounding.consider(&dual.chosen, false);
            }
            rounding.consider(&dual.chosen, true);
        }
        let gap = bound - rounding.value;
        idle = if gap < 0.99 * last_gap { 0 } else { idle + 1 };
        last_gap = last_gap.min(gap);
        let converged =
            solution.iterations < ad3.options.max_iterations || (options.search && idle >= IDLE_ROUNDS);
        let late = options.time_limit.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
        if closed(bound, rounding.value) || converged || late || iterations >= options.max_iterations {
            return (relaxed, bound, iterations);
        }
        ad3.options.max_iterations = ROUND_EVERY.min(options.max_iterations - iterations);
    }
}

/// The relaxed solution alone, for learning (§4, footnote 7).
pub(crate) fn relaxed(
    problem: &Problem,
    scores: &Scores,
    iterations: usize,
) -> Result<Relaxed, SummarizerError> {
    let built = ProblemGraph::new(problem, scores)?;
    let options =
        Ad3Options { max_iterations: iterations, residual: 1e-3, round: false, ..Ad3Options::default() };
    Ok(built.relaxed(&Ad3::new(options).solve(&built.graph)))
}
