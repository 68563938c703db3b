//! Primal heuristics: tabu search over single variables, and exact moves of whole neighbourhoods.

use super::elimination::{Eliminated, eliminate};
use super::limits::Limits;
use super::network::{Network, Table, steps_within, strides};
use super::ordering::{best_order, bounded_order};

/// A small generator (xorshift64*), so that results repeat.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % count.max(1) as u64) as usize
    }
}

/// Search state over one network: an assignment and, for every state of every variable, the score of its
/// neighbourhood if the variable moved there.
pub(super) struct LocalSearch<'a> {
    network: &'a Network,
    around: Vec<Vec<u32>>,
    offsets: Vec<usize>,
    scores: Vec<f64>,
    pub(super) assignment: Vec<usize>,
    strides: Vec<Vec<usize>>,
    /// What a forbidden entry costs: more than all finite scores together.
    penalty: f64,
}

impl<'a> LocalSearch<'a> {
    pub(super) fn new(network: &'a Network, assignment: Vec<usize>) -> Self {
        let mut offsets = Vec::with_capacity(network.sizes.len() + 1);
        offsets.push(0);
        for &size in &network.sizes {
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        let spread = |scores: &[f64]| {
            let finite = || scores.iter().copied().filter(|s| s.is_finite());
            let top = finite().fold(f64::NEG_INFINITY, f64::max);
            let bottom = finite().fold(f64::INFINITY, f64::min);
            if top > bottom { top - bottom } else { 0.0 }
        };
        let penalty = 1.0
            + network.unary.iter().map(|s| spread(s)).sum::<f64>()
            + network.tables.iter().map(|t| spread(&t.scores)).sum::<f64>();
        let mut search = Self {
            around: network.incidence(),
            scores: vec![0.0; offsets[offsets.len() - 1]],
            offsets,
            strides: network.tables.iter().map(|t| strides(&t.scope, &network.sizes)).collect(),
            assignment,
            network,
            penalty,
        };
        search.rescore();
        search
    }

    fn rescore(&mut self) {
        for v in 0..self.network.sizes.len() {
            let offset = self.offsets[v];
            for (state, &score) in self.network.unary[v].iter().enumerate() {
                self.scores[offset + state] = score.max(-self.penalty);
            }
            for index in 0..self.around[v].len() {
                let table = self.around[v][index] as usize;
                self.add_table(table, v as u32, 1.0);
            }
        }
    }

    /// Adds (or removes) what `table` says about each state of `v` under the current assignment.
    fn add_table(&mut self, index: usize, v: u32, sign: f64) {
        let table = &self.network.tables[index];
        let mut base = 0;
        let mut stride = 0;
        for (&u, &step) in table.scope.iter().zip(&self.strides[index]) {
            if u == v {
                stride = step;
            } else {
                base += self.assignment[u as usize] * step;
            }
        }
        let offset = self.offsets[v as usize];
        for (state, score) in self.scores[offset..self.offsets[v as usize + 1]].iter_mut().enumerate() {
            *score += sign * table.scores[base + state * stride].max(-self.penalty);
        }
    }

    fn change(&mut self, v: usize, state: usize) {
        for sign in [-1.0, 1.0] {
            for index in 0..self.around[v].len() {
                let table = self.around[v][index] as usize;
                for position in 0..self.network.tables[table].scope.len() {
                    let u = self.network.tables[table].scope[position];
                    if u as usize != v {
                        self.add_table(table, u, sign);
                    }
                }
            }
            if sign < 0.0 {
                self.assignment[v] = state;
            }
        }
    }

    /// Value of the assignment, forbidden entries counted at the penalty.
    fn penalized(&self) -> f64 {
        let unary: f64 = (self.network.unary.iter().zip(&self.assignment))
            .map(|(scores, &state)| scores[state].max(-self.penalty))
            .sum();
        let tables: f64 = (self.network.tables.iter())
            .map(|t| t.scores[self.network.entry(t, &self.assignment)].max(-self.penalty))
            .sum();
        self.network.constant + unary + tables
    }

    /// Tabu search: always the best move that was not lately undone. Ends at the best assignment seen.
    pub(super) fn tabu(&mut self, moves: usize, dice: &mut Dice, limits: &Limits) {
        let count = self.network.sizes.len();
        let mut current = self.penalized();
        let mut best = current;
        let mut best_assignment = self.assignment.clone();
        let mut free_from = vec![0usize; count];
        for step in 0..moves {
            if step % 256 == 0 && limits.expired() {
                break;
            }
            let mut chosen = None;
            let mut chosen_gain = f64::NEG_INFINITY;
            for v in 0..count {
                let scores = &self.scores[self.offsets[v]..self.offsets[v + 1]];
                let here = scores[self.assignment[v]];
                for (state, &score) in scores.iter().enumerate() {
                    let gain = score - here;
                    if gain > chosen_gain
                        && state != self.assignment[v]
                        && (free_from[v] <= step || current + gain > best + 1e-9)
                    {
                        chosen_gain = gain;
                        chosen = Some((v, state));
                    }
                }
            }
            let Some((v, state)) = chosen else { break };
            self.change(v, state);
            current += chosen_gain;
            free_from[v] = step + 2 + count.min(40) / 4 + dice.below(count.min(40) / 4 + 1);
            if current > best + 1e-9 * best.abs().max(1.0) {
                best = current;
                best_assignment.copy_from_slice(&self.assignment);
            }
        }
        self.assignment = best_assignment;
        self.rescore();
    }

    /// Takes over from `other` every connected group of differing variables that raises the value.
    pub(super) fn fuse(&mut self, other: &[usize]) {
        let mut seen: Vec<bool> = self.assignment.iter().zip(other).map(|(a, b)| a == b).collect();
        for first in 0..seen.len() {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut group = vec![first as u32];
            let mut next = 0;
            while next < group.len() {
                for &index in &self.around[group[next] as usize] {
                    for &u in &self.network.tables[index as usize].scope {
                        if !std::mem::replace(&mut seen[u as usize], true) {
                            group.push(u);
                        }
                    }
                }
                next += 1;
            }
            let own: Vec<usize> = group.iter().map(|&v| self.assignment[v as usize]).collect();
            let mut gain = 0.0;
            for &v in &group {
                let v = v as usize;
                let offset = self.offsets[v];
                gain += self.scores[offset + other[v]] - self.scores[offset + self.assignment[v]];
                self.change(v, other[v]);
            }
            if gain <= 0.0 {
                for (&v, state) in group.iter().zip(own) {
                    self.change(v as usize, state);
                }
            }
        }
    }

    /// Re-optimizes exactly most of the variables at once, given scattered others: as many as elimination can take with
    /// buckets of at most `bucket` entries. Returns whether the value rose.
    pub(super) fn improve_jointly(&mut self, bucket: f64, dice: &mut Dice, limits: &Limits) -> bool {
        let order = bounded_order(self.network, bucket, dice);
        let mut chosen = order.clone();
        chosen.sort_unstable();
        let inside = self.positions(&chosen);
        let part = self.conditioned(&chosen, &inside);
        let order: Vec<u32> = order.iter().map(|&v| inside[v as usize]).collect();
        self.optimize(&chosen, &part, &order, limits)
    }

    /// Re-optimizes exactly everything between walls: layers of equal distance from a variable far out, every
    /// `spacing`-th of which is held. Bands between them turn over at any length. Returns whether the value rose, or `None` when the bands
    /// are too wide for `work` entries.
    pub(super) fn improve_bands(
        &mut self,
        spacing: usize,
        work: f64,
        dice: &mut Dice,
        limits: &Limits,
    ) -> Option<bool> {
        let count = self.network.sizes.len();
        let mut start = dice.below(count) as u32;
        let mut distance = Vec::new();
        for _ in 0..2 {
            distance = vec![usize::MAX; count];
            distance[start as usize] = 0;
            let mut reached = vec![start];
            let mut next = 0;
            while next < reached.len() {
                let v = reached[next] as usize;
                for &index in &self.around[v] {
                    for &u in &self.network.tables[index as usize].scope {
                        if distance[u as usize] == usize::MAX {
                            distance[u as usize] = distance[v] + 1;
                            reached.push(u);
                        }
                    }
                }
                next += 1;
            }
            start = reached[reached.len() - 1];
        }
        let offset = dice.below(spacing);
        let chosen: Vec<u32> = (0..count as u32)
            .filter(|&v| distance[v as usize] != usize::MAX && distance[v as usize] % spacing != offset)
            .collect();
        let part = self.conditioned(&chosen, &self.positions(&chosen));
        let order = best_order(&part, work, false)?;
        Some(self.optimize(&chosen, &part, &order.variables, limits))
    }

    /// Re-optimizes exactly `size` variables around `center`, given the others, if elimination takes at most
    /// `work` entries. Unlike scattered moves it can turn over a whole region. Returns whether the value rose.
    pub(super) fn improve_region(&mut self, center: u32, size: usize, work: f64, limits: &Limits) -> bool {
        let mut seen = vec![false; self.network.sizes.len()];
        let mut chosen = vec![center];
        seen[chosen[0] as usize] = true;
        let mut next = 0;
        while next < chosen.len() && chosen.len() < size {
            for &index in &self.around[chosen[next] as usize] {
                for &u in &self.network.tables[index as usize].scope {
                    if chosen.len() < size && !std::mem::replace(&mut seen[u as usize], true) {
                        chosen.push(u);
                    }
                }
            }
            next += 1;
        }
        chosen.sort_unstable();
        let part = self.conditioned(&chosen, &self.positions(&chosen));
        match best_order(&part, work, false) {
            Some(order) => self.optimize(&chosen, &part, &order.variables, limits),
            None => false,
        }
    }

    /// Position of every variable in `chosen`, or the largest number.
    fn positions(&self, chosen: &[u32]) -> Vec<u32> {
        let mut inside = vec![u32::MAX; self.network.sizes.len()];
        for (index, &v) in chosen.iter().enumerate() {
            inside[v as usize] = index as u32;
        }
        inside
    }

    /// Solves the conditioned network and moves there if it is better.
    fn optimize(&mut self, chosen: &[u32], part: &Network, order: &[u32], limits: &Limits) -> bool {
        let Eliminated::Optimum(states) = eliminate(part, order, limits) else {
            return false;
        };
        let before: Vec<usize> = chosen.iter().map(|&v| self.assignment[v as usize]).collect();
        let old = part.value(&before);
        if part.value(&states) <= old + 1e-9 * old.abs().max(1.0) {
            return false;
        }
        for (&v, state) in chosen.iter().zip(states) {
            if self.assignment[v as usize] != state {
                self.change(v as usize, state);
            }
        }
        true
    }

    /// The network over `chosen`, all others held at their states.
    fn conditioned(&self, chosen: &[u32], inside: &[u32]) -> Network {
        let network = self.network;
        let mut part = Network {
            sizes: chosen.iter().map(|&v| network.sizes[v as usize]).collect(),
            constant: 0.0,
            unary: chosen.iter().map(|&v| network.unary[v as usize].clone()).collect(),
            tables: Vec::new(),
        };
        for (position, &v) in chosen.iter().enumerate() {
            for &index in &self.around[v as usize] {
                let table = &network.tables[index as usize];
                let own = &self.strides[index as usize];
                let kept: Vec<u32> =
                    table.scope.iter().copied().filter(|&u| inside[u as usize] != u32::MAX).collect();
                if kept[0] != v {
                    continue;
                }
                let base: usize = (table.scope.iter().zip(own))
                    .filter(|(u, _)| inside[**u as usize] == u32::MAX)
                    .map(|(&u, &step)| self.assignment[u as usize] * step)
                    .sum();
                if let [_] = kept[..] {
                    let stride = steps_within(&kept, &table.scope, &network.sizes)[0];
                    for (state, score) in part.unary[position].iter_mut().enumerate() {
                        *score += table.scores[base + state * stride];
                    }
                    continue;
                }
                let steps = steps_within(&kept, &table.scope, &network.sizes);
                let mut offsets = vec![base];
                for (&u, &step) in kept.iter().zip(&steps) {
                    offsets = offsets
                        .iter()
                        .flat_map(|&offset| {
                            (0..network.sizes[u as usize]).map(move |state| offset + state * step)
                        })
                        .collect();
                }
                part.tables.push(Table {
                    scope: kept.iter().map(|&u| inside[u as usize]).collect(),
                    scores: offsets.into_iter().map(|at| table.scores[at]).collect(),
                });
            }
        }
        part
    }
}
