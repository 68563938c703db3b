//! A recognizer on disk: the chain, its templates and resources, how labels agree, and how it came to be.

use std::collections::{BTreeMap, BTreeSet};

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_sequence::Training;
use consonant_sequence::features::{FeatureBuffer, Resources, Scope as FeatureScope};
use consonant_sequence::{ChainModel, Strength};
use consonant_text::Sentence;
use consonant_text::entity::Scheme;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::evidence;
use crate::features::Features;
use crate::occurrences::OrdinaryWords;
use crate::parts::LabelSet;
use crate::patterns::Layout;
use crate::{Decoder, NerError};

/// The name of the task in model files.
pub const TASK: &str = "ner";

/// Names are kept for so many of the strongest features.
const NAMED_FEATURES: usize = 500;

/// How labels of one word in several places are made to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Consistency {
    /// Sentences are decoded by themselves.
    #[default]
    None,
    /// A second chain over the occurrences of each word (Chieu & Teow 2012).
    Words,
    /// Skip edges and phrase patterns over a group of sentences (Qian & Liu 2014).
    Patterns,
}

impl Consistency {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::None, Self::Words, Self::Patterns];

    /// Its name on the command line and in models.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Words => "words",
            Self::Patterns => "patterns",
        }
    }
}

/// Over which sentences the occurrences of a word are chained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Document by document.
    Document,
    /// Over all that is decoded together.
    Set,
}

impl Scope {
    /// Its name on the command line and in models.
    pub fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Set => "set",
        }
    }
}

/// How a recognizer was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub consistency: Consistency,
    #[serde(with = "scheme_name")]
    pub scheme: Scheme,
    /// The scheme of the training data, in which predictions are written.
    #[serde(with = "scheme_name")]
    pub written: Scheme,
    pub tags: bool,
    pub evidence: bool,
    /// Taken from the score of `O` in decoding: what is lost in precision is won in recall.
    pub bias: f32,
    /// How much agreement counts beside the sentence's own chain.
    pub strength: f32,
    /// Over what words agree, where they do.
    pub scope: Option<Scope>,
    /// By how much right labels were made to stand out: the unit of scores.
    pub margin: f64,
    #[serde(flatten)]
    pub training: Training,
    pub epoch: usize,
    pub f1: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
}

mod scheme_name {
    use consonant_text::entity::Scheme;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(scheme: &Scheme, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(scheme.name())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Scheme, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A trained recognizer. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct NerModel {
    pub(crate) chain: ChainModel,
    pub(crate) features: Features,
    pub(crate) labels: LabelSet,
    pub(crate) agreement: Agreement,
    pub(crate) settings: Settings,
    names: Option<FeatureNames>,
}

/// What makes labels agree.
#[derive(Debug, Clone)]
pub(crate) enum Agreement {
    None,
    Words { ordinary: OrdinaryWords, chain: Box<ChainModel>, scope: Scope },
    Patterns { ordinary: OrdinaryWords, layout: Layout, weights: Vec<f32> },
}

impl Agreement {
    fn open(model: &Model, settings: &Settings, labels: &LabelSet) -> Result<Self, NerError> {
        match settings.consistency {
            Consistency::None => Ok(Self::None),
            Consistency::Words => {
                let chain = Box::new(ChainModel::open(&model.inner("words")?)?);
                if chain.order() != 1 || chain.labels().names() != labels.names().collect::<Vec<_>>() {
                    return Err(model.damaged("its two chains have different labels").into());
                }
                let scope = settings.scope.unwrap_or(Scope::Document);
                Ok(Self::Words { ordinary: OrdinaryWords::open(model)?, chain, scope })
            }
            Consistency::Patterns => {
                let layout = Layout::new(labels);
                let weights = model.array::<f32>("patterns")?.to_vec();
                if weights.len() != layout.parameters() || weights.iter().any(|weight| !weight.is_finite()) {
                    return Err(model.damaged("the weights of its patterns do not fit its labels").into());
                }
                Ok(Self::Patterns { ordinary: OrdinaryWords::open(model)?, layout, weights })
            }
        }
    }

    pub(crate) fn store(&self, writer: &mut ModelWriter, words: &[u8]) {
        match self {
            Self::None => {}
            Self::Words { ordinary, .. } => {
                ordinary.store(writer);
                writer.array("words", words);
            }
            Self::Patterns { ordinary, weights, .. } => {
                ordinary.store(writer);
                writer.array("patterns", weights);
            }
        }
    }
}

impl NerModel {
    /// Opens a recognizer's model; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, NerError> {
        let settings: Settings = model.settings(TASK)?;
        let chain = ChainModel::open(model)?;
        if chain.order() != 1 {
            return Err(model.damaged(format!("a chain of order {}, expected 1", chain.order())).into());
        }
        let templates = model.text("templates")?;
        let features = Features::new(&templates, Resources::open(model)?, settings.tags, settings.evidence)?;
        let labels = LabelSet::new(chain.labels(), settings.scheme);
        if labels.names().any(|name| settings.scheme.parse(name).is_none()) {
            return Err(model.damaged("its labels are not of its scheme").into());
        }
        if !(settings.bias.is_finite() && settings.strength.is_finite() && settings.margin.is_finite()) {
            return Err(model.damaged("its bias, strength or margin is no number").into());
        }
        let agreement = Agreement::open(model, &settings, &labels)?;
        let names = FeatureNames::open(model, TASK)?;
        Ok(Self { chain, features, labels, agreement, settings, names })
    }

    /// Opens a model from bytes in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NerError> {
        Self::open(&Model::from_bytes(bytes)?)
    }

