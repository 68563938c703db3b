//! What can go wrong with conversations.

use consonant_learn::LearnError;
use thiserror::Error;

/// A model of links that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkerError {
    /// From training or the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From the pattern model or the factor graph.
    #[error(transparent)]
    Graph(#[from] consonant_map::ModelError),
    /// From the problem as data.
    #[error(transparent)]
    Problem(#[from] consonant_map::problem::FormatError),
    /// Training data without links.
    #[error(
        "none of the {conversations} conversations of the training data has a link to learn from; links are [source, target] with target < source"
    )]
    NoLinks {
        /// Conversations read.
        conversations: usize,
    },
    /// A link that leads forward, to itself or out of the conversation.
    #[error("conversation `{conversation}`: expected {expected}, came {came}; {hint}")]
    Link {
        /// The id of the conversation.
        conversation: String,
        /// What was expected.
        expected: String,
        /// What came.
        came: String,
        /// What to do.
        hint: &'static str,
    },
}
