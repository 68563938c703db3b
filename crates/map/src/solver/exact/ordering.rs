//! Elimination orders and what they would cost.
//!
//! Finding the best order is as hard as the problem itself, so a few greedy rules compete:
//! smallest resulting table, fewest new neighbours, and two sweeps over the variables (as numbered, and
//! breadth-first from a border), which are what grids and chains want.

use super::limits::Limits;
use super::network::Network;
use crate::solver::primal::Dice;
use std::collections::BinaryHeap;

/// An order with its cost in table entries.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Variables, first eliminated first.
    pub(crate) variables: Vec<u32>,
    /// Entries visited in all buckets together, as a float since products overflow.
    pub(crate) work: f64,
}

/// The cheapest order found whose work stays within `limit`, if any.
///
/// `thorough` also tries the fill rule and the sweeps; without it only the smallest-table rule
/// runs, which is what a search node can afford.
pub(crate) fn best_order(network: &Network, limit: f64, thorough: bool, limits: &Limits) -> Option<Order> {
    let mut best = greedy(Interaction::new(network), limit, Rule::SmallestTable, || limits.expired());
    if thorough {
        let mut ceiling = best.as_ref().map_or(limit, |order| order.work);
        let mut challenge = |order: Option<Order>| {
            if let Some(order) = order
                && order.work <= ceiling
            {
                ceiling = order.work;
                best = Some(order);
            }
            ceiling
        };
        let natural: Vec<u32> = (0..network.sizes.len() as u32).collect();
        let ceiling = challenge(follow(network, limit, natural));
        let ceiling = challenge(follow(network, ceiling, breadth_first(network)));
        // A search for a better order must not cost more than it can save.
        let checks = pair_checks(network);
        if checks <= 3e7 && ceiling > checks {
            let graph = Interaction::new(network).with_rows();
            challenge(greedy(graph, ceiling, Rule::LeastFill, || limits.expired()));
        }
    }
    best
}

/// Pairs of neighbours over all variables: what one look at every neighbourhood costs.
pub(crate) fn pair_checks(network: &Network) -> f64 {
    let mut degrees = vec![0.0; network.sizes.len()];
    for table in &network.tables {
        for &v in &table.scope {
            degrees[v as usize] += table.scope.len() as f64 - 1.0;
        }
    }
    degrees.iter().map(|degree| degree * degree).sum()
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    SmallestTable,
    LeastFill,
}

/// The order in which the variable with the smallest table goes next, if its work stays within `limit`.
pub(crate) fn smallest_tables<'a>(
    sizes: &[usize],
    scopes: impl Iterator<Item = &'a [u32]>,
    limit: f64,
) -> Option<Order> {
    greedy(Interaction::over(sizes, scopes), limit, Rule::SmallestTable, || false)
}

/// Variables up to which neighbours are also kept as rows of bits.
const MOST_ROWS: usize = 4096;

/// Neighbour lists that change as variables go.
struct Interaction<'a> {
    sizes: &'a [usize],
    neighbours: Vec<Vec<u32>>,
    /// The same as bits, `words` for each variable, once asked for and where variables are few.
    rows: Vec<u64>,
    words: usize,
}

impl<'a> Interaction<'a> {
    fn new(network: &'a Network) -> Self {
        Self::over(&network.sizes, network.tables.iter().map(|table| &table.scope[..]))
    }

