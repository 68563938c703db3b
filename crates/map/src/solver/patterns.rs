//! A graph as a pattern model, for the two-slave and spanning-tree decompositions.

use super::Unsupported;
use super::lowering::{Draft, Site, assignment};
use crate::certificate::{Certificate, Gap, Status};
use crate::factor::Closed;
use crate::model::Graph;
use crate::pattern::{PatternModel, most_frequent};
use crate::solution::Solution;

/// A pattern model equivalent to a graph but for a constant, and where each slot went.
pub(crate) struct Lowered {
    pub model: PatternModel,
    sites: Vec<Site>,
    constant: f64,
}

impl Lowered {
    pub(crate) fn new(graph: &Graph, method: &'static str) -> Result<Self, Unsupported> {
        let draft =
            Draft::new(graph, true).ok_or(Unsupported::Factor { method, factor: "factor without tables" })?;
        Self::fill(draft).ok_or(Unsupported::Factor { method, factor: "table too large for it" })
    }

    fn fill(draft: Draft) -> Option<Self> {
        let Draft { sizes, sites, tables, patterns, mut constant, .. } = draft;
        // Constraints over three or more vertices become patterns that cost more than anything can earn.
        let finite = tables.iter().flat_map(|(_, scores)| scores).filter(|s| s.is_finite());
        let total: f64 =
            finite.map(|s| s.abs()).sum::<f64>() + patterns.iter().map(|p| p.weight.abs()).sum::<f64>();
        let penalty = -(2.0 * total + 1.0);
        let mut model = PatternModel::new();
        let mut unary: Vec<Vec<f64>> = sizes.iter().map(|&size| vec![0.0; size]).collect();
        for (scope, scores) in &tables {
            if let [variable] = scope[..] {
                unary[variable].iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
            }
        }
        for scores in &unary {
            model.add_vertex(scores).ok()?;
        }
        for (scope, scores) in &tables {
            match scope[..] {
                [] => constant += scores[0],
                [_] => {}
                [u, v] => {
                    let table = model.add_table(sizes[u], sizes[v], scores).ok()?;
                    model.add_edge(u, v, table).ok()?;
                }
                _ => {
                    let base = most_frequent(scores);
                    constant += base;
                    let mut members: Vec<(usize, usize)> = scope.iter().map(|&v| (v, 0)).collect();
                    for &score in scores {
                        let weight = if score == f64::NEG_INFINITY { penalty } else { score - base };
                        if weight != 0.0 {
                            model.add_pattern(&members, weight).ok()?;
                        }
                        for member in members.iter_mut().rev() {
                            member.1 += 1;
                            if member.1 < sizes[member.0] {
                                break;
                            }
                            member.1 = 0;
                        }
                    }
                }
            }
        }
        for pattern in &patterns {
            match pattern.members[..] {
                [] => constant += pattern.weight,
                _ => drop(model.add_pattern(&pattern.members, pattern.weight).ok()?),
            }
        }
        Some(Lowered { model, sites, constant })
    }

    /// The solution of the model as one of the graph.
    pub(crate) fn raise(&self, graph: &Graph, mut solution: Solution, gap: f64) -> Solution {
        for point in &mut solution.trace {
            point.bound += self.constant;
            point.value += self.constant;
        }
        let found = solution.certificate;
        let bound = found.bound() + self.constant;
        let Some(states) = solution.assignment() else {
            let certificate = match found.status() {
                Status::Infeasible => found,
                _ => Certificate::judge(None, bound, gap).after(found.iterations, found.seconds),
            };
            let marginals = vec![0.5; graph.slots()];
            return Solution::new(graph, certificate, Vec::new(), marginals, solution.trace);
        };
        let lifted = assignment(graph, &self.sites, |variable| states[variable] as usize);
        let mut on = graph.slots_on(&lifted);
        follow_outputs(graph, &mut on);
        let assignment = graph.assignment_of(&on).unwrap_or(lifted);
        let value = graph.value(&assignment);
        let marginals = on.iter().map(|&on| on as u8 as f64).collect();
        // An assignment that turns out to break a constraint does not count.
        let gap = Gap::of(gap, graph);
        let certificate = Certificate::judge(Some(value), bound, gap).after(found.iterations, found.seconds);
        Solution::new(graph, certificate, assignment, marginals, solution.trace)
    }
}

/// Outputs of ORs were absorbed: set them from their inputs.
fn follow_outputs(graph: &Graph, on: &mut [bool]) {
    for (kind, links) in graph.closed() {
        if let (Closed::OrWithOutput, [inputs @ .., output]) = (kind, links) {
            let holds = inputs.iter().any(|l| on[l.slot()] != l.is_negated());
            on[output.slot()] = holds != output.is_negated();
        }
    }
}
