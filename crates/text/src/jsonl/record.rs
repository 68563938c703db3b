use std::io::{self, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SentenceRecord;
use crate::document::{Document, Link};
use crate::error::{Fault, Kind};

/// The line a record was read from; empty for a new record.
///
/// All sources are equal, so that records are compared by what they say.
#[derive(Clone, Debug, Default)]
pub struct Source(pub(crate) String);

impl PartialEq for Source {
    fn eq(&self, _: &Source) -> bool {
        true
    }
}

/// A kind of object that stands on a line of JSONL.
pub trait Record: Serialize + PartialEq + Sized {
    /// Parses a line.
    fn parse(json: &str) -> serde_json::Result<Self>;

    /// Checks what the types alone cannot; readers call it for every record.
    fn check(&self) -> Result<(), Fault>;

    /// The line it was read from.
    fn source(&self) -> &Source;

    /// The line it was read from, for readers to fill in.
    fn source_mut(&mut self) -> &mut Source;
}

macro_rules! sourced {
    () => {
        fn parse(json: &str) -> serde_json::Result<Self> {
            serde_json::from_str(json)
        }

        fn source(&self) -> &Source {
            &self.source_line
        }

        fn source_mut(&mut self) -> &mut Source {
            &mut self.source_line
        }
    };
}
pub(crate) use sourced;

/// Documents about one thing, with the summaries that people wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Its id.
    pub id: String,
    /// The corpus it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The documents.
    pub documents: Vec<TopicDocument>,
    /// The summaries, if there are any.
    #[serde(default)]
    pub summaries: Vec<String>,
    /// For each summary, the ids of the sentences that say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracts: Option<Vec<Vec<String>>>,
    #[serde(skip)]
    source_line: Source,
}

/// A document of a topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicDocument {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Its text; sentences or paragraphs are separated by line ends.
    pub text: String,
    /// Its sentences with their ids, where the corpus names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentences: Option<Vec<TopicSentence>>,
}

/// A sentence of a topic's document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicSentence {
    /// Its id within the topic.
    pub id: String,
    /// Its text.
    pub text: String,
}

impl Record for Topic {
    sourced!();

    fn check(&self) -> Result<(), Fault> {
        if self.documents.is_empty() {
            return Err(Fault::new(
                Kind::Json,
                "one document or more",
                format!("none in the topic `{}`", self.id),
                "remove the topic, or add its documents",
            ));
        }
        match &self.extracts {
            Some(extracts) if extracts.len() != self.summaries.len() => Err(Fault::new(
                Kind::UnequalLists,
                format!("an extract for each of the {} summaries", self.summaries.len()),
                extracts.len().to_string(),
                "`extracts` and `summaries` have the same order and length",
            )),
            _ => Ok(()),
        }
    }
}

/// A sentence and which of its words a person kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompressionPair {
    /// Its id.
    pub id: String,
    /// The words of the sentence.
    pub tokens: Vec<String>,
    /// For each word, 1 if it was kept and 0 if not.
    pub keep: Vec<u8>,
    #[serde(skip)]
    source_line: Source,
}

impl Record for CompressionPair {
    sourced!();

    fn check(&self) -> Result<(), Fault> {
        if self.tokens.len() != self.keep.len() {
            return Err(Fault::new(
                Kind::UnequalLists,
                format!("{} values in `keep`, one for each token", self.tokens.len()),
                self.keep.len().to_string(),
                "`tokens` and `keep` have the same length",
            ));
        }
        match self.keep.iter().position(|&keep| keep > 1) {
            Some(at) => Err(Fault::new(
                Kind::Json,
                "0 or 1 in `keep`",
                format!("{} at {at}", self.keep[at]),
                "1 keeps a word and 0 deletes it",
            )),
            None => Ok(()),
        }
    }
}

/// A conversation and who answers whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// The messages, in order.
    pub units: Vec<ThreadUnit>,
    /// Pairs of source and target, counted from 0: the source answers the target, which comes before it.
    #[serde(default)]
    pub links: Vec<(usize, usize)>,
    #[serde(skip)]
    source_line: Source,
}

/// A message of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUnit {
    /// Who wrote it; nobody for a line of the server.
    #[serde(default)]
    pub author: Option<String>,
    /// When, as it is written in the data.
    #[serde(default)]
    pub time: Option<String>,
    /// What it says.
    pub text: String,
}

impl Thread {
    /// A conversation without messages.
    pub fn new(id: impl Into<String>) -> Self {
        Thread { id: id.into(), ..Thread::default() }
    }
}

impl Record for Thread {
    sourced!();

