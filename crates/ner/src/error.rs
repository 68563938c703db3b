//! What can go wrong with entity recognizers.

use consonant_learn::LearnError;
use consonant_map::ModelError;
use consonant_map::pattern::PatternError;
use consonant_map::solver::Unsupported;
use consonant_sequence::SequenceError;
use consonant_sequence::features::FeatureError;
use consonant_text::sentence::EditError;
use thiserror::Error;

/// A recognizer that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NerError {
    /// From the chain.
    #[error(transparent)]
    Sequence(#[from] SequenceError),
    /// From templates or resources.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// From the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From writing into a sentence.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// From the graph of agreeing labels.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// From the graph of agreeing labels.
    #[error(transparent)]
    Graph(#[from] ModelError),
    /// From a solver that cannot take the graph.
    #[error(transparent)]
    Solver(#[from] Unsupported),
    /// The training data names nothing.
    #[error(
        "the training data has no entity; expected labels such as B-LOC in the last column, or NER=B-LOC in MISC"
    )]
    NoEntities,
    /// A decoder was chosen for a model that has nothing to agree, or that cannot run it.
    #[error(
        "the model was trained with consistency `{consistency}`, which is decoded by {possible}; came `{decoder}`"
    )]
    Decoder {
        /// How the model was trained.
        consistency: &'static str,
        /// What was asked for.
        decoder: &'static str,
        /// What it can be decoded by.
        possible: &'static str,
    },
}
