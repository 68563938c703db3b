//! Connected parts of a model, which are solved apart.

use crate::flat::Refill;
use crate::pattern::PatternModel;

/// A connected part of a model, or several parts that are trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Component {
    /// In rising order.
    pub(crate) vertices: Vec<u32>,
    pub(crate) edges: Vec<u32>,
    pub(crate) patterns: Vec<u32>,
}

impl Component {
    /// Writes the scores of the vertices one after the other, and where those of each begin.
    pub(crate) fn gather_scores(&self, model: &PatternModel, first: &mut Vec<u32>, scores: &mut Vec<f64>) {
        first.refill(1, 0);
        scores.clear();
        for &v in &self.vertices {
            scores.extend_from_slice(model.unary(v as usize));
            first.push(scores.len() as u32);
        }
    }
}

/// Splits a model; keeps its buffers for the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splitter {
    leader: Vec<u32>,
    place: Vec<u32>,
    /// The index of each vertex within its component.
    pub(crate) local: Vec<u32>,
    /// Edges minus vertices plus one, and then more if there are patterns: zero for trees.
    cycles: Vec<u32>,
}

impl Splitter {
    /// Fills `components` from the front and returns how many there are. Parts that are trees without
    /// patterns share the first.
    pub(crate) fn split(&mut self, model: &PatternModel, components: &mut Vec<Component>) -> usize {
        let vertices = model.vertices();
        self.leader.clear();
        self.leader.extend(0..vertices as u32);
        self.cycles.refill(vertices, 0);
        for edge in 0..model.edges() {
            let (u, v) = model.ends(edge);
            self.join(u as u32, v as u32, true);
        }
        for pattern in 0..model.patterns() {
            let members = model.members(pattern);
            for m in &members[1..] {
                self.join(members[0].vertex, m.vertex, false);
            }
            if members.len() > 1 {
                let top = find(&mut self.leader, members[0].vertex);
                self.cycles[top as usize] += 1;
            }
        }
        for component in components.iter_mut() {
            component.vertices.clear();
            component.edges.clear();
            component.patterns.clear();
        }
        const UNPLACED: u32 = u32::MAX;
        self.place.refill(vertices, UNPLACED);
        self.local.clear();
        let (mut trees, mut count) = (UNPLACED, 0);
        for v in 0..vertices as u32 {
            let top = find(&mut self.leader, v) as usize;
            if self.place[top] == UNPLACED {
                if self.cycles[top] == 0 && trees != UNPLACED {
                    self.place[top] = trees;
                } else {
                    self.place[top] = count;
                    if self.cycles[top] == 0 {
                        trees = count;
                    }
                    count += 1;
                    if components.len() < count as usize {
                        components.push(Component::default());
                    }
                }
            }
            let component = &mut components[self.place[top] as usize];
            self.local.push(component.vertices.len() as u32);
            component.vertices.push(v);
        }
        for edge in 0..model.edges() {
            let top = find(&mut self.leader, model.ends(edge).0 as u32);
            components[self.place[top as usize] as usize].edges.push(edge as u32);
        }
        for pattern in 0..model.patterns() {
            let top = find(&mut self.leader, model.members(pattern)[0].vertex);
            components[self.place[top as usize] as usize].patterns.push(pattern as u32);
        }
        count as usize
    }

    fn join(&mut self, u: u32, v: u32, edge: bool) {
        let (a, b) = (find(&mut self.leader, u), find(&mut self.leader, v));
        let (low, high) = (a.min(b) as usize, a.max(b) as usize);
        if low != high {
            self.leader[high] = low as u32;
            self.cycles[low] += self.cycles[high];
        } else if edge {
            self.cycles[low] += 1;
        }
    }
}

/// The representative of a vertex in a union-find forest, halving paths on the way.
pub(crate) fn find(leader: &mut [u32], mut v: u32) -> u32 {
    while leader[v as usize] != v {
        leader[v as usize] = leader[leader[v as usize] as usize];
        v = leader[v as usize];
    }
    v
}
