//! Cycle contraction with a heap of arcs for each contracted node, in O(m log n).
//!
//! As in the method of columns, a path grows backwards and cycles on it become nodes. The arcs that enter a
//! contracted node lie in a leftist heap whose keys are reduced all at once, by an amount at the root of the
//! heap that its descendants take over when they are reached; heaps of the parts of a cycle are melded. A
//! node that never joins a cycle needs no heap: its list is scanned once. Root arcs stay out of the heaps,
//! for there is at most one for each node and only the best of those that enter a contracted node can matter.

use super::super::lanes::first_maximum;
use super::lists::{Lists, NONE};

/// Contracted nodes are numbered after the original ones, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    nodes: Vec<Node>,
    path: Vec<u32>,
    /// A cell for each arc.
    heap: Heap,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// The best arc that enters. Scores of arcs into contracted nodes are reduced by those of the arcs they
    /// replace.
    best: u32,
    score: f64,
    /// The best arc from the root, and its score.
    from_root: u32,
    from_root_score: f64,
    /// The top of the heap of arcs that enter a contracted node.
    arcs: u32,
    /// The contracted node of which it is a part, or none.
    whole: u32,
    /// A node that holds it, on the way to the outermost; itself at the end of the way.
    holder: u32,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Untouched,
    /// On the path, with this many nodes before it.
    OnPath(u32),
    /// Connected with the root.
    Settled,
    /// Opened, and its parts have their final arcs.
    Opened,
}

/// What stands for the best arc where there is none.
const NO_ARC: (u32, f64) = (NONE, f64::NEG_INFINITY);

/// Writes the links of the best arborescence; false if there is none. With `root_last`, an arc leaves the
/// root only where no other can, and only one may.
pub(super) fn maximize(
    lists: &Lists,
    scores: &[f64],
    root_last: bool,
    workspace: &mut Workspace,
    best: &mut Vec<u32>,
) -> bool {
    workspace.reset(lists, scores);
    if !workspace.connect(lists, scores, root_last) {
        return false;
    }
    workspace.expand(lists);
    best.clear();
    best.extend(workspace.nodes[1..lists.nodes()].iter().map(|node| lists.links[node.best as usize]));
    true
}

impl Workspace {
    fn reset(&mut self, lists: &Lists, scores: &[f64]) {
        self.path.clear();
        self.heap.cells.resize(lists.heads.len(), Cell::default());
        self.nodes.clear();
        self.nodes.extend((0..lists.nodes() as u32).map(|node| {
            let first = lists.entering(node).start;
            let (from_root, from_root_score) = match first < lists.entering_from_nodes(node).start {
                true => (first as u32, scores[first]),
                false => NO_ARC,
            };
            Node::new(node, from_root, from_root_score)
        }));
        self.nodes[0].place = Place::Settled;
    }

    fn connect(&mut self, lists: &Lists, scores: &[f64], root_last: bool) -> bool {
        let mut root_arcs = 0;
        for start in 1..lists.nodes() as u32 {
            let mut node = self.outermost(start);
            if self.nodes[node as usize].place == Place::Settled {
                continue;
            }
            loop {
                if self.nodes[node as usize].place == Place::Untouched {
                    self.nodes[node as usize].place = Place::OnPath(self.path.len() as u32);
                    self.path.push(node);
                }
                let (mut arc, mut score) = self.best_inner_arc(lists, scores, node);
                let Node { from_root, from_root_score, .. } = self.nodes[node as usize];
                let from_root_wins =
                    if root_last { score == f64::NEG_INFINITY } else { from_root_score >= score };
                if from_root_wins {
                    (arc, score) = (from_root, from_root_score);
                    root_arcs += 1;
                }
                if score == f64::NEG_INFINITY || root_last && root_arcs > 1 {
                    return false;
                }
                self.nodes[node as usize].best = arc;
                self.nodes[node as usize].score = score;
                let next = self.outermost(lists.heads[arc as usize]);
                node = match self.nodes[next as usize].place {
                    Place::Untouched => next,
                    Place::OnPath(position) => self.contract(lists, scores, position as usize),
                    Place::Settled | Place::Opened => break,
                };
            }
            for node in self.path.drain(..) {
                self.nodes[node as usize].place = Place::Settled;
            }
        }
        true
    }

    /// The best arc into a node that leaves neither the root nor the node itself.
    fn best_inner_arc(&mut self, lists: &Lists, scores: &[f64], node: u32) -> (u32, f64) {
        if (node as usize) < lists.nodes() {
            let arcs = lists.entering_from_nodes(node);
            return match first_maximum(&scores[arcs.clone()]) {
                (_, f64::NEG_INFINITY) => NO_ARC,
                (place, score) => ((arcs.start + place) as u32, score),
            };
        }
        loop {
            let arc = self.nodes[node as usize].arcs;
            if arc == NONE {
                return NO_ARC;
            }
            if self.outermost(lists.heads[arc as usize]) != node {
                return (arc, self.heap.cells[arc as usize].score);
            }
            self.nodes[node as usize].arcs = self.heap.without_top(arc);
        }
    }

