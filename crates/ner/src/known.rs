//! What a user knows of names: phrases that have a type, or that are no names.

use std::io::BufRead;
use std::sync::Arc;

use consonant_learn::hash;
use consonant_sequence::features::{FeatureError, Gazetteer, Place};
use consonant_task::Usage;
use consonant_text::Sentence;
use consonant_text::entity::Position;

use crate::Ner;
use crate::parts::LabelSet;

/// Taken from the score of a label that cannot be: more than all other scores of a sentence together.
const IMPOSSIBLE: f32 = 1e7;

/// Phrases of which something is known.
#[derive(Debug, Clone)]
pub struct KnownNames {
    phrases: Gazetteer,
    kind: Option<String>,
    certain: bool,
}

impl KnownNames {
    /// Reads phrases, one a line, their tokens separated by blanks. They are names of the type `kind`; without one
    /// they are no names. What is `certain` holds wherever a phrase occurs; what is not counts as much as a
    /// recognizer's margin for each word, and gives way to what the sentence says.
    pub fn read(kind: Option<&str>, certain: bool, input: impl BufRead) -> Result<Self, FeatureError> {
        let phrases = Gazetteer::read(kind.unwrap_or("O"), input)?;
        Ok(Self { phrases, kind: kind.map(str::to_owned), certain })
    }
}

/// Known phrases in the terms of a recognizer: what each label's score changes by, by the place in a phrase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge {
    lists: Vec<(Gazetteer, Changes)>,
}

/// A row of changes for each [`Place`], and one for the word behind a phrase.
#[derive(Debug, Clone)]
struct Changes {
    rows: [Vec<f32>; 6],
}

/// The row of the word behind a phrase.
const BEHIND: usize = 5;

impl Changes {
    fn new(known: &KnownNames, labels: &LabelSet, margin: f32) -> Self {
        let tags: Vec<_> = (0..labels.len() as u32).map(|label| labels.tag(label)).collect();
        let has = |position| tags.iter().flatten().any(|&(other, _)| other == position);
        let (ends, singles) = (has(Position::End), has(Position::Single));
        let row = |position: Position| {
            let fits: Vec<bool> = match &known.kind {
                Some(kind) => tags.iter().map(|tag| tag.is_some_and(|tag| tag == (position, kind))).collect(),
                None => tags.iter().map(Option::is_none).collect(),
            };
            // Training may have had no name that is long enough.
            let possible = fits.contains(&true);
            let change = |fits: bool| match (possible, known.certain, fits) {
                (true, true, false) => -IMPOSSIBLE,
                (true, false, true) => margin,
                _ => 0.0,
            };
            fits.into_iter().map(change).collect::<Vec<f32>>()
        };
        // Where a scheme has no mark for the end of a name, the word behind must not go on with it.
        let goes_on = |tag: &Option<(Position, &str)>| {
            tag.is_some_and(|(position, kind)| {
                position == Position::Inside && Some(kind) == known.kind.as_deref()
            })
        };
        let behind = |tag| if known.certain && !ends && goes_on(tag) { -IMPOSSIBLE } else { 0.0 };
        let rows = [
            vec![0.0; tags.len()],
            row(Position::Begin),
            row(Position::Inside),
            row(if ends { Position::End } else { Position::Inside }),
            row(if singles { Position::Single } else { Position::Begin }),
            tags.iter().map(behind).collect(),
        ];
        Self { rows }
    }
}

impl Knowledge {
    /// The words of a sentence that something is known of, in order, each with what its scores change by; in place of
    /// what `changes` held.
    pub(crate) fn of<'k>(&'k self, sentence: &Sentence, changes: &mut Vec<(usize, &'k [f32])>) {
        changes.clear();
        if self.lists.is_empty() {
            return;
        }
        let tokens: Vec<u64> =
            (0..sentence.len()).map(|word| hash::key(sentence.form(word).as_bytes())).collect();
        let mut places = Vec::new();
        for (phrases, Changes { rows }) in &self.lists {
            phrases.places(&tokens, &mut places);
            for (word, place) in places.iter().enumerate() {
                let row = match place {
                    Place::Begin => 1,
                    Place::Inside => 2,
                    Place::End => 3,
                    Place::Single => 4,
                    Place::Outside if word > 0 && places[word - 1] != Place::Outside => BEHIND,
                    Place::Outside => continue,
                };
                changes.push((word, &rows[row]));
            }
        }
        changes.sort_by_key(|&(word, _)| word);
    }
}

impl Ner {
    /// The same recognizer with what is known of names, which its labels and certificates then follow.
    pub fn knowing(&self, known: &[KnownNames]) -> Result<Self, Usage> {
        let types = self.types();
        let mut lists = self.known.lists.clone();
        for list in known {
            if let Some(kind) = list.kind.as_deref().filter(|kind| !types.contains(kind)) {
                return Err(Usage(format!(
                    "the recognizer knows the types {}; came `{kind}`",
                    types.join(", ")
                )));
            }
            lists.push((
                list.phrases.clone(),
                Changes::new(list, &self.labels, self.description.margin as f32),
            ));
        }
        let mut ner = self.clone();
        ner.known = Arc::new(Knowledge { lists });
        Ok(ner)
    }
}
