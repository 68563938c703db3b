//! A summarizer on disk, or the built-in one.

use std::sync::Arc;

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_learn::table::{Precision, Table, TableBuilder};
use consonant_learn::trainer::{Method, TrainingAlgorithm as _};
use consonant_task::{
    Annotate, Answered, Batch, Data, Failure, Inspection, Reads, Settings as _, Source, Task, Trained, Unit,
    Watch,
};
use consonant_text::Format;
use serde::Deserialize;
use serde_json::json;

use crate::decode::SummarizerOptions;
use crate::features::Features;
use crate::item::SummarizerItem;
use crate::learn::{self, SummarizerSettings};
use crate::parts::Objective;
use crate::{Constraints, SummarizerError};

const WEIGHTS: &str = "weights";

/// What older versions stored under other names.
#[derive(Deserialize)]
struct Older {
    /// The constraints.
    compression: Option<Constraints>,
}

/// A summarizer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Summarizer {
    pub(crate) settings: Arc<SummarizerSettings>,
    pub(crate) weights: Table,
    names: Option<FeatureNames>,
}

impl Task for Summarizer {
    const NAME: &'static str = "summarizer";
    const PLURAL: &'static str = "summarizers";
    const ABOUT: &'static str = "Trains a summarizer on summaries, compressions, or both at once.\n\n\
        Three objectives share their weights (compressive summaries, extractive summaries, compressions of single sentences); \
        any of them may be left out. Topics and compressions are JSONL; texts are annotated with the embedded models, or \
        those of --models.";
    const EXAMPLE: &'static str = "consonant train summarizer --compressive topics.jsonl --extractive topics.jsonl \
        --compression pairs.jsonl --dev dev.jsonl --model summarizer.model";
    const SOURCES: &'static [Source] = &[
        Source {
            name: "compressive",
            help: "Topics whose summaries are learned as compressive ones.",
            formats: Self::FORMATS,
        },
        Source {
            name: "extractive",
            help: "Topics whose summaries are learned as extractive ones.",
            formats: Self::FORMATS,
        },
        Source {
            name: "compression",
            help: "Sentences with the words that people kept.",
            formats: Self::FORMATS,
        },
    ];
    const FORMATS: &'static [Format] = &[Format::Jsonl];
    const READS: Reads = Reads::Trees;

    type Item = SummarizerItem;
    type Settings = SummarizerSettings;
    type Options = SummarizerOptions;
    type Error = SummarizerError;

    fn algorithms() -> String {
        Method::ALL.iter().map(|method| method.info().to_string()).collect()
    }

    fn train(
        data: &Data<'_, SummarizerItem>,
        settings: &SummarizerSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, SummarizerError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, SummarizerError> {
        let older: Older = model.settings(Self::NAME)?;
        let mut settings = SummarizerSettings::stored(model.metadata())
            .map_err(|error| SummarizerError::Settings(error.0))?;
        settings.constraints = older.compression.unwrap_or(settings.constraints);
        Ok(Self {
            settings: Arc::new(settings),
            weights: Table::open(model, WEIGHTS)?,
            names: FeatureNames::open(model, WEIGHTS)?,
        })
    }

    fn prepare(items: &mut [SummarizerItem], annotator: &dyn Annotate) -> Result<(), Failure> {
        items.iter().try_for_each(SummarizerItem::check)?;
        Self::built_in()?.annotate(items, &SummarizerOptions::new(), annotator)
    }

    fn annotate(
        &self,
        items: &mut [SummarizerItem],
        options: &SummarizerOptions,
        annotator: &dyn Annotate,
    ) -> Result<(), Failure> {
        self.annotate_items(items, options, annotator)
    }

    fn batch(&self) -> Batch {
        Batch::Items(256)
    }

    fn decode(
        &self,
        items: &mut [SummarizerItem],
        options: &SummarizerOptions,
    ) -> Result<Vec<Unit>, SummarizerError> {
        self.decode_items(items, options)
    }

    /// The problem of each topic; compressions of single sentences are found by dynamic programming.
    fn problems(
        &self,
        items: &[SummarizerItem],
        options: &SummarizerOptions,
    ) -> Option<Result<Vec<Answered>, SummarizerError>> {
        Some(self.answered_items(items, options))
    }

    fn inspect(&self, top: usize) -> Inspection {
        let row = |(weights, feature): ([f32; 3], &str)| {
            weights.into_iter().map(Into::into).chain([feature.to_owned().into()]).collect()
        };
        let columns = &["compressive", "extractive", "compression", "feature"];
        Inspection::default().table(columns, self.strongest(top).into_iter().map(row))
    }
}

impl Summarizer {
    /// The summarizer with weights set by hand: concepts count by their share of the documents, and each
    /// relation has a price for being cut.
    pub fn built_in() -> Result<Self, SummarizerError> {
        Summarizer::with_weights(
            &SummarizerSettings::default(),
            BUILT_IN.iter().map(|&(name, weight)| (name, [weight; 3])),
        )
    }

