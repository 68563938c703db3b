//! What every solver returns: an assignment and its certificate.

use crate::model::{Choice, Literal};
use serde::Serialize;

/// How much an answer proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The value is the optimum: no assignment is better by more than the stated tolerance.
    Optimal,
    /// The assignment satisfies every constraint; the optimum lies between value and bound.
    Feasible,
    /// It is proven that no assignment satisfies every constraint.
    Infeasible,
    /// The solver stopped at a limit without a feasible assignment; the bound still holds.
    Stopped,
}

impl Status {
    /// The word used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::Feasible => "feasible",
            Status::Infeasible => "infeasible",
            Status::Stopped => "stopped",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Value and bound at one moment of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TracePoint {
    /// Iterations (or nodes) done so far.
    pub iteration: usize,
    /// Seconds since the solve began.
    pub seconds: f64,
    /// Best upper bound so far.
    pub bound: f64,
    /// Value of the best feasible assignment so far; minus infinity while there is none.
    pub value: f64,
}

/// An assignment with its certificate: `value <= optimum <= bound`, always.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The state of each variable, in the order in which variables were made (0 or 1 for a binary one). Empty when no
    /// feasible assignment was found.
    pub assignment: Vec<u32>,
    /// The relaxed solution: for each slot (binary variable, or state of a choice), a number between 0 and 1.
    pub marginals: Vec<f64>,
    /// The score of `assignment`; minus infinity when there is none.
    pub value: f64,
    /// No assignment scores more than this.
    pub bound: f64,
    /// What has been proven.
    pub status: Status,
    /// Iterations, or nodes for branch and bound.
    pub iterations: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Value and bound over time, when asked for.
    pub trace: Vec<TracePoint>,
    /// For each slot, whether `assignment` switches it on; empty when there is none.
    pub(crate) on: Vec<bool>,
}

impl Solution {
    /// Whether a literal holds in the assignment; `false` when there is no assignment.
    pub fn is_true(&self, literal: impl Into<Literal>) -> bool {
        let literal = literal.into();
        self.on.get(literal.slot()).is_some_and(|&on| on != literal.is_negated())
    }

    /// The state of a choice in the assignment, if there is one.
    pub fn state(&self, choice: &Choice) -> Option<usize> {
        self.assignment.get(choice.variable()).map(|&s| s as usize)
    }

    /// The relaxed value of a literal, between 0 and 1.
    pub fn marginal(&self, literal: impl Into<Literal>) -> f64 {
        let literal = literal.into();
        let on = self.marginals[literal.slot()];
        if literal.is_negated() { 1.0 - on } else { on }
    }

    /// The same certificate for an assignment of the graph this was lowered from, whose value is computed afresh: what
    /// turns out to break a constraint is no assignment, and what is worth less is only feasible.
    pub(crate) fn certify(
        self,
        assignment: Vec<u32>,
        on: Vec<bool>,
        marginals: Vec<f64>,
        value: f64,
    ) -> Solution {
        if value == f64::NEG_INFINITY {
            let (assignment, on, status) = (Vec::new(), Vec::new(), Status::Stopped);
            return Solution { assignment, on, marginals, value, status, ..self };
        }
        Solution { bound: self.bound.max(value), assignment, on, marginals, value, ..self }
    }

    /// The proven distance to the optimum: bound minus value.
    pub fn gap(&self) -> f64 {
        self.bound - self.value
    }
}
