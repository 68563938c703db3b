//! What is left of a problem when words with one candidate head are settled.
//!
//! A word with a single candidate is *settled*; the others are *open*. Settled words hang on their heads, so that
//! the tree is one over fewer nodes: each open word with what is settled below it. An automaton looks at its
//! open modifiers alone, and passes the settled ones between two of them as it goes from one to the other; what
//! depends on one arc only becomes a score of that arc, and what depends on none a constant. Sequences of
//! heads end where a word is settled.

use std::ops::Range;

use consonant_map::oracle::arborescence::RootChildren;

use super::tree::Nodes;
use crate::automaton::{Head, HeadSide};
use crate::parts::{Side, TreeParts, pairs_below, triples_below};

pub(crate) const NONE: u32 = u32::MAX;

/// The factors over the candidate arcs of open words. A tree's value is the sum of the scores of its arcs there,
/// of what the automata and the sequences say, and of the constant.
#[derive(Debug, Default)]
pub(crate) struct Core {
    /// For each arc its number among all parts.
    pub arcs: Vec<u32>,
    pub scores: Vec<f64>,
    pub nodes: Nodes,
    pub constant: f64,
    automata: Vec<Automaton>,
    /// How many automata there are; further ones are spare.
    heads: usize,
    chains: Vec<Chain>,
    siblings: Vec<Siblings>,
    /// The scores of neighbouring heads, sequence after sequence.
    pairs: Vec<f64>,
    /// For each arc among the parts, its place here.
    place: Vec<u32>,
    /// For each position, the open word above it, or the root; the position itself while that is not known.
    above: Vec<u32>,
    buffers: Buffers,
}

/// The automaton of a head.
#[derive(Debug, Default)]
pub(crate) struct Automaton {
    pub head: Head,
    /// Arcs into the head, if it is open, then arcs from it.
    pub links: Vec<u32>,
    pub incoming: usize,
}

/// Neighbouring open words.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// Their nodes.
    pub nodes: Range<usize>,
    pairs: Range<usize>,
}

/// Two open modifiers on one side that have a score together, others between them or not.
#[derive(Debug, Clone)]
pub(crate) struct Siblings {
    /// Their number among all parts.
    pub part: u32,
    pub arcs: [u32; 2],
    pub score: f64,
}

#[derive(Debug, Default)]
struct Buffers {
    sides: [HeadSide; 2],
    /// The modifiers of each side that are left, outwards, and whether they are open; then the end.
    members: [Vec<(usize, bool)>; 2],
    links: [Vec<u32>; 2],
    /// The arcs into the head that are left, by their number on its sides.
    incoming: Vec<Option<usize>>,
    rows: Rows,
}

/// Buffers for the tables of a side.
#[derive(Debug, Default)]
struct Rows {
    siblings: Vec<f64>,
    passed: Vec<f64>,
    places: Vec<(usize, usize, usize)>,
}

