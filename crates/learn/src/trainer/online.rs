//! The driver that all online rules share.

use std::time::Instant;

use rayon::prelude::*;

use super::checkpoint::Checkpoint;
use super::stopping::Stopping;
use super::{EpochReport, Method, Outcome, Run, Stop, Training};
use crate::LearnError;
use crate::averaging::AveragedWeights;
use crate::hash::combine;
use crate::problem::{Problem, Weights};
use crate::sparse::SparseVector;

/// How one example changes the weights.
pub(super) trait UpdateRule {
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
pub(super) fn visiting_order(examples: usize, run: &Run<'_>, epoch: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..examples as u32).collect();
    if run.shuffle {
        let mut state = combine(run.seed, epoch as u64);
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
    let mut weights = AveragedWeights::new(run.start(problem.parameters())?, rule.averages());
    let mut stopping = Stopping::new(run.patience);
    let mut first = 1;
    if let Some(saved) = Checkpoint::load(run.checkpoint.as_deref(), &description)? {
        first = saved.epoch()? + 1;
        weights = saved.weights(problem.parameters(), rule.averages())?;
        stopping.restore(&saved)?;
        if let Some(memory) = rule.memory() {
            *memory = saved.array_of("memory", problem.parameters())?;
        }
        if let Some(clock) = rule.clock() {
            [*clock] = saved.numbers("clock")?;
        }
    }

    let pool = (run.batch > 1).then(|| run.pool()).transpose()?;
    let mut slots: Vec<Slot<P::Workspace, R::Seen>> = (0..run.batch.max(1))
        .map(|_| Slot { workspace: problem.workspace(), difference: SparseVector::new(), seen: None })
        .collect();
    let mut average = Vec::new();
    for epoch in first..=run.epochs {
        let (mut loss, mut errors) = (0.0, 0);
        for chunk in visiting_order(problem.examples(), &run, epoch).chunks(run.batch.max(1)) {
            if run.interrupted() {
                return Ok(stopping.finish(Stop::Interrupted, &weights));
            }
            let cost = rule.cost(&weights);
            let current = weights.current();
            let decode = |(slot, &example): (&mut Slot<P::Workspace, R::Seen>, &u32)| {
                slot.difference.clear();
                let Slot { workspace, difference, .. } = slot;
                slot.seen = Some(visit(problem, example as usize, current, cost, workspace, difference));
            };
            match &pool {
                Some(pool) => pool.install(|| slots.par_iter_mut().zip(chunk).for_each(decode)),
                None => slots.iter_mut().zip(chunk).for_each(decode),
            }
            for slot in &mut slots[..chunk.len()] {
                let Some(seen) = slot.seen.take().transpose()? else { continue };
                errors += usize::from(rule.predicts() && !slot.difference.is_empty());
                loss += rule.update(&mut weights, &mut slot.difference, &seen);
                weights.step();
            }
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
            let mut saved = Checkpoint::new(&description, epoch);
            saved.put_weights(&weights);
            if let Some(memory) = rule.memory() {
                saved.put("memory", memory);
            }
            if let Some(clock) = rule.clock() {
                saved.put("clock", &[*clock]);
            }
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

/// The place of one example of a batch.
struct Slot<W, S> {
    workspace: W,
    difference: SparseVector,
    seen: Option<Result<S, LearnError>>,
}
