//! The flow that proves a maximum, and the search trees that find it.
//!
//! With `f(x) = Σ a_i x_i − Σ c_ij x_i (1 − x_j)` and any flow `0 ≤ φ_ij ≤ c_ij`, `f(x) ≤ Σ x_i e_i` where
//! `e_i = a_i − Σ_j φ_ij + Σ_j φ_ji` is the *excess* of `i`. So every flow proves the upper bound
//! `Σ max(0, e_i)`, and maximizing `f` means routing positive excess to where it is negative. No flow into a
//! terminal is stored: a change of `a_i` is the same change of `e_i`, and the flow stays feasible (the
//! reparametrization of Kohli & Torr 2007 without its case analysis). Paths are found by the two search trees
//! of Boykov & Kolmogorov (2004), which survive from one call to the next; only what hangs on changed nodes
//! is grown anew.

use super::PseudoBoolean;
use crate::flat::Refill;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;
const TERMINAL: u32 = u32::MAX - 1;
const ORPHAN: u32 = u32::MAX - 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tree {
    Free,
    Source,
    Sink,
}

#[derive(Clone, Copy, Debug)]
struct Arc {
    head: u32,
    sister: u32,
    residual: f64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    excess: f64,
    /// Arc towards the parent, or one of the three marks.
    parent: u32,
    /// When `distance` was last known to be right.
    stamp: u32,
    /// Arcs to the root, plus one.
    distance: u32,
    tree: Tree,
    active: bool,
    changed: bool,
}

/// Maximizer of a [`PseudoBoolean`] function that keeps flow and search trees between calls.
///
/// Residuals below a tiny fraction of the largest capacity count as zero, and the number of augmentations is
/// limited, so that rounding can never make it loop; [`Cut::value`] and [`Cut::upper_bound`] hold all the
/// same, since the first is evaluated from the assignment and the second from whatever flow there is.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    nodes: Vec<Node>,
    arcs: Vec<Arc>,
    /// Arcs of node `i` are `arcs[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    /// Linear terms that products brought along, which no caller changes.
    induced: Vec<f64>,
    /// All linear terms.
    unary: Vec<f64>,
    /// Excesses summed anew, for the bound.
    fresh: Vec<f64>,
    /// Arc index of each pair with its two capacities.
    pairs: Vec<(u32, f64, f64)>,
    active: VecDeque<u32>,
    orphans: VecDeque<u32>,
    changed: Vec<u32>,
    clock: u32,
    /// Largest capacity; residuals below `scale · TINY` count as zero.
    pair_scale: f64,
    tiny: f64,
    /// The most terms that are summed at one node.
    degree: usize,
}

/// Relative size below which a residual counts as zero.
const TINY: f64 = 1e-14;

impl Cut {
    /// Lays the function out for solving. No flow yet.
    pub fn new(function: &PseudoBoolean) -> Self {
        let mut cut = Cut::default();
        cut.rebuild(function);
        cut
    }

    /// Replaces the function, keeping only the memory.
    pub fn rebuild(&mut self, function: &PseudoBoolean) {
        let size = function.unary.len();
        self.induced.clone_from(&function.induced);
        self.unary.clear();
        self.unary.extend(function.unary.iter().zip(&function.induced).map(|(a, b)| a + b));
        self.first.refill(size + 2, 0);
        for pair in &function.pairs {
            self.first[pair.tail as usize + 2] += 1;
            self.first[pair.head as usize + 2] += 1;
        }
        for i in 2..self.first.len() {
            self.first[i] += self.first[i - 1];
        }
        self.arcs.refill(2 * function.pairs.len(), Arc { head: 0, sister: 0, residual: 0.0 });
        self.pairs.clear();
        self.pair_scale = 0.0;
        for pair in &function.pairs {
            let mut place = |node: u32| {
                let slot = &mut self.first[node as usize + 1];
                *slot += 1;
                *slot - 1
            };
            let (out, back) = (place(pair.tail), place(pair.head));
            self.arcs[out as usize] =
                Arc { head: pair.head, sister: back, residual: pair.forward - pair.flow };
            self.arcs[back as usize] =
                Arc { head: pair.tail, sister: out, residual: pair.backward + pair.flow };
            self.pairs.push((out, pair.forward, pair.backward));
            self.pair_scale = self.pair_scale.max(pair.forward).max(pair.backward);
        }
        self.first.pop();
        self.degree = 2 + self.first.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
        self.nodes.clear();
        self.nodes.extend(self.unary.iter().map(|&excess| Node {
            excess,
            parent: NONE,
            stamp: 0,
            distance: 0,
            tree: Tree::Free,
            active: false,
            changed: true,
        }));
        for pair in &function.pairs {
            self.nodes[pair.tail as usize].excess -= pair.flow;
            self.nodes[pair.head as usize].excess += pair.flow;
        }
        self.changed.clear();
        self.changed.extend(0..size as u32);
        self.active.clear();
        self.active.reserve(size);
        self.orphans.clear();
        self.orphans.reserve(size);
        self.clock = 0;
    }

