//! A recognizer on disk: the chain, its templates and resources, how labels agree, and how it came to be.

use std::collections::BTreeSet;
use std::sync::Arc;

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::{FeatureNames, WantedNames};
use consonant_learn::trainer::TrainingAlgorithm as _;
use consonant_sequence::features::{Resources, TypeSums};
use consonant_sequence::inference::TransitionMask;
use consonant_sequence::{Algorithm, ChainModel, Strength};
use consonant_task::{
    Answered, Batch, Calibration, Data, Inspection, Reads, Source, Task, Trained, Unit, Watch, Workers,
};
use consonant_text::entity::Scheme;
use consonant_text::{Format, Sentence};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use crate::decode::{NerOptions, Worker, pair_scores};
use crate::features::{FeatureReader, Features};
use crate::known::Knowledge;
use crate::learn::{self, NerSettings};
use crate::occurrences::OrdinaryWords;
use crate::parts::LabelSet;
use crate::patterns::Layout;
use crate::{NerError, evidence};

/// The name of the task in model files.
pub const TASK: &str = "ner";

/// Names are kept for this many of the strongest features.
const NAMED_FEATURES: usize = 500;
const FORMATS: &[Format] = &[Format::Columns, Format::Conllu];

consonant_task::names! {
    /// How labels of one word in several places are made to agree.
    #[derive(Default)]
    pub enum Consistency {
        /// Sentences are decoded by themselves.
        #[default]
        None = "none",
        /// A second chain over the occurrences of each word (Chieu & Teow 2012).
        Words = "words",
        /// Skip edges and phrase patterns over a group of sentences (after Qian & Liu 2014): names of equal types.
        Patterns = "patterns",
        /// The same as their paper has them: any equal labels, `O` too, of every two occurrences.
        Equal = "equal",
    }
}

consonant_task::names! {
    /// Over which sentences the occurrences of a word are chained.
    pub enum Scope {
        /// Document by document.
        Document = "document",
        /// Over all that is decoded together.
        Set = "set",
    }
}

/// How a recognizer was made; the metadata of its file. Bias, strength and scope are those that were chosen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub settings: NerSettings,
    /// The scheme of the training data, in which predictions are written.
    #[serde(deserialize_with = "read_scheme")]
    pub written: Scheme,
    /// Whether it reads parts of speech.
    pub tags: bool,
    /// By how much right labels were made to stand out: the unit of scores.
    pub margin: f64,
    pub epoch: usize,
    pub f1: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
}

fn read_scheme<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Scheme, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// A trained recognizer. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Ner {
    pub(crate) chain: Arc<ChainModel>,
    pub(crate) features: Features,
    pub(crate) labels: LabelSet,
    /// Which labels may follow one another.
    pub(crate) mask: TransitionMask,
    /// Scores of the chain by previous label and label, forbidden pairs at minus infinity.
    pub(crate) transitions: Vec<f32>,
    pub(crate) agreement: Agreement,
    /// Taken from the score of `O`: what is lost in precision is won in recall.
    pub(crate) bias: f32,
    /// How much agreement counts beside the sentence's own chain.
    pub(crate) strength: f32,
    pub(crate) description: Arc<Description>,
    /// What a user knows of names.
    pub(crate) known: Arc<Knowledge>,
    /// How sure it may be of names.
    pub(crate) calibration: Option<Arc<Calibration>>,
    names: Option<FeatureNames>,
    pub(crate) workers: Workers<Worker>,
}

/// What makes labels agree.
#[derive(Debug, Clone)]
pub(crate) enum Agreement {
    None,
    Words {
        ordinary: OrdinaryWords,
        chain: Arc<ChainModel>,
        scope: Scope,
        /// What brings its scores to the scale of the sentences' chain.
        scale: f32,
        /// Readers of texts, each with what it added up of this chain's weights.
        readers: Workers<(FeatureReader, TypeSums)>,
    },
    Patterns {
        ordinary: OrdinaryWords,
        layout: Layout,
        weights: Vec<f32>,
    },
}

