//! A bound on all trees, lowered factor by factor, a good tree beside it, and the arcs that the two rule out.
//!
//! Every factor (the tree, an automaton a head, the sequence of heads, pairs of siblings) has a part of each arc's score, and
//! the sum of what each can reach alone is a bound. In turn, a factor takes what the others have left as
//! messages, and hands most of what it knows on: by how much an arc is better on than off. The bound never
//! rises (block-coordinate ascent on the dual, as max-sum diffusion and TRW-S; the messages are those of
//! MPLP++, Tourani et al. 2018). Handing over all of it ends early at a worse bound; what is kept back lets
//! the factors come closer to an agreement. The last sweep of a round hands over everything, to the tree,
//! whose slacks say what each arc would cost.
//!
//! An arc that costs more than the distance between the bound and a tree's value is in no better tree. What
//! is left without such arcs is a smaller problem, on which bounds are lower.

mod climb;
mod core;
mod dual;
mod few;
mod graph;
mod tree;

use consonant_map::Gap;

use crate::parts::TreeParts;
use climb::Climber;
pub(crate) use core::Core;
pub(crate) use dual::Dual;
use few::Few;
pub(crate) use graph::CoreGraph;
pub(crate) use tree::{Nodes, PricedTree};

/// What a factor hands over of what it knows, but in the last sweep of a round.
const SHARE: f64 = 0.7;
/// Sweeps of the first round, and of later ones, which begin where others ended.
const FIRST_SWEEPS: usize = 4;
const SWEEPS: usize = 2;
/// Rounds at most in a row.
const ROUNDS: usize = 8;
/// Another round is worth it if no more than this share of the arcs that a tree leaves out is left.
const LEFT: f64 = 0.95;

/// The best tree so far, and what is left of the problem.
#[derive(Debug, Default)]
pub(crate) struct Ascent {
    /// Which arcs were not ruled out: a tree that is better has only these.
    pub live: Vec<bool>,
    /// What is left to decide.
    pub core: Core,
    /// How its scores are divided among the factors.
    pub dual: Dual,
    /// The value of the best tree so far, and a bound on all trees that are better.
    pub value: f64,
    pub bound: f64,
    climber: Climber,
    few: Few,
    /// The tree at hand, and as it came when it was last made better.
    tried: Vec<usize>,
    last: Vec<usize>,
}

/// What is known after a few rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// No tree is better than the best so far.
    Proven,
    /// See [`Ascent::core`].
    Narrowed,
    /// There is no tree.
    Nothing,
}

impl Ascent {
    /// Begins with a problem; writes the heads of a good tree, mostly the best.
    pub(crate) fn run(&mut self, parts: &TreeParts, scores: &[f32], heads: &mut Vec<usize>) -> Outcome {
        (self.value, self.bound) = (f64::NEG_INFINITY, f64::INFINITY);
        self.last.clear();
        self.climber.begin(parts);
        self.live.clear();
        self.live.resize(parts.arcs().len(), true);
        self.few.slacks.resize(parts.arcs().len(), 0.0);
        if !self.core.rebuild(parts, scores, &mut self.live) {
            return Outcome::Nothing;
        }
        let size = scores.iter().map(|&score| f64::from(score.abs())).sum();
        self.dual.load(&self.core, parts, size);
        match self.round(parts, scores, FIRST_SWEEPS, heads) {
            (Outcome::Narrowed, true) => self.resume(parts, scores, heads),
            (outcome, _) => outcome,
        }
    }

    /// Goes on with what is left, from where the dual is.
    pub(crate) fn resume(&mut self, parts: &TreeParts, scores: &[f32], heads: &mut Vec<usize>) -> Outcome {
        for _ in 1..ROUNDS {
            match self.round(parts, scores, SWEEPS, heads) {
                (Outcome::Narrowed, true) => {}
                (outcome, _) => return outcome,
            }
        }
        Outcome::Narrowed
    }

