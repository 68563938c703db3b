use std::ops::Range;

use super::edit::{breaks_row, decimal};
use super::{Layout, NO_HEAD, Row, RowId, Sentence, Span};

/// What MISC says of the text around a token, so that the text can be put together again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings<'t> {
    /// The white space before the token that no token before it has: `SpacesBefore=\n`.
    pub before: &'t str,
    /// The white space behind it: one blank goes without saying, none is `SpaceAfter=No`, others
    /// `SpacesAfter=\s\n`.
    pub after: &'t str,
    /// Its place in the text, in characters: `TokenRange=0:5`.
    pub place: Option<Range<u64>>,
}

/// Builds a sentence of CoNLL-U from tokens.
///
/// ```
/// use consonant_text::sentence::{SentenceBuilder, Surroundings};
///
/// let mut builder = SentenceBuilder::new();
/// builder.comment("text", "I can't.");
/// builder.word("I", true);
/// builder.multiword("can't", 2, false);
/// builder.word("ca", true);
/// builder.word("n't", true);
/// builder.token(".", 1, &Surroundings { after: "\n\n", place: Some(7..8), ..Surroundings::default() });
/// let sentence = builder.finish();
/// assert_eq!(sentence.len(), 4);
/// assert_eq!(sentence.text(), "I can't.");
/// assert!(sentence.to_string().contains("\n2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"));
/// assert_eq!(sentence.misc(3), "SpacesAfter=\\n\\n|TokenRange=7:8");
/// ```
#[derive(Debug, Default)]
pub struct SentenceBuilder {
    sentence: Sentence,
}

impl SentenceBuilder {
    /// A sentence without words.
    pub fn new() -> Self {
        SentenceBuilder::default()
    }

    /// A sentence without words that has room for a number of tokens and for the bytes of all its text.
    pub fn with_capacity(tokens: usize, bytes: usize) -> Self {
        let mut builder = SentenceBuilder::new();
        let Sentence { arena, cells, rows, words, heads, .. } = &mut builder.sentence;
        arena.reserve(bytes);
        cells.reserve(tokens * Layout::CONLLU.width());
        rows.reserve(tokens);
        words.reserve(tokens);
        heads.reserve(tokens);
        builder
    }

    /// Adds a comment `# key = value`, or `# key` if the value is empty. Comments come before words.
    pub fn comment(&mut self, key: &str, value: &str) {
        let start = self.sentence.arena.len();
        self.sentence.arena.push_str("# ");
        push_clean(&mut self.sentence.arena, key);
        if !value.is_empty() {
            self.sentence.arena.push_str(" = ");
            push_clean(&mut self.sentence.arena, value);
        }
        self.end_comment(start);
    }

    /// Adds a comment as it is written, with its `#`.
    pub fn raw_comment(&mut self, comment: &str) {
        let start = self.sentence.arena.len();
        if !comment.starts_with('#') {
            self.sentence.arena.push_str("# ");
        }
        push_clean(&mut self.sentence.arena, comment);
        self.end_comment(start);
    }

    fn end_comment(&mut self, start: usize) {
        debug_assert!(self.sentence.rows.is_empty(), "comments come before words");
        self.sentence.arena.push('\n');
        self.sentence.comments.push(Span::new(start..self.sentence.arena.len()));
    }

    /// Adds a word.
    pub fn word(&mut self, form: &str, space_after: bool) {
        self.multiword(form, 1, space_after);
    }

    /// Announces that the next words, `count` of them, are written as one token.
    pub fn multiword(&mut self, form: &str, count: usize, space_after: bool) {
        let after = if space_after { " " } else { "" };
        self.token(form, count, &Surroundings { after, ..Surroundings::default() });
    }

    /// Adds a token that is one word, or announces the `words` that are written as it.
    pub fn token(&mut self, form: &str, words: usize, around: &Surroundings<'_>) {
        // Between form and MISC nothing is known.
        const BLANK: &str = "\t_\t_\t_\t_\t_\t_\t_\t";
        let Sentence { arena, cells, rows, words: word_rows, heads, .. } = &mut self.sentence;
        let first = word_rows.len() as u32 + 1;
        let start = arena.len();
        push_number(arena, first.into());
        let id = if words > 1 {
            let last = first + words as u32 - 1;
            arena.push('-');
            push_number(arena, last.into());
            RowId::Multiword(first, last)
        } else {
            word_rows.push(rows.len() as u32);
            heads.push(NO_HEAD);
            RowId::Word(first)
        };
        let mut fields = [Span::default(); 10];
        fields[0] = Span::new(start..arena.len());
        arena.push('\t');
        let form_start = arena.len();
        push_clean(arena, if form.is_empty() { "_" } else { form });
        let form_end = arena.len();
        fields[1] = Span::new(form_start..form_end);
        for (column, field) in fields[2..9].iter_mut().enumerate() {
            *field = Span::new(form_end + 2 * column + 1..form_end + 2 * column + 2);
        }
        arena.push_str(BLANK);
        let misc = arena.len();
        around.write(arena);
        fields[9] = Span::new(misc..arena.len());
        arena.push('\n');
        cells.extend_from_slice(&fields);
        rows.push(Row { line: Span::new(start..arena.len()), id, edited: false });
    }

    /// The sentence, ended with a blank line.
    pub fn finish(mut self) -> Sentence {
        self.sentence.layout = Layout::CONLLU;
        self.sentence.tail = self.sentence.arena.len();
        self.sentence.arena.push('\n');
        self.sentence.source = self.sentence.arena.len();
        self.sentence
    }
}

impl Surroundings<'_> {
    fn write(&self, out: &mut String) {
        let start = out.len();
        if !self.before.is_empty() {
            out.push_str("SpacesBefore=");
            push_spaces(out, self.before);
        }
        if self.after != " " {
            separate(out, start);
            if self.after.is_empty() {
                out.push_str("SpaceAfter=No");
            } else {
                out.push_str("SpacesAfter=");
                push_spaces(out, self.after);
            }
        }
        if let Some(place) = &self.place {
            separate(out, start);
            out.push_str("TokenRange=");
            push_number(out, place.start);
            out.push(':');
            push_number(out, place.end);
        }
        if out.len() == start {
            out.push('_');
        }
    }
}

fn separate(out: &mut String, start: usize) {
    if out.len() > start {
        out.push('|');
    }
}

fn push_number(out: &mut String, value: u64) {
    out.push_str(decimal(value, &mut [0; 20]));
}

/// Appends text on one line: tabs and line ends, which would break the row, become blanks, and NUL a
/// replacement character.
fn push_clean(out: &mut String, text: &str) {
    if !text.bytes().any(breaks_row) {
        out.push_str(text);
        return;
    }
    out.extend(text.chars().map(|c| match c {
        '\0' => char::REPLACEMENT_CHARACTER,
        '\t' | '\n' | '\r' => ' ',
        c => c,
    }));
}

/// White space as MISC can hold it: `\s`, `\t`, `\n` and `\r`; other blanks as they are.
fn push_spaces(out: &mut String, spaces: &str) {
    for c in spaces.chars() {
        match c {
            ' ' => out.push_str("\\s"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            // What is no white space must not break the row.
            '\0' | '|' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
}
