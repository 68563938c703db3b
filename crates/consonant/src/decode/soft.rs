//! Soft answers with their gradients: what makes decoding a layer of a network.
//!
//! Over chains there are marginals, by sums over all sequences, and SparseMAP, by few of them; over trees there is SparseMAP. Every function takes
//! a batch, side by side on rayon's threads. A gradient is carried back by a function of its own that sees the same scores again.

use consonant_map::ModelError;
use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren};
use consonant_map::oracle::sequence::Sequence;
use consonant_map::oracle::sparse_map::SparseMap;
use consonant_sequence::inference::{Chain, Potentials, Workspace};
use consonant_task::Usage;
use rayon::prelude::*;

use super::Labelling;
use crate::Error;

/// Scores of a batch of sequences: `positions` rows for each, of which the first `lengths[i]` count.
#[derive(Debug, Clone, Copy)]
pub struct Sequences<'a> {
    /// A score for each label in each row.
    pub scores: &'a [f32],
    /// Rows for each sequence.
    pub positions: usize,
    /// How many of them each sequence has.
    pub lengths: &'a [usize],
}

/// Numbers about a batch of sequences, zero behind their ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Soft {
    /// For each label in each row: its share, or the gradient with respect to its score.
    pub labels: Vec<f64>,
    /// For each sequence and each pair of labels: how often it is expected, or the gradient with respect to its score.
    pub pairs: Vec<f64>,
    /// For each sequence: the logarithm of the sum over all sequences of labels, where there is one.
    pub log_sums: Vec<f64>,
}

impl Labelling {
    /// The probability of each label and the expected count of each pair of labels.
    pub fn marginals_of_batch(&self, batch: Sequences<'_>) -> Result<Soft, Error> {
        self.each(batch, None, |scores, _, labels, pairs| {
            let (nodes, steps, log_sum) = self.sums(scores)?;
            labels.copy_from_slice(&nodes);
            for step in steps.chunks_exact(pairs.len()) {
                pairs.iter_mut().zip(step).for_each(|(count, share)| *count += share);
            }
            Ok(log_sum)
        })
    }

    /// The gradient with respect to scores, given that with respect to the [marginals](Self::marginals_of_batch) of labels.
    ///
    /// The derivative of marginals is the covariance of labels: with r(y) the sum of the gradient along a sequence, that of a score is
    /// `E[r · label] − E[r] E[label]`. Given its marginals of pairs a chain is a Markov chain, so two passes give
    /// `E[r | label]`.
    pub fn marginals_gradient(&self, batch: Sequences<'_>, gradient: &[f64]) -> Result<Soft, Error> {
        self.each(batch, Some(gradient), |scores, gradient, labels, pairs| {
            let (nodes, steps, log_sum) = self.sums(scores)?;
            covariance(self.labels(), &nodes, &steps, gradient, labels, pairs);
            Ok(log_sum)
        })
    }

    /// SparseMAP: shares of labels that mix few sequences, and the counts of their pairs.
    pub fn sparse_map_of_batch(&self, batch: Sequences<'_>) -> Result<Soft, Error> {
        self.each(batch, None, |scores, _, labels, pairs| {
            let (chain, scores) = self.oracle(scores)?;
            for (path, weight) in sparse(&chain, &scores, labels)?.support() {
                add_pairs(path, weight, self.labels(), pairs);
            }
            Ok(0.0)
        })
    }

    /// The gradient with respect to scores, given that with respect to the shares of [SparseMAP](Self::sparse_map_of_batch).
    pub fn sparse_map_gradient(&self, batch: Sequences<'_>, gradient: &[f64]) -> Result<Soft, Error> {
        self.each(batch, Some(gradient), |scores, gradient, labels, pairs| {
            let (chain, scores) = self.oracle(scores)?;
            let sparse = sparse(&chain, &scores, labels)?;
            labels.fill(0.0);
            let changes = sparse.gradient(&chain, gradient, labels);
            for ((path, _), change) in sparse.support().zip(changes) {
                add_pairs(path, change, self.labels(), pairs);
            }
            Ok(0.0)
        })
    }