    /// Lowers the bound, makes better trees, and narrows the problem. Says, too, whether it became so much
    /// smaller that another round is worth it.
    fn round(
        &mut self,
        parts: &TreeParts,
        scores: &[f32],
        sweeps: usize,
        heads: &mut Vec<usize>,
    ) -> (Outcome, bool) {
        let mut bound = f64::INFINITY;
        for sweep in 0..sweeps {
            let share = if sweep + 1 == sweeps { 1.0 } else { SHARE };
            let Some(lowered) = self.dual.sweep(&self.core, share) else {
                return (self.without_better(), false);
            };
            bound = lowered;
            self.bound = self.bound.min(bound);
            self.core.heads(parts, &self.live, &self.dual.best, &mut self.tried);
            self.consider(parts, scores, lowered, heads);
            if Gap::default().closes(self.value, self.bound) {
                return (Outcome::Proven, false);
            }
        }
        let (distance, before) = (bound - self.value, self.core.arcs.len());
        for (&arc, &slack) in self.core.arcs.iter().zip(&self.dual.slacks) {
            let (head, modifier) = parts.arcs()[arc as usize];
            self.live[arc as usize] = slack <= distance || heads[modifier - 1] == head;
            self.few.slacks[arc as usize] = slack;
        }
        let spare = before - self.core.nodes.len();
        if !self.core.rebuild(parts, scores, &mut self.live) {
            return (self.without_better(), false);
        }
        let left = self.core.arcs.len() - self.core.nodes.len();
        if left == 0 {
            self.bound = self.value;
            return (Outcome::Proven, false);
        }
        let Self { few, core, live, value, .. } = self;
        if let Some(best) = few.best(core, parts, scores, live, (bound, *value), heads) {
            (self.value, self.bound) = (best, best);
            return (Outcome::Proven, false);
        }
        self.dual.narrow(&self.core);
        (Outcome::Narrowed, left as f64 <= LEFT * spare as f64)
    }

    /// No tree has only the arcs that are left: none is better than the best so far, if there is one.
    fn without_better(&mut self) -> Outcome {
        if self.value == f64::NEG_INFINITY {
            return Outcome::Nothing;
        }
        self.bound = self.value;
        Outcome::Proven
    }

    /// Takes the tree at hand, made better, if it is the best so far. Arcs that would cost more than what is
    /// between the bound and a tree are not tried.
    fn consider(&mut self, parts: &TreeParts, scores: &[f32], bound: f64, heads: &mut Vec<usize>) {
        if self.tried == *heads || self.tried == self.last {
            return;
        }
        self.last.clone_from(&self.tried);
        let mut found = parts.value(scores, &self.tried);
        let distance = bound - self.value.max(found);
        let slacks = &self.dual.slacks;
        let is_hopeful = |arc| self.core.place(arc).is_some_and(|place| slacks[place] <= distance);
        if self.climber.climb(parts, scores, is_hopeful, &mut self.tried) {
            found = parts.value(scores, &self.tried);
        }
        if found > self.value {
            self.value = found;
            heads.clone_from(&self.tried);
        }
    }
}

#[cfg(test)]
mod tests {
    use consonant_map::oracle::arborescence::RootChildren;

    use super::*;
    use crate::parts::PartKinds;

    fn random(seed: &mut u64, limit: u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % limit
    }

