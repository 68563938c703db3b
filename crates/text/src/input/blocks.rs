use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use crate::error::{Error, Fault, FormatError, Kind};

/// Which lines end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlankLines {
    /// Only lines of nothing (or a carriage return).
    Empty,
    /// Also lines of nothing but spaces and tabs.
    Whitespace,
}

/// A piece of the input, with the number of its first line.
pub(crate) struct Block<'a> {
    pub bytes: &'a [u8],
    pub first_line: u64,
}

/// Cuts a stream into lines, or into blocks of lines that end in a blank one.
///
/// Memory is bounded: the buffer grows to the longest block, and a block over `max_length` is skipped and
/// reported. A block is handed out as soon as its blank line is there, so that a partner on the other end of
/// a pipe gets its answer before it sends more.
pub(crate) struct Blocks<R> {
    reader: R,
    file: Arc<str>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    next_line: u64,
    max_length: usize,
}

/// Where the search for the end of a block stands; offsets are relative to the block's start.
#[derive(Default)]
struct Search {
    /// Everything before is known not to end the block.
    position: usize,
    /// Line ends seen before `position`.
    lines: u64,
    /// Whether a line that is not blank was seen.
    content: bool,
    /// Bytes and line ends of the blank lines before it.
    blank: (usize, u64),
}

enum Found {
    /// The block ends here.
    End(usize),
    More,
}

const FIRST_BUFFER: usize = 1 << 18;

/// Where it stands, and none of the text.
impl<R> fmt::Debug for Blocks<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, next_line, .. } = self;
        f.debug_struct("Blocks").field("file", file).field("next_line", next_line).finish_non_exhaustive()
    }
}

impl<R: Read> Blocks<R> {
    pub fn new(reader: R, file: Arc<str>, max_length: usize) -> Self {
        let max_length = max_length.clamp(1, super::LARGEST_MAX_LENGTH);
        Blocks { reader, file, buffer: Vec::new(), start: 0, end: 0, at_end: false, next_line: 1, max_length }
    }

    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    pub fn set_max_length(&mut self, max_length: usize) {
        self.max_length = max_length.clamp(1, super::LARGEST_MAX_LENGTH);
    }

    pub fn max_length(&self) -> usize {
        self.max_length
    }

