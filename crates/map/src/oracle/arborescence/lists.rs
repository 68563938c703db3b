//! The candidate arcs by modifier.

use crate::flat::Refill;

/// No arc or node, where one could stand.
pub(super) const NONE: u32 = u32::MAX;

/// The arcs that enter each node, by head: an arc from the root comes first.
///
/// Arcs are numbered in this order. Callers who list their links in the same order spare every call the
/// sorting of scores.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// The first arc of each node; the number of arcs at the end.
    starts: Vec<u32>,
    pub(super) heads: Vec<u32>,
    pub(super) modifiers: Vec<u32>,
    /// The link of each arc.
    pub(super) links: Vec<u32>,
    /// Whether each arc is its own link.
    is_sorted: bool,
}

impl Lists {
    /// Makes these the lists of other arcs, in the same memory. Fails with a link whose arc another link has
    /// too.
    pub(super) fn rebuild(&mut self, nodes: usize, arcs: &[(u32, u32)]) -> Result<(), u32> {
        let Self { starts, heads, modifiers, links, is_sorted } = self;
        starts.refill(nodes + 1, 0);
        for &(_, modifier) in arcs {
            starts[modifier as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let key = |link: &u32| {
            let (head, modifier) = arcs[*link as usize];
            (modifier, head)
        };
        links.clear();
        links.extend(0..arcs.len() as u32);
        *is_sorted = links.is_sorted_by_key(key);
        if !*is_sorted {
            // Of two equal arcs the second is the one complained about.
            links.sort_unstable_by_key(|link| (key(link), *link));
        }
        if let Some(pair) = links.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
            return Err(pair[1]);
        }
        heads.clear();
        heads.extend(links.iter().map(|&link| arcs[link as usize].0));
        modifiers.clear();
        modifiers.extend(links.iter().map(|&link| arcs[link as usize].1));
        Ok(())
    }

    /// The number of nodes, with the root.
    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The arcs that enter a node.
    pub(super) fn entering(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// The arcs that enter a node, without that from the root.
    pub(super) fn entering_from_nodes(&self, node: u32) -> std::ops::Range<usize> {
        let arcs = self.entering(node);
        let from_root = !arcs.is_empty() && self.heads[arcs.start] == 0;
        arcs.start + usize::from(from_root)..arcs.end
    }

    /// The arc between two nodes, if it is a candidate.
    pub(super) fn arc(&self, head: u32, modifier: u32) -> Option<usize> {
        let arcs = self.entering(modifier);
        self.heads[arcs.clone()].binary_search(&head).ok().map(|place| arcs.start + place)
    }

    /// The scores by arc, from those by link.
    pub(super) fn sort<'a>(&self, scores: &'a [f64], buffer: &'a mut Vec<f64>) -> &'a [f64] {
        if self.is_sorted {
            return scores;
        }
        buffer.clear();
        buffer.extend(self.links.iter().map(|&link| scores[link as usize]));
        buffer
    }
}
