//! Chains over attributes that have names, as users of CRFsuite give them: training data, and the model with its names.

use std::sync::Arc;

use consonant_learn::hash::key;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_learn::table::Precision;
use consonant_learn::trainer::{EpochReport, Run};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::corpus::{CorpusBuilder, Growing, Numbering, TokenReader};
use crate::{ChainDecoder, ChainModel, CorpusOptions, Plan, SentenceKeys, SequenceError, train};

/// Sequences of items with labels and named attributes.
///
/// ```
/// use consonant_learn::trainer::Run;
/// use consonant_sequence::{Algorithm, AttributeCorpus, AttributeModel, CorpusOptions, SentenceKeys, Training};
///
/// let mut corpus = AttributeCorpus::new(CorpusOptions::default());
/// for (word, label) in [("the", "D"), ("run", "N")] {
///     corpus.attribute(&format!("word:{word}"), 1.0);
///     corpus.item(label);
/// }
/// corpus.end();
/// let (bytes, _) = corpus.train(&Training::new(Algorithm::Likelihood).into(), Run::default())?;
///
/// let model = AttributeModel::open(&consonant_learn::model::Model::from_bytes(&bytes)?)?;
/// let mut sequence = SentenceKeys::new();
/// sequence.token();
/// sequence.named("word:run", 1.0);
/// assert_eq!(model.predict(&[sequence])?, [[1]]);
/// assert!(model.state_features().any(|(name, label, weight)| (name, label) == ("word:run", "N") && weight > 0.0));
/// # Ok::<(), consonant_sequence::SequenceError>(())
/// ```
#[derive(Debug, Default)]
pub struct AttributeCorpus {
    reader: TokenReader<Named>,
    keys: Vec<u64>,
    values: Vec<f32>,
    is_open: bool,
}

/// Numbers attributes as they come and keeps the name of each.
#[derive(Debug, Default)]
struct Named {
    numbering: Growing,
    /// By number.
    names: Names,
    /// Of the item that is being read. They are looked up when it ends, all at once: lookups that do not wait
    /// for each other overlap their cache misses.
    item: Names,
    /// The attribute of the item that comes next.
    next: usize,
}

impl Numbering for Named {
    fn label(&mut self, name: &str) -> u32 {
        self.numbering.label(name)
    }

    #[inline]
    fn feature(&mut self, key: u64) -> Option<u32> {
        let number = self.numbering.feature(key)?;
        if number as usize == self.names.ends.len() {
            self.names.push(self.item.get(self.next));
        }
        self.next += 1;
        Some(number)
    }

    fn pair_feature(&mut self, key: u64) -> Option<u32> {
        self.numbering.pair_feature(key)
    }
}

/// Names, one after the other in one text.
#[derive(Debug, Default)]
struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    #[inline]
    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn get(&self, number: usize) -> &str {
        &self.text[number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]]
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Sequences that one thread decodes with one set of buffers.
const BLOCK: usize = 64;

/// The task of the model files.
const TASK: &str = "crf";

impl AttributeCorpus {
    /// Without sequences.
    pub fn new(options: CorpusOptions) -> Self {
        let numbering = Named { numbering: Growing::new(options), ..Named::default() };
        Self { reader: TokenReader { numbering, ..TokenReader::default() }, ..Self::default() }
    }

    /// Adds an attribute to the item that comes next.
    pub fn attribute(&mut self, name: &str, value: f32) {
        self.reader.numbering.item.push(name);
        self.keys.push(key(name.as_bytes()));
        self.values.push(value);
    }

    /// Adds an item with the attributes that were given since the last.
    pub fn item(&mut self, label: &str) {
        if !self.is_open {
            self.reader.begin(1.0);
            self.is_open = true;
        }
        let plain = self.values.iter().all(|&value| value == 1.0);
        self.reader.numbering.next = 0;
        self.reader.token(Some(label), &self.keys, if plain { &[] } else { &self.values }, &[]);
        self.reader.numbering.item.clear();
        self.keys.clear();
        self.values.clear();
    }

