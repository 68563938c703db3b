//! Reductions that keep an optimal assignment: normal form, arc consistency, pruning by the
//! incumbent, dominated states, functional dependence, and elimination where tables stay small.
//!
//! In normal form the constant is an upper bound and every other score is at most zero, so the
//! constant minus the incumbent is the most that any set of disjoint scores may lose.

use super::lift::{Lift, Step};
use super::limits::Limits;
use super::network::{Network, Table, Walk, steps_within, strides};
use crate::oracle::lanes::{larger, maximum};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What to reduce with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reductions {
    /// Look for dominated states, spending at most this many table entries.
    pub(crate) dominance: usize,
    /// Eliminate variables whose table would not have more entries than this, or than the tables it replaces.
    pub(crate) small_table: usize,
}

/// A network that proved contradictory, or worse than the incumbent.
#[derive(Debug)]
pub(crate) struct Hopeless;

/// Reduces a network; assignments worth at most `cut` may be lost.
pub(crate) fn reduce(
    network: Network,
    parent: Option<Arc<Lift>>,
    cut: f64,
    reductions: Reductions,
    limits: &Limits,
) -> Result<(Network, Arc<Lift>), Hopeless> {
    let mut session = Session::new(network)?;
    loop {
        session.normalize()?;
        session.propagate(cut)?;
        let mut changed = session.compress()?;
        if !limits.expired() {
            changed |= session.substitute_functional();
            if reductions.small_table > 0 {
                changed |= session.eliminate_small(reductions.small_table);
            }
            if !changed && session.dominance_budget < reductions.dominance {
                changed = session.remove_dominated(reductions.dominance);
            }
        }
        if !changed {
            break;
        }
    }
    Ok(session.finish(parent))
}

/// Tables for each variable from which on those over two are found by a hash.
const MANY_TABLES: usize = 20;

/// Tables are revised anew when the constant's distance from the cut has become this part of what it was.
const NEARER: f64 = 0.99;

pub(super) struct Session {
    pub(super) sizes: Vec<usize>,
    constant: f64,
    pub(super) unary: Vec<Vec<f64>>,
    pub(super) tables: Vec<Option<Table>>,
    pub(super) around: Vec<Vec<u32>>,
    /// The tables over two variables, where they are so many that lists are slow to look through.
    pairs: Option<FxHashMap<(u32, u32), u32>>,
    pub(super) alive: Vec<bool>,
    /// Tables that have changed, or whose variables have, since they were revised.
    fresh: Vec<bool>,
    /// How far the constant lay above the cut when all tables were revised.
    revised_at: f64,
    steps: Vec<Step>,
    /// Table entries that the search for dominated states has looked at.
    pub(super) dominance_budget: usize,
}

impl Session {
    fn new(network: Network) -> Result<Self, Hopeless> {
        let count = network.sizes.len();
        let mut session = Self {
            constant: network.constant,
            unary: network.unary,
            sizes: network.sizes,
            tables: Vec::with_capacity(network.tables.len()),
            around: vec![Vec::new(); count],
            pairs: (network.tables.len() > MANY_TABLES * count).then(FxHashMap::default),
            alive: vec![true; count],
            fresh: Vec::with_capacity(network.tables.len()),
            revised_at: f64::INFINITY,
            steps: Vec::new(),
            dominance_budget: 0,
        };
        for table in network.tables {
            session.insert(table);
        }
        Ok(session)
    }

    /// Adds a table with a sorted scope, merging it with one over the same variables.
    fn insert(&mut self, table: Table) {
        match table.scope.len() {
            0 => self.constant += table.scores[0],
            1 => {
                let v = table.scope[0] as usize;
                self.unary[v].iter_mut().zip(table.scores).for_each(|(own, score)| *own += score);
                self.freshen(v);
            }
            _ => {
                let index = self.tables.len() as u32;
                if let Some(same) = self.same_scope(&table.scope, index) {
                    if let Some(own) = &mut self.tables[same as usize] {
                        own.scores.iter_mut().zip(table.scores).for_each(|(own, score)| *own += score);
                        self.fresh[same as usize] = true;
                    }
                    return;
                }
                for &v in &table.scope {
                    self.around[v as usize].push(index);
                }
                self.tables.push(Some(table));
                self.fresh.push(true);
            }
        }
    }

    /// Has the tables around a variable revised again.
    pub(super) fn freshen(&mut self, v: usize) {
        self.around[v].iter().for_each(|&index| self.fresh[index as usize] = true);
    }