impl Core {
    /// Settles what can be, taking arcs out that are in no tree, and makes this the rest; `false` if there is no
    /// tree.
    pub(crate) fn rebuild<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        live: &mut [bool],
    ) -> bool {
        if !self.settle(parts, live) {
            return false;
        }
        self.number(parts, scores, live);
        self.link_neighbours(parts, scores, live);
        self.heads = 0;
        self.siblings.clear();
        for sides in parts.sides().chunk_by(|a, b| a.head == b.head) {
            self.add_head(parts, scores, live, sides);
        }
        true
    }

    pub(crate) fn automata(&self) -> &[Automaton] {
        &self.automata[..self.heads]
    }

    /// Pairs of siblings that no automaton looks at, by their number.
    pub(crate) fn siblings(&self) -> &[Siblings] {
        &self.siblings
    }

    pub(crate) fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// Where an arc stands here, if it is left and not settled.
    pub(crate) fn place(&self, arc: usize) -> Option<usize> {
        Some(self.place[arc] as usize).filter(|&place| place != NONE as usize)
    }

    /// The scores of the heads of neighbours in a sequence, word by word.
    pub(crate) fn pairs(&self, chain: &Chain) -> &[f64] {
        &self.pairs[chain.pairs.clone()]
    }

    /// The head of every word, given the arcs of the open ones.
    pub(crate) fn heads(&self, parts: &TreeParts, live: &[bool], best: &[u32], heads: &mut Vec<usize>) {
        let mut open = best.iter();
        heads.clear();
        for word in 1..=parts.words() {
            let first = parts.arcs_into(word).find(|&arc| live[arc]);
            let arc = first.map(|arc| match self.place[arc] {
                NONE => arc,
                _ => open.next().map_or(arc, |&own| self.arcs[own as usize] as usize),
            });
            heads.push(arc.map_or(0, |arc| parts.arcs()[arc].0));
        }
    }

    /// Takes out arcs that would close a cycle of settled words, and those that the root has no use for.
    fn settle(&mut self, parts: &TreeParts, live: &mut [bool]) -> bool {
        let words = parts.words();
        let arcs = parts.arcs();
        loop {
            self.above.clear();
            self.above.extend(0..=words as u32);
            let (mut settled_root, mut of_root) = (None, 0);
            for word in 1..=words {
                let mut own = parts.arcs_into(word).filter(|&arc| live[arc]);
                let Some(first) = own.next() else { return false };
                of_root += usize::from(arcs[first].0 == 0);
                if own.next().is_none() {
                    self.above[word] = arcs[first].0 as u32;
                    if arcs[first].0 == 0 && settled_root.replace(word).is_some() && is_one(parts) {
                        return false;
                    }
                }
            }
            // Each word is followed upwards to the first that is open.
            for word in 1..=words {
                let mut top = word;
                for _ in 0..words {
                    if self.above[top] as usize == top {
                        break;
                    }
                    top = self.above[top] as usize;
                }
                if self.above[top] as usize != top {
                    return false;
                }
                let mut at = word;
                while at != top {
                    at = std::mem::replace(&mut self.above[at], top as u32) as usize;
                }
            }
            let mut is_changed = false;
            for word in (1..=words).filter(|&word| self.above[word] as usize == word) {
                for arc in parts.arcs_into(word) {
                    let head = arcs[arc].0;
                    let is_second_root = head == 0 && settled_root.is_some() && is_one(parts);
                    let is_cycle = self.above[head] as usize == word;
                    // Arcs of the root come first.
                    let is_needless = of_root == 1 && head != 0 && {
                        let first = parts.arcs_into(word).start;
                        live[first] && arcs[first].0 == 0
                    };
                    if live[arc] && (is_second_root || is_cycle || is_needless) {
                        live[arc] = false;
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                return true;
            }
        }
    }

    fn number<S: Copy + Into<f64>>(&mut self, parts: &TreeParts, scores: &[S], live: &[bool]) {
        let Self { arcs, scores: own, nodes, constant, place, above, .. } = self;
        arcs.clear();
        own.clear();
        place.clear();
        place.resize(parts.arcs().len(), NONE);
        nodes.clear();
        *constant = 0.0;
        let mut has_root = false;
        for word in 1..=parts.words() {
            let live = || parts.arcs_into(word).filter(|&arc| live[arc]);
            if above[word] as usize != word {
                live().for_each(|arc| *constant += scores[arc].into());
                has_root |= live().any(|arc| parts.arcs()[arc].0 == 0);
                continue;
            }
            for arc in live() {
                place[arc] = arcs.len() as u32;
                arcs.push(arc as u32);
                own.push(scores[arc].into());
                nodes.heads.push(above[parts.arcs()[arc].0]);
            }
            nodes.close();
        }
        nodes.root_children = if has_root { RootChildren::Any } else { parts.root_children() };
        // So far nodes go by their words; open words are numbered.
        let mut number = 0;
        for (word, above) in above.iter_mut().enumerate() {
            if *above as usize == word && word > 0 {
                number += 1;
                *above = number | OPEN;
            }
        }
        for head in &mut nodes.heads {
            *head = above[*head as usize] & !OPEN;
        }
    }

    fn is_open(&self, word: usize) -> bool {
        self.above[word] & OPEN != 0
    }

    fn link_neighbours<S: Copy + Into<f64>>(&mut self, parts: &TreeParts, scores: &[S], live: &[bool]) {
        self.chains.clear();
        self.pairs.clear();
        if !parts.has_head_bigrams() {
            return;
        }
        for word in 2..=parts.words() {
            let (first, own) = (parts.arcs_into(word - 1), parts.arcs_into(word));
            let is_both = self.is_open(word - 1) && self.is_open(word);
            let start = self.pairs.len();
            for a in first.clone().filter(|&arc| live[arc]) {
                for b in own.clone().filter(|&arc| live[arc]) {
                    let part = parts.head_bigram(word, a - first.start, b - own.start);
                    let score: f64 = part.map_or(0.0, |part| scores[part].into());
                    match (self.place[a], self.place[b]) {
                        _ if is_both => self.pairs.push(score),
                        (NONE, NONE) => self.constant += score,
                        (NONE, arc) | (arc, NONE) => self.scores[arc as usize] += score,
                        _ => {}
                    }
                }
            }
            if is_both {
                let node = (self.above[word] & !OPEN) as usize;
                match self.chains.last_mut().filter(|chain| chain.nodes.end == node) {
                    Some(chain) => {
                        chain.nodes.end += 1;
                        chain.pairs.end = self.pairs.len();
                    }
                    None => {
                        self.chains.push(Chain { nodes: node - 1..node + 1, pairs: start..self.pairs.len() })
                    }
                }
            }
        }
    }

    /// The automaton of one head, given its sides.
    fn add_head<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        live: &[bool],
        sides: &[Side],
    ) {
        let Self { automata, heads, place, scores: own, constant, siblings, buffers, .. } = self;
        let Buffers { sides: tables, members, links, incoming, rows } = buffers;
        let first = sides[0].incoming.start;
        incoming.clear();
        incoming.extend(sides[0].incoming.clone().filter(|&arc| live[arc]).map(|arc| Some(arc - first)));
        let arc_of = |g: Option<usize>| g.map_or(NONE, |g| place[first + g]);
        let is_open = incoming.first().is_some_and(|&g| arc_of(g) != NONE);
        if incoming.is_empty() {
            incoming.push(None);
        }
        for at in 0..2 {
            tables[at].modifiers = 0;
            links[at].clear();
            let Some(side) = sides.iter().find(|side| side.is_right == (at == 1)) else { continue };
            let members = &mut members[at];
            members.clear();
            for (&arc, j) in parts.arcs_of(side).iter().zip(1..) {
                if live[arc as usize] {
                    let arc = place[arc as usize];
                    members.push((j, arc != NONE));
                    if arc != NONE {
                        links[at].push(arc);
                    }
                }
            }
            members.push((side.modifiers() + 1, true));
            tables[at].modifiers = links[at].len();
            contract(parts, scores, side, incoming, members, &mut tables[at], rows);
            if side.has_arbitrary_siblings() {
                let score = |i, j| side.arbitrary_sibling(i, j).map_or(0.0, |part| scores[part].into());
                let links = &links[at];
                *constant += settle_siblings(members, &mut tables[at], score, |open, score| {
                    own[links[open] as usize] += score;
                });
                let open = || members.iter().filter(|member| member.1);
                for ((&(j, _), &b), before) in open().zip(links).zip(0..) {
                    for (&(i, _), &a) in open().zip(links).take(apart(&tables[at], before)) {
                        let score = score(i, j);
                        if let (Some(part), true) = (side.arbitrary_sibling(i, j), score != 0.0) {
                            siblings.push(Siblings { part: part as u32, arcs: [a, b], score });
                        }
                    }
                }
            }
            if links[at].is_empty() {
                // Nothing to choose: what the side is worth depends on the arc into the head alone.
                for (&g, value) in incoming.iter().zip(&tables[at].pairs) {
                    match arc_of(g) {
                        NONE => *constant += value,
                        arc => own[arc as usize] += value,
                    }
                }
            }
        }
        let outgoing = links[0].len() + links[1].len();
        if outgoing == 0 {
            return;
        }
        if outgoing == 1 && !is_open {
            let at = usize::from(links[0].is_empty());
            let HeadSide { pairs, triples, .. } = &tables[at];
            *constant += pairs[1];
            own[links[at][0] as usize] +=
                pairs[0] + pairs[2] - pairs[1] + triples.first().copied().unwrap_or(0.0);
            return;
        }
        if *heads == automata.len() {
            automata.push(Automaton::default());
        }
        let automaton = &mut automata[*heads];
        *heads += 1;
        automaton.links.clear();
        if is_open {
            automaton.links.extend(incoming.iter().map(|&g| arc_of(g)));
        }
        automaton.incoming = automaton.links.len();
        links.iter().for_each(|links| automaton.links.extend_from_slice(links));
        automaton.head.rebuild(automaton.incoming, tables);
    }
}

