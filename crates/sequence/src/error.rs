use consonant_learn::LearnError;

use crate::inference::InferenceError;

/// What can go wrong with chains and their training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceError {
    /// From the trainer or the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From inference.
    #[error(transparent)]
    Inference(#[from] InferenceError),
    /// Nothing to learn from.
    #[error("the training set has no labelled token; give at least one sentence with labels")]
    NoLabels,
    /// More labels than a model can hold.
    #[error(
        "the training set has {found} labels; at most {most} are possible: is the label column the right one?"
    )]
    TooManyLabels {
        /// Labels found.
        found: usize,
        /// Labels possible.
        most: usize,
    },
    /// A feature value that is infinite or not a number.
    #[error(
        "feature value {value} at token {token} of sentence {sentence} (both from 1); values must be finite numbers"
    )]
    BadValue {
        /// The sentence, from 1.
        sentence: usize,
        /// The token, from 1.
        token: usize,
        /// The value.
        value: f32,
    },
    /// A sentence weight that is negative or not a number.
    #[error("sentence {sentence} (from 1) has weight {weight}; weights must be finite and not negative")]
    BadWeight {
        /// The sentence, from 1.
        sentence: usize,
        /// The weight.
        weight: f32,
    },
    /// Keys and values of a token that do not fit.
    #[error(
        "token {token} of sentence {sentence} (both from 1) has {keys} features but {values} values; give one for each, or none"
    )]
    ValueCount {
        /// The sentence, from 1.
        sentence: usize,
        /// The token, from 1.
        token: usize,
        /// Features of the token.
        keys: usize,
        /// Values of the token.
        values: usize,
    },
    /// A combination that has no meaning or no implementation.
    #[error("{0}")]
    Unsupported(String),
    /// A diagram that cannot be read.
    #[error("line {line} of the diagram: {problem}")]
    Diagram {
        /// The line, from 1; 0 for the whole.
        line: usize,
        /// What was expected and what came.
        problem: String,
    },
    /// A class weight for a label that does not occur.
    #[error("there is a class weight for the label `{0}`, which does not occur in the training set")]
    UnknownClass(String),
}
