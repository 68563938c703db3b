//! The driver that all online rules share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::checkpoint::{Checkpoint, Saved};
use super::mixing::{self, Mixture, Share};
use super::sharing::Place;
use super::stopping::Stopping;
use super::{EpochReport, Follower, Method, Outcome, Run, Stop, Training, Visit};
use crate::LearnError;
use crate::averaging::AveragedWeights;
use crate::hash::combine;
use crate::problem::{Problem, Weights};
use crate::sparse::SparseVector;

/// How one example changes the weights.
pub(super) trait UpdateRule: Clone + Send + Sync {
    /// What is known of an example after it was visited, besides the difference.
    type Seen: Send;

    /// What a unit of cost is worth in decoding; zero decodes for the score alone.
    fn cost(&self, weights: &AveragedWeights) -> f32 {
        let _ = weights;
        0.0
    }

    /// Whether the average of all weights is wanted.
    fn averages(&self) -> bool;

    /// A number beside each weight that belongs to the state of the rule.
    fn memory(&mut self) -> Option<&mut Vec<f32>> {
        None
    }

    /// Whether a difference that is not empty is a wrong prediction.
    fn predicts(&self) -> bool {
        true
    }

    /// A count that belongs to the state of the rule.
    fn clock(&mut self) -> Option<&mut f64> {
        None
    }

    /// Adds its state to that of the run.
    fn save(&mut self, saved: &mut Checkpoint) {
        if let Some(memory) = self.memory() {
            saved.put("memory", memory);
        }
        if let Some(clock) = self.clock() {
            saved.put("clock", &[*clock]);
        }
    }

    /// Goes on from a saved state.
    fn restore(&mut self, saved: &Saved) -> Result<(), LearnError> {
        if let Some(memory) = self.memory() {
            *memory = saved.array_of("memory", memory.len())?;
        }
        if let Some(clock) = self.clock() {
            [*clock] = saved.numbers("clock")?;
        }
        Ok(())
    }

    /// Changes the weights after an example was decoded, and returns its loss.
    fn update(
        &mut self,
        weights: &mut AveragedWeights,
        difference: &mut SparseVector,
        seen: &Self::Seen,
    ) -> f64;
}

/// The order in which an epoch visits the examples: a function of seed and epoch alone, so that a resumed run
/// continues the same way.
pub(super) fn visiting_order(examples: usize, shuffle: Option<u64>, epoch: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..examples as u32).collect();
    if let Some(seed) = shuffle {
        let mut state = combine(seed, epoch as u64);
        for last in (1..examples).rev() {
            state = combine(state, last as u64);
            order.swap(last, ((u128::from(state) * (last as u128 + 1)) >> 64) as usize);
        }
    }
    order
}

