use super::{Layout, NO_HEAD, Row, RowId, Sentence, Span};

/// Builds a sentence of CoNLL-U from tokens.
///
/// ```
/// use consonant_text::sentence::SentenceBuilder;
///
/// let mut builder = SentenceBuilder::new();
/// builder.comment("text", "I can't.");
/// builder.word("I", true);
/// builder.multiword("can't", 2, false);
/// builder.word("ca", true);
/// builder.word("n't", true);
/// builder.word(".", true);
/// let sentence = builder.finish();
/// assert_eq!(sentence.len(), 4);
/// assert_eq!(sentence.text(), "I can't.");
/// assert!(sentence.to_string().contains("\n2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"));
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

    /// Adds a comment `# key = value`, or `# key` if the value is empty. Comments come before words.
    pub fn comment(&mut self, key: &str, value: &str) {
        let start = self.sentence.arena.len();
        self.sentence.arena.push_str("# ");
        self.push_clean(key);
        if !value.is_empty() {
            self.sentence.arena.push_str(" = ");
            self.push_clean(value);
        }
        self.end_comment(start);
    }

    /// Adds a comment as it is written, with its `#`.
    pub fn raw_comment(&mut self, comment: &str) {
        let start = self.sentence.arena.len();
        if !comment.starts_with('#') {
            self.sentence.arena.push_str("# ");
        }
        self.push_clean(comment);
        self.end_comment(start);
    }

    fn end_comment(&mut self, start: usize) {
        debug_assert!(self.sentence.rows.is_empty(), "comments come before words");
        self.sentence.arena.push('\n');
        self.sentence.comments.push(Span::new(start..self.sentence.arena.len()));
    }

    /// Adds a word.
    pub fn word(&mut self, form: &str, space_after: bool) {
        let id = self.sentence.words.len() as u32 + 1;
        self.sentence.words.push(self.sentence.rows.len() as u32);
        self.sentence.heads.push(NO_HEAD);
        self.row(RowId::Word(id), form, space_after);
    }

    /// Announces that the next words, `count` of them, are written as one token.
    pub fn multiword(&mut self, form: &str, count: usize, space_after: bool) {
        let first = self.sentence.words.len() as u32 + 1;
        self.row(RowId::Multiword(first, first + count.max(1) as u32 - 1), form, space_after);
    }

    fn row(&mut self, id: RowId, form: &str, space_after: bool) {
        let misc = if space_after { "_" } else { "SpaceAfter=No" };
        let start = self.sentence.arena.len();
        let id_text = match id {
            RowId::Word(word) => word.to_string(),
            RowId::Multiword(first, last) => format!("{first}-{last}"),
            RowId::Empty(word, minor) => format!("{word}.{minor}"),
        };
        let form = if form.is_empty() { "_" } else { form };
        for (column, field) in
            [&id_text, form, "_", "_", "_", "_", "_", "_", "_", misc].into_iter().enumerate()
        {
            let field_start = self.sentence.arena.len();
            self.push_clean(field);
            self.sentence.cells.push(Span::new(field_start..self.sentence.arena.len()));
            self.sentence.arena.push(if column == 9 { '\n' } else { '\t' });
        }
        self.sentence.rows.push(Row { line: Span::new(start..self.sentence.arena.len()), id, edited: false });
    }

    /// Appends text; tabs and line ends, which would break the row, become spaces, and NUL vanishes.
    fn push_clean(&mut self, text: &str) {
        if !text.contains(['\t', '\n', '\r', '\0']) {
            self.sentence.arena.push_str(text);
            return;
        }
        let clean = text
            .chars()
            .filter(|&c| c != '\0')
            .map(|c| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c });
        self.sentence.arena.extend(clean);
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
