//! Exact maximization of networks of tables, with a certificate.
//!
//! A problem passes through stages, each of which may finish it, and every search node passes through them
//! again:
//!
//! 1. *Reduction* (`presolve`): forbidden, dominated and hopeless states go, and so do variables whose
//!    elimination leaves a small table; what remains falls into connected components.
//! 2. *Elimination* (`elimination`) where the network is narrow enough.
//! 3. *Message passing* (`messages`) lowers the bound and forbids states that cannot beat the incumbent,
//!    while `solver::primal` rounds, searches locally and dives to raise it.
//! 4. *Tightening* (`cycles`) adds tables over frustrated cycles, which the bound cannot see otherwise.
//! 5. *Branching* (`branch`), best-first between dives.
//!
//! ```
//! use consonant_map::solver::exact::{Network, Options, solve};
//!
//! // Three variables that all want to differ, which two states do not allow.
//! let mut network = Network::new(&[2, 2, 2])?;
//! for pair in [[0, 1], [1, 2], [0, 2]] {
//!     network.add_table(&pair, &[0.0, 1.0, 1.0, 0.0])?;
//! }
//! let answer = solve(&network, &Options::default(), &mut |_| {});
//! assert!(answer.certificate.is_optimal());
//! assert_eq!(answer.certificate.value(), Some(2.0));
//! # Ok::<(), consonant_map::ModelError>(())
//! ```

pub(super) mod branch;
mod components;
mod cycles;
mod dominance;
pub(super) mod elimination;
pub(super) mod lift;
pub(super) mod limits;
pub(super) mod messages;
pub(super) mod network;
mod odd_cycles;
pub(crate) mod ordering;
pub(super) mod presolve;

pub(crate) use network::common_unit;
pub use network::{Network, Table};

use crate::certificate::{Certificate, Gap, Status};
use crate::oracle::lanes::largest;
use crate::solver::Stop;
use branch::{Context, search};
use components::components;
use presolve::reduce;
use std::time::Duration;

/// Limits and stages of [`solve`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Wall-clock limit; the answer then is the incumbent with a valid bound.
    pub time_limit: Option<Duration>,
    /// Whether to end after reductions, and elimination where that is cheap.
    pub quick: bool,
    /// Limit on search nodes; the first node of every component is visited in any case.
    pub node_limit: Option<u64>,
    /// Value and bound that differ by less than this, relative to their size, prove optimality.
    pub gap: f64,
    /// Largest number of table entries that full elimination may visit.
    pub elimination_work: f64,
    /// Before bounding, variables go whose elimination leaves a table of at most this many entries; 0 keeps
    /// all.
    pub small_table: usize,
    /// Remove dominated states.
    pub dominance: bool,
    /// Tighten the relaxation with frustrated cycles.
    pub cycles: bool,
    /// An assignment to begin with. Reductions may have to leave it aside.
    pub start: Option<Vec<usize>>,
    /// Ends the search when somebody raises it, as the time limit does.
    pub stop: Stop,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time_limit: None,
            quick: false,
            node_limit: None,
            gap: 1e-6,
            elimination_work: f64::from(1 << 30),
            small_table: 64,
            dominance: true,
            cycles: true,
            start: None,
            stop: Stop::default(),
        }
    }
}

