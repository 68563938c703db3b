//! `consonant evaluate links`

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use consonant::text::evaluate::LinkScores;
use serde::{Deserialize, Serialize};

use super::report::{Files, Scored, nothing_to_score};
use crate::context::Context;
use crate::jsonl;

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

#[derive(Deserialize, Serialize, PartialEq)]
struct Conversation {
    id: String,
    links: Vec<(usize, usize)>,
}

impl Links {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        self.files.report(context, |path| {
            let gold: Vec<Conversation> = jsonl::read(&self.files.gold)?;
            if gold.is_empty() {
                let expected = r#"lines {"id", "links": [[source, target], …]}"#;
                return Err(nothing_to_score(self.files.gold.display(), expected));
            }
            let mut predicted = HashMap::new();
            for Conversation { id, links } in jsonl::read(path)? {
                if predicted.contains_key(&id) {
                    bail!("{}: conversation `{id}` stands there twice", path.display());
                }
                predicted.insert(id, links);
            }
            let mut scores = LinkScores::default();
            for Conversation { id, links } in gold {
                let found = predicted
                    .remove(&id)
                    .with_context(|| format!("{}: there is no conversation `{id}`", path.display()))?;
                scores.conversation(links, found);
            }
            if let Some(id) = predicted.keys().min() {
                bail!("{}: conversation `{id}` is not in {}", path.display(), self.files.gold.display());
            }
            Scored::new(&scores, scores.by_unit())
        })
    }
}