    /// Sets the linear term of a variable (what [`PseudoBoolean::add_unary`] added up to) to `weight`, which
    /// must be finite.
    pub fn set_unary(&mut self, variable: usize, weight: f64) {
        debug_assert!(weight.is_finite());
        let unary = self.induced[variable] + weight;
        let difference = unary - self.unary[variable];
        if difference == 0.0 {
            return;
        }
        self.unary[variable] = unary;
        let node = &mut self.nodes[variable];
        node.excess += difference;
        if !node.changed {
            node.changed = true;
            self.changed.push(variable as u32);
        }
    }

    /// Whether the last [`solve`](Cut::solve) sets the variable to one. Among all maximizers it is the one
    /// with fewest ones.
    pub fn is_one(&self, variable: usize) -> bool {
        self.nodes[variable].tree == Tree::Source
    }

    /// The value of the assignment found last, evaluated term by term.
    pub fn value(&self) -> f64 {
        let ones: f64 =
            self.unary.iter().zip(&self.nodes).filter(|(_, n)| n.tree == Tree::Source).map(|(a, _)| a).sum();
        let lost: f64 = self
            .pairs
            .iter()
            .map(|&(arc, forward, backward)| {
                let (tail, head) = self.ends(arc);
                match (self.is_one(tail), self.is_one(head)) {
                    (true, false) => forward,
                    (false, true) => backward,
                    _ => 0.0,
                }
            })
            .sum();
        ones - lost
    }

    /// A bound that no assignment exceeds, proven by the flow; rounded outwards.
    ///
    /// The excesses are summed anew from the flow on each arc, so that the rounding of many augmentations
    /// does not add up.
    pub fn upper_bound(&mut self) -> f64 {
        let mut magnitude: f64 = self.unary.iter().map(|a| a.abs()).sum();
        self.fresh.clone_from(&self.unary);
        for &(arc, forward, backward) in &self.pairs {
            let Arc { head, sister, residual } = self.arcs[arc as usize];
            let flow = (forward - residual).clamp(-backward, forward);
            let tail = self.arcs[sister as usize].head;
            self.fresh[tail as usize] -= flow;
            self.fresh[head as usize] += flow;
            magnitude += 2.0 * flow.abs();
        }
        let positive: f64 = self.fresh.iter().map(|e| e.max(0.0)).sum();
        positive + f64::EPSILON * (self.degree as f64 * magnitude + self.nodes.len() as f64 * positive)
    }

    /// How much of the weight of each pair its first variable has, as the flow splits it.
    pub(crate) fn shares(&self) -> impl Iterator<Item = f64> {
        let share = |&(arc, forward, backward): &(u32, f64, f64)| {
            self.arcs[arc as usize].residual.clamp(0.0, forward + backward)
        };
        self.pairs.iter().map(share)
    }

    fn ends(&self, arc: u32) -> (usize, usize) {
        let Arc { head, sister, .. } = self.arcs[arc as usize];
        (self.arcs[sister as usize].head as usize, head as usize)
    }

