//! Piecewise training with "none of the above" (McCallum & Sutton 2004, section 3).
//!
//! The loss of a position is -log φ(y_t, y_{t-1}, x_t) + Σ_{y'} log(1 + Σ_y φ(y, y', x_t)), where y' runs
//! over the gold previous label and the negatives. The 1 is the fixed potential of NOTA: where the condition
//! y' is wrong, only lowering the potentials of all labels makes NOTA likely. In pseudo-likelihood a condition
//! is the pair of the labels on both sides.

use std::ops::Range;
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

/// What a label is predicted from: the labels before and after, [`UNKNOWN`] where a sentence ends or a piece does not look.
pub(crate) type Condition = [u32; 2];

/// The wrong conditions of each token that must predict NOTA.
#[derive(Debug, Clone)]
pub(crate) enum Negatives {
    /// Every one.
    All,
    /// Those listed: the first of each token (one more at the end), and the conditions.
    Listed(Arc<(Vec<u32>, Vec<Condition>)>),
}

impl Negatives {
    /// Negatives as they are before any training. `both`: conditions are labels on both sides.
    pub(crate) fn choose(corpus: &Corpus, nota: Nota, both: bool, seed: u64) -> Self {
        let most = match nota {
            Nota::Exhaustive => return Self::All,
            Nota::Sampled { count, .. } => count,
            Nota::Threshold { .. } => 0,
        };
        let labels = corpus.space.labels();
        Self::list(corpus, both, |token, gold, out| {
            let sides = gold.iter().filter(|&&label| label != UNKNOWN).count() as u32;
            let count = most.min(labels.saturating_pow(sides) - 1);
            let mut state = combine(seed, token as u64);
            while out.len() < count {
                let drawn = gold.map(|label| {
                    if label == UNKNOWN {
                        return UNKNOWN;
                    }
                    state = combine(state, 1);
                    ((u128::from(state) * labels as u128) >> 64) as u32
                });
                if drawn != gold && !out.contains(&drawn) {
                    out.push(drawn);
                }
            }
        })
    }

    /// Wrong conditions that the model holds probable: those from which a wrong path might come. `both`: of
    /// labels on both sides, by the model as a whole; otherwise of the label before, by the locally normalized model.
    pub(crate) fn above(
        corpus: &Corpus,
        weights: &[f32],
        probability: f64,
        both: bool,
    ) -> Result<Self, SequenceError> {
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
            if !both {
                sums.normalize(Side::Before, &edges, &mut nodes);
            }
            let chain = Chain::new(&nodes, &transitions)?.with_any_edges(&edges)?;
            let posterior = inference.forward_backward(&chain, &potentials)?;
            for token in range.clone() {
                let marginals = posterior.node(token - range.start);
                probable[token]
                    .extend((0..labels as u32).filter(|&label| marginals[label as usize] > probability));
            }
        }
        // The gold label itself first: beside another one it makes a wrong condition, too.
        let side = |gold: u32, neighbour: usize| {
            let others = probable.get(neighbour).filter(|_| gold != UNKNOWN).into_iter().flatten();
            std::iter::once(gold).chain(others.copied().filter(move |&label| label != gold))
        };
        Ok(Self::list(corpus, both, |token, gold, out| {
            for before in side(gold[0], token.wrapping_sub(1)) {
                out.extend(
                    side(gold[1], token + 1).map(|after| [before, after]).filter(|&wrong| wrong != gold),
                );
            }
        }))
    }

    /// Lists negatives for every token that has something to be predicted from.
    fn list(
        corpus: &Corpus,
        both: bool,
        mut each: impl FnMut(usize, Condition, &mut Vec<Condition>),
    ) -> Self {
        let (mut starts, mut all, mut some) = (vec![0], Vec::new(), Vec::new());
        for sentence in 0..corpus.sentences.len() {
            let range = corpus.sentences.range(sentence);
            for token in range.clone() {
                let gold = condition(&corpus.sentences.gold, &range, token, both);
                if gold != [UNKNOWN; 2] {
                    some.clear();
                    each(token, gold, &mut some);
                    all.extend_from_slice(&some);
                }
                starts.push(all.len() as u32);
            }
        }
        Self::Listed(Arc::new((starts, all)))
    }
}

