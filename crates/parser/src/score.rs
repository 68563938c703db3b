//! The parts of a sentence one by one, with their features and scores.

use consonant_learn::table::HashKernel;

use crate::features::{Encoded, Features};
use crate::parts::{PartKinds, Side, TreeParts};

/// One part.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Arc(usize, usize),
    Sibling(&'a Side, usize, usize),
    Grandparent(&'a Side, usize, usize),
    GrandSibling(&'a Side, usize, usize, usize),
    TriSibling(&'a Side, usize, usize, usize),
    ArbitrarySibling(&'a Side, usize, usize),
    HeadBigram { word: usize, before: usize, own: usize },
}

impl TreeParts {
    /// Calls `visit` with every part in the order of their numbers.
    pub(crate) fn for_each<'a>(&'a self, mut visit: impl FnMut(Part<'a>)) {
        self.arcs().iter().for_each(|&(head, modifier)| visit(Part::Arc(head, modifier)));
        for side in self.sides() {
            let end = side.modifiers() + 1;
            let pairs = || (1..=end).flat_map(|j| (0..j).map(move |i| (i, j)));
            if side.sibling(0, 1).is_some() {
                pairs().for_each(|(i, j)| visit(Part::Sibling(side, i, j)));
            }
            if side.grandparent(0, 1).is_some() {
                for g in 0..side.incoming.len() {
                    (1..end).for_each(|j| visit(Part::Grandparent(side, g, j)));
                }
            }
            if side.grand_sibling(0, 0, 1).is_some() {
                for g in 0..side.incoming.len() {
                    pairs().for_each(|(i, j)| visit(Part::GrandSibling(side, g, i, j)));
                }
            }
            if side.tri_sibling(0, 1, 2).is_some() {
                for k in 2..=end {
                    for j in 1..k {
                        (0..j).for_each(|i| visit(Part::TriSibling(side, i, j, k)));
                    }
                }
            }
            if side.arbitrary_sibling(1, 2).is_some() {
                for j in 2..end {
                    (1..j).for_each(|i| visit(Part::ArbitrarySibling(side, i, j)));
                }
            }
        }
        if self.has_head_bigrams() {
            for word in 2..=self.words() {
                for a in self.arcs_into(word - 1) {
                    for b in self.arcs_into(word) {
                        let (before, own) = (self.arcs()[a].0, self.arcs()[b].0);
                        visit(Part::HeadBigram { word, before, own });
                    }
                }
            }
        }
    }
}

/// Where weights are read from: a model, or training.
pub(crate) trait Weigh: Sync {
    /// Appends the weights of some features.
    fn gather(&self, features: &[u32], out: &mut Vec<f32>);
}

impl Weigh for HashKernel {
    fn gather(&self, features: &[u32], out: &mut Vec<f32>) {
        HashKernel::gather(self, features, out);
    }
}

/// Weights in training: as many as a power of two.
impl Weigh for [f32] {
    fn gather(&self, features: &[u32], out: &mut Vec<f32>) {
        let mask = self.len() - 1;
        out.extend(features.iter().map(|&feature| self[feature as usize & mask]));
    }
}

/// Buffers for scoring.
#[derive(Debug, Default)]
pub(crate) struct ScoreWorkspace {
    features: Features,
    numbers: Vec<u32>,
    /// Where the features of each part end.
    ends: Vec<usize>,
    weights: Vec<f32>,
}

/// This many features are looked up at a time: they stay in the nearest cache.
const CHUNK: usize = 2048;

impl ScoreWorkspace {
    /// Writes the score of every part.
    pub(crate) fn score<W: Weigh + ?Sized>(
        &mut self,
        sentence: &Encoded,
        kinds: PartKinds,
        parts: &TreeParts,
        weights: &W,
        scores: &mut Vec<f32>,
    ) {
        self.features.load(sentence, kinds);
        scores.clear();
        let Self { features: loaded, numbers, ends, weights: found } = self;
        let mut flush = |numbers: &mut Vec<u32>, ends: &mut Vec<usize>| {
            found.clear();
            weights.gather(numbers, found);
            let mut start = 0;
            for end in ends.drain(..) {
                scores.push(found[start..end].iter().sum());
                start = end;
            }
            numbers.clear();
        };
        parts.for_each(|part| {
            loaded.of(sentence, parts, part, numbers);
            ends.push(numbers.len());
            if numbers.len() >= CHUNK {
                flush(numbers, ends);
            }
        });
        flush(numbers, ends);
    }
}
