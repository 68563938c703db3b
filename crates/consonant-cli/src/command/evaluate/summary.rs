//! `consonant evaluate summary`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::evaluate::summary;
use consonant::text::evaluate::Rouge;

use super::report::Files;
use crate::context::Context;

/// ROUGE-1, -2, -L and -SU4 by the rules of ROUGE-1.5.5.
///
/// Gold lines are {"id", "summaries": […]}, predicted lines {"id", "summary"}; sentences are separated by
/// newlines. References are pooled, and scores averaged over topics.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate summary gold.jsonl predicted.jsonl --words 100")]
pub struct Summary {
    #[command(flatten)]
    files: Files,
    /// Look only at the first N words of every summary, predicted or gold.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    words: Option<u32>,
    /// Compare words as they are instead of their Porter stems.
    #[arg(long)]
    no_stemming: bool,
}

impl Summary {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let rouge = Rouge { stemming: !self.no_stemming, words: self.words.map(|words| words as usize) };
        self.files.report(context, |predicted, _| summary(&self.files.gold, predicted, rouge))
    }
}
