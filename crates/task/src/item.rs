//! What tasks work on, and how it is read and written.

use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use consonant_text::columns::Column;
use consonant_text::input::Input;
use consonant_text::jsonl::{JsonlReader, Record, Thread, write_record};
use consonant_text::{Columns, Document, Format, Sentence, SentenceReader};

/// An error of somebody else's.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Why items could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The file cannot be read, or something in it is wrong.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// The file is of a kind that the task does not read.
    #[error("{name} is {came}; expected {expected}{hint}")]
    Format {
        /// The file.
        name: Arc<str>,
        /// What it looks like.
        came: &'static str,
        /// What the task reads.
        expected: String,
        /// What to do.
        hint: &'static str,
    },
    /// The file has nothing in it to learn from.
    #[error("{name} has no {expected}")]
    Empty {
        /// The file.
        name: Arc<str>,
        /// What is missing.
        expected: String,
    },
    /// A record that is none of the task's.
    #[error("{name}, record {record}: {problem}")]
    Record {
        /// The file.
        name: Arc<str>,
        /// Its number, from 1.
        record: usize,
        /// What is wrong.
        problem: String,
    },
}

/// What is decoded in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// This many items.
    Items(usize),
    /// Whole documents, and at least this many items if the file has them.
    Documents(usize),
    /// The same for a file that marks documents from its first item on; all of any other file.
    MarkedDocuments(usize),
    /// All of a file.
    File,
}

/// Fills in layers that a task reads and another task makes.
pub trait Annotate: Sync {
    /// Whether a text is in a language that it has models for; layers on other texts would be guesses.
    fn understands(&self, text: &str) -> bool {
        let _ = text;
        true
    }

    /// The sentences of a text, with layers.
    fn document(&self, text: &str) -> Result<Document, Failure>;

    /// Adds layers to sentences that have their tokens.
    fn annotate(&self, sentences: &mut [Sentence]) -> Result<(), Failure>;
}

/// Something that a task decodes: a sentence, a conversation, a topic.
pub trait Item: Send + Sync + Sized + 'static {
    /// What several of them are called.
    const PLURAL: &'static str;
    /// What files of them look like, for messages.
    const EXPECTED: &'static str;

    /// Opens a file (`-` is standard input) in one of the formats.
    fn open(path: &Path, formats: &[Format]) -> Result<Box<dyn ItemReader<Self>>, ItemError>;

    /// Writes an item as it would be read.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Fills in the layers that the task reads.
    fn annotate(items: &mut [Self], annotator: &dyn Annotate) -> Result<(), Failure> {
        let (_, _) = (items, annotator);
        Ok(())
    }

    /// Marks that a document begins here, where the file that it comes from has no marks but another one
    /// does.
    fn begin_document(&mut self) {}

    /// Whether a document begins here.
    fn begins_document(&self) -> bool {
        false
    }
}

/// Reads items from a file.
pub trait ItemReader<I> {
    /// The file's name.
    fn name(&self) -> &Arc<str>;

    /// Replaces the batch by the next items; an empty batch is the end.
    fn read(&mut self, batch: &mut Vec<I>, size: Batch) -> Result<(), ItemError>;

    /// What stands in the file behind the last item.
    fn trailer(&self) -> &str {
        ""
    }
}

/// Opens a file that settings name, such as clusters; it may be compressed, and have `most` bytes then.
pub fn open_file(path: &Path, most: u64) -> Result<BufReader<Input>, consonant_text::Error> {
    Ok(BufReader::new(Input::open(path)?.at_most(most)))
}

/// All of a small file that settings name, such as templates.
pub fn read_file(path: &Path, most: u64) -> Result<String, consonant_text::Error> {
    Input::open(path)?.at_most(most).into_text()
}

/// Opens a file and refuses formats that the task does not read.
pub fn open_as(path: &Path, formats: &[Format], expected: &str) -> Result<(Input, Format), ItemError> {
    let mut input = Input::open(path)?;
    let format = match input.format()? {
        // Columns without tabs may look like text.
        Format::Text if !formats.contains(&Format::Text) && formats.contains(&Format::Columns) => {
            Format::Columns
        }
        format => format,
    };
    if formats.contains(&format) {
        return Ok((input, format));
    }
    // A file without anything in it has no format.
    if let Some(&any) = formats.first().filter(|_| input.is_blank()) {
        return Ok((input, any));
    }
    let names: Vec<&str> = formats.iter().map(|format| format.title()).collect();
    let hint = match (format, formats.contains(&Format::Conllu)) {
        (Format::Columns | Format::Jsonl, true) => "; `consonant convert` makes it",
        (Format::Text, true) => "; `consonant annotate` makes it",
        _ => "",
    };
    let expected = format!("{expected} in {}", names.join(" or "));
    Err(ItemError::Format { name: Arc::clone(input.name()), came: format.title(), expected, hint })
}

