use serde::{Deserialize, Serialize};

use super::record::{Record, Source, sourced};
use crate::document::CharOffsets;
use crate::entity::decode_any;
use crate::error::{Fault, Kind};
use crate::sentence::{Layer, RowId, Sentence, SentenceBuilder, number};

/// An annotated sentence as JSON: everything that CoNLL-U says, entities as spans, and places in the text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentenceRecord {
    /// Its id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// Its comments but those that say id and text, with the `#`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Words, multiword tokens and empty nodes in order.
    pub tokens: Vec<TokenRecord>,
    /// Entities as spans over words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityRecord>,
    #[serde(skip)]
    source_line: Source,
}

/// A row of a sentence as JSON; what is missing is blank in CoNLL-U.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The id as CoNLL-U writes it: `1`, `1-2`, `1.1`.
    pub id: String,
    /// The form.
    pub form: String,
    /// The lemma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lemma: Option<String>,
    /// The universal part of speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upos: Option<String>,
    /// The language's own tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xpos: Option<String>,
    /// The features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feats: Option<String>,
    /// The head, counted from 1, 0 for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u32>,
    /// The relation to the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprel: Option<String>,
    /// The enhanced dependencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deps: Option<String>,
    /// Everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misc: Option<String>,
    /// The first character in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// The character after the last in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

/// An entity as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntityRecord {
    /// The first word, counted from 0.
    pub start: usize,
    /// The word after the last.
    pub end: usize,
    /// The type, such as `LOC`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Record for SentenceRecord {
    sourced!();

    fn check(&self) -> Result<(), Fault> {
        let words = self.tokens.iter().filter(|token| number(&token.id).is_some()).count();
        let mut end = 0;
        for entity in &self.entities {
            if entity.start >= entity.end || entity.end > words || entity.start < end {
                return Err(Fault::new(
                    Kind::LabelSequence,
                    format!("entities in order over {words} words, none over another"),
                    format!("one from {} to {}", entity.start, entity.end),
                    "an entity goes from its first word, counted from 0, to the word after its last",
                ));
            }
            end = entity.end;
        }
        // What the rows say is checked by the reader of CoNLL-U, so that there is one set of rules.
        match Sentence::from_conllu(&self.to_conllu()) {
            Ok(sentence) if sentence.len() == words => Ok(()),
            Ok(_) => Err(Fault::new(
                Kind::Json,
                "one sentence",
                "fields with line ends",
                "no field may hold a tab or a line end",
            )),
            Err(error) => {
                let error = error.as_format();
                Err(Fault::new(
                    error.map_or(Kind::Json, |error| error.kind),
                    error.map_or_else(String::new, |error| error.expected.clone()),
                    error.map_or_else(String::new, |error| error.came.clone()),
                    "the tokens must make a sentence of CoNLL-U",
                ))
            }
        }
    }
}

fn given(field: &str) -> Option<String> {
    (field != "_").then(|| field.to_owned())
}

impl From<&Sentence> for SentenceRecord {
    fn from(sentence: &Sentence) -> Self {
        let (text, places) = sentence.aligned_text();
        let mut offsets = CharOffsets::new(&text);
        let places: Vec<_> = places.into_iter().map(|place| offsets.range(place)).collect();
        let mut surface = sentence.surface_tokens().zip(places).peekable();
        let mut tokens = Vec::with_capacity(sentence.rows().len());
        for row in sentence.rows() {
            let mut token = TokenRecord {
                id: row_id(row.id()),
                form: row.layer(Layer::Form).to_owned(),
                lemma: given(row.layer(Layer::Lemma)),
                upos: given(row.layer(Layer::Upos)),
                xpos: given(row.layer(Layer::Xpos)),
                feats: given(row.layer(Layer::Feats)),
                deprel: given(row.layer(Layer::Deprel)),
                deps: given(row.layer(Layer::Deps)),
                misc: given(row.layer(Layer::Misc)),
                ..TokenRecord::default()
            };
            let first_word = match row.id() {
                RowId::Word(word) => {
                    token.head = sentence.head(word as usize - 1);
                    Some(word as usize - 1)
                }
                RowId::Multiword(first, _) => Some(first as usize - 1),
                RowId::Empty(..) => None,
            };
            if let Some((_, place)) = surface.next_if(|(token, _)| Some(token.words.start) == first_word) {
                (token.start, token.end) = (Some(place.start), Some(place.end));
            }
            tokens.push(token);
        }
        let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
        let entities = decode_any(&labels)
            .into_iter()
            .map(|entity| EntityRecord {
                start: entity.words.start,
                end: entity.words.end,
                kind: entity.kind.to_owned(),
            })
            .collect();
        let comments = sentence
            .comments()
            .filter(|comment| {
                ["sent_id", "text"].iter().all(|key| crate::sentence::comment_value(comment, key).is_none())
            })
            .map(str::to_owned)
            .collect();
        SentenceRecord {
            id: sentence.id().map(str::to_owned),
            text: text.into_owned(),
            comments,
            tokens,
            entities,
            source_line: Source::default(),
        }
    }
}

fn row_id(id: RowId) -> String {
    match id {
        RowId::Word(word) => word.to_string(),
        RowId::Multiword(first, last) => format!("{first}-{last}"),
        RowId::Empty(word, minor) => format!("{word}.{minor}"),
    }
}

impl SentenceRecord {
    /// The sentence in CoNLL-U, as it stands; entities are left to
    /// [`to_sentence`](SentenceRecord::to_sentence).
    fn to_conllu(&self) -> String {
        let mut head = SentenceBuilder::new();
        for comment in &self.comments {
            head.raw_comment(comment);
        }
        for (key, value) in [("sent_id", self.id.as_deref()), ("text", Some(self.text.as_str()))] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                head.comment(key, value);
            }
        }
        let mut text = head.finish().to_string();
        text.truncate(text.len() - 1);
        for token in &self.tokens {
            let blank = |field: &Option<String>| field.as_deref().unwrap_or("_").to_owned();
            let head = token.head.map_or("_".to_owned(), |head| head.to_string());
            let fields = [
                token.id.clone(),
                token.form.clone(),
                blank(&token.lemma),
                blank(&token.upos),
                blank(&token.xpos),
                blank(&token.feats),
                head,
                blank(&token.deprel),
                blank(&token.deps),
                blank(&token.misc),
            ];
            text.push_str(&fields.join("\t"));
            text.push('\n');
        }
        text.push('\n');
        text
    }

    /// The sentence it describes, with its entities as IOB2 labels in MISC where it has none.
    ///
    /// # Errors
    /// If the tokens make no sentence of CoNLL-U.
    pub fn to_sentence(&self) -> Result<Sentence, crate::Error> {
        let mut sentence = Sentence::from_conllu(&self.to_conllu())?;
        for entity in &self.entities {
            for word in (entity.start..entity.end).filter(|&word| word < sentence.len()).collect::<Vec<_>>() {
                if sentence.get(word, Layer::Entity).is_none() {
                    let letter = if word == entity.start { 'B' } else { 'I' };
                    // A type that MISC cannot hold was read from JSON alone; the span is then kept out of
                    // CoNLL-U.
                    let _ = sentence.set(word, Layer::Entity, &format!("{letter}-{}", entity.kind));
                }
            }
        }
        Ok(sentence)
    }
}
