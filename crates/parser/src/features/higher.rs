//! Features of parts with two and three arcs.

use consonant_learn::hash::combine;

use super::{Encoded, Keys, Token, distance};
use crate::parts::{Parts, Side};

const SIBLING: u64 = 10 << 8;
const GRANDPARENT: u64 = 11 << 8;
const GRAND_SIBLING: u64 = 12 << 8;
const TRI_SIBLING: u64 = 13 << 8;
const ARBITRARY: u64 = 14 << 8;
const BIGRAM: u64 = 15 << 8;

impl Encoded {
    /// A modifier of a side, or one of the tokens that stand for its start and end.
    fn member(&self, parts: &Parts, side: &Side, j: usize) -> &Token {
        match j {
            0 => self.start(),
            j if j > side.modifiers() => self.end(),
            j => self.at(parts.modifier(side, j)),
        }
    }

    /// Neighbouring modifiers `i` and `j` of a side.
    pub fn sibling_features(&self, parts: &Parts, side: &Side, i: usize, j: usize, out: &mut Vec<u64>) {
        let (s, m) = (self.member(parts, side, i), self.member(parts, side, j));
        let way = u64::from(side.is_right) + 1;
        let gap = match i > 0 && j <= side.modifiers() {
            true => distance(parts.modifier(side, i), parts.modifier(side, j)),
            false => 9,
        };
        let mut keys = Keys::new(out, SIBLING);
        self.triple(&mut keys, self.at(side.head), s, m, way);
        let start = [s.tag, m.tag].into_iter().fold(way, combine);
        keys.push([start, gap]);
        keys.push([start, self.at(side.head).tag, gap]);
        if i > 0 && j <= side.modifiers() {
            let between = self.counts_between(parts.modifier(side, i), parts.modifier(side, j));
            keys.push([start, self.at(side.head).tag, between]);
        }
    }

    /// Any two modifiers of a side.
    pub fn arbitrary_sibling_features(
        &self,
        parts: &Parts,
        side: &Side,
        i: usize,
        j: usize,
        out: &mut Vec<u64>,
    ) {
        let (h, s, m) = (self.at(side.head), self.member(parts, side, i), self.member(parts, side, j));
        let way = u64::from(side.is_right) + 1;
        let mut keys = Keys::new(out, ARBITRARY);
        keys.push([h.tag, s.tag, m.tag, way]);
        keys.push([h.coarse, s.coarse, m.coarse, way]);
        keys.push([s.tag, m.tag, way]);
        keys.push([s.lemma, m.lemma, way]);
        keys.push([s.lemma, m.tag, way]);
        keys.push([s.tag, m.lemma, way]);
        keys.push([h.lemma, s.tag, m.tag, way]);
    }

    /// Incoming arc number `g` of a side's head, and modifier `j`.
    pub fn grandparent_features(&self, parts: &Parts, side: &Side, g: usize, j: usize, out: &mut Vec<u64>) {
        let grandparent = parts.arcs()[side.incoming.start + g].0;
        let modifier = parts.modifier(side, j);
        let way = self.shape(grandparent, side.head, modifier);
        let mut keys = Keys::new(out, GRANDPARENT);
        let (g, h, m) = (self.at(grandparent), self.at(side.head), self.at(modifier));
        self.triple(&mut keys, g, h, m, way);
        keys.push([g.coarse, h.lemma, m.coarse, way]);
        let between = self.counts_between(grandparent, modifier);
        keys.push([g.tag, m.tag, between, way]);
        keys.push([g.tag, h.tag, m.tag, distance(grandparent, modifier), way]);
    }

    /// Incoming arc number `g` of a side's head, and neighbouring modifiers `i` and `j`.
    pub fn grand_sibling_features(
        &self,
        parts: &Parts,
        side: &Side,
        g: usize,
        i: usize,
        j: usize,
        out: &mut Vec<u64>,
    ) {
        let grandparent = parts.arcs()[side.incoming.start + g].0;
        let way = 2 * u64::from(grandparent < side.head) + u64::from(side.is_right) + 1;
        let (g, h) = (self.at(grandparent), self.at(side.head));
        let (s, m) = (self.member(parts, side, i), self.member(parts, side, j));
        let mut keys = Keys::new(out, GRAND_SIBLING);
        quadruple(&mut keys, [g, h, s, m], way);
        keys.push([g.tag, s.tag, m.tag, way]);
        keys.push([g.lemma, s.tag, m.tag, way]);
    }

