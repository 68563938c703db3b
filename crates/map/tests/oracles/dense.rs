use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::dense::DenseTable;

fn legal(states: &[usize], table: &[f64]) -> Vec<Legal> {
    let joint = joint_states(states).into_iter().zip(table);
    joint.map(|(joint, &inner)| Legal { on: links_of(states, &joint), inner }).collect()
}

#[test]
fn tables_of_every_shape_agree_with_brute_force() {
    let mut random = Random(1);
    for round in 0..300 {
        let variables = random.between(1, 4);
        let most = [0, 12, 11, 5, 3][variables];
        let states: Vec<_> = (0..variables).map(|_| random.between(1, most)).collect();
        let style = STYLES[round % STYLES.len()];
        let table = random.scores(states.iter().product(), style);
        let oracle = DenseTable::new(&states, table.clone()).unwrap();
        let legal = legal(&states, &table);
        check(&oracle, &legal, &mut random);
        let mut workspace = Default::default();
        check_max_marginals(oracle.links(), &legal, &mut random, |scores, found| {
            oracle.max_marginals(scores, &mut workspace, found);
        });
    }
}

#[test]
fn scores_change_in_place() {
    let mut oracle = DenseTable::new(&[2, 2], vec![0.0; 4]).unwrap();
    oracle.set_entry(2, 3.0).unwrap();
    let (mut best, mut workspace) = (0, Default::default());
    assert_eq!(oracle.maximize(&[0.0; 4], &mut workspace, &mut best), 3.0);
    assert_eq!((best, oracle.states_of(best).collect::<Vec<_>>()), (2, vec![1, 0]));
    oracle.set_table(&[0.0, 7.0, 0.0, f64::NEG_INFINITY]).unwrap();
    assert_eq!(oracle.maximize(&[0.0; 4], &mut workspace, &mut best), 7.0);
    assert_eq!(best, 1);
    assert!(oracle.set_entry(4, 0.0).is_err());
    assert!(oracle.set_entry(0, f64::NAN).is_err());
    assert!(oracle.set_table(&[0.0, f64::INFINITY, 0.0, 0.0]).is_err());
    assert_eq!(oracle.table(), [0.0, 7.0, 0.0, f64::NEG_INFINITY]);
}

#[test]
fn bad_tables_are_refused() {
    assert!(matches!(DenseTable::new(&[], vec![]), Err(ModelError::Empty(_))));
    assert!(matches!(DenseTable::new(&[2, 0], vec![]), Err(ModelError::Empty(_))));
    assert!(matches!(
        DenseTable::new(&[2, 3], vec![0.0; 5]),
        Err(ModelError::Length { expected: 6, came: 5, .. })
    ));
    assert!(matches!(DenseTable::new(&[2], vec![0.0, f64::NAN]), Err(ModelError::Score { .. })));
    assert!(matches!(DenseTable::new(&[1 << 31, 4], vec![]), Err(ModelError::TooLarge { .. })));
}
