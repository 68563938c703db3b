//! Cuts against enumeration and a simple flow.

use consonant_map::ModelError;
use consonant_map::cut::{Cut, PseudoBoolean};
use consonant_testing::Random;

/// Between -1 and 1; on a coarse grid to get ties.
fn weight(random: &mut Random, coarse: bool) -> f64 {
    let x = random.uniform();
    if coarse { (x * 3.0).round() } else { x }
}

/// The same function kept as written, for evaluation.
#[derive(Default)]
struct Written {
    unary: Vec<f64>,
    products: Vec<(Vec<u32>, f64)>,
    lifted: Vec<(Vec<u32>, f64)>,
}

impl Written {
    fn value(&self, x: usize) -> f64 {
        let on = |i: u32| x >> i & 1 == 1;
        let mut value: f64 =
            self.unary.iter().enumerate().filter(|&(i, _)| on(i as u32)).map(|(_, a)| a).sum();
        for (members, weight) in &self.products {
            value += if members.iter().all(|&i| on(i)) { *weight } else { 0.0 };
        }
        for (members, weight) in &self.lifted {
            let ones = members.iter().filter(|&&i| on(i)).count();
            let pairs = ones * ones.saturating_sub(1) / 2;
            value += weight * (pairs as f64 - if ones == members.len() { 1.0 } else { 0.0 });
        }
        value
    }

    fn best(&self) -> f64 {
        (0..1usize << self.unary.len()).map(|x| self.value(x)).fold(f64::NEG_INFINITY, f64::max)
    }
}

fn random_function(random: &mut Random, scale: f64, coarse: bool) -> (Written, PseudoBoolean) {
    let n = 1 + random.below(9);
    let mut function = PseudoBoolean::new(n);
    let mut written = Written { unary: vec![0.0; n], ..Written::default() };
    for i in 0..n {
        written.unary[i] = scale * weight(random, coarse);
        function.add_unary(i, written.unary[i]);
    }
    for _ in 0..random.below(8) {
        let size = 1 + random.below(n.min(6));
        let chosen: Vec<u32> = random.choose(size, n).into_iter().map(|i| i as u32).collect();
        let weight = scale * weight(random, coarse).abs();
        if size >= 3 && random.below(2) == 0 {
            function.add_pairs_minus_product(&chosen, weight).unwrap();
            written.lifted.push((chosen, weight));
        } else {
            function.add_product(&chosen, weight).unwrap();
            written.products.push((chosen, weight));
        }
    }
    (written, function)
}

fn found(cut: &Cut, n: usize) -> usize {
    (0..n).filter(|&i| cut.is_one(i)).map(|i| 1 << i).sum()
}

fn assert_best(written: &Written, cut: &mut Cut, scale: f64) {
    cut.solve();
    let best = written.best();
    let tolerance = 1e-11 * scale;
    let value = written.value(found(cut, written.unary.len()));
    assert!((best - value).abs() <= tolerance, "best {best}, found {value}");
    assert!((cut.value() - best).abs() <= tolerance, "best {best}, evaluated {}", cut.value());
    let bound = cut.upper_bound();
    assert!(bound >= best - 1e-15 * scale && bound <= best + tolerance, "best {best}, bound {bound}");
}

#[test]
fn agrees_with_enumeration_and_stays_so_when_unary_terms_move() {
    for seed in 0..3000u64 {
        let mut random = Random::new(seed);
        let scale = [1.0, 1e-6, 1e9][seed as usize % 3];
        let coarse = seed % 2 == 1;
        let (mut written, function) = random_function(&mut random, scale, coarse);
        let mut cut = Cut::new(&function);
        assert_best(&written, &mut cut, scale);
        for _ in 0..8 {
            for _ in 0..1 + random.below(3) {
                let i = random.below(written.unary.len());
                written.unary[i] = 2.0 * scale * weight(&mut random, coarse);
                cut.set_unary(i, written.unary[i]);
            }
            assert_best(&written, &mut cut, scale);
        }
    }
}

#[test]
fn reductions_equal_their_products_for_every_count_of_ones() {
    // For a symmetric function only the number of ones matters: fix the members by strong unary terms and
    // read the value.
    for size in 3..=11u32 {
        let members: Vec<u32> = (0..size).collect();
        for ones in 0..=size {
            for lifted in [false, true] {
                let mut function = PseudoBoolean::new(size as usize);
                for i in 0..size {
                    function.add_unary(i as usize, if i < ones { 1000.0 } else { -1000.0 });
                }
                let all = if ones == size { 1.0 } else { 0.0 };
                let expected = if lifted {
                    function.add_pairs_minus_product(&members, 1.0).unwrap();
                    (ones * ones.saturating_sub(1) / 2) as f64 - all
                } else {
                    function.add_product(&members, 1.0).unwrap();
                    all
                };
                let mut cut = Cut::new(&function);
                cut.solve();
                assert_eq!(
                    cut.value() - 1000.0 * ones as f64,
                    expected,
                    "size {size}, ones {ones}, lifted {lifted}"
                );
            }
        }
    }
}

