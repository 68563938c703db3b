//! The k best sequences, exactly.
//!
//! The recursive enumeration algorithm (Jiménez & Marzal 1999): after one Viterbi pass, the next best way
//! into a state is either another predecessor's best or the next best way into the predecessor last used.
//! Only the states on the way of the paths returned are ever opened.

use super::chain::Chain;
use super::error::{InferenceError, Result};
use super::transitions::{Dense, Kind};
use super::trellis::Trellis;
use super::viterbi::grams::GramSearch;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A labelling with its score.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoredPath {
    /// One label for each position.
    pub labels: Vec<u32>,
    /// Sum of the scores along the path.
    pub score: f64,
}

/// One way into a state: the `rank`-th best way into a predecessor, and the step from there.
#[derive(Debug, Clone, Copy)]
struct Way {
    value: f64,
    predecessor: u32,
    rank: u32,
}

impl Ord for Way {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value
            .total_cmp(&other.value)
            .then(other.predecessor.cmp(&self.predecessor))
            .then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Way {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Way {}

/// A state whose ways are being enumerated: those found, best first, and those that may come next.
#[derive(Debug, Clone, Default)]
struct Opened {
    found: Vec<Way>,
    next: BinaryHeap<Way>,
}

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct KBestSearch {
    trellis: Trellis,
    best: Vec<f64>,
    /// Opened states by index in the trellis; the end of the sentence counts as the index after the last.
    opened: FxHashMap<u32, u32>,
    pool: Vec<Opened>,
    used: usize,
    ways: Vec<Way>,
    descent: Vec<(usize, u32)>,
}

impl KBestSearch {
    pub(crate) fn run(
        &mut self,
        chain: &Chain,
        search: &mut GramSearch,
        k: usize,
        paths: &mut Vec<ScoredPath>,
    ) -> Result<()> {
        if k == 0 {
            return Err(InferenceError::Zero { what: "the number of best paths" });
        }
        if chain.is_empty() {
            paths.truncate(1);
            paths.resize_with(1, ScoredPath::default);
            paths[0].labels.clear();
            paths[0].score = 0.0;
            return Ok(());
        }
        match &chain.transitions.kind {
            Kind::Dense(dense) => self.fill_dense(chain, dense)?,
            Kind::Grams(grams) => search.run(chain, grams, false, &mut self.trellis)?,
        }
        self.trellis.best_end(chain)?;
        self.opened.clear();
        self.used = 0;
        let end = self.trellis.state.len() as u32;
        let mut found = 0;
        self.open(chain, chain.len(), end, k);
        while found < k && (found == 0 || self.advance(chain, end, k)) {
            if paths.len() == found {
                paths.push(ScoredPath::default());
            }
            self.trace(chain, end, found, &mut paths[found].labels);
            paths[found].score = chain.prefix_score(&paths[found].labels);
            found += 1;
        }
        paths.truncate(found);
        Ok(())
    }

    /// The Viterbi pass in `f64` over allowed labels.
    fn fill_dense(&mut self, chain: &Chain, dense: &Dense) -> Result<()> {
        let labels = chain.labels();
        self.trellis.open(chain)?;
        self.best.resize(labels, 0.0);
        for position in 1..chain.len() {
            self.best.fill(f64::NEG_INFINITY);
            for index in self.trellis.column(position - 1) {
                let (source, value) = (self.trellis.state[index] as usize, self.trellis.value[index]);
                let edges = chain.edge_row(position, source);
                for (label, (best, &score)) in self.best.iter_mut().zip(dense.row(source)).enumerate() {
                    let step = score as f64 + edges.map_or(0.0, |row| row[label] as f64);
                    *best = if value + step > *best { value + step } else { *best };
                }
            }
            let before = self.trellis.state.len();
            for label in chain.allowed(position).iter() {
                let value = self.best[label as usize] + chain.node(position, label);
                if value > f64::NEG_INFINITY {
                    self.trellis.push(label, value);
                }
            }
            self.trellis.close_column();
            if self.trellis.state.len() == before {
                return Err(InferenceError::NoAllowedSequence { position });
            }
        }
        Ok(())
    }

    /// Lists the ways into an entry of column `position` (or into the end of the sentence) and finds the
    /// best.
    fn open(&mut self, chain: &Chain, position: usize, entry: u32, k: usize) -> u32 {
        if let Some(&slot) = self.opened.get(&entry) {
            return slot;
        }
        self.ways.clear();
        if position == 0 {
            let value = self.trellis.value[entry as usize];
            self.ways.push(Way { value, predecessor: u32::MAX, rank: 0 });
        } else {
            for index in self.trellis.column(position - 1) {
                if let Some(step) = self.step(chain, position, index, entry) {
                    let value = self.trellis.value[index] + step;
                    self.ways.push(Way { value, predecessor: index as u32, rank: 0 });
                }
            }
            // No more than k ways can ever be asked for.
            if self.ways.len() > k {
                self.ways.select_nth_unstable_by(k - 1, |a, b| b.cmp(a));
                self.ways.truncate(k);
            }
        }
        let slot = self.used;
        self.used += 1;
        if self.pool.len() == slot {
            self.pool.push(Opened::default());
        }
        let opened = &mut self.pool[slot];
        opened.found.clear();
        opened.next.clear();
        opened.next.extend(self.ways.drain(..));
        opened.found.extend(opened.next.pop());
        self.opened.insert(entry, slot as u32);
        slot as u32
    }

    /// Score of the step from one trellis entry to another, if there is such a step.
    fn step(&self, chain: &Chain, position: usize, from: usize, to: u32) -> Option<f64> {
        let state = self.trellis.state[from];
        if position == chain.len() {
            return chain.transitions.allows_end(chain.label_of(state)).then_some(0.0);
        }
        let entered = self.trellis.state[to as usize];
        let label = chain.label_of(entered);
        let (target, score) = chain.arc(position, state, label);
        (target == entered && score > f64::NEG_INFINITY).then(|| score + chain.node(position, label))
    }

    /// Finds one more way into the end of the sentence; false when there is none.
    ///
    /// Goes down the last ways used until one whose successor is known, and answers on the way back: a
    /// recursion spelled out, because sentences may be longer than the stack is deep.
    fn advance(&mut self, chain: &Chain, end: u32, k: usize) -> bool {
        self.descent.clear();
        let (mut position, mut entry) = (chain.len(), end);
        loop {
            self.descent.push((position, entry));
            let slot = self.opened[&entry] as usize;
            let Some(&last) = self.pool[slot].found.last() else { break };
            if position == 0 {
                break;
            }
            let below = self.open(chain, position - 1, last.predecessor, k) as usize;
            if self.pool[below].found.len() > last.rank as usize + 1 {
                break;
            }
            position -= 1;
            entry = last.predecessor;
        }
        let mut grew = false;
        while let Some((position, entry)) = self.descent.pop() {
            let slot = self.opened[&entry] as usize;
            if position > 0
                && let Some(&last) = self.pool[slot].found.last()
            {
                let below = self.opened[&last.predecessor] as usize;
                let rank = last.rank + 1;
                let better = self.pool[below].found.get(rank as usize).map(|way| way.value);
                if let (Some(value), Some(step)) =
                    (better, self.step(chain, position, last.predecessor as usize, entry))
                {
                    self.pool[slot].next.push(Way {
                        value: value + step,
                        predecessor: last.predecessor,
                        rank,
                    });
                }
            }
            let next = self.pool[slot].next.pop();
            grew = next.is_some();
            self.pool[slot].found.extend(next);
        }
        grew
    }

    fn trace(&self, chain: &Chain, end: u32, mut rank: usize, path: &mut Vec<u32>) {
        path.clear();
        let mut entry = end;
        for _ in 0..chain.len() {
            let way = match self.opened.get(&entry) {
                Some(&slot) => self.pool[slot as usize].found[rank],
                None => self.best_way(chain, chain.len() - path.len(), entry),
            };
            path.push(chain.label_of(self.trellis.state[way.predecessor as usize]));
            (entry, rank) = (way.predecessor, way.rank as usize);
        }
        path.reverse();
    }

    /// The best way into a state that was never opened.
    fn best_way(&self, chain: &Chain, position: usize, entry: u32) -> Way {
        let ways = self.trellis.column(position - 1).filter_map(|index| {
            let value = self.trellis.value[index] + self.step(chain, position, index, entry)?;
            Some(Way { value, predecessor: index as u32, rank: 0 })
        });
        ways.max().unwrap_or(Way { value: f64::NEG_INFINITY, predecessor: entry, rank: 0 })
    }
}
