//! Chains of multi-valued variables, of first and second order.

use super::Oracle;
use super::lanes::{first_best, first_maximum, larger, largest, max_plus, maximum_of_sums};
use crate::flat::Refill;
use crate::model::{ModelError, check_index, check_length, check_scores, link_offsets};

const FACTOR: &str = "sequence";
const PAIRS: &str = "pair scores of the sequence";
const TRIPLES: &str = "triple scores of the sequence";

/// A chain in which every position takes one state, with scores for neighbouring states.
///
/// The links are the states of position 0, then those of position 1, and so on; their scores are the scores
/// of the nodes. Positions may differ in their number of states. The tables of pairs (first order) and
/// triples (second order) belong to the factor; minus infinity forbids a transition. A configuration holds
/// the state of each position.
///
/// The best sequence is found by Viterbi's recursion without back pointers: the inner loop only takes maxima
/// over contiguous rows of a table, and the way back looks for the predecessor again, at a cost that is
/// linear in the number of links (first order).
///
/// ```
/// use consonant_map::oracle::{Oracle, sequence::Sequence};
///
/// // Three positions, two states each; staying in the same state earns 1.
/// let chain = Sequence::uniform(3, 2, vec![1.0, 0.0, 0.0, 1.0])?;
/// let mut best = Vec::new();
/// let value = chain.maximize(&[0.0, 0.0, 0.5, 0.0, 0.0, 0.7], &mut Default::default(), &mut best);
/// assert_eq!((value, best), (2.7, vec![1, 1, 1]));
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sequence {
    /// The first link of each position; the number of links at the end.
    offsets: Box<[u32]>,
    pairs: Tables,
    /// Empty at first order.
    triples: Tables,
}

/// One table for each position that has enough predecessors, or one for all of them.
#[derive(Debug, Clone, Default)]
struct Tables {
    /// Where the table of each such position starts; the total length at the end.
    starts: Box<[usize]>,
    scores: Vec<f64>,
    /// The number of neighbouring positions that a table is about.
    order: usize,
    shared: bool,
}

/// Values of prefixes and suffixes, one for each link (first order) or pair of neighbouring states (second
/// order).
#[derive(Debug, Default)]
pub struct Workspace {
    forward: Vec<f64>,
    backward: Vec<f64>,
    row: Vec<f64>,
}

impl Sequence {
    /// A chain of first order. `pairs` holds the tables of positions 1, 2, … one after the other, each with a
    /// row for every state of the position before and a column for every state of its own.
    pub fn first_order(states: &[usize], pairs: Vec<f64>) -> Result<Self, ModelError> {
        let offsets = positions(states.iter().copied())?;
        let pairs = Tables::by_position(PAIRS, states, 2, pairs)?;
        Ok(Self { offsets, pairs, triples: Tables::default() })
    }

    /// A chain of second order: as [`first_order`](Self::first_order), and `triples` holds the tables of
    /// positions 2, 3, … indexed by the state two positions before, the state before, and the state itself
    /// (moving fastest).
    pub fn second_order(states: &[usize], pairs: Vec<f64>, triples: Vec<f64>) -> Result<Self, ModelError> {
        let offsets = positions(states.iter().copied())?;
        let pairs = Tables::by_position(PAIRS, states, 2, pairs)?;
        let triples = Tables::by_position(TRIPLES, states, 3, triples)?;
        Ok(Self { offsets, pairs, triples })
    }

    /// A chain of first order whose positions all have the same states and share one table of pairs.
    pub fn uniform(length: usize, states: usize, pairs: Vec<f64>) -> Result<Self, ModelError> {
        let offsets = positions(std::iter::repeat_n(states, length))?;
        let pairs = Tables::shared(PAIRS, (length, states), 2, pairs)?;
        Ok(Self { offsets, pairs, triples: Tables::default() })
    }

    /// A chain of second order whose positions all have the same states and share one table of pairs and one
    /// of triples.
    pub fn uniform_second_order(
        length: usize,
        states: usize,
        pairs: Vec<f64>,
        triples: Vec<f64>,
    ) -> Result<Self, ModelError> {
        let offsets = positions(std::iter::repeat_n(states, length))?;
        let pairs = Tables::shared(PAIRS, (length, states), 2, pairs)?;
        let triples = Tables::shared(TRIPLES, (length, states), 3, triples)?;
        Ok(Self { offsets, pairs, triples })
    }

    /// The pair scores, whose memory another chain may use.
    pub fn into_pairs(self) -> Vec<f64> {
        self.pairs.scores
    }

