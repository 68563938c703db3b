//! Viterbi for dense transitions.
//!
//! The forward pass keeps values only; the way back finds each predecessor again among the few that were
//! kept, which costs L additions for a position instead of L² comparisons with their bookkeeping. Columns are
//! re-based to a maximum of 0, so that `f32` does not drift over long sentences.

use crate::inference::chain::{Allowed, Chain};
use crate::inference::error::{InferenceError, Result};
use crate::inference::kernels;
use crate::inference::transitions::Dense;

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(crate) struct DenseSearch {
    values: Vec<f32>,
    /// Labels of each position that may still be on the best path, ascending.
    kept: Vec<u32>,
    kept_end: Vec<usize>,
}

impl DenseSearch {
    /// Finds the best path; ties go to the smallest label, from the end of the sentence backwards.
    pub(crate) fn run(&mut self, chain: &Chain, dense: &Dense, path: &mut Vec<u32>) -> Result<()> {
        let (length, stride) = (chain.len(), dense.stride);
        path.clear();
        path.resize(length, 0);
        if dense.row_step == 0 && chain.edges.is_none() {
            return independent(chain, path);
        }
        // Every row is overwritten below before it is read.
        self.values.resize(self.values.len().max(length * stride), f32::NEG_INFINITY);
        self.kept.clear();
        self.kept_end.clear();
        for position in 0..length {
            let (before, row) = self.values.split_at_mut(position * stride);
            let row = &mut row[..stride];
            if position == 0 {
                start(chain, row);
            } else {
                let previous = &before[(position - 1) * stride..];
                let sources = &self.kept[self.kept_end.iter().nth_back(1).copied().unwrap_or(0)..];
                step(chain, dense, position, sources, previous, row);
            }
            let mut most = restrict(chain, position, row);
            if position + 1 == length && most > f32::NEG_INFINITY {
                most = forbid_ends(chain, row)?;
            }
            if most == f32::NEG_INFINITY {
                return Err(InferenceError::NoAllowedSequence { position });
            }
            kernels::subtract(most, row);
            self.keep(chain, dense, position);
        }
        self.trace(chain, dense, path);
        Ok(())
    }

    /// Keeps the labels that the best path may still pass.
    ///
    /// Let k be a label of this column whose whole row of transitions is finite. Whatever label comes next,
    /// going through k instead of j wins when `value(k) + least(k) > value(j) + most(j)`, so j is not on any
    /// best path. The inequality is strict, which keeps ties, and rounding is monotone, which keeps it true
    /// in floating point.
    fn keep(&mut self, chain: &Chain, dense: &Dense, position: usize) {
        let row = &self.values[position * dense.stride..][..chain.labels()];
        let prunes = chain.edges.is_none() && position + 1 < chain.len();
        let floor = if prunes { kernels::max_sum(row, &dense.least) } else { f32::NEG_INFINITY };
        for (label, (&value, &most)) in row.iter().zip(&dense.most).enumerate() {
            if value > f32::NEG_INFINITY && value + most >= floor {
                self.kept.push(label as u32);
            }
        }
        self.kept_end.push(self.kept.len());
    }

    fn trace(&self, chain: &Chain, dense: &Dense, path: &mut [u32]) {
        let Some(last) = path.len().checked_sub(1) else { return };
        let column = |position: usize| {
            let start = if position == 0 { 0 } else { self.kept_end[position - 1] };
            &self.kept[start..self.kept_end[position]]
        };
        let value = |position: usize, label: u32| self.values[position * dense.stride + label as usize];
        path[last] = first_best(column(last), |label| value(last, label));
        for position in (1..=last).rev() {
            let next = path[position] as usize;
            path[position - 1] = first_best(column(position - 1), |label| {
                let score = dense.row(label as usize)[next];
                let edge = chain.edge_row(position, label as usize).map_or(0.0, |row| row[next]);
                value(position - 1, label) + (score + edge)
            });
        }
    }
}

/// The first label with the largest value.
fn first_best(labels: &[u32], value: impl Fn(u32) -> f32) -> u32 {
    let (mut best, mut most) = (labels[0], f32::NEG_INFINITY);
    for &label in labels {
        let value = value(label);
        if value > most {
            (best, most) = (label, value);
        }
    }
    best
}

/// Order 0: each position alone, but for the mask's ends, which order 0 does not have.
fn independent(chain: &Chain, path: &mut [u32]) -> Result<()> {
    for (position, best) in path.iter_mut().enumerate() {
        let row = chain.row(position);
        let (mut label, mut most) = (0, f32::NEG_INFINITY);
        for candidate in chain.allowed(position).iter() {
            if row[candidate as usize] > most {
                (label, most) = (candidate, row[candidate as usize]);
            }
        }
        if most == f32::NEG_INFINITY {
            return Err(InferenceError::NoAllowedSequence { position });
        }
        *best = label;
    }
    Ok(())
}

fn start(chain: &Chain, row: &mut [f32]) {
    for (label, value) in row.iter_mut().enumerate() {
        let allowed = label < chain.labels() && chain.transitions.allows_start(label as u32);
        *value = if allowed { 0.0 } else { f32::NEG_INFINITY };
    }
}

/// The best way into each label, without the node scores.
fn step(chain: &Chain, dense: &Dense, position: usize, sources: &[u32], previous: &[f32], row: &mut [f32]) {
    if chain.edges.is_some() {
        row.fill(f32::NEG_INFINITY);
        for &source in sources {
            let edges = chain.edge_row(position, source as usize).unwrap_or(&[]);
            kernels::max_plus_edges(previous[source as usize], dense.row(source as usize), edges, row);
        }
        return;
    }
    match chain.allowed(position) {
        Allowed::Listed(list) if list.len() * 8 < row.len() => {
            for &label in list {
                let mut most = f32::NEG_INFINITY;
                for &source in sources {
                    let value = previous[source as usize] + dense.row(source as usize)[label as usize];
                    most = if value > most { value } else { most };
                }
                row[label as usize] = most;
            }
        }
        _ => kernels::max_plus(sources, previous, &dense.scores, dense.row_step, row),
    }
}

/// Adds the node scores, forbids what is no candidate, and returns the maximum.
fn restrict(chain: &Chain, position: usize, row: &mut [f32]) -> f32 {
    let nodes = chain.row(position);
    match chain.allowed(position) {
        Allowed::All(_) => kernels::add_and_max(nodes, row),
        Allowed::Listed(list) => {
            let mut most = f32::NEG_INFINITY;
            let mut from = 0;
            for &label in list {
                let label = label as usize;
                row[from..label].fill(f32::NEG_INFINITY);
                row[label] += nodes[label];
                most = if row[label] > most { row[label] } else { most };
                from = label + 1;
            }
            row[from..].fill(f32::NEG_INFINITY);
            most
        }
    }
}

/// Forbids the labels that may not end a sentence, and returns the maximum of the rest.
fn forbid_ends(chain: &Chain, row: &mut [f32]) -> Result<f32> {
    let mut most = f32::NEG_INFINITY;
    for (label, value) in row[..chain.labels()].iter_mut().enumerate() {
        if !chain.transitions.allows_end(label as u32) {
            *value = f32::NEG_INFINITY;
        }
        most = if *value > most { *value } else { most };
    }
    if most == f32::NEG_INFINITY {
        return Err(InferenceError::NoAllowedSequence { position: chain.len() });
    }
    Ok(most)
}