/// Marks the numbers of open words.
const OPEN: u32 = 1 << 31;

fn is_one(parts: &TreeParts) -> bool {
    parts.root_children() == RootChildren::One
}

/// The tables of a side over its open modifiers: between two of them, the settled ones are there. A triple of
/// open modifiers stands for the middle one and its true neighbours; triples around a settled one are in the
/// pairs that pass it.
fn contract<S: Copy + Into<f64>>(
    parts: &TreeParts,
    scores: &[S],
    side: &Side,
    incoming: &[Option<usize>],
    members: &[(usize, bool)],
    table: &mut HeadSide,
    rows: &mut Rows,
) {
    let at = |part: Option<usize>| part.map_or(0.0, |part| scores[part].into());
    let end = side.modifiers() + 1;
    let open = table.modifiers;
    let size = pairs_below(open + 2);
    let has_triples = side.has_tri_siblings();
    let Rows { siblings, passed, places } = rows;
    siblings.clear();
    siblings.resize(size, 0.0);
    pass(members, siblings, |before, last, j| {
        let triple = before.filter(|_| has_triples).map_or(0.0, |i| at(side.tri_sibling(i, last, j)));
        at(side.sibling(last, j)) + triple
    });
    table.pairs.clear();
    for &g in incoming {
        let start = table.pairs.len();
        table.pairs.extend_from_slice(siblings);
        let row = &mut table.pairs[start..];
        let Some(g) = g else { continue };
        if side.has_grand_siblings() {
            pass(members, row, |_, last, j| at(side.grand_sibling(g, last, j)));
            row.iter_mut().zip(&*siblings).for_each(|(score, both)| *score += both);
        }
        // What settled modifiers between an open one and the next have with the head's head.
        let above = parts.arcs()[side.incoming.start + g].0;
        passed.clear();
        passed.push(0.0);
        for &(j, is_open) in members {
            let own = match () {
                _ if j == end => 0.0,
                // A word is not the head of its own head.
                _ if above == parts.modifier(side, j) => f64::NEG_INFINITY,
                _ => at(side.grandparent(g, j)),
            };
            let (b, between) = (passed.len(), passed.last_mut());
            if let (Some(between), false) = (between, is_open) {
                *between += own;
                continue;
            }
            let mut so_far = own;
            for (score, between) in row[pairs_below(b)..][..b].iter_mut().zip(&*passed).rev() {
                so_far += between;
                *score += so_far;
            }
            passed.push(0.0);
        }
    }
    table.triples.clear();
    if !has_triples || open == 0 {
        return;
    }
    // The start and the open modifiers, each with the last settled one before it and the first after it.
    places.clear();
    places.push((0, 0, end));
    let mut settled = 0;
    for (at, &(j, is_open)) in members.iter().enumerate() {
        match is_open {
            true => {
                let after = members[at..].iter().find(|member| !member.1);
                places.push((settled, j, after.map_or(end, |member| member.0)));
            }
            false => settled = j,
        }
    }
    table.triples.reserve(triples_below(open + 2));
    for c in 2..=open + 1 {
        for b in 1..c {
            let (before, own, after) = places[b];
            for &(_, a, _) in &places[..b] {
                table.triples.push(at(side.tri_sibling(a.max(before), own, places[c].1.min(after))));
            }
        }
    }
}

