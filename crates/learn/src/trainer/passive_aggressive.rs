use super::Method;
use super::online::UpdateRule;
use super::parameters::{AVERAGE, AlgorithmInfo, Parameter, Training};
use crate::averaging::AveragedWeights;
use crate::problem::Separation;
use crate::sparse::SparseVector;
use std::borrow::Cow;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "passive-aggressive",
    summary: "Moves the weights just as far as the gold output needs to win by the cost of the prediction; with cost-augmented decoding, 1-best MIRA.",
    citation: "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Online passive-aggressive algorithms, JMLR 7",
    parameters: Cow::Borrowed(&[
        Parameter::TYPE.info(1.0, 0.0, 2.0, "0: no slack, 1: PA-I (step at most c), 2: PA-II (squared slack)"),
        Parameter::C.info(1.0, 1e-9, 1e9, "aggressiveness: larger values follow each example more closely"),
        Parameter::COST_AUGMENTED.info(0.0, 0.0, 1.0, "1: decode for score plus cost (MIRA), 0: for score alone"),
        Parameter::COST_POWER.info(0.5, 0.0, 1.0, "the margin is the cost to this power: 1 the cost itself, 0.5 its root, 0 one for any error; 1 when cost-augmented"),
        AVERAGE,
    ]),
};

/// w ← w + τ (Φ(gold) − Φ(predicted)) with τ from the loss ℓ = violation + margin and the squared length d of
/// the difference: ℓ/d, min(c, ℓ/d), or ℓ/(d + 1/2c).
#[derive(Clone)]
pub(super) struct PassiveAggressive {
    kind: u8,
    c: f64,
    augmented: bool,
    power: f64,
    average: bool,
}

impl PassiveAggressive {
    pub(super) fn new(training: &Training<Method>) -> Self {
        let augmented = training.is_on(Parameter::COST_AUGMENTED);
        Self {
            kind: training.get(Parameter::TYPE).round() as u8,
            c: training.get(Parameter::C),
            augmented,
            power: if augmented { 1.0 } else { training.get(Parameter::COST_POWER) },
            average: training.is_on(Parameter::AVERAGE),
        }
    }
}

impl UpdateRule for PassiveAggressive {
    type Seen = Separation;

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
