//! Random groups of sentences with random scores, for tests against enumeration.

use consonant_sequence::Labels;
use consonant_sequence::inference::{Chain, Transitions, Workspace};
use consonant_text::entity::Scheme;
use consonant_text::{Columns, Sentence, SentenceReader};

use crate::parts::LabelSet;
use crate::scores::SentenceScores;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 ^ (self.0 >> 29)) >> 8) as usize % n
    }

    /// Between -2 and 2.
    pub(crate) fn weight(&mut self) -> f32 {
        self.below(4001) as f32 / 1000.0 - 2.0
    }

    pub(crate) fn weights(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.weight()).collect()
    }
}

/// Sentences of words without names.
pub(crate) fn sentences(lines: &[impl AsRef<str>]) -> Vec<Sentence> {
    let columns: String = lines
        .iter()
        .map(|line| line.as_ref().split(' ').map(|word| format!("{word}\tO\n")).collect::<String>() + "\n")
        .collect();
    SentenceReader::columns(columns.as_bytes(), "sample", Columns::default())
        .collect::<Result<_, _>>()
        .unwrap()
}

pub(crate) fn labels() -> LabelSet {
    let mut labels = Labels::new();
    for name in ["O", "B-A", "I-A", "B-B"] {
        labels.intern(name);
    }
    LabelSet::new(&labels, Scheme::Iob2)
}

/// Sentences of a few names, with what a chain says about them.
pub(crate) struct Sample {
    pub(crate) labels: LabelSet,
    pub(crate) sentences: Vec<Sentence>,
    pub(crate) scores: Vec<SentenceScores>,
    pub(crate) transitions: Vec<f32>,
}

pub(crate) fn sample(random: &mut Random, with_steps: bool) -> Sample {
    let labels = labels();
    let mask = labels.mask();
    let size = labels.len();
    let lengths = [[2, 2, 2], [3, 2, 1], [1, 4, 1], [2, 3, 1]][random.below(4)];
    let lines: Vec<String> = lengths
        .iter()
        .map(|&length| {
            (0..length).map(|_| ["Xu", "Yi", "Zoe"][random.below(3)]).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let mut transitions = random.weights(size * size);
    for (pair, score) in transitions.iter_mut().enumerate() {
        if !mask.allows((pair / size) as u32, (pair % size) as u32) {
            *score = f32::NEG_INFINITY;
        }
    }
    let compiled = Transitions::dense(size, &transitions, Some(&mask)).unwrap();
    let scores = lengths
        .iter()
        .map(|&length| {
            let mut nodes = random.weights(length * size);
            for (label, score) in nodes[..size].iter_mut().enumerate() {
                if !mask.allows_start(label as u32) {
                    *score = f32::NEG_INFINITY;
                }
            }
            let mut steps = Vec::new();
            let mut edges = Vec::new();
            if with_steps {
                edges = random.weights((length - 1) * size * size);
                let table =
                    |edges: &[f32]| edges.iter().zip(&transitions).map(|(edge, pair)| edge + pair).collect();
                steps = edges.chunks_exact(size * size).map(table).collect();
            }
            let chain = Chain::new(&nodes, &compiled).unwrap();
            let chain = if edges.is_empty() { chain } else { chain.with_edges(&edges).unwrap() };
            let mut path = Vec::new();
            let value = Workspace::new().viterbi(&chain, &mut path).unwrap();
            SentenceScores { nodes, steps, path, value }
        })
        .collect();
    Sample { labels, sentences: sentences(&lines), scores, transitions }
}

/// Calls `each` with every way to label the sentences.
pub(crate) fn every_labelling(sample: &Sample, mut each: impl FnMut(&[Vec<u32>])) {
    let size = sample.labels.len() as u32;
    let mut paths: Vec<Vec<u32>> = sample.sentences.iter().map(|sentence| vec![0; sentence.len()]).collect();
    loop {
        each(&paths);
        let mut places = paths.iter_mut().flatten();
        loop {
            let Some(label) = places.next() else { return };
            *label += 1;
            if *label < size {
                break;
            }
            *label = 0;
        }
    }
}

#[test]
fn scores_and_candidates_are_those_of_enumeration() {
    let mut random = Random(3);
    for round in 0..60 {
        let sample = sample(&mut random, round % 2 == 1);
        let size = sample.labels.len();
        for scores in &sample.scores {
            assert!((scores.score(&scores.path, &sample.transitions) - scores.value).abs() < 1e-4);
            let (biased, words) = (scores.with_bias(0, 0.7, &sample.transitions), scores.path.len());
            let best = (0..size.pow(words as u32)).map(|number| {
                let path = (0..words).map(|word| (number / size.pow(word as u32) % size) as u32);
                biased.score(&path.collect::<Vec<_>>(), &sample.transitions)
            });
            assert!((biased.value - best.fold(f64::NEG_INFINITY, f64::max)).abs() < 1e-4);
            let outside = biased.path.iter().filter(|&&label| label == 0).count() as f64;
            let unbiased = scores.score(&biased.path, &sample.transitions);
            assert!((biased.value - (unbiased - 0.7 * outside)).abs() < 1e-3);
        }
        let slack = 1.5;
        let mut candidates = Vec::new();
        sample
            .scores
            .iter()
            .for_each(|scores| scores.candidates(&sample.transitions, slack, &mut candidates));
        let mut first = 0;
        for scores in &sample.scores {
            let words = scores.path.len();
            let mut best = vec![f64::NEG_INFINITY; words * size];
            for number in 0..size.pow(words as u32) {
                let path: Vec<u32> =
                    (0..words).map(|word| (number / size.pow(word as u32) % size) as u32).collect();
                let value = scores.score(&path, &sample.transitions);
                for (word, &label) in path.iter().enumerate() {
                    let through = &mut best[word * size + label as usize];
                    *through = through.max(value);
                }
            }
            for word in 0..words {
                for label in 0..size {
                    let gap = scores.value - best[word * size + label];
                    let kept = candidates[first + word].contains(&(label as u32));
                    assert!((gap - f64::from(slack)).abs() < 1e-3 || kept == (gap <= f64::from(slack)));
                }
            }
            first += words;
        }
    }
}
