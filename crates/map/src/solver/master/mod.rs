//! The master problem of dual decomposition over a pattern model.
//!
//! A decomposition splits each connected component into slaves that share multipliers `λ`; the sum of the
//! slaves' maxima is an upper bound `D(λ)` on the optimum. The master lowers it by subgradient steps,
//! component by component in step, and turns the slaves' labellings into assignments. Where bound and value
//! meet, the assignment is proven optimal.

mod components;
mod groups;
mod steps;
mod tree;

pub(crate) use components::{Component, Splitter, find};
pub(crate) use groups::Groups;
pub use steps::StepRule;
pub(crate) use tree::SpanningTree;

use crate::certificate::{Certificate, Gap};
use crate::flat::Refill;
use crate::oracle::lanes::largest;
use crate::pattern::{PatternModel, TableView};
use crate::solution::{Solution, TracePoint};
use crate::solver::Stop;
use crate::solver::primal::{Connected, Fusion, Labels, Position};
use std::time::Instant;
use steps::Descent;

/// When a decomposition stops, how it steps and what it reports.
#[derive(Clone, Debug)]
pub struct MasterOptions {
    /// Iterations at most; one iteration solves every slave of every component that is still open once.
    pub max_iterations: usize,
    /// Seconds at most; checked after every iteration.
    pub time_limit: Option<f64>,
    /// Value and bound that differ by less than this, relative to their size, prove optimality.
    pub gap: f64,
    /// A component whose bound can be expected to fall by less than this share of its gap is given up.
    pub stall: f64,
    /// How multipliers move.
    pub step: StepRule,
    /// Edges, by index, that the first tree takes before all others; the strongest ones fill it up.
    pub tree: Vec<usize>,
    /// Whether to record value and bound after every iteration.
    pub trace: bool,
    /// Ends the iterations when somebody raises it.
    pub stop: Stop,
}

impl Default for MasterOptions {
    fn default() -> Self {
        MasterOptions {
            max_iterations: 1000,
            time_limit: None,
            gap: 1e-9,
            stall: 1e-3,
            step: StepRule::Level,
            tree: Vec::new(),
            trace: false,
            stop: Stop::default(),
        }
    }
}

/// Slaves of one component that share multipliers.
pub(crate) trait Decomposition: Default {
    /// What the decomposition can be told.
    type Settings: Copy;

    /// Builds the slaves. `local` maps the component's vertices to `0..n`; `preferred` says which edges the
    /// first tree takes.
    fn build(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        settings: Self::Settings,
        preferred: &[bool],
    );

    /// The number of multipliers.
    fn multipliers(&self) -> usize;

    /// Writes multipliers to begin with, where they are not zero.
    fn start(&self, _lambda: &mut [f64]) {}

    /// Solves all slaves and writes the subgradient of the dual. Returns the dual value, rounded up so that
    /// it bounds.
    fn evaluate(&mut self, lambda: &[f64], gradient: &mut [f64]) -> f64;

    /// The labelling that the last evaluation proposes, one state for each vertex of the component.
    fn labels(&self) -> &[u32];

    /// No assignment that satisfies the hard constraints scores below the negative of this.
    fn magnitude(&self) -> f64;
}

/// One component on its way to a certificate.
#[derive(Default)]
struct Block<D> {
    slaves: D,
    descent: Descent,
    gradient: Vec<f64>,
    bound: f64,
    value: f64,
    /// The best labelling; empty while none satisfies the hard constraints.
    best: Vec<u32>,
    /// The last labelling proposed, to see whether it is new.
    last: Vec<u32>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Optimal,
    Infeasible,
    /// The bound will not fall any further.
    Exhausted,
}

/// Runs a decomposition; keeps its memory from one model to the next.
#[derive(Default)]
pub(crate) struct Master<D> {
    splitter: Splitter,
    components: Vec<Component>,
    blocks: Vec<Block<D>>,
    /// The assignment at hand.
    labels: Labels,
    fusion: Fusion,
    preferred: Vec<bool>,
}

