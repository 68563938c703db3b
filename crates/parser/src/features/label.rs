//! Features of the label of an arc, with the whole tree in view.

use consonant_learn::hash::combine;

use super::{Encoded, Keys, Token};

const LABEL: u64 = 20 << 8;

/// What stands around each word in a tree: its neighbours under the same head, its children, its head's head.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// For each position: first and last child to the left, first and last child to the right (0: none).
    children: Vec<[usize; 4]>,
    /// For each position, the siblings to the left and to the right (0: none).
    siblings: Vec<[usize; 2]>,
    last: Vec<usize>,
}

impl Surroundings {
    /// Reads a tree, given the head of each word.
    pub(crate) fn load(&mut self, heads: &[usize]) {
        let positions = heads.len() + 1;
        self.children.clear();
        self.children.resize(positions, [0; 4]);
        self.siblings.clear();
        self.siblings.resize(positions, [0; 2]);
        self.last.clear();
        self.last.resize(positions, 0);
        for (word, &head) in (1..).zip(heads) {
            let children = &mut self.children[head];
            let side = if word < head { 0 } else { 2 };
            if children[side] == 0 {
                children[side] = word;
            }
            children[side + 1] = word;
            let before = std::mem::replace(&mut self.last[head], word);
            self.siblings[word][0] = before;
            if before > 0 {
                self.siblings[before][1] = word;
            }
        }
    }
}

impl Encoded {
    /// A neighbour in the tree; the end token where there is none.
    fn neighbour(&self, position: usize) -> &Token {
        if position == 0 { self.end() } else { self.at(position) }
    }

    /// The features of the label of the arc into a word.
    pub(crate) fn label_features(
        &self,
        word: usize,
        heads: &[usize],
        around: &Surroundings,
        out: &mut Vec<u64>,
    ) {
        let head = heads[word - 1];
        let (h, m) = (self.at(head), self.at(word));
        let side = u64::from(head < word) + 1;
        let way = self.way(head, word);
        let tags = [h.tag, m.tag].into_iter().fold(side, combine);
        let coarse = [h.coarse, m.coarse].into_iter().fold(side, combine);
        let mut keys = Keys::new(out, LABEL);
        keys.push([]);
        keys.push([way]);
        keys.push([m.form, side]);
        keys.push([m.lemma, side]);
        keys.push([m.tag, side]);
        keys.push([m.tag, way]);
        keys.push([m.morphology, m.coarse]);
        keys.push([h.form, side]);
        keys.push([h.lemma, side]);
        keys.push([h.tag, side]);
        keys.push([h.morphology, h.coarse]);
        keys.push([tags]);
        keys.push([tags, way]);
        keys.push([coarse]);
        keys.push([coarse, way]);
        keys.push([h.lemma, m.lemma]);
        keys.push([h.lemma, tags]);
        keys.push([m.lemma, tags]);
        keys.push([h.form, m.tag]);
        keys.push([m.form, h.tag]);
        keys.push([h.lemma, m.coarse, side]);
        keys.push([m.lemma, h.coarse, side]);
        keys.push([h.morphology, m.morphology, coarse]);
        keys.push([m.morphology, coarse]);
        let [m_before, m_after] = [self.before(word), self.after(word)];
        let [h_before, h_after] = [self.before(head), self.after(head)];
        keys.push([tags, m_before.tag]);
        keys.push([tags, m_after.tag]);
        keys.push([tags, h_before.tag]);
        keys.push([tags, h_after.tag]);
        keys.push([m.tag, m_before.lemma]);
        keys.push([m.tag, m_after.lemma]);
        keys.push([coarse, self.tags_between(head, word)]);
        // The tree around it.
        let [far_left, near_left, near_right, far_right] = around.children[word].map(|c| self.neighbour(c));
        for child in [far_left, near_left, near_right, far_right] {
            keys.push([coarse, child.tag]);
            keys.push([m.coarse, h.coarse, child.lemma]);
        }
        keys.push([coarse, far_left.coarse, far_right.coarse]);
        let [left, right] = around.siblings[word].map(|sibling| self.neighbour(sibling));
        keys.push([tags, left.tag]);
        keys.push([tags, right.tag]);
        keys.push([coarse, left.tag, right.tag]);
        keys.push([m.tag, left.lemma, side]);
        keys.push([m.tag, right.lemma, side]);
        let [first, _, _, last] = around.children[head].map(|child| self.neighbour(child));
        keys.push([tags, first.tag]);
        keys.push([tags, last.tag]);
        if let Some(&above) = head.checked_sub(1).and_then(|head| heads.get(head)) {
            keys.push([tags, self.at(above).tag, u64::from(above < head)]);
            keys.push([coarse, self.at(above).lemma]);
        }
        keys.template = LABEL + 100;
        for &atom in self.atoms(m) {
            keys.template = LABEL + 100;
            keys.push([atom, coarse]);
        }
    }
}
