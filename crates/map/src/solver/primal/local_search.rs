//! Iterated conditional modes.

use super::{Primal, View};

/// Link evaluations that iterated conditional modes may spend in one call, as a multiple of the number of links.
const LOCAL_SEARCH_EFFORT: usize = 30;

impl Primal {
    /// Iterated conditional modes: moves each variable to its best state given the others until nothing changes.
    pub(super) fn improve(&mut self, view: &mut View<'_>) {
        let graph = view.graph;
        let mut effort = LOCAL_SEARCH_EFFORT * view.layout.links() + graph.slots();
        let mut changed = true;
        while changed && effort > 0 {
            changed = false;
            for variable in 0..graph.variables() {
                let Some(cost) = self.cost_of_moves(view, variable) else { continue };
                effort = effort.saturating_sub(cost);
                if effort == 0 {
                    return;
                }
                changed |= self.move_to_best(view, variable);
            }
        }
    }

    /// Link evaluations needed to try every state; nothing when a structured oracle is involved.
    fn cost_of_moves(&self, view: &View<'_>, variable: usize) -> Option<usize> {
        let graph = view.graph;
        let mut cost = 1;
        for slot in graph.first_slot[variable]..graph.first_slot[variable + 1] {
            for (group, factor, _) in self.links_of(view, slot as usize) {
                if view.closed(group).is_none() && !view.is_table(group) {
                    return None;
                }
                cost += view.layout.group(graph, group).range(factor).len();
            }
        }
        Some(cost * graph.states(variable))
    }

    fn move_to_best(&mut self, view: &mut View<'_>, variable: usize) -> bool {
        let graph = view.graph;
        let first = graph.first_slot[variable] as usize;
        let states = graph.states(variable);
        let binary = graph.is_binary(variable);
        let current = if binary {
            self.slots[first] as usize
        } else {
            (0..states).find(|&s| self.slots[first + s] == 1).unwrap_or(0)
        };
        let (mut best, mut best_value) = (current, self.local_value(view, variable));
        for state in (0..states).filter(|&s| s != current) {
            self.set_state(first, states, binary, state);
            let value = self.local_value(view, variable);
            let better = value.0 < best_value.0
                || (value.0 == best_value.0 && value.1 > best_value.1 + 1e-12 * best_value.1.abs());
            if better {
                (best, best_value) = (state, value);
            }
        }
        self.set_state(first, states, binary, best);
        best != current
    }

    fn set_state(&mut self, first: usize, states: usize, binary: bool, state: usize) {
        if binary {
            self.slots[first] = state as i8;
        } else {
            self.slots[first..first + states].fill(0);
            self.slots[first + state] = 1;
        }
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
        let slots = graph.first_slot[variable] as usize..graph.first_slot[variable + 1] as usize;
        let mut seen = usize::MAX;
        for slot in slots {
            if self.slots[slot] == 1 {
                add(graph.scores[slot]);
            }
            // All states of a choice in one table link to that table: count it once, at the state that holds.
            let links: Vec<(usize, usize, usize)> = self.links_of(view, slot).collect();
            for (group, factor, _) in links {
                let id = self.first_factor[group] + factor;
                if view.is_table(group) && !graph.is_binary(variable) && self.slots[slot] != 1 || id == seen {
                    continue;
                }
                seen = id;
                add(self.factor_score(view, group, factor));
            }
        }
        (violations, value)
    }
}
