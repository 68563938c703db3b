//! `consonant evaluate entities`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::evaluate::entities;

use super::report::Files;
use crate::context::Context;

/// Entities as conlleval counts them; by characters where the tokens differ.
///
/// Labels stand in the last column of a file of columns, and as `NER=B-LOC` in the MISC of CoNLL-U. Schemes
/// may differ between the files. IOB1, IOB2, IOE1 and IOE2 are read as they are; a file with the prefixes S,
/// L or U, for which conlleval has no rule, is read as BIOES or BILOU.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate entities gold.tsv predicted.tsv --against baseline.tsv")]
pub struct Entities {
    #[command(flatten)]
    files: Files,
}

impl Entities {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        self.files.report(context, |predicted, detail| entities(&self.files.gold, predicted, detail))
    }
}