impl<D: Decomposition> Master<D> {
    pub(crate) fn solve(
        &mut self,
        model: &PatternModel,
        options: &MasterOptions,
        settings: D::Settings,
    ) -> Solution {
        let begin = Instant::now();
        let count = self.prepare(model, options, settings);
        let mut trace = Vec::new();
        let mut iterations = 0;
        loop {
            for at in 0..count {
                if self.blocks[at].state == State::Open {
                    self.advance(model, options, at, iterations);
                }
            }
            iterations += 1;
            let open = self.blocks[..count].iter().any(|b| b.state == State::Open);
            let seconds = begin.elapsed().as_secs_f64();
            if options.trace {
                let (bound, value) = self.totals(count);
                trace.push(TracePoint { iteration: iterations, seconds, bound, value });
            }
            if !open
                || iterations >= options.max_iterations
                || options.stop.is_raised()
                || options.time_limit.is_some_and(|limit| seconds >= limit)
            {
                break;
            }
        }
        self.conclude(model, options, count, iterations, begin, trace)
    }

    fn prepare(&mut self, model: &PatternModel, options: &MasterOptions, settings: D::Settings) -> usize {
        let count = self.splitter.split(model, &mut self.components);
        self.preferred.refill(model.edges(), false);
        for &edge in options.tree.iter().filter(|&&edge| edge < model.edges()) {
            self.preferred[edge] = true;
        }
        if self.blocks.len() < count {
            self.blocks.resize_with(count, Block::default);
        }
        let mut penalty: f64 = 1.0;
        for (block, component) in self.blocks.iter_mut().zip(&self.components[..count]) {
            block.slaves.build(model, component, &self.splitter.local, settings, &self.preferred);
            let size = block.slaves.multipliers();
            block.descent.reset(size);
            block.slaves.start(&mut block.descent.lambda);
            block.gradient.refill(size, 0.0);
            (block.bound, block.value, block.state) = (f64::INFINITY, f64::NEG_INFINITY, State::Open);
            block.best.clear();
            block.last.clear();
            penalty = penalty.max(3.0 * block.slaves.magnitude());
        }
        self.labels.reset(model, penalty);
        count
    }

    /// One iteration of one component.
    fn advance(&mut self, model: &PatternModel, options: &MasterOptions, at: usize, iteration: usize) {
        let component = &self.components[at];
        let block = &mut self.blocks[at];
        let dual = block.slaves.evaluate(&block.descent.lambda, &mut block.gradient);
        block.bound = block.bound.min(dual);
        let magnitude = block.slaves.magnitude();
        if block.bound < -magnitude * (1.0 + 1e-9) {
            // Below anything that a feasible assignment can score.
            block.state = State::Infeasible;
            block.bound = f64::NEG_INFINITY;
            return;
        }
        let agreed = block.gradient.iter().all(|&g| g == 0.0);
        let proposed = block.slaves.labels();
        if block.last != proposed {
            block.last.clear();
            block.last.extend_from_slice(proposed);
            let mut labelling = self.labels.of(model);
            for (&v, &label) in component.vertices.iter().zip(proposed) {
                labelling.set(v as usize, label as usize);
            }
            block.keep_if_better(model, component, &self.labels);
            // Local search costs about as much as a slave: often at first, seldom later.
            if !agreed && (iteration < 4 || iteration.is_multiple_of(8)) {
                block.improve(model, component, &self.splitter.local, &mut self.labels, &mut self.fusion);
            }
        }
        // Without any labelling yet there is no gap to measure.
        let (size, gap) = match block.value.is_finite() {
            true => (block.value.abs().max(block.bound.abs()), block.bound - block.value),
            false => (block.bound.abs(), f64::INFINITY),
        };
        let resolution = options.gap * size;
        let stall = if gap.is_finite() { options.stall * gap } else { 0.0 };
        if gap <= resolution {
            block.state = State::Optimal;
        } else if agreed || block.descent.is_exhausted(resolution.max(stall), block.value) {
            block.state = State::Exhausted;
        } else {
            block.descent.step(options.step, dual, &block.gradient, block.value, magnitude);
        }
    }

