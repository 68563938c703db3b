//! The formats this crate reads, and how to tell them apart.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::columns::DOCUMENT_MARK;

/// A format that sentences or records come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// CoNLL-U.
    Conllu,
    /// A word and its labels on a line.
    Columns,
    /// One JSON object a line.
    Jsonl,
    /// Plain text.
    Text,
}

impl Format {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Conllu => "conllu",
            Format::Columns => "columns",
            Format::Jsonl => "jsonl",
            Format::Text => "text",
        }
    }

    /// How people write it.
    pub fn title(self) -> &'static str {
        match self {
            Format::Conllu => "CoNLL-U",
            Format::Columns => "columns",
            Format::Jsonl => "JSONL",
            Format::Text => "raw text",
        }
    }

    /// The format that a file's name says, `.gz` and `.zst` aside.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Format> {
        let mut path = path.as_ref();
        let extension = |path: &Path| path.extension().map(|extension| extension.to_ascii_lowercase());
        if extension(path).is_some_and(|extension| extension == "gz" || extension == "zst") {
            path = Path::new(path.file_stem()?);
        }
        match extension(path)?.to_str()? {
            "conllu" | "conll-u" => Some(Format::Conllu),
            "tsv" | "conll" | "iob" | "iob2" | "bio" | "bioes" | "col" | "columns" => Some(Format::Columns),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "txt" | "text" => Some(Format::Text),
            _ => None,
        }
    }

    /// The format that the first bytes of a file look like; nothing if there are only blank lines.
    ///
    /// ```
    /// use consonant_text::Format;
    ///
    /// assert_eq!(Format::from_content(b"{\"id\": 1}\n"), Some(Format::Jsonl));
    /// assert_eq!(Format::from_content(b"EU\tB-ORG\nrejects\tO\n"), Some(Format::Columns));
    /// assert_eq!(Format::from_content(b"It was a dark night.\n"), Some(Format::Text));
    /// ```
    pub fn from_content(head: &[u8]) -> Option<Format> {
        let head = String::from_utf8_lossy(head);
        let head = head.trim_start_matches('\u{feff}');
        let mut lines = head.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next()?;
        if first.trim_start().starts_with('{') {
            return Some(Format::Jsonl);
        }
        let is_conllu = |line: &str| {
            let mut fields = line.split('\t');
            let id = fields.next().unwrap_or_default();
            id.starts_with(|c: char| c.is_ascii_digit())
                && id.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
                && fields.count() == 9
        };
        let comment = |line: &&str| line.starts_with('#') && !line.contains('\t');
        let row = std::iter::once(first).chain(lines.clone()).find(|line| !comment(line));
        let Some(row) = row else {
            // Nothing but comments so far: whole ones such as CoNLL-U has, or one long line of text.
            return Some(if first.contains(" = ") { Format::Conllu } else { Format::Text });
        };
        if is_conllu(row) {
            return Some(Format::Conllu);
        }
        if first.starts_with(DOCUMENT_MARK) || row.contains('\t') {
            return Some(Format::Columns);
        }
        // With blanks, a table shows by rows of one width that end in a label. The last line may be cut off.
        let rows: Vec<Vec<&str>> = head
            .lines()
            .take(50)
            .filter(|line| !line.is_empty())
            .map(|line| line.split_whitespace().collect())
            .collect();
        let whole = &rows[..rows.len().saturating_sub(usize::from(rows.len() > 1))];
        let label = |row: &Vec<&str>| {
            row.last().is_some_and(|last| {
                *last == "O" || last.split_once('-').is_some_and(|(letter, _)| letter.len() == 1)
            })
        };
        let width = whole.first().map_or(0, Vec::len);
        let table = width >= 2 && whole.iter().all(|row| row.len() == width) && whole.iter().all(label);
        Some(if table { Format::Columns } else { Format::Text })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected conllu, columns, jsonl or text, came `{0}`")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "conllu" => Ok(Format::Conllu),
            "columns" => Ok(Format::Columns),
            "jsonl" => Ok(Format::Jsonl),
            "text" => Ok(Format::Text),
            _ => Err(UnknownFormat(name.to_owned())),
        }
    }
}
