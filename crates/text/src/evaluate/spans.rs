//! Entities where gold and prediction cut the text into different tokens: spans of characters with a type.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::EvaluationError;
use super::bootstrap::UnitRatios;
use super::conlleval::{macro_f1, percent, write_types};
use super::mistakes::Mistake;
use super::score::{Counts, Score};

/// One side's entities over its own tokens. Positions are counted in characters that are not white space, so
/// that the two sides need not agree on tokens, sentences or spaces.
///
/// ```
/// use consonant_text::evaluate::{CharacterSpans, compare_spans};
/// let mut gold = CharacterSpans::default();
/// gold.sentence([("New", 1), ("York", 1)], [(0..2, "LOC")]);
/// let mut predicted = CharacterSpans::default();
/// predicted.sentence([("New York", 1)], [(0..1, "LOC")]);
/// assert_eq!(compare_spans(&gold, &predicted)?.f1, 1.0);
/// # Ok::<(), consonant_text::evaluate::EvaluationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CharacterSpans {
    text: String,
    entities: Vec<Entity>,
    sentence_ends: Vec<usize>,
    /// Tokens of several words by where they begin: where they end, and how many words they have.
    divided: FxHashMap<usize, (usize, usize)>,
}

/// A byte offset into the text, and how many words of a token that begins there lie before.
type Position = (usize, usize);

#[derive(Clone, Debug)]
struct Entity {
    start: Position,
    end: Position,
    /// Where it begins, whatever it is compared with.
    own_start: Position,
    kind: String,
    /// Its tokens.
    text: String,
}

impl CharacterSpans {
    /// Adds a sentence: its tokens, each with the number of words that it stands for, and its entities as ranges of
    /// words with a type. A range that reaches beyond the words is cut.
    pub fn sentence<'a>(
        &mut self,
        tokens: impl IntoIterator<Item = (&'a str, usize)>,
        entities: impl IntoIterator<Item = (std::ops::Range<usize>, &'a str)>,
    ) {
        // Where each word begins and ends, and its token.
        let mut words: Vec<(Position, Position, usize)> = Vec::new();
        let mut forms = Vec::new();
        for (form, count) in tokens {
            let start = self.text.len();
            self.text.extend(form.chars().filter(|c| !c.is_whitespace()));
            let end = self.text.len();
            if count > 1 {
                self.divided.insert(start, (end, count));
            }
            words.extend((0..count).map(|word| {
                let after = if word + 1 == count { (end, 0) } else { (start, word + 1) };
                ((start, word), after, forms.len())
            }));
            forms.push(form);
        }
        for (range, kind) in entities {
            let Some(words) = words.get(range.start..range.end.min(words.len())) else { continue };
            if let (Some(&(start, _, first)), Some(&(_, end, last))) = (words.first(), words.last()) {
                let text = forms[first..=last].join(" ");
                self.entities.push(Entity { start, end, own_start: start, kind: kind.to_owned(), text });
            }
        }
        self.sentence_ends.push(self.text.len());
    }

    /// The entities in positions that the other side has, too: one that begins or ends within a token which the other
    /// side does not cut into as many words has all of it.
    fn comparable(&self, other: &CharacterSpans) -> Vec<Entity> {
        let end_of = |(start, word): Position| match self.divided.get(&start) {
            Some(token) if word > 0 && other.divided.get(&start) != Some(token) => Some(token.0),
            _ => None,
        };
        let mut entities = self.entities.clone();
        for Entity { start, end, .. } in &mut entities {
            if end_of(*start).is_some() {
                start.1 = 0;
            }
            if let Some(token_end) = end_of(*end) {
                *end = (token_end, 0);
            }
        }
        entities
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
    /// Entities that were not found or should not have been, and how.
    #[serde(skip)]
    pub mistakes: Vec<Mistake>,
}

/// Compares the entities of two sides of one text; fails where the texts differ.
pub fn compare_spans(
    gold: &CharacterSpans,
    predicted: &CharacterSpans,
) -> Result<SpanScores, EvaluationError> {
    EvaluationError::unless_equal(&gold.text, &predicted.text)?;
    // A predicted entity belongs to the gold sentence in which it begins.
    let unit_of = |start: Position| {
        gold.sentence_ends
            .partition_point(|end| *end <= start.0)
            .min(gold.sentence_ends.len().saturating_sub(1))
    };
    let (of_gold, of_predicted) = (gold.comparable(predicted), predicted.comparable(gold));
    let mut by_sentence = vec![Counts::default(); gold.sentence_ends.len()];
    let mut counts = BTreeMap::<String, Counts>::new();
    let mut open = FxHashMap::<_, Vec<usize>>::default();
    for (number, entity) in of_gold.iter().enumerate() {
        open.entry((entity.start, entity.end, &entity.kind)).or_default().push(number);
        counts.entry(entity.kind.clone()).or_default().gold += 1;
        by_sentence[unit_of(entity.start)].gold += 1;
    }
    let mut found = vec![false; of_gold.len()];
    let mut wrong = Vec::new();
    for entity in &of_predicted {
        let of_type = counts.entry(entity.kind.clone()).or_default();
        let mut unit = by_sentence.get_mut(unit_of(entity.start));
        of_type.predicted += 1;
        unit.iter_mut().for_each(|unit| unit.predicted += 1);
        match open.get_mut(&(entity.start, entity.end, &entity.kind)).and_then(Vec::pop) {
            Some(number) => {
                found[number] = true;
                of_type.correct += 1;
                unit.iter_mut().for_each(|unit| unit.correct += 1);
            }
            None => wrong.push(entity),
        }
    }
    let missed: Vec<&Entity> =
        of_gold.iter().zip(&found).filter(|(_, found)| !**found).map(|(entity, _)| entity).collect();
    let mistakes = mistakes(&missed, &wrong, unit_of);
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
        mistakes,
    })
}