/// Sentences in CoNLL-U or columns.
#[derive(Debug)]
pub struct SentenceItems {
    reader: SentenceReader<Input>,
    /// The sentence that was read too far.
    next: Option<Sentence>,
}

impl SentenceItems {
    /// Reads CoNLL-U, or columns of which the last is the label.
    pub fn new(input: Input, format: Format) -> Self {
        let name = Arc::clone(input.name());
        let reader = match format {
            Format::Conllu => SentenceReader::conllu(input, name),
            _ => SentenceReader::columns(input, name, Columns { label: Column::LAST, ..Columns::default() }),
        };
        Self { reader, next: None }
    }
}

impl Item for Sentence {
    const PLURAL: &'static str = "sentences";
    const EXPECTED: &'static str = "sentences";

    fn open(path: &Path, formats: &[Format]) -> Result<Box<dyn ItemReader<Self>>, ItemError> {
        let (input, format) = open_as(path, formats, Self::EXPECTED)?;
        Ok(Box::new(SentenceItems::new(input, format)))
    }

    fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        Sentence::write(self, &mut out)
    }

    fn annotate(items: &mut [Self], annotator: &dyn Annotate) -> Result<(), Failure> {
        annotator.annotate(items)
    }

    fn begin_document(&mut self) {
        self.mark_document();
    }

    fn begins_document(&self) -> bool {
        self.starts_document()
    }
}

impl ItemReader<Sentence> for SentenceItems {
    fn name(&self) -> &Arc<str> {
        self.reader.name()
    }

    fn read(&mut self, batch: &mut Vec<Sentence>, size: Batch) -> Result<(), ItemError> {
        let (least, whole_unless_marked) = match size {
            Batch::Items(most) => return Ok(self.reader.read_batch(batch, most)?),
            Batch::Documents(least) => (least, false),
            Batch::MarkedDocuments(least) => (least, true),
            Batch::File => (usize::MAX, true),
        };
        batch.clear();
        batch.extend(self.next.take());
        let mut marked = batch.iter().any(Sentence::starts_document);
        for sentence in &mut self.reader {
            let sentence = sentence?;
            marked |= sentence.starts_document();
            let is_end = match whole_unless_marked {
                true => sentence.starts_document() && batch.first().is_some_and(Sentence::starts_document),
                // Sentences of a file without marks stand for themselves.
                false => sentence.starts_document() || !marked,
            };
            if batch.len() >= least && is_end {
                self.next = Some(sentence);
                break;
            }
            batch.push(sentence);
        }
        Ok(())
    }

    fn trailer(&self) -> &str {
        self.reader.trailer()
    }
}

/// Records, one JSON object a line.
#[derive(Debug)]
pub struct Lines<T> {
    reader: JsonlReader<Input, T>,
    name: Arc<str>,
}

impl<T: Record + 'static> Lines<T> {
    /// Opens a file of `expected`.
    pub fn open(path: &Path, expected: &str) -> Result<Box<dyn ItemReader<T>>, ItemError> {
        let (input, _) = open_as(path, &[Format::Jsonl], expected)?;
        let name = Arc::clone(input.name());
        Ok(Box::new(Self { reader: JsonlReader::new(input, Arc::clone(&name)), name }))
    }
}

impl<T: Record> ItemReader<T> for Lines<T> {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn read(&mut self, batch: &mut Vec<T>, size: Batch) -> Result<(), ItemError> {
        let most = if let Batch::Items(most) = size { most } else { usize::MAX };
        batch.clear();
        while batch.len() < most
            && let Some((_, record)) = self.reader.read()?
        {
            batch.push(record);
        }
        Ok(())
    }

    fn trailer(&self) -> &str {
        self.reader.trailer()
    }
}

impl Item for Thread {
    const PLURAL: &'static str = "conversations";
    const EXPECTED: &'static str =
        r#"conversations, lines {"id", "units": […], "links": [[source, target], …]},"#;

    fn open(path: &Path, _: &[Format]) -> Result<Box<dyn ItemReader<Self>>, ItemError> {
        Lines::open(path, Self::EXPECTED)
    }

    fn write(&self, mut out: &mut dyn Write) -> io::Result<()> {
        write_record(self, &mut out)
    }
}
