use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::error::{Error, Fault, Kind};
use crate::input::{Block, check_text};

/// Passages are at least so long, in bytes, unless the file ends.
const PASSAGE: usize = 1 << 14;
/// A paragraph that is longer than this is cut where a line or a word ends.
const LONGEST: usize = 1 << 18;

/// White space that is longer than this is refused: there is nothing that it could go with but memory.
const LONGEST_SPACE: usize = 1 << 24;

/// A stretch of text with all its white space, and where it stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Whole paragraphs, with the white space behind them.
    pub text: String,
    /// Its first byte in the (decompressed) file; a byte order mark does not count.
    pub byte: u64,
    /// Its first character in the file; a byte order mark does not count.
    pub character: u64,
    /// The line on which it starts.
    pub line: u64,
}

/// Reads plain text in passages of a few dozen kilobytes that, put together, are the file.
///
/// Memory is bounded: passages end between paragraphs, and a paragraph of more than 256 kilobytes is cut.
/// White space goes with what stands before it, up to 16 megabytes of it: only the first passage begins with
/// some, and only a file of nothing else is a passage without a word.
///
/// ```
/// use consonant_text::plain::PassageReader;
///
/// let text = " One.\r\n\r\n\tTwo.\n\n\n";
/// let passages: Vec<_> = PassageReader::new(text.as_bytes(), "a.txt").collect::<Result<_, _>>()?;
/// assert_eq!(passages.iter().map(|passage| passage.text.as_str()).collect::<String>(), text);
/// # Ok::<(), consonant_text::Error>(())
/// ```
pub struct PassageReader<R> {
    reader: R,
    file: Arc<str>,
    buffer: Vec<u8>,
    started: bool,
    at_end: bool,
    next: Passage,
    /// Least and greatest length of a passage.
    lengths: (usize, usize),
}

/// Where it stands, and none of the text.
impl<R> fmt::Debug for PassageReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, next, .. } = self;
        f.debug_struct("PassageReader").field("file", file).field("line", &next.line).finish_non_exhaustive()
    }
}

impl<R: Read> PassageReader<R> {
    /// Reads any stream, under a name for messages.
    pub fn new(stream: R, name: impl Into<Arc<str>>) -> Self {
        let next = Passage { line: 1, ..Passage::default() };
        let lengths = (PASSAGE, LONGEST);
        let (file, buffer) = (name.into(), Vec::new());
        PassageReader { reader: stream, file, buffer, started: false, at_end: false, next, lengths }
    }

    #[cfg(test)]
    fn with_lengths(mut self, least: usize, greatest: usize) -> Self {
        self.lengths = (least, greatest);
        self
    }

    /// Reads the next passage in place of another; says whether there was one.
    ///
    /// # Errors
    /// If the stream breaks or is no text, or goes on with white space for more than 16 megabytes; nothing follows then.
    pub fn read(&mut self, passage: &mut Passage) -> Result<bool, Error> {
        let (mut wanted, longest) = self.lengths;
        let end = loop {
            self.fill(wanted)?;
            let text = self.text()?;
            if self.at_end && text.len() <= wanted {
                break text.len();
            }
            if let Some(end) = last_break(text, is_paragraph_break) {
                break end;
            }
            if self.buffer.len() >= longest {
                let line = || last_break(text, |space| space.contains('\n'));
                let word = || last_break(text, |_| true);
                if let Some(end) = line().or_else(word) {
                    break end;
                }
                // One word, perhaps with white space around it. It is cut where something of it is left, so
                // that white space behind it has a word to go with.
                if text.trim_start().len() >= longest
                    && let Some((end, last)) = text.char_indices().next_back()
                    && !last.is_whitespace()
                {
                    break end;
                }
            }
            if self.at_end {
                break text.len();
            }
            if wanted >= LONGEST_SPACE {
                let fault = Fault::new(
                    Kind::TooLong,
                    format!("at most {LONGEST_SPACE} bytes of white space between words"),
                    "more",
                    "is this a text? remove its blank lines if it is",
                );
                self.at_end = true;
                self.buffer.clear();
                return Err(fault.at(&self.file, (self.next.line, 1)).into());
            }
            wanted = if wanted < longest { (wanted * 2).min(longest) } else { wanted * 2 };
        };
        if end == 0 {
            return Ok(false);
        }
        passage.clone_from(&self.next);
        passage.text.push_str(&self.text()?[..end]);
        self.buffer.drain(..end);
        self.next.byte += end as u64;
        self.next.character += passage.text.chars().count() as u64;
        self.next.line += memchr::memchr_iter(b'\n', passage.text.as_bytes()).count() as u64;
        Ok(true)
    }

    /// The characters that are complete.
    fn text(&self) -> Result<&str, Error> {
        let mut length = self.buffer.len();
        if !self.at_end
            && let Err(error) = std::str::from_utf8(&self.buffer)
            && error.error_len().is_none()
        {
            length = error.valid_up_to();
        }
        let block = Block { bytes: &self.buffer[..length], first_line: self.next.line };
        Ok(check_text(&block, &self.file)?)
    }

    fn fill(&mut self, wanted: usize) -> Result<(), Error> {
        while !self.at_end && self.buffer.len() < wanted {
            let start = self.buffer.len();
            self.buffer.resize(wanted, 0);
            let count = loop {
                match self.reader.read(&mut self.buffer[start..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    outcome => break outcome,
                }
            };
            self.buffer.truncate(start + *count.as_ref().unwrap_or(&0));
            self.at_end = !matches!(count, Ok(1..));
            if let Err(error) = count {
                self.buffer.clear();
                return Err(Error::io(&self.file, error));
            }
        }
        if !std::mem::replace(&mut self.started, true) && self.buffer.starts_with("\u{feff}".as_bytes()) {
            self.buffer.drain(..3);
        }
        Ok(())
    }
}

impl<R: Read> Iterator for PassageReader<R> {
    type Item = Result<Passage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut passage = Passage::default();
        match self.read(&mut passage) {
            Ok(true) => Some(Ok(passage)),
            Ok(false) => None,
            Err(error) => {
                self.at_end = true;
                self.buffer.clear();
                Some(Err(error))
            }
        }
    }
}

