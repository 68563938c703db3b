//! What a trainer sees of a task.
//!
//! Trainers are generic over these traits, so that a task's inner loop is compiled into the trainer. A task
//! whose outputs are sets of scored parts implements [`Parts`](crate::parts::Parts) and gets these for free;
//! chains implement them directly, because there every nanosecond counts.

use crate::LearnError;
use crate::sparse::{Gradient, SparseVector};

/// The weights of the moment: weight `i` is `scale * values[i]`.
///
/// The scale lets a trainer shrink all weights in one multiplication. An implementation sums `values` first
/// and multiplies the sum.
#[derive(Debug, Clone, Copy)]
pub struct Weights<'a> {
    /// Weights before scaling.
    pub values: &'a [f32],
    /// What all of them are multiplied with.
    pub scale: f32,
}

impl<'a> Weights<'a> {
    /// Weights as they are.
    pub fn new(values: &'a [f32]) -> Self {
        Self { values, scale: 1.0 }
    }
}

/// Training examples over one vector of weights.
pub trait Problem: Sync {
    /// Buffers for one thread, reused from example to example.
    type Workspace: Send;

    /// Makes the buffers of a thread.
    fn workspace(&self) -> Self::Workspace;

    /// The number of weights.
    fn parameters(&self) -> usize;

    /// The number of examples.
    fn examples(&self) -> usize;

    /// A number that other examples do not have, nor the same ones in another order: a checkpoint belongs to
    /// it. Asked for where there is a checkpoint only; it takes a pass over the data.
    fn fingerprint(&self) -> Result<u64, LearnError>;
}

/// The outcome of decoding one example in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// By how much the prediction scores above the gold output, the cost not included.
    pub violation: f32,
    /// How wrong the prediction is: zero for the gold output.
    pub cost: f32,
    /// How much the example counts.
    pub weight: f32,
}

impl Separation {
    /// Prediction and gold are the same.
    pub const CORRECT: Self = Self { violation: 0.0, cost: 0.0, weight: 1.0 };
}

/// Problems for trainers that compare gold and prediction: perceptron, passive-aggressive, AROW, Pegasos.
pub trait Separate: Problem {
    /// Finds the output that maximizes score plus `cost` times its cost, and writes the features of the gold
    /// output minus those of the found one to `difference`, which comes empty. An index may be written more
    /// than once.
    ///
    /// Called once for each example and epoch.
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut Self::Workspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError>;
}

/// Problems with a differentiable loss: SGD, L-BFGS and OWL-QN.
pub trait Differentiate: Problem {
    /// Returns the loss of one example and adds its gradient.
    ///
    /// Called once for each example and pass. Several threads call it at once with their own workspace and
    /// gradient.
    fn differentiate<G: Gradient + ?Sized>(
        &self,
        example: usize,
        weights: Weights<'_>,
        workspace: &mut Self::Workspace,
        gradient: &mut G,
    ) -> Result<f64, LearnError>;

    /// A relative measure of the work an example takes, for even shares among threads.
    fn size(&self, example: usize) -> usize {
        let _ = example;
        1
    }
}