    fn over<'s>(sizes: &'a [usize], scopes: impl Iterator<Item = &'s [u32]>) -> Self {
        let mut neighbours = vec![Vec::new(); sizes.len()];
        for scope in scopes {
            for &v in scope {
                neighbours[v as usize].extend(scope.iter().filter(|&&u| u != v));
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { sizes, neighbours, rows: Vec::new(), words: 0 }
    }

    /// Keeps rows of bits, in which common neighbours are counted quickly.
    fn with_rows(mut self) -> Self {
        if self.sizes.len() <= MOST_ROWS {
            self.words = self.sizes.len().div_ceil(64);
            self.rows = vec![0; self.words * self.sizes.len()];
            for v in 0..self.sizes.len() {
                self.write_row(v);
            }
        }
        self
    }

    fn write_row(&mut self, v: usize) {
        let row = &mut self.rows[v * self.words..(v + 1) * self.words];
        row.fill(0);
        self.neighbours[v].iter().for_each(|&u| row[u as usize / 64] |= 1 << (u % 64));
    }

    fn row(&self, v: usize) -> &[u64] {
        &self.rows[v * self.words..(v + 1) * self.words]
    }

    /// Entries of the bucket of `v`, itself included.
    fn weight(&self, v: usize) -> f64 {
        self.neighbours[v]
            .iter()
            .fold(self.sizes[v] as f64, |product, &u| product * self.sizes[u as usize] as f64)
    }

    /// Pairs of neighbours that elimination would join.
    fn fill(&self, v: usize) -> f64 {
        let own = &self.neighbours[v];
        let common = |u: usize| match self.words {
            0 => shared(own, &self.neighbours[u]),
            _ => self.row(v).iter().zip(self.row(u)).map(|(a, b)| (a & b).count_ones() as usize).sum(),
        };
        own.iter().map(|&u| own.len() - 1 - common(u as usize)).sum::<usize>() as f64
    }

    /// Removes `v`, joining its neighbours, which are returned.
    fn eliminate(&mut self, v: usize) -> Vec<u32> {
        let own = std::mem::take(&mut self.neighbours[v]);
        for &u in &own {
            let merged = merge_without(&self.neighbours[u as usize], &own, u, v as u32);
            self.neighbours[u as usize] = merged;
            if self.words > 0 {
                self.write_row(u as usize);
            }
        }
        own
    }

    /// Removes `v` without joining its neighbours, which are returned.
    fn remove(&mut self, v: usize) -> Vec<u32> {
        let own = std::mem::take(&mut self.neighbours[v]);
        for &u in &own {
            self.neighbours[u as usize].retain(|&w| w as usize != v);
        }
        own
    }
}

fn shared(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

fn merge_without(a: &[u32], b: &[u32], skip: u32, also: u32) -> Vec<u32> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (None, Some(&y)) => y,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != skip && next != also {
            out.push(next);
        }
    }
    out
}

/// Two keys, a variable and the version of its keys; the smallest comes out first.
#[derive(PartialEq)]
struct Entry(f64, f64, u32, u32);
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.0.total_cmp(&self.0))
            .then(other.1.total_cmp(&self.1))
            .then(other.2.cmp(&self.2))
            .then(other.3.cmp(&self.3))
    }
}

/// Greedy order with a lazy heap: stale keys are recognized by their version. Nothing once `expired` says so.
fn greedy(mut graph: Interaction, limit: f64, rule: Rule, expired: impl Fn() -> bool) -> Option<Order> {
    let count = graph.sizes.len();
    let key = |graph: &Interaction, v: usize| match rule {
        Rule::SmallestTable => (graph.weight(v), 0.0),
        Rule::LeastFill => (graph.fill(v), graph.weight(v)),
    };
    let mut version = vec![0u32; count];
    let mut gone = vec![false; count];
    let mut heap = BinaryHeap::with_capacity(count);
    for v in 0..count {
        let (first, second) = key(&graph, v);
        heap.push(Entry(first, second, v as u32, 0));
    }
    let mut order = Order { variables: Vec::with_capacity(count), work: 0.0 };
    let mut touched_at = vec![0u32; count];
    let mut round = 0;
    while let Some(Entry(_, _, v, stamp)) = heap.pop() {
        let v = v as usize;
        if gone[v] || version[v] != stamp {
            continue;
        }
        order.work += graph.weight(v);
        if order.work > limit || (round % 64 == 0 && expired()) {
            return None;
        }
        order.variables.push(v as u32);
        gone[v] = true;
        let joined = graph.eliminate(v);
        round += 1;
        let mut touch = |u: usize, graph: &Interaction, heap: &mut BinaryHeap<Entry>| {
            if touched_at[u] != round {
                touched_at[u] = round;
                version[u] += 1;
                let (first, second) = key(graph, u);
                heap.push(Entry(first, second, u as u32, version[u]));
            }
        };
        for &u in &joined {
            touch(u as usize, &graph, &mut heap);
            if rule == Rule::LeastFill {
                for index in 0..graph.neighbours[u as usize].len() {
                    touch(graph.neighbours[u as usize][index] as usize, &graph, &mut heap);
                }
            }
        }
    }
    Some(order)
}

