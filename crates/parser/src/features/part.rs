//! The features of each kind of part.

use super::template::{self, Attribute, Family, scatter};
use super::{Encoded, distance};
use crate::parts::{PartKinds, Side, TreeParts};
use crate::score::Part;

/// Ways of an arc: two directions, then direction and distance.
const SIDES: usize = 2;
const WAYS: usize = 18;

/// What is joined to a template besides tokens has a salt of its own.
const COUNTS: u64 = 1;
const BETWEEN: u64 = 2;
const TAG_BETWEEN: u64 = 3;
const DISTANCE: u64 = 4;
const HEAD_ATOM: u64 = 5;
const MODIFIER_ATOM: u64 = 6;

/// Where the templates of arcs begin that are joined with what stands between, with one tag that stands
/// between, and with single morphological features.
const ARC_BETWEEN: usize = template::ARC.len() - 8;
const ARC_TAG_BETWEEN: usize = template::ARC.len() - 5;
const ARC_ATOMS: usize = template::ARC.len() - 3;

/// Appends the features of parts to lists; holds the numbers of one sentence's tokens.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    pruning_by_side: Family<2, { template::PRUNING_BY_SIDE.len() }>,
    pruning_by_way: Family<2, { template::PRUNING_BY_WAY.len() }>,
    arc: Family<2, { template::ARC.len() }>,
    sibling: Family<3, { template::SIBLING.len() }>,
    grandparent: Family<3, { template::GRANDPARENT.len() }>,
    grand_sibling: Family<4, { template::GRAND_SIBLING.len() }>,
    tri_sibling: Family<4, { template::TRI_SIBLING.len() }>,
    arbitrary_sibling: Family<3, { template::ARBITRARY_SIBLING.len() }>,
    head_bigram: Family<4, { template::HEAD_BIGRAM.len() }>,
    /// The numbers of distances and of what stands between, both small.
    distances: [u32; 10],
    counts: [u32; 17],
    /// Numbers of the sentence's morphological features, of heads and of modifiers.
    head_atoms: Vec<u32>,
    modifier_atoms: Vec<u32>,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            pruning_by_side: Family::new(1, template::PRUNING_BY_SIDE, SIDES),
            pruning_by_way: Family::new(2, template::PRUNING_BY_WAY, WAYS),
            arc: Family::new(3, template::ARC, SIDES + WAYS),
            sibling: Family::new(4, template::SIBLING, 2),
            grandparent: Family::new(5, template::GRANDPARENT, 8),
            grand_sibling: Family::new(6, template::GRAND_SIBLING, 4),
            tri_sibling: Family::new(7, template::TRI_SIBLING, 2),
            arbitrary_sibling: Family::new(8, template::ARBITRARY_SIBLING, 2),
            head_bigram: Family::new(9, template::HEAD_BIGRAM, 32),
            distances: std::array::from_fn(|distance| scatter(distance as u64, DISTANCE)),
            counts: std::array::from_fn(|counts| scatter(counts as u64, COUNTS)),
            head_atoms: Vec::new(),
            modifier_atoms: Vec::new(),
        }
    }
}

/// Direction and distance of an arc.
#[inline]
fn way(head: usize, modifier: usize) -> usize {
    2 * distance(head, modifier) + usize::from(head < modifier)
}

/// Where a word, or the root at position 0, stands among the tokens.
#[inline]
fn token(position: usize) -> usize {
    position + 1
}

impl Features {
    /// Reads a sentence for [`pruning`](Self::pruning) alone.
    pub(crate) fn load_for_pruning(&mut self, sentence: &Encoded) {
        self.pruning_by_side.load(true, &sentence.tokens);
        self.pruning_by_way.load(true, &sentence.tokens);
    }

    /// Reads a sentence for the parts of some kinds.
    pub(crate) fn load(&mut self, sentence: &Encoded, kinds: PartKinds) {
        let tokens = &sentence.tokens;
        self.arc.load(true, tokens);
        self.sibling.load(kinds.siblings, tokens);
        self.grandparent.load(kinds.grandparents, tokens);
        self.grand_sibling.load(kinds.grand_siblings, tokens);
        self.tri_sibling.load(kinds.tri_siblings, tokens);
        self.arbitrary_sibling.load(kinds.arbitrary_siblings, tokens);
        self.head_bigram.load(kinds.head_bigrams, tokens);
        self.head_atoms.clear();
        self.head_atoms.extend(sentence.atoms.iter().map(|&atom| scatter(atom, HEAD_ATOM)));
        self.modifier_atoms.clear();
        self.modifier_atoms.extend(sentence.atoms.iter().map(|&atom| scatter(atom, MODIFIER_ATOM)));
    }

