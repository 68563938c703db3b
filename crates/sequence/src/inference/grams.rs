//! Sparse label n-grams of any order as an automaton with failure links.
//!
//! The listed grams, every prefix of one, and every single label are the nodes of a trie. A *state* is the
//! longest suffix of the history that some listed gram extends: all that the future can see of the past. An
//! *arc* is a trie node read as "this label after that context"; a state without an arc for a label behaves
//! as its failure state, the next shorter suffix (Aho & Corasick 1975; for CRFs: Ye et al. 2009, Takhanov &
//! Kolmogorov 2013). So the size of a model of order n is the number of listed grams and their prefixes, not
//! Lⁿ.
//!
//! Forbidden transitions are arcs that score minus infinity. A label that most labels may not precede is
//! *closed*: its default arc is forbidden and the few allowed pairs are arcs of their own, so that a BIO mask
//! stays linear in size.

use super::chain::Allowed;
use super::constraints::TransitionMask;
use super::error::{InferenceError, Result, check_label};
use rustc_hash::FxHashMap;

/// Marks an arc without a gram of its own.
const NO_GRAM: u32 = u32::MAX;

/// The automaton; see the module's text. Arc 0 is the empty context, arcs 1..=L the single labels.
#[derive(Debug, Clone)]
pub(crate) struct Grams {
    labels: usize,
    order: usize,
    gram_count: usize,
    /// Label read by each arc.
    label: Vec<u32>,
    /// Score index of each arc's own gram, or `NO_GRAM`.
    gram: Vec<u32>,
    /// State (or root) that each arc leaves.
    parent: Vec<u32>,
    /// The arc for the same label out of the nearest shorter context that has one; 0 for single labels.
    shorter: Vec<u32>,
    /// State that each arc enters.
    target: Vec<u32>,
    /// Arc forbidden by the mask.
    blocked: Vec<bool>,
    closed: Vec<u32>,
    /// The state that the next shorter context's arc for the same label enters.
    shorter_target: Vec<u32>,
    /// Arcs out of each state, ascending by label; the root's stand last.
    arcs: Vec<(u32, u32)>,
    /// Failure state of each state; the root for single labels.
    failure: Vec<u32>,
    /// States grouped by their last label.
    by_label: Vec<u32>,
    by_label_start: Vec<u32>,
    /// The arc whose context each state is.
    entry: Vec<u32>,
    /// Last label of each state.
    last: Vec<u32>,
    /// Labels with the same allowed successors have the same class.
    class: Vec<u32>,
    classes: usize,
    /// Sum of the scores of an arc's gram and all its suffixes; minus infinity when blocked.
    score: Vec<f64>,
    /// Most that the grams begun in a state can still add, at best and at worst.
    most: Vec<f64>,
    least: Vec<f64>,
}

impl Grams {
    pub(crate) fn new(
        labels: usize,
        order: usize,
        grams: &[impl AsRef<[u32]>],
        mask: Option<&TransitionMask>,
    ) -> Result<Self> {
        let trie = Trie::new(labels, order, grams, mask)?;
        Ok(trie.into_automaton(order, grams.len(), mask))
    }

    pub(crate) fn labels(&self) -> usize {
        self.labels
    }

    pub(crate) fn order(&self) -> usize {
        self.order
    }

    pub(crate) fn gram_count(&self) -> usize {
        self.gram_count
    }

    pub(crate) fn states(&self) -> usize {
        self.last.len()
    }

    /// The empty context, numbered after the states.
    pub(crate) fn root(&self) -> u32 {
        self.last.len() as u32
    }

    pub(crate) fn arc_count(&self) -> usize {
        self.label.len()
    }

    pub(crate) fn last_label(&self, state: u32) -> u32 {
        self.last[state as usize]
    }

    pub(crate) fn failure(&self, state: u32) -> u32 {
        self.failure[state as usize]
    }

