//! Labels of arcs: a linear classifier over the finished tree, one word at a time.
//!
//! A feature's weights for all labels stand side by side in one hash kernel, beginning at the feature's own
//! place; rows of different features overlap, as weights in a hash kernel do.

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::problem::{Problem, Separate, Separation, Weights};
use consonant_learn::sparse::SparseVector;
use consonant_learn::table::HashKernel;
use consonant_learn::trainer::{Method, Parameter, Run, Training, train as train_online};

use crate::features::{Encoded, Surroundings};
use crate::{ParserError, TrainingSentence};

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct LabelWorkspace {
    around: Surroundings,
    keys: Vec<u64>,
    scores: Vec<f32>,
}

/// Writes the best label of each word of a tree and returns their summed scores.
pub(crate) fn label(
    sentence: &Encoded,
    heads: &[usize],
    weights: &HashKernel,
    labels: usize,
    workspace: &mut LabelWorkspace,
    out: &mut Vec<u32>,
) {
    let LabelWorkspace { around, keys, scores } = workspace;
    around.load(heads);
    out.clear();
    for word in 1..=sentence.words() {
        keys.clear();
        sentence.label_features(word, heads, around, keys);
        scores.clear();
        scores.resize(labels, 0.0);
        keys.iter().for_each(|&key| weights.add_run(key, scores));
        out.push(best(scores) as u32);
    }
}

fn best(scores: &[f32]) -> usize {
    (0..scores.len()).fold(0, |best, label| if scores[label] > scores[best] { label } else { best })
}

/// The words of the training data; features are kept, they do not change.
struct LabelProblem {
    labels: usize,
    bits: u32,
    gold: Vec<u32>,
    /// How much each word counts.
    counts: Vec<f32>,
    starts: Vec<usize>,
    features: Vec<u32>,
}

impl LabelProblem {
    fn new(sentences: &[TrainingSentence], labels: usize, bits: u32) -> Self {
        let mut task = Self {
            labels,
            bits,
            gold: Vec::new(),
            counts: Vec::new(),
            starts: vec![0],
            features: Vec::new(),
        };
        let mut around = Surroundings::default();
        let mut keys = Vec::new();
        for TrainingSentence { encoded, heads, labels, weight, .. } in sentences {
            around.load(heads);
            for (word, &gold) in (1..).zip(labels) {
                keys.clear();
                encoded.label_features(word, heads, &around, &mut keys);
                task.features.extend(keys.iter().map(|&key| HashKernel::index(key, bits)));
                task.starts.push(task.features.len());
                task.gold.push(gold);
                task.counts.push(*weight);
            }
        }
        task
    }

    fn index(&self, feature: u32, label: usize) -> u32 {
        HashKernel::index(u64::from(feature) + label as u64, self.bits)
    }
}

impl Problem for LabelProblem {
    type Workspace = Vec<f32>;

    fn workspace(&self) -> Vec<f32> {
        vec![0.0; self.labels]
    }

    fn parameters(&self) -> usize {
        1 << self.bits
    }

    fn examples(&self) -> usize {
        self.gold.len()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        let mut fingerprint = Fingerprint::default();
        fingerprint.numbers(self.features.iter().copied());
        fingerprint.numbers(self.starts.iter().map(|&start| start as u32));
        fingerprint.numbers(self.gold.iter().copied());
        fingerprint.numbers(self.counts.iter().map(|count| count.to_bits()));
        Ok(fingerprint.get())
    }
}

impl Separate for LabelProblem {
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        scores: &mut Vec<f32>,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        let features = &self.features[self.starts[example]..self.starts[example + 1]];
        let gold = self.gold[example] as usize;
        scores.fill(0.0);
        for &feature in features {
            let start = feature as usize;
            match weights.values.get(start..start + self.labels) {
                Some(row) => scores.iter_mut().zip(row).for_each(|(score, weight)| *score += weight),
                None => {
                    for (label, score) in scores.iter_mut().enumerate() {
                        *score += weights.values[self.index(feature, label) as usize];
                    }
                }
            }
        }
        scores.iter_mut().for_each(|score| *score *= weights.scale);
        let own = scores[gold];
        scores.iter_mut().for_each(|score| *score += cost);
        scores[gold] -= cost;
        let found = best(scores);
        if found == gold {
            return Ok(Separation::CORRECT);
        }
        for &feature in features {
            difference.push(self.index(feature, gold), 1.0);
            difference.push(self.index(feature, found), -1.0);
        }
        Ok(Separation { violation: scores[found] - cost - own, cost: 1.0, weight: self.counts[example] })
    }
}

/// Trains the weights of the labels.
pub(crate) fn train(
    sentences: &[TrainingSentence],
    labels: usize,
    bits: u32,
    run: Run<'_>,
) -> Result<Vec<f32>, ParserError> {
    let task = LabelProblem::new(sentences, labels, bits);
    let training = Training::new(Method::PassiveAggressive)
        .with(Parameter::COST_AUGMENTED, 1.0)?
        .with(Parameter::C, 0.02)?;
    Ok(train_online(&task, &training, run)?.weights)
}
