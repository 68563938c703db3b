//! Sentences from a stream, one by one or in batches, with bounded memory.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::columns::{self, Columns};
use crate::conllu;
use crate::error::{Error, ErrorList};
use crate::faults::Faults;
use crate::input::{BlankLines, Blocks, DEFAULT_MAX_LENGTH, Input, check_text};
use crate::sentence::Sentence;

/// Reads sentences from CoNLL-U or columns.
///
/// The reader is an iterator of sentences; [`read`](SentenceReader::read) fills a sentence again and again
/// without allocating, and [`batches`](SentenceReader::batches) hands out many at once, for threads. After a
/// sentence with an error the next call goes on with the next sentence;
/// [`read_valid`](SentenceReader::read_valid) does so by itself and gathers the errors.
///
/// ```
/// use consonant_text::SentenceReader;
///
/// let text = "1\tHello\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tthere\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
/// let reader = SentenceReader::conllu(text.as_bytes(), "greeting.conllu");
/// let mut written = Vec::new();
/// for sentence in reader {
///     sentence?.write(&mut written)?;
/// }
/// assert_eq!(written, text.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SentenceReader<R> {
    blocks: Blocks<R>,
    grammar: Grammar,
    faults: Faults,
    trailer: String,
}

#[derive(Debug)]
enum Grammar {
    Conllu,
    Columns(Box<ColumnsState>),
}

#[derive(Debug)]
struct ColumnsState {
    grammar: columns::Grammar,
    /// Document marks and blank lines that belong to the sentence to come.
    pending: String,
    pending_line: u64,
}

impl SentenceReader<Input> {
    /// Opens a CoNLL-U file, compressed or not; `-` is standard input.
    pub fn open_conllu(path: impl AsRef<Path>) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let name = Arc::clone(input.name());
        Ok(SentenceReader::conllu(input, name))
    }

    /// Opens a columns file, compressed or not; `-` is standard input.
    pub fn open_columns(path: impl AsRef<Path>, columns: Columns) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let name = Arc::clone(input.name());
        Ok(SentenceReader::columns(input, name, columns))
    }
}

impl<R: Read> SentenceReader<R> {
    /// Reads CoNLL-U from any stream, under a name for messages.
    pub fn conllu(stream: R, name: impl Into<Arc<str>>) -> Self {
        SentenceReader::new(stream, name.into(), Grammar::Conllu)
    }

