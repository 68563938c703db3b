//! A sentence: the text it was read from, and spans into it.

mod build;
mod edit;
mod entities;
mod layout;
mod surface;

use std::io::{self, Write};
use std::ops::Range;

use memchr::memchr;

pub use build::{SentenceBuilder, Surroundings};
pub use edit::EditError;
pub use layout::{Layer, Layout, Separator};
pub use surface::SurfaceToken;

use crate::tree::Tree;

/// A word without a head, in [`Sentence::heads`].
pub const NO_HEAD: u32 = u32::MAX;

/// A piece of a sentence's arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    pub fn new(range: Range<usize>) -> Self {
        // Readers bound a sentence by LARGEST_MAX_LENGTH, so offsets fit.
        Span { start: range.start as u32, length: (range.end - range.start) as u32 }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.length as usize
    }
}

/// The id of a row: a word, several words written as one, or a node that was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowId {
    /// A word, counted from 1.
    Word(u32),
    /// A multiword token over the words from the first to the last, both included.
    Multiword(u32, u32),
    /// An empty node: the word it follows (0 at the start), and its number there.
    Empty(u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The line as it was read, with its end.
    pub line: Span,
    pub id: RowId,
    pub edited: bool,
}

/// One sentence of a CoNLL-U or columns file.
///
/// All text lies in one buffer that starts with the sentence exactly as it was read; fields are spans into
/// it. A replaced field is appended to the buffer and its span moved, so reading costs little more than a
/// copy, a sentence that was not touched is written with one copy, and rows that were not touched stay as
/// they were to the last byte (odd spacing, line ends and all).
///
/// Words are counted from 0 in this interface; heads are counted as CoNLL-U does, from 1, with 0 for the
/// root.
///
/// ```
/// use consonant_text::{Layer, Sentence};
///
/// let mut sentence = Sentence::from_conllu("# sent_id = 1\n\
///     1\tDogs\tdog\tNOUN\t_\tNumber=Plur\t2\tnsubj\t_\t_\n\
///     2\tbark\tbark\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n\
///     3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n")?;
/// assert_eq!(sentence.len(), 3);
/// assert_eq!(sentence.form(0), "Dogs");
/// assert_eq!(sentence.get(1, Layer::Upos), None);
/// assert_eq!(sentence.heads(), [2, 0, 2]);
/// assert_eq!(sentence.text(), "Dogs bark.");
///
/// sentence.set(1, Layer::Upos, "VERB")?;
/// sentence.set_misc(1, "NER", Some("O"))?;
/// let mut written = Vec::new();
/// sentence.write(&mut written)?;
/// assert!(String::from_utf8(written)?.contains("2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No|NER=O\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    /// The source, then the fields that replaced others.
    pub(crate) arena: String,
    /// `arena[..source]` is what was read.
    pub(crate) source: usize,
    /// `arena[..prefix]` stood before the first line: blank lines, a byte order mark, `-DOCSTART-`.
    pub(crate) prefix: usize,
    /// `arena[tail..source]` stood after the last row: the blank line.
    pub(crate) tail: usize,
    /// Lines with their ends.
    pub(crate) comments: Vec<Span>,
    pub(crate) rows: Vec<Row>,
    /// The fields of all rows, `layout.width()` for each.
    pub(crate) cells: Vec<Span>,
    /// The row of each word.
    pub(crate) words: Vec<u32>,
    pub(crate) heads: Vec<u32>,
    /// Layers that the format has no column for: one span a word, empty where nothing is said.
    pub(crate) beside: Vec<(Layer, Vec<Span>)>,
    pub(crate) layout: Layout,
    pub(crate) first_line: u64,
    pub(crate) edited: bool,
    /// Whether a document starts here although nothing written says so.
    pub(crate) marked: bool,
}

impl Sentence {
    /// An empty sentence, to be filled by a reader.
    pub fn new() -> Self {
        Sentence::default()
    }