/// Fills a row of pairs of open members (0 is the start): what the steps from one to the other are worth, over the settled
/// ones between them. A step goes from the member `last` to the next, `j`; before `last` there may be another.
fn pass(members: &[(usize, bool)], row: &mut [f64], step: impl Fn(Option<usize>, usize, usize) -> f64) {
    let (mut next, mut start, mut a) = (0, 0, 0);
    while next < members.len() {
        let (mut passed, mut before, mut last, mut b) = (0.0, None, start, a);
        for &(j, is_open) in &members[next..] {
            let worth = passed + step(before, last, j);
            if is_open {
                b += 1;
                row[pairs_below(b) + a] = worth;
            } else {
                (passed, before, last) = (worth, Some(last), j);
            }
        }
        // On to the next open one.
        while let Some(&(j, is_open)) = members.get(next) {
            next += 1;
            if is_open {
                start = j;
                break;
            }
        }
        a += 1;
    }
}

/// How many of the open modifiers before number `at` (from 0) are so far from it that no score of neighbours says that both are there.
fn apart(table: &HeadSide, at: usize) -> usize {
    at.saturating_sub(if table.triples.is_empty() { 1 } else { 2 })
}

/// Puts the scores of two siblings where they are exact: with two settled modifiers into the constant, which is returned, with one into
/// the score of the open one, and between open modifiers that have none (with triples: one) between them into the tables.
fn settle_siblings(
    members: &[(usize, bool)],
    table: &mut HeadSide,
    score: impl Fn(usize, usize) -> f64,
    mut of_open: impl FnMut(usize, f64),
) -> f64 {
    let (mut constant, mut open) = (0.0, 0);
    // The last member is the end.
    let members = &members[..members.len() - 1];
    let size = pairs_below(table.modifiers + 2);
    for (at, &(j, is_open)) in members.iter().enumerate() {
        let mut number = 0;
        for &(i, is_first_open) in &members[..at] {
            match (is_first_open, is_open) {
                (false, false) => constant += score(i, j),
                (true, false) => of_open(number, score(i, j)),
                (false, true) => of_open(open, score(i, j)),
                (true, true) if number >= apart(table, open) => {
                    let score = score(i, j);
                    // In the tables they are counted from 1.
                    let (a, b) = (number + 1, open + 1);
                    for row in table.pairs.chunks_exact_mut(size) {
                        row[pairs_below(b) + a] += score;
                    }
                    if b == a + 2 {
                        table.triples[triples_below(b) + pairs_below(a + 1) + a] += score;
                    }
                }
                _ => {}
            }
            number += usize::from(is_first_open);
        }
        open += usize::from(is_open);
    }
    constant
}

#[cfg(test)]
impl Core {
    /// The value of a tree of open words' arcs.
    pub(super) fn value(&self, best: &[u32]) -> f64 {
        use consonant_map::oracle::Oracle;
        let is_on = |arc: u32| best.contains(&arc);
        let mut value = self.constant;
        value += best.iter().map(|&arc| self.scores[arc as usize]).sum::<f64>();
        for Automaton { head, links, .. } in self.automata() {
            let on: Vec<u32> = (0..links.len() as u32).filter(|&link| is_on(links[link as usize])).collect();
            value += head.score(&vec![0.0; links.len()], &on);
        }
        let both = self.siblings().iter().filter(|pair| pair.arcs.iter().all(|&arc| is_on(arc)));
        value += both.map(|pair| pair.score).sum::<f64>();
        for chain in self.chains() {
            let mut pairs = self.pairs(chain).iter();
            for node in chain.nodes.start + 1..chain.nodes.end {
                for a in self.nodes.arcs_into(node - 1) {
                    for b in self.nodes.arcs_into(node) {
                        let pair = pairs.next().unwrap();
                        value += if is_on(a as u32) && is_on(b as u32) { *pair } else { 0.0 };
                    }
                }
            }
        }
        value
    }
}
