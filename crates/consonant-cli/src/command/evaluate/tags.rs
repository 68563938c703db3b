//! `consonant evaluate tags`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::evaluate::{TagColumn, TagOptions, tags, training_words};

use super::report::Files;
use crate::context::Context;

/// Accuracy of tags, over all words and over words not seen in training.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate tags gold.conllu predicted.conllu --column xpos --train train.conllu")]
pub struct Tags {
    #[command(flatten)]
    files: Files,
    #[arg(long, value_name = "COLUMN", help = column_help())]
    column: Option<TagColumn>,
    /// The training data: words that are not in it are unknown.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
}

impl Tags {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let train = self.train.as_deref().map(training_words).transpose()?;
        self.files.report(context, |predicted, detail| {
            let options = TagOptions { column: self.column.clone(), train: train.clone(), detail };
            tags(&self.files.gold, predicted, &options)
        })
    }
}

fn column_help() -> String {
    format!(
        "What to compare: {}, several joined by `+`, or a column's number in a file of columns [default: upos; in a \
         file of columns the last]",
        TagColumn::names()
    )
}