    pub(crate) fn class(&self, state: u32) -> usize {
        self.class[self.last[state as usize] as usize] as usize
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The arcs that leave a state (or the root) explicitly.
    pub(crate) fn arcs_of(&self, state: u32) -> std::ops::Range<usize> {
        let (start, end) = self.arcs[state as usize];
        start as usize..end as usize
    }

    pub(crate) fn arc_label(&self, arc: usize) -> u32 {
        self.label[arc]
    }

    pub(crate) fn arc_target(&self, arc: usize) -> u32 {
        self.target[arc]
    }

    /// Targets of a range of arcs, and those of the arcs they override.
    pub(crate) fn targets(&self, arcs: std::ops::Range<usize>) -> (&[u32], &[u32]) {
        (&self.target[arcs.clone()], &self.shorter_target[arcs])
    }

    pub(crate) fn arc_shorter(&self, arc: usize) -> usize {
        self.shorter[arc] as usize
    }

    pub(crate) fn arc_gram(&self, arc: usize) -> Option<usize> {
        (self.gram[arc] != NO_GRAM).then_some(self.gram[arc] as usize)
    }

    pub(crate) fn arc_score(&self, arc: usize) -> f64 {
        self.score[arc]
    }

    /// Largest future difference between two histories with the same last label, in log space: what the grams
    /// begun before that label can make.
    pub(crate) fn spread(&self) -> f64 {
        let (mut most, mut least) = (0.0f64, 0.0f64);
        for (state, &last) in self.last.iter().enumerate().skip(self.labels) {
            most = most.max(self.most[state] - self.most[last as usize]);
            least = least.min(self.least[state] - self.least[last as usize]);
        }
        // Two infinities leave no number: then nothing is known.
        if (most - least).is_nan() { f64::INFINITY } else { most - least }
    }

    /// Calls `visit` with the arc that `state` takes on each allowed label.
    pub(crate) fn visit_arcs(
        &self,
        state: u32,
        allowed: Allowed,
        arcs: &mut Vec<u32>,
        mut visit: impl FnMut(usize),
    ) {
        match allowed {
            Allowed::All(_) => {
                self.arc_of_each_label(state, arcs);
                arcs.iter().for_each(|&arc| visit(arc as usize));
            }
            Allowed::Listed(list) => list.iter().for_each(|&label| visit(self.resolve(state, label))),
        }
    }

    /// Labels whose default arc is forbidden.
    pub(crate) fn closed(&self) -> &[u32] {
        &self.closed
    }

    pub(crate) fn least_of_states(&self) -> &[f64] {
        &self.least
    }

    pub(crate) fn most_of_states(&self) -> &[f64] {
        &self.most
    }

    pub(crate) fn most(&self, state: u32) -> f64 {
        self.most[state as usize]
    }

    pub(crate) fn least(&self, state: u32) -> f64 {
        self.least[state as usize]
    }

    /// The states whose last label this is.
    pub(crate) fn states_of(&self, label: u32) -> impl Iterator<Item = u32> {
        let range =
            self.by_label_start[label as usize] as usize..self.by_label_start[label as usize + 1] as usize;
        self.by_label[range].iter().copied()
    }

    /// The arc that leaves exactly this state for `label`, if listed.
    pub(crate) fn explicit(&self, state: u32, label: u32) -> Option<usize> {
        if state == self.root() {
            return Some(1 + label as usize);
        }
        let arcs = self.arcs_of(state);
        let offset = self.label[arcs.clone()].binary_search(&label).ok()?;
        Some(arcs.start + offset)
    }

    /// The arc taken from `state` on `label`: of the longest suffix that has one.
    pub(crate) fn resolve(&self, mut state: u32, label: u32) -> usize {
        loop {
            if let Some(arc) = self.explicit(state, label) {
                return arc;
            }
            state = self.failure[state as usize];
        }
    }

    /// The arc taken from `state` on every label: the default arcs, overlaid by ever longer contexts.
    pub(crate) fn arc_of_each_label(&self, state: u32, arcs: &mut Vec<u32>) {
        if state == self.root() {
            arcs.clear();
            arcs.extend(1..=self.labels as u32);
            return;
        }
        // Recursion is as deep as the order of the model.
        self.arc_of_each_label(self.failure[state as usize], arcs);
        for arc in self.arcs_of(state) {
            arcs[self.label[arc] as usize] = arc as u32;
        }
    }

    /// Score index of a gram, if it is listed.
    pub(crate) fn gram_index(&self, gram: &[u32]) -> Option<usize> {
        let (&last, context) = gram.split_last()?;
        let mut state = *context.first()?;
        if gram.iter().any(|&label| label as usize >= self.labels) {
            return None;
        }
        for &label in &context[1..] {
            let arc = self.explicit(state, label)?;
            state = self.target[arc];
            if self.entry[state as usize] as usize != arc {
                return None; // a context that nothing extends was folded into a shorter state
            }
        }
        self.arc_gram(self.explicit(state, last)?)
    }

    /// Takes new scores, one for each gram in the order they were listed, and recomputes what depends on
    /// them.
    pub(crate) fn load(&mut self, scores: &[f32]) {
        let own = |arc: usize| {
            self.gram.get(arc).filter(|&&g| g != NO_GRAM).map_or(0.0, |&g| scores[g as usize] as f64)
        };
        let arcs = self.label.len();
        // Arcs are numbered by depth, so that shorter suffixes come first. The mask is laid over afterwards:
        // a longer gram adds to the scores of its suffixes, not to their being forbidden.
        for arc in 1..arcs {
            self.score[arc] = own(arc) + self.score[self.shorter[arc] as usize];
        }
        for arc in 1..arcs {
            if self.blocked[arc] {
                self.score[arc] = f64::NEG_INFINITY;
            }
        }
        self.most.fill(0.0);
        self.least.fill(0.0);
        for arc in (self.labels + 1..arcs).rev() {
            if self.blocked[arc] {
                continue;
            }
            let state = self.target[arc] as usize;
            let extends = self.entry[state] as usize == arc;
            let (more, less) = if extends { (self.most[state], self.least[state]) } else { (0.0, 0.0) };
            let parent = self.parent[arc] as usize;
            self.most[parent] = self.most[parent].max(own(arc) + more);
            self.least[parent] = self.least[parent].min(own(arc) + less);
        }
        // Grams begun at any suffix of the state are still open: add what the shorter states can still see.
        for state in self.labels..self.last.len() {
            self.most[state] += self.most[self.failure[state] as usize];
            self.least[state] += self.least[self.failure[state] as usize];
        }
    }

    /// Sets every score to 0 and keeps what is forbidden.
    pub(crate) fn flatten(&mut self) {
        for value in self.score.iter_mut().chain(&mut self.most).chain(&mut self.least) {
            *value = if *value == f64::NEG_INFINITY { *value } else { 0.0 };
        }
    }
}

/// The trie under construction: nodes in order of insertion.
struct Trie {
    labels: usize,
    children: FxHashMap<(u32, u32), u32>,
    gram: Vec<u32>,
    closed: Vec<bool>,
}

impl Trie {
    fn new(
        labels: usize,
        order: usize,
        grams: &[impl AsRef<[u32]>],
        mask: Option<&TransitionMask>,
    ) -> Result<Self> {
        let mut trie = Self {
            labels,
            children: FxHashMap::default(),
            gram: vec![NO_GRAM; labels + 1],
            closed: vec![false; labels],
        };
        for (index, gram) in grams.iter().enumerate() {
            let gram = gram.as_ref();
            if gram.len() < 2 || gram.len() > order + 1 {
                return Err(InferenceError::GramLength { index, found: gram.len(), order });
            }
            for &label in gram {
                check_label("gram", label, labels)?;
            }
            let node = trie.insert(gram) as usize;
            if trie.gram[node] != NO_GRAM {
                return Err(InferenceError::RepeatedGram { first: trie.gram[node] as usize, second: index });
            }
            trie.gram[node] = index as u32;
        }
        if let Some(mask) = mask {
            for label in 0..labels as u32 {
                let forbidden = (0..labels as u32).filter(|&previous| !mask.allows(previous, label)).count();
                let closed = forbidden * 2 > labels;
                trie.closed[label as usize] = closed;
                for previous in 0..labels as u32 {
                    if mask.allows(previous, label) == closed {
                        trie.insert(&[previous, label]);
                    }
                }
            }
        }
        Ok(trie)
    }

