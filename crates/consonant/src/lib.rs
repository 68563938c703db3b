//! Structured prediction in language: models that agree, and prove it.
//!
//! ```
//! let annotated = consonant::Pipeline::english()?.annotate("Ann Smith lives in Kiel. She works for Google.")?;
//! let first = &annotated.document.sentences()[0];
//! assert_eq!((first.form(4), first.upos(4), first.entity_label(4)), ("Kiel", "PROPN", "B-LOC"));
//! assert!(annotated.certificates.tree[0].certificate.is_optimal());
//! # Ok::<(), consonant::Error>(())
//! ```
//!
//! - [`Pipeline`]: raw text to sentences with tags, names and trees, each with a certificate; [`Models`] says
//!   whose.
//! - [`task`]: the contract of all tasks; [`registry`]: the tasks that there are, and what every client does
//!   with any of them.
//! - [`segmenter`], [`tagger`], [`ner`], [`parser`], [`summarizer`], [`conversations`]: the tasks.
//! - [`map`]: the engine, for scores and constraints of one's own; [`text`]: formats and scorers; [`learn`]
//!   and [`sequence`]: what tasks are made of.
//! - [`decode`]: labels and trees for the scores of any model; `arrow` (a feature): columns of text, annotated.
//! - [`evaluate`]: files of predictions, scored; [`draw`] and [`plot`]: pictures.

#![forbid(unsafe_code)]

#[cfg(feature = "pipeline")]
mod annotators;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "pipeline")]
pub mod decode;
pub mod draw;
mod error;
pub mod evaluate;
#[cfg(feature = "tagger")]
mod jackknife;
#[cfg(feature = "pipeline")]
mod known;
mod models;
#[cfg(feature = "pipeline")]
pub mod pipeline;
pub mod plot;
mod proofs;
pub mod registry;

#[cfg(feature = "pipeline")]
pub use annotators::Tagging;
#[cfg(all(feature = "pipeline", feature = "summarizer"))]
pub use annotators::TopicAnnotator;
#[cfg(feature = "clusters")]
pub use consonant_clusters as clusters;
#[cfg(feature = "conversations")]
pub use consonant_conversations as conversations;
pub use consonant_learn as learn;
#[cfg(feature = "lemmatizer")]
pub use consonant_lemmatizer as lemmatizer;
pub use consonant_map as map;
#[cfg(feature = "ner")]
pub use consonant_ner as ner;
#[cfg(feature = "parser")]
pub use consonant_parser as parser;
#[cfg(feature = "segmenter")]
pub use consonant_segmenter as segmenter;
pub use consonant_sequence as sequence;
#[cfg(feature = "summarizer")]
pub use consonant_summarizer as summarizer;
#[cfg(feature = "tagger")]
pub use consonant_tagger as tagger;
pub use consonant_task as task;
pub use consonant_text as text;

#[cfg(feature = "clusters")]
pub use clusters::WordClusters;
#[cfg(feature = "conversations")]
pub use conversations::Linker;
pub use error::Error;
#[cfg(feature = "lemmatizer")]
pub use lemmatizer::Lemmatizer;
pub use map::Certificate;
pub use models::Models;
#[cfg(feature = "ner")]
pub use ner::Ner;
#[cfg(feature = "parser")]
pub use parser::Parser;
#[cfg(feature = "pipeline")]
pub use pipeline::{Annotated, Certificates, Layers, Pipeline};
pub use proofs::Proofs;
pub use registry::Registry;
#[cfg(feature = "segmenter")]
pub use segmenter::Segmenter;
#[cfg(feature = "summarizer")]
pub use summarizer::Summarizer;
#[cfg(feature = "tagger")]
pub use tagger::Tagger;
pub use task::Task;

/// The guide's programs are tests.
#[cfg(all(doctest, feature = "pipeline"))]
#[doc = include_str!("../../../docs/library.md")]
#[doc = include_str!("../../../README.md")]
struct Guide;
