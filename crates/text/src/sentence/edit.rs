use crate::conllu::HEAD;

use super::{Layer, NO_HEAD, Sentence, Separator, Span, comment_value, layout::ENTITY_KEY};

/// An edit that the sentence's format cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The format of the sentence has no place for this layer.
    #[error("this format has no column for the layer `{}`; convert it to CoNLL-U first", .0.name())]
    NoColumn(Layer),
    /// The format of the sentence has no place for comments.
    #[error("this format has no place for comments; convert it to CoNLL-U first")]
    NoComments,
    /// An empty value, or one with a separator in it.
    #[error("a field must not be empty nor hold a line end or a separator, came {0:?}")]
    Value(String),
    /// A head that is no word of the sentence.
    #[error("head {head} of a sentence of {words} words")]
    Head {
        /// The head asked for.
        head: u32,
        /// How many words there are.
        words: usize,
    },
}

impl Sentence {
    /// Replaces what a layer says of a word. A layer that the format has no column for is kept in the
    /// sentence and not written, but for MISC, which is there for nothing else.
    ///
    /// ```
    /// use consonant_text::{Columns, Layer, SentenceReader};
    ///
    /// let text = "Rain\tO\nfalls\tO\n\n";
    /// let mut sentence = SentenceReader::columns(text.as_bytes(), "a", Columns::default()).next().unwrap()?;
    /// sentence.set(0, Layer::Upos, "NOUN")?;
    /// sentence.set_head(0, Some(2))?;
    /// assert_eq!((sentence.upos(0), sentence.upos(1), sentence.head(0)), ("NOUN", "_", Some(2)));
    /// assert_eq!(sentence.to_string(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are not that many words.
    pub fn set(&mut self, word: usize, layer: Layer, value: &str) -> Result<(), EditError> {
        match self.layout.column(layer) {
            Some(column) => {
                self.check(value)?;
                self.replace(word, column, value);
                Ok(())
            }
            None if layer == Layer::Entity => self.set_misc(word, ENTITY_KEY, Some(value)),
            None if layer == Layer::Misc => Err(EditError::NoColumn(layer)),
            None => {
                self.check(value)?;
                let span = self.append(value);
                let place = self.beside.iter().position(|(beside, _)| *beside == layer);
                let place = place.unwrap_or_else(|| {
                    self.beside.push((layer, vec![Span::default(); self.words.len()]));
                    self.beside.len() - 1
                });
                self.beside[place].1[word] = span;
                Ok(())
            }
        }
    }

    /// Says that a document starts here, for those who look beyond a sentence; nothing of it is written.
    pub fn mark_document(&mut self) {
        self.marked = true;
    }

    /// Replaces the head of a word; heads are counted from 1, 0 is the root, nothing removes the head.
    pub fn set_head(&mut self, word: usize, head: Option<u32>) -> Result<(), EditError> {
        if let Some(head) = head.filter(|&head| head as usize > self.len()) {
            return Err(EditError::Head { head, words: self.len() });
        }
        if self.layout.is_conllu() {
            let mut digits = [0; 20];
            self.replace(word, HEAD, head.map_or("_", |head| decimal(head.into(), &mut digits)));
        }
        self.heads[word] = head.unwrap_or(NO_HEAD);
        Ok(())
    }

    /// Replaces, adds (at the end) or removes an entry of MISC; the other entries keep their order and
    /// spelling.
    pub fn set_misc(&mut self, word: usize, key: &str, value: Option<&str>) -> Result<(), EditError> {
        let Some(column) = self.layout.column(Layer::Misc) else {
            return Err(EditError::NoColumn(Layer::Misc));
        };
        self.check(key)?;
        if let Some(value) = value
            && (value.contains('|') || self.check(value).is_err())
        {
            return Err(EditError::Value(value.to_owned()));
        }
        let old = self.misc(word);
        let mut new = String::with_capacity(old.len() + key.len() + 12);
        let mut pending = value;
        for entry in old.split('|').filter(|&entry| entry != "_") {
            let matches = entry.strip_prefix(key).is_some_and(|rest| rest.starts_with('='));
            let entry_value =
                if matches { pending.take().map(|value| (key, value)) } else { Some((entry, "")) };
            if let Some((entry, value)) = entry_value {
                push_entry(&mut new, entry, matches.then_some(value));
            }
        }
        if let Some(value) = pending {
            push_entry(&mut new, key, Some(value));
        }
        if new.is_empty() {
            new.push('_');
        }
        self.replace(word, column, &new);
        Ok(())
    }