/// Visits the examples in turn; `visit` decodes or differentiates one of them: problem, example, weights,
/// what a unit of cost is worth, workspace, and the vector that receives the difference.
pub(super) fn train<P: Problem, R: UpdateRule>(
    problem: &P,
    visit: impl Fn(
        &P,
        usize,
        Weights<'_>,
        f32,
        &mut P::Workspace,
        &mut SparseVector,
    ) -> Result<R::Seen, LearnError>
    + Sync,
    mut rule: R,
    training: &Training<Method>,
    mut run: Run<'_>,
) -> Result<Outcome, LearnError> {
    if problem.examples() == 0 {
        return Err(LearnError::NoExamples);
    }
    let begin = Instant::now();
    let description = run.description(training, problem)?;
    let shards = run.shards();
    let pass = Pass {
        problem,
        visit,
        shuffle: run.shuffle.then_some(run.seed),
        shards,
        interrupt: run.interrupt,
        batch: run.batch.max(1),
        follower: run.follower,
        stage: run.stage,
        epoch: AtomicUsize::new(0),
        visited: AtomicUsize::new(0),
    };
    let pool = (run.batch > 1 || shards > 1).then(|| run.pool()).transpose()?;
    let mut benches = vec![pass.bench::<R>()];
    if let Place::Worker(desk) = run.place {
        let bench = &mut benches[0];
        let outcome = desk.serve(|state, shard, _| {
            let start = Saved::from_bytes(state, &description)?;
            let epoch = start.epoch()?;
            rule.restore(&start)?;
            let values: Vec<f32> = start.array_of("values", problem.parameters())?;
            let share = within(pool.as_ref(), || pass.shard(shard, epoch, &values, rule.clone(), bench))?;
            share.to_bytes(&description, epoch)
        })?;
        return Outcome::from_bytes(&outcome, problem.parameters());
    }
    let whole = run.whole_description(&description);
    let mut weights = AveragedWeights::new(run.start(problem.parameters())?, rule.averages());
    let mut stopping = Stopping::new(run.patience);
    let mut first = 1;
    if let Some(saved) = Checkpoint::load(run.checkpoint.as_deref(), &whole)? {
        first = saved.epoch()? + 1;
        weights = saved.weights(problem.parameters(), rule.averages())?;
        stopping.restore(&saved)?;
        rule.restore(&saved)?;
    }
    if shards > 1 && matches!(run.place, Place::Here) {
        benches.resize_with(run.threads.clamp(1, shards), || pass.bench::<R>());
    }

    let mut average = Vec::new();
    for epoch in first..=run.epochs {
        pass.begin(epoch);
        let Visited { loss, errors, complete } = if shards > 1 {
            let mut mixture = Mixture::new(shards, &weights, &mut rule);
            match run.place {
                Place::Elsewhere(courier) => {
                    let state = mixing::start(&description, epoch, &weights, &mut rule).into_bytes();
                    for answer in courier.carry(&state, shards)? {
                        mixture.add(&Share::from_bytes(&answer, &description)?, &mut weights)?;
                    }
                }
                _ => {
                    let numbers: Vec<usize> = (0..shards).collect();
                    for wave in numbers.chunks(benches.len()) {
                        let work = |(bench, &shard): (&mut Bench<P, R>, &usize)| {
                            pass.shard(shard, epoch, weights.state().0, rule.clone(), bench)
                        };
                        let benches = benches.par_iter_mut().zip(wave);
                        let shares: Vec<_> = within(pool.as_ref(), || benches.map(work).collect());
                        shares.into_iter().try_for_each(|share| mixture.add(&share?, &mut weights))?;
                    }
                }
            }
            mixture.settle(&mut weights, &mut rule)
        } else {
            let order = visiting_order(problem.examples(), pass.shuffle, epoch);
            within(pool.as_ref(), || pass.visit(&order, &mut weights, &mut rule, &mut benches[0]))?
        };
        if !complete {
            return Ok(stopping.finish(Stop::Interrupted, &weights));
        }
        if !loss.is_finite() {
            return Err(LearnError::Diverged { epoch, value: loss });
        }
        weights.average_into(&mut average);
        let dev = run.dev.as_mut().map(|dev| dev(&average)).transpose()?;
        let report = EpochReport { epoch, loss, errors, dev, seconds: begin.elapsed().as_secs_f64() };
        if let Some(progress) = &mut run.progress {
            progress(&report);
        }
        let enough = stopping.epoch(report, &average);
        if let Some(path) = &run.checkpoint {
            let mut saved = Checkpoint::new(&whole, epoch);
            saved.put_weights(&weights);
            rule.save(&mut saved);
            stopping.save(&mut saved);
            saved.write(path)?;
        }
        if let Some(stop) = enough {
            Checkpoint::remove(run.checkpoint.as_deref());
            return Ok(stopping.finish(stop, &weights));
        }
    }
    Checkpoint::remove(run.checkpoint.as_deref());
    Ok(stopping.finish(Stop::Epochs, &weights))
}

/// What a pass over examples came to.
#[derive(Clone, Copy)]
pub(super) struct Visited {
    pub(super) loss: f64,
    pub(super) errors: usize,
    /// Whether nobody interrupted it.
    pub(super) complete: bool,
}

/// The places of the examples of a batch.
type Bench<P, R> = Vec<Slot<<P as Problem>::Workspace, <R as UpdateRule>::Seen>>;

struct Slot<W, S> {
    workspace: W,
    difference: SparseVector,
    seen: Option<Result<S, LearnError>>,
}

