//! Objectives of a diagram over a corpus, as training problems.
//!
//! The same pieces serve every trainer: those that compare gold and prediction take the best labels of each
//! piece (the perceptron on pseudo-likelihood's pieces is the pseudo-perceptron), those that follow a
//! gradient its log-probability.

mod chain;
mod early_update;
mod joint;
mod local;
mod nota;
mod scaling;
mod single_sums;
#[cfg(test)]
#[path = "../../tests/unit/objectives.rs"]
mod tests;

use std::ops::Range;

use consonant_learn::LearnError;
use consonant_learn::problem::{Differentiate, Problem, Separate, Separation, Weights};
use consonant_learn::sparse::{Gradient, SparseVector};
use consonant_learn::vectorized;

use self::chain::{ChainPiece, ChainWorkspace};
pub(crate) use self::early_update::EarlyUpdate;
pub(crate) use self::joint::Joint;
pub use self::joint::{ScoredSentence, Ties};
use self::local::{LocalPieces, LocalWorkspace};
use self::nota::{NotaPiece, NotaWorkspace};
pub(crate) use self::scaling::{Scaling, scale_scores};
use crate::corpus::Corpus;
use crate::diagram::{Diagram, Factor, Nota, Variables};
use crate::inference::{InferenceError, TransitionMask};
use crate::space::Space;
use crate::{Sentences, SequenceError, UNKNOWN};

/// The pieces of a diagram over a corpus. Examples are the sentences for a piece with all variables, and the
/// tokens for each other kind, one kind after the other.
pub(crate) struct Objective<'a> {
    corpus: &'a Corpus,
    terms: Vec<Term<'a>>,
    /// The first example of each term; one more at the end.
    starts: Vec<usize>,
    parameters: usize,
    /// Weights that stay as they are; empty for none.
    frozen: Vec<bool>,
}

enum Term<'a> {
    Chain(ChainPiece<'a>),
    Local(LocalPieces<'a>),
    Nota(NotaPiece<'a>),
}

pub(crate) enum TermWorkspace {
    Chain(Box<ChainWorkspace>),
    Local(LocalWorkspace),
    Nota(Box<NotaWorkspace>),
}

impl<'a> Objective<'a> {
    /// `negatives`: for NOTA by threshold, the wrong labels chosen for each token, once they are known.
    pub(crate) fn new(
        corpus: &'a Corpus,
        diagram: &Diagram,
        mask: Option<&TransitionMask>,
        seed: u64,
        negatives: Option<Negatives>,
    ) -> Result<Self, SequenceError> {
        diagram.check()?;
        let groups = diagram.groups();
        let group = |factor: &Factor| groups.iter().position(|&group| group == factor.group).unwrap_or(0);
        let mut terms = Vec::new();
        let mut local = LocalPieces::new(corpus);
        for piece in &diagram.pieces {
            match (&piece.variables, piece.nota) {
                (Variables::Offsets(_), Some(nota)) => {
                    let both = piece.factors.len() > 2;
                    let negatives = match (nota, &negatives) {
                        (Nota::Threshold { .. }, Some(chosen)) => chosen.clone(),
                        _ => Negatives::choose(corpus, nota, both, seed),
                    };
                    let group = group(&piece.factors[0]);
                    terms.push(Term::Nota(NotaPiece::new(corpus, group, both, negatives)?));
                }
                (Variables::Offsets(offsets), None) if offsets.len() == 1 => {
                    local.add(piece, offsets[0], group)
                }
                (variables, _) => {
                    let offsets = match variables {
                        Variables::All => None,
                        Variables::Offsets(offsets) => Some(&offsets[..]),
                    };
                    let first = group(&piece.factors[0]);
                    terms.push(Term::Chain(ChainPiece::new(corpus, piece, offsets, first, mask)?));
                }
            }
        }
        if !local.is_empty() {
            terms.push(Term::Local(local));
        }
        let mut starts = vec![0];
        for term in &terms {
            let examples = match term {
                Term::Chain(piece) => piece.examples(),
                _ => corpus.sentences.tokens(),
            };
            starts.push(starts.last().unwrap_or(&0) + examples);
        }
        let size = corpus.space.group_size();
        let mut frozen = Vec::new();
        for factor in
            diagram.pieces.iter().flat_map(|piece| &piece.factors).filter(|factor| !factor.lines.is_empty())
        {
            frozen.resize(groups.len() * size, false);
            let start = group(factor) * size;
            corpus.outside_of(&factor.lines)?.into_iter().for_each(|weight| frozen[start + weight] = true);
        }
        Ok(Self { corpus, terms, starts, parameters: groups.len() * size, frozen })
    }

    #[inline]
    fn locate(&self, example: usize) -> (usize, usize) {
        let mut term = 0;
        while example >= self.starts[term + 1] {
            term += 1;
        }
        (term, example - self.starts[term])
    }
}

pub(crate) use self::nota::Negatives;

impl Problem for Objective<'_> {
    type Workspace = Vec<TermWorkspace>;

    fn workspace(&self) -> Self::Workspace {
        let one = |term: &Term<'_>| match term {
            Term::Chain(term) => TermWorkspace::Chain(Box::new(term.workspace())),
            Term::Local(term) => TermWorkspace::Local(term.workspace()),
            Term::Nota(term) => TermWorkspace::Nota(Box::new(term.workspace())),
        };
        self.terms.iter().map(one).collect()
    }

    fn parameters(&self) -> usize {
        self.parameters
    }

    fn examples(&self) -> usize {
        *self.starts.last().unwrap_or(&0)
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        Ok(self.corpus.sentences.fingerprint())
    }
}

