//! Pieces that predict several neighbouring labels jointly, given the gold labels at their borders.

use consonant_learn::problem::{Separation, Weights};
use consonant_learn::sparse::{Gradient, SparseVector};

use super::whole::ChainWorkspace;
use super::{Offset, node_scores, token_weights};
use crate::corpus::Corpus;
use crate::diagram::Piece;
use crate::inference::{Chain, Transitions};
use crate::ngrams::{ContextRows, NO_CONTEXT};
use crate::{SequenceError, UNKNOWN};

pub(crate) struct WindowPiece<'a> {
    corpus: &'a Corpus,
    rows: ContextRows,
    transitions: Transitions,
    group: usize,
    /// For each variable whether its node is in the piece.
    nodes: Vec<bool>,
    first: i32,
    /// Whether the edges over the left and the right border are in the piece.
    borders: [bool; 2],
    locked_nodes: bool,
    locked_edges: bool,
    /// The sentence of each token.
    sentences: Vec<u32>,
    weights: Vec<f32>,
}

pub(crate) struct WindowWorkspace {
    chain: ChainWorkspace,
    path: Vec<u32>,
    excess: Vec<f32>,
    counts: Vec<f64>,
}

/// A window in a sentence: its first token, its gold labels, and the context rows at its borders.
struct Place<'a> {
    start: usize,
    gold: &'a [u32],
    contexts: [u32; 2],
}