    fn check(&self) -> Result<(), Fault> {
        let count = self.units.len();
        for &(source, target) in &self.links {
            let fault = |expected: String, hint| {
                Err(Fault::new(Kind::Link, expected, format!("[{source}, {target}]"), hint))
            };
            if source >= count || target >= count {
                return fault(
                    format!("links between units 0 to {}", count.saturating_sub(1)),
                    "units count from 0",
                );
            }
            if source == target {
                return fault(
                    "a link to an earlier unit".into(),
                    "a unit does not answer itself: remove the link",
                );
            }
            if target > source {
                return fault(
                    "a link to an earlier unit".into(),
                    "a link is [source, target] with target < source",
                );
            }
        }
        Ok(())
    }
}

impl From<&Thread> for Document {
    fn from(thread: &Thread) -> Document {
        let mut document = Document::from_text(Some(thread.id.clone()), String::new());
        for unit in &thread.units {
            document.push_unit(unit.author.clone(), unit.time.clone(), &unit.text);
        }
        document.links = thread.links.iter().map(|&(source, target)| Link { source, target }).collect();
        document
    }
}

/// A raw text, such as an article.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextRecord {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text; blank lines end paragraphs.
    pub text: String,
    #[serde(skip)]
    source_line: Source,
}

impl Record for TextRecord {
    sourced!();

    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A record of any kind, told by its fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)] // One at a time is alive in a stream.
pub enum AnyRecord {
    /// It has `documents`.
    Topic(Topic),
    /// It has `units`.
    Thread(Thread),
    /// It has `tokens` and `keep`.
    Compression(CompressionPair),
    /// It has `tokens` alone.
    Sentence(SentenceRecord),
    /// It has `text` and none of these.
    Text(TextRecord),
}

/// Which of the telling fields an object has.
#[derive(Deserialize)]
struct Telling {
    documents: Option<IgnoredAny>,
    units: Option<IgnoredAny>,
    tokens: Option<IgnoredAny>,
    keep: Option<IgnoredAny>,
    text: Option<IgnoredAny>,
}

macro_rules! each {
    ($any:expr, $record:ident => $result:expr) => {
        match $any {
            AnyRecord::Topic($record) => $result,
            AnyRecord::Thread($record) => $result,
            AnyRecord::Compression($record) => $result,
            AnyRecord::Sentence($record) => $result,
            AnyRecord::Text($record) => $result,
        }
    };
}

impl Record for AnyRecord {
    fn parse(json: &str) -> serde_json::Result<AnyRecord> {
        let telling: Telling = serde_json::from_str(json)?;
        if telling.documents.is_some() {
            Topic::parse(json).map(AnyRecord::Topic)
        } else if telling.units.is_some() {
            Thread::parse(json).map(AnyRecord::Thread)
        } else if telling.keep.is_some() {
            CompressionPair::parse(json).map(AnyRecord::Compression)
        } else if telling.tokens.is_some() {
            SentenceRecord::parse(json).map(AnyRecord::Sentence)
        } else if telling.text.is_some() {
            TextRecord::parse(json).map(AnyRecord::Text)
        } else {
            Err(serde::de::Error::custom(
                "an object with `documents`, `units`, `tokens` and `keep`, `tokens`, or `text`",
            ))
        }
    }

    fn check(&self) -> Result<(), Fault> {
        each!(self, record => record.check())
    }

    fn source(&self) -> &Source {
        each!(self, record => record.source())
    }

    fn source_mut(&mut self) -> &mut Source {
        each!(self, record => record.source_mut())
    }
}

/// Writes a record and a line end.
///
/// A record that was read and not changed is written as it was, with its own line end (or none, at the end of
/// a file). In one that was changed, fields that are not of its type stay, in their order.
pub fn write_record<T: Record>(record: &T, out: &mut impl Write) -> io::Result<()> {
    let raw = record.source().0.as_str();
    // A record is made apart and written at once: a sink may have more to do than copying.
    let mut line;
    if raw.is_empty() {
        line = serde_json::to_vec(record)?;
        line.push(b'\n');
        return out.write_all(&line);
    }
    // Blank lines may stand before a byte order mark where files were put together.
    let json = raw.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    if T::parse(json).is_ok_and(|before| before == *record) {
        return out.write_all(raw.as_bytes());
    }
    let mut object: Value = serde_json::from_str(json)?;
    merge(&mut object, serde_json::to_value(record)?);
    line = serde_json::to_vec(&object)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Puts new values in the place of old ones; what only the old has stays.
fn merge(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                match old.get_mut(&key) {
                    Some(place) => merge(place, value),
                    // A field that was missing and is still nothing needs no mention.
                    None if value.is_null() => {}
                    None => drop(old.insert(key, value)),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter_mut().zip(new).for_each(|(old, new)| merge(old, new));
        }
        (old, new) => *old = new,
    }
}
