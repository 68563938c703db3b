//! A table with one score for each joint state of a few multi-valued variables.

use super::Oracle;
use super::lanes::{first_best, larger, largest, max_plus, max_plus_columns};
use crate::model::{ModelError, check_index, check_length, check_score, check_scores, link_offsets};

const FACTOR: &str = "dense table";
const TABLE: &str = "the scores of the dense table";

/// A factor with a score for every joint state of its variables.
///
/// The links are the states of the first variable, then those of the second, and so on. Entries are numbered
/// with the state of the last variable moving fastest (the order of UAI files); a configuration is the number
/// of an entry.
///
/// The variables are maximized out from the first to the last. Each step runs along contiguous rows, so that
/// the table is read once, in order, with vector instructions; for two variables of at most eight states the
/// column maxima never leave the registers.
///
/// ```
/// use consonant_map::oracle::{Oracle, dense::DenseTable};
///
/// let table = DenseTable::new(&[2, 3], vec![0.0, 1.0, 2.0, 5.0, 0.0, 0.0])?;
/// let mut best = 0;
/// let value = table.maximize(&[0.0, -4.0, 0.0, 0.0, 1.0], &mut Default::default(), &mut best);
/// assert_eq!((value, best), (3.0, 2)); // states 0 and 2
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DenseTable {
    /// States of each variable.
    states: Box<[u32]>,
    /// States of the first variable.
    rows: u32,
    /// Entries for each state of the first variable.
    columns: u32,
    links: u32,
    table: Box<[f64]>,
}

/// Maxima over the leading variables, for tables that do not fit the registers.
#[derive(Debug, Default)]
pub struct Workspace {
    maxima: Vec<f64>,
}

impl DenseTable {
    /// A table over variables with the given numbers of states; minus infinity forbids a joint state.
    pub fn new(states: &[usize], table: Vec<f64>) -> Result<Self, ModelError> {
        if states.is_empty() {
            return Err(ModelError::Empty("the scope of a dense table".into()));
        }
        let links = link_offsets(FACTOR, states.iter().copied())?[states.len()];
        let entries = states
            .iter()
            .try_fold(1u32, |product, &count| product.checked_mul(count as u32))
            .ok_or_else(|| ModelError::too_large("entries of the dense table", u32::MAX as usize))?;
        check_length(TABLE, table.len(), entries as usize)?;
        check_scores(TABLE, &table)?;
        let rows = states[0] as u32;
        Ok(Self {
            states: states.iter().map(|&count| count as u32).collect(),
            rows,
            columns: entries / rows,
            links,
            table: table.into(),
        })
    }

