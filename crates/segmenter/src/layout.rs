//! Segments as CoNLL-U: white space goes to MISC, so that the text can be put together again.

use std::fmt::Write as _;
use std::ops::Range;

use crate::words::Multiwords;
use crate::{Contractions, SegmenterError};
use consonant_text::{Document, SentenceReader};

/// What starts with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A document, and with it a paragraph.
    Document,
    /// A paragraph.
    Paragraph,
}

/// Sentences written as CoNLL-U, and where they stood in the text.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The sentences.
    pub conllu: String,
    /// Their places, in bytes.
    pub places: Vec<Range<usize>>,
    lower: String,
    words: Vec<String>,
    /// Where tokens say their place in characters: a byte of the text, and the characters before it.
    reached: Option<(usize, u64)>,
}

impl Layout {
    /// Forgets the sentences. With the number of characters that stand before the text, tokens will say their places.
    pub fn clear(&mut self, characters: Option<u64>) {
        self.conllu.clear();
        self.places.clear();
        self.reached = characters.map(|characters| (0, characters));
    }

    /// Writes a sentence of tokens. `written` is the place in the text up to which everything is written already, and is
    /// moved behind the white space that follows the sentence.
    pub fn sentence(
        &mut self,
        text: &str,
        tokens: &[Range<usize>],
        start: Option<Start>,
        written: &mut usize,
        (multiwords, contractions): (&Multiwords, Contractions),
    ) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        let place = first.start..last.end;
        let out = &mut self.conllu;
        if start == Some(Start::Document) {
            out.push_str("# newdoc\n");
        }
        if start.is_some() {
            out.push_str("# newpar\n");
        }
        out.push_str("# text = ");
        push_clean(out, &text[place.clone()]);
        out.push('\n');
        let mut before = &text[*written..first.start];
        let mut id = 1;
        for (at, token) in tokens.iter().enumerate() {
            let form = &text[token.clone()];
            let rest = &text[token.end..];
            let after = match tokens.get(at + 1) {
                Some(next) => &text[token.end..next.start],
                None => &rest[..rest.len() - rest.trim_start().len()],
            };
            *written = token.end + after.len();
            skip_to(&mut self.reached, text, token.start);
            let several = contractions != Contractions::Keep
                && multiwords.split(form, &mut self.lower, &mut self.words);
            let spelled = several && self.words.iter().map(String::len).sum::<usize>() == form.len();
            if several && contractions == Contractions::Cut && spelled {
                let count = self.words.len();
                for (number, word) in self.words.iter().enumerate() {
                    let before = if number == 0 { before } else { "" };
                    let after = if number + 1 == count { after } else { "" };
                    let place = move_to(&mut self.reached, text, word.len());
                    row(out, (id, id), word, (before, after), place);
                    id += 1;
                }
            } else {
                let place = move_to(&mut self.reached, text, form.len());
                let last = if several { id + self.words.len() - 1 } else { id };
                row(out, (id, last), form, (before, after), place);
                for word in self.words.iter().filter(|_| several) {
                    row(out, (id, id), word, ("", " "), None);
                    id += 1;
                }
                id = last + 1;
            }
            before = "";
        }
        out.push('\n');
        self.places.push(place);
    }

    /// The sentences in a document of the text that they were found in.
    pub fn document(&self, text: &str) -> Result<Document, SegmenterError> {
        let mut document = Document::from_text(None, text.to_owned());
        let reader = SentenceReader::conllu(self.conllu.as_bytes(), "<segmenter>").max_length(usize::MAX);
        for (sentence, place) in reader.zip(&self.places) {
            document.push_sentence(sentence?, place.clone());
        }
        Ok(document)
    }
}

/// Counts the characters up to a byte of the text.
fn skip_to(reached: &mut Option<(usize, u64)>, text: &str, byte: usize) {
    if let Some((at, characters)) = reached {
        *characters += text[*at..byte].chars().count() as u64;
        *at = byte;
    }
}

/// Counts the characters of a token; gives its place.
fn move_to(reached: &mut Option<(usize, u64)>, text: &str, length: usize) -> Option<Range<u64>> {
    let (at, start) = (*reached)?;
    skip_to(reached, text, at + length);
    reached.map(|(_, end)| start..end)
}

/// Writes a row with the white space around the token and its place in characters.
fn row(
    out: &mut String,
    (first, last): (usize, usize),
    form: &str,
    (before, after): (&str, &str),
    place: Option<Range<u64>>,
) {
    // Writing to a string cannot fail.
    let _ = if first == last { write!(out, "{first}\t") } else { write!(out, "{first}-{last}\t") };
    push_clean(out, form);
    out.push_str("\t_\t_\t_\t_\t_\t_\t_\t");
    let start = out.len();
    if !before.is_empty() {
        out.push_str("SpacesBefore=");
        push_spaces(out, before);
    }
    if after != " " {
        if out.len() > start {
            out.push('|');
        }
        if after.is_empty() {
            out.push_str("SpaceAfter=No");
        } else {
            out.push_str("SpacesAfter=");
            push_spaces(out, after);
        }
    }
    if let Some(place) = place {
        if out.len() > start {
            out.push('|');
        }
        let _ = write!(out, "TokenRange={}:{}", place.start, place.end);
    }
    if out.len() == start {
        out.push('_');
    }
    out.push('\n');
}

/// Text on one line: line ends and tabs become blanks, NUL becomes a replacement character.
fn push_clean(out: &mut String, text: &str) {
    if !text.bytes().any(|byte| byte < b' ') {
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
            c => out.push(c),
        }
    }
}
