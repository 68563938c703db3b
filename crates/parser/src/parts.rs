//! The parts of a dependency tree, and where their scores stand.
//!
//! A part is a small piece of a tree: an arc, or a few arcs that stand together in one of the ways of
//! [`PartKinds`]. The parts of a sentence follow from its candidate arcs alone, so they are never listed: a
//! part is an index that is computed from its arcs. Subsets of the candidate modifiers on one side of a head
//! are numbered by the combinatorial number system: i < j is number C(j,2) + i, and i < j < k is number
//! C(k,3) + C(j,2) + i. All scores of a sentence stand in one flat array.

use std::ops::Range;

use consonant_map::oracle::arborescence::RootChildren;

use crate::ParserError;

/// A side with more candidate modifiers than this has no tri-sibling parts: their number grows with the cube.
const MOST_FOR_TRI_SIBLINGS: usize = 32;
/// A side with more candidate modifiers than this has no grand-sibling parts.
const MOST_FOR_GRAND_SIBLINGS: usize = 100;
/// A side with more candidate modifiers than this has no arbitrary-sibling parts.
const MOST_FOR_ARBITRARY_SIBLINGS: usize = 32;

/// Which kinds of parts a model scores, besides arcs (Martins, Almeida & Smith 2013, Figure 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartKinds {
    /// Neighbouring modifiers on one side of a head; the first and the last one too.
    pub siblings: bool,
    /// A head's head, the head, and a modifier.
    pub grandparents: bool,
    /// Siblings together with their head's head.
    pub grand_siblings: bool,
    /// Three neighbouring modifiers on one side of a head.
    pub tri_siblings: bool,
    /// Any two modifiers on one side of a head.
    pub arbitrary_siblings: bool,
    /// The heads of two neighbouring words.
    pub head_bigrams: bool,
}

impl PartKinds {
    /// The kinds of a model of first, second or third order.
    pub fn of_order(order: usize) -> Self {
        Self {
            siblings: order >= 2,
            grandparents: order >= 2,
            grand_siblings: order >= 3,
            tri_siblings: order >= 3,
            arbitrary_siblings: false,
            head_bigrams: order >= 3,
        }
    }

    /// Every kind.
    pub fn full() -> Self {
        Self { arbitrary_siblings: true, ..Self::of_order(3) }
    }

    /// Whether there are only arcs.
    pub fn is_first_order(self) -> bool {
        self == Self::default()
    }
}

/// The candidate modifiers on one side of a head, and where the parts among them begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The head: 0 is the root.
    pub head: usize,
    /// Whether the modifiers stand to the right of the head.
    pub is_right: bool,
    /// The arcs that enter the head, if they matter here.
    pub incoming: Range<usize>,
    outgoing: Range<usize>,
    siblings: Option<usize>,
    grandparents: Option<usize>,
    grand_siblings: Option<usize>,
    tri_siblings: Option<usize>,
    arbitrary_siblings: Option<usize>,
}

/// C(n, 2): the number of the first pair whose larger member is `n`.
#[inline]
pub(crate) fn pairs_below(n: usize) -> usize {
    n * n.wrapping_sub(1) / 2
}

/// C(n, 3): the number of the first triple whose largest member is `n`.
#[inline]
pub(crate) fn triples_below(n: usize) -> usize {
    if n < 3 { 0 } else { n * (n - 1) * (n - 2) / 6 }
}

impl Side {
    /// The number of candidate modifiers. They are numbered outwards from 1; 0 is the start, and one more
    /// than their number is the end.
    pub fn modifiers(&self) -> usize {
        self.outgoing.len()
    }

    /// The part of neighbouring modifiers `i` < `j`.
    pub fn sibling(&self, i: usize, j: usize) -> Option<usize> {
        self.siblings.map(|start| start + pairs_below(j) + i)
    }

    /// The part of incoming arc number `g` (counted on this side) and modifier `j`.
    pub fn grandparent(&self, g: usize, j: usize) -> Option<usize> {
        self.grandparents.map(|start| start + g * self.modifiers() + j - 1)
    }

    /// The part of incoming arc number `g` and neighbouring modifiers `i` < `j`.
    pub fn grand_sibling(&self, g: usize, i: usize, j: usize) -> Option<usize> {
        self.grand_siblings.map(|start| start + g * pairs_below(self.modifiers() + 2) + pairs_below(j) + i)
    }

