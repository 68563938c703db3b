//! Head automata: which modifiers a head takes, and under which head of its own.
//!
//! They are factors known by their best configuration, written against the public [`Oracle`] trait. A
//! configuration is the sorted list of the links it switches on.

mod push;

use consonant_map::oracle::Oracle;

use crate::parts::{pairs_below, triples_below};
pub(crate) use push::PushWorkspace;

/// A head chooses one head of its own and sequences of modifiers on one or both sides, with scores for two
/// and for three neighbours.
///
/// With incoming arc g and modifiers m₁ < … < m_p of a side, numbered outwards, m₀ the start, number 0, and
/// m_{p+1} the end, a side is worth the sum of `pairs[g][C(m_k,2) + m_{k−1}]` over k = 1 … p + 1 (siblings,
/// grandparents and grand-siblings in one table; Koo et al. 2010) and of `triples[C(m_k,3) + C(m_{k−1},2) +
/// m_{k−2}]` over k = 2 … p + 1 (Koo & Collins 2010; Martins, Almeida & Smith 2013). Given the incoming arc,
/// the sides are independent. The best configuration takes O(g p²), with triples O(g p³). One automaton for
/// all that a head decides makes a tighter relaxation than several, with fewer factors to agree; where g and
/// p are large, one for pairs and one for triples, without the incoming arcs, take O(g p² + p³).
///
/// The links are the arcs into the head, if there are any, then the arcs to the candidate modifiers on the
/// left, outwards, then those on the right.
#[derive(Debug, Clone, Default)]
pub struct Head {
    incoming: usize,
    sides: [Tables; 2],
}

/// The scores of one side of a head.
#[derive(Debug, Clone, Default)]
pub struct HeadSide {
    /// Candidate modifiers.
    pub modifiers: usize,
    /// For each incoming arc (once, if there is none) C(modifiers + 2, 2) scores of neighbours; empty if they
    /// have none.
    pub pairs: Vec<f64>,
    /// C(modifiers + 2, 3) scores of three neighbours; empty if they have none.
    pub triples: Vec<f64>,
}

/// As many incoming arcs go through the recursion together: its inner loops are too short to gain from
/// vectors.
const LANES: usize = 4;
type Lanes = [f64; LANES];
const NOTHING: Lanes = [f64::NEG_INFINITY; LANES];

#[inline(always)]
fn plus(a: Lanes, b: f64) -> Lanes {
    [a[0] + b, a[1] + b, a[2] + b, a[3] + b]
}

