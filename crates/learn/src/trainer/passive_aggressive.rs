use super::online::UpdateRule;
use super::parameters::{AVERAGE, AlgorithmInfo, ParameterInfo, Parameters};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "passive-aggressive",
    summary: "Moves the weights just as far as the gold output needs to win by the cost of the prediction; with cost-augmented decoding, 1-best MIRA.",
    citation: "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Online passive-aggressive algorithms, JMLR 7",
    parameters: &[
        ParameterInfo {
            name: "type",
            default: 1.0,
            least: 0.0,
            most: 2.0,
            help: "0: no slack, 1: PA-I (step at most c), 2: PA-II (squared slack)",
        },
        ParameterInfo {
            name: "c",
            default: 1.0,
            least: 1e-9,
            most: 1e9,
            help: "aggressiveness: larger values follow each example more closely",
        },
        ParameterInfo {
            name: "cost-augmented",
            default: 0.0,
            least: 0.0,
            most: 1.0,
            help: "1: decode for score plus cost (MIRA), 0: for score alone",
        },
        ParameterInfo {
            name: "cost-power",
            default: 0.5,
            least: 0.0,
            most: 1.0,
            help: "the margin is the cost to this power: 1 the cost itself, 0.5 its root, 0 one for any error; 1 when cost-augmented",
        },
        AVERAGE,
    ],
};

/// w ← w + τ (Φ(gold) − Φ(predicted)) with τ from the loss ℓ = violation + margin and the squared length d of the
/// difference: ℓ/d, min(c, ℓ/d), or ℓ/(d + 1/2c).
pub(super) struct PassiveAggressive {
    kind: u8,
    c: f64,
    augmented: bool,
    power: f64,
    average: bool,
}

impl PassiveAggressive {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let augmented = parameters.is_on("cost-augmented");
        Self {
            kind: parameters.get("type").round() as u8,
            c: parameters.get("c"),
            augmented,
            power: if augmented { 1.0 } else { parameters.get("cost-power") },
            average: parameters.is_on("average"),
        }
    }
}

impl UpdateRule for PassiveAggressive {
    fn cost(&self, _: &AveragedWeights) -> f32 {
        if self.augmented { 1.0 } else { 0.0 }
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
        let loss = f64::from(outcome.violation) + f64::from(outcome.cost).max(0.0).powf(self.power);
        difference.compact();
        let squared = difference.squared_norm();
        if loss <= 0.0 || squared == 0.0 {
            return 0.0;
        }
        let c = self.c * f64::from(outcome.weight);
        let step = match self.kind {
            0 => loss / squared,
            1 => (loss / squared).min(c),
            _ => loss / (squared + 0.5 / c),
        };
        for &(index, value) in difference.pairs() {
            weights.add(index, step * f64::from(value));
        }
        loss
    }
}
