//! Chunks and entities as CoNLL-2000's `conlleval` counts them, down to its table.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::bootstrap::UnitRatios;
use super::score::{Counts, ratio};

/// Counts chunks over sentences of labels such as `B-PER`, `I-PER`, `O`.
///
/// The rules are those of the original of 2004 (Tjong Kim Sang & Veenstra 1999): a chunk starts or ends where
/// the prefixes or the types of two neighbouring labels say so, and no label is ever an error. That reads
/// IOB1, IOB2, IOE1, IOE2 and brackets, each as its scheme means it, and gives every invalid sequence the
/// chunks that a lenient reader sees. The original has no rule for the prefixes `S`, `L` and `U`: bring BIOES
/// and BILOU into IOB2 first.
///
/// ```
/// use consonant_text::evaluate::Conlleval;
/// let mut scorer = Conlleval::default();
/// scorer.sentence([("B-PER", "B-PER"), ("I-PER", "O"), ("O", "O"), ("B-LOC", "B-LOC")]);
/// let scores = scorer.finish();
/// assert_eq!(scores.overall.correct, 1);
/// assert!(scores.to_string().starts_with("processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.\n"));
/// ```
#[derive(Debug, Default)]
pub struct Conlleval {
    tokens: u64,
    correct_labels: u64,
    by_type: BTreeMap<String, Counts>,
    by_sentence: Vec<Counts>,
}

/// What [`Conlleval`] found; `Display` is the original's table, `Serialize` the JSON of `consonant evaluate`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkScores {
    /// Number of tokens.
    pub tokens: u64,
    /// Number of tokens with the right label.
    pub correct_labels: u64,
    /// Chunks of all types.
    pub overall: Counts,
    /// Chunks by type.
    pub by_type: BTreeMap<String, Counts>,
    /// Chunks by sentence, for resampling.
    pub by_sentence: Vec<Counts>,
}

/// A label cut at its first hyphen.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Label<'a> {
    prefix: &'a str,
    kind: &'a str,
}

const OUTSIDE: Label<'static> = Label { prefix: "O", kind: "" };

impl<'a> Label<'a> {
    fn parse(label: &'a str) -> Label<'a> {
        match label.split_once('-') {
            Some((prefix, kind)) => Label { prefix, kind },
            None => Label { prefix: label, kind: "" },
        }
    }

    fn is_outside(self) -> bool {
        matches!(self.prefix, "O" | ".")
    }

    /// Does a chunk end between this label and the next?
    fn ends_before(self, next: Label) -> bool {
        matches!((self.prefix, next.prefix), ("B" | "I", "B" | "O") | ("E", "E" | "I" | "O") | ("[" | "]", _))
            || (!self.is_outside() && self.kind != next.kind)
    }

    /// Does a chunk start between the previous label and this?
    fn starts_after(self, previous: Label) -> bool {
        matches!(
            (previous.prefix, self.prefix),
            ("B" | "I" | "O", "B") | ("O", "I" | "E") | ("E", "E" | "I") | (_, "[" | "]")
        ) || (!self.is_outside() && previous.kind != self.kind)
    }
}

impl Conlleval {
    /// Adds a sentence of pairs of gold and predicted labels.
    pub fn sentence<'a>(&mut self, labels: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut sentence = Counts::default();
        let (mut last_gold, mut last_predicted) = (OUTSIDE, OUTSIDE);
        // Both sides opened a chunk of one type at one token, and have agreed on it since.
        let mut agreeing = false;
        let pairs = labels.into_iter().map(|(gold, predicted)| {
            self.tokens += 1;
            (Label::parse(gold), Label::parse(predicted))
        });
        // A sentence break is a token outside all chunks, which is not counted.
        for (gold, predicted) in pairs.chain([(OUTSIDE, OUTSIDE)]) {
            if agreeing {
                let gold_ends = last_gold.ends_before(gold);
                let predicted_ends = last_predicted.ends_before(predicted);
                if gold_ends && predicted_ends && last_gold.kind == last_predicted.kind {
                    agreeing = false;
                    sentence.correct += 1;
                    entry(&mut self.by_type, last_gold.kind).correct += 1;
                } else if gold_ends != predicted_ends || gold.kind != predicted.kind {
                    agreeing = false;
                }
            }
            let gold_starts = gold.starts_after(last_gold);
            let predicted_starts = predicted.starts_after(last_predicted);
            agreeing |= gold_starts && predicted_starts && gold.kind == predicted.kind;
            if gold_starts {
                sentence.gold += 1;
                entry(&mut self.by_type, gold.kind).gold += 1;
            }
            if predicted_starts {
                sentence.predicted += 1;
                entry(&mut self.by_type, predicted.kind).predicted += 1;
            }
            self.correct_labels += u64::from(gold == predicted);
            (last_gold, last_predicted) = (gold, predicted);
        }
        self.correct_labels -= 1; // the break agreed with itself
        self.by_sentence.push(sentence);
    }

    /// The scores of all sentences so far.
    pub fn finish(self) -> ChunkScores {
        let mut overall = Counts::default();
        self.by_sentence.iter().for_each(|sentence| overall.add(*sentence));
        ChunkScores {
            tokens: self.tokens,
            correct_labels: self.correct_labels,
            overall,
            by_type: self.by_type,
            by_sentence: self.by_sentence,
        }
    }
}

fn entry<'a>(by_type: &'a mut BTreeMap<String, Counts>, kind: &str) -> &'a mut Counts {
    if !by_type.contains_key(kind) {
        by_type.insert(kind.to_owned(), Counts::default());
    }
    by_type.get_mut(kind).expect("inserted above")
}

