//! A segmenter on disk: the chain over gaps, what is known of words, multiword tokens and cuts.

use std::sync::Arc;
use std::time::Instant;

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::trainer::TrainingAlgorithm as _;
use consonant_sequence::{Algorithm, ChainModel};
use consonant_task::{Batch, Certificate, Data, Inspection, Source, Task, Trained, Unit, Watch, Workers};
use consonant_text::{Format, Sentence};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::SegmenterError;
use crate::atoms::Cuts;
use crate::decode::{SegmenterOptions, Worker};
use crate::item::Piece;
use crate::learn::{self, SegmenterSettings};
use crate::parts::Gap;
use crate::rules::{Contractions, Rules};
use crate::statistics::Statistics;
use crate::words::Multiwords;

/// The name of the task in model files.
pub const TASK: &str = "segmenter";

/// How a segmenter was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub settings: SegmenterSettings,
    pub epoch: usize,
    pub tokens_f1: Option<f64>,
    pub sentences_f1: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
    /// Whether tokens may have white space in them.
    pub inner_spaces: bool,
}

/// What decides at gaps.
#[derive(Debug, Clone)]
pub(crate) enum Boundaries {
    Rules(Rules),
    Learned(Arc<Learned>),
}

/// What was learned about gaps.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    pub chain: Arc<ChainModel>,
    pub statistics: Statistics,
    /// The gap that each label means.
    pub gaps: Vec<Gap>,
    /// The labels that end a token.
    pub ends: Vec<u32>,
    /// The labels that end a token and no sentence.
    pub goes_on: Vec<u32>,
    /// The labels that end nothing.
    pub joins: Vec<u32>,
    pub inner_spaces: bool,
}

/// Finds sentences and tokens, by rules or by what it learned. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Segmenter {
    pub(crate) boundaries: Boundaries,
    pub(crate) multiwords: Arc<Multiwords>,
    pub(crate) contractions: Contractions,
    cuts: Arc<Cuts>,
    pub(crate) options: SegmenterOptions,
    pub(crate) workers: Workers<Worker>,
}

impl Segmenter {
    /// A segmenter for languages without a model.
    pub fn rules(rules: Rules) -> Self {
        Self {
            boundaries: Boundaries::Rules(rules),
            multiwords: Arc::new(Multiwords::english()),
            contractions: rules.contractions,
            cuts: Arc::default(),
            options: SegmenterOptions::default(),
            workers: Workers::new(),
        }
    }

    /// The same segmenter for texts of which something is known.
    #[must_use]
    pub fn knowing(mut self, options: SegmenterOptions) -> Self {
        self.options = options;
        self
    }

    pub(crate) fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    /// What it learned, if it goes by no rules.
    pub(crate) fn learned(&self) -> Option<&Learned> {
        match &self.boundaries {
            Boundaries::Rules(_) => None,
            Boundaries::Learned(learned) => Some(learned),
        }
    }

    /// The chain over gaps, if there is one.
    pub fn chain(&self) -> Option<&ChainModel> {
        self.learned().map(|learned| &*learned.chain)
    }
}

impl Task for Segmenter {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "segmenters";
    const ABOUT: &'static str = "Trains a splitter of raw text into sentences and tokens.";
    const EXAMPLE: &'static str =
        "consonant train segmenter --train train.conllu --dev dev.conllu --model segmenter.model";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data in CoNLL-U; the text is put together from `# text`, paragraph and document marks.",
        formats: &[Format::Conllu],
    }];
    const FORMATS: &'static [Format] = &[Format::Text, Format::Columns, Format::Jsonl];
    const CONTINUES: bool = true;

    type Item = Piece;
    type Settings = SegmenterSettings;
    type Options = SegmenterOptions;
    type Error = SegmenterError;

    fn algorithms() -> String {
        Algorithm::ALL.iter().map(|algorithm| algorithm.info().to_string()).collect()
    }

    fn train(
        data: &Data<'_, Piece>,
        settings: &SegmenterSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, SegmenterError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, SegmenterError> {
        let description: Description = model.settings(TASK)?;
        let chain = Arc::new(ChainModel::open(model)?);
        let named = chain.labels().names().iter().map(|name| {
            name.parse().map_err(|_| model.damaged(format!("it has a label `{name}` that is no boundary")))
        });
        let gaps: Vec<Gap> = named.collect::<Result<_, _>>()?;
        let ends = Gap::ends(&gaps);
        let goes_on = Gap::labels(&gaps, |gap| gap == Gap::Token);
        let joins = Gap::labels(&gaps, |gap| gap == Gap::Join);
        let keys = model.array::<u64>("cuts.keys")?;
        let masks = model.array::<u32>("cuts.masks")?;
        Ok(Self {
            boundaries: Boundaries::Learned(Arc::new(Learned {
                statistics: Statistics::open(model)?,
                // A model that knows no token ends has nothing to forbid.
                inner_spaces: description.inner_spaces || ends.is_empty(),
                chain,
                gaps,
                ends,
                goes_on,
                joins,
            })),
            multiwords: Arc::new(Multiwords::open(model)?),
            contractions: Contractions::Multiword,
            cuts: Arc::new(keys.iter().copied().zip(masks.iter().copied()).collect()),
            options: SegmenterOptions::default(),
            workers: Workers::new(),
        })
    }

    fn batch(&self) -> Batch {
        Batch::Items(64)
    }

    fn decode(&self, items: &mut [Piece], options: &SegmenterOptions) -> Result<Vec<Unit>, SegmenterError> {
        let segmenter = self.clone().knowing(options.clone());
        let segment = |piece: &mut Piece| {
            let began = Instant::now();
            let segments = segmenter.passage(&piece.text, piece.start, Some(piece.character))?;
            piece.sentences = segments.sentences;
            let certificate = Certificate::exact(segments.value).after(1, began.elapsed().as_secs_f64());
            Ok(Unit { certificate, tokens: piece.sentences.iter().map(Sentence::len).sum() })
        };
        items.par_iter_mut().map(segment).collect()
    }

    fn inspect(&self, _: usize) -> Inspection {
        Inspection::default()
    }
}

/// Begins a model file with all but the chain.
pub(crate) fn store(
    description: &Description,
    statistics: &Statistics,
    multiwords: &Multiwords,
    cuts: &Cuts,
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(description));
    statistics.store(&mut writer);
    multiwords.store(&mut writer);
    let mut cuts: Vec<(u64, u32)> = cuts.iter().map(|(&key, &mask)| (key, mask)).collect();
    cuts.sort_unstable();
    writer.array("cuts.keys", &cuts.iter().map(|cut| cut.0).collect::<Vec<u64>>());
    writer.array("cuts.masks", &cuts.iter().map(|cut| cut.1).collect::<Vec<u32>>());
    writer
}
