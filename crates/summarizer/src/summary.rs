//! A summary: its sentences, where each word comes from, and its certificate.

use std::fmt;
use std::ops::Range;

use consonant_map::Certificate;
use consonant_text::document::CharOffsets;
use serde_json::{Value, json};

use crate::Source;

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
            let mut word = |word: &SummaryWord| {
                let place = offsets.range(source.place(word.place.clone()));
                json!({"text": word.text, "start": place.start, "end": place.end, "kept": word.kept})
            };
            json!({
                "text": sentence.text,
                "document": source.name,
                "document_index": sentence.document,
                "sentence_index": sentence.sentence,
                "words": sentence.words.iter().map(&mut word).collect::<Vec<_>>(),
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
