//! What can be wrong with the description of a factor.

use thiserror::Error;

/// Why a factor cannot be built, or its scores not be changed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum OracleError {
    /// A factor over nothing.
    #[error("a {factor} needs at least one {part}: leave the factor out where there is none")]
    Empty {
        /// The kind of factor.
        factor: &'static str,
        /// What it has none of.
        part: &'static str,
    },

    /// A multi-valued variable with nothing to choose from.
    #[error("variable {variable} of the {factor} has no states: give it at least one")]
    NoStates {
        /// The kind of factor.
        factor: &'static str,
        /// Which of the factor's variables, counted from 0.
        variable: usize,
    },

    /// A list of scores, lengths or the like is too long or too short.
    #[error("{what} of the {factor}: expected {expected} values, found {found}")]
    Size {
        /// The kind of factor.
        factor: &'static str,
        /// Which list.
        what: String,
        /// How many values it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },

    /// The factor has more links, entries or cells than can be addressed or stored.
    #[error("the {factor} is too large: it would have more than {limit} {what}")]
    TooLarge {
        /// The kind of factor.
        factor: &'static str,
        /// What there is too much of.
        what: &'static str,
        /// The most that is allowed.
        limit: usize,
    },

    /// A score that is not a number, or plus infinity.
    #[error(
        "{what} of the {factor}: the score at index {index} is {score}; \
         scores must be finite, or -inf to forbid"
    )]
    Score {
        /// The kind of factor.
        factor: &'static str,
        /// Which table.
        what: String,
        /// The place in that table.
        index: usize,
        /// What was found there.
        score: f64,
    },

    /// A negative length or budget.
    #[error("{what} of the {factor} is {value}: it must not be negative")]
    Negative {
        /// The kind of factor.
        factor: &'static str,
        /// Which number.
        what: String,
        /// Its value.
        value: i64,
    },

    /// A node, position, edge or entry that does not exist.
    #[error("the {factor} has no {what} {index}: expected one of {from}..{to}")]
    OutOfRange {
        /// The kind of factor.
        factor: &'static str,
        /// What was asked for.
        what: &'static str,
        /// Its number.
        index: usize,
        /// The least that exists.
        from: usize,
        /// One more than the greatest that exists.
        to: usize,
    },

    /// Edges that should form a tree but close a cycle.
    #[error("the edges of the {factor} form a cycle through node {node}: a tree or a forest is needed")]
    Cycle {
        /// The kind of factor.
        factor: &'static str,
        /// One node on the cycle.
        node: usize,
    },

    /// An arc that no arborescence can use.
    #[error("arc {link} ({head} -> {modifier}) of the arborescence {reason}")]
    Arc {
        /// The number of the arc, counted from 0.
        link: usize,
        /// Where it leaves.
        head: usize,
        /// Where it enters.
        modifier: usize,
        /// What is wrong with it.
        reason: &'static str,
    },

    /// A pair that no minimum cut can handle.
    #[error("pair {pair} ({first}, {second}) of the minimum cut: {reason}")]
    Pair {
        /// The number of the pair, counted from 0.
        pair: usize,
        /// Its first link.
        first: usize,
        /// Its second link.
        second: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Checks that every score is a finite number or minus infinity.
pub(super) fn check_scores(
    factor: &'static str,
    scores: &[f64],
    what: impl FnOnce() -> String,
) -> Result<(), OracleError> {
    match scores.iter().position(|score| score.is_nan() || *score == f64::INFINITY) {
        None => Ok(()),
        Some(index) => Err(OracleError::Score { factor, what: what(), index, score: scores[index] }),
    }
}

/// Checks that a list has the length it must have.
pub(super) fn check_size(
    factor: &'static str,
    found: usize,
    expected: usize,
    what: impl FnOnce() -> String,
) -> Result<(), OracleError> {
    if found == expected { Ok(()) } else { Err(OracleError::Size { factor, what: what(), expected, found }) }
}

/// Checks that `index` lies in `from..to`.
pub(super) fn check_range(
    factor: &'static str,
    what: &'static str,
    index: usize,
    from: usize,
    to: usize,
) -> Result<(), OracleError> {
    if (from..to).contains(&index) {
        Ok(())
    } else {
        Err(OracleError::OutOfRange { factor, what, index, from, to })
    }
}

/// Where the links of each variable start, the total at the end.
///
/// Refuses variables without states and more links than 32 bits can count.
pub(super) fn link_offsets(
    factor: &'static str,
    states: impl IntoIterator<Item = usize>,
) -> Result<Box<[u32]>, OracleError> {
    let too_large = OracleError::TooLarge { factor, what: "links", limit: u32::MAX as usize };
    let mut offsets = vec![0u32];
    for (variable, count) in states.into_iter().enumerate() {
        if count == 0 {
            return Err(OracleError::NoStates { factor, variable });
        }
        let total = u32::try_from(count).ok().and_then(|count| offsets[variable].checked_add(count));
        offsets.push(total.ok_or_else(|| too_large.clone())?);
    }
    Ok(offsets.into())
}
