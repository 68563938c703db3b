//! How scores of arcs are divided among factors, and the bound that follows.

use super::tree::PricedTree;
use crate::automaton::{Head, HeadSide, PushWorkspace};
use crate::decode::{pair_scores, triple_scores};
use crate::parts::{Side, TreeParts};

/// Each arc's score is the sum of what the tree, the sequence of heads, the automaton of the arc's head and
/// that of its modifier have of it, and of a message that is on its way between them.
#[derive(Debug, Default)]
pub(crate) struct Dual {
    /// The best tree under the tree's scores, an arc of each word, after a sweep.
    pub best: Vec<u32>,
    /// What every arc would have cost the tree then.
    pub slacks: Vec<f64>,
    messages: Vec<f64>,
    tree: Vec<f64>,
    chain: Vec<f64>,
    outgoing: Vec<f64>,
    incoming: Vec<f64>,
    automata: Vec<Automaton>,
    /// How many automata there are; further ones are spare.
    heads: usize,
    /// How far rounding can have brought the bound below what it stands for.
    rounding: f64,
    is_backward: bool,
    workspace: Workspace,
}

/// The automaton of a head.
#[derive(Debug, Default)]
struct Automaton {
    head: Head,
    /// Arcs into the head, then arcs from it.
    links: Vec<u32>,
    incoming: usize,
}

#[derive(Debug, Default)]
struct Workspace {
    sides: [HeadSide; 2],
    priced: PricedTree,
    push: PushWorkspace,
    /// Scores and messages of one automaton.
    scores: Vec<f64>,
    given: Vec<f64>,
    /// The best sequences up to an arc, and from it.
    before: Vec<f64>,
    after: Vec<f64>,
}

/// A factor of the parser, by what it looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Factor {
    Tree,
    Chain,
    /// One of the automata, in order.
    Automaton(usize),
}

impl Dual {
    /// All scores of arcs as messages, and factors without any.
    pub(crate) fn load<S: Copy + Into<f64>>(&mut self, parts: &TreeParts, scores: &[S]) {
        let arcs = parts.arcs().len();
        self.messages.clear();
        self.messages.extend(scores[..arcs].iter().map(|&score| score.into()));
        for own in [&mut self.tree, &mut self.chain, &mut self.outgoing, &mut self.incoming] {
            own.clear();
            own.resize(arcs, 0.0);
        }
        self.is_backward = false;
        self.load_automata(parts, scores);
    }

    /// The same division of the scores of a problem that has some of the arcs.
    pub(crate) fn narrow(&mut self, wide: &TreeParts, narrow: &TreeParts, scores: &[f64]) {
        self.load_automata(narrow, scores);
        let arcs = narrow.arcs().len();
        let mut place = 0;
        for arc in 0..arcs {
            while wide.arcs()[place] != narrow.arcs()[arc] {
                place += 1;
            }
            for own in [&mut self.tree, &mut self.chain, &mut self.outgoing, &mut self.incoming] {
                own[arc] = own[place];
            }
        }
        self.messages.truncate(arcs);
        for own in [&mut self.tree, &mut self.chain, &mut self.outgoing, &mut self.incoming] {
            own.truncate(arcs);
        }
        // Heads without candidates have no automaton any more.
        let mut sides = narrow.sides().iter().peekable();
        for head in 1..=narrow.words() {
            while sides.next_if(|side| side.head < head).is_some() {}
            if sides.peek().is_none_or(|side| side.head > head) {
                self.incoming[narrow.arcs_into(head)].fill(0.0);
            }
        }
        self.settle(scores);
    }

    fn load_automata<S: Copy + Into<f64>>(&mut self, parts: &TreeParts, scores: &[S]) {
        self.heads = 0;
        let at = |part: Option<usize>| part.map_or(0.0, |part| scores[part].into());
        for sides in parts.sides().chunk_by(|a, b| a.head == b.head) {
            if self.heads == self.automata.len() {
                self.automata.push(Automaton::default());
            }
            let automaton = &mut self.automata[self.heads];
            self.heads += 1;
            let incoming = sides[0].incoming.clone();
            automaton.incoming = incoming.len();
            automaton.links.clear();
            automaton.links.extend(incoming.clone().map(|arc| arc as u32));
            for (table, is_right) in self.workspace.sides.iter_mut().zip([false, true]) {
                let side = sides.iter().find(|side| side.is_right == is_right);
                table.modifiers = side.map_or(0, Side::modifiers);
                if let Some(side) = side {
                    pair_scores(parts, side, at, &mut table.pairs);
                    triple_scores(side, at, &mut table.triples);
                    automaton.links.extend(parts.arcs_of(side));
                }
            }
            automaton.head.rebuild(incoming.len(), &self.workspace.sides);
        }
        // An arc's score goes through a few additions in every factor and sweep. None of what is added is
        // larger than all scores together, with which the tree's price on arcs of the root compares.
        let size: f64 = scores.iter().map(|&score| score.into().abs()).sum();
        self.rounding = 256.0 * f64::EPSILON * parts.arcs().len() as f64 * (1.0 + size);
    }

