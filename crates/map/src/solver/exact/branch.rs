//! Branch and bound with every reduction and bound at every node.

use super::components::{Component, components};
use super::cycles::{Budget, tighten};
use super::elimination::{Eliminated, eliminate};
use super::lift::{Lift, Step};
use super::limits::Limits;
use super::messages::{Schedule, decode};
use super::network::Network;
use super::ordering::best_order;
use super::presolve::{Reductions, reduce};
use super::{MANY_ENTRIES, Options, Progress};
use crate::certificate::Gap;
use crate::solver::best_first::{self, Search};
use crate::solver::primal::{Dice, Effort, losses};
use std::sync::Arc;

/// A network, and how it came from the whole.
type Part = (Network, Option<Arc<Lift>>);
type Expansion = best_first::Expansion<Part>;

/// What all searches of one solve share.
pub(crate) struct Context<'a> {
    pub(crate) options: &'a Options,
    pub(crate) limits: Limits,
    pub(crate) nodes: u64,
    /// What the caller's scores were divided by.
    scale: f64,
    gap: Gap,
    /// Unit of integer scores, or zero.
    unit: f64,
    observe: &'a mut dyn FnMut(Progress),
    /// What a value of the network at hand lacks of one of the whole, as far as that is known.
    pub(crate) base: f64,
    /// Components of the whole.
    pub(crate) parts: usize,
    /// What no tolerance exceeds.
    pub(crate) most_tolerance: f64,
    /// Bound and value of the components that are not being searched.
    pub(crate) base_bound: f64,
    pub(crate) base_value: Option<f64>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        scale: f64,
        unit: f64,
        gap: Gap,
        options: &'a Options,
        observe: &'a mut dyn FnMut(Progress),
    ) -> Self {
        Self {
            limits: Limits::new(options.time_limit, options.node_limit, options.stop.clone()),
            options,
            nodes: 0,
            scale,
            gap,
            unit,
            observe,
            base: 0.0,
            parts: 1,
            most_tolerance: f64::INFINITY,
            base_bound: 0.0,
            base_value: None,
        }
    }
}

impl Context<'_> {
    pub(crate) fn reductions(&self, thorough: bool) -> Reductions {
        Reductions {
            dominance: match (self.options.dominance, thorough) {
                (false, _) => 0,
                (true, true) => 20_000_000,
                (true, false) => 2_000,
            },
            small_table: self.options.small_table,
        }
    }

    fn stopped(&self) -> bool {
        self.limits.expired() || self.limits.max_nodes.is_some_and(|most| self.nodes >= most)
    }

    /// How close to a search's optimum is close enough: a share of the gap of the whole, in which every
    /// component has one.
    fn tolerance(&self, value: f64) -> f64 {
        self.share(self.scale * (self.base + value)).min(self.most_tolerance)
    }

    /// A component's share of the gap of a whole that is worth `value`.
    fn share(&self, value: f64) -> f64 {
        0.2 * self.gap.slack(value) / (self.scale * self.parts as f64)
    }

    /// Allows no component more than its share of the gap of a whole that is worth `value`.
    pub(crate) fn narrow(&mut self, value: f64) {
        self.most_tolerance = self.share(value);
    }

    /// Whether all scores are whole numbers, whose sums are exact.
    pub(crate) fn is_whole(&self) -> bool {
        self.unit > 0.0
    }

    /// The largest score that integer tables allow up to `bound`; any other bound stays as it is.
    pub(crate) fn round_down(&self, bound: f64) -> f64 {
        if self.unit > 0.0 { (bound / self.unit + 1e-4).floor() * self.unit } else { bound }
    }

    /// Nothing at or below this is worth finding once `value` is known.
    pub(crate) fn cut(&self, value: f64) -> f64 {
        if self.unit > 0.0 { value + self.unit * (1.0 - 1e-4) } else { value + self.tolerance(value) }
    }
}

/// Result of one search.
pub(crate) struct Found {
    pub(crate) best: Option<(f64, Vec<usize>)>,
    /// Upper bound on everything, the best included.
    pub(crate) bound: f64,
    /// Whether nothing above the threshold was left unexplored.
    pub(crate) exact: bool,
}

