//! Cycle contraction with a column of scores for each contracted node, in O(n²).
//!
//! A path grows backwards, from a node to the head of its best arc. When it bites its own tail, the nodes of
//! that cycle become one. Its *column* holds the best score of an arc into it from each original head: the
//! maximum over the parts, each reduced by the score of its best arc. At most n nodes are ever made, each for
//! O(n) by vector instructions. Original nodes need no column, only their list of arcs, so that few cycles
//! cost little and pruned arcs cost nothing.
//!
//! Columns are kept when their node is contracted. So nothing else needs to be remembered: an arc that enters
//! a contracted node from head h enters that of its parts whose reduced score at h is largest.

use super::super::lanes::{first_best, first_maximum, larger, raise};
use super::lists::Lists;
use crate::flat::Refill;

/// Contracted nodes are numbered after the original ones, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    nodes: Vec<Node>,
    /// For each original node, the outermost node that holds it.
    outermost: Vec<u32>,
    path: Vec<u32>,
    /// The parts of all contracted nodes, and where those of each begin.
    parts: Vec<u32>,
    first_part: Vec<u32>,
    /// For each contracted node, the scores by original head.
    columns: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// The best arc: its head, an original node, and its score.
    head: u32,
    score: f64,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Untouched,
    /// On the path, with this many nodes before it.
    OnPath(u32),
    /// Connected with the root.
    Settled,
}

/// Writes the links of the best arborescence; false if there is none. With `root_last`, an arc leaves the
/// root only where no other can, and only one may.
pub(super) fn maximize(
    lists: &Lists,
    scores: &[f64],
    root_last: bool,
    workspace: &mut Workspace,
    best: &mut Vec<u32>,
) -> bool {
    workspace.reset(lists.nodes());
    if !workspace.connect(lists, scores, root_last) {
        return false;
    }
    workspace.expand(lists, scores);
    best.clear();
    best.extend((1..lists.nodes() as u32).zip(&workspace.nodes[1..]).map(|(modifier, node)| {
        lists.links[lists.arc(node.head, modifier).expect("the head of a candidate arc")]
    }));
    true
}

impl Workspace {
    fn reset(&mut self, nodes: usize) {
        self.nodes.refill(nodes, Node { head: 0, score: 0.0, place: Place::Untouched });
        self.nodes[0].place = Place::Settled;
        self.outermost.clear();
        self.outermost.extend(0..nodes as u32);
        self.path.clear();
        self.parts.clear();
        self.first_part.clear();
        self.columns.clear();
    }

    fn connect(&mut self, lists: &Lists, scores: &[f64], root_last: bool) -> bool {
        let mut root_arcs = 0;
        for start in 1..lists.nodes() {
            let mut node = self.outermost[start];
            if self.nodes[node as usize].place == Place::Settled {
                continue;
            }
            loop {
                if self.nodes[node as usize].place == Place::Untouched {
                    self.nodes[node as usize].place = Place::OnPath(self.path.len() as u32);
                    self.path.push(node);
                }
                let (head, score) = self.best_arc(lists, scores, node, root_last);
                root_arcs += usize::from(head == 0);
                if score == f64::NEG_INFINITY || root_last && root_arcs > 1 {
                    return false;
                }
                self.nodes[node as usize].head = head;
                self.nodes[node as usize].score = score;
                let next = self.outermost[head as usize];
                node = match self.nodes[next as usize].place {
                    Place::Untouched => next,
                    Place::OnPath(position) => self.contract(lists, scores, position as usize),
                    Place::Settled => break,
                };
            }
            for node in self.path.drain(..) {
                self.nodes[node as usize].place = Place::Settled;
            }
        }
        true
    }

    fn best_arc(&self, lists: &Lists, scores: &[f64], node: u32, root_last: bool) -> (u32, f64) {
        if (node as usize) < lists.nodes() {
            let all = lists.entering(node);
            let arcs = if root_last { lists.entering_from_nodes(node) } else { all.clone() };
            let (place, score) = first_maximum(&scores[arcs.clone()]);
            if score > f64::NEG_INFINITY {
                return (lists.heads[arcs.start + place], score);
            }
            let from_root = all.start < arcs.start;
            return (0, if from_root { scores[all.start] } else { f64::NEG_INFINITY });
        }
        let column = self.column(lists, node);
        if !root_last {
            let (head, score) = first_maximum(column);
            return (head as u32, score);
        }
        match first_maximum(&column[1..]) {
            (_, f64::NEG_INFINITY) => (0, column[0]),
            (head, score) => (head as u32 + 1, score),
        }
    }

    fn column(&self, lists: &Lists, node: u32) -> &[f64] {
        let nodes = lists.nodes();
        &self.columns[(node as usize - nodes) * nodes..][..nodes]
    }

    /// Makes the path from `position` on one node, which takes its place at the end of the path.
    fn contract(&mut self, lists: &Lists, scores: &[f64], position: usize) -> u32 {
        let whole = self.nodes.len() as u32;
        let nodes = lists.nodes();
        let made = self.columns.len();
        self.columns.resize(made + nodes, f64::NEG_INFINITY);
        let (columns, merged) = self.columns.split_at_mut(made);
        for &part in &self.path[position..] {
            let reduction = -self.nodes[part as usize].score;
            if part as usize >= nodes {
                raise(merged, &columns[(part as usize - nodes) * nodes..][..nodes], reduction);
                continue;
            }
            let arcs = lists.entering(part);
            if arcs.len() == nodes - 1 {
                let (before, after) = scores[arcs].split_at(part as usize);
                raise(merged, before, reduction);
                raise(&mut merged[part as usize + 1..], after, reduction);
            } else {
                for (&head, score) in lists.heads[arcs.clone()].iter().zip(&scores[arcs]) {
                    let best = &mut merged[head as usize];
                    *best = larger(*best, score + reduction);
                }
            }
        }
        for (outermost, score) in self.outermost.iter_mut().zip(merged) {
            let place = self.nodes[*outermost as usize].place;
            if matches!(place, Place::OnPath(place) if place as usize >= position) {
                *outermost = whole;
                *score = f64::NEG_INFINITY;
            }
        }
        self.first_part.push(self.parts.len() as u32);
        self.parts.extend(self.path.drain(position..));
        self.path.push(whole);
        self.nodes.push(Node { head: 0, score: 0.0, place: Place::OnPath(position as u32) });
        whole
    }

    /// Opens the contracted nodes, the last made first: the arc that enters one enters one of its parts, and
    /// the other parts keep the arcs of the cycle.
    fn expand(&mut self, lists: &Lists, scores: &[f64]) {
        let mut end = self.parts.len();
        for (index, &start) in self.first_part.iter().enumerate().rev() {
            let parts = &self.parts[start as usize..end];
            let head = self.nodes[lists.nodes() + index].head;
            let entered = first_best(parts.len(), |part| {
                let part = parts[part];
                let score = if (part as usize) < lists.nodes() {
                    lists.arc(head, part).map_or(f64::NEG_INFINITY, |arc| scores[arc])
                } else {
                    self.column(lists, part)[head as usize]
                };
                score - self.nodes[part as usize].score
            });
            self.nodes[parts[entered] as usize].head = head;
            end = start as usize;
        }
    }
}