    /// A summarizer with given weights: for each feature, one for each [objective](Objective).
    pub fn with_weights<'n>(
        settings: &SummarizerSettings,
        weights: impl Iterator<Item = (&'n str, [f32; 3])> + Clone,
    ) -> Result<Self, SummarizerError> {
        Summarizer::open(&Model::from_bytes(&write(settings, Vec::new(), weights).to_bytes())?)
    }

    /// The features of the built-in summarizer with their weights, to begin from.
    pub fn built_in_weights() -> impl Iterator<Item = (&'static str, f32)> + Clone {
        BUILT_IN.iter().copied()
    }

    /// How it was made.
    pub fn settings(&self) -> &SummarizerSettings {
        &self.settings
    }

    /// Stems in a concept.
    pub(crate) fn concept_size(&self) -> usize {
        usize::from(self.settings.concept_size)
    }

    /// The score of a part for an objective; `list` names its features.
    pub(crate) fn score(&self, objective: Objective, list: impl FnOnce(&mut Features<'_>)) -> f64 {
        let mut sums = [0f32; 3];
        list(&mut Features::new(&mut |key: u64, value: f32| {
            self.weights.add(key, value, &mut sums);
        }));
        f64::from(sums[objective as usize])
    }

    /// The features with the largest weights of any objective, with the weight for each.
    pub fn strongest(&self, count: usize) -> Vec<([f32; 3], &str)> {
        let Some(names) = &self.names else { return Vec::new() };
        let strength = |weights: &[f32; 3]| weights.iter().fold(0f32, |most, weight| most.max(weight.abs()));
        names.strongest(count, |key| self.weights_of(key), strength)
    }

    /// The weight of a feature for each objective.
    pub fn weight(&self, name: &str) -> [f32; 3] {
        self.weights_of(hash::key(name.as_bytes()))
    }

    fn weights_of(&self, key: u64) -> [f32; 3] {
        let mut weights = [0.0; 3];
        self.weights.add(key, 1.0, &mut weights);
        weights
    }
}

/// Puts settings, what was trained on, and weights into a model file.
pub(crate) fn write<'n>(
    settings: &SummarizerSettings,
    training: Vec<String>,
    rows: impl Iterator<Item = (&'n str, [f32; 3])> + Clone,
) -> ModelWriter {
    let mut metadata = json!(settings);
    metadata["training"] = json!(training);
    let mut writer = ModelWriter::new(Summarizer::NAME, metadata);
    let mut table = TableBuilder::new(Objective::ALL.len(), Precision::Single);
    for (name, weights) in rows.clone() {
        table.row(
            hash::key(name.as_bytes()),
            weights.iter().enumerate().map(|(objective, &weight)| (objective as u32, weight)),
        );
    }
    table.store(&mut writer, WEIGHTS);
    FeatureNames::store(&mut writer, WEIGHTS, rows.map(|(name, _)| (hash::key(name.as_bytes()), name)));
    writer
}

/// Weights set by hand. A concept of content words in all documents is worth 1; prices of deletions were
/// chosen so that what is seldom needed goes first.
#[rustfmt::skip]
pub(crate) const BUILT_IN: &[(&str, f32)] = &[
    // Bits of stop words: t0 none, t1 the first, t2 the second, t3 both.
    ("c:share:t0", 1.0), ("c:share:t1", 1.0), ("c:share:t2", 1.0), ("c:share:t3", 0.3),
    ("c:share:t0:first", 0.5), ("c:share:t1:first", 0.4), ("c:share:t2:first", 0.4),
    // What only one of many documents says is worth little, unless it says it first.
    ("c:m", -0.15),
    ("c:p0", 0.03), ("c:p1", 0.02), ("c:p2", 0.01),
    ("s:bias", -0.05), ("s:position:0", 0.2), ("s:position:1", 0.1),
    // The first sentence of a report is its gist, and its headline names it.
    ("s:reports:position:0", 0.9), ("c:reports:heading", 0.05),
    ("s:points-back", -0.3), ("s:question-or-cry", -0.3), ("s:speaker", -0.3), ("s:quotes", -0.1),
    // Letters have words to spare.
    ("x:bias", -0.04), ("x:exchange", 0.2), ("x:reports", 0.06),
    ("x:amod", -0.12), ("x:advmod", 0.02), ("x:obl", -0.2), ("x:nmod", -0.2), ("x:acl", -0.12), ("x:acl:relcl", -0.08),
    ("x:appos", -0.04), ("x:parataxis", -0.04), ("x:advcl", -0.12), ("x:conj", -0.12), ("x:discourse", 0.15), ("x:vocative", 0.1),
    ("x:obl:tmod", 0.05), ("x:temporal:bare", 0.05), ("x:temporal:case", 0.1), ("x:negation", -1.0),
];
