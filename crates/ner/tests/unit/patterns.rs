use super::*;
use crate::occurrences::OrdinaryWords;
use crate::sample::{Random, every_labelling, sample};
use crate::scores::SentenceScores;
use consonant_text::Sentence;

const METHODS: [Method; 5] =
    [Method::TwoSlave, Method::SpanningTrees, Method::Ad3, Method::Exact, Method::TreeCut];

#[test]
fn every_decoder_agrees_with_enumeration() {
    let mut random = Random(11);
    let mut certified = [0; METHODS.len()];
    let rounds = 120;
    for round in 0..rounds {
        let sample = sample(&mut random, round % 3 == 0);
        let layout = Layout::new(&sample.labels, round % 4 == 3, 64);
        let members: Vec<&Sentence> = sample.sentences.iter().collect();
        let links = GroupLinks::read(&members, &OrdinaryWords::default(), &layout);
        let mut weights = random.weights(layout.parameters());
        if round % 2 == 0 {
            // What training finds: agreement is good.
            weights.iter_mut().for_each(|weight| *weight = weight.abs());
        }
        let scores: Vec<&SentenceScores> = sample.scores.iter().collect();
        let problem = GroupProblem {
            layout: &layout,
            links: &links,
            scores: &scores,
            transitions: &sample.transitions,
            weights: &weights,
            candidates: None,
        };
        let mut best = f64::NEG_INFINITY;
        every_labelling(&sample, |paths| best = best.max(problem.value(paths)));
        for (number, method) in METHODS.into_iter().enumerate() {
            let (paths, certificate) = PatternDecoder::new(method, None).decode(&problem).unwrap();
            let context = format!("round {round}, {method:?}: {paths:?}, {certificate:?}, optimum {best}");
            let value = certificate.value().unwrap();
            assert!((problem.value(&paths) - value).abs() < 1e-6, "{context}");
            assert!(value <= best + 1e-6 && certificate.bound() >= best - 1e-4, "{context}");
            if certificate.is_optimal() {
                assert!(value > best - 1e-4, "{context}");
                certified[number] += 1;
            }
        }
    }
    assert_eq!(certified[3], rounds, "exact search always proves its answer");
    assert!(certified[0] >= certified[1], "{certified:?}: two slaves relax no less tightly than trees");
    assert!(certified[0] * 10 >= rounds * 9, "{certified:?}");
}

/// Chains of all degrees of certainty: the best assignment stays, and sure chains leave nothing to decide.
#[test]
fn what_is_out_of_reach_is_in_no_best_assignment() {
    let mut random = Random(17);
    let (mut left, mut settled) = (0, 0);
    for round in 0..200 {
        let sample = sample(&mut random, round % 2 == 0);
        let layout = Layout::new(&sample.labels, round % 4 == 3, 64);
        let members: Vec<&Sentence> = sample.sentences.iter().collect();
        let links = GroupLinks::read(&members, &OrdinaryWords::default(), &layout);
        let mut weights = random.weights(layout.parameters());
        let size = [0.01, 0.1, 0.3, 1.0, 3.0][round % 5];
        weights.iter_mut().for_each(|weight| *weight *= size);
        let scores: Vec<&SentenceScores> = sample.scores.iter().collect();
        let candidates = reachable(&layout, &links, &weights, &scores, &sample.transitions);
        let mut problem = GroupProblem {
            layout: &layout,
            links: &links,
            scores: &scores,
            transitions: &sample.transitions,
            weights: &weights,
            candidates: None,
        };
        let mut best = f64::NEG_INFINITY;
        every_labelling(&sample, |paths| best = best.max(problem.value(paths)));
        problem.candidates = Some(&candidates);
        let (_, certificate) = PatternDecoder::new(Method::Exact, None).decode(&problem).unwrap();
        assert!(
            (certificate.value().unwrap() - best).abs() < 1e-4,
            "round {round}: {certificate:?}, optimum {best}"
        );
        assert!(certificate.bound() >= best - 1e-4, "round {round}: {certificate:?}, optimum {best}");
        left += candidates.iter().filter(|labels| labels.len() > 1).count();
        settled += candidates.iter().filter(|labels| labels.len() == 1).count();
    }
    assert!(left > 100 && settled > 100, "{left} {settled}");
}

