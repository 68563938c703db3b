//! Entities where gold and prediction cut the text into different tokens: spans of characters with a type.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::EvaluationError;
use super::bootstrap::UnitRatios;
use super::conlleval::{macro_f1, percent, write_types};
use super::score::{Counts, Score};

/// One side's entities over its own tokens. Positions are counted in characters that are not white space, so
/// that the two sides need not agree on tokens, sentences or spaces.
///
/// ```
/// use consonant_text::evaluate::{CharacterSpans, compare_spans};
/// let mut gold = CharacterSpans::default();
/// gold.sentence(["New", "York"], [(0..2, "LOC")]);
/// let mut predicted = CharacterSpans::default();
/// predicted.sentence(["New York"], [(0..1, "LOC")]);
/// assert_eq!(compare_spans(&gold, &predicted)?.f1, 1.0);
/// # Ok::<(), consonant_text::evaluate::EvaluationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CharacterSpans {
    text: String,
    /// Byte offsets into `text` and type.
    entities: Vec<(usize, usize, String)>,
    sentence_ends: Vec<usize>,
}

impl CharacterSpans {
    /// Adds a sentence: the forms of its tokens, and its entities as ranges of tokens with a type. A range
    /// that reaches beyond the tokens is cut.
    pub fn sentence<'a>(
        &mut self,
        forms: impl IntoIterator<Item = &'a str>,
        entities: impl IntoIterator<Item = (std::ops::Range<usize>, &'a str)>,
    ) {
        let mut starts = vec![self.text.len()];
        for form in forms {
            self.text.extend(form.chars().filter(|c| !c.is_whitespace()));
            starts.push(self.text.len());
        }
        let last = starts.len() - 1;
        for (tokens, kind) in entities {
            let (start, end) = (starts[tokens.start.min(last)], starts[tokens.end.min(last)]);
            self.entities.push((start, end, kind.to_owned()));
        }
        self.sentence_ends.push(self.text.len());
    }
}

/// Scores of typed spans.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanScores {
    /// Share of the predicted entities that are right.
    pub precision: f64,
    /// Share of the gold entities that were found.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Mean of the F1 of all types that either side has.
    pub macro_f1: f64,
    /// Scores by type.
    pub by_type: BTreeMap<String, Score>,
    /// Counts by type.
    #[serde(skip)]
    pub counts: BTreeMap<String, Counts>,
    /// Ratios by gold sentence, for resampling.
    #[serde(skip)]
    pub by_unit: Vec<UnitRatios>,
}

/// Compares the entities of two sides of one text; fails where the texts differ.
pub fn compare_spans(
    gold: &CharacterSpans,
    predicted: &CharacterSpans,
) -> Result<SpanScores, EvaluationError> {
    EvaluationError::unless_equal(&gold.text, &predicted.text)?;
    // A predicted entity belongs to the gold sentence in which it begins.
    let unit_of = |start: usize| {
        gold.sentence_ends
            .partition_point(|end| *end <= start)
            .min(gold.sentence_ends.len().saturating_sub(1))
    };
    let mut by_sentence = vec![Counts::default(); gold.sentence_ends.len()];
    let mut counts = BTreeMap::<String, Counts>::new();
    let mut open = FxHashMap::<_, u64>::default();
    for entity in &gold.entities {
        *open.entry(entity).or_default() += 1;
        counts.entry(entity.2.clone()).or_default().gold += 1;
        by_sentence[unit_of(entity.0)].gold += 1;
    }
    for entity in &predicted.entities {
        let of_type = counts.entry(entity.2.clone()).or_default();
        let mut unit = by_sentence.get_mut(unit_of(entity.0));
        of_type.predicted += 1;
        unit.iter_mut().for_each(|unit| unit.predicted += 1);
        if let Some(left) = open.get_mut(entity).filter(|left| **left > 0) {
            *left -= 1;
            of_type.correct += 1;
            unit.iter_mut().for_each(|unit| unit.correct += 1);
        }
    }
    let mut overall = Counts::default();
    counts.values().for_each(|of_type| overall.add(*of_type));
    let Score { precision, recall, f1 } = overall.score();
    Ok(SpanScores {
        precision,
        recall,
        f1,
        macro_f1: macro_f1(&counts),
        by_type: counts.iter().map(|(kind, counts)| (kind.clone(), counts.score())).collect(),
        by_unit: UnitRatios::of_counts(&by_sentence),
        counts,
    })
}

impl fmt::Display for SpanScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut overall = Counts::default();
        self.counts.values().for_each(|of_type| overall.add(*of_type));
        let Counts { correct, gold, predicted } = overall;
        let [precision, recall, fb1] = percent(&overall);
        writeln!(
            f,
            "tokens differ, compared by characters; {gold} phrases; found: {predicted} phrases; correct: {correct}."
        )?;
        writeln!(f, "precision: {precision:6.2}%; recall: {recall:6.2}%; FB1: {fb1:6.2}")?;
        write_types(f, &self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_sentences_may_differ() {
        let mut gold = CharacterSpans::default();
        gold.sentence(["in", "New", "York", "City"], [(1..4, "LOC")]);
        gold.sentence(["Ann's", "car"], [(0..1, "PER")]);
        let mut predicted = CharacterSpans::default();
        predicted.sentence(
            ["in", "New York", "City", "Ann", "'s", "car"],
            [(1..3, "LOC"), (3..4, "PER"), (5..6, "PER")],
        );
        let scores = compare_spans(&gold, &predicted).unwrap();
        assert_eq!(scores.counts["LOC"], Counts { correct: 1, gold: 1, predicted: 1 });
        assert_eq!(scores.counts["PER"], Counts { correct: 0, gold: 1, predicted: 2 });
        assert_eq!((scores.recall, scores.macro_f1), (0.5, 0.5));
        assert_eq!(scores.by_unit[2].units, [(2.0, 2.0), (0.0, 3.0)]);
    }

    #[test]
    fn another_text_is_refused_with_its_place() {
        let (mut gold, mut predicted) = (CharacterSpans::default(), CharacterSpans::default());
        gold.sentence(["one", "two"], []);
        predicted.sentence(["one", "three"], []);
        let error = compare_spans(&gold, &predicted).unwrap_err();
        assert_eq!(
            error,
            EvaluationError::TextDiffers { characters: 4, gold: "wo".into(), predicted: "hree".into() }
        );
    }

    #[test]
    fn ranges_beyond_the_tokens_are_cut_and_empty_sides_score_zero() {
        let mut gold = CharacterSpans::default();
        assert_eq!(compare_spans(&gold, &gold).unwrap().f1, 0.0);
        gold.sentence(["a"], [(0..9, "X")]);
        assert_eq!(compare_spans(&gold, &gold).unwrap().f1, 1.0);
    }
}
