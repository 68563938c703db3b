use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::record::{Record, Source, sourced};
use crate::document::{CharOffsets, Document};
use crate::entity::decode_any;
use crate::error::{Fault, Kind};
use crate::sentence::{Layer, RowId, Sentence, SentenceBuilder, SurfaceToken, number};

/// What the fields of a sentence mean; 1 had rows of CoNLL-U as tokens, and places in the sentence alone.
pub const SCHEMA: u32 = 2;

/// An annotated sentence as JSON: everything that CoNLL-U says, entities as spans, and places in the text.
///
/// Places are Unicode code points, the end exclusive: of the document where tokens say their place there (`TokenRange`, as those
/// of `annotate` do), of `text` otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentenceRecord {
    /// What the fields mean: [`SCHEMA`].
    #[serde(default)]
    pub schema: u32,
    /// The document that it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// Its id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// Its comments but those that say id, text and certificate, with the `#`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// The words.
    pub tokens: Vec<TokenRecord>,
    /// Tokens that stand for several words.
    #[serde(default)]
    pub multiword: Vec<MultiwordRecord>,
    /// Empty nodes of the enhanced dependencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty: Vec<TokenRecord>,
    /// Entities as spans over words.
    #[serde(default)]
    pub entities: Vec<EntityRecord>,
    /// What is proven of its layers, if that was asked: in CoNLL-U the comment `# certificate = {…}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Map<String, Value>>,
    #[serde(skip)]
    source_line: Source,
}

/// A token that is written as one and stands for several words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultiwordRecord {
    /// The first word, counted from 0.
    pub start: usize,
    /// The word after the last.
    pub end: usize,
    /// What is written.
    pub text: String,
    /// The features, such as `Typo=Yes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feats: Option<String>,
    /// Everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misc: Option<String>,
    /// The first character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_char: Option<usize>,
    /// The character after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_char: Option<usize>,
}

/// A word as JSON; what is missing is blank in CoNLL-U.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The id as CoNLL-U writes it: `1`; empty nodes have `1.1`.
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
    /// How sure the tagger is of the tags, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_confidence: Option<f32>,
    /// How sure the parser is of the head, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_confidence: Option<f32>,
    /// The first character; words of a multiword token have their part of it where they spell it, and otherwise all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_char: Option<usize>,
    /// The character after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_char: Option<usize>,
}

/// An entity as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntityRecord {
    /// The first word, counted from 0.
    pub start: usize,
    /// The word after the last.
    pub end: usize,
    /// The first character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_char: Option<usize>,
    /// The character after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_char: Option<usize>,
    /// What is written there.
    #[serde(default)]
    pub text: String,
    /// The type, such as `LOC`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How sure the recognizer is of it, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
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
        let (text, surface) = places(sentence);
        // The surface token that each word is part of.
        let mut token_of = vec![0; sentence.len()];
        for (number, (_, token)) in surface.iter().enumerate() {
            token_of[token.words.clone()].fill(number);
        }
        // The part of it, in bytes.
        let mut parts = Vec::with_capacity(sentence.len());
        surface.iter().for_each(|(_, token)| sentence.word_parts(token, &mut parts));
        let place = |word: usize| {
            let ((place, token), part) = (surface.get(token_of[word])?, &parts[word]);
            if token.words.len() == 1 {
                return Some((place.start, place.end));
            }
            let start = place.start + token.form[..part.start].chars().count();
            let end = place.end - token.form[part.end..].chars().count();
            Some((start, end))
        };
        let confidence =
            |word: usize, key: &str| sentence.misc_entry(word, key).and_then(|number| number.parse().ok());
        let (mut tokens, mut multiword, mut empty) =
            (Vec::with_capacity(sentence.len()), Vec::new(), Vec::new());
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
            match row.id() {
                RowId::Word(word) => {
                    let word = word as usize - 1;
                    token.head = sentence.head(word);
                    token.tag_confidence = confidence(word, "TagConfidence");
                    token.head_confidence = confidence(word, "HeadConfidence");
                    (token.start_char, token.end_char) = place(word).unzip();
                    tokens.push(token);
                }
                RowId::Multiword(first, last) => {
                    let words = first as usize - 1..last as usize;
                    let (start_char, end_char) =
                        surface.get(token_of[words.start]).map(|(place, _)| (place.start, place.end)).unzip();
                    let (TokenRecord { form: text, feats, misc, .. }, Range { start, end }) = (token, words);
                    multiword.push(MultiwordRecord { start, end, text, feats, misc, start_char, end_char });
                }
                RowId::Empty(..) => empty.push(token),
            }
        }
        let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
        let entities = decode_any(&labels)
            .into_iter()
            .map(|entity| {
                let (first, last) = (entity.words.start, entity.words.end - 1);
                let covered = &surface[token_of[first]..=token_of[last]];
                let mut text = spelled(covered);
                text.truncate(text.len() - (surface[token_of[last]].1.form.len() - parts[last].end));
                text.drain(..parts[first].start);
                EntityRecord {
                    start: first,
                    end: entity.words.end,
                    start_char: place(first).map(|(start, _)| start),
                    end_char: place(last).map(|(_, end)| end),
                    text,
                    kind: entity.kind.to_owned(),
                    confidence: confidence(entity.words.start, "NameConfidence"),
                }
            })
            .collect();
        let certificate = sentence.comment("certificate").and_then(|text| serde_json::from_str(text).ok());
        let keys = ["sent_id", "text", "certificate"];
        let keys = if certificate.is_some() { &keys[..] } else { &keys[..2] };
        let is_other =
            |comment: &&str| keys.iter().all(|key| crate::sentence::comment_value(comment, key).is_none());
        let comments = sentence.comments().filter(is_other).map(str::to_owned).collect();
        SentenceRecord {
            schema: SCHEMA,
            doc: None,
            id: sentence.id().map(str::to_owned),
            text: text.into_owned(),
            comments,
            tokens,
            multiword,
            empty,
            entities,
            certificate,
            source_line: Source::default(),
        }
    }
}

