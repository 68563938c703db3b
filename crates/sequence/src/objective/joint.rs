//! Sentences that are decoded together, so that the weights of chains and of what ties them are learned at once (Qian &
//! Liu 2014): a perceptron over groups of sentences.

use std::sync::Arc;

use consonant_learn::LearnError;
use consonant_learn::problem::{Problem, Separate, Separation, Weights};
use consonant_learn::sparse::SparseVector;

use super::chain::{ChainPiece, ChainWorkspace, chain};
use crate::corpus::Corpus;
use crate::diagram::Diagram;
use crate::inference::{Chain, TransitionMask};
use crate::{SequenceError, UNKNOWN};

/// What a chain of first order says about a sentence; forbidden labels are at minus infinity.
#[derive(Debug, Clone, Default)]
pub struct ScoredSentence {
    /// A row of scores for each word.
    pub nodes: Vec<f32>,
    /// Scores by previous label and label, for each word but the first. Where they do not differ, the table is shared.
    pub steps: Vec<Arc<[f32]>>,
    /// The best labels by the chain alone, and their score.
    pub path: Vec<u32>,
    /// See [`path`](Self::path).
    pub value: f64,
}

/// What ties the labels of several sentences, with weights of its own. Called by [`train_jointly`](crate::train_jointly).
pub trait Ties: Sync {
    /// Buffers of a thread.
    type Workspace: Send;

    /// Makes them.
    fn workspace(&self) -> Self::Workspace;

    /// The number of its weights.
    fn parameters(&self) -> usize;

    /// The sentences of each group, by number. Each is in one.
    fn groups(&self) -> &[Vec<usize>];

    /// The best labels of a group's sentences under its own weights and what their chains say.
    fn decode(
        &self,
        group: usize,
        sentences: Vec<ScoredSentence>,
        weights: &[f32],
        workspace: &mut Self::Workspace,
    ) -> Result<Vec<Vec<u32>>, LearnError>;

    /// Calls `each` with the weights that labels of a group earn, and how often.
    fn features(&self, group: usize, labels: &[Vec<u32>], each: &mut dyn FnMut(usize, f32));
}

/// Groups as training examples. The weights of the chains come first.
pub(crate) struct Joint<'a, T> {
    corpus: &'a Corpus,
    mask: Option<&'a TransitionMask>,
    whole: ChainPiece<'a>,
    ties: &'a T,
}

pub(crate) struct JointWorkspace<W> {
    whole: ChainWorkspace,
    ties: W,
}

impl<'a, T: Ties> Joint<'a, T> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        mask: Option<&'a TransitionMask>,
        ties: &'a T,
    ) -> Result<Self, SequenceError> {
        if corpus.space.grams.order() != 1 {
            let message = "chains that are learned together with their ties are of order 1".into();
            return Err(SequenceError::Unsupported(message));
        }
        let whole = ChainPiece::new(corpus, &Diagram::likelihood(1).pieces[0], None, 0, mask)?;
        Ok(Self { corpus, mask, whole, ties })
    }

    /// What the chain says about a sentence, with `cost` taken from the right labels.
    fn read(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        cost: f32,
        transitions: &Arc<[f32]>,
        workspace: &mut ChainWorkspace,
    ) -> Result<ScoredSentence, SequenceError> {
        let labels = self.corpus.space.labels();
        let gold = self.corpus.sentences.gold(sentence);
        if gold.is_empty() {
            return Ok(ScoredSentence::default());
        }
        let size = self.corpus.space.group_size();
        workspace.score(self.corpus, sentence, &weights.values[..size], weights.scale)?;
        for (scores, &label) in workspace.nodes.chunks_exact_mut(labels).zip(gold) {
            if label != UNKNOWN {
                scores[label as usize] -= cost;
            }
        }
        let mut path = Vec::with_capacity(gold.len());
        let value = workspace.inference.viterbi(&chain!(workspace), &mut path)?;
        let mut nodes = workspace.nodes.clone();
        if let Some(mask) = self.mask {
            let last = nodes.len() - labels;
            for label in 0..labels {
                if !mask.allows_start(label as u32) {
                    nodes[label] = f32::NEG_INFINITY;
                }
                if !mask.allows_end(label as u32) {
                    nodes[last + label] = f32::NEG_INFINITY;
                }
            }
        }
        let steps = match workspace.edges.is_empty() {
            true => vec![transitions.clone(); gold.len() - 1],
            false => {
                let add = |edges: &[f32]| {
                    edges.iter().zip(&**transitions).map(|(one, other)| one + other).collect()
                };
                workspace.edges.chunks_exact(labels * labels).map(add).collect()
            }
        };
        Ok(ScoredSentence { nodes, steps, path, value })
    }

    fn compare(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut JointWorkspace<T::Workspace>,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        let group = &self.ties.groups()[example];
        let sentences = &self.corpus.sentences;
        if group.iter().any(|&sentence| sentences.gold(sentence).contains(&UNKNOWN)) {
            return Ok(Separation::CORRECT);
        }
        let (labels, size) = (self.corpus.space.labels(), self.corpus.space.group_size());
        let (of_chains, own) = weights.values.split_at(size);
        let mut transitions = self.corpus.space.grams.matrix(self.corpus.space.gram_weights(of_chains));
        for (pair, score) in transitions.iter_mut().enumerate() {
            *score *= weights.scale;
            let (before, label) = ((pair / labels) as u32, (pair % labels) as u32);
            if self.mask.is_some_and(|mask| !mask.allows(before, label)) {
                *score = f32::NEG_INFINITY;
            }
        }
        let transitions: Arc<[f32]> = transitions.into();
        let read = group
            .iter()
            .map(|&sentence| self.read(sentence, weights, cost, &transitions, &mut workspace.whole));
        let read = read.collect::<Result<Vec<_>, _>>().map_err(LearnError::task)?;
        let own: Vec<f32> = own.iter().map(|weight| weights.scale * weight).collect();
        let found = self.ties.decode(example, read, &own, &mut workspace.ties)?;
        let gold: Vec<Vec<u32>> = group.iter().map(|&sentence| sentences.gold(sentence).to_vec()).collect();
        let wrong =
            found.iter().flatten().zip(gold.iter().flatten()).filter(|(found, gold)| found != gold).count();
        let mut outcome = Separation { cost: wrong as f32, ..Separation::CORRECT };
        if wrong == 0 {
            return Ok(outcome);
        }
        for ((&sentence, gold), found) in group.iter().zip(&gold).zip(&found) {
            self.whole.push_difference(sentence, gold, found, difference);
        }
        for (labels, sign) in [(&gold, 1.0), (&found, -1.0)] {
            self.ties.features(example, labels, &mut |weight, value| {
                difference.push((size + weight) as u32, sign * value);
            });
        }
        difference.compact();
        let dot = |&(index, value): &(u32, f32)| value * weights.values[index as usize];
        outcome.violation = -weights.scale * difference.pairs().iter().map(dot).sum::<f32>();
        Ok(outcome)
    }
}

impl<T: Ties> Problem for Joint<'_, T> {
    type Workspace = JointWorkspace<T::Workspace>;

    fn workspace(&self) -> Self::Workspace {
        JointWorkspace { whole: self.whole.workspace(), ties: self.ties.workspace() }
    }

    fn parameters(&self) -> usize {
        self.corpus.space.group_size() + self.ties.parameters()
    }

    fn examples(&self) -> usize {
        self.ties.groups().len()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        Ok(self.corpus.sentences.fingerprint())
    }
}

impl<T: Ties> Separate for Joint<'_, T> {
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut Self::Workspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        self.compare(example, weights, cost, workspace, difference)
    }
}
