//! Sequential message passing: a monotone upper bound by moving score between overlapping tables.
//!
//! This is TRW-S (Kolmogorov 2006) in the form that serves tables of any order, SRMP (Kolmogorov 2015),
//! written as moves of score instead of messages. Tables and vectors stay at most zero and the constant is
//! the bound. A *child* (a variable, or a table whose scope lies within that of a larger one) first collects
//! what its parents are bound to lose for each of its states, keeps the maximum in the constant, and then
//! gives equal shares to the parents that have a later child, so that the information travels along the
//! order; the next sweep runs backwards. Collected states that fall below the incumbent are forbidden on the
//! way.

use super::limits::Limits;
use super::network::{Network, Walk, steps_within};
use crate::flat::Refill;
use crate::oracle::lanes::{larger, maximum};

/// How the entries of a parent map to those of a child.
enum Projection {
    /// Child is a variable: `outer` slabs of states, each `inner` entries long.
    Variable { inner: usize },
    /// Child is a table: entry of the child for each entry of the parent.
    Table(Vec<u32>),
}

struct Link {
    parent: u32,
    projection: Projection,
    /// Whether a later child of the parent exists (forwards), or an earlier one (backwards).
    onward: [bool; 2],
}

#[derive(Clone, Copy)]
enum Child {
    Variable(u32),
    Table(u32),
}

/// The order in which children take their turns, for one structure of tables.
pub(crate) struct Schedule {
    turns: Vec<(Child, Vec<Link>)>,
    collected: Vec<Vec<f64>>,
}

impl Schedule {
    pub(crate) fn new(network: &Network) -> Self {
        let around = network.incidence();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); network.tables.len()];
        for index in 0..network.tables.len() {
            let mut wider: Vec<u32> = supersets(network, &around, index).collect();
            wider.sort_by_key(|&other| network.tables[other as usize].scope.len());
            for &parent in &wider {
                let scope = &network.tables[parent as usize].scope;
                // Only maximal children: a table between the two would carry the message.
                let between = (wider.iter().map(|&other| &network.tables[other as usize].scope))
                    .take_while(|middle| middle.len() < scope.len())
                    .any(|middle| is_subset(middle, scope));
                if !between {
                    children[parent as usize].push(index as u32);
                }
            }
        }
        // Key of a turn: last variable of the child, tables before the variable itself.
        let mut turns: Vec<(u32, bool, Child)> =
            (0..network.sizes.len() as u32).map(|v| (v, true, Child::Variable(v))).collect();
        let mut parents_of_table: Vec<Vec<u32>> = vec![Vec::new(); network.tables.len()];
        let mut parents_of_variable: Vec<Vec<u32>> = vec![Vec::new(); network.sizes.len()];
        for (parent, children) in children.iter().enumerate() {
            for &child in children {
                parents_of_table[child as usize].push(parent as u32);
            }
            for &v in &network.tables[parent].scope {
                let covered = children.iter().any(|&c| network.tables[c as usize].scope.contains(&v));
                if !covered {
                    parents_of_variable[v as usize].push(parent as u32);
                }
            }
        }
        for (index, parents) in parents_of_table.iter().enumerate() {
            if !parents.is_empty() {
                let scope = &network.tables[index].scope;
                turns.push((scope[scope.len() - 1], false, Child::Table(index as u32)));
            }
        }
        turns.sort_by_key(|&(v, is_variable, child)| {
            (
                v,
                is_variable,
                match child {
                    Child::Variable(i) | Child::Table(i) => i,
                },
            )
        });
        let mut first = vec![usize::MAX; network.tables.len()];
        let mut last = vec![0; network.tables.len()];
        let parents_of = |child: Child| match child {
            Child::Variable(v) => &parents_of_variable[v as usize],
            Child::Table(t) => &parents_of_table[t as usize],
        };
        for (turn, &(_, _, child)) in turns.iter().enumerate() {
            for &parent in parents_of(child) {
                first[parent as usize] = first[parent as usize].min(turn);
                last[parent as usize] = turn;
            }
        }
        let mut widest = 0;
        let turns: Vec<(Child, Vec<Link>)> = turns
            .iter()
            .enumerate()
            .map(|(turn, &(_, _, child))| {
                let links: Vec<Link> = parents_of(child)
                    .iter()
                    .map(|&parent| Link {
                        parent,
                        projection: projection(network, parent, child),
                        onward: [turn < last[parent as usize], turn > first[parent as usize]],
                    })
                    .collect();
                widest = widest.max(links.len());
                (child, links)
            })
            .collect();
        Self { turns, collected: vec![Vec::new(); widest] }
    }

    /// One sweep forwards and one backwards. The network must be in normal form and stays so; `false` when
    /// it holds nothing above `cut`.
    pub(crate) fn sweep(&mut self, network: &mut Network, cut: f64, limits: &Limits) -> bool {
        for direction in 0..2 {
            let count = self.turns.len();
            for step in 0..count {
                let turn = if direction == 0 { step } else { count - 1 - step };
                if step % 64 == 0 && limits.expired() {
                    return true;
                }
                let (child, links) = &self.turns[turn];
                if !take_turn(network, *child, links, direction, &mut self.collected, cut) {
                    return false;
                }
            }
        }
        true
    }

    /// Moves what larger tables hold into the tables within them, and nothing further: the pair tables then
    /// show what their surroundings prefer.
    pub(crate) fn gather(&mut self, network: &mut Network) {
        for (child, links) in &self.turns {
            let Child::Table(own) = *child else { continue };
            for link in links {
                let marginals = &mut self.collected[0];
                let size = network.tables[own as usize].scores.len();
                let parent = &mut network.tables[link.parent as usize].scores;
                max_marginals(parent, &link.projection, size, marginals);
                for (marginal, own) in marginals.iter_mut().zip(&mut network.tables[own as usize].scores) {
                    *own += *marginal;
                    *marginal = if *marginal > f64::NEG_INFINITY { -*marginal } else { 0.0 };
                }
                let parent = &mut network.tables[link.parent as usize].scores;
                add_projected(parent, &link.projection, marginals);
            }
        }
    }
}

