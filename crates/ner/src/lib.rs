//! Named entities: chains over sentences, and labels that agree across a text.
//!
//! The same five files as in every task: what a part is (a label at a word), its features
//! ([`built_in_templates`]), how it decodes ([`NerOptions`]), how it learns ([`NerSettings`]) and its model
//! on disk ([`Ner`]).
//!
//! ```
//! use consonant_ner::{Ner, NerOptions, NerSettings};
//! use consonant_task::{Data, Task, Watch};
//! use consonant_text::{Columns, Sentence, SentenceReader};
//!
//! let text = "Ann\tB-PER\nleft\tO\nBonn\tB-LOC\n\nBob\tB-PER\nleft\tO\nCairo\tB-LOC\n\n";
//! let read = |text: &'static str| -> Result<Vec<Sentence>, _> {
//!     SentenceReader::columns(text.as_bytes(), "example", Columns::default()).collect()
//! };
//! let trained = Ner::train(&Data::new(&read(text)?), &NerSettings::new(), &mut Watch::none())?;
//!
//! let names = Ner::open(&trained.open()?)?;
//! let mut unknown = read("Cy\tO\nleft\tO\nDelhi\tO\n\n")?;
//! let units = names.decode(&mut unknown, &NerOptions::new())?;
//! assert_eq!(unknown[0].to_string(), "Cy\tB-PER\nleft\tO\nDelhi\tB-LOC\n\n");
//! assert!(units[0].certificate.is_optimal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod choice;
mod confidence;
mod decode;
mod documents;
mod error;
mod evidence;
mod features;
mod known;
mod layout;
mod learn;
mod model;
mod occurrences;
mod parts;
mod patterns;
#[cfg(test)]
#[path = "../tests/unit/sample.rs"]
mod sample;
mod scores;
mod words;

pub use decode::{NerOptions, Tie};
pub use documents::groups;
pub use error::NerError;
pub use features::built_in_templates;
pub use known::KnownNames;
pub use learn::NerSettings;
pub use model::{Consistency, Ner, Scope, TASK};
pub use parts::{LabelScheme, allowed_transitions};
