use super::Method;
use super::online::UpdateRule;
use super::parameters::{AVERAGE, AlgorithmInfo, Parameter, Training};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;
use std::borrow::Cow;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "pegasos",
    summary: "Structured support vector machine: stochastic subgradient of the regularized hinge loss with cost-augmented decoding.",
    citation: "Shalev-Shwartz, Singer, Srebro & Cotter 2011, Pegasos: primal estimated sub-gradient solver for SVM, Math. Programming 127",
    parameters: Cow::Borrowed(&[
        Parameter::C.info(
            1.0,
            1e-9,
            1e9,
            "weight of the loss against the regularization: lambda = 1 / (c times the number of examples)",
        ),
        AVERAGE,
    ]),
};

/// w ← (1 − ηλ) w + η (Φ(gold) − Φ(predicted)) with η = 1/(λ t), so that 1 − ηλ = 1 − 1/t. The count begins
/// at two: the first step of the paper multiplies the (zero) start with zero, which would also erase initial
/// weights.
#[derive(Clone)]
pub(super) struct Pegasos {
    lambda: f64,
    average: bool,
    time: f64,
}

impl Pegasos {
    pub(super) fn new(training: &Training<Method>, examples: usize) -> Self {
        let lambda = 1.0 / (training.get(Parameter::C) * examples.max(1) as f64);
        // Beginning after one epoch bounds the first steps by c: η = 1/(λ·n) = c.
        Self { lambda, average: training.is_on(Parameter::AVERAGE), time: 1.0 + examples as f64 }
    }
}

impl UpdateRule for Pegasos {
    type Seen = Separation;

    fn cost(&self, _: &AveragedWeights) -> f32 {
        1.0
    }

    fn averages(&self) -> bool {
        self.average
    }

    fn clock(&mut self) -> Option<&mut f64> {
        Some(&mut self.time)
    }

    fn update(
        &mut self,
        weights: &mut AveragedWeights,
        difference: &mut SparseVector,
        outcome: &Separation,
    ) -> f64 {
        self.time += 1.0;
        weights.shrink(1.0 - 1.0 / self.time);
        let loss = f64::from(outcome.violation) + f64::from(outcome.cost);
        if loss > 0.0 {
            let rate = f64::from(outcome.weight) / (self.lambda * self.time);
            for &(index, value) in difference.pairs() {
                weights.add(index, rate * f64::from(value));
            }
        }
        loss.max(0.0)
    }
}
