//! A tree made better word by word.

use consonant_map::oracle::arborescence::RootChildren;

use crate::parts::{Side, TreeParts};

/// Sweeps over the words at most.
const SWEEPS: usize = 8;

/// Where things stand in one sentence, and buffers.
#[derive(Debug, Default)]
pub(crate) struct Climber {
    /// Where the sides of each head begin among all sides; then the number of sides.
    first_side: Vec<u32>,
    /// For each arc the number of its modifier on its side; 0 if no part looks at that side.
    places: Vec<u32>,
    /// The arc into each word of the tree at hand, and how many words each word is the head of.
    arcs: Vec<usize>,
    children: Vec<u32>,
}

impl Climber {
    /// Begins with a sentence.
    pub(crate) fn begin(&mut self, parts: &TreeParts) {
        let sides = parts.sides();
        self.first_side.clear();
        self.first_side.extend(
            (0..=parts.words() + 1).map(|head| sides.partition_point(|side| side.head < head) as u32),
        );
        self.places.clear();
        self.places.resize(parts.arcs().len(), 0);
        for side in sides {
            parts.arcs_of(side).iter().zip(1..).for_each(|(&arc, j)| self.places[arc as usize] = j);
        }
    }

    /// Gives words other heads by hopeful arcs, one at a time, as long as the tree gets better; says whether it
    /// did. A tree with an arc that is no candidate stays as it is.
    pub(crate) fn climb<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        is_hopeful: impl Fn(usize) -> bool,
        heads: &mut [usize],
    ) -> bool {
        let has_one_root = parts.root_children() == RootChildren::One;
        self.arcs.clear();
        self.arcs.extend(heads.iter().zip(1..).map_while(|(&head, word)| parts.arc(head, word)));
        if self.arcs.len() < heads.len() {
            return false;
        }
        self.children.clear();
        self.children.resize(parts.words() + 1, 0);
        heads.iter().for_each(|&head| self.children[head] += 1);
        let mut is_changed = false;
        for _ in 0..SWEEPS {
            let mut is_better = false;
            for word in 1..=parts.words() {
                let old = self.arcs[word - 1];
                let head = |arc: usize| parts.arcs()[arc].0;
                if has_one_root && head(old) == 0 {
                    continue;
                }
                let mut others = parts
                    .arcs_into(word)
                    .filter(|&arc| arc != old && (head(arc) != 0 || !has_one_root) && is_hopeful(arc))
                    .peekable();
                if others.peek().is_none() {
                    continue;
                }
                let (mut best, mut most) = (old, self.worth(parts, scores, heads, old) + 1e-9);
                for arc in others {
                    if !is_below(heads, head(arc), word) {
                        let value = self.worth(parts, scores, heads, arc);
                        if value > most {
                            (best, most) = (arc, value);
                        }
                    }
                }
                if best != old {
                    self.children[head(old)] -= 1;
                    self.children[head(best)] += 1;
                    (heads[word - 1], self.arcs[word - 1]) = (head(best), best);
                    is_better = true;
                }
            }
            is_changed |= is_better;
            if !is_better {
                break;
            }
        }
        is_changed
    }

    /// What a word adds by an arc, all other arcs as they are: the parts that have this arc, instead of those
    /// that would be there without it.
    fn worth<S: Copy + Into<f64>>(
        &self,
        parts: &TreeParts,
        scores: &[S],
        heads: &[usize],
        arc: usize,
    ) -> f64 {
        let at = |part: Option<usize>| part.map_or(0.0, |part| scores[part].into());
        let (head, word) = parts.arcs()[arc];
        let sides_of =
            |head: usize| &parts.sides()[self.first_side[head] as usize..self.first_side[head + 1] as usize];
        let mut value: f64 = scores[arc].into();
        if parts.has_head_bigrams() {
            let place = |word: usize, arc: usize| arc - parts.arcs_into(word).start;
            if word >= 2 {
                let before = place(word - 1, self.arcs[word - 2]);
                value += at(parts.head_bigram(word, before, place(word, arc)));
            }
            if let Some(&next) = self.arcs.get(word) {
                value += at(parts.head_bigram(word + 1, place(word, arc), place(word + 1, next)));
            }
        }
        let side = sides_of(head).iter().find(|side| side.is_right == (word > head));
        if let (Some(side), j @ 1..) = (side, self.places[arc] as usize) {
            value += self.worth_on_side(parts, side, j, heads, at);
        }
        // Its own modifiers have another grandparent.
        for side in sides_of(word).iter().filter(|side| !side.incoming.is_empty()) {
            let (g, mut back) = (arc - side.incoming.start, 0);
            let modifiers = if self.children[word] > 0 { side.modifiers() } else { 0 };
            for j in 1..=modifiers {
                if heads[parts.modifier(side, j) - 1] == word {
                    value += at(side.grandparent(g, j)) + at(side.grand_sibling(g, back, j));
                    back = j;
                }
            }
            value += at(side.grand_sibling(g, back, side.modifiers() + 1));
        }
        value
    }

    /// What modifier number `j` adds to a side.
    fn worth_on_side(
        &self,
        parts: &TreeParts,
        side: &Side,
        j: usize,
        heads: &[usize],
        at: impl Fn(Option<usize>) -> f64,
    ) -> f64 {
        let end = side.modifiers() + 1;
        let is_on = |&i: &usize| heads[parts.modifier(side, i) - 1] == side.head;
        let before = |j: usize| (1..j).rev().find(is_on).unwrap_or(0);
        let after = |j: usize| (j + 1..end).find(is_on).unwrap_or(end);
        let (i, k) = (before(j), after(j));
        let mut value = at(side.sibling(i, j)) + at(side.sibling(j, k)) - at(side.sibling(i, k));
        if !side.incoming.is_empty() {
            let g = self.arcs[side.head - 1] - side.incoming.start;
            value += at(side.grandparent(g, j)) + at(side.grand_sibling(g, i, j));
            value += at(side.grand_sibling(g, j, k)) - at(side.grand_sibling(g, i, k));
        }
        if side.has_tri_siblings() {
            value += at(side.tri_sibling(i, j, k));
            if i > 0 {
                let first = before(i);
                value += at(side.tri_sibling(first, i, j)) - at(side.tri_sibling(first, i, k));
            }
            if k < end {
                let last = after(k);
                value += at(side.tri_sibling(j, k, last)) - at(side.tri_sibling(i, k, last));
            }
        }
        if side.has_arbitrary_siblings() {
            let others = (1..end).filter(|&other| other != j).filter(is_on);
            value += others.map(|other| at(side.arbitrary_sibling(other.min(j), other.max(j)))).sum::<f64>();
        }
        value
    }
}

