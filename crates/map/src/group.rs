//! Factors of one kind, laid out together.
//!
//! A solver speaks to a whole group at a time: one virtual call for thousands of factors, and a loop over flat arrays
//! inside. Work is split by factor range in the same way for any number of threads, so results have the same bits.

use crate::model::Literal;
use crate::oracle::Oracle;
use crate::oracle::active_set::ActiveSet;
use std::any::Any;

/// What a group keeps between iterations of one solver.
pub(crate) trait Warm: Send {
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// One AD3 sweep over the links of a group: the arrays are the group's part of the solver's.
pub(crate) struct Sweep<'a> {
    pub common: &'a SweepSettings<'a>,
    /// Multiplier of each link.
    pub multipliers: &'a mut [f64],
    /// Each link's copy of its variable.
    pub copies: &'a mut [f64],
    /// The point each link was last projected from, the literal's negation taken into account.
    pub targets: &'a mut [f64],
}

/// What a sweep reads of a slot, side by side: links visit slots in no order.
#[derive(Clone, Copy)]
pub(crate) struct SlotState {
    /// The agreed value after the last iteration.
    pub belief: f64,
    /// The agreed value one iteration earlier.
    pub previous: f64,
    /// The slot's score divided by the number of its links.
    pub share: f64,
}

/// What is the same for every link in a sweep.
pub(crate) struct SweepSettings<'a> {
    pub slots: &'a [SlotState],
    /// Penalty on disagreement with which the last multipliers are moved.
    pub old_eta: f64,
    /// Penalty on disagreement of this sweep.
    pub eta: f64,
    /// Over-relaxation: copies count `relaxation` times, the previous belief the rest.
    pub relaxation: f64,
    /// A factor none of whose targets moved by more than this keeps its copies.
    pub tolerance: f64,
    pub parallel: bool,
}

