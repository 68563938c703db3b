//! Scores between neighbouring labels, prepared for inference.

use super::constraints::TransitionMask;
use super::error::{InferenceError, Result, check_length, check_scores};
use super::grams::Grams;
use super::kernels::score_stride;

/// Transition scores of a chain: none, dense of order 1, or sparse of any order, with forbidden pairs laid
/// over them.
///
/// The structure is built once; [`load`](Self::load) takes new numbers after the weights change.
#[derive(Debug, Clone)]
pub struct Transitions {
    labels: usize,
    mask: Option<TransitionMask>,
    pub(crate) kind: Kind,
}

/// The two ways to hold transitions.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Dense(Dense),
    Grams(Box<Grams>),
}

/// One padded row of scores for each previous label; order 0 is a single row of zeros shared by all of them.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    pub(crate) stride: usize,
    /// Distance between rows: `stride`, or 0 for order 0.
    pub(crate) row_step: usize,
    pub(crate) scores: Vec<f32>,
    /// Extremes of each row: what a previous label can add at best and at worst.
    pub(crate) most: Vec<f32>,
    pub(crate) least: Vec<f32>,
    /// Offsets in `scores` that the mask forbids.
    blocked: Vec<u32>,
}

impl Dense {
    fn zeros(labels: usize, rows: usize) -> Self {
        let stride = score_stride(labels);
        let mut scores = vec![f32::NEG_INFINITY; stride * rows];
        for row in scores.chunks_exact_mut(stride) {
            row[..labels].fill(0.0);
        }
        let row_step = if rows > 1 { stride } else { 0 };
        Self {
            stride,
            row_step,
            scores,
            most: vec![0.0; labels],
            least: vec![0.0; labels],
            blocked: Vec::new(),
        }
    }

    /// The row of scores after a label, padded with minus infinity.
    pub(crate) fn row(&self, previous: usize) -> &[f32] {
        let start = previous * self.row_step;
        &self.scores[start..start + self.stride]
    }

    fn refresh(&mut self, labels: usize) {
        for &offset in &self.blocked {
            self.scores[offset as usize] = f32::NEG_INFINITY;
        }
        for previous in 0..labels {
            let row = &self.scores[previous * self.stride..][..labels];
            let (mut most, mut least) = (f32::NEG_INFINITY, f32::INFINITY);
            for &score in row.iter() {
                most = if score > most { score } else { most };
                least = if score < least { score } else { least };
            }
            (self.most[previous], self.least[previous]) = (most, least);
        }
    }
}

fn check_labels(labels: usize, mask: Option<&TransitionMask>) -> Result<()> {
    if labels == 0 || labels > (u32::MAX / 2) as usize {
        return Err(InferenceError::LabelCount { found: labels });
    }
    mask.map_or(Ok(()), |mask| check_length("labels of the transition mask", labels, mask.labels()))
}

impl Transitions {
    /// No transitions: each position is decided alone (order 0).
    pub fn none(labels: usize) -> Result<Self> {
        check_labels(labels, None)?;
        Ok(Self { labels, mask: None, kind: Kind::Dense(Dense::zeros(labels, 1)) })
    }

    /// A score for each pair of labels, row-major with a row for each previous label (order 1).
    ///
    /// Minus infinity forbids a pair, as does the mask.
    pub fn dense(labels: usize, scores: &[f32], mask: Option<&TransitionMask>) -> Result<Self> {
        check_labels(labels, mask)?;
        let mut dense = Dense::zeros(labels, labels);
        dense.row_step = dense.stride;
        if let Some(mask) = mask {
            let pairs = (0..labels).flat_map(|previous| (0..labels).map(move |label| (previous, label)));
            let forbidden = pairs.filter(|&(previous, label)| !mask.allows(previous as u32, label as u32));
            dense.blocked.extend(forbidden.map(|(previous, label)| (previous * dense.stride + label) as u32));
        }
        let mut transitions = Self { labels, mask: mask.cloned(), kind: Kind::Dense(dense) };
        transitions.load(scores)?;
        Ok(transitions)
    }

