//! `consonant evaluate summary`

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use consonant::text::evaluate::{Rouge, RougeScores};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::report::{Files, Scored, nothing_to_score};
use crate::context::Context;
use crate::jsonl;

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

#[derive(Deserialize, Serialize, PartialEq)]
struct Gold {
    id: String,
    summaries: Vec<String>,
}

#[derive(Deserialize, Serialize, PartialEq)]
struct Predicted {
    id: String,
    summary: String,
}

impl Summary {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let rouge = Rouge { stemming: !self.no_stemming, words: self.words.map(|words| words as usize) };
        self.files.report(context, |path| {
            let gold: Vec<Gold> = jsonl::read(&self.files.gold)?;
            if gold.is_empty() {
                let expected = r#"lines {"id", "summaries": […]}"#;
                return Err(nothing_to_score(self.files.gold.display(), expected));
            }
            let mut predicted = HashMap::new();
            for Predicted { id, summary } in jsonl::read(path)? {
                if predicted.contains_key(&id) {
                    bail!("{}: topic `{id}` has two summaries; there must be one", path.display());
                }
                predicted.insert(id, summary);
            }
            let mut pairs = Vec::with_capacity(gold.len());
            for Gold { id, summaries } in gold {
                if summaries.is_empty() {
                    bail!("{}: topic `{id}` has no gold summary to compare with", self.files.gold.display());
                }
                let summary = predicted
                    .remove(&id)
                    .with_context(|| format!("{}: there is no summary of topic `{id}`", path.display()))?;
                pairs.push((summary, summaries));
            }
            if let Some(id) = predicted.keys().min() {
                bail!("{}: topic `{id}` is not in {}", path.display(), self.files.gold.display());
            }
            let scores: Vec<RougeScores> =
                pairs.par_iter().map(|(summary, references)| rouge.score(summary, references)).collect();
            Scored::new(&RougeScores::mean(&scores), RougeScores::by_unit(&scores))
        })
    }
}
