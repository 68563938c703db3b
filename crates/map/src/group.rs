//! Factors of one kind, laid out together.
//!
//! A solver speaks to a whole group at a time: one virtual call for thousands of factors, and a loop over
//! flat arrays inside. Work is split by factor range in the same way for any number of threads, so results
//! have the same bits.

use crate::flat::Refill;
use crate::model::Literal;
use crate::oracle::Oracle;
use crate::oracle::active_set::ActiveSet;
use std::any::Any;
use std::ops::Range;

/// What a solver keeps for a group from one iteration to the next.
pub(crate) type Warm = Box<dyn Any + Send>;

/// One factor as a group sees it: a closed form, or an oracle.
pub(crate) trait Slave: Send + Sync + 'static {
    /// What is kept of the factor between iterations.
    type Memory: Default + Send;
    /// Buffers for one thread.
    type Scratch: Default + Send;
    /// Whether so little is done for a factor of few links that their number is best known to the compiler.
    const IS_SHORT: bool = false;

    /// Makes a memory as good as new; what it was made of is kept.
    fn forget(memory: &mut Self::Memory);

    /// AD3's quadratic step: writes the point of the factor's polytope nearest to `point`, its own scores
    /// divided by `eta`; or one that is nearer than before, after so many changes of what it is made of.
    fn project(
        &self,
        memory: &mut Self::Memory,
        point: &[f64],
        copy: &mut [f64],
        eta: f64,
        changes: usize,
        scratch: &mut Self::Scratch,
    );

    /// Writes a best point of the polytope under the scores of the links and returns its value.
    fn best_point(&self, scores: &[f64], best: &mut [f64], scratch: &mut Self::Scratch) -> f64;

    /// The factor's own score when these links are on; minus infinity when it does not allow that. `large` is
    /// a score that outweighs any of the factor's own.
    fn own_score(&self, on: &[bool], large: f64, scratch: &mut Self::Scratch) -> f64;

    /// No configuration's own scores sum to more than this in size; nothing if the factor does not say.
    fn size(&self) -> Option<f64>;
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

impl Sweep<'_> {
    fn split_at(self, link: usize) -> (Self, Self) {
        let common = self.common;
        let (m0, m1) = self.multipliers.split_at_mut(link);
        let (c0, c1) = self.copies.split_at_mut(link);
        let (t0, t1) = self.targets.split_at_mut(link);
        let left = Self { common, multipliers: m0, copies: c0, targets: t0 };
        (left, Self { common, multipliers: m1, copies: c1, targets: t1 })
    }
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
    /// See [`Ad3Options::changes`](crate::Ad3Options::changes).
    pub changes: usize,
    /// A factor none of whose targets moved by more than this keeps its copies.
    pub tolerance: f64,
    pub parallel: bool,
}

/// Factors of one kind.
pub(crate) trait Group: Any + Send + Sync {
    fn factors(&self) -> usize;
    /// The links of all factors, one factor after the other.
    fn links(&self) -> &[Literal];
    /// Where each factor's links begin, and the end.
    fn offsets(&self) -> &[u32];
    /// What a solver keeps for this group, empty; made of what it kept for another one of the same type, if
    /// `spare` has that.
    fn warm(&self, spare: &mut Vec<Warm>) -> Warm;
    /// Takes all factors out; what they were made of is kept for others.
    fn clear(&mut self);
    /// AD3's step for every factor: move the multipliers by the last disagreement, then project.
    fn quadratic(&self, warm: &mut Warm, sweep: Sweep<'_>);
    /// The sum of the factors' maxima under link scores, and a maximizer of each.
    fn maximize(&self, warm: &mut Warm, scores: &[f64], best: &mut [f64], parallel: bool) -> f64;
    /// The maximum of one factor under the scores of its links, and a maximizer.
    fn maximize_one(&self, warm: &mut Warm, factor: usize, scores: &[f64], best: &mut [f64]) -> f64;
    /// One factor's own score, see [`Slave::own_score`].
    fn score(&self, warm: &mut Warm, factor: usize, on: &[bool], large: f64) -> f64;
    /// No configurations' own scores sum to more than this in size; nothing if a factor does not say.
    fn magnitude(&self) -> Option<f64>;
}

impl dyn Group {
    /// The group itself, if its factors are of this type.
    pub(crate) fn of<F: Slave>(&self) -> Option<&Factors<F>> {
        (self as &dyn Any).downcast_ref()
    }

