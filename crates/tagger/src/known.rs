//! What a user knows of words: tags that they have wherever they occur.

use std::io::BufRead;
use std::sync::Arc;

use consonant_learn::hash;
use consonant_sequence::features::{FeatureError, Gazetteer, Place};
use consonant_task::Usage;
use consonant_text::Sentence;

use crate::Tagger;
use crate::parts::JOINT;

/// Words that have a known tag, each word of a phrase the same.
#[derive(Debug, Clone)]
pub struct KnownTags {
    words: Gazetteer,
    tag: String,
}

impl KnownTags {
    /// Reads words or phrases, one a line, that have this tag.
    pub fn read(tag: &str, input: impl BufRead) -> Result<Self, FeatureError> {
        Ok(Self { words: Gazetteer::read(tag, input)?, tag: tag.to_owned() })
    }
}

/// Known words with the labels that they may have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge(Vec<(Gazetteer, Vec<u32>)>);

impl Knowledge {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For each word of a sentence the labels that it may have; `None` where nothing is known.
    pub(crate) fn of(&self, sentence: &Sentence) -> Vec<Option<&[u32]>> {
        let mut known = vec![None; if self.is_empty() { 0 } else { sentence.len() }];
        let tokens: Vec<u64> =
            (0..known.len()).map(|word| hash::key(sentence.form(word).as_bytes())).collect();
        let mut places = Vec::new();
        for (words, labels) in &self.0 {
            words.places(&tokens, &mut places);
            let found = places.iter().enumerate().filter(|(_, place)| **place != Place::Outside);
            found.for_each(|(word, _)| known[word] = Some(&labels[..]));
        }
        known
    }
}

impl Tagger {
    /// Whether some label says this tag.
    pub fn knows(&self, tag: &str) -> bool {
        !self.labels_of(tag).is_empty()
    }

    /// The same tagger with words whose tags are known; others are chosen to fit them.
    pub fn knowing(&self, known: &[KnownTags]) -> Result<Self, Usage> {
        let mut lists = self.known().0.clone();
        for KnownTags { words, tag } in known {
            let labels = self.labels_of(tag);
            if labels.is_empty() {
                return Err(Usage(format!("the tagger has no label with the tag `{tag}`")));
            }
            lists.push((words.clone(), labels));
        }
        Ok(self.with_knowledge(Arc::new(Knowledge(lists))))
    }

    /// The labels that are this tag, or have it as one of their halves.
    pub(crate) fn labels_of(&self, tag: &str) -> Vec<u32> {
        let labels = self.chain().labels().names().iter().enumerate();
        let fits = |label: &str| label == tag || label.split(JOINT).any(|half| half == tag);
        labels.filter(|(_, label)| fits(label)).map(|(number, _)| number as u32).collect()
    }
}
