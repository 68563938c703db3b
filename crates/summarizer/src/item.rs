//! What a summarizer works on: topics and single sentences, each a line of JSON.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use consonant_task::{Batch, Item, ItemError, ItemReader, Lines};
use consonant_text::jsonl::{Fault, Record};
use consonant_text::sentence::SentenceBuilder;
use consonant_text::{Document, Format, Sentence, jsonl};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Source, SummarizerError};

/// Documents about one thing, with the summaries that people wrote of them.
#[derive(Debug, Clone, Default)]
pub struct Topic {
    /// The documents; those that have no sentences yet are segmented when the topic is annotated.
    pub documents: Vec<Document>,
    /// The summaries that people wrote, if there are any; none is blank.
    pub references: Vec<String>,
    /// How many of the documents are in a language that whoever annotated them does not know: their sentences
    /// are taken whole.
    pub foreign: usize,
}

/// A sentence and which of its words a person kept.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// The sentence, with its tree once it is annotated.
    pub sentence: Sentence,
    /// For each word, whether it was kept; empty if nobody said.
    pub keep: Vec<bool>,
}

/// What stands on a line.
#[derive(Debug, Clone)]
pub enum Content {
    /// `documents`, to which decoding adds `summary`.
    Topic(Topic),
    /// `tokens`, to which decoding adds `keep`.
    Pair(Pair),
}

/// A topic or a sentence, and the line of JSON that it comes from, whose other keys stay as they are.
#[derive(Debug, Clone)]
pub struct SummarizerItem {
    /// What a summarizer reads.
    pub content: Content,
    /// The line.
    pub(crate) line: Map<String, Value>,
    /// Where the line stands, for messages.
    place: String,
}

impl From<Topic> for SummarizerItem {
    fn from(topic: Topic) -> Self {
        Self { content: Content::Topic(topic), line: Map::new(), place: "a topic".to_owned() }
    }
}

impl From<Pair> for SummarizerItem {
    fn from(pair: Pair) -> Self {
        Self { content: Content::Pair(pair), line: Map::new(), place: "a sentence".to_owned() }
    }
}

impl SummarizerItem {
    /// The line, with what was decoded.
    pub fn line(&self) -> &Map<String, Value> {
        &self.line
    }

    /// Tells of a problem with this item.
    pub(crate) fn wrong(&self, problem: impl ToString) -> SummarizerError {
        SummarizerError::Item { place: self.place.clone(), problem: problem.to_string() }
    }