    /// The same, to be changed.
    pub(crate) fn of_mut<F: Slave>(&mut self) -> Option<&mut Factors<F>> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// Where the links of a factor are among those of the group.
    pub(crate) fn range(&self, factor: usize) -> Range<usize> {
        self.offsets()[factor] as usize..self.offsets()[factor + 1] as usize
    }
}

/// `x`, or `1 − x` where the lowest bit of `code` (of a literal, or of a slot's link) says negated; without a
/// branch, since negations follow no pattern that a processor could learn.
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

/// All factors of one type, in flat arrays.
pub(crate) struct Factors<F> {
    factors: Vec<F>,
    /// Factors that were taken out.
    spare: Vec<F>,
    links: Vec<Literal>,
    /// `offsets[f]..offsets[f + 1]` are the links of factor `f`.
    offsets: Vec<u32>,
}

impl<F> Default for Factors<F> {
    fn default() -> Self {
        Factors { factors: Vec::new(), spare: Vec::new(), links: Vec::new(), offsets: vec![0] }
    }
}

impl<F> Factors<F> {
    pub(crate) fn push(&mut self, factor: F, literals: &[Literal]) -> u32 {
        self.factors.push(factor);
        self.links.extend_from_slice(literals);
        self.offsets.push(self.links.len() as u32);
        self.factors.len() as u32 - 1
    }

    /// A factor that was taken out.
    pub(crate) fn spare(&mut self) -> Option<F> {
        self.spare.pop()
    }

    pub(crate) fn get(&self, factor: usize) -> Option<&F> {
        self.factors.get(factor)
    }

    pub(crate) fn get_mut(&mut self, factor: usize) -> Option<&mut F> {
        self.factors.get_mut(factor)
    }

    /// A factor with its links.
    pub(crate) fn factor(&self, factor: usize) -> (&F, &[Literal]) {
        let links = self.offsets[factor] as usize..self.offsets[factor + 1] as usize;
        (&self.factors[factor], &self.links[links])
    }

    /// Every factor with its links.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&F, &[Literal])> {
        (0..self.factors.len()).map(|factor| self.factor(factor))
    }
}

/// What a solver keeps for [`Factors`].
struct Kept<F: Slave> {
    /// One for each factor; more where another graph had more factors.
    memories: Vec<F::Memory>,
    scratch: F::Scratch,
}

fn kept<F: Slave>(warm: &mut Warm) -> &mut Kept<F> {
    warm.downcast_mut().expect("warm state belongs to its group")
}

/// The links of one factor in a sweep.
struct Own<'a> {
    links: &'a [Literal],
    multipliers: &'a mut [f64],
    copies: &'a mut [f64],
    targets: &'a mut [f64],
}

impl Own<'_> {
    /// Moves the multipliers by the last disagreement and projects.
    #[inline(always)]
    fn step<F: Slave>(
        self,
        factor: &F,
        memory: &mut F::Memory,
        common: &SweepSettings<'_>,
        inverse_eta: f64,
        scratch: &mut F::Scratch,
    ) {
        let Own { links, multipliers, copies, targets } = self;
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
            factor.project(memory, targets, copies, common.eta, common.changes, scratch);
        }
    }

    /// The same for a factor of `N` links.
    #[inline(always)]
    fn of_length<const N: usize, F: Slave>(
        self,
        factor: &F,
        memory: &mut F::Memory,
        common: &SweepSettings<'_>,
        inverse_eta: f64,
        scratch: &mut F::Scratch,
    ) {
        let Own { links, multipliers, copies, targets } = self;
        let exact = "a link for each place";
        let links: &[Literal; N] = links.try_into().expect(exact);
        let multipliers: &mut [f64; N] = multipliers.try_into().expect(exact);
        let copies: &mut [f64; N] = copies.try_into().expect(exact);
        let targets: &mut [f64; N] = targets.try_into().expect(exact);
        Own { links, multipliers, copies, targets }.step(factor, memory, common, inverse_eta, scratch);
    }
}

