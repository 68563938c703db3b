//! Prediction with a recognizer of named entities.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use consonant_learn::model::Model;
use consonant_map::solver::Method;
use consonant_ner::{Consistency, Decoded, NerModel, Request};
use consonant_tagger::Tagger;
use consonant_text::input::Input;
use consonant_text::sentence::SentenceBuilder;
use consonant_text::{Layer, Sentence, SentenceReader};

use super::report::{Report, Unit};
use super::{Predict, open_tagger};
use crate::context::Context;
use crate::sentences;

/// Sentences that are in memory at a time where nothing has to agree: so many, and then to the end of a document.
const BATCH: usize = 4096;

/// Labels CoNLL-U or columns.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    let model = NerModel::open(model)?;
    let tagger = command.tagger.as_deref().map(open_tagger).transpose()?;
    if tagger.is_some() && !model.reads_tags() {
        return Err(crate::usage_error("the model was trained without tags, so --tagger is of no use to it"));
    }
    let decoder = model.decoder()?;
    let request = Request {
        marginals: command.marginals,
        n_best: usize::from(command.n_best),
        method: command.decoder.as_deref().map(method).transpose()?,
    };
    let most = if model.consistency() == Consistency::None { BATCH } else { usize::MAX };
    let mut report = Report::default();
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress("finding names", None);
    for path in command.inputs() {
        let mut input = sentences::open(&path)?;
        let mut next = None;
        loop {
            let mut batch = next_batch(&mut input.reader, &mut next, most)?;
            if batch.is_empty() {
                break;
            }
            if let Some(folder) = &command.graphs {
                write_graphs(&decoder.graphs(&batch)?, folder)?;
            }
            let start = Instant::now();
            let decoded = match &tagger {
                None if model.reads_tags() && !has_tags(&batch) => bail!(
                    "{}: the model reads parts of speech, and there are none; give a tagger with --tagger MODEL",
                    input.name
                ),
                None => decoder.decode(&mut batch, &request)?,
                Some(tagger) => {
                    let mut tagged = tag(&batch, tagger)?;
                    let decoded = decoder.decode(&mut tagged, &request)?;
                    copy_entities(&tagged, &mut batch)?;
                    decoded
                }
            };
            seconds += start.elapsed().as_secs_f64();
            for sentence in &batch {
                sentence.write(&mut out)?;
            }
            progress.advance(batch.len() as u64);
            if command.report.is_some() {
                decoded.iter().for_each(|unit| report.add(describe(unit)));
            }
        }
        std::io::Write::write_all(&mut out, input.reader.trailer().as_bytes())?;
    }
    out.finish()?;
    if let Some(path) = &command.report {
        report.write(context, path, seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whole documents, with at least `most` sentences if there are so many; `next` is the sentence that was read too far. Sentences without document marks
/// stand for themselves.
fn next_batch(
    reader: &mut SentenceReader<Input>,
    next: &mut Option<Sentence>,
    most: usize,
) -> Result<Vec<Sentence>> {
    let mut batch: Vec<Sentence> = next.take().into_iter().collect();
    let mut marked = batch.iter().any(Sentence::starts_document);
    for sentence in reader {
        let sentence = sentence?;
        marked |= sentence.starts_document();
        if batch.len() >= most && (sentence.starts_document() || !marked) {
            *next = Some(sentence);
            break;
        }
        batch.push(sentence);
    }
    Ok(batch)
}

fn describe(unit: &Decoded) -> Unit {
    Unit {
        value: unit.value,
        bound: unit.bound,
        status: unit.status.name(),
        iterations: unit.iterations,
        seconds: unit.seconds,
        tokens: unit.tokens,
    }
}

/// The same sentences in CoNLL-U with parts of speech; columns have no place for them.
pub fn tag(sentences: &[Sentence], tagger: &Tagger) -> Result<Vec<Sentence>> {
    let copies = sentences.iter().map(|sentence| copy(sentence, sentence.starts_document()));
    let mut tagged = copies.collect::<Result<Vec<Sentence>>>()?;
    tagger.decoder()?.tag(&mut tagged, &consonant_tagger::Request::default())?;
    if !has_tags(&tagged) {
        bail!("the tagger predicts {}; a recognizer reads upos", tagger.column());
    }
    Ok(tagged)
}

/// A sentence in CoNLL-U with its entities, and whether a document starts with it.
pub fn copy(sentence: &Sentence, starts_document: bool) -> Result<Sentence> {
    let mut builder = SentenceBuilder::new();
    if starts_document {
        builder.raw_comment("# newdoc");
    }
    (0..sentence.len()).for_each(|word| builder.word(sentence.form(word), true));
    let mut copy = builder.finish();
    for word in 0..sentence.len() {
        let label = sentence.entity_label(word);
        if label != "O" {
            copy.set(word, Layer::Entity, label)?;
        }
    }
    Ok(copy)
}

fn has_tags(sentences: &[Sentence]) -> bool {
    let words =
        sentences.iter().flat_map(|sentence| (0..sentence.len()).map(move |word| sentence.upos(word)));
    words.clone().next().is_none() || words.into_iter().any(|tag| tag != "_" && !tag.is_empty())
}

fn copy_entities(from: &[Sentence], to: &mut [Sentence]) -> Result<()> {
    for (source, sentence) in from.iter().zip(to) {
        for word in 0..sentence.len() {
            if sentence.entity_label(word) != source.entity_label(word) {
                sentence.set(word, Layer::Entity, source.entity_label(word))?;
            }
        }
    }
    Ok(())
}

/// Each graph a file `1.json`, `2.json`, … of the folder.
fn write_graphs(graphs: &[String], folder: &Path) -> Result<()> {
    let place = |path: &Path| format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(|| place(folder))?;
    for (number, graph) in graphs.iter().enumerate() {
        let path = folder.join(format!("{}.json", number + 1));
        fs::write(&path, graph).with_context(|| place(&path))?;
    }
    Ok(())
}

fn method(name: &str) -> Result<Method> {
    let known = Method::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, method)| *method).ok_or_else(|| {
        let names: Vec<&str> = Method::NAMES.iter().map(|(name, _)| *name).collect();
        crate::usage_error(format!("unknown decoder `{name}`; the decoders are {}", names.join(", ")))
    })
}
