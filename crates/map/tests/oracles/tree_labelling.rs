use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::tree_labelling::TreeLabelling;

/// A random forest: every node but the first hangs from an earlier one or from none, under shuffled names.
fn random_forest(nodes: usize, random: &mut Random) -> Vec<(usize, usize)> {
    let mut names: Vec<_> = (0..nodes).collect();
    for last in (1..nodes).rev() {
        names.swap(last, random.below(last + 1));
    }
    let mut edges = Vec::new();
    for node in 1..nodes {
        let parent = random.below(node + 1);
        if parent < node {
            let (a, b) = (names[node], names[parent]);
            edges.push(if random.below(2) == 0 { (a, b) } else { (b, a) });
        }
    }
    edges
}

fn legal(states: &[usize], edges: &[(usize, usize)], tables: &[f64]) -> Vec<Legal> {
    joint_states(states)
        .into_iter()
        .map(|joint| {
            let (mut start, mut inner) = (0, 0.0);
            for &(a, b) in edges {
                inner += tables[start + joint[a] * states[b] + joint[b]];
                start += states[a] * states[b];
            }
            Legal { on: links_of(states, &joint), inner }
        })
        .collect()
}

#[test]
fn forests_agree_with_brute_force() {
    let mut random = Random(6);
    for round in 0..250 {
        let nodes = random.between(1, 6);
        let states: Vec<_> = (0..nodes).map(|_| random.between(1, 3)).collect();
        let edges = random_forest(nodes, &mut random);
        let size = edges.iter().map(|&(a, b)| states[a] * states[b]).sum();
        let tables = random.scores(size, STYLES[round % STYLES.len()]);
        let oracle = TreeLabelling::new(&states, &edges, &tables).unwrap();
        let legal = legal(&states, &edges, &tables);
        check(&oracle, &legal, &mut random);
        let mut workspace = Default::default();
        check_max_marginals(oracle.links(), &legal, &mut random, |scores, found| {
            oracle.max_marginals(scores, &mut workspace, found);
        });
    }
}

#[test]
fn tables_change_in_place() {
    let mut oracle = TreeLabelling::new(&[2, 3, 1], &[(1, 0), (2, 0)], &[0.0; 8]).unwrap();
    oracle.set_table(0, &[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
    oracle.set_table(1, &[1.0, 0.0]).unwrap();
    let mut best = Vec::new();
    assert_eq!(oracle.maximize(&[0.0; 6], &mut Default::default(), &mut best), 2.0);
    assert_eq!(best, [1, 2, 0]);
    assert!(matches!(oracle.set_table(2, &[]), Err(ModelError::OutOfRange { .. })));
    assert!(matches!(oracle.set_table(1, &[0.0]), Err(ModelError::Length { expected: 2, .. })));
    assert!(matches!(oracle.set_table(1, &[0.0, f64::NAN]), Err(ModelError::Score { .. })));
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let nodes = 200_000;
    let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
    let same = [1.0, 0.0, 0.0, 1.0];
    let oracle = TreeLabelling::new(&vec![2; nodes], &edges, &same.repeat(nodes - 1)).unwrap();
    let mut best = Vec::new();
    let value = oracle.maximize(&vec![0.0; 2 * nodes], &mut Default::default(), &mut best);
    assert_eq!(value, (nodes - 1) as f64);
}

#[test]
fn bad_trees_are_refused() {
    let refused = |states: &[usize], edges: &[(usize, usize)], tables: &[f64]| {
        TreeLabelling::new(states, edges, tables).expect_err("a bad tree")
    };
    assert!(matches!(refused(&[], &[], &[]), ModelError::Empty(_)));
    assert!(matches!(refused(&[1, 0], &[], &[]), ModelError::Empty(_)));
    assert!(matches!(refused(&[1, 1], &[(0, 2)], &[0.0]), ModelError::OutOfRange { index: 2, .. }));
    assert!(matches!(refused(&[1; 3], &[(0, 1), (1, 2), (2, 0)], &[0.0; 3]), ModelError::Cycle { .. }));
    assert!(matches!(refused(&[1; 2], &[(0, 1), (1, 0)], &[0.0; 2]), ModelError::Cycle { .. }));
    assert!(matches!(refused(&[1; 2], &[(1, 1)], &[0.0]), ModelError::Cycle { node: 1, .. }));
    assert!(matches!(
        refused(&[2; 2], &[(0, 1)], &[0.0; 3]),
        ModelError::Length { expected: 4, came: 3, .. }
    ));
    assert!(matches!(refused(&[1; 2], &[(0, 1)], &[f64::INFINITY]), ModelError::Score { .. }));
}
