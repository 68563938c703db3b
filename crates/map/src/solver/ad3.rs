//! AD3: alternating directions dual decomposition.
//!
//! Martins, Figueiredo, Aguiar, Smith & Xing, *AD3: Alternating Directions Dual Decomposition for MAP
//! Inference in Graphical Models* (JMLR 2015). Every factor holds copies of its variables. An iteration lets
//! each factor choose its copies (the quadratic step), averages the copies of each slot, and moves the
//! multipliers by the disagreement.
//!
//! Three things differ from the reference implementation:
//! - the penalty η starts from the problem's own scale and follows the residuals, so that multiplying all
//!   scores by a constant changes nothing but the scale of the answer;
//! - the bound is the dual function at the current multipliers, evaluated with every factor's maximizer: it
//!   is an upper bound at any moment, converged or not;
//! - feasible assignments are looked for on the way (see `primal`), so that value and bound close in from
//!   both sides.

use super::Stop;
use super::dual::Dual;
use super::layout::Layout;
use super::primal::{Primal, View};
use crate::certificate::{Certificate, Gap};
use crate::flat::Refill;
use crate::group::{SlotState, Sweep, SweepSettings, Warm, in_sense, join};
use crate::model::{FactorId, Graph, Literal};
use crate::oracle::active_set::MAX_CHANGES;
use crate::solution::{Solution, TracePoint};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// When AD3 stops and what it reports.
#[derive(Clone, Debug)]
pub struct Ad3Options {
    /// Iterations at most.
    pub max_iterations: usize,
    /// Seconds at most; checked at every report.
    pub time_limit: Option<f64>,
    /// The penalty η at the start, in units of the typical score; it follows the iterates from there. With a
    /// small one, factors known by an oracle begin near a single configuration each, which makes the first
    /// iterations cheap.
    pub penalty: f64,
    /// The relaxation counts as solved when both residuals (root mean squares over links) are below this.
    pub residual: f64,
    /// Value and bound that differ by less than this, relative to their size, prove optimality.
    pub gap: f64,
    /// Stop when the bound falls to this: the caller has something better already.
    pub cutoff: f64,
    /// Stop when 50 iterations have lowered the bound by less than this part of the gap: branching
    /// will do more. Zero goes on.
    pub stall: f64,
    /// A factor known by its oracle changes at most so many of the configurations that its point is made of in
    /// one iteration. Few make iterations of large factors cheaper, and not many more of them.
    pub changes: usize,
    /// Iterations between reports (bound, rounding, stopping tests).
    pub report_every: usize,
    /// Whether to look for feasible assignments on the way.
    pub round: bool,
    /// Whether to use the current thread pool; the results have the same bits either way.
    pub parallel: bool,
    /// Whether to record value and bound at every report.
    pub trace: bool,
    /// Ends the iterations when somebody raises it; looked at after every iteration.
    pub stop: Stop,
}

impl Default for Ad3Options {
    fn default() -> Self {
        Ad3Options {
            max_iterations: 2000,
            time_limit: None,
            penalty: 2.0,
            residual: 1e-6,
            gap: 1e-6,
            cutoff: f64::NEG_INFINITY,
            stall: 0.0,
            changes: MAX_CHANGES,
            report_every: 10,
            round: true,
            parallel: false,
            trace: false,
            stop: Stop::default(),
        }
    }
}

/// The AD3 solver. It keeps multipliers and active sets, so that solving the same graph again after its
/// scores changed starts from where it ended. On a graph that was [cleared](Graph::clear) and filled anew, it
/// starts afresh in the same memory.
#[derive(Default)]
pub struct Ad3 {
    /// Limits and tolerances; may be changed between solves.
    pub options: Ad3Options,
    state: Option<State>,
}

impl fmt::Debug for Ad3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ad3").field("options", &self.options).finish_non_exhaustive()
    }
}

/// How much copies count against the previous belief in the update (over-relaxation, Eckstein & Bertsekas
/// 1992).
const RELAXATION: f64 = 1.6;

/// Rounding visits links in no order, sweeps visit them in sequence: a link costs this many times as much
/// there. This keeps rounding well below the cost of the sweeps; beliefs that are integral are rounded at
/// once.
const ROUND_COST: usize = 8;

/// Graphs with more links are rounded beside the iterations that follow, so that a second thread has something to do.
const ROUND_BESIDE: usize = 1 << 15;