    /// Writes the scores that a factor has, link by link, as its oracle sees them.
    pub(crate) fn read(&self, factor: Factor, scores: &mut Vec<f64>) {
        scores.clear();
        match factor {
            Factor::Tree => {
                scores.extend(self.tree.iter().zip(&self.messages).map(|(own, message)| own + message))
            }
            Factor::Chain => scores.extend_from_slice(&self.chain),
            Factor::Automaton(at) => {
                let Automaton { links, incoming, .. } = &self.automata[at];
                let (into, from) = links.split_at(*incoming);
                scores.extend(into.iter().map(|&arc| self.incoming[arc as usize]));
                scores.extend(from.iter().map(|&arc| self.outgoing[arc as usize]));
            }
        }
    }

    /// Sets the scores that a factor has; what is on its way must be [settled](Self::settle) after that.
    pub(crate) fn write(&mut self, factor: Factor, scores: &[f64]) {
        match factor {
            Factor::Tree => self.tree.copy_from_slice(scores),
            Factor::Chain => self.chain.copy_from_slice(scores),
            Factor::Automaton(at) => {
                let Automaton { links, incoming, .. } = &self.automata[at];
                for (link, (&arc, &score)) in links.iter().zip(scores).enumerate() {
                    let own = if link < *incoming { &mut self.incoming } else { &mut self.outgoing };
                    own[arc as usize] = score;
                }
            }
        }
    }

    /// Lets the messages be what the factors lack of the scores.
    pub(crate) fn settle(&mut self, scores: &[f64]) {
        for (arc, message) in self.messages.iter_mut().enumerate() {
            *message =
                scores[arc] - (self.tree[arc] + self.chain[arc] + self.outgoing[arc] + self.incoming[arc]);
        }
    }

    /// The automata's number.
    pub(crate) fn automata(&self) -> usize {
        self.heads
    }

    /// Lets every factor hand over a share of what it knows, the tree last; returns the bound, or nothing if
    /// there is no tree.
    pub(crate) fn sweep<S: Copy + Into<f64>>(
        &mut self,
        parts: &TreeParts,
        scores: &[S],
        share: f64,
    ) -> Option<f64> {
        let mut bound = if parts.has_head_bigrams() { self.push_chain(parts, scores, share) } else { 0.0 };
        for at in 0..self.heads {
            let at = if self.is_backward { self.heads - 1 - at } else { at };
            bound += self.push_automaton(at, share);
        }
        self.is_backward = !self.is_backward;
        self.tree.iter_mut().zip(&self.messages).for_each(|(own, message)| *own += message);
        bound += self.workspace.priced.solve(parts, &self.tree, &mut self.best, &mut self.slacks)?;
        for ((own, message), slack) in self.tree.iter_mut().zip(&mut self.messages).zip(&self.slacks) {
            *own += share * slack;
            *message = -share * slack;
        }
        Some(bound + self.rounding)
    }

    fn push_automaton(&mut self, at: usize, share: f64) -> f64 {
        let Automaton { head, links, incoming, .. } = &self.automata[at];
        let Workspace { push, scores, given, .. } = &mut self.workspace;
        scores.clear();
        given.clear();
        for (link, &arc) in links.iter().enumerate() {
            let own = if link < *incoming { &self.incoming } else { &self.outgoing };
            scores.push(own[arc as usize] + self.messages[arc as usize]);
            given.push(0.0);
        }
        let value = head.push(share, scores, given, push);
        for (link, &arc) in links.iter().enumerate() {
            let own = if link < *incoming { &mut self.incoming } else { &mut self.outgoing };
            own[arc as usize] = scores[link];
            self.messages[arc as usize] = given[link];
        }
        value
    }

    /// Hands over by how much each head of a word is below the best, word after word.
    fn push_chain<S: Copy + Into<f64>>(&mut self, parts: &TreeParts, scores: &[S], share: f64) -> f64 {
        let (own, messages, words) = (&mut self.chain, &mut self.messages, parts.words());
        own.iter_mut().zip(&*messages).for_each(|(own, message)| *own += message);
        let Workspace { before, after, .. } = &mut self.workspace;
        for values in [&mut *before, &mut *after] {
            values.clear();
            values.resize(own.len(), 0.0);
        }
        let pair = |word: usize, a: usize, b: usize| {
            parts.head_bigram(word, a, b).map_or(0.0, |part| scores[part].into())
        };
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        for word in (1..words).rev() {
            for (a, arc) in parts.arcs_into(word).enumerate() {
                let next = parts.arcs_into(word + 1).enumerate();
                after[arc] = most(&mut next.map(|(b, next)| pair(word + 1, a, b) + own[next] + after[next]));
            }
        }
        let mut value = 0.0;
        for word in 1..=words {
            let here = parts.arcs_into(word);
            if word > 1 {
                for (b, arc) in here.clone().enumerate() {
                    let last = parts.arcs_into(word - 1).enumerate();
                    before[arc] =
                        most(&mut last.map(|(a, last)| pair(word, a, b) + own[last] + before[last]));
                }
            }
            value = most(&mut here.clone().map(|arc| before[arc] + own[arc] + after[arc]));
            for arc in here {
                messages[arc] = share * (before[arc] + own[arc] + after[arc] - value);
                own[arc] -= messages[arc];
            }
        }
        value
    }
}