/// Searches one connected network for its best assignment above `threshold`, of which one may be known.
pub(crate) fn search(
    network: &Network,
    threshold: f64,
    known: Option<Vec<usize>>,
    context: &mut Context,
    outermost: bool,
) -> Found {
    let mut tree =
        Tree { root: network, best: None, cut: threshold, threshold, outermost, dice: Dice::new(1) };
    if let Some(known) = known {
        tree.submit(network.value(&known), known, context);
    }
    let mut running = Running { tree, context };
    let open = best_first::run(&mut running, (network.clone(), None));
    let Running { tree, context } = running;
    let exact = open <= tree.cut;
    let closed = match &tree.best {
        Some((value, _)) if context.unit > 0.0 => *value,
        Some((value, _)) => value + context.tolerance(*value),
        None => threshold,
    };
    Found { bound: if exact { closed } else { open.max(closed) }, exact, best: tree.best }
}

/// A search at work.
struct Running<'t, 'c, 'o> {
    tree: Tree<'t>,
    context: &'c mut Context<'o>,
}

impl Search for Running<'_, '_, '_> {
    type Part = Part;

    fn cut(&self) -> f64 {
        self.tree.cut
    }

    fn is_stopped(&self) -> bool {
        self.context.stopped()
    }

    fn expand(&mut self, part: Part, bound: f64, depth: u32) -> Expansion {
        self.context.nodes += 1;
        self.tree.expand(part, bound, depth == 0, self.context)
    }

    fn held((network, _): &Part) -> usize {
        network.entries()
    }

    /// The cut itself says what was left out.
    fn leave_out(&mut self, _: f64) {}

    fn report(&mut self, bound: f64) {
        self.tree.report(bound, self.context);
    }
}

/// Rounds of tightening at the root.
struct Tightening {
    rounds: usize,
    /// Bound before the last round.
    bound: f64,
    /// Bound minus cut before the first round.
    gap: f64,
    /// Tables before the first round.
    tables: usize,
    /// The network before the first round, for elimination: added tables make it wider.
    looser: Option<(Network, Arc<Lift>)>,
}

impl Tightening {
    fn new() -> Self {
        Self { rounds: 0, bound: f64::INFINITY, gap: f64::INFINITY, tables: 0, looser: None }
    }

    /// Whether the last round was worth its time.
    fn pays(&self, bound: f64, cut: f64) -> bool {
        self.bound - bound > 0.01 * (bound - cut)
    }

    /// Whether a round has left so much of the gap that elimination looks better.
    fn disappoints(&self, bound: f64, cut: f64) -> bool {
        self.rounds > 0 && bound - cut > 0.3 * self.gap
    }

    /// Adds tables; whether there were any to add.
    fn add(
        &mut self,
        network: &mut Network,
        lift: &Arc<Lift>,
        bound: f64,
        cut: f64,
        limits: &Limits,
    ) -> bool {
        if self.rounds == 0 {
            self.gap = bound - cut;
            self.tables = network.tables.len();
            self.looser = Some((network.clone(), Arc::clone(lift)));
        }
        self.rounds += 1;
        self.bound = bound;
        let budget = Budget {
            table: 5000,
            tables: (4 * self.tables).clamp(400, 50_000),
            total: 1_000_000,
            cycles: 2000,
        };
        tighten(network, budget, limits) > 0
    }
}

/// The state of one search.
pub(crate) struct Tree<'a> {
    /// The network as given to this search.
    pub(crate) root: &'a Network,
    pub(crate) best: Option<(f64, Vec<usize>)>,
    threshold: f64,
    /// Nothing at or below this is of interest.
    pub(crate) cut: f64,
    outermost: bool,
    pub(crate) dice: Dice,
}

