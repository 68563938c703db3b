//! Iterative parameter mixing: every shard of the data makes its own weights of the common ones in an epoch,
//! and their mean is what the next epoch begins from (McDonald, Hall & Mann 2010, Distributed training
//! strategies for the structured perceptron, NAACL).
//!
//! With averaging, the result is the average of all weights on the way of all shards.

use super::checkpoint::{Checkpoint, Saved};
use super::online::{UpdateRule, Visited};
use crate::LearnError;
use crate::averaging::AveragedWeights;

/// What a shard begins an epoch from.
pub(super) fn start(
    description: &str,
    epoch: usize,
    weights: &AveragedWeights,
    rule: &mut impl UpdateRule,
) -> Checkpoint {
    let mut start = Checkpoint::new(description, epoch);
    start.put("values", weights.state().0);
    rule.save(&mut start);
    start
}

/// What a shard has made of weights in an epoch. Only those that it touched are here: in late epochs they are
/// few.
pub(super) struct Share {
    touched: Vec<u32>,
    values: Vec<f32>,
    /// The averages of these weights on the way.
    averages: Vec<f32>,
    steps: f64,
    memory: Vec<f32>,
    clock: f64,
    visited: Visited,
}

impl Share {
    pub(super) fn new(
        start: &[f32],
        weights: &AveragedWeights,
        rule: &mut impl UpdateRule,
        visited: Visited,
    ) -> Self {
        let touched: Vec<u32> = weights.touched(start).map(|index| index as u32).collect();
        Self {
            values: touched.iter().map(|&index| weights.value(index as usize)).collect(),
            averages: touched.iter().map(|&index| weights.average(index as usize)).collect(),
            touched,
            steps: weights.steps(),
            memory: rule.memory().map_or(Vec::new(), |memory| memory.clone()),
            clock: rule.clock().map_or(0.0, |clock| *clock),
            visited,
        }
    }

    /// The whole share, for whoever asked for it.
    pub(super) fn to_bytes(&self, description: &str, epoch: usize) -> Result<Vec<u8>, LearnError> {
        let Visited { loss, errors, complete } = self.visited;
        if !complete {
            return Err(LearnError::worker("it was interrupted"));
        }
        let mut saved = Checkpoint::new(description, epoch);
        saved.put("touched", &self.touched).put("values", &self.values).put("averages", &self.averages);
        saved.put("memory", &self.memory).put("numbers", &[self.steps, loss, errors as f64, self.clock]);
        Ok(saved.into_bytes())
    }

    pub(super) fn from_bytes(bytes: &[u8], description: &str) -> Result<Self, LearnError> {
        let saved = Saved::from_bytes(bytes, description)?;
        let [steps, loss, errors, clock] = saved.numbers("numbers")?;
        let touched: Vec<u32> = saved.array("touched")?;
        Ok(Self {
            values: saved.array_of("values", touched.len())?,
            averages: saved.array_of("averages", touched.len())?,
            touched,
            memory: saved.array("memory")?,
            steps,
            clock,
            visited: Visited { loss, errors: errors as usize, complete: true },
        })
    }
}

/// The mean of shares, which come in the order of the shards.
pub(super) struct Mixture {
    shards: f64,
    values: Vec<f64>,
    memory: Vec<f64>,
    clock: f64,
    steps: f64,
    visited: Visited,
}

impl Mixture {
    pub(super) fn new(shards: usize, weights: &AveragedWeights, rule: &mut impl UpdateRule) -> Self {
        Self {
            shards: shards as f64,
            values: weights.state().0.iter().map(|&value| value.into()).collect(),
            memory: vec![0.0; rule.memory().map_or(0, |memory| memory.len())],
            clock: 0.0,
            steps: 0.0,
            visited: Visited { loss: 0.0, errors: 0, complete: true },
        }
    }

    /// Adds a share that began from these weights.
    pub(super) fn add(&mut self, share: &Share, weights: &mut AveragedWeights) -> Result<(), LearnError> {
        let size = share.touched.iter().max().map_or(0, |&last| last as usize + 1);
        if size > self.values.len() || share.memory.len() != self.memory.len() {
            let (found, expected) = (size.max(share.memory.len()), self.values.len());
            return Err(LearnError::OtherProblem { what: "a share of the training".into(), found, expected });
        }
        for ((&index, &value), &average) in share.touched.iter().zip(&share.values).zip(&share.averages) {
            let index = index as usize;
            let start = f64::from(weights.state().0[index]);
            self.values[index] += (f64::from(value) - start) / self.shards;
            weights.amend(index, share.steps * (f64::from(average) - start));
        }
        for (sum, &number) in self.memory.iter_mut().zip(&share.memory) {
            *sum += f64::from(number) / self.shards;
        }
        self.clock += share.clock / self.shards;
        self.steps += share.steps;
        self.visited.loss += share.visited.loss;
        self.visited.errors += share.visited.errors;
        self.visited.complete &= share.visited.complete;
        Ok(())
    }

    /// What the next epoch begins from, and how it went.
    pub(super) fn settle(self, weights: &mut AveragedWeights, rule: &mut impl UpdateRule) -> Visited {
        let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
        weights.replace(single(&self.values), self.steps);
        if let Some(memory) = rule.memory() {
            *memory = single(&self.memory);
        }
        if let Some(clock) = rule.clock() {
            *clock = self.clock;
        }
        self.visited
    }
}