impl<'a> WindowPiece<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        piece: &Piece,
        offsets: &[i32],
        group: usize,
    ) -> Result<Self, SequenceError> {
        if corpus.space.grams.order() != 1 || corpus.space.has_pairs() {
            let message = format!(
                "piece `{}` predicts several labels at once, which is possible for chains of order 1 without features over label pairs",
                piece.name
            );
            return Err(SequenceError::Unsupported(message));
        }
        let has = |span: &[i32]| piece.factors.iter().any(|factor| factor.offsets == span);
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let mut sentences = Vec::with_capacity(corpus.sentences.tokens());
        for sentence in 0..corpus.sentences.len() {
            sentences.extend(corpus.sentences.range(sentence).map(|_| sentence as u32));
        }
        Ok(Self {
            corpus,
            rows: ContextRows::new(&corpus.space.grams),
            transitions: corpus.space.grams.transitions(None)?,
            group,
            nodes: offsets.iter().map(|&offset| has(&[offset])).collect(),
            first,
            borders: [has(&[first - 1, first]), has(&[last, last + 1])],
            locked_nodes: piece.factors.iter().any(|factor| factor.offsets.len() == 1 && factor.locked),
            locked_edges: piece.factors.iter().any(|factor| factor.offsets.len() > 1 && factor.locked),
            sentences,
            weights: token_weights(corpus),
        })
    }

    pub(crate) fn workspace(&self) -> WindowWorkspace {
        WindowWorkspace {
            chain: ChainWorkspace::new(self.transitions.clone()),
            path: Vec::new(),
            excess: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// The window at a token, if all of it is inside the sentence and labelled. A sentence shorter than the window is one window.
    fn place(&self, token: usize) -> Option<Place<'a>> {
        let sentence = self.sentences[token] as usize;
        let range = self.corpus.sentences.range(sentence);
        let gold = self.corpus.sentences.gold(sentence);
        let position = (token - range.start) as i64;
        let (from, to) = if gold.len() < self.nodes.len() {
            (position == 0).then_some((0, gold.len()))?
        } else {
            let from = usize::try_from(position + i64::from(self.first)).ok()?;
            (from, from + self.nodes.len())
        };
        let inside = gold.get(from..to).filter(|labels| !labels.contains(&UNKNOWN))?;
        let label =
            |at: Option<usize>| at.and_then(|at| gold.get(at)).copied().filter(|&label| label != UNKNOWN);
        let mut contexts = [NO_CONTEXT; 2];
        if let Some(before) = label(from.checked_sub(1)).filter(|_| self.borders[0]) {
            contexts[0] = self.rows.row(&[before, 0], 1);
        }
        if let Some(after) = label(Some(to)).filter(|_| self.borders[1]) {
            contexts[1] = self.rows.row(&[0, after], 0);
        }
        Some(Place { start: range.start + from, gold: inside, contexts })
    }

    fn score(
        &self,
        place: &Place<'_>,
        weights: Weights<'_>,
        workspace: &mut WindowWorkspace,
    ) -> Result<(), SequenceError> {
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        let group = &weights.values[self.group * space.group_size()..][..space.group_size()];
        let chain = &mut workspace.chain;
        chain.load(space.gram_weights(group), weights.scale)?;
        chain.nodes.clear();
        chain.nodes.resize(place.gold.len() * labels, 0.0);
        for (at, scores) in chain.nodes.chunks_exact_mut(labels).enumerate() {
            if self.nodes[at] {
                node_scores(
                    self.corpus,
                    &self.corpus.sentences,
                    place.start + at,
                    group,
                    weights.scale,
                    &mut chain.entries,
                    scores,
                );
            }
        }
        let last = chain.nodes.len() - labels;
        let mut border = vec![0.0; labels];
        for (context, start) in [(place.contexts[0], 0), (place.contexts[1], last)] {
            border.fill(0.0);
            self.rows.add_scores(context, space.gram_weights(group), &mut border);
            chain.nodes[start..start + labels]
                .iter_mut()
                .zip(&border)
                .for_each(|(score, border)| *score += weights.scale * border);
        }
        Ok(())
    }

    pub(crate) fn separate(
        &self,
        token: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut WindowWorkspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, SequenceError> {
        let correct = Separation { weight: self.weights[token], ..Separation::CORRECT };
        let Some(place) = &self.place(token) else { return Ok(correct) };
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        self.score(place, weights, workspace)?;
        let WindowWorkspace { chain, path, .. } = workspace;
        chain
            .nodes
            .chunks_exact_mut(labels)
            .zip(place.gold)
            .for_each(|(scores, &label)| scores[label as usize] -= cost);
        let sequence = Chain::new(&chain.nodes, &chain.transitions)?;
        let best = chain.inference.viterbi(&sequence, path)?;
        let errors = path.iter().zip(place.gold).filter(|(found, gold)| found != gold).count() as f32;
        if errors == 0.0 {
            return Ok(correct);
        }
        let violation = (best - sequence.score(place.gold)?) as f32 - cost * errors;
        let start = self.group * space.group_size();
        for (path, others, value) in [(place.gold, path.as_slice(), 1.0), (path.as_slice(), place.gold, -1.0)]
        {
            for (at, (&label, &other)) in path.iter().zip(others).enumerate() {
                if self.nodes[at] && !self.locked_nodes {
                    self.corpus.sentences.features(place.start + at, |feature, amount| {
                        space.node_parameters(feature, label, other, |index| {
                            difference.push((start + index) as u32, value * amount)
                        });
                    });
                }
                if !self.locked_edges {
                    let grams = (start + space.gram_start()) as u32;
                    space.grams.ending_at(path, at, |number| difference.push(grams + number, value));
                    let border = [(at == 0, place.contexts[0]), (at + 1 == path.len(), place.contexts[1])];
                    for (_, context) in border.into_iter().filter(|&(here, _)| here) {
                        if let Some(number) = self.rows.number(context, label) {
                            difference.push(grams + number, value);
                        }
                    }
                }
            }
        }
        Ok(Separation { violation, cost: errors, ..correct })
    }

    pub(crate) fn differentiate<G: Gradient + ?Sized>(
        &self,
        token: usize,
        weights: Weights<'_>,
        workspace: &mut WindowWorkspace,
        gradient: &mut G,
    ) -> Result<f64, SequenceError> {
        let Some(place) = &self.place(token) else { return Ok(0.0) };
        let weight = self.weights[token];
        let (space, labels) = (&self.corpus.space, self.corpus.space.labels());
        self.score(place, weights, workspace)?;
        workspace.chain.refresh();
        let WindowWorkspace { chain, excess, counts, .. } = workspace;
        let sequence = Chain::new(&chain.nodes, &chain.transitions)?;
        counts.clear();
        counts.resize(chain.transitions.score_count(), 0.0);
        let mut posterior = chain.inference.forward_backward(&sequence, &chain.potentials)?;
        let loss = posterior.log_partition() - sequence.score(place.gold)?;
        excess.clear();
        excess.extend(posterior.nodes().iter().map(|&p| p as f32));
        posterior.add_transition_counts(1.0, counts)?;
        for (at, &label) in place.gold.iter().enumerate() {
            excess[at * labels + label as usize] -= 1.0;
            space.grams.ending_at(place.gold, at, |number| counts[number as usize] -= 1.0);
        }
        let mut gradient = Offset { gradient, start: self.group * space.group_size() };
        for (at, excess) in excess.chunks_exact(labels).enumerate() {
            if self.nodes[at] && !self.locked_nodes {
                let excess = space.parts.spread(excess, &mut chain.entries);
                self.corpus.sentences.features(place.start + at, |feature, value| {
                    space.nodes.add_gradient(feature, weight * value, excess, &mut gradient)
                });
            }
        }
        if !self.locked_edges {
            let last = excess.len() - labels;
            for (context, excess) in
                [(place.contexts[0], &excess[..labels]), (place.contexts[1], &excess[last..])]
            {
                self.rows.add_gradient(context, weight, excess, space.gram_start(), &mut gradient);
            }
            for (number, &count) in counts.iter().enumerate().filter(|&(_, &count)| count != 0.0) {
                gradient.add(space.gram_start() + number, weight * count as f32);
            }
        }
        Ok(f64::from(weight) * loss)
    }
}