/// Graphs with fewer links are worked on by one thread, since another would take longer to wake than to help.
const SHARE_FROM: usize = 1 << 16;

/// After so many of these the assignment is there.
const BESIDE: usize = 50;

/// How many iterations back [`Ad3Options::stall`] looks.
const STALL_AFTER: usize = 50;

/// Iterations between multipliers that are averaged, and between looks at what the average proves.
const AVERAGE_EVERY: [usize; 2] = [5, 20];

/// Iterations between changes of the penalty.
const ETA_EVERY: usize = 10;

/// Multipliers, copies and beliefs of one graph.
#[derive(Default)]
struct State {
    dual: Dual,
    primal: Primal,
    copies: Vec<f64>,
    targets: Vec<f64>,
    slots: Vec<SlotState>,
    /// The slots' beliefs in a row, for rounding.
    beliefs: Vec<f64>,
    /// What rounding keeps for groups, where it works beside the iterations.
    warm: Vec<Warm>,
    eta: f64,
    old_eta: f64,
}

/// Root mean squares over links of how far copies are from their belief, and beliefs from the iteration
/// before.
struct Residuals {
    primal: f64,
    dual: f64,
}

impl State {
    /// Makes this the state of another graph, as if it were new, in the same memory.
    fn rebuild(&mut self, graph: &Graph) {
        self.dual.rebuild(graph);
        let links = self.dual.layout.links();
        self.copies.refill(links, 0.5);
        self.targets.refill(links, f64::INFINITY);
        self.slots.refill(graph.slots(), SlotState { belief: 0.5, previous: 0.5, share: 0.0 });
        (self.eta, self.old_eta) = (0.0, 0.0);
    }

    fn read_scores(&mut self, graph: &Graph, fixed: &[Option<bool>]) {
        self.dual.read_scores(graph, fixed);
        for (slot, state) in self.slots.iter_mut().enumerate() {
            state.share = self.dual.share[slot];
            if self.dual.layout.degree(slot) == 0 {
                state.belief = (state.share > 0.0) as u8 as f64;
                state.previous = state.belief;
            }
        }
        // Targets of the last solve do not stand for these scores.
        self.targets.fill(f64::INFINITY);
    }

    fn sweep(&mut self, graph: &Graph, tolerance: f64, options: &Ad3Options) {
        let Dual { layout, warm, multipliers, .. } = &mut self.dual;
        let common = SweepSettings {
            slots: &self.slots,
            old_eta: self.old_eta,
            eta: self.eta,
            relaxation: RELAXATION,
            changes: options.changes.max(1),
            tolerance,
            parallel: options.parallel,
        };
        for (group, warm) in warm.iter_mut().enumerate() {
            let range = layout.group_start[group]..layout.group_start[group + 1];
            let sweep = Sweep {
                common: &common,
                multipliers: &mut multipliers[range.clone()],
                copies: &mut self.copies[range.clone()],
                targets: &mut self.targets[range],
            };
            layout.group(graph, group).quadratic(warm, sweep);
        }
        self.old_eta = self.eta;
    }

    /// New beliefs from the copies.
    fn average(&mut self, parallel: bool) -> Residuals {
        let (primal, dual) = average_slots(&self.dual.layout, &self.copies, 0, &mut self.slots, parallel);
        let links = self.dual.layout.links().max(1) as f64;
        Residuals { primal: (primal / links).sqrt(), dual: (dual / links).sqrt() }
    }

    /// Whether every belief is as good as decided.
    fn is_integral(&self) -> bool {
        self.slots.iter().all(|slot| (slot.belief - slot.belief.round()).abs() < 1e-3)
    }

    fn gather_beliefs(&self, beliefs: &mut Vec<f64>) {
        beliefs.clear();
        beliefs.extend(self.slots.iter().map(|slot| slot.belief));
    }