    /// The table over the same variables. If there is none, `new` will be it.
    fn same_scope(&mut self, scope: &[u32], new: u32) -> Option<u32> {
        let is_same = |index: u32| self.tables[index as usize].as_ref().is_some_and(|own| own.scope == scope);
        if let ([a, b], Some(pairs)) = (scope, &mut self.pairs) {
            let known = pairs.entry((*a, *b)).or_insert(new);
            if *known != new && is_same(*known) {
                return Some(*known);
            }
            *known = new;
            return None;
        }
        let rarest = scope.iter().min_by_key(|&&v| self.around[v as usize].len())?;
        self.around[*rarest as usize].iter().copied().find(|&index| is_same(index))
    }

    fn take(&mut self, index: u32) -> Option<Table> {
        let table = self.tables[index as usize].take()?;
        for &v in &table.scope {
            self.around[v as usize].retain(|&other| other != index);
        }
        Some(table)
    }

    /// Moves the maxima of all tables and vectors into the constant.
    fn normalize(&mut self) -> Result<(), Hopeless> {
        for v in 0..self.sizes.len() {
            if self.alive[v] {
                self.constant += lower_to_zero(&mut self.unary[v])?;
            }
        }
        for table in self.tables.iter_mut().flatten() {
            self.constant += lower_to_zero(&mut table.scores)?;
        }
        if self.constant == f64::NEG_INFINITY {
            return Err(Hopeless);
        }
        Ok(())
    }

    /// Forbids joint states that cannot be part of an assignment above `cut`, and states without
    /// support in some table, until nothing changes. Tables that are as they were are looked at again only
    /// when the constant has come nearer to the cut.
    fn propagate(&mut self, cut: f64) -> Result<(), Hopeless> {
        if self.constant <= cut {
            return Err(Hopeless);
        }
        let slack = cut - self.constant;
        for v in 0..self.sizes.len() {
            let mut any = false;
            for score in &mut self.unary[v] {
                if *score <= slack && *score > f64::NEG_INFINITY {
                    *score = f64::NEG_INFINITY;
                    any = true;
                }
            }
            if any {
                self.freshen(v);
            }
        }
        let mut queued = std::mem::take(&mut self.fresh);
        if -slack < NEARER * self.revised_at || self.revised_at == f64::INFINITY {
            queued.fill(true);
            self.revised_at = -slack;
        }
        let mut queue: Vec<u32> = (0..self.tables.len() as u32).filter(|&i| queued[i as usize]).collect();
        let mut next = 0;
        while next < queue.len() {
            let index = queue[next];
            next += 1;
            queued[index as usize] = false;
            for v in self.forbid_unsupported(index as usize, slack) {
                if self.unary[v as usize].iter().all(|&s| s == f64::NEG_INFINITY) {
                    return Err(Hopeless);
                }
                for &other in &self.around[v as usize] {
                    if other != index && !std::mem::replace(&mut queued[other as usize], true) {
                        queue.push(other);
                    }
                }
            }
        }
        self.fresh = queued;
        Ok(())
    }

    /// Revises one table; returns the variables that lost a state.
    fn forbid_unsupported(&mut self, index: usize, slack: f64) -> Vec<u32> {
        let Some(table) = &mut self.tables[index] else {
            return Vec::new();
        };
        let extents: Vec<usize> = table.scope.iter().map(|&v| self.sizes[v as usize]).collect();
        let mut supported: Vec<Vec<bool>> = extents.iter().map(|&extent| vec![false; extent]).collect();
        if let [a, b] = *table.scope {
            let (first, second) = (&self.unary[a as usize], &self.unary[b as usize]);
            let mut best = vec![f64::NEG_INFINITY; extents[1]];
            let rows = table.scores.chunks_exact_mut(extents[1]);
            for ((row, &own), supported) in rows.zip(first).zip(&mut supported[0]) {
                let best_here = prune_row(row, own, second, slack, &mut best);
                *supported = best_here > slack;
            }
            supported[1].iter_mut().zip(best).for_each(|(supported, best)| *supported = best > slack);
        } else {
            let mut walk = Walk::new(extents, Vec::new());
            for score in &mut table.scores {
                let sum = (walk.digits.iter().zip(&table.scope))
                    .fold(*score, |sum, (&digit, &v)| sum + self.unary[v as usize][digit]);
                if sum > slack {
                    for (flags, &digit) in supported.iter_mut().zip(&walk.digits) {
                        flags[digit] = true;
                    }
                } else {
                    *score = f64::NEG_INFINITY;
                }
                walk.advance();
            }
        }
        let mut lost = Vec::new();
        for (&v, flags) in table.scope.iter().zip(&supported) {
            let mut any = false;
            for (score, &flag) in self.unary[v as usize].iter_mut().zip(flags) {
                if !flag && *score > f64::NEG_INFINITY {
                    *score = f64::NEG_INFINITY;
                    any = true;
                }
            }
            if any {
                lost.push(v);
            }
        }
        lost
    }

