use std::ops::Range;

use rayon::ThreadPool;
use rayon::prelude::*;

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
const MOST_SHARDS: usize = 8;

impl<W: Send> Shards<W> {
    pub(super) fn new<P: Differentiate<Workspace = W>>(problem: &P, threads: usize) -> Self {
        let total: usize = (0..problem.examples()).map(|example| problem.size(example)).sum();
        let count = MOST_SHARDS.min(problem.examples()).max(1);
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
                self.lanes.par_iter_mut().zip(wave).for_each(|(lane, range)| {
                    lane.gradient.fill(0.0);
                    let Lane { workspace, gradient, .. } = lane;
                    lane.loss = range.clone().try_fold(0.0, |loss, example| {
                        let weights = Weights::new(weights);
                        Ok(loss
                            + problem.differentiate(example, weights, workspace, gradient.as_mut_slice())?)
                    });
                });
                for lane in &mut self.lanes[..wave.len()] {
                    loss += std::mem::replace(&mut lane.loss, Ok(0.0))?;
                    gradient.par_chunks_mut(1 << 16).zip(lane.gradient.par_chunks(1 << 16)).for_each(
                        |(sum, part)| {
                            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                        },
                    );
                }
                Ok::<_, LearnError>(())
            })?;
        }
        Ok(loss)
    }
}
