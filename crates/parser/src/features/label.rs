//! Features of the label of an arc, with the whole tree in view.

use consonant_learn::hash::combine;

use super::{Attribute, Encoded, Keys, Token, distance};

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
        use Attribute::{Coarse, Form, Lemma, Morphology, Tag};
        let head = heads[word - 1];
        let (h, m) = (self.at(head), self.at(word));
        let side = u64::from(head < word) + 1;
        let way = 2 * distance(head, word) as u64 + side;
        let tags = [h.get(Tag), m.get(Tag)].into_iter().fold(side, combine);
        let coarse = [h.get(Coarse), m.get(Coarse)].into_iter().fold(side, combine);
        let mut keys = Keys::new(out, LABEL);
        keys.push([]);
        keys.push([way]);
        keys.push([m.get(Form), side]);
        keys.push([m.get(Lemma), side]);
        keys.push([m.get(Tag), side]);
        keys.push([m.get(Tag), way]);
        keys.push([m.get(Morphology), m.get(Coarse)]);
        keys.push([h.get(Form), side]);
        keys.push([h.get(Lemma), side]);
        keys.push([h.get(Tag), side]);
        keys.push([h.get(Morphology), h.get(Coarse)]);
        keys.push([tags]);
        keys.push([tags, way]);
        keys.push([coarse]);
        keys.push([coarse, way]);
        keys.push([h.get(Lemma), m.get(Lemma)]);
        keys.push([h.get(Lemma), tags]);
        keys.push([m.get(Lemma), tags]);
        keys.push([h.get(Form), m.get(Tag)]);
        keys.push([m.get(Form), h.get(Tag)]);
        keys.push([h.get(Lemma), m.get(Coarse), side]);
        keys.push([m.get(Lemma), h.get(Coarse), side]);
        keys.push([h.get(Morphology), m.get(Morphology), coarse]);
        keys.push([m.get(Morphology), coarse]);
        let [m_before, m_after] = [self.before(word), self.after(word)];
        let [h_before, h_after] = [self.before(head), self.after(head)];
        keys.push([tags, m_before.get(Tag)]);
        keys.push([tags, m_after.get(Tag)]);
        keys.push([tags, h_before.get(Tag)]);
        keys.push([tags, h_after.get(Tag)]);
        keys.push([m.get(Tag), m_before.get(Lemma)]);
        keys.push([m.get(Tag), m_after.get(Lemma)]);
        keys.push([coarse, self.tags_between(head, word)]);
        // The tree around it.
        let [far_left, near_left, near_right, far_right] = around.children[word].map(|c| self.neighbour(c));
        for child in [far_left, near_left, near_right, far_right] {
            keys.push([coarse, child.get(Tag)]);
            keys.push([m.get(Coarse), h.get(Coarse), child.get(Lemma)]);
        }
        keys.push([coarse, far_left.get(Coarse), far_right.get(Coarse)]);
        let [left, right] = around.siblings[word].map(|sibling| self.neighbour(sibling));
        keys.push([tags, left.get(Tag)]);
        keys.push([tags, right.get(Tag)]);
        keys.push([coarse, left.get(Tag), right.get(Tag)]);
        keys.push([m.get(Tag), left.get(Lemma), side]);
        keys.push([m.get(Tag), right.get(Lemma), side]);
        let [first, _, _, last] = around.children[head].map(|child| self.neighbour(child));
        keys.push([tags, first.get(Tag)]);
        keys.push([tags, last.get(Tag)]);
        if let Some(&above) = head.checked_sub(1).and_then(|head| heads.get(head)) {
            keys.push([tags, self.at(above).get(Tag), u64::from(above < head)]);
            keys.push([coarse, self.at(above).get(Lemma)]);
        }
        keys.template = LABEL + 100;
        for &atom in self.atoms(m) {
            keys.template = LABEL + 100;
            keys.push([atom, coarse]);
        }
    }
}
