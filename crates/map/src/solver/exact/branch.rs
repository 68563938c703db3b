//! Branch and bound: best-first between dives, with every reduction and bound at every node.

use super::elimination::{Eliminated, eliminate};
use super::lift::{Lift, Step};
use super::limits::Limits;
use super::local_search::{Dice, LocalSearch};
use super::messages::{Schedule, decode};
use super::network::{Network, Table};
use super::ordering::best_order;
use super::presolve::{Reductions, reduce};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

/// Limits and stages of [`solve`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Wall-clock limit; the answer then is the incumbent with a valid bound.
    pub time_limit: Option<Duration>,
    /// Limit on search nodes.
    pub node_limit: Option<u64>,
    /// Largest number of table entries that full elimination may visit.
    pub elimination_work: f64,
    /// Remove dominated states.
    pub dominance: bool,
    /// Tighten the relaxation with violated cycles.
    pub cycles: bool,
    /// Before bounding, variables go whose elimination leaves a table of at most this many entries.
    pub small_table: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time_limit: None,
            node_limit: None,
            elimination_work: f64::from(1 << 30),
            dominance: true,
            cycles: true,
            small_table: 64,
        }
    }
}

/// What was proved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// The assignment is optimal within the tolerance of 1e-6 relative.
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

/// Maximizes a network.
pub fn solve(network: &Network, options: &Options, observe: &mut dyn FnMut(Progress)) -> Answer {
    let limits = Limits::new(options.time_limit, options.node_limit);
    let mut context = Context {
        options,
        limits,
        nodes: 0,
        unit: network.score_unit(),
        observe,
        base_bound: 0.0,
        base_value: None,
    };
    let infeasible = |nodes| Answer {
        assignment: None,
        value: None,
        bound: f64::NEG_INFINITY,
        certificate: Certificate::Infeasible,
        nodes,
    };
    let reductions = context.reductions(true);
    let Ok((reduced, lift)) = reduce(network.clone(), None, f64::NEG_INFINITY, reductions, &context.limits)
    else {
        return infeasible(0);
    };
    let mut parts = components(&reduced);
    parts.sort_by_key(|part| part.network.entries());
    let mut bound = reduced.constant;
    let mut states = vec![0; reduced.sizes.len()];
    let mut complete = true;
    let mut proven = true;
    let mut known = Some(reduced.constant);
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.iter().enumerate() {
        context.base_bound = bound;
        context.base_value = known.filter(|_| index == last);
        let found = search(&part.network, None, f64::NEG_INFINITY, &mut context, true);
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
            None => {
                complete = false;
                known = None;
            }
        }
    }
    let nodes = context.nodes;
    // Reductions move scores around; a little is added so that rounding never makes the bound lie.
    let bound = bound + 1e-10 * bound.abs().max(1.0);
    if !complete {
        return Answer { assignment: None, value: None, bound, certificate: Certificate::Stopped, nodes };
    }
    let assignment = lift.apply(&states);
    let value = network.value(&assignment);
    let bound = bound.max(value);
    let close = bound - value <= 1e-6 * value.abs().max(1.0);
    Answer {
        assignment: Some(assignment),
        value: Some(value),
        bound,
        certificate: if close || (proven && bound - value <= 1e-5 * value.abs().max(1.0)) {
            Certificate::Optimal
        } else {
            Certificate::Feasible
        },
        nodes,
    }
}

struct Context<'a> {
    options: &'a Options,
    limits: Limits,
    nodes: u64,
    /// Unit of integer scores, or zero.
    unit: f64,
    observe: &'a mut dyn FnMut(Progress),
    /// Bound and value of the components that are not being searched.
    base_bound: f64,
    base_value: Option<f64>,
}

impl Context<'_> {
    fn reductions(&self, thorough: bool) -> Reductions {
        Reductions {
            dominance: match (self.options.dominance, thorough) {
                (false, _) => 0,
                (true, true) => 20_000_000,
                (true, false) => 100_000,
            },
            small_table: self.options.small_table,
        }
    }

    fn stopped(&self) -> bool {
        self.limits.expired() || self.limits.max_nodes.is_some_and(|most| self.nodes >= most)
    }

    /// Nothing at or below this is worth finding once `value` is known.
    fn cut(&self, value: f64) -> f64 {
        if self.unit > 0.0 { value + self.unit * (1.0 - 1e-4) } else { value + tolerance(value) }
    }
}

fn tolerance(value: f64) -> f64 {
    2e-7 * value.abs().max(1.0)
}

struct Part {
    network: Network,
    variables: Vec<u32>,
}

