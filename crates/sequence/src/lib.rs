//! Chains of any order: inference, pieces and their training objectives.
//!
//! [`inference`] answers questions about arrays of scores and knows nothing of features. [`features`] turns
//! tokens into feature keys. Between them stand training and models: a [`CorpusBuilder`] takes tokens with
//! labels and keys, [`train()`] learns weights by any [`Algorithm`], and a [`ChainModel`] predicts from a
//! model file. What is trained is a [`Diagram`]: pieces, what they condition on, and how to decode; the
//! algorithm says how its objective is followed.
//!
//! ```
//! use consonant_learn::hash::key;
//! use consonant_learn::model::{Model, ModelWriter};
//! use consonant_learn::table::Precision;
//! use consonant_learn::trainer::Run;
//! use consonant_sequence::{Algorithm, ChainModel, CorpusBuilder, CorpusOptions, SentenceKeys, Training, train};
//!
//! let mut builder = CorpusBuilder::new(CorpusOptions::default());
//! for sentence in [[("the", "D"), ("run", "N")], [("they", "P"), ("run", "V")]] {
//!     builder.begin(1.0);
//!     sentence.iter().for_each(|(word, label)| builder.token(Some(label), &[key(word.as_bytes())], &[], &[]));
//!     builder.end();
//! }
//! let corpus = builder.finish()?;
//! let plan = Training::new(Algorithm::PiecewisePseudoPerceptron).into();
//! let trained = train(&corpus, &plan, None, Run { epochs: 5, ..Run::default() })?;
//! let mut writer = ModelWriter::new("tagger", serde_json::Value::Null);
//! trained.store(&mut writer, Precision::Single);
//!
//! let model = std::sync::Arc::new(ChainModel::open(&Model::from_bytes(&writer.to_bytes())?)?);
//! let mut decoder = model.decoder(None)?;
//! let mut keys = SentenceKeys::new();
//! for word in ["they", "run"] {
//!     keys.token();
//!     keys.keys(&[key(word.as_bytes())]);
//! }
//! decoder.score(&keys);
//! let mut path = Vec::new();
//! decoder.best(None, &mut path)?;
//! let labels: Vec<&str> = path.iter().map(|&label| model.labels().name(label)).collect();
//! assert_eq!(labels, ["P", "V"]);
//! # Ok::<(), consonant_sequence::SequenceError>(())
//! ```

#![deny(unsafe_code)]

pub mod algorithm;
mod attributes;
mod corpus;
mod decoding;
pub mod diagram;
mod error;
pub mod features;
pub mod inference;
mod labels;
mod model;
mod narrowing;
mod ngrams;
mod normalization;
mod objective;
mod parts;
mod sentences;
mod space;
mod strength;
mod train;

pub use algorithm::{Algorithm, Training};
pub use attributes::{AttributeCorpus, AttributeModel};
pub use corpus::{
    Corpus, CorpusBuilder, CorpusOptions, Encoder, Growing, Known, Numbering, Pairs, TokenReader, UNSEEN,
};
pub use diagram::Diagram;
pub use error::SequenceError;
pub use labels::{Labels, UNKNOWN};
pub use model::{ChainDecoder, ChainModel, SentenceKeys};
pub use ngrams::LabelGrams;
pub use objective::{ScoredSentence, Ties};
pub use parts::PartsOfLabel;
pub use sentences::Sentences;
pub use space::Space;
pub use strength::Strength;
pub use train::{Dev, Metric, Plan, TrainedChain, train, train_jointly, train_orders};
