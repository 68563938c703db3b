//! Every algorithm against enumeration of all sequences, on random small chains of orders 0 to 3.

use super::*;

/// Random numbers for test cases.
struct Dice(Generator);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.uniform() * bound as f64) as usize
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.0.uniform() < probability
    }

    fn score(&mut self) -> f32 {
        (self.0.uniform() * 8.0 - 4.0) as f32
    }
}

/// A small random chain, and the table from which its scores can be had without any of the code under test.
struct Case {
    labels: usize,
    length: usize,
    nodes: Vec<f32>,
    grams: Vec<(Vec<u32>, f32)>,
    mask: TransitionMask,
    candidates: Option<Candidates>,
    edges: Option<Vec<f32>>,
    transitions: Transitions,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut dice = Dice(Generator::new(seed));
        let order = dice.below(4);
        let labels = 1 + dice.below(4);
        let length = 1 + dice.below(if labels > 3 { 5 } else { 6 });
        let spread = if dice.chance(0.3) { 0.0 } else { 1.0 };
        let mut nodes: Vec<f32> = (0..labels * length).map(|_| dice.score() * spread).collect();
        for node in &mut nodes {
            if dice.chance(0.05) {
                *node = f32::NEG_INFINITY;
            }
        }
        let mut mask = TransitionMask::all_allowed(labels);
        let masked = order > 0 && dice.chance(0.5);
        if masked {
            let rate = if dice.chance(0.5) { 0.15 } else { 0.5 };
            for previous in 0..labels as u32 {
                if dice.chance(0.1) {
                    mask.forbid_start(previous).unwrap();
                }
                if dice.chance(0.1) {
                    mask.forbid_end(previous).unwrap();
                }
                for label in 0..labels as u32 {
                    if dice.chance(rate) {
                        mask.forbid(previous, label).unwrap();
                    }
                }
            }
        }
        let mut grams = Vec::new();
        let dense = order == 1 && dice.chance(0.5);
        let listed = if dense { 1.0 } else { 0.1 + 0.6 * dice.0.uniform() };
        for size in 2..=order + 1 {
            for code in 0..labels.pow(size as u32) {
                let gram: Vec<u32> =
                    (0..size).map(|k| (code / labels.pow((size - 1 - k) as u32) % labels) as u32).collect();
                if dice.chance(listed) || dense {
                    let score = if dice.chance(0.03) { f32::NEG_INFINITY } else { dice.score() };
                    grams.push((gram, score));
                }
            }
        }
        let scores: Vec<f32> = grams.iter().map(|gram| gram.1).collect();
        let transitions = match (order, dense) {
            (0, _) => Transitions::none(labels).unwrap(),
            (_, true) => Transitions::dense(labels, &scores, masked.then_some(&mask)).unwrap(),
            _ => {
                let names: Vec<&[u32]> = grams.iter().map(|gram| &gram.0[..]).collect();
                let mut transitions =
                    Transitions::grams(labels, order, &names, masked.then_some(&mask)).unwrap();
                transitions.load(&scores).unwrap();
                transitions
            }
        };
        let candidates = dice.chance(0.5).then(|| {
            let mut candidates = Candidates::new();
            for _ in 0..length {
                if dice.chance(0.3) {
                    candidates.push_all();
                } else {
                    let list: Vec<u32> = (0..labels as u32).filter(|_| dice.chance(0.7)).collect();
                    candidates.push(&list);
                }
            }
            candidates
        });
        let edges = (order == 0 || dense).then(|| dice.chance(0.4)).unwrap_or(false).then(|| {
            (0..(length - 1) * labels * labels)
                .map(|_| if dice.chance(0.05) { f32::NEG_INFINITY } else { dice.score() })
                .collect::<Vec<f32>>()
        });
        Self { labels, length, nodes, grams, mask, candidates, edges, transitions }
    }

    fn chain(&self) -> Chain<'_> {
        let mut chain = Chain::new(&self.nodes, &self.transitions).unwrap();
        if let Some(candidates) = &self.candidates {
            chain = chain.with_candidates(candidates).unwrap();
        }
        if let Some(edges) = &self.edges {
            chain = chain.with_edges(edges).unwrap();
        }
        chain
    }

    fn score(&self, path: &[u32]) -> f64 {
        let mut score = 0.0;
        if !self.mask.allows_start(path[0]) || !self.mask.allows_end(path[self.length - 1]) {
            return f64::NEG_INFINITY;
        }
        for (t, &label) in path.iter().enumerate() {
            if let Some(list) = self.candidates.as_ref().and_then(|candidates| candidates.at(t)) {
                if !list.contains(&label) {
                    return f64::NEG_INFINITY;
                }
            }
            score += self.nodes[t * self.labels + label as usize] as f64;
            if t > 0 && !self.mask.allows(path[t - 1], label) {
                return f64::NEG_INFINITY;
            }
            for (gram, value) in &self.grams {
                if t + 1 >= gram.len() && path[t + 1 - gram.len()..=t] == gram[..] {
                    score += *value as f64;
                }
            }
            if let (Some(edges), true) = (&self.edges, t > 0) {
                let cell = ((t - 1) * self.labels + path[t - 1] as usize) * self.labels + label as usize;
                score += edges[cell] as f64;
            }
        }
        score
    }

    /// All allowed sequences, best first.
    fn enumerate(&self) -> Vec<ScoredPath> {
        let mut all = Vec::new();
        for code in 0..self.labels.pow(self.length as u32) {
            let labels: Vec<u32> =
                (0..self.length).map(|t| (code / self.labels.pow(t as u32) % self.labels) as u32).collect();
            let score = self.score(&labels);
            if score > f64::NEG_INFINITY {
                all.push(ScoredPath { labels, score });
            }
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        all
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || a == b
}

const CASES: u64 = 1500;

/// Runs a check on every random case with one workspace for all of them, as users would.
fn on_random_cases(mut check: impl FnMut(&Case, &[ScoredPath], &mut Workspace)) {
    let mut workspace = Workspace::new();
    for seed in 0..CASES {
        let case = Case::random(seed);
        check(&case, &case.enumerate(), &mut workspace);
    }
}

fn impossible<T: std::fmt::Debug>(answer: Result<T>) {
    assert!(matches!(answer, Err(InferenceError::NoAllowedSequence { .. })), "{answer:?}");
}

#[test]
fn viterbi_is_the_maximum() {
    let mut solved = 0;
    on_random_cases(|case, all, workspace| {
        let mut path = Vec::new();
        let answer = workspace.viterbi(&case.chain(), &mut path);
        let Some(best) = all.first() else { return impossible(answer) };
        let score = answer.unwrap();
        assert!(close(score, best.score, 1e-5), "{score} {}", best.score);
        assert!(close(case.score(&path), score, 1e-9));
        assert!(close(case.chain().score(&path).unwrap(), score, 1e-9));
        solved += 1;
    });
    assert!(solved > CASES / 2);
}

#[test]
fn k_best_are_the_best_in_order() {
    on_random_cases(|case, all, workspace| {
        for k in [1, 2, 5, 40, 10_000] {
            let mut paths = vec![ScoredPath::default(); 3];
            let answer = workspace.k_best(&case.chain(), k, &mut paths);
            if all.is_empty() {
                impossible(answer);
                continue;
            }
            answer.unwrap();
            assert_eq!(paths.len(), k.min(all.len()));
            for (path, expected) in paths.iter().zip(all) {
                assert!(close(path.score, expected.score, 1e-9));
                assert!(close(case.score(&path.labels), path.score, 1e-9));
            }
            let mut distinct: Vec<&[u32]> = paths.iter().map(|path| &path.labels[..]).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), paths.len());
        }
    });
}

