use super::Method;
use super::online::UpdateRule;
use super::parameters::{AlgorithmInfo, Parameter, Training};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;
use std::borrow::Cow;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "arow",
    summary: "Keeps a variance for each weight: weights seen often move little, rare ones much.",
    citation: "Crammer, Kulesza & Dredze 2009, Adaptive regularization of weight vectors, NIPS; Mejer & Crammer 2010 for sequences, EMNLP",
    parameters: Cow::Borrowed(&[
        Parameter::VARIANCE.info(1.0, 1e-9, 1e9, "the variance of every weight at the start"),
        Parameter::GAMMA.info(1.0, 1e-9, 1e9, "trade-off between loss and change: larger values change less"),
    ]),
};

/// With diagonal covariance Σ, difference d and loss ℓ: v = dᵀΣd, w ← w + ℓ/(v + γ) Σd, Σ⁻¹ ← Σ⁻¹ + d²/γ.
#[derive(Clone)]
pub(super) struct Arow {
    gamma: f64,
    variances: Vec<f32>,
}

impl Arow {
    pub(super) fn new(training: &Training<Method>, weights: usize) -> Self {
        Self {
            gamma: training.get(Parameter::GAMMA),
            variances: vec![training.get(Parameter::VARIANCE) as f32; weights],
        }
    }
}

impl UpdateRule for Arow {
    type Seen = Separation;

    fn averages(&self) -> bool {
        false
    }

    fn memory(&mut self) -> Option<&mut Vec<f32>> {
        Some(&mut self.variances)
    }

    fn update(
        &mut self,
        weights: &mut AveragedWeights,
        difference: &mut SparseVector,
        outcome: &Separation,
    ) -> f64 {
        let loss = f64::from(outcome.violation) + f64::from(outcome.cost);
        if loss <= 0.0 {
            return 0.0;
        }
        difference.compact();
        let variance: f64 = difference
            .pairs()
            .iter()
            .map(|&(index, value)| f64::from(value).powi(2) * f64::from(self.variances[index as usize]))
            .sum();
        let step = f64::from(outcome.weight) * loss / (variance + self.gamma);
        for &(index, value) in difference.pairs() {
            let sigma = f64::from(self.variances[index as usize]);
            weights.add(index, step * sigma * f64::from(value));
            self.variances[index as usize] =
                (1.0 / (1.0 / sigma + f64::from(value).powi(2) / self.gamma)) as f32;
        }
        loss
    }
}
