//! CoNLL-U: ten columns, comments, multiword tokens, empty nodes.

use memchr::{memchr, memchr_iter};

use crate::error::{Fault, Kind, excerpt};
use crate::faults::Faults;
use crate::sentence::{Layout, NO_HEAD, Row, RowId, Sentence, Span, number};

const WIDTH: usize = 10;
const ID: usize = 0;
const FORM: usize = 1;
pub(crate) const FEATS: usize = 5;
pub(crate) const HEAD: usize = 6;
pub(crate) const DEPS: usize = 8;
const BOM: &str = "\u{feff}";

/// Parses a block into a sentence; whatever is wrong goes to the faults, all of it.
pub(crate) fn parse(block: &str, first_line: u64, sentence: &mut Sentence, faults: &mut Faults) {
    sentence.clear();
    sentence.layout = Layout::CONLLU;
    sentence.first_line = first_line;
    sentence.arena.push_str(block);
    sentence.source = block.len();

    let mut parser = Parser { block, sentence, faults, last: Last::default() };
    let mut position = parser.prefix();
    position = parser.comments(position);
    position = parser.rows(position);
    parser.sentence.tail = position;
    parser.tail(position);
    parser.heads();
}

/// The ids seen last, which decide what may come next.
#[derive(Default)]
struct Last {
    word: u32,
    empty: u32,
    multiword_end: u32,
}

struct Parser<'a> {
    block: &'a str,
    sentence: &'a mut Sentence,
    faults: &'a mut Faults,
    last: Last,
}

