//! Prediction with a recognizer of named entities.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use consonant_learn::model::Model;
use consonant_map::solver::Method;
use consonant_ner::{Consistency, NerModel, Request};
use consonant_tagger::Tagger;
use consonant_text::Sentence;

use super::frame::{self, BATCH, Source};
use super::report::Unit;
use super::{Predict, open_tagger};
use crate::context::Context;
use crate::output::Output;
use crate::sentences::{self, Sentences};

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
    // Words and patterns may agree across all of a file.
    let at_least = if model.consistency() == Consistency::None { BATCH } else { usize::MAX };
    let open = |path: &Path| Ok(Documents { input: sentences::open(path)?, next: None, at_least });
    frame::predict(command, context, "finding names", open, |source, batch| {
        match &tagger {
            Some(tagger) => tag(batch, tagger)?,
            None if model.reads_tags() && !has_tags(batch) => bail!(
                "{}: the model reads parts of speech, and there are none; give a tagger with --tagger MODEL",
                source.input.name
            ),
            None => {}
        }
        if let Some(folder) = &command.graphs {
            write_graphs(&decoder.graphs(batch)?, folder)?;
        }
        let decoded = decoder.decode(batch, &request)?;
        Ok(decoded.iter().map(|unit| Unit { certificate: unit.certificate, tokens: unit.tokens }).collect())
    })
}

/// Whole documents, with so many sentences at least if there are so many. Sentences without document marks stand for themselves.
struct Documents {
    input: Sentences,
    /// The sentence that was read too far.
    next: Option<Sentence>,
    at_least: usize,
}

impl Source for Documents {
    type Item = Sentence;

    fn read(&mut self, batch: &mut Vec<Sentence>) -> Result<()> {
        batch.clear();
        batch.extend(self.next.take());
        let mut marked = batch.iter().any(Sentence::starts_document);
        for sentence in &mut self.input.reader {
            let sentence = sentence?;
            marked |= sentence.starts_document();
            if batch.len() >= self.at_least && (sentence.starts_document() || !marked) {
                self.next = Some(sentence);
                break;
            }
            batch.push(sentence);
        }
        Ok(())
    }

    fn write(sentence: &Sentence, out: &mut Output) -> Result<()> {
        Ok(sentence.write(out)?)
    }

    fn trailer(&self) -> &str {
        self.input.reader.trailer()
    }
}

/// Adds parts of speech, for a recognizer that reads them; columns have no place for them, so that only CoNLL-U shows them.
pub fn tag(sentences: &mut [Sentence], tagger: &Tagger) -> Result<()> {
    tagger.decoder()?.tag(sentences, &consonant_tagger::Request::default())?;
    if !has_tags(sentences) {
        bail!("the tagger predicts {}; a recognizer reads upos", tagger.column());
    }
    Ok(())
}

/// Whether some word has a part of speech, if there is any word.
fn has_tags(sentences: &[Sentence]) -> bool {
    let words =
        sentences.iter().flat_map(|sentence| (0..sentence.len()).map(move |word| sentence.upos(word)));
    words.clone().next().is_none() || words.into_iter().any(|tag| tag != "_" && !tag.is_empty())
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