    /// Three neighbouring modifiers of a side.
    pub fn tri_sibling_features(
        &self,
        parts: &Parts,
        side: &Side,
        [i, j, k]: [usize; 3],
        out: &mut Vec<u64>,
    ) {
        let h = self.at(side.head);
        let [r, s, m] = [i, j, k].map(|member| self.member(parts, side, member));
        let way = u64::from(side.is_right) + 1;
        let mut keys = Keys::new(out, TRI_SIBLING);
        quadruple(&mut keys, [h, r, s, m], way);
        keys.push([r.tag, s.tag, m.tag, way]);
        keys.push([r.coarse, s.coarse, m.coarse, way]);
        keys.push([h.tag, r.tag, m.tag, way]);
    }

    /// The head of a word beside the head of the word before.
    pub fn head_bigram_features(&self, word: usize, before: usize, own: usize, out: &mut Vec<u64>) {
        let (m, n, h, g) = (self.at(word), self.at(word - 1), self.at(own), self.at(before));
        let relation = match () {
            _ if before == own => 0,
            _ if own == word - 1 => 1,
            _ if before == word => 2,
            _ => 3,
        };
        let way = 16 * relation
            + 4 * u64::from(own < before)
            + 2 * u64::from(own < word)
            + u64::from(before < word)
            + 1;
        let mut keys = Keys::new(out, BIGRAM);
        keys.push([way]);
        keys.push([m.tag, n.tag, way]);
        keys.push([h.tag, g.tag, way]);
        keys.push([m.tag, n.tag, h.tag, way]);
        keys.push([m.tag, n.tag, g.tag, way]);
        keys.push([m.tag, n.tag, h.tag, g.tag, way]);
        keys.push([m.coarse, n.coarse, h.coarse, g.coarse, way]);
        keys.push([m.lemma, n.lemma, way]);
        keys.push([m.lemma, n.tag, h.tag, way]);
        keys.push([m.tag, n.lemma, g.tag, way]);
    }

    /// How three positions lie: the direction of both arcs, and the order of the outer two.
    fn shape(&self, a: usize, b: usize, c: usize) -> u64 {
        4 * u64::from(a < b) + 2 * u64::from(b < c) + u64::from(a < c) + 1
    }

    fn triple(&self, keys: &mut Keys<'_>, a: &Token, b: &Token, c: &Token, way: u64) {
        let tags = [a.tag, b.tag, c.tag].into_iter().fold(way, combine);
        let coarse = [a.coarse, b.coarse, c.coarse].into_iter().fold(way, combine);
        keys.push([tags]);
        keys.push([coarse]);
        keys.push([b.tag, c.tag, way]);
        keys.push([a.tag, c.tag, way]);
        keys.push([a.lemma, b.tag, c.tag, way]);
        keys.push([a.tag, b.lemma, c.tag, way]);
        keys.push([a.tag, b.tag, c.lemma, way]);
        keys.push([a.form, b.coarse, c.coarse, way]);
        keys.push([a.coarse, b.form, c.coarse, way]);
        keys.push([a.coarse, b.coarse, c.form, way]);
        keys.push([b.lemma, c.lemma, way]);
        keys.push([b.lemma, c.tag, way]);
        keys.push([b.tag, c.lemma, way]);
        keys.push([a.lemma, c.lemma, way]);
        keys.push([a.lemma, c.tag, way]);
        keys.push([a.tag, c.lemma, way]);
        keys.push([a.lemma, b.lemma, c.coarse, way]);
        keys.push([a.lemma, b.coarse, c.lemma, way]);
        keys.push([a.coarse, b.lemma, c.lemma, way]);
        keys.push([a.morphology, b.morphology, c.coarse, way]);
        keys.push([a.morphology, b.coarse, c.morphology, way]);
        keys.push([a.coarse, b.morphology, c.morphology, way]);
    }
}

fn quadruple(keys: &mut Keys<'_>, [a, b, c, d]: [&Token; 4], way: u64) {
    keys.push([a.tag, b.tag, c.tag, d.tag, way]);
    keys.push([a.coarse, b.coarse, c.coarse, d.coarse, way]);
    keys.push([a.lemma, b.coarse, c.coarse, d.coarse, way]);
    keys.push([a.coarse, b.lemma, c.coarse, d.coarse, way]);
    keys.push([a.coarse, b.coarse, c.lemma, d.coarse, way]);
    keys.push([a.coarse, b.coarse, c.coarse, d.lemma, way]);
}
