//! The few trees that may still be better, one by one.

use super::core::Core;
use crate::parts::TreeParts;

/// As many trees are looked at: about what another round costs.
const MOST: usize = 30;

/// Looks at every tree whose arcs together cost no more than the distance between a bound and the best tree.
///
/// In the tree factor, whose slacks say what arcs cost, these costs add up: a tree is worth no more than the bound
/// less the slacks of its arcs. Few sets of arcs stay within a small distance, though each arc alone does.
#[derive(Debug, Default)]
pub(super) struct Few {
    /// What each arc among the parts costs.
    pub slacks: Vec<f64>,
    chosen: Vec<u32>,
    heads: Vec<usize>,
}

impl Few {
    /// Takes the best of all trees for which there is hope, if it is better than `heads` with its `value`. Returns
    /// the value of the best tree, or nothing if there are too many to look at.
    pub(super) fn best<S: Copy + Into<f64>>(
        &mut self,
        core: &Core,
        parts: &TreeParts,
        scores: &[S],
        live: &[bool],
        (bound, value): (f64, f64),
        heads: &mut Vec<usize>,
    ) -> Option<f64> {
        let mut left = MOST;
        self.count(core, 1, bound - value, &mut left)?;
        self.chosen.clear();
        self.chosen.extend((1..=core.nodes.len()).map(|node| core.nodes.arcs_into(node).start as u32));
        core.heads(parts, live, &self.chosen, &mut self.heads);
        let mut search = Search { core, parts, scores, bound, value, best: heads };
        self.visit(&mut search, 1, 0.0);
        Some(search.value)
    }

    /// Whether no more than some sets of arcs into this node and the next ones cost no more than a distance.
    fn count(&self, core: &Core, node: usize, distance: f64, left: &mut usize) -> Option<()> {
        if node > core.nodes.len() {
            *left = left.checked_sub(1)?;
            return Some(());
        }
        for arc in core.nodes.arcs_into(node) {
            let rest = distance - self.slacks[core.arcs[arc] as usize];
            if rest >= 0.0 {
                self.count(core, node + 1, rest, left)?;
            }
        }
        Some(())
    }

    fn visit<S: Copy + Into<f64>>(&mut self, search: &mut Search<'_, S>, node: usize, spent: f64) {
        let Search { core, parts, .. } = *search;
        if node > core.nodes.len() {
            if core.nodes.is_tree(&self.chosen) {
                let value = parts.value(search.scores, &self.heads);
                if value > search.value {
                    search.value = value;
                    search.best.clone_from(&self.heads);
                }
            }
            return;
        }
        for arc in core.nodes.arcs_into(node) {
            let spent = spent + self.slacks[core.arcs[arc] as usize];
            if spent <= search.bound - search.value {
                let (head, modifier) = parts.arcs()[core.arcs[arc] as usize];
                self.chosen[node - 1] = arc as u32;
                self.heads[modifier - 1] = head;
                self.visit(search, node + 1, spent);
            }
        }
    }
}

struct Search<'a, S> {
    core: &'a Core,
    parts: &'a TreeParts,
    scores: &'a [S],
    bound: f64,
    /// The value of the best tree so far, and its heads.
    value: f64,
    best: &'a mut Vec<usize>,
}