/// Collects, normalizes, prunes and distributes at one child.
fn take_turn(
    network: &mut Network,
    child: Child,
    links: &[Link],
    direction: usize,
    collected: &mut [Vec<f64>],
    cut: f64,
) -> bool {
    // The child's own scores move out for the duration of the turn.
    let mut own = match child {
        Child::Variable(v) => std::mem::take(&mut network.unary[v as usize]),
        Child::Table(t) => std::mem::take(&mut network.tables[t as usize].scores),
    };
    for (link, marginals) in links.iter().zip(collected.iter_mut()) {
        max_marginals(&network.tables[link.parent as usize].scores, &link.projection, own.len(), marginals);
        for (own, marginal) in own.iter_mut().zip(marginals.iter()) {
            *own += marginal;
        }
    }
    let top = maximum(&own);
    let mut alive = top > f64::NEG_INFINITY;
    if alive {
        network.constant += top;
        alive = network.constant > cut;
        let slack = cut - network.constant;
        for score in &mut own {
            *score -= top;
            if *score <= slack {
                *score = f64::NEG_INFINITY;
            }
        }
        let onward = links.iter().filter(|link| link.onward[direction]).count();
        let back = links.iter().filter(|link| link.onward[1 - direction]).count();
        let share = 1.0 / onward.max(back).max(1) as f64;
        for (link, marginals) in links.iter().zip(collected.iter_mut()) {
            let share = if link.onward[direction] { share } else { 0.0 };
            for (change, &score) in marginals.iter_mut().zip(&own) {
                // A forbidden state is forbidden in every parent as well.
                *change =
                    if score == f64::NEG_INFINITY { f64::NEG_INFINITY } else { share * score - *change };
            }
            add_projected(&mut network.tables[link.parent as usize].scores, &link.projection, marginals);
        }
        let kept = 1.0 - share * onward as f64;
        for score in &mut own {
            if *score > f64::NEG_INFINITY {
                *score *= kept.max(0.0);
            }
        }
    }
    match child {
        Child::Variable(v) => network.unary[v as usize] = own,
        Child::Table(t) => network.tables[t as usize].scores = own,
    }
    alive
}