    /// Makes room for so many rows of its layout.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
        self.cells.reserve(rows * self.layout.width());
        self.words.reserve(rows);
        self.heads.reserve(rows);
    }

    /// Forgets everything but the memory it holds.
    pub(crate) fn clear(&mut self) {
        self.arena.clear();
        self.comments.clear();
        self.rows.clear();
        self.cells.clear();
        self.words.clear();
        self.heads.clear();
        self.beside.clear();
        (self.source, self.prefix, self.tail, self.first_line) = (0, 0, 0, 0);
        (self.edited, self.marked) = (false, false);
    }

    /// How many words it has; multiword tokens and empty nodes do not count.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How its rows are laid out.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The line of the file on which its first row stood.
    pub fn line(&self) -> u64 {
        self.rows.first().map_or(self.first_line, |row| self.line_at(row.line.start as usize))
    }

    /// The line of the file on which a word stood, or 0 for a sentence that was not read.
    pub fn line_of_word(&self, word: usize) -> u64 {
        self.line_at(self.rows[self.words[word] as usize].line.start as usize)
    }

    fn line_at(&self, offset: usize) -> u64 {
        if self.first_line == 0 || offset > self.source {
            return self.first_line;
        }
        self.first_line + memchr::memchr_iter(b'\n', &self.arena.as_bytes()[..offset]).count() as u64
    }

    #[inline]
    pub(crate) fn str(&self, span: Span) -> &str {
        &self.arena[span.range()]
    }

    #[inline]
    pub(crate) fn cell_index(&self, word: usize, column: usize) -> usize {
        self.words[word] as usize * self.layout.width() + column
    }

    #[inline]
    fn layer(&self, word: usize, layer: Layer) -> &str {
        match self.layout.column(layer) {
            Some(column) => self.str(self.cells[self.cell_index(word, column)]),
            None => self.layer_beside(word, layer),
        }
    }

    /// What a layer without a column says of a word.
    fn layer_beside(&self, word: usize, layer: Layer) -> &str {
        let spans = self.beside.iter().find(|(beside, _)| *beside == layer).map(|(_, spans)| spans);
        spans.map(|spans| self.str(spans[word])).filter(|value| !value.is_empty()).unwrap_or("_")
    }

    /// The form of a word.
    ///
    /// # Panics
    /// This and the other accessors of words panic if there are not that many words.
    #[inline]
    pub fn form(&self, word: usize) -> &str {
        self.layer(word, Layer::Form)
    }

    /// The lemma of a word as it is written, `_` if there is none.
    pub fn lemma(&self, word: usize) -> &str {
        self.layer(word, Layer::Lemma)
    }

    /// The universal part of speech of a word as it is written, `_` if there is none.
    pub fn upos(&self, word: usize) -> &str {
        self.layer(word, Layer::Upos)
    }

    /// The language's own tag of a word as it is written, `_` if there is none.
    pub fn xpos(&self, word: usize) -> &str {
        self.layer(word, Layer::Xpos)
    }

    /// The features of a word as they are written, `_` if there are none.
    pub fn feats(&self, word: usize) -> &str {
        self.layer(word, Layer::Feats)
    }

    /// The relation of a word to its head as it is written, `_` if there is none.
    pub fn deprel(&self, word: usize) -> &str {
        self.layer(word, Layer::Deprel)
    }

    /// The enhanced dependencies of a word as they are written, `_` if there are none.
    pub fn deps(&self, word: usize) -> &str {
        self.layer(word, Layer::Deps)
    }

    /// The MISC field of a word as it is written, `_` if there is none.
    pub fn misc(&self, word: usize) -> &str {
        self.layer(word, Layer::Misc)
    }

    /// What a layer says of a word; nothing if the layer is missing or left blank (`_`, or empty).
    ///
    /// [`Layer::Entity`] is the label column of a columns file, and the entry `NER=` of MISC in CoNLL-U.
    pub fn get(&self, word: usize, layer: Layer) -> Option<&str> {
        if layer == Layer::Entity && self.layout.column(layer).is_none() {
            return self.misc_entry(word, layout::ENTITY_KEY);
        }
        let value = self.layer(word, layer);
        match layer {
            Layer::Form => Some(value),
            // The lemma of an underscore is an underscore.
            Layer::Lemma if self.form(word) == "_" => Some(value),
            _ => (value != "_" && !value.is_empty()).then_some(value),
        }
    }

    /// The entity label of a word (`B-LOC`), `O` where none is written.
    pub fn entity_label(&self, word: usize) -> &str {
        self.get(word, Layer::Entity).unwrap_or("O")
    }

    /// A value of the MISC field: of `SpaceAfter=No|Gloss=the`, the entry `Gloss` is `the`.
    pub fn misc_entry(&self, word: usize, key: &str) -> Option<&str> {
        entry(self.misc(word), key)
    }

    /// A value of the features: of `Number=Plur|Person=3`, the feature `Number` is `Plur`.
    pub fn feature(&self, word: usize, key: &str) -> Option<&str> {
        entry(self.feats(word), key)
    }

    /// The head of a word, counted from 1, 0 for the root; nothing if it has none.
    pub fn head(&self, word: usize) -> Option<u32> {
        Some(self.heads[word]).filter(|&head| head != NO_HEAD)
    }

    /// The heads of all words, counted from 1, 0 for the root, [`NO_HEAD`] for none.
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// The heads as a tree, to ask for roots, cycles and crossing arcs; nothing if a word has no head.
    pub fn tree(&self) -> Option<Tree<'_>> {
        if self.heads.is_empty() || self.heads.contains(&NO_HEAD) {
            return None;
        }
        Some(Tree::new(&self.heads))
    }

    /// The enhanced dependencies of a word: head and relation, in the order of the file; nothing if
    /// malformed.
    pub fn enhanced(&self, word: usize) -> Option<Vec<(RowId, &str)>> {
        parse_enhanced(self.deps(word))
    }

    /// The comments, without the line ends, with the `#`.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.comments.iter().map(|&span| self.str(span).trim_end_matches(['\r', '\n']))
    }

    /// The value of the first comment `# key = value`; empty for a comment `# key`.
    pub fn comment(&self, key: &str) -> Option<&str> {
        self.comments().find_map(|comment| comment_value(comment, key))
    }

    /// The sentence's id, from the comment `# sent_id = …`.
    pub fn id(&self) -> Option<&str> {
        self.comment("sent_id")
    }

    /// How often the sentence counts in training, by a comment `# weight = …`; once without it. What is no finite
    /// number from 0 on comes back as it stands.
    pub fn weight(&self) -> Result<f32, &str> {
        let Some(text) = self.comment("weight") else { return Ok(1.0) };
        let weight = text.trim().parse().ok().filter(|weight: &f32| weight.is_finite() && *weight >= 0.0);
        weight.ok_or(text)
    }

    /// Whether a document starts here: a comment `# newdoc`, a line `-DOCSTART-`, or
    /// [`mark_document`](Sentence::mark_document) said so.
    pub fn starts_document(&self) -> bool {
        self.marked
            || memchr(b'-', &self.arena.as_bytes()[..self.prefix]).is_some()
            || self.comment("newdoc").is_some()
            || self.document_id().is_some()
    }

    /// The id of the document that starts here, if it has one.
    pub fn document_id(&self) -> Option<&str> {
        // `newdoc_id` is an older spelling that some treebanks keep.
        self.comment("newdoc id").or_else(|| self.comment("newdoc_id"))
    }

    /// Whether a paragraph starts here: a comment `# newpar`, or a document.
    pub fn starts_paragraph(&self) -> bool {
        self.starts_document() || self.comment("newpar").is_some() || self.comment("newpar id").is_some()
    }

    /// All rows in the order of the file: words, multiword tokens and empty nodes.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowView<'_>> {
        (0..self.rows.len()).map(|row| RowView { sentence: self, row })
    }

    /// The row of a word.
    pub fn row_of_word(&self, word: usize) -> RowView<'_> {
        RowView { sentence: self, row: self.words[word] as usize }
    }

    /// The sentence as it was read, with what stood before it and the blank line.
    pub fn source(&self) -> &str {
        &self.arena[..self.source]
    }

    /// Whether anything was changed since it was read.
    pub fn is_edited(&self) -> bool {
        self.edited
    }

    /// Writes the sentence in the format it was read in; what was not edited comes out byte for byte. Layers
    /// that the format has no column for are not written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.edited {
            return out.write_all(self.source().as_bytes());
        }
        // Put together first: a sentence has hundreds of short pieces, each of which would be a call to the
        // writer.
        let mut text = String::with_capacity(self.arena.len() + self.rows.len());
        self.write_edited(&mut text);
        out.write_all(text.as_bytes())
    }

    fn write_edited(&self, out: &mut String) {
        out.push_str(&self.arena[..self.prefix]);
        self.comments.iter().for_each(|&comment| out.push_str(self.str(comment)));
        for (row, cells) in self.rows.iter().zip(self.cells.chunks_exact(self.layout.width().max(1))) {
            let line = self.str(row.line);
            if !row.edited {
                out.push_str(line);
            } else if self.layout.separator() == Separator::Tab {
                self.write_edited_row(cells, out);
                out.push_str(line_end(line));
            } else {
                // The blanks between the fields stay as they were.
                let mut end = 0;
                for (field, &cell) in self.layout.fields(line).zip(cells) {
                    out.push_str(&line[end..field.start]);
                    out.push_str(self.str(cell));
                    end = field.end;
                }
                out.push_str(&line[end..]);
            }
        }
        out.push_str(&self.arena[self.tail..self.source]);
    }

    /// Writes a row's fields with tabs between them; those that still stand side by side in the source go
    /// together.
    fn write_edited_row(&self, cells: &[Span], out: &mut String) {
        let mut run = cells[0].range();
        for cell in &cells[1..] {
            let cell = cell.range();
            if cell.start == run.end + 1 && cell.end <= self.source {
                run.end = cell.end;
            } else {
                out.push_str(&self.arena[run]);
                out.push('\t');
                run = cell;
            }
        }
        out.push_str(&self.arena[run]);
    }
}

