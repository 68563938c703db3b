//! Tightening: cycles of tables whose best entries contradict each other, added as tables.
//!
//! After message passing every table holds entries of score zero, but around a cycle of tables these may not
//! fit together. A table over the whole cycle, empty at first, makes message passing see it (Sontag et al.
//! 2008). Tables within the cycle become its children, so that it agrees with them on pairs and not only on
//! single variables. Triangles and squares are added as they are, longer frustrated cycles as a strip of
//! triangles.

use super::limits::Limits;
use super::messages::Schedule;
use super::network::{Network, Table, Walk, steps_within};
use super::odd_cycles::frustrated_cycles;
use std::collections::{BTreeMap, BTreeSet};

/// What one round of tightening may add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Entries of one table.
    pub(crate) table: usize,
    /// Number of tables.
    pub(crate) tables: usize,
    /// Entries of all tables together.
    pub(crate) total: usize,
    /// Long cycles.
    pub(crate) cycles: usize,
}

/// Adds empty tables that let message passing see more; returns how many. Overlaps of large tables come
/// first, then triangles and squares, and once these are there, longer frustrated cycles.
pub(crate) fn tighten(network: &mut Network, budget: Budget, limits: &Limits) -> usize {
    let mut round = Round {
        present: network.tables.iter().map(|table| table.scope.clone()).collect(),
        added: 0,
        spent: 0,
        budget,
        network,
    };
    for scope in overlaps(round.network, limits) {
        round.add(&scope);
    }
    if round.added == 0 {
        for cycle in short_cycles(round.network, &round.present, limits) {
            round.add_cycle(&cycle);
        }
    }
    if round.added == 0 {
        let mut gathered = round.network.clone();
        Schedule::new(&gathered).gather(&mut gathered);
        for cycle in frustrated_cycles(&gathered, budget.cycles, limits) {
            round.add_cycle(&cycle);
        }
    }
    round.added
}

/// One round of tightening.
struct Round<'a> {
    network: &'a mut Network,
    present: BTreeSet<Vec<u32>>,
    budget: Budget,
    added: usize,
    spent: usize,
}

impl Round<'_> {
    /// Adds an empty table if there is none over these variables and it fits the budget.
    fn add(&mut self, scope: &[u32]) {
        let size = entries(self.network, scope);
        if self.added < self.budget.tables
            && self.spent + size <= self.budget.total
            && self.present.insert(scope.to_vec())
        {
            self.spent += size;
            self.added += 1;
            self.network.tables.push(Table { scope: scope.to_vec(), scores: vec![0.0; size] });
        }
    }

    /// Adds a table over a cycle of up to four variables, or else a strip of triangles.
    fn add_cycle(&mut self, cycle: &[u32]) {
        let mut scope = cycle.to_vec();
        scope.sort_unstable();
        if cycle.len() <= 4 && entries(self.network, &scope) <= self.budget.table {
            self.add(&scope);
            return;
        }
        for triangle in strip(cycle) {
            if entries(self.network, &triangle) <= self.budget.table {
                self.add(&triangle);
                if self.present.contains(&triangle) {
                    for pair in [[0, 1], [0, 2], [1, 2]] {
                        self.add(&[triangle[pair[0]], triangle[pair[1]]]);
                    }
                }
            }
        }
    }
}

fn entries(network: &Network, scope: &[u32]) -> usize {
    scope.iter().fold(1, |size: usize, &v| size.saturating_mul(network.sizes[v as usize]))
}

/// Triangles that cover a cycle, zigzagging from its first edge to the opposite one.
fn strip(cycle: &[u32]) -> Vec<Vec<u32>> {
    let (mut low, mut high) = (0, cycle.len() - 1);
    let mut triangles = Vec::with_capacity(cycle.len() - 2);
    let mut left = true;
    while high - low >= 2 {
        let third = if left { low + 1 } else { high - 1 };
        let mut scope = vec![cycle[low], cycle[third], cycle[high]];
        scope.sort_unstable();
        triangles.push(scope);
        if left {
            low += 1;
        } else {
            high -= 1;
        }
        left = !left;
    }
    triangles
}

