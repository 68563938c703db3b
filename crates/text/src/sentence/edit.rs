use crate::conllu::HEAD;

use super::{Layer, NO_HEAD, Sentence, Separator, Span, comment_value, layout::ENTITY_KEY};

/// An edit that the sentence's format cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The format of the sentence has no place for this layer.
    #[error("this format has no column for the layer `{}`; convert it to CoNLL-U first", .0.name())]
    NoColumn(Layer),
    /// The format has no place for heads.
    #[error("this format has no column for heads; convert it to CoNLL-U first")]
    NoHeads,
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
    /// Replaces what a layer says of a word.
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
            None => Err(EditError::NoColumn(layer)),
        }
    }

    /// Replaces the head of a word; heads are counted from 1, 0 is the root, nothing removes the head.
    pub fn set_head(&mut self, word: usize, head: Option<u32>) -> Result<(), EditError> {
        if !self.layout.is_conllu() {
            return Err(EditError::NoHeads);
        }
        match head {
            None => self.replace(word, HEAD, "_"),
            Some(head) if head as usize > self.len() => {
                return Err(EditError::Head { head, words: self.len() });
            }
            Some(head) => {
                let mut digits = [0; 10];
                self.replace(word, HEAD, decimal(head, &mut digits));
            }
        }
        self.heads[word] = head.unwrap_or(NO_HEAD);
        Ok(())
    }

    /// Replaces, adds (at the end) or removes an entry of MISC; the other entries keep their order and spelling.
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
            return Err(EditError::Value("a comment in a columns file".to_owned()));
        }
        let at = self.comments().position(|comment| comment_value(comment, key).is_some());
        let line = value.map(|value| {
            let start = self.arena.len();
            let end = if self.arena[..self.source].contains("\r\n") { "\r\n" } else { "\n" };
            for piece in ["# ", key, " = ", value, end] {
                self.arena.push_str(piece);
            }
            Span::new(start..self.arena.len())
        });
        match (at, line) {
            (Some(at), Some(line)) => self.comments[at] = line,
            (Some(at), None) => drop(self.comments.remove(at)),
            (None, Some(line)) => self.comments.push(line),
            (None, None) => return Ok(()),
        }
        self.edited = true;
        Ok(())
    }

    fn check(&self, value: &str) -> Result<(), EditError> {
        let separates = |c: char| match c {
            '\n' | '\r' | '\t' | '\0' => true,
            ' ' => self.layout.separator() == Separator::Blank,
            _ => false,
        };
        if value.is_empty() || value.contains(separates) {
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
        // A field that was replaced last is replaced in place, so that setting one field again and again does not
        // grow the arena.
        if span.range().end == self.arena.len() && span.range().start >= self.source {
            self.arena.truncate(span.range().start);
        }
        let start = self.arena.len();
        self.arena.push_str(value);
        self.cells[index] = Span::new(start..self.arena.len());
        self.rows[self.words[word] as usize].edited = true;
        self.edited = true;
    }
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

fn decimal(mut value: u32, digits: &mut [u8; 10]) -> &str {
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
