//! Random models and their optima by enumeration, for tests.

use super::PatternModel;
use crate::{Solution, Status};

/// A small generator, so that failures can be repeated.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 ^ (self.0 >> 29)) >> 8
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between -1 and 1.
    pub(crate) fn weight(&mut self) -> f64 {
        self.below(20_001) as f64 / 10_000.0 - 1.0
    }
}

/// What a random model may contain.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) vertices: usize,
    pub(crate) states: usize,
    pub(crate) edges: usize,
    pub(crate) patterns: usize,
    pub(crate) order: usize,
    /// One score in this many is minus infinity; zero for none.
    pub(crate) hard: usize,
    pub(crate) dense: bool,
    pub(crate) scale: f64,
}

pub(crate) fn random_model(random: &mut Random, shape: Shape) -> PatternModel {
    let mut model = PatternModel::new();
    let vertices = 2 + random.below(shape.vertices - 1);
    let score = |random: &mut Random| {
        if shape.hard > 0 && random.below(shape.hard) == 0 {
            f64::NEG_INFINITY
        } else {
            shape.scale * random.weight()
        }
    };
    for _ in 0..vertices {
        let states = if shape.states == 2 { 2 } else { 1 + random.below(shape.states) };
        let scores: Vec<f64> = (0..states).map(|_| score(random)).collect();
        model.add_vertex(&scores).unwrap();
    }
    for _ in 0..random.below(shape.edges + 1) {
        let (u, v) = (random.below(vertices), random.below(vertices));
        if u == v {
            continue;
        }
        let (rows, columns) = (model.states(u), model.states(v));
        let table = if shape.dense && random.below(2) == 0 {
            let values: Vec<f64> = (0..rows * columns).map(|_| score(random)).collect();
            model.add_table(rows, columns, &values)
        } else {
            let cells: Vec<_> = (0..rows.min(columns)).map(|s| (s, s, score(random))).collect();
            model.add_sparse_table(rows, columns, &cells)
        };
        model.add_edge(u, v, table.unwrap()).unwrap();
    }
    for _ in 0..random.below(shape.patterns + 1) {
        let size = 1 + random.below(shape.order.min(vertices));
        let mut all: Vec<usize> = (0..vertices).collect();
        for i in 0..size {
            let j = i + random.below(vertices - i);
            all.swap(i, j);
        }
        let members: Vec<_> = all[..size].iter().map(|&v| (v, random.below(model.states(v)))).collect();
        let weight = 2.0 * score(random);
        model.add_pattern(&members, weight).unwrap();
    }
    model
}

/// The optimum by enumeration.
pub(crate) fn optimum(model: &PatternModel) -> f64 {
    let mut assignment = vec![0u32; model.vertices()];
    let mut best = f64::NEG_INFINITY;
    loop {
        best = best.max(model.value(&assignment));
        let Some(v) = (0..assignment.len()).find(|&v| (assignment[v] as usize) + 1 < model.states(v)) else {
            return best;
        };
        assignment[v] += 1;
        assignment[..v].fill(0);
    }
}

/// Binary vertices with edges and patterns of both signs.
pub(crate) const BINARY: Shape =
    Shape { vertices: 9, states: 2, edges: 14, patterns: 8, order: 6, hard: 0, dense: true, scale: 1.0 };
/// Up to four states a vertex.
pub(crate) const MANY_STATES: Shape = Shape { vertices: 6, states: 4, edges: 8, ..BINARY };

/// Fails unless value, bound and status are true.
pub(crate) fn check(model: &PatternModel, solution: &Solution, what: &str) {
    let best = optimum(model);
    let scale = if best.is_finite() { 1e-9 * (1.0 + best.abs()) } else { 0.0 };
    let certificate = &solution.certificate;
    let what = format!("{what}: {certificate:?}, optimum {best}");
    assert!(certificate.bound() >= best, "{what}");
    assert_eq!(certificate.value(), solution.assignment().map(|states| model.value(states)), "{what}");
    assert!(certificate.lower() <= best + scale, "{what}");
    match certificate.status() {
        Status::Optimal => assert!((certificate.lower() - best).abs() <= scale, "{what}"),
        Status::Infeasible => assert_eq!(best, f64::NEG_INFINITY, "{what}"),
        Status::Feasible => assert!(certificate.value().is_some(), "{what}"),
        Status::Stopped => assert_eq!(certificate.value(), None, "{what}"),
    }
}
