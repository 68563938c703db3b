//! A summarizer on disk, or the built-in one.

use std::sync::Arc;

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_learn::table::{Precision, Table, TableBuilder};
use serde::{Deserialize, Serialize};

use crate::SummarizerError;
use crate::constraints::Constraints;
use crate::features::Features;
use crate::parts::Task;

/// The name of the task in model files.
pub const TASK: &str = "summarizer";
const WEIGHTS: &str = "weights";

/// How a summarizer was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// Stems in a concept.
    pub concept_size: usize,
    /// Which arcs may be cut when sentences are compressed by themselves; summaries always keep to grammar.
    pub compression: Constraints,
    /// For models of probabilities: single sentences keep words that are more probable than this.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// What each task was trained on, for people.
    pub training: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            concept_size: 2,
            compression: Constraints::Grammatical,
            threshold: None,
            training: Vec::new(),
        }
    }
}

/// A summarizer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Summarizer {
    pub(crate) settings: Arc<Settings>,
    pub(crate) weights: Table,
    names: Option<FeatureNames>,
}

impl Summarizer {
    /// Opens a summarizer's model; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, SummarizerError> {
        Ok(Summarizer {
            settings: Arc::new(model.settings(TASK)?),
            weights: Table::open(model, WEIGHTS)?,
            names: FeatureNames::open(model, WEIGHTS)?,
        })
    }

    /// The summarizer with weights set by hand: concepts count by their share of the documents, and each relation has a price
    /// for being cut.
    pub fn built_in() -> Result<Self, SummarizerError> {
        Summarizer::with_weights(
            &Settings::default(),
            BUILT_IN.iter().map(|&(name, weight)| (name, [weight; 3])),
        )
    }

    /// A summarizer with given weights: for each feature, one for each [task](Task).
    pub fn with_weights<'n>(
        settings: &Settings,
        weights: impl Iterator<Item = (&'n str, [f32; 3])> + Clone,
    ) -> Result<Self, SummarizerError> {
        Summarizer::open(&Model::from_bytes(&write(settings, weights)?.to_bytes())?)
    }

    /// The features of the built-in summarizer with their weights, to begin from.
    pub fn built_in_weights() -> impl Iterator<Item = (&'static str, f32)> + Clone {
        BUILT_IN.iter().copied()
    }

    /// How it was made.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The score of a part for a task; `list` names its features.
    pub(crate) fn score(&self, task: Task, list: impl FnOnce(&mut Features<'_>)) -> f64 {
        let mut sums = [0f32; 3];
        let mut take = |name: &str, value: f32| {
            self.weights.add(hash::key(name.as_bytes()), value, &mut sums);
        };
        list(&mut Features::new(&mut take));
        f64::from(sums[task as usize])
    }

    /// The features with the largest weights of any task, with the weight for each [task](Task).
    pub fn strongest(&self, count: usize) -> Vec<([f32; 3], &str)> {
        let Some(names) = &self.names else { return Vec::new() };
        let strength = |weights: &[f32; 3]| weights.iter().fold(0f32, |most, weight| most.max(weight.abs()));
        let mut all: Vec<([f32; 3], &str)> =
            names.iter().map(|(_, name)| (self.weight(name), name)).collect();
        all.sort_by(|a, b| strength(&b.0).total_cmp(&strength(&a.0)).then_with(|| a.1.cmp(b.1)));
        all.truncate(count);
        all
    }

    /// The weight of a feature for each task.
    pub fn weight(&self, name: &str) -> [f32; 3] {
        let mut weights = [0.0; 3];
        self.weights.add(hash::key(name.as_bytes()), 1.0, &mut weights);
        weights
    }
}

/// Puts settings and weights into a model file.
pub(crate) fn write<'n>(
    settings: &Settings,
    rows: impl Iterator<Item = (&'n str, [f32; 3])> + Clone,
) -> Result<ModelWriter, SummarizerError> {
    let mut writer = ModelWriter::new(TASK, serde_json::to_value(settings)?);
    let mut table = TableBuilder::new(Task::ALL.len(), Precision::Single);
    for (name, weights) in rows.clone() {
        table.row(
            hash::key(name.as_bytes()),
            weights.iter().enumerate().map(|(task, &weight)| (task as u32, weight)),
        );
    }
    table.store(&mut writer, WEIGHTS);
    FeatureNames::store(&mut writer, WEIGHTS, rows.map(|(name, _)| (hash::key(name.as_bytes()), name)));
    Ok(writer)
}

/// Weights set by hand. A concept of content words in all documents is worth 1; prices of deletions were chosen so that what is
/// seldom needed goes first.
#[rustfmt::skip]
pub(crate) const BUILT_IN: &[(&str, f32)] = &[
    // Bits of stop words: t0 none, t1 the first, t2 the second, t3 both.
    ("c:share:t0", 1.0), ("c:share:t1", 1.0), ("c:share:t2", 1.0), ("c:share:t3", 0.3),
    ("c:share:t0:first", 0.5), ("c:share:t1:first", 0.4), ("c:share:t2:first", 0.4),
    // What only one of many documents says is worth little, unless it says it first.
    ("c:m", -0.15),
    ("c:p0", 0.03), ("c:p1", 0.02), ("c:p2", 0.01),
    ("s:bias", -0.05), ("s:position:0", 0.2), ("s:position:1", 0.1),
    ("s:points-back", -0.3), ("s:question-or-cry", -0.3), ("s:speaker", -0.3), ("s:quotes", -0.1),
    // Remarks are brief as they are.
    ("x:bias", -0.08), ("x:remarks", -0.15),
    ("x:amod", -0.12), ("x:advmod", 0.02), ("x:obl", -0.2), ("x:nmod", -0.2), ("x:acl", -0.12), ("x:acl:relcl", -0.08),
    ("x:appos", -0.04), ("x:parataxis", -0.04), ("x:advcl", -0.12), ("x:conj", -0.12), ("x:discourse", 0.15), ("x:vocative", 0.1),
    ("x:obl:tmod", 0.05), ("x:temporal:bare", 0.05), ("x:temporal:case", 0.1), ("x:negation", -1.0),
];
