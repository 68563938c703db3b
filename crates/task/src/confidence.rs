//! How sure a model is, in numbers that mean what they say: of all answers with a confidence of 0.9, nine in ten
//! are right.

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};

/// What is said where confidences are asked of a model that has none.
pub const NO_CONFIDENCE: &str = "the model does not know how sure it may be; train it with dev data, or run `consonant calibrate` with some";

/// The section of a model.
const SECTION: &str = "confidence";
/// A step of the curve is made of this many answers at least.
const FEWEST: usize = 25;
/// Steps at most.
const MOST_STEPS: usize = 100;
/// Log-odds are kept within these bounds.
const SUREST: f32 = 30.0;

/// From what a model believes to how often it is right then: a rising curve, measured on data that it did not learn
/// from (isotonic regression; Zadrozny & Elkan 2002).
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    scale: f32,
    knots: Vec<(f32, f32)>,
}

impl Calibration {
    /// Learns from answers: the log-odds that a model with scores multiplied by `scale` gives each, and whether it
    /// is right. Nothing can be learned from a handful.
    pub fn fit(scale: f32, mut answers: Vec<(f32, bool)>) -> Option<Self> {
        answers.iter_mut().for_each(|(belief, _)| *belief = belief.clamp(-SUREST, SUREST));
        answers.sort_by(|one, other| one.0.total_cmp(&other.0));
        if answers.len() < FEWEST {
            return None;
        }
        let steps = (answers.len() / FEWEST).clamp(1, MOST_STEPS);
        // Of each block: answers, right ones, sum of beliefs.
        let mut blocks: Vec<(f64, f64, f64)> = Vec::with_capacity(steps);
        for step in 0..steps {
            let of = &answers[answers.len() * step / steps..answers.len() * (step + 1) / steps];
            let right = of.iter().filter(|(_, right)| *right).count();
            blocks.push((
                of.len() as f64,
                right as f64,
                of.iter().map(|(belief, _)| f64::from(*belief)).sum(),
            ));
            // Whoever believes more and is right less often is joined with those before.
            while let [.., before, last] = &mut blocks[..]
                && before.1 * last.0 >= last.1 * before.0
            {
                *before = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
                blocks.pop();
            }
        }
        let knot = |(count, right, beliefs): (f64, f64, f64)| {
            ((beliefs / count) as f32, ((right + 0.5) / (count + 1.0)) as f32)
        };
        let mut knots: Vec<(f32, f32)> = Vec::with_capacity(blocks.len());
        for (belief, share) in blocks.into_iter().map(knot) {
            // Shares are drawn towards a half, the more the smaller a block is; and who cannot be surer stands
            // several times at the end.
            match knots.last_mut() {
                Some(last) if last.0 >= belief => last.1 = last.1.max(share),
                Some(&mut (_, before)) => knots.push((belief, share.max(before))),
                None => knots.push((belief, share)),
            }
        }
        Some(Self { scale, knots })
    }

