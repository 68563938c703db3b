use std::collections::HashMap;
use std::path::Path;

use consonant_text::evaluate::{Rouge, RougeScores};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Scored, jsonl, nothing_to_score, refused};
use crate::Error;

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

/// ROUGE of summaries: gold lines are `{"id", "summaries": […]}`, predicted lines `{"id", "summary"}`. References are pooled, and
/// scores averaged over topics.
pub fn summary(gold: &Path, predicted: &Path, rouge: Rouge) -> Result<Scored, Error> {
    let topics: Vec<Gold> = jsonl::read(gold)?;
    if topics.is_empty() {
        return Err(nothing_to_score(gold.display(), r#"lines {"id", "summaries": […]}"#));
    }
    let mut found = HashMap::new();
    for Predicted { id, summary } in jsonl::read(predicted)? {
        if found.contains_key(&id) {
            return refused(format!(
                "{}: topic `{id}` has two summaries; there must be one",
                predicted.display()
            ));
        }
        found.insert(id, summary);
    }
    let mut pairs = Vec::with_capacity(topics.len());
    for Gold { id, summaries } in topics {
        if summaries.is_empty() {
            return refused(format!("{}: topic `{id}` has no gold summary to compare with", gold.display()));
        }
        let Some(summary) = found.remove(&id) else {
            return refused(format!("{}: there is no summary of topic `{id}`", predicted.display()));
        };
        pairs.push((summary, summaries));
    }
    if let Some(id) = found.keys().min() {
        return refused(format!("{}: topic `{id}` is not in {}", predicted.display(), gold.display()));
    }
    let scores: Vec<RougeScores> =
        pairs.par_iter().map(|(summary, references)| rouge.score(summary, references)).collect();
    Scored::new(&RougeScores::mean(&scores), RougeScores::by_unit(&scores))
}