    fn totals(&self, count: usize) -> (f64, f64) {
        let blocks = &self.blocks[..count];
        if blocks.iter().any(|b| b.state == State::Infeasible) {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        (blocks.iter().map(|b| b.bound).sum(), blocks.iter().map(|b| b.value).sum())
    }

    fn conclude(
        &mut self,
        model: &PatternModel,
        options: &MasterOptions,
        count: usize,
        iterations: usize,
        begin: Instant,
        trace: Vec<TracePoint>,
    ) -> Solution {
        let (bound, _) = self.totals(count);
        let blocks = &self.blocks[..count];
        let infeasible = blocks.iter().any(|b| b.state == State::Infeasible);
        let mut assignment = Vec::new();
        let mut value = f64::NEG_INFINITY;
        if !infeasible && blocks.iter().all(|b| b.value > f64::NEG_INFINITY) {
            assignment.resize(model.vertices(), 0);
            for (block, component) in blocks.iter().zip(&self.components) {
                for (&v, &label) in component.vertices.iter().zip(&block.best) {
                    assignment[v as usize] = label;
                }
            }
            value = model.value(&assignment);
        }
        let scale = blocks.iter().map(|b| b.slaves.magnitude()).fold(0.0, f64::max);
        let certificate = match infeasible {
            true => Certificate::infeasible(),
            false => Certificate::judge(Some(value), bound, Gap::from(options.gap).at_scale(scale)),
        };
        let certificate = certificate.after(iterations, begin.elapsed().as_secs_f64());
        let slots: usize = (0..model.vertices()).map(|v| model.states(v)).sum();
        let mut marginals = vec![0.0; slots];
        for (v, &label) in assignment.iter().enumerate() {
            marginals[model.slots(v).start + label as usize] = 1.0;
        }
        Solution::decided(certificate, assignment, marginals, trace)
    }
}

impl<D> Block<D> {
    fn keep_if_better(&mut self, model: &PatternModel, component: &Component, labels: &Labels) {
        let value = labels.value(model, component);
        if value > self.value {
            self.value = value;
            self.best.clear();
            self.best.extend(component.vertices.iter().map(|&v| labels.current[v as usize]));
        }
    }

    /// Climbs from the assignment at hand, then fuses the result with the best so far. `local` is the place
    /// of each vertex in its component.
    fn improve(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        labels: &mut Labels,
        fusion: &mut Fusion,
    ) {
        let vertices = component.vertices.iter().map(|&v| v as usize);
        if labels.of(model).climb(vertices.clone(), 4 * component.vertices.len()) {
            self.keep_if_better(model, component, labels);
        }
        if !self.best.is_empty() {
            let best = |v: usize| self.best[local[v] as usize] as usize;
            if labels.of(model).fuse(vertices, best, fusion) {
                self.keep_if_better(model, component, labels);
            }
        }
    }
}

/// Sum of the largest absolute finite scores of all parts of a component.
pub(crate) fn magnitude(model: &PatternModel, component: &Component) -> f64 {
    let unary: f64 = component.vertices.iter().map(|&v| largest(model.unary(v as usize))).sum();
    let edges: f64 = component
        .edges
        .iter()
        .map(|&e| match model.edge_table(e as usize) {
            TableView::Dense(values) => largest(values),
            // Repeated cells add up.
            TableView::Sparse(_, values) => values.iter().filter(|x| x.is_finite()).map(|x| x.abs()).sum(),
        })
        .sum();
    let patterns: f64 = component.patterns.iter().map(|&p| largest(&[model.weight(p as usize)])).sum();
    unary + edges + patterns
}
