//! The forms in which problems come, and what is wrong with those that cannot be read.

use crate::{Problem, cfn, fg, json, lp, mps, uai, wcsp};

/// The forms in which problems come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// UAI with potentials.
    Uai,
    /// UAI with logarithms of potentials.
    LogUai,
    /// AD3's text form.
    Fg,
    /// Our JSON.
    Json,
    /// Linear programs in CPLEX's LP form.
    Lp,
    /// Linear programs in MPS, free or fixed.
    Mps,
    /// Weighted constraint satisfaction, as toulbar2 reads it.
    Wcsp,
    /// The same in JSON.
    Cfn,
}

impl Format {
    /// All forms with the names they have on the command line.
    pub const NAMES: [(&'static str, Format); 8] = [
        ("uai", Format::Uai),
        ("loguai", Format::LogUai),
        ("fg", Format::Fg),
        ("json", Format::Json),
        ("lp", Format::Lp),
        ("mps", Format::Mps),
        ("wcsp", Format::Wcsp),
        ("cfn", Format::Cfn),
    ];

    /// Guesses the form from a file's name and, failing that, from its text. Log-UAI and WCSP
    /// can only be told by their names.
    pub fn guess(name: &str, text: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let by_name = [
            (".loguai", Format::LogUai),
            (".lg", Format::LogUai),
            (".uai", Format::Uai),
            (".fg", Format::Fg),
            (".json", Format::Json),
            (".lp", Format::Lp),
            (".mps", Format::Mps),
            (".wcsp", Format::Wcsp),
            (".cfn", Format::Cfn),
        ];
        if let Some((_, format)) = by_name.iter().find(|(ending, _)| name.ends_with(ending)) {
            return Some(*format);
        }
        let start = text.trim_start();
        let word = start.split_ascii_whitespace().next()?.to_ascii_lowercase();
        if start.starts_with('\\') || word.starts_with("max") || word.starts_with("min") {
            return Some(Format::Lp);
        }
        if start.starts_with('*') || matches!(&*word, "name" | "rows" | "objsense") {
            return Some(Format::Mps);
        }
        if start.starts_with('{') && start.contains("\"functions\"") && !start.contains("\"factors\"") {
            return Some(Format::Cfn);
        }
        if matches!(&*word, "markov" | "bayes") {
            return Some(Format::Uai);
        }
        match start.as_bytes().first()? {
            b'{' => Some(Format::Json),
            b'0'..=b'9' => Some(Format::Fg),
            _ => None,
        }
    }
}

/// Reads a problem.
pub fn read(text: &str, format: Format) -> Result<Problem, FormatError> {
    match format {
        Format::Uai => uai::read(text, uai::Entries::Linear),
        Format::LogUai => uai::read(text, uai::Entries::Log),
        Format::Fg => fg::read(text),
        Format::Json => json::read(text),
        Format::Lp => lp::read(text),
        Format::Mps => mps::read(text),
        Format::Wcsp => wcsp::read(text),
        Format::Cfn => cfn::read(text),
    }
}

/// Why a problem could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct FormatError {
    /// The line, counted from one, where the format has lines.
    pub line: Option<usize>,
    /// What was expected, what came, and what to do.
    pub message: String,
}

impl FormatError {
    /// An error that has no line.
    pub fn new(message: impl Into<String>) -> Self {
        FormatError { line: None, message: message.into() }
    }

    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        FormatError { line: Some(line), message: message.into() }
    }
}

/// Words of a text separated by white space, with their line numbers.
pub(crate) struct Words<'a> {
    rest: std::iter::Peekable<std::str::SplitInclusive<'a, char>>,
    current: std::str::SplitAsciiWhitespace<'a>,
    pub(crate) line: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Words { rest: text.split_inclusive('\n').peekable(), current: "".split_ascii_whitespace(), line: 0 }
    }

    pub(crate) fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.current.next() {
                return Some(word);
            }
            self.current = self.rest.next()?.split_ascii_whitespace();
            self.line += 1;
        }
    }

    pub(crate) fn expect(&mut self, what: &str) -> Result<&'a str, FormatError> {
        self.next().ok_or_else(|| {
            FormatError::at(
                self.line,
                format!("the file ends where {what} should stand; it may have been cut short"),
            )
        })
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, FormatError> {
        let word = self.expect(what)?;
        let read = word.parse().ok().filter(|_| !overflows(word));
        read.ok_or_else(|| FormatError::at(self.line, format!("expected {what}, found `{}`", shorten(word))))
    }

    pub(crate) fn finished(&mut self) -> Result<(), FormatError> {
        match self.next() {
            None => Ok(()),
            Some(word) => {
                let message = format!("expected the end of the file, found `{}`", shorten(word));
                Err(FormatError::at(self.line, message))
            }
        }
    }
}

/// Whether a word is a number too large to be one; infinity is written as a word of letters.
pub(crate) fn overflows(word: &str) -> bool {
    let may = word.len() > 300 || word.contains(['e', 'E']);
    may && word.contains(|c: char| c.is_ascii_digit()) && word.parse().is_ok_and(f64::is_infinite)
}

pub(crate) fn shorten(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_string(),
    }
}