    /// Ends the sequence; one without items is none.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.reader.end();
        }
    }

    /// Trains a chain: the bytes of its model file, and how it went.
    pub fn train(self, plan: &Plan, run: Run<'_>) -> Result<(Vec<u8>, Vec<EpochReport>), SequenceError> {
        let TokenReader { numbering: Named { numbering, names, .. }, sentences, error } = self.reader;
        let keys = numbering.keys().to_vec();
        let corpus = CorpusBuilder { numbering, sentences, error }.finish()?;
        let trained = train(&corpus, plan, None, run)?;
        let mut writer = ModelWriter::new(TASK, json!({"training": plan.training.to_string()}));
        trained.store(&mut writer, Precision::Single);
        let mut in_order = vec![""; corpus.keys.len()];
        for (number, key) in keys.iter().enumerate() {
            if let Some(place) = corpus.number(*key) {
                in_order[place as usize] = names.get(number);
            }
        }
        FeatureNames::store(&mut writer, TASK, corpus.keys.iter().copied().zip(in_order));
        Ok((writer.to_bytes(), trained.history))
    }
}

impl SentenceKeys {
    /// Adds a named attribute to the token last begun.
    #[inline]
    pub fn named(&mut self, name: &str, value: f32) {
        self.key(key(name.as_bytes()), value);
    }
}

/// A trained chain that knows the names of its attributes.
#[derive(Debug, Clone)]
pub struct AttributeModel {
    chain: Arc<ChainModel>,
    names: Option<FeatureNames>,
    decoder: ChainDecoder,
    metadata: Value,
}

impl AttributeModel {
    /// Opens what [`AttributeCorpus::train`] made.
    pub fn open(model: &Model) -> Result<Self, SequenceError> {
        let chain = Arc::new(ChainModel::open(model.expect_task(TASK)?)?);
        let names = FeatureNames::open(model, TASK)?;
        Ok(Self { decoder: chain.decoder(None)?, chain, names, metadata: model.metadata().clone() })
    }

    /// The chain itself.
    pub fn chain(&self) -> &Arc<ChainModel> {
        &self.chain
    }

    /// How it was trained.
    pub fn metadata(&self) -> &Value {
        &self.metadata
    }

    /// The best labels of each sequence, on rayon's threads.
    pub fn predict(&self, sequences: &[SentenceKeys]) -> Result<Vec<Vec<u32>>, SequenceError> {
        self.each(sequences, |decoder| {
            let mut path = Vec::new();
            decoder.best(None, &mut path)?;
            Ok(path)
        })
    }

    /// The probability of each label at each item, a row of labels for each item.
    pub fn marginals(&self, sequences: &[SentenceKeys]) -> Result<Vec<Vec<f64>>, SequenceError> {
        self.each(sequences, |decoder| decoder.marginals(None, |posterior| posterior.nodes().to_vec()))
    }

    /// A decoder for one thread.
    pub fn decoder(&self) -> ChainDecoder {
        self.decoder.clone()
    }

    /// What a decoder answers to each sequence that it has scored, on rayon's threads.
    pub fn each<T: Send>(
        &self,
        sequences: &[SentenceKeys],
        answer: impl Fn(&mut ChainDecoder) -> Result<T, SequenceError> + Sync,
    ) -> Result<Vec<T>, SequenceError> {
        let block = |block: &[SentenceKeys]| -> Result<Vec<T>, SequenceError> {
            let mut decoder = self.decoder.clone();
            let work = |sequence: &SentenceKeys| {
                decoder.score(sequence);
                answer(&mut decoder)
            };
            block.iter().map(work).collect()
        };
        let blocks: Result<Vec<Vec<T>>, SequenceError> = sequences.par_chunks(BLOCK).map(block).collect();
        Ok(blocks?.into_iter().flatten().collect())
    }

    /// The weight of each attribute for each label.
    pub fn state_features(&self) -> impl Iterator<Item = (&str, &str, f32)> {
        let names = self.names.iter().flat_map(FeatureNames::iter);
        names.flat_map(move |(key, name)| {
            let labels = self.chain.explain(key).into_iter();
            labels.map(move |(label, weight)| (name, self.chain.labels().name(label), weight))
        })
    }

    /// The weight of each pair of neighbouring labels.
    pub fn transition_features(&self) -> impl Iterator<Item = (&str, &str, f32)> {
        let pairs = self.chain.grams().grams().iter().filter(|gram| gram.len() == 2);
        let name = |label: u32| self.chain.labels().name(label);
        pairs.map(move |gram| (name(gram[0]), name(gram[1]), self.chain.gram_weight(gram)))
    }
}