impl Agreement {
    fn open(model: &Model, settings: &NerSettings, labels: &LabelSet) -> Result<Self, NerError> {
        match settings.consistency {
            Consistency::None => Ok(Self::None),
            Consistency::Words => {
                let chain = ChainModel::open(&model.inner("words")?)?;
                if chain.order() != 1 || chain.labels().names() != labels.names().collect::<Vec<_>>() {
                    return Err(model.damaged("its two chains have different labels").into());
                }
                let scope = settings.scope.unwrap_or(Scope::Document);
                let scale = settings.scale.unwrap_or(1.0);
                if !scale.is_finite() {
                    return Err(model.damaged("the scale of its words is no number").into());
                }
                Ok(Self::words(OrdinaryWords::open(model)?, chain, scope, scale))
            }
            Consistency::Patterns | Consistency::Equal => {
                let equal = settings.consistency == Consistency::Equal;
                let layout = Layout::new(labels, equal, settings.posts);
                let weights = model.array::<f32>("patterns")?.to_vec();
                if weights.len() != layout.parameters() || weights.iter().any(|weight| !weight.is_finite()) {
                    return Err(model.damaged("the weights of its patterns do not fit its labels").into());
                }
                Ok(Self::Patterns { ordinary: OrdinaryWords::open(model)?, layout, weights })
            }
        }
    }

    pub(crate) fn words(ordinary: OrdinaryWords, chain: ChainModel, scope: Scope, scale: f32) -> Self {
        Self::Words { ordinary, chain: Arc::new(chain), scope, scale, readers: Workers::new() }
    }

    /// What brings the scores of words to the scale of sentences.
    pub(crate) fn scale(&self) -> Option<f32> {
        match self {
            Self::Words { scale, .. } => Some(*scale),
            _ => None,
        }
    }