impl ChunkScores {
    /// Share of tokens with the right label.
    pub fn accuracy(&self) -> f64 {
        ratio(self.correct_labels, self.tokens)
    }

    /// Mean of the F1 of all types that either side has.
    pub fn macro_f1(&self) -> f64 {
        macro_f1(&self.by_type)
    }

    /// The scores as ratios by sentence, for [`super::Bootstrap`].
    pub fn by_unit(&self) -> Vec<UnitRatios> {
        UnitRatios::of_counts(&self.by_sentence)
    }
}

pub(super) fn macro_f1(by_type: &BTreeMap<String, Counts>) -> f64 {
    if by_type.is_empty() {
        return 0.0;
    }
    by_type.values().map(|counts| counts.score().f1).sum::<f64>() / by_type.len() as f64
}

/// The rows by type of the original's table.
pub(super) fn write_types(f: &mut fmt::Formatter<'_>, by_type: &BTreeMap<String, Counts>) -> fmt::Result {
    for (kind, counts) in by_type {
        let score = percent(counts);
        writeln!(
            f,
            "{kind:>17}: precision: {:6.2}%; recall: {:6.2}%; FB1: {:6.2}  {}",
            score[0], score[1], score[2], counts.predicted
        )?;
    }
    Ok(())
}

/// Precision, recall and F in percent, by the original's own arithmetic, so that the last digit is the same.
pub(super) fn percent(counts: &Counts) -> [f64; 3] {
    let share = |of: u64| if of == 0 { 0.0 } else { (100 * counts.correct) as f64 / of as f64 };
    let (precision, recall) = (share(counts.predicted), share(counts.gold));
    let f = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    [precision, recall, f]
}

impl fmt::Display for ChunkScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { correct, gold, predicted } = self.overall;
        writeln!(
            f,
            "processed {} tokens with {gold} phrases; found: {predicted} phrases; correct: {correct}.",
            self.tokens
        )?;
        if self.tokens > 0 {
            let accuracy = (100 * self.correct_labels) as f64 / self.tokens as f64;
            let [precision, recall, fb1] = percent(&self.overall);
            writeln!(
                f,
                "accuracy: {accuracy:6.2}%; precision: {precision:6.2}%; recall: {recall:6.2}%; FB1: {fb1:6.2}"
            )?;
        }
        write_types(f, &self.by_type)
    }
}

impl Serialize for ChunkScores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let score = self.overall.score();
        let by_type: BTreeMap<_, _> =
            self.by_type.iter().map(|(kind, counts)| (kind, counts.score())).collect();
        let mut object = serializer.serialize_struct("ChunkScores", 6)?;
        object.serialize_field("precision", &score.precision)?;
        object.serialize_field("recall", &score.recall)?;
        object.serialize_field("f1", &score.f1)?;
        object.serialize_field("macro_f1", &self.macro_f1())?;
        object.serialize_field("accuracy", &self.accuracy())?;
        object.serialize_field("by_type", &by_type)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(sentences: &[&[(&str, &str)]]) -> ChunkScores {
        let mut scorer = Conlleval::default();
        sentences.iter().for_each(|sentence| scorer.sentence(sentence.iter().copied()));
        scorer.finish()
    }

    /// Schemes mixed within one file; the table is what the original printed for it.
    #[test]
    fn the_originals_table() {
        let scores = score(&[
            &[
                ("B-PER", "B-PER"),
                ("I-PER", "I-PER"),
                ("O", "O"),
                ("B-LOC", "B-LOC"),
                ("I-LOC", "O"),
                ("I-LOC", "B-LOC"),
            ],
            &[
                ("B-ORG", "I-ORG"),
                ("O", "O"),
                ("B-ORG", "I-ORG"),
                ("B-ORG", "I-ORG"),
                ("O", "B-MISC"),
                ("I-PER", "B-PER"),
                ("I-PER", "I-LOC"),
            ],
            &[("E-LOC", "B-LOC"), ("E-LOC", "B-LOC"), ("O", "O")],
        ]);
        let table = "\
processed 16 tokens with 8 phrases; found: 10 phrases; correct: 4.
accuracy:  37.50%; precision:  40.00%; recall:  50.00%; FB1:  44.44
              LOC: precision:  40.00%; recall:  66.67%; FB1:  50.00  5
             MISC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              ORG: precision:  50.00%; recall:  33.33%; FB1:  40.00  2
              PER: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
";
        assert_eq!(scores.to_string(), table);
        assert!((scores.macro_f1() - 0.35).abs() < 1e-12);
        assert_eq!(scores.by_unit()[2].value(), scores.overall.score().f1);
    }

    #[test]
    fn iob1_and_iob2_say_the_same() {
        let scores = score(&[&[("I-PER", "B-PER"), ("I-PER", "I-PER"), ("B-PER", "B-PER"), ("O", "O")]]);
        assert_eq!(scores.overall, Counts { correct: 2, gold: 2, predicted: 2 });
        assert_eq!(scores.correct_labels, 3);
    }

    #[test]
    fn types_may_have_hyphens_and_no_tokens_are_no_error() {
        let scores = score(&[&[("B-creative-work", "B-creative-work")]]);
        assert_eq!(scores.by_type["creative-work"].correct, 1);
        let empty = score(&[]);
        assert_eq!(empty.to_string(), "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n");
    }

    #[test]
    fn json_keys() {
        let json = serde_json::to_value(score(&[&[("B-PER", "B-PER")]])).unwrap();
        for key in ["precision", "recall", "f1", "macro_f1"] {
            assert_eq!(json[key], 1.0, "{key}");
        }
        assert_eq!(json["by_type"]["PER"]["f1"], 1.0);
    }
}