    /// Whether there is something to learn from it.
    pub(crate) fn check(&self) -> Result<(), SummarizerError> {
        match &self.content {
            Content::Topic(topic) if topic.references.is_empty() => {
                let id = self.line.get("id").and_then(Value::as_str).unwrap_or_default();
                Err(self.wrong(format!("topic `{id}` has no summaries to learn from")))
            }
            Content::Topic(topic) if topic.documents.is_empty() => {
                Err(self.wrong("expected one document or more"))
            }
            Content::Pair(pair) if pair.keep.len() != pair.sentence.len() => {
                Err(self.wrong("expected `keep`, with 0 or 1 for each token"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn topic(&self) -> Result<&Topic, SummarizerError> {
        match &self.content {
            Content::Topic(topic) => Ok(topic),
            Content::Pair(_) => Err(self.wrong("expected a topic (`documents`, `summaries`)")),
        }
    }

    pub(crate) fn pair(&self) -> Result<&Pair, SummarizerError> {
        match &self.content {
            Content::Pair(pair) => Ok(pair),
            Content::Topic(_) => Err(self.wrong("expected a compression (`tokens`, `keep`)")),
        }
    }
}

impl Item for SummarizerItem {
    const PLURAL: &'static str = "topics and sentences";
    const EXPECTED: &'static str = r#"topics, lines {"documents": [{"text"}, …], "summaries": […]}, or sentences, lines {"tokens": […], "keep": […]},"#;

    fn open(path: &Path, _: &[Format]) -> Result<Box<dyn ItemReader<Self>>, ItemError> {
        Ok(Box::new(Items { lines: Lines::open(path, Self::EXPECTED)?, batch: Vec::new(), records: 0 }))
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &self.line)?;
        writeln!(out)
    }
}

/// Reads items; blank lines are passed over.
struct Items {
    lines: Box<dyn ItemReader<Line>>,
    batch: Vec<Line>,
    /// Lines that were read.
    records: usize,
}

impl ItemReader<SummarizerItem> for Items {
    fn name(&self) -> &Arc<str> {
        self.lines.name()
    }

    fn read(&mut self, items: &mut Vec<SummarizerItem>, size: Batch) -> Result<(), ItemError> {
        self.lines.read(&mut self.batch, size)?;
        items.clear();
        let name = Arc::clone(self.lines.name());
        for Line { object: line, .. } in self.batch.drain(..) {
            self.records += 1;
            let record = self.records;
            let wrong = |problem| ItemError::Record { name: Arc::clone(&name), record, problem };
            let content = content(&line).map_err(wrong)?;
            items.push(SummarizerItem { content, line, place: format!("{name}, record {record}") });
        }
        Ok(())
    }
}

/// Any object on a line.
#[derive(PartialEq, Serialize)]
struct Line {
    #[serde(flatten)]
    object: Map<String, Value>,
    #[serde(skip)]
    source: jsonl::Source,
}

impl Record for Line {
    fn parse(json: &str) -> serde_json::Result<Self> {
        Ok(Self { object: serde_json::from_str(json)?, source: jsonl::Source::default() })
    }

    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&self) -> &jsonl::Source {
        &self.source
    }

    fn source_mut(&mut self) -> &mut jsonl::Source {
        &mut self.source
    }
}

/// Reads what stands on a line.
fn content(line: &Map<String, Value>) -> Result<Content, String> {
    if let Some(tokens) = line.get("tokens") {
        let sentence = sentence_of(tokens)?;
        let keep = match line.get("keep") {
            None | Some(Value::Null) => Vec::new(),
            Some(keep) => {
                let keep: Option<Vec<bool>> = list(keep).and_then(|keep| keep.map(kept).collect());
                let fits = keep.filter(|keep| keep.len() == sentence.len());
                fits.ok_or_else(|| {
                    format!("expected `keep` to be 0 or 1 for each of {} tokens", sentence.len())
                })?
            }
        };
        return Ok(Content::Pair(Pair { sentence, keep }));
    }
    let Some(documents) = line.get("documents") else {
        let keys: Vec<&str> = line.keys().map(String::as_str).collect();
        return Err(format!(
            "expected `documents` or `tokens` among the keys, which are: {}",
            keys.join(", ")
        ));
    };
    let text_of = |(index, document): (usize, &Value)| {
        let text = document.get("text").and_then(Value::as_str);
        let text = text.ok_or_else(|| format!("document {index}: expected a string `text`"))?;
        Ok(Source::of_lines(index.to_string(), text).document())
    };
    let documents = list(documents).ok_or("expected `documents` to be a list")?;
    let documents = documents.enumerate().map(text_of).collect::<Result<_, String>>()?;
    let summaries: Option<Vec<&str>> = match line.get("summaries") {
        None => Some(Vec::new()),
        Some(summaries) => list(summaries).and_then(|texts| texts.map(Value::as_str).collect()),
    };
    // A blank one tells nothing, not even what length is wanted.
    let references = summaries.ok_or("expected `summaries` to be a list of strings")?.into_iter();
    let references = references.filter(|text| !text.trim().is_empty()).map(str::to_owned).collect();
    Ok(Content::Topic(Topic { documents, references, foreign: 0 }))
}

fn list(value: &Value) -> Option<std::slice::Iter<'_, Value>> {
    value.as_array().map(|values| values.iter())
}

fn kept(keep: &Value) -> Option<bool> {
    keep.as_u64().filter(|&keep| keep <= 1).map(|keep| keep == 1)
}

/// A sentence of tokens, which are strings or objects with a `form`.
fn sentence_of(tokens: &Value) -> Result<Sentence, String> {
    let mut builder = SentenceBuilder::new();
    for token in list(tokens).ok_or("expected `tokens` to be a list")? {
        let form = token.as_str().or_else(|| token.get("form").and_then(Value::as_str));
        builder.word(form.ok_or("expected tokens to be strings, or objects with a `form`")?, true);
    }
    Ok(builder.finish())
}
