//! Solvers: all take the same [`Graph`] and return the same [`Solution`].
//!
//! [`solve`] picks one by [`Method`]. Tasks that solve many graphs hold a solver of their own
//! ([`Ad3`], [`TwoSlave`](two_slave::TwoSlave), …), which keeps its buffers and warm state.

pub mod ad3;
mod best_first;
mod branch_and_bound;
pub(crate) mod dual;
pub mod exact;
mod forest;
pub(crate) mod layout;
mod lowering;
pub mod master;
mod patterns;
mod penalties;
pub(crate) mod primal;
mod search;
pub mod spanning_trees;
mod stop;
pub mod subgradient;
pub mod two_slave;

use crate::certificate::{Certificate, Gap};
use crate::factor::Closed;
use crate::model::{Graph, Literal};
use crate::solution::Solution;
use ad3::{Ad3, Ad3Options};
use consonant_problem::LARGEST_SUM;
use master::MasterOptions;
pub use stop::Stop;

/// Which solver to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Alternating directions dual decomposition: the relaxation and a rounded assignment.
    Ad3,
    /// Projected subgradient on the same decomposition.
    Subgradient,
    /// A spanning tree and a minimum cut that agree, with small slaves for what a cut relaxes loosely.
    TwoSlave,
    /// A spanning tree and a minimum cut that agree, as Qian & Liu (2014) have it: everything outside of the
    /// tree goes to the cut.
    TreeCut,
    /// A cover by spanning trees, with one slave for each larger pattern.
    SpanningTrees,
    /// Tightened relaxation and branch and bound.
    Exact,
}

impl Method {
    /// All methods with the names they have on the command line.
    pub const NAMES: [(&'static str, Method); 6] = [
        ("ad3", Method::Ad3),
        ("subgradient", Method::Subgradient),
        ("two-slave", Method::TwoSlave),
        ("tree-cut", Method::TreeCut),
        ("spanning-trees", Method::SpanningTrees),
        ("exact", Method::Exact),
    ];
}

/// When to stop, and what to report.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Iterations (nodes, for exact search) at most; each method has a default of its own.
    pub max_iterations: Option<usize>,
    /// Seconds at most.
    pub time_limit: Option<f64>,
    /// Value and bound that differ by less than this, relative to their size, prove optimality.
    pub gap: f64,
    /// Whether to use the current thread pool; results have the same bits either way.
    pub parallel: bool,
    /// Whether to record value and bound over time.
    pub trace: bool,
    /// An assignment to begin with: the answer is not worse. One that breaks constraints is a beginning, too.
    /// Variables at the end may be left out, as those that stand for patterns; they follow from the others,
    /// or are in their first state.
    pub hint: Option<Vec<u32>>,
    /// Ends the search when somebody raises it.
    pub stop: Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_iterations: None,
            time_limit: None,
            gap: 1e-6,
            parallel: false,
            trace: false,
            hint: None,
            stop: Stop::default(),
        }
    }
}

/// Why a method could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The method does not know a factor.
    #[error(
        "{method} works on variables, tables and logic factors, but the graph has a {factor}; \
         use ad3, subgradient or exact"
    )]
    Factor {
        /// The method.
        method: &'static str,
        /// What it does not know.
        factor: &'static str,
    },
    /// Scores so large that their sums are no numbers.
    #[error(
        "the scores sum to more than 1e300 in size: their sums would overflow; \
         divide all scores by a constant"
    )]
    Overflow,
    /// The hint is of another graph.
    #[error("the hint does not fit the graph: it has more variables, or states that variables do not have")]
    Hint,
}