impl Separate for Objective<'_> {
    fn separate(
        &self,
        example: usize,
        weights: Weights<'_>,
        cost: f32,
        workspace: &mut Self::Workspace,
        difference: &mut SparseVector,
    ) -> Result<Separation, LearnError> {
        let (term, example) = self.locate(example);
        let outcome = separation_of(match (&self.terms[term], &mut workspace[term]) {
            (Term::Chain(term), TermWorkspace::Chain(workspace)) => {
                term.separate(example, weights, cost, workspace, difference)
            }
            (Term::Local(term), TermWorkspace::Local(workspace)) => {
                Ok(term.separate(example, weights, cost, workspace, difference))
            }
            // NOTA is defined by its likelihood; `train` refuses the other methods.
            _ => Ok(Separation::CORRECT),
        });
        if !self.frozen.is_empty() {
            let all = std::mem::take(difference);
            let moved = all.pairs().iter().filter(|(index, _)| !self.frozen[*index as usize]);
            moved.for_each(|&(index, value)| difference.push(index, value));
        }
        outcome
    }
}

impl Objective<'_> {
    fn differentiate_all<G: Gradient + ?Sized>(
        &self,
        example: usize,
        weights: Weights<'_>,
        workspace: &mut [TermWorkspace],
        gradient: &mut G,
    ) -> Result<f64, LearnError> {
        let (term, example) = self.locate(example);
        loss_of(match (&self.terms[term], &mut workspace[term]) {
            (Term::Chain(term), TermWorkspace::Chain(workspace)) => {
                term.differentiate(example, weights, workspace, gradient)
            }
            (Term::Local(term), TermWorkspace::Local(workspace)) => {
                Ok(term.differentiate(example, weights, workspace, gradient))
            }
            (Term::Nota(term), TermWorkspace::Nota(workspace)) => {
                Ok(term.differentiate(example, weights, workspace, gradient))
            }
            _ => Ok(0.0),
        })
    }
}

impl Differentiate for Objective<'_> {
    fn differentiate<G: Gradient + ?Sized>(
        &self,
        example: usize,
        weights: Weights<'_>,
        workspace: &mut Self::Workspace,
        gradient: &mut G,
    ) -> Result<f64, LearnError> {
        if self.frozen.is_empty() {
            return self.differentiate_all(example, weights, workspace, gradient);
        }
        let mut all = SparseVector::new();
        let loss = self.differentiate_all(example, weights, workspace, &mut all);
        let moved = all.pairs().iter().filter(|(index, _)| !self.frozen[*index as usize]);
        moved.for_each(|&(index, value)| gradient.add(index as usize, value));
        loss
    }

    fn size(&self, example: usize) -> usize {
        let (term, example) = self.locate(example);
        match &self.terms[term] {
            Term::Chain(term) => term.size(example),
            _ => 1,
        }
    }
}

/// Passes over a sentence to which the constraints leave no sequence; it has no use in training.
fn separation_of(result: Result<Separation, SequenceError>) -> Result<Separation, LearnError> {
    match result {
        Err(SequenceError::Inference(
            InferenceError::NoAllowedSequence { .. } | InferenceError::BeamDeadEnd { .. },
        )) => Ok(Separation::CORRECT),
        result => result.map_err(LearnError::task),
    }
}

/// As [`separation_of`]; weights so large that scores are no numbers have an infinite loss, from which a line
/// search comes back.
fn loss_of(result: Result<f64, SequenceError>) -> Result<f64, LearnError> {
    match result {
        Err(SequenceError::Inference(InferenceError::NoAllowedSequence { .. })) => Ok(0.0),
        Err(SequenceError::Inference(InferenceError::NotANumber { .. })) => Ok(f64::INFINITY),
        result => result.map_err(LearnError::task),
    }
}

/// A gradient that begins at the weights of a group.
struct Offset<'g, G: ?Sized> {
    gradient: &'g mut G,
    start: usize,
}

