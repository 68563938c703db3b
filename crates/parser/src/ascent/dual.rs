//! How scores of arcs are divided among factors, and the bound that follows.

use std::ops::Range;

use super::core::{Automaton, Chain, Core, Siblings};
use super::graph::Link;
use super::tree::PricedTree;
use crate::automaton::PushWorkspace;
use crate::parts::TreeParts;

/// Each arc's score is the sum of what the tree, the sequence of heads, the automaton of the arc's head and
/// that of its modifier have of it, and of a message that is on its way between them.
#[derive(Debug, Default)]
pub(crate) struct Dual {
    /// The best tree under the tree's scores, an arc of each open word, after a sweep.
    pub best: Vec<u32>,
    /// What every arc would have cost the tree then.
    pub slacks: Vec<f64>,
    messages: Vec<f64>,
    /// What each kind of factor has: the tree, the sequences, automata of heads and of modifiers, arc by arc; and pairs of
    /// siblings, of which an arc may be in many, pair by pair.
    own: [Vec<f64>; KINDS],
    last: [Vec<f64>; KINDS],
    /// The arcs by their number among all parts, in this problem and in the one before it.
    arcs: Vec<u32>,
    /// The pairs of siblings by their number among all parts.
    siblings: Vec<u32>,
    /// How far rounding can have brought the bound below what it stands for.
    rounding: f64,
    is_backward: bool,
    workspace: Workspace,
}

const KINDS: usize = 5;
pub(super) const TREE: usize = 0;
pub(super) const CHAIN: usize = 1;
pub(super) const OUTGOING: usize = 2;
pub(super) const INCOMING: usize = 3;
pub(super) const SIBLINGS: usize = 4;

#[derive(Debug, Default)]
struct Workspace {
    priced: PricedTree,
    push: PushWorkspace,
    /// Scores and messages of one automaton.
    scores: Vec<f64>,
    given: Vec<f64>,
    /// The best sequences up to an arc, and from it.
    before: Vec<f64>,
    after: Vec<f64>,
}

/// The arcs of a sequence.
pub(crate) fn arcs_of(core: &Core, chain: &Chain) -> Range<usize> {
    core.nodes.arcs_into(chain.nodes.start).start..core.nodes.arcs_into(chain.nodes.end - 1).end
}

impl Dual {
    /// All scores of arcs as messages, and factors without any. No scores are larger together than `size`.
    pub(crate) fn load(&mut self, core: &Core, parts: &TreeParts, size: f64) {
        // An arc's score goes through a few additions in every factor and sweep. None of what is added is
        // larger than all scores together, with which the tree's price on arcs of the root compares.
        let additions = parts.arcs().len() + 8 * core.siblings().len();
        self.rounding = 256.0 * f64::EPSILON * additions as f64 * (1.0 + size);
        self.is_backward = false;
        self.arcs.clear();
        self.arcs.extend_from_slice(&core.arcs);
        self.clear(core);
        self.name_siblings(core);
        self.messages.clone_from(&core.scores);
    }

    /// The same division of the scores of a problem that has some of the arcs. What factors had that are no
    /// more is on its way.
    pub(crate) fn narrow(&mut self, core: &Core) {
        std::mem::swap(&mut self.own, &mut self.last);
        self.clear(core);
        // Where each arc was: written over the numbers of the arcs before.
        let mut place = 0;
        for (at, &arc) in core.arcs.iter().enumerate() {
            while self.arcs[place] != arc {
                place += 1;
            }
            self.arcs[at] = place as u32;
            place += 1;
        }
        let places = &self.arcs[..core.arcs.len()];
        for (own, &place) in self.own[TREE].iter_mut().zip(places) {
            *own = self.last[TREE][place as usize];
        }
        for arc in core.chains().iter().flat_map(|chain| arcs_of(core, chain)) {
            self.own[CHAIN][arc] = self.last[CHAIN][places[arc] as usize];
        }
        for Automaton { links, incoming, .. } in core.automata() {
            for (link, &arc) in links.iter().enumerate() {
                let kind = if link < *incoming { INCOMING } else { OUTGOING };
                self.own[kind][arc as usize] = self.last[kind][places[arc as usize] as usize];
            }
        }
        // Of the pairs some are left, in the same order.
        let mut before = self.siblings.iter().zip(self.last[SIBLINGS].chunks_exact(2));
        for (pair, own) in core.siblings().iter().zip(self.own[SIBLINGS].chunks_exact_mut(2)) {
            if let Some((_, last)) = before.find(|(part, _)| **part == pair.part) {
                own.copy_from_slice(last);
            }
        }
        self.name_siblings(core);
        self.arcs.clear();
        self.arcs.extend_from_slice(&core.arcs);
        self.settle(core);
    }

