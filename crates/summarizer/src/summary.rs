//! A summary: its sentences, where each word comes from, and its certificate.

use std::fmt;
use std::ops::Range;

use consonant_map::Certificate;
use consonant_text::document::CharOffsets;
use serde_json::{Value, json};

use crate::Source;

/// Concepts that an explanation names.
const NAMED: usize = 6;

/// A summary with its certificate.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The sentences, in the order in which they are read.
    pub sentences: Vec<SummarySentence>,
    /// Words of the summary, split at white space.
    pub words: usize,
    /// Concepts of the sentences that were considered, best first.
    pub concepts: Vec<SummaryConcept>,
    /// What is known about the best summary; baselines know nothing.
    pub certificate: Option<Certificate>,
    /// Documents that were passed over because they repeat an earlier one: both numbers.
    pub copies: Vec<(usize, usize)>,
    /// Why the summary is empty, if it is.
    pub empty: Option<Empty>,
}

/// Why there is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// The documents have no sentences.
    NoText,
    /// No sentence, and no compression of one, has so few words; the shortest has the given number.
    Budget(usize),
    /// Nothing in the documents is worth saying: no concept occurs often enough.
    NoConcepts,
}

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoText => f.write_str("the documents have no sentences"),
            Self::Budget(shortest) => {
                write!(f, "the shortest sentence or compression has {shortest} words")
            }
            Self::NoConcepts => f.write_str("nothing that fits is worth saying"),
        }
    }
}

/// A sentence of a summary.
#[derive(Debug, Clone)]
pub struct SummarySentence {
    /// The document it comes from.
    pub document: usize,
    /// Its number there.
    pub sentence: usize,
    /// What is left of it, put in order.
    pub text: String,
    /// All of its words, kept or not.
    pub words: Vec<SummaryWord>,
    /// The concepts that it covers, with their scores, best first.
    pub covers: Vec<(String, f64)>,
    /// What was cut, and why it could be.
    pub deletions: Vec<Deletion>,
}

/// Words that were cut from a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    /// As they are written.
    pub text: String,
    /// Their place in the document's text, in bytes.
    pub place: Range<usize>,
    /// The rule of grammar that allowed it.
    pub rule: &'static str,
    /// The rule, shown in a sentence.
    pub example: &'static str,
}

/// A word of a summary's sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryWord {
    /// As it is written.
    pub text: String,
    /// Its place in the document's text, in bytes.
    pub place: Range<usize>,
    /// Whether the summary has it.
    pub kept: bool,
    /// Whether a space stands before it.
    pub space_before: bool,
}

/// A concept and its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryConcept {
    /// As it is written where it occurs first.
    pub text: String,
    /// Its score.
    pub weight: f64,
    /// Documents that it occurs in.
    pub documents: u32,
    /// Whether the summary covers it.
    pub covered: bool,
}

impl Summary {
    /// The summary for programs: its sentences with their sources, its concepts and its certificate.
    /// `sources` are what the documents were made of; places count characters there.
    pub fn to_json(&self, sources: &[Source]) -> Value {
        let sentence = |sentence: &SummarySentence| {
            let source = &sources[sentence.document];
            let mut offsets = CharOffsets::new(source.text());
            let mut range = |place: &Range<usize>| offsets.range(source.place(place.clone()));
            let mut word = |word: &SummaryWord| {
                let place = range(&word.place);
                json!({"text": word.text, "start": place.start, "end": place.end, "kept": word.kept})
            };
            let words: Vec<Value> = sentence.words.iter().map(&mut word).collect();
            let mut deletion = |deletion: &Deletion| {
                let place = range(&deletion.place);
                json!({"text": deletion.text, "start": place.start, "end": place.end, "rule": deletion.rule})
            };
            let deletions: Vec<Value> = sentence.deletions.iter().map(&mut deletion).collect();
            json!({
                "text": sentence.text,
                "start": words.first().map(|word| word["start"].clone()),
                "end": words.last().map(|word| word["end"].clone()),
                "deletions": deletions,
                "worth": sentence.worth(),
                "document": source.name,
                "document_index": sentence.document,
                "sentence_index": sentence.sentence,
                "words": words,
            })
        };
        let concept = |c: &SummaryConcept| json!({"text": c.text, "weight": c.weight, "documents": c.documents, "covered": c.covered});
        let mut object = json!({
            "summary": self.text().trim_end(),
            "word_count": self.words,
            "sentences": self.sentences.iter().map(sentence).collect::<Vec<_>>(),
            "concepts": self.concepts.iter().map(concept).collect::<Vec<_>>(),
        });
        if let (Value::Object(object), Value::Object(known)) = (&mut object, json!(self.certificate)) {
            object.extend(known);
        }
        object
    }

    /// The text, one sentence a line.
    pub fn text(&self) -> String {
        self.sentences.iter().flat_map(|sentence| [sentence.text.as_str(), "\n"]).collect()
    }
}

impl SummarySentence {
    /// What the concepts that it covers are worth together.
    pub fn worth(&self) -> f64 {
        self.covers.iter().map(|(_, score)| score).sum()
    }

    /// Why it is in the summary, and why what is missing could be cut: a line each.
    pub fn explanation(&self) -> Vec<String> {
        let named: Vec<String> =
            self.covers.iter().take(NAMED).map(|(text, score)| format!("{text} {score:.2}")).collect();
        let more = match self.covers.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = self.text.split_whitespace().count();
        let mut lines = vec![format!("{:.2} for {words} words: {}{more}", self.worth(), named.join(", "))];
        lines.extend(self.deletions.iter().map(|deletion| {
            format!("cut {}: {} (as in: {})", deletion.rule, deletion.text, deletion.example)
        }));
        lines
    }

    /// The sentence with its deletions: runs of deleted words are handed to `mark`.
    pub fn marked(&self, mark: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        let mut deleted = String::new();
        for word in &self.words {
            let flush = word.kept && !deleted.is_empty();
            if flush {
                out.push_str(&mark(&deleted));
                deleted.clear();
            }
            let before = out.len() + deleted.len();
            let space = if word.space_before && before > 0 { " " } else { "" };
            if word.kept {
                out.push_str(space);
                out.push_str(&word.text);
            } else {
                if deleted.is_empty() {
                    out.push_str(space);
                } else {
                    deleted.push_str(space);
                }
                deleted.push_str(&word.text);
            }
        }
        if !deleted.is_empty() {
            out.push_str(&mark(&deleted));
        }
        out
    }
}
