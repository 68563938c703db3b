use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren};

/// All trees: every choice of one arc for each modifier in which following heads leads to the root.
fn legal(nodes: usize, arcs: &[(usize, usize)], root_children: RootChildren) -> Vec<Legal> {
    let choices: Vec<Vec<usize>> =
        (1..nodes).map(|node| (0..arcs.len()).filter(|&link| arcs[link].1 == node).collect()).collect();
    let counts: Vec<_> = choices.iter().map(Vec::len).collect();
    joint_states(&counts)
        .into_iter()
        .map(|joint| joint.iter().zip(&choices).map(|(&choice, links)| links[choice]).collect::<Vec<_>>())
        .filter(|on| {
            let head = |node: usize| if node == 0 { 0 } else { arcs[on[node - 1]].0 };
            let is_tree = (1..nodes).all(|start| (0..nodes).fold(start, |node, _| head(node)) == 0);
            let root_arcs = (1..nodes).filter(|&node| head(node) == 0).count();
            is_tree && (root_children == RootChildren::Any || root_arcs == 1)
        })
        .map(|on| Legal { on, inner: 0.0 })
        .collect()
}

#[test]
fn complete_graphs_agree_with_brute_force() {
    let mut random = Random(4);
    for nodes in 2..=5 {
        for root_children in [RootChildren::Any, RootChildren::One] {
            let oracle = Arborescence::complete(nodes, root_children).unwrap();
            let arcs: Vec<_> =
                oracle.arcs().iter().map(|&(head, modifier)| (head as usize, modifier as usize)).collect();
            let legal = legal(nodes, &arcs, root_children);
            let trees = [1, 3, 16, 125][nodes - 2];
            if root_children == RootChildren::Any {
                assert_eq!(legal.len(), trees, "Cayley's formula");
            }
            for _ in 0..40 {
                check(&oracle, &legal, &mut random);
            }
        }
    }
}

#[test]
fn pruned_and_disconnected_graphs_agree_with_brute_force() {
    let mut random = Random(5);
    let mut impossible = 0;
    for round in 0..400 {
        let nodes = random.between(2, 6);
        let percent = [15, 30, 50, 80][round % 4];
        let mut arcs: Vec<_> = (1..nodes)
            .flat_map(|modifier| (0..nodes).map(move |head| (head, modifier)))
            .filter(|(head, modifier)| head != modifier && random.below(100) < percent)
            .collect();
        // In any order.
        for last in (1..arcs.len()).rev() {
            arcs.swap(last, random.below(last + 1));
        }
        for root_children in [RootChildren::Any, RootChildren::One] {
            let oracle = Arborescence::new(nodes, &arcs, root_children).unwrap();
            let legal = legal(nodes, &arcs, root_children);
            impossible += usize::from(legal.is_empty());
            check(&oracle, &legal, &mut random);
        }
    }
    assert!(impossible > 50, "the graphs are meant to lack arborescences now and then: {impossible}");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let mut best = vec![1, 2, 3];
    let mut workspace = Default::default();
    // Nodes 1 and 2 reach each other, the root reaches neither.
    let oracle = Arborescence::new(3, &[(1, 2), (2, 1)], RootChildren::Any).unwrap();
    assert_eq!(oracle.maximize(&[1.0, 1.0], &mut workspace, &mut best), f64::NEG_INFINITY);
    assert!(best.is_empty());
    // Both need the root, which may have one child.
    let oracle = Arborescence::new(3, &[(0, 2), (0, 1)], RootChildren::One).unwrap();
    assert_eq!(oracle.maximize(&[1.0, 1.0], &mut workspace, &mut best), f64::NEG_INFINITY);
    let oracle = Arborescence::new(1 << 30, &[(0, 1)], RootChildren::Any).unwrap();
    assert_eq!(oracle.maximize(&[1.0], &mut workspace, &mut best), f64::NEG_INFINITY);
}

#[test]
fn bad_graphs_are_refused() {
    let refused = |nodes, arcs: &[(usize, usize)]| {
        Arborescence::new(nodes, arcs, RootChildren::Any).expect_err("a bad graph")
    };
    assert!(matches!(refused(0, &[]), ModelError::Empty(_)));
    assert!(matches!(refused(1, &[]), ModelError::Empty(_)));
    assert!(matches!(refused(3, &[(0, 1), (0, 3)]), ModelError::OutOfRange { index: 3, to: 3, .. }));
    assert!(refused(3, &[(0, 1), (1, 0)]).to_string().starts_with("arc 1 (1 -> 0) "));
    assert!(refused(3, &[(0, 1), (2, 2)]).to_string().starts_with("arc 1 (2 -> 2) "));
    let twice = [(0, 1), (0, 2), (1, 2), (2, 1), (1, 2)];
    assert!(refused(3, &twice).to_string().starts_with("arc 4 (1 -> 2) "));
    let mut arcs: Vec<_> = (1..20).flat_map(|node| [(0, node), (node % 19 + 1, node)]).collect();
    assert!(Arborescence::new(20, &arcs, RootChildren::Any).is_ok());
    arcs.push((0, 4));
    assert!(refused(20, &arcs).to_string().starts_with("arc 38 (0 -> 4) "));
    arcs[38] = (5, 4);
    assert!(refused(20, &arcs).to_string().starts_with("arc 38 (5 -> 4) "));
    assert!(matches!(Arborescence::complete(1 << 40, RootChildren::Any), Err(ModelError::TooLarge { .. })));
}
