//! Tasks as lists of scored parts: what the author of a task writes.
//!
//! A part is a piece of an output that can be chosen (an arc, a concept, a link). The task lists the parts of
//! an example with their features, and decodes under given scores; scoring, costs, differences and gradients
//! follow from that.

use crate::LearnError;
use crate::hash::Fingerprint;
use crate::problem::{Differentiate, Problem, Separate, Separation, Weights};
use crate::sparse::{Gradient, SparseVector};

/// The parts of one example with their features, in flat arrays that are reused.
#[derive(Debug, Default)]
pub struct PartList {
    gold: Vec<f32>,
    cost: Vec<f32>,
    starts: Vec<u32>,
    features: Vec<u32>,
    values: Vec<f32>,
}

impl PartList {
    /// Begins a part. `gold`: 1 if it is in the gold output, 0 if not (or between, for fractional gold).
    /// `cost`: what predicting this part costs; wrong parts usually cost 1 and right ones 0, and -1 for a
    /// right part says that missing it costs 1.
    #[inline]
    pub fn push(&mut self, gold: f32, cost: f32) {
        self.gold.push(gold);
        self.cost.push(cost);
        self.starts.push(self.features.len() as u32);
    }

    /// Adds a feature to the part last begun.
    #[inline]
    pub fn feature(&mut self, index: u32) {
        self.feature_with(index, 1.0);
    }

    /// Adds a feature with a value to the part last begun.
    #[inline]
    pub fn feature_with(&mut self, index: u32, value: f32) {
        self.features.push(index);
        self.values.push(value);
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.gold.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gold.is_empty()
    }

    fn clear(&mut self) {
        self.gold.clear();
        self.cost.clear();
        self.starts.clear();
        self.features.clear();
        self.values.clear();
    }

    #[inline]
    fn part(&self, part: usize) -> impl Iterator<Item = (u32, f32)> {
        let start = self.starts[part] as usize;
        let end = self.starts.get(part + 1).map_or(self.features.len(), |&end| end as usize);
        self.features[start..end].iter().copied().zip(self.values[start..end].iter().copied())
    }
}

/// A task whose outputs are sets of parts.
pub trait Parts: Sync {
    /// Buffers for one thread, reused from example to example.
    type Workspace: Send;

    /// Makes the buffers of a thread.
    fn workspace(&self) -> Self::Workspace;

    /// The number of training examples.
    fn examples(&self) -> usize;

    /// The number of weights: features are indices below it.
    fn parameters(&self) -> usize;

    /// Lists the parts of an example; called before each decoding of it. `parts` comes empty.
    fn list(
        &self,
        example: usize,
        workspace: &mut Self::Workspace,
        parts: &mut PartList,
    ) -> Result<(), LearnError>;

    /// Finds the best output under `scores`, one for each part in the order listed, and writes how much of
    /// each part is in it: 0 or 1, or between for a relaxed solution. `predicted` comes filled with zeros.
    ///
    /// Scores that cannot be decoded (weights that grew beyond all bounds give such) are an error, which ends
    /// training.
    fn decode(
        &self,
        example: usize,
        scores: &[f32],
        workspace: &mut Self::Workspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError>;

    /// How much an example counts.
    fn weight(&self, example: usize) -> f32 {
        let _ = example;
        1.0
    }
}

/// A task that can also sum over all outputs, for likelihood training.
pub trait PartMarginals: Parts {
    /// Writes the probability of each part under `scores` and returns the logarithm of the partition
    /// function.
    fn marginals(
        &self,
        example: usize,
        scores: &[f32],
        workspace: &mut Self::Workspace,
        marginals: &mut [f32],
    ) -> Result<f64, LearnError>;
}

/// A task with parts as a training problem.
#[derive(Debug)]
pub struct PartProblem<'a, T> {
    task: &'a T,
}

/// The buffers of one thread for a task with parts.
#[derive(Debug)]
pub struct PartWorkspace<W> {
    task: W,
    parts: PartList,
    scores: Vec<f32>,
    predicted: Vec<f32>,
}

impl<'a, T: Parts> PartProblem<'a, T> {
    /// Wraps a task for the trainers.
    pub fn new(task: &'a T) -> Self {
        Self { task }
    }

    fn score(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut PartWorkspace<T::Workspace>,
    ) -> Result<(), LearnError> {
        let PartWorkspace { task, parts, scores, predicted } = workspace;
        parts.clear();
        self.task.list(example, task, parts)?;
        scores.clear();
        scores.extend((0..parts.len()).map(|part| {
            let sum: f32 =
                parts.part(part).map(|(index, value)| value * weights.values[index as usize]).sum();
            weights.scale * sum + cost * parts.cost[part]
        }));
        predicted.clear();
        predicted.resize(parts.len(), 0.0);
        Ok(())
    }
}

impl<T: Parts> Problem for PartProblem<'_, T> {
    type Workspace = PartWorkspace<T::Workspace>;

    fn workspace(&self) -> Self::Workspace {
        PartWorkspace {
            task: self.task.workspace(),
            parts: PartList::default(),
            scores: Vec::new(),
            predicted: Vec::new(),
        }
    }

    fn parameters(&self) -> usize {
        self.task.parameters()
    }

    fn examples(&self) -> usize {
        self.task.examples()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        let mut fingerprint = Fingerprint::default();
        let (mut workspace, mut parts) = (self.task.workspace(), PartList::default());
        for example in 0..self.task.examples() {
            parts.clear();
            self.task.list(example, &mut workspace, &mut parts)?;
            fingerprint.numbers(parts.starts.iter().chain(&parts.features).copied());
            let numbers = parts.gold.iter().chain(&parts.values).map(|number| number.to_bits());
            fingerprint.numbers(numbers.chain([self.task.weight(example).to_bits()]));
        }
        Ok(fingerprint.get())
    }
}

impl<T: Parts> Separate for PartProblem<'_, T> {
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut Self::Workspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        self.score(example, weights, cost, workspace)?;
        let PartWorkspace { task, parts, scores, predicted } = workspace;
        self.task.decode(example, scores, task, predicted)?;
        let mut outcome = Separation { weight: self.task.weight(example), ..Separation::CORRECT };
        for part in 0..parts.len() {
            let missing = parts.gold[part] - predicted[part];
            if missing != 0.0 {
                outcome.violation -= missing * (scores[part] - cost * parts.cost[part]);
                outcome.cost -= missing * parts.cost[part];
                parts.part(part).for_each(|(index, value)| difference.push(index, missing * value));
            }
        }
        Ok(outcome)
    }
}

impl<T: PartMarginals> Differentiate for PartProblem<'_, T> {
    fn differentiate<G: Gradient + ?Sized>(
        &self,
        example: usize,
        weights: Weights<'_>,
        workspace: &mut Self::Workspace,
        gradient: &mut G,
    ) -> Result<f64, LearnError> {
        self.score(example, weights, 0.0, workspace)?;
        let PartWorkspace { task, parts, scores, predicted } = workspace;
        let mut loss = self.task.marginals(example, scores, task, predicted)?;
        let weight = self.task.weight(example);
        for part in 0..parts.len() {
            loss -= f64::from(parts.gold[part]) * f64::from(scores[part]);
            let excess = weight * (predicted[part] - parts.gold[part]);
            if excess != 0.0 {
                parts.part(part).for_each(|(index, value)| gradient.add(index as usize, excess * value));
            }
        }
        Ok(f64::from(weight) * loss)
    }
}
