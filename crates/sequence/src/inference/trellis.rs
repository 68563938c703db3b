//! The reachable states of each position, stored one position after another.

use super::chain::Chain;
use super::error::{InferenceError, Result};

/// Columns of states with their values; a column is closed by [`close_column`](Self::close_column).
#[derive(Debug, Clone, Default)]
pub(crate) struct Trellis {
    ends: Vec<usize>,
    pub(crate) state: Vec<u32>,
    /// Best or summed score of all prefixes that end in the state.
    pub(crate) value: Vec<f64>,
    /// Index, within the previous column, of the best predecessor; filled by searches that keep one.
    pub(crate) back: Vec<u32>,
}

impl Trellis {
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.state.clear();
        self.value.clear();
        self.back.clear();
    }

    pub(crate) fn push(&mut self, state: u32, value: f64) {
        self.state.push(state);
        self.value.push(value);
    }

    pub(crate) fn close_column(&mut self) {
        self.ends.push(self.state.len());
    }

    pub(crate) fn column(&self, position: usize) -> std::ops::Range<usize> {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        start..self.ends[position]
    }

    /// Number of closed columns.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The first column: every label that may stand first, with its node score.
    pub(crate) fn open(&mut self, chain: &Chain) -> Result<()> {
        self.clear();
        for label in chain.allowed(0).iter().filter(|&label| chain.transitions.allows_start(label)) {
            let score = chain.node(0, label);
            if score > f64::NEG_INFINITY {
                self.push(label, score);
                self.back.push(0);
            }
        }
        self.close_column();
        if self.state.is_empty() { Err(InferenceError::NoAllowedSequence { position: 0 }) } else { Ok(()) }
    }

    /// Index of the best state of the last column that may end the sentence; the earliest on ties.
    pub(crate) fn best_end(&self, chain: &Chain) -> Result<usize> {
        let column = self.column(self.len() - 1);
        let mut best: Option<usize> = None;
        for index in column {
            if chain.transitions.allows_end(chain.label_of(self.state[index]))
                && best.is_none_or(|best| self.value[index] > self.value[best])
            {
                best = Some(index);
            }
        }
        best.ok_or(InferenceError::NoAllowedSequence { position: self.len() })
    }

    /// Writes the labels on the way to entry `index` of the last column, along the stored predecessors.
    pub(crate) fn trace(&self, chain: &Chain, index: usize, path: &mut Vec<u32>) {
        self.trace_prefix(chain, self.len(), index, path);
    }

    /// As [`trace`](Self::trace) for the first columns alone, so many of them.
    pub(crate) fn trace_prefix(&self, chain: &Chain, columns: usize, mut index: usize, path: &mut Vec<u32>) {
        path.clear();
        for position in (0..columns).rev() {
            path.push(chain.label_of(self.state[index]));
            if position > 0 {
                index = self.column(position - 1).start + self.back[index] as usize;
            }
        }
        path.reverse();
    }
}
