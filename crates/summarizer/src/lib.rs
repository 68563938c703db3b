//! Summaries of several documents about one thing: sentences are extracted and compressed jointly, within a budget, with a
//! bound on how much better any other summary could be.

mod baseline;
mod constraints;
mod decode;
mod dual;
mod error;
mod features;
mod graph;
mod ilp;
mod knapsack;
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
mod tree;
mod units;
mod words;

pub use baseline::Baseline;
pub use constraints::Constraints;
pub use decode::{Decoded, Decoder, DecoderOptions, decode};
pub use error::SummarizerError;
pub use ilp::lp_format;
pub use learn::{
    Dev, KeptWords, Trained, TrainingData, TrainingPair, TrainingSettings, TrainingTopic, reference_length,
    train,
};
pub use model::{Settings, Summarizer, TASK};
pub use parts::{Mode, Task};
pub use problem::{Problem, Scores, Unit};
pub use source::CleanText;
pub use summarize::{Prepared, Request, summarize_by_baseline};
pub use summary::{Certificate, Empty, Summary, SummaryConcept, SummarySentence, SummaryWord};
pub use words::looks_english;