    fn clear(&mut self, core: &Core) {
        for (kind, own) in self.own.iter_mut().enumerate() {
            own.clear();
            own.resize(if kind == SIBLINGS { 2 * core.siblings().len() } else { core.arcs.len() }, 0.0);
        }
    }

    fn name_siblings(&mut self, core: &Core) {
        self.siblings.clear();
        self.siblings.extend(core.siblings().iter().map(|pair| pair.part));
    }

    /// Writes the scores that a factor has, link by link, as its oracle sees them.
    pub(crate) fn read(&self, links: &[Link], scores: &mut Vec<f64>) {
        scores.clear();
        scores.extend(links.iter().map(|&(kind, arc)| {
            // What is on its way goes to the tree.
            let message = if kind == TREE { self.messages[arc as usize] } else { 0.0 };
            self.own[kind][arc as usize] + message
        }));
    }

    /// Sets the scores that a factor has; what is on its way must be [settled](Self::settle) after that.
    pub(crate) fn write(&mut self, links: &[Link], scores: impl Iterator<Item = f64>) {
        for (&(kind, arc), score) in links.iter().zip(scores) {
            self.own[kind][arc as usize] = score;
        }
    }

    /// Lets the messages be what the factors lack of the scores.
    pub(crate) fn settle(&mut self, core: &Core) {
        self.messages.clear();
        self.messages.extend(
            core.scores
                .iter()
                .enumerate()
                .map(|(arc, score)| score - self.own[..SIBLINGS].iter().map(|own| own[arc]).sum::<f64>()),
        );
        for (pair, own) in core.siblings().iter().zip(self.own[SIBLINGS].chunks_exact(2)) {
            pair.arcs.iter().zip(own).for_each(|(&arc, own)| self.messages[arc as usize] -= own);
        }
    }

    /// Lets every factor hand over a share of what it knows, the tree last; returns the bound, or nothing if
    /// there is no tree.
    pub(crate) fn sweep(&mut self, core: &Core, share: f64) -> Option<f64> {
        let mut bound = core.constant;
        for chain in core.chains() {
            bound += self.push_chain(core, chain, share);
        }
        let automata = core.automata();
        for at in 0..automata.len() {
            let at = if self.is_backward { automata.len() - 1 - at } else { at };
            bound += self.push_automaton(&automata[at], share);
        }
        for (pair, own) in core.siblings().iter().zip(self.own[SIBLINGS].chunks_exact_mut(2)) {
            bound += push_siblings(pair, own, &mut self.messages);
        }
        self.is_backward = !self.is_backward;
        let tree = &mut self.own[TREE];
        tree.iter_mut().zip(&self.messages).for_each(|(own, message)| *own += message);
        bound += self.workspace.priced.solve(&core.nodes, tree, &mut self.best, &mut self.slacks)?;
        for ((own, message), slack) in tree.iter_mut().zip(&mut self.messages).zip(&self.slacks) {
            *own += share * slack;
            *message = -share * slack;
        }
        Some(bound + self.rounding)
    }