    /// The next line with its end, if there is one.
    pub fn line(&mut self) -> Result<Option<Block<'_>>, Error> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                return self.take(searched + at + 1, 1, "line");
            }
            searched = self.end - self.start;
            if self.at_end {
                return if searched == 0 { Ok(None) } else { self.take(searched, 1, "line") };
            }
            if searched > self.max_length {
                return Err(self.skip_line());
            }
            self.fill()?;
        }
    }

    /// The next block: blank lines, lines that are not, and the blank line that ends them.
    ///
    /// The last block may lack its blank line, or consist of blank lines alone.
    pub fn block(&mut self, blank: BlankLines) -> Result<Option<Block<'_>>, Error> {
        let mut search = Search::default();
        loop {
            if let Found::End(length) = self.search(&mut search, blank) {
                return self.take(length, search.lines, "sentence");
            }
            let length = self.end - self.start;
            if self.at_end {
                return if length == 0 { Ok(None) } else { self.take(length, search.lines, "sentence") };
            }
            if length > self.max_length {
                return Err(self.skip_block(search, blank));
            }
            self.fill()?;
        }
    }

    fn take(&mut self, length: usize, lines: u64, what: &'static str) -> Result<Option<Block<'_>>, Error> {
        let (start, first_line) = (self.start, self.next_line);
        self.start += length;
        self.next_line += lines;
        if length > self.max_length {
            return Err(self.too_long(first_line, what));
        }
        Ok(Some(Block { bytes: &self.buffer[start..start + length], first_line }))
    }

    fn search(&self, search: &mut Search, blank: BlankLines) -> Found {
        let bytes = &self.buffer[self.start..self.end];
        while !search.content {
            match blank_line(&bytes[search.position..], blank, self.at_end) {
                BlankLine::Yes(length) => {
                    search.position += length;
                    search.lines += 1;
                    search.blank = (search.position, search.lines);
                }
                BlankLine::No => search.content = true,
                BlankLine::Unknown => return Found::More,
            }
        }
        while let Some(at) = memchr(b'\n', &bytes[search.position..]) {
            let next = search.position + at + 1;
            match blank_line(&bytes[next..], blank, self.at_end) {
                BlankLine::Yes(length) => {
                    search.lines += 2;
                    return Found::End(next + length);
                }
                BlankLine::No => {
                    search.position = next;
                    search.lines += 1;
                }
                BlankLine::Unknown => {
                    // Stay on the line end: it is looked at again when more bytes are there.
                    search.position = next - 1;
                    return Found::More;
                }
            }
        }
        search.position = bytes.len();
        Found::More
    }

    /// Reads once, so that what has come is used before waiting for more.
    fn fill(&mut self) -> Result<(), Error> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let larger = (self.buffer.len() * 2).clamp(FIRST_BUFFER, self.max_length.max(FIRST_BUFFER) * 2);
            self.buffer.resize(larger, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    // The stream is broken: nothing that follows can be trusted.
                    self.at_end = true;
                    self.start = self.end;
                    return Err(Error::io(&self.file, error));
                }
            }
            return Ok(());
        }
    }

    /// The error about a line or sentence over the limit.
    pub fn too_long(&self, line: u64, what: &'static str) -> Error {
        let hint = if what == "sentence" {
            "a blank line must follow every sentence; if it is really that long, raise the limit"
        } else {
            "every line holds one record; if it is really that long, raise the limit"
        };
        let expected = format!("a {what} of at most {} bytes", self.max_length);
        Fault::new(Kind::TooLong, expected, format!("a longer {what}"), hint).at(&self.file, (line, 1)).into()
    }

    fn skip_line(&mut self) -> Error {
        let error = self.too_long(self.next_line, "line");
        self.start = self.end;
        loop {
            if let Err(broken) = self.fill() {
                return broken;
            }
            match memchr(b'\n', &self.buffer[self.start..self.end]) {
                Some(at) => {
                    self.start += at + 1;
                    break;
                }
                None => self.start = self.end,
            }
            if self.at_end {
                break;
            }
        }
        self.next_line += 1;
        error
    }

    fn pass(&mut self, (bytes, lines): (usize, u64)) {
        self.start += bytes;
        self.next_line += lines;
    }

    fn skip_block(&mut self, mut search: Search, blank: BlankLines) -> Error {
        let error = self.too_long(self.next_line, "sentence");
        // A flood of blank lines is passed over up to the first line that is not; a single line of blanks
        // that does not end is taken for content.
        while !search.content && search.position > 0 {
            self.pass(search.blank);
            if self.at_end {
                return error;
            }
            if let Err(broken) = self.fill() {
                return broken;
            }
            search = Search::default();
            self.search(&mut search, blank);
            if search.content {
                self.pass(search.blank);
                return error;
            }
        }
        loop {
            let mut search = Search { content: true, ..Search::default() };
            if let Found::End(length) = self.search(&mut search, blank) {
                self.next_line += search.lines;
                self.start += length;
                return error;
            }
            // Keep the last line end, which may turn out to stand before a blank line, unless its line is
            // long (a line of blanks alone that is longer than the first buffer is taken for content).
            let bytes = &self.buffer[self.start..self.end];
            let kept = match memrchr(b'\n', bytes) {
                Some(at) if bytes.len() - at < FIRST_BUFFER => at,
                _ => bytes.len(),
            };
            self.next_line += memchr_iter(b'\n', &bytes[..kept]).count() as u64;
            self.start += kept;
            if self.at_end {
                self.start = self.end;
                return error;
            }
            if let Err(broken) = self.fill() {
                return broken;
            }
        }
    }
}

enum BlankLine {
    /// A blank line of this many bytes, its end included.
    Yes(usize),
    No,
    /// More bytes are needed to tell.
    Unknown,
}

fn blank_line(bytes: &[u8], blank: BlankLines, at_end: bool) -> BlankLine {
    let mut length = 0;
    if blank == BlankLines::Whitespace {
        length = bytes.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    }
    match bytes[length..] {
        [b'\n', ..] => BlankLine::Yes(length + 1),
        [b'\r', b'\n', ..] => BlankLine::Yes(length + 2),
        [] | [b'\r'] if at_end && !bytes.is_empty() => BlankLine::Yes(bytes.len()),
        [] | [b'\r'] => BlankLine::Unknown,
        // A byte order mark before blank lines does not make them a sentence.
        [0xef, ref rest @ ..] if rest.len() < 4 && !at_end => BlankLine::Unknown,
        [0xef, 0xbb, 0xbf, b'\n', ..] => BlankLine::Yes(length + 4),
        [0xef, 0xbb, 0xbf, b'\r', b'\n', ..] => BlankLine::Yes(length + 5),
        _ => BlankLine::No,
    }
}

