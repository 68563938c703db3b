//! What can go wrong with taggers.

use consonant_learn::LearnError;
use consonant_sequence::SequenceError;
use consonant_sequence::features::FeatureError;
use consonant_text::sentence::EditError;
use thiserror::Error;

/// A tagger that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TaggerError {
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
    /// From a file.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// The user's own pieces are wrong.
    #[error("in {file}: {problem}")]
    Pieces {
        /// The file.
        file: String,
        /// What is wrong.
        problem: SequenceError,
    },
    /// The training takes more memory than it may.
    #[error(
        "training needs about {needed} MB and may have {most} MB; give fewer features (--min-count 2, --weights observed, \
         a shorter --template) or allow more with --memory"
    )]
    Memory {
        /// Megabytes that it takes.
        needed: u64,
        /// Megabytes that it may take.
        most: u64,
    },
    /// The training data has nothing in the column.
    #[error("no word of the training data has a label in {column}; choose another column or other data")]
    NoLabels {
        /// The column that was asked for.
        column: &'static str,
    },
    /// A sentence weight that is no number.
    #[error("line {line}: `# weight = {value}` is no weight; expected a finite number that is not negative")]
    Weight {
        /// Line of the sentence in its file.
        line: u64,
        /// What stands there.
        value: String,
    },
    /// A model that continues another one must have its columns and templates.
    #[error(
        "cannot continue the model: it was trained with {theirs}, this training has {ours}; leave the setting out or train afresh"
    )]
    Initial {
        /// What the model has.
        theirs: String,
        /// What was asked for.
        ours: String,
    },
    /// What was asked for cannot be, whatever the data are.
    #[error("{0}")]
    Usage(#[from] consonant_task::Usage),
}
