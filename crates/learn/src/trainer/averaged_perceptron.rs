use super::Method;
use super::online::UpdateRule;
use super::parameters::{AVERAGE, AlgorithmInfo, Parameter, Training};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;
use std::borrow::Cow;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "averaged-perceptron",
    summary: "Adds the features of the gold output and subtracts those of the predicted one; returns the average of all weights on the way.",
    citation: "Collins 2002, Discriminative training methods for hidden Markov models, EMNLP",
    parameters: Cow::Borrowed(&[
        AVERAGE,
        Parameter::MARGIN.info(0.0, 0.0, 1e6, "by how much the gold output must win for each wrong part of another; a good value is the number of features of a part"),
    ]),
};

/// w ← w + Φ(gold) − Φ(predicted).
#[derive(Clone)]
pub(super) struct Perceptron {
    average: bool,
    margin: f32,
}

impl Perceptron {
    pub(super) fn new(training: &Training<Method>) -> Self {
        Self { average: training.is_on(Parameter::AVERAGE), margin: training.get(Parameter::MARGIN) as f32 }
    }
}

impl UpdateRule for Perceptron {
    type Seen = Separation;

    fn cost(&self, _: &AveragedWeights) -> f32 {
        self.margin
    }

    fn averages(&self) -> bool {
        self.average
    }

    fn update(
        &mut self,
        weights: &mut AveragedWeights,
        difference: &mut SparseVector,
        outcome: &Separation,
    ) -> f64 {
        let weight = f64::from(outcome.weight);
        for &(index, value) in difference.pairs() {
            weights.add(index, weight * f64::from(value));
        }
        f64::from(outcome.violation.max(0.0))
    }
}
