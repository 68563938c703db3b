use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::sequence::Sequence;

/// Splits concatenated tables over `order` neighbouring positions.
fn inner(states: &[usize], order: usize, tables: &[f64], joint: &[usize]) -> f64 {
    let mut start = 0;
    let mut total = 0.0;
    for position in 0..(states.len() + 1).saturating_sub(order) {
        let (sides, joint) = (&states[position..position + order], &joint[position..position + order]);
        let cell = sides.iter().zip(joint).fold(0, |cell, (side, state)| cell * side + state);
        total += tables[start + cell];
        start += sides.iter().product::<usize>();
    }
    total
}

fn table_size(states: &[usize], order: usize) -> usize {
    states.windows(order).map(|sides| sides.iter().product::<usize>()).sum()
}

fn check_all(oracle: &Sequence, legal: &[Legal], random: &mut Random) {
    check(oracle, legal, random);
    let mut workspace = Default::default();
    check_max_marginals(oracle.links(), legal, random, |scores, found| {
        oracle.max_marginals(scores, &mut workspace, found);
    });
}

#[test]
fn chains_of_both_orders_agree_with_brute_force() {
    let mut random = Random(2);
    for round in 0..200 {
        let length = random.between(1, 5);
        let states: Vec<_> = (0..length).map(|_| random.between(1, 4)).collect();
        let style = STYLES[round % STYLES.len()];
        let pairs = random.scores(table_size(&states, 2), style);
        let triples = random.scores(table_size(&states, 3), style);
        let first: Vec<_> = joint_states(&states)
            .into_iter()
            .map(|joint| Legal { on: links_of(&states, &joint), inner: inner(&states, 2, &pairs, &joint) })
            .collect();
        let second: Vec<_> = joint_states(&states)
            .into_iter()
            .map(|joint| Legal {
                on: links_of(&states, &joint),
                inner: inner(&states, 2, &pairs, &joint) + inner(&states, 3, &triples, &joint),
            })
            .collect();
        check_all(&Sequence::first_order(&states, pairs.clone()).unwrap(), &first, &mut random);
        check_all(&Sequence::second_order(&states, pairs, triples).unwrap(), &second, &mut random);
    }
}

#[test]
fn uniform_chains_equal_chains_with_repeated_tables() {
    let mut random = Random(3);
    for length in 1..6 {
        let states = random.between(1, 9);
        let (pairs, triples) =
            (random.scores(states * states, Style::Forbidding), random.scores(states.pow(3), Style::Smooth));
        let all = vec![states; length];
        let uniform = Sequence::uniform_second_order(length, states, pairs.clone(), triples.clone()).unwrap();
        let plain =
            Sequence::second_order(&all, pairs.repeat(length - 1), triples.repeat(length.saturating_sub(2)))
                .unwrap();
        let scores = random.scores(states * length, Style::Smooth);
        let (mut a, mut b, mut workspace) = (Vec::new(), Vec::new(), Default::default());
        let value = uniform.maximize(&scores, &mut workspace, &mut a);
        assert_eq!(value, plain.maximize(&scores, &mut workspace, &mut b));
        assert_eq!(a, b);
        let first = Sequence::uniform(length, states, pairs.clone()).unwrap();
        let plain = Sequence::first_order(&all, pairs.repeat(length - 1)).unwrap();
        let value = first.maximize(&scores, &mut workspace, &mut a);
        assert_eq!(value, plain.maximize(&scores, &mut workspace, &mut b));
        assert_eq!(a, b);
    }
}

#[test]
fn scores_change_in_place() {
    let mut oracle = Sequence::second_order(&[2, 1, 2], vec![0.0; 4], vec![0.0; 4]).unwrap();
    oracle.set_pairs(2, &[0.0, 1.0]).unwrap();
    oracle.set_triples(2, &[0.0, 0.0, 5.0, 0.0]).unwrap();
    let mut best = Vec::new();
    assert_eq!(oracle.maximize(&[0.0; 5], &mut Default::default(), &mut best), 5.0);
    assert_eq!(best, [1, 0, 0]);
    assert!(matches!(oracle.set_pairs(0, &[]), Err(ModelError::OutOfRange { from: 1, to: 3, .. })));
    assert!(matches!(oracle.set_triples(3, &[]), Err(ModelError::OutOfRange { .. })));
    assert!(matches!(oracle.set_pairs(1, &[0.0]), Err(ModelError::Length { expected: 2, .. })));
    assert!(matches!(oracle.set_pairs(1, &[0.0, f64::NAN]), Err(ModelError::Score { .. })));
    let mut uniform = Sequence::uniform(1, 2, vec![0.0; 4]).unwrap();
    assert!(uniform.set_pairs(1, &[0.0; 4]).is_err());
    assert!(uniform.set_triples(2, &[0.0; 8]).is_err());
}

#[test]
fn bad_chains_are_refused() {
    assert!(matches!(Sequence::first_order(&[], vec![]), Err(ModelError::Empty(_))));
    assert!(matches!(Sequence::uniform(0, 2, vec![0.0; 4]), Err(ModelError::Empty(_))));
    assert!(matches!(Sequence::first_order(&[2, 0], vec![]), Err(ModelError::Empty(_))));
    assert!(matches!(
        Sequence::first_order(&[2, 2], vec![0.0; 3]),
        Err(ModelError::Length { expected: 4, .. })
    ));
    assert!(Sequence::first_order(&[2, 2], vec![0.0, 0.0, f64::INFINITY, 0.0]).is_err());
    assert!(Sequence::second_order(&[2, 2], vec![0.0; 4], vec![0.0]).is_err());
    assert!(matches!(Sequence::uniform(usize::MAX, 1 << 40, vec![]), Err(ModelError::TooLarge { .. })));
}