/// Whether white space has a blank line in it.
fn is_paragraph_break(space: &str) -> bool {
    let newlines = memchr::memchr_iter(b'\n', space.as_bytes()).take(2).count();
    newlines > 1 || memchr::memchr_iter(b'\r', space.as_bytes()).take(2).count() > 1
}

/// The end of the last white space of a kind that has text on both sides.
fn last_break(text: &str, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut rest = text.trim_end();
    while let Some((at, c)) = rest.char_indices().rfind(|(_, c)| c.is_whitespace()) {
        let end = at + c.len_utf8();
        let before = rest[..end].trim_end();
        if before.is_empty() {
            return None;
        }
        if wanted(&rest[before.len()..end]) {
            return Some(end);
        }
        rest = before;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time: every decision must survive the worst way of arriving.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn passages(text: &str, least: usize, greatest: usize) -> Vec<Passage> {
        let whole = PassageReader::new(text.as_bytes(), "test").with_lengths(least, greatest);
        let whole: Vec<Passage> = whole.collect::<Result<_, _>>().unwrap();
        let trickle = PassageReader::new(Trickle(text.as_bytes()), "test").with_lengths(least, greatest);
        assert_eq!(whole, trickle.collect::<Result<Vec<_>, _>>().unwrap(), "{text:?}");
        whole
    }

    fn texts(text: &str, least: usize, greatest: usize) -> Vec<String> {
        passages(text, least, greatest).into_iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn passages_end_between_paragraphs() {
        assert!(texts("", 4, 64).is_empty());
        assert_eq!(texts(" a\n\nb c\n \t\nd\n\n\n", 4, 64), [" a\n\n", "b c\n \t\n", "d\n\n\n"]);
        assert_eq!(
            texts("a b\nc d e f g\n\nhi jk lm no pq", 3, 64),
            ["a b\nc d e f g\n\n", "hi jk lm no pq"]
        );
        assert_eq!(texts("a\r\n\r\n\u{a0}b cd\r\n", 6, 64), ["a\r\n\r\n\u{a0}", "b cd\r\n"]);
    }

    #[test]
    fn long_paragraphs_are_cut_at_lines_words_or_anywhere() {
        assert_eq!(texts("aa bb\ncc dd ee", 4, 8), ["aa bb\n", "cc dd ", "ee"]);
        assert_eq!(texts("ééééééé", 4, 8), ["ééé", "ééé", "é"]);
        assert_eq!(texts("aaaaaaaa\n", 4, 8), ["aaaaaaa", "a\n"]);
        assert_eq!(texts("\u{feff}a  \n", 4, 8), ["a  \n"]);
    }

    #[test]
    fn white_space_is_never_alone() {
        assert_eq!(texts("a\n\n\n\n\n\n\n\n\n\n\n\n\n\n", 4, 8), ["a\n\n\n\n\n\n\n\n\n\n\n\n\n\n"]);
        assert_eq!(
            texts("            \nab cd            ef", 4, 8),
            ["            \nab cd            ", "ef"]
        );
        assert_eq!(texts("                    ", 4, 8).len(), 1);
    }

    #[test]
    fn white_space_without_end_is_refused() {
        let mut reader = PassageReader::new(io::repeat(b'\n').chain(&b"a"[..]), "x");
        let error = reader.next().unwrap().unwrap_err().to_string();
        assert!(error.starts_with("x:1:1: expected at most 16777216 bytes of white space"), "{error}");
        assert!(reader.next().is_none());
        let wide = " ".repeat(LONGEST_SPACE / 4) + "a";
        assert_eq!(PassageReader::new(wide.as_bytes(), "x").filter(Result::is_ok).count(), 1);
    }

    #[test]
    fn places_are_counted_in_bytes_characters_and_lines() {
        let found = passages("\u{feff}né\n\nün bc\n\nwx yz uv st\n", 4, 64);
        assert_eq!(
            found.iter().map(|p| (p.byte, p.character, p.line)).collect::<Vec<_>>(),
            [(0, 0, 1), (5, 4, 3), (13, 11, 5)]
        );
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        let error = |bytes: &[u8]| {
            let mut reader = PassageReader::new(bytes, "x").with_lengths(4, 64);
            let found: Vec<_> = reader.by_ref().filter_map(Result::err).collect();
            assert_eq!(found.len(), 1);
            found[0].to_string()
        };
        assert!(error(b"abc\n\nde\xff").starts_with("x:3:3: expected UTF-8, came byte 0xff"));
        assert!(error(b"abc\xc3").starts_with("x:1:4: expected UTF-8"));
        assert!(error(b"a\0").contains("NUL"));
    }

    mod properties {
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn nothing_is_lost(text in "[ab\u{e9}\u{4e2d} \u{a0}\t\n\n\r]{0,60}", least in 4usize..9, more in 0usize..400) {
                let found = super::passages(&text, least, least + more);
                let joined: String = found.iter().map(|passage| passage.text.as_str()).collect();
                prop_assert_eq!(&joined, &text);
                for passage in found.iter().skip(1) {
                    prop_assert!(!passage.text.starts_with(char::is_whitespace));
                }
            }
        }
    }
}