    /// Appends a smaller set of features, for the model that looks at all arcs.
    pub(crate) fn pruning(&self, sentence: &Encoded, head: usize, modifier: usize, out: &mut Vec<u32>) {
        let (way, side) = (way(head, modifier), usize::from(head < modifier));
        let tokens = [token(head), token(modifier)];
        let counts = self.counts[sentence.counts_between(head, modifier)];
        let tags = sentence.tags_between(head, modifier);
        let between = scatter(tags, BETWEEN);
        self.pruning_by_way.write(tokens, way, out);
        let end = out.len();
        out[end - 3] ^= counts;
        out[end - 2] ^= counts;
        out[end - 1] ^= counts;
        self.pruning_by_side.write(tokens, side, out);
        let end = out.len();
        out[end - 3] ^= between;
        out[end - 2] ^= counts;
        let Some(each) = out.pop() else { return };
        let mut bits = tags;
        while bits != 0 {
            out.push(each ^ scatter(u64::from(bits.trailing_zeros()), TAG_BETWEEN));
            bits &= bits - 1;
        }
    }

    /// Appends the features of a part. Parts that no tree has, in which a word is the head of its own head,
    /// have none.
    #[inline]
    pub(crate) fn of(&self, sentence: &Encoded, parts: &TreeParts, part: Part<'_>, out: &mut Vec<u32>) {
        // Where a modifier of a side, or its start or end, stands among the tokens.
        let member = |side: &Side, j: usize| match j {
            0 => sentence.words + 3,
            j if j > side.modifiers() => sentence.words + 4,
            j => token(parts.modifier(side, j)),
        };
        let grandparent = |side: &Side, g: usize| parts.arcs()[side.incoming.start + g].0;
        match part {
            Part::Arc(head, modifier) => self.arc(sentence, head, modifier, out),
            Part::Sibling(side, i, j) => {
                let tokens = [token(side.head), member(side, i), member(side, j)];
                self.sibling.write(tokens, usize::from(side.is_right), out);
                let (gap, between) = match i > 0 && j <= side.modifiers() {
                    true => {
                        let (a, b) = (parts.modifier(side, i), parts.modifier(side, j));
                        (distance(a, b), sentence.counts_between(a, b))
                    }
                    false => (9, 16),
                };
                let (gap, end) = (self.distances[gap], out.len());
                out[end - 3] ^= gap;
                out[end - 2] ^= gap;
                out[end - 1] ^= self.counts[between];
            }
            Part::ArbitrarySibling(side, i, j) => {
                let tokens = [token(side.head), member(side, i), member(side, j)];
                self.arbitrary_sibling.write(tokens, usize::from(side.is_right), out);
            }
            Part::Grandparent(side, g, j) => {
                let (grandparent, head, modifier) =
                    (grandparent(side, g), side.head, parts.modifier(side, j));
                if grandparent == modifier {
                    return;
                }
                // The direction of both arcs, and the order of the outer two.
                let way = 4 * usize::from(grandparent < head)
                    + 2 * usize::from(head < modifier)
                    + usize::from(grandparent < modifier);
                self.grandparent.write([grandparent, head, modifier].map(token), way, out);
                let end = out.len();
                out[end - 2] ^= self.counts[sentence.counts_between(grandparent, modifier)];
                out[end - 1] ^= self.distances[distance(grandparent, modifier)];
            }
            Part::GrandSibling(side, g, i, j) => {
                let grandparent = grandparent(side, g);
                if [i, j].iter().all(|&j| grandparent != parts.modifier(side, j)) {
                    let way = 2 * usize::from(grandparent < side.head) + usize::from(side.is_right);
                    let tokens = [token(grandparent), token(side.head), member(side, i), member(side, j)];
                    self.grand_sibling.write(tokens, way, out);
                }
            }
            Part::TriSibling(side, i, j, k) => {
                let tokens = [token(side.head), member(side, i), member(side, j), member(side, k)];
                self.tri_sibling.write(tokens, usize::from(side.is_right), out);
            }
            Part::HeadBigram { word, before, own } => {
                let relation = match () {
                    _ if before == own => 0,
                    _ if own == word - 1 => 1,
                    _ if before == word => 2,
                    _ => 3,
                };
                let way = 8 * relation
                    + 4 * usize::from(own < before)
                    + 2 * usize::from(own < word)
                    + usize::from(before < word);
                self.head_bigram.write([word, word - 1, own, before].map(token), way, out);
            }
        }
    }