#[inline(always)]
fn sum(a: Lanes, b: Lanes) -> Lanes {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

#[inline(always)]
fn larger(a: Lanes, b: Lanes) -> Lanes {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    [larger(a[0], b[0]), larger(a[1], b[1]), larger(a[2], b[2]), larger(a[3], b[3])]
}

/// The scores of one side, those of [`LANES`] incoming arcs side by side.
#[derive(Debug, Clone, Default)]
struct Tables {
    modifiers: usize,
    /// Blocks of incoming arcs, each with C(modifiers + 2, 2) entries; minus infinity where there is no arc.
    pairs: Vec<Lanes>,
    triples: Vec<f64>,
}

impl Tables {
    fn rebuild(&mut self, incoming: usize, side: &HeadSide) {
        self.modifiers = side.modifiers;
        self.pairs.clear();
        self.triples.clear();
        if self.modifiers == 0 {
            return;
        }
        let (size, heads) = (self.size(), incoming.max(1));
        let fits = |table: &[f64], size: usize| table.is_empty() || table.len() == size;
        assert!(fits(&side.pairs, heads * size), "scores of neighbours");
        assert!(fits(&side.triples, triples_below(self.modifiers + 2)), "scores of three neighbours");
        let absent = if side.pairs.is_empty() { [0.0; LANES] } else { NOTHING };
        self.pairs.resize(heads.div_ceil(LANES) * size, absent);
        for (g, row) in side.pairs.chunks_exact(size).enumerate() {
            let block = &mut self.pairs[g / LANES * size..][..size];
            block.iter_mut().zip(row).for_each(|(lanes, &score)| lanes[g % LANES] = score);
        }
        self.triples.extend_from_slice(&side.triples);
    }

    fn copy(&mut self, other: &Self) {
        self.modifiers = other.modifiers;
        self.pairs.clone_from(&other.pairs);
        self.triples.clone_from(&other.triples);
    }

    fn size(&self) -> usize {
        pairs_below(self.modifiers + 2)
    }

    fn triples(&self, j: usize, k: usize) -> &[f64] {
        let start = triples_below(k) + pairs_below(j);
        &self.triples[start..start + j]
    }

    /// For one block of incoming arcs, fills `values[C(k,2) + j]`, the best prefix whose last two modifiers
    /// are j and k, or, without triples, `values[k]`, the best prefix that ends with k. Returns the best
    /// values of the side.
    fn prefixes(&self, block: usize, scores: &[f64], values: &mut [Lanes]) -> Lanes {
        let pairs = &self.pairs[block * self.size()..][..self.size()];
        let end = self.modifiers + 1;
        let own = |k: usize| if k < end { scores[k - 1] } else { 0.0 };
        if self.triples.is_empty() {
            values[0] = [0.0; LANES];
            for k in 1..=end {
                let row = &pairs[pairs_below(k)..][..k];
                let mut best = NOTHING;
                for j in 0..k {
                    best = larger(sum(values[j], row[j]), best);
                }
                values[k] = plus(best, own(k));
            }
            return values[end];
        }
        for k in 1..=end {
            let start = pairs_below(k);
            let (before, row) = values.split_at_mut(start);
            row[0] = plus(pairs[start], own(k));
            for j in 1..k {
                let before = &before[pairs_below(j)..][..j];
                let triples = &self.triples(j, k)[..j];
                let mut best = NOTHING;
                for i in 0..j {
                    best = larger(plus(before[i], triples[i]), best);
                }
                row[j] = plus(sum(best, pairs[start + j]), own(k));
            }
        }
        values[pairs_below(end)..][..end].iter().fold(NOTHING, |best, &value| larger(value, best))
    }

    /// Visits the modifiers of the best configuration, the last first, after [`prefixes`](Self::prefixes).
    fn trace(&self, block: usize, lane: usize, values: &[Lanes], mut modifier: impl FnMut(usize)) {
        let end = self.modifiers + 1;
        let first_best = |count: usize, value: &dyn Fn(usize) -> f64| {
            (1..count).fold(0, |best, i| if value(i) > value(best) { i } else { best })
        };
        let mut k = end;
        if self.triples.is_empty() {
            let pairs = &self.pairs[block * self.size()..][..self.size()];
            while k > 0 {
                let row = &pairs[pairs_below(k)..];
                k = first_best(k, &|j| values[j][lane] + row[j][lane]);
                if k > 0 {
                    modifier(k);
                }
            }
            return;
        }
        let mut j = first_best(end, &|j| values[pairs_below(end) + j][lane]);
        while j > 0 {
            modifier(j);
            let (before, row) = (&values[pairs_below(j)..], self.triples(j, k));
            (j, k) = (first_best(j, &|i| before[i][lane] + row[i]), j);
        }
    }

    /// What some modifiers, in order, score under incoming arc `g`, their own scores included.
    fn score(&self, g: usize, scores: &[f64], modifiers: impl Iterator<Item = usize>) -> f64 {
        if self.modifiers == 0 {
            return 0.0;
        }
        let pairs = &self.pairs[g / LANES * self.size()..][..self.size()];
        let (mut value, mut two_back, mut back) = (0.0, None, 0);
        for k in modifiers.chain([self.modifiers + 1]) {
            if k <= self.modifiers {
                value += scores[k - 1];
            }
            value += pairs[pairs_below(k) + back][g % LANES];
            if let (Some(i), false) = (two_back, self.triples.is_empty()) {
                value += self.triples(back, k)[i];
            }
            two_back = Some(back);
            back = k;
        }
        value
    }
}

impl Head {
    /// An automaton over `incoming` arcs into the head (none for a root) and the modifiers of its left and
    /// right side.
    ///
    /// # Panics
    /// If the tables of a side have other lengths than its modifiers ask for.
    pub fn new(incoming: usize, sides: &[HeadSide; 2]) -> Self {
        let mut head = Self::default();
        head.rebuild(incoming, sides);
        head
    }

    /// Makes this another automaton, in the same memory; panics as [`new`](Self::new) does.
    pub fn rebuild(&mut self, incoming: usize, sides: &[HeadSide; 2]) {
        self.incoming = incoming;
        self.sides.iter_mut().zip(sides).for_each(|(tables, side)| tables.rebuild(incoming, side));
    }

    /// Makes this a copy of another automaton, in the same memory.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.incoming = other.incoming;
        self.sides.iter_mut().zip(&other.sides).for_each(|(own, other)| own.copy(other));
    }

    /// How many scores of neighbours and of three neighbours it looks at.
    pub(crate) fn size(&self) -> usize {
        let incoming = self.incoming.max(1);
        self.sides.iter().filter(|side| side.modifiers > 0).map(|side| incoming * side.size()).sum()
    }

    /// The first link of each side.
    fn starts(&self) -> [usize; 2] {
        [self.incoming, self.incoming + self.sides[0].modifiers]
    }
}

