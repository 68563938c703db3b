//! `consonant evaluate trees`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::evaluate::trees;

use super::report::Files;
use crate::context::Context;

/// The scores of the CoNLL 2018 shared task, from tokens to labelled trees, on CoNLL-U.
///
/// Gold and prediction may cut the same text into different tokens and sentences. Where a file has no heads,
/// the scores of trees are left out.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate trees gold.conllu predicted.conllu --intervals")]
pub struct Trees {
    #[command(flatten)]
    files: Files,
}

impl Trees {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        self.files.report(context, |predicted, detail| trees(&self.files.gold, predicted, detail))
    }
}