    /// All trees over the arcs.
    fn trees(parts: &TreeParts) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for word in 1..=parts.words() {
            let heads = || parts.arcs_into(word).map(|arc| parts.arcs()[arc].0);
            let with = |prefix: &Vec<usize>, head: usize| [&prefix[..], &[head]].concat();
            all = all.iter().flat_map(|prefix| heads().map(move |head| with(prefix, head))).collect();
        }
        all.retain(|heads| {
            let end = |word| (0..heads.len()).fold(word, |at, _| if at == 0 { 0 } else { heads[at - 1] });
            let roots = heads.iter().filter(|&&head| head == 0).count();
            (1..=heads.len()).all(|word| end(word) == 0)
                && (roots == 1 || parts.root_children() == RootChildren::Any)
        });
        all
    }

    #[test]
    fn bounds_hold_and_fall_and_narrowed_problems_keep_every_better_tree() {
        let (mut seed, mut narrowed, mut proven) = (3, 0, 0);
        for round in 0..1000 {
            let kinds = PartKinds {
                siblings: round % 2 == 0,
                grandparents: round / 2 % 2 == 0,
                grand_siblings: round / 4 % 2 == 0,
                tri_siblings: round / 8 % 2 == 0,
                arbitrary_siblings: round / 32 % 2 == 0,
                head_bigrams: round / 16 % 2 == 0,
            };
            let root_children = if round % 3 == 0 { RootChildren::Any } else { RootChildren::One };
            let words = 2 + random(&mut seed, 4) as usize;
            let mut arcs = Vec::new();
            for modifier in 1..=words {
                let heads = (0..=words).filter(|&head| head != modifier);
                arcs.extend(heads.filter(|_| random(&mut seed, 100) < 85).map(|head| (head, modifier)));
            }
            let Ok(parts) = TreeParts::new(words, &arcs, kinds, root_children) else { continue };
            let size = [1e-3, 1.0, 1e4][round % 3];
            let scores: Vec<f32> =
                (0..parts.len()).map(|_| (random(&mut seed, 2001) as f32 / 500.0 - 2.0) * size).collect();
            let all = trees(&parts);
            let values: Vec<f64> = all.iter().map(|heads| parts.value(&scores, heads)).collect();
            let optimum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let close = 1e-9 * f64::from(size) * parts.len() as f64;

            let (mut core, mut dual) = (Core::default(), Dual::default());
            let mut live = vec![true; parts.arcs().len()];
            if !core.rebuild(&parts, &scores, &mut live) {
                assert!(all.is_empty());
                continue;
            }
            let size = scores.iter().map(|&score| f64::from(score.abs())).sum();
            dual.load(&core, &parts, size);
            let mut last = f64::INFINITY;
            let with = |arc: usize| {
                let (head, modifier) = parts.arcs()[arc];
                let with = all.iter().zip(&values).filter(move |(heads, _)| heads[modifier - 1] == head);
                with.map(|(_, &value)| value).fold(f64::NEG_INFINITY, f64::max)
            };
            for (arc, _) in live.iter().enumerate().filter(|(_, is_live)| !**is_live) {
                assert_eq!(with(arc), f64::NEG_INFINITY, "an arc of a tree was taken out");
            }
            for sweep in 0..5 {
                let share = [0.7, 1.0, 0.3][sweep % 3];
                if core.arcs.is_empty() {
                    assert_eq!(all.len(), 1);
                    assert!((core.constant - optimum).abs() <= close);
                    break;
                }
                let Some(bound) = dual.sweep(&core, share) else {
                    assert!(all.is_empty());
                    break;
                };
                assert!(bound >= optimum, "bound {bound}, optimum {optimum}");
                assert!(bound <= last + close, "{bound} after {last}");
                last = bound;
                for (&arc, &slack) in core.arcs.iter().zip(&dual.slacks) {
                    let most = with(arc as usize);
                    assert!(
                        most <= bound - slack + close,
                        "an arc that costs {slack} is in a tree of {most}"
                    );
                }
            }

            let (mut ascent, mut heads) = (Ascent::default(), Vec::new());
            match ascent.run(&parts, &scores, &mut heads) {
                Outcome::Nothing => assert!(all.is_empty()),
                Outcome::Proven => {
                    proven += 1;
                    assert!(ascent.bound.max(ascent.value) >= optimum);
                    assert!(ascent.value >= optimum - 1e-6 * optimum.abs().max(1.0));
                    assert!((parts.value(&scores, &heads) - ascent.value).abs() <= close);
                }
                Outcome::Narrowed => {
                    narrowed += 1;
                    let Ascent { live, core, value: best, .. } = &ascent;
                    for (heads, &value) in all.iter().zip(&values).filter(|(_, value)| **value > *best) {
                        let arcs =
                            || heads.iter().zip(1..).map(|(&head, word)| parts.arc(head, word).unwrap());
                        assert!(arcs().all(|arc| live[arc]), "{value}");
                        let own = |arc: usize| core.arcs.binary_search(&(arc as u32)).ok();
                        let open: Vec<u32> = arcs().filter_map(own).map(|arc| arc as u32).collect();
                        assert_eq!(open.len(), core.nodes.len());
                        assert!((core.value(&open) - value).abs() <= close);
                        let mut back = Vec::new();
                        core.heads(&parts, live, &open, &mut back);
                        assert_eq!(back, *heads);
                    }
                }
            }
        }
        assert!(narrowed > 100 && proven > 100, "{narrowed} narrowed, {proven} proven");
    }
}
