//! Structures from scores of one's own: legal label sequences and trees, for the scores of any model.

mod soft;

use consonant_map::oracle::arborescence::RootChildren;
use consonant_parser::{PartKinds, TreeDecoder, TreeDecoderOptions, TreeParts};
use consonant_sequence::inference::{Chain, Potentials, TransitionMask, Transitions, Workspace};
use consonant_task::Usage;
use consonant_text::Scheme;
use rayon::prelude::*;

pub use soft::{Sequences, Soft, sparse_tree};

use crate::{Certificate, Error};

/// Finds the best label sequences under transition scores and constraints.
///
/// ```
/// use consonant::decode::Labelling;
///
/// let labelling = Labelling::of_scheme(&["O", "B-LOC", "I-LOC"], None, None)?;
/// // The inside scores most everywhere, but a name has to begin.
/// let (path, certificate) = labelling.best(&[0.0, 0.5, 1.0, 0.0, 0.5, 1.0])?;
/// assert_eq!(path, [1, 2]);
/// assert_eq!((certificate.value(), certificate.bound()), (Some(1.5), 1.5));
/// # Ok::<(), consonant::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Labelling {
    transitions: Transitions,
    mask: Option<TransitionMask>,
    /// A score for each pair of labels, minus infinity where it may not be.
    pairs: Vec<f64>,
}

/// Sequences that one thread decodes with one set of buffers.
const BLOCK: usize = 64;

/// In a batch, the label of positions behind a sequence's end.
pub const PADDING: i32 = -1;

impl Labelling {
    /// Labels by number: `transitions` has a row of scores for each label before (none: all are zero), `mask` what may not be.
    pub fn new(
        labels: usize,
        transitions: Option<&[f32]>,
        mask: Option<&TransitionMask>,
    ) -> Result<Self, Error> {
        let own = match (transitions, mask) {
            (None, None) => Transitions::none(labels),
            (None, mask) => Transitions::dense(labels, &vec![0.0; labels * labels], mask),
            (Some(scores), mask) => Transitions::dense(labels, scores, mask),
        };
        let own = own.map_err(Error::task)?;
        let pair = |pair: usize| {
            let allowed = mask.is_none_or(|mask| mask.allows((pair / labels) as u32, (pair % labels) as u32));
            let score = transitions.map_or(0.0, |scores| f64::from(scores[pair]));
            if allowed { score } else { f64::NEG_INFINITY }
        };
        let pairs = (0..labels * labels).map(pair).collect();
        Ok(Self { transitions: own, mask: mask.cloned(), pairs })
    }

    /// Labels such as `B-LOC` that may only follow one another as their scheme allows; without a name, the scheme is told by the labels.
    pub fn of_scheme<L: AsRef<str>>(
        labels: &[L],
        scheme: Option<Scheme>,
        transitions: Option<&[f32]>,
    ) -> Result<Self, Error> {
        // The order of a set of labels says nothing of where they may stand.
        let scheme = scheme.unwrap_or_else(|| match Scheme::detect([labels]) {
            Scheme::Iob1 => Scheme::Iob2,
            told => told,
        });
        if let Some(label) = labels.iter().find(|label| scheme.parse(label.as_ref()).is_none()) {
            let label = label.as_ref();
            return Err(Usage(format!(
                "`{label}` is no label of the scheme {scheme}; expected O, B-TYPE, …"
            ))
            .into());
        }
        Self::new(labels.len(), transitions, Some(&crate::ner::allowed_transitions(labels, scheme)))
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.transitions.labels()
    }

    /// The best sequence under `scores`, a row for each position.
    pub fn best(&self, scores: &[f32]) -> Result<(Vec<u32>, Certificate), Error> {
        let mut path = Vec::new();
        let chain = Chain::new(scores, &self.transitions).map_err(Error::task)?;
        let value = Workspace::new().viterbi(&chain, &mut path).map_err(Error::task)?;
        Ok((path, Certificate::exact(value)))
    }

    /// The probability of each label at each position, and the logarithm of the sum over all sequences.
    pub fn marginals(&self, scores: &[f32]) -> Result<(Vec<f64>, f64), Error> {
        let chain = Chain::new(scores, &self.transitions).map_err(Error::task)?;
        let potentials = Potentials::new(&self.transitions);
        let mut workspace = Workspace::new();
        let posterior = workspace.forward_backward(&chain, &potentials).map_err(Error::task)?;
        Ok((posterior.nodes().to_vec(), posterior.log_partition()))
    }