    /// Drops forbidden states for good, and variables with one state left.
    fn compress(&mut self) -> Result<bool, Hopeless> {
        let mut kept: Vec<Option<Vec<u16>>> = vec![None; self.sizes.len()];
        let mut changed = false;
        for (v, kept) in kept.iter_mut().enumerate() {
            if !self.alive[v] {
                continue;
            }
            let states: Vec<u16> = (0..self.sizes[v] as u16)
                .filter(|&state| self.unary[v][usize::from(state)] > f64::NEG_INFINITY)
                .collect();
            if states.is_empty() {
                return Err(Hopeless);
            }
            if states.len() < self.sizes[v] || states.len() == 1 {
                changed = true;
                *kept = Some(states);
            }
        }
        if !changed {
            return Ok(false);
        }
        let mut smaller = Vec::new();
        for index in 0..self.tables.len() as u32 {
            let touched = self.tables[index as usize]
                .as_ref()
                .is_some_and(|table| table.scope.iter().any(|&v| kept[v as usize].is_some()));
            if touched && let Some(table) = self.take(index) {
                smaller.push(restricted(&table, &self.sizes, |v| kept[v].as_deref()));
            }
        }
        for (v, states) in kept.into_iter().enumerate() {
            let Some(states) = states else { continue };
            if states.len() == 1 {
                self.constant += self.unary[v][usize::from(states[0])];
                self.alive[v] = false;
                self.unary[v] = vec![0.0];
            } else {
                self.unary[v] = states.iter().map(|&s| self.unary[v][usize::from(s)]).collect();
            }
            self.sizes[v] = states.len();
            self.steps.push(Step::Restrict { variable: v as u32, kept: states });
        }
        // Only now do all sizes agree with the tables.
        for table in smaller {
            self.insert(table);
        }
        Ok(true)
    }

    /// Eliminates variables as long as their tables stay small, smallest first.
    fn eliminate_small(&mut self, small_table: usize) -> bool {
        let mut changed = false;
        let mut pending: Vec<u32> =
            (0..self.sizes.len() as u32).filter(|&v| self.alive[v as usize]).collect();
        pending.sort_by_key(|&v| self.around[v as usize].len());
        while !pending.is_empty() {
            let mut next = Vec::new();
            for v in pending {
                if self.alive[v as usize] && self.is_small(v, small_table) {
                    changed = true;
                    next.extend(self.eliminate(v));
                }
            }
            next.sort_unstable();
            next.dedup();
            pending = next;
        }
        changed
    }

    fn union_scope(&self, v: u32) -> Vec<u32> {
        let mut scope: Vec<u32> = self.around[v as usize]
            .iter()
            .filter_map(|&index| self.tables[index as usize].as_ref())
            .flat_map(|table| table.scope.iter().copied().filter(|&u| u != v))
            .collect();
        scope.sort_unstable();
        scope.dedup();
        scope
    }

    fn is_small(&self, v: u32, small_table: usize) -> bool {
        let around = &self.around[v as usize];
        if around.len() > 8 {
            return false;
        }
        let scope = self.union_scope(v);
        let tables = || around.iter().filter_map(|&index| self.tables[index as usize].as_ref());
        // Wider tables than before would blur the structure that message passing and tightening use.
        let widest = tables().map(|table| table.scope.len()).max().unwrap_or(0);
        if scope.len() > widest.max(2) {
            return false;
        }
        let Some(entries) =
            scope.iter().try_fold(1usize, |product, &u| product.checked_mul(self.sizes[u as usize]))
        else {
            return false;
        };
        let replaced: usize = tables().map(|table| table.scores.len()).sum();
        scope.len() <= 1
            || entries <= small_table
            || (scope.len() <= 3 && entries <= replaced && entries * self.sizes[v as usize] <= 1 << 22)
    }