/// Solves a graph.
///
/// ```
/// use consonant_map::solver::{Limits, Method, solve};
/// use consonant_map::{Graph, Status};
///
/// let mut graph = Graph::new();
/// let x = graph.binaries(&[1.0, 1.0, 1.0])?;
/// for (i, j) in [(0, 1), (1, 2), (2, 0)] {
///     graph.at_most_one([x[i], x[j]])?;
/// }
/// // The relaxation gives every variable a half and a bound of 1.5; exact search tells the truth.
/// let solution = solve(&graph, Method::Exact, &Limits::default())?;
/// assert_eq!((solution.certificate.status(), solution.certificate.value()), (Status::Optimal, Some(1.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(graph: &Graph, method: Method, limits: &Limits) -> Result<Solution, Unsupported> {
    if graph.offset == f64::NEG_INFINITY {
        return Ok(infeasible(graph));
    }
    let slots: f64 = graph.scores.iter().filter(|s| s.is_finite()).map(|s| s.abs()).sum();
    let factors = graph.groups.iter().filter_map(|group| group.magnitude()).sum::<f64>();
    if slots + factors + graph.offset.abs() > LARGEST_SUM {
        return Err(Unsupported::Overflow);
    }
    let completed;
    let limits = match &limits.hint {
        Some(hint) => {
            completed = Limits { hint: Some(complete(graph, hint)?), ..limits.clone() };
            &completed
        }
        None => limits,
    };
    let found = match penalties::Penalties::find(graph, limits) {
        Some(penalties) => {
            let found = solve_by(&penalties.graph, method, limits)?;
            penalties.raise(graph, found, limits.gap)
        }
        None => solve_by(graph, method, limits)?,
    };
    if let Some(hint) = &limits.hint {
        let value = graph.value(hint);
        if value > found.certificate.lower() {
            return Ok(found.better(graph, value, hint.clone(), Gap::of(limits.gap, graph)));
        }
    }
    Ok(found)
}

fn solve_by(graph: &Graph, method: Method, limits: &Limits) -> Result<Solution, Unsupported> {
    let master = || {
        let defaults = MasterOptions::default();
        MasterOptions {
            max_iterations: limits.max_iterations.unwrap_or(defaults.max_iterations),
            time_limit: limits.time_limit,
            gap: limits.gap,
            trace: limits.trace,
            stop: limits.stop.clone(),
            ..defaults
        }
    };
    match method {
        Method::Ad3 => {
            let defaults = Ad3Options::default();
            let options = Ad3Options {
                max_iterations: limits.max_iterations.unwrap_or(defaults.max_iterations),
                time_limit: limits.time_limit,
                gap: limits.gap,
                parallel: limits.parallel,
                trace: limits.trace,
                stop: limits.stop.clone(),
                ..defaults
            };
            let mut solver = Ad3::new(options);
            if let Some(hint) = &limits.hint {
                solver.begin(graph, graph.slots_on(hint).into_iter().map(|on| on as u8 as f64));
            }
            Ok(solver.solve_knowing(graph, limits.hint.as_deref()))
        }
        Method::Subgradient => Ok(subgradient::solve(graph, Default::default(), limits)),
        Method::TwoSlave => {
            let model = patterns::Lowered::new(graph, "two-slave")?;
            Ok(model.raise(graph, two_slave::TwoSlave::new(master()).solve(&model.model), limits.gap))
        }
        Method::TreeCut => {
            let model = patterns::Lowered::new(graph, "tree-cut")?;
            Ok(model.raise(
                graph,
                two_slave::TwoSlave::of_the_paper(master()).solve(&model.model),
                limits.gap,
            ))
        }
        Method::SpanningTrees => {
            let model = patterns::Lowered::new(graph, "spanning-trees")?;
            Ok(model.raise(
                graph,
                spanning_trees::SpanningTrees::new(master()).solve(&model.model),
                limits.gap,
            ))
        }
        Method::Exact => Ok(search::solve(graph, limits)),
    }
}

/// A hint with a state for every variable of the graph.
fn complete(graph: &Graph, hint: &[u32]) -> Result<Vec<u32>, Unsupported> {
    let given = hint.len();
    let is_state = |(variable, &state): (usize, &u32)| (state as usize) < graph.states(variable);
    if given > graph.variables() || !hint.iter().enumerate().all(is_state) {
        return Err(Unsupported::Hint);
    }
    let mut states = hint.to_vec();
    states.resize(graph.variables(), 0);
    for (_, links) in graph.closed().filter(|(kind, _)| **kind == Closed::OrWithOutput) {
        let holds = |link: &Literal| {
            let variable = graph.slot_variable[link.slot()] as usize;
            let on = if graph.is_binary(variable) { 1 } else { link.slot() - graph.slots_of(variable).start };
            (states[variable] as usize == on) != link.is_negated()
        };
        if let Some((output, inputs)) = links.split_last() {
            let variable = graph.slot_variable[output.slot()] as usize;
            let any = inputs.iter().any(holds);
            if variable >= given && graph.is_binary(variable) {
                states[variable] = (any != output.is_negated()) as u32;
            } else if variable >= given && any {
                states[variable] = (output.slot() - graph.slots_of(variable).start) as u32;
            }
        }
    }
    Ok(states)
}

fn infeasible(graph: &Graph) -> Solution {
    Solution::new(graph, Certificate::infeasible(), Vec::new(), vec![0.5; graph.slots()], Vec::new())
}
