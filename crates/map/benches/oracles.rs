//! One call of each oracle, at the sizes that the solvers meet.

use std::hint::black_box;

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren};
use consonant_map::oracle::cut::MinimumCut;
use consonant_map::oracle::dense::DenseTable;
use consonant_map::oracle::sequence::Sequence;
use consonant_map::oracle::tree_budget::BudgetedTree;
use consonant_map::oracle::tree_labelling::TreeLabelling;
use criterion::{Criterion, criterion_group, criterion_main};

/// Numbers in -1..1, by a linear congruence.
fn random_scores(count: usize, seed: &mut u64) -> Vec<f64> {
    (0..count)
        .map(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// Many score vectors in turn, so that no branch is learnt by heart.
fn measure<O: Oracle>(criterion: &mut Criterion, name: &str, oracle: &O) {
    let mut seed = 1;
    let scores: Vec<_> = (0..64).map(|_| random_scores(oracle.links(), &mut seed)).collect();
    let (mut workspace, mut best) = (O::Workspace::default(), O::Configuration::default());
    let mut turn = 0;
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            turn = (turn + 1) % scores.len();
            oracle.maximize(black_box(&scores[turn]), &mut workspace, &mut best)
        });
    });
}

fn oracles(criterion: &mut Criterion) {
    let mut seed = 2;

    let pair = DenseTable::new(&[5, 5], random_scores(25, &mut seed)).unwrap();
    measure(criterion, "dense table 5x5", &pair);
    let triple = DenseTable::new(&[5, 5, 5], random_scores(125, &mut seed)).unwrap();
    measure(criterion, "dense table 5x5x5", &triple);

    let first = Sequence::uniform(40, 20, random_scores(400, &mut seed)).unwrap();
    measure(criterion, "sequence 40x20", &first);
    let pairs = random_scores(400, &mut seed);
    let second = Sequence::uniform_second_order(40, 20, pairs, random_scores(8000, &mut seed)).unwrap();
    measure(criterion, "sequence of second order 40x20", &second);

    let edges: Vec<_> = (1..40).map(|node| ((node - 1) / 2, node)).collect();
    let tree = TreeLabelling::new(&[20; 40], &edges, &random_scores(39 * 400, &mut seed)).unwrap();
    measure(criterion, "tree labelling 40x20", &tree);

    for root_children in [RootChildren::Any, RootChildren::One] {
        let complete = Arborescence::complete(41, root_children).unwrap();
        measure(
            criterion,
            &format!("arborescence, 40 words, all arcs, root children {root_children:?}"),
            &complete,
        );
        let mut arcs = Vec::new();
        for modifier in 1..41 {
            let skipped = (random_scores(1, &mut seed)[0].abs() * 3.0) as usize;
            let heads = (1..41).filter(|&head| head != modifier).skip(skipped).step_by(4).take(9);
            arcs.push((0, modifier));
            arcs.extend(heads.map(|head| (head, modifier)));
        }
        let pruned = Arborescence::new(41, &arcs, root_children).unwrap();
        measure(
            criterion,
            &format!("arborescence, 40 words, 10 heads, root children {root_children:?}"),
            &pruned,
        );
    }

    let parents: Vec<_> = (0..40usize).map(|node| node.checked_sub(1).map(|node| node / 2)).collect();
    let tree = BudgetedTree::new(&parents, &[3; 40], 50).unwrap();
    measure(criterion, "tree of 40 with budget 50", &tree);

    let grid: Vec<_> = (0..380)
        .map(|node| (node, node + 20))
        .chain((0..400).filter(|node| node % 20 < 19).map(|node| (node, node + 1)))
        .map(|(first, second)| (first, second, 0.3))
        .collect();
    measure(criterion, "minimum cut on a grid of 20x20", &MinimumCut::new(400, &grid).unwrap());
}

criterion_group!(benches, oracles);
criterion_main!(benches);
