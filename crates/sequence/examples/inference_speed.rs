//! Tokens a second of every inference algorithm, for label sets from 17 to 3,000, on one thread.
//!
//! Scores are drawn so that columns are as peaked as those of a trained tagger: one label stands out, a few
//! compete. `flat` draws all scores alike, the worst case for everything that drops hopeless states.
//!
//! `cargo run --release -p consonant-sequence --example inference_speed [sentences]`

use consonant_sequence::inference::{
    Candidates, Chain, Generator, Potentials, ScoredPath, TransitionMask, Transitions, Workspace,
};
use std::time::Instant;

const LENGTH: usize = 20;

struct Data {
    labels: usize,
    sentences: Vec<Vec<f32>>,
    gold: Vec<Vec<u32>>,
}

fn below(random: &mut Generator, bound: usize) -> usize {
    (random.uniform() * bound as f64) as usize
}

impl Data {
    fn new(labels: usize, sentences: usize, flat: bool) -> Self {
        let mut random = Generator::new(1);
        let mut data = Self { labels, sentences: Vec::new(), gold: Vec::new() };
        for _ in 0..sentences {
            let mut nodes: Vec<f32> =
                (0..LENGTH * labels).map(|_| random.uniform() as f32 * 4.0 - 2.0).collect();
            let mut gold = Vec::new();
            for row in nodes.chunks_exact_mut(labels) {
                let label = below(&mut random, labels);
                gold.push(label as u32);
                if !flat {
                    row.iter_mut().for_each(|score| *score -= 8.0);
                    row[label] += 12.0;
                    for _ in 0..3 {
                        row[below(&mut random, labels)] += 9.0;
                    }
                }
            }
            data.sentences.push(nodes);
            data.gold.push(gold);
        }
        data
    }

    /// Runs `work` over all sentences until it took long enough, and prints tokens a second.
    fn time(&self, name: &str, mut work: impl FnMut(usize, &[f32])) {
        let start = Instant::now();
        let mut tokens = 0;
        while start.elapsed().as_secs_f64() < 0.3 {
            for (index, nodes) in self.sentences.iter().enumerate() {
                work(index, nodes);
                tokens += LENGTH;
                if start.elapsed().as_secs_f64() > 2.0 {
                    break;
                }
            }
        }
        let speed = tokens as f64 / start.elapsed().as_secs_f64();
        println!("{:>6} {name:<44} {speed:>12.0} tokens/s", self.labels);
    }
}

fn sparse(labels: usize, order: usize, each: usize, mask: Option<&TransitionMask>) -> Transitions {
    let mut random = Generator::new(2);
    let mut grams: Vec<Vec<u32>> = Vec::new();
    for size in 2..=order + 1 {
        // Frequent labels have many neighbours, as in real data.
        for _ in 0..labels * each {
            let skewed = |random: &mut Generator| (random.uniform().powi(3) * labels as f64) as u32;
            grams.push((0..size).map(|_| skewed(&mut random)).collect());
        }
    }
    grams.sort();
    grams.dedup();
    let mut transitions = Transitions::grams(labels, order, &grams, mask).expect("valid grams");
    let scores: Vec<f32> = grams.iter().map(|_| random.uniform() as f32 * 4.0 - 2.0).collect();
    transitions.load(&scores).expect("finite scores");
    println!("{labels:>6} order {order}: {} grams, {} states", grams.len(), transitions.states());
    transitions
}

fn measure(data: &Data, kind: &str, transitions: &Transitions, marginals: bool) {
    let mut workspace = Workspace::new();
    let mut path = Vec::new();
    data.time(&format!("{kind} viterbi"), |_, nodes| {
        let chain = Chain::new(nodes, transitions).expect("whole rows");
        workspace.viterbi(&chain, &mut path).expect("an allowed sequence");
    });
    data.time(&format!("{kind} greedy beam"), |index, nodes| {
        let chain = Chain::new(nodes, transitions).expect("whole rows");
        let _ = workspace.beam(&chain, 1, None, &mut path).expect("an allowed sequence");
        assert_eq!(path.len(), data.gold[index].len());
    });
    let mut paths: Vec<ScoredPath> = Vec::new();
    data.time(&format!("{kind} 10 best"), |_, nodes| {
        let chain = Chain::new(nodes, transitions).expect("whole rows");
        workspace.k_best(&chain, 10, &mut paths).expect("an allowed sequence");
    });
    let mut candidates = Candidates::new();
    data.time(&format!("{kind} viterbi, 3 candidates a token"), |index, nodes| {
        candidates.clear();
        for &label in &data.gold[index] {
            let other = |k: u32| (label + k * 7) % data.labels as u32;
            candidates.push(&[label, other(1), other(2)]);
        }
        let chain = Chain::new(nodes, transitions).and_then(|chain| chain.with_candidates(&candidates));
        workspace.viterbi(&chain.expect("valid candidates"), &mut path).expect("an allowed sequence");
    });
    if marginals {
        let potentials = Potentials::new(transitions);
        data.time(&format!("{kind} forward-backward"), |_, nodes| {
            let chain = Chain::new(nodes, transitions).expect("whole rows");
            workspace.forward_backward(&chain, &potentials).expect("an allowed sequence");
        });
        let mut counts = vec![0.0; transitions.score_count()];
        data.time(&format!("{kind} forward-backward and counts"), |_, nodes| {
            let chain = Chain::new(nodes, transitions).expect("whole rows");
            let mut posterior = workspace.forward_backward(&chain, &potentials).expect("an allowed sequence");
            posterior.add_transition_counts(1.0, &mut counts).expect("a count for each score");
        });
    }
}

fn main() {
    let sentences = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20);
    for labels in [17, 50] {
        for flat in [false, true] {
            let data = Data::new(labels, sentences, flat);
            let mut random = Generator::new(3);
            let scores: Vec<f32> =
                (0..labels * labels).map(|_| random.uniform() as f32 * 4.0 - 2.0).collect();
            let transitions = Transitions::dense(labels, &scores, None).expect("finite scores");
            measure(&data, if flat { "dense, flat:" } else { "dense:" }, &transitions, true);
        }
    }
    for (labels, order) in [(50, 2), (50, 3), (741, 1), (741, 2), (1600, 1), (3000, 1)] {
        let transitions = sparse(labels, order, 20, None);
        for flat in [false, true] {
            let data = Data::new(labels, sentences, flat);
            let kind = format!("order {order}{}", if flat { ", flat:" } else { ":" });
            measure(&data, &kind, &transitions, true);
        }
    }
}
