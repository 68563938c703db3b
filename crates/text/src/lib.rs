//! Documents with layers, lossless formats and scorers.
//!
//! A [`Sentence`] keeps the text it was read from and knows where its words and their layers stand in it;
//! what is not edited is written back byte for byte. A [`SentenceReader`] reads CoNLL-U and columns,
//! [`jsonl`] records and [`plain`] text, compressed or not, always with bounded memory. [`entity`] knows the
//! label schemes, [`convert`] goes between formats, [`check`] says what is wrong with data, [`evaluate`] has
//! the field's scorers. Errors say where, what was expected, what came and what to do.
//!
//! ```
//! use consonant_text::{Layer, SentenceReader};
//!
//! let text = "1\tRain\t_\t_\t_\t_\t_\t_\t_\t_\n2\tfalls\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
//! for sentence in SentenceReader::conllu(text.as_bytes(), "rain.conllu") {
//!     let mut sentence = sentence?;
//!     sentence.set(0, Layer::Upos, "NOUN")?;
//!     sentence.set_head(0, Some(2))?;
//!     assert!(sentence.to_string().starts_with("1\tRain\t_\tNOUN\t_\t_\t2\t_\t_\t_\n"));
//! }
//!
//! let error = SentenceReader::conllu("1\tRain\n\n".as_bytes(), "rain.conllu").next().unwrap().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "rain.conllu:1:1: expected 10 columns separated by tabs, came 2 columns: `1\\tRain`; \
//!      missing values are written `_`"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod chat;
pub mod check;
pub mod columns;
mod conllu;
pub mod convert;
pub mod document;
pub mod entity;
pub mod error;
pub mod evaluate;
mod faults;
mod format;
pub mod input;
pub mod jsonl;
pub mod plain;
mod reader;
pub mod sentence;
mod tree;

pub use columns::Columns;
pub use document::Document;
pub use entity::{Entity, Scheme};
pub use error::{Error, ErrorList, FormatError};
pub use format::{Format, UnknownFormat};
pub use reader::{Batches, SentenceReader};
pub use sentence::{Layer, Layout, RowId, Sentence};
pub use tree::Tree;
