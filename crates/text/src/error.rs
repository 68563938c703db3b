//! What is wrong with an input, and where.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

use memchr::{memchr_iter, memrchr};
use serde::Serialize;

/// Anything that stops a reader or a writer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, read, decompressed or written.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file, or `<stdin>`.
        file: Arc<str>,
        /// What the system said.
        source: io::Error,
    },
    /// The input was read but does not follow its format.
    #[error(transparent)]
    Format(Box<FormatError>),
    /// A conversion that cannot be made.
    #[error("cannot convert {from} to {to}: {reason}")]
    Convert {
        /// The format that came in.
        from: &'static str,
        /// The format that was asked for.
        to: &'static str,
        /// Why not, and what to do instead.
        reason: Cow<'static, str>,
    },
}

impl Error {
    /// Wraps what the system said about a file.
    pub fn io(file: &Arc<str>, source: io::Error) -> Self {
        Error::Io { file: Arc::clone(file), source }
    }

    /// The format error in it, if it is one.
    pub fn as_format(&self) -> Option<&FormatError> {
        match self {
            Error::Format(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Error::Format(Box::new(error))
    }
}

/// The families of format errors, for grouping and for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Bytes that are not UTF-8.
    Encoding,
    /// A NUL byte in a text.
    Nul,
    /// A line or a sentence longer than the limit.
    TooLong,
    /// A row with too few or too many columns.
    ColumnCount,
    /// A field that must not be empty.
    EmptyField,
    /// An id that is no id, or not the next one.
    Id,
    /// A head that is no number, or no word of the sentence.
    Head,
    /// Features or MISC entries that are not well formed.
    Attribute,
    /// Enhanced dependencies that are not well formed.
    EnhancedDependency,
    /// A comment in the wrong place, or a sentence without words.
    Comment,
    /// A comment `# text` that does not spell the tokens.
    Text,
    /// Heads that make no tree.
    Tree,
    /// A label that may not follow the one before it.
    LabelSequence,
    /// Text that is not JSON, or JSON of another shape.
    Json,
    /// Parallel lists of different lengths.
    UnequalLists,
    /// A link to a later unit, to itself or to nowhere.
    Link,
}

/// What is wrong, whatever the place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The family of errors it belongs to.
    pub kind: Kind,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub came: String,
    /// What to do.
    pub hint: &'static str,
}

impl Fault {
    /// Puts it together.
    pub fn new(kind: Kind, expected: impl Into<String>, came: impl Into<String>, hint: &'static str) -> Self {
        Fault { kind, expected: expected.into(), came: came.into(), hint }
    }

    /// The error that it is at a line and a column.
    pub fn at(self, file: &Arc<str>, (line, column): (u64, u64)) -> FormatError {
        let Fault { kind, expected, came, hint } = self;
        FormatError { file: Arc::clone(file), line, column, kind, expected, came, hint: hint.into() }
    }

    /// The error that it is behind some bytes, the first of which stands at the start of a line.
    pub(crate) fn within(self, file: &Arc<str>, first_line: u64, before: &[u8]) -> FormatError {
        let line_start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() as u64 + 1;
        self.at(file, (first_line + memchr_iter(b'\n', before).count() as u64, column))
    }
}

/// An input that does not follow its format: where, what was expected, what came and what to do.
///
/// It is displayed as `file:line:column: expected …, came …; hint`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub struct FormatError {
    /// Name of the file, or `<stdin>`.
    #[serde(serialize_with = "arc_str")]
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// The family of errors it belongs to.
    pub kind: Kind,
    /// What the format asks for at this place.
    pub expected: String,
    /// What stood there, shortened and with control characters escaped.
    pub came: String,
    /// What to do about it; may be empty.
    pub hint: Cow<'static, str>,
}

fn arc_str<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: expected {}, came {}",
            self.file, self.line, self.column, self.expected, self.came
        )?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

/// Longest excerpt of the input that an error repeats, in characters.
const EXCERPT: usize = 40;

/// An excerpt of the input fit for a message: quoted, shortened, control characters escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == EXCERPT {
            shown.push('…');
            break;
        }
        if c.is_control() || c == '\u{feff}' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown.push('`');
    shown
}

/// Format errors gathered so far: the first `limit` in full, the others counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ErrorList {
    /// The errors kept, in the order of the input.
    pub errors: Vec<FormatError>,
    /// How many there were, kept or not.
    pub total: u64,
    #[serde(skip)]
    limit: usize,
}

impl ErrorList {
    /// An empty list that keeps at most `limit` errors.
    pub fn with_limit(limit: usize) -> Self {
        ErrorList { errors: Vec::new(), total: 0, limit }
    }

    /// Counts an error, and keeps it if there is room.
    pub fn push(&mut self, error: FormatError) {
        self.total += 1;
        if self.errors.len() < self.limit {
            self.errors.push(error);
        }
    }

    /// Counts a fault at a line and a column, and puts it together only if there is room for it.
    pub(crate) fn report(&mut self, file: &Arc<str>, place: (u64, u64), fault: impl FnOnce() -> Fault) {
        if self.room() > 0 {
            self.errors.push(fault().at(file, place));
        }
        self.total += 1;
    }

    /// How many more errors it keeps; the others are only counted.
    pub fn room(&self) -> usize {
        self.limit - self.errors.len()
    }
}
