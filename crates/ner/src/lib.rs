//! Named entities: chains over sentences, and labels that agree across a text.
//!
//! The same five files as in every task: what a part is (a label at a word), its features ([`built_in_templates`]), how it decodes
//! ([`Decoder`]), how it learns ([`train`]) and its model on disk ([`NerModel`]).

mod decode;
mod documents;
mod error;
mod evidence;
mod features;
mod learn;
mod model;
mod occurrences;
mod parts;
mod patterns;
mod scores;
mod words;

pub use decode::{Decoded, Decoder, Request};
pub use documents::{documents, groups};
pub use error::NerError;
pub use features::built_in_templates;
pub use learn::{NerSettings, Trained, train};
pub use model::{Consistency, NerModel, Scope, TASK};
