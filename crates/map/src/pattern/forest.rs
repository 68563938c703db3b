//! The best labelling of a forest, by dynamic programming.

use crate::flat::Refill;
use crate::oracle::lanes::largest;

const ROOT: u32 = u32::MAX;

/// A forest over vertices with tables on its edges; unary scores are given at each call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest {
    /// Slots of vertex `v` are `first_slot[v]..first_slot[v + 1]`.
    first_slot: Vec<u32>,
    /// Parents before children.
    order: Vec<u32>,
    parent: Vec<u32>,
    /// Where the table of the edge to the parent begins: rows are the child's states, columns the parent's.
    table: Vec<u32>,
    values: Vec<f64>,
    /// Scores of the best labelling of each subtree, by state of its top.
    belief: Vec<f64>,
    message: Vec<f64>,
}

impl Forest {
    /// Starts anew with vertices that have the given first slots (one entry more than there are vertices) and
    /// no edges.
    pub(crate) fn reset(&mut self, first_slot: &[u32]) {
        self.first_slot.clear();
        self.first_slot.extend_from_slice(first_slot);
        let vertices = first_slot.len() - 1;
        self.order.clear();
        self.parent.refill(vertices, ROOT);
        self.table.refill(vertices, 0);
        self.values.clear();
    }

    /// Appends a vertex to the order; its parent, if any, must be there already. Returns the table to fill,
    /// all zero, with a row for each state of the vertex and a column for each state of the parent.
    pub(crate) fn push(&mut self, vertex: usize, parent: Option<usize>) -> &mut [f64] {
        self.order.push(vertex as u32);
        let start = self.values.len();
        if let Some(parent) = parent {
            self.parent[vertex] = parent as u32;
            self.table[vertex] = start as u32;
            self.values.resize(start + self.states(vertex) * self.states(parent), 0.0);
        }
        &mut self.values[start..]
    }

    pub(crate) fn parent(&self, vertex: usize) -> Option<usize> {
        let parent = self.parent[vertex];
        (parent != ROOT).then_some(parent as usize)
    }

    fn states(&self, vertex: usize) -> usize {
        (self.first_slot[vertex + 1] - self.first_slot[vertex]) as usize
    }

    /// The largest absolute finite table value of each edge, summed: a measure of the rounding to expect.
    pub(crate) fn magnitude(&self) -> f64 {
        let edge = |&v: &u32| {
            let Some(parent) = self.parent(v as usize) else { return 0.0 };
            let start = self.table[v as usize] as usize;
            let length = self.states(v as usize) * self.states(parent);
            largest(&self.values[start..start + length])
        };
        self.order.iter().map(edge).sum()
    }

    /// Writes the best labelling (ties: the lowest state) and returns its score.
    pub(crate) fn solve(&mut self, unary: &[f64], labels: &mut [u32]) -> f64 {
        let Forest { first_slot, order, parent, table, values, belief, message } = self;
        let slots = |v: usize| first_slot[v] as usize..first_slot[v + 1] as usize;
        belief.clear();
        belief.extend_from_slice(unary);
        let mut total = 0.0;
        for &v in order.iter().rev() {
            let own = slots(v as usize);
            if parent[v as usize] == ROOT {
                let (best, score) = best_of(belief[own].iter().copied().enumerate());
                labels[v as usize] = best;
                total += score;
                continue;
            }
            let above = slots(parent[v as usize] as usize);
            message.refill(above.len(), f64::NEG_INFINITY);
            let start = table[v as usize] as usize;
            for (row, slot) in values[start..].chunks_exact(above.len()).zip(own) {
                let score = belief[slot];
                for (m, x) in message.iter_mut().zip(row) {
                    let sum = score + x;
                    *m = if sum > *m { sum } else { *m };
                }
            }
            for (b, m) in belief[above].iter_mut().zip(message.iter()) {
                *b += m;
            }
        }
        for &v in order.iter() {
            let up = parent[v as usize];
            if up != ROOT {
                let width = slots(up as usize).len();
                let start = table[v as usize] as usize + labels[up as usize] as usize;
                let column = values[start..].iter().step_by(width);
                let scores = belief[slots(v as usize)].iter().zip(column).map(|(b, x)| b + x);
                labels[v as usize] = best_of(scores.enumerate()).0;
            }
        }
        total
    }
}

/// The best of some states and its score; the first of several.
pub(crate) fn best_of(scores: impl Iterator<Item = (usize, f64)>) -> (u32, f64) {
    scores.fold(
        (0, f64::NEG_INFINITY),
        |best, (state, score)| if score > best.1 { (state as u32, score) } else { best },
    )
}
