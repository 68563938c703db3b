//! Exact maximization of networks of tables, with a certificate.
//!
//! A problem passes through stages, each of which may finish it, and every search node passes through them again:
//!
//! 1. *Reduction* (`presolve`): forbidden, dominated and hopeless states go, and so do variables whose elimination
//!    leaves a small table; what remains falls into connected components.
//! 2. *Elimination* (`elimination`) where the network is narrow enough.
//! 3. *Message passing* (`messages`) lowers the bound and forbids states that cannot beat the incumbent, while
//!    `primal` rounds, searches locally and dives to raise it.
//! 4. *Tightening* (`cycles`) adds tables over frustrated cycles, which the bound cannot see otherwise.
//! 5. *Branching* (`branch`), best-first between dives.
//!
//! ```
//! use consonant_map::solver::exact::{Certificate, Network, Options, solve};
//!
//! // Three variables that all want to differ, which two states do not allow.
//! let mut network = Network::new(&[2, 2, 2])?;
//! for pair in [[0, 1], [1, 2], [0, 2]] {
//!     network.add_table(&pair, &[0.0, 1.0, 1.0, 0.0])?;
//! }
//! let answer = solve(&network, &Options::default(), &mut |_| {});
//! assert_eq!(answer.certificate, Certificate::Optimal);
//! assert_eq!(answer.value, Some(2.0));
//! # Ok::<(), consonant_map::solver::exact::NetworkError>(())
//! ```

mod branch;
mod components;
mod cycles;
mod elimination;
mod lift;
mod limits;
mod local_search;
mod messages;
mod network;
mod odd_cycles;
mod ordering;
mod presolve;
mod primal;
#[cfg(test)]
mod tests;

pub(super) use network::common_unit;
pub use network::{Network, NetworkError, Table};

use branch::{Context, search};
use components::components;
use presolve::reduce;
use std::time::Duration;

/// Limits and stages of [`solve`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Wall-clock limit; the answer then is the incumbent with a valid bound.
    pub time_limit: Option<Duration>,
    /// Limit on search nodes; the first node of every component is visited in any case.
    pub node_limit: Option<u64>,
    /// Largest number of table entries that full elimination may visit.
    pub elimination_work: f64,
    /// Before bounding, variables go whose elimination leaves a table of at most this many entries; 0 keeps all.
    pub small_table: usize,
    /// Remove dominated states.
    pub dominance: bool,
    /// Tighten the relaxation with frustrated cycles.
    pub cycles: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time_limit: None,
            node_limit: None,
            elimination_work: f64::from(1 << 30),
            small_table: 64,
            dominance: true,
            cycles: true,
        }
    }
}

/// What was proved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The assignment is optimal within 1e-6 relative.
    Optimal,
    /// An assignment and a bound, with a gap between them.
    Feasible,
    /// No assignment is allowed.
    Infeasible,
    /// A limit was reached before any allowed assignment was found.
    Stopped,
}

/// Result of [`solve`].
#[derive(Clone, Debug)]
pub struct Answer {
    /// State of every variable.
    pub assignment: Option<Vec<usize>>,
    /// Score of the assignment, recomputed from the tables as given.
    pub value: Option<f64>,
    /// Upper bound on every assignment; `-inf` when infeasible.
    pub bound: f64,
    /// What was proved.
    pub certificate: Certificate,
    /// Search nodes visited.
    pub nodes: u64,
}

/// State of the search at one moment, for traces.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Seconds since the start.
    pub seconds: f64,
    /// Upper bound.
    pub bound: f64,
    /// Value of the incumbent, if one is known for the whole network.
    pub value: Option<f64>,
}

/// Maximizes a network. `observe` is called whenever bound or value may have improved.
///
/// The same input gives the same answer, unless the time limit strikes.
pub fn solve(network: &Network, options: &Options, observe: &mut dyn FnMut(Progress)) -> Answer {
    // Tolerances inside are meant for scores around one; a power of two keeps every bit.
    let scale = network.scale();
    let scaled = network.divided(scale);
    let allowance = rounding_allowance(&scaled);
    let mut context = Context::new(scale, network.score_unit() / scale, options, observe);
    let reductions = context.reductions(true);
    let Ok((reduced, lift)) = reduce(scaled, None, f64::NEG_INFINITY, reductions, &context.limits) else {
        return infeasible(0);
    };
    let mut parts = components(&reduced);
    parts.sort_by_key(|part| part.network.entries());
    let mut bound = reduced.constant;
    let mut states = vec![0; reduced.sizes.len()];
    // Value of the components done so far, none once one of them found nothing.
    let mut known = Some(reduced.constant);
    let mut proven = true;
    for (index, part) in parts.iter().enumerate() {
        context.base_bound = bound;
        context.base_value = known.filter(|_| index + 1 == parts.len());
        let found = search(&part.network, f64::NEG_INFINITY, &mut context, true);
        bound += found.bound;
        proven &= found.exact;
        match found.best {
            Some((value, assignment)) => {
                known = known.map(|known| known + value);
                for (&v, state) in part.variables.iter().zip(assignment) {
                    states[v as usize] = state;
                }
            }
            None if found.exact => return infeasible(context.nodes),
            None => known = None,
        }
    }
    let nodes = context.nodes;
    let bound = scale * context.round_down(bound + allowance + 1e-12 * bound.abs());
    if known.is_none() {
        return Answer { assignment: None, value: None, bound, certificate: Certificate::Stopped, nodes };
    }
    let assignment = lift.apply(&states);
    let value = network.value(&assignment);
    let bound = bound.max(value);
    let optimal = proven || bound - value <= 1e-6 * value.abs().max(scale.min(1.0));
    Answer {
        assignment: Some(assignment),
        value: Some(value),
        bound,
        certificate: if optimal { Certificate::Optimal } else { Certificate::Feasible },
        nodes,
    }
}

fn infeasible(nodes: u64) -> Answer {
    Answer {
        assignment: None,
        value: None,
        bound: f64::NEG_INFINITY,
        certificate: Certificate::Infeasible,
        nodes,
    }
}

/// Reductions and messages move scores around; so much is added that their rounding never makes the bound lie.
fn rounding_allowance(network: &Network) -> f64 {
    let largest =
        |scores: &[f64]| scores.iter().filter(|s| s.is_finite()).fold(0.0, |most: f64, s| most.max(s.abs()));
    let magnitude: f64 = network.unary.iter().map(|scores| largest(scores)).sum::<f64>()
        + network.tables.iter().map(|table| largest(&table.scores)).sum::<f64>();
    1e-12 * magnitude.max(1.0)
}