    /// Maximizes the function as it is now. Work is proportional to what changed since the last call, mostly.
    pub fn solve(&mut self) {
        let unary_scale =
            self.changed.iter().map(|&i| self.nodes[i as usize].excess.abs()).fold(0.0, f64::max);
        self.tiny = TINY * self.pair_scale.max(unary_scale);
        if self.clock > u32::MAX / 2 {
            self.clock = 0;
            self.nodes.iter_mut().for_each(|n| n.stamp = 0);
        }
        self.clock += 1;
        self.recycle_trees();
        self.adopt_orphans();
        // Far above what was ever observed (a few augmentations a node); reached only if rounding plays
        // tricks.
        let mut patience = 1000 + 64 * (self.nodes.len() + self.arcs.len());
        while let Some(&node) = self.active.front() {
            if self.nodes[node as usize].parent != NONE
                && let Some(bridge) = self.grow(node)
            {
                self.clock += 1;
                self.augment(bridge);
                self.adopt_orphans();
                patience -= 1;
                if patience == 0 {
                    break;
                }
                continue; // the node stays active: it may have more bridges
            }
            self.active.pop_front();
            self.nodes[node as usize].active = false;
        }
    }

    /// Makes roots of the changed nodes that have excess, and orphans of those that lived on excess they
    /// lost.
    fn recycle_trees(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        for i in changed.drain(..) {
            let Node { excess, parent, tree, .. } = self.nodes[i as usize];
            self.nodes[i as usize].changed = false;
            let wanted = if excess > self.tiny {
                Tree::Source
            } else if excess < -self.tiny {
                Tree::Sink
            } else {
                if parent == TERMINAL {
                    self.abandon(i);
                }
                continue;
            };
            if tree != wanted {
                if tree != Tree::Free {
                    self.leave_tree(i);
                }
                self.nodes[i as usize].tree = wanted;
                self.activate(i);
            }
            let clock = self.clock;
            let node = &mut self.nodes[i as usize];
            (node.parent, node.stamp, node.distance) = (TERMINAL, clock, 1);
        }
        self.changed = changed;
    }

    /// Follows the arcs of an active node until one bridges the trees: returns that arc, directed from source
    /// to sink.
    fn grow(&mut self, i: u32) -> Option<u32> {
        let Node { tree, stamp, distance, .. } = self.nodes[i as usize];
        for a in self.first[i as usize]..self.first[i as usize + 1] {
            let Arc { head: j, sister, residual } = self.arcs[a as usize];
            let open = if tree == Tree::Source { residual } else { self.arcs[sister as usize].residual };
            if open <= self.tiny {
                continue;
            }
            let node = &mut self.nodes[j as usize];
            if node.tree == Tree::Free {
                (node.tree, node.parent, node.stamp, node.distance) = (tree, sister, stamp, distance + 1);
                self.activate(j);
            } else if node.tree != tree {
                return Some(if tree == Tree::Source { a } else { sister });
            } else if node.stamp <= stamp && node.distance > distance + 1 {
                // A shorter way to the root, as far as the stamps tell.
                (node.parent, node.stamp, node.distance) = (sister, stamp, distance + 1);
            }
        }
        None
    }

    /// Pushes as much as the path through `bridge` carries from its source root to its sink root.
    fn augment(&mut self, bridge: u32) {
        let (tail, head) = self.ends(bridge);
        let amount = self.arcs[bridge as usize].residual.min(self.room(tail)).min(self.room(head));
        self.push(bridge, amount);
        self.push_along(tail, amount);
        self.push_along(head, amount);
    }

    /// The arc between a node and its parent in the direction of the flow, and the parent.
    fn step_up(&self, i: usize) -> Option<(u32, usize)> {
        let Node { parent, tree, .. } = self.nodes[i];
        if parent == TERMINAL {
            return None;
        }
        let Arc { head, sister, .. } = self.arcs[parent as usize];
        Some((if tree == Tree::Source { sister } else { parent }, head as usize))
    }

    /// What the way between a node and its root can carry.
    fn room(&self, mut i: usize) -> f64 {
        let mut room = f64::INFINITY;
        while let Some((arc, up)) = self.step_up(i) {
            room = room.min(self.arcs[arc as usize].residual);
            i = up;
        }
        room.min(self.nodes[i].excess.abs())
    }