/// Connected components, each with constant zero.
fn components(network: &Network) -> Vec<Part> {
    let around = network.incidence();
    let count = network.sizes.len();
    let mut part_of = vec![u32::MAX; count];
    let mut local = vec![0u32; count];
    let mut parts: Vec<Part> = Vec::new();
    for first in 0..count {
        if part_of[first] != u32::MAX {
            continue;
        }
        let label = parts.len() as u32;
        let mut variables = vec![first as u32];
        part_of[first] = label;
        let mut next = 0;
        while next < variables.len() {
            for &index in &around[variables[next] as usize] {
                for &u in &network.tables[index as usize].scope {
                    if part_of[u as usize] == u32::MAX {
                        part_of[u as usize] = label;
                        variables.push(u);
                    }
                }
            }
            next += 1;
        }
        variables.sort_unstable();
        for (index, &v) in variables.iter().enumerate() {
            local[v as usize] = index as u32;
        }
        parts.push(Part {
            network: Network {
                sizes: variables.iter().map(|&v| network.sizes[v as usize]).collect(),
                constant: 0.0,
                unary: variables.iter().map(|&v| network.unary[v as usize].clone()).collect(),
                tables: Vec::new(),
            },
            variables,
        });
    }
    for table in &network.tables {
        let part = &mut parts[part_of[table.scope[0] as usize] as usize];
        part.network.tables.push(Table {
            scope: table.scope.iter().map(|&v| local[v as usize]).collect(),
            scores: table.scores.clone(),
        });
    }
    parts
}

struct Found {
    best: Option<(f64, Vec<usize>)>,
    /// Upper bound on everything, the best included.
    bound: f64,
    /// Whether nothing above the threshold was left unexplored.
    exact: bool,
}

struct Node {
    network: Network,
    lift: Option<Arc<Lift>>,
    bound: f64,
    depth: u32,
    serial: u64,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.bound.total_cmp(&other.bound)).then(self.serial.cmp(&other.serial))
    }
}

/// Searches one connected network for its best assignment above `threshold`.
fn search(
    network: &Network,
    start: Option<Vec<usize>>,
    threshold: f64,
    context: &mut Context,
    outermost: bool,
) -> Found {
    let mut tree = Tree {
        root: network,
        best: None,
        cut: threshold,
        threshold,
        open: BinaryHeap::new(),
        serial: 0,
        outermost,
        dice: Dice::new(1),
    };
    if let Some(assignment) = start {
        tree.submit(network.value(&assignment), assignment, context);
    }
    let mut current =
        Some(Node { network: network.clone(), lift: None, bound: f64::INFINITY, depth: 0, serial: 0 });
    let mut interrupted = Vec::new();
    while let Some(node) = current.take().or_else(|| tree.open.pop()) {
        if node.bound <= tree.cut {
            continue;
        }
        if context.stopped() && node.depth > 0 {
            interrupted.push(node.bound);
            break;
        }
        context.nodes += 1;
        match tree.expand(node, context) {
            Expansion::Closed => {}
            Expansion::Interrupted(bound) => interrupted.push(bound),
            Expansion::Split(dive, rest) => {
                tree.open.push(rest);
                current = Some(dive);
            }
        }
        if outermost {
            let pending = current.iter().map(|node| node.bound).fold(f64::NEG_INFINITY, f64::max);
            tree.report(pending.max(tree.open.peek().map_or(f64::NEG_INFINITY, |node| node.bound)), context);
        }
    }
    let open = interrupted
        .into_iter()
        .chain(tree.open.iter().map(|node| node.bound))
        .filter(|&bound| bound > tree.cut)
        .fold(f64::NEG_INFINITY, f64::max);
    let exact = open == f64::NEG_INFINITY;
    let closed = match &tree.best {
        Some((value, _)) if context.unit > 0.0 => *value,
        Some((value, _)) => value + tolerance(*value),
        None => threshold,
    };
    Found { bound: open.max(closed), exact, best: tree.best }
}

enum Expansion {
    /// Solved, or nothing good inside.
    Closed,
    /// A limit struck; the bound of what is left.
    Interrupted(f64),
    /// Two halves, the more promising first.
    Split(Node, Node),
}

struct Tree<'a> {
    root: &'a Network,
    best: Option<(f64, Vec<usize>)>,
    threshold: f64,
    cut: f64,
    open: BinaryHeap<Node>,
    serial: u64,
    outermost: bool,
    dice: Dice,
}

