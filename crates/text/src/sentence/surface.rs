use std::borrow::Cow;
use std::ops::Range;

use super::{Layer, RowId, Sentence, entry};

/// A token as it stands in the text: a word, or several words written as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceToken<'a> {
    /// What is written.
    pub form: &'a str,
    /// The words it stands for.
    pub words: Range<usize>,
    /// Whether a space follows.
    pub space_after: bool,
    /// Its MISC column.
    pub misc: &'a str,
}

impl SurfaceToken<'_> {
    /// The white space behind it.
    pub fn spaces(&self) -> Cow<'static, str> {
        match entry(self.misc, "SpacesAfter") {
            Some(written) => Cow::Owned(
                written.replace("\\s", " ").replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r"),
            ),
            None => Cow::Borrowed(if self.space_after { " " } else { "" }),
        }
    }

    /// Its place in the document in characters, if it says so (`TokenRange=0:5`).
    pub fn range(&self) -> Option<Range<usize>> {
        let (start, end) = entry(self.misc, "TokenRange")?.split_once(':')?;
        Some(start.parse().ok()?..end.parse().ok()?)
    }
}

impl Sentence {
    /// The tokens as they stand in the text, one by one: multiword tokens in place of their words, no empty
    /// nodes.
    pub fn surface_tokens(&self) -> impl Iterator<Item = SurfaceToken<'_>> {
        let mut covered = 0;
        self.rows().filter_map(move |row| {
            let words = match row.id() {
                RowId::Word(id) if id > covered => id as usize - 1..id as usize,
                RowId::Multiword(first, last) => first as usize - 1..last as usize,
                RowId::Word(_) | RowId::Empty(..) => return None,
            };
            covered = words.end as u32;
            let misc = row.layer(Layer::Misc);
            let space_after = entry(misc, "SpaceAfter") != Some("No");
            Some(SurfaceToken { form: row.layer(Layer::Form), words, space_after, misc })
        })
    }

    /// Adds where each word of a token stands in it, in bytes: one behind the other where they spell it (*can't* is *ca*
    /// and *n't*), or all of it (*du* is *de* and *le*).
    pub(crate) fn word_parts(&self, token: &SurfaceToken<'_>, parts: &mut Vec<Range<usize>>) {
        if token.words.len() == 1 {
            return parts.push(0..token.form.len());
        }
        let (before, mut end) = (parts.len(), 0);
        for form in token.words.clone().map(|word| self.form(word)) {
            if !token.form[end..].starts_with(form) {
                break;
            }
            parts.push(end..end + form.len());
            end += form.len();
        }
        if end < token.form.len() || parts.len() - before < token.words.len() {
            parts.truncate(before);
            parts.resize(before + token.words.len(), 0..token.form.len());
        }
    }

    /// The text of the sentence: the comment `# text = …`, or the tokens put together.
    pub fn text(&self) -> Cow<'_, str> {
        match self.comment("text") {
            Some(text) if !text.is_empty() => Cow::Borrowed(text),
            _ => Cow::Owned(self.joined().0),
        }
    }

    /// The text of the sentence, and for each surface token its place there in bytes.
    ///
    /// If the comment `# text` does not spell the tokens, the text is the tokens put together instead.
    pub fn aligned_text(&self) -> (Cow<'_, str>, Vec<Range<usize>>) {
        if let Some(text) = self.comment("text")
            && let Some(places) = self.align(text)
        {
            return (Cow::Borrowed(text), places);
        }
        let (text, places) = self.joined();
        (Cow::Owned(text), places)
    }

    fn joined(&self) -> (String, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut places = Vec::with_capacity(self.len());
        let mut space = false;
        for token in self.surface_tokens() {
            if space {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(token.form);
            places.push(start..text.len());
            space = token.space_after;
        }
        (text, places)
    }

    fn align(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let mut places = Vec::with_capacity(self.len());
        let mut position = 0;
        for token in self.surface_tokens() {
            let rest = &text[position..];
            let start = position + (rest.len() - rest.trim_start().len());
            if !text[start..].starts_with(token.form) {
                return None;
            }
            position = start + token.form.len();
            places.push(start..position);
        }
        text[position..].trim_start().is_empty().then_some(places)
    }
}