    /// Does the same for each sequence: of its scores and its gradient, numbers for labels and pairs, and the logarithm of its sum.
    fn each(
        &self,
        batch: Sequences<'_>,
        gradient: Option<&[f64]>,
        one: impl Fn(&[f32], &[f64], &mut [f64], &mut [f64]) -> Result<f64, Error> + Sync,
    ) -> Result<Soft, Error> {
        let Sequences { scores, positions, lengths } = batch;
        let labels = self.labels();
        let row = positions * labels;
        let fits = scores.len() == lengths.len() * row && lengths.iter().all(|&length| length <= positions);
        if !fits || gradient.is_some_and(|gradient| gradient.len() != scores.len()) {
            let sizes =
                format!("{} sequences of at most {positions} positions and {labels} labels", lengths.len());
            return Err(Usage(format!("the scores or the gradient do not fit {sizes}")).into());
        }
        let mut soft = Soft {
            labels: vec![0.0; scores.len()],
            pairs: vec![0.0; lengths.len() * labels * labels],
            log_sums: vec![0.0; lengths.len()],
        };
        if row == 0 {
            return Ok(soft);
        }
        let places = soft.labels.par_chunks_mut(row).zip(soft.pairs.par_chunks_mut(labels * labels));
        let places = places.zip(&mut soft.log_sums).zip(lengths).enumerate();
        places.try_for_each(|(number, (((own, pairs), log_sum), &length))| {
            let range = number * row..number * row + length * labels;
            let gradient = gradient.map_or(&[][..], |gradient| &gradient[range.clone()]);
            // No words have one sequence of labels, whose score is zero.
            if length == 0 {
                return Ok(());
            }
            *log_sum = one(&scores[range], gradient, &mut own[..length * labels], pairs)?;
            Ok::<(), Error>(())
        })?;
        Ok(soft)
    }

    /// Marginals of labels, marginals of pairs at each step, and the logarithm of the sum.
    fn sums(&self, scores: &[f32]) -> Result<(Vec<f64>, Vec<f64>, f64), Error> {
        let chain = Chain::new(scores, &self.transitions).map_err(Error::task)?;
        let potentials = Potentials::new(&self.transitions);
        let mut workspace = Workspace::new();
        let mut posterior = workspace.forward_backward(&chain, &potentials).map_err(Error::task)?;
        let mut steps = vec![0.0; chain.len().saturating_sub(1) * self.labels() * self.labels()];
        posterior.add_edge_counts(1.0, &mut steps).map_err(Error::task)?;
        Ok((posterior.nodes().to_vec(), steps, posterior.log_partition()))
    }

    /// The chain as the engine sees it.
    fn oracle(&self, scores: &[f32]) -> Result<(Sequence, Vec<f64>), Error> {
        let labels = self.labels();
        let mut scores: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
        let positions = scores.len() / labels;
        if let Some(mask) = &self.mask {
            let forbid = |row: &mut [f64], allows: &dyn Fn(u32) -> bool| {
                let forbidden = row.iter_mut().zip(0..).filter(|(_, label)| !allows(*label));
                forbidden.for_each(|(score, _)| *score = f64::NEG_INFINITY);
            };
            forbid(&mut scores[..labels], &|label| mask.allows_start(label));
            forbid(&mut scores[(positions - 1) * labels..], &|label| mask.allows_end(label));
        }
        let chain = Sequence::uniform(positions, labels, self.pairs.clone()).map_err(Error::task)?;
        Ok((chain, scores))
    }
}

fn add_pairs(path: &[u32], weight: f64, labels: usize, pairs: &mut [f64]) {
    path.windows(2).for_each(|step| pairs[step[0] as usize * labels + step[1] as usize] += weight);
}

fn sparse<O: Oracle>(oracle: &O, scores: &[f64], marginals: &mut [f64]) -> Result<SparseMap<O>, Error> {
    let mut sparse = SparseMap::default();
    if !marginals.is_empty() && !sparse.solve(oracle, scores, marginals) {
        return Err(Usage("the constraints allow nothing".to_owned()).into());
    }
    Ok(sparse)
}