    /// The part of three neighbouring modifiers `i` < `j` < `k`.
    pub fn tri_sibling(&self, i: usize, j: usize, k: usize) -> Option<usize> {
        self.tri_siblings.map(|start| start + triples_below(k) + pairs_below(j) + i)
    }

    /// The part of any two modifiers `i` < `j`, neither start nor end.
    pub fn arbitrary_sibling(&self, i: usize, j: usize) -> Option<usize> {
        self.arbitrary_siblings.map(|start| start + pairs_below(j - 1) + i - 1)
    }

    /// Whether a head automaton is needed: siblings, grandparents or grand-siblings.
    pub(crate) fn has_automaton(&self) -> bool {
        self.siblings.is_some() || self.grandparents.is_some() || self.grand_siblings.is_some()
    }

    pub(crate) fn is_third_order(&self) -> bool {
        self.grand_siblings.is_some() || self.tri_siblings.is_some()
    }

    pub(crate) fn has_grand_siblings(&self) -> bool {
        self.grand_siblings.is_some()
    }

    pub(crate) fn has_arbitrary_siblings(&self) -> bool {
        self.arbitrary_siblings.is_some()
    }

    pub(crate) fn has_tri_siblings(&self) -> bool {
        self.tri_siblings.is_some()
    }
}

/// The parts of one sentence.
#[derive(Debug, Clone, Default)]
pub struct TreeParts {
    kinds: PartKinds,
    root_children: RootChildren,
    words: usize,
    arcs: Vec<(usize, usize)>,
    first_arc: Vec<usize>,
    sides: Vec<Side>,
    outgoing: Vec<u32>,
    /// For each word from the second on, where its head bigrams begin; then the number of parts.
    bigrams: Vec<usize>,
    len: usize,
    /// Arcs by head, and where those of each head end; buffers.
    by_head: Vec<u32>,
    head_ends: Vec<usize>,
}

impl TreeParts {
    /// The parts over candidate arcs (head, modifier), sorted by modifier, then head; words are counted from
    /// 1.
    pub fn new(
        words: usize,
        arcs: &[(usize, usize)],
        kinds: PartKinds,
        root_children: RootChildren,
    ) -> Result<Self, ParserError> {
        let mut parts = Self::default();
        parts.rebuild(words, arcs, kinds, root_children)?;
        Ok(parts)
    }

    /// Makes this the parts of another sentence, in the same memory.
    pub fn rebuild(
        &mut self,
        words: usize,
        arcs: &[(usize, usize)],
        kinds: PartKinds,
        root_children: RootChildren,
    ) -> Result<(), ParserError> {
        (self.kinds, self.root_children) = (kinds, root_children);
        self.words = words;
        self.arcs.clear();
        self.arcs.extend_from_slice(arcs);
        self.sides.clear();
        self.outgoing.clear();
        self.bigrams.clear();
        let is_sorted = arcs.windows(2).all(|pair| (pair[0].1, pair[0].0) < (pair[1].1, pair[1].0));
        let is_inside = arcs
            .iter()
            .all(|&(head, modifier)| head <= words && (1..=words).contains(&modifier) && head != modifier);
        if !is_sorted || !is_inside {
            return Err(ParserError::Arcs { words });
        }
        self.first_arc.clear();
        self.first_arc.extend((0..=words + 1).map(|word| arcs.partition_point(|&(_, m)| m < word)));
        if let Some(word) = (1..=words).find(|&word| self.arcs_into(word).is_empty()) {
            return Err(ParserError::NoHead { word });
        }
        self.len = arcs.len();
        self.number_sides(kinds, root_children);
        if kinds.head_bigrams {
            for word in 2..=words {
                self.bigrams.push(self.len);
                self.len += self.arcs_into(word - 1).len() * self.arcs_into(word).len();
            }
        }
        Ok(())
    }