impl Tree<'_> {
    fn submit(&mut self, value: f64, assignment: Vec<usize>, context: &Context) {
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
        let value = self.best.as_ref().map(|(value, _)| *value);
        let bound = bound.max(value.unwrap_or(f64::NEG_INFINITY));
        (context.observe)(Progress {
            seconds: context.limits.seconds(),
            bound: context.base_bound + bound,
            value: value.and_then(|value| Some(value + context.base_value?)),
        });
    }

    fn expand(&mut self, node: Node, context: &mut Context) -> Expansion {
        let depth = node.depth;
        let at_root = depth == 0;
        let mut bound = node.bound;
        let (mut network, mut lift) = (node.network, node.lift);
        let mut round = 0;
        loop {
            let reductions = context.reductions(at_root);
            let Ok((reduced, reduced_lift)) =
                reduce(network, lift.take(), self.cut, reductions, &context.limits)
            else {
                return Expansion::Closed;
            };
            network = reduced;
            let here = reduced_lift;
            bound = bound.min(network.constant);
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
                    Ok((rest, rest_lift)) => {
                        network = rest;
                        lift = Some(rest_lift);
                        continue;
                    }
                    Err(expansion) => return expansion,
                }
            }
            let before: usize = network.sizes.iter().sum();
            if !self.pass_messages(&mut network, &here, at_root, context) {
                return Expansion::Closed;
            }
            bound = bound.min(network.constant);
            if self.outermost && at_root {
                self.report(bound, context);
            }
            if context.stopped() && at_root {
                return Expansion::Interrupted(bound);
            }
            let after: usize = network.unary.iter().flatten().filter(|s| s.is_finite()).count();
            round += 1;
            if after < before && (after * 10 < before * 9 || round < 3) {
                lift = Some(here);
                continue;
            }
            if at_root
                && let Some(closed) =
                    self.try_elimination(&network, &here, context.options.elimination_work, true, context)
            {
                return closed;
            }
            return self.split(network, here, bound, depth, context);
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
        let order = best_order(network, affordable, thorough)?;
        match eliminate(network, &order.variables, &context.limits) {
            Eliminated::Optimum(_, states) => {
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
        mut parts: Vec<Part>,
        context: &mut Context,
    ) -> Result<(Network, Arc<Lift>), Expansion> {
        parts.sort_by_key(|part| part.network.entries());
        let mut rest = parts.pop().ok_or(Expansion::Closed)?;
        let mut constant = network.constant;
        let mut steps = Vec::new();
        for part in parts {
            // In normal form every component is worth at most zero.
            let found = search(&part.network, None, self.cut - constant, context, false);
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
        let least_progress = if at_root { 1e-4 } else { 0.02 };
        let original = if at_root { Some(network.clone()) } else { None };
        for sweep in 0..most {
            let before = network.constant;
            if !schedule.sweep(network, self.cut, &context.limits) {
                return false;
            }
            if network.constant <= self.cut {
                return false;
            }
            if at_root && (sweep == 9 || sweep % 50 == 49) || sweep == 0 {
                let states = decode(network, &around);
                let base = original.as_ref().unwrap_or(network);
                let mut local = LocalSearch::new(base, states);
                local.tabu(if at_root { 500 } else { 20 }, &mut self.dice, &context.limits);
                if at_root {
                    self.improve_blocks(&mut local, context);
                }
                let states = local.assignment;
                self.submit_reduced(lift, &states, context);
                if network.constant <= self.cut {
                    return false;
                }
            }
            let gap = network.constant - self.cut;
            if context.limits.expired()
                || before - network.constant <= least_progress * gap.min(network.constant.abs().max(1.0))
            {
                break;
            }
        }
        true
    }

    /// Exact moves of neighbourhoods until they stop paying.
    fn improve_blocks(&mut self, local: &mut LocalSearch, context: &Context) {
        let count = local.assignment.len();
        let mut size = count.min(100);
        let mut failures = 0;
        let limits = context.limits.within(Duration::from_millis(200));
        while failures < 8 + count / 10 && !limits.expired() {
            if local.improve_neighbourhood(size, 2e5, &mut self.dice, &limits) {
                failures = 0;
            } else {
                failures += 1;
                if failures % 8 == 7 {
                    size = (size * 3 / 4).max(4);
                }
            }
        }
    }

    /// Branches on the variable around which the tables disagree most.
    fn split(
        &mut self,
        network: Network,
        lift: Arc<Lift>,
        bound: f64,
        depth: u32,
        context: &Context,
    ) -> Expansion {
        let around = network.incidence();
        let states = decode(&network, &around);
        self.submit_reduced(&lift, &states, context);
        let gap = bound - self.cut;
        let mut blame = vec![0.0; network.sizes.len()];
        for table in &network.tables {
            let loss = (-table.scores[network.entry(table, &states)]).min(gap.max(1e-9));
            for &v in &table.scope {
                blame[v as usize] += loss;
            }
        }
        for (v, blame) in blame.iter_mut().enumerate() {
            *blame -= network.unary[v][states[v]].max(-gap);
        }
        let mut chosen = 0;
        for v in 1..blame.len() {
            if blame[v] > blame[chosen] {
                chosen = v;
            }
        }
        let mut with = network.clone();
        let mut without = network;
        for (state, score) in with.unary[chosen].iter_mut().enumerate() {
            if state != states[chosen] {
                *score = f64::NEG_INFINITY;
            }
        }
        without.unary[chosen][states[chosen]] = f64::NEG_INFINITY;
        self.serial += 2;
        let node = |network, serial| Node {
            network,
            lift: Some(Arc::clone(&lift)),
            bound,
            depth: depth + 1,
            serial,
        };
        let serial = self.serial;
        Expansion::Split(node(with, serial), node(without, serial - 1))
    }
}