    /// Scores for the listed label n-grams only (order 1 and up), all zero until [`load`](Self::load).
    ///
    /// A gram has 2 to `order + 1` labels, oldest first. At each position the scores of all listed grams that
    /// end there add up; an unlisted gram scores 0. The k-th gram here takes the k-th score in `load`.
    pub fn grams(
        labels: usize,
        order: usize,
        grams: &[impl AsRef<[u32]>],
        mask: Option<&TransitionMask>,
    ) -> Result<Self> {
        check_labels(labels, mask)?;
        if order == 0 {
            return Err(InferenceError::Zero { what: "the order of a model with label n-grams" });
        }
        let automaton = Grams::new(labels, order, grams, mask)?;
        Ok(Self { labels, mask: mask.cloned(), kind: Kind::Grams(Box::new(automaton)) })
    }

    /// Takes new scores: L·L for dense transitions, one for each gram otherwise.
    pub fn load(&mut self, scores: &[f32]) -> Result<()> {
        check_length("transition scores", self.score_count(), scores.len())?;
        check_scores("transition scores", scores)?;
        match &mut self.kind {
            Kind::Dense(dense) if dense.row_step == 0 => {}
            Kind::Dense(dense) => {
                for (row, scores) in
                    dense.scores.chunks_exact_mut(dense.stride).zip(scores.chunks_exact(self.labels))
                {
                    row[..self.labels].copy_from_slice(scores);
                }
                dense.refresh(self.labels);
            }
            Kind::Grams(grams) => grams.load(scores),
        }
        Ok(())
    }

    /// The same constraints with every score zero.
    ///
    /// Pairs forbidden by the mask stay forbidden; pairs forbidden by a loaded minus infinity do too.
    #[must_use]
    pub fn constraints_only(&self) -> Self {
        let mut copy = self.clone();
        match &mut copy.kind {
            Kind::Dense(dense) => {
                for score in &mut dense.scores {
                    *score = if *score == f32::NEG_INFINITY { *score } else { 0.0 };
                }
                if dense.row_step > 0 {
                    dense.refresh(self.labels);
                }
            }
            Kind::Grams(grams) => grams.flatten(),
        }
        copy
    }

    /// How many labels back a score may look.
    pub fn order(&self) -> usize {
        match &self.kind {
            Kind::Dense(dense) => usize::from(dense.row_step > 0),
            Kind::Grams(grams) => grams.order(),
        }
    }

    /// Size of the label set.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// How many scores [`load`](Self::load) takes.
    pub fn score_count(&self) -> usize {
        match &self.kind {
            Kind::Dense(dense) if dense.row_step == 0 => 0,
            Kind::Dense(_) => self.labels * self.labels,
            Kind::Grams(grams) => grams.gram_count(),
        }
    }

    /// How many distinct histories inference tells apart: the labels, or more for higher orders.
    ///
    /// Forward-backward keeps up to this many pairs of `f64` for each position.
    pub fn states(&self) -> usize {
        match &self.kind {
            Kind::Dense(_) => self.labels,
            Kind::Grams(grams) => grams.states(),
        }
    }

    /// Where in the scores a gram stands, if it has one.
    pub fn gram_index(&self, gram: &[u32]) -> Option<usize> {
        match &self.kind {
            Kind::Dense(dense) => {
                let &[previous, label] = gram else { return None };
                let (previous, label) = (previous as usize, label as usize);
                (dense.row_step > 0 && previous < self.labels && label < self.labels)
                    .then_some(previous * self.labels + label)
            }
            Kind::Grams(grams) => grams.gram_index(gram),
        }
    }

    pub(crate) fn has_grams(&self) -> bool {
        matches!(self.kind, Kind::Grams(_))
    }

    pub(crate) fn allows_start(&self, label: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.allows_start(label))
    }

    pub(crate) fn allows_end(&self, label: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.allows_end(label))
    }
}
