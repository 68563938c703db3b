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
    /// Child is a table without variables that lie side by side in the parent: `outer` slabs of their `joint`
    /// states, each `inner` entries long.
    Without { joint: usize, inner: usize },
    /// Child is a table over two variables of four, all with two states: where the other two lie, the faster
    /// first, the slower once that is gone.
    TwoOfFour([usize; 2]),
    /// Child is any other table: entry of the child for each entry of the parent.
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

/// A child with its parents.
struct Turn {
    child: Child,
    links: Vec<Link>,
    /// What a parent that has a later child is given, by direction.
    share: f64,
    /// What the child keeps, by direction.
    kept: [f64; 2],
}

/// The order in which children take their turns, for one structure of tables.
pub(crate) struct Schedule {
    turns: Vec<Turn>,
    collected: Vec<Vec<f64>>,
    /// The same for children of two and four states, which stay in registers.
    twos: Vec<[f64; 2]>,
    fours: Vec<[f64; 4]>,
}

/// The scores of a child for the duration of its turn.
trait Scores: AsMut<[f64]> + AsRef<[f64]> {
    fn take(from: &mut Vec<f64>) -> Self;
    fn put(self, to: &mut Vec<f64>);
    fn ready(&mut self, size: usize);
}

impl Scores for Vec<f64> {
    fn take(from: &mut Vec<f64>) -> Self {
        std::mem::take(from)
    }

    fn put(self, to: &mut Vec<f64>) {
        *to = self;
    }

    fn ready(&mut self, size: usize) {
        self.refill(size, f64::NEG_INFINITY);
    }
}

impl<const N: usize> Scores for [f64; N] {
    #[inline(always)]
    fn take(from: &mut Vec<f64>) -> Self {
        *from.first_chunk().expect("children are told apart by their size")
    }

    #[inline(always)]
    fn put(self, to: &mut Vec<f64>) {
        to.copy_from_slice(&self);
    }

