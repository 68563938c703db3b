//! Non-projective dependency parsing with higher-order parts that agree.
//!
//! A tree's score is a sum over its parts: arcs, siblings, grandparents, and more ([`PartKinds`]). Finding
//! the best tree is easy for arcs alone and NP-hard beyond; so each kind of parts is solved by its own
//! dynamic program, and alternating directions (AD3) make them agree (Martins, Almeida & Smith 2013, *Turning
//! on the Turbo*). Each tree comes with a [`Certificate`](consonant_task::Certificate): most are proven best.
//!
//! ```
//! use consonant_parser::{Parser, ParserOptions, ParserSettings};
//! use consonant_task::{Data, Task, Watch};
//! use consonant_text::{Sentence, SentenceReader};
//!
//! let text = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
//! let sentences: Vec<Sentence> = SentenceReader::conllu(text.as_bytes(), "dogs").collect::<Result<_, _>>()?;
//! let settings = ParserSettings::new().order(2usize).bits(12u32).label_bits(10u32).pruner_bits(10u32);
//! let trained = Parser::train(&Data::new(&sentences), &settings, &mut Watch::none())?;
//!
//! let parser = Parser::open(&trained.open()?)?;
//! let mut unknown = vec![Sentence::from_conllu("1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tbark\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")?];
//! let units = parser.decode(&mut unknown, &ParserOptions::new())?;
//! assert_eq!(unknown[0].heads(), [2, 0]);
//! assert!(units[0].certificate.is_optimal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Scores may also be your own:
//!
//! ```
//! use consonant_map::oracle::arborescence::RootChildren;
//! use consonant_parser::{TreeDecoder, PartKinds, TreeParts};
//!
//! // Three words; every arc is a candidate.
//! let arcs: Vec<_> = (1..=3).flat_map(|m| (0..=3).filter(move |&h| h != m).map(move |h| (h, m))).collect();
//! let parts = TreeParts::new(3, &arcs, PartKinds::of_order(2), RootChildren::One)?;
//! let mut scores = vec![0.0; parts.len()];
//! scores[parts.arc(0, 2).unwrap()] = 1.0;
//! scores[parts.arc(2, 1).unwrap()] = 1.0;
//!
//! let mut heads = Vec::new();
//! let certificate = TreeDecoder::default().decode(&parts, &scores, &mut heads)?;
//! assert_eq!((heads[0], heads[1], certificate.is_optimal()), (2, 0, true));
//! # Ok::<(), consonant_parser::ParserError>(())
//! ```

// Twins of hot loops for AVX2 (`consonant_learn::vectorized`) are called after a look at the processor, and nothing else is unsafe.
#![deny(unsafe_code)]

mod ascent;
pub mod automaton;
mod decode;
mod error;
mod export;
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
mod settings;

pub use decode::{TreeDecoder, TreeDecoderOptions};
pub use error::ParserError;
pub(crate) use learn::TrainingSentence;
pub use matrix_tree::MatrixTree;
pub use model::{ParseGraph, Parser, TASK};
pub use parts::{PartKinds, Side, TreeParts};
pub use settings::{Column, ParserOptions, ParserSettings, PartKind, Switches};