    /// Reads columns from any stream, under a name for messages.
    ///
    /// ```
    /// use consonant_text::{Columns, Layer, SentenceReader};
    ///
    /// let text = "-DOCSTART- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n";
    /// let mut sentence = SentenceReader::columns(text.as_bytes(), "a", Columns::default()).next().unwrap()?;
    /// assert!(sentence.starts_document());
    /// assert_eq!(sentence.entity_label(0), "B-ORG");
    /// sentence.set(1, Layer::Entity, "B-MISC")?;
    /// assert_eq!(sentence.to_string(), text.replace("VBZ O", "VBZ B-MISC"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn columns(stream: R, name: impl Into<Arc<str>>, columns: Columns) -> Self {
        let grammar = columns::Grammar::new(columns);
        let state = ColumnsState { grammar, pending: String::new(), pending_line: 0 };
        SentenceReader::new(stream, name.into(), Grammar::Columns(Box::new(state)))
    }

    fn new(stream: R, name: Arc<str>, grammar: Grammar) -> Self {
        SentenceReader {
            faults: Faults::new(Arc::clone(&name)),
            blocks: Blocks::new(stream, name, DEFAULT_MAX_LENGTH),
            grammar,
            trailer: String::new(),
        }
    }

    /// Limits the length of a sentence in bytes; the default is [`DEFAULT_MAX_LENGTH`].
    #[must_use]
    pub fn max_length(mut self, bytes: usize) -> Self {
        self.blocks.set_max_length(bytes);
        self
    }

    /// The name that appears in messages.
    pub fn name(&self) -> &Arc<str> {
        self.blocks.file()
    }

    /// What stood after the last sentence (more blank lines), once the end is reached; a copy of the file
    /// ends in it.
    pub fn trailer(&self) -> &str {
        &self.trailer
    }

    /// Reads the next sentence in place of another; says whether there was one.
    ///
    /// # Errors
    /// The first thing that is wrong with the sentence; the next call goes on behind it.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        match self.step(sentence, 1)? {
            Step::Sentence => Ok(true),
            Step::End => Ok(false),
            Step::Faulty => Err(self.faults.errors.swap_remove(0).into()),
        }
    }

    /// Reads the next sentence without errors; the errors of those passed over go to the list.
    ///
    /// # Errors
    /// Only if the stream cannot be read.
    pub fn read_valid(&mut self, sentence: &mut Sentence, errors: &mut ErrorList) -> Result<bool, Error> {
        loop {
            match self.step(sentence, errors.room()) {
                Ok(Step::Sentence) => return Ok(true),
                Ok(Step::End) => return Ok(false),
                Ok(Step::Faulty) => {
                    errors.total += self.faults.total;
                    errors.errors.append(&mut self.faults.errors);
                }
                Err(Error::Format(error)) => errors.push(*error),
                Err(error) => return Err(error),
            }
        }
    }

    fn step(&mut self, sentence: &mut Sentence, room: usize) -> Result<Step, Error> {
        match &mut self.grammar {
            Grammar::Conllu => {
                let Some(block) = self.blocks.block(BlankLines::Empty)? else {
                    return Ok(Step::End);
                };
                let text = check_text(&block, &self.faults.file)?;
                self.faults.start(block.first_line, room);
                conllu::parse(text, block.first_line, sentence, &mut self.faults);
            }
            Grammar::Columns(state) => loop {
                let max_length = self.blocks.max_length();
                let Some(block) = self.blocks.block(BlankLines::Whitespace)? else {
                    self.trailer.push_str(&std::mem::take(&mut state.pending));
                    return Ok(Step::End);
                };
                let text = check_text(&block, &self.faults.file)?;
                if columns::is_mark_only(text, block.first_line) {
                    if state.pending.is_empty() {
                        state.pending_line = block.first_line;
                    }
                    state.pending.push_str(text);
                    if state.pending.len() > max_length {
                        state.pending.clear();
                        return Err(self.blocks.too_long(state.pending_line, "sentence"));
                    }
                    continue;
                }
                if state.pending.is_empty() {
                    self.faults.start(block.first_line, room);
                    state.grammar.parse(text, block.first_line, sentence, &mut self.faults);
                } else {
                    state.pending.push_str(text);
                    self.faults.start(state.pending_line, room);
                    state.grammar.parse(&state.pending, state.pending_line, sentence, &mut self.faults);
                    state.pending.clear();
                }
                break;
            },
        }
        if !self.faults.is_empty() {
            return Ok(Step::Faulty);
        }
        if sentence.is_empty() {
            // Only the last block can have no words and no fault: blank lines at the end.
            self.trailer.push_str(sentence.source());
            sentence.clear();
            return Ok(Step::End);
        }
        Ok(Step::Sentence)
    }

    /// Fills a batch with up to `size` sentences, reusing the memory of those in it; the batch is empty at
    /// the end.
    ///
    /// # Errors
    /// The first thing that is wrong; the batch then holds the sentences before it.
    pub fn read_batch(&mut self, batch: &mut Vec<Sentence>, size: usize) -> Result<(), Error> {
        let mut filled = 0;
        let mut result = Ok(());
        while filled < size {
            if filled == batch.len() {
                batch.push(Sentence::new());
            }
            match self.read(&mut batch[filled]) {
                Ok(true) => filled += 1,
                Ok(false) => break,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        batch.truncate(filled);
        result
    }

    /// Sentences in batches of up to `size`, in order.
    pub fn batches(self, size: usize) -> Batches<R> {
        Batches { reader: self, size: size.max(1), failed: None }
    }
}

enum Step {
    Sentence,
    Faulty,
    End,
}

impl<R: Read> Iterator for SentenceReader<R> {
    type Item = Result<Sentence, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut sentence = Sentence::new();
        match self.read(&mut sentence) {
            Ok(true) => Some(Ok(sentence)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// An iterator of batches of sentences, in order; an error comes after the sentences before it.
#[derive(Debug)]
pub struct Batches<R> {
    reader: SentenceReader<R>,
    size: usize,
    failed: Option<Error>,
}

impl<R: Read> Iterator for Batches<R> {
    type Item = Result<Vec<Sentence>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let mut batch = Vec::new();
        match self.reader.read_batch(&mut batch, self.size) {
            Err(error) if batch.is_empty() => return Some(Err(error)),
            Err(error) => self.failed = Some(error),
            Ok(()) if batch.is_empty() => return None,
            Ok(()) => {}
        }
        Some(Ok(batch))
    }
}