fn max_marginals(scores: &[f64], projection: &Projection, size: usize, out: &mut Vec<f64>) {
    out.refill(size, f64::NEG_INFINITY);
    match (projection, &mut out[..]) {
        (Projection::Variable { inner: 1 }, [off, on]) => {
            for row in scores.as_chunks::<2>().0 {
                (*off, *on) = (larger(row[0], *off), larger(row[1], *on));
            }
        }
        (Projection::Variable { inner: 2 }, [off, on]) => {
            for slab in scores.as_chunks::<4>().0 {
                *off = larger(larger(slab[0], slab[1]), *off);
                *on = larger(larger(slab[2], slab[3]), *on);
            }
        }
        (Projection::Variable { inner: 1 }, out) => {
            for row in scores.chunks_exact(size) {
                for (best, &score) in out.iter_mut().zip(row) {
                    *best = larger(score, *best);
                }
            }
        }
        (Projection::Variable { inner }, out) => {
            for slab in scores.chunks_exact(size * inner) {
                for (best, row) in out.iter_mut().zip(slab.chunks_exact(*inner)) {
                    *best = larger(maximum(row), *best);
                }
            }
        }
        (Projection::Table(entries), out) => {
            for (&score, &entry) in scores.iter().zip(entries) {
                let best = &mut out[entry as usize];
                *best = larger(score, *best);
            }
        }
    }
}

fn add_projected(scores: &mut [f64], projection: &Projection, change: &[f64]) {
    match (projection, change) {
        (Projection::Variable { inner: 1 }, &[off, on]) => {
            for row in scores.as_chunks_mut::<2>().0 {
                *row = [row[0] + off, row[1] + on];
            }
        }
        (Projection::Variable { inner: 2 }, &[off, on]) => {
            for slab in scores.as_chunks_mut::<4>().0 {
                *slab = [slab[0] + off, slab[1] + off, slab[2] + on, slab[3] + on];
            }
        }
        (Projection::Variable { inner: 1 }, change) => {
            for row in scores.chunks_exact_mut(change.len()) {
                for (score, change) in row.iter_mut().zip(change) {
                    *score += change;
                }
            }
        }
        (Projection::Variable { inner }, change) => {
            for slab in scores.chunks_exact_mut(change.len() * inner) {
                for (row, change) in slab.chunks_exact_mut(*inner).zip(change) {
                    for score in row {
                        *score += change;
                    }
                }
            }
        }
        (Projection::Table(entries), change) => {
            for (score, &entry) in scores.iter_mut().zip(entries) {
                *score += change[entry as usize];
            }
        }
    }
}

fn projection(network: &Network, parent: u32, child: Child) -> Projection {
    let scope = &network.tables[parent as usize].scope;
    match child {
        Child::Variable(v) => Projection::Variable {
            inner: scope.iter().rev().take_while(|&&u| u != v).map(|&u| network.sizes[u as usize]).product(),
        },
        Child::Table(t) => {
            let steps = steps_within(scope, &network.tables[t as usize].scope, &network.sizes);
            let mut walk = Walk::new(scope.iter().map(|&u| network.sizes[u as usize]).collect(), vec![steps]);
            let entries = (0..network.tables[parent as usize].scores.len())
                .map(|_| {
                    let entry = walk.offsets[0] as u32;
                    walk.advance();
                    entry
                })
                .collect();
            Projection::Table(entries)
        }
    }
}