/// Factors of one kind.
pub(crate) trait Group: Send + Sync {
    fn factors(&self) -> usize;
    /// The links of all factors, one factor after the other.
    fn links(&self) -> &[Literal];
    /// Where each factor's links begin, and the end.
    fn offsets(&self) -> &[u32];
    /// What a solver keeps for this group, empty; made of what it kept for another one of the same type, if `spare` has that.
    fn warm(&self, spare: &mut Vec<Box<dyn Warm>>) -> Box<dyn Warm>;
    /// Takes all factors out; what they were made of is kept for others.
    fn clear(&mut self);
    /// AD3's step for every factor: move the multipliers by the last disagreement, then project.
    fn quadratic(&self, warm: &mut dyn Warm, sweep: Sweep<'_>);
    /// The sum of the factors' maxima under link scores, and a maximizer of each.
    fn maximize(&self, warm: &mut dyn Warm, scores: &[f64], best: &mut [f64], parallel: bool) -> f64;
    /// The maximum of one factor under the scores of its links, and a maximizer.
    fn maximize_one(&self, warm: &mut dyn Warm, factor: usize, scores: &[f64], best: &mut [f64]) -> f64;
    /// The factor's own score when these links are on; minus infinity when it does not allow that. `large` is a score
    /// that outweighs any of the factor's own.
    fn score(&self, warm: &mut dyn Warm, factor: usize, on: &[bool], large: f64) -> f64;
    /// No configurations' own scores sum to more than this in size; nothing if a factor does not say.
    fn magnitude(&self) -> Option<f64>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// `x`, or `1 − x` where the lowest bit of `code` (of a literal, or of a slot's link) says negated; without a branch, since
/// negations follow no pattern that a processor could learn.
#[inline]
pub(crate) fn in_sense(code: u32, x: f64) -> f64 {
    const SIGN: [f64; 2] = [1.0, -1.0];
    const SHIFT: [f64; 2] = [0.0, 1.0];
    let negated = (code & 1) as usize;
    SIGN[negated] * x + SHIFT[negated]
}

/// A range of factors with at most this many links is not split among threads.
pub(crate) const GRAIN: usize = 4096;

/// Where to split a range of factors in two: the same place whatever the number of threads.
fn split_point(offsets: &[u32]) -> Option<usize> {
    let links = offsets[offsets.len() - 1] - offsets[0];
    let factors = offsets.len() - 1;
    if links as usize <= GRAIN || factors < 2 {
        return None;
    }
    let middle = offsets.partition_point(|&o| o < offsets[0] + links / 2);
    Some(middle.clamp(1, factors - 1))
}

/// Runs two halves of a piece of work, on two threads if asked to.
pub(crate) fn join<A: Send, B: Send>(
    parallel: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if parallel { rayon::join(a, b) } else { (a(), b()) }
}

/// The multiplier and projection bookkeeping of AD3 around `project(factor, state, point, copy, eta, scratch)`, which
/// reads the point (in the literals' sense) and writes its projection. States and slices hold the factors of `offsets`.
pub(crate) fn sweep_factors<T, S, P>(
    first: usize,
    offsets: &[u32],
    links: &[Literal],
    states: &mut [T],
    sweep: Sweep<'_>,
    scratch: &mut S,
    project: &P,
) where
    T: Send,
    S: Default + Send,
    P: Fn(usize, &mut T, &[f64], &mut [f64], f64, &mut S) + Sync,
{
    let common = sweep.common;
    if common.parallel
        && let Some(middle) = split_point(offsets)
    {
        let at = (offsets[middle] - offsets[0]) as usize;
        let (left_links, right_links) = links.split_at(at);
        let (left_states, right_states) = states.split_at_mut(middle);
        let (m0, m1) = sweep.multipliers.split_at_mut(at);
        let (c0, c1) = sweep.copies.split_at_mut(at);
        let (t0, t1) = sweep.targets.split_at_mut(at);
        let left = Sweep { common, multipliers: m0, copies: c0, targets: t0 };
        let right = Sweep { common, multipliers: m1, copies: c1, targets: t1 };
        let (left_offsets, right_offsets) = (&offsets[..=middle], &offsets[middle..]);
        rayon::join(
            || sweep_factors(first, left_offsets, left_links, left_states, left, scratch, project),
            || {
                let mut scratch = S::default();
                let first = first + middle;
                sweep_factors(first, right_offsets, right_links, right_states, right, &mut scratch, project)
            },
        );
        return;
    }
    let start = offsets[0] as usize;
    let inverse_eta = 1.0 / common.eta;
    for (index, state) in states.iter_mut().enumerate() {
        let range = offsets[index] as usize - start..offsets[index + 1] as usize - start;
        let links = &links[range.clone()];
        let multipliers = &mut sweep.multipliers[range.clone()];
        let copies = &mut sweep.copies[range.clone()];
        let targets = &mut sweep.targets[range];
        let mut still = true;
        let bundled = links.iter().zip(multipliers).zip(&*copies).zip(&mut *targets);
        for (((link, multiplier), copy), target) in bundled {
            let slot = &common.slots[link.slot()];
            let copy = in_sense(link.code(), *copy);
            let relaxed = common.relaxation * copy + (1.0 - common.relaxation) * slot.previous;
            *multiplier -= common.old_eta * (relaxed - slot.belief);
            let goal = in_sense(link.code(), slot.belief + (slot.share + *multiplier) * inverse_eta);
            still &= (goal - *target).abs() <= common.tolerance;
            *target = goal;
        }
        if !still {
            project(first + index, state, targets, copies, common.eta, scratch);
        }
    }
}

/// The sum over factors of `best(factor, state, scores, best, scratch)`, added in an order that does not depend on the
/// number of threads.
#[allow(clippy::too_many_arguments)]
pub(crate) fn maximize_factors<T, S, M>(
    first: usize,
    offsets: &[u32],
    states: &mut [T],
    scores: &[f64],
    best: &mut [f64],
    parallel: bool,
    scratch: &mut S,
    maximize: &M,
) -> f64
where
    T: Send,
    S: Default + Send,
    M: Fn(usize, &mut T, &[f64], &mut [f64], &mut S) -> f64 + Sync,
{
    if let Some(middle) = split_point(offsets) {
        let at = (offsets[middle] - offsets[0]) as usize;
        let (left_states, right_states) = states.split_at_mut(middle);
        let (left_best, right_best) = best.split_at_mut(at);
        let (left_offsets, right_offsets) = (&offsets[..=middle], &offsets[middle..]);
        let (left, right) = join(
            parallel,
            || {
                maximize_factors(
                    first,
                    left_offsets,
                    left_states,
                    &scores[..at],
                    left_best,
                    parallel,
                    scratch,
                    maximize,
                )
            },
            || {
                let mut scratch = S::default();
                let (first, scores) = (first + middle, &scores[at..]);
                maximize_factors(
                    first,
                    right_offsets,
                    right_states,
                    scores,
                    right_best,
                    parallel,
                    &mut scratch,
                    maximize,
                )
            },
        );
        return left + right;
    }
    let start = offsets[0] as usize;
    let mut total = 0.0;
    for (index, state) in states.iter_mut().enumerate() {
        let range = offsets[index] as usize - start..offsets[index + 1] as usize - start;
        total += maximize(first + index, state, &scores[range.clone()], &mut best[range], scratch);
    }
    total
}

/// Takes what a solver kept for a group of some type, or makes it.
pub(crate) fn spare_warm<W: Warm + Default + 'static>(spare: &mut Vec<Box<dyn Warm>>) -> Box<dyn Warm> {
    let found = spare.iter_mut().position(|warm| warm.as_any_mut().is::<W>());
    match found {
        Some(at) => spare.swap_remove(at),
        None => Box::new(W::default()),
    }
}

/// All factors of one oracle type.
pub(crate) struct OracleGroup<O: Oracle> {
    oracles: Vec<O>,
    /// Oracles of factors that were taken out.
    spare: Vec<O>,
    links: Vec<Literal>,
    offsets: Vec<u32>,
}

impl<O: Oracle> Default for OracleGroup<O> {
    fn default() -> Self {
        OracleGroup { oracles: Vec::new(), spare: Vec::new(), links: Vec::new(), offsets: vec![0] }
    }
}

impl<O: Oracle> OracleGroup<O> {
    pub(crate) fn push(&mut self, oracle: O, literals: &[Literal]) -> u32 {
        self.oracles.push(oracle);
        self.links.extend_from_slice(literals);
        self.offsets.push(self.links.len() as u32);
        self.oracles.len() as u32 - 1
    }