    /// Moves η half way (in logarithm) to where it balances the two distances travelled: multipliers against
    /// beliefs.
    ///
    /// The convergence bound of ADMM is ‖λ*−λ₀‖²/η + η‖p*−p₀‖², least at η = ‖λ*‖/‖p*‖; the current iterates
    /// stand for the optimal ones. (The same idea sets the primal weight of first-order linear programming,
    /// Applegate et al. 2021.) Over grids, coverage, logic and genetic graphs, half of that ratio was never
    /// far from the best constant.
    fn follow_distances(&mut self) {
        let multipliers = self.dual.multipliers.iter().map(|x| x * x).sum::<f64>();
        let beliefs = self.slots.iter().map(|slot| slot.belief * slot.belief).sum::<f64>();
        let rms = |squares: f64, count: usize| (squares / count.max(1) as f64).sqrt();
        let (dual, primal) = (rms(multipliers, self.dual.multipliers.len()), rms(beliefs, self.slots.len()));
        if dual > 0.0 && primal > 0.0 && dual.is_finite() {
            // Multipliers that penalties drive far off, or that stay at zero, must not take the penalty with
            // them.
            let scale = self.dual.scale;
            self.eta = (self.eta * 0.5 * dual / primal).sqrt().clamp(1e-8 * scale, 1e8 * scale);
        }
    }
}

/// Averages the copies of each slot; returns the two sums of squares. Split in the same places for any number
/// of threads.
fn average_slots(
    layout: &Layout,
    copies: &[f64],
    first: usize,
    slots: &mut [SlotState],
    parallel: bool,
) -> (f64, f64) {
    if slots.len() > 4096 {
        let middle = slots.len() / 2;
        let (left, right) = slots.split_at_mut(middle);
        let (a, b) = join(
            parallel,
            || average_slots(layout, copies, first, left, parallel),
            || average_slots(layout, copies, first + middle, right, parallel),
        );
        return (a.0 + b.0, a.1 + b.1);
    }
    let (mut primal, mut dual) = (0.0, 0.0);
    let ends = layout.slot_start[first..=first + slots.len()].windows(2);
    for (slot, ends) in slots.iter_mut().zip(ends) {
        slot.previous = slot.belief;
        let links = &layout.slot_links[ends[0] as usize..ends[1] as usize];
        if links.is_empty() {
            continue;
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for &link in links {
            let copy = in_sense(link, copies[(link >> 1) as usize]);
            sum += copy;
            squares += copy * copy;
        }
        let count = links.len() as f64;
        let mean = sum / count;
        // Copies lie between zero and one, so the difference keeps enough digits for the stopping test.
        primal += (squares - sum * mean).max(0.0);
        slot.belief = RELAXATION * mean + (1.0 - RELAXATION) * slot.previous;
        dual += count * (slot.belief - slot.previous).powi(2);
    }
    (primal, dual)
}

/// The links of a factor, and the place of the first one among all.
fn links_of<'a>(layout: &'a Layout, graph: &'a Graph, factor: FactorId) -> (&'a [Literal], usize) {
    let group = layout.group(graph, factor.group as usize);
    let range = group.range(factor.index as usize);
    (&group.links()[range.clone()], layout.group_start[factor.group as usize] + range.start)
}

impl Ad3 {
    /// A solver with these options.
    pub fn new(options: Ad3Options) -> Self {
        Ad3 { options, state: None }
    }

    /// Forgets multipliers and active sets.
    pub fn reset(&mut self) {
        self.state = None;
    }

    /// Lets the next solve of this graph begin at an assignment instead of nowhere. `beliefs` are the slots':
    /// one of each binary variable, one for each state of the others.
    pub fn begin(&mut self, graph: &Graph, beliefs: impl IntoIterator<Item = f64>) {
        let state = self.state.get_or_insert_default();
        state.rebuild(graph);
        state.read_scores(graph, &[]);
        state.eta = self.options.penalty * state.dual.scale;
        for (slot, (own, belief)) in state.slots.iter_mut().zip(beliefs).enumerate() {
            (own.belief, own.previous) = (belief, belief);
            for &link in state.dual.layout.links_of(slot) {
                state.copies[(link >> 1) as usize] = in_sense(link, belief);
            }
        }
    }

    /// Sets what a factor has of the scores of its links, after [`begin`](Self::begin). What the factors have
    /// of a slot together should be its score; the bound counts a difference at its most useful.
    pub fn divide(&mut self, graph: &Graph, factor: FactorId, scores: &[f64]) {
        let Some(state) = &mut self.state else { return };
        let Dual { layout, multipliers, share, .. } = &mut state.dual;
        let (links, first) = links_of(layout, graph, factor);
        for ((literal, &score), multiplier) in links.iter().zip(scores).zip(&mut multipliers[first..]) {
            let score = if literal.is_negated() { -score } else { score };
            *multiplier = score - share[literal.slot()];
        }
    }