impl std::fmt::Display for Sentence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        if self.edited {
            self.write_edited(&mut text);
        }
        f.write_str(if self.edited { &text } else { self.source() })
    }
}

/// A row of a sentence with all its fields.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    sentence: &'a Sentence,
    row: usize,
}

impl<'a> RowView<'a> {
    /// Its id.
    pub fn id(&self) -> RowId {
        self.sentence.rows[self.row].id
    }

    /// How many fields it has.
    pub fn width(&self) -> usize {
        self.sentence.layout.width()
    }

    /// The field in a column, counted from 0.
    ///
    /// # Panics
    /// If there are not that many columns.
    pub fn field(&self, column: usize) -> &'a str {
        assert!(column < self.width(), "column {column} of {}", self.width());
        self.sentence.str(self.sentence.cells[self.row * self.width() + column])
    }

    /// What a layer says of it, `_` if nothing.
    pub fn layer(&self, layer: Layer) -> &'a str {
        match (self.sentence.layout.column(layer), self.id()) {
            (Some(column), _) => self.field(column),
            (None, RowId::Word(word)) => self.sentence.layer_beside(word as usize - 1, layer),
            (None, _) => "_",
        }
    }

    /// The line of the file on which it stood.
    pub fn line(&self) -> u64 {
        self.sentence.line_at(self.sentence.rows[self.row].line.start as usize)
    }

    /// The character of its line, counted from 1, at which a field stood.
    pub fn character(&self, column: usize) -> u64 {
        let line = self.sentence.str(self.sentence.rows[self.row].line);
        let start = self.sentence.layout.fields(line).nth(column).map_or(0, |field| field.start);
        line[..start].chars().count() as u64 + 1
    }
}

