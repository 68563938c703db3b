//! `POST /v1/evaluate`: predictions scored against gold data, as the field's scorers do.

use std::fs;

use consonant::evaluate::{self, Detail, Scored, TagColumn, TagOptions};
use consonant::text::evaluate::Rouge;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Evaluate;

/// Gold data and predictions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluateRequest {
    /// What is scored.
    what: What,
    /// The gold data, as the text of a file: CoNLL-U or columns, for summaries and links JSONL.
    gold: String,
    /// The predictions, likewise.
    predicted: String,
    /// What tags are compared: upos, xpos, feats, upos+feats, lemma, deprel or the number of a column.
    #[serde(default)]
    column: Option<String>,
}

/// What is scored.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Accuracy.
    Tags,
    /// conlleval's precision, recall and F1.
    Entities,
    /// The scores of CoNLL 2018.
    Trees,
    /// ROUGE.
    Summary,
    /// Precision, recall and F1 of links.
    Links,
}

/// Scores.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvaluateAnswer {
    /// As `consonant evaluate --format json` writes them.
    scores: Value,
    /// The same as the original's table.
    table: String,
}

impl Operation for Evaluate {
    const PATH: &'static str = "/v1/evaluate";
    const SUMMARY: &'static str = "Scores of predictions against gold data";
    const LANE: Lane = Lane::Solvers;
    type Query = NoQuery;
    type Request = EvaluateRequest;
    type Answer = EvaluateAnswer;

    fn run(work: &Work, _: NoQuery, request: EvaluateRequest) -> Result<EvaluateAnswer, Problem> {
        work.check_words([request.gold.as_str(), &request.predicted].into_iter())?;
        let column: Option<TagColumn> =
            request.column.map(|column| column.parse()).transpose().map_err(Problem::bad)?;
        // Scorers read files; these have the names that messages should call them by.
        let failed = |error: std::io::Error| Problem::from(consonant::Error::Write(error));
        let folder = tempfile::tempdir().map_err(failed)?;
        let [gold, predicted] = ["gold", "predicted"].map(|name| folder.path().join(name));
        fs::write(&gold, &request.gold).map_err(failed)?;
        fs::write(&predicted, &request.predicted).map_err(failed)?;
        let scored = match request.what {
            What::Tags => evaluate::tags(&gold, &predicted, &TagOptions { column, ..TagOptions::default() }),
            What::Entities => evaluate::entities(&gold, &predicted, Detail::Scores),
            What::Trees => evaluate::trees(&gold, &predicted, Detail::Scores),
            What::Summary => evaluate::summary(&gold, &predicted, Rouge::default()),
            What::Links => evaluate::links(&gold, &predicted),
        };
        let Scored { json: scores, table, .. } = scored.map_err(|error| {
            let place = format!("{}/", folder.path().display());
            Problem::wrong(error.to_string().replace(&place, ""))
        })?;
        Ok(EvaluateAnswer { scores, table })
    }
}
