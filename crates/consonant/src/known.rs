//! What a user knows beside the models: lists of names, and words whose type or tag is certain.

use std::io::BufRead;

use consonant_ner::KnownNames;
use consonant_tagger::KnownTags;
use consonant_task::Usage;

use crate::{Error, Pipeline};

impl Pipeline {
    /// The same pipeline with a list of names of one type, a phrase a line, its tokens separated by blanks. Each
    /// word of such a phrase speaks for the type as much as the recognizer's margin: what the sentence says may
    /// still outweigh it. Without the layer of names nothing changes.
    pub fn with_gazetteer(mut self, kind: &str, phrases: impl BufRead) -> Result<Self, Error> {
        if let Some(names) = &self.names {
            let list = KnownNames::read(Some(kind), false, phrases).map_err(Error::task)?;
            self.names = Some(names.knowing(&[list]).map_err(Error::task)?);
        }
        Ok(self)
    }

    /// The same pipeline with what holds wherever it occurs: lines of a word or phrase, a tab, and a type of names,
    /// `O` for what is no name, or a tag. Empty lines and those that begin with `#` are left out. What is decoded
    /// beside them is the best that fits them, and so its certificate says.
    pub fn with_overrides(mut self, file: &str, input: impl BufRead) -> Result<Self, Error> {
        let mut lists: Vec<(String, String)> = Vec::new();
        for (number, line) in (1..).zip(input.lines()) {
            let wrong = |text: String| Error::from(Usage(format!("{file}:{number}: {text}")));
            let line = line.map_err(|error| Error::boxed(format!("{file}:{number}: {error}").into()))?;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (phrase, label) = line
                .split_once('\t')
                .map(|(phrase, label)| (phrase.trim(), label.trim()))
                .filter(|(phrase, label)| !phrase.is_empty() && !label.is_empty())
                .ok_or_else(|| {
                    wrong(format!("expected a phrase, a tab and its type or tag; came `{line}`"))
                })?;
            if !self.says(label) {
                let types = self.names.as_ref().map_or_else(Vec::new, |names| names.types()).join(", ");
                return Err(wrong(format!(
                    "`{label}` is no type of names ({types}; O for none) and no tag of these layers"
                )));
            }
            let at = lists.iter().position(|(known, _)| known == label).unwrap_or_else(|| {
                lists.push((label.to_owned(), String::new()));
                lists.len() - 1
            });
            lists[at].1.push_str(phrase);
            lists[at].1.push('\n');
        }
        for (label, phrases) in lists {
            match (&self.names, &self.tagger) {
                (Some(names), _) if label == "O" || names.types().contains(&&label[..]) => {
                    let kind = Some(&label[..]).filter(|label| *label != "O");
                    let list = KnownNames::read(kind, true, phrases.as_bytes()).map_err(Error::task)?;
                    self.names = Some(names.knowing(&[list]).map_err(Error::task)?);
                }
                (_, Some(tagger)) => {
                    let list = KnownTags::read(&label, phrases.as_bytes()).map_err(Error::task)?;
                    self.tagger = Some(tagger.knowing(&[list]).map_err(Error::task)?);
                }
                _ => {}
            }
        }
        Ok(self)
    }

    /// Whether a layer has this type of names or this tag.
    fn says(&self, label: &str) -> bool {
        let named = self.names.as_ref().is_some_and(|names| label == "O" || names.types().contains(&label));
        named || self.tagger.as_ref().is_some_and(|tagger| tagger.knows(label))
    }
}