/// Checks that bytes are UTF-8 without NUL.
pub(crate) fn check_text<'a>(block: &Block<'a>, file: &Arc<str>) -> Result<&'a str, FormatError> {
    let fault = |at: usize, fault: Fault| Err(fault.within(file, block.first_line, &block.bytes[..at]));
    let text = match std::str::from_utf8(block.bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let hint = if let [0xff, 0xfe, ..] | [0xfe, 0xff, ..] = block.bytes[at..] {
                "this looks like UTF-16: convert it to UTF-8, for example with iconv"
            } else {
                "convert the file to UTF-8, for example with iconv"
            };
            return fault(
                at,
                Fault::new(Kind::Encoding, "UTF-8", format!("byte 0x{:02x}", block.bytes[at]), hint),
            );
        }
    };
    match memchr(0, block.bytes) {
        Some(at) => {
            fault(at, Fault::new(Kind::Nul, "text", "a NUL byte", "is this a binary file or UTF-16?"))
        }
        None => Ok(text),
    }
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

    fn blocks(text: &str, blank: BlankLines, max_length: usize) -> Vec<Result<(String, u64), u64>> {
        let mut whole = Blocks::new(text.as_bytes(), "test".into(), max_length);
        let mut trickle = Blocks::new(Trickle(text.as_bytes()), "test".into(), max_length);
        let mut result = Vec::new();
        loop {
            let next = own(whole.block(blank));
            assert_eq!(next, own(trickle.block(blank)), "{text:?}");
            match next {
                None => return result,
                Some(block) => result.push(block),
            }
        }
    }

    fn own(block: Result<Option<Block<'_>>, Error>) -> Option<Result<(String, u64), u64>> {
        match block {
            Ok(block) => block.map(|b| Ok((String::from_utf8(b.bytes.to_vec()).unwrap(), b.first_line))),
            Err(error) => Some(Err(error.as_format().unwrap().line)),
        }
    }

    #[test]
    fn cuts_at_blank_lines() {
        let cut = |text| {
            let found = blocks(text, BlankLines::Empty, 1000);
            found.into_iter().map(|block| block.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(cut(""), []);
        assert_eq!(cut("a\nb\n\nc\n\n"), [("a\nb\n\n".into(), 1), ("c\n\n".into(), 4)]);
        assert_eq!(cut("\r\n\na\r\n\r\n\n\nc"), [("\r\n\na\r\n\r\n".into(), 1), ("\n\nc".into(), 5)]);
        assert_eq!(cut("a\n\n\n"), [("a\n\n".into(), 1), ("\n".into(), 3)]);
        assert_eq!(cut("\u{feff}\r\na"), [("\u{feff}\r\na".into(), 1)]);
        assert_eq!(cut("a\n \n\n"), [("a\n \n\n".into(), 1)]);
        assert_eq!(blocks("a\n \t\nb", BlankLines::Whitespace, 10).len(), 2);
    }

    #[test]
    fn skips_what_is_too_long() {
        let text = format!("a\n\n{}\nx\n\nb\n\n{}", "y".repeat(900), "z".repeat(900));
        assert_eq!(
            blocks(&text, BlankLines::Empty, 500),
            [Ok(("a\n\n".into(), 1)), Err(3), Ok(("b\n\n".into(), 6)), Err(8)]
        );
        let flood = format!("a\n\n{}b\n\n", "\n".repeat(FIRST_BUFFER * 5));
        let last_line = FIRST_BUFFER as u64 * 5 + 3;
        let mut slow = Blocks::new(flood.as_bytes(), "test".into(), 500);
        let found: Vec<_> = std::iter::from_fn(|| own(slow.block(BlankLines::Empty))).collect();
        assert_eq!(found, [Ok(("a\n\n".into(), 1)), Err(3), Ok(("b\n\n".into(), last_line))]);
        let mut lines = Blocks::new(text.as_bytes(), "test".into(), 500);
        let mut seen = Vec::new();
        while let Some(line) = own(lines.line()) {
            seen.push(line.map(|(_, number)| number));
        }
        assert_eq!(seen, [Ok(1), Ok(2), Err(3), Ok(4), Ok(5), Ok(6), Ok(7), Err(8)]);
    }
}
