use std::ops::Range;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::checkpoint::{Checkpoint, Saved};
use super::sharing::{Courier, Desk};
use crate::LearnError;
use crate::problem::{Differentiate, Weights};

/// The gradient over all examples, summed shard by shard.
///
/// The examples are cut into shards of about equal work. Their number depends on the data and the number of
/// weights only; each shard is summed by one thread, and the shards are added in their order. So the bits are
/// the same for any number of threads, and only as many gradients are held as threads run.
pub(super) struct Shards<W> {
    ranges: Vec<Range<usize>>,
    lanes: Vec<Lane<W>>,
}

struct Lane<W> {
    workspace: W,
    gradient: Vec<f64>,
    loss: Result<f64, LearnError>,
}

/// Enough for the cores of a desktop; more shards would cost a pass over the weights each.
const SHARDS: usize = 8;

impl<W: Send> Shards<W> {
    /// At least so many shards, if there are examples for them.
    pub(super) fn new<P: Differentiate<Workspace = W>>(problem: &P, shards: usize, threads: usize) -> Self {
        let total: usize = (0..problem.examples()).map(|example| problem.size(example)).sum();
        let count = SHARDS.max(shards).min(problem.examples()).max(1);
        let mut ranges = Vec::with_capacity(count);
        let (mut start, mut work) = (0, 0);
        for example in 0..problem.examples() {
            work += problem.size(example);
            if work * count >= total * (ranges.len() + 1) || example + 1 == problem.examples() {
                ranges.push(start..example + 1);
                start = example + 1;
            }
        }
        let lanes = (0..threads.clamp(1, ranges.len().max(1)))
            .map(|_| Lane {
                workspace: problem.workspace(),
                gradient: vec![0.0; problem.parameters()],
                loss: Ok(0.0),
            })
            .collect();
        Self { ranges, lanes }
    }

    /// The loss of all examples; their gradient is written to `gradient`.
    pub(super) fn evaluate<P: Differentiate<Workspace = W>>(
        &mut self,
        problem: &P,
        weights: &[f32],
        pool: &ThreadPool,
        gradient: &mut [f64],
    ) -> Result<f64, LearnError> {
        gradient.fill(0.0);
        let mut loss = 0.0;
        for wave in self.ranges.chunks(self.lanes.len()) {
            pool.install(|| {
                self.lanes
                    .par_iter_mut()
                    .zip(wave)
                    .for_each(|(lane, range)| lane.evaluate(problem, weights, range.clone()));
                for lane in &mut self.lanes[..wave.len()] {
                    loss += std::mem::replace(&mut lane.loss, Ok(0.0))?;
                    add(gradient, &lane.gradient);
                }
                Ok::<_, LearnError>(())
            })?;
        }
        Ok(loss)
    }

    /// The same, with every shard worked on elsewhere.
    pub(super) fn fetch(
        &self,
        courier: &Courier<'_>,
        description: &str,
        weights: &[f32],
        gradient: &mut [f64],
    ) -> Result<f64, LearnError> {
        gradient.fill(0.0);
        let mut state = Checkpoint::new(description, 0);
        state.put("weights", weights);
        let mut loss = 0.0;
        for answer in courier.carry(&state.into_bytes(), self.ranges.len())? {
            let share = Saved::from_bytes(&answer, description)?;
            let [part] = share.numbers("loss")?;
            loss += part;
            add(gradient, &share.array_of("gradient", gradient.len())?);
        }
        Ok(loss)
    }

    /// Works on shards for others until the outcome is known.
    pub(super) fn serve<P: Differentiate<Workspace = W>>(
        &mut self,
        problem: &P,
        desk: &Desk,
        description: &str,
    ) -> Result<Vec<u8>, LearnError> {
        desk.serve(|state, shard, _| {
            let state = Saved::from_bytes(state, description)?;
            let weights: Vec<f32> = state.array_of("weights", problem.parameters())?;
            let range = self.ranges.get(shard).cloned();
            let range = range.ok_or_else(|| LearnError::worker(format!("there is no shard {shard}")))?;
            let lane = &mut self.lanes[0];
            lane.evaluate(problem, &weights, range);
            let mut share = Checkpoint::new(description, 0);
            share.put("loss", &[std::mem::replace(&mut lane.loss, Ok(0.0))?]).put("gradient", &lane.gradient);
            Ok(share.into_bytes())
        })
    }
}

impl<W> Lane<W> {
    fn evaluate<P: Differentiate<Workspace = W>>(
        &mut self,
        problem: &P,
        weights: &[f32],
        mut range: Range<usize>,
    ) {
        let Self { workspace, gradient, .. } = self;
        gradient.fill(0.0);
        let weights = Weights::new(weights);
        self.loss = range.try_fold(0.0, |loss, example| {
            Ok(loss + problem.differentiate(example, weights, workspace, gradient.as_mut_slice())?)
        });
    }
}

fn add(sum: &mut [f64], part: &[f64]) {
    sum.par_chunks_mut(1 << 16)
        .zip(part.par_chunks(1 << 16))
        .for_each(|(sum, part)| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
}
