//! `consonant evaluate links`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::evaluate::links;

use super::report::Files;
use crate::context::Context;

/// Precision, recall and F1 of the links between the units of conversations.
///
/// Lines are {"id", "links": [[source, target], …]} with units counted from 0; other keys are ignored.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate links gold.jsonl predicted.jsonl --format json")]
pub struct Links {
    #[command(flatten)]
    files: Files,
}

impl Links {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        self.files.report(context, |predicted, _| links(&self.files.gold, predicted))
    }
}
