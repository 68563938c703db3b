//! What every solver returns: an assignment and its certificate.

use crate::certificate::{Certificate, Gap};
use crate::model::{Choice, Graph, Literal};
use consonant_problem::Problem;
use serde::Serialize;

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

/// An assignment, where one was found, with its certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// What is known about it.
    pub certificate: Certificate,
    /// The relaxed solution: for each slot (binary variable, or state of a choice), a number between 0 and 1.
    pub marginals: Vec<f64>,
    /// Value and bound over time, when asked for.
    pub trace: Vec<TracePoint>,
    assignment: Option<Vec<u32>>,
    /// For each slot, whether the assignment switches it on; empty when there is none.
    on: Vec<bool>,
}

impl Solution {
    /// The solution of a graph; `assignment` counts if the certificate has a value.
    pub(crate) fn new(
        graph: &Graph,
        certificate: Certificate,
        assignment: Vec<u32>,
        marginals: Vec<f64>,
        trace: Vec<TracePoint>,
    ) -> Self {
        let assignment = certificate.value().map(|_| assignment);
        let on = assignment.as_deref().map_or_else(Vec::new, |states| graph.slots_on(states));
        Solution { certificate, marginals, trace, assignment, on }
    }

    /// The same assignment with another certificate.
    pub(crate) fn with(self, certificate: Certificate, trace: Vec<TracePoint>) -> Self {
        let assignment = self.assignment.filter(|_| certificate.value().is_some());
        let on = if assignment.is_some() { self.on } else { Vec::new() };
        Solution { certificate, trace, assignment, on, ..self }
    }

    /// A better assignment under the same bound.
    pub(crate) fn better(self, graph: &Graph, value: f64, assignment: Vec<u32>, gap: Gap) -> Self {
        let Certificate { iterations, seconds, .. } = self.certificate;
        let certificate = Certificate::judge(Some(value), self.certificate.bound(), gap);
        Self::new(graph, certificate.after(iterations, seconds), assignment, self.marginals, self.trace)
    }

    /// The solution of a pattern model, whose vertices' slots are all decided; `assignment` counts if the
    /// certificate has a value.
    pub(crate) fn decided(
        certificate: Certificate,
        assignment: Vec<u32>,
        marginals: Vec<f64>,
        trace: Vec<TracePoint>,
    ) -> Self {
        let assignment = certificate.value().map(|_| assignment);
        let on = marginals.iter().filter(|_| assignment.is_some()).map(|&x| x == 1.0).collect();
        Solution { certificate, marginals, trace, assignment, on }
    }

    /// Value, bound and trace in the words of the problem: where it was stated in costs, they are costs, and the
    /// bound is one from below.
    #[must_use]
    pub fn stated(mut self, problem: &Problem) -> Self {
        self.certificate = self.certificate.stated(problem);
        for point in &mut self.trace {
            (point.bound, point.value) = (problem.stated(point.bound), problem.stated(point.value));
        }
        self
    }

    /// The state of each variable, in the order in which variables were made (0 or 1 for a binary one), if a
    /// feasible assignment was found.
    pub fn assignment(&self) -> Option<&[u32]> {
        self.assignment.as_deref()
    }

    /// Whether a literal holds in the assignment; `false` when there is no assignment.
    pub fn is_true(&self, literal: impl Into<Literal>) -> bool {
        let literal = literal.into();
        self.on.get(literal.slot()).is_some_and(|&on| on != literal.is_negated())
    }

    /// The state of a choice in the assignment, if there is one.
    pub fn state(&self, choice: &Choice) -> Option<usize> {
        self.assignment()?.get(choice.variable()).map(|&s| s as usize)
    }

    /// The relaxed value of a literal, between 0 and 1.
    pub fn marginal(&self, literal: impl Into<Literal>) -> f64 {
        let literal = literal.into();
        let on = self.marginals[literal.slot()];
        if literal.is_negated() { 1.0 - on } else { on }
    }
}