impl Document {
    /// The sentences as JSON, with their places in the document.
    pub fn records(&self) -> Vec<SentenceRecord> {
        let mut offsets = CharOffsets::new(self.text());
        let mut records: Vec<SentenceRecord> = self.sentences().iter().map(SentenceRecord::from).collect();
        for (number, record) in records.iter_mut().enumerate() {
            let places: Vec<Range<usize>> =
                self.word_spans(number).into_iter().map(|place| offsets.range(place)).collect();
            let start = |word: usize| places.get(word).map(|place| place.start);
            let end = |word: usize| places.get(word).map(|place| place.end);
            for (word, token) in record.tokens.iter_mut().enumerate() {
                (token.start_char, token.end_char) = (start(word), end(word));
            }
            for token in &mut record.multiword {
                (token.start_char, token.end_char) = (start(token.start), end(token.end.saturating_sub(1)));
            }
            for entity in &mut record.entities {
                (entity.start_char, entity.end_char) =
                    (start(entity.start), end(entity.end.saturating_sub(1)));
            }
        }
        records
    }
}

/// A token and its place.
type Placed<'s> = (Range<usize>, SurfaceToken<'s>);

/// The text of a sentence and its tokens, with their places in the document if they know them.
fn places(sentence: &Sentence) -> (Cow<'_, str>, Vec<Placed<'_>>) {
    let (text, places) = sentence.aligned_text();
    let mut offsets = CharOffsets::new(&text);
    let surface = sentence.surface_tokens().zip(places).map(|(token, place)| {
        let written = offsets.range(place);
        (token.range().unwrap_or(written), token)
    });
    let surface = surface.collect();
    (text, surface)
}

/// Tokens as they stand in their text.
fn spelled(tokens: &[Placed<'_>]) -> String {
    let mut text = String::new();
    for (number, (_, token)) in tokens.iter().enumerate() {
        text.push_str(token.form);
        if number + 1 < tokens.len() {
            text.push_str(&token.spaces());
        }
    }
    text
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
        let certificate = self.certificate.clone().map(|certificate| Value::Object(certificate).to_string());
        let keys = [
            ("sent_id", self.id.as_deref()),
            ("text", Some(self.text.as_str())),
            ("certificate", certificate.as_deref()),
        ];
        for (key, value) in keys {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                head.comment(key, value);
            }
        }
        let mut text = head.finish().to_string();
        text.truncate(text.len() - 1);
        let push_empty = |text: &mut String, behind: usize| {
            let of_this = |empty: &&TokenRecord| major(&empty.id) == Some(behind);
            self.empty.iter().filter(of_this).for_each(|empty| push_row(text, empty));
        };
        let mut words = 0;
        push_empty(&mut text, 0);
        for token in &self.tokens {
            if number(&token.id).is_some() {
                for token in self.multiword.iter().filter(|token| token.start == words) {
                    let (first, last) = (token.start + 1, token.end);
                    let row = TokenRecord {
                        id: format!("{first}-{last}"),
                        form: token.text.clone(),
                        feats: token.feats.clone(),
                        misc: token.misc.clone(),
                        ..TokenRecord::default()
                    };
                    push_row(&mut text, &row);
                }
                words += 1;
            }
            push_row(&mut text, token);
            push_empty(&mut text, words);
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

/// The word that an empty node stands behind.
fn major(id: &str) -> Option<usize> {
    id.split_once('.')?.0.parse().ok()
}

/// Adds a row of CoNLL-U.
fn push_row(text: &mut String, token: &TokenRecord) {
    fn blank(field: &Option<String>) -> &str {
        field.as_deref().unwrap_or("_")
    }
    let head = token.head.map_or("_".to_owned(), |head| head.to_string());
    let fields = [
        &token.id,
        &token.form,
        blank(&token.lemma),
        blank(&token.upos),
        blank(&token.xpos),
        blank(&token.feats),
        &head,
        blank(&token.deprel),
        blank(&token.deps),
        blank(&token.misc),
    ];
    text.push_str(&fields.join("\t"));
    text.push('\n');
}
