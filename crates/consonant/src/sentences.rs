//! Opening files of sentences whose format nobody told us: CoNLL-U or columns.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use consonant_text::columns::Column;
use consonant_text::input::Input;
use consonant_text::{Columns, Error, Sentence, SentenceReader};

/// How much of a file may be looked at to tell its format.
const LOOK: u64 = 1 << 16;

/// A file of sentences and what it turned out to be.
pub struct Sentences {
    pub reader: SentenceReader<Box<dyn Read>>,
    pub name: Arc<str>,
    pub is_conllu: bool,
}

/// Opens a file (`-` is standard input); in columns the label is the last one.
pub fn open(path: &Path) -> Result<Sentences> {
    open_with_label(path, Column::LAST)
}

/// Opens a file in whose columns the label is another.
pub fn open_with_label(path: &Path, label: Column) -> Result<Sentences> {
    let mut input = Input::open(path)?;
    let name = Arc::clone(input.name());
    let mut head = Vec::new();
    input.by_ref().take(LOOK).read_to_end(&mut head).map_err(|source| Error::io(&name, source))?;
    let is_conllu = is_named_conllu(&name) || looks_like_conllu(&head);
    let stream: Box<dyn Read> = Box::new(Cursor::new(head).chain(input));
    let reader = if is_conllu {
        SentenceReader::conllu(stream, Arc::clone(&name))
    } else {
        SentenceReader::columns(stream, Arc::clone(&name), Columns { label, ..Columns::default() })
    };
    Ok(Sentences { reader, name, is_conllu })
}

fn is_named_conllu(name: &str) -> bool {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    name.ends_with(".conllu")
}

/// The first row decides: ten columns, of which the first is an id. Comments alone are CoNLL-U.
fn looks_like_conllu(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    let has_comment = lines.peek().is_some_and(|line| line.starts_with(b"# "));
    match lines.find(|line| !line.starts_with(b"#")) {
        Some(row) => {
            row.first().is_some_and(u8::is_ascii_digit)
                && row.iter().filter(|byte| **byte == b'\t').count() == 9
        }
        None => has_comment,
    }
}

impl Sentences {
    /// Fails unless two sentences, one of each file, have the same words.
    pub fn same_words(&self, sentence: &Sentence, other: &Sentences, others: &Sentence) -> Result<()> {
        for word in 0..sentence.len().max(others.len()) {
            let show = |sentence: &Sentence| {
                if word < sentence.len() {
                    format!("`{}`", sentence.form(word))
                } else {
                    "no more words".to_owned()
                }
            };
            if show(sentence) != show(others) {
                bail!(
                    "word {} of the sentence differs: {} at {}:{}, {} at {}:{}; both files must have the same words \
                     (`evaluate trees` aligns different ones)",
                    word + 1,
                    show(sentence),
                    self.name,
                    sentence.line(),
                    show(others),
                    other.name,
                    others.line()
                );
            }
        }
        Ok(())
    }
}
