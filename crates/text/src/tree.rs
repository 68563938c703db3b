//! Questions about dependency trees.

use std::cmp::Reverse;
use std::ops::Range;

/// Heads seen as a tree over words 1 to n, with 0 as the root above them.
///
/// Every head must be at most n; whether the heads make a tree is what the questions are for.
///
/// ```
/// use consonant_text::Tree;
///
/// let tree = Tree::new(&[2, 0, 2]);
/// assert!(tree.is_projective() && tree.cycle().is_none());
/// assert_eq!(tree.roots().collect::<Vec<_>>(), [2]);
/// assert!(!Tree::new(&[3, 0, 2, 1]).is_projective());
/// assert_eq!(Tree::new(&[2, 1]).cycle(), Some(vec![1, 2]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree<'a> {
    heads: &'a [u32],
}

impl<'a> Tree<'a> {
    /// Looks at heads as a tree: `heads[i]` is the head of word `i + 1`.
    ///
    /// # Panics
    /// If a head is larger than the number of words.
    pub fn new(heads: &'a [u32]) -> Self {
        assert!(heads.iter().all(|&head| head as usize <= heads.len()), "a head must be a word or 0");
        Tree { heads }
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The head of a word, both counted from 1.
    pub fn head(&self, word: u32) -> u32 {
        self.heads[word as usize - 1]
    }

    /// The words whose head is the root.
    pub fn roots(&self) -> impl Iterator<Item = u32> + 'a {
        (1..).zip(self.heads).filter(|&(_, &head)| head == 0).map(|(word, _)| word)
    }

    /// Some cycle, from its smallest word on, each word followed by its head; nothing if there is none.
    pub fn cycle(&self) -> Option<Vec<u32>> {
        // Walk up from every word and leave its number on the way; meeting one's own number closes a cycle.
        let mut walk = vec![0u32; self.len() + 1];
        for start in 1..=self.len() as u32 {
            let mut word = start;
            while word != 0 && walk[word as usize] == 0 {
                walk[word as usize] = start;
                word = self.head(word);
            }
            if word != 0 && walk[word as usize] == start {
                let mut cycle = vec![word];
                let mut next = self.head(word);
                while next != word {
                    cycle.push(next);
                    next = self.head(next);
                }
                let smallest = (0..cycle.len()).min_by_key(|&i| cycle[i]).unwrap_or(0);
                cycle.rotate_left(smallest);
                return Some(cycle);
            }
        }
        None
    }

    /// Whether it is a tree: a word under the root, and no cycle. Several words may be under the root.
    pub fn is_tree(&self) -> bool {
        self.roots().next().is_some() && self.cycle().is_none()
    }

    /// Whether no two arcs cross, the arcs from the root (at the left of the first word) included.
    ///
    /// For a tree this is the usual notion: every word between a head and its dependent descends from the
    /// head.
    pub fn is_projective(&self) -> bool {
        // From left to right, and the longest first: each arc must end inside the innermost one that is still
        // open.
        let mut arcs: Vec<(u32, Reverse<u32>)> =
            (1..).zip(self.heads).map(|(word, &head)| (word.min(head), Reverse(word.max(head)))).collect();
        arcs.sort_unstable();
        let mut open: Vec<u32> = Vec::new();
        for (start, Reverse(end)) in arcs {
            while open.last().is_some_and(|&enclosing| enclosing <= start) {
                open.pop();
            }
            if open.last().is_some_and(|&enclosing| end > enclosing) {
                return false;
            }
            open.push(end);
        }
        true
    }

    /// The words whose arc is not projective: some word between it and its head does not descend from the
    /// head.
    ///
    /// Meaningful for trees; quadratic in the worst case.
    pub fn nonprojective_words(&self) -> Vec<u32> {
        let spans = |word: u32| -> Range<u32> {
            let head = self.head(word);
            word.min(head) + 1..word.max(head)
        };
        let descends = |mut word: u32, from: u32| {
            for _ in 0..=self.len() {
                if word == from {
                    return true;
                }
                if word == 0 {
                    return false;
                }
                word = self.head(word);
            }
            false
        };
        (1..=self.len() as u32)
            .filter(|&word| self.head(word) != 0)
            .filter(|&word| spans(word).any(|between| !descends(between, self.head(word))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn crossing(heads: &[u32]) -> bool {
        let arcs: Vec<(u32, u32)> =
            (1..).zip(heads).map(|(word, &head)| (head.min(word), head.max(word))).collect();
        arcs.iter().any(|a| arcs.iter().any(|b| a.0 < b.0 && b.0 < a.1 && a.1 < b.1))
    }

    fn heads() -> impl Strategy<Value = Vec<u32>> {
        (1usize..9).prop_flat_map(|n| prop::collection::vec(0..=n as u32, n))
    }

    proptest! {
        #[test]
        fn agrees_with_the_definitions(heads in heads()) {
            let tree = Tree::new(&heads);
            prop_assert_eq!(tree.is_projective(), !crossing(&heads));
            let reaches_root = |mut word: u32| {
                for _ in 0..=heads.len() {
                    if word == 0 { return true; }
                    word = tree.head(word);
                }
                false
            };
            let acyclic = (1..=heads.len() as u32).all(reaches_root);
            prop_assert_eq!(tree.cycle().is_none(), acyclic);
            if let Some(cycle) = tree.cycle() {
                for (i, &word) in cycle.iter().enumerate() {
                    prop_assert_eq!(tree.head(word), cycle[(i + 1) % cycle.len()]);
                }
            } else {
                prop_assert!(tree.is_tree());
                if tree.roots().count() == 1 {
                    prop_assert_eq!(tree.is_projective(), tree.nonprojective_words().is_empty());
                }
            }
        }
    }
}