    /// Pushes flow along the way between a node and its root, which gives it or takes it.
    fn push_along(&mut self, mut i: usize, amount: f64) {
        while let Some((arc, up)) = self.step_up(i) {
            self.push(arc, amount);
            if self.arcs[arc as usize].residual <= self.tiny {
                self.abandon(i as u32);
            }
            i = up;
        }
        let root = &mut self.nodes[i];
        root.excess -= amount.copysign(root.excess);
        if root.excess.abs() <= self.tiny {
            self.abandon(i as u32);
        }
    }

    fn push(&mut self, arc: u32, amount: f64) {
        self.arcs[arc as usize].residual -= amount;
        let sister = self.arcs[arc as usize].sister;
        self.arcs[sister as usize].residual += amount;
    }

    fn activate(&mut self, i: u32) {
        if !self.nodes[i as usize].active {
            self.nodes[i as usize].active = true;
            self.active.push_back(i);
        }
    }

    fn abandon(&mut self, i: u32) {
        if self.nodes[i as usize].parent != ORPHAN {
            self.nodes[i as usize].parent = ORPHAN;
            self.orphans.push_back(i);
        }
    }

    fn adopt_orphans(&mut self) {
        while let Some(i) = self.orphans.pop_front() {
            if self.nodes[i as usize].parent != ORPHAN {
                continue; // it became a root meanwhile
            }
            match self.find_parent(i) {
                Some((arc, distance)) => {
                    let clock = self.clock;
                    let node = &mut self.nodes[i as usize];
                    (node.parent, node.stamp, node.distance) = (arc, clock, distance + 1);
                }
                None => {
                    self.leave_tree(i);
                    let node = &mut self.nodes[i as usize];
                    (node.tree, node.parent) = (Tree::Free, NONE);
                }
            }
        }
    }

    /// The open arc to a neighbour of the same tree that is nearest to a root, and the distance of that
    /// neighbour.
    fn find_parent(&mut self, i: u32) -> Option<(u32, u32)> {
        let tree = self.nodes[i as usize].tree;
        let mut best: Option<(u32, u32)> = None;
        for a in self.first[i as usize]..self.first[i as usize + 1] {
            let Arc { head, sister, residual } = self.arcs[a as usize];
            let open = if tree == Tree::Source { self.arcs[sister as usize].residual } else { residual };
            if open <= self.tiny || self.nodes[head as usize].tree != tree {
                continue;
            }
            if let Some(distance) = self.distance_to_root(head)
                && best.is_none_or(|(_, nearest)| distance < nearest)
            {
                best = Some((a, distance));
            }
        }
        best
    }

    /// Walks up from `start`; `None` if the walk ends at an orphan. Stamps the way so that later walks stop
    /// early.
    fn distance_to_root(&mut self, start: u32) -> Option<u32> {
        let mut steps = 0;
        let mut j = start as usize;
        loop {
            if self.nodes[j].stamp == self.clock && self.nodes[j].parent < ORPHAN {
                steps += self.nodes[j].distance;
                break;
            }
            steps += 1;
            match self.nodes[j].parent {
                TERMINAL => {
                    (self.nodes[j].stamp, self.nodes[j].distance) = (self.clock, 1);
                    break;
                }
                NONE | ORPHAN => return None,
                up => j = self.arcs[up as usize].head as usize,
            }
        }
        let total = steps;
        j = start as usize;
        while self.nodes[j].stamp != self.clock {
            (self.nodes[j].stamp, self.nodes[j].distance) = (self.clock, steps);
            steps -= 1;
            j = self.arcs[self.nodes[j].parent as usize].head as usize;
        }
        Some(total)
    }

    /// Wakes the neighbours that could claim `i` for the tree it leaves, and orphans its children there.
    fn leave_tree(&mut self, i: u32) {
        let tree = self.nodes[i as usize].tree;
        for a in self.first[i as usize]..self.first[i as usize + 1] {
            let Arc { head: j, sister, residual } = self.arcs[a as usize];
            if self.nodes[j as usize].tree != tree {
                continue;
            }
            let open = if tree == Tree::Source { self.arcs[sister as usize].residual } else { residual };
            if open > self.tiny {
                self.activate(j);
            }
            if self.nodes[j as usize].parent == sister {
                self.abandon(j);
            }
        }
    }
}