impl<G: Gradient + ?Sized> Gradient for Offset<'_, G> {
    #[inline(always)]
    fn add(&mut self, index: usize, value: f32) {
        self.gradient.add(self.start + index, value);
    }

    #[inline(always)]
    fn add_run(&mut self, start: usize, scale: f32, values: &[f32]) {
        self.gradient.add_run(self.start + start, scale, values);
    }

    #[inline(always)]
    fn add_masked_run(&mut self, start: usize, scale: f32, mask: &[f32], values: &[f32]) {
        self.gradient.add_masked_run(self.start + start, scale, mask, values);
    }

    #[inline(always)]
    fn add_gathered(&mut self, start: usize, scale: f32, labels: &[u32], values: &[f32]) {
        self.gradient.add_gathered(self.start + start, scale, labels, values);
    }
}

/// Writes the node scores of tokens: for each the sum of its features' rows. `entries` is scratch space.
#[inline(always)]
pub(crate) fn node_scores(
    corpus: &Corpus,
    sentences: &Sentences,
    tokens: Range<usize>,
    group: &[f32],
    scale: f32,
    entries: &mut Vec<f32>,
    scores: &mut [f32],
) {
    let space = &corpus.space;
    if space.parts.is_empty() {
        scores.fill(0.0);
        add_rows(space, sentences, tokens, group, scores);
    } else {
        let width = space.parts.entries();
        entries.clear();
        entries.resize(tokens.len() * width, 0.0);
        add_rows(space, sentences, tokens, group, entries);
        let rows = entries.chunks_exact(width).zip(scores.chunks_exact_mut(space.labels()));
        rows.for_each(|(entries, scores)| space.parts.gather(entries, scores));
    }
    if scale != 1.0 {
        scores.iter_mut().for_each(|score| *score *= scale);
    }
}

/// Adds the rows of the tokens' features.
#[inline(always)]
fn add_rows(space: &Space, sentences: &Sentences, tokens: Range<usize>, group: &[f32], entries: &mut [f32]) {
    let width = space.nodes.dimension();
    for (token, entries) in tokens.clone().zip(entries.chunks_exact_mut(width)) {
        let (features, values) = sentences.long_rows(token);
        space.nodes.add_all_scores(features, values, group, entries);
    }
    for (weight, place) in sentences.short_rows(tokens, width) {
        entries[place] += group[weight];
    }
}

/// Adds the scores of a token's pair features: `scores[previous · labels + label]`.
#[inline]
pub(crate) fn add_pair_scores(
    corpus: &Corpus,
    sentences: &Sentences,
    token: usize,
    group: &[f32],
    scale: f32,
    scores: &mut [f32],
) {
    let weights = &group[corpus.space.pair_start()..];
    for &feature in sentences.pair_features(token) {
        corpus.space.pairs.add_scores(feature, scale, weights, scores);
    }
}

vectorized! {
    /// Writes the scores of a sentence by one group's weights: a row of nodes for each token and, where there
    /// are features over label pairs, a matrix of edges for each step. `entries` is scratch space.
    fn sentence_scores(
        corpus: &Corpus,
        place: (&Sentences, usize),
        weights: (&[f32], f32),
        entries: &mut Vec<f32>,
        nodes: &mut Vec<f32>,
        edges: &mut Vec<f32>,
    ) {
        let ((sentences, sentence), (group, scale)) = (place, weights);
        let (range, labels) = (sentences.range(sentence), corpus.space.labels());
        nodes.resize(range.len() * labels, 0.0);
        node_scores(corpus, sentences, range.clone(), group, scale, entries, nodes);
        edges.clear();
        if corpus.space.has_pairs() {
            edges.resize(range.len().saturating_sub(1) * labels * labels, 0.0);
            for (token, scores) in range.skip(1).zip(edges.chunks_exact_mut(labels * labels)) {
                add_pair_scores(corpus, sentences, token, group, scale, scores);
            }
        }
    }
}

/// The sentence of every token, for weights.
fn token_weights(corpus: &Corpus) -> Vec<f32> {
    let mut weights = Vec::with_capacity(corpus.sentences.tokens());
    for sentence in 0..corpus.sentences.len() {
        let class = |&label: &u32| if label == UNKNOWN { 0.0 } else { corpus.class_weights[label as usize] };
        let weight = corpus.sentences.weight(sentence);
        weights.extend(corpus.sentences.gold(sentence).iter().map(|label| weight * class(label)));
    }
    weights
}

/// The place of the largest score; the first of equals.
#[inline]
pub(crate) fn best_label(scores: &[f32]) -> u32 {
    // The largest value first, in lanes that need not wait for each other; then where it stands.
    let mut lanes = [f32::NEG_INFINITY; 8];
    let chunks = scores.chunks_exact(8);
    let mut most = chunks
        .remainder()
        .iter()
        .fold(f32::NEG_INFINITY, |most, &score| if score > most { score } else { most });
    for chunk in chunks {
        for (lane, &score) in lanes.iter_mut().zip(chunk) {
            *lane = if score > *lane { score } else { *lane };
        }
    }
    for lane in lanes {
        most = if lane > most { lane } else { most };
    }
    scores.iter().position(|&score| score == most).unwrap_or(0) as u32
}