    /// What scores are multiplied by before probabilities are computed.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// How often an answer of these log-odds is right.
    pub fn confidence(&self, belief: f32) -> f32 {
        let above = self.knots.partition_point(|&(knot, _)| knot <= belief);
        match (above.checked_sub(1).map(|below| self.knots[below]), self.knots.get(above)) {
            (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (belief - x0) / (x1 - x0),
            (Some((_, last)), None) => last,
            (None, first) => first.map_or(0.5, |&(_, first)| first),
        }
    }

    /// Writes it into a model.
    pub fn store(&self, writer: &mut ModelWriter) {
        let knots = self.knots.iter().flat_map(|&(belief, share)| [belief, share]);
        let numbers: Vec<f32> = std::iter::once(self.scale).chain(knots).collect();
        writer.array(SECTION, &numbers);
    }

    /// Reads that of a model, if it has one.
    pub fn open(model: &Model) -> Result<Option<Self>, LearnError> {
        if !model.has(SECTION) {
            return Ok(None);
        }
        let numbers = model.array::<f32>(SECTION)?;
        let (scale, rest) = numbers.split_first().unwrap_or((&0.0, &[]));
        let knots: Vec<(f32, f32)> = rest.chunks_exact(2).map(|knot| (knot[0], knot[1])).collect();
        let rises = knots.is_sorted_by(|one, other| one.0 < other.0 && one.1 <= other.1);
        let is_share = knots.iter().all(|(belief, share)| belief.is_finite() && (0.0..=1.0).contains(share));
        if !(scale.is_finite()
            && *scale > 0.0
            && rest.len() % 2 == 0
            && !knots.is_empty()
            && rises
            && is_share)
        {
            return Err(model.damaged("its confidences make no sense"));
        }
        Ok(Some(Self { scale: *scale, knots }))
    }
}

/// The log-odds of a probability.
pub fn log_odds(probability: f64) -> f32 {
    ((probability / (1.0 - probability)).ln() as f32).clamp(-SUREST, SUREST)
}

/// How far confidences are from the truth: the mean difference of confidence and share of right answers over ten
/// bins of equal width, each as large as it is full (the expected calibration error).
pub fn calibration_error(answers: &[(f32, bool)]) -> f64 {
    let mut bins = [(0.0, 0.0); 10];
    for &(confidence, right) in answers {
        let bin = ((confidence * 10.0) as usize).min(9);
        bins[bin].0 += f64::from(confidence);
        bins[bin].1 += f64::from(u8::from(right));
    }
    bins.iter().map(|(believed, right)| (believed - right).abs()).sum::<f64>() / answers.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers whose share of right ones is a curve of their belief.
    fn answers(count: usize, seed: u64, share: impl Fn(f32) -> f64) -> Vec<(f32, bool)> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut draw = || (next() * 12.0 - 4.0) as f32;
        let beliefs: Vec<f32> = (0..count).map(|_| draw()).collect();
        beliefs.into_iter().map(|belief| (belief, next() < share(belief))).collect()
    }

    #[test]
    fn confidences_are_shares_of_right_answers() {
        // Far too sure of itself.
        let truth = |belief: f32| 1.0 / (1.0 + (-0.4 * f64::from(belief) - 0.3).exp());
        let calibration = Calibration::fit(1.0, answers(20_000, 1, truth)).unwrap();
        let others = answers(20_000, 2, truth);
        let naive: Vec<_> = others.iter().map(|&(b, right)| (1.0 / (1.0 + (-b).exp()), right)).collect();
        let told: Vec<_> = others.iter().map(|&(b, right)| (calibration.confidence(b), right)).collect();
        assert!(calibration_error(&naive) > 0.05);
        assert!(calibration_error(&told) < 0.02, "{}", calibration_error(&told));
        let curve: Vec<f32> = (-50..100).map(|step| calibration.confidence(step as f32 / 10.0)).collect();
        assert!(curve.is_sorted() && curve.iter().all(|share| (0.0..=1.0).contains(share)));
    }

    #[test]
    fn who_cannot_be_surer_is_told_apart_no_more() {
        let mut seen = answers(300, 5, |_| 0.8);
        seen.extend((0..5000).map(|number| (100.0, number % 50 != 0)));
        seen.extend((0..30).map(|_| (20.0, true)));
        let calibration = Calibration::fit(1.0, seen).unwrap();
        let mut writer = ModelWriter::new("toy", serde_json::json!({}));
        calibration.store(&mut writer);
        assert!(Calibration::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).is_ok());
        assert!((calibration.confidence(100.0) - 0.98).abs() < 0.01);
    }

    #[test]
    fn models_keep_it() {
        let calibration =
            Calibration::fit(0.25, answers(500, 3, |belief| if belief > 0.0 { 0.9 } else { 0.4 }));
        let mut writer = ModelWriter::new("toy", serde_json::json!({}));
        calibration.as_ref().unwrap().store(&mut writer);
        let model = Model::from_bytes(&writer.to_bytes()).unwrap();
        assert_eq!(Calibration::open(&model).unwrap(), calibration);
        assert!(Calibration::fit(1.0, vec![(1.0, true); 3]).is_none());
        writer.array("confidence", &[1.0f32, 0.0, 0.5, -1.0, 0.7]);
        assert!(Calibration::open(&Model::from_bytes(&writer.to_bytes()).unwrap()).is_err());
    }

    #[test]
    fn errors_are_those_of_the_bins() {
        assert_eq!(calibration_error(&[]), 0.0);
        let answers = [(0.95, true), (0.95, false), (0.15, false), (0.15, false)];
        // 1.9 believed and 1 right; 0.3 believed and none right.
        assert!((calibration_error(&answers) - (0.9 + 0.3) / 4.0).abs() < 1e-6);
    }
}
