//! What can go wrong with parsers.

use consonant_learn::LearnError;
use consonant_sequence::features::FeatureError;
use consonant_task::Usage;
use consonant_text::sentence::EditError;
use thiserror::Error;

/// A parser that cannot be trained, opened or applied.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParserError {
    /// From training or the model file.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// From the file of word clusters.
    #[error(transparent)]
    Clusters(#[from] FeatureError),
    /// A file that could not be opened.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// From writing into a sentence.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// From the factor graph.
    #[error(transparent)]
    Graph(#[from] consonant_map::ModelError),
    /// Candidate arcs that are out of order or lead outside the sentence.
    #[error(
        "the candidate arcs of a sentence of {words} words are not sorted by modifier and head, or leave the sentence"
    )]
    Arcs {
        /// Words in the sentence.
        words: usize,
    },
    /// A word that no candidate arc enters.
    #[error("no candidate arc enters word {word}; every word needs one")]
    NoHead {
        /// The word, from 1.
        word: usize,
    },
    /// The candidate arcs hold no tree.
    #[error("no tree can be made of the candidate arcs of a sentence of {words} words")]
    NoTree {
        /// Words in the sentence.
        words: usize,
    },
    /// A sentence of the training data whose heads are no tree.
    #[error(
        "line {line}: {problem}; mend the sentence, leave out such ones with --skip-broken, or allow several roots with \
         --single-root false"
    )]
    Tree {
        /// Line of the sentence in its file.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// A sentence weight that is no number.
    #[error("line {line}: `# weight = {value}` is no weight; expected a finite number that is not negative")]
    Weight {
        /// Line of the sentence in its file.
        line: u64,
        /// What stands there.
        value: String,
    },
    /// What was asked for cannot be, whatever the data are.
    #[error("{0}")]
    Usage(#[from] Usage),
}
