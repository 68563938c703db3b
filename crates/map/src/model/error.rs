//! What a model refuses.

/// Why a model was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A score is NaN or plus infinity.
    #[error("{what} has score {score}; expected a number or -inf (-inf forbids)")]
    Score {
        /// Where the score belongs.
        what: String,
        /// The score that came.
        score: f64,
    },
    /// A factor with no variables, or a choice with no states.
    #[error("{0} is empty; expected at least one element")]
    Empty(&'static str),
    /// A factor names the same variable twice.
    #[error("{factor} links to variable {variable} twice; each variable may stand in a factor once")]
    Repeated {
        /// The factor's name.
        factor: &'static str,
        /// The index of the variable.
        variable: usize,
    },
    /// A literal of another graph.
    #[error("{factor} links to slot {slot}, but the graph has {slots}")]
    Unknown {
        /// The factor's name.
        factor: &'static str,
        /// The slot that was asked for.
        slot: usize,
        /// How many there are.
        slots: usize,
    },
    /// Two lists that should be equally long are not.
    #[error("{what}: expected {expected} entries, got {came}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// The number needed.
        expected: usize,
        /// The number that came.
        came: usize,
    },
    /// A budget or a cost that is negative or not a number.
    #[error("{what} is {value}; expected a number that is zero or more")]
    Negative {
        /// What was negative.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// An oracle refused its parameters.
    #[error("{0}")]
    Oracle(String),
    /// More slots or links than the index type holds.
    #[error("the graph has more than {0} slots or links")]
    TooLarge(usize),
}
