//! Assignments of networks: local search over single variables, and exact moves of whole neighbourhoods.

use super::{Chain, Connected, Dice, Position, Record};
use crate::solver::exact::elimination::{Eliminated, eliminate};
use crate::solver::exact::limits::Limits;
use crate::solver::exact::network::{Network, strides};
use crate::solver::exact::ordering::{best_order, bounded_order};
use crate::solver::exact::presolve::restricted;

/// An assignment of one network and, for every state of every variable, the score of its neighbourhood if the
/// variable moved there.
pub(super) struct States<'a> {
    network: &'a Network,
    around: Vec<Vec<u32>>,
    offsets: Vec<usize>,
    scores: Vec<f64>,
    pub(super) assignment: Vec<usize>,
    strides: Vec<Vec<usize>>,
    /// What a forbidden entry costs: more than all finite scores together.
    penalty: f64,
    /// What it is worth compared to the beginning, and tables looked at.
    worth: f64,
    work: usize,
}

impl<'a> States<'a> {
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
        let mut states = Self {
            around: network.incidence(),
            scores: network.unary.iter().flatten().map(|score| score.max(-penalty)).collect(),
            offsets,
            strides: network.tables.iter().map(|t| strides(&t.scope, &network.sizes)).collect(),
            assignment,
            network,
            penalty,
            worth: 0.0,
            work: 0,
        };
        for (index, table) in network.tables.iter().enumerate() {
            table.scope.iter().for_each(|&v| states.add_table(index, v, 1.0));
        }
        states
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

    /// Anneals from the temperature of a typical move, and ends at the best assignment seen.
    pub(super) fn anneal_all(&mut self, effort: usize, dice: &mut Dice, limits: &Limits) {
        let count = self.assignment.len();
        let variables: Vec<u32> = (0..count as u32).filter(|&v| self.network.sizes[v as usize] > 1).collect();
        if variables.is_empty() {
            return;
        }
        let spread = |v: usize| {
            let scores = &self.scores[self.offsets[v]..self.offsets[v + 1]];
            let here = scores[self.assignment[v]];
            let gains = scores.iter().map(|score| (score - here).abs()).filter(|&gain| gain < self.penalty);
            gains.sum::<f64>() / (scores.len() - 1).max(1) as f64
        };
        let heat = (0..count).map(spread).sum::<f64>() / count.max(1) as f64;
        let mut record = Record::new(count);
        record.keep(self.worth, |v| self.assignment[v]);
        self.anneal(&variables, 0.5 * heat, effort, &mut record, dice, || limits.expired());
        (0..count).for_each(|v| self.set(v, record.states[v] as usize));
    }

    /// Re-optimizes exactly most of the variables at once, given scattered others: as many as elimination can
    /// take with buckets of at most `bucket` entries. Returns whether the value rose.
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
    /// `spacing`-th of which is held. Bands between them turn over at any length. Returns whether the value
    /// rose, or `None` when the bands are too wide for `work` entries.
    pub(super) fn improve_bands(
        &mut self,
        spacing: usize,
        work: f64,
        dice: &mut Dice,
        limits: &Limits,
    ) -> Option<bool> {
        let mut start = dice.below(self.network.sizes.len()) as u32;
        let mut distance = vec![usize::MAX; self.network.sizes.len()];
        for _ in 0..2 {
            distance.fill(usize::MAX);
            distance[start as usize] = 0;
            let reached = self.network.reach(&self.around, start, |from, to| {
                let is_new = distance[to as usize] == usize::MAX;
                if is_new {
                    distance[to as usize] = distance[from as usize] + 1;
                }
                is_new
            });
            start = reached[reached.len() - 1];
        }
        let offset = dice.below(spacing);
        let free = |&v: &u32| distance[v as usize] != usize::MAX && distance[v as usize] % spacing != offset;
        let chosen: Vec<u32> = (0..distance.len() as u32).filter(free).collect();
        self.improve_exactly(&chosen, work, limits)
    }

    /// Re-optimizes exactly `size` variables around `center`, given the others, if elimination takes at most
    /// `work` entries. Unlike scattered moves it can turn over a whole region. Returns whether the value
    /// rose.
    pub(super) fn improve_region(&mut self, center: u32, size: usize, work: f64, limits: &Limits) -> bool {
        let mut seen = vec![false; self.network.sizes.len()];
        seen[center as usize] = true;
        let mut left = size.saturating_sub(1);
        let mut chosen = self.network.reach(&self.around, center, |_, to| {
            let is_new = left > 0 && !std::mem::replace(&mut seen[to as usize], true);
            left -= usize::from(is_new);
            is_new
        });
        chosen.sort_unstable();
        self.improve_exactly(&chosen, work, limits) == Some(true)
    }

    /// Re-optimizes the chosen variables; nothing when that takes more than `work` entries.
    fn improve_exactly(&mut self, chosen: &[u32], work: f64, limits: &Limits) -> Option<bool> {
        let part = self.conditioned(chosen, &self.positions(chosen));
        let order = best_order(&part, work, false, limits)?;
        Some(self.optimize(chosen, &part, &order.variables, limits))
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
            self.set(v as usize, state);
        }
        true
    }

    /// The network over `chosen`, all others held at their states.
    fn conditioned(&self, chosen: &[u32], inside: &[u32]) -> Network {
        let network = self.network;
        let held: Vec<u16> = self.assignment.iter().map(|&state| state as u16).collect();
        let kept = |v: usize| (inside[v] == u32::MAX).then(|| std::slice::from_ref(&held[v]));
        let mut part = network.part(chosen);
        for table in network.tables.iter().filter(|t| t.scope.iter().any(|&v| inside[v as usize] != u32::MAX))
        {
            let mut own = restricted(table, &network.sizes, kept);
            own.scope.iter_mut().for_each(|v| *v = inside[*v as usize]);
            part.insert(own);
        }
        part
    }
}

impl Position for States<'_> {
    fn state(&self, variable: usize) -> usize {
        self.assignment[variable]
    }

    fn set(&mut self, v: usize, state: usize) {
        if self.assignment[v] == state {
            return;
        }
        let network = self.network;
        let (first, degree) = (self.offsets[v], self.around[v].len());
        self.worth += self.scores[first + state] - self.scores[first + self.assignment[v]];
        self.work += degree;
        for sign in [-1.0, 1.0] {
            for index in 0..degree {
                let table = self.around[v][index] as usize;
                for &u in network.tables[table].scope.iter().filter(|&&u| u as usize != v) {
                    self.add_table(table, u, sign);
                }
            }
            self.assignment[v] = state;
        }
    }

    fn scores(&mut self, variable: usize) -> &[f64] {
        &self.scores[self.offsets[variable]..self.offsets[variable + 1]]
    }
}

impl Chain for States<'_> {
    fn worth(&mut self) -> f64 {
        self.worth
    }

    fn gain(&self, variable: usize, state: usize) -> Option<f64> {
        let first = self.offsets[variable];
        Some(self.scores[first + state] - self.scores[first + self.assignment[variable]])
    }

    fn states(&self, variable: usize) -> usize {
        self.network.sizes[variable]
    }

    fn next(&mut self, _: usize, _: usize, _: &mut Dice) -> Option<(usize, usize)> {
        None
    }

    fn is_sound(&self) -> bool {
        true
    }

    fn work(&self) -> usize {
        self.work
    }
}

impl Connected for States<'_> {
    fn around(&self, variable: usize, mut visit: impl FnMut(usize)) {
        for &index in &self.around[variable] {
            self.network.tables[index as usize].scope.iter().for_each(|&v| visit(v as usize));
        }
    }
}
