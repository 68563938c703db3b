//! Training, one file a task.

mod ner;
mod parser;
mod resources;
mod segmenter;
mod summarizer;
mod tagger;
mod threads;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::trainer::{Training, TrainingAlgorithm};
use consonant_text::Sentence;

use crate::context::Context;
use crate::interrupt;
use crate::output::Output;
use crate::{sentences, usage_error};

/// Trains a model for a task.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train tagger --train train.conllu --dev dev.conllu --model tagger.model"
)]
pub struct Train {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Tagger(Box<tagger::TrainTagger>),
    Ner(Box<ner::TrainNer>),
    Parser(parser::TrainParser),
    Segmenter(segmenter::TrainSegmenter),
    Threads(threads::TrainThreads),
    Summarizer(Box<summarizer::TrainSummarizer>),
}

impl Train {
    /// Trains the task's model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        match self.task {
            Task::Tagger(command) => command.run(context),
            Task::Ner(command) => command.run(context),
            Task::Parser(command) => command.run(context),
            Task::Segmenter(command) => command.run(context),
            Task::Threads(command) => command.run(context),
            Task::Summarizer(command) => command.run(context),
        }
    }
}

/// A parameter as it is written on the command line.
fn named_number(text: &str) -> Result<(String, f64), String> {
    let (name, number) = text.rsplit_once('=').ok_or("expected NAME=NUMBER")?;
    let number = number.parse().ok().filter(|number: &f64| number.is_finite());
    Ok((name.to_owned(), number.ok_or("expected a finite number after `=`")?))
}

/// A finite number.
fn finite(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| "expected a finite number".to_owned())
}

/// A finite number that is zero or more.
fn not_negative(text: &str) -> Result<f32, String> {
    finite(text).ok().filter(|&number| number >= 0.0).ok_or_else(|| "expected a number from 0 on".to_owned())
}

/// The sentences of a CoNLL-U file, from which `learners` (taggers, parsers) learn.
fn read_conllu(path: &Path, learners: &str) -> Result<Vec<Sentence>> {
    let opened = sentences::open(path)?;
    let (name, is_conllu) = (opened.name, opened.is_conllu);
    let mut reader = opened.reader.peekable();
    // A file without sentences has no format.
    if reader.peek().is_none() {
        bail!("{name} has no sentence; {learners} are trained on CoNLL-U");
    }
    if !is_conllu {
        bail!(
            "{name} is not CoNLL-U, which {learners} are trained on; `consonant convert` makes it from columns"
        );
    }
    Ok(reader.collect::<Result<_, _>>()?)
}

/// `--algorithm list`: those that suit a task, with their parameters.
fn list_algorithms<A: TrainingAlgorithm>(context: &Context, suits: fn(A) -> bool) -> Result<ExitCode> {
    let mut out = context.open_output(None)?;
    for &algorithm in A::ALL.iter().filter(|algorithm| suits(**algorithm)) {
        write!(out, "{}", algorithm.info())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The algorithm and parameters of a command line.
fn training<A: TrainingAlgorithm>(algorithm: &str, parameters: &[(String, f64)]) -> Result<Training<A>> {
    Ok(Training::from_names(algorithm, parameters.iter().map(|(name, value)| (name, *value)))?)
}

/// Only a training needs these; `--algorithm list` does not.
fn no_places() -> anyhow::Error {
    usage_error("give the training data with --train FILE and the model's place with --model OUT")
}

/// Opens the file of a model before the training, so that no work is lost to a folder that is not there. A file that holds anything but a
/// model, such as the training data, is not written over.
fn open_model(path: &Path, context: &Context) -> Result<Output> {
    let mut beginning = Vec::new();
    if path.is_file() {
        let file = fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        file.take(64).read_to_end(&mut beginning)?;
    }
    if !beginning.is_empty() && !Model::has_signature(&beginning) {
        bail!("{} is there and is no model; name another file for the model, or remove it", path.display());
    }
    Ok(context.open_output(Some(path))?)
}

/// Writes a model.
fn store(model: &ModelWriter, mut file: Output, path: &Path) -> Result<()> {
    let written = file.write_all(&model.to_bytes()).and_then(|()| file.finish());
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The end of a training: its model is there, but who interrupted it should not find a success.
fn done() -> Result<ExitCode> {
    let is_whole = !interrupt::stop().load(Ordering::Relaxed);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(interrupt::EXIT_INTERRUPTED) })
}

/// A small file of settings, such as templates.
fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
