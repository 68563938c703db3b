//! The best tree, and what every arc that is not in it would cost.

use std::ops::Range;

use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::RootChildren;

use super::core::NONE;

/// Nodes with arcs into them, several from the same head if need be. Number 0 is the root.
#[derive(Debug, Default, Clone)]
pub(crate) struct Nodes {
    /// The head of each arc, node by node.
    pub heads: Vec<u32>,
    modifiers: Vec<u32>,
    pub root_children: RootChildren,
    /// Where the arcs into each node end.
    ends: Vec<u32>,
}

impl Nodes {
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.modifiers.clear();
        self.ends.clear();
    }

    /// The arcs added since the last call enter the next node.
    pub(super) fn close(&mut self) {
        self.ends.push(self.heads.len() as u32);
        self.modifiers.resize(self.heads.len(), self.ends.len() as u32);
    }

    /// How many there are besides the root.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn arcs_into(&self, node: usize) -> Range<usize> {
        let start = if node == 1 { 0 } else { self.ends[node - 2] as usize };
        start..self.ends[node - 1] as usize
    }

    fn is_root(&self, arc: usize) -> bool {
        self.heads[arc] == 0
    }

    /// Whether the arcs of all nodes are a tree.
    pub(super) fn is_tree(&self, arcs: &[u32]) -> bool {
        let hangs = |mut node: usize| {
            for _ in 0..arcs.len() {
                node = self.heads[arcs[node - 1] as usize] as usize;
                if node == 0 {
                    return true;
                }
            }
            false
        };
        (self.root_children == RootChildren::Any || self.roots(arcs) == 1) && (1..=arcs.len()).all(hangs)
    }

    fn roots(&self, best: &[u32]) -> usize {
        best.iter().filter(|&&arc| self.is_root(arc as usize)).count()
    }
}

/// Trees over the nodes; a configuration is the arc of each node.
impl Oracle for Nodes {
    type Configuration = Vec<u32>;
    type Workspace = PricedTree;

    fn links(&self) -> usize {
        self.heads.len()
    }

    fn magnitude(&self) -> Option<f64> {
        Some(0.0)
    }

    fn maximize(&self, scores: &[f64], tree: &mut PricedTree, best: &mut Vec<u32>) -> f64 {
        let mut search = |is_root_last: bool, best: &mut Vec<u32>| {
            tree.grow(self, |arc| scores[arc], is_root_last).map(|()| tree.open(self, best))
        };
        best.clear();
        let mut is_found = search(false, best).is_some();
        if is_found && self.root_children == RootChildren::One && self.roots(best) != 1 {
            is_found = search(true, best).is_some() && self.roots(best) == 1;
        }
        if !is_found {
            best.clear();
            return f64::NEG_INFINITY;
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], links: &Vec<u32>) -> f64 {
        links.iter().map(|&link| scores[link as usize]).sum()
    }

    fn add_marginals(&self, links: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        links.iter().for_each(|&link| marginals[link as usize] += weight);
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        a.iter().zip(b).filter(|(a, b)| a == b).count()
    }
}

/// Edmonds' algorithm with its dual solution.
///
/// Every set of words that was contracted, and every word, has a price; the prices together are the value of
/// the best tree, and an arc scores the prices of the sets that it enters, less its *slack*. Slacks are never
/// negative, and zero in the best tree: all arcs may be raised by theirs at once, and no tree is better than
/// the best was.
#[derive(Debug, Default)]
pub(crate) struct PricedTree {
    sets: Vec<Set>,
    words: Vec<Word>,
    path: Vec<u32>,
}

/// A word (the first ones; number 0 is the root) or several that were contracted.
#[derive(Debug, Clone, Copy)]
struct Set {
    /// The set that it went into.
    parent: u32,
    price: f64,
    /// The arc that enters it.
    arc: u32,
    first: u32,
    last: u32,
    mark: Mark,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    /// The next word of the same set.
    next: u32,
    /// The outermost set around it, and the prices of all sets around it.
    outer: u32,
    paid: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Hangs,
}

