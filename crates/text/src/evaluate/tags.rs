//! Accuracy of tags, over all words and over words that training never saw.

use std::fmt;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::bootstrap::UnitRatios;
use super::mistakes::Mistake;
use super::score::ratio;

/// Compares tags word by word.
///
/// ```
/// use consonant_text::evaluate::TagScorer;
/// let mut scorer = TagScorer::with_training_words(["the", "dog"].map(String::from));
/// scorer.sentence([("the", "DET", "DET"), ("cat", "NOUN", "VERB")]);
/// let scores = scorer.finish();
/// assert_eq!((scores.accuracy, scores.unknown_accuracy), (0.5, Some(0.0)));
/// ```
#[derive(Debug, Default)]
pub struct TagScorer {
    known: Option<FxHashSet<String>>,
    by_sentence: Vec<TagCounts>,
    gathers_mistakes: bool,
    mistakes: Vec<Mistake>,
}

/// What a sentence adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TagCounts {
    words: u64,
    correct: u64,
    unknown: u64,
    unknown_correct: u64,
}

/// Accuracies between 0 and 1, and the numbers behind them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagScores {
    /// Share of words with the right tag.
    pub accuracy: f64,
    /// The same over words that training never saw, where its words are known and there is any such word.
    pub unknown_accuracy: Option<f64>,
    /// Number of words.
    pub words: u64,
    /// Number of words with the right tag.
    pub correct: u64,
    /// Number of words that training never saw, where its words are known.
    pub unknown_words: Option<u64>,
    /// Ratios by sentence, for resampling.
    #[serde(skip)]
    pub by_unit: Vec<UnitRatios>,
    /// Words with another tag than gold's, if they are gathered.
    #[serde(skip)]
    pub mistakes: Vec<Mistake>,
}

impl TagScorer {
    /// A scorer that also scores the words that are not among `words`, compared as they are written.
    pub fn with_training_words(words: impl IntoIterator<Item = String>) -> TagScorer {
        TagScorer { known: Some(words.into_iter().collect()), ..TagScorer::default() }
    }

    /// The same scorer, which also lists the words whose tags are wrong.
    pub fn gathering_mistakes(self) -> TagScorer {
        TagScorer { gathers_mistakes: true, ..self }
    }

    /// Adds a sentence of words with gold and predicted tag.
    pub fn sentence<'a>(&mut self, words: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) {
        let mut counts = TagCounts::default();
        for (number, (word, gold, predicted)) in words.into_iter().enumerate() {
            let correct = u64::from(gold == predicted);
            if correct == 0 && self.gathers_mistakes {
                self.mistakes.push(Mistake {
                    place: [self.by_sentence.len(), number, 0],
                    kind: None,
                    text: word.to_owned(),
                    gold: gold.to_owned(),
                    predicted: predicted.to_owned(),
                });
            }
            counts.words += 1;
            counts.correct += correct;
            if self.known.as_ref().is_some_and(|known| !known.contains(word)) {
                counts.unknown += 1;
                counts.unknown_correct += correct;
            }
        }
        self.by_sentence.push(counts);
    }

    /// The scores of all sentences so far.
    pub fn finish(self) -> TagScores {
        let sum = |part: fn(&TagCounts) -> u64| self.by_sentence.iter().map(part).sum::<u64>();
        let (words, correct) = (sum(|c| c.words), sum(|c| c.correct));
        let (unknown, unknown_correct) = (sum(|c| c.unknown), sum(|c| c.unknown_correct));
        let units = |name: &str, parts: fn(&TagCounts) -> (u64, u64)| {
            UnitRatios::new(name, self.by_sentence.iter().map(parts).map(|(a, b)| (a as f64, b as f64)))
        };
        let mut by_unit = vec![units("accuracy", |c| (c.correct, c.words))];
        if unknown > 0 {
            by_unit.push(units("unknown_accuracy", |c| (c.unknown_correct, c.unknown)));
        }
        TagScores {
            accuracy: ratio(correct, words),
            unknown_accuracy: (unknown > 0).then(|| ratio(unknown_correct, unknown)),
            words,
            correct,
            unknown_words: self.known.is_some().then_some(unknown),
            by_unit,
            mistakes: self.mistakes,
        }
    }
}

impl fmt::Display for TagScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "accuracy: {:6.2}% ({} of {} words)", 100.0 * self.accuracy, self.correct, self.words)?;
        match (self.unknown_accuracy, self.unknown_words) {
            (Some(accuracy), Some(unknown)) => {
                writeln!(f, "accuracy on unknown words: {:6.2}% ({unknown} words)", 100.0 * accuracy)
            }
            (None, Some(_)) => writeln!(f, "accuracy on unknown words: there are none"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_training_words_there_is_no_unknown_accuracy() {
        let mut scorer = TagScorer::default();
        scorer.sentence([("a", "X", "X"), ("b", "X", "Y")]);
        let scores = scorer.finish();
        assert_eq!(scores.to_string(), "accuracy:  50.00% (1 of 2 words)\n");
        assert_eq!(serde_json::to_value(&scores).unwrap()["unknown_accuracy"], serde_json::Value::Null);
    }

    #[test]
    fn unknown_words_are_compared_as_written() {
        let mut scorer = TagScorer::with_training_words(["The".to_owned()]);
        scorer.sentence([("The", "DET", "DET"), ("the", "DET", "X"), ("end", "NOUN", "NOUN")]);
        let scores = scorer.finish();
        assert_eq!((scores.unknown_words, scores.unknown_accuracy), (Some(2), Some(0.5)));
        assert_eq!(scores.by_unit[1].value(), 0.5);
    }
}
