//! The weights of a chain: which there are, and where each stands in the flat vector.

use consonant_learn::layout::RowLayout;

use crate::ngrams::LabelGrams;
use crate::parts::LabelParts;

/// The weights of a chain, for each parameter group: rows of features × labels, rows of features × label
/// pairs, and label n-grams. Most objectives have one group; the bidirectional model has one for each
/// direction.
#[derive(Debug, Clone)]
pub struct Space {
    /// Features × labels and their parts.
    pub(crate) nodes: RowLayout,
    /// What labels are made of.
    pub(crate) parts: LabelParts,
    /// Features × (previous label, label), numbered previous · labels + label.
    pub(crate) pairs: RowLayout,
    /// Label n-grams.
    pub(crate) grams: LabelGrams,
}

impl Space {
    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.parts.labels()
    }

    /// How many labels back the chain looks.
    pub fn order(&self) -> usize {
        self.grams.order()
    }

    /// The number of weights of one group.
    pub fn group_size(&self) -> usize {
        self.nodes.parameters() + self.pairs.parameters() + self.grams.len()
    }

    /// Where the pair rows of a group begin.
    #[inline]
    pub(crate) fn pair_start(&self) -> usize {
        self.nodes.parameters()
    }

    /// Where the grams of a group begin.
    #[inline]
    pub(crate) fn gram_start(&self) -> usize {
        self.nodes.parameters() + self.pairs.parameters()
    }

    /// The weights of the grams of a group.
    #[inline]
    pub(crate) fn gram_weights<'a>(&self, group: &'a [f32]) -> &'a [f32] {
        &group[self.gram_start()..]
    }

    /// Calls `each` with the place of every weight of a feature that counts for a label and not for another
    /// one: its own and those of the parts that the other lacks.
    #[inline]
    pub(crate) fn node_parameters(&self, feature: u32, label: u32, other: u32, mut each: impl FnMut(usize)) {
        if label == other {
            return;
        }
        self.nodes.parameter(feature, label).into_iter().for_each(&mut each);
        let shared = self.parts.of(other);
        for &part in self.parts.of(label).iter().filter(|part| !shared.contains(part)) {
            self.nodes.parameter(feature, part).into_iter().for_each(&mut each);
        }
    }

    /// Whether there are features that look at pairs of labels.
    pub(crate) fn has_pairs(&self) -> bool {
        self.pairs.features() > 0
    }
}
