//! Sentences and tokens of raw text.
//!
//! A [`Segmenter`] works by [`Rules`], for languages without a model, or by a chain that was trained on a
//! treebank. Text is cut into atoms (runs of characters of one class), and each gap between two atoms is a
//! part: the token goes on, a token ends, or a token and a sentence end. Nothing of the text is lost: every
//! character is in a token or is white space between tokens, and the white space is kept in MISC
//! (`SpaceAfter=No`, `SpacesAfter=\n`).
//!
//! The files are those of every task: the parts, their features, how it decodes ([`SegmenterOptions`]), how
//! it learns ([`SegmenterSettings`]) and the model on disk ([`Segmenter`]); beside them the rules and what
//! tokens of several words are.
//!
//! ```
//! use consonant_segmenter::{Rules, Segmenter};
//!
//! let segmenter = Segmenter::rules(Rules::english());
//! let document = segmenter.segment("Mr. Smith can't come. See www.example.com!")?;
//! let sentences: Vec<String> =
//!     document.sentences().iter().map(|s| (0..s.len()).map(|word| s.form(word)).collect::<Vec<_>>().join(" ")).collect();
//! assert_eq!(sentences, ["Mr. Smith ca n't come .", "See www.example.com !"]);
//! assert_eq!(document.sentence_place(1), 22..42);
//! # Ok::<(), consonant_segmenter::SegmenterError>(())
//! ```

#![forbid(unsafe_code)]

mod atoms;
mod decode;
mod error;
mod features;
mod item;
mod layout;
mod learn;
mod lines;
mod model;
mod parts;
mod rules;
mod statistics;
mod words;

pub use decode::{SegmenterOptions, Segments};
pub use error::SegmenterError;
pub use item::Piece;
pub use layout::Start;
pub use learn::SegmenterSettings;
pub use model::{Segmenter, TASK};
pub use rules::{Contractions, Hyphens, Rules};