    fn arc(&self, sentence: &Encoded, head: usize, modifier: usize, out: &mut Vec<u32>) {
        let mut base = self.arc.base([token(head), token(modifier)]);
        let tags = sentence.tags_between(head, modifier);
        let between = scatter(tags, BETWEEN);
        base[ARC_BETWEEN] ^= self.counts[sentence.counts_between(head, modifier)];
        base[ARC_BETWEEN + 1] ^= between;
        base[ARC_BETWEEN + 2] ^= between;
        let [with_tags, with_coarse] = [base[ARC_TAG_BETWEEN], base[ARC_TAG_BETWEEN + 1]];
        let [pair, of_head, of_modifier] = [base[ARC_ATOMS], base[ARC_ATOMS + 1], base[ARC_ATOMS + 2]];
        // Each with the direction, and with direction and distance.
        let side = self.arc.way(usize::from(head < modifier));
        let way = self.arc.way(SIDES + way(head, modifier));
        for joined in [side, way] {
            let all: [u32; ARC_TAG_BETWEEN] = std::array::from_fn(|at| base[at] ^ joined[at]);
            out.extend_from_slice(&all);
        }
        let mut bits = tags;
        while bits != 0 {
            let tag = scatter(u64::from(bits.trailing_zeros()), TAG_BETWEEN);
            for (number, at) in [(with_tags, ARC_TAG_BETWEEN), (with_coarse, ARC_TAG_BETWEEN + 1)] {
                out.extend([number ^ tag ^ side[at], number ^ tag ^ way[at]]);
            }
            bits &= bits - 1;
        }
        let range = |position: usize| sentence.at(position).atoms_range();
        let (of_heads, of_modifiers) = (&self.head_atoms[range(head)], &self.modifier_atoms[range(modifier)]);
        let pair = pair ^ side[ARC_ATOMS];
        for a in of_heads {
            out.push(of_head ^ a ^ side[ARC_ATOMS + 1]);
            out.extend(of_modifiers.iter().map(|b| pair ^ a ^ b));
        }
        out.extend(of_modifiers.iter().map(|b| of_modifier ^ b ^ side[ARC_ATOMS + 2]));
    }

    /// The attributes that the feature at a position of a part's list looks at, and what they are joined
    /// with.
    pub(crate) fn template(part: Part<'_>, position: usize) -> (&'static [Attribute], &'static str) {
        let between = "the words between";
        match part {
            Part::Arc(..) if position < 2 * ARC_TAG_BETWEEN => {
                let (template, is_by_way) = (position % ARC_TAG_BETWEEN, position >= ARC_TAG_BETWEEN);
                let joined = match (template >= ARC_BETWEEN, is_by_way) {
                    (false, false) => "",
                    (false, true) => "distance",
                    (true, false) => between,
                    (true, true) => "the words between and distance",
                };
                (&template::ARC[template], joined)
            }
            Part::Arc(..) => (&template::ARC[ARC_ATOMS], "a tag between, or single morphological features"),
            Part::Sibling(..) => {
                let from_end = template::SIBLING.len() - position;
                (
                    &template::SIBLING[position],
                    ["", between, "gap", "gap"].get(from_end).copied().unwrap_or(""),
                )
            }
            Part::Grandparent(..) => {
                let from_end = template::GRANDPARENT.len() - position;
                (
                    &template::GRANDPARENT[position],
                    ["", "distance", between].get(from_end).copied().unwrap_or(""),
                )
            }
            Part::GrandSibling(..) => (&template::GRAND_SIBLING[position], ""),
            Part::TriSibling(..) => (&template::TRI_SIBLING[position], ""),
            Part::ArbitrarySibling(..) => (&template::ARBITRARY_SIBLING[position], ""),
            Part::HeadBigram { .. } => (&template::HEAD_BIGRAM[position], "how the heads lie"),
        }
    }
}
