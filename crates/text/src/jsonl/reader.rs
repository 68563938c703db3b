use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use super::Record;
use crate::error::{Error, ErrorList, Fault, FormatError, Kind};
use crate::input::{Blocks, DEFAULT_MAX_LENGTH, Input, check_text};

/// Reads records of one type, or of any ([`AnyRecord`](super::AnyRecord)), with bounded memory.
#[derive(Debug)]
pub struct JsonlReader<R, T> {
    blocks: Blocks<R>,
    /// Blank lines that belong to the record to come, or to the end.
    blank: String,
    record: PhantomData<fn() -> T>,
}

impl<T: Record> JsonlReader<Input, T> {
    /// Opens a file, compressed or not; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let name = Arc::clone(input.name());
        Ok(JsonlReader::new(input, name))
    }
}

impl<R: Read, T: Record> JsonlReader<R, T> {
    /// Reads any stream, under a name for messages.
    pub fn new(stream: R, name: impl Into<Arc<str>>) -> Self {
        let blocks = Blocks::new(stream, name.into(), DEFAULT_MAX_LENGTH);
        JsonlReader { blocks, blank: String::new(), record: PhantomData }
    }

    /// Limits the length of a line in bytes; the default is [`DEFAULT_MAX_LENGTH`].
    #[must_use]
    pub fn max_length(mut self, bytes: usize) -> Self {
        self.blocks.set_max_length(bytes);
        self
    }

    /// What stood after the last record (more blank lines), once the end is reached.
    pub fn trailer(&self) -> &str {
        &self.blank
    }

    /// Reads the next record with the number of its line.
    ///
    /// # Errors
    /// What is wrong with the line; the next call goes on behind it.
    pub fn read(&mut self) -> Result<Option<(u64, T)>, Error> {
        loop {
            let file = Arc::clone(self.blocks.file());
            let max_length = self.blocks.max_length();
            let Some(line) = self.blocks.line()? else {
                return Ok(None);
            };
            let text = check_text(&line, &file)?;
            let json = text.trim_start_matches('\u{feff}');
            if json.trim().is_empty() {
                if self.blank.len() + text.len() > max_length {
                    // Only a flood of blank lines comes here; a copy need not repeat it.
                    self.blank.clear();
                }
                self.blank.push_str(text);
                continue;
            }
            let number = line.first_line;
            let mut record: T = T::parse(json).map_err(|error| json_error(&file, number, json, &error))?;
            record.check().map_err(|fault| fault.at(&file, (number, 1)))?;
            let mut raw = std::mem::take(&mut self.blank);
            raw.push_str(text);
            record.source_mut().0 = raw;
            return Ok(Some((number, record)));
        }
    }

    /// Reads the next record without errors; the errors of those passed over go to the list.
    ///
    /// # Errors
    /// Only if the stream cannot be read.
    pub fn read_valid(&mut self, errors: &mut ErrorList) -> Result<Option<(u64, T)>, Error> {
        loop {
            match self.read() {
                Err(Error::Format(error)) => errors.push(*error),
                other => return other,
            }
        }
    }
}

impl<R: Read, T: Record> Iterator for JsonlReader<R, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map(|record| record.map(|(_, record)| record)).transpose()
    }
}

fn json_error(file: &Arc<str>, line: u64, json: &str, error: &serde_json::Error) -> FormatError {
    use serde_json::error::Category;
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let (expected, came, hint) = match error.classify() {
        Category::Data => split_data_message(message),
        Category::Eof => ("the end of the object".to_owned(), "the end of the line".to_owned(), ONE_OBJECT),
        _ => ("a JSON object".to_owned(), format!("`{}` ({message})", excerpt(json)), ONE_OBJECT),
    };
    // Columns come in bytes; say them in characters like everywhere else.
    let bytes = error.column().saturating_sub(1).min(json.len());
    let column = json.char_indices().take_while(|&(at, _)| at < bytes).count() as u64 + 1;
    Fault::new(Kind::Json, expected, came, hint).at(file, (line, column))
}

const ONE_OBJECT: &str = "every line is one whole JSON object";

/// The beginning of a line, for a message.
fn excerpt(line: &str) -> String {
    const LONGEST: usize = 30;
    let line = line.trim();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Takes a message such as "invalid type: string "x", expected a sequence" apart.
fn split_data_message(message: &str) -> (String, String, &'static str) {
    if let Some((came, expected)) = message.rsplit_once(", expected ") {
        // The names of our types mean nothing to who wrote the file.
        let expected = match expected {
            "usize" | "u64" | "u32" | "u8" => "a whole number",
            name if name.starts_with("struct ") => "a JSON object",
            other => other,
        };
        let came = came.trim_start_matches("invalid type: ");
        return (expected.to_owned(), came.to_owned(), "correct the value");
    }
    if let Some(field) = message.strip_prefix("missing field ") {
        return (format!("a field {field}"), "an object without it".to_owned(), "add the field");
    }
    if message.starts_with("an object with") {
        return (message.to_owned(), "none of these".to_owned(), "is it another kind of file?");
    }
    ("another value".to_owned(), message.to_owned(), "correct the value")
}
