//! What can go wrong with summarizers.

use consonant_learn::LearnError;
use thiserror::Error;

/// A summarizer that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SummarizerError {
    /// From training or the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From the factor graph.
    #[error(transparent)]
    Graph(#[from] consonant_map::ModelError),
    /// From a solver.
    #[error(transparent)]
    Solver(#[from] consonant_map::solver::Unsupported),
    /// From a file.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// Topics where texts were expected.
    #[error("{0} is JSONL; summarize reads texts, and `predict --model M {0}` topics")]
    Jsonl(String),
    /// Something about one item.
    #[error("{place}: {problem}")]
    Item {
        /// Where it stands.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// No training data.
    #[error(
        "there is nothing to learn from; give topics with summaries, or pairs of sentences and compressions"
    )]
    NoData,
    /// A model whose metadata cannot be read.
    #[error("the settings of the summarizer's model cannot be read ({0}); train it again with this version")]
    Settings(String),
}
