//! Files of predictions, scored; the scores as JSON.

use std::path::PathBuf;

use consonant::evaluate::{
    Detail, Scored, TagColumn, TagOptions, entities, links, summary, tags, training_words, trees,
};
use consonant::task::Usage;
use consonant::text::evaluate::Rouge;
use pyo3::prelude::*;

use crate::run::run;

/// The scores for programs, and the table for people.
fn shown(scored: Scored) -> (String, String) {
    (scored.json.to_string(), scored.table)
}

/// Accuracy of tags.
#[pyfunction]
#[pyo3(signature = (gold, predicted, column=None, train=None))]
pub fn evaluate_tags(
    py: Python<'_>,
    gold: PathBuf,
    predicted: PathBuf,
    column: Option<String>,
    train: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let score = move || {
        let column = column.map(|name| name.parse::<TagColumn>()).transpose().map_err(Usage)?;
        let train = train.as_deref().map(training_words).transpose()?;
        tags(&gold, &predicted, &TagOptions { column, train, detail: Detail::Scores }).map(shown)
    };
    run(py, None, score)
}

/// Entities as conlleval counts them.
#[pyfunction]
pub fn evaluate_entities(py: Python<'_>, gold: PathBuf, predicted: PathBuf) -> PyResult<(String, String)> {
    run(py, None, move || entities(&gold, &predicted, Detail::Scores).map(shown))
}

/// The scores of the CoNLL 2018 shared task.
#[pyfunction]
pub fn evaluate_trees(py: Python<'_>, gold: PathBuf, predicted: PathBuf) -> PyResult<(String, String)> {
    run(py, None, move || trees(&gold, &predicted, Detail::Scores).map(shown))
}

/// Precision, recall and F1 of links.
#[pyfunction]
pub fn evaluate_links(py: Python<'_>, gold: PathBuf, predicted: PathBuf) -> PyResult<(String, String)> {
    run(py, None, move || links(&gold, &predicted).map(shown))
}

/// ROUGE of summaries.
#[pyfunction]
#[pyo3(signature = (gold, predicted, words=None, stemming=true))]
pub fn evaluate_summary(
    py: Python<'_>,
    gold: PathBuf,
    predicted: PathBuf,
    words: Option<usize>,
    stemming: bool,
) -> PyResult<(String, String)> {
    run(py, None, move || summary(&gold, &predicted, Rouge { stemming, words }).map(shown))
}
