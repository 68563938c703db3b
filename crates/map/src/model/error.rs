//! What a model, or a part of one, refuses.

use std::fmt::Display;
use std::ops::Range;

/// Why a model, a factor or a change of scores was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A score is NaN or plus infinity.
    #[error("{what} has score {score}; expected a number or -inf (-inf forbids)")]
    Score {
        /// Where the score belongs.
        what: String,
        /// The score that came.
        score: f64,
    },
    /// A factor with no variables, or a variable with no states.
    #[error("{0} is empty; expected at least one element")]
    Empty(String),
    /// A factor names the same variable twice.
    #[error("{factor} links to variable {variable} twice; each variable may stand in a factor once")]
    Repeated {
        /// The factor's name.
        factor: &'static str,
        /// The index of the variable.
        variable: usize,
    },
    /// A number that names nothing.
    #[error("{what} {index} does not exist; expected one of {from}..{to}")]
    OutOfRange {
        /// What was asked for.
        what: String,
        /// Its number.
        index: usize,
        /// The least that exists.
        from: usize,
        /// One more than the greatest that exists.
        to: usize,
    },
    /// A list is too long or too short.
    #[error("{what}: expected {expected} entries, got {came}")]
    Length {
        /// What was counted.
        what: String,
        /// The number needed.
        expected: usize,
        /// The number that came.
        came: usize,
    },
    /// A budget, a cost or a weight that is negative or not a number.
    #[error("{what} is {value}; expected a number that is zero or more")]
    Negative {
        /// What was negative.
        what: String,
        /// Its value.
        value: f64,
    },
    /// More of something than can be addressed or stored.
    #[error("{what}: more than {limit} are too many")]
    TooLarge {
        /// What there is too much of.
        what: String,
        /// The most that is allowed.
        limit: usize,
    },
    /// Edges that should form a tree but close a cycle.
    #[error("the edges of the {factor} form a cycle through node {node}: a tree or a forest is needed")]
    Cycle {
        /// The kind of factor.
        factor: &'static str,
        /// One node on the cycle.
        node: usize,
    },
    /// A part that does not fit the rest, for a reason of its own.
    #[error("{what} {reason}")]
    Unfit {
        /// The part, with its number.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ModelError {
    /// A part that does not fit the rest.
    pub(crate) fn unfit(what: impl Display, reason: impl Display) -> Self {
        ModelError::Unfit { what: what.to_string(), reason: reason.to_string() }
    }

    /// More of something than can be addressed or stored.
    pub(crate) fn too_large(what: impl Display, limit: usize) -> Self {
        ModelError::TooLarge { what: what.to_string(), limit }
    }
}

/// Checks that a score is a finite number or minus infinity.
pub(crate) fn check_score(what: impl Display, score: f64) -> Result<(), ModelError> {
    // NaN is not less than anything.
    if score < f64::INFINITY { Ok(()) } else { Err(ModelError::Score { what: what.to_string(), score }) }
}

/// Checks that every score is a finite number or minus infinity.
pub(crate) fn check_scores(what: impl Display, scores: &[f64]) -> Result<(), ModelError> {
    match scores.iter().position(|score| score.is_nan() || *score == f64::INFINITY) {
        None => Ok(()),
        Some(at) => check_score(format_args!("{what}, entry {at},"), scores[at]),
    }
}

/// Checks that a list has the length it must have.
pub(crate) fn check_length(what: impl Display, came: usize, expected: usize) -> Result<(), ModelError> {
    if came == expected {
        return Ok(());
    }
    Err(ModelError::Length { what: what.to_string(), expected, came })
}

/// Checks that a number names something.
pub(crate) fn check_index(what: impl Display, index: usize, range: Range<usize>) -> Result<(), ModelError> {
    if range.contains(&index) {
        return Ok(());
    }
    Err(ModelError::OutOfRange { what: what.to_string(), index, from: range.start, to: range.end })
}

/// Checks that no variable stands twice in a factor; sorts them.
pub(crate) fn check_distinct(factor: &'static str, variables: &mut [usize]) -> Result<(), ModelError> {
    variables.sort_unstable();
    match variables.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(ModelError::Repeated { factor, variable: pair[0] }),
    }
}

/// Where the links of each variable of a factor start, the total at the end.
///
/// Refuses variables without states and more links than 32 bits can count.
pub(crate) fn link_offsets(
    factor: &'static str,
    states: impl IntoIterator<Item = usize>,
) -> Result<Box<[u32]>, ModelError> {
    let mut offsets = vec![0u32];
    for (variable, count) in states.into_iter().enumerate() {
        if count == 0 {
            return Err(ModelError::Empty(format!(
                "the list of states of variable {variable} of the {factor}"
            )));
        }
        let total = u32::try_from(count).ok().and_then(|count| offsets[variable].checked_add(count));
        let too_large = || ModelError::too_large(format_args!("links of the {factor}"), u32::MAX as usize);
        offsets.push(total.ok_or_else(too_large)?);
    }
    Ok(offsets.into())
}