    fn number_sides(&mut self, kinds: PartKinds, root_children: RootChildren) {
        let PartKinds { siblings, grandparents, grand_siblings, tri_siblings, arbitrary_siblings, .. } =
            kinds;
        if !(siblings || grandparents || grand_siblings || tri_siblings || arbitrary_siblings) {
            return;
        }
        // Arcs by head: counted, then placed; those of a head come sorted by modifier.
        let Self { by_head, head_ends: ends, .. } = self;
        ends.clear();
        ends.resize(self.words + 2, 0);
        self.arcs.iter().for_each(|&(head, _)| ends[head + 1] += 1);
        (0..=self.words).for_each(|head| ends[head + 1] += ends[head]);
        by_head.clear();
        by_head.resize(self.arcs.len(), 0);
        for (arc, &(head, _)) in self.arcs.iter().enumerate() {
            // Where the arcs of a head begin moves to where they end.
            by_head[ends[head]] = arc as u32;
            ends[head] += 1;
        }
        // A root with one child has no siblings to speak of.
        let heads = usize::from(root_children == RootChildren::One)..=self.words;
        for head in heads {
            let start = if head == 0 { 0 } else { self.head_ends[head - 1] };
            let arcs = &self.by_head[start..self.head_ends[head]];
            let middle = arcs.partition_point(|&arc| self.arcs[arc as usize].1 < head);
            for is_right in [false, true] {
                let start = self.outgoing.len();
                match is_right {
                    false => self.outgoing.extend(arcs[..middle].iter().rev()),
                    true => self.outgoing.extend(&arcs[middle..]),
                }
                let outgoing = start..self.outgoing.len();
                let modifiers = outgoing.len();
                if modifiers == 0 {
                    continue;
                }
                let needs_incoming = head > 0 && (grandparents || grand_siblings);
                let incoming = if needs_incoming { self.arcs_into(head) } else { 0..0 };
                let mut block = |is_on: bool, size: usize| {
                    let start = self.len;
                    self.len += if is_on { size } else { 0 };
                    is_on.then_some(start)
                };
                let pairs = pairs_below(modifiers + 2);
                let side = Side {
                    head,
                    is_right,
                    siblings: block(siblings, pairs),
                    grandparents: block(grandparents && head > 0, incoming.len() * modifiers),
                    grand_siblings: block(
                        grand_siblings && head > 0 && modifiers <= MOST_FOR_GRAND_SIBLINGS,
                        incoming.len() * pairs,
                    ),
                    tri_siblings: block(
                        tri_siblings && modifiers <= MOST_FOR_TRI_SIBLINGS,
                        triples_below(modifiers + 2),
                    ),
                    arbitrary_siblings: block(
                        arbitrary_siblings && modifiers <= MOST_FOR_ARBITRARY_SIBLINGS,
                        pairs_below(modifiers),
                    ),
                    incoming,
                    outgoing,
                };
                self.sides.push(side);
            }
        }
    }

    /// The kinds of parts, besides arcs.
    pub fn kinds(&self) -> PartKinds {
        self.kinds
    }