impl Parser<'_> {
    /// Passes a byte order mark and blank lines.
    fn prefix(&mut self) -> usize {
        let bytes = self.block.as_bytes();
        let mut position =
            if self.sentence.first_line == 1 && self.block.starts_with(BOM) { BOM.len() } else { 0 };
        loop {
            match bytes[position..] {
                [b'\n', ..] => position += 1,
                [b'\r', b'\n', ..] => position += 2,
                [b'\r'] => position += 1,
                _ => break,
            }
        }
        self.sentence.prefix = position;
        position
    }

    fn comments(&mut self, mut position: usize) -> usize {
        let bytes = self.block.as_bytes();
        while bytes.get(position) == Some(&b'#') {
            let end = memchr(b'\n', &bytes[position..]).map_or(bytes.len(), |at| position + at + 1);
            self.sentence.comments.push(Span::new(position..end));
            position = end;
        }
        position
    }

    fn rows(&mut self, start: usize) -> usize {
        let bytes = self.block.as_bytes();
        let (mut line, mut field) = (start, start);
        let mut fields = [Span::default(); WIDTH];
        let mut count = 0;
        self.sentence.reserve(memchr_iter(b'\n', &bytes[start..]).count());
        for at in Delimiters::new(bytes, start) {
            if bytes[at] == b'\t' {
                if count < WIDTH {
                    fields[count] = Span::new(field..at);
                }
                count += 1;
                field = at + 1;
                continue;
            }
            let end = if at > field && bytes[at - 1] == b'\r' { at - 1 } else { at };
            if end == line {
                return line;
            }
            if count < WIDTH {
                fields[count] = Span::new(field..end);
            }
            self.row(line, at + 1, &fields, count + 1);
            (line, field, count) = (at + 1, at + 1, 0);
        }
        if line < bytes.len() {
            let end = bytes.len() - usize::from(bytes.ends_with(b"\r"));
            if end == line {
                return line;
            }
            if count < WIDTH {
                fields[count] = Span::new(field..end);
            }
            self.row(line, bytes.len(), &fields, count + 1);
        }
        bytes.len()
    }

    fn row(&mut self, start: usize, end: usize, fields: &[Span; WIDTH], count: usize) {
        if count != WIDTH {
            self.wrong_width(start, end, count);
            return;
        }
        let Some(id) = self.checked_id(fields) else {
            return;
        };
        if matches!(id, RowId::Word(_)) {
            self.sentence.words.push(self.sentence.rows.len() as u32);
        }
        self.sentence.cells.extend_from_slice(fields);
        self.sentence.rows.push(Row { line: Span::new(start..end), id, edited: false });
    }

    /// Checks the fields of a row, and keeps the head of a word.
    fn checked_id(&mut self, fields: &[Span; WIDTH]) -> Option<RowId> {
        let mut valid = true;
        // Treebanks do have rows with an empty lemma; what no reader can do without are these three.
        for column in [ID, FORM, HEAD] {
            let place = fields[column].range();
            if place.is_empty() {
                valid = false;
                self.faults.report(self.block, place.start, || {
                    Fault::new(
                        Kind::EmptyField,
                        format!("a value in column {} ({})", column + 1, NAMES[column]),
                        "nothing",
                        "write `_` for a value that is missing",
                    )
                });
            }
        }
        if fields[ID].range().is_empty() {
            return None;
        }
        let id_place = fields[ID].range();
        let id = self.id(id_place.start, id_place.end)?;
        let head_place = fields[HEAD].range();
        if matches!(id, RowId::Word(_)) {
            self.sentence.heads.push(NO_HEAD);
            let field = &self.block[head_place.clone()];
            if field != "_" && !field.is_empty() {
                match number(field) {
                    Some(head) => *self.sentence.heads.last_mut()? = head,
                    None => {
                        valid = false;
                        self.faults.report(self.block, head_place.start, || {
                            Fault::new(
                                Kind::Head,
                                "the id of a word, 0 or `_` as head",
                                excerpt(field),
                                "heads are whole numbers in column 7",
                            )
                        });
                    }
                }
            }
        }
        if !valid {
            // Keep words and heads in step: the sentence is refused anyway.
            self.sentence.heads.truncate(self.sentence.words.len());
            return None;
        }
        Some(id)
    }

    fn wrong_width(&mut self, start: usize, end: usize, cells: usize) {
        let line = self.block[start..end].trim_end_matches(['\r', '\n']);
        if line.starts_with('#') {
            self.faults.report(self.block, start, || {
                Fault::new(
                    Kind::Comment,
                    "a row",
                    format!("the comment {}", excerpt(line)),
                    "comments stand before the first row of a sentence",
                )
            });
            return;
        }
        self.faults.report(self.block, start, || {
            let hint = if line.trim().is_empty() {
                "the line between sentences must be empty: remove the blanks"
            } else if cells == 1 && line.split_whitespace().count() >= WIDTH {
                "separate the columns with tabs, not spaces"
            } else {
                "missing values are written `_`"
            };
            let columns = if cells == 1 { "1 column".to_owned() } else { format!("{cells} columns") };
            Fault::new(
                Kind::ColumnCount,
                "10 columns separated by tabs",
                format!("{columns}: {}", excerpt(line)),
                hint,
            )
        });
    }

    /// Parses an id and checks that it is the one that comes next.
    fn id(&mut self, start: usize, end: usize) -> Option<RowId> {
        let field = &self.block[start..end];
        let id = if let Some(word) = number(field) {
            (word == self.last.word + 1).then_some(RowId::Word(word))
        } else if let Some((from, to)) = field.split_once('-') {
            let (from, to) = (number(from), number(to));
            let after_last = from == Some(self.last.word + 1) && from > Some(self.last.multiword_end);
            (after_last && to >= from).then_some(RowId::Multiword(from.unwrap_or(0), to.unwrap_or(0)))
        } else if let Some((word, minor)) = field.split_once('.') {
            (number(word) == Some(self.last.word) && number(minor) == Some(self.last.empty + 1))
                .then_some(RowId::Empty(self.last.word, self.last.empty + 1))
        } else {
            None
        };
        match id {
            Some(RowId::Word(word)) => (self.last.word, self.last.empty) = (word, 0),
            Some(RowId::Multiword(_, to)) => self.last.multiword_end = to,
            Some(RowId::Empty(_, minor)) => self.last.empty = minor,
            None => {
                let next = self.last.word + 1;
                self.faults.report(self.block, start, || {
                    Fault::new(
                        Kind::Id,
                        format!("the id {next}, {next}-… or {}.{}", next - 1, self.last.empty + 1),
                        excerpt(field),
                        "ids count the words of a sentence from 1; a blank line ends a sentence",
                    )
                });
                // Go on from the id that came, so that one gap makes one error.
                if let Some(word) = number(field) {
                    (self.last.word, self.last.empty) = (word, 0);
                }
            }
        }
        id
    }

    fn tail(&mut self, position: usize) {
        if self.last.multiword_end > self.last.word {
            let row = self.sentence.rows.iter().rfind(|row| matches!(row.id, RowId::Multiword(..)));
            let start = row.map_or(0, |row| row.line.range().start);
            self.faults.report(self.block, start, || {
                Fault::new(
                    Kind::Id,
                    "a multiword token over words of the sentence",
                    format!("one up to word {}", self.last.multiword_end),
                    "the sentence ends before it",
                )
            });
        }
        let has_comments = !self.sentence.comments.is_empty();
        if has_comments && self.sentence.words.is_empty() && self.faults.is_empty() {
            let start = self.sentence.prefix.min(position);
            self.faults.report(self.block, start, || {
                Fault::new(
                    Kind::Comment,
                    "a sentence after its comments",
                    "no words",
                    "remove the comments or the blank line after them",
                )
            });
        } else if !self.sentence.rows.is_empty() && self.sentence.words.is_empty() && self.faults.is_empty() {
            self.faults.report(self.block, self.sentence.prefix, || {
                Fault::new(Kind::Id, "a sentence with words", "only empty nodes", "")
            });
        }
    }

    fn heads(&mut self) {
        // With a refused row the count of words is wrong, and every head beyond it would be blamed.
        if !self.faults.is_empty() {
            return;
        }
        let count = self.sentence.words.len() as u32;
        for (word, &head) in self.sentence.heads.iter().enumerate() {
            if head > count && head != NO_HEAD {
                let place = self.sentence.cells[self.sentence.words[word] as usize * WIDTH + HEAD].range();
                self.faults.report(self.block, place.start, || {
                    Fault::new(
                        Kind::Head,
                        format!("a head from 0 to {count}"),
                        head.to_string(),
                        "heads are words of the same sentence",
                    )
                });
            }
        }
    }
}