/// The covariance of each label and each pair with the sum of `gradient` along a sequence.
fn covariance(
    count: usize,
    nodes: &[f64],
    steps: &[f64],
    gradient: &[f64],
    labels: &mut [f64],
    pairs: &mut [f64],
) {
    let positions = nodes.len() / count;
    let share = |joint: f64, alone: f64| if alone > 0.0 { joint / alone } else { 0.0 };
    // What the sequence up to a label, and behind it, is expected to sum to.
    let (mut before, mut behind) = (gradient.to_vec(), vec![0.0; nodes.len()]);
    let step = |position: usize, previous: usize, label: usize| {
        steps[((position - 1) * count + previous) * count + label]
    };
    for position in 1..positions {
        for label in 0..count {
            let at = position * count + label;
            for previous in 0..count {
                let from = at - label - count + previous;
                before[at] += share(step(position, previous, label), nodes[at]) * before[from];
            }
        }
    }
    for position in (1..positions).rev() {
        for previous in 0..count {
            let from = (position - 1) * count + previous;
            for label in 0..count {
                let at = position * count + label;
                behind[from] +=
                    share(step(position, previous, label), nodes[from]) * (gradient[at] + behind[at]);
            }
        }
    }
    let mean: f64 = nodes[..count.min(nodes.len())]
        .iter()
        .zip(before.iter().zip(&behind))
        .map(|(share, (before, behind))| share * (before + behind))
        .sum();
    for (at, label) in labels.iter_mut().enumerate() {
        *label = nodes[at] * (before[at] + behind[at] - mean);
    }
    for position in 1..positions {
        for previous in 0..count {
            for label in 0..count {
                let (from, at) = ((position - 1) * count + previous, position * count + label);
                let sum = before[from] + gradient[at] + behind[at];
                pairs[previous * count + label] += step(position, previous, label) * (sum - mean);
            }
        }
    }
}

/// SparseMAP over trees: the share of each arc, laid out as the scores (see [`best_tree`](super::best_tree)); with a gradient with respect to the shares,
/// that with respect to the scores instead.
///
/// ```
/// use consonant::decode::sparse_tree;
///
/// // One word: it hangs from the root.
/// assert_eq!(sparse_tree(&[0.0, 0.5, 0.0, 0.0], true, None)?, [0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), consonant::Error>(())
/// ```
pub fn sparse_tree(scores: &[f64], single_root: bool, gradient: Option<&[f64]>) -> Result<Vec<f64>, Error> {
    let nodes = scores.len().isqrt();
    if nodes * nodes != scores.len()
        || nodes == 0
        || gradient.is_some_and(|given| given.len() != scores.len())
    {
        let expected = "arc scores are a square with a row and a column for the root and each word";
        return Err(Usage(expected.to_owned()).into());
    }
    let arcs = (1..nodes).flat_map(|word| (0..nodes).map(move |head| (head, word)));
    let arcs: Vec<(usize, usize)> = arcs
        .filter(|&(head, word)| head != word && scores[head * nodes + word] > f64::NEG_INFINITY)
        .collect();
    let mut out = vec![0.0; scores.len()];
    if nodes == 1 {
        return Ok(out);
    }
    let root_children = if single_root { RootChildren::One } else { RootChildren::Any };
    let oracle =
        Arborescence::new(nodes, &arcs, root_children).map_err(|error: ModelError| Error::task(error))?;
    let of =
        |square: &[f64]| arcs.iter().map(|&(head, word)| square[head * nodes + word]).collect::<Vec<f64>>();
    let mut found = vec![0.0; arcs.len()];
    let sparse = sparse(&oracle, &of(scores), &mut found)?;
    if let Some(gradient) = gradient {
        found.fill(0.0);
        sparse.gradient(&oracle, &of(gradient), &mut found);
    }
    arcs.iter().zip(found).for_each(|(&(head, word), share)| out[head * nodes + word] = share);
    Ok(out)
}