/// The first of several entities, in order and apart from each other, that overlaps with another one.
fn overlapping<'e>(entities: &[&'e Entity], other: &Entity) -> Option<&'e Entity> {
    let first = entities.partition_point(|entity| entity.end <= other.start);
    entities.get(first).copied().filter(|entity| entity.start < other.end)
}

/// What is wrong with gold entities that were not found and predicted ones that are none, both in order. A predicted
/// entity that overlaps with a gold one was meant for it.
fn mistakes(missed: &[&Entity], wrong: &[&Entity], unit_of: impl Fn(Position) -> usize) -> Vec<Mistake> {
    let shown = |entity: &Entity| format!("{} {}", entity.kind, entity.text);
    // The position names what is wrong; an invented entity may begin where a missed one does.
    let place = |entity: &Entity, invented: bool| {
        let (start, word) = entity.own_start;
        [unit_of(entity.own_start), start, 2 * word + usize::from(invented)]
    };
    let mut mistakes = Vec::new();
    for gold in missed {
        let meant = overlapping(wrong, gold);
        let kind = match meant {
            None => "missed",
            Some(entity) => {
                let same_place = (entity.start, entity.end) == (gold.start, gold.end);
                match (same_place, entity.kind == gold.kind) {
                    (true, _) => "another type",
                    (false, true) => "other boundaries",
                    (false, false) => "another type and other boundaries",
                }
            }
        };
        mistakes.push(Mistake {
            place: place(gold, false),
            kind: Some(kind),
            text: gold.text.clone(),
            gold: shown(gold),
            predicted: meant.map(shown).unwrap_or_default(),
        });
    }
    for entity in wrong.iter().filter(|entity| overlapping(missed, entity).is_none()) {
        mistakes.push(Mistake {
            place: place(entity, true),
            kind: Some("invented"),
            text: entity.text.clone(),
            gold: String::new(),
            predicted: shown(entity),
        });
    }
    mistakes
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

    /// Adds a sentence whose tokens are words.
    fn words(spans: &mut CharacterSpans, forms: &[&str], entities: &[(std::ops::Range<usize>, &str)]) {
        spans.sentence(forms.iter().map(|form| (*form, 1)), entities.iter().cloned());
    }

    fn kinds(scores: &SpanScores) -> Vec<String> {
        let shown = |m: &Mistake| format!("{}: {} / {}", m.kind(), m.gold, m.predicted);
        scores.mistakes.iter().map(shown).collect()
    }

    #[test]
    fn tokens_and_sentences_may_differ() {
        let mut gold = CharacterSpans::default();
        words(&mut gold, &["in", "New", "York", "City"], &[(1..4, "LOC")]);
        words(&mut gold, &["Ann's", "car"], &[(0..1, "PER")]);
        let mut predicted = CharacterSpans::default();
        words(
            &mut predicted,
            &["in", "New York", "City", "Ann", "'s", "car"],
            &[(1..3, "LOC"), (3..4, "PER"), (5..6, "PER")],
        );
        let scores = compare_spans(&gold, &predicted).unwrap();
        assert_eq!(scores.counts["LOC"], Counts { correct: 1, gold: 1, predicted: 1 });
        assert_eq!(scores.counts["PER"], Counts { correct: 0, gold: 1, predicted: 2 });
        assert_eq!((scores.recall, scores.macro_f1), (0.5, 0.5));
        assert_eq!(scores.by_unit[2].units, [(2.0, 2.0), (0.0, 3.0)]);
        assert_eq!(kinds(&scores), ["other boundaries: PER Ann's / PER Ann", "invented:  / PER car"]);
    }

    #[test]
    fn words_of_a_token_count_for_themselves_where_both_sides_have_them() {
        let spans = |words: usize, entity: std::ops::Range<usize>| {
            let mut spans = CharacterSpans::default();
            spans.sentence([("vou", 1), ("ao", words), ("Porto", 1)], [(entity, "LOC")]);
            spans
        };
        // `a` and `o` are words of `ao`.
        let gold = spans(2, 2..4);
        let f1 = |predicted: &CharacterSpans| compare_spans(&gold, predicted).unwrap().f1;
        assert_eq!(f1(&spans(2, 2..4)), 1.0);
        assert_eq!(f1(&spans(2, 1..4)), 0.0, "another word of the token is another name");
        assert_eq!(f1(&spans(2, 3..4)), 0.0);
        assert_eq!(f1(&spans(1, 1..3)), 1.0, "who has no such word has named all that can be named");
        assert_eq!(f1(&spans(3, 2..5)), 1.0, "words that are not the same cannot be compared");
    }

    #[test]
    fn kinds_of_mistakes() {
        let (mut gold, mut predicted) = (CharacterSpans::default(), CharacterSpans::default());
        let forms = ["a", "b", "c", "d", "e", "f", "g", "h"];
        words(&mut gold, &forms, &[(0..1, "X"), (2..4, "X"), (4..5, "X"), (5..7, "X")]);
        words(&mut predicted, &forms, &[(1..2, "X"), (2..4, "Y"), (4..5, "X"), (6..8, "Y")]);
        assert_eq!(
            kinds(&compare_spans(&gold, &predicted).unwrap()),
            [
                "missed: X a / ",
                "another type: X c d / Y c d",
                "another type and other boundaries: X f g / Y g h",
                "invented:  / X b",
            ]
        );
    }

    #[test]
    fn another_text_is_refused_with_its_place() {
        let (mut gold, mut predicted) = (CharacterSpans::default(), CharacterSpans::default());
        words(&mut gold, &["one", "two"], &[]);
        words(&mut predicted, &["one", "three"], &[]);
        let error = compare_spans(&gold, &predicted).unwrap_err();
        assert_eq!(
            error,
            EvaluationError::TextDiffers { characters: 4, gold: "wo".into(), predicted: "hree".into() }
        );
    }

    #[test]
    fn ranges_beyond_the_words_are_cut_and_empty_sides_score_zero() {
        let mut gold = CharacterSpans::default();
        assert_eq!(compare_spans(&gold, &gold).unwrap().f1, 0.0);
        words(&mut gold, &["a"], &[(0..9, "X")]);
        assert_eq!(compare_spans(&gold, &gold).unwrap().f1, 1.0);
    }
}
