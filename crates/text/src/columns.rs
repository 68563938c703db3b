//! Columns: a word and its labels on a line, separated by tabs or blanks.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use memchr::memchr;

use crate::error::{Fault, Kind, excerpt};
use crate::faults::Faults;
use crate::sentence::{Layer, Layout, NO_HEAD, Row, RowId, Sentence, Separator, Span};

/// The word that marks the start of a document.
pub(crate) const DOCUMENT_MARK: &str = "-DOCSTART-";

/// A column of a file, counted from either side.
///
/// Written as a number it is counted from 1, and from the last column backwards if negative.
///
/// ```
/// use consonant_text::columns::Column;
///
/// assert_eq!("1".parse(), Ok(Column::FIRST));
/// assert_eq!("-1".parse(), Ok(Column::LAST));
/// assert_eq!(Column::LAST.to_string(), "-1");
/// assert!("0".parse::<Column>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Counted from the first column, which is 0.
    FromStart(usize),
    /// Counted from the last column, which is 0.
    FromEnd(usize),
}

impl Column {
    /// The first column.
    pub const FIRST: Column = Column::FromStart(0);
    /// The last column.
    pub const LAST: Column = Column::FromEnd(0);

    fn index(self, width: usize) -> Option<u16> {
        let index = match self {
            Column::FromStart(index) => Some(index).filter(|&index| index < width),
            Column::FromEnd(index) => width.checked_sub(index.checked_add(1)?),
        };
        index.and_then(|index| u16::try_from(index).ok())
    }
}

/// As a number is written: `1` is the first column, `-1` the last.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::FromStart(index) => write!(f, "{}", index + 1),
            Column::FromEnd(index) => write!(f, "-{}", index + 1),
        }
    }
}

/// A text that names no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a column, counted from 1 or, from the last backwards, from -1; came `{0}`")]
pub struct UnknownColumn(String);

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(text: &str) -> Result<Self, UnknownColumn> {
        let unknown = || UnknownColumn(text.to_owned());
        let (digits, from_end) = match text.strip_prefix('-') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let index = digits.parse::<NonZeroUsize>().map_err(|_| unknown())?.get() - 1;
        Ok(if from_end { Column::FromEnd(index) } else { Column::FromStart(index) })
    }
}

/// Which column holds what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The word; the first column unless told otherwise.
    pub token: Column,
    /// The entity label; the last column unless told otherwise.
    pub label: Column,
    /// Other layers and their columns.
    pub others: Vec<(Layer, Column)>,
}

impl Default for Columns {
    fn default() -> Self {
        Columns { token: Column::FIRST, label: Column::LAST, others: Vec::new() }
    }
}

/// Reads blocks of columns; the first row of the file settles separator and width.
#[derive(Debug)]
pub(crate) struct Grammar {
    columns: Columns,
    layout: Option<Layout>,
}

impl Grammar {
    pub fn new(columns: Columns) -> Self {
        Grammar { columns, layout: None }
    }

    /// Parses a block into a sentence; whatever is wrong goes to the faults, all of it.
    pub fn parse(&mut self, block: &str, first_line: u64, sentence: &mut Sentence, faults: &mut Faults) {
        sentence.clear();
        sentence.first_line = first_line;
        sentence.arena.push_str(block);
        sentence.source = block.len();
        let mut position = prefix(block, first_line);
        sentence.prefix = position;
        sentence.tail = block.len();
        if position == block.len() {
            return;
        }
        let separator = match self.layout {
            Some(layout) => layout.separator(),
            None => separator_of(&block[position..]),
        };
        // With tabs a line without one is no row, so that a comment cannot be mistaken for the word `#`.
        if separator == Separator::Tab {
            while block[position..].starts_with('#') {
                let end = line_end(block, position);
                if memchr(b'\t', &block.as_bytes()[position..end]).is_some() {
                    break;
                }
                sentence.comments.push(Span::new(position..end));
                position = end;
            }
        }
        while position < block.len() {
            let end = line_end(block, position);
            if block[position..end].trim().is_empty() {
                sentence.tail = position;
                break;
            }
            self.row(block, position, end, separator, sentence, faults);
            position = end;
        }
        if sentence.words.is_empty() && faults.is_empty() {
            faults.report(block, sentence.prefix, || {
                Fault::new(Kind::Comment, "a sentence after its comments", "no words", "remove the comments")
            });
        }
        sentence.layout = self.layout.unwrap_or_default();
    }

