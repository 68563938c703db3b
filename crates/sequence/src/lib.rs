//! Chains of any order.

mod algorithm;
mod corpus;
mod decoding;
pub mod diagram;
mod error;
pub mod features;
pub mod inference;
mod labels;
mod model;
mod ngrams;
mod normalization;
mod objective;
mod sentences;
mod space;
mod train;

pub use algorithm::{ALGORITHMS, Algorithm, algorithm};
pub use corpus::{Corpus, CorpusBuilder, CorpusOptions, Encoder, Pairs, UNSEEN};
pub use diagram::Diagram;
pub use error::SequenceError;
pub use labels::{Labels, UNKNOWN};
pub use model::{ChainDecoder, ChainModel, SentenceKeys};
pub use ngrams::LabelGrams;
pub use sentences::Sentences;
pub use space::Space;
pub use train::{Dev, Metric, TrainedChain, Training, train};
