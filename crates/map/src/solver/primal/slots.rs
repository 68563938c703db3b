//! Assignments of graphs, for local search.

use super::{Position, Primal, View};

/// Links that local search may look at in one call, as a multiple of the number of links.
const EFFORT: usize = 30;

/// An assignment of a graph, all of whose slots are decided.
struct Slots<'a, 'v> {
    primal: &'a mut Primal,
    view: &'a mut View<'v>,
}

impl Primal {
    /// Moves each variable to its best state given the others until nothing changes.
    pub(super) fn improve(&mut self, view: &mut View<'_>) {
        let (variables, effort) = (view.graph.variables(), EFFORT * view.layout.links() + view.graph.slots());
        if self.costs.is_empty() {
            self.costs.extend((0..variables).map(|variable| view.cost(variable)));
        }
        Slots { primal: self, view }.climb(0..variables, effort);
    }

    /// Violated constraints and score around a variable.
    fn local_value(&mut self, view: &mut View<'_>, variable: usize) -> (usize, f64) {
        let graph = view.graph;
        let (mut violations, mut value) = (0, 0.0);
        let mut add = |score: f64| {
            if score == f64::NEG_INFINITY {
                violations += 1;
            } else {
                value += score;
            }
        };
        let mut seen = usize::MAX;
        let is_choice = !graph.is_binary(variable);
        for slot in graph.slots_of(variable) {
            if self.slots[slot] == 1 {
                add(graph.scores[slot]);
            }
            // All states of a choice in one table link to that table: count it once, at the state that holds.
            for (group, factor, _) in view.links_of(slot) {
                let id = self.first_factor[group] + factor;
                if is_choice && self.slots[slot] != 1 && view.is_table(group) || id == seen {
                    continue;
                }
                seen = id;
                add(self.factor_score(view, group, factor));
            }
        }
        (violations, value)
    }
}

impl Position for Slots<'_, '_> {
    fn state(&self, variable: usize) -> usize {
        self.view.graph.state_of(variable, |slot| self.primal.slots[slot] == 1).unwrap_or(0)
    }

    fn set(&mut self, variable: usize, state: usize) {
        let graph = self.view.graph;
        let slots = graph.slots_of(variable);
        let place = if graph.is_binary(variable) { slots.start } else { slots.start + state };
        self.primal.slots[slots].fill(0);
        self.primal.slots[place] = if graph.is_binary(variable) { state as i8 } else { 1 };
    }

    fn scores(&mut self, variable: usize) -> &[f64] {
        let now = self.state(variable);
        let mut fewest = usize::MAX;
        let mut scores = std::mem::take(&mut self.primal.state_scores);
        scores.clear();
        for state in 0..self.view.graph.states(variable) {
            self.set(variable, state);
            let (violations, score) = self.primal.local_value(self.view, variable);
            if violations < fewest {
                fewest = violations;
                scores.fill(f64::NEG_INFINITY);
            }
            scores.push(if violations == fewest { score } else { f64::NEG_INFINITY });
        }
        self.set(variable, now);
        self.primal.state_scores = scores;
        &self.primal.state_scores
    }

    fn cost(&self, variable: usize) -> Option<usize> {
        self.primal.costs[variable]
    }
}

impl View<'_> {
    /// Link evaluations needed to try every state; nothing when a structured oracle is involved.
    fn cost(&self, variable: usize) -> Option<usize> {
        let View { graph, layout, .. } = self;
        let mut cost = 1;
        for slot in graph.slots_of(variable) {
            for (group, factor, _) in self.links_of(slot) {
                if self.closed(group).is_none() && !self.is_table(group) {
                    return None;
                }
                cost += layout.group(graph, group).range(factor).len();
            }
        }
        Some(cost * graph.states(variable))
    }
}
