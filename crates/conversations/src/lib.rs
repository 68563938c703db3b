//! Who answers whom in a conversation, as 2D and 3-wise conditional random fields.
//!
//! A binary variable says for each unit (a message, a sentence) and each earlier one whether the first
//! answers the second. These possible links lie on a grid, and neighbours on it depend on each other: who has
//! just answered a question may go on doing so, and two people rarely answer crosswise. [`GraphKind`] says
//! how much of that is scored: each link for itself, pairs of neighbours (Qu & Liu 2012), or patterns over
//! two adjacent edges (Qian & Liu 2014, *2-Slave Dual Decomposition*). Links are found by [`LinkDecoder`],
//! each set with a [`Certificate`](consonant_task::Certificate): most are proven best.
//!
//! ```
//! use consonant_conversations::{Constraint, GraphKind, LinkDecoder, LinkParts};
//!
//! // Three units, each of which answers one earlier unit.
//! let parts = LinkParts::new(3, 10, GraphKind::Triples, Constraint::ExactlyOne);
//! let mut scores = vec![0.0; parts.len()];
//! scores[parts.link(2, 1).unwrap()] = 1.0;
//! // Units 1 and 2 like to answer the same unit, and that much more than the last one prefers the other.
//! let column = parts.pairs().iter().position(|pair| pair.links == [0, 1]).unwrap();
//! scores[parts.links().len() + column] = 1.5;
//!
//! let mut present = Vec::new();
//! let certificate = LinkDecoder::default().decode(&parts, &scores, &mut present)?;
//! assert_eq!(present, [true, true, false]);
//! assert_eq!((certificate.value(), certificate.is_optimal()), (Some(1.5), true));
//! # Ok::<(), consonant_conversations::LinkerError>(())
//! ```
//!
//! A [`Linker`] learns the scores from conversations with links and finds links in others, as every
//! [`Task`](consonant_task::Task) does.

#![forbid(unsafe_code)]

mod conversation;
mod decode;
mod error;
mod explain;
mod features;
mod learn;
mod model;
mod parts;
mod reduce;
mod rows;
mod words;

pub use decode::{LinkDecoder, LinkMethod};
pub use error::LinkerError;
pub use learn::{LinkerSettings, Links};
pub use model::{Linker, LinkerOptions, TASK};
pub use parts::{Constraint, GraphKind, LinkParts, Pair, PairShape, Triple, TripleShape};
