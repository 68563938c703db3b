//! Sums, marginals, counts and samples against enumeration.

use super::*;

/// Marginals by enumeration, then the same from forward-backward, with `shift` added to all scores of a label
/// chosen by position to leave the safe range when asked.
fn check_marginals(
    case: &Case,
    all: &[ScoredPath],
    workspace: &mut Workspace,
    tolerance: f64,
) -> Option<bool> {
    let potentials = Potentials::new(&case.transitions);
    let chain = case.chain();
    let answer = workspace.forward_backward(&chain, &potentials);
    let Some(best) = all.first() else {
        impossible(answer);
        return None;
    };
    let mut posterior = answer.unwrap();
    let total: f64 = all.iter().map(|path| (path.score - best.score).exp()).sum();
    let probability = |wanted: &dyn Fn(&[u32]) -> bool| -> f64 {
        let chosen = all.iter().filter(|path| wanted(&path.labels));
        chosen.map(|path| (path.score - best.score).exp()).sum::<f64>() / total
    };
    let labels = case.labels as u32;
    assert!(close(posterior.log_partition(), best.score + total.ln(), tolerance));
    for t in 0..case.length {
        for label in 0..labels {
            let expected = probability(&|path| path[t] == label);
            let found = posterior.node(t)[label as usize];
            assert!(close(found, expected, tolerance), "{found} {expected}");
            if t > 0 {
                for previous in 0..labels {
                    let expected = probability(&|path| path[t - 1] == previous && path[t] == label);
                    assert!(close(posterior.pair(t, previous, label).unwrap(), expected, tolerance));
                }
            }
        }
    }
    let mut counts = vec![1.0; case.transitions.score_count()];
    posterior.add_transition_counts(-2.0, &mut counts).unwrap();
    for (gram, _) in &case.grams {
        let expected: f64 = (0..case.length)
            .filter(|&end| end + 1 >= gram.len())
            .map(|end| probability(&|path| path[end + 1 - gram.len()..=end] == gram[..]))
            .sum();
        let index = case.transitions.gram_index(gram).unwrap();
        assert!(
            close(counts[index], 1.0 - 2.0 * expected, tolerance),
            "{} {}",
            counts[index],
            1.0 - 2.0 * expected
        );
    }
    if let Some(edges) = &case.edges {
        let mut counts = vec![0.0; edges.len()];
        posterior.add_edge_counts(1.0, &mut counts).unwrap();
        for (cell, &count) in counts.iter().enumerate() {
            let (step, previous) = (cell / (case.labels * case.labels), cell / case.labels % case.labels);
            let label = cell % case.labels;
            let expected =
                probability(&|path| path[step] == previous as u32 && path[step + 1] == label as u32);
            assert!(close(count, expected, tolerance));
        }
    }
    for start in 0..case.length {
        for end in start + 1..=case.length.min(start + 3) {
            for path in all.iter().step_by(1 + all.len() / 4) {
                for excluded in [&[][..], &[0], &[0, labels - 1]] {
                    let wanted = &path.labels[start..end];
                    let span = Span { start, labels: wanted, not_before: excluded, not_after: excluded };
                    let expected = probability(&|path| {
                        path[start..end] == *wanted
                            && (start == 0 || !excluded.contains(&path[start - 1]))
                            && (end == case.length || !excluded.contains(&path[end]))
                    });
                    assert!(close(posterior.span(&span).unwrap(), expected, tolerance));
                }
            }
        }
    }
    let mut path = Vec::new();
    posterior.max_marginal(&mut path);
    for (t, &label) in path.iter().enumerate() {
        let most = (0..labels).map(|other| probability(&|path| path[t] == other)).fold(0.0, f64::max);
        assert!(close(probability(&|path| path[t] == label), most, tolerance));
    }
    let mut generator = Generator::new(1);
    for _ in 0..3 {
        posterior.sample(&mut generator, &mut path);
        assert!(case.score(&path) > f64::NEG_INFINITY);
    }
    Some(posterior.in_log_space())
}

#[test]
fn marginals_agree_with_enumeration() {
    let (mut linear, mut logs) = (0, 0);
    on_random_cases(|case, all, workspace| match check_marginals(case, all, workspace, 1e-9) {
        Some(true) => logs += 1,
        Some(false) => linear += 1,
        None => {}
    });
    assert!(linear > CASES / 2, "{linear} linear, {logs} in log space");
}

