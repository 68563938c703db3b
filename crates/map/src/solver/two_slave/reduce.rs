//! From one component of a pattern model to its two slaves.
//!
//! The tree slave keeps the vertices' scores and a spanning forest of the edges. Everything else becomes
//! products with positive weight over *literals* ("vertex `v` has state `s`", or "has not"), which the cut
//! slave takes. The two forms of reduction differ in how negative weights get there; see [`Reduction`].

use super::Reduction;
use super::bits::{self, PAIRS, Triples};
use super::pairs::{Cell, Pair};
use crate::cut::PseudoBoolean;
use crate::flat::Refill;
use crate::pattern::{Forest, Member, PatternModel};
use crate::solver::master::{Component, Groups, SpanningTree, magnitude};
use rustc_hash::FxHashMap;

pub(super) const NONE: u32 = u32::MAX;

/// What the cut slave knows of a vertex: whether it has a state, or whether it has not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal {
    pub(super) vertex: u32,
    pub(super) state: u32,
    pub(super) slot: u32,
    pub(super) negated: bool,
}

/// A product of literals with positive weight, or (for [`Reduction::Lifted`]) the sum of pairs minus the
/// product.
#[derive(Clone, Copy, Debug)]
struct Term {
    end: u32,
    weight: f64,
    lifted: bool,
}

/// The two slaves of one component, with the buffers to build them.
#[derive(Clone, Debug, Default)]
pub(super) struct Slaves {
    /// Slots of local vertex `v` are `first_slot[v]..first_slot[v + 1]`; the vertices of the component come
    /// first, then the witnesses of negative patterns.
    pub(super) first_slot: Vec<u32>,
    /// Scores of the tree slave before multipliers.
    pub(super) base: Vec<f64>,
    /// What both slaves leave out of the model's value.
    pub(super) constant: f64,
    pub(super) forest: Forest,
    pub(super) function: PseudoBoolean,
    pub(super) literals: Vec<Literal>,
    /// Small slaves over three binary vertices.
    pub(super) triples: Triples,
    /// Other small slaves, and the vertices of each, one group after another.
    pub(super) groups: Groups,
    pub(super) group_vertices: Vec<u32>,
    /// Multipliers to begin with, by literal: the products' weights split evenly.
    pub(super) share: Vec<f64>,
    /// Sum of the largest absolute scores of all parts: no feasible assignment scores below its negative.
    pub(super) magnitude: f64,
    /// What breaking a hard constraint costs: more than all finite scores can bring.
    pub(super) penalty: f64,

    pub(super) pairs: Vec<Pair>,
    pub(super) pair_index: FxHashMap<(u32, u32), u32>,
    pub(super) next_edge: Vec<u32>,
    pub(super) cells: Vec<Cell>,
    pub(super) tree: SpanningTree,
    pub(super) table: Vec<f64>,
    /// For each negative pattern of three or more: a member, and what the pattern costs.
    pub(super) witnesses: Vec<(u32, u32, f64)>,
    /// The literal that says a slot is on, or `NONE`.
    plain: Vec<u32>,
    /// The literal that says a slot is off, or `NONE`.
    negated: Vec<u32>,
    larger: Vec<u32>,
    members: Vec<u32>,
    terms: Vec<Term>,
}

impl Slaves {
    /// Builds the slaves of a component. `local` maps its vertices to `0..n`; edges for which `preferred`
    /// holds go to the tree first.
    pub(super) fn build(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        reduction: Reduction,
        preferred: impl Fn(u32) -> bool,
    ) {
        self.reset(model, component);
        self.collect_pairs(model, component, local);
        self.split_patterns(model, component, local, reduction);
        self.split_sets(model, local);
        self.plant(model, component, preferred);
        for index in 0..self.pairs.len() {
            if !self.tree.has(index) {
                match reduction {
                    Reduction::Tight => self.split_pair(model, component, index),
                    Reduction::Lifted => self.lift_pair(model, component, index),
                }
            }
        }
        self.state_function();
    }

    fn reset(&mut self, model: &PatternModel, component: &Component) {
        component.gather_scores(model, &mut self.first_slot, &mut self.base);
        self.constant = 0.0;
        self.literals.clear();
        self.plain.refill(self.base.len(), NONE);
        self.negated.refill(self.base.len(), NONE);
        self.pairs.clear();
        self.pair_index.clear();
        self.next_edge.clear();
        self.cells.clear();
        self.larger.clear();
        self.triples.clear();
        self.groups.clear();
        self.group_vertices.clear();
        self.members.clear();
        self.terms.clear();
        self.witnesses.clear();
        self.magnitude = magnitude(model, component);
        self.penalty = if self.magnitude > 0.0 { 2.5 * self.magnitude } else { 1.0 };
    }