    /// Makes the path from `position` on one node, which takes its place at the end of the path.
    fn contract(&mut self, lists: &Lists, scores: &[f64], position: usize) -> u32 {
        let whole = self.nodes.len() as u32;
        let (mut arcs, (mut from_root, mut from_root_score)) = (NONE, NO_ARC);
        for part in self.path.drain(position..) {
            let Node { best, score, .. } = self.nodes[part as usize];
            let own = if (part as usize) < lists.nodes() {
                lists.entering_from_nodes(part).fold(NONE, |heap, arc| {
                    let reduced = scores[arc] - score;
                    if arc as u32 == best || reduced == f64::NEG_INFINITY {
                        return heap;
                    }
                    self.heap.cells[arc] = Cell::new(reduced);
                    self.heap.meld(heap, arc as u32)
                })
            } else {
                // The top is the arc of the cycle.
                let rest = self.heap.without_top(self.nodes[part as usize].arcs);
                self.heap.add(rest, -score);
                rest
            };
            arcs = self.heap.meld(arcs, own);
            let part = &mut self.nodes[part as usize];
            (part.whole, part.holder) = (whole, whole);
            if part.from_root_score - score > from_root_score {
                (from_root, from_root_score) = (part.from_root, part.from_root_score - score);
            }
        }
        let place = Place::OnPath(self.path.len() as u32);
        self.nodes.push(Node { arcs, place, ..Node::new(whole, from_root, from_root_score) });
        self.path.push(whole);
        whole
    }

    /// The outermost node that holds a node, by halving the way there.
    fn outermost(&mut self, mut node: u32) -> u32 {
        loop {
            let holder = self.nodes[node as usize].holder;
            if holder == node {
                return node;
            }
            let next = self.nodes[holder as usize].holder;
            self.nodes[node as usize].holder = next;
            node = next;
        }
    }

    /// Opens the contracted nodes, the last made first: the arc that enters one enters, at every depth, the
    /// part that holds its modifier, and the other parts keep the arcs of the cycle.
    fn expand(&mut self, lists: &Lists) {
        for whole in (lists.nodes()..self.nodes.len()).rev() {
            if self.nodes[whole].place == Place::Opened {
                continue;
            }
            let arc = self.nodes[whole].best;
            let mut part = lists.modifiers[arc as usize] as usize;
            while part != whole {
                let node = &mut self.nodes[part];
                node.best = arc;
                node.place = Place::Opened;
                part = node.whole as usize;
            }
        }
    }
}

impl Node {
    fn new(number: u32, from_root: u32, from_root_score: f64) -> Self {
        let (best, score) = NO_ARC;
        let place = Place::Untouched;
        Self { best, score, from_root, from_root_score, arcs: NONE, whole: NONE, holder: number, place }
    }
}

/// Leftist heaps in one arena, with a cell for each arc.
#[derive(Debug, Default)]
struct Heap {
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    score: f64,
    /// What the cells below have still to be changed by.
    pending: f64,
    left: u32,
    right: u32,
    /// The length of the way down on the right, which is the shortest of all.
    rank: u32,
}

impl Cell {
    fn new(score: f64) -> Self {
        Self { score, pending: 0.0, left: NONE, right: NONE, rank: 1 }
    }
}

impl Heap {
    fn rank(&self, top: u32) -> u32 {
        if top == NONE { 0 } else { self.cells[top as usize].rank }
    }

    fn add(&mut self, top: u32, change: f64) {
        if top != NONE {
            self.cells[top as usize].score += change;
            self.cells[top as usize].pending += change;
        }
    }

    /// Settles what the cells right below `top` have to be changed by, and names them.
    fn below(&mut self, top: u32) -> (u32, u32) {
        let cell = &mut self.cells[top as usize];
        let (left, right, pending) = (cell.left, cell.right, std::mem::take(&mut cell.pending));
        if pending != 0.0 {
            self.add(left, pending);
            self.add(right, pending);
        }
        (left, right)
    }

    fn without_top(&mut self, top: u32) -> u32 {
        let (left, right) = self.below(top);
        self.meld(left, right)
    }

    /// One heap of two; the recursion is at most as deep as the logarithms of their sizes together.
    fn meld(&mut self, mut a: u32, mut b: u32) -> u32 {
        if a == NONE || b == NONE {
            return a.min(b);
        }
        if self.cells[b as usize].score > self.cells[a as usize].score {
            std::mem::swap(&mut a, &mut b);
        }
        let (mut left, right) = self.below(a);
        let mut right = self.meld(right, b);
        if self.rank(left) < self.rank(right) {
            std::mem::swap(&mut left, &mut right);
        }
        let rank = self.rank(right) + 1;
        let cell = &mut self.cells[a as usize];
        (cell.left, cell.right, cell.rank) = (left, right, rank);
        a
    }
}