#[test]
fn marginals_survive_scores_beyond_floating_point() {
    let mut logs = 0;
    for seed in 0..CASES {
        let mut case = Case::random(seed);
        let mut dice = Dice(Generator::new(!seed));
        for node in &mut case.nodes {
            *node += if dice.chance(0.5) { 900.0 } else { -900.0 };
        }
        let scale = if dice.chance(0.5) { 200.0 } else { 1.0 };
        let scores: Vec<f32> = case.grams.iter().map(|gram| gram.1 * scale).collect();
        for (gram, &score) in case.grams.iter_mut().zip(&scores) {
            gram.1 = score;
        }
        case.transitions.load(&scores).unwrap();
        let all = case.enumerate();
        logs += u64::from(check_marginals(&case, &all, &mut Workspace::new(), 1e-7) == Some(true));
    }
    assert!(logs > 50, "{logs}");
}

#[test]
fn minimum_risk_has_the_most_expected_labels_among_the_allowed() {
    on_random_cases(|case, all, workspace| {
        let potentials = Potentials::new(&case.transitions);
        let mut path = Vec::new();
        if all.is_empty() || case.edges.is_some() {
            return;
        }
        let expected = workspace
            .minimum_risk(&case.chain(), &potentials, &case.transitions.constraints_only(), &mut path)
            .unwrap();
        let nodes = workspace.forward_backward(&case.chain(), &potentials).unwrap().nodes().to_vec();
        let risk = |path: &[u32]| -> f64 {
            path.iter().enumerate().map(|(t, &label)| nodes[t * case.labels + label as usize]).sum()
        };
        let most = all.iter().map(|path| risk(&path.labels)).fold(0.0, f64::max);
        assert!(close(expected, most, 1e-5) && close(risk(&path), most, 1e-5));
        assert!(case.score(&path) > f64::NEG_INFINITY);
    });
}

#[test]
fn samples_have_the_posterior_frequencies() {
    let case = (0..).map(Case::random).find(|case| case.enumerate().len() > 20).unwrap();
    let potentials = Potentials::new(&case.transitions);
    let mut workspace = Workspace::new();
    let chain = case.chain();
    let mut posterior = workspace.forward_backward(&chain, &potentials).unwrap();
    let (mut counts, mut path) = (vec![0.0; case.nodes.len()], Vec::new());
    let mut generator = Generator::new(7);
    let draws = 20_000;
    for _ in 0..draws {
        posterior.sample(&mut generator, &mut path);
        for (t, &label) in path.iter().enumerate() {
            counts[t * case.labels + label as usize] += 1.0 / draws as f64;
        }
    }
    for (count, marginal) in counts.iter().zip(posterior.nodes()) {
        assert!((count - marginal).abs() < 0.02);
    }
}

#[test]
fn gradient_of_the_partition_function_is_the_expected_counts() {
    let case = (0..)
        .map(Case::random)
        .find(|case| case.transitions.order() == 3 && case.enumerate().len() > 50)
        .unwrap();
    let mut workspace = Workspace::new();
    let scores: Vec<f32> = case.grams.iter().map(|gram| gram.1).collect();
    let chain = case.chain();
    let potentials = Potentials::new(&case.transitions);
    let mut counts = vec![0.0; scores.len()];
    workspace.forward_backward(&chain, &potentials).unwrap().add_transition_counts(1.0, &mut counts).unwrap();
    let mut transitions = case.transitions.clone();
    for (index, &count) in counts.iter().enumerate().filter(|&(index, _)| scores[index] > f32::NEG_INFINITY) {
        let mut sides = [0.0; 2];
        let mut moved = scores.clone();
        let ends = [scores[index] - 0.01, scores[index] + 0.01];
        for (side, &end) in sides.iter_mut().zip(&ends) {
            moved[index] = end;
            transitions.load(&moved).unwrap();
            let mut chain = Chain::new(&case.nodes, &transitions).unwrap();
            if let Some(candidates) = &case.candidates {
                chain = chain.with_candidates(candidates).unwrap();
            }
            let potentials = Potentials::new(&transitions);
            *side = workspace.forward_backward(&chain, &potentials).unwrap().log_partition();
        }
        let slope = (sides[1] - sides[0]) / (ends[1] as f64 - ends[0] as f64);
        assert!((slope - count).abs() < 1e-4, "{slope} {count}");
    }
}
