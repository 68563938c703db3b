//! Pieces that predict one label: MEMM, pseudo-likelihood, piecewise pseudo-likelihood and any user's own.

use consonant_learn::problem::{Separation, Weights};
use consonant_learn::sparse::{Gradient, SparseVector};

use super::{Offset, add_pair_scores, best_label, node_scores, token_weights};
use crate::UNKNOWN;
use crate::corpus::Corpus;
use crate::diagram::{Factor, Piece};
use crate::inference::kernels;
use crate::ngrams::{ContextRows, NO_CONTEXT};

/// All pieces with a single variable. They are visited by their variable, so that its node scores are summed
/// once.
pub(crate) struct LocalPieces<'a> {
    corpus: &'a Corpus,
    rows: ContextRows,
    pieces: Vec<LocalPiece>,
    /// For each token the context rows of all pieces' grams, [`NO_CONTEXT`] where a gram leaves the sentence.
    contexts: Vec<u32>,
    /// Context rows for each token.
    stride: usize,
    weights: Vec<f32>,
}

struct LocalPiece {
    /// Parameter groups of the nodes, and whether they are locked.
    nodes: Vec<(usize, bool)>,
    /// For each gram its parameter group, whether it is locked, and whether it is the pair before (-1) or
    /// after (1) that also has pair features.
    grams: Vec<LocalGram>,
    /// Where the context rows of this piece begin.
    first: usize,
}

#[derive(Clone, Copy)]
struct LocalGram {
    group: usize,
    locked: bool,
    pair: i32,
}

#[derive(Default)]
pub(crate) struct LocalWorkspace {
    nodes: Vec<f32>,
    scores: Vec<f32>,
    pairs: Vec<f32>,
    probabilities: Vec<f64>,
    entries: Vec<f32>,
}

