//! Every algorithm against enumeration of all sequences, on random small chains of orders 0 to 3.

mod large;
mod limits;
mod marginals;
mod searches;

use consonant_sequence::inference::*;

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
        let edges = ((order == 0 || dense) && dice.chance(0.4)).then(|| {
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
        let ends = self.mask.allows_end(path[self.length - 1]);
        if ends { self.prefix_score(path) } else { f64::NEG_INFINITY }
    }

    fn prefix_score(&self, path: &[u32]) -> f64 {
        let mut score = 0.0;
        if !self.mask.allows_start(path[0]) {
            return f64::NEG_INFINITY;
        }
        for (t, &label) in path.iter().enumerate() {
            let list = self.candidates.as_ref().and_then(|candidates| candidates.at(t));
            if list.is_some_and(|list| !list.contains(&label)) {
                return f64::NEG_INFINITY;
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

const CASES: u64 = 2000;

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
