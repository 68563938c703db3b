//! Training, one file a task.

mod tagger;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::context::Context;

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
}

impl Train {
    /// Trains the task's model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        match self.task {
            Task::Tagger(command) => command.run(context),
        }
    }
}
