//! Local improvement of assignments: iterated conditional modes, and fusion of two assignments.

use super::{PatternModel, TableView};

/// Improves assignments of one model in place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Improver {
    /// Edges of vertex `v` are `edges[edge_first[v]..edge_first[v + 1]]`; the same for patterns.
    edge_first: Vec<u32>,
    edges: Vec<u32>,
    pattern_first: Vec<u32>,
    patterns: Vec<u32>,
    /// How many members of each pattern the assignment misses.
    missing: Vec<u32>,
    scores: Vec<f64>,
    /// What breaking a hard constraint costs here: finite, so that fewer broken ones are better.
    penalty: f64,
    group: Vec<u32>,
    stack: Vec<u32>,
    /// The number of the fused group that a vertex was last in.
    seen: Vec<u32>,
    round: u32,
}

impl Improver {
    /// Indexes the structure of a model.
    pub(crate) fn reset(&mut self, model: &PatternModel, penalty: f64) {
        let vertices = model.vertices();
        self.penalty = penalty;
        let ends = |edge| {
            let (u, v) = model.ends(edge);
            [u as u32, v as u32].into_iter()
        };
        index(vertices, model.edges(), ends, &mut self.edge_first, &mut self.edges);
        let members = |p| model.members(p).iter().map(|m| m.vertex);
        index(vertices, model.patterns(), members, &mut self.pattern_first, &mut self.patterns);
        self.missing.clear();
        self.missing.resize(model.patterns(), 0);
        self.seen.clear();
        self.seen.resize(vertices, 0);
        self.round = 0;
    }

    /// The edges of a vertex.
    pub(crate) fn edges(&self, vertex: usize) -> &[u32] {
        &self.edges[self.edge_first[vertex] as usize..self.edge_first[vertex + 1] as usize]
    }

    /// The patterns with a vertex.
    pub(crate) fn patterns(&self, vertex: usize) -> &[u32] {
        &self.patterns[self.pattern_first[vertex] as usize..self.pattern_first[vertex + 1] as usize]
    }

    /// Gives each of `vertices` in turn its best state, the others fixed, until nothing changes or `sweeps` are done.
    /// Returns whether anything changed. `patterns` are those that touch the vertices.
    pub(crate) fn climb(
        &mut self,
        model: &PatternModel,
        vertices: &[u32],
        patterns: &[u32],
        assignment: &mut [u32],
        sweeps: usize,
    ) -> bool {
        for &p in patterns {
            let misses =
                model.members(p as usize).iter().filter(|m| assignment[m.vertex as usize] != m.state);
            self.missing[p as usize] = misses.count() as u32;
        }
        let mut ever = false;
        for _ in 0..sweeps {
            let mut changed = false;
            for &v in vertices {
                changed |= self.settle(model, v as usize, assignment);
            }
            ever |= changed;
            if !changed {
                break;
            }
        }
        ever
    }

    fn settle(&mut self, model: &PatternModel, v: usize, assignment: &mut [u32]) -> bool {
        let soft = |x: f64| x.max(-self.penalty);
        let now = assignment[v];
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.extend(model.unary(v).iter().map(|&x| soft(x)));
        for &e in self.edges(v) {
            let (row, column) = model.ends(e as usize);
            match model.edge_table(e as usize) {
                TableView::Dense(values) => {
                    let columns = model.states(column);
                    let (start, step) = if row == v {
                        (assignment[column] as usize, columns)
                    } else {
                        (assignment[row] as usize * columns, 1)
                    };
                    for (score, x) in scores.iter_mut().zip(values[start..].iter().step_by(step)) {
                        *score += soft(*x);
                    }
                }
                TableView::Sparse(cells, values) => {
                    for (&(r, c), &x) in cells.iter().zip(values) {
                        let (own, other) =
                            if row == v { (r, assignment[column] == c) } else { (c, assignment[row] == r) };
                        if other {
                            scores[own as usize] += soft(x);
                        }
                    }
                }
            }
        }
        let state_in = |p: u32| {
            let members = model.members(p as usize);
            let at = members.binary_search_by_key(&(v as u32), |m| m.vertex);
            at.map_or(u32::MAX, |at| members[at].state)
        };
        for &p in self.patterns(v) {
            if self.missing[p as usize] > 1 {
                continue;
            }
            let state = state_in(p);
            if self.missing[p as usize] == u32::from(state != now) {
                scores[state as usize] += soft(model.weight(p as usize));
            }
        }
        let mut best = now;
        for (state, &score) in scores.iter().enumerate() {
            if score > scores[best as usize] {
                best = state as u32;
            }
        }
        self.scores = scores;
        if best == now {
            return false;
        }
        assignment[v] = best;
        for at in self.pattern_first[v]..self.pattern_first[v + 1] {
            let p = self.patterns[at as usize];
            let state = state_in(p);
            if state == now {
                self.missing[p as usize] += 1;
            } else if state == best {
                self.missing[p as usize] -= 1;
            }
        }
        true
    }

