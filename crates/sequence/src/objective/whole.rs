//! One piece with all labels of the sentence: the conditional random field and its perceptrons.

use consonant_learn::problem::{Separation, Weights};
use consonant_learn::sparse::{Gradient, SparseVector};

use super::single_sums::SingleSums;
use super::{Offset, sentence_scores};
use crate::corpus::Corpus;
use crate::diagram::Piece;
use crate::inference::{Candidates, Chain, Potentials, TransitionMask, Transitions, Workspace};
use crate::{SequenceError, UNKNOWN};

pub(crate) struct WholeChain<'a> {
    corpus: &'a Corpus,
    transitions: Transitions,
    group: usize,
    locked_nodes: bool,
    locked_grams: bool,
    /// Every label pair is scored and allowed.
    plain: bool,
    /// For each sentence its weight, class weights included.
    weights: Vec<f32>,
}

/// Buffers for scoring and decoding whole sentences.
pub(crate) struct ChainWorkspace {
    pub(crate) transitions: Transitions,
    pub(crate) potentials: Potentials,
    /// The gram scores last loaded, and whether the potentials follow them.
    loaded: Vec<f32>,
    scaled: Vec<f32>,
    potentials_fresh: bool,
    single_fresh: bool,
    single_usable: bool,
    pub(crate) nodes: Vec<f32>,
    pub(crate) edges: Vec<f32>,
    pub(crate) inference: Workspace,
    known: Candidates,
    path: Vec<u32>,
    gold: Vec<u32>,
    excess: Vec<f32>,
    counts: Vec<f64>,
    edge_counts: Vec<f64>,
    single: SingleSums,
    /// Scratch space for labels that are sums of parts.
    pub(crate) entries: Vec<f32>,
}

impl ChainWorkspace {
    pub(crate) fn new(transitions: Transitions) -> Self {
        Self {
            potentials: Potentials::new(&transitions),
            loaded: vec![0.0; transitions.score_count()],
            transitions,
            scaled: Vec::new(),
            potentials_fresh: true,
            single_fresh: false,
            single_usable: false,
            nodes: Vec::new(),
            edges: Vec::new(),
            inference: Workspace::new(),
            known: Candidates::new(),
            path: Vec::new(),
            gold: Vec::new(),
            excess: Vec::new(),
            counts: Vec::new(),
            edge_counts: Vec::new(),
            single: SingleSums::default(),
            entries: Vec::new(),
        }
    }

    /// Takes the scores of the grams, if they changed since the last sentence.
    pub(crate) fn load(&mut self, grams: &[f32], scale: f32) -> Result<(), SequenceError> {
        let grams = if scale == 1.0 {
            grams
        } else {
            self.scaled.clear();
            self.scaled.extend(grams.iter().map(|weight| scale * weight));
            &self.scaled
        };
        if !same_bits(&self.loaded, grams) {
            self.transitions.load(grams)?;
            self.loaded.clear();
            self.loaded.extend_from_slice(grams);
            self.potentials_fresh = false;
            self.single_fresh = false;
        }
        Ok(())
    }

    /// Leaves each position its known label, or all.
    fn restrict(&mut self, gold: &[u32]) {
        self.known.clear();
        gold.iter().for_each(|&label| {
            if label == UNKNOWN { self.known.push_all() } else { self.known.push(&[label]) }
        });
    }

    /// Brings the potentials up to date, before sums over sequences.
    pub(crate) fn refresh(&mut self) {
        if !self.potentials_fresh {
            self.potentials.reload(&self.transitions);
            self.potentials_fresh = true;
        }
    }

    /// Scores a sentence with the weights of one group.
    pub(crate) fn score(
        &mut self,
        corpus: &Corpus,
        sentence: usize,
        group: &[f32],
        scale: f32,
    ) -> Result<(), SequenceError> {
        self.load(corpus.space.gram_weights(group), scale)?;
        let Self { entries, nodes, edges, .. } = self;
        sentence_scores(corpus, (&corpus.sentences, sentence), (group, scale), entries, nodes, edges);
        Ok(())
    }
}

/// Whether two vectors are the same, bit by bit; block by block, so that it runs in vector registers.
pub(crate) fn same_bits(a: &[f32], b: &[f32]) -> bool {
    let differ = |(a, b): (&[f32], &[f32])| {
        a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a.to_bits() ^ b.to_bits())) != 0
    };
    a.len() == b.len() && !a.chunks(512).zip(b.chunks(512)).any(differ)
}

/// The chain that was scored last; a macro, because the borrows of its fields must stay apart.
macro_rules! chain {
    ($workspace:ident) => {
        Chain::new(&$workspace.nodes, &$workspace.transitions)?.with_any_edges(&$workspace.edges)?
    };
}
pub(crate) use chain;

