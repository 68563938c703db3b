//! Different ways to the same answer, where enumeration is out of reach.

use super::*;

/// The same random pairs as dense and as sparse transitions, large enough for every shortcut to be taken.
fn twins(seed: u64, masked: bool) -> (Transitions, Transitions, Vec<f32>) {
    let mut dice = Dice(Generator::new(seed));
    let labels = 20 + dice.below(40);
    let mask = TransitionMask::from_fn(
        labels,
        |label| label % 5 != 4,
        |previous, label| label % 5 != 4 || previous == label || previous + 1 == label,
        |label| label % 7 != 6,
    );
    let range = if dice.chance(0.5) { 1.0 } else { 6.0 };
    let mut dense = vec![0.0; labels * labels];
    let (mut grams, mut scores) = (Vec::new(), Vec::new());
    for (cell, score) in dense.iter_mut().enumerate() {
        if dice.chance(0.15) {
            *score = dice.score() * range;
            grams.push([(cell / labels) as u32, (cell % labels) as u32]);
            scores.push(*score);
        }
    }
    let mask = masked.then_some(&mask);
    let mut sparse = Transitions::grams(labels, 1, &grams, mask).unwrap();
    sparse.load(&scores).unwrap();
    let peak = if dice.chance(0.5) { 0.0 } else { 30.0 };
    let nodes = (0..30 * labels).map(|_| dice.score() + if dice.chance(0.03) { peak } else { 0.0 }).collect();
    (Transitions::dense(labels, &dense, mask).unwrap(), sparse, nodes)
}

#[test]
fn dense_and_sparse_agree_on_larger_label_sets() {
    let mut workspace = Workspace::new();
    for seed in 0..60 {
        let (dense, sparse, nodes) = twins(seed, seed % 2 == 1);
        let chains = [Chain::new(&nodes, &dense).unwrap(), Chain::new(&nodes, &sparse).unwrap()];
        let potentials = [Potentials::new(&dense), Potentials::new(&sparse)];
        let mut path = Vec::new();
        let best = chains.map(|chain| workspace.viterbi(&chain, &mut path).unwrap());
        assert!(close(best[0], best[1], 1e-5), "{best:?}");
        let mut lists = [Vec::new(), Vec::new()];
        for (chain, list) in chains.iter().zip(&mut lists) {
            workspace.k_best(chain, 25, list).unwrap();
        }
        for (a, b) in lists[0].iter().zip(&lists[1]) {
            assert!(close(a.score, b.score, 1e-9));
        }
        let mut results = Vec::new();
        for ((chain, potentials), transitions) in chains.iter().zip(&potentials).zip([&dense, &sparse]) {
            let mut posterior = workspace.forward_backward(chain, potentials).unwrap();
            let mut counts = vec![0.0; transitions.score_count()];
            posterior.add_transition_counts(1.0, &mut counts).unwrap();
            let pair = posterior.pair(7, 3, 5).unwrap();
            results.push((posterior.log_partition(), posterior.nodes().to_vec(), counts, pair));
        }
        assert!(close(results[0].0, results[1].0, 1e-9));
        assert!(close(results[0].3, results[1].3, 1e-9));
        for (a, b) in results[0].1.iter().zip(&results[1].1) {
            assert!(close(*a, *b, 1e-8), "{a} {b}");
        }
        for previous in 0..dense.labels() as u32 {
            for label in 0..dense.labels() as u32 {
                if let Some(index) = sparse.gram_index(&[previous, label]) {
                    let cell = dense.gram_index(&[previous, label]).unwrap();
                    assert!(close(results[0].2[cell], results[1].2[index], 1e-8));
                }
            }
        }
    }
}

#[test]
fn higher_orders_agree_with_candidates_for_all_labels() {
    // Listing every label as a candidate changes the way, not the answer.
    let mut workspace = Workspace::new();
    for seed in 0..30 {
        let mut dice = Dice(Generator::new(seed));
        let (labels, order) = (12 + dice.below(12), 2 + dice.below(2));
        let mut grams: Vec<Vec<u32>> = Vec::new();
        for size in 2..=order + 1 {
            for _ in 0..6 * labels {
                grams.push((0..size).map(|_| dice.below(labels) as u32).collect());
            }
        }
        grams.sort();
        grams.dedup();
        let mut transitions = Transitions::grams(labels, order, &grams, None).unwrap();
        let range = if dice.chance(0.5) { 0.4 } else { 2.0 };
        let scores: Vec<f32> = grams.iter().map(|_| dice.score() * range).collect();
        transitions.load(&scores).unwrap();
        let nodes: Vec<f32> = (0..25 * labels).map(|_| dice.score()).collect();
        let mut candidates = Candidates::new();
        for _ in 0..25 {
            candidates.push(&(0..labels as u32).collect::<Vec<_>>());
        }
        let plain = Chain::new(&nodes, &transitions).unwrap();
        let listed = plain.with_candidates(&candidates).unwrap();
        let mut path = Vec::new();
        let best = workspace.viterbi(&plain, &mut path).unwrap();
        assert!(close(best, workspace.viterbi(&listed, &mut path).unwrap(), 1e-12));
        let mut paths = Vec::new();
        workspace.k_best(&plain, 5, &mut paths).unwrap();
        assert!(close(best, paths[0].score, 1e-12));
        let wide = workspace.beam(&plain, usize::MAX, None, &mut path).unwrap();
        assert!(close(best, wide.score, 1e-12));
        let potentials = Potentials::new(&transitions);
        let mut answers = Vec::new();
        for chain in [plain, listed] {
            let mut counts = vec![0.0; scores.len()];
            let mut posterior = workspace.forward_backward(&chain, &potentials).unwrap();
            posterior.add_transition_counts(1.0, &mut counts).unwrap();
            answers.push((posterior.log_partition(), posterior.nodes().to_vec(), counts));
        }
        assert!(close(answers[0].0, answers[1].0, 1e-9));
        for (a, b) in answers[0].1.iter().chain(&answers[0].2).zip(answers[1].1.iter().chain(&answers[1].2)) {
            assert!(close(*a, *b, 1e-7), "{a} {b}");
        }
    }
}

#[test]
fn very_long_sentences_neither_drift_nor_overflow_the_stack() {
    let (labels, length) = (3, 50_000);
    let mut dice = Dice(Generator::new(11));
    let nodes: Vec<f32> = (0..labels * length).map(|_| 20.0 + dice.score()).collect();
    let pairs: Vec<[u32; 2]> = (0..9).map(|cell| [cell / 3, cell % 3]).collect();
    let scores: Vec<f32> = (0..9).map(|_| dice.score()).collect();
    let dense = Transitions::dense(labels, &scores, None).unwrap();
    let mut sparse = Transitions::grams(labels, 2, &pairs, None).unwrap();
    sparse.load(&scores).unwrap();
    let mut workspace = Workspace::new();
    let (mut path, mut paths) = (Vec::new(), Vec::new());
    let mut answers = Vec::new();
    for transitions in [&dense, &sparse] {
        let chain = Chain::new(&nodes, transitions).unwrap();
        let best = workspace.viterbi(&chain, &mut path).unwrap();
        workspace.k_best(&chain, 4, &mut paths).unwrap();
        assert!(close(paths[0].score, best, 1e-7));
        assert!(paths.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let potentials = Potentials::new(transitions);
        let posterior = workspace.forward_backward(&chain, &potentials).unwrap();
        assert!(posterior.log_partition() > best);
        answers.push((best, posterior.log_partition()));
    }
    assert!(close(answers[0].0, answers[1].0, 1e-7) && close(answers[0].1, answers[1].1, 1e-9));
}