    /// The best sequences of a batch, side by side on rayon's threads. `scores` has `positions` rows for each sequence, of which
    /// the first `lengths[i]` count; `paths` has room for as many labels, and [`PADDING`] behind each end. Returns the values.
    pub fn best_of_batch(
        &self,
        scores: &[f32],
        positions: usize,
        lengths: &[usize],
        paths: &mut [i32],
    ) -> Result<Vec<f64>, Error> {
        let labels = self.labels();
        let fits =
            scores.len() == lengths.len() * positions * labels && paths.len() == lengths.len() * positions;
        if !fits || lengths.iter().any(|&length| length > positions) {
            let sizes =
                format!("{} sequences of at most {positions} positions and {labels} labels", lengths.len());
            return Err(Usage(format!("the scores do not fit {sizes}")).into());
        }
        if positions == 0 {
            return Ok(vec![0.0; lengths.len()]);
        }
        let blocks =
            paths.par_chunks_mut(BLOCK * positions).zip(scores.par_chunks(BLOCK * positions * labels));
        let values: Result<Vec<Vec<f64>>, Error> = blocks
            .zip(lengths.par_chunks(BLOCK))
            .map(|((paths, scores), lengths)| {
                let (mut workspace, mut path) = (Workspace::new(), Vec::new());
                let sequences =
                    paths.chunks_mut(positions).zip(scores.chunks(positions * labels)).zip(lengths);
                let decode = |((place, scores), &length): ((&mut [i32], &[f32]), &usize)| {
                    let chain = Chain::new(&scores[..length * labels], &self.transitions);
                    let value =
                        workspace.viterbi(&chain.map_err(Error::task)?, &mut path).map_err(Error::task)?;
                    place.iter_mut().zip(&path).for_each(|(place, &label)| *place = label as i32);
                    place[length..].fill(PADDING);
                    Ok(value)
                };
                sequences.map(decode).collect()
            })
            .collect();
        Ok(values?.concat())
    }
}

/// How a tree over words may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeShape {
    /// Whether exactly one word depends on the root.
    pub single_root: bool,
    /// Whether arcs must not cross.
    pub projective: bool,
}

/// The best tree: the head of each word, 0 for the root. `scores` has a row for each head from 0 (the root) and a column for each word from 0 (not looked
/// at, as the diagonal is); minus infinity forbids an arc.
///
/// ```
/// use consonant::decode::{TreeShape, best_tree};
///
/// let scores = [0.0, 5.0, 4.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0];
/// let (heads, certificate) = best_tree(&scores, TreeShape { single_root: true, projective: false })?;
/// assert_eq!((heads, certificate.value()), (vec![0, 1], Some(6.0)));
/// # Ok::<(), consonant::Error>(())
/// ```
pub fn best_tree(scores: &[f32], shape: TreeShape) -> Result<(Vec<usize>, Certificate), Error> {
    let nodes = scores.len().isqrt();
    if nodes * nodes != scores.len() || nodes == 0 {
        return Err(Usage(
            "arc scores are a square with a row and a column for the root and each word".into(),
        )
        .into());
    }
    let arcs = (1..nodes).flat_map(|word| (0..nodes).map(move |head| (head, word)));
    let arcs: Vec<(usize, usize)> = arcs
        .filter(|&(head, word)| head != word && scores[head * nodes + word] > f32::NEG_INFINITY)
        .collect();
    let values: Vec<f32> = arcs.iter().map(|&(head, word)| scores[head * nodes + word]).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Usage("an arc's score is not a number".into()).into());
    }
    if nodes == 1 {
        return Ok((Vec::new(), Certificate::exact(0.0)));
    }
    let root_children = if shape.single_root { RootChildren::One } else { RootChildren::Any };
    let parts =
        TreeParts::new(nodes - 1, &arcs, PartKinds::of_order(1), root_children).map_err(Error::task)?;
    let options = TreeDecoderOptions { projective: shape.projective, root_children, ..Default::default() };
    let mut heads = Vec::new();
    let certificate = TreeDecoder::new(options).decode(&parts, &values, &mut heads).map_err(Error::task)?;
    Ok((heads, certificate))
}