    /// The number of positions.
    pub fn length(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of states of a position.
    ///
    /// # Panics
    /// If the position does not exist.
    pub fn states(&self, position: usize) -> usize {
        (self.offsets[position + 1] - self.offsets[position]) as usize
    }

    /// The pair scores of a position and the one before.
    ///
    /// # Panics
    /// If the position is 0 or does not exist.
    pub fn pairs(&self, position: usize) -> &[f64] {
        self.pairs.at(position)
    }

    /// The triple scores of a position and the two before; nothing at first order and before position 2.
    pub fn triples(&self, position: usize) -> Option<&[f64]> {
        (position >= 2 && !self.triples.is_empty()).then(|| self.triples.at(position))
    }

    /// Replaces the pair scores of a position (1 or later) and the one before; in a uniform chain, those of
    /// all positions.
    pub fn set_pairs(&mut self, position: usize, scores: &[f64]) -> Result<(), ModelError> {
        self.pairs.set(PAIRS, position, scores)
    }

    /// Replaces the triple scores of a position (2 or later) and the two before; in a uniform chain, those of
    /// all positions.
    pub fn set_triples(&mut self, position: usize, scores: &[f64]) -> Result<(), ModelError> {
        self.triples.set(TRIPLES, position, scores)
    }

    /// Writes, for each link, the best value of a sequence that goes through it; minus infinity if there is
    /// none.
    pub fn max_marginals(&self, scores: &[f64], workspace: &mut Workspace, marginals: &mut [f64]) {
        if self.triples.is_empty() {
            self.forward_by_state(scores, &mut workspace.forward);
            self.marginals_by_state(scores, workspace, marginals);
        } else {
            self.forward_by_pair(scores, workspace);
            self.marginals_by_pair(scores, workspace, marginals);
        }
    }

    fn links_of(&self, position: usize) -> std::ops::Range<usize> {
        self.offsets[position] as usize..self.offsets[position + 1] as usize
    }

    /// `forward[i, t]`: the best value of positions `0..=i` with state `t` at `i`.
    fn forward_by_state(&self, scores: &[f64], forward: &mut Vec<f64>) {
        forward.resize(scores.len(), f64::NEG_INFINITY);
        let first = self.links_of(0);
        forward[first.clone()].copy_from_slice(&scores[first]);
        for position in 1..self.length() {
            let links = self.links_of(position);
            let (before, here) = forward.split_at_mut(links.start);
            let here = &mut here[..links.len()];
            let before = &before[self.links_of(position - 1)];
            max_plus(here, self.pairs.at(position), links.len(), before);
            here.iter_mut().zip(&scores[links]).for_each(|(value, score)| *value += score);
        }
    }

    fn best_by_state(&self, forward: &[f64], best: &mut [u32]) {
        let last = self.length() - 1;
        let (mut state, _) = first_maximum(&forward[self.links_of(last)]);
        best[last] = state as u32;
        for position in (1..=last).rev() {
            let (before, width) = (&forward[self.links_of(position - 1)], self.states(position));
            let table = self.pairs.at(position);
            state = first_best(before.len(), |previous| before[previous] + table[previous * width + state]);
            best[position - 1] = state as u32;
        }
    }

    /// Adds to `forward[i, t]` the best value of what follows, from the last position to the first.
    fn marginals_by_state(&self, scores: &[f64], workspace: &mut Workspace, marginals: &mut [f64]) {
        let Workspace { forward, backward, row } = workspace;
        // The best of what follows each state of the position at hand, and of each of the one after with its
        // own score.
        let (follows, onward) = (backward, row);
        follows.refill(self.states(self.length() - 1), 0.0);
        for position in (0..self.length()).rev() {
            let links = self.links_of(position);
            for ((marginal, value), follow) in
                marginals[links.clone()].iter_mut().zip(&forward[links.clone()]).zip(&*follows)
            {
                *marginal = value + follow;
            }
            if position > 0 {
                onward.clear();
                onward.extend(follows.iter().zip(&scores[links]).map(|(follow, score)| follow + score));
                follows.clear();
                let rows = self.pairs.at(position).chunks_exact(onward.len());
                follows.extend(rows.map(|row| maximum_of_sums(row, onward)));
            }
        }
    }

    /// `forward[i, s, t]` for `i >= 1`: the best value of positions `0..=i` with states `s, t` at `i - 1, i`.
    fn forward_by_pair(&self, scores: &[f64], workspace: &mut Workspace) {
        let Workspace { forward, row: column, .. } = workspace;
        forward.resize(self.pair_cell(self.length()), f64::NEG_INFINITY);
        for position in 1..self.length() {
            let width = self.states(position);
            let (before, here) = forward.split_at_mut(self.pair_cell(position));
            let here = &mut here[..self.states(position - 1) * width];
            if position == 1 {
                for (cells, &score) in here.chunks_exact_mut(width).zip(scores) {
                    cells.fill(score);
                }
            } else {
                let (cells, middle) = (&before[self.pair_cell(position - 1)..], self.states(position - 1));
                let table = self.triples.at(position);
                for (previous, here) in here.chunks_exact_mut(width).enumerate() {
                    column.clear();
                    column.extend(cells.iter().skip(previous).step_by(middle));
                    max_plus(here, &table[previous * width..], middle * width, column);
                }
            }
            let (table, scores) = (self.pairs.at(position), &scores[self.links_of(position)]);
            for (here, row) in here.chunks_exact_mut(width).zip(table.chunks_exact(width)) {
                for ((value, pair), score) in here.iter_mut().zip(row).zip(scores) {
                    *value += pair + score;
                }
            }
        }
    }

    fn best_by_pair(&self, forward: &[f64], best: &mut [u32]) {
        let last = self.length() - 1;
        let (cell, _) = first_maximum(&forward[self.pair_cell(last)..]);
        let (mut previous, mut state) = (cell / self.states(last), cell % self.states(last));
        (best[last - 1], best[last]) = (previous as u32, state as u32);
        for position in (2..=last).rev() {
            let (middle, width) = (self.states(position - 1), self.states(position));
            let cells = &forward[self.pair_cell(position - 1)..self.pair_cell(position)];
            let table = self.triples.at(position);
            let earlier = first_best(self.states(position - 2), |earlier| {
                let cell = earlier * middle + previous;
                cells[cell] + table[cell * width + state]
            });
            best[position - 2] = earlier as u32;
            (previous, state) = (earlier, previous);
        }
    }

    /// Combines `forward[i, s, t]` with the best value of what follows, from the last position to the first.
    fn marginals_by_pair(&self, scores: &[f64], workspace: &mut Workspace, marginals: &mut [f64]) {
        let Workspace { forward, backward: follows, row: onward } = workspace;
        marginals.fill(f64::NEG_INFINITY);
        let last = self.length() - 1;
        follows.refill(self.states(last - 1) * self.states(last), 0.0);
        for position in (1..=last).rev() {
            let links = self.links_of(position);
            let width = links.len();
            let cells = &forward[self.pair_cell(position)..self.pair_cell(position + 1)];
            let rows = cells.chunks_exact(width).zip(follows.chunks_exact(width));
            for (previous, (values, follows)) in rows.enumerate() {
                raise_sums(&mut marginals[links.clone()], values, follows);
                if position == 1 {
                    marginals[previous] = maximum_of_sums(values, follows);
                }
            }
            if position > 1 {
                // onward[s, t]: what follows (s, t), with the pair and node scores of t itself.
                onward.clear();
                for (row, follows) in
                    self.pairs.at(position).chunks_exact(width).zip(follows.chunks_exact(width))
                {
                    onward.extend(
                        row.iter()
                            .zip(follows)
                            .zip(&scores[links.clone()])
                            .map(|((pair, follow), score)| pair + score + follow),
                    );
                }
                follows.clear();
                let rows = self.triples.at(position).chunks_exact(width);
                let onward = onward.chunks_exact(width).cycle();
                follows.extend(rows.zip(onward).map(|(row, onward)| maximum_of_sums(row, onward)));
            }
        }
    }

    /// Where the cells of a position (1 or later) and the one before start.
    fn pair_cell(&self, position: usize) -> usize {
        self.pairs.starts[position - 1]
    }
}

fn raise_sums(best: &mut [f64], values: &[f64], shifts: &[f64]) {
    for ((best, value), shift) in best.iter_mut().zip(values).zip(shifts) {
        *best = larger(*best, value + shift);
    }
}

impl Tables {
    /// Tables over `order` neighbouring positions, laid out one after the other.
    fn by_position(what: &str, states: &[usize], order: usize, scores: Vec<f64>) -> Result<Self, ModelError> {
        let starts = table_starts(states.windows(order).map(|window| window.iter().copied()))?;
        Self::checked(what, starts[starts.len() - 1], Self { starts, scores, order, shared: false })
    }

