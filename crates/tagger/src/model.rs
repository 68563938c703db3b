//! A tagger on disk: the chain, its templates and resources, the tag dictionary, and how it came to be.

use std::sync::Arc;

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_sequence::features::{Extractor, Resources, Scope, Templates};
use consonant_sequence::{ChainModel, Strength, Training};
use consonant_text::Sentence;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Column, ConstantWords, Decoder, TagDictionary, TaggerError};

/// The name of the task in model files.
pub const TASK: &str = "tagger";
/// Names are kept for so many of the strongest weights.
const NAMED_WEIGHTS: usize = 2000;

/// How a tagger was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    #[serde(with = "column_name")]
    pub column: Column,
    #[serde(flatten)]
    pub training: Training,
    pub epoch: usize,
    pub accuracy: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
}

mod column_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::Column;

    pub fn serialize<S: Serializer>(column: &Column, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(column.name())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Column, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A trained tagger. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Tagger {
    chain: ChainModel,
    extractor: Extractor,
    dictionary: Option<Arc<TagDictionary>>,
    constant: Arc<ConstantWords>,
    settings: Settings,
    names: Option<FeatureNames>,
}

impl Tagger {
    /// Opens a tagger's model; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, TaggerError> {
        let settings: Settings = model.settings(TASK)?;
        let chain = ChainModel::open(model)?;
        let resources = Arc::new(Resources::open(model)?);
        let templates = Templates::compile(&model.text("templates")?, &["form"], &resources)?;
        let dictionary = TagDictionary::open(model, chain.labels().len())?.map(Arc::new);
        Ok(Self {
            extractor: Extractor::new(Arc::new(templates), resources),
            chain,
            dictionary,
            constant: Arc::new(ConstantWords::open(model)?),
            settings,
            names: FeatureNames::open(model, "tagger")?,
        })
    }

    /// The column that it predicts.
    pub fn column(&self) -> Column {
        self.settings.column
    }

    /// The chain.
    pub fn chain(&self) -> &ChainModel {
        &self.chain
    }

    /// What makes its features.
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// The tag dictionary, if there is one.
    pub fn dictionary(&self) -> Option<&TagDictionary> {
        self.dictionary.as_deref()
    }

    /// The words that keep one label through a document.
    pub fn constant_words(&self) -> &ConstantWords {
        &self.constant
    }

    /// Decodes many sentences, in parallel on rayon's threads.
    pub fn decoder(&self) -> Result<Decoder<'_>, TaggerError> {
        Decoder::new(self)
    }

    /// The strongest weights, label n-grams included, strongest first. Features have their names if they are among those that were kept.
    pub fn strongest(&self, count: usize) -> Vec<Strength> {
        self.chain.strongest(self.names.as_ref(), count)
    }

    /// Keeps names for the strongest weights, found in the sentences that the tagger was trained on.
    pub(crate) fn store_names(&self, writer: &mut ModelWriter, sentences: &[Sentence]) {
        let strongest = self.chain.strongest_features(NAMED_WEIGHTS).into_iter();
        let mut missing: FxHashMap<u64, Option<String>> = strongest.map(|key| (key, None)).collect();
        let mut left = missing.len();
        let mut workspace = self.extractor.workspace();
        let mut features = Default::default();
        for sentence in sentences {
            if left == 0 {
                break;
            }
            let form = |word: usize, _: usize| sentence.form(word);
            self.extractor.load(&mut workspace, sentence.len(), form);
            for word in 0..sentence.len() {
                self.extractor.node_features(&workspace, word, &mut features);
                if !features.keys.iter().any(|key| missing.get(key).is_some_and(Option::is_none)) {
                    continue;
                }
                for feature in self.extractor.describe(sentence.len(), form, word, Scope::Node) {
                    if let Some(name @ None) = missing.get_mut(&feature.key) {
                        *name = Some(feature.name);
                        left -= 1;
                    }
                }
            }
        }
        let mut names: Vec<(u64, String)> =
            missing.into_iter().filter_map(|(key, name)| name.map(|name| (key, name))).collect();
        names.sort_unstable();
        FeatureNames::store(writer, "tagger", names.iter().map(|(key, name)| (*key, name.as_str())));
    }
}

/// Begins a model file with all but the names.
pub(crate) fn store(
    settings: &Settings,
    extractor: &Extractor,
    dictionary: &TagDictionary,
    constant: &ConstantWords,
    chain: impl FnOnce(&mut ModelWriter),
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(settings));
    writer.text("templates", extractor.templates().text());
    extractor.resources().store(&mut writer);
    if !dictionary.is_empty() {
        dictionary.store(&mut writer);
    }
    if !constant.is_empty() {
        constant.store(&mut writer);
    }
    chain(&mut writer);
    writer
}
