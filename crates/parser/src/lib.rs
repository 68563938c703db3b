//! Non-projective dependency parsing with higher-order parts that agree.
//!
//! A tree's score is a sum over its parts: arcs, siblings, grandparents, and more ([`PartKinds`]). Finding the best tree is
//! easy for arcs alone and NP-hard beyond; so each kind of parts is solved by its own dynamic program, and alternating
//! directions (AD3) make them agree (Martins, Almeida & Smith 2013, *Turning on the Turbo*). Each tree comes with a
//! [`Certificate`]: most are proven best.
//!
//! ```
//! use consonant_map::Status;
//! use consonant_map::oracle::arborescence::RootChildren;
//! use consonant_parser::{Decoder, PartKinds, Parts};
//!
//! // Three words; every arc is a candidate.
//! let arcs: Vec<_> = (1..=3).flat_map(|m| (0..=3).filter(move |&h| h != m).map(move |h| (h, m))).collect();
//! let parts = Parts::new(3, &arcs, PartKinds::of_order(2), RootChildren::One)?;
//! let mut scores = vec![0.0; parts.len()];
//! scores[parts.arc(0, 2).unwrap()] = 1.0;
//! scores[parts.arc(2, 1).unwrap()] = 1.0;
//!
//! let mut heads = Vec::new();
//! let certificate = Decoder::default().decode(&parts, &scores, &mut heads)?;
//! assert_eq!((heads[0], heads[1], certificate.status()), (2, 0, Status::Optimal));
//! # Ok::<(), consonant_parser::ParserError>(())
//! ```

#![forbid(unsafe_code)]

pub mod automaton;
mod decode;
mod error;
mod features;
mod inspect;
mod label;
mod learn;
mod matrix_tree;
mod model;
mod parts;
mod projective;
mod prune;
mod score;

pub use consonant_map::Certificate;
pub use decode::{Algorithm, Decoder, DecoderOptions};
pub use error::ParserError;
pub use features::IgnoredColumns;
pub use inspect::Strength;
pub(crate) use learn::TrainingSentence;
pub use learn::{ParserSettings, Progress, TrainedParser, train};
pub use matrix_tree::MatrixTree;
pub use model::{Parsed, Parser, TASK};
pub use parts::{PartKinds, Parts, Side};
pub use prune::PruningLimits;
