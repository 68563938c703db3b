//! The best tree, and what every arc that is not in it would cost.

use consonant_map::oracle::arborescence::RootChildren;

use crate::parts::TreeParts;

const NONE: u32 = u32::MAX;

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
        parts: &TreeParts,
        scores: &[f64],
        best: &mut Vec<u32>,
        slacks: &mut Vec<f64>,
    ) -> Option<f64> {
        // One child: a price on all arcs of the root that no second one could be worth.
        let penalty = match parts.root_children() {
            RootChildren::Any => 0.0,
            RootChildren::One => {
                1.0 + 2.0 * (1..=parts.words()).map(|word| span(scores, parts, word)).sum::<f64>()
            }
        };
        let score = |arc: usize| scores[arc] - if parts.arcs()[arc].0 == 0 { penalty } else { 0.0 };
        self.grow(parts, score)?;
        self.open(parts, best);
        let roots = best.iter().filter(|&&arc| parts.arcs()[arc as usize].0 == 0).count();
        if roots != 1 && parts.root_children() == RootChildren::One {
            return None;
        }
        slacks.clear();
        for (arc, &(head, modifier)) in parts.arcs().iter().enumerate() {
            // The sets that hold the modifier and not the head; a set's number is above those of its members.
            let (mut inner, mut outer, mut paid) = (modifier as u32, head as u32, 0.0);
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
        Some(self.sets[1..].iter().map(|set| set.price).sum::<f64>() + penalty)
    }

    /// Takes the best arc into one set after the other along a path, and contracts the cycles, until every
    /// word hangs on the root.
    fn grow(&mut self, parts: &TreeParts, score: impl Fn(usize) -> f64) -> Option<()> {
        self.sets.clear();
        self.words.clear();
        self.path.clear();
        for word in 0..=parts.words() as u32 {
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
        for word in 1..=parts.words() {
            let mut at = self.words[word].outer as usize;
            while self.sets[at].mark == Mark::New {
                let (mut arc, mut price) = (NONE, f64::NEG_INFINITY);
                let mut member = self.sets[at].first;
                while let Some(word) = self.words.get(member as usize) {
                    for candidate in parts.arcs_into(member as usize) {
                        let worth = score(candidate) - word.paid;
                        if worth > price && self.words[parts.arcs()[candidate].0].outer as usize != at {
                            (arc, price) = (candidate as u32, worth);
                        }
                    }
                    member = word.next;
                }
                let head = parts.arcs().get(arc as usize)?.0;
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
    fn open(&mut self, parts: &TreeParts, best: &mut Vec<u32>) {
        for own in (parts.words() + 1..self.sets.len()).rev() {
            let arc = self.sets[own].arc;
            let mut member = parts.arcs()[arc as usize].1;
            while self.sets[member].parent as usize != own {
                member = self.sets[member].parent as usize;
            }
            self.sets[member].arc = arc;
        }
        best.clear();
        best.extend(self.sets[1..=parts.words()].iter().map(|set| set.arc));
    }
}

/// How far the scores of arcs into a word lie apart.
fn span(scores: &[f64], parts: &TreeParts, word: usize) -> f64 {
    let scores = &scores[parts.arcs_into(word)];
    let (low, high) = scores
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &score| (low.min(score), high.max(score)));
    high - low
}