#[test]
fn settled_tokens_change_nothing_but_the_size() {
    let mut random = Random(5);
    for round in 0..60 {
        let sample = sample(&mut random, round % 2 == 0);
        let layout = Layout::new(&sample.labels, round % 4 == 3, 64);
        let members: Vec<&Sentence> = sample.sentences.iter().collect();
        let links = GroupLinks::read(&members, &OrdinaryWords::default(), &layout);
        let weights = random.weights(layout.parameters());
        let scores: Vec<&SentenceScores> = sample.scores.iter().collect();
        let mut candidates = Vec::new();
        sample.scores.iter().for_each(|scores| scores.candidates(&sample.transitions, 1.0, &mut candidates));
        let problem = GroupProblem {
            layout: &layout,
            links: &links,
            scores: &scores,
            transitions: &sample.transitions,
            weights: &weights,
            candidates: Some(&candidates),
        };
        let mut best = f64::NEG_INFINITY;
        every_labelling(&sample, |paths| {
            let allowed =
                paths.iter().flatten().zip(&candidates).all(|(label, labels)| labels.contains(label));
            // Sentences without links keep their own labels.
            let own = paths
                .iter()
                .enumerate()
                .all(|(at, path)| links.linked[at] || *path == sample.scores[at].path);
            if allowed && own {
                best = best.max(problem.value(paths));
            }
        });
        let (_, certificate) = PatternDecoder::new(Method::Exact, None).decode(&problem).unwrap();
        let value = certificate.value().unwrap();
        assert!((value - best).abs() < 1e-4, "round {round}: {certificate:?}, optimum {best}");
    }
}

#[test]
fn a_phrase_that_is_clear_once_is_clear_everywhere() {
    let sample = sample(&mut Random(1), false);
    let layout = Layout::new(&sample.labels, false, 64);
    let text = crate::sample::sentences(&["Mary Kay said".to_owned(), "by Mary Kay".to_owned()]);
    let links = GroupLinks::read(&text.iter().collect::<Vec<_>>(), &OrdinaryWords::default(), &layout);
    assert_eq!(links.phrases, [(0, 4, 2)]);
    let mut earned = vec![0; layout.parameters()];
    // O B-A I-A B-B are 0 1 2 3.
    links.features(&layout, &[1, 2, 0, 0, 1, 2], |weight| earned[weight] += 1);
    assert_eq!(earned.iter().sum::<i32>(), 3, "two equal labels and one phrase");
    assert_eq!(earned[layout.phrase(0)], 1);
    earned.fill(0);
    links.features(&layout, &[1, 2, 0, 0, 2, 1], |weight| earned[weight] += 1);
    assert_eq!(earned.iter().sum::<i32>(), 2, "two equal types");
    // As the paper has it: any equal labels, O too.
    let equal = Layout::new(&sample.labels, true, 64);
    let mut earned = [0; 2];
    links.features(&equal, &[0, 3, 0, 0, 0, 3], |weight| earned[weight] += 1);
    assert_eq!(earned, [2, 1]);
    links.features(&equal, &[0, 3, 0, 0, 0, 2], |weight| earned[weight] += 1);
    assert_eq!(earned, [3, 1]);
}

#[test]
fn equal_labels_tie_every_two_occurrences() {
    let layout = Layout::new(&crate::sample::labels(), true, 64);
    let text = crate::sample::sentences(&["Xu Yi"; 5]);
    let links = GroupLinks::read(&text.iter().collect::<Vec<_>>(), &OrdinaryWords::default(), &layout);
    assert_eq!(links.skips.len(), 20);
}

#[test]
fn a_word_that_recurs_without_end_stays_linear() {
    let layout = Layout::new(&crate::sample::labels(), false, 64);
    let text = crate::sample::sentences(&[vec!["Xu"; 5000].join(" ")]);
    let links = GroupLinks::read(&[&text[0]], &OrdinaryWords::default(), &layout);
    assert!(links.skips.len() < 10_000 && links.phrases.len() < 5_000);
}