    fn eliminate(&mut self, v: u32) -> Vec<u32> {
        let scope = self.union_scope(v);
        let indices = self.around[v as usize].clone();
        let tables: Vec<Table> = indices.into_iter().filter_map(|index| self.take(index)).collect();
        let extents: Vec<usize> = scope.iter().map(|&u| self.sizes[u as usize]).collect();
        let own_stride: Vec<usize> =
            tables.iter().map(|table| steps_within(&[v], &table.scope, &self.sizes)[0]).collect();
        let steps = tables.iter().map(|table| steps_within(&scope, &table.scope, &self.sizes)).collect();
        let mut walk = Walk::new(extents.clone(), steps);
        let entries = extents.iter().product();
        let mut scores = Vec::with_capacity(entries);
        let mut states = Vec::with_capacity(entries);
        for _ in 0..entries {
            let (mut best, mut chosen) = (f64::NEG_INFINITY, 0);
            for (state, &own) in self.unary[v as usize].iter().enumerate() {
                let mut sum = own;
                for ((table, offset), stride) in tables.iter().zip(&walk.offsets).zip(&own_stride) {
                    sum += table.scores[offset + state * stride];
                }
                if sum > best {
                    (best, chosen) = (sum, state);
                }
            }
            scores.push(best);
            states.push(chosen as u16);
            walk.advance();
        }
        self.alive[v as usize] = false;
        self.steps.push(Step::Eliminate { variable: v, scope: scope.clone(), extents, states });
        self.insert(Table { scope: scope.clone(), scores });
        scope
    }

    /// Replaces variables that are a function of a neighbour by that neighbour.
    fn substitute_functional(&mut self) -> bool {
        let mut changed = false;
        for index in 0..self.tables.len() as u32 {
            let Some(table) = &self.tables[index as usize] else {
                continue;
            };
            let [a, b] = *table.scope else { continue };
            if let Some(states) = function_of(table, &self.sizes, false)
                && self.worth_substituting(b, a)
            {
                self.substitute(b, a, states);
                changed = true;
            } else if let Some(states) = function_of(table, &self.sizes, true)
                && self.worth_substituting(a, b)
            {
                self.substitute(a, b, states);
                changed = true;
            }
        }
        changed
    }

    /// Tables grow by the ratio of the domains; that must stay modest.
    fn worth_substituting(&self, gone: u32, stays: u32) -> bool {
        let (small, large) = (self.sizes[gone as usize], self.sizes[stays as usize]);
        self.alive[gone as usize]
            && self.alive[stays as usize]
            && large <= 2 * small
            && self.around[gone as usize].iter().all(|&index| {
                self.tables[index as usize]
                    .as_ref()
                    .is_none_or(|table| table.scores.len() * large / small <= 1 << 16)
            })
    }

    fn substitute(&mut self, gone: u32, stays: u32, states: Vec<u16>) {
        let indices = self.around[gone as usize].clone();
        let tables: Vec<Table> = indices.into_iter().filter_map(|index| self.take(index)).collect();
        let inherited = std::mem::take(&mut self.unary[gone as usize]);
        for (own, &state) in self.unary[stays as usize].iter_mut().zip(&states) {
            *own += inherited[usize::from(state)];
        }
        self.freshen(stays as usize);
        for table in tables {
            let mut scope: Vec<u32> =
                table.scope.iter().copied().filter(|&u| u != gone && u != stays).collect();
            scope.push(stays);
            scope.sort_unstable();
            let gone_stride = steps_within(&[gone], &table.scope, &self.sizes)[0];
            let extents: Vec<usize> = scope.iter().map(|&u| self.sizes[u as usize]).collect();
            let at = scope.iter().position(|&u| u == stays).unwrap_or(0);
            let mut walk = Walk::new(extents.clone(), vec![steps_within(&scope, &table.scope, &self.sizes)]);
            let scores = (0..extents.iter().product())
                .map(|_| {
                    let state = usize::from(states[walk.digits[at]]);
                    let score = table.scores[walk.offsets[0] + state * gone_stride];
                    walk.advance();
                    score
                })
                .collect();
            self.insert(Table { scope, scores });
        }
        self.alive[gone as usize] = false;
        self.steps.push(Step::Eliminate {
            variable: gone,
            scope: vec![stays],
            extents: vec![self.sizes[stays as usize]],
            states,
        });
    }

