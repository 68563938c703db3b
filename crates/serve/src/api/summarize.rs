//! `POST /v1/summarize`: several documents about one thing to one summary.

use consonant::Error;
use consonant::registry::Given;
use consonant::summarizer::{Source, SummarizerOptions};
use consonant::text::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::annotate::GivenDocument;
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Summarize;

/// Documents about one thing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeRequest {
    /// The documents.
    documents: Vec<GivenDocument>,
    /// The options of `consonant summarize`: `words`, `sentences`, `extractive`, `decoder`, `time_limit` and others.
    #[serde(flatten)]
    options: Map<String, Value>,
}

/// The summary, as `consonant summarize --format json` writes it, and the sentences it could choose from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummarizeAnswer {
    /// The summary: `summary`, `word_count`, `sentences` with their words, `concepts`, and the certificate.
    #[serde(flatten)]
    summary: Map<String, Value>,
    /// Documents that repeat another and were passed over: pairs of numbers, the copy first.
    copies: Vec<(usize, usize)>,
    /// Why the summary is empty, if it is.
    empty: Option<String>,
    /// For each document, where its sentences stand in its text: first character, and the one after the last.
    places: Vec<Vec<(usize, usize)>>,
}

impl Operation for Summarize {
    const PATH: &'static str = "/v1/summarize";
    const SUMMARY: &'static str =
        "One summary of several documents about one thing, with value, bound and status";
    const LANE: Lane = Lane::Sentences;
    type Query = NoQuery;
    type Request = SummarizeRequest;
    type Answer = SummarizeAnswer;

    fn run(work: &Work, _: NoQuery, request: SummarizeRequest) -> Result<SummarizeAnswer, Problem> {
        let SummarizeRequest { documents: given, options: values } = request;
        let options: SummarizerOptions = Given { values, flags: Vec::new() }
            .settings()
            .map_err(|error| Problem::bad(error.to_string()))?;
        if given.is_empty() {
            return Err(Problem::wrong("there is no document to summarize"));
        }
        work.check_words(given.iter().map(|document| document.text.as_str()))?;
        let names = given.iter().enumerate().map(|(number, document)| match &document.id {
            Some(id) => id.clone(),
            None => format!("document {}", number + 1),
        });
        let sources: Vec<Source> = names
            .zip(&given)
            .map(|(name, document)| Source::from_text(name, document.text.as_str()))
            .collect();
        let texts: Vec<String> = given.into_iter().map(|document| document.text).collect();
        let models = &work.models;
        let mut documents: Vec<Document> =
            models.take_topic(&texts).unwrap_or_else(|| sources.iter().map(Source::document).collect());
        models
            .summarizer
            .annotate_documents(&mut documents, &options, &models.annotator)
            .map_err(Error::boxed)?;
        work.check_time()?;
        let left = work.seconds_left();
        let limited = options.time_limit.map_or(left, |limit| limit.min(left));
        let options = options.time_limit(limited);
        let summary = models
            .summarizer
            .summarize(&documents, &options)
            .map_err(|error| Problem::from(Error::task(error)))?;
        let places =
            documents.iter().zip(&sources).map(|(document, source)| places(document, source)).collect();
        models.keep_topic(texts, documents);
        let Value::Object(written) = summary.to_json(&sources) else {
            return Err(Problem::wrong("no summary"));
        };
        Ok(SummarizeAnswer {
            summary: written,
            copies: summary.copies.clone(),
            empty: summary.empty.map(|why| why.to_string()),
            places,
        })
    }
}

/// Where the sentences of a document stand in the text that was given, in characters.
fn places(document: &Document, source: &Source) -> Vec<(usize, usize)> {
    let mut offsets = consonant::text::document::CharOffsets::new(source.text());
    let place = |number| {
        let place = offsets.range(source.place(document.sentence_place(number)));
        (place.start, place.end)
    };
    (0..document.sentences().len()).map(place).collect()
}