/// Sets of two or more variables that two tables of three or more share.
fn overlaps(network: &Network, limits: &Limits) -> BTreeSet<Vec<u32>> {
    let around = network.incidence();
    let mut found = BTreeSet::new();
    for (index, table) in network.tables.iter().enumerate() {
        if table.scope.len() < 3 || limits.expired() {
            continue;
        }
        let mut others: Vec<u32> =
            table.scope.iter().flat_map(|&v| around[v as usize].iter().copied()).collect();
        others.sort_unstable();
        for run in others.chunk_by(|a, b| a == b) {
            let other = &network.tables[run[0] as usize].scope;
            if run.len() >= 2 && run[0] as usize > index && other.len() >= 3 {
                let shared: Vec<u32> = table.scope.iter().copied().filter(|v| other.contains(v)).collect();
                if shared.len() < table.scope.len().min(other.len()) {
                    found.insert(shared);
                }
            }
        }
    }
    found
}

/// Triangles, and four-cycles without chords, of pair tables: those whose joint states lose most first.
fn short_cycles(network: &Network, present: &BTreeSet<Vec<u32>>, limits: &Limits) -> Vec<Vec<u32>> {
    let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); network.sizes.len()];
    for (index, table) in network.tables.iter().enumerate() {
        if let [a, b] = *table.scope {
            neighbours[a as usize].push((b, index as u32));
            neighbours[b as usize].push((a, index as u32));
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
    }
    let joined = |a: u32, b: u32| {
        let list = &neighbours[a as usize];
        list.binary_search_by_key(&b, |&(u, _)| u).ok().map(|at| list[at].1)
    };
    let mut ranked: Vec<(f64, Vec<u32>)> = Vec::new();
    let mut keep = |cycle: Vec<u32>| {
        let mut scope = cycle.clone();
        scope.sort_unstable();
        if !present.contains(&scope) {
            let best =
                if entries(network, &scope) <= 5000 { best_joint(network, &scope, joined) } else { 0.0 };
            ranked.push((best, cycle));
        }
        ranked.len() < 50_000
    };
    'search: for a in 0..network.sizes.len() as u32 {
        // Paths a-b-c, by their far end.
        let mut through: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(b, _) in &neighbours[a as usize] {
            for &(c, _) in &neighbours[b as usize] {
                if c > a {
                    through.entry(c).or_default().push(b);
                }
            }
        }
        for (c, middles) in through {
            if limits.expired() {
                break 'search;
            }
            let chord = joined(a, c).is_some();
            for (index, &b) in middles.iter().enumerate() {
                if chord && b > a && b < c && !keep(vec![a, b, c]) {
                    break 'search;
                }
                for &d in &middles[index + 1..] {
                    // Every square is met twice, from either diagonal; once is enough.
                    if !chord && a < b && a < d && joined(b, d).is_none() && !keep(vec![a, b, c, d]) {
                        break 'search;
                    }
                }
            }
        }
    }
    ranked.sort_by(|x, y| x.0.total_cmp(&y.0).then_with(|| x.1.cmp(&y.1)));
    ranked.into_iter().map(|(_, cycle)| cycle).collect()
}

/// Best sum of the pair tables and vectors within `scope` over its joint states.
fn best_joint(network: &Network, scope: &[u32], joined: impl Fn(u32, u32) -> Option<u32>) -> f64 {
    let mut tables: Vec<&[f64]> = Vec::new();
    let mut steps = Vec::new();
    for (index, &a) in scope.iter().enumerate() {
        tables.push(&network.unary[a as usize]);
        steps.push(steps_within(scope, &[a], &network.sizes));
        for &b in &scope[index + 1..] {
            if let Some(table) = joined(a, b) {
                tables.push(&network.tables[table as usize].scores);
                steps.push(steps_within(scope, &[a, b], &network.sizes));
            }
        }
    }
    let extents: Vec<usize> = scope.iter().map(|&v| network.sizes[v as usize]).collect();
    let mut walk = Walk::new(extents, steps);
    let mut best = f64::NEG_INFINITY;
    loop {
        let sum: f64 = tables.iter().zip(&walk.offsets).map(|(scores, &at)| scores[at]).sum();
        best = best.max(sum);
        if !walk.advance() {
            return best;
        }
    }
}
