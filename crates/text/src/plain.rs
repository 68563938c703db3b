//! Plain text: paragraphs separated by blank lines, or passages that keep all white space, with their places
//! in the file.

mod passage;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::document::Document;
use crate::error::Error;
use crate::input::{BlankLines, Blocks, DEFAULT_MAX_LENGTH, Input, check_text};

pub use passage::{Passage, PassageReader};

/// A paragraph and where it stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paragraph {
    /// Its text, line ends inside kept, blanks around it not.
    pub text: String,
    /// Its first byte in the (decompressed) file; a byte order mark does not count.
    pub byte: u64,
    /// Its first character in the file; a byte order mark does not count.
    pub character: u64,
    /// The line on which it starts.
    pub line: u64,
}

/// Reads paragraphs from plain text with bounded memory.
///
/// ```
/// use consonant_text::plain::ParagraphReader;
///
/// let text = "Grüße\naus Kiel.\n\n  Bis bald!\n";
/// let paragraphs: Vec<_> = ParagraphReader::new(text.as_bytes(), "card.txt").collect::<Result<_, _>>()?;
/// assert_eq!(paragraphs[1].text, "Bis bald!");
/// assert_eq!((paragraphs[1].byte, paragraphs[1].character, paragraphs[1].line), (21, 19, 4));
/// # Ok::<(), consonant_text::Error>(())
/// ```
#[derive(Debug)]
pub struct ParagraphReader<R> {
    blocks: Blocks<R>,
    byte: u64,
    character: u64,
}

impl ParagraphReader<Input> {
    /// Opens a text file, compressed or not; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let input = Input::open(path)?;
        let name = Arc::clone(input.name());
        Ok(ParagraphReader::new(input, name))
    }
}

impl<R: Read> ParagraphReader<R> {
    /// Reads any stream, under a name for messages.
    pub fn new(stream: R, name: impl Into<Arc<str>>) -> Self {
        ParagraphReader {
            blocks: Blocks::new(stream, name.into(), DEFAULT_MAX_LENGTH),
            byte: 0,
            character: 0,
        }
    }

    /// Limits the length of a paragraph in bytes; the default is [`DEFAULT_MAX_LENGTH`].
    #[must_use]
    pub fn max_length(mut self, bytes: usize) -> Self {
        self.blocks.set_max_length(bytes);
        self
    }

    /// Reads the next paragraph in place of another; says whether there was one.
    ///
    /// # Errors
    /// If the paragraph is no text or too long; the next call goes on behind it, and places are then counted
    /// without it.
    pub fn read(&mut self, paragraph: &mut Paragraph) -> Result<bool, Error> {
        loop {
            let file = Arc::clone(self.blocks.file());
            let Some(block) = self.blocks.block(BlankLines::Whitespace)? else {
                return Ok(false);
            };
            let mut text = check_text(&block, &file)?;
            if block.first_line == 1 {
                text = text.strip_prefix('\u{feff}').unwrap_or(text);
            }
            let content = text.trim_start();
            let before = &text[..text.len() - content.len()];
            paragraph.line = block.first_line + memchr::memchr_iter(b'\n', before.as_bytes()).count() as u64;
            paragraph.byte = self.byte + before.len() as u64;
            paragraph.character = self.character + before.chars().count() as u64;
            paragraph.text.clear();
            paragraph.text.push_str(content.trim_end());
            self.byte += text.len() as u64;
            self.character += text.chars().count() as u64;
            if !paragraph.text.is_empty() {
                return Ok(true);
            }
        }
    }
}

impl<R: Read> Iterator for ParagraphReader<R> {
    type Item = Result<Paragraph, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut paragraph = Paragraph::default();
        match self.read(&mut paragraph) {
            Ok(true) => Some(Ok(paragraph)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl From<Paragraph> for Document {
    fn from(paragraph: Paragraph) -> Document {
        Document::from_text(None, paragraph.text)
    }
}
