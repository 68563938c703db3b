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

/// What a shard has made of weights in an epoch.
pub(super) struct Share {
    values: Vec<f32>,
    /// The average of the weights on the way; empty when none is wanted.
    average: Vec<f32>,
    steps: f64,
    memory: Vec<f32>,
    clock: f64,
    visited: Visited,
}

impl Share {
    pub(super) fn new(weights: &AveragedWeights, rule: &mut impl UpdateRule, visited: Visited) -> Self {
        let mut average = Vec::new();
        if rule.averages() {
            weights.average_into(&mut average);
        }
        let now = weights.current();
        Self {
            values: now.values.iter().map(|value| value * now.scale).collect(),
            average,
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
        saved.put("values", &self.values).put("average", &self.average).put("memory", &self.memory);
        saved.put("numbers", &[self.steps, loss, errors as f64, self.clock]);
        Ok(saved.into_bytes())
    }

    pub(super) fn from_bytes(bytes: &[u8], description: &str) -> Result<Self, LearnError> {
        let saved = Saved::from_bytes(bytes, description)?;
        let [steps, loss, errors, clock] = saved.numbers("numbers")?;
        Ok(Self {
            values: saved.array("values")?,
            average: saved.array("average")?,
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
    sums: Vec<f64>,
    memory: Vec<f64>,
    clock: f64,
    steps: f64,
    /// Over all shards.
    pub(super) visited: Visited,
}

impl Mixture {
    pub(super) fn new(shards: usize, weights: usize, rule: &mut impl UpdateRule) -> Self {
        Self {
            shards: shards as f64,
            values: vec![0.0; weights],
            sums: vec![0.0; if rule.averages() { weights } else { 0 }],
            memory: vec![0.0; rule.memory().map_or(0, |memory| memory.len())],
            clock: 0.0,
            steps: 0.0,
            visited: Visited { loss: 0.0, errors: 0, complete: true },
        }
    }

    pub(super) fn add(&mut self, share: &Share) -> Result<(), LearnError> {
        let sizes = [
            (share.values.len(), self.values.len()),
            (share.average.len(), self.sums.len()),
            (share.memory.len(), self.memory.len()),
        ];
        if let Some(&(found, expected)) = sizes.iter().find(|(found, expected)| found != expected) {
            return Err(LearnError::OtherProblem { what: "a share of the training".into(), found, expected });
        }
        add(&mut self.values, 1.0 / self.shards, &share.values);
        add(&mut self.sums, share.steps, &share.average);
        add(&mut self.memory, 1.0 / self.shards, &share.memory);
        self.clock += share.clock / self.shards;
        self.steps += share.steps;
        self.visited.loss += share.visited.loss;
        self.visited.errors += share.visited.errors;
        self.visited.complete &= share.visited.complete;
        Ok(())
    }

    /// What the next epoch begins from.
    pub(super) fn settle(&self, weights: &mut AveragedWeights, rule: &mut impl UpdateRule) {
        let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
        weights.replace(single(&self.values), &self.sums, self.steps);
        if let Some(memory) = rule.memory() {
            *memory = single(&self.memory);
        }
        if let Some(clock) = rule.clock() {
            *clock = self.clock;
        }
    }
}

fn add(sums: &mut [f64], factor: f64, numbers: &[f32]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, &number)| *sum += factor * f64::from(number));
}
