//! Local improvement of assignments: iterated conditional modes, and fusion of two assignments.

use super::{PatternModel, TableView};

/// A pattern at one of its vertices.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    pattern: u32,
    state: u32,
}

/// Improves assignments of one model, moving from one to the next at a cost that grows with how much they differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Improver {
    /// Edges of vertex `v` are `edges[edge_first[v]..edge_first[v + 1]]`; the same for patterns.
    edge_first: Vec<u32>,
    edges: Vec<u32>,
    pattern_first: Vec<u32>,
    /// With the state that the pattern asks of the vertex.
    patterns: Vec<Place>,
    /// The assignment at hand.
    pub(crate) current: Vec<u32>,
    /// How many members of each pattern it misses.
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
            [u as u32, v as u32].into_iter().map(move |v| (v, edge as u32))
        };
        index(vertices, model.edges(), ends, &mut self.edge_first, &mut self.edges);
        let places = |p: usize| {
            let place = move |state| Place { pattern: p as u32, state };
            model.members(p).iter().map(move |m| (m.vertex, place(m.state)))
        };
        index(vertices, model.patterns(), places, &mut self.pattern_first, &mut self.patterns);
        self.current.clear();
        self.current.resize(vertices, 0);
        self.missing.clear();
        let misses = |p| model.members(p).iter().filter(|m| m.state != 0).count() as u32;
        self.missing.extend((0..model.patterns()).map(misses));
        self.seen.clear();
        self.seen.resize(vertices, 0);
        self.round = 0;
    }

    fn edges(&self, vertex: usize) -> &[u32] {
        &self.edges[self.edge_first[vertex] as usize..self.edge_first[vertex + 1] as usize]
    }

    fn places(&self, vertex: usize) -> &[Place] {
        &self.patterns[self.pattern_first[vertex] as usize..self.pattern_first[vertex + 1] as usize]
    }

    /// Gives a vertex of the assignment at hand another state.
    pub(crate) fn set(&mut self, vertex: usize, state: u32) {
        let before = std::mem::replace(&mut self.current[vertex], state);
        if before == state {
            return;
        }
        let places = self.pattern_first[vertex] as usize..self.pattern_first[vertex + 1] as usize;
        for place in &self.patterns[places] {
            let missing = &mut self.missing[place.pattern as usize];
            *missing = (*missing + u32::from(place.state == before)) - u32::from(place.state == state);
        }
    }

    /// The value of the assignment at hand, as far as it belongs to a component.
    pub(crate) fn value(
        &self,
        model: &PatternModel,
        vertices: &[u32],
        edges: &[u32],
        patterns: &[u32],
    ) -> f64 {
        let state = |v: u32| self.current[v as usize] as usize;
        let unary: f64 = vertices.iter().map(|&v| model.unary(v as usize)[state(v)]).sum();
        let edges: f64 = edges.iter().map(|&e| model.edge_value(e as usize, &self.current)).sum();
        let holds = |&&p: &&u32| self.missing[p as usize] == 0;
        let patterns: f64 = patterns.iter().filter(holds).map(|&p| model.weight(p as usize)).sum();
        unary + edges + patterns
    }

    /// Gives each of `vertices` in turn its best state, the others fixed, until nothing changes or `sweeps` are done.
    /// Returns whether anything changed.
    pub(crate) fn climb(&mut self, model: &PatternModel, vertices: &[u32], sweeps: usize) -> bool {
        let mut ever = false;
        for _ in 0..sweeps {
            let mut changed = false;
            for &v in vertices {
                changed |= self.settle(model, v as usize);
            }
            ever |= changed;
            if !changed {
                break;
            }
        }
        ever
    }

    fn settle(&mut self, model: &PatternModel, v: usize) -> bool {
        let assignment = &self.current;
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
        for place in self.places(v) {
            // All other members hold.
            if self.missing[place.pattern as usize] == u32::from(place.state != now) {
                scores[place.state as usize] += soft(model.weight(place.pattern as usize));
            }
        }
        let mut best = now;
        for (state, &score) in scores.iter().enumerate() {
            if score > scores[best as usize] {
                best = state as u32;
            }
        }
        self.scores = scores;
        self.set(v, best);
        best != now
    }

    /// Takes over from `other` every connected group of differing vertices that scores better there, the rest fixed.
    /// Returns whether anything was taken over.
    pub(crate) fn fuse(&mut self, model: &PatternModel, vertices: &[u32], other: &mut [u32]) -> bool {
        let before_this_call = self.round;
        let mut taken = false;
        for &start in vertices {
            if self.current[start as usize] == other[start as usize]
                || self.seen[start as usize] > before_this_call
            {
                continue;
            }
            self.round += 1;
            self.collect_group(model, start, other);
            let group = std::mem::take(&mut self.group);
            let before = self.score_around(model, &group);
            self.swap(&group, other);
            if self.score_around(model, &group) > before {
                taken = true;
            } else {
                self.swap(&group, other);
            }
            self.group = group;
        }
        taken
    }

    fn swap(&mut self, group: &[u32], other: &mut [u32]) {
        for &v in group {
            let own = self.current[v as usize];
            self.set(v as usize, other[v as usize]);
            other[v as usize] = own;
        }
    }

    /// Fills `group` with the differing vertices that are connected with `start` through differing vertices.
    fn collect_group(&mut self, model: &PatternModel, start: u32, other: &[u32]) {
        let (round, assignment) = (self.round, &self.current);
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
                for m in model.members(self.patterns[at as usize].pattern as usize) {
                    visit(m.vertex, &mut self.seen, &mut self.stack);
                }
            }
        }
    }

    /// The score of everything that touches `group`; an edge or pattern is counted at the first group vertex it has.
    fn score_around(&self, model: &PatternModel, group: &[u32]) -> f64 {
        let assignment = &self.current;
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
            for place in self.places(v as usize) {
                let p = place.pattern as usize;
                if self.missing[p] == 0
                    && model.members(p).iter().find(|m| inside(m.vertex)).is_some_and(|m| m.vertex == v)
                {
                    score += soft(model.weight(p));
                }
            }
        }
        score
    }
}

