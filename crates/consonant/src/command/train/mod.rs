//! Training, one file a task.

mod ner;
mod parser;
mod resources;
mod segmenter;
mod summarizer;
mod tagger;
mod threads;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use consonant_learn::model::ModelWriter;
use consonant_learn::trainer::Method;

use crate::context::Context;
use crate::interrupt;
use crate::output::Output;

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

/// `--algorithm list` of tasks whose trainers decode: the online methods.
fn list_online_methods(context: &Context) -> Result<ExitCode> {
    let mut out = context.open_output(None)?;
    for method in Method::ALL.into_iter().filter(|method| !method.needs_gradient()) {
        write!(out, "{}", method.info())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a model. Its file is opened before the training, so that no work is lost to a folder that is not there.
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