    pub(crate) fn set_scale(&mut self, new: f32) {
        if let Self::Words { scale, .. } = self {
            *scale = new;
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

impl Task for Ner {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "recognizers of names";
    const ABOUT: &'static str = "Trains a recognizer of named entities.";
    const EXAMPLE: &'static str =
        "consonant train ner --train train.tsv --dev dev.tsv --model ner.model --consistency patterns";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data: `token<TAB>label` columns, or CoNLL-U with `NER=B-LOC` in MISC.",
        formats: FORMATS,
    }];
    const FORMATS: &'static [Format] = FORMATS;
    const READS: Reads = Reads::Tags;
    const CONTINUES: bool = true;

    type Item = Sentence;
    type Settings = NerSettings;
    type Options = NerOptions;
    type Error = NerError;

    fn algorithms() -> String {
        Algorithm::ALL.iter().map(|algorithm| algorithm.info().to_string()).collect()
    }

    fn train(
        data: &Data<'_, Sentence>,
        settings: &NerSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, NerError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, NerError> {
        let description: Description = model.settings(TASK)?;
        let settings = &description.settings;
        let chain = Arc::new(ChainModel::open(model)?);
        if chain.order() != 1 {
            return Err(model.damaged(format!("a chain of order {}, expected 1", chain.order())).into());
        }
        let (templates, resources) = (model.text("templates")?, Resources::open(model)?);
        let scheme = Scheme::from(settings.scheme);
        let labels = LabelSet::new(chain.labels(), scheme);
        if labels.names().any(|name| scheme.parse(name).is_none()) {
            return Err(model.damaged("its labels are not of its scheme").into());
        }
        let (bias, strength) = (settings.bias.unwrap_or_default(), settings.strength.unwrap_or(1.0));
        if !(bias.is_finite() && strength.is_finite() && description.margin.is_finite()) {
            return Err(model.damaged("its bias, strength or margin is no number").into());
        }
        let mask = labels.mask();
        Ok(Self {
            features: Features::new(&templates, resources, description.tags, settings.evidence)?,
            agreement: Agreement::open(model, settings, &labels)?,
            transitions: pair_scores(&chain, Some(&mask)),
            names: FeatureNames::open(model, TASK)?,
            description: Arc::new(description),
            known: Arc::default(),
            calibration: Calibration::open(model)?.map(Arc::new),
            workers: Workers::new(),
            chain,
            labels,
            mask,
            bias,
            strength,
        })
    }

    fn reads(&self) -> Reads {
        if self.description.tags { Reads::Tags } else { Reads::Tokens }
    }

    /// Words may agree across all of a file, and so may patterns where no documents are marked.
    fn batch(&self) -> Batch {
        match &self.agreement {
            Agreement::None => Batch::Documents(4096),
            Agreement::Words { scope: Scope::Set, .. } => Batch::File,
            Agreement::Words { .. } | Agreement::Patterns { .. } => Batch::MarkedDocuments(4096),
        }
    }

    fn decode(&self, items: &mut [Sentence], options: &NerOptions) -> Result<Vec<Unit>, NerError> {
        self.label(items, options)
    }

    fn calibrate(&self, items: &[Sentence]) -> Result<Option<Calibration>, NerError> {
        self.learn_confidence(items)
    }

    fn inspect(&self, top: usize) -> Inspection {
        let table = self.chain.node_table();
        let strongest = self.strongest(top).into_iter();
        let strongest = strongest
            .map(|Strength { weight, label, feature }| vec![weight.into(), label.into(), feature.into()]);
        let mut agreement = self.agreement_weights();
        agreement.retain(|(_, weight)| *weight != 0.0);
        agreement.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        let agreement =
            agreement.into_iter().take(top).map(|(name, weight)| vec![weight.into(), name.into()]);
        Inspection::default()
            .fact("types", self.types().join(" "))
            .fact("labels", self.chain.labels().names().join(" "))
            .fact("features", table.features())
            .fact("weights", table.parameters())
            .table(&["weight", "label", "feature"], strongest)
            .table(&["weight", "agreement"], agreement)
    }

    fn problems(&self, items: &[Sentence], options: &NerOptions) -> Option<Result<Vec<Answered>, NerError>> {
        Some(self.answered(items, options))
    }
}

impl Ner {
    /// How its labels agree.
    pub fn consistency(&self) -> Consistency {
        self.description.settings.consistency
    }

    /// The same recognizer without agreement: each sentence by itself.
    #[must_use]
    pub fn alone(&self) -> Self {
        let mut ner = self.clone();
        ner.agreement = Agreement::None;
        ner.settle(Consistency::None);
        ner
    }

    /// The same recognizer with this strength of agreement. One that has learned none agrees by patterns that
    /// all count the same: by its margin, where a word has a capital, and for phrases.
    #[must_use]
    pub fn agreeing(&self, strength: f32) -> Self {
        let mut ner = self.clone();
        ner.strength = strength;
        if let Agreement::None = ner.agreement {
            let layout = Layout::new(&ner.labels, false, ner.description.settings.posts);
            let weights = layout.equal(self.description.margin as f32);
            ner.agreement = Agreement::Patterns { ordinary: OrdinaryWords::default(), layout, weights };
            ner.settle(Consistency::Patterns);
        }
        ner
    }

    fn settle(&mut self, consistency: Consistency) {
        let mut description = Description::clone(&self.description);
        description.settings.consistency = consistency;
        self.description = Arc::new(description);
    }

    /// How much agreement counts beside the sentence's own chain.
    pub fn strength(&self) -> f32 {
        self.strength
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

    /// What makes labels agree by patterns, as it counts: for each way to agree, its weight. Empty for other
    /// kinds of agreement.
    pub fn agreement_weights(&self) -> Vec<(String, f32)> {
        let Agreement::Patterns { layout, weights, .. } = &self.agreement else { return Vec::new() };
        let names = layout.names(&self.labels);
        names.into_iter().zip(weights).map(|(name, weight)| (name, self.strength * weight)).collect()
    }

    /// Keeps names for the strongest weights, found in the sentences that the recognizer was trained on.
    pub(crate) fn store_names(&self, writer: &mut ModelWriter, sentences: &[Sentence]) {
        let mut wanted = WantedNames::new(self.chain.strongest_features(NAMED_FEATURES));
        let words: BTreeSet<&str> = sentences
            .iter()
            .flat_map(|sentence| (0..sentence.len()).map(|word| sentence.form(word)))
            .collect();
        evidence::name_features(&words, self.features.extractor.resources(), &mut wanted);
        let mut reader = self.features.reader();
        for sentence in sentences {
            if wanted.is_complete() {
                break;
            }
            reader.sentence(0, sentence);
            let value = |word: usize, column: usize| match column {
                0 => sentence.form(word),
                _ => sentence.upos(word),
            };
            self.features.extractor.name_features(&reader.workspace, sentence.len(), value, &mut wanted);
        }
        wanted.store(writer, TASK);
    }
}

/// Begins a model file.
pub(crate) fn store(
    description: &Description,
    features: &Features,
    chain: impl FnOnce(&mut ModelWriter),
) -> ModelWriter {
    let mut writer = ModelWriter::new(TASK, json!(description));
    writer.text("templates", features.extractor.templates().text());
    features.extractor.resources().store(&mut writer);
    chain(&mut writer);
    writer
}
