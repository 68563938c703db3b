use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::tree_budget::BudgetedTree;

fn random_parents(nodes: usize, random: &mut Random) -> Vec<Option<usize>> {
    let mut names: Vec<_> = (0..nodes).collect();
    for last in (1..nodes).rev() {
        names.swap(last, random.below(last + 1));
    }
    let mut parents = vec![None; nodes];
    for node in 1..nodes {
        let parent = random.below(node + 1);
        parents[names[node]] = (parent < node).then(|| names[parent]);
    }
    parents
}

fn legal(parents: &[Option<usize>], lengths: &[i64], budget: i64) -> Vec<Legal> {
    (0..1usize << parents.len())
        .map(|set| (0..parents.len()).filter(|node| set >> node & 1 == 1).collect::<Vec<_>>())
        .filter(|on| on.iter().all(|&node| parents[node].is_none_or(|parent| on.contains(&parent))))
        .filter(|on| on.iter().map(|&node| lengths[node]).sum::<i64>() <= budget)
        .map(|on| Legal { on, inner: 0.0 })
        .collect()
}

#[test]
fn selections_agree_with_brute_force() {
    let mut random = Random(7);
    for _ in 0..400 {
        let nodes = random.between(1, 8);
        let parents = random_parents(nodes, &mut random);
        let lengths: Vec<_> = (0..nodes).map(|_| random.below(5) as i64).collect();
        let budget = random.below(12) as i64;
        let mut oracle = BudgetedTree::new(&parents, &lengths, budget).unwrap();
        check(&oracle, &legal(&parents, &lengths, budget), &mut random);
        let budget = random.below(20) as i64;
        oracle.set_budget(budget).unwrap();
        check(&oracle, &legal(&parents, &lengths, budget), &mut random);
        let oracle = BudgetedTree::unlimited(&parents).unwrap();
        check(&oracle, &legal(&parents, &vec![0; nodes], 0), &mut random);
    }
}

#[test]
fn lengths_may_be_absurd() {
    let parents = [None, Some(0), Some(1), None];
    let lengths = [i64::MAX, i64::MAX, i64::MAX, 5];
    let oracle = BudgetedTree::new(&parents, &lengths, 7).unwrap();
    check(&oracle, &[Legal { on: vec![], inner: 0.0 }, Legal { on: vec![3], inner: 0.0 }], &mut Random(8));
    let chain: Vec<_> = (0..100_000usize).map(|node| node.checked_sub(1)).collect();
    let oracle = BudgetedTree::new(&chain, &vec![1; chain.len()], 3).unwrap();
    let mut best = Default::default();
    assert_eq!(oracle.maximize(&vec![1.0; chain.len()], &mut Default::default(), &mut best), 3.0);
    assert_eq!(best.iter().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn bad_trees_are_refused() {
    let refused = |parents: &[Option<usize>], lengths: &[i64], budget| {
        BudgetedTree::new(parents, lengths, budget).expect_err("a bad tree")
    };
    assert!(matches!(refused(&[], &[], 0), ModelError::Empty(_)));
    assert!(matches!(refused(&[None], &[1, 2], 0), ModelError::Length { expected: 1, came: 2, .. }));
    assert!(matches!(refused(&[None], &[-1], 0), ModelError::Negative { value: -1.0, .. }));
    assert!(matches!(refused(&[None], &[1], -3), ModelError::Negative { value: -3.0, .. }));
    assert!(matches!(refused(&[None, Some(2)], &[1, 1], 1), ModelError::OutOfRange { index: 2, .. }));
    assert!(matches!(refused(&[Some(0)], &[1], 1), ModelError::Cycle { node: 0, .. }));
    let cycle = [None, Some(2), Some(3), Some(2), Some(1)];
    assert!(matches!(refused(&cycle, &[1; 5], 1), ModelError::Cycle { node: 2 | 3, .. }));
    let lengths = [1 << 40; 2];
    assert!(matches!(refused(&[None, None], &lengths, 1 << 40), ModelError::TooLarge { .. }));
    let mut oracle = BudgetedTree::new(&[None, None], &lengths, 5).unwrap();
    assert!(oracle.set_budget(-1).is_err() && oracle.set_budget(1 << 40).is_err());
    assert!(oracle.set_budget(1 << 41).is_ok());
}
