use super::online::UpdateRule;
use super::parameters::{AlgorithmInfo, ParameterInfo, Parameters};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "arow",
    summary: "Keeps a variance for each weight: weights seen often move little, rare ones much.",
    citation: "Crammer, Kulesza & Dredze 2009, Adaptive regularization of weight vectors, NIPS; Mejer & Crammer 2010 for sequences, EMNLP",
    parameters: &[
        ParameterInfo {
            name: "variance",
            default: 1.0,
            least: 1e-9,
            most: 1e9,
            help: "the variance of every weight at the start",
        },
        ParameterInfo {
            name: "gamma",
            default: 1.0,
            least: 1e-9,
            most: 1e9,
            help: "trade-off between loss and change: larger values change less",
        },
    ],
};

/// With diagonal covariance Σ, difference d and loss ℓ: v = dᵀΣd, w ← w + ℓ/(v + γ) Σd, Σ⁻¹ ← Σ⁻¹ + d²/γ.
pub(super) struct Arow {
    gamma: f64,
    variances: Vec<f32>,
}

impl Arow {
    pub(super) fn new(parameters: &Parameters, weights: usize) -> Self {
        Self { gamma: parameters.get("gamma"), variances: vec![parameters.get("variance") as f32; weights] }
    }
}

impl UpdateRule for Arow {
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
