//! The spanning-tree cover: the naive decomposition to which Qian & Liu (2014) compare theirs.
//!
//! Greedy maximum spanning forests of the edges not yet covered, until all are, and one slave for all
//! patterns over the same vertices. Every slave has its own copy of its vertices; multipliers make the copies
//! agree, by projected subgradient.

use std::fmt;

use crate::flat::Refill;
use crate::pattern::{Forest, PatternModel};
use crate::solution::Solution;
use crate::solver::master::{
    Component, Decomposition, Groups, Master, MasterOptions, SpanningTree, magnitude,
};

/// Decodes pattern models by a cover of spanning trees. Keeps its memory between models.
#[derive(Default)]
pub struct SpanningTrees {
    /// Limits, step rule, first tree and trace.
    pub options: MasterOptions,
    master: Master<Cover>,
}

impl fmt::Debug for SpanningTrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanningTrees").field("options", &self.options).finish_non_exhaustive()
    }
}

impl SpanningTrees {
    /// A solver with these options.
    pub fn new(options: MasterOptions) -> Self {
        SpanningTrees { options, ..SpanningTrees::default() }
    }

    /// The best assignment found, with its certificate.
    pub fn solve(&mut self, model: &PatternModel) -> Solution {
        self.master.solve(model, &self.options, ())
    }
}

/// A vertex as one slave sees it.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Local index of the vertex.
    vertex: u32,
    /// Its first slot among all copies' slots.
    first: u32,
}

/// A slave: a run of copies, solved as a forest or as a group of patterns.
#[derive(Clone, Debug)]
struct Slave {
    /// Where its copies end.
    end: u32,
    /// Index among forests or among groups.
    index: u32,
    is_forest: bool,
}

/// The slaves of one component. The first is a forest over all vertices and takes what the others leave of
/// their scores.
#[derive(Default)]
struct Cover {
    /// Slots of local vertex `v` are `first_slot[v]..first_slot[v + 1]`.
    first_slot: Vec<u32>,
    base: Vec<f64>,
    /// How many slaves have each vertex.
    copies_of: Vec<u32>,
    copies: Vec<Copy>,
    slaves: Vec<Slave>,
    forests: Vec<Forest>,
    groups: Groups,
    /// Scores by copy and state; multipliers have the same order.
    unary: Vec<f64>,
    /// The state of each copy.
    labels: Vec<u32>,
    votes: Vec<f64>,
    magnitude: f64,
    slave_magnitude: f64,
    /// Edges not yet covered, as (lower end, higher end, edge).
    edges: Vec<(u32, u32, u32)>,
    /// Where the edges between the same two vertices begin.
    pair_starts: Vec<u32>,
    tree: SpanningTree,
    order: Vec<u32>,
    copy_at: Vec<u32>,
    slots: Vec<u32>,
}

impl Decomposition for Cover {
    type Settings = ();

    fn build(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        _: (),
        preferred: &[bool],
    ) {
        self.magnitude = magnitude(model, component);
        self.slave_magnitude = self.magnitude;
        component.gather_scores(model, &mut self.first_slot, &mut self.base);
        for &p in &component.patterns {
            if let [m] = model.members(p as usize) {
                self.base[(self.first_slot[local[m.vertex as usize] as usize] + m.state) as usize] +=
                    model.weight(p as usize);
            }
        }
        self.copies.clear();
        self.slaves.clear();
        self.cover_edges(model, component, local, preferred);
        self.cover_patterns(model, component, local);
        self.copies_of.refill(component.vertices.len(), 0);
        for copy in &self.copies {
            self.copies_of[copy.vertex as usize] += 1;
        }
        let slots = self.copies.last().map_or(0, |c| c.first + self.states(c.vertex) as u32);
        self.unary.refill(slots as usize, 0.0);
        self.labels.refill(self.copies.len(), 0);
    }

    fn multipliers(&self) -> usize {
        self.unary.len()
    }

