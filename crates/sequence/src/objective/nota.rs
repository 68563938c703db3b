//! Piecewise training with "none of the above" (McCallum & Sutton 2004, section 3).
//!
//! The loss of a position is -log φ(y_t, y_{t-1}, x_t) + Σ_{y'} log(1 + Σ_y φ(y, y', x_t)), where y' runs
//! over the gold previous label and the negatives. The 1 is the fixed potential of NOTA: where the condition
//! y' is wrong, only lowering the potentials of all labels makes NOTA likely.

use std::sync::Arc;

use consonant_learn::hash::combine;
use consonant_learn::problem::Weights;
use consonant_learn::sparse::Gradient;

use super::chain::same_bits;
use super::{Offset, add_pair_scores, best_label, node_scores, sentence_scores, token_weights};
use crate::corpus::Corpus;
use crate::diagram::Nota;
use crate::inference::{Chain, Potentials, Workspace, kernels};
use crate::ngrams::ContextRows;
use crate::normalization::{EdgeSums, Side, dot};
use crate::{SequenceError, UNKNOWN};

/// The wrong previous labels of each token that must predict NOTA.
#[derive(Debug, Clone)]
pub(crate) enum Negatives {
    /// Every wrong label.
    All,
    /// Those listed: the first of each token (one more at the end), and the labels.
    Listed(Arc<(Vec<u32>, Vec<u32>)>),
}

impl Negatives {
    /// Negatives as they are before any training.
    pub(crate) fn choose(corpus: &Corpus, nota: Nota, seed: u64) -> Self {
        let count = match nota {
            Nota::Exhaustive => return Self::All,
            Nota::Sampled(count) => count.min(corpus.space.labels() - 1),
            Nota::Threshold { .. } => 0,
        };
        Self::list(corpus, |token, gold, out| {
            let mut state = combine(seed, token as u64);
            while out.len() < count {
                state = combine(state, 1);
                let label = ((u128::from(state) * corpus.space.labels() as u128) >> 64) as u32;
                if label != gold && !out.contains(&label) {
                    out.push(label);
                }
            }
        })
    }

    /// Wrong labels that the locally normalized model holds probable: those from which a wrong path might
    /// come.
    pub(crate) fn above(corpus: &Corpus, weights: &[f32], probability: f64) -> Result<Self, SequenceError> {
        let labels = corpus.space.labels();
        let mut transitions = corpus.space.grams.transitions(None)?;
        transitions.load(corpus.space.gram_weights(weights))?;
        let potentials = Potentials::new(&transitions);
        let mut sums = EdgeSums::default();
        sums.load(labels, &corpus.space.grams.matrix(corpus.space.gram_weights(weights)));
        let mut inference = Workspace::new();
        let mut probable: Vec<Vec<u32>> = vec![Vec::new(); corpus.sentences.tokens()];
        let (mut nodes, mut edges, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for sentence in 0..corpus.sentences.len() {
            let range = corpus.sentences.range(sentence);
            let place = (&corpus.sentences, sentence);
            sentence_scores(corpus, place, (weights, 1.0), &mut entries, &mut nodes, &mut edges);
            sums.normalize(Side::Before, &edges, &mut nodes);
            let chain = Chain::new(&nodes, &transitions)?.with_any_edges(&edges)?;
            let posterior = inference.forward_backward(&chain, &potentials)?;
            for token in range.clone().skip(1) {
                let marginals = posterior.node(token - 1 - range.start);
                probable[token]
                    .extend((0..labels as u32).filter(|&label| marginals[label as usize] > probability));
            }
        }
        Ok(Self::list(corpus, |token, gold, out| {
            out.extend(probable[token].iter().filter(|&&label| label != gold))
        }))
    }

    /// Lists negatives for every token that has a known label before it.
    fn list(corpus: &Corpus, mut each: impl FnMut(usize, u32, &mut Vec<u32>)) -> Self {
        let (mut starts, mut all, mut some) = (vec![0], Vec::new(), Vec::new());
        for sentence in 0..corpus.sentences.len() {
            let range = corpus.sentences.range(sentence);
            for token in range.clone() {
                if token > range.start && corpus.sentences.gold[token - 1] != UNKNOWN {
                    some.clear();
                    each(token, corpus.sentences.gold[token - 1], &mut some);
                    all.extend_from_slice(&some);
                }
                starts.push(all.len() as u32);
            }
        }
        Self::Listed(Arc::new((starts, all)))
    }
}

pub(crate) struct NotaPiece<'a> {
    corpus: &'a Corpus,
    rows: ContextRows,
    /// The context row of each previous label.
    contexts: Vec<u32>,
    group: usize,
    negatives: Negatives,
    labels: Vec<u32>,
    /// Whether a token is the first of its sentence.
    first: Vec<bool>,
    weights: Vec<f32>,
}