/// Maximum flow by shortest augmenting paths on a matrix: slow and simple.
fn edmonds_karp(capacity: &mut [Vec<f64>], source: usize, sink: usize) -> f64 {
    let n = capacity.len();
    let mut total = 0.0;
    loop {
        let mut previous = vec![usize::MAX; n];
        previous[source] = source;
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(i) = queue.pop_front() {
            for j in 0..n {
                if previous[j] == usize::MAX && capacity[i][j] > 1e-12 {
                    previous[j] = i;
                    queue.push_back(j);
                }
            }
        }
        if previous[sink] == usize::MAX {
            return total;
        }
        let path: Vec<(usize, usize)> =
            std::iter::successors(Some(sink), |&j| (j != source).then(|| previous[j]))
                .collect::<Vec<_>>()
                .windows(2)
                .map(|w| (w[1], w[0]))
                .collect();
        let amount = path.iter().map(|&(i, j)| capacity[i][j]).fold(f64::INFINITY, f64::min);
        for (i, j) in path {
            capacity[i][j] -= amount;
            capacity[j][i] += amount;
        }
        total += amount;
    }
}

#[test]
fn agrees_with_edmonds_karp_on_larger_graphs_through_many_changes() {
    for seed in 0..12u64 {
        let mut random = Random::new(seed + 77);
        let n = 40;
        let mut function = PseudoBoolean::new(n);
        let mut pairs = Vec::new();
        for _ in 0..120 {
            let (i, j) = (random.below(n), random.below(n));
            if i != j {
                let weight = weight(&mut random, false).abs();
                function.add_pair(i, j, weight).unwrap();
                pairs.push((i, j, weight));
            }
        }
        let mut unary = vec![0.0; n];
        let mut cut = Cut::new(&function);
        for _ in 0..25 {
            for _ in 0..1 + random.below(10) {
                let i = random.below(n);
                unary[i] = 4.0 * weight(&mut random, false) - 2.0;
                cut.set_unary(i, unary[i]);
            }
            let mut capacity = vec![vec![0.0; n + 2]; n + 2];
            let mut linear = unary.clone();
            for &(i, j, weight) in &pairs {
                linear[i] += weight;
                capacity[i][j] += weight;
            }
            let mut positive = 0.0;
            for i in 0..n {
                positive += linear[i].max(0.0);
                capacity[n][i] = linear[i].max(0.0);
                capacity[i][n + 1] = (-linear[i]).max(0.0);
            }
            let expected = positive - edmonds_karp(&mut capacity, n, n + 1);
            cut.solve();
            assert!((cut.value() - expected).abs() < 1e-9, "expected {expected}, got {}", cut.value());
            assert!((cut.upper_bound() - expected).abs() < 1e-9);
            let mut fresh = function.clone();
            for (i, a) in unary.iter().enumerate() {
                fresh.add_unary(i, *a);
            }
            let mut fresh = Cut::new(&fresh);
            fresh.solve();
            assert!((0..n).all(|i| fresh.is_one(i) == cut.is_one(i)), "warm and cold disagree");
        }
    }
}

#[test]
fn wrong_terms_are_named() {
    let mut function = PseudoBoolean::new(3);
    assert!(matches!(function.add_pair(0, 1, -1.0), Err(ModelError::Negative { value: -1.0, .. })));
    assert!(matches!(function.add_pair(0, 1, f64::NAN), Err(ModelError::Negative { .. })));
    assert_eq!(function.add_pair(1, 1, 1.0), Err(ModelError::Repeated { factor: "a product", variable: 1 }));
    assert!(matches!(
        function.add_product(&[0, 3], 1.0),
        Err(ModelError::OutOfRange { index: 3, to: 3, .. })
    ));
    assert!(matches!(function.add_product(&[], 1.0), Err(ModelError::Length { came: 0, expected: 1, .. })));
    let few = function.add_pairs_minus_product(&[0, 1], 1.0);
    assert!(matches!(few, Err(ModelError::Length { came: 2, expected: 3, .. })));
}

#[test]
fn the_empty_function_is_zero() {
    let mut cut = Cut::new(&PseudoBoolean::new(0));
    cut.solve();
    assert_eq!((cut.value(), cut.upper_bound()), (0.0, 0.0));
}