/// What stands around a token of a sentence.
fn condition(gold: &[u32], sentence: &Range<usize>, token: usize, both: bool) -> Condition {
    let before = if token > sentence.start { gold[token - 1] } else { UNKNOWN };
    let after = if both && token + 1 < sentence.end { gold[token + 1] } else { UNKNOWN };
    [before, after]
}

pub(crate) struct NotaPiece<'a> {
    corpus: &'a Corpus,
    rows: ContextRows,
    /// The context row of each previous label.
    contexts: Vec<u32>,
    group: usize,
    /// Whether labels are predicted from both sides.
    both: bool,
    negatives: Negatives,
    labels: Vec<u32>,
    /// What each token's label is predicted from, or nothing where that is not known.
    around: Vec<Option<Condition>>,
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
    /// By side, what the pairs of labels there score, and how much more probable than true they are.
    pairs: [Vec<f32>; 2],
    pair_excess: [Vec<f32>; 2],
    entries: Vec<f32>,
}

impl<'a> NotaPiece<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        group: usize,
        both: bool,
        negatives: Negatives,
    ) -> Result<Self, SequenceError> {
        if corpus.space.grams.order() != 1 {
            return Err(SequenceError::Unsupported("NOTA training is defined for chains of order 1".into()));
        }
        let rows = ContextRows::new(&corpus.space.grams);
        let contexts =
            (0..corpus.space.labels() as u32).map(|previous| rows.row(&[previous, 0], 1)).collect();
        let labels = (0..corpus.space.labels() as u32).collect();
        let mut around = Vec::with_capacity(corpus.sentences.tokens());
        for sentence in 0..corpus.sentences.len() {
            let range = corpus.sentences.range(sentence);
            around.extend(range.clone().map(|token| {
                let found = condition(&corpus.sentences.gold, &range, token, both);
                let is_known = (found[0] != UNKNOWN || token == range.start)
                    && (found[1] != UNKNOWN || !both || token + 1 == range.end);
                is_known.then_some(found)
            }));
        }
        let weights = token_weights(corpus);
        Ok(Self { corpus, rows, contexts, group, both, negatives, labels, around, weights })
    }

    pub(crate) fn workspace(&self) -> NotaWorkspace {
        NotaWorkspace::default()
    }

    /// The wrong conditions of a token.
    fn wrong(&self, token: usize, gold: Condition) -> impl Iterator<Item = Condition> {
        let nothing: (&[Condition], [&[u32]; 2]) = (&[], [&[], &[]]);
        let (listed, every) = match &self.negatives {
            Negatives::Listed(listed) => {
                (&listed.1[listed.0[token] as usize..listed.0[token + 1] as usize], nothing.1)
            }
            Negatives::All => {
                let side = |gold: u32| if gold == UNKNOWN { &[UNKNOWN][..] } else { &self.labels[..] };
                (nothing.0, gold.map(side))
            }
        };
        let every =
            every[0].iter().flat_map(move |&before| every[1].iter().map(move |&after| [before, after]));
        listed.iter().copied().chain(every).filter(move |&wrong| wrong != gold)
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
        if gold == UNKNOWN || weight == 0.0 {
            return 0.0;
        }
        let Some(around) = self.around[token] else { return 0.0 };
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
        workspace.excess.clear();
        workspace.excess.resize(labels, 0.0);
        let mut gradient = Offset { gradient, start: self.group * space.group_size() };
        let conditions = std::iter::once(around).chain(self.wrong(token, around));
        let mut loss = -f64::from(workspace.nodes[gold as usize]);
        if self.both || space.has_pairs() {
            let place = (token, gold, around);
            loss += self.conditions(place, conditions, (weight, group), workspace, &mut gradient);
        } else {
            let most = EdgeSums::exponentiate(&workspace.nodes, &mut workspace.values);
            if let Some(number) = self.edge(around[0], gold) {
                loss -= f64::from(weights.scale * grams[number as usize]);
                gradient.add(space.gram_start() + number as usize, -weight);
            }
            loss += conditions
                .map(|[before, _]| self.one_sided(before, most, weight, workspace, &mut gradient))
                .sum::<f64>();
        }
        workspace.excess[gold as usize] -= 1.0;
        let by_entry = space.parts.spread(&workspace.excess, &mut workspace.entries);
        self.corpus.sentences.features(token, |feature, value| {
            space.nodes.add_gradient(feature, weight * value, by_entry, &mut gradient)
        });
        f64::from(weight) * loss
    }

    /// The number of a pair of labels that has a weight.
    fn edge(&self, previous: u32, label: u32) -> Option<u32> {
        self.rows.number(*self.contexts.get(previous as usize)?, label)
    }

    /// log(1 + Σ_y φ(y, y', x)) for one condition y'; adds the probabilities to the excess and the gradient
    /// of the edges.
    #[inline]
    fn one_sided<G: Gradient + ?Sized>(
        &self,
        previous: u32,
        most: f64,
        weight: f32,
        workspace: &mut NotaWorkspace,
        gradient: &mut G,
    ) -> f64 {
        let labels = workspace.values.len();
        if previous == UNKNOWN {
            let (log_sum, scale) = with_nota(most, workspace.values.iter().sum());
            let excess = workspace.excess.iter_mut().zip(&workspace.values);
            excess.for_each(|(excess, value)| *excess += (value * scale) as f32);
            return log_sum;
        }
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

    /// As [`one_sided`](Self::one_sided) for all conditions at once, on any side: where features see label pairs,
    /// the potentials of every condition are the position's own.
    fn conditions<G: Gradient + ?Sized>(
        &self,
        (token, gold, around): (usize, u32, Condition),
        conditions: impl Iterator<Item = Condition>,
        (weight, group): (f32, &[f32]),
        workspace: &mut NotaWorkspace,
        gradient: &mut Offset<'_, G>,
    ) -> f64 {
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        let NotaWorkspace { scale, sums, nodes, values, probabilities, excess, pairs, pair_excess, .. } =
            workspace;
        // The place of a pair in the tables: the earlier label says which row.
        let cell = |side: usize, other: u32, label: usize| match side {
            0 => other as usize * labels + label,
            _ => label * labels + other as usize,
        };
        let mut loss = 0.0;
        let sides = (0..2).filter(|&side| around[side] != UNKNOWN);
        for side in sides.clone() {
            pairs[side].clear();
            pairs[side].extend_from_slice(&sums.scores);
            if space.has_pairs() {
                let seeing = token + side;
                add_pair_scores(self.corpus, &self.corpus.sentences, seeing, group, *scale, &mut pairs[side]);
            }
            pair_excess[side].clear();
            pair_excess[side].resize(labels * labels, 0.0);
            let right = cell(side, around[side], gold as usize);
            loss -= f64::from(pairs[side][right]);
            pair_excess[side][right] -= 1.0;
        }
        for condition in conditions {
            probabilities.copy_from_slice(nodes);
            for side in sides.clone() {
                for (label, score) in probabilities.iter_mut().enumerate() {
                    *score += pairs[side][cell(side, condition[side], label)];
                }
            }
            let most = f64::from(probabilities[best_label(probabilities) as usize]);
            values.resize(labels, 0.0);
            kernels::exp_row(probabilities, most, values);
            let (log_sum, normalizer) = with_nota(most, values.iter().sum());
            loss += log_sum;
            for (label, value) in values.iter().enumerate() {
                let p = (value * normalizer) as f32;
                excess[label] += p;
                for side in sides.clone() {
                    pair_excess[side][cell(side, condition[side], label)] += p;
                }
            }
        }
        for side in sides {
            for (previous, row) in pair_excess[side].chunks_exact(labels).enumerate() {
                if row.iter().any(|&excess| excess != 0.0) {
                    self.rows.add_gradient(
                        self.contexts[previous],
                        weight,
                        row,
                        space.gram_start(),
                        gradient,
                    );
                }
            }
            if space.has_pairs() {
                let mut gradient =
                    Offset { start: gradient.start + space.pair_start(), gradient: &mut *gradient.gradient };
                for &feature in self.corpus.sentences.pair_features(token + side) {
                    space.pairs.add_gradient(feature, weight, &pair_excess[side], &mut gradient);
                }
            }
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