#[derive(Default)]
pub(crate) struct NotaWorkspace {
    grams: Vec<f32>,
    scale: f32,
    sums: EdgeSums,
    nodes: Vec<f32>,
    values: Vec<f64>,
    probabilities: Vec<f32>,
    excess: Vec<f32>,
    pairs: Vec<f32>,
    pair_excess: Vec<f32>,
    entries: Vec<f32>,
}

impl<'a> NotaPiece<'a> {
    pub(crate) fn new(corpus: &'a Corpus, group: usize, negatives: Negatives) -> Result<Self, SequenceError> {
        if corpus.space.grams.order() != 1 {
            return Err(SequenceError::Unsupported("NOTA training is defined for chains of order 1".into()));
        }
        let rows = ContextRows::new(&corpus.space.grams);
        let contexts =
            (0..corpus.space.labels() as u32).map(|previous| rows.row(&[previous, 0], 1)).collect();
        let mut first = vec![false; corpus.sentences.tokens()];
        for &start in &corpus.sentences.starts {
            if let Some(first) = first.get_mut(start as usize) {
                *first = true;
            }
        }
        let labels = (0..corpus.space.labels() as u32).collect();
        Ok(Self { corpus, rows, contexts, group, negatives, labels, first, weights: token_weights(corpus) })
    }

    pub(crate) fn workspace(&self) -> NotaWorkspace {
        NotaWorkspace::default()
    }

    pub(crate) fn differentiate<G: Gradient + ?Sized>(
        &self,
        token: usize,
        weights: Weights<'_>,
        workspace: &mut NotaWorkspace,
        gradient: &mut G,
    ) -> f64 {
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        let (gold, weight) = (self.corpus.sentences.gold[token], self.weights[token]);
        let previous = if self.first[token] { None } else { Some(self.corpus.sentences.gold[token - 1]) };
        if gold == UNKNOWN || previous == Some(UNKNOWN) || weight == 0.0 {
            return 0.0;
        }
        let group = &weights.values[self.group * space.group_size()..][..space.group_size()];
        let grams = space.gram_weights(group);
        // The exponentials of the edges are made once for each set of weights.
        if workspace.scale != weights.scale || !same_bits(&workspace.grams, grams) {
            workspace.scale = weights.scale;
            let mut edges = space.grams.matrix(grams);
            edges.iter_mut().for_each(|score| *score *= weights.scale);
            workspace.sums.load(labels, &edges);
            workspace.grams.clear();
            workspace.grams.extend_from_slice(grams);
        }
        workspace.nodes.resize(labels, 0.0);
        workspace.probabilities.resize(labels, 0.0);
        let NotaWorkspace { nodes, entries, .. } = workspace;
        let here = token..token + 1;
        node_scores(self.corpus, &self.corpus.sentences, here, group, weights.scale, entries, nodes);
        let most = EdgeSums::exponentiate(&workspace.nodes, &mut workspace.values);
        workspace.excess.clear();
        workspace.excess.resize(labels, 0.0);
        let mut gradient = Offset { gradient, start: self.group * space.group_size() };
        let mut loss = 0.0;
        match previous {
            None => {
                let sum: f64 = workspace.values.iter().sum();
                let (log_sum, scale) = with_nota(most, sum);
                loss += log_sum - f64::from(workspace.nodes[gold as usize]);
                workspace
                    .excess
                    .iter_mut()
                    .zip(&workspace.values)
                    .for_each(|(excess, value)| *excess = (value * scale) as f32);
            }
            Some(previous) => {
                let edge = self.rows.number(self.contexts[previous as usize], gold);
                let score = edge.map_or(0.0, |number| grams[number as usize]);
                loss -= f64::from(workspace.nodes[gold as usize] + weights.scale * score);
                if let Some(number) = edge {
                    gradient.add(space.gram_start() + number as usize, -weight);
                }
                let negatives: &[u32] = match &self.negatives {
                    Negatives::All => &self.labels,
                    Negatives::Listed(listed) => {
                        &listed.1[listed.0[token] as usize..listed.0[token + 1] as usize]
                    }
                };
                let wrong = negatives.iter().copied().filter(|&label| label != previous);
                let conditions = std::iter::once(previous).chain(wrong);
                if space.has_pairs() {
                    workspace.pairs.clear();
                    workspace.pairs.resize(labels * labels, 0.0);
                    add_pair_scores(
                        self.corpus,
                        &self.corpus.sentences,
                        token,
                        group,
                        weights.scale,
                        &mut workspace.pairs,
                    );
                    loss += self.conditions_with_pairs(
                        token,
                        (previous, gold),
                        conditions,
                        weight,
                        workspace,
                        &mut gradient,
                    );
                } else {
                    loss += conditions
                        .map(|label| self.condition(label, most, weight, workspace, &mut gradient))
                        .sum::<f64>();
                }
            }
        }
        workspace.excess[gold as usize] -= 1.0;
        let by_entry = space.parts.spread(&workspace.excess, &mut workspace.entries);
        self.corpus.sentences.features(token, |feature, value| {
            space.nodes.add_gradient(feature, weight * value, by_entry, &mut gradient)
        });
        f64::from(weight) * loss
    }