    /// The number of states of each variable.
    pub fn states(&self) -> impl Iterator<Item = usize> + '_ {
        self.states.iter().map(|&count| count as usize)
    }

    /// The score of every entry.
    pub fn table(&self) -> &[f64] {
        &self.table
    }

    /// Replaces the score of every entry.
    pub fn set_table(&mut self, table: &[f64]) -> Result<(), ModelError> {
        check_length(TABLE, table.len(), self.table.len())?;
        check_scores(TABLE, table)?;
        self.table.copy_from_slice(table);
        Ok(())
    }

    /// Replaces the score of one entry.
    pub fn set_entry(&mut self, entry: usize, score: f64) -> Result<(), ModelError> {
        check_index("entry of the dense table", entry, 0..self.table.len())?;
        check_score(format_args!("entry {entry} of the dense table"), score)?;
        self.table[entry] = score;
        Ok(())
    }

    /// The state of each variable in an entry, first variable first.
    pub fn states_of(&self, entry: u32) -> impl Iterator<Item = usize> + '_ {
        let (mut rest, mut width) = (entry, self.table.len() as u32);
        self.states.iter().map(move |&count| {
            width /= count;
            let state = rest / width;
            rest %= width;
            state as usize
        })
    }

    /// The score of the entry that switches exactly these links on; nothing unless one state of each variable
    /// is on.
    pub(crate) fn score_of(&self, on: &[bool]) -> Option<f64> {
        let (mut entry, mut rest) = (0, on);
        for &count in &self.states {
            let (states, others) = rest.split_at(count as usize);
            let mut holding = (0..states.len()).filter(|&state| states[state]);
            let state = holding.next()?;
            if holding.next().is_some() {
                return None;
            }
            (entry, rest) = (entry * states.len() + state, others);
        }
        Some(self.table[entry])
    }

    /// Writes, for each link, the best value of an entry that switches it on; minus infinity if there is
    /// none.
    pub fn max_marginals(&self, scores: &[f64], workspace: &mut Workspace, marginals: &mut [f64]) {
        marginals.fill(f64::NEG_INFINITY);
        if let &[_, columns] = &*self.states {
            let (row_scores, column_scores) = scores.split_at(self.rows as usize);
            let (row_best, column_best) = marginals.split_at_mut(self.rows as usize);
            let rows = self.table.chunks_exact(columns as usize);
            for ((row, score), best) in rows.zip(row_scores).zip(row_best) {
                for ((entry, column_score), column_best) in
                    row.iter().zip(column_scores).zip(&mut *column_best)
                {
                    let value = entry + score + column_score;
                    *best = larger(*best, value);
                    *column_best = larger(*column_best, value);
                }
            }
            return;
        }
        // The totals of all entries, then the maxima along each variable.
        let totals = &mut workspace.maxima;
        totals.clear();
        totals.extend_from_slice(&self.table);
        let (mut first_link, mut width) = (0, totals.len());
        for &count in &self.states {
            let count = count as usize;
            width /= count;
            for block in totals.chunks_exact_mut(width * count) {
                for (run, score) in block.chunks_exact_mut(width).zip(&scores[first_link..]) {
                    run.iter_mut().for_each(|total| *total += score);
                }
            }
            first_link += count;
        }
        let (mut first_link, mut width) = (0, totals.len());
        for &count in &self.states {
            let count = count as usize;
            width /= count;
            for block in totals.chunks_exact(width * count) {
                for (run, best) in block.chunks_exact(width).zip(&mut marginals[first_link..]) {
                    *best = run.iter().fold(*best, |best, &total| larger(best, total));
                }
            }
            first_link += count;
        }
    }

    fn maximize_pair(&self, scores: &[f64], workspace: &mut Workspace) -> (u32, f64) {
        let (rows, columns) = scores.split_at(self.rows as usize);
        match self.columns {
            2 => pair_in_registers::<2>(&self.table, rows, columns),
            3 => pair_in_registers::<3>(&self.table, rows, columns),
            4 => pair_in_registers::<4>(&self.table, rows, columns),
            5 => pair_in_registers::<5>(&self.table, rows, columns),
            6 => pair_in_registers::<6>(&self.table, rows, columns),
            7 => pair_in_registers::<7>(&self.table, rows, columns),
            8 => pair_in_registers::<8>(&self.table, rows, columns),
            _ => self.maximize_any(scores, workspace),
        }
    }

    /// Any number of variables. Level `v` of the maxima holds, for each joint state of the variables after
    /// `v`, the best over those up to `v`; the states are then read off from the last variable to the first.
    fn maximize_any(&self, scores: &[f64], workspace: &mut Workspace) -> (u32, f64) {
        let last = self.states.len() - 1;
        let maxima = &mut workspace.maxima;
        maxima.clear();
        let (mut first_link, mut width) = (0, self.table.len());
        for (variable, &count) in self.states[..last].iter().enumerate() {
            let (start, narrower) = (maxima.len(), width / count as usize);
            maxima.resize(start + narrower, f64::NEG_INFINITY);
            let (levels, best) = maxima.split_at_mut(start);
            let level = if variable == 0 { &*self.table } else { &levels[start - width..] };
            max_plus(best, level, narrower, &scores[first_link..first_link + count as usize]);
            width = narrower;
            first_link += count as usize;
        }

        let (mut entry, mut stride, mut level_end) = (0, 1, maxima.len());
        let mut value = f64::NEG_INFINITY;
        for variable in (0..=last).rev() {
            let count = self.states[variable] as usize;
            let level = match variable {
                0 => &*self.table,
                _ => &maxima[level_end - count * stride..level_end],
            };
            let scores = &scores[first_link..first_link + count];
            let total = |state: usize| level[state * stride + entry] + scores[state];
            let state = first_best(count, total);
            if variable == last {
                value = total(state);
            }
            entry += state * stride;
            stride *= count;
            if variable > 0 {
                level_end -= stride;
                first_link -= self.states[variable - 1] as usize;
            }
        }
        (entry as u32, value)
    }
}

/// Two variables, the second with few enough states that one maximum for each stays in a register.
fn pair_in_registers<const COLUMNS: usize>(
    table: &[f64],
    row_scores: &[f64],
    column_scores: &[f64],
) -> (u32, f64) {
    let rows = &table.as_chunks::<COLUMNS>().0[..row_scores.len()];
    let column_scores: &[f64; COLUMNS] = column_scores.try_into().expect("one score for each column");
    let best = max_plus_columns::<COLUMNS>(table, COLUMNS, row_scores);
    let column = first_best(COLUMNS, |column| best[column] + column_scores[column]);
    let row = first_best(rows.len(), |row| rows[row][column] + row_scores[row]);
    ((row * COLUMNS + column) as u32, best[column] + column_scores[column])
}

impl Oracle for DenseTable {
    type Configuration = u32;
    type Workspace = Workspace;

    fn links(&self) -> usize {
        self.links as usize
    }

    fn magnitude(&self) -> Option<f64> {
        Some(largest(&self.table))
    }

    fn maximize(&self, scores: &[f64], workspace: &mut Workspace, best: &mut u32) -> f64 {
        let (entry, value) = if self.states.len() == 2 {
            self.maximize_pair(scores, workspace)
        } else {
            self.maximize_any(scores, workspace)
        };
        *best = entry;
        value
    }

    fn score(&self, scores: &[f64], &entry: &u32) -> f64 {
        let mut first_link = 0;
        self.states_of(entry).zip(&self.states).fold(self.table[entry as usize], |total, (state, &count)| {
            let total = total + scores[first_link + state];
            first_link += count as usize;
            total
        })
    }

    fn add_marginals(&self, &entry: &u32, weight: f64, marginals: &mut [f64]) {
        let mut first_link = 0;
        for (state, &count) in self.states_of(entry).zip(&self.states) {
            marginals[first_link + state] += weight;
            first_link += count as usize;
        }
    }

    fn overlap(&self, &a: &u32, &b: &u32) -> usize {
        if self.states.len() == 2 {
            let columns = self.columns;
            return usize::from(a / columns == b / columns) + usize::from(a % columns == b % columns);
        }
        self.states_of(a).zip(self.states_of(b)).filter(|(a, b)| a == b).count()
    }
}