/// Everything about a pass over examples that is the same in every epoch.
struct Pass<'p, P, V> {
    problem: &'p P,
    visit: V,
    /// The seed of a random order.
    shuffle: Option<u64>,
    shards: usize,
    interrupt: Option<&'p AtomicBool>,
    batch: usize,
    follower: Option<Follower<'p>>,
    stage: Option<&'static str>,
    /// The epoch, and the examples that were visited in it, by all threads.
    epoch: AtomicUsize,
    visited: AtomicUsize,
}

/// The follower hears of this many examples at a time.
const STRIDE: usize = 16;

impl<P: Problem, V> Pass<'_, P, V> {
    fn bench<R: UpdateRule>(&self) -> Bench<P, R> {
        let slot =
            || Slot { workspace: self.problem.workspace(), difference: SparseVector::new(), seen: None };
        std::iter::repeat_with(slot).take(self.batch).collect()
    }

    fn begin(&self, epoch: usize) {
        self.epoch.store(epoch, Ordering::Relaxed);
        self.visited.store(0, Ordering::Relaxed);
    }

    /// Tells the follower that some more examples were visited.
    fn tell(&self, more: usize) {
        let Some(follower) = self.follower else { return };
        let before = self.visited.fetch_add(more, Ordering::Relaxed);
        let visited = before + more;
        if before / STRIDE != visited / STRIDE {
            let (epoch, examples) = (self.epoch.load(Ordering::Relaxed), self.problem.examples());
            follower(Visit { stage: self.stage, epoch, visited, examples });
        }
    }

    /// Visits examples in turn.
    fn visit<R: UpdateRule>(
        &self,
        order: &[u32],
        weights: &mut AveragedWeights,
        rule: &mut R,
        bench: &mut Bench<P, R>,
    ) -> Result<Visited, LearnError>
    where
        V: Fn(
                &P,
                usize,
                Weights<'_>,
                f32,
                &mut P::Workspace,
                &mut SparseVector,
            ) -> Result<R::Seen, LearnError>
            + Sync,
    {
        let mut visited = Visited { loss: 0.0, errors: 0, complete: true };
        for chunk in order.chunks(self.batch) {
            if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Ok(Visited { complete: false, ..visited });
            }
            let cost = rule.cost(weights);
            let current = weights.current();
            let decode = |(slot, &example): (&mut Slot<P::Workspace, R::Seen>, &u32)| {
                slot.difference.clear();
                let Slot { workspace, difference, .. } = slot;
                slot.seen =
                    Some((self.visit)(self.problem, example as usize, current, cost, workspace, difference));
            };
            match self.batch {
                1 => bench.iter_mut().zip(chunk).for_each(decode),
                _ => bench.par_iter_mut().zip(chunk).for_each(decode),
            }
            for slot in &mut bench[..chunk.len()] {
                let Some(seen) = slot.seen.take().transpose()? else { continue };
                visited.errors += usize::from(rule.predicts() && !slot.difference.is_empty());
                visited.loss += rule.update(weights, &mut slot.difference, &seen);
                weights.step();
            }
            self.tell(chunk.len());
        }
        Ok(visited)
    }

    /// What a shard makes of weights in an epoch: a function of these and of nothing else.
    fn shard<R: UpdateRule>(
        &self,
        shard: usize,
        epoch: usize,
        start: &[f32],
        mut rule: R,
        bench: &mut Bench<P, R>,
    ) -> Result<Share, LearnError>
    where
        V: Fn(
                &P,
                usize,
                Weights<'_>,
                f32,
                &mut P::Workspace,
                &mut SparseVector,
            ) -> Result<R::Seen, LearnError>
            + Sync,
    {
        let mut order = visiting_order(self.problem.examples(), self.shuffle, epoch);
        // Examples that stand together are alike, so that shards of neighbours would differ more.
        order.retain(|&example| example as usize % self.shards == shard);
        let mut weights = AveragedWeights::new(start.to_vec(), rule.averages());
        let visited = self.visit(&order, &mut weights, &mut rule, bench)?;
        Ok(Share::new(start, &weights, &mut rule, visited))
    }
}

fn within<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
