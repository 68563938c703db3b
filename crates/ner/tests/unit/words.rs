use super::*;
use crate::occurrences::OrdinaryWords;
use crate::sample::{Random, every_labelling, sample};

#[test]
fn both_decoders_agree_with_enumeration() {
    let mut random = Random(17);
    let mut certified = [0; 2];
    let rounds = 100;
    for round in 0..rounds {
        let sample = sample(&mut random, round % 2 == 1);
        let size = sample.labels.len();
        let occurrences = Occurrences::read(sample.sentences.iter(), &OrdinaryWords::default());
        let linked: usize = (0..occurrences.len()).map(|number| occurrences.chain(number).len()).sum();
        let mut word_transitions = random.weights(size * size);
        // What training finds: a word keeps its label.
        (0..size).for_each(|label| word_transitions[label * size + label] += 2.0);
        let word_nodes = random.weights(linked * size);
        let scores: Vec<&SentenceScores> = sample.scores.iter().collect();
        // Every other time each step has scores of its own.
        let table = |random: &mut Random| -> Arc<[f32]> {
            let own = random.weights(size * size);
            word_transitions.iter().zip(own).map(|(common, own)| common + own).collect()
        };
        let tables = if round % 4 < 2 { 0 } else { linked };
        let word_tables: Vec<Arc<[f32]>> = (0..tables).map(|_| table(&mut random)).collect();
        let problem = WordProblem {
            labels: size,
            scores: &scores,
            transitions: &sample.transitions,
            mask: &sample.labels.mask(),
            occurrences: &occurrences,
            word_nodes: &word_nodes,
            word_transitions: &word_transitions,
            word_tables: &word_tables,
            step: 0.5,
        };
        let mut best = f64::NEG_INFINITY;
        every_labelling(&sample, |paths| best = best.max(problem.value(paths)));
        for (number, solve) in [subgradient, ad3].into_iter().enumerate() {
            let (paths, certificate) = solve(&problem).unwrap();
            let context = format!("round {round}, {number}: {paths:?}, {certificate:?}, optimum {best}");
            let value = certificate.value().unwrap();
            assert!((problem.value(&paths) - value).abs() < 1e-3, "{context}");
            assert!(value <= best + 1e-3 && certificate.bound() >= best - 1e-3, "{context}");
            if certificate.is_optimal() {
                assert!(value > best - 1e-3, "{context}");
                certified[number] += 1;
            }
        }
    }
    assert!(certified[0] > rounds / 2 && certified[1] > rounds / 2, "{certified:?}");
}