/// The line end of a line: what no field holds.
fn line_end(line: &str) -> &str {
    match line.as_bytes() {
        [.., b'\r', b'\n'] => "\r\n",
        [.., b'\n'] => "\n",
        [.., b'\r'] => "\r",
        _ => "",
    }
}

/// The value of an entry in a list `A=1|B=2`.
pub(crate) fn entry<'a>(list: &'a str, key: &str) -> Option<&'a str> {
    list.split('|').find_map(|entry| entry.strip_prefix(key)?.strip_prefix('='))
}

/// The value of a comment `# key = value`, empty for `# key`.
pub(crate) fn comment_value<'a>(comment: &'a str, key: &str) -> Option<&'a str> {
    let rest = comment.strip_prefix('#')?.trim_start().strip_prefix(key)?;
    let rest = rest.trim_start_matches(' ');
    match rest.strip_prefix('=') {
        Some(value) => Some(value.trim()),
        None => rest.is_empty().then_some(""),
    }
}

/// Parses `4:nsubj|5.1:conj`.
pub(crate) fn parse_enhanced(field: &str) -> Option<Vec<(RowId, &str)>> {
    if field == "_" {
        return Some(Vec::new());
    }
    field
        .split('|')
        .map(|arc| {
            let (head, relation) = arc.split_once(':')?;
            let head = match head.split_once('.') {
                None => RowId::Word(number(head)?),
                Some((word, minor)) => RowId::Empty(number(word)?, number(minor)?),
            };
            (!relation.is_empty()).then_some((head, relation))
        })
        .collect()
}

/// A number as CoNLL-U writes it: digits alone, no sign, no leading zero.
pub(crate) fn number(text: &str) -> Option<u32> {
    let bytes = text.as_bytes();
    if bytes.is_empty() || bytes.len() > 9 || (bytes[0] == b'0' && bytes.len() > 1) {
        return None;
    }
    let mut value = 0;
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u32::from(digit);
    }
    Some(value)
}