/// An elimination order of most variables in which no bucket exceeds `bucket` entries: where none would
/// fit, the busiest neighbour is held fixed instead. Some are held at random from the start, so that
/// repeated calls hold different ones.
pub(crate) fn bounded_order(network: &Network, bucket: f64, dice: &mut Dice) -> Vec<u32> {
    let mut graph = Interaction::new(network);
    let count = network.sizes.len();
    let mut version = vec![0u32; count];
    let mut gone = vec![false; count];
    for _ in 0..1 + count / 50 {
        let v = dice.below(count);
        if !gone[v] {
            gone[v] = true;
            graph.remove(v);
        }
    }
    let mut heap = BinaryHeap::with_capacity(count);
    let mut order = Vec::with_capacity(count);
    for v in (0..count).filter(|&v| !gone[v]) {
        heap.push(Entry(graph.weight(v), dice.below(1 << 16) as f64, v as u32, 0));
    }
    while let Some(Entry(weight, _, v, stamp)) = heap.pop() {
        let v = v as usize;
        if gone[v] || version[v] != stamp {
            continue;
        }
        let touched = if weight <= bucket {
            gone[v] = true;
            order.push(v as u32);
            graph.eliminate(v)
        } else {
            let busiest = graph.neighbours[v]
                .iter()
                .map(|&u| u as usize)
                .fold(v, |best, u| if graph.weight(u) > graph.weight(best) { u } else { best });
            gone[busiest] = true;
            graph.remove(busiest)
        };
        for u in touched {
            let u = u as usize;
            version[u] += 1;
            heap.push(Entry(graph.weight(u), dice.below(1 << 16) as f64, u as u32, version[u]));
        }
        if !gone[v] {
            version[v] += 1;
            heap.push(Entry(graph.weight(v), 0.0, v as u32, version[v]));
        }
    }
    order
}

/// Cost of a given order.
fn follow(network: &Network, limit: f64, variables: Vec<u32>) -> Option<Order> {
    let mut graph = Interaction::new(network);
    let mut work = 0.0;
    for &v in &variables {
        work += graph.weight(v as usize);
        if work > limit {
            return None;
        }
        graph.eliminate(v as usize);
    }
    Some(Order { variables, work })
}

/// Breadth-first order from a variable far from the others, fewest neighbours first
/// (Cuthill and McKee).
pub(crate) fn breadth_first(network: &Network) -> Vec<u32> {
    let graph = Interaction::new(network);
    let count = network.sizes.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    let mut mark = vec![0u32; count];
    let mut round = 0;
    for first in 0..count {
        if seen[first] {
            continue;
        }
        let mut start = first;
        for _ in 0..3 {
            round += 1;
            let mut reached = vec![start as u32];
            mark[start] = round;
            let mut next = 0;
            while next < reached.len() {
                for &u in &graph.neighbours[reached[next] as usize] {
                    if std::mem::replace(&mut mark[u as usize], round) != round {
                        reached.push(u);
                    }
                }
                next += 1;
            }
            start = reached[reached.len() - 1] as usize;
        }
        let mut next = order.len();
        order.push(start as u32);
        seen[start] = true;
        while next < order.len() {
            let mut fresh: Vec<u32> = graph.neighbours[order[next] as usize]
                .iter()
                .copied()
                .filter(|&u| !seen[u as usize])
                .collect();
            fresh.sort_by_key(|&u| graph.neighbours[u as usize].len());
            for u in fresh {
                seen[u as usize] = true;
                order.push(u);
            }
            next += 1;
        }
    }
    order
}
