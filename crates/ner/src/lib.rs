//! Named entities: chains over sentences, and labels that agree across a text.
//!
//! The same five files as in every task: what a part is (a label at a word), its features ([`built_in_templates`]), how it decodes
//! ([`Decoder`]), how it learns ([`train`]) and its model on disk ([`NerModel`]).
//!
//! ```
//! use consonant_ner::{NerModel, NerSettings, Request, train};
//! use consonant_text::{Columns, Sentence, SentenceReader};
//!
//! let text = "Ann\tB-PER\nleft\tO\nBonn\tB-LOC\n\nBob\tB-PER\nleft\tO\nCairo\tB-LOC\n\n";
//! let read = |text: &'static str| -> Result<Vec<Sentence>, _> {
//!     SentenceReader::columns(text.as_bytes(), "example", Columns::default()).collect()
//! };
//! let trained = train(&read(text)?, None, NerSettings::default(), &mut |_| {}, None)?;
//!
//! let model = NerModel::from_bytes(&trained.model.to_bytes())?;
//! let mut unknown = read("Cy\tO\nleft\tO\nDelhi\tO\n\n")?;
//! let units = model.decoder()?.decode(&mut unknown, &Request::default())?;
//! assert_eq!(unknown[0].to_string(), "Cy\tB-PER\nleft\tO\nDelhi\tB-LOC\n\n");
//! assert_eq!(units[0].certificate.status().name(), "optimal");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod choice;
mod decode;
mod documents;
mod error;
mod evidence;
mod features;
mod layout;
mod learn;
mod model;
mod occurrences;
mod parts;
mod patterns;
#[cfg(test)]
mod sample;
mod scores;
mod words;

pub use decode::{Decoded, Decoder, Request};
pub use documents::groups;
pub use error::NerError;
pub use features::built_in_templates;
pub use learn::{NerSettings, Trained, train};
pub use model::{Consistency, NerModel, Scope, TASK};
