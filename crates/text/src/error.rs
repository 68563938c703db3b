//! What is wrong with an input, and where.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

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

/// An input that does not follow its format: where, what was expected, what came and what to do.
///
/// It is displayed as `file:line:column: expected …, came …; hint`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
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

    /// Counts an error, and puts it together only if there is room for it.
    pub(crate) fn push_with(&mut self, error: impl FnOnce() -> FormatError) {
        if self.room() > 0 {
            self.errors.push(error());
        }
        self.total += 1;
    }

    /// How many more errors it keeps; the others are only counted.
    pub fn room(&self) -> usize {
        self.limit - self.errors.len()
    }
}
