//! Tokens as sentences: white space goes to MISC, so that the text can be put together again.

use std::ops::Range;

use consonant_text::Sentence;
use consonant_text::sentence::{SentenceBuilder, Surroundings};

use crate::Contractions;
use crate::words::Multiwords;

/// What starts with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// A document, and with it a paragraph.
    #[default]
    Document,
    /// A paragraph.
    Paragraph,
}

/// Bytes that a row of CoNLL-U has beside its form at most, but for white space and tags that come later.
const ROW: usize = 72;

/// Makes sentences of the tokens of one text, from its first to its last.
#[derive(Debug)]
pub(crate) struct Layout<'t> {
    text: &'t str,
    /// Up to where everything stands in a sentence.
    done: usize,
    /// If tokens say their place in characters: a byte of the text, and the characters before it.
    reached: Option<(usize, u64)>,
    multiwords: &'t Multiwords,
    contractions: Contractions,
    lower: String,
    words: Vec<String>,
}

impl<'t> Layout<'t> {
    /// With the number of characters that stand before the text, tokens will say their places.
    pub fn new(
        text: &'t str,
        characters: Option<u64>,
        multiwords: &'t Multiwords,
        contractions: Contractions,
    ) -> Self {
        let reached = characters.map(|characters| (0, characters));
        let (lower, words) = (String::new(), Vec::new());
        Self { text, done: 0, reached, multiwords, contractions, lower, words }
    }

    /// The sentence of some tokens, with the white space before it that has no token yet, and that behind it.
    pub fn sentence(&mut self, tokens: &[Range<usize>], start: Option<Start>) -> Sentence {
        let text = self.text;
        let place = tokens.first().map_or(0, |first| first.start)..tokens.last().map_or(0, |last| last.end);
        let mut builder =
            SentenceBuilder::with_capacity(tokens.len() + 2, 2 * place.len() + ROW * tokens.len());
        if start == Some(Start::Document) {
            builder.raw_comment("# newdoc");
        }
        if start.is_some() {
            builder.raw_comment("# newpar");
        }
        builder.comment("text", &text[place.clone()]);
        let mut before = &text[self.done..place.start];
        for (at, token) in tokens.iter().enumerate() {
            let form = &text[token.clone()];
            let rest = &text[token.end..];
            let after = match tokens.get(at + 1) {
                Some(next) => &text[token.end..next.start],
                None => &rest[..rest.len() - rest.trim_start().len()],
            };
            self.done = token.end + after.len();
            self.skip_to(token.start);
            let several = self.contractions != Contractions::Keep
                && self.multiwords.split(form, &mut self.lower, &mut self.words);
            let words = std::mem::take(&mut self.words);
            let spelled = words.iter().map(String::len).sum::<usize>() == form.len();
            if several && self.contractions == Contractions::Cut && spelled {
                let last = words.len() - 1;
                for (number, word) in words.iter().enumerate() {
                    let before = if number == 0 { before } else { "" };
                    let after = if number == last { after } else { "" };
                    let place = self.move_by(word.len());
                    builder.token(word, 1, &Surroundings { before, after, place });
                }
            } else {
                let place = self.move_by(form.len());
                let count = if several { words.len() } else { 1 };
                builder.token(form, count, &Surroundings { before, after, place });
                words.iter().filter(|_| several).for_each(|word| builder.word(word, true));
            }
            self.words = words;
            before = "";
        }
        builder.finish()
    }

    /// Counts the characters up to a byte of the text.
    fn skip_to(&mut self, byte: usize) {
        if let Some((at, characters)) = &mut self.reached {
            *characters += self.text[*at..byte].chars().count() as u64;
            *at = byte;
        }
    }

    /// Counts the characters of a token; gives its place.
    fn move_by(&mut self, length: usize) -> Option<Range<u64>> {
        let (at, start) = self.reached?;
        self.skip_to(at + length);
        self.reached.map(|(_, end)| start..end)
    }
}
