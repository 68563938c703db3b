//! Search for frustrated cycles of any length.
//!
//! A pair table *prefers* that its two variables agree, or that they differ, by the margin between its best
//! entry of either kind. A cycle with an odd number of preferences to differ cannot please all of them, and
//! whatever is chosen loses at least the smallest margin along it (Barahona and Mahjoub's odd cycles; with
//! more than two states, "agree" is read through a partition of the states into one against the rest, the
//! projection of Sontag, Choe and Li 2012). Edges enter by falling margin; one that contradicts the parity of
//! what is already connected closes a frustrated cycle, and the shortest through it is taken.

use super::limits::Limits;
use super::network::Network;
use std::collections::VecDeque;

/// States of one variable that stand alone against the rest.
const PARTITIONS: usize = 3;
/// Longest cycle returned.
const LONGEST: usize = 40;

struct Edge {
    ends: [u32; 2],
    margin: f64,
    differ: bool,
}

/// Frustrated cycles as sequences of variables, strongest first, no more than `most`.
pub(crate) fn frustrated_cycles(network: &Network, most: usize, limits: &Limits) -> Vec<Vec<u32>> {
    let mut owner = Vec::new();
    let mut partitions: Vec<Vec<(u32, usize)>> = Vec::with_capacity(network.sizes.len());
    for (v, scores) in network.unary.iter().enumerate() {
        let mut states: Vec<usize> = (0..scores.len()).collect();
        states.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        states.truncate(if scores.len() == 2 { 1 } else { PARTITIONS });
        if scores.len() == 2 {
            states[0] = 0;
        }
        partitions.push(
            states
                .into_iter()
                .map(|state| {
                    owner.push(v as u32);
                    (owner.len() as u32 - 1, state)
                })
                .collect(),
        );
    }
    // A node that stands for the vectors: a preference for a state is an edge to it.
    let ghost = owner.len() as u32;
    owner.push(u32::MAX);
    let mut edges = Vec::new();
    let mut push = |ends: [u32; 2], agree: f64, differ: f64| {
        let margin = (agree - differ).abs();
        if margin > 1e-9 {
            edges.push(Edge { ends, margin: margin.min(1e300), differ: differ > agree });
        }
    };
    for (v, nodes) in partitions.iter().enumerate() {
        for &(node, state) in nodes {
            let rest =
                best(network.unary[v].iter().enumerate().filter(|&(s, _)| s != state).map(|(_, &x)| x));
            push([node, ghost], network.unary[v][state], rest);
        }
    }
    for table in &network.tables {
        let [a, b] = *table.scope else { continue };
        let width = network.sizes[b as usize];
        for &(first, i) in &partitions[a as usize] {
            for &(second, j) in &partitions[b as usize] {
                let side = |agree: bool| {
                    best(
                        (table.scores.iter().enumerate())
                            .filter(|&(entry, _)| ((entry / width == i) == (entry % width == j)) == agree)
                            .map(|(_, &score)| score),
                    )
                };
                push([first, second], side(true), side(false));
            }
        }
    }
    edges.sort_by(|x, y| y.margin.total_cmp(&x.margin).then_with(|| x.ends.cmp(&y.ends)));
    collect(&edges, &owner, most, limits)
}

fn best(scores: impl Iterator<Item = f64>) -> f64 {
    scores.fold(f64::NEG_INFINITY, f64::max)
}

fn collect(edges: &[Edge], owner: &[u32], most: usize, limits: &Limits) -> Vec<Vec<u32>> {
    let mut parity = Parity::new(owner.len());
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); owner.len()];
    let mut walk = OddWalk::new(owner.len());
    let mut cycles = Vec::new();
    for (index, edge) in edges.iter().enumerate() {
        if cycles.len() >= most || (index % 64 == 0 && limits.expired()) {
            break;
        }
        let [u, w] = edge.ends;
        if !parity.join(u, w, edge.differ)
            && let Some(path) = walk.shortest(&neighbours, u, w, !edge.differ)
        {
            let mut cycle: Vec<u32> = path.into_iter().map(|node| owner[node as usize]).collect();
            cycle.retain(|&v| v != u32::MAX);
            let mut distinct = cycle.clone();
            distinct.sort_unstable();
            distinct.dedup();
            if cycle.len() >= 3 && distinct.len() == cycle.len() {
                cycles.push(cycle);
            }
        }
        neighbours[u as usize].push((w, edge.differ));
        neighbours[w as usize].push((u, edge.differ));
    }
    cycles
}

