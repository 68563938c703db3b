//! What can be wrong with a chain, said so that the caller can repair it.

/// Why inference refused its input or found nothing to answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferenceError {
    /// An array does not have the length that its companions call for.
    #[error("{what}: expected {expected} values, found {found}")]
    Shape {
        /// The array.
        what: &'static str,
        /// The length called for.
        expected: usize,
        /// The length that came.
        found: usize,
    },
    /// A score is not a number or is plus infinity (minus infinity is legal: it forbids).
    #[error("{what}: value {index} is {value}; scores must be finite, or minus infinity to forbid")]
    NotANumber {
        /// The array.
        what: &'static str,
        /// The offset within it.
        index: usize,
        /// The offending value.
        value: f32,
    },
    /// A label number is outside the label set.
    #[error("{what}: label {label} is outside the label set of {labels}")]
    Label {
        /// Where the label was given.
        what: &'static str,
        /// The label.
        label: u32,
        /// Size of the label set.
        labels: usize,
    },
    /// A label n-gram has the wrong length for the order of the model.
    #[error("gram {index} has {found} labels; order {order} takes grams of 2 to {} labels", order + 1)]
    GramLength {
        /// Which gram.
        index: usize,
        /// Its length.
        found: usize,
        /// The order of the model.
        order: usize,
    },
    /// The same label n-gram was listed twice.
    #[error("gram {second} repeats gram {first}; list each gram once")]
    RepeatedGram {
        /// The first listing.
        first: usize,
        /// The second listing.
        second: usize,
    },
    /// The model has no labels, or more than a label number can hold.
    #[error("a chain needs between 1 and {} labels, found {found}", u32::MAX / 2)]
    LabelCount {
        /// The number of labels given.
        found: usize,
    },
    /// Position-dependent edge scores need dense transitions (or none).
    #[error(
        "position-dependent edge scores go with dense transitions of order 1 or with none, not with grams"
    )]
    EdgesWithGrams,
    /// A beam or a list of best paths must hold at least one path.
    #[error("{what} must be at least 1")]
    Zero {
        /// The parameter.
        what: &'static str,
    },
    /// Every history in the beam ran into forbidden transitions.
    #[error(
        "the beam of width {width} has no allowed continuation at position {position}; widen it or search exactly"
    )]
    BeamDeadEnd {
        /// Where it stopped.
        position: usize,
        /// Width of the beam.
        width: usize,
    },
    /// Candidates, forbidden transitions and minus infinities leave no sequence.
    #[error(
        "no allowed sequence: position {position} has no label that the candidates and the forbidden transitions let through"
    )]
    NoAllowedSequence {
        /// The first position that no allowed prefix reaches (the sentence's length when only the end is
        /// forbidden).
        position: usize,
    },
}

/// Shorthand for results of this module.
pub type Result<T> = std::result::Result<T, InferenceError>;

/// Refuses NaN and plus infinity, one vectorized pass when all is well.
pub(crate) fn check_scores(what: &'static str, scores: &[f32]) -> Result<()> {
    let sound =
        scores.chunks(64).all(|chunk| chunk.iter().fold(true, |all, &score| all & (score < f32::INFINITY)));
    if sound {
        return Ok(());
    }
    let index = scores.iter().position(|&score| score.is_nan() || score == f32::INFINITY).unwrap_or(0);
    Err(InferenceError::NotANumber { what, index, value: scores[index] })
}

/// Refuses a label outside the label set.
pub(crate) fn check_label(what: &'static str, label: u32, labels: usize) -> Result<()> {
    if (label as usize) < labels { Ok(()) } else { Err(InferenceError::Label { what, label, labels }) }
}

/// Refuses an array of the wrong length.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(InferenceError::Shape { what, expected, found }) }
}
