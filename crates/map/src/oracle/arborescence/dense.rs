//! Cycle contraction on a matrix, in O(n²).
//!
//! Every node, original or contracted, has a *column*: the scores of the arcs that enter it, indexed by the original head.
//! A path grows backwards, from a node to the head of its best arc. When it bites its own tail, the nodes of that cycle
//! become one, whose column is the maximum of theirs after each has been reduced by the score of its best arc. At
//! most n nodes are ever made, each for O(n), and both loops (maximum of a column, maximum of two columns) are vector code.
//!
//! Columns are kept when their node is contracted. So nothing else needs to be remembered: an arc that enters a contracted
//! node from head h enters that of its parts whose reduced column is largest at h.

use super::super::lanes::{first_best, first_maximum, raise};
use super::NONE;

/// Where each arc lies in the matrix.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    nodes: usize,
    /// For each link, modifier × nodes + head.
    cells: Box<[u32]>,
    /// For each cell, the link.
    links: Box<[u32]>,
}

/// Contracted nodes are numbered from `nodes` on, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    columns: Vec<f64>,
    /// For each node, the best arc's head (an original node) and score.
    best: Vec<(u32, f64)>,
    /// For each original node, the outermost node that holds it.
    outermost: Vec<u32>,
    /// For each node, where it stands.
    place: Vec<Place>,
    path: Vec<u32>,
    /// The parts of all contracted nodes, and where those of each begin.
    parts: Vec<u32>,
    first_part: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Untouched,
    /// On the path, with this many nodes before it.
    OnPath(u32),
    /// Connected with the root.
    Settled,
}

impl Matrix {
    /// Fails with a link whose arc another link has too.
    pub(super) fn new(nodes: usize, arcs: &[(u32, u32)]) -> Result<Self, u32> {
        let cells: Box<[u32]> = arcs.iter().map(|&(head, modifier)| modifier * nodes as u32 + head).collect();
        let mut links = vec![NONE; nodes * nodes];
        for (link, &cell) in cells.iter().enumerate() {
            if std::mem::replace(&mut links[cell as usize], link as u32) != NONE {
                return Err(link as u32);
            }
        }
        Ok(Self { nodes, cells, links: links.into() })
    }

    /// Writes the links of the best arborescence; false if there is none. With `root_last`, an arc leaves the root only
    /// where no other can, and only one may.
    pub(super) fn maximize(
        &self,
        scores: &[f64],
        root_last: bool,
        workspace: &mut Workspace,
        best: &mut Vec<u32>,
    ) -> bool {
        let nodes = self.nodes;
        workspace.reset(nodes);
        for (&cell, &score) in self.cells.iter().zip(scores) {
            workspace.columns[cell as usize] = score;
        }
        if !workspace.connect(nodes, root_last) {
            return false;
        }
        workspace.expand(nodes);
        best.clear();
        best.extend((1..nodes).map(|node| self.links[node * nodes + workspace.best[node].0 as usize]));
        true
    }
}

impl Workspace {
    fn reset(&mut self, nodes: usize) {
        self.columns.clear();
        self.columns.resize(nodes * nodes, f64::NEG_INFINITY);
        self.best.clear();
        self.best.resize(nodes, (0, 0.0));
        self.outermost.clear();
        self.outermost.extend(0..nodes as u32);
        self.place.clear();
        self.place.resize(nodes, Place::Untouched);
        self.place[0] = Place::Settled;
        self.path.clear();
        self.parts.clear();
        self.first_part.clear();
    }

    fn connect(&mut self, nodes: usize, root_last: bool) -> bool {
        let mut root_arcs = 0;
        for start in 1..nodes {
            let mut node = self.outermost[start];
            if self.place[node as usize] == Place::Settled {
                continue;
            }
            loop {
                if self.place[node as usize] == Place::Untouched {
                    self.place[node as usize] = Place::OnPath(self.path.len() as u32);
                    self.path.push(node);
                }
                let column = &self.columns[node as usize * nodes..][..nodes];
                let (mut head, mut score);
                if root_last {
                    (head, score) = first_maximum(&column[1..]);
                    head += 1;
                    if score == f64::NEG_INFINITY {
                        (head, score) = (0, column[0]);
                        root_arcs += 1;
                    }
                } else {
                    (head, score) = first_maximum(column);
                }
                if score == f64::NEG_INFINITY || root_arcs > 1 {
                    return false;
                }
                self.best[node as usize] = (head as u32, score);
                let next = self.outermost[head];
                node = match self.place[next as usize] {
                    Place::Untouched => next,
                    Place::OnPath(position) => self.contract(nodes, position as usize),
                    Place::Settled => break,
                };
            }
            for node in self.path.drain(..) {
                self.place[node as usize] = Place::Settled;
            }
        }
        true
    }

    /// Makes the path from `position` on one node, which takes its place at the end of the path.
    fn contract(&mut self, nodes: usize, position: usize) -> u32 {
        let node = self.place.len() as u32;
        self.columns.resize((node as usize + 1) * nodes, f64::NEG_INFINITY);
        let (columns, merged) = self.columns.split_at_mut(node as usize * nodes);
        for &part in &self.path[position..] {
            let column = &columns[part as usize * nodes..][..nodes];
            raise(merged, column, -self.best[part as usize].1);
        }
        for (outermost, score) in self.outermost.iter_mut().zip(merged) {
            if matches!(self.place[*outermost as usize], Place::OnPath(place) if place as usize >= position) {
                *outermost = node;
                *score = f64::NEG_INFINITY;
            }
        }
        self.first_part.push(self.parts.len() as u32);
        self.parts.extend(self.path.drain(position..));
        self.path.push(node);
        self.place.push(Place::OnPath(position as u32));
        self.best.push((0, 0.0));
        node
    }

    /// Opens the contracted nodes, the last made first: the arc that enters one enters one of its parts, and the
    /// other parts keep the arcs of the cycle.
    fn expand(&mut self, nodes: usize) {
        let mut end = self.parts.len();
        for (index, &start) in self.first_part.iter().enumerate().rev() {
            let parts = &self.parts[start as usize..end];
            let (head, _) = self.best[nodes + index];
            let entered = first_best(parts.len(), |part| {
                let part = parts[part] as usize;
                self.columns[part * nodes + head as usize] - self.best[part].1
            });
            self.best[parts[entered] as usize].0 = head;
            end = start as usize;
        }
    }
}
