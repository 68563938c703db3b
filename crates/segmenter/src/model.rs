//! A segmenter on disk: the chain over gaps, what is known of words, multiword tokens and cuts.

use std::sync::Arc;

use consonant_learn::model::{Model, ModelWriter};
use consonant_sequence::ChainModel;
use consonant_sequence::Training;
use consonant_text::Document;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::atoms::Cuts;
use crate::parts::Gap;
use crate::rules::{Contractions, Rules};
use crate::statistics::Statistics;
use crate::words::Multiwords;
use crate::{Decoder, SegmenterError};

/// The name of the task in model files.
pub const TASK: &str = "segmenter";

/// How a segmenter was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    #[serde(flatten)]
    pub training: Training,
    pub epoch: usize,
    pub tokens_f1: Option<f64>,
    pub sentences_f1: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub seed: u64,
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
    pub chain: ChainModel,
    pub statistics: Statistics,
    /// The gap that each label means.
    pub gaps: Vec<Gap>,
    /// The labels that end a token.
    pub ends: Vec<u32>,
    pub inner_spaces: bool,
}

/// Finds sentences and tokens, by rules or by what it learned. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Segmenter {
    pub(crate) boundaries: Boundaries,
    pub(crate) multiwords: Arc<Multiwords>,
    pub(crate) contractions: Contractions,
    cuts: Arc<Cuts>,
}

impl Segmenter {
    /// A segmenter for languages without a model.
    pub fn rules(rules: Rules) -> Self {
        Self {
            boundaries: Boundaries::Rules(rules),
            multiwords: Arc::new(Multiwords::english()),
            contractions: rules.contractions,
            cuts: Arc::default(),
        }
    }

    /// Opens a segmenter's model; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, SegmenterError> {
        let settings: Settings = model.settings(TASK)?;
        let chain = ChainModel::open(model)?;
        let named = chain.labels().names().iter().map(|name| {
            Gap::from_name(name)
                .ok_or_else(|| model.damaged(format!("it has a label `{name}` that is no boundary")))
        });
        let gaps: Vec<Gap> = named.collect::<Result<_, _>>()?;
        let ends: Vec<u32> =
            (0u32..).zip(&gaps).filter(|(_, gap)| **gap != Gap::Join).map(|(label, _)| label).collect();
        let keys = model.array::<u64>("cuts.keys")?;
        let masks = model.array::<u32>("cuts.masks")?;
        Ok(Self {
            boundaries: Boundaries::Learned(Arc::new(Learned {
                statistics: Statistics::open(model)?,
                // A model that knows no token ends has nothing to forbid.
                inner_spaces: settings.inner_spaces || ends.is_empty(),
                chain,
                gaps,
                ends,
            })),
            multiwords: Arc::new(Multiwords::open(model)?),
            contractions: Contractions::Multiword,
            cuts: Arc::new(keys.iter().copied().zip(masks.iter().copied()).collect()),
        })
    }

    pub(crate) fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    /// The chain over gaps, if there is one.
    pub fn chain(&self) -> Option<&ChainModel> {
        match &self.boundaries {
            Boundaries::Rules(_) => None,
            Boundaries::Learned(learned) => Some(&learned.chain),
        }
    }

    /// Segments many texts.
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder::new(self)
    }

    /// Finds the sentences and tokens of one text.
    pub fn segment(&self, text: &str) -> Result<Document, SegmenterError> {
        self.decoder().segment(text)
    }
}

/// Begins a model file with all but the chain.
pub(crate) fn store(
    settings: &Settings,
    statistics: &Statistics,
    multiwords: &Multiwords,
    cuts: &Cuts,
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(settings));
    statistics.store(&mut writer);
    multiwords.store(&mut writer);
    let mut cuts: Vec<(u64, u32)> = cuts.iter().map(|(&key, &mask)| (key, mask)).collect();
    cuts.sort_unstable();
    writer.array("cuts.keys", &cuts.iter().map(|cut| cut.0).collect::<Vec<u64>>());
    writer.array("cuts.masks", &cuts.iter().map(|cut| cut.1).collect::<Vec<u32>>());
    writer
}