    fn insert(&mut self, gram: &[u32]) -> u32 {
        let mut node = 1 + gram[0];
        for &label in &gram[1..] {
            let fresh = self.gram.len() as u32;
            node = *self.children.entry((node, label)).or_insert(fresh);
            if node == fresh {
                self.gram.push(NO_GRAM);
            }
        }
        node
    }

    /// Numbers the nodes by depth, then by parent, then by label, and draws the failure links.
    fn into_automaton(self, order: usize, gram_count: usize, mask: Option<&TransitionMask>) -> Grams {
        let (labels, nodes) = (self.labels, self.gram.len());
        let mut by_parent: Vec<(u32, u32, u32)> =
            self.children.iter().map(|(&(p, l), &n)| (p, l, n)).collect();
        by_parent.sort_unstable();
        let children_of = |node: u32| {
            let start = by_parent.partition_point(|&(parent, ..)| parent < node);
            let count = by_parent[start..].partition_point(|&(parent, ..)| parent == node);
            &by_parent[start..start + count]
        };
        // Breadth first: `old[arc]` is the trie node of each new number; children of one parent stay
        // together.
        let mut old: Vec<u32> = (0..=labels as u32).collect();
        let mut label: Vec<u32> = std::iter::once(0).chain(0..labels as u32).collect();
        let mut parent_arc: Vec<u32> = vec![0; labels + 1];
        let mut children: Vec<(u32, u32)> = vec![(1, labels as u32 + 1)];
        let mut next = 1;
        while next < old.len() {
            let start = old.len() as u32;
            for &(_, child_label, node) in children_of(old[next]) {
                old.push(node);
                label.push(child_label);
                parent_arc.push(next as u32);
            }
            children.push((start, old.len() as u32));
            next += 1;
        }

        let mut state_of = vec![u32::MAX; nodes];
        let mut entry = Vec::new();
        for arc in 1..nodes {
            if arc <= labels || children[arc].0 < children[arc].1 {
                state_of[arc] = entry.len() as u32;
                entry.push(arc as u32);
            }
        }
        let root = entry.len() as u32;
        state_of[0] = root;

        let find = |arc: u32, wanted: u32| -> Option<u32> {
            let (start, end) = children[arc as usize];
            let offset = label[start as usize..end as usize].binary_search(&wanted).ok()?;
            Some(start + offset as u32)
        };
        let mut shorter = vec![0u32; nodes];
        let mut target = vec![root; nodes];
        for arc in 1..nodes {
            if arc > labels {
                let mut context = shorter[parent_arc[arc] as usize];
                shorter[arc] = loop {
                    if let Some(found) = find(context, label[arc]) {
                        break found;
                    }
                    context = shorter[context as usize];
                };
            }
            target[arc] =
                if state_of[arc] != u32::MAX { state_of[arc] } else { target[shorter[arc] as usize] };
        }
        // The failure of a state skips contexts that nothing extends: they have no arcs.
        let failure = entry.iter().map(|&arc| target[shorter[arc as usize] as usize]).collect();
        let blocked = (0..nodes)
            .map(|arc| match arc {
                0 => false,
                arc if arc <= labels => self.closed[arc - 1],
                arc => mask.is_some_and(|mask| !mask.allows(label[parent_arc[arc] as usize], label[arc])),
            })
            .collect();
        let last: Vec<u32> = entry.iter().map(|&arc| label[arc as usize]).collect();
        let mut by_label: Vec<u32> = (0..root).collect();
        by_label.sort_by_key(|&state| last[state as usize]);
        let by_label_start = (0..=labels as u32)
            .map(|label| by_label.partition_point(|&state| last[state as usize] < label) as u32)
            .collect();
        let (class, classes) = classes_of(labels, mask);
        let mut grams = Grams {
            labels,
            order,
            gram_count,
            gram: old.iter().map(|&node| self.gram[node as usize]).collect(),
            parent: parent_arc.iter().map(|&arc| state_of[arc as usize]).collect(),
            shorter_target: shorter.iter().map(|&arc| target[arc as usize]).collect(),
            shorter,
            target,
            blocked,
            closed: (0..labels as u32).filter(|&label| self.closed[label as usize]).collect(),
            arcs: entry.iter().chain([&0]).map(|&arc| children[arc as usize]).collect(),
            failure,
            last,
            by_label,
            by_label_start,
            entry,
            class,
            classes,
            score: vec![0.0; nodes],
            most: vec![0.0; root as usize + 1],
            least: vec![0.0; root as usize + 1],
            label,
        };
        grams.load(&vec![0.0; gram_count]);
        grams
    }
}

/// Groups labels by the set of labels that may follow them.
fn classes_of(labels: usize, mask: Option<&TransitionMask>) -> (Vec<u32>, usize) {
    let Some(mask) = mask else { return (vec![0; labels], 1) };
    let mut seen: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
    let class = (0..labels as u32)
        .map(|previous| {
            let mut row = vec![0u64; labels.div_ceil(64)];
            for label in 0..labels {
                row[label / 64] |= u64::from(mask.allows(previous, label as u32)) << (label % 64);
            }
            let fresh = seen.len() as u32;
            *seen.entry(row).or_insert(fresh)
        })
        .collect();
    (class, seen.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_contexts_that_grams_extend() {
        let grams: &[&[u32]] = &[&[0, 1], &[1, 2], &[0, 1, 2], &[2, 0, 1, 1]];
        let automaton = Grams::new(3, 3, grams, None).unwrap();
        // Single labels, (0 1) extended by (0 1 2), (2 0) and (2 0 1) extended by (2 0 1 1).
        assert_eq!(automaton.states(), 6);
        for (index, gram) in grams.iter().enumerate() {
            assert_eq!(automaton.gram_index(gram), Some(index));
        }
        assert_eq!(automaton.gram_index(&[2, 0]), None);
        assert_eq!(automaton.gram_index(&[2, 0, 1]), None);
        assert_eq!(automaton.gram_index(&[1, 2, 2]), None);
        assert_eq!(automaton.gram_index(&[7, 7]), None);
        assert_eq!(automaton.gram_index(&[]), None);
    }

    #[test]
    fn wrong_grams_are_refused() {
        assert_eq!(
            Grams::new(2, 1, &[[0u32, 1, 0]], None).unwrap_err(),
            InferenceError::GramLength { index: 0, found: 3, order: 1 }
        );
        assert_eq!(
            Grams::new(2, 1, &[[0u32, 1], [0, 1]], None).unwrap_err(),
            InferenceError::RepeatedGram { first: 0, second: 1 }
        );
        assert!(Grams::new(2, 1, &[[0u32, 2]], None).is_err());
    }

    #[test]
    fn a_bio_mask_stays_linear_in_the_number_of_labels() {
        let types = 100;
        let mask = TransitionMask::from_fn(
            2 * types + 1,
            |label| label % 2 == 1 || label == 0,
            |previous, label| label == 0 || label % 2 == 1 || previous == label || previous + 1 == label,
            |_| true,
        );
        let automaton = Grams::new(2 * types + 1, 1, &[] as &[[u32; 2]], Some(&mask)).unwrap();
        assert!(automaton.arc_count() < 10 * types);
    }
}