/// The values of prefixes of both sides, for all blocks of incoming arcs.
#[derive(Debug, Default)]
pub struct HeadWorkspace {
    values: [Vec<Lanes>; 2],
}

impl Oracle for Head {
    type Configuration = Vec<u32>;
    type Workspace = HeadWorkspace;

    fn links(&self) -> usize {
        self.incoming + self.sides[0].modifiers + self.sides[1].modifiers
    }

    fn maximize(&self, scores: &[f64], workspace: &mut HeadWorkspace, best: &mut Vec<u32>) -> f64 {
        let blocks = self.incoming.max(1).div_ceil(LANES);
        for (side, values) in self.sides.iter().zip(&mut workspace.values) {
            if values.len() < blocks * side.size() {
                values.resize(blocks * side.size(), NOTHING);
            }
        }
        let (mut value, mut choice) = (f64::NEG_INFINITY, 0);
        for block in 0..blocks {
            let mut total = [0.0; LANES];
            for (lane, own) in total.iter_mut().zip(&scores[..self.incoming][block * LANES..]) {
                *lane = *own;
            }
            for ((side, start), values) in self.sides.iter().zip(self.starts()).zip(&mut workspace.values) {
                if side.modifiers > 0 {
                    let values = &mut values[block * side.size()..][..side.size()];
                    total = sum(total, side.prefixes(block, &scores[start..], values));
                }
            }
            for (lane, &total) in total.iter().enumerate().take(self.incoming.max(1) - block * LANES) {
                if total > value {
                    (value, choice) = (total, block * LANES + lane);
                }
            }
        }
        best.clear();
        if value == f64::NEG_INFINITY {
            return value;
        }
        let (block, lane) = (choice / LANES, choice % LANES);
        for ((side, start), values) in self.sides.iter().zip(self.starts()).zip(&workspace.values).rev() {
            if side.modifiers > 0 {
                let values = &values[block * side.size()..][..side.size()];
                side.trace(block, lane, values, |j| best.push((start + j - 1) as u32));
            }
        }
        if self.incoming > 0 {
            best.push(choice as u32);
        }
        best.reverse();
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], links: &Vec<u32>) -> f64 {
        let (g, outgoing) = match links.split_first() {
            Some((&g, outgoing)) if self.incoming > 0 => (g as usize, outgoing),
            _ => (0, &links[..]),
        };
        let own = if self.incoming > 0 { scores[g] } else { 0.0 };
        let [left, right] = self.starts();
        let middle = outgoing.partition_point(|&link| (link as usize) < right);
        let side = |side: &Tables, start: usize, links: &[u32]| {
            side.score(g, &scores[start..], links.iter().map(|&link| link as usize + 1 - start))
        };
        own + side(&self.sides[0], left, &outgoing[..middle])
            + side(&self.sides[1], right, &outgoing[middle..])
    }

    fn add_marginals(&self, links: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        links.iter().for_each(|&link| marginals[link as usize] += weight);
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let (left, right) = (a[i], b[j]);
            shared += usize::from(left == right);
            i += usize::from(left <= right);
            j += usize::from(right <= left);
        }
        shared
    }
}
