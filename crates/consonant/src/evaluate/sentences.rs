//! Opening files of sentences whose format nobody told us: CoNLL-U or columns.

use std::path::Path;
use std::sync::Arc;

use consonant_text::columns::Column;
use consonant_text::input::Input;
use consonant_text::{Columns, Format, Sentence, SentenceReader};

use super::refused;
use crate::Error;

/// What such a file should have in it.
pub const EXPECTED: &str = "sentences in CoNLL-U or columns";

/// A file of sentences and what it turned out to be.
pub struct Sentences {
    pub reader: SentenceReader<Input>,
    pub name: Arc<str>,
    pub is_conllu: bool,
}

/// Opens a file (`-` is standard input); in columns the label is the last one.
pub fn open(path: &Path) -> Result<Sentences, Error> {
    open_with_label(path, Column::LAST)
}

/// Opens a file in whose columns the label is another.
pub fn open_with_label(path: &Path, label: Column) -> Result<Sentences, Error> {
    let mut input = Input::open(path)?;
    let name = Arc::clone(input.name());
    let is_conllu = match input.format()? {
        Format::Conllu => true,
        // Columns without tabs may look like text.
        Format::Columns | Format::Text => false,
        Format::Jsonl => return refused(format!("{name} is JSON; expected {EXPECTED}")),
    };
    let reader = if is_conllu {
        SentenceReader::conllu(input, Arc::clone(&name))
    } else {
        SentenceReader::columns(input, Arc::clone(&name), Columns { label, ..Columns::default() })
    };
    Ok(Sentences { reader, name, is_conllu })
}

impl Sentences {
    /// Fails unless two sentences, one of each file, have the same words.
    pub fn same_words(&self, sentence: &Sentence, other: &Sentences, others: &Sentence) -> Result<(), Error> {
        for word in 0..sentence.len().max(others.len()) {
            let show = |sentence: &Sentence| {
                if word < sentence.len() {
                    format!("`{}`", sentence.form(word))
                } else {
                    "no more words".to_owned()
                }
            };
            if show(sentence) != show(others) {
                return refused(format!(
                    "word {} of the sentence differs: {} at {}:{}, {} at {}:{}; both files must have the same words \
                     (`evaluate trees` aligns different ones)",
                    word + 1,
                    show(sentence),
                    self.name,
                    sentence.line(),
                    show(others),
                    other.name,
                    others.line()
                ));
            }
        }
        Ok(())
    }
}