    /// What a factor has of the scores of its links, after a solve.
    pub fn divided<'a>(&'a self, graph: &'a Graph, factor: FactorId) -> impl Iterator<Item = f64> + 'a {
        self.state.iter().flat_map(move |state| {
            let Dual { layout, multipliers, share, .. } = &state.dual;
            let (links, first) = links_of(layout, graph, factor);
            links.iter().zip(&multipliers[first..]).map(|(literal, multiplier)| {
                let score = share[literal.slot()] + multiplier;
                if literal.is_negated() { -score } else { score }
            })
        })
    }

    /// Solves the relaxation of `graph` and rounds it.
    pub fn solve(&mut self, graph: &Graph) -> Solution {
        self.solve_fixed(graph, &[])
    }

    /// Decides open slots by the bound at the last multipliers, see [`Dual::decide`].
    pub(crate) fn decide(&mut self, graph: &Graph, needed: f64, fixed: &mut [Option<bool>]) -> bool {
        self.state.as_mut().is_none_or(|state| state.dual.decide(graph, needed, fixed))
    }

    /// Reads the scores as they are without anything fixed: those of the last node hold for its case alone.
    pub(crate) fn reread(&mut self, graph: &Graph) {
        if let Some(state) = &mut self.state {
            state.read_scores(graph, &[]);
        }
    }

    /// The dual solution of the last solve.
    pub(crate) fn dual(&self) -> Option<&Dual> {
        self.state.as_ref().map(|state| &state.dual)
    }

    /// How many factors a slot is in.
    pub(crate) fn degree(&self, slot: usize) -> usize {
        self.state.as_ref().map_or(0, |state| state.dual.layout.degree(slot))
    }

    /// Solves, with an assignment that is known before.
    pub(crate) fn solve_knowing(&mut self, graph: &Graph, known: Option<&[u32]>) -> Solution {
        self.run(graph, &[], known)
    }

    /// Solves with some slots fixed (branch and bound); an empty slice fixes none.
    pub(crate) fn solve_fixed(&mut self, graph: &Graph, fixed: &[Option<bool>]) -> Solution {
        self.run(graph, fixed, None)
    }

    fn run(&mut self, graph: &Graph, fixed: &[Option<bool>], known: Option<&[u32]>) -> Solution {
        let start = Instant::now();
        let mut options = self.options.clone();
        let fresh = self.state.as_ref().is_none_or(|state| state.dual.layout.structure != graph.structure);
        let state = self.state.get_or_insert_default();
        if fresh {
            state.rebuild(graph);
        }
        state.read_scores(graph, fixed);
        options.parallel &= state.dual.layout.links() >= SHARE_FROM;
        let scale = state.dual.scale;
        if fresh {
            state.eta = options.penalty * scale;
        }
        let mut primal = std::mem::take(&mut state.primal);
        primal.reset(graph, &state.dual.layout, scale, state.dual.large);
        if let Some(known) = known {
            let mut view = View { graph, layout: &state.dual.layout, warm: &mut state.dual.warm };
            primal.offer(&mut view, known);
        }
        let layout = Arc::clone(&state.dual.layout);
        let (mut beliefs, mut warm) = (std::mem::take(&mut state.beliefs), std::mem::take(&mut state.warm));
        let beside = layout.links() > ROUND_BESIDE;
        if beside {
            let mut spare = std::mem::take(&mut warm);
            warm.extend((0..layout.groups()).map(|group| layout.group(graph, group).warm(&mut spare)));
        }
        let gap = Gap::of(options.gap, graph);
        let mut run = Run {
            graph,
            options: &options,
            gap,
            start,
            state,
            bound: f64::INFINITY,
            iteration: 0,
            looked_at: (0, f64::INFINITY),
            trace: Vec::new(),
        };
        let (mut waiting, mut until) = (false, 0);
        let infeasible = loop {
            let value = primal.value;
            let (moment, ()) = join(
                options.parallel && waiting,
                || run.advance(value, until),
                || {
                    if waiting {
                        primal.consider(&mut View { graph, layout: &layout, warm: &mut warm }, &beliefs);
                    }
                },
            );
            let last = match moment {
                Moment::Round { last } => last,
                Moment::End { infeasible } => break infeasible,
            };
            waiting = false;
            let due = primal.work * ROUND_COST <= run.iteration * layout.links();
            let is_integral = || run.state.is_integral();
            if last || (run.iteration > 0 && (due || is_integral())) {
                waiting = beside && !last && !is_integral();
                run.state.gather_beliefs(&mut beliefs);
                if waiting {
                    until = run.iteration + BESIDE;
                } else {
                    let mut view = View { graph, layout: &layout, warm: &mut run.state.dual.warm };
                    primal.consider(&mut view, &beliefs);
                }
            }
            if let Some(infeasible) = run.report(primal.value, last) {
                break infeasible;
            }
            run.count();
        };
        let Run { bound, iteration, trace, state, .. } = run;
        let certificate = match infeasible {
            true => Certificate::infeasible(),
            false => Certificate::judge(Some(primal.value), bound + state.dual.rounding(graph), gap),
        };
        let certificate = certificate.after(iteration, start.elapsed().as_secs_f64());
        let marginals = state.slots.iter().map(|slot| slot.belief.clamp(0.0, 1.0)).collect();
        let assignment = std::mem::take(&mut primal.assignment);
        (state.primal, state.beliefs, state.warm) = (primal, beliefs, warm);
        Solution::new(graph, certificate, assignment, marginals, trace)
    }
}

