//! What can go wrong with entity recognizers.

use consonant_learn::LearnError;
use consonant_map::ModelError;
use consonant_map::solver::Unsupported;
use consonant_sequence::SequenceError;
use consonant_sequence::features::FeatureError;
use consonant_task::Usage;
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
    Graph(#[from] ModelError),
    /// From a solver that cannot take the graph.
    #[error(transparent)]
    Solver(#[from] Unsupported),
    /// The training data names nothing.
    #[error(
        "the training data has no entity; expected labels such as B-LOC in the last column, or NER=B-LOC in MISC"
    )]
    NoEntities,
    /// The model reads tags, and there are none.
    #[error(
        "the model reads parts of speech, and there are none; give a tagger with --tagger MODEL that predicts upos"
    )]
    NoTags,
    /// A model to go on from that is of another kind.
    #[error(
        "cannot continue the model: it has {theirs}, this training has {ours}; leave the setting out or train afresh"
    )]
    Initial {
        /// What the model has.
        theirs: &'static str,
        /// What was asked for.
        ours: &'static str,
    },
    /// From a file.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// Something was asked for that the model cannot do.
    #[error("{0}")]
    Usage(#[from] Usage),
}