    /// One table for every run of `order` neighbouring positions of a chain.
    fn shared(
        what: &str,
        (length, states): (usize, usize),
        order: usize,
        scores: Vec<f64>,
    ) -> Result<Self, ModelError> {
        let one = table_starts([std::iter::repeat_n(states, order)])?[1];
        let tables = (length + 1).saturating_sub(order);
        let starts = table_starts((0..tables).map(|_| std::iter::repeat_n(states, order)))?;
        Self::checked(what, one, Self { starts, scores, order, shared: true })
    }

    fn checked(what: &str, expected: usize, tables: Self) -> Result<Self, ModelError> {
        check_length(what, tables.scores.len(), expected)?;
        check_scores(what, &tables.scores)?;
        Ok(tables)
    }

    fn is_empty(&self) -> bool {
        self.starts.len() <= 1
    }

    /// The scores of the run of positions that ends at `position`.
    fn at(&self, position: usize) -> &[f64] {
        if self.shared {
            return &self.scores;
        }
        let table = position + 1 - self.order;
        &self.scores[self.starts[table]..self.starts[table + 1]]
    }

    fn set(&mut self, what: &str, position: usize, scores: &[f64]) -> Result<(), ModelError> {
        let first = self.order.saturating_sub(1);
        let tables = self.starts.len().saturating_sub(1);
        check_index(format_args!("{what}: position"), position, first..first + tables)?;
        let range = match self.shared {
            true => 0..self.scores.len(),
            false => self.starts[position - first]..self.starts[position - first + 1],
        };
        check_length(format_args!("{what}, position {position}"), scores.len(), range.len())?;
        check_scores(format_args!("{what}, position {position}"), scores)?;
        self.scores[range].copy_from_slice(scores);
        Ok(())
    }
}

/// Cumulative sizes of tables, each given by the number of states along its sides.
fn table_starts<Sides: IntoIterator<Item = usize>>(
    tables: impl IntoIterator<Item = Sides>,
) -> Result<Box<[usize]>, ModelError> {
    let mut starts = vec![0usize];
    for sides in tables {
        let size = sides.into_iter().try_fold(1usize, usize::checked_mul);
        let end = size.and_then(|size| size.checked_add(starts[starts.len() - 1]));
        starts.push(end.ok_or_else(|| ModelError::too_large("entries of the sequence", usize::MAX))?);
    }
    Ok(starts.into())
}

fn positions(states: impl IntoIterator<Item = usize>) -> Result<Box<[u32]>, ModelError> {
    let offsets = link_offsets(FACTOR, states)?;
    if offsets.len() == 1 {
        return Err(ModelError::Empty("the sequence".into()));
    }
    Ok(offsets)
}

impl Oracle for Sequence {
    type Configuration = Vec<u32>;
    type Workspace = Workspace;