    /// Replaces, adds (after the others) or removes the comment `# key = value`.
    pub fn set_comment(&mut self, key: &str, value: Option<&str>) -> Result<(), EditError> {
        for text in [Some(key), value].into_iter().flatten() {
            if text.contains(['\n', '\r']) {
                return Err(EditError::Value(text.to_owned()));
            }
        }
        if !self.layout.is_conllu() {
            return Err(EditError::NoComments);
        }
        let at = self.comments().position(|comment| comment_value(comment, key).is_some());
        let line = value.map(|value| self.comment_line(key, value));
        match (at, line) {
            (Some(at), Some(line)) => self.comments[at] = line,
            (Some(at), None) => drop(self.comments.remove(at)),
            (None, Some(line)) => self.comments.push(line),
            (None, None) => return Ok(()),
        }
        self.edited = true;
        Ok(())
    }

    /// Says which sentence this is: `# sent_id = …` stands before the text.
    pub fn set_id(&mut self, id: &str) -> Result<(), EditError> {
        self.set_comment("sent_id", Some(id))?;
        let place = |key| self.comments().position(|comment| comment_value(comment, key).is_some());
        if let (Some(text), Some(own)) = (place("text"), place("sent_id"))
            && text < own
        {
            self.comments[text..=own].rotate_right(1);
        }
        Ok(())
    }

    /// Says which document starts here: `# newdoc id = …` takes the place of `# newdoc`, or stands before all other comments.
    pub fn set_document_id(&mut self, id: &str) -> Result<(), EditError> {
        if id.is_empty() || id.contains(['\n', '\r']) {
            return Err(EditError::Value(id.to_owned()));
        }
        let known = ["newdoc id", "newdoc_id", "newdoc"].into_iter();
        let at =
            known.flat_map(|key| self.comments().position(|one| comment_value(one, key).is_some())).next();
        if at.is_none() {
            self.comments.insert(0, Span::default());
        }
        self.comments[at.unwrap_or(0)] = self.comment_line("newdoc id", id);
        self.edited = true;
        Ok(())
    }

    fn comment_line(&mut self, key: &str, value: &str) -> Span {
        let start = self.arena.len();
        let end = if self.arena[..self.source].contains("\r\n") { "\r\n" } else { "\n" };
        for piece in ["# ", key, " = ", value, end] {
            self.arena.push_str(piece);
        }
        Span::new(start..self.arena.len())
    }

    fn check(&self, value: &str) -> Result<(), EditError> {
        let blank = if self.layout.separator() == Separator::Blank { b' ' } else { b'\t' };
        if value.is_empty() || value.bytes().any(|byte| breaks_row(byte) || byte == blank) {
            return Err(EditError::Value(value.to_owned()));
        }
        Ok(())
    }

    /// Points a field at a new value, which must fit the format.
    fn replace(&mut self, word: usize, column: usize, value: &str) {
        let index = self.cell_index(word, column);
        let span = self.cells[index];
        if self.str(span) == value {
            return;
        }
        // A field that was replaced last is replaced in place, so that setting one field again and again does
        // not grow the arena.
        if span.range().end == self.arena.len() && span.range().start >= self.source {
            self.arena.truncate(span.range().start);
        }
        self.cells[index] = self.append(value);
        self.rows[self.words[word] as usize].edited = true;
        self.edited = true;
    }

    fn append(&mut self, value: &str) -> Span {
        let start = self.arena.len();
        self.arena.push_str(value);
        Span::new(start..self.arena.len())
    }
}

/// What no field can hold.
pub(super) fn breaks_row(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\t' | b'\0')
}

fn push_entry(list: &mut String, key: &str, value: Option<&str>) {
    if !list.is_empty() {
        list.push('|');
    }
    list.push_str(key);
    if let Some(value) = value {
        list.push('=');
        list.push_str(value);
    }
}

/// A number in digits, in the buffer.
pub(super) fn decimal(mut value: u64, digits: &mut [u8; 20]) -> &str {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[start..]).unwrap_or_default()
}