    fn evaluate(&mut self, lambda: &[f64], gradient: &mut [f64]) -> f64 {
        let size = self.share_scores(lambda);
        let mut start = 0;
        let mut dual = 0.0;
        for slave in &self.slaves {
            let copies = &self.copies[start..slave.end as usize];
            let labels = &mut self.labels[start..slave.end as usize];
            start = slave.end as usize;
            let (Some(first), Some(last)) = (copies.first(), copies.last()) else { continue };
            let states = self.first_slot[last.vertex as usize + 1] - self.first_slot[last.vertex as usize];
            let scores = &self.unary[first.first as usize..(last.first + states) as usize];
            dual += if slave.is_forest {
                self.forests[slave.index as usize].solve(scores, labels)
            } else {
                self.groups.solve(slave.index as usize, scores, labels)
            };
        }
        self.differ(gradient);
        let operations = (3 * self.copies.len()) as f64;
        dual + f64::EPSILON * operations * (self.slave_magnitude + size)
    }

    fn labels(&self) -> &[u32] {
        &self.labels[..self.copies_of.len()]
    }

    fn magnitude(&self) -> f64 {
        self.magnitude
    }
}

impl Cover {
    fn states(&self, vertex: u32) -> usize {
        (self.first_slot[vertex as usize + 1] - self.first_slot[vertex as usize]) as usize
    }

    /// Adds a copy of a vertex to the slave under construction.
    fn add_copy(&mut self, vertex: u32) {
        let first = self.copies.last().map_or(0, |c| c.first + self.states(c.vertex) as u32);
        self.copies.push(Copy { vertex, first });
    }

