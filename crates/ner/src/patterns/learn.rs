//! Learning the weights of skip edges and patterns: an averaged perceptron with decoding in the loop.
//!
//! On its own training data a chain is nearly always right and leaves nothing for agreement to do. So the
//! chain's scores come from models that have not seen the sentence: the training data is cut in two, and each
//! half is scored by a chain trained on the other.

use std::sync::atomic::AtomicBool;

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::problem::{Problem, Separate, Separation, Weights};
use consonant_learn::sparse::SparseVector;
use consonant_learn::trainer::{Method as Learning, Run, train};
use consonant_map::solver::Method;
use consonant_sequence::Labels;
use consonant_text::Sentence;

use super::{GroupLinks, GroupProblem, Layout, PatternDecoder};
use crate::NerError;
use crate::choice::Trial;
use crate::occurrences::OrdinaryWords;
use crate::parts::gold_labels;
use crate::scores::SentenceScores;

/// Passes over the training data.
const EPOCHS: usize = 10;
/// Iterations of a decoder in training; the few groups that need more are decoded well enough.
pub(super) const MOST_ITERATIONS: usize = 50;
/// Labels that score this many margins less than the best in a sentence of their own are out of the reach of
/// agreement. A chain is sure of nearly all words, so what is left is small: decoding takes a tenth of the
/// time.
const SLACK: f64 = 1.0;
/// What an update by each group once may move a weight by, in margins of the chain: weights settle at the
/// same size for any number of groups.
const RATE: f64 = 0.4;

/// A group of training sentences with what a chain that has not seen them says.
struct TrainingGroup {
    links: GroupLinks,
    scores: Vec<SentenceScores>,
    /// Gold labels of all tokens.
    gold: Vec<u32>,
    /// Labels that agreement might bring about.
    candidates: Vec<Vec<u32>>,
    /// Which half's model scored it.
    half: usize,
}

/// Training groups, to be filled half by half.
pub(crate) struct PatternTask {
    layout: Layout,
    groups: Vec<TrainingGroup>,
    /// Scores by previous label and label, of each half's model.
    transitions: Vec<Vec<f32>>,
    /// The margin that the chains were trained with.
    margin: f64,
    /// The value of a feature: its square is what an update moves a score by.
    value: f32,
}

impl PatternTask {
    pub(crate) fn new(layout: Layout, margin: f64) -> Self {
        Self { layout, groups: Vec::new(), transitions: Vec::new(), margin, value: 1.0 }
    }

    /// Adds sentences with what a model that was trained on others says about them.
    pub(crate) fn add(
        &mut self,
        half: &Trial<'_>,
        bias: f32,
        labels: &Labels,
        ordinary: &OrdinaryWords,
    ) -> Result<(), NerError> {
        let scheme = half.model.description.settings.scheme;
        let number = self.transitions.len();
        self.transitions.push(half.model.transitions.to_vec());
        let scores = half.biased(bias)?.scores;
        for group in self.layout.groups(&half.sentences) {
            let members: Vec<&Sentence> = group.iter().map(|&number| &half.sentences[number]).collect();
            let links = GroupLinks::read(&members, ordinary, &self.layout);
            if links.is_empty() {
                continue;
            }
            let gold = members.iter().flat_map(|sentence| gold_labels(sentence, scheme));
            let gold: Option<Vec<u32>> = gold.map(|name| labels.get(&name)).collect();
            // Gold labels come from the same scheme, so all of them are known.
            let Some(gold) = gold else { continue };
            let scores: Vec<SentenceScores> = group.iter().map(|&number| scores[number].clone()).collect();
            let mut candidates = Vec::with_capacity(gold.len());
            for scores in &scores {
                scores.candidates(&self.transitions[number], (SLACK * self.margin) as f32, &mut candidates);
            }
            self.groups.push(TrainingGroup { links, scores, gold, candidates, half: number });
        }
        Ok(())
    }

    /// Learns the weights.
    pub(crate) fn learn(mut self, seed: u64, interrupt: Option<&AtomicBool>) -> Result<Vec<f32>, NerError> {
        if self.groups.is_empty() {
            return Ok(vec![0.0; self.layout.parameters()]);
        }
        self.value = (RATE * self.margin / self.groups.len() as f64).sqrt() as f32;
        let threads = rayon::current_num_threads();
        let run = Run { epochs: EPOCHS, shuffle: true, seed, threads, interrupt, ..Run::default() };
        let trained = train(&self, &Learning::AveragedPerceptron.into(), run)?;
        Ok(trained.weights.iter().map(|weight| weight * self.value).collect())
    }
}

impl Problem for PatternTask {
    type Workspace = PatternDecoder;

    fn workspace(&self) -> PatternDecoder {
        PatternDecoder::new(Method::TwoSlave, Some(MOST_ITERATIONS))
    }

    fn parameters(&self) -> usize {
        self.layout.parameters()
    }

    fn examples(&self) -> usize {
        self.groups.len()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        let mut fingerprint = Fingerprint::default();
        for group in &self.groups {
            fingerprint.numbers(group.gold.iter().copied());
            fingerprint.numbers(group.candidates.iter().flatten().copied());
        }
        Ok(fingerprint.get())
    }
}

impl Separate for PatternTask {
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        _: f32,
        decoder: &mut PatternDecoder,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        let group = &self.groups[example];
        let weights: Vec<f32> =
            weights.values.iter().map(|weight| weight * weights.scale * self.value).collect();
        let scores: Vec<&SentenceScores> = group.scores.iter().collect();
        let problem = GroupProblem {
            layout: &self.layout,
            links: &group.links,
            scores: &scores,
            transitions: &self.transitions[group.half],
            weights: &weights,
            candidates: Some(&group.candidates),
        };
        let (paths, _) = decoder.decode(&problem).map_err(LearnError::task)?;
        let predicted: Vec<u32> = paths.iter().flatten().copied().collect();
        if predicted == group.gold {
            return Ok(Separation::CORRECT);
        }
        group.links.features(&self.layout, &group.gold, |index| difference.push(index as u32, self.value));
        group.links.features(&self.layout, &predicted, |index| difference.push(index as u32, -self.value));
        difference.compact();
        let mut gold_paths = Vec::with_capacity(scores.len());
        let mut rest = &group.gold[..];
        for scores in &scores {
            let (path, after) = rest.split_at(scores.path.len());
            gold_paths.push(path.to_vec());
            rest = after;
        }
        let wrong = predicted.iter().zip(&group.gold).filter(|(a, b)| a != b).count();
        let violation = (problem.value(&paths) - problem.value(&gold_paths)) as f32;
        Ok(Separation { violation, cost: wrong as f32, weight: 1.0 })
    }
}