    fn links(&self) -> usize {
        self.offsets[self.length()] as usize
    }

    fn magnitude(&self) -> Option<f64> {
        let windows = self.length() as f64;
        Some(windows * (largest(&self.pairs.scores) + largest(&self.triples.scores)))
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Workspace, best: &mut Vec<u32>) -> f64 {
        best.refill(self.length(), 0);
        if self.triples.is_empty() {
            self.forward_by_state(scores, &mut workspace.forward);
            self.best_by_state(&workspace.forward, best);
        } else {
            self.forward_by_pair(scores, workspace);
            self.best_by_pair(&workspace.forward, best);
        }
        self.score(scores, best)
    }

    fn score(&self, scores: &[f64], states: &Vec<u32>) -> f64 {
        let mut total = 0.0;
        for (position, (&state, &offset)) in states.iter().zip(&self.offsets).enumerate() {
            total += scores[(offset + state) as usize];
            let mut cell = 0;
            if position >= 1 {
                cell = states[position - 1] as usize * self.states(position) + state as usize;
                total += self.pairs.at(position)[cell];
            }
            if position >= 2 && !self.triples.is_empty() {
                let stride = self.states(position - 1) * self.states(position);
                total += self.triples.at(position)[states[position - 2] as usize * stride + cell];
            }
        }
        total
    }

    fn add_marginals(&self, states: &Vec<u32>, weight: f64, marginals: &mut [f64]) {
        for (&state, &offset) in states.iter().zip(&self.offsets) {
            marginals[(offset + state) as usize] += weight;
        }
    }

    fn overlap(&self, a: &Vec<u32>, b: &Vec<u32>) -> usize {
        a.iter().zip(b).filter(|(a, b)| a == b).count()
    }
}
