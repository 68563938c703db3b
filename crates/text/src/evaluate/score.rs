//! Precision, recall and F1 from counts.

use serde::Serialize;

/// How many items the gold and the predicted side have, and how many of them agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items on both sides.
    pub correct: u64,
    /// Items on the gold side.
    pub gold: u64,
    /// Items on the predicted side.
    pub predicted: u64,
}

impl Counts {
    /// Precision, recall and F1; zero where nothing was predicted or nothing was to be found.
    pub fn score(&self) -> Score {
        Score {
            precision: ratio(self.correct, self.predicted),
            recall: ratio(self.correct, self.gold),
            f1: ratio(2 * self.correct, self.gold + self.predicted),
        }
    }

    /// Adds the counts of another part of the data.
    pub fn add(&mut self, other: Counts) {
        self.correct += other.correct;
        self.gold += other.gold;
        self.predicted += other.predicted;
    }
}

/// Precision, recall and F1, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Share of the predicted items that are correct.
    pub precision: f64,
    /// Share of the gold items that were predicted.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
}

/// `part / whole`, and zero where there is no whole.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_sides_score_zero() {
        assert_eq!(Counts::default().score(), Score::default());
        let none_predicted = Counts { correct: 0, gold: 3, predicted: 0 };
        assert_eq!(none_predicted.score(), Score::default());
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        let score = Counts { correct: 3, gold: 4, predicted: 6 }.score();
        assert_eq!((score.precision, score.recall), (0.5, 0.75));
        assert!((score.f1 - 2.0 * 0.5 * 0.75 / 1.25).abs() < 1e-15);
    }
}