impl PricedTree {
    /// Writes the arc of each word in the best tree, and the slack of every arc; returns the tree's value, or
    /// nothing if there is no tree.
    pub(crate) fn solve(
        &mut self,
        nodes: &Nodes,
        scores: &[f64],
        best: &mut Vec<u32>,
        slacks: &mut Vec<f64>,
    ) -> Option<f64> {
        // One child: a price on all arcs of the root that no second one could be worth.
        let penalty = match nodes.root_children {
            RootChildren::Any => 0.0,
            RootChildren::One => {
                1.0 + 2.0 * (1..=nodes.len()).map(|word| span(scores, nodes, word)).sum::<f64>()
            }
        };
        let score = |arc: usize| scores[arc] - if nodes.is_root(arc) { penalty } else { 0.0 };
        self.grow(nodes, score, false)?;
        self.open(nodes, best);
        if nodes.roots(best) != 1 && nodes.root_children == RootChildren::One {
            return None;
        }
        slacks.clear();
        for node in 1..=nodes.len() {
            for arc in nodes.arcs_into(node) {
                // The sets that hold the modifier and not the head; a set's number is above those of its members.
                let (mut inner, mut outer, mut paid) = (node as u32, nodes.heads[arc], 0.0);
                while inner != outer {
                    if inner < outer {
                        paid += self.sets[inner as usize].price;
                        inner = self.sets[inner as usize].parent;
                    } else {
                        outer = self.sets[outer as usize].parent;
                    }
                }
                slacks.push((paid - score(arc)).max(0.0));
            }
        }
        Some(self.sets[1..].iter().map(|set| set.price).sum::<f64>() + penalty)
    }

    /// Takes the best arc into one set after the other along a path, and contracts the cycles, until every
    /// word hangs on the root; with `is_root_last`, arcs of the root only where no other enters.
    fn grow(&mut self, nodes: &Nodes, score: impl Fn(usize) -> f64, is_root_last: bool) -> Option<()> {
        self.sets.clear();
        self.words.clear();
        self.path.clear();
        for word in 0..=nodes.len() as u32 {
            self.words.push(Word { next: NONE, outer: word, paid: 0.0 });
            self.sets.push(Set {
                parent: NONE,
                price: 0.0,
                arc: NONE,
                first: word,
                last: word,
                mark: Mark::New,
            });
        }
        self.sets[0].mark = Mark::Hangs;
        for word in 1..=nodes.len() {
            let mut at = self.words[word].outer as usize;
            while self.sets[at].mark == Mark::New {
                let (mut arc, mut price, mut is_last) = (NONE, f64::NEG_INFINITY, true);
                let mut member = self.sets[at].first;
                while let Some(word) = self.words.get(member as usize) {
                    for candidate in nodes.arcs_into(member as usize) {
                        let worth = score(candidate) - word.paid;
                        let is_root = is_root_last && nodes.is_root(candidate);
                        let is_better = match (is_last, is_root) {
                            (true, false) => worth > f64::NEG_INFINITY,
                            (false, true) => false,
                            _ => worth > price,
                        };
                        if is_better && self.words[nodes.heads[candidate] as usize].outer as usize != at {
                            (arc, price, is_last) = (candidate as u32, worth, is_root);
                        }
                    }
                    member = word.next;
                }
                let head = *nodes.heads.get(arc as usize)? as usize;
                let set = &mut self.sets[at];
                (set.arc, set.price, set.mark) = (arc, price, Mark::OnPath);
                let mut member = set.first;
                while let Some(word) = self.words.get_mut(member as usize) {
                    word.paid += price;
                    member = word.next;
                }
                self.path.push(at as u32);
                at = self.words[head].outer as usize;
                if self.sets[at].mark == Mark::OnPath {
                    at = self.contract(at);
                }
            }
            for set in self.path.drain(..) {
                self.sets[set as usize].mark = Mark::Hangs;
            }
        }
        Some(())
    }

    /// Makes one set of the end of the path, from `start` on.
    fn contract(&mut self, start: usize) -> usize {
        let own = self.sets.len();
        let (mut first, mut last) = (NONE, NONE);
        loop {
            let member = self.path.pop().map_or(start, |member| member as usize);
            let set = &mut self.sets[member];
            set.parent = own as u32;
            match first {
                NONE => first = set.first,
                _ => self.words[last as usize].next = set.first,
            }
            last = set.last;
            if member == start {
                break;
            }
        }
        let mut word = first;
        while let Some(member) = self.words.get_mut(word as usize) {
            member.outer = own as u32;
            word = member.next;
        }
        self.sets.push(Set { parent: NONE, price: 0.0, arc: NONE, first, last, mark: Mark::New });
        own
    }

    /// From the outermost sets inwards: the arc into a set is the arc into that member of it which it enters,
    /// in place of that member's own.
    fn open(&mut self, nodes: &Nodes, best: &mut Vec<u32>) {
        for own in (nodes.len() + 1..self.sets.len()).rev() {
            let arc = self.sets[own].arc;
            let mut member = nodes.modifiers[arc as usize] as usize;
            while self.sets[member].parent as usize != own {
                member = self.sets[member].parent as usize;
            }
            self.sets[member].arc = arc;
        }
        best.clear();
        best.extend(self.sets[1..=nodes.len()].iter().map(|set| set.arc));
    }
}

/// How far the scores of arcs into a word lie apart.
fn span(scores: &[f64], nodes: &Nodes, word: usize) -> f64 {
    let scores = &scores[nodes.arcs_into(word)];
    let (low, high) = scores
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &score| (low.min(score), high.max(score)));
    high - low
}
