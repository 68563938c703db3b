//! What can go wrong with segmenters.

use consonant_learn::LearnError;
use consonant_sequence::SequenceError;
use thiserror::Error;

/// A segmenter that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SegmenterError {
    /// From the chain.
    #[error(transparent)]
    Sequence(#[from] SequenceError),
    /// From the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The training data has no two tokens in a paragraph.
    #[error(
        "the training data has no boundaries to learn from; give CoNLL-U with sentences of more than one token"
    )]
    NoBoundaries,
    /// The model to go on from looks back another number of boundaries.
    #[error("the model to go on from looks {theirs} boundaries back, not {ours}; give --order {theirs}")]
    Order {
        /// What the model does.
        theirs: usize,
        /// What was asked for.
        ours: usize,
    },
}
