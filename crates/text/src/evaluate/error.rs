//! What keeps two files from being compared.

use thiserror::Error;

/// Why gold and prediction cannot be compared.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The two sides are not the same text.
    #[error(
        "gold and predicted text differ after {characters} characters (white space not counted): gold goes on with \
         {gold:?}, the prediction with {predicted:?}; both must annotate the same text"
    )]
    TextDiffers {
        /// How many characters agree.
        characters: usize,
        /// What gold goes on with.
        gold: String,
        /// What the prediction goes on with.
        predicted: String,
    },
    /// A head that is not in its sentence.
    #[error("{side} sentence {sentence}: word {word} has head {head}, but the sentence has {words} words")]
    HeadOutOfRange {
        /// Gold or predicted.
        side: &'static str,
        /// Sentence, from 1.
        sentence: usize,
        /// Word, from 1.
        word: usize,
        /// Its head.
        head: usize,
        /// Number of words in the sentence.
        words: usize,
    },
    /// Some words have a head and some have none.
    #[error(
        "{side} sentence {sentence}: word {word} has no head, though others have; parse the file completely"
    )]
    HeadMissing {
        /// Gold or predicted.
        side: &'static str,
        /// Sentence, from 1.
        sentence: usize,
        /// Word, from 1.
        word: usize,
    },
    /// Heads that run in a circle.
    #[error("{side} sentence {sentence}: the heads run in a circle through word {word}; a tree has no cycle")]
    Cycle {
        /// Gold or predicted.
        side: &'static str,
        /// Sentence, from 1.
        sentence: usize,
        /// A word on the cycle, from 1.
        word: usize,
    },
    /// A multiword token that covers no words, words that are not there, or words already covered.
    #[error(
        "{side} sentence {sentence}: multiword token {form:?} covers words {first} to {last}; it must follow the one \
         before it and end within the sentence's {words} words"
    )]
    MultiwordRange {
        /// Gold or predicted.
        side: &'static str,
        /// Sentence, from 1.
        sentence: usize,
        /// Its form.
        form: String,
        /// First word, from 1.
        first: usize,
        /// Last word, from 1.
        last: usize,
        /// Number of words in the sentence.
        words: usize,
    },
    /// A form without a visible character.
    #[error(
        "{side} sentence {sentence}: a token has an empty form; every token needs a character that is not a space"
    )]
    EmptyForm {
        /// Gold or predicted.
        side: &'static str,
        /// Sentence, from 1.
        sentence: usize,
    },
    /// Multiword tokens of the two sides overlap without end.
    #[error(
        "overlapping multiword tokens tie {gold} gold words to {predicted} predicted words, too many to align; the \
         files seem not to belong together"
    )]
    MultiwordSpanTooLong {
        /// Gold words in the span.
        gold: usize,
        /// Predicted words in the span.
        predicted: usize,
    },
}

impl EvaluationError {
    /// How much of each text an error shows.
    const EXCERPT: usize = 20;

    pub(super) fn unless_equal(gold: &str, predicted: &str) -> Result<(), EvaluationError> {
        if gold == predicted {
            return Ok(());
        }
        let characters = gold.chars().zip(predicted.chars()).take_while(|(a, b)| a == b).count();
        let rest = |text: &str| text.chars().skip(characters).take(Self::EXCERPT).collect();
        Err(EvaluationError::TextDiffers { characters, gold: rest(gold), predicted: rest(predicted) })
    }
}