impl<'a> LocalPieces<'a> {
    pub(crate) fn new(corpus: &'a Corpus) -> Self {
        Self {
            corpus,
            rows: ContextRows::new(&corpus.space.grams),
            pieces: Vec::new(),
            contexts: Vec::new(),
            stride: 0,
            weights: token_weights(corpus),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a piece whose variable stands at `variable`.
    pub(crate) fn add(&mut self, piece: &Piece, variable: i32, group: impl Fn(&Factor) -> usize) {
        let mut local = LocalPiece { nodes: Vec::new(), grams: Vec::new(), first: self.stride };
        let mut spans: Vec<Vec<i32>> = Vec::new();
        for factor in &piece.factors {
            if factor.offsets.len() == 1 {
                local.nodes.push((group(factor), factor.locked));
            } else {
                let offsets: Vec<i32> = factor.offsets.iter().map(|offset| offset - variable).collect();
                let pair = if offsets.len() > 2 {
                    0
                } else if offsets[0] == -1 {
                    -1
                } else {
                    1
                };
                local.grams.push(LocalGram { group: group(factor), locked: factor.locked, pair });
                spans.push(offsets);
            }
        }
        let stride = self.stride + spans.len();
        let mut contexts = Vec::with_capacity(stride * self.corpus.sentences.tokens());
        let mut gram = Vec::new();
        for sentence in 0..self.corpus.sentences.len() {
            let gold = self.corpus.sentences.gold(sentence);
            let base = self.corpus.sentences.range(sentence).start;
            for position in 0..gold.len() {
                let token = base + position;
                contexts.extend_from_slice(&self.contexts[token * self.stride..(token + 1) * self.stride]);
                for span in &spans {
                    gram.clear();
                    gram.extend(span.iter().map(|&offset| {
                        let place = position as i64 + i64::from(offset);
                        if offset == 0 || place < 0 {
                            0
                        } else {
                            gold.get(place as usize).copied().unwrap_or(UNKNOWN)
                        }
                    }));
                    let inside = position as i64 + i64::from(span[0]) >= 0 && !gram.contains(&UNKNOWN);
                    let open = span.iter().position(|&offset| offset == 0).unwrap_or(0);
                    contexts.push(if inside { self.rows.row(&gram, open) } else { NO_CONTEXT });
                }
            }
        }
        (self.contexts, self.stride) = (contexts, stride);
        self.pieces.push(local);
    }

    pub(crate) fn workspace(&self) -> LocalWorkspace {
        let labels = self.corpus.space.labels();
        LocalWorkspace {
            nodes: vec![0.0; labels],
            scores: vec![0.0; labels],
            pairs: Vec::new(),
            probabilities: vec![0.0; labels],
            entries: Vec::new(),
        }
    }

    #[inline]
    fn contexts(&self, token: usize, piece: &LocalPiece) -> &[u32] {
        let start = token * self.stride + piece.first;
        &self.contexts[start..start + piece.grams.len()]
    }

    /// Sums the scores of a piece's labels. Node scores of the last group asked for are kept in the
    /// workspace.
    #[inline]
    fn score(
        &self,
        token: usize,
        piece: &LocalPiece,
        weights: Weights<'_>,
        kept: &mut Option<usize>,
        workspace: &mut LocalWorkspace,
    ) {
        let size = self.corpus.space.group_size();
        workspace.scores.fill(0.0);
        for &(group, _) in &piece.nodes {
            if *kept != Some(group) {
                let weights = &weights.values[group * size..(group + 1) * size];
                let LocalWorkspace { nodes, entries, .. } = workspace;
                let token = token..token + 1;
                node_scores(self.corpus, &self.corpus.sentences, token, weights, 1.0, entries, nodes);
                *kept = Some(group);
            }
            workspace.scores.iter_mut().zip(&workspace.nodes).for_each(|(score, node)| *score += node);
        }
        for (gram, &context) in piece.grams.iter().zip(self.contexts(token, piece)) {
            let group = &weights.values[gram.group * size..(gram.group + 1) * size];
            self.rows.add_scores(context, self.corpus.space.gram_weights(group), &mut workspace.scores);
            if gram.pair != 0 && self.corpus.space.has_pairs() {
                self.add_pairs(token, gram.pair, group, workspace);
            }
        }
        if weights.scale != 1.0 {
            workspace.scores.iter_mut().for_each(|score| *score *= weights.scale);
        }
    }

    /// The label fixed on one side, if it is in the sentence and known, and the token whose pair features see
    /// both.
    fn neighbour(&self, token: usize, side: i32) -> Option<(u32, usize)> {
        let sentences = &self.corpus.sentences;
        let starts_here = |token: usize| sentences.starts.binary_search(&(token as u32)).is_ok();
        let (other, seeing) = match side {
            -1 if !starts_here(token) => (token - 1, token),
            1 if !starts_here(token + 1) => (token + 1, token + 1),
            _ => return None,
        };
        let label = sentences.gold[other];
        (label != UNKNOWN).then_some((label, seeing))
    }

    fn add_pairs(&self, token: usize, side: i32, group: &[f32], workspace: &mut LocalWorkspace) {
        let Some((fixed, seeing)) = self.neighbour(token, side) else { return };
        let labels = self.corpus.space.labels();
        workspace.pairs.clear();
        workspace.pairs.resize(labels * labels, 0.0);
        add_pair_scores(self.corpus, &self.corpus.sentences, seeing, group, 1.0, &mut workspace.pairs);
        for (label, score) in workspace.scores.iter_mut().enumerate() {
            *score += workspace.pairs[pair_of(side, fixed, label as u32, labels)];
        }
    }

    pub(crate) fn separate(
        &self,
        token: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut LocalWorkspace,
        difference: &mut SparseVector,
    ) -> Separation {
        let gold = self.corpus.sentences.gold[token];
        let mut outcome = Separation { weight: self.weights[token], ..Separation::CORRECT };
        if gold == UNKNOWN {
            return outcome;
        }
        let mut kept = None;
        for piece in &self.pieces {
            self.score(token, piece, weights, &mut kept, workspace);
            workspace.scores[gold as usize] -= cost;
            let best = best_label(&workspace.scores);
            if best != gold {
                outcome.violation += workspace.scores[best as usize] - workspace.scores[gold as usize] - cost;
                outcome.cost += 1.0;
                self.push(token, piece, gold, best, 1.0, difference);
                self.push(token, piece, best, gold, -1.0, difference);
            }
        }
        outcome
    }

    /// Adds the features of a piece with this label, as far as it does not share them with the other.
    fn push(
        &self,
        token: usize,
        piece: &LocalPiece,
        label: u32,
        other: u32,
        value: f32,
        difference: &mut SparseVector,
    ) {
        let (space, size) = (&self.corpus.space, self.corpus.space.group_size());
        for &(group, _) in piece.nodes.iter().filter(|&&(_, locked)| !locked) {
            self.corpus.sentences.features(token, |feature, amount| {
                space.node_parameters(feature, label, other, |index| {
                    difference.push((group * size + index) as u32, value * amount)
                });
            });
        }
        for (gram, &context) in
            piece.grams.iter().zip(self.contexts(token, piece)).filter(|(gram, _)| !gram.locked)
        {
            if let Some(number) = self.rows.number(context, label) {
                difference.push((gram.group * size + space.gram_start()) as u32 + number, value);
            }
            if gram.pair != 0
                && space.has_pairs()
                && let Some((fixed, seeing)) = self.neighbour(token, gram.pair)
            {
                let pair = pair_of(gram.pair, fixed, label, space.labels()) as u32;
                for &feature in self.corpus.sentences.pair_features(seeing) {
                    if let Some(index) = space.pairs.parameter(feature, pair) {
                        difference.push((gram.group * size + space.pair_start() + index) as u32, value);
                    }
                }
            }
        }
    }

    pub(crate) fn differentiate<G: Gradient + ?Sized>(
        &self,
        token: usize,
        weights: Weights<'_>,
        workspace: &mut LocalWorkspace,
        gradient: &mut G,
    ) -> f64 {
        let gold = self.corpus.sentences.gold[token];
        let weight = self.weights[token];
        if gold == UNKNOWN || weight == 0.0 {
            return 0.0;
        }
        let (space, size) = (&self.corpus.space, self.corpus.space.group_size());
        let (mut kept, mut loss) = (None, 0.0);
        for piece in &self.pieces {
            self.score(token, piece, weights, &mut kept, workspace);
            let LocalWorkspace { scores, probabilities, pairs, entries, .. } = workspace;
            let most = f64::from(scores[best_label(scores) as usize]);
            kernels::exp_row(scores, most, probabilities);
            let sum: f64 = probabilities.iter().sum();
            loss += most + sum.ln() - f64::from(scores[gold as usize]);
            // From here on the scores hold probability minus truth.
            scores.iter_mut().zip(probabilities.iter()).for_each(|(excess, p)| *excess = (p / sum) as f32);
            scores[gold as usize] -= 1.0;
            let by_entry = space.parts.spread(scores, entries);
            for &(group, _) in piece.nodes.iter().filter(|&&(_, locked)| !locked) {
                let mut gradient = Offset { gradient, start: group * size };
                self.corpus.sentences.features(token, |feature, value| {
                    space.nodes.add_gradient(feature, weight * value, by_entry, &mut gradient)
                });
            }
            for (gram, &context) in
                piece.grams.iter().zip(self.contexts(token, piece)).filter(|(gram, _)| !gram.locked)
            {
                let start = gram.group * size;
                self.rows.add_gradient(context, weight, scores, start + space.gram_start(), gradient);
                if gram.pair != 0
                    && space.has_pairs()
                    && let Some((fixed, seeing)) = self.neighbour(token, gram.pair)
                {
                    pairs.clear();
                    pairs.resize(space.labels() * space.labels(), 0.0);
                    scores.iter().enumerate().for_each(|(label, &excess)| {
                        pairs[pair_of(gram.pair, fixed, label as u32, space.labels())] = excess
                    });
                    let mut gradient = Offset { gradient, start: start + space.pair_start() };
                    for &feature in self.corpus.sentences.pair_features(seeing) {
                        space.pairs.add_gradient(feature, weight, pairs, &mut gradient);
                    }
                }
            }
        }
        f64::from(weight) * loss
    }
}

/// The number of a label pair where one side is fixed.
fn pair_of(side: i32, fixed: u32, label: u32, labels: usize) -> usize {
    let (previous, label) = if side < 0 { (fixed, label) } else { (label, fixed) };
    previous as usize * labels + label as usize
}