/// Result of [`solve`].
#[derive(Clone, Debug)]
pub struct Answer {
    /// The state of every variable, if the certificate has a value.
    pub assignment: Option<Vec<usize>>,
    /// What was proved, and in how many search nodes; the value is computed from the tables as given.
    pub certificate: Certificate,
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

/// With more entries than this, the first node takes so long that it is left out when the time is over before.
const MANY_ENTRIES: usize = 1 << 21;

/// Maximizes a network. `observe` is called whenever bound or value may have improved.
///
/// The same input gives the same answer, unless the time limit strikes.
pub fn solve(network: &Network, options: &Options, observe: &mut dyn FnMut(Progress)) -> Answer {
    consume(network.clone(), options, &|states| network.value(states), observe)
}

/// The same for a network that is not needed any more; somebody else says what an assignment is worth.
pub(super) fn consume(
    mut network: Network,
    options: &Options,
    value_of: &dyn Fn(&[usize]) -> f64,
    observe: &mut dyn FnMut(Progress),
) -> Answer {
    // Tolerances inside are meant for scores around one; a power of two keeps every bit.
    let scale = network.scale();
    let gap = Gap::from(options.gap).at_scale(network.typical_size());
    let unit = network.score_unit();
    let sums = 8 + network.sizes.len() + network.tables.len();
    network.divide(scale);
    let allowance = rounding_allowance(&network);
    let mut context = Context::new(scale, unit / scale, gap, options, observe);
    let reductions = context.reductions(true);
    let Ok((reduced, lift)) = reduce(network, None, f64::NEG_INFINITY, reductions, &context.limits) else {
        return infeasible(&context);
    };
    if context.limits.expired() && reduced.entries() > MANY_ENTRIES {
        // In normal form nothing is worth more than the constant.
        let bound = reduced.constant + allowance + 1e-12 * reduced.constant.abs();
        let assignment = match &options.start {
            Some(states) => states.clone(),
            None => lift.apply(&reduced.best_alone()),
        };
        let value = value_of(&assignment);
        let certificate = Certificate::judge(Some(value), scale * context.round_down(bound), gap);
        let assignment = certificate.value().map(|_| assignment);
        return Answer { assignment, certificate: certificate.after(0, context.limits.seconds()) };
    }
    let mut parts = components(&reduced);
    parts.sort_by_key(|part| part.network.entries());
    context.parts = parts.len();
    let start = options.start.as_ref().map(|states| lift.project(states));
    loop {
        let mut bound = reduced.constant;
        let mut states = vec![0; reduced.sizes.len()];
        // Value of the components done so far, none once one of them found nothing.
        let mut known = Some(reduced.constant);
        let mut proven = true;
        for (index, part) in parts.iter().enumerate() {
            context.base_bound = bound;
            context.base = known.unwrap_or(bound);
            context.base_value = known.filter(|_| index + 1 == parts.len());
            let begin =
                start.as_ref().map(|states| part.variables.iter().map(|&v| states[v as usize]).collect());
            let found = search(&part.network, f64::NEG_INFINITY, begin, &mut context, true);
            bound += found.bound;
            proven &= found.exact;
            match found.best {
                Some((value, assignment)) => {
                    known = known.map(|known| known + value);
                    for (&v, state) in part.variables.iter().zip(assignment) {
                        states[v as usize] = state;
                    }
                }
                None if found.exact => return infeasible(&context),
                None => known = None,
            }
        }
        // A search that came to its end left out what is within a tolerance, and sums were rounded on the
        // way. Where that is not far below the tolerance, because scores differ by many orders, the end
        // proves no more than any other moment.
        let within = known.is_some_and(|known| scale * allowance <= 0.1 * gap.slack(scale * known));
        let allowance = match proven && (within || context.is_whole()) {
            true => f64::EPSILON * sums as f64 * 1e12 * allowance,
            false => allowance + 1e-12 * bound.abs(),
        };
        let bound = scale * context.round_down(bound + allowance);
        let assignment = known.map(|_| lift.apply(&states));
        let value = assignment.as_deref().map(value_of);
        let certificate = Certificate::judge(value, bound, gap);
        let is_last = !proven || parts.len() < 2 || context.most_tolerance.is_finite();
        if certificate.status() != Status::Feasible || is_last {
            let (nodes, seconds) = (context.nodes as usize, context.limits.seconds());
            return Answer { assignment, certificate: certificate.after(nodes, seconds) };
        }
        // Components were searched before the value of the whole was known, and with too wide a tolerance for
        // it: once more.
        context.narrow(certificate.lower());
    }
}

fn infeasible(context: &Context) -> Answer {
    let certificate = Certificate::infeasible().after(context.nodes as usize, context.limits.seconds());
    Answer { assignment: None, certificate }
}

/// Reductions and messages move scores around; this much is added so that their rounding never makes the
/// bound too low.
fn rounding_allowance(network: &Network) -> f64 {
    let magnitude: f64 = network.unary.iter().map(|scores| largest(scores)).sum::<f64>()
        + network.tables.iter().map(|table| largest(&table.scores)).sum::<f64>();
    1e-12 * magnitude.max(1.0)
}