    /// log(1 + Σ_y φ(y, y', x)) for one condition y'; adds the probabilities to the excess and the gradient
    /// of the edges.
    #[inline]
    fn condition<G: Gradient + ?Sized>(
        &self,
        previous: u32,
        most: f64,
        weight: f32,
        workspace: &mut NotaWorkspace,
        gradient: &mut G,
    ) -> f64 {
        let labels = workspace.values.len();
        let row = &workspace.sums.by_previous[previous as usize * labels..][..labels];
        let sum = dot(row, &workspace.values);
        let (log_sum, scale) = with_nota(most + workspace.sums.shift, sum);
        for (((p, excess), edge), node) in
            workspace.probabilities.iter_mut().zip(&mut workspace.excess).zip(row).zip(&workspace.values)
        {
            *p = (edge * node * scale) as f32;
            *excess += *p;
        }
        let context = self.contexts[previous as usize];
        self.rows.add_gradient(
            context,
            weight,
            &workspace.probabilities,
            self.corpus.space.gram_start(),
            gradient,
        );
        log_sum
    }

    /// As [`condition`](Self::condition) for all conditions at once, where features see label pairs: the
    /// potentials of every condition are then the position's own. The scores of these features stand in
    /// `workspace.pairs`.
    fn conditions_with_pairs<G: Gradient + ?Sized>(
        &self,
        token: usize,
        (previous, gold): (u32, u32),
        conditions: impl Iterator<Item = u32>,
        weight: f32,
        workspace: &mut NotaWorkspace,
        gradient: &mut Offset<'_, G>,
    ) -> f64 {
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        let NotaWorkspace { sums, nodes, values, probabilities, excess, pairs, pair_excess, .. } = workspace;
        pair_excess.clear();
        pair_excess.resize(labels * labels, 0.0);
        let gold_pair = previous as usize * labels + gold as usize;
        let mut loss = -f64::from(pairs[gold_pair]);
        pair_excess[gold_pair] -= 1.0;
        for condition in conditions {
            let row = condition as usize * labels..(condition as usize + 1) * labels;
            let scores = &mut pairs[row.clone()];
            let others = sums.scores[row.clone()].iter().zip(nodes.iter());
            scores.iter_mut().zip(others).for_each(|(score, (edge, node))| *score += edge + node);
            let most = f64::from(scores[best_label(scores) as usize]);
            kernels::exp_row(scores, most, values);
            let (log_sum, normalizer) = with_nota(most, values.iter().sum());
            loss += log_sum;
            for (label, value) in values.iter().enumerate() {
                let p = (value * normalizer) as f32;
                probabilities[label] = p;
                excess[label] += p;
                pair_excess[row.start + label] += p;
            }
            self.rows.add_gradient(
                self.contexts[condition as usize],
                weight,
                probabilities,
                space.gram_start(),
                gradient,
            );
        }
        let mut gradient =
            Offset { start: gradient.start + space.pair_start(), gradient: &mut *gradient.gradient };
        for &feature in self.corpus.sentences.pair_features(token) {
            space.pairs.add_gradient(feature, weight, pair_excess, &mut gradient);
        }
        loss
    }
}

/// For potentials e^shift · v with Σ v = sum: log(1 + e^shift · sum), and e^shift / (1 + e^shift · sum),
/// which turns v into probabilities.
fn with_nota(shift: f64, sum: f64) -> (f64, f64) {
    let log = shift + sum.max(f64::MIN_POSITIVE).ln();
    let log_sum = if log > 0.0 { log + (-log).exp().ln_1p() } else { log.exp().ln_1p() };
    (log_sum, (shift - log_sum).exp())
}
