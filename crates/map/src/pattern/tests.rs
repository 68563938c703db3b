use super::*;
use sample::{BINARY, Random, Shape, random_model};

#[test]
fn wrong_parts_are_refused_and_named() {
    let mut model = PatternModel::new();
    assert_eq!(model.add_vertex(&[]), Err(PatternError::NoStates { vertex: 0 }));
    assert!(matches!(model.add_vertex(&[0.0, f64::NAN]), Err(PatternError::Score { .. })));
    assert!(matches!(model.add_vertex(&[f64::INFINITY]), Err(PatternError::Score { .. })));
    model.add_vertex(&[0.0, 1.0]).unwrap();
    model.add_vertex(&[0.0, 1.0, f64::NEG_INFINITY]).unwrap();
    assert!(matches!(
        model.add_table(2, 3, &[0.0; 5]),
        Err(PatternError::Length { expected: 6, given: 5, .. })
    ));
    assert!(matches!(model.add_table(usize::MAX, 3, &[0.0; 5]), Err(PatternError::Length { .. })));
    assert!(matches!(model.add_sparse_table(2, 3, &[(2, 0, 1.0)]), Err(PatternError::Cell { row: 2, .. })));
    assert!(matches!(model.add_sparse_table(2, 3, &[(1, 0, f64::NAN)]), Err(PatternError::Score { .. })));
    assert!(matches!(model.add_edge(0, 1, 0), Err(PatternError::Missing { kind: "table", .. })));
    let table = model.add_table(2, 3, &[0.0; 6]).unwrap();
    assert!(matches!(model.add_edge(1, 0, table), Err(PatternError::Shape { rows: 2, states_u: 3, .. })));
    assert_eq!(model.add_edge(1, 1, table), Err(PatternError::Loop { vertex: 1 }));
    assert!(matches!(model.add_edge(0, 7, table), Err(PatternError::Vertex { vertex: 7, vertices: 2, .. })));
    assert_eq!(model.add_pattern(&[], 1.0), Err(PatternError::EmptyPattern { pattern: 0 }));
    let twice = model.add_pattern(&[(0, 1), (1, 2), (0, 0)], 1.0);
    assert_eq!(twice, Err(PatternError::Contradiction { pattern: 0, vertex: 0, first: 0, second: 1 }));
    assert!(matches!(
        model.add_pattern(&[(0, 2)], 1.0),
        Err(PatternError::State { state: 2, states: 2, .. })
    ));
    assert!(matches!(model.add_pattern(&[(0, 1)], f64::INFINITY), Err(PatternError::Score { .. })));
    assert_eq!(model.patterns(), 0);
    assert_eq!(model.add_pattern(&[(1, 2), (0, 1), (1, 2)], 2.5), Ok(0));
    assert_eq!(model.members(0).len(), 2);
    assert!(matches!(model.set_pattern(3, 1.0), Err(PatternError::Missing { kind: "pattern", .. })));
    assert!(matches!(model.set_unary(0, &[1.0]), Err(PatternError::Length { expected: 2, given: 1, .. })));
    assert!(matches!(model.set_unary(9, &[1.0]), Err(PatternError::Vertex { .. })));
    assert!(matches!(model.set_table(table, &[1.0]), Err(PatternError::Length { expected: 6, .. })));
    let message = model.add_edge(1, 0, table).unwrap_err().to_string();
    assert_eq!(message, "edge (1, 0) joins vertices with 3 and 2 states, but table 0 is 2 by 3");
}

#[test]
fn patterns_know_their_vertex_set() {
    let mut model = PatternModel::new();
    for _ in 0..4 {
        model.add_vertex(&[0.0, 0.0]).unwrap();
    }
    for (members, set) in [([0, 1, 2], 0), ([2, 1, 0], 0), ([1, 2, 3], 1), ([0, 2, 1], 0), ([0, 1, 3], 2)] {
        let pattern = model.add_pattern(&members.map(|v| (v, v % 2)), 1.0).unwrap();
        assert_eq!(model.vertex_set(pattern), set);
    }
}

#[test]
fn moving_climbing_and_fusing_keep_the_value() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let model = random_model(&mut random, Shape { states: 3, ..BINARY });
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
