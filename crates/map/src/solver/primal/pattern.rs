//! Assignments of pattern models, for local search.

use super::{Connected, Position};
use crate::flat::{Refill, index};
use crate::pattern::{PatternModel, TableView};
use crate::solver::master::Component;

/// A pattern at one of its vertices.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    pattern: u32,
    state: u32,
}

/// An assignment of a model, moved from one to the next at a cost that grows with how much they differ; and
/// what touches each vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Edges of vertex `v` are `edges[edge_first[v]..edge_first[v + 1]]`; the same for patterns.
    edge_first: Vec<u32>,
    edges: Vec<u32>,
    pattern_first: Vec<u32>,
    /// With the state that the pattern asks of the vertex.
    patterns: Vec<Place>,
    pub(crate) current: Vec<u32>,
    /// How many members of each pattern the assignment misses.
    missing: Vec<u32>,
    scores: Vec<f64>,
    /// What breaking a hard constraint costs here: finite, so that fewer broken ones are better.
    penalty: f64,
}

impl Labels {
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
        self.current.refill(vertices, 0);
        self.missing.clear();
        let misses = |p| model.members(p).iter().filter(|m| m.state != 0).count() as u32;
        self.missing.extend((0..model.patterns()).map(misses));
    }

    /// The assignment as one of the model that it was last reset to.
    pub(crate) fn of<'a>(&'a mut self, model: &'a PatternModel) -> Labelling<'a> {
        Labelling { model, labels: self }
    }

    /// The value of the assignment, as far as it belongs to a component.
    pub(crate) fn value(&self, model: &PatternModel, component: &Component) -> f64 {
        let state = |v: u32| self.current[v as usize] as usize;
        let unary: f64 = component.vertices.iter().map(|&v| model.unary(v as usize)[state(v)]).sum();
        let edges: f64 = component.edges.iter().map(|&e| model.edge_value(e as usize, &self.current)).sum();
        let holds = |&&p: &&u32| self.missing[p as usize] == 0;
        let patterns: f64 = component.patterns.iter().filter(holds).map(|&p| model.weight(p as usize)).sum();
        unary + edges + patterns
    }

    fn edges(&self, vertex: usize) -> &[u32] {
        &self.edges[self.edge_first[vertex] as usize..self.edge_first[vertex + 1] as usize]
    }

    fn places(&self, vertex: usize) -> &[Place] {
        &self.patterns[self.pattern_first[vertex] as usize..self.pattern_first[vertex + 1] as usize]
    }
}

/// [`Labels`] with their model.
pub(crate) struct Labelling<'a> {
    model: &'a PatternModel,
    labels: &'a mut Labels,
}

impl Position for Labelling<'_> {
    fn state(&self, vertex: usize) -> usize {
        self.labels.current[vertex] as usize
    }

    fn set(&mut self, vertex: usize, state: usize) {
        let Labels { current, missing, pattern_first, patterns, .. } = &mut *self.labels;
        let before = std::mem::replace(&mut current[vertex], state as u32);
        if before == state as u32 {
            return;
        }
        for place in &patterns[pattern_first[vertex] as usize..pattern_first[vertex + 1] as usize] {
            let missing = &mut missing[place.pattern as usize];
            *missing = (*missing + u32::from(place.state == before)) - u32::from(place.state == state as u32);
        }
    }

    fn scores(&mut self, v: usize) -> &[f64] {
        let (model, mut scores) = (self.model, std::mem::take(&mut self.labels.scores));
        let Labels { current, missing, penalty, .. } = &*self.labels;
        let soft = |x: f64| x.max(-penalty);
        scores.clear();
        scores.extend(model.unary(v).iter().map(|&x| soft(x)));
        for &e in self.labels.edges(v) {
            let (row, column) = model.ends(e as usize);
            match model.edge_table(e as usize) {
                TableView::Dense(values) => {
                    let columns = model.states(column);
                    let (start, step) = if row == v {
                        (current[column] as usize, columns)
                    } else {
                        (current[row] as usize * columns, 1)
                    };
                    for (score, x) in scores.iter_mut().zip(values[start..].iter().step_by(step)) {
                        *score += soft(*x);
                    }
                }
                TableView::Sparse(cells, values) => {
                    for (&(r, c), &x) in cells.iter().zip(values) {
                        let (own, other) =
                            if row == v { (r, current[column] == c) } else { (c, current[row] == r) };
                        if other {
                            scores[own as usize] += soft(x);
                        }
                    }
                }
            }
        }
        for place in self.labels.places(v) {
            // All other members hold.
            if missing[place.pattern as usize] == u32::from(place.state != current[v]) {
                scores[place.state as usize] += soft(model.weight(place.pattern as usize));
            }
        }
        self.labels.scores = scores;
        &self.labels.scores
    }
}

impl Connected for Labelling<'_> {
    fn around(&self, vertex: usize, mut visit: impl FnMut(usize)) {
        for &edge in self.labels.edges(vertex) {
            let (u, v) = self.model.ends(edge as usize);
            visit(if u == vertex { v } else { u });
        }
        for place in self.labels.places(vertex) {
            self.model.members(place.pattern as usize).iter().for_each(|m| visit(m.vertex as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::primal::Fusion;
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
            let mut labels = Labels::default();
            labels.reset(&model, 100.0);
            let whole = Component {
                vertices: (0..model.vertices() as u32).collect(),
                edges: (0..model.edges() as u32).collect(),
                patterns: (0..model.patterns() as u32).collect(),
            };
            let (vertices, mut fusion) = (model.vertices(), Fusion::default());
            let mut last = f64::NEG_INFINITY;
            for step in 0..12 {
                match step % 3 {
                    0 => {
                        for v in 0..model.vertices() {
                            labels.of(&model).set(v, random.below(model.states(v)));
                        }
                    }
                    1 => {
                        labels.of(&model).climb(0..vertices, 5 * vertices);
                    }
                    _ => {
                        let other: Vec<usize> =
                            (0..vertices).map(|v| random.below(model.states(v))).collect();
                        labels.of(&model).fuse(0..vertices, |v| other[v], &mut fusion);
                    }
                }
                let value = labels.value(&model, &whole);
                assert!((value - model.value(&labels.current)).abs() < 1e-9, "seed {seed}");
                assert!(step % 3 == 0 || value >= last - 1e-9, "seed {seed}: {value} after {last}");
                last = value;
            }
        }
    }
}