    pub(super) fn slot(&self, vertex: u32, state: u32) -> usize {
        (self.first_slot[vertex as usize] + state) as usize
    }

    pub(super) fn states(&self, vertex: u32) -> usize {
        (self.first_slot[vertex as usize + 1] - self.first_slot[vertex as usize]) as usize
    }

    /// Adds to the score of a slot; a forbidden one stays forbidden.
    pub(super) fn add_base(&mut self, vertex: u32, state: u32, weight: f64) {
        let slot = self.slot(vertex, state);
        self.base[slot] += weight;
    }

    pub(super) fn soft(&self, weight: f64) -> f64 {
        weight.max(-self.penalty)
    }

    /// Sends each pattern where it belongs: to a vertex, to a pair, to the cut, or to the larger ones that
    /// are sorted by vertex set.
    fn split_patterns(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        reduction: Reduction,
    ) {
        for &p in &component.patterns {
            if let [m] = model.members(p as usize) {
                self.add_base(local[m.vertex as usize], m.state, model.weight(p as usize));
            }
        }
        for &p in &component.patterns {
            let members = model.members(p as usize);
            let weight = self.soft(model.weight(p as usize));
            let here = |m: &Member| (local[m.vertex as usize], m.state);
            let possible = members.iter().all(|m| {
                let (v, s) = here(m);
                self.base[self.slot(v, s)] > f64::NEG_INFINITY
            });
            if members.len() < 2 || weight == 0.0 || !possible {
                continue;
            }
            if let [a, b] = members {
                self.add_cell(here(a), here(b), model.weight(p as usize));
            } else if reduction == Reduction::Lifted {
                if weight < 0.0 {
                    for (i, a) in members.iter().enumerate() {
                        for b in &members[..i] {
                            self.add_cell(here(a), here(b), weight);
                        }
                    }
                }
                self.add_term(members.iter().map(|m| (here(m), false)), weight.abs(), weight < 0.0);
            } else {
                self.larger.push(p);
            }
        }
    }

    /// Adds `weight · Π x_i` of either sign.
    ///
    /// A negative product is `−w Π x_i = max over i of w (1 − x_i) − w`: whichever member fails is the
    /// *witness* that it does not count. The choice of witness becomes a vertex of the tree slave, its link
    /// to each member a pair. Relaxed this is `w min(1, Σ (1 − μ_i)) − w`, the tightest concave bound,
    /// whereas reductions by pair products are looser.
    fn add_signed_product(&mut self, members: impl Iterator<Item = (u32, u32)> + Clone, weight: f64) {
        if weight > 0.0 {
            self.add_term(members.map(|m| (m, false)), weight, false);
            return;
        }
        let loss = -weight;
        self.constant -= loss;
        let witness = self.first_slot.len() as u32 - 1;
        let size = members.clone().count();
        self.base.extend(std::iter::repeat_n(0.0, size));
        self.plain.resize(self.base.len(), NONE);
        self.negated.resize(self.base.len(), NONE);
        self.first_slot.push(self.base.len() as u32);
        for (i, (v, s)) in members.enumerate() {
            if i == 0 {
                self.witnesses.push((v, s, loss));
            } else {
                self.add_term([((v, s), true), ((witness, i as u32), false)].into_iter(), loss, false);
            }
        }
    }

    /// Takes the patterns of three or more vertices by vertex set, and sends each set to the cut if that is
    /// as tight as a slave of its own, else gives it one.
    fn split_sets(&mut self, model: &PatternModel, local: &[u32]) {
        let mut larger = std::mem::take(&mut self.larger);
        let set = |p: u32| model.vertex_set(p as usize);
        let states = |p: u32| model.members(p as usize).iter().map(|m| m.state);
        larger.sort_by_key(|&p| set(p));
        for same in larger.chunk_by_mut(|&p, &q| set(p) == set(q)) {
            let members =
                |p: u32| model.members(p as usize).iter().map(|m| (local[m.vertex as usize], m.state));
            let penalty = self.penalty;
            let weight = |p: u32| model.weight(p as usize).max(-penalty);
            if same.len() == 1 || is_disjoint(model, same) {
                for &p in same.iter() {
                    self.add_signed_product(members(p), weight(p));
                }
                continue;
            }
            if let &[a, b, c] = model.members(same[0] as usize) {
                let ends = [a, b, c].map(|m| local[m.vertex as usize]);
                if ends.iter().all(|&v| self.states(v) == 2) {
                    let mut table = [0.0; 8];
                    for &p in same.iter() {
                        table[states(p).rev().fold(0, |at, state| at << 1 | state as usize)] += weight(p);
                    }
                    match bits::supermodular_flips(&table) {
                        Some(flips) => self.add_bits(ends, &table, flips),
                        None => self.triples.push(ends, table),
                    }
                    continue;
                }
            }
            same.sort_by(|&p, &q| states(p).cmp(states(q)));
            self.group_vertices.extend(members(same[0]).map(|(v, _)| v));
            let sizes = model.members(same[0] as usize).iter().map(|m| model.states(m.vertex as usize));
            self.groups.push(sizes, same.iter().map(|&p| (states(p), weight(p))));
        }
        self.larger = larger;
    }