/// Lists for each vertex what touches it: `touched(item)` gives vertices, each with what to list there.
fn index<T: Copy + Default, I: Iterator<Item = (u32, T)>>(
    vertices: usize,
    items: usize,
    touched: impl Fn(usize) -> I,
    first: &mut Vec<u32>,
    list: &mut Vec<T>,
) {
    first.clear();
    first.resize(vertices + 2, 0);
    for item in 0..items {
        touched(item).for_each(|(v, _)| first[v as usize + 2] += 1);
    }
    for i in 2..first.len() {
        first[i] += first[i - 1];
    }
    list.clear();
    list.resize(first.last().copied().unwrap_or(0) as usize, T::default());
    for item in 0..items {
        for (v, listed) in touched(item) {
            let at = &mut first[v as usize + 1];
            list[*at as usize] = listed;
            *at += 1;
        }
    }
    first.pop();
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_testing::Random;

    #[test]
    fn moving_climbing_and_fusing_keep_the_value() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut model = PatternModel::new();
            for v in 0..8 {
                let scores: Vec<f64> = (0..3).map(|_| random.uniform()).collect();
                model.add_vertex(&scores).unwrap();
                let scores: Vec<f64> = (0..9).map(|_| random.uniform()).collect();
                let table = match random.chance(0.5) {
                    true => model.add_table(3, 3, &scores).unwrap(),
                    false => model.add_sparse_table(3, 3, &[(0, 2, scores[0]), (1, 1, scores[1])]).unwrap(),
                };
                for u in (0..v).rev().step_by(1 + random.below(3)) {
                    model.add_edge(u, v, table).unwrap();
                }
            }
            for _ in 0..random.below(8) {
                let members: Vec<_> = random.choose(4, 8).into_iter().map(|v| (v, (v + 1) % 3)).collect();
                model.add_pattern(&members, 2.0 * random.uniform()).unwrap();
            }
            let mut improver = Improver::default();
            improver.reset(&model, 100.0);
            let vertices: Vec<u32> = (0..model.vertices() as u32).collect();
            let edges: Vec<u32> = (0..model.edges() as u32).collect();
            let patterns: Vec<u32> = (0..model.patterns() as u32).collect();
            let mut last = f64::NEG_INFINITY;
            for step in 0..12 {
                match step % 3 {
                    0 => {
                        for v in 0..model.vertices() {
                            improver.set(v, random.below(model.states(v)) as u32);
                        }
                    }
                    1 => {
                        improver.climb(&model, &vertices, 5);
                    }
                    _ => {
                        let mut other: Vec<u32> =
                            (0..model.vertices()).map(|v| random.below(model.states(v)) as u32).collect();
                        improver.fuse(&model, &vertices, &mut other);
                    }
                }
                let value = improver.value(&model, &vertices, &edges, &patterns);
                assert!((value - model.value(&improver.current)).abs() < 1e-9, "seed {seed}");
                assert!(step % 3 == 0 || value >= last - 1e-9, "seed {seed}: {value} after {last}");
                last = value;
            }
        }
    }
}
