//! What a segmenter reads: raw text, or sentences whose text is put together again.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use consonant_task::{Batch, Item, ItemError, ItemReader, SentenceItems, open_as};
use consonant_text::input::Input;
use consonant_text::plain::{Passage, PassageReader};
use consonant_text::{Format, Sentence};

use crate::Start;

/// A piece of text and its sentences: to be found, or known.
#[derive(Debug, Default)]
pub struct Piece {
    /// The text; empty where only its sentences are known.
    pub text: String,
    /// What starts with the text.
    pub start: Start,
    /// Characters before it in its file.
    pub character: u64,
    /// Its sentences.
    pub sentences: Vec<Sentence>,
}

impl From<Sentence> for Piece {
    fn from(sentence: Sentence) -> Self {
        Self { sentences: vec![sentence], ..Self::default() }
    }
}

impl Item for Piece {
    const PLURAL: &'static str = "pieces of text";
    const EXPECTED: &'static str = "text";

    fn open(path: &Path, formats: &[Format]) -> Result<Box<dyn ItemReader<Self>>, ItemError> {
        let (input, format) = open_as(path, formats, Self::EXPECTED)?;
        let name = Arc::clone(input.name());
        Ok(match format {
            Format::Conllu => Box::new(Sentences(SentenceItems::new(input, format), Vec::new())),
            _ => Box::new(Pieces {
                reader: PassageReader::new(input, Arc::clone(&name)),
                name,
                passage: Passage::default(),
            }),
        })
    }

    fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        self.sentences.iter().try_for_each(|sentence| sentence.write(&mut out))
    }
}

/// Sentences of a treebank, a piece each.
struct Sentences(SentenceItems, Vec<Sentence>);

impl ItemReader<Piece> for Sentences {
    fn name(&self) -> &Arc<str> {
        self.0.name()
    }

    fn read(&mut self, batch: &mut Vec<Piece>, size: Batch) -> Result<(), ItemError> {
        self.0.read(&mut self.1, size)?;
        batch.clear();
        batch.extend(self.1.drain(..).map(Piece::from));
        Ok(())
    }
}

/// Pieces of raw text.
struct Pieces {
    reader: PassageReader<Input>,
    name: Arc<str>,
    passage: Passage,
}

impl ItemReader<Piece> for Pieces {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn read(&mut self, batch: &mut Vec<Piece>, size: Batch) -> Result<(), ItemError> {
        let most = if let Batch::Items(most) = size { most } else { usize::MAX };
        batch.clear();
        while batch.len() < most && self.reader.read(&mut self.passage)? {
            let Passage { text, byte, character, .. } = &self.passage;
            let start = if *byte == 0 { Start::Document } else { Start::Paragraph };
            batch.push(Piece { text: text.clone(), start, character: *character, sentences: Vec::new() });
        }
        Ok(())
    }
}
