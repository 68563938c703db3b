//! Random pattern models, and their optima by enumeration.

use consonant_map::pattern::PatternModel;
use consonant_map::{Solution, Status};

use crate::{Random, best_of_all};

/// What a random model may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Vertices at most.
    pub vertices: usize,
    /// States of a vertex at most; two are always two.
    pub states: usize,
    /// Edges at most.
    pub edges: usize,
    /// Patterns at most.
    pub patterns: usize,
    /// Members of a pattern at most.
    pub order: usize,
    /// One score in this many is minus infinity; zero for none.
    pub hard: usize,
    /// Whether tables may be dense.
    pub dense: bool,
    /// What scores are multiplied by.
    pub scale: f64,
}

/// A random model.
pub fn random_model(random: &mut Random, shape: Shape) -> PatternModel {
    let mut model = PatternModel::new();
    let vertices = 2 + random.below(shape.vertices - 1);
    let score = |random: &mut Random| {
        if shape.hard > 0 && random.below(shape.hard) == 0 {
            f64::NEG_INFINITY
        } else {
            shape.scale * random.uniform()
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
        let chosen = random.choose(size, vertices);
        let members: Vec<_> = chosen.into_iter().map(|v| (v, random.below(model.states(v)))).collect();
        let weight = 2.0 * score(random);
        model.add_pattern(&members, weight).unwrap();
    }
    model
}

/// The optimum by enumeration.
pub fn optimum(model: &PatternModel) -> f64 {
    let sizes: Vec<usize> = (0..model.vertices()).map(|v| model.states(v)).collect();
    best_of_all(&sizes, |states| model.value(states))
}

/// Binary vertices with edges and patterns of both signs.
pub const BINARY: Shape =
    Shape { vertices: 9, states: 2, edges: 14, patterns: 8, order: 6, hard: 0, dense: true, scale: 1.0 };
/// Up to four states a vertex.
pub const MANY_STATES: Shape = Shape { vertices: 6, states: 4, edges: 8, ..BINARY };

/// Fails unless value, bound and status are true.
pub fn check(model: &PatternModel, solution: &Solution, what: &str) {
    let best = optimum(model);
    let scale = if best.is_finite() { 1e-9 * (1.0 + best.abs()) } else { 0.0 };
    let certificate = &solution.certificate;
    let what = format!("{what}: {certificate:?}, optimum {best}");
    assert!(certificate.bound() >= best, "{what}");
    assert_eq!(certificate.value(), solution.assignment().map(|states| model.value(states)), "{what}");
    let value = certificate.value().unwrap_or(f64::NEG_INFINITY);
    assert!(value <= best + scale, "{what}");
    match certificate.status() {
        Status::Optimal => assert!((value - best).abs() <= scale, "{what}"),
        Status::Infeasible => assert_eq!(best, f64::NEG_INFINITY, "{what}"),
        Status::Feasible => assert!(certificate.value().is_some(), "{what}"),
        Status::Stopped => assert_eq!(certificate.value(), None, "{what}"),
    }
}