impl Tree<'_> {
    pub(crate) fn submit(&mut self, value: f64, assignment: Vec<usize>, context: &Context) {
        if value > self.threshold && self.best.as_ref().is_none_or(|(best, _)| value > *best) {
            self.cut = self.cut.max(context.cut(value));
            self.best = Some((value, assignment));
        }
    }

    /// Offers an assignment of a reduced network.
    fn submit_reduced(&mut self, lift: &Arc<Lift>, states: &[usize], context: &Context) {
        let assignment = lift.apply(states);
        self.submit(self.root.value(&assignment), assignment, context);
    }

    fn report(&self, bound: f64, context: &mut Context) {
        if !self.outermost {
            return;
        }
        let value = self.best.as_ref().map(|(value, _)| *value);
        let bound = bound.max(value.unwrap_or(f64::NEG_INFINITY));
        (context.observe)(Progress {
            seconds: context.limits.seconds(),
            bound: context.scale * (context.base_bound + bound),
            value: value.and_then(|value| Some(context.scale * (value + context.base_value?))),
        });
    }

    /// Reduces and bounds a node, and solves it or splits it.
    fn expand(
        &mut self,
        (mut network, mut lift): Part,
        mut bound: f64,
        at_root: bool,
        context: &mut Context,
    ) -> Expansion {
        let mut rounds = 0;
        let mut tightening = Tightening::new();
        loop {
            let reductions = context.reductions(at_root);
            let Ok((reduced, here)) = reduce(network, lift.take(), self.cut, reductions, &context.limits)
            else {
                return Expansion::Closed;
            };
            network = reduced;
            bound = bound.min(network.constant);
            if at_root && context.limits.expired() && network.entries() > MANY_ENTRIES {
                self.submit_reduced(&here, &network.best_alone(), context);
                return Expansion::Interrupted(bound);
            }
            if network.sizes.is_empty() {
                self.submit_reduced(&here, &[], context);
                return Expansion::Closed;
            }
            let affordable = if at_root { 8e6 } else { 3e5 };
            if let Some(closed) = self.try_elimination(&network, &here, affordable, at_root, context) {
                return closed;
            }
            let parts = components(&network);
            if parts.len() > 1 {
                match self.solve_smaller_parts(network, &here, parts, context) {
                    Ok((rest, rest_lift)) => (network, lift) = (rest, Some(rest_lift)),
                    Err(expansion) => return expansion,
                }
                continue;
            }
            if context.options.quick {
                return Expansion::Interrupted(bound);
            }
            let before: usize = network.sizes.iter().sum();
            if !self.pass_messages(&mut network, &here, at_root, context) {
                return Expansion::Closed;
            }
            bound = bound.min(network.constant);
            if at_root {
                self.report(bound, context);
            }
            if context.stopped() && at_root {
                return Expansion::Interrupted(bound);
            }
            // Fewer states may change everything that was too expensive before.
            let after = network.unary.iter().flatten().filter(|score| score.is_finite()).count();
            rounds += 1;
            if after < before && (after * 10 < before * 9 || rounds < 3) {
                lift = Some(here);
                continue;
            }
            if at_root {
                if let Some(closed) = self.try_elimination(&network, &here, 3e8, true, context) {
                    return closed;
                }
                if tightening.rounds > 0 {
                    self.dive(&network, &here, context);
                }
                if tightening.disappoints(bound, self.cut)
                    && let Some((looser, its_lift)) = tightening.looser.take()
                    && let Some(closed) =
                        self.try_elimination(&looser, &its_lift, f64::INFINITY, true, context)
                {
                    return closed;
                }
                if context.options.cycles
                    && tightening.pays(bound, self.cut)
                    && tightening.add(&mut network, &here, bound, self.cut, &context.limits)
                {
                    lift = Some(here);
                    continue;
                }
                if let Some(closed) = self.try_elimination(&network, &here, f64::INFINITY, true, context) {
                    return closed;
                }
            }
            return self.split(network, here, bound, context);
        }
    }

    /// Full elimination when an order within `affordable` entries exists.
    fn try_elimination(
        &mut self,
        network: &Network,
        lift: &Arc<Lift>,
        affordable: f64,
        thorough: bool,
        context: &Context,
    ) -> Option<Expansion> {
        let affordable = affordable.min(context.options.elimination_work);
        let order = best_order(network, affordable, thorough, &context.limits)?;
        match eliminate(network, &order.variables, &context.limits) {
            Eliminated::Optimum(states) => {
                self.submit_reduced(lift, &states, context);
                Some(Expansion::Closed)
            }
            Eliminated::Infeasible => Some(Expansion::Closed),
            Eliminated::Stopped => None,
        }
    }

    /// Solves all components but the largest, and leaves that one.
    fn solve_smaller_parts(
        &mut self,
        network: Network,
        lift: &Arc<Lift>,
        mut parts: Vec<Component>,
        context: &mut Context,
    ) -> Result<(Network, Arc<Lift>), Expansion> {
        parts.sort_by_key(|part| part.network.entries());
        let mut rest = parts.pop().ok_or(Expansion::Closed)?;
        let mut constant = network.constant;
        let mut steps = Vec::new();
        for part in parts {
            // In normal form every component is worth at most zero.
            context.base += constant;
            let found = search(&part.network, self.cut - constant, None, context, false);
            context.base -= constant;
            let Some((value, states)) = found.best.filter(|_| found.exact) else {
                return Err(if found.exact {
                    Expansion::Closed
                } else {
                    Expansion::Interrupted(constant + found.bound.min(0.0))
                });
            };
            constant += value;
            for (&variable, state) in part.variables.iter().zip(states) {
                steps.push(Step::Restrict { variable, kept: vec![state as u16] });
            }
        }
        rest.network.constant = constant;
        let lift = Lift {
            count: network.sizes.len(),
            variables: rest.variables,
            steps,
            parent: Some(Arc::clone(lift)),
        };
        Ok((rest.network, Arc::new(lift)))
    }

    /// Lowers the bound by message passing; false when nothing above the cut is left.
    fn pass_messages(
        &mut self,
        network: &mut Network,
        lift: &Arc<Lift>,
        at_root: bool,
        context: &Context,
    ) -> bool {
        let mut schedule = Schedule::new(network);
        let around = network.incidence();
        let most = if at_root { 300 } else { 12 };
        let least_progress = if at_root { 1e-3 } else { 0.02 };
        for sweep in 0..most {
            let before = network.constant;
            if !schedule.sweep(network, self.cut, &context.limits) || network.constant <= self.cut {
                return false;
            }
            let gap = network.constant - self.cut;
            let settled =
                before - network.constant <= least_progress * gap.min(network.constant.abs().max(1.0));
            let last = settled || sweep + 1 == most || context.limits.expired();
            // Early on to have something to prune with, and when the messages know most.
            if last || sweep == 0 || (at_root && sweep == 9) {
                // Once the time is over, only for want of anything else.
                let late = context.limits.expired() && self.best.is_some();
                let effort = match (at_root && !late, last, sweep) {
                    (true, true, _) => Effort::Full,
                    (true, false, 9) => Effort::Quick,
                    _ => Effort::Read,
                };
                self.find_assignment(network, &decode(network, &around).0, lift, effort, context);
                if network.constant <= self.cut {
                    return false;
                }
            }
            if last {
                break;
            }
        }
        true
    }

    /// Branches on the variable around which the tables disagree most for each of its states: a small domain is soon used
    /// up.
    fn split(&mut self, network: Network, lift: Arc<Lift>, bound: f64, context: &Context) -> Expansion {
        let around = network.incidence();
        let (states, _) = decode(&network, &around);
        self.submit_reduced(&lift, &states, context);
        let gap = bound - self.cut;
        let mut blame = losses(&network, &states, gap.max(1e-9));
        for (blame, &size) in blame.iter_mut().zip(&network.sizes) {
            *blame /= size as f64;
        }
        let mut chosen = 0;
        for v in 1..blame.len() {
            if blame[v] > blame[chosen] {
                chosen = v;
            }
        }
        let mut with = network.clone();
        let mut without = network;
        with.keep_only(chosen, states[chosen]);
        without.unary[chosen][states[chosen]] = f64::NEG_INFINITY;
        let halves = [(with, Some(Arc::clone(&lift))), (without, Some(lift))];
        Expansion::Split(Box::new(halves), bound)
    }
}
