//! The parts of a sentence one by one, with their features and scores.

use consonant_learn::table::HashKernel;

use crate::features::Encoded;
use crate::parts::{Parts, Side};

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

impl Parts {
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

/// Writes the features of a part. Parts that no tree has, in which a word is the head of its own head, have none.
pub(crate) fn features(sentence: &Encoded, parts: &Parts, part: Part<'_>, keys: &mut Vec<u64>) {
    keys.clear();
    let grandparent = |side: &Side, g: usize| parts.arcs()[side.incoming.start + g].0;
    match part {
        Part::Arc(head, modifier) => sentence.arc_features(head, modifier, keys),
        Part::Sibling(side, i, j) => sentence.sibling_features(parts, side, i, j, keys),
        Part::Grandparent(side, g, j) => {
            if grandparent(side, g) != parts.modifier(side, j) {
                sentence.grandparent_features(parts, side, g, j, keys);
            }
        }
        Part::GrandSibling(side, g, i, j) => {
            let own = grandparent(side, g);
            if own != parts.modifier(side, i) && own != parts.modifier(side, j) {
                sentence.grand_sibling_features(parts, side, g, i, j, keys);
            }
        }
        Part::TriSibling(side, i, j, k) => sentence.tri_sibling_features(parts, side, [i, j, k], keys),
        Part::ArbitrarySibling(side, i, j) => sentence.arbitrary_sibling_features(parts, side, i, j, keys),
        Part::HeadBigram { word, before, own } => sentence.head_bigram_features(word, before, own, keys),
    }
}

/// Where weights are read from: a model, or training.
pub(crate) trait Weigh: Sync {
    /// The sum of the weights of some keys.
    fn sum(&self, keys: &[u64]) -> f32;
}

impl Weigh for HashKernel {
    fn sum(&self, keys: &[u64]) -> f32 {
        HashKernel::sum(self, keys)
    }
}

/// Weights in training: as many as a power of two.
impl Weigh for [f32] {
    fn sum(&self, keys: &[u64]) -> f32 {
        let bits = self.len().trailing_zeros();
        keys.iter().map(|&key| self[HashKernel::index(key, bits) as usize]).sum()
    }
}

/// Writes the score of every part.
pub(crate) fn scores<W: Weigh + ?Sized>(
    sentence: &Encoded,
    parts: &Parts,
    weights: &W,
    keys: &mut Vec<u64>,
    scores: &mut Vec<f32>,
) {
    scores.clear();
    parts.for_each(|part| {
        features(sentence, parts, part, keys);
        scores.push(weights.sum(keys));
    });
}