    /// Spanning forests until every edge is covered. The first takes the preferred edges and has all
    /// vertices.
    fn cover_edges(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        preferred: &[bool],
    ) {
        let vertices = component.vertices.len();
        let mut tree = std::mem::take(&mut self.tree);
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        edges.extend(component.edges.iter().map(|&e| {
            let (u, v) = model.ends(e as usize);
            (local[u].min(local[v]), local[u].max(local[v]), e)
        }));
        edges.sort_unstable();
        let mut count = 0;
        while count == 0 || !edges.is_empty() {
            tree.clear();
            self.pair_starts.clear();
            let mut start = 0;
            for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let given = same.iter().any(|&(_, _, e)| preferred[e as usize]);
                tree.offer(same[0].0, same[0].1, [given, false, false], 1.0);
                self.pair_starts.push(start);
                start += same.len() as u32;
            }
            self.pair_starts.push(start);
            tree.choose(vertices);
            self.add_forest(model, &edges, &mut tree, count, vertices);
            let (mut at, mut pair) = (0, 0);
            edges.retain(|_| {
                if at == self.pair_starts[pair + 1] {
                    pair += 1;
                }
                at += 1;
                !tree.has(pair)
            });
            count += 1;
        }
        self.edges = edges;
        self.tree = tree;
    }

    fn add_forest(
        &mut self,
        model: &PatternModel,
        edges: &[(u32, u32, u32)],
        tree: &mut SpanningTree,
        count: usize,
        vertices: usize,
    ) {
        let begin = self.copies.len();
        self.copy_at.refill(vertices, ABSENT);
        self.slots.clear();
        self.slots.push(0);
        let mut end = 0;
        for v in 0..vertices as u32 {
            if count == 0 || tree.degree(v) > 0 {
                self.copy_at[v as usize] = (self.copies.len() - begin) as u32;
                self.add_copy(v);
                end += self.states(v) as u32;
                self.slots.push(end);
            }
        }
        if self.forests.len() == count {
            self.forests.push(Forest::default());
        }
        let mut forest = std::mem::take(&mut self.forests[count]);
        forest.reset(&self.slots);
        tree.visit(vertices, |v, above| {
            let at = self.copy_at[v as usize];
            match above {
                _ if at == ABSENT => {}
                None => {
                    forest.push(at as usize, None);
                }
                Some((parent, pair)) => {
                    let table = forest.push(at as usize, Some(self.copy_at[parent as usize] as usize));
                    let same = self.pair_starts[pair] as usize..self.pair_starts[pair + 1] as usize;
                    for &(lower, _, edge) in &edges[same] {
                        model.add_edge_table(edge as usize, v == lower, table);
                    }
                }
            }
        });
        self.slave_magnitude += forest.magnitude();
        self.forests[count] = forest;
        self.slaves.push(Slave { end: self.copies.len() as u32, index: count as u32, is_forest: true });
    }

    /// One slave for all patterns over the same vertices.
    fn cover_patterns(&mut self, model: &PatternModel, component: &Component, local: &[u32]) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(component.patterns.iter().copied().filter(|&p| model.members(p as usize).len() > 1));
        let vertices = |p: u32| model.members(p as usize).iter().map(|m| m.vertex);
        let states = |p: u32| model.members(p as usize).iter().map(|m| m.state);
        let set = |p: u32| model.vertex_set(p as usize);
        order.sort_by(|&p, &q| set(p).cmp(&set(q)).then_with(|| states(p).cmp(states(q))));
        self.groups.clear();
        for same in order.chunk_by(|&p, &q| set(p) == set(q)) {
            for v in vertices(same[0]) {
                self.add_copy(local[v as usize]);
            }
            let sizes = vertices(same[0]).map(|v| model.states(v as usize));
            let index = self.groups.len() as u32;
            self.slave_magnitude +=
                self.groups.push(sizes, same.iter().map(|&p| (states(p), model.weight(p as usize))));
            self.slaves.push(Slave { end: self.copies.len() as u32, index, is_forest: false });
        }
        self.order = order;
    }

    /// Gives each copy its share of the vertex's scores plus its multipliers, and the first copy what the
    /// others leave, so that the copies always add up. Returns the sum of absolute scores given.
    fn share_scores(&mut self, lambda: &[f64]) -> f64 {
        let mut size = 0.0;
        self.unary[..self.base.len()].copy_from_slice(&self.base);
        for copy in &self.copies[self.copies_of.len()..] {
            let slots = self.first_slot[copy.vertex as usize] as usize
                ..self.first_slot[copy.vertex as usize + 1] as usize;
            let share = 1.0 / f64::from(self.copies_of[copy.vertex as usize]);
            for (slot, at) in slots.zip(copy.first as usize..) {
                let score = self.base[slot] * share + lambda[at];
                self.unary[at] = score;
                if score > f64::NEG_INFINITY {
                    self.unary[slot] -= score;
                    size += 2.0 * score.abs();
                }
            }
        }
        size
    }

    /// The subgradient: each copy's choice minus the average over all copies of the vertex.
    fn differ(&mut self, gradient: &mut [f64]) {
        self.votes.refill(self.base.len(), 0.0);
        for (copy, &label) in self.copies.iter().zip(&self.labels) {
            let share = 1.0 / f64::from(self.copies_of[copy.vertex as usize]);
            self.votes[(self.first_slot[copy.vertex as usize] + label) as usize] += share;
        }
        for (copy, &label) in self.copies.iter().zip(&self.labels) {
            let states = self.states(copy.vertex);
            let first = self.first_slot[copy.vertex as usize] as usize;
            let own = &mut gradient[copy.first as usize..copy.first as usize + states];
            let unanimous = self.votes[first + label as usize]
                > 1.0 - 0.5 / f64::from(self.copies_of[copy.vertex as usize]);
            for (state, g) in own.iter_mut().enumerate() {
                let chosen = f64::from(u8::from(state as u32 == label));
                *g = if unanimous { 0.0 } else { chosen - self.votes[first + state] };
            }
        }
    }
}

const ABSENT: u32 = u32::MAX;