    /// How many words may depend on the root.
    pub fn root_children(&self) -> RootChildren {
        self.root_children
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of parts, arcs included: arcs are the first.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Head and modifier of each arc.
    pub fn arcs(&self) -> &[(usize, usize)] {
        &self.arcs
    }

    /// The candidate arcs into a word.
    pub fn arcs_into(&self, word: usize) -> Range<usize> {
        self.first_arc[word]..self.first_arc[word + 1]
    }

    /// The sides of heads that have candidate modifiers, if any kind of part looks at them.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// The arcs from the head to the modifiers of a side, outwards.
    pub fn arcs_of(&self, side: &Side) -> &[u32] {
        &self.outgoing[side.outgoing.clone()]
    }

    /// Modifier number `j` of a side; the head itself stands for start and end.
    #[inline]
    pub fn modifier(&self, side: &Side, j: usize) -> usize {
        match self.arcs_of(side).get(j.wrapping_sub(1)) {
            Some(&arc) => self.arcs[arc as usize].1,
            None => side.head,
        }
    }

    /// Whether there are head bigrams.
    pub fn has_head_bigrams(&self) -> bool {
        !self.bigrams.is_empty()
    }

    /// The part of arc number `before` into the word before `word` and arc number `own` into `word`, both
    /// counted among the arcs into their word.
    pub fn head_bigram(&self, word: usize, before: usize, own: usize) -> Option<usize> {
        self.bigrams.get(word.wrapping_sub(2)).map(|start| start + before * self.arcs_into(word).len() + own)
    }

    /// The arc from `head` to `modifier`, if it is a candidate.
    pub fn arc(&self, head: usize, modifier: usize) -> Option<usize> {
        let range = self.arcs_into(modifier);
        let at = self.arcs[range.clone()].binary_search_by_key(&head, |&(h, _)| h).ok()?;
        Some(range.start + at)
    }

    /// Calls `part` with every part of a tree, given the head of each word (0: the root). Arcs that are not
    /// candidates are left out, and so are the parts that need them.
    pub fn of_tree(&self, heads: &[usize], mut part: impl FnMut(usize)) {
        let arcs: Vec<Option<usize>> = (1..=self.words).map(|m| self.arc(heads[m - 1], m)).collect();
        arcs.iter().flatten().for_each(|&arc| part(arc));
        for side in &self.sides {
            let incoming = match side.incoming.is_empty() {
                true => None,
                false => arcs[side.head - 1].map(|arc| arc - side.incoming.start),
            };
            self.of_side(side, incoming, heads, &mut part);
        }
        for (at, start) in self.bigrams.iter().enumerate() {
            let (before, own) = (at + 1, at + 2);
            if let (Some(a), Some(b)) = (arcs[before - 1], arcs[own - 1]) {
                let own_arcs = self.arcs_into(own);
                part(start + (a - self.first_arc[before]) * own_arcs.len() + b - own_arcs.start);
            }
        }
    }

    /// Calls `part` with every part of one side of a tree, given the number of the arc into the side's head.
    pub(crate) fn of_side(
        &self,
        side: &Side,
        incoming: Option<usize>,
        heads: &[usize],
        mut part: impl FnMut(usize),
    ) {
        let end = side.modifiers() + 1;
        let is_on = |&j: &usize| j == end || heads[self.modifier(side, j) - 1] == side.head;
        let (mut two_back, mut back) = (None, 0);
        let (mut on, mut count) = ([0; MOST_FOR_ARBITRARY_SIBLINGS], 0);
        let mut emit = |index: Option<usize>| {
            if let Some(index) = index {
                part(index);
            }
        };
        for j in (1..=end).filter(is_on) {
            emit(side.sibling(back, j));
            if let Some(g) = incoming {
                if j < end {
                    emit(side.grandparent(g, j));
                }
                emit(side.grand_sibling(g, back, j));
            }
            if let Some(i) = two_back {
                emit(side.tri_sibling(i, back, j));
            }
            if j < end && side.arbitrary_siblings.is_some() {
                on[..count].iter().for_each(|&i| emit(side.arbitrary_sibling(i, j)));
                on[count] = j;
                count += 1;
            }
            two_back = Some(back);
            back = j;
        }
    }

    /// The value of a tree under scores of all parts.
    pub fn value(&self, scores: &[impl Copy + Into<f64>], heads: &[usize]) -> f64 {
        let mut value = 0.0;
        self.of_tree(heads, |part| value += scores[part].into());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_triples_are_numbered_without_gaps() {
        let mut number = 0;
        for j in 1..9 {
            for i in 0..j {
                assert_eq!(pairs_below(j) + i, number);
                number += 1;
            }
        }
        let mut number = 0;
        for k in 2..9 {
            for j in 1..k {
                for i in 0..j {
                    assert_eq!(triples_below(k) + pairs_below(j) + i, number);
                    number += 1;
                }
            }
        }
    }

    #[test]
    fn bad_arcs_are_refused() {
        let new =
            |arcs: &[(usize, usize)]| TreeParts::new(2, arcs, PartKinds::of_order(3), RootChildren::One);
        assert!(new(&[(0, 1), (1, 2)]).is_ok());
        assert!(matches!(new(&[(0, 1)]), Err(ParserError::NoHead { word: 2 })));
        assert!(matches!(new(&[(0, 2), (0, 1)]), Err(ParserError::Arcs { words: 2 })));
        assert!(matches!(new(&[(0, 1), (2, 2)]), Err(ParserError::Arcs { words: 2 })));
        assert!(matches!(new(&[(0, 1), (3, 2)]), Err(ParserError::Arcs { words: 2 })));
    }
}