    fn row(
        &mut self,
        block: &str,
        start: usize,
        end: usize,
        separator: Separator,
        sentence: &mut Sentence,
        faults: &mut Faults,
    ) {
        let line = &block[start..end];
        let first = sentence.cells.len();
        let split = Layout::columns(0, separator);
        sentence
            .cells
            .extend(split.fields(line).map(|field| Span::new(start + field.start..start + field.end)));
        let width = sentence.cells.len() - first;
        let layout = match self.layout {
            Some(layout) => layout,
            None => match self.settle(width, separator) {
                Ok(layout) => *self.layout.insert(layout),
                Err((expected, hint)) => {
                    faults.report(block, start, || {
                        Fault::new(
                            Kind::ColumnCount,
                            expected,
                            format!("{width}: {}", excerpt(line.trim_end())),
                            hint,
                        )
                    });
                    sentence.cells.truncate(first);
                    return;
                }
            },
        };
        let mut valid = true;
        if width != layout.width() {
            valid = false;
            faults.report(block, start, || {
                let hint = if line.starts_with('#') {
                    "comments are possible only in files with tabs, before the first word of a sentence"
                } else {
                    "every row has as many columns as the first, and a blank line ends a sentence"
                };
                Fault::new(
                    Kind::ColumnCount,
                    format!("{} columns", layout.width()),
                    format!("{width}: {}", excerpt(line.trim_end())),
                    hint,
                )
            });
        } else if line.starts_with(DOCUMENT_MARK) {
            valid = false;
            faults.report(block, start, || {
                Fault::new(
                    Kind::Comment,
                    "a word",
                    format!("`{DOCUMENT_MARK}`"),
                    "put a blank line before the start of a document",
                )
            });
        } else {
            for layer in [Layer::Form, Layer::Entity] {
                let place = layout.column(layer).map(|column| sentence.cells[first + column].range());
                if let Some(place) = place.filter(|place| block[place.clone()].trim().is_empty()) {
                    valid = false;
                    faults.report(block, place.start, || {
                        let what = if layer == Layer::Form { "a word" } else { "a label" };
                        Fault::new(Kind::EmptyField, what, "nothing", "write `O` where there is no entity")
                    });
                }
            }
        }
        if !valid {
            sentence.cells.truncate(first);
            return;
        }
        let word = sentence.words.len() as u32;
        sentence.rows.push(Row { line: Span::new(start..end), id: RowId::Word(word + 1), edited: false });
        sentence.words.push(word);
        sentence.heads.push(NO_HEAD);
    }

    /// The layout of a file whose first row has this many columns.
    fn settle(&self, width: usize, separator: Separator) -> Result<Layout, (String, &'static str)> {
        if !(2..usize::from(u16::MAX)).contains(&width) {
            return Err((
                "2 columns or more".into(),
                "a word and its label are separated by a tab or blanks",
            ));
        }
        let mut layout = Layout::columns(width as u16, separator);
        let named = [(Layer::Form, self.columns.token), (Layer::Entity, self.columns.label)];
        for &(layer, column) in named.iter().chain(&self.columns.others) {
            let Some(index) = column.index(width) else {
                return Err((
                    format!("the {} in column {column}", layer.name()),
                    "there are not that many columns",
                ));
            };
            layout = layout.with(layer, index);
        }
        Ok(layout)
    }
}

/// Whether a block has no words, only blank lines and document marks.
pub(crate) fn is_mark_only(block: &str, first_line: u64) -> bool {
    prefix(block, first_line) == block.len()
}

/// Tabs separate if the first line that cannot be a comment has one.
fn separator_of(block: &str) -> Separator {
    let row = block.lines().find(|line| !line.starts_with('#') || line.contains('\t'));
    if row.is_some_and(|row| row.contains('\t')) { Separator::Tab } else { Separator::Blank }
}

fn line_end(block: &str, position: usize) -> usize {
    memchr(b'\n', &block.as_bytes()[position..]).map_or(block.len(), |at| position + at + 1)
}

/// Where the first line stands that is neither blank nor the mark of a document.
fn prefix(block: &str, first_line: u64) -> usize {
    const BOM: &str = "\u{feff}";
    let mut position = if first_line == 1 && block.starts_with(BOM) { BOM.len() } else { 0 };
    while position < block.len() {
        let end = line_end(block, position);
        let line = block[position..end].trim();
        let mark = line
            .strip_prefix(DOCUMENT_MARK)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        if !line.is_empty() && !mark {
            break;
        }
        position = end;
    }
    position
}
