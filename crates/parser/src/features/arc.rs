//! Features of arcs: a small set for pruning, a rich one for parsing.

use consonant_learn::hash::combine;

use super::{Encoded, Keys, distance};

const PRUNING: u64 = 1 << 8;
const ARC: u64 = 2 << 8;
const ATOMS: u64 = 3 << 8;

impl Encoded {
    /// Direction and distance of an arc as a key.
    #[inline]
    pub(super) fn way(&self, head: usize, modifier: usize) -> u64 {
        2 * distance(head, modifier) + u64::from(head < modifier) + 1
    }

    /// Few features, for the model that looks at all arcs.
    pub fn pruning_features(&self, head: usize, modifier: usize, out: &mut Vec<u64>) {
        let (h, m) = (self.at(head), self.at(modifier));
        let way = self.way(head, modifier);
        let side = u64::from(head < modifier) + 1;
        let mut keys = Keys::new(out, PRUNING);
        let tags = combine(h.tag, m.tag);
        let coarse = combine(combine(h.coarse, m.coarse), side);
        keys.push([way]);
        keys.push([m.tag, way]);
        keys.push([h.tag, way]);
        keys.push([tags, side]);
        keys.push([tags, way]);
        keys.push([h.lemma, m.tag, side]);
        keys.push([h.tag, m.lemma, side]);
        keys.push([m.lemma, way]);
        keys.push([h.lemma, way]);
        keys.push([h.lemma, m.lemma, side]);
        keys.push([h.morphology, m.morphology, side]);
        keys.push([h.coarse, m.morphology, way]);
        let (h_before, h_after) = (self.before(head).tag, self.after(head).tag);
        let (m_before, m_after) = (self.before(modifier).tag, self.after(modifier).tag);
        keys.push([tags, m_before, side]);
        keys.push([tags, m_after, side]);
        keys.push([tags, h_before, side]);
        keys.push([tags, h_after, side]);
        keys.push([tags, h_after, m_before, side]);
        keys.push([tags, h_before, m_after, side]);
        keys.push([tags, h_before, m_before, side]);
        keys.push([tags, h_after, m_after, side]);
        keys.push([coarse, self.counts_between(head, modifier)]);
        keys.push([coarse, self.tags_between(head, modifier)]);
        let mut bits = self.tags_between(head, modifier);
        while bits != 0 {
            keys.template = PRUNING + 100;
            keys.push([coarse, u64::from(bits.trailing_zeros())]);
            bits &= bits - 1;
        }
    }

    /// All features of an arc.
    pub fn arc_features(&self, head: usize, modifier: usize, out: &mut Vec<u64>) {
        let start = out.len();
        let (h, m) = (self.at(head), self.at(modifier));
        let mut keys = Keys::new(out, ARC);
        keys.push([]);
        for (word, neighbours) in
            [(h, [self.before(head), self.after(head)]), (m, [self.before(modifier), self.after(modifier)])]
        {
            keys.push([word.form]);
            keys.push([word.lemma]);
            keys.push([word.tag]);
            keys.push([word.coarse]);
            keys.push([word.form, word.tag]);
            keys.push([word.lemma, word.tag]);
            keys.push([word.morphology, word.coarse]);
            for neighbour in neighbours {
                keys.push([word.tag, neighbour.tag]);
                keys.push([word.tag, neighbour.lemma]);
                keys.push([word.coarse, neighbour.coarse]);
            }
        }
        let tags = combine(h.tag, m.tag);
        let coarse = combine(h.coarse, m.coarse);
        keys.push([tags]);
        keys.push([coarse]);
        keys.push([h.form, m.form]);
        keys.push([h.form, tags]);
        keys.push([tags, m.form]);
        keys.push([h.form, m.tag]);
        keys.push([h.tag, m.form]);
        keys.push([h.form, m.form, m.tag]);
        keys.push([h.form, m.form, h.tag]);
        keys.push([h.form, m.form, tags]);
        keys.push([h.lemma, m.lemma]);
        keys.push([h.lemma, tags]);
        keys.push([m.lemma, tags]);
        keys.push([h.lemma, m.tag]);
        keys.push([h.tag, m.lemma]);
        keys.push([h.lemma, m.lemma, tags]);
        keys.push([h.lemma, m.coarse]);
        keys.push([h.coarse, m.lemma]);
        keys.push([h.morphology, m.morphology, coarse]);
        keys.push([h.morphology, coarse]);
        keys.push([m.morphology, coarse]);
        keys.push([h.lemma, m.morphology]);
        keys.push([h.morphology, m.lemma]);
        for (fine, pair) in [(true, tags), (false, coarse)] {
            let tag = |token: &super::Token| if fine { token.tag } else { token.coarse };
            let (h_before, h_after) = (tag(self.before(head)), tag(self.after(head)));
            let (m_before, m_after) = (tag(self.before(modifier)), tag(self.after(modifier)));
            keys.push([pair, m_before]);
            keys.push([pair, m_after]);
            keys.push([pair, h_before]);
            keys.push([pair, h_after]);
            keys.push([pair, h_after, m_before]);
            keys.push([pair, h_before, m_before]);
            keys.push([pair, h_after, m_after]);
            keys.push([pair, h_before, m_after]);
            keys.push([pair, h_before, h_after]);
            keys.push([pair, m_before, m_after]);
            keys.push([pair, h_before, h_after, m_before, m_after]);
        }
        let between = self.tags_between(head, modifier);
        keys.push([tags, self.counts_between(head, modifier)]);
        keys.push([coarse, between]);
        keys.push([between]);
        let mut bits = between;
        while bits != 0 {
            keys.template = ARC + 150;
            let tag = u64::from(bits.trailing_zeros());
            keys.push([tags, tag]);
            keys.push([coarse, tag]);
            bits &= bits - 1;
        }
        // Each with the direction, and with direction and distance.
        let (side, way) = (u64::from(head < modifier) + 40, self.way(head, modifier));
        for at in start..out.len() {
            let key = out[at];
            out[at] = combine(key, side);
            out.push(combine(key, way));
        }
        let side = combine(coarse, side);
        let mut keys = Keys::new(out, ATOMS);
        for &a in self.atoms(h) {
            for &b in self.atoms(m) {
                keys.template = ATOMS;
                keys.push([a, b, side]);
            }
        }
        for &a in self.atoms(h) {
            keys.template = ATOMS + 1;
            keys.push([a, side]);
        }
        for &b in self.atoms(m) {
            keys.template = ATOMS + 2;
            keys.push([b, side]);
        }
    }
}
