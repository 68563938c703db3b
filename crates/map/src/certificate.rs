//! What is known about an answer: its value, a bound on every answer, and what the two prove.

use crate::model::Graph;
use consonant_problem::Problem;
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

/// How far a bound may lie above a value that it proves, relative to the value's size.
///
/// Sizes below one count as one, so that values around zero can be proven, too; where all scores are small,
/// sizes below theirs count as theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    relative: f64,
    least: f64,
}

impl Default for Gap {
    fn default() -> Self {
        Self::from(1e-6)
    }
}

impl From<f64> for Gap {
    fn from(relative: f64) -> Self {
        Gap { relative, least: 1.0 }
    }
}

impl Gap {
    /// The gap by which every answer to a graph is judged.
    pub(crate) fn of(relative: f64, graph: &Graph) -> Self {
        Gap::from(relative).at_scale(graph.typical_size())
    }

    /// The same gap for a problem whose scores are about as large as `scale`.
    #[must_use]
    pub fn at_scale(self, scale: f64) -> Self {
        Gap { least: scale.min(1.0), ..self }
    }

    /// By how much a bound must exceed `value` to matter.
    pub fn slack(self, value: f64) -> f64 {
        self.relative * value.abs().max(self.least)
    }

    /// Whether a value and a bound prove each other: the one judgement behind every [`Status`].
    pub fn closes(self, value: f64, bound: f64) -> bool {
        value.is_finite() && bound <= value + self.slack(value)
    }
}

/// What is known about an answer: `value <= optimum <= bound`, always.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certificate {
    value: Option<f64>,
    bound: f64,
    status: Status,
    /// Iterations, or nodes of branch and bound.
    pub iterations: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Certificate {
    /// What an assignment's value and an upper bound on every assignment prove. There is no assignment
    /// without a finite value.
    pub fn judge(value: Option<f64>, bound: f64, gap: impl Into<Gap>) -> Self {
        let value = value.filter(|value| value.is_finite());
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        // Parts of the bound were rounded apart from the value, which is an assignment's and can be had.
        let bound = value.map_or(bound, |value| bound.max(value));
        let status = match value {
            Some(value) if gap.into().closes(value, bound) => Status::Optimal,
            Some(_) => Status::Feasible,
            None => Status::Stopped,
        };
        Certificate { value, bound, status, iterations: 0, seconds: 0.0 }
    }

    /// The value of what is best by construction, as a dynamic program's answer is.
    pub fn exact(value: f64) -> Self {
        Self::judge(Some(value), value, Gap::default())
    }

    /// It is proven that there is no assignment.
    pub fn infeasible() -> Self {
        let bound = f64::NEG_INFINITY;
        Certificate { value: None, bound, status: Status::Infeasible, iterations: 0, seconds: 0.0 }
    }

    /// The same, with what it took.
    #[must_use]
    pub fn after(self, iterations: usize, seconds: f64) -> Self {
        Certificate { iterations, seconds, ..self }
    }

    /// Value and bound in the words of the problem: where it was stated in costs, what the answer costs, and what
    /// every answer costs at least.
    #[must_use]
    pub fn stated(self, problem: &Problem) -> Self {
        let value = self.value.map(|value| problem.stated(value));
        Certificate { value, bound: problem.stated(self.bound), ..self }
    }

    /// The score of the assignment, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// No assignment scores more than this; minus infinity when there is none.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// What has been proven.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether the assignment is proven best.
    pub fn is_optimal(&self) -> bool {
        self.status == Status::Optimal
    }

    /// Whether nothing is left to find: the assignment is proven best, or it is proven that there is none.
    pub fn is_settled(&self) -> bool {
        matches!(self.status, Status::Optimal | Status::Infeasible)
    }

    /// The value as a lower bound on the optimum: minus infinity without an assignment.
    pub(crate) fn lower(&self) -> f64 {
        self.value.unwrap_or(f64::NEG_INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_follows_from_value_and_bound() {
        let status = |value, bound, gap: f64| Certificate::judge(value, bound, gap).status();
        assert_eq!(status(Some(100.0), 100.0 + 9e-5, 1e-6), Status::Optimal);
        assert_eq!(status(Some(100.0), 100.0 + 2e-4, 1e-6), Status::Feasible);
        assert_eq!(status(Some(0.0), 4e-13, 1e-6), Status::Optimal);
        assert_eq!(status(Some(0.0), 1.5, 1e-6), Status::Feasible);
        assert_eq!(status(Some(0.0), f64::NAN, 1e-6), Status::Feasible);
        for nothing in [None, Some(f64::NEG_INFINITY), Some(f64::INFINITY), Some(f64::NAN)] {
            assert_eq!(status(nothing, 1.0, 1e-6), Status::Stopped);
        }
        let tiny = Gap::default().at_scale(1e-9);
        assert_eq!(Certificate::judge(Some(1e-9), 2e-9, tiny).status(), Status::Feasible);
        assert_eq!(Certificate::judge(Some(2.0), 1.0, tiny).bound(), 2.0);
        let json = serde_json::to_string(&Certificate::infeasible().after(3, 0.5)).unwrap();
        assert_eq!(json, r#"{"value":null,"bound":null,"status":"infeasible","iterations":3,"seconds":0.5}"#);
    }
}