    /// Adds a function of three binary vertices that is supermodular after `flips`: one product, and pairs
    /// that join the edges.
    fn add_bits(&mut self, ends: [u32; 3], table: &[f64; 8], flips: usize) {
        let rest = bits::without_cubic(table, flips);
        self.constant += rest[0];
        for (i, &end) in ends.iter().enumerate() {
            self.add_base(end, 1, rest[1 << i] - rest[0]);
        }
        for (i, j) in PAIRS {
            self.add_cell((ends[i], 1), (ends[j], 1), bits::quadratic(&rest, i, j));
        }
        let product = bits::cubic(table).abs();
        if product > 0.0 {
            let literal = |i: usize| ((ends[i], 1 ^ (flips >> i & 1) as u32), false);
            self.add_term([literal(0), literal(1), literal(2)].into_iter(), product, false);
        }
    }

    /// Adds a term over literals given as ((vertex, state), negated); drops it if a literal can never hold.
    pub(super) fn add_term(
        &mut self,
        literals: impl Iterator<Item = ((u32, u32), bool)>,
        weight: f64,
        lifted: bool,
    ) {
        let start = self.members.len();
        for ((vertex, state), negated) in literals {
            match self.literal(vertex, state, negated) {
                Some(literal) => self.members.push(literal),
                None => return self.members.truncate(start),
            }
        }
        self.terms.push(Term { end: self.members.len() as u32, weight, lifted });
    }

    fn literal(&mut self, vertex: u32, state: u32, negated: bool) -> Option<u32> {
        // "Not the one" is "the other" when there are two.
        let (state, negated) =
            if negated && self.states(vertex) == 2 { (1 - state, false) } else { (state, negated) };
        let slot = self.slot(vertex, state);
        if !negated && self.base[slot] == f64::NEG_INFINITY {
            return None;
        }
        let index = if negated { &mut self.negated[slot] } else { &mut self.plain[slot] };
        if *index == NONE {
            *index = self.literals.len() as u32;
            self.literals.push(Literal { vertex, state, slot: slot as u32, negated });
        }
        Some(*index)
    }

    fn state_function(&mut self) {
        self.function.reset(self.literals.len());
        self.share.refill(self.literals.len(), 0.0);
        let mut start = 0;
        for term in &self.terms {
            let members = &self.members[start..term.end as usize];
            start = term.end as usize;
            let added = if term.lifted {
                self.function.add_pairs_minus_product(members, term.weight)
            } else {
                self.function.add_product(members, term.weight)
            };
            debug_assert!(added.is_ok(), "{added:?}");
            let top = if term.lifted { (members.len() * (members.len() - 1) / 2 - 1) as f64 } else { 1.0 };
            for &m in members {
                self.share[m as usize] += top * term.weight / members.len() as f64;
            }
        }
    }
}

/// Whether patterns over the same vertices all have positive weight and no two share a member: then each
/// takes its share of probability without regard to the others, and apart they are as tight as together.
fn is_disjoint(model: &PatternModel, same: &[u32]) -> bool {
    let shares = |p: u32, q: u32| {
        model.members(p as usize).iter().zip(model.members(q as usize)).any(|(a, b)| a.state == b.state)
    };
    let fewest = model.members(same[0] as usize).iter().map(|m| model.states(m.vertex as usize)).min();
    fewest.is_some_and(|states| same.len() <= states)
        && same.iter().all(|&p| model.weight(p as usize) > 0.0)
        && same.iter().enumerate().all(|(i, &p)| same[..i].iter().all(|&q| !shares(p, q)))
}
