//! The field's own scorers, reproduced: what they count, and the tables they print.
//!
//! | scorer | original |
//! |---|---|
//! | [`TagScorer`] | tag accuracy, also over words that training never saw |
//! | [`Conlleval`] | `conlleval` of CoNLL-2000 to 2003 |
//! | [`CharacterSpans`] | entities where tokens differ, compared by characters |
//! | [`TreeScorer`] | `conll18_ud_eval` of the CoNLL 2018 shared task |
//! | [`Rouge`] | ROUGE-1.5.5 |
//! | [`LinkScores`] | links between units of a conversation |
//!
//! Scorers take plain strings and numbers, so they serve whatever holds the data. Each yields scores that
//! serialize to JSON, print as a table, and break down by unit for [`Bootstrap`], which adds intervals and
//! compares systems. All but [`Rouge`] also list their [`Mistake`]s (those of much text on request), for [`compare_mistakes`].

mod bootstrap;
mod conlleval;
mod error;
mod links;
mod mistakes;
mod porter;
mod rouge;
mod score;
mod spans;
mod tags;
mod trees;

pub use bootstrap::{Bootstrap, Comparison, Interval, UnitRatios};
pub use conlleval::{ChunkScores, Conlleval};
pub use error::EvaluationError;
pub use links::LinkScores;
pub use mistakes::{Difference, Mistake, MistakeCounts, compare_mistakes};
pub use porter::porter_stem;
pub use rouge::{Rouge, RougeScores};
pub use score::{Counts, Score};
pub use spans::{CharacterSpans, SpanScores, compare_spans};
pub use tags::{TagScorer, TagScores};
pub use trees::{MultiwordToken, TreeMetric, TreeScore, TreeScorer, TreeScores, TreeSentence, TreeWord};