    fn push_automaton(&mut self, automaton: &Automaton, share: f64) -> f64 {
        let Automaton { head, links, incoming } = automaton;
        let Workspace { push, scores, given, .. } = &mut self.workspace;
        scores.clear();
        given.clear();
        for (link, &arc) in links.iter().enumerate() {
            let own = &self.own[if link < *incoming { INCOMING } else { OUTGOING }];
            scores.push(own[arc as usize] + self.messages[arc as usize]);
            given.push(0.0);
        }
        let value = head.push(share, scores, given, push);
        for (link, &arc) in links.iter().enumerate() {
            let own = &mut self.own[if link < *incoming { INCOMING } else { OUTGOING }];
            own[arc as usize] = scores[link];
            self.messages[arc as usize] = given[link];
        }
        value
    }

    /// Hands over by how much each head of a word is below the best, word after word.
    fn push_chain(&mut self, core: &Core, chain: &Chain, share: f64) -> f64 {
        let arcs = arcs_of(core, chain);
        let first = arcs.start;
        let (own, messages) = (&mut self.own[CHAIN][arcs.clone()], &mut self.messages[arcs]);
        own.iter_mut().zip(&*messages).for_each(|(own, message)| *own += message);
        let Workspace { before, after, .. } = &mut self.workspace;
        for values in [&mut *before, &mut *after] {
            values.clear();
            values.resize(own.len(), f64::NEG_INFINITY);
        }
        let arcs_into = |node: usize| {
            let arcs = core.nodes.arcs_into(node);
            arcs.start - first..arcs.end - first
        };
        let pairs = core.pairs(chain);
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let Range { start, end } = chain.nodes;
        after[arcs_into(end - 1)].fill(0.0);
        let mut table = pairs.len();
        for node in (start + 1..end).rev() {
            let (back, here) = (arcs_into(node - 1), arcs_into(node));
            table -= back.len() * here.len();
            for (a, row) in back.zip(pairs[table..].chunks_exact(here.len())) {
                let next = row.iter().zip(&own[here.clone()]).zip(&after[here.clone()]);
                after[a] =
                    next.fold(f64::NEG_INFINITY, |most, ((pair, own), rest)| larger(most, pair + own + rest));
            }
        }
        before[arcs_into(start)].fill(0.0);
        let mut value = 0.0;
        for node in start..end {
            let here = arcs_into(node);
            if node > start {
                let back = arcs_into(node - 1);
                for (a, row) in back.clone().zip(pairs[table..].chunks_exact(here.len())) {
                    let so_far = own[a] + before[a];
                    for (b, pair) in here.clone().zip(row) {
                        before[b] = larger(before[b], so_far + pair);
                    }
                }
                table += back.len() * here.len();
            }
            value =
                here.clone().map(|arc| before[arc] + own[arc] + after[arc]).fold(f64::NEG_INFINITY, f64::max);
            for arc in here {
                messages[arc] = share * (before[arc] + own[arc] + after[arc] - value);
                own[arc] -= messages[arc];
            }
        }
        value
    }
}

/// Hands over all that a pair of siblings knows, half of it to the first arc before the second has its part: with many pairs an
/// arc's score would else get stuck in them. Returns what the pair is worth at most then.
fn push_siblings(pair: &Siblings, own: &mut [f64], messages: &mut [f64]) -> f64 {
    let [a, b] = pair.arcs.map(|arc| arc as usize);
    let score = pair.score;
    let (mut first, mut second) = (own[0] + messages[a], own[1] + messages[b]);
    let total = (first, second);
    // By how much being on is better than being off, whatever the other is.
    let better = |own: f64, other: f64| own + (other + score).max(0.0) - other.max(0.0);
    first -= 0.5 * better(first, second);
    second -= better(second, first);
    first -= better(first, second);
    (own[0], own[1]) = (first, second);
    (messages[a], messages[b]) = (total.0 - first, total.1 - second);
    first.max(second).max(first + second + score).max(0.0)
}