/// The places of tabs and line ends, eight bytes at a time.
///
/// Fields are short, a few bytes on average, so that a search from each delimiter to the next spends its time
/// on starting; here the delimiters of eight bytes are found with a handful of operations and then taken bit
/// by bit.
struct Delimiters<'a> {
    bytes: &'a [u8],
    /// Where the bytes begin that `found` is about.
    base: usize,
    /// The top bit of each byte that is a delimiter and was not handed out.
    found: u64,
    /// Where the next eight bytes begin.
    next: usize,
}

impl<'a> Delimiters<'a> {
    fn new(bytes: &'a [u8], start: usize) -> Self {
        Delimiters { bytes, base: start, found: 0, next: start }
    }
}

impl Iterator for Delimiters<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let rest = self.bytes.get(self.next..).filter(|rest| !rest.is_empty())?;
            let word = match rest.first_chunk::<8>() {
                Some(chunk) => u64::from_le_bytes(*chunk),
                None => {
                    let mut chunk = [0; 8];
                    chunk[..rest.len()].copy_from_slice(rest);
                    u64::from_le_bytes(chunk)
                }
            };
            self.found = equal_bytes(word, b'\t') | equal_bytes(word, b'\n');
            self.base = self.next;
            self.next += 8;
        }
        let at = self.base + (self.found.trailing_zeros() / 8) as usize;
        self.found &= self.found - 1;
        Some(at)
    }
}

/// Sets the top bit of each byte that equals another, and no other bit.
fn equal_bytes(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let difference = word ^ u64::from_ne_bytes([byte; 8]);
    // A byte that is not zero carries into its top bit or has it set; no carry leaves a byte.
    !(((difference & LOW) + LOW) | difference | LOW)
}

/// What the columns are called.
pub(crate) const NAMES: [&str; WIDTH] =
    ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

impl Sentence {
    /// Parses the first sentence of a CoNLL-U text.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_conllu(text: &str) -> Result<Sentence, crate::Error> {
        let mut reader = crate::SentenceReader::conllu(text.as_bytes(), "<text>");
        let mut sentence = Sentence::new();
        reader.read(&mut sentence)?;
        Ok(sentence)
    }
}