    fn finish(self, parent: Option<Arc<Lift>>) -> (Network, Arc<Lift>) {
        let mut renamed = vec![u32::MAX; self.sizes.len()];
        let mut variables = Vec::new();
        for (v, name) in renamed.iter_mut().enumerate().filter(|&(v, _)| self.alive[v]) {
            *name = variables.len() as u32;
            variables.push(v as u32);
        }
        let network = Network {
            sizes: variables.iter().map(|&v| self.sizes[v as usize]).collect(),
            constant: self.constant,
            unary: variables.iter().map(|&v| self.unary[v as usize].clone()).collect(),
            tables: self
                .tables
                .into_iter()
                .flatten()
                .map(|table| Table {
                    scope: table.scope.iter().map(|&v| renamed[v as usize]).collect(),
                    scores: table.scores,
                })
                .collect(),
        };
        let lift = Lift { variables, count: self.sizes.len(), steps: self.steps, parent };
        (network, Arc::new(lift))
    }
}

/// Forbids the entries of a row that are worth `slack` or less together with the scores of their variables, `own` and one
/// of `others`; raises the best of each column, and returns that of the row.
fn prune_row(row: &mut [f64], own: f64, others: &[f64], slack: f64, best: &mut [f64]) -> f64 {
    const LANES: usize = 4;
    let prune = |score: &mut f64, other: f64, best: &mut f64, best_here: &mut f64| {
        let sum = *score + own + other;
        *score = if sum > slack { *score } else { f64::NEG_INFINITY };
        *best = larger(sum, *best);
        *best_here = larger(sum, *best_here);
    };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (rows, rest) = row.as_chunks_mut::<LANES>();
    let (columns, columns_rest) = others.as_chunks::<LANES>();
    let (bests, bests_rest) = best.as_chunks_mut::<LANES>();
    for ((row, others), best) in rows.iter_mut().zip(columns).zip(bests) {
        for lane in 0..LANES {
            prune(&mut row[lane], others[lane], &mut best[lane], &mut lanes[lane]);
        }
    }
    for ((score, &other), best) in rest.iter_mut().zip(columns_rest).zip(bests_rest) {
        prune(score, other, best, &mut lanes[0]);
    }
    lanes.into_iter().fold(f64::NEG_INFINITY, larger)
}

fn lower_to_zero(scores: &mut [f64]) -> Result<f64, Hopeless> {
    let top = maximum(scores);
    if top == f64::NEG_INFINITY {
        return Err(Hopeless);
    }
    if top != 0.0 {
        for score in scores {
            *score -= top;
        }
    }
    Ok(top)
}

/// The table restricted to the kept states, if not all are; variables with one state leave the scope.
pub(crate) fn restricted<'a>(
    table: &Table,
    sizes: &[usize],
    kept: impl Fn(usize) -> Option<&'a [u16]>,
) -> Table {
    if table.scope.iter().all(|&v| kept(v as usize).is_none()) {
        return table.clone();
    }
    let own = strides(&table.scope, sizes);
    let mut scope = Vec::new();
    let mut offsets = vec![0];
    for (&v, &stride) in table.scope.iter().zip(&own) {
        match kept(v as usize) {
            Some(&[state]) => {
                offsets.iter_mut().for_each(|offset| *offset += usize::from(state) * stride);
                continue;
            }
            Some(states) => offsets = spread(&offsets, states.iter().map(|&s| usize::from(s) * stride)),
            None => offsets = spread(&offsets, (0..sizes[v as usize]).map(|s| s * stride)),
        }
        scope.push(v);
    }
    Table { scope, scores: offsets.into_iter().map(|at| table.scores[at]).collect() }
}

/// All sums of an offset and a step, the steps fastest.
fn spread(offsets: &[usize], steps: impl ExactSizeIterator<Item = usize> + Clone) -> Vec<usize> {
    let mut sums = Vec::with_capacity(offsets.len() * steps.len());
    offsets.iter().for_each(|&offset| sums.extend(steps.clone().map(|step| offset + step)));
    sums
}

/// For each state of the one variable of a pair table, the only state of the other that is allowed with it,
/// if so. `backwards` asks for the first variable as a function of the second.
fn function_of(table: &Table, sizes: &[usize], backwards: bool) -> Option<Vec<u16>> {
    let (rows, columns) = (sizes[table.scope[0] as usize], sizes[table.scope[1] as usize]);
    let mut states = vec![u16::MAX; if backwards { columns } else { rows }];
    for (entry, &score) in table.scores.iter().enumerate() {
        if score > f64::NEG_INFINITY {
            let (i, j) = (entry / columns, entry % columns);
            let (from, to) = if backwards { (j, i) } else { (i, j) };
            if states[from] != u16::MAX {
                return None;
            }
            states[from] = to as u16;
        }
    }
    states.iter().all(|&state| state != u16::MAX).then_some(states)
}