/// Union-find that knows whether two nodes agree or differ.
struct Parity {
    parent: Vec<u32>,
    differs: Vec<bool>,
}

impl Parity {
    fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect(), differs: vec![false; count] }
    }

    fn find(&mut self, node: u32) -> (u32, bool) {
        let (mut root, mut differs) = (node, false);
        while self.parent[root as usize] != root {
            differs ^= self.differs[root as usize];
            root = self.parent[root as usize];
        }
        // Path compression.
        let (mut at, mut rest) = (node, differs);
        while self.parent[at as usize] != root && at != root {
            let next = self.parent[at as usize];
            let step = self.differs[at as usize];
            self.parent[at as usize] = root;
            self.differs[at as usize] = rest;
            rest ^= step;
            at = next;
        }
        (root, differs)
    }

    /// Joins two nodes; false when they are joined already with the other parity.
    fn join(&mut self, a: u32, b: u32, differ: bool) -> bool {
        let (root_a, differs_a) = self.find(a);
        let (root_b, differs_b) = self.find(b);
        if root_a == root_b {
            return differs_a ^ differs_b == differ;
        }
        self.parent[root_a as usize] = root_b;
        self.differs[root_a as usize] = differs_a ^ differs_b ^ differ;
        true
    }
}

/// Breadth-first search over nodes with a parity.
struct OddWalk {
    from: Vec<u32>,
    depth: Vec<u32>,
    touched: Vec<u32>,
    queue: VecDeque<u32>,
}

impl OddWalk {
    fn new(count: usize) -> Self {
        Self {
            from: vec![u32::MAX; 2 * count],
            depth: vec![0; 2 * count],
            touched: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// Fewest nodes from `start` to `goal` with the given parity of "differ" edges.
    fn shortest(
        &mut self,
        neighbours: &[Vec<(u32, bool)>],
        start: u32,
        goal: u32,
        odd: bool,
    ) -> Option<Vec<u32>> {
        let target = 2 * goal + u32::from(odd);
        let source = 2 * start;
        self.queue.clear();
        self.queue.push_back(source);
        self.from[source as usize] = source;
        self.touched.push(source);
        let mut found = None;
        while let Some(at) = self.queue.pop_front() {
            if at == target {
                let mut path = vec![at / 2];
                let mut back = at;
                while back != source {
                    back = self.from[back as usize];
                    path.push(back / 2);
                }
                found = Some(path);
                break;
            }
            if self.depth[at as usize] as usize + 1 >= LONGEST {
                continue;
            }
            for &(next, differ) in &neighbours[(at / 2) as usize] {
                let next = 2 * next + ((at & 1) ^ u32::from(differ));
                if self.from[next as usize] == u32::MAX {
                    self.from[next as usize] = at;
                    self.depth[next as usize] = self.depth[at as usize] + 1;
                    self.touched.push(next);
                    self.queue.push_back(next);
                }
            }
        }
        for &node in &self.touched {
            self.from[node as usize] = u32::MAX;
            self.depth[node as usize] = 0;
        }
        self.touched.clear();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::exact::limits::Limits;

    /// A ring of binary variables in which neighbours want to differ by these margins.
    fn ring(margins: &[f64]) -> Network {
        let count = margins.len();
        let mut network = Network::new(&vec![2; count]).unwrap();
        for (v, &margin) in margins.iter().enumerate() {
            network.add_table(&[v, (v + 1) % count], &[-margin, 0.0, 0.0, -margin]).unwrap();
        }
        network
    }

    #[test]
    fn frustrated_cycles_are_found_at_any_length() {
        let limits = Limits::new(None, None, Default::default());
        for count in [3, 5, 7, 19] {
            let cycles = frustrated_cycles(&ring(&vec![1.0; count]), 10, &limits);
            let mut cycle = cycles[0].clone();
            cycle.sort_unstable();
            assert_eq!(cycle, (0..count as u32).collect::<Vec<_>>());
        }
        // An even ring can please everybody.
        assert!(frustrated_cycles(&ring(&[1.0; 8]), 10, &limits).is_empty());
    }
}