    /// How its labels agree.
    pub fn consistency(&self) -> Consistency {
        self.settings.consistency
    }

    /// The types of entities that it knows, in the order of their labels.
    pub fn types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = Vec::new();
        for label in 0..self.labels.len() as u32 {
            if let Some((_, kind)) = self.labels.tag(label)
                && !types.contains(&kind)
            {
                types.push(kind);
            }
        }
        types
    }

    /// The chain over the words of a sentence.
    pub fn chain(&self) -> &ChainModel {
        &self.chain
    }

    /// The strongest weights of the chain, strongest first.
    pub fn strongest(&self, count: usize) -> Vec<Strength> {
        self.chain.strongest(self.names.as_ref(), count)
    }

    /// What makes labels agree by patterns, as it counts: for each way to agree, its weight. Empty for other kinds of agreement.
    pub fn agreement_weights(&self) -> Vec<(String, f32)> {
        let Agreement::Patterns { layout, weights, .. } = &self.agreement else { return Vec::new() };
        let names = layout.names(&self.labels);
        names.into_iter().zip(weights).map(|(name, weight)| (name, self.settings.strength * weight)).collect()
    }

    /// Keeps names for the strongest weights, found in the sentences that the recognizer was trained on.
    pub(crate) fn store_names(&self, writer: &mut ModelWriter, sentences: &[Sentence]) {
        let strongest = self.chain.strongest_features(NAMED_FEATURES).into_iter();
        let mut names: BTreeMap<u64, Option<String>> = strongest.map(|key| (key, None)).collect();
        let words: BTreeSet<&str> = sentences
            .iter()
            .flat_map(|sentence| (0..sentence.len()).map(|word| sentence.form(word)))
            .collect();
        evidence::name_features(&words, |key, name| {
            if let Some(known @ None) = names.get_mut(&key) {
                *known = Some(name());
            }
        });
        let mut left = names.values().filter(|name| name.is_none()).count();
        let mut reader = self.features.reader();
        let mut features = FeatureBuffer::default();
        for sentence in sentences {
            if left == 0 {
                break;
            }
            reader.sentence(0, sentence);
            for word in 0..sentence.len() {
                self.features.extractor.node_features(&reader.workspace, word, &mut features);
                if !features.keys.iter().any(|key| names.get(key).is_some_and(Option::is_none)) {
                    continue;
                }
                let value = |word: usize, column: usize| match column {
                    0 => sentence.form(word),
                    _ => sentence.upos(word),
                };
                for feature in
                    self.features.extractor.describe(sentence.len(), value, word, FeatureScope::Node)
                {
                    if let Some(name @ None) = names.get_mut(&feature.key) {
                        *name = Some(feature.name);
                        left -= 1;
                    }
                }
            }
        }
        let known = names.iter().filter_map(|(&key, name)| Some((key, name.as_deref()?)));
        FeatureNames::store(writer, TASK, known);
    }

    /// Whether it reads the parts of speech of words.
    pub fn reads_tags(&self) -> bool {
        self.settings.tags
    }

    /// Decodes many sentences, in parallel on rayon's threads.
    pub fn decoder(&self) -> Result<Decoder<'_>, NerError> {
        Decoder::new(self)
    }
}

/// Begins a model file.
pub(crate) fn store(
    settings: &Settings,
    features: &Features,
    chain: impl FnOnce(&mut ModelWriter),
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(settings));
    writer.text("templates", features.extractor.templates().text());
    features.extractor.resources().store(&mut writer);
    chain(&mut writer);
    writer
}