/// Whether a head stands below a word.
fn is_below(heads: &[usize], mut head: usize, word: usize) -> bool {
    while head != 0 && head != word {
        head = heads[head - 1];
    }
    head == word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::PartKinds;

    #[test]
    fn what_an_arc_is_worth_is_the_difference_of_trees() {
        let mut seed = 5_u64;
        let mut random = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % limit
        };
        let words = 7;
        let all = (1..=words).flat_map(|m| (0..=words).filter(move |&h| h != m).map(move |h| (h, m)));
        let all: Vec<(usize, usize)> = all.collect();
        for kinds in [1, 2, 3].map(PartKinds::of_order).into_iter().chain([PartKinds::full()]) {
            for root_children in [RootChildren::One, RootChildren::Any] {
                let arcs: Vec<_> = all.iter().copied().filter(|&(h, _)| h == 0 || random(5) > 0).collect();
                let parts = TreeParts::new(words, &arcs, kinds, root_children).unwrap();
                let scores: Vec<f32> = (0..parts.len()).map(|_| random(2001) as f32 / 500.0 - 2.0).collect();
                let mut climber = Climber::default();
                climber.begin(&parts);
                for _ in 0..200 {
                    // Any arcs will do, trees or not.
                    climber.arcs.clear();
                    for word in 1..=words {
                        let into = parts.arcs_into(word);
                        climber.arcs.push(into.start + random(into.len() as u64) as usize);
                    }
                    let heads: Vec<usize> = climber.arcs.iter().map(|&arc| parts.arcs()[arc].0).collect();
                    climber.children = vec![0; words + 1];
                    heads.iter().for_each(|&head| climber.children[head] += 1);
                    let word = 1 + random(words as u64) as usize;
                    let mut worths = parts.arcs_into(word).filter_map(|arc| {
                        let mut heads = heads.clone();
                        heads[word - 1] = parts.arcs()[arc].0;
                        // A head among the word's own modifiers would have its arc in its own parts.
                        let is_free = !is_below_within(&heads, heads[word - 1], word);
                        is_free.then(|| {
                            parts.value(&scores, &heads) - climber.worth(&parts, &scores, &heads, arc)
                        })
                    });
                    if let Some(first) = worths.next() {
                        assert!(worths.all(|rest| (rest - first).abs() < 1e-4));
                    }
                }
            }
        }
    }

    /// As [`is_below`], in graphs that may have cycles elsewhere.
    fn is_below_within(heads: &[usize], mut head: usize, word: usize) -> bool {
        for _ in 0..heads.len() {
            if head == 0 || head == word {
                break;
            }
            head = heads[head - 1];
        }
        head == word
    }
}