impl<'a> WholeChain<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        piece: &Piece,
        group: usize,
        mask: Option<&TransitionMask>,
    ) -> Result<Self, SequenceError> {
        let mean = |labels: &[u32]| {
            let known = labels.iter().filter(|&&label| label != UNKNOWN);
            let (sum, count) = known.fold((0.0, 0.0f32), |(sum, count), &label| {
                (sum + corpus.class_weights[label as usize], count + 1.0)
            });
            if count > 0.0 { sum / count } else { 1.0 }
        };
        let sentences = &corpus.sentences;
        Ok(Self {
            corpus,
            transitions: corpus.space.grams.transitions(mask)?,
            group,
            plain: corpus.space.grams.is_dense() && mask.is_none() && !corpus.space.has_pairs(),
            locked_nodes: piece.factors.iter().any(|factor| factor.offsets.len() == 1 && factor.locked),
            locked_grams: piece.factors.iter().any(|factor| factor.offsets.len() > 1 && factor.locked),
            weights: (0..sentences.len()).map(|at| sentences.weight(at) * mean(sentences.gold(at))).collect(),
        })
    }

    pub(crate) fn workspace(&self) -> ChainWorkspace {
        ChainWorkspace::new(self.transitions.clone())
    }

    pub(crate) fn tokens(&self, sentence: usize) -> usize {
        self.corpus.sentences.range(sentence).len()
    }

    fn group<'w>(&self, weights: Weights<'w>) -> &'w [f32] {
        let size = self.corpus.space.group_size();
        &weights.values[self.group * size..(self.group + 1) * size]
    }

    pub(crate) fn separate(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut ChainWorkspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, SequenceError> {
        let corpus = self.corpus;
        let labels = corpus.space.labels();
        let gold = corpus.sentences.gold(sentence);
        workspace.score(corpus, sentence, self.group(weights), weights.scale)?;
        if cost != 0.0 {
            for (scores, &label) in workspace.nodes.chunks_exact_mut(labels).zip(gold) {
                if label != UNKNOWN {
                    scores[label as usize] -= cost;
                }
            }
        }
        let mut path = std::mem::take(&mut workspace.path);
        let best = workspace.inference.viterbi(&chain!(workspace), &mut path)?;
        workspace.path = path;
        let mut outcome = Separation { weight: self.weights[sentence], ..Separation::CORRECT };
        let partial = gold.contains(&UNKNOWN);
        let errors = workspace
            .path
            .iter()
            .zip(gold)
            .filter(|&(found, gold)| *gold != UNKNOWN && found != gold)
            .count();
        if errors == 0 {
            return Ok(outcome);
        }
        // The gold sequence: as given, or the best one that agrees with the known labels.
        let mut truth = std::mem::take(&mut workspace.gold);
        let score = if partial {
            workspace.restrict(gold);
            workspace.inference.viterbi(&chain!(workspace).with_candidates(&workspace.known)?, &mut truth)?
        } else {
            truth.clear();
            truth.extend_from_slice(gold);
            chain!(workspace).score(&truth)?
        };
        if !score.is_finite() {
            workspace.gold = truth;
            return Ok(outcome);
        }
        outcome.cost = errors as f32;
        outcome.violation = (best - score) as f32 - cost * errors as f32;
        self.push_difference(sentence, &truth, &workspace.path, difference);
        workspace.gold = truth;
        Ok(outcome)
    }

    pub(crate) fn push_difference(
        &self,
        sentence: usize,
        truth: &[u32],
        found: &[u32],
        difference: &mut SparseVector,
    ) {
        let (space, sentences) = (&self.corpus.space, &self.corpus.sentences);
        let start = self.group * space.group_size();
        let grams = (start + space.gram_start()) as u32;
        let base = sentences.range(sentence).start;
        for position in 0..truth.len() {
            let (right, wrong) = (truth[position], found[position]);
            if right != wrong && !self.locked_nodes {
                sentences.features(base + position, |feature, value| {
                    space.node_parameters(feature, right, wrong, |index| {
                        difference.push((start + index) as u32, value)
                    });
                    space.node_parameters(feature, wrong, right, |index| {
                        difference.push((start + index) as u32, -value)
                    });
                });
            }
            let reach = position.saturating_sub(space.grams.order());
            if truth[reach..=position] != found[reach..=position] && !self.locked_grams {
                space.grams.ending_at(truth, position, |number| difference.push(grams + number, 1.0));
                space.grams.ending_at(found, position, |number| difference.push(grams + number, -1.0));
            }
            if position > 0
                && space.has_pairs()
                && truth[position - 1..=position] != found[position - 1..=position]
            {
                let pair = |path: &[u32]| path[position - 1] * space.labels() as u32 + path[position];
                for &feature in sentences.pair_features(base + position) {
                    for (pair, value) in [(pair(truth), 1.0), (pair(found), -1.0)] {
                        if let Some(index) = space.pairs.parameter(feature, pair) {
                            difference.push((start + space.pair_start() + index) as u32, value);
                        }
                    }
                }
            }
        }
    }

    pub(crate) fn differentiate<G: Gradient + ?Sized>(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        workspace: &mut ChainWorkspace,
        gradient: &mut G,
    ) -> Result<f64, SequenceError> {
        let (corpus, labels) = (self.corpus, self.corpus.space.labels());
        let gold = corpus.sentences.gold(sentence);
        let weight = self.weights[sentence];
        if gold.is_empty() || weight == 0.0 || gold.iter().all(|&label| label == UNKNOWN) {
            return Ok(0.0);
        }
        workspace.score(corpus, sentence, self.group(weights), weights.scale)?;
        workspace.counts.resize(workspace.transitions.score_count(), 0.0);
        workspace.edge_counts.clear();
        workspace.edge_counts.resize(workspace.edges.len(), 0.0);
        let free = self.sum_over_sequences(workspace)?;
        let truth = if gold.contains(&UNKNOWN) {
            workspace.restrict(gold);
            workspace.refresh();
            let mut posterior = workspace.inference.forward_backward(
                &chain!(workspace).with_candidates(&workspace.known)?,
                &workspace.potentials,
            )?;
            workspace.excess.iter_mut().zip(posterior.nodes()).for_each(|(excess, &p)| *excess -= p as f32);
            posterior.add_transition_counts(-1.0, &mut workspace.counts)?;
            if !workspace.edges.is_empty() {
                posterior.add_edge_counts(-1.0, &mut workspace.edge_counts)?;
            }
            posterior.log_partition()
        } else {
            for (position, &label) in gold.iter().enumerate() {
                workspace.excess[position * labels + label as usize] -= 1.0;
                corpus
                    .space
                    .grams
                    .ending_at(gold, position, |number| workspace.counts[number as usize] -= 1.0);
                if position > 0 && !workspace.edges.is_empty() {
                    workspace.edge_counts[((position - 1) * labels + gold[position - 1] as usize)
                        * labels
                        + label as usize] -= 1.0;
                }
            }
            chain!(workspace).score(gold)?
        };
        if !truth.is_finite() {
            return Ok(0.0);
        }
        self.add_gradient(sentence, weight, workspace, gradient);
        Ok(f64::from(weight) * (free - truth))
    }

    /// The logarithm of the sum over all sequences; writes marginals to `excess` and expected counts to `counts`.
    fn sum_over_sequences(&self, workspace: &mut ChainWorkspace) -> Result<f64, SequenceError> {
        let labels = self.corpus.space.labels();
        if self.plain && !workspace.single_fresh {
            workspace.single_usable = workspace.single.load(labels, &workspace.loaded);
            workspace.single_fresh = true;
        }
        if self.plain && workspace.single_usable {
            let ChainWorkspace { single, nodes, excess, counts, .. } = workspace;
            if let Some(sum) = single.run(nodes, excess, counts) {
                return Ok(sum);
            }
        }
        workspace.counts.fill(0.0);
        workspace.refresh();
        let mut posterior =
            workspace.inference.forward_backward(&chain!(workspace), &workspace.potentials)?;
        workspace.excess.clear();
        workspace.excess.extend(posterior.nodes().iter().map(|&p| p as f32));
        posterior.add_transition_counts(1.0, &mut workspace.counts)?;
        if !workspace.edges.is_empty() {
            posterior.add_edge_counts(1.0, &mut workspace.edge_counts)?;
        }
        Ok(posterior.log_partition())
    }

    fn add_gradient<G: Gradient + ?Sized>(
        &self,
        sentence: usize,
        weight: f32,
        workspace: &mut ChainWorkspace,
        gradient: &mut G,
    ) {
        let (space, sentences, labels) =
            (&self.corpus.space, &self.corpus.sentences, self.corpus.space.labels());
        let range = sentences.range(sentence);
        let mut gradient = Offset { gradient, start: self.group * space.group_size() };
        if !self.locked_nodes {
            for (token, excess) in range.clone().zip(workspace.excess.chunks_exact(labels)) {
                let excess = space.parts.spread(excess, &mut workspace.entries);
                sentences.features(token, |feature, value| {
                    space.nodes.add_gradient(feature, weight * value, excess, &mut gradient)
                });
            }
        }
        if !self.locked_grams {
            workspace.scaled.clear();
            workspace.scaled.extend(workspace.counts.iter().map(|&count| count as f32));
            gradient.add_run(space.gram_start(), weight, &workspace.scaled);
        }
        if !workspace.edges.is_empty() {
            gradient.start += space.pair_start();
            workspace.scaled.clear();
            workspace.scaled.extend(workspace.edge_counts.iter().map(|&count| count as f32));
            for (token, excess) in range.skip(1).zip(workspace.scaled.chunks_exact(labels * labels)) {
                sentences
                    .pair_features(token)
                    .iter()
                    .for_each(|&feature| space.pairs.add_gradient(feature, weight, excess, &mut gradient));
            }
        }
    }
}