#[test]
fn wide_beam_is_viterbi_and_narrow_beam_is_allowed() {
    on_random_cases(|case, all, workspace| {
        let chain = case.chain();
        let mut path = Vec::new();
        let wide = workspace.beam(&chain, 10_000, None, &mut path);
        match all.first() {
            Some(best) => {
                assert!(close(wide.unwrap().score, best.score, 1e-9));
                assert!(close(case.score(&path), best.score, 1e-9));
                if let Ok(narrow) = workspace.beam(&chain, 1, None, &mut path) {
                    assert!(close(case.score(&path), narrow.score, 1e-9));
                    assert!(narrow.score <= best.score + 1e-9);
                }
            }
            None => assert!(wide.is_err()),
        }
    });
}

#[test]
fn gold_falls_off_the_beam_where_a_better_prefix_pushes_it() {
    let mut fallen = 0;
    on_random_cases(|case, all, workspace| {
        let chain = case.chain();
        let mut path = Vec::new();
        for gold in all.iter().take(3).chain(all.last()) {
            for width in [1, 2, 10_000] {
                let Ok(outcome) = workspace.beam(&chain, width, Some(&gold.labels), &mut path) else {
                    continue;
                };
                match outcome.fell_off {
                    None => assert_eq!(path.len(), case.length),
                    Some(position) => {
                        fallen += 1;
                        assert_eq!(path.len(), position + 1);
                        assert_ne!(path[..], gold.labels[..=position]);
                        // The update is valid: the gold prefix does not score more than the one returned, unless
                        // the latter gave way to one that may end the sentence.
                        let gold_score = chain.prefix_score(&gold.labels[..=position]);
                        assert!(gold_score <= outcome.score + 1e-9);
                    }
                }
            }
        }
    });
    assert!(fallen > 100);
}

/// Marginals by enumeration, then the same from forward-backward, with `shift` added to all scores of a label chosen
/// by position to leave the safe range when asked.
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
        let expected = workspace.minimum_risk(&case.chain(), &potentials, &mut path).unwrap();
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
