//! Summaries of several documents about one thing: sentences are extracted and compressed jointly, within a
//! budget, with a bound on how much better any other summary could be.
//!
//! After Almeida & Martins, *Fast and Robust Compressive Summarization with Dual Decomposition and Multi-Task
//! Learning* (ACL 2013). Informativeness is the coverage of concepts (pairs of stems), grammaticality a tree
//! of units that can be deleted, conciseness a budget; each is a factor of its own, and AD3 makes them agree.
//! Tags and trees are read from the documents; sentences without a tree are taken whole.
//!
//! ```
//! use consonant_summarizer::{Summarizer, SummarizerOptions};
//! use consonant_text::{Document, Sentence};
//!
//! let tree = "\
//! 1\tRain\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_
//! 2\tflooded\t_\tVERB\t_\t_\t0\troot\t_\t_
//! 3\tthe\t_\tDET\t_\t_\t5\tdet\t_\t_
//! 4\told\t_\tADJ\t_\t_\t5\tamod\t_\t_
//! 5\ttown\t_\tNOUN\t_\t_\t2\tobj\t_\t_
//! 6\tyesterday\t_\tADV\t_\t_\t2\tadvmod\t_\tSpaceAfter=No
//! 7\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_
//!
//! ";
//! let documents = [Document::from_sentences(vec![Sentence::from_conllu(tree)?])];
//! let summarizer = Summarizer::built_in()?;
//! let summary = summarizer.summarize(&documents, &SummarizerOptions::new().words(5))?;
//! assert_eq!(summary.text(), "Rain flooded the old town.\n");
//! let certificate = summary.certificate.unwrap();
//! assert!(certificate.value().unwrap() <= certificate.bound());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of a topic through the files: [documents](Source), `annotate` (sentences and trees) → `material`
//! (sentences, concepts, with what `layout` says of lines) → `units` (trees of `syntax` under `constraints`) → `parts` (the [`Problem`]) → `features` and
//! `model` ([`Scores`]) → [`decode`] (`graph` for AD3, `dual` for a tighter bound, `rounding` for summaries)
//! → `render` (text) → [`Summary`]. Learning is in `learn`: `worth` of concepts by themselves first, then
//! whole summaries, with what it learns from in `references`.

#![forbid(unsafe_code)]

mod annotate;
mod baseline;
mod constraints;
mod decode;
mod dev;
mod dual;
mod error;
mod export;
mod features;
mod fitness;
mod graph;
mod ilp;
mod interest;
mod item;
mod knapsack;
mod layout;
mod learn;
mod marginals;
mod material;
mod model;
mod parts;
mod problem;
mod references;
mod render;
mod rounding;
mod source;
mod summarize;
mod summary;
mod syntax;
mod tree;
mod units;
mod words;
mod worth;

pub use baseline::Baseline;
pub use constraints::Constraints;
pub use decode::{Decoded, Search, SummarizerOptions, decode};
pub use dev::{Dev, KeptWords, reference_length};
pub use error::SummarizerError;
pub use ilp::lp_format;
pub use item::{Content, Pair, SummarizerItem, Topic};
pub use learn::SummarizerSettings;
pub use model::Summarizer;
pub use parts::{Mode, Objective};
pub use problem::{Compression, NONE as NO_PARENT, Problem, Scores, Unit};
pub use source::{CleanText, Source};
pub use summarize::{Prepared, summarize_by_baseline};
pub use summary::{Deletion, Empty, Summary, SummaryConcept, SummarySentence, SummaryWord};
pub use words::looks_english;