/// Tables whose scope properly contains that of table `index`.
fn supersets<'a>(
    network: &'a Network,
    around: &'a [Vec<u32>],
    index: usize,
) -> impl Iterator<Item = u32> + 'a {
    let scope = &network.tables[index].scope;
    let rarest = scope.iter().min_by_key(|&&v| around[v as usize].len()).map_or(0, |&v| v as usize);
    around[rarest].iter().copied().filter(move |&other| {
        let wider = &network.tables[other as usize].scope;
        wider.len() > scope.len() && is_subset(scope, wider)
    })
}

/// Whether the sorted `narrow` lies within the sorted `wide`.
pub(crate) fn is_subset(narrow: &[u32], wide: &[u32]) -> bool {
    let mut wide = wide.iter();
    narrow.iter().all(|v| wide.any(|w| w == v))
}

/// A complete assignment read off a network in normal form, variable by variable: each takes the
/// state that loses least in its tables, given the earlier ones and the best case for the later.
/// Also tells by how much each beats the next best.
pub(crate) fn decode(network: &Network, around: &[Vec<u32>]) -> (Vec<usize>, Vec<f64>) {
    let mut assignment = vec![usize::MAX; network.sizes.len()];
    let mut margins = vec![0.0; network.sizes.len()];
    let mut totals = Vec::new();
    let mut best = Vec::new();
    for v in 0..network.sizes.len() {
        totals.clear();
        totals.extend_from_slice(&network.unary[v]);
        for &index in &around[v] {
            let table = &network.tables[index as usize];
            best.refill(network.sizes[v], f64::NEG_INFINITY);
            conditional_best(network, table, v as u32, &assignment, &mut best);
            for (total, best) in totals.iter_mut().zip(&best) {
                *total += best;
            }
        }
        let mut chosen = 0;
        for (state, &total) in totals.iter().enumerate() {
            // Where everything is forbidden, at least the variable's own score decides.
            let better = total > totals[chosen]
                || (total == f64::NEG_INFINITY
                    && totals[chosen] == f64::NEG_INFINITY
                    && network.unary[v][state] > network.unary[v][chosen]);
            if better {
                chosen = state;
            }
        }
        assignment[v] = chosen;
        let rest = totals.iter().enumerate().filter(|&(state, _)| state != chosen);
        let second = rest.map(|(_, &total)| total).fold(f64::NEG_INFINITY, f64::max);
        margins[v] = if totals[chosen] > f64::NEG_INFINITY { totals[chosen] - second } else { 0.0 };
    }
    (assignment, margins)
}

/// For each state of `v`, the best entry of `table` that agrees with the states assigned so far.
fn conditional_best(
    network: &Network,
    table: &super::network::Table,
    v: u32,
    assignment: &[usize],
    best: &mut [f64],
) {
    if let [a, b] = *table.scope {
        let width = network.sizes[b as usize];
        let other = if a == v { b } else { a };
        let fixed = assignment[other as usize];
        for (state, best) in best.iter_mut().enumerate() {
            let at = |free: usize| if a == v { state * width + free } else { free * width + state };
            if fixed != usize::MAX {
                *best = table.scores[at(fixed)];
            } else {
                for free in 0..network.sizes[other as usize] {
                    *best = best.max(table.scores[at(free)]);
                }
            }
        }
        return;
    }
    let mut walk = Walk::new(table.scope.iter().map(|&u| network.sizes[u as usize]).collect(), Vec::new());
    for &score in &table.scores {
        let mut state = 0;
        let agrees = walk.digits.iter().zip(&table.scope).all(|(&digit, &u)| {
            if u == v {
                state = digit;
                true
            } else {
                assignment[u as usize] == usize::MAX || assignment[u as usize] == digit
            }
        });
        if agrees {
            best[state] = best[state].max(score);
        }
        walk.advance();
    }
}