/// A solve at work.
struct Run<'a> {
    graph: &'a Graph,
    options: &'a Ad3Options,
    gap: Gap,
    start: Instant,
    state: &'a mut State,
    bound: f64,
    iteration: usize,
    /// When the bound was last looked at for [`Ad3Options::stall`], and what it was.
    looked_at: (usize, f64),
    trace: Vec<TracePoint>,
}

/// Why the iterations have stopped.
enum Moment {
    /// It is time to look for an assignment.
    Round { last: bool },
    /// There is nothing more to do.
    End { infeasible: bool },
}

impl Run<'_> {
    /// Iterates while the best assignment is worth `value`. From `until` on, and where beliefs are integral, every report
    /// may want a new one.
    fn advance(&mut self, value: f64, until: usize) -> Moment {
        let options = self.options;
        loop {
            let residuals = if self.iteration > 0 {
                self.state.sweep(self.graph, 1e-12, options);
                let residuals = self.state.average(options.parallel);
                if self.iteration.is_multiple_of(AVERAGE_EVERY[0]) {
                    self.state.dual.average();
                }
                residuals
            } else {
                Residuals { primal: 1.0, dual: 1.0 }
            };
            let converged = residuals.primal < options.residual && residuals.dual < options.residual;
            let last = converged || self.iteration >= options.max_iterations || options.stop.is_raised();
            if last || self.iteration.is_multiple_of(options.report_every.max(1)) {
                let dual = &mut self.state.dual;
                let looks = self.iteration >= AVERAGE_EVERY[1]
                    && (last || self.iteration.is_multiple_of(AVERAGE_EVERY[1]));
                let bound = match looks {
                    true => dual.better_bound(self.graph, options.parallel),
                    false => dual.bound(self.graph, options.parallel),
                };
                self.bound = self.bound.min(bound);
                if options.round && (last || self.iteration >= until || self.state.is_integral()) {
                    return Moment::Round { last };
                }
                if let Some(infeasible) = self.report(value, last) {
                    return Moment::End { infeasible };
                }
            }
            self.count();
        }
    }

    /// Tells the trace how far it is; whether that is the end, and of what kind.
    fn report(&mut self, value: f64, last: bool) -> Option<bool> {
        let Run { options, bound, iteration, .. } = *self;
        let seconds = self.start.elapsed().as_secs_f64();
        if options.trace {
            self.trace.push(TracePoint { iteration, seconds, bound, value });
        }
        if self.state.dual.proves_infeasible(self.graph, bound) {
            return Some(true);
        }
        if self.gap.closes(value, bound)
            || last
            || bound <= options.cutoff
            || options.time_limit.is_some_and(|limit| seconds >= limit)
        {
            return Some(false);
        }
        if options.stall > 0.0 && (iteration == 0 || iteration >= self.looked_at.0 + STALL_AFTER) {
            if iteration > 0 && self.looked_at.1 - bound < options.stall * (bound - value).min(bound.abs()) {
                return Some(false);
            }
            self.looked_at = (iteration, bound);
        }
        None
    }

    fn count(&mut self) {
        self.iteration += 1;
        if self.iteration.is_multiple_of(ETA_EVERY) {
            self.state.follow_distances();
        }
    }
}
