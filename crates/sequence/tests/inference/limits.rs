//! Sentences at the edge of what is legal, and beyond.

use super::*;

/// Every kind of transitions over one label set.
fn kinds(labels: usize) -> Vec<Transitions> {
    let dense = vec![0.25; labels * labels];
    let pair = [[0u32, labels as u32 - 1]];
    vec![
        Transitions::none(labels).unwrap(),
        Transitions::dense(labels, &dense, None).unwrap(),
        Transitions::grams(labels, 1, &pair, None).unwrap(),
        Transitions::grams(labels, 3, &pair, None).unwrap(),
    ]
}

#[test]
fn empty_single_and_one_label_sentences_work() {
    let mut workspace = Workspace::new();
    let (mut path, mut paths) = (vec![9], Vec::new());
    for labels in [1, 4] {
        for transitions in kinds(labels) {
            let potentials = Potentials::new(&transitions);
            for length in [0, 1, 2] {
                let nodes = vec![0.5; length * labels];
                let chain = Chain::new(&nodes, &transitions).unwrap();
                let score = workspace.viterbi(&chain, &mut path).unwrap();
                assert_eq!(path.len(), length);
                assert!(close(chain.score(&path).unwrap(), score, 1e-12));
                workspace.k_best(&chain, 3, &mut paths).unwrap();
                assert_eq!(paths.len(), labels.pow(length as u32).min(3));
                let outcome = workspace.beam(&chain, 2, None, &mut path).unwrap();
                assert_eq!((path.len(), outcome.fell_off), (length, None));
                workspace
                    .minimum_risk(&chain, &potentials, &transitions.constraints_only(), &mut path)
                    .unwrap();
                assert_eq!(path.len(), length);
                let mut posterior = workspace.forward_backward(&chain, &potentials).unwrap();
                assert_eq!(posterior.nodes().len(), length * labels);
                assert!(posterior.log_partition().is_finite());
                let mut counts = vec![0.0; transitions.score_count()];
                posterior.add_transition_counts(1.0, &mut counts).unwrap();
                posterior.sample(&mut Generator::new(3), &mut path);
                assert_eq!(path.len(), length);
            }
        }
    }
}

#[test]
fn bad_input_is_refused_with_the_place() {
    let transitions = Transitions::dense(2, &[0.0; 4], None).unwrap();
    assert!(matches!(Transitions::none(0), Err(InferenceError::LabelCount { found: 0 })));
    assert!(matches!(
        Transitions::dense(2, &[0.0; 3], None),
        Err(InferenceError::Shape { expected: 4, found: 3, .. })
    ));
    assert!(matches!(
        Transitions::dense(2, &[0.0, 0.0, f32::NAN, 0.0], None),
        Err(InferenceError::NotANumber { index: 2, .. })
    ));
    assert!(Transitions::dense(2, &[0.0; 4], Some(&TransitionMask::all_allowed(3))).is_err());
    assert!(matches!(Transitions::grams(2, 0, &[[0u32, 1]], None), Err(InferenceError::Zero { .. })));
    assert!(matches!(
        Chain::new(&[0.0; 3], &transitions),
        Err(InferenceError::Shape { expected: 4, found: 3, .. })
    ));
    let mut workspace = Workspace::new();
    let mut path = Vec::new();
    for bad in [f32::NAN, f32::INFINITY] {
        let nodes = [0.0, 0.0, 0.0, bad];
        let chain = Chain::new(&nodes, &transitions).unwrap();
        let answer = workspace.viterbi(&chain, &mut path);
        assert!(matches!(answer, Err(InferenceError::NotANumber { index: 3, .. })));
        let potentials = Potentials::new(&transitions);
        assert!(workspace.forward_backward(&chain, &potentials).is_err());
        assert!(chain.with_edges(&[bad; 4]).is_err());
        // A score that no candidate reads may be anything.
        let mut candidates = Candidates::new();
        candidates.push_all();
        candidates.push(&[0]);
        let restricted = chain.with_candidates(&candidates).unwrap();
        workspace.viterbi(&restricted, &mut path).unwrap();
        assert_eq!(path[1], 0);
        assert!(workspace.forward_backward(&restricted, &potentials).unwrap().node(1)[0] == 1.0);
    }
    let nodes = [0.0; 4];
    let chain = Chain::new(&nodes, &transitions).unwrap();
    assert!(workspace.beam(&chain, 0, None, &mut path).is_err());
    assert!(workspace.k_best(&chain, 0, &mut Vec::new()).is_err());
    assert!(workspace.beam(&chain, 1, Some(&[0]), &mut path).is_err());
    assert!(chain.with_candidates(&Candidates::new()).is_err());
    assert!(chain.score(&[0, 2]).is_err() && chain.score(&[0]).is_err());
    let other = Transitions::grams(2, 1, &[[0u32, 1]], None).unwrap();
    assert!(workspace.forward_backward(&chain, &Potentials::new(&other)).is_err());
    assert!(Chain::new(&nodes, &other).unwrap().with_edges(&nodes).is_err());
    let potentials = Potentials::new(&transitions);
    let mut posterior = workspace.forward_backward(&chain, &potentials).unwrap();
    assert!(
        posterior.pair(0, 0, 0).is_err()
            && posterior.pair(2, 0, 0).is_err()
            && posterior.pair(1, 0, 2).is_err()
    );
    let span = |start, labels| Span { start, labels, not_before: &[], not_after: &[] };
    assert!(posterior.span(&span(1, &[0, 0])).is_err() && posterior.span(&span(0, &[])).is_err());
    assert!(posterior.span(&span(usize::MAX, &[0])).is_err());
    assert!(posterior.add_transition_counts(1.0, &mut [0.0; 3]).is_err());
}

#[test]
fn what_is_forbidden_everywhere_has_no_sequence() {
    let mut workspace = Workspace::new();
    let mut path = Vec::new();
    let nothing = TransitionMask::from_fn(3, |_| true, |_, _| false, |_| true);
    let no_end = TransitionMask::from_fn(3, |_| true, |_, _| true, |_| false);
    let nodes = [0.0; 9];
    for (mask, position) in [(nothing, 1), (no_end, 3)] {
        let dense = Transitions::dense(3, &[0.0; 9], Some(&mask)).unwrap();
        let sparse = Transitions::grams(3, 2, &[[0u32, 1]], Some(&mask)).unwrap();
        for transitions in [dense, sparse] {
            let chain = Chain::new(&nodes, &transitions).unwrap();
            let error = InferenceError::NoAllowedSequence { position };
            assert_eq!(workspace.viterbi(&chain, &mut path).unwrap_err(), error);
            assert_eq!(workspace.k_best(&chain, 2, &mut Vec::new()).unwrap_err(), error);
            let potentials = Potentials::new(&transitions);
            assert_eq!(workspace.forward_backward(&chain, &potentials).unwrap_err(), error);
            assert!(workspace.beam(&chain, 5, None, &mut path).is_err());
        }
    }
}