impl<F: Slave> Factors<F> {
    /// The multiplier and projection bookkeeping of AD3 for as many factors from `first` on as there are
    /// memories.
    fn sweep(&self, first: usize, memories: &mut [F::Memory], sweep: Sweep<'_>, scratch: &mut F::Scratch) {
        let common = sweep.common;
        let offsets = &self.offsets[first..=first + memories.len()];
        let start = offsets[0] as usize;
        if common.parallel
            && let Some(middle) = split_point(offsets)
        {
            let (before, after) = memories.split_at_mut(middle);
            let (left, right) = sweep.split_at(offsets[middle] as usize - start);
            rayon::join(
                || self.sweep(first, before, left, scratch),
                || self.sweep(first + middle, after, right, &mut F::Scratch::default()),
            );
            return;
        }
        let inverse_eta = 1.0 / common.eta;
        let factors = self.factors[first..].iter().zip(memories).zip(offsets.windows(2));
        for ((factor, memory), ends) in factors {
            let links = &self.links[ends[0] as usize..ends[1] as usize];
            let range = ends[0] as usize - start..ends[1] as usize - start;
            let own = Own {
                links,
                multipliers: &mut sweep.multipliers[range.clone()],
                copies: &mut sweep.copies[range.clone()],
                targets: &mut sweep.targets[range],
            };
            match links.len() {
                2 if F::IS_SHORT => own.of_length::<2, F>(factor, memory, common, inverse_eta, scratch),
                3 if F::IS_SHORT => own.of_length::<3, F>(factor, memory, common, inverse_eta, scratch),
                4 if F::IS_SHORT => own.of_length::<4, F>(factor, memory, common, inverse_eta, scratch),
                5 if F::IS_SHORT => own.of_length::<5, F>(factor, memory, common, inverse_eta, scratch),
                _ => own.step(factor, memory, common, inverse_eta, scratch),
            }
        }
    }

    /// The sum of maxima over a range of factors, added in an order that does not depend on the number of
    /// threads.
    fn sum_of_maxima(
        &self,
        range: Range<usize>,
        scores: &[f64],
        best: &mut [f64],
        parallel: bool,
        scratch: &mut F::Scratch,
    ) -> f64 {
        let offsets = &self.offsets[range.start..=range.end];
        let start = offsets[0] as usize;
        if let Some(middle) = split_point(offsets) {
            let at = offsets[middle] as usize - start;
            let (before, after) = (range.start..range.start + middle, range.start + middle..range.end);
            let (left, right) = best.split_at_mut(at);
            let (left, right) = join(
                parallel,
                || self.sum_of_maxima(before, &scores[..at], left, parallel, scratch),
                || self.sum_of_maxima(after, &scores[at..], right, parallel, &mut F::Scratch::default()),
            );
            return left + right;
        }
        let factors = self.factors[range].iter().zip(offsets.windows(2));
        factors.fold(0.0, |total, (factor, ends)| {
            let links = ends[0] as usize - start..ends[1] as usize - start;
            total + factor.best_point(&scores[links.clone()], &mut best[links], scratch)
        })
    }
}

impl<F: Slave> Group for Factors<F> {
    fn factors(&self) -> usize {
        self.factors.len()
    }

    fn links(&self) -> &[Literal] {
        &self.links
    }

    fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    fn warm(&self, spare: &mut Vec<Warm>) -> Warm {
        let found = spare.iter().position(|warm| warm.is::<Kept<F>>());
        let mut warm = match found {
            Some(at) => spare.swap_remove(at),
            None => Box::new(Kept::<F> { memories: Vec::new(), scratch: Default::default() }),
        };
        let memories = &mut kept::<F>(&mut warm).memories;
        memories.iter_mut().for_each(F::forget);
        if memories.len() < self.factors.len() {
            memories.resize_with(self.factors.len(), Default::default);
        }
        warm
    }

    fn clear(&mut self) {
        self.spare.append(&mut self.factors);
        // Nobody can use more than there ever were at once.
        self.spare.truncate(self.factors.capacity());
        self.links.clear();
        self.offsets.truncate(1);
    }

    fn quadratic(&self, warm: &mut Warm, sweep: Sweep<'_>) {
        let Kept { memories, scratch } = kept::<F>(warm);
        self.sweep(0, &mut memories[..self.factors.len()], sweep, scratch);
    }

    fn maximize(&self, warm: &mut Warm, scores: &[f64], best: &mut [f64], parallel: bool) -> f64 {
        self.sum_of_maxima(0..self.factors.len(), scores, best, parallel, &mut kept::<F>(warm).scratch)
    }

    fn maximize_one(&self, warm: &mut Warm, factor: usize, scores: &[f64], best: &mut [f64]) -> f64 {
        self.factors[factor].best_point(scores, best, &mut kept::<F>(warm).scratch)
    }

    fn score(&self, warm: &mut Warm, factor: usize, on: &[bool], large: f64) -> f64 {
        self.factors[factor].own_score(on, large, &mut kept::<F>(warm).scratch)
    }

    fn magnitude(&self) -> Option<f64> {
        self.factors.iter().map(Slave::size).sum()
    }
}

/// Buffers for one thread at work on one oracle type.
pub(crate) struct OracleScratch<O: Oracle> {
    pub workspace: O::Workspace,
    pub configuration: O::Configuration,
    pub scores: Vec<f64>,
    pub values: Vec<f64>,
    pub reduced: Vec<f64>,
}

impl<O: Oracle> Default for OracleScratch<O> {
    fn default() -> Self {
        let (workspace, configuration, scores, values, reduced) = Default::default();
        OracleScratch { workspace, configuration, scores, values, reduced }
    }
}

impl<O: Oracle> Slave for O {
    type Memory = ActiveSet<O::Configuration>;
    type Scratch = OracleScratch<O>;

    fn forget(memory: &mut Self::Memory) {
        memory.clear();
    }

    fn project(
        &self,
        memory: &mut Self::Memory,
        point: &[f64],
        copy: &mut [f64],
        eta: f64,
        changes: usize,
        scratch: &mut Self::Scratch,
    ) {
        memory.project(self, point, copy, eta, changes, scratch);
    }

    fn best_point(&self, scores: &[f64], best: &mut [f64], scratch: &mut Self::Scratch) -> f64 {
        let value = self.maximize(scores, &mut scratch.workspace, &mut scratch.configuration);
        best.fill(0.0);
        if value > f64::NEG_INFINITY {
            self.add_marginals(&scratch.configuration, 1.0, best);
        }
        value
    }

    fn own_score(&self, on: &[bool], large: f64, scratch: &mut Self::Scratch) -> f64 {
        let OracleScratch { workspace, configuration, scores, values, .. } = scratch;
        // Links that are off are forbidden, links that are on are worth more than anything else.
        scores.clear();
        scores.extend(on.iter().map(|&on| if on { large } else { f64::NEG_INFINITY }));
        let value = self.maximize(scores, workspace, configuration);
        if value == f64::NEG_INFINITY {
            return value;
        }
        values.refill(on.len(), 0.0);
        self.add_marginals(configuration, 1.0, values);
        if values.iter().zip(on).any(|(&x, &on)| (x > 0.5) != on) {
            return f64::NEG_INFINITY;
        }
        values.fill(0.0);
        self.score(values, configuration)
    }

    fn size(&self) -> Option<f64> {
        self.magnitude()
    }
}
