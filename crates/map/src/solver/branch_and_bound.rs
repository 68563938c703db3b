//! Branch and bound over AD3's bound, for graphs with factors that only an oracle knows.
//!
//! Of the two halves of a case the one that the relaxation prefers is solved next. AD3 goes on from the
//! multipliers of the case solved last. What the bound alone decides is fixed before branching, which leaves
//! little to branch on where the relaxation is good.

use super::Limits;
use super::ad3::{Ad3, Ad3Options};
use super::best_first::{self, Expansion};
use super::exact::common_unit;
use crate::certificate::{Certificate, Gap, Status};
use crate::factor::Closed;
use crate::model::Graph;
use crate::solution::{Solution, TracePoint};
use std::time::Instant;

/// Iterations of AD3 at nodes, which start from the multipliers of the one before.
const NODE_ITERATIONS: usize = 300;

impl Ad3 {
    /// Goes on by branch and bound where [`solve`](Ad3::solve) found a gap, until the limits stop it. Nodes
    /// (`limits` counts them as iterations) are solved with the options of this solver and begin with its
    /// multipliers. What comes back is never worse than `relaxed`, in value or in bound.
    ///
    /// ```
    /// use consonant_map::solver::Limits;
    /// use consonant_map::{Ad3, Graph, Status};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.binaries(&[1.0, 1.0, 1.0])?;
    /// for (i, j) in [(0, 1), (1, 2), (2, 0)] {
    ///     graph.at_most_one([x[i], x[j]])?;
    /// }
    /// let mut solver = Ad3::default();
    /// let relaxed = solver.solve(&graph);
    /// assert_eq!(relaxed.certificate.status(), Status::Feasible);
    /// let found = solver.close(&graph, relaxed, &Limits::default()).certificate;
    /// assert_eq!((found.status(), found.value()), (Status::Optimal, Some(1.0)));
    /// # Ok::<(), consonant_map::ModelError>(())
    /// ```
    pub fn close(&mut self, graph: &Graph, relaxed: Solution, limits: &Limits) -> Solution {
        self.close_beside(graph, relaxed, limits, &mut |_| None)
    }

    /// The same, asking `beside` now and then for something better than the best assignment.
    pub(crate) fn close_beside(
        &mut self,
        graph: &Graph,
        relaxed: Solution,
        limits: &Limits,
        beside: &mut Beside<'_>,
    ) -> Solution {
        if relaxed.certificate.is_settled() {
            return relaxed;
        }
        self.reread(graph);
        let options = self.options.clone();
        let solution = Search::new(graph, self, limits, relaxed, beside).finish();
        self.options = options;
        solution
    }
}

/// Looks for an assignment that is better than the one that is known, and says what it is worth.
pub(crate) type Beside<'a> = dyn FnMut(Option<&[u32]>) -> Option<(f64, Vec<u32>)> + 'a;

/// Nodes before the first look beside; between others it is as many times more.
const BESIDE_EVERY: usize = 8;

struct Search<'a> {
    graph: &'a Graph,
    ad3: &'a mut Ad3,
    /// What the nodes' options are made from.
    options: Ad3Options,
    best: Option<Solution>,
    gap: Gap,
    /// Every value is a multiple of this; zero when nothing is known.
    unit: f64,
    /// The solution of the whole, where it is known.
    root: Option<Solution>,
    /// Cases were left out because nothing in them is worth more than this.
    left_out: f64,
    nodes: usize,
    trace: Vec<TracePoint>,
    start: Instant,
    limits: &'a Limits,
    beside: &'a mut Beside<'a>,
    /// The node at which to look beside next.
    look_at: usize,
}

impl<'a> Search<'a> {
    fn new(
        graph: &'a Graph,
        ad3: &'a mut Ad3,
        limits: &'a Limits,
        root: Solution,
        beside: &'a mut Beside<'a>,
    ) -> Self {
        Search {
            graph,
            options: ad3.options.clone(),
            best: None,
            gap: Gap::of(limits.gap, graph),
            ad3,
            unit: score_unit(graph),
            root: Some(root),
            left_out: f64::NEG_INFINITY,
            nodes: 0,
            trace: Vec::new(),
            start: Instant::now(),
            limits,
            beside,
            look_at: BESIDE_EVERY,
        }
    }

