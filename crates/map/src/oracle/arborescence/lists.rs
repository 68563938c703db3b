//! The candidate arcs by modifier.

/// No arc or node, where one could stand.
pub(super) const NONE: u32 = u32::MAX;

/// The arcs that enter each node, by head: an arc from the root comes first.
///
/// Arcs are numbered in this order. Callers who list their links in the same order spare every call the sorting of scores.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    /// The first arc of each node; the number of arcs at the end.
    starts: Box<[u32]>,
    pub(super) heads: Box<[u32]>,
    pub(super) modifiers: Box<[u32]>,
    /// The link of each arc.
    pub(super) links: Box<[u32]>,
    /// Whether each arc is its own link.
    is_sorted: bool,
}

impl Lists {
    /// Fails with a link whose arc another link has too.
    pub(super) fn new(nodes: usize, arcs: &[(u32, u32)]) -> Result<Self, u32> {
        let mut starts = vec![0u32; nodes + 1];
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
        let mut links: Vec<u32> = (0..arcs.len() as u32).collect();
        let is_sorted = links.is_sorted_by_key(key);
        if !is_sorted {
            // Stable, so that of two equal arcs the second is the one complained about.
            links.sort_by_key(key);
        }
        if let Some(pair) = links.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
            return Err(pair[1]);
        }
        Ok(Self {
            starts: starts.into(),
            heads: links.iter().map(|&link| arcs[link as usize].0).collect(),
            modifiers: links.iter().map(|&link| arcs[link as usize].1).collect(),
            links: links.into(),
            is_sorted,
        })
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
