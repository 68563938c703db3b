use super::checker::*;
use consonant_map::ModelError;
use consonant_map::oracle::cut::MinimumCut;

fn legal(links: usize, pairs: &[(usize, usize, f64)]) -> Vec<Legal> {
    (0..1usize << links)
        .map(|set| {
            let on: Vec<_> = (0..links).filter(|link| set >> link & 1 == 1).collect();
            let both = |pair: &&(usize, usize, f64)| on.contains(&pair.0) && on.contains(&pair.1);
            let inner = pairs.iter().filter(both).map(|pair| pair.2).sum();
            Legal { on, inner }
        })
        .collect()
}

#[test]
fn cuts_agree_with_brute_force() {
    let mut random = Random(9);
    for round in 0..300 {
        let links = random.between(1, 7);
        let scale = [1.0, 1e-6, 1e6][round % 3];
        let mut pairs = Vec::new();
        for first in 0..links {
            for second in (0..links).filter(|&second| second != first) {
                if random.below(3) == 0 {
                    let weight = if round % 2 == 0 { random.below(3) as f64 } else { 2.0 * random.unit() };
                    pairs.push((first, second, scale * weight));
                }
            }
        }
        let mut oracle = MinimumCut::new(links, &pairs).unwrap();
        check(&oracle, &legal(links, &pairs), &mut random);
        check(&oracle.clone(), &legal(links, &pairs), &mut random);
        if !pairs.is_empty() {
            let pair = random.below(pairs.len());
            pairs[pair].2 = 1.5;
            oracle.set_weight(pair, 1.5).unwrap();
            check(&oracle, &legal(links, &pairs), &mut random);
        }
    }
}

#[test]
fn bad_cuts_are_refused() {
    let refused =
        |links, pairs: &[(usize, usize, f64)]| MinimumCut::new(links, pairs).expect_err("a bad cut");
    assert!(matches!(refused(0, &[]), ModelError::Empty(_)));
    assert!(matches!(refused(2, &[(0, 2, 1.0)]), ModelError::OutOfRange { index: 2, .. }));
    assert!(refused(2, &[(0, 1, 1.0), (1, 1, 1.0)]).to_string().starts_with("pair 1 "));
    for weight in [-1.0, f64::NAN, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refused(2, &[(0, 1, weight)]).to_string().starts_with("pair 0 "));
    }
    let mut oracle = MinimumCut::new(2, &[(0, 1, 1.0)]).unwrap();
    assert!(oracle.set_weight(0, -1.0).is_err() && oracle.set_weight(1, 1.0).is_err());
    assert_eq!(oracle.pairs(), [(0, 1, 1.0)]);
}