    fn value(&self) -> f64 {
        self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.certificate.lower())
    }

    /// The bound a node must exceed to be worth anything.
    fn needed(&self) -> f64 {
        let value = self.value();
        if value == f64::NEG_INFINITY {
            return value;
        }
        value + self.gap.slack(value).max(self.unit * (1.0 - 1e-4))
    }

    fn solve_case(&mut self, fixed: &[Option<bool>], depth: u32) -> Solution {
        let most = self.options.max_iterations;
        let most = if depth == 0 { most } else { most.min(NODE_ITERATIONS) };
        let left = |limit: f64| (limit - self.start.elapsed().as_secs_f64()).max(0.0);
        self.ad3.options = Ad3Options {
            max_iterations: most,
            time_limit: self.limits.time_limit.map(left),
            cutoff: self.needed(),
            trace: false,
            ..self.options.clone()
        };
        self.nodes += 1;
        self.ad3.solve_fixed(self.graph, fixed)
    }

    fn keep(&mut self, solution: Solution) {
        if self.best.is_none() || solution.certificate.lower() > self.value() {
            self.best = Some(solution);
        }
    }

    /// Every slot is fixed: the case is one assignment.
    fn evaluate_leaf(&mut self, fixed: &[Option<bool>]) {
        let on: Vec<bool> = fixed.iter().map(|&on| on == Some(true)).collect();
        let Some(assignment) = self.graph.assignment_of(&on) else { return };
        let value = self.graph.value(&assignment);
        if value > self.value() {
            let marginals = on.iter().map(|&on| on as u8 as f64).collect();
            self.best =
                Some(Solution::new(self.graph, Certificate::exact(value), assignment, marginals, Vec::new()));
        }
    }

    /// The open slot the relaxation is least decided about, those of many factors before others, and the side
    /// it leans to.
    fn branch_on(&self, fixed: &[Option<bool>], relaxed: &[f64]) -> Option<(usize, bool)> {
        let open = (0..fixed.len()).filter(|&slot| fixed[slot].is_none());
        let doubt = |slot: usize| {
            relaxed[slot].min(1.0 - relaxed[slot]).max(0.0) * (self.ad3.degree(slot) as f64).sqrt()
        };
        let slot = open.max_by(|&a, &b| doubt(a).total_cmp(&doubt(b)).then(b.cmp(&a)))?;
        Some((slot, relaxed[slot] > 0.5))
    }

    /// Fixes a slot; a choice with a state on has the others off.
    fn fix(&self, fixed: &mut [Option<bool>], slot: usize, on: bool) {
        let graph = self.graph;
        let variable = graph.slot_variable[slot] as usize;
        if on && !graph.is_binary(variable) {
            fixed[graph.slots_of(variable)].fill(Some(false));
        }
        fixed[slot] = Some(on);
    }

    /// Searches and says what was found.
    fn finish(mut self) -> Solution {
        let slots = self.graph.slots();
        let bound = best_first::run(&mut self, vec![None; slots]).max(self.left_out);
        let value = self.value();
        let whole = |bound: f64| (bound / self.unit + 1e-5).floor() * self.unit;
        let bound = if self.unit > 0.0 && bound.is_finite() { whole(bound) } else { bound };
        let certificate = match bound.max(value) {
            f64::NEG_INFINITY => Certificate::infeasible(),
            bound => Certificate::judge(Some(value), bound, self.gap),
        };
        let certificate = certificate.after(self.nodes, self.start.elapsed().as_secs_f64());
        let best = self.best.unwrap_or_else(|| super::infeasible(self.graph));
        best.with(certificate, self.trace)
    }
}

impl best_first::Search for Search<'_> {
    /// Which slots are fixed.
    type Part = Vec<Option<bool>>;

    fn cut(&self) -> f64 {
        self.needed()
    }

    fn is_stopped(&self) -> bool {
        self.limits.time_limit.is_some_and(|limit| self.start.elapsed().as_secs_f64() >= limit)
            || self.limits.stop.is_raised()
            || self.limits.max_iterations.is_some_and(|limit| self.nodes >= limit)
    }

    fn expand(&mut self, mut fixed: Self::Part, bound: f64, depth: u32) -> Expansion<Self::Part> {
        let solution = self.root.take().unwrap_or_else(|| self.solve_case(&fixed, depth));
        let certificate = solution.certificate;
        let bound = certificate.bound().min(bound);
        if certificate.status() == Status::Infeasible {
            return Expansion::Closed;
        }
        let relaxed = solution.marginals.clone();
        self.keep(solution);
        if self.nodes >= self.look_at {
            self.look_at *= BESIDE_EVERY;
            let known = self.best.as_ref().and_then(Solution::assignment);
            if let Some((value, states)) = (self.beside)(known).filter(|found| found.0 > self.value()) {
                let certificate = Certificate::judge(Some(value), f64::INFINITY, self.gap);
                let best = Solution::new(self.graph, certificate, states, relaxed.clone(), Vec::new());
                self.best = Some(best);
            }
        }
        if bound <= self.needed() || certificate.is_optimal() {
            self.leave_out(bound);
            return Expansion::Closed;
        }
        if self.value() > f64::NEG_INFINITY {
            // What decisions leave out counts in the bound: only what is hardly better than the best known is
            // left out.
            let value = self.value();
            let needed = value + (1e-3 * self.gap.slack(value)).max(self.unit * (1.0 - 1e-4));
            let open = |fixed: &[Option<bool>]| fixed.iter().filter(|slot| slot.is_none()).count();
            let before = open(&fixed);
            let goes_on = self.ad3.decide(self.graph, needed, &mut fixed);
            if !goes_on || open(&fixed) < before {
                self.left_out = self.left_out.max(bound.min(needed));
            }
            if !goes_on {
                return Expansion::Closed;
            }
        }
        let Some((slot, preferred)) = self.branch_on(&fixed, &relaxed) else {
            self.evaluate_leaf(&fixed);
            return Expansion::Closed;
        };
        let mut other = fixed.clone();
        self.fix(&mut fixed, slot, preferred);
        self.fix(&mut other, slot, !preferred);
        Expansion::Split(Box::new([fixed, other]), bound)
    }

    fn held(_: &Self::Part) -> usize {
        0
    }

    fn leave_out(&mut self, bound: f64) {
        self.left_out = self.left_out.max(bound.min(self.needed()));
    }

    fn report(&mut self, bound: f64) {
        if self.limits.trace {
            let (iteration, seconds) = (self.nodes, self.start.elapsed().as_secs_f64());
            let (value, bound) = (self.value(), bound.max(self.left_out).max(self.value()));
            self.trace.push(TracePoint { iteration, seconds, bound, value });
        }
    }
}

/// The unit of which every value is a multiple, see [`common_unit`]; zero where an oracle may have scores of
/// its own.
fn score_unit(graph: &Graph) -> f64 {
    if graph.groups.iter().any(|group| group.of::<Closed>().is_none()) {
        return 0.0;
    }
    let own = graph.closed().map(|(kind, _)| if let Closed::Pair(score) = kind { *score } else { 0.0 });
    common_unit(graph.scores.iter().copied().chain(own).chain([graph.offset]))
}