    /// Takes over from `other` every connected group of differing vertices that scores better there, the rest fixed.
    /// Returns whether anything was taken over.
    pub(crate) fn fuse(
        &mut self,
        model: &PatternModel,
        vertices: &[u32],
        assignment: &mut [u32],
        other: &mut [u32],
    ) -> bool {
        let before_this_call = self.round;
        let mut taken = false;
        for &start in vertices {
            if assignment[start as usize] == other[start as usize]
                || self.seen[start as usize] > before_this_call
            {
                continue;
            }
            self.round += 1;
            self.collect_group(model, start, assignment, other);
            let group = std::mem::take(&mut self.group);
            let before = self.score_around(model, &group, assignment);
            for &v in &group {
                std::mem::swap(&mut assignment[v as usize], &mut other[v as usize]);
            }
            if self.score_around(model, &group, assignment) > before {
                taken = true;
            } else {
                for &v in &group {
                    std::mem::swap(&mut assignment[v as usize], &mut other[v as usize]);
                }
            }
            self.group = group;
        }
        taken
    }

    /// Fills `group` with the differing vertices that are connected with `start` through differing vertices.
    fn collect_group(&mut self, model: &PatternModel, start: u32, assignment: &[u32], other: &[u32]) {
        let round = self.round;
        self.group.clear();
        self.stack.clear();
        self.stack.push(start);
        self.seen[start as usize] = round;
        while let Some(v) = self.stack.pop() {
            self.group.push(v);
            let visit = |w: u32, seen: &mut [u32], stack: &mut Vec<u32>| {
                if seen[w as usize] != round && assignment[w as usize] != other[w as usize] {
                    seen[w as usize] = round;
                    stack.push(w);
                }
            };
            for at in self.edge_first[v as usize]..self.edge_first[v as usize + 1] {
                let (a, b) = model.ends(self.edges[at as usize] as usize);
                visit(a as u32, &mut self.seen, &mut self.stack);
                visit(b as u32, &mut self.seen, &mut self.stack);
            }
            for at in self.pattern_first[v as usize]..self.pattern_first[v as usize + 1] {
                for m in model.members(self.patterns[at as usize] as usize) {
                    visit(m.vertex, &mut self.seen, &mut self.stack);
                }
            }
        }
    }

    /// The score of everything that touches `group`; an edge or pattern is counted at the first group vertex it has.
    fn score_around(&self, model: &PatternModel, group: &[u32], assignment: &[u32]) -> f64 {
        let soft = |x: f64| x.max(-self.penalty);
        let inside = |w: u32| self.seen[w as usize] == self.round;
        let mut score = 0.0;
        for &v in group {
            score += soft(model.unary(v as usize)[assignment[v as usize] as usize]);
            for &e in self.edges(v as usize) {
                let (a, b) = model.ends(e as usize);
                let first = if inside(a as u32) { a } else { b };
                if first == v as usize {
                    score += soft(model.edge_value(e as usize, assignment));
                }
            }
            for &p in self.patterns(v as usize) {
                let first = model.members(p as usize).iter().find(|m| inside(m.vertex));
                if first.is_some_and(|m| m.vertex == v) {
                    score += soft(model.pattern_value(p as usize, assignment));
                }
            }
        }
        score
    }
}

/// Lists for each vertex the items that touch it.
fn index<I: Iterator<Item = u32>>(
    vertices: usize,
    items: usize,
    touched: impl Fn(usize) -> I,
    first: &mut Vec<u32>,
    list: &mut Vec<u32>,
) {
    first.clear();
    first.resize(vertices + 2, 0);
    for item in 0..items {
        touched(item).for_each(|v| first[v as usize + 2] += 1);
    }
    for i in 2..first.len() {
        first[i] += first[i - 1];
    }
    list.clear();
    list.resize(first.last().copied().unwrap_or(0) as usize, 0);
    for item in 0..items {
        for v in touched(item) {
            let at = &mut first[v as usize + 1];
            list[*at as usize] = item as u32;
            *at += 1;
        }
    }
    first.pop();
}
