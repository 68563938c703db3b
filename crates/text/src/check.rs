//! What is wrong with data, where, and what a trainer would make of it.
//!
//! ```
//! use consonant_text::check::{Check, check};
//! use consonant_text::input::Input;
//!
//! let train = Input::new("a\tB-LOC\nb\tO\n\nx\tO\ny\tI-LOC\n\n".as_bytes(), "train.tsv")?;
//! let dev = Input::new("a\tB-PER\nb\tO\n\n".as_bytes(), "dev.tsv")?;
//! let report = check([Ok(train), Ok(dev)], &Check::default())?;
//! assert_eq!(report.files[0].errors.total, 1);
//! assert_eq!(report.files[0].errors.errors[0].line, 5);
//! assert_eq!(report.against[0].duplicates.count, 1);
//! assert_eq!(report.against[0].unseen[0].labels[0].label, "B-PER");
//! println!("{report}");
//! # Ok::<(), consonant_text::Error>(())
//! ```

mod fingerprints;
mod labels;
mod records;
mod report;
mod sentences;

use std::sync::Arc;

pub use report::{
    Against, Duplicates, EntityReport, FileReport, LabelCount, LayerReport, RecordReport, Report, TreeReport,
    UnseenLabels,
};

use crate::columns::Columns;
use crate::entity::Scheme;
use crate::error::Error;
use crate::format::Format;
use crate::input::{DEFAULT_MAX_LENGTH, Input};
use crate::jsonl::JsonlReader;
use crate::plain::{Paragraph, ParagraphReader};
use crate::reader::SentenceReader;
use fingerprints::{Fingerprints, Forms};
use labels::Labels;

/// What to look for, and how much of it to tell.
#[derive(Clone, Debug)]
pub struct Check {
    /// The format of all files; each is told by itself if not given.
    pub format: Option<Format>,
    /// Which column holds what, in columns.
    pub columns: Columns,
    /// The scheme of entity labels; told from the labels if not given.
    pub scheme: Option<Scheme>,
    /// How many errors of each file to list; the others are counted.
    pub error_limit: usize,
    /// A label seen at most this often is rare.
    pub rare: u64,
    /// How many labels of a layer to list.
    pub label_limit: usize,
    /// The longest line or sentence in bytes.
    pub max_length: usize,
}

impl Default for Check {
    fn default() -> Self {
        Check {
            format: None,
            columns: Columns::default(),
            scheme: None,
            error_limit: 100,
            rare: 3,
            label_limit: 50,
            max_length: DEFAULT_MAX_LENGTH,
        }
    }
}

/// What is remembered of a file to hold others against it.
#[derive(Default)]
struct Memory {
    sentences: Fingerprints,
    forms: Forms,
    labels: Vec<Labels>,
}

/// Looks through files, and holds all others against the first: the first is what one would train on.
///
/// Memory does not grow with the length of the files beyond eight bytes for each different sentence, and that
/// up to a limit that the report mentions if it was reached.
///
/// # Errors
/// Only if a file cannot be read at all; what is wrong inside is in the report.
pub fn check(inputs: impl IntoIterator<Item = Result<Input, Error>>, check: &Check) -> Result<Report, Error> {
    let mut report = Report::default();
    let mut train: Option<Memory> = None;
    for input in inputs {
        let mut input = input?;
        let format = match check.format {
            Some(format) => format,
            None => input.format()?,
        };
        let Desk { file, memory, mut against, .. } = check_file(input, format, check, train.as_ref())?;
        if let Some(train) = &train {
            against.train = report.files[0].file.clone();
            against.dev = file.file.clone();
            for labels in &memory.labels {
                if let Some(seen) = train.labels.iter().find(|seen| seen.name == labels.name) {
                    let unseen = labels.not_in(seen, check.label_limit);
                    if unseen.distinct > 0 {
                        against.unseen.push(unseen);
                    }
                }
            }
            report.against.push(against);
        }
        report.files.push(file);
        if train.is_none() {
            train = Some(memory);
        }
    }
    Ok(report)
}

/// A file that is looked through, and what was found so far.
struct Desk<'a> {
    check: &'a Check,
    file: FileReport,
    memory: Memory,
    train: Option<&'a Memory>,
    against: Against,
}

fn check_file<'a>(
    input: Input,
    format: Format,
    check: &'a Check,
    train: Option<&'a Memory>,
) -> Result<Desk<'a>, Error> {
    let name = Arc::clone(input.name());
    let file = FileReport::new(&name, format, check.error_limit);
    let mut desk = Desk { check, file, memory: Memory::default(), train, against: Against::default() };
    match format {
        Format::Conllu => desk.sentences(SentenceReader::conllu(input, name))?,
        Format::Columns => desk.sentences(SentenceReader::columns(input, name, check.columns.clone()))?,
        Format::Jsonl => desk.records(JsonlReader::new(input, name))?,
        Format::Text => desk.paragraphs(ParagraphReader::new(input, name))?,
    }
    desk.file.distinct_forms = desk.memory.forms.len();
    let layers = desk.memory.labels.iter();
    desk.file.layers = layers.map(|labels| labels.report(check.rare, check.label_limit)).collect();
    Ok(desk)
}

impl Desk<'_> {
    fn paragraphs(&mut self, reader: ParagraphReader<Input>) -> Result<(), Error> {
        let mut reader = reader.max_length(self.check.max_length);
        let mut paragraph = Paragraph::default();
        loop {
            match reader.read(&mut paragraph) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(Error::Format(error)) => {
                    self.file.errors.push(*error);
                    continue;
                }
                Err(error) => return Err(error),
            }
            self.file.sentences += 1;
            let words = paragraph.text.split_whitespace();
            self.file.words += words.clone().count() as u64;
            self.note(words, paragraph.line);
        }
    }

    /// Notes the words of a sentence: whether the sentence was seen before, and which words are new.
    fn note<'w>(&mut self, words: impl Iterator<Item = &'w str>, line: u64) {
        let Desk { file, memory, train, against, .. } = self;
        let mut sentence = fingerprints::SentenceHash::default();
        let mut unknown = 0;
        let mut count = 0;
        for word in words {
            let form = sentence.add(word);
            memory.forms.insert(form);
            count += 1;
            unknown += u64::from(train.is_some_and(|train| !train.forms.contains(form)));
        }
        let sentence = sentence.finish();
        if !memory.sentences.insert(sentence) {
            file.duplicates.push(line);
        }
        file.duplicates.capped |= memory.sentences.is_full();
        if let Some(train) = train {
            against.sentences += 1;
            against.words += count;
            against.unknown_words += unknown;
            if train.sentences.contains(sentence) {
                against.duplicates.push(line);
            }
            against.duplicates.capped |= train.sentences.is_full();
        }
    }
}
