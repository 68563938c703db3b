//! Prediction with a summarizer: topics get a summary, sentences are compressed.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use consonant_learn::model::Model;
use consonant_summarizer::{Certificate, Decoder, DecoderOptions, Request, Summarizer, reference_length};
use consonant_text::Sentence;
use consonant_text::sentence::SentenceBuilder;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::Predict;
use super::report::{Report, Unit};
use crate::command::summarize::{Source, TopicAnnotator};
use crate::context::Context;
use crate::jsonl;

/// Lines that are handled at once.
const BATCH: usize = 256;

/// Fills in `summary` for lines with `documents`, and `keep` for lines with `tokens`.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if command.marginals || command.n_best > 1 {
        return Err(crate::usage_error("a summarizer gives one summary; leave out --marginals and --n-best"));
    }
    let decoder = match command.decoder.as_deref() {
        None | Some("ad3") => Decoder::Ad3,
        Some("exact") => Decoder::Exact,
        Some(other) => {
            return Err(crate::usage_error(format!(
                "summaries are decoded by ad3 or exact, not by `{other}`"
            )));
        }
    };
    let options = DecoderOptions {
        decoder,
        time_limit: (decoder == Decoder::Exact).then_some(60.0),
        ..DecoderOptions::default()
    };
    let summarizer = Summarizer::open(model)?;
    let folder = command.model.parent().filter(|folder| folder.join("parser.model").exists());
    let annotator = TopicAnnotator::open(folder.map(Into::into), context)?;
    let words = command.words.map(|words| words as usize);
    let predictor = Predictor { summarizer, annotator, options, words, context };
    let mut report = Report::open(context, command.report.as_deref())?;
    let began = Instant::now();
    let mut out = context.open_output(command.output.as_deref())?;
    for path in command.inputs()? {
        let mut lines: Vec<Map<String, Value>> = jsonl::read(&path)?;
        for (number, batch) in lines.chunks_mut(BATCH).enumerate() {
            let place = |record: usize| format!("{}, record {}", path.display(), number * BATCH + record + 1);
            for unit in predictor.fill(batch, place)? {
                report.add(unit);
            }
            for line in batch {
                serde_json::to_writer(&mut out, line)?;
                writeln!(out)?;
            }
        }
    }
    out.finish()?;
    report.finish(began.elapsed().as_secs_f64())?;
    Ok(ExitCode::SUCCESS)
}

struct Predictor<'a> {
    summarizer: Summarizer,
    annotator: TopicAnnotator,
    options: DecoderOptions,
    /// The length of all summaries; without it, that of each line's own.
    words: Option<usize>,
    context: &'a Context,
}

impl Predictor<'_> {
    /// Predicts a few lines; `place` says where one stands, for messages.
    fn fill(
        &self,
        lines: &mut [Map<String, Value>],
        place: impl Fn(usize) -> String + Sync,
    ) -> Result<Vec<Unit>> {
        let mut sentences: Vec<Sentence> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            if let Some(tokens) = line.get("tokens") {
                sentences.push(sentence_of(tokens).with_context(|| place(number))?);
            }
        }
        self.annotator.parse(&mut sentences)?;
        let mut sentences = sentences.into_iter();
        let work: Vec<(&mut Map<String, Value>, Option<Sentence>)> = lines
            .iter_mut()
            .map(|line| {
                let sentence = line.contains_key("tokens").then(|| sentences.next()).flatten();
                (line, sentence)
            })
            .collect();
        work.into_par_iter()
            .enumerate()
            .map(|(number, (line, sentence))| match sentence {
                Some(sentence) => Ok(self.compress(line, &sentence)),
                None => self.summarize(line).with_context(|| place(number)),
            })
            .collect()
    }

    fn compress(&self, line: &mut Map<String, Value>, sentence: &Sentence) -> Unit {
        let start = Instant::now();
        let keep: Vec<u8> = self.summarizer.compress(sentence).into_iter().map(u8::from).collect();
        line.insert("keep".into(), json!(keep));
        let certificate = Certificate::exact(0.0).after(1, start.elapsed().as_secs_f64());
        Unit { certificate, tokens: sentence.len() }
    }

    fn summarize(&self, line: &mut Map<String, Value>) -> Result<Unit> {
        let Some(documents) = line.get("documents") else {
            let keys: Vec<&str> = line.keys().map(String::as_str).collect();
            bail!("expected `documents` or `tokens` among the keys, which are: {}", keys.join(", "));
        };
        let documents = documents.as_array().context("expected `documents` to be a list")?;
        let mut sources = Vec::with_capacity(documents.len());
        for (index, document) in documents.iter().enumerate() {
            let text = document.get("text").and_then(Value::as_str);
            let text = text.with_context(|| format!("document {index}: expected a string `text`"))?;
            sources.push(Source::of_lines(index.to_string(), text.to_string()));
        }
        let mut references: Vec<String> = match line.get("summaries") {
            Some(summaries) => serde_json::from_value(summaries.clone())
                .ok()
                .context("expected `summaries` to be a list of strings")?,
            None => Vec::new(),
        };
        // An empty text tells nothing of the length that is wanted.
        references.retain(|text| !text.trim().is_empty());
        let mut request = Request { options: self.options, ..Request::default() };
        match self.words {
            Some(words) => request.words = words,
            None if references.is_empty() => {}
            None => request.words = reference_length(&references),
        }
        let mut documents =
            sources.iter().map(|source| self.annotator.segment(source)).collect::<Result<Vec<_>>>()?;
        self.annotator.add_trees(&self.summarizer, &mut documents, &request, self.context)?;
        let summary = self.summarizer.summarize(&documents, &request)?;
        line.insert("summary".into(), json!(summary.text()));
        let tokens = documents.iter().flat_map(|document| document.sentences()).map(Sentence::len).sum();
        let certificate = summary.certificate.context("a summary that was decoded has a certificate")?;
        Ok(Unit { certificate, tokens })
    }
}

/// A sentence of tokens, which are strings or objects with a `form`.
fn sentence_of(tokens: &Value) -> Result<Sentence> {
    let mut builder = SentenceBuilder::new();
    for token in tokens.as_array().context("expected `tokens` to be a list")? {
        let form = token.as_str().or_else(|| token.get("form").and_then(Value::as_str));
        builder.word(form.context("expected tokens to be strings, or objects with a `form`")?, true);
    }
    Ok(builder.finish())
}
