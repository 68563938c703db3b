//! A scale for each previous label, learned by global training over weights that were trained in pieces.

use consonant_learn::LearnError;
use consonant_learn::problem::{Differentiate, Problem, Weights};
use consonant_learn::sparse::Gradient;

use super::{loss_of, sentence_scores};
use crate::corpus::Corpus;
use crate::inference::{Chain, Potentials, Transitions, Workspace};
use crate::{SequenceError, UNKNOWN};

/// The likelihood of whole sentences as a function of the scales alone: α_{y'} multiplies everything that is
/// scored given the previous label y' (McCallum & Sutton 2004, section 3). The last scale is that of the
/// first position.
pub(crate) struct Scaling<'a> {
    corpus: &'a Corpus,
    group: &'a [f32],
    edges: Vec<f32>,
    transitions: Transitions,
    potentials: Potentials,
}

#[derive(Default)]
pub(crate) struct ScalingWorkspace {
    entries: Vec<f32>,
    plain: Vec<f32>,
    pairs: Vec<f32>,
    nodes: Vec<f32>,
    edges: Vec<f32>,
    counts: Vec<f64>,
    inference: Workspace,
}

impl<'a> Scaling<'a> {
    pub(crate) fn new(corpus: &'a Corpus, group: &'a [f32]) -> Result<Self, SequenceError> {
        let labels = corpus.space.labels();
        let edges = corpus.space.grams.matrix(corpus.space.gram_weights(group));
        let transitions = Transitions::dense(labels, &vec![0.0; labels * labels], None)?;
        let potentials = Potentials::new(&transitions);
        Ok(Self { corpus, group, edges, transitions, potentials })
    }
}

/// Node and edge scores of a sentence under scales: everything but the first position moves into the edges.
/// `pairs`: edge scores of the positions' own, or nothing.
pub(crate) fn scale_scores(
    labels: usize,
    plain: &[f32],
    transitions: &[f32],
    pairs: &[f32],
    scales: &[f32],
    nodes: &mut Vec<f32>,
    edges: &mut Vec<f32>,
) {
    nodes.clear();
    nodes.resize(plain.len(), 0.0);
    edges.clear();
    if plain.is_empty() {
        return;
    }
    nodes[..labels].iter_mut().zip(plain).for_each(|(node, plain)| *node = scales[labels] * plain);
    for (step, row) in plain.chunks_exact(labels).skip(1).enumerate() {
        for previous in 0..labels {
            let transitions = &transitions[previous * labels..(previous + 1) * labels];
            let start = edges.len();
            edges.extend(row.iter().zip(transitions).map(|(node, edge)| scales[previous] * (node + edge)));
            let pairs = pairs.get((step * labels + previous) * labels..).unwrap_or(&[]);
            edges[start..].iter_mut().zip(pairs).for_each(|(edge, pair)| *edge += scales[previous] * pair);
        }
    }
}

impl Problem for Scaling<'_> {
    type Workspace = ScalingWorkspace;

    fn workspace(&self) -> ScalingWorkspace {
        ScalingWorkspace::default()
    }

    fn parameters(&self) -> usize {
        self.corpus.space.labels() + 1
    }

    fn examples(&self) -> usize {
        self.corpus.sentences.len()
    }

    fn fingerprint(&self) -> Result<u64, LearnError> {
        Ok(self.corpus.sentences.fingerprint())
    }
}

impl Differentiate for Scaling<'_> {
    fn differentiate<G: Gradient + ?Sized>(
        &self,
        sentence: usize,
        weights: Weights<'_>,
        workspace: &mut ScalingWorkspace,
        gradient: &mut G,
    ) -> Result<f64, LearnError> {
        loss_of(self.try_differentiate(sentence, weights.values, workspace, gradient))
    }

    fn size(&self, sentence: usize) -> usize {
        1 + self.corpus.sentences.range(sentence).len()
    }
}

impl Scaling<'_> {
    fn try_differentiate<G: Gradient + ?Sized>(
        &self,
        sentence: usize,
        scales: &[f32],
        workspace: &mut ScalingWorkspace,
        gradient: &mut G,
    ) -> Result<f64, SequenceError> {
        let labels = self.corpus.space.labels();
        let gold = self.corpus.sentences.gold(sentence);
        if gold.is_empty() || gold.contains(&UNKNOWN) {
            return Ok(0.0);
        }
        let ScalingWorkspace { entries, plain, pairs, nodes, edges, counts, inference } = workspace;
        let place = (&self.corpus.sentences, sentence);
        sentence_scores(self.corpus, place, (self.group, 1.0), entries, plain, pairs);
        scale_scores(labels, plain, &self.edges, pairs, scales, nodes, edges);
        let chain = Chain::new(nodes, &self.transitions)?.with_edges(edges)?;
        let mut posterior = inference.forward_backward(&chain, &self.potentials)?;
        let loss = posterior.log_partition() - chain.score(gold)?;
        counts.clear();
        counts.resize(edges.len(), 0.0);
        let start: f64 =
            posterior.node(0).iter().zip(plain.iter()).map(|(p, &score)| p * f64::from(score)).sum();
        gradient.add(labels, (start - f64::from(plain[gold[0] as usize])) as f32);
        posterior.add_edge_counts(1.0, counts)?;
        for (position, pair) in gold.windows(2).enumerate() {
            counts[(position * labels + pair[0] as usize) * labels + pair[1] as usize] -= 1.0;
        }
        for (step, (row, counts)) in
            plain.chunks_exact(labels).skip(1).zip(counts.chunks_exact(labels * labels)).enumerate()
        {
            for (previous, counts) in counts.chunks_exact(labels).enumerate() {
                let scores = row.iter().zip(&self.edges[previous * labels..]).map(|(node, edge)| node + edge);
                let mut sum: f64 =
                    counts.iter().zip(scores).map(|(count, score)| count * f64::from(score)).sum();
                let pairs = pairs.get((step * labels + previous) * labels..).unwrap_or(&[]);
                sum += counts.iter().zip(pairs).map(|(count, &pair)| count * f64::from(pair)).sum::<f64>();
                gradient.add(previous, sum as f32);
            }
        }
        Ok(loss)
    }
}
