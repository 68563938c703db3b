//! What a tagger reads at a word: its form, and tags that are there already.

use consonant_learn::hash;
use consonant_text::{Layer, Sentence};

use crate::Column;

/// The columns that features are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    tags: &'static [Layer],
}

impl View {
    /// The form, and the tags of a column if they are given.
    pub(crate) fn new(given: Option<Column>) -> Self {
        Self { tags: given.map_or(&[], Column::layers) }
    }

    /// Names of the columns, for templates.
    pub(crate) fn columns(self) -> &'static [&'static str] {
        &["form", "tag", "second tag"][..=self.tags.len()]
    }

    /// What stands in a column at a word.
    pub(crate) fn text(self, sentence: &Sentence, word: usize, column: usize) -> &str {
        match column.checked_sub(1).and_then(|tag| self.tags.get(tag)) {
            Some(&layer) => sentence.get(word, layer).unwrap_or("_"),
            None => sentence.form(word),
        }
    }

    /// The key of a word's form and tags.
    pub(crate) fn key(self, sentence: &Sentence, word: usize) -> u64 {
        let form = hash::key(sentence.form(word).as_bytes());
        let tags = (1..=self.tags.len()).map(|column| self.text(sentence, word, column));
        tags.fold(form, |key, tag| hash::combine(key, hash::key(tag.as_bytes())))
    }
}