    /// An oracle of a factor that was taken out.
    pub(crate) fn spare(&mut self) -> Option<O> {
        self.spare.pop()
    }

    pub(crate) fn oracle(&self, index: usize) -> Option<&O> {
        self.oracles.get(index)
    }

    /// Every oracle with its links.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&O, &[Literal])> {
        let links = |pair: &[u32]| &self.links[pair[0] as usize..pair[1] as usize];
        self.oracles.iter().zip(self.offsets.windows(2).map(links))
    }

    pub(crate) fn oracle_mut(&mut self, index: usize) -> Option<&mut O> {
        self.oracles.get_mut(index)
    }
}

/// Buffers for one thread at work on one oracle type.
pub(crate) struct OracleScratch<O: Oracle> {
    pub workspace: O::Workspace,
    pub configuration: O::Configuration,
    pub scores: Vec<f64>,
    pub values: Vec<f64>,
}

impl<O: Oracle> Default for OracleScratch<O> {
    fn default() -> Self {
        OracleScratch {
            workspace: Default::default(),
            configuration: Default::default(),
            scores: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<O: Oracle> OracleScratch<O> {
    fn maximize(&mut self, oracle: &O, scores: &[f64], best: &mut [f64]) -> f64 {
        let value = oracle.maximize(scores, &mut self.workspace, &mut self.configuration);
        best.fill(0.0);
        if value > f64::NEG_INFINITY {
            oracle.add_marginals(&self.configuration, 1.0, best);
        }
        value
    }
}

/// The active sets of a group, kept from iteration to iteration.
struct OracleWarm<O: Oracle> {
    /// One for each factor; more where another graph had more factors.
    sets: Vec<ActiveSet<O::Configuration>>,
    scratch: OracleScratch<O>,
}

impl<O: Oracle> Default for OracleWarm<O> {
    fn default() -> Self {
        OracleWarm { sets: Vec::new(), scratch: OracleScratch::default() }
    }
}

impl<O: Oracle> Warm for OracleWarm<O> {
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn warm_of<O: Oracle>(warm: &mut dyn Warm) -> &mut OracleWarm<O> {
    warm.as_any_mut().downcast_mut().expect("warm state belongs to its group")
}

impl<O: Oracle> Group for OracleGroup<O> {
    fn factors(&self) -> usize {
        self.oracles.len()
    }

    fn links(&self) -> &[Literal] {
        &self.links
    }

    fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    fn warm(&self, spare: &mut Vec<Box<dyn Warm>>) -> Box<dyn Warm> {
        let mut warm = spare_warm::<OracleWarm<O>>(spare);
        let sets = &mut warm_of::<O>(&mut *warm).sets;
        sets.iter_mut().for_each(ActiveSet::clear);
        if sets.len() < self.oracles.len() {
            sets.resize_with(self.oracles.len(), ActiveSet::default);
        }
        warm
    }

    fn clear(&mut self) {
        self.spare.append(&mut self.oracles);
        self.links.clear();
        self.offsets.truncate(1);
    }

    fn quadratic(&self, warm: &mut dyn Warm, sweep: Sweep<'_>) {
        let OracleWarm { sets, scratch } = warm_of::<O>(warm);
        let project = |index: usize,
                       set: &mut ActiveSet<O::Configuration>,
                       point: &[f64],
                       copy: &mut [f64],
                       eta: f64,
                       scratch: &mut OracleScratch<O>| {
            set.project(&self.oracles[index], point, copy, eta, scratch);
        };
        let sets = &mut sets[..self.oracles.len()];
        sweep_factors(0, &self.offsets, &self.links, sets, sweep, scratch, &project);
    }

    fn maximize(&self, warm: &mut dyn Warm, scores: &[f64], best: &mut [f64], parallel: bool) -> f64 {
        let OracleWarm { sets, scratch } = warm_of::<O>(warm);
        let maximize =
            |index: usize,
             _: &mut ActiveSet<O::Configuration>,
             scores: &[f64],
             best: &mut [f64],
             scratch: &mut OracleScratch<O>| scratch.maximize(&self.oracles[index], scores, best);
        let sets = &mut sets[..self.oracles.len()];
        maximize_factors(0, &self.offsets, sets, scores, best, parallel, scratch, &maximize)
    }

    fn maximize_one(&self, warm: &mut dyn Warm, factor: usize, scores: &[f64], best: &mut [f64]) -> f64 {
        warm_of::<O>(warm).scratch.maximize(&self.oracles[factor], scores, best)
    }

    fn magnitude(&self) -> Option<f64> {
        self.oracles.iter().map(Oracle::magnitude).sum()
    }

    fn score(&self, warm: &mut dyn Warm, factor: usize, on: &[bool], large: f64) -> f64 {
        let scratch = &mut warm_of::<O>(warm).scratch;
        let oracle = &self.oracles[factor];
        // Links that are off are forbidden, links that are on are worth more than anything else.
        scratch.scores.clear();
        scratch.scores.extend(on.iter().map(|&on| if on { large } else { f64::NEG_INFINITY }));
        let value = oracle.maximize(&scratch.scores, &mut scratch.workspace, &mut scratch.configuration);
        if value == f64::NEG_INFINITY {
            return value;
        }
        scratch.values.clear();
        scratch.values.resize(on.len(), 0.0);
        oracle.add_marginals(&scratch.configuration, 1.0, &mut scratch.values);
        if scratch.values.iter().zip(on).any(|(&x, &on)| (x > 0.5) != on) {
            return f64::NEG_INFINITY;
        }
        scratch.values.fill(0.0);
        oracle.score(&scratch.values, &scratch.configuration)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
