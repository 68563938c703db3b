use std::borrow::Cow;

use super::online::{self, UpdateRule};
use super::parameters::{AlgorithmInfo, Parameter, Training};
use super::{Method, Outcome, Run};
use crate::LearnError;
use crate::averaging::AveragedWeights;
use crate::problem::{Differentiate, Weights};
use crate::sparse::SparseVector;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "sgd",
    summary: "Stochastic gradient descent on the loss plus c2 times the squared length of the weights, with a falling rate.",
    citation: "Bottou 2010, Large-scale machine learning with stochastic gradient descent, COMPSTAT",
    parameters: Cow::Borrowed(&[
        Parameter::C2.info(1.0, 0.0, 1e9, "L2 regularization, in the same unit as that of lbfgs"),
        Parameter::RATE.info(0.1, 1e-9, 1e3, "the learning rate at the start"),
        Parameter::AVERAGE.info(0.0, 0.0, 1.0, "1: averaged weights, 0: the last ones"),
    ]),
};

/// w ← (1 − ηλ) w − η ∇ℓ with λ = 2·c2/n and η = rate / (1 + rate·λ·t).
#[derive(Clone)]
struct Descent {
    rate: f64,
    lambda: f64,
    time: f64,
    average: bool,
}

pub(super) fn train<P: Differentiate>(
    problem: &P,
    training: &Training<Method>,
    run: Run<'_>,
) -> Result<Outcome, LearnError> {
    let rule = Descent {
        rate: training.get(Parameter::RATE),
        lambda: 2.0 * training.get(Parameter::C2) / problem.examples() as f64,
        time: 0.0,
        average: training.is_on(Parameter::AVERAGE),
    };
    let visit = |problem: &P,
                 example: usize,
                 weights: Weights<'_>,
                 _: f32,
                 workspace: &mut P::Workspace,
                 gradient: &mut SparseVector| {
        problem.differentiate(example, weights, workspace, gradient)
    };
    online::train(problem, visit, rule, training, run)
}

impl UpdateRule for Descent {
    /// The loss.
    type Seen = f64;

    fn averages(&self) -> bool {
        self.average
    }

    fn predicts(&self) -> bool {
        false
    }

    fn clock(&mut self) -> Option<&mut f64> {
        Some(&mut self.time)
    }

    fn update(&mut self, weights: &mut AveragedWeights, gradient: &mut SparseVector, loss: &f64) -> f64 {
        let step = self.rate / (1.0 + self.rate * self.lambda * self.time);
        self.time += 1.0;
        weights.shrink((1.0 - step * self.lambda).max(0.0));
        gradient.pairs().iter().for_each(|&(index, value)| weights.add(index, -step * f64::from(value)));
        *loss
    }
}