    #[inline(always)]
    fn ready(&mut self, _: usize) {
        *self = [f64::NEG_INFINITY; N];
    }
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
        let turns: Vec<Turn> = turns
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
                let onward = [0, 1].map(|to| links.iter().filter(|link: &&Link| link.onward[to]).count());
                let share = 1.0 / onward[0].max(onward[1]).max(1) as f64;
                let kept = onward.map(|onward| (1.0 - share * onward as f64).max(0.0));
                Turn { child, links, share, kept }
            })
            .collect();
        let (twos, fours) = (vec![[0.0; 2]; widest], vec![[0.0; 4]; widest]);
        Self { turns, collected: vec![Vec::new(); widest], twos, fours }
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
                let turn = &self.turns[turn];
                let size = turn.child.scores(network).len();
                let alive = match size {
                    2 => turn.take(network, direction, &mut self.twos, cut),
                    4 => turn.take(network, direction, &mut self.fours, cut),
                    _ => turn.take(network, direction, &mut self.collected, cut),
                };
                if !alive {
                    return false;
                }
            }
        }
        true
    }

    /// Moves what larger tables hold into the tables within them, and nothing further: the pair tables then
    /// show what their surroundings prefer.
    pub(crate) fn gather(&mut self, network: &mut Network) {
        for Turn { child, links, .. } in &self.turns {
            let Child::Table(own) = *child else { continue };
            for link in links {
                let marginals = &mut self.collected[0];
                marginals.ready(network.tables[own as usize].scores.len());
                let parent = &mut network.tables[link.parent as usize].scores;
                max_marginals(parent, &link.projection, marginals);
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

impl Child {
    fn scores(self, network: &mut Network) -> &mut Vec<f64> {
        match self {
            Child::Variable(v) => &mut network.unary[v as usize],
            Child::Table(t) => &mut network.tables[t as usize].scores,
        }
    }
}

impl Turn {
    /// Collects, normalizes, prunes and distributes.
    #[inline]
    fn take<S: Scores>(
        &self,
        network: &mut Network,
        direction: usize,
        collected: &mut [S],
        cut: f64,
    ) -> bool {
        // The child's own scores move out for the duration of the turn.
        let mut held = S::take(self.child.scores(network));
        let own = held.as_mut();
        for (link, marginals) in self.links.iter().zip(collected.iter_mut()) {
            marginals.ready(own.len());
            let marginals = marginals.as_mut();
            max_marginals(&network.tables[link.parent as usize].scores, &link.projection, marginals);
            for (own, marginal) in own.iter_mut().zip(marginals) {
                *own += *marginal;
            }
        }
        let top = maximum(own);
        let mut alive = top > f64::NEG_INFINITY;
        if alive {
            network.constant += top;
            alive = network.constant > cut;
            let slack = cut - network.constant;
            for score in own.iter_mut() {
                let lowered = *score - top;
                *score = if lowered <= slack { f64::NEG_INFINITY } else { lowered };
            }
            for (link, marginals) in self.links.iter().zip(collected) {
                let share = if link.onward[direction] { self.share } else { 0.0 };
                let marginals = marginals.as_mut();
                for (change, &score) in marginals.iter_mut().zip(&*own) {
                    // A forbidden state is forbidden in every parent as well.
                    let given = share * score - *change;
                    *change = if score > f64::NEG_INFINITY { given } else { f64::NEG_INFINITY };
                }
                let parent = &mut network.tables[link.parent as usize].scores;
                add_projected(parent, &link.projection, marginals);
            }
            let kept = self.kept[direction];
            for score in own.iter_mut() {
                *score = if *score > f64::NEG_INFINITY { kept * *score } else { *score };
            }
        }
        held.put(self.child.scores(network));
        alive
    }
}

/// The best of each two entries that differ in the state of one variable, whose states lie `inner` apart.
#[inline(always)]
fn halve<const FROM: usize, const TO: usize>(scores: &[f64; FROM], inner: usize) -> [f64; TO] {
    #[inline(always)]
    fn at<const FROM: usize, const TO: usize>(scores: &[f64; FROM], inner: usize) -> [f64; TO] {
        std::array::from_fn(|i| {
            let below = i & (inner - 1);
            let at = 2 * (i - below) + below;
            larger(scores[at], scores[at + inner])
        })
    }
    // The compiler wants to know the place.
    match inner {
        1 => at(scores, 1),
        2 => at(scores, 2),
        4 => at(scores, 4),
        _ => at(scores, FROM / 2),
    }
}

/// Each entry for both states of one more variable, whose states lie `inner` apart.
#[inline(always)]
fn double<const FROM: usize, const TO: usize>(scores: &[f64; FROM], inner: usize) -> [f64; TO] {
    #[inline(always)]
    fn at<const FROM: usize, const TO: usize>(scores: &[f64; FROM], inner: usize) -> [f64; TO] {
        std::array::from_fn(|i| {
            let below = i & (inner - 1);
            scores[(i - below) / 2 / inner * inner + below]
        })
    }
    match inner {
        1 => at(scores, 1),
        2 => at(scores, 2),
        4 => at(scores, 4),
        _ => at(scores, FROM),
    }
}

#[inline(always)]
fn add<const N: usize>(scores: &mut [f64], change: &[f64; N]) {
    let scores: &mut [f64; N] = scores.try_into().expect("a change for each entry");
    for (score, change) in scores.iter_mut().zip(change) {
        *score += change;
    }
}

/// Raises `out` to the best entries of a parent.
#[inline(always)]
fn max_marginals(scores: &[f64], projection: &Projection, out: &mut [f64]) {
    let size = out.len();
    match (projection, out) {
        // One of two variables with two states: the other goes.
        (&Projection::Variable { inner }, out @ [_, _]) if scores.len() == 4 => {
            let four = scores.try_into().expect("four");
            out.copy_from_slice(&halve::<4, 2>(four, 3 - inner));
        }
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
        (&Projection::Without { joint: 2, inner }, out @ [_, _, _, _]) if scores.len() == 8 => {
            let eight = scores.try_into().expect("eight");
            out.copy_from_slice(&halve::<8, 4>(eight, inner));
        }
        (&Projection::TwoOfFour([first, second]), out) => {
            let sixteen = scores.try_into().expect("four variables of two states");
            out.copy_from_slice(&halve::<8, 4>(&halve::<16, 8>(sixteen, first), second));
        }
        (&Projection::Without { joint, inner: 1 }, out) => {
            for (best, row) in out.iter_mut().zip(scores.chunks_exact(joint)) {
                *best = maximum(row);
            }
        }
        (&Projection::Without { joint, inner }, out) => {
            for (out, slab) in out.chunks_exact_mut(inner).zip(scores.chunks_exact(joint * inner)) {
                for row in slab.chunks_exact(inner) {
                    for (best, &score) in out.iter_mut().zip(row) {
                        *best = larger(score, *best);
                    }
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

#[inline(always)]
fn add_projected(scores: &mut [f64], projection: &Projection, change: &[f64]) {
    match (projection, change) {
        (&Projection::Variable { inner }, change @ [_, _]) if scores.len() == 4 => {
            let change: &[f64; 2] = change.try_into().expect("two");
            add(scores, &double::<2, 4>(change, 3 - inner));
        }
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
        (&Projection::Without { joint: 2, inner }, change @ [_, _, _, _]) if scores.len() == 8 => {
            let change: &[f64; 4] = change.try_into().expect("four");
            add(scores, &double::<4, 8>(change, inner));
        }
        (&Projection::TwoOfFour([first, second]), change) => {
            let change: &[f64; 4] = change.try_into().expect("two variables of two states");
            add(scores, &double::<8, 16>(&double::<4, 8>(change, second), first));
        }
        (&Projection::Without { joint, inner: 1 }, change) => {
            for (row, change) in scores.chunks_exact_mut(joint).zip(change) {
                for score in row {
                    *score += change;
                }
            }
        }
        (&Projection::Without { joint, inner }, change) => {
            for (slab, change) in scores.chunks_exact_mut(joint * inner).zip(change.chunks_exact(inner)) {
                for row in slab.chunks_exact_mut(inner) {
                    for (score, change) in row.iter_mut().zip(change) {
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
            let narrow = &network.tables[t as usize].scope;
            if scope.len() == 4 && narrow.len() == 2 && scope.iter().all(|&u| network.sizes[u as usize] == 2)
            {
                let places = (0..4).rev().filter(|&place| !narrow.contains(&scope[place]));
                let [first, second] = [0, 1].map(|n| 1 << (3 - places.clone().nth(n).unwrap_or(0)));
                return Projection::TwoOfFour([first, second >> 1]);
            }
            let states = |scope: &[u32]| scope.iter().map(|&u| network.sizes[u as usize]).product();
            // What both begin with, and what both end with.
            let before = scope.iter().zip(narrow).take_while(|(u, w)| u == w).count();
            let after =
                scope[before..].iter().rev().zip(narrow.iter().rev()).take_while(|(u, w)| u == w).count();
            if before + after >= narrow.len() {
                let inner = scope.len() - (narrow.len() - before);
                return Projection::Without {
                    joint: states(&scope[before..inner]),
                    inner: states(&scope[inner..]),
                };
            }
            let steps = steps_within(scope, narrow, &network.sizes);
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
        let fixed = assignment[if a == v { b } else { a } as usize];
        let rows = table.scores.chunks_exact(width);
        match (a == v, fixed) {
            (true, usize::MAX) => best.iter_mut().zip(rows).for_each(|(best, row)| *best = maximum(row)),
            (true, fixed) => best.iter_mut().zip(rows).for_each(|(best, row)| *best = row[fixed]),
            (false, usize::MAX) => {
                for row in rows {
                    best.iter_mut().zip(row).for_each(|(best, &score)| *best = larger(score, *best));
                }
            }
            (false, fixed) => best.copy_from_slice(&table.scores[fixed * width..][..width]),
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
