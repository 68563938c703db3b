//! The model: vertices, tables, edges, patterns, in flat arrays.

use crate::model::{ModelError, check_index, check_length, check_score, check_scores};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Indices are 32 bits wide; a few values at the top are marks.
const LIMIT: usize = u32::MAX as usize - 16;

#[derive(Clone, Copy, Debug)]
struct Table {
    rows: u32,
    columns: u32,
    /// First value; for a sparse table the first cell is `cells`.
    values: u32,
    length: u32,
    /// First cell, or `DENSE`.
    cells: u32,
}

const DENSE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Edge {
    u: u32,
    v: u32,
    table: u32,
}

/// One (vertex, state) pair of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Member {
    pub(crate) vertex: u32,
    pub(crate) state: u32,
}

/// The contents of an edge's table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TableView<'a> {
    /// One value for each cell, row by row.
    Dense(&'a [f64]),
    /// Cells that are not zero, with their values.
    Sparse(&'a [(u32, u32)], &'a [f64]),
}

/// Vertices with any number of states each, tables on edges, and weighted patterns over any set of (vertex,
/// state) pairs.
///
/// Scores may be changed at any time ([`set_unary`](PatternModel::set_unary),
/// [`set_table`](PatternModel::set_table), [`set_pattern`](PatternModel::set_pattern)) without rebuilding;
/// minus infinity forbids. The model takes the edges it is given: whoever joins all pairs of `n` equal words
/// makes `n²/2` edges, so join each occurrence to the next few instead.
#[derive(Clone, Debug, Default)]
pub struct PatternModel {
    /// Slots of vertex `v` are `first_slot[v]..first_slot[v + 1]`; one more than there are vertices, or
    /// empty.
    first_slot: Vec<u32>,
    unary: Vec<f64>,
    tables: Vec<Table>,
    values: Vec<f64>,
    cells: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    /// Where the members of each pattern end.
    pattern_ends: Vec<u32>,
    members: Vec<Member>,
    weights: Vec<f64>,
    /// Patterns over the same vertices have the same number here, counted by first appearance.
    vertex_set: Vec<u32>,
    /// The last vertex set with a hash, by hash.
    set_by_hash: FxHashMap<u64, u32>,
    /// One pattern of each vertex set, and the set before it with the same hash.
    sets: Vec<(u32, u32)>,
}

const NO_SET: u32 = u32::MAX;

impl PatternModel {
    /// A model without vertices.
    pub fn new() -> Self {
        PatternModel::default()
    }

    /// Forgets everything but the memory, for the next model.
    pub fn clear(&mut self) {
        self.first_slot.clear();
        self.unary.clear();
        self.tables.clear();
        self.values.clear();
        self.cells.clear();
        self.edges.clear();
        self.pattern_ends.clear();
        self.members.clear();
        self.weights.clear();
        self.vertex_set.clear();
        self.set_by_hash.clear();
        self.sets.clear();
    }

    /// Adds a vertex with one score for each of its states; returns its index.
    pub fn add_vertex(&mut self, scores: &[f64]) -> Result<usize, ModelError> {
        let vertex = self.vertices();
        if scores.is_empty() {
            return Err(ModelError::Empty(format!("the list of states of vertex {vertex}")));
        }
        check_scores(format_args!("vertex {vertex}"), scores)?;
        check_room(self.unary.len() + scores.len(), "states")?;
        if self.first_slot.is_empty() {
            self.first_slot.push(0);
        }
        self.unary.extend_from_slice(scores);
        self.first_slot.push(self.unary.len() as u32);
        Ok(vertex)
    }

    /// Adds a table with a value for each cell, row by row, to be used by edges; returns its index.
    pub fn add_table(&mut self, rows: usize, columns: usize, values: &[f64]) -> Result<usize, ModelError> {
        let index = self.tables.len();
        check_length(format_args!("table {index}"), values.len(), rows.saturating_mul(columns))?;
        self.push_table(rows, columns, values.iter().copied(), values.len(), DENSE)
    }

    /// Adds a table given by its cells that are not zero, as (row, column, value); returns its index.
    /// Repeated cells add up.
    pub fn add_sparse_table(
        &mut self,
        rows: usize,
        columns: usize,
        cells: &[(usize, usize, f64)],
    ) -> Result<usize, ModelError> {
        for &(row, column, _) in cells {
            check_index("row of a sparse table", row, 0..rows)?;
            check_index("column of a sparse table", column, 0..columns)?;
        }
        let first = self.cells.len() as u32;
        let index = self.push_table(rows, columns, cells.iter().map(|c| c.2), cells.len(), first)?;
        self.cells.extend(cells.iter().map(|&(row, column, _)| (row as u32, column as u32)));
        Ok(index)
    }

    fn push_table(
        &mut self,
        rows: usize,
        columns: usize,
        values: impl Iterator<Item = f64> + Clone,
        length: usize,
        cells: u32,
    ) -> Result<usize, ModelError> {
        let index = self.tables.len();
        for (at, score) in values.clone().enumerate() {
            check_score(format_args!("table {index}, entry {at},"), score)?;
        }
        check_room(rows.max(columns).max(self.values.len() + length), "table values")?;
        let start = self.values.len() as u32;
        self.values.extend(values);
        self.tables.push(Table {
            rows: rows as u32,
            columns: columns as u32,
            values: start,
            length: length as u32,
            cells,
        });
        Ok(index)
    }

    /// Joins two vertices by a table whose rows are the states of `u` and whose columns are those of `v`;
    /// returns the edge's index.
    ///
    /// Several edges may join the same two vertices: they add up.
    pub fn add_edge(&mut self, u: usize, v: usize, table: usize) -> Result<usize, ModelError> {
        let index = self.edges.len();
        for vertex in [u, v] {
            check_index(format_args!("edge {index}: vertex"), vertex, 0..self.vertices())?;
        }
        if u == v {
            let reason = "joins a vertex with itself; add its diagonal to the vertex's scores instead";
            return Err(ModelError::unfit(format_args!("edge ({u}, {u})"), reason));
        }
        check_index("table", table, 0..self.tables.len())?;
        let Table { rows, columns, .. } = self.tables[table];
        let ends = (self.states(u), self.states(v));
        if (rows as usize, columns as usize) != ends {
            let reason = format_args!(
                "joins vertices with {} and {} states, but table {table} is {rows} by {columns}",
                ends.0, ends.1
            );
            return Err(ModelError::unfit(format_args!("edge ({u}, {v})"), reason));
        }
        check_room(index + 1, "edges")?;
        self.edges.push(Edge { u: u as u32, v: v as u32, table: table as u32 });
        Ok(index)
    }

    /// Adds a pattern: its weight counts when every (vertex, state) pair is chosen; returns its index. Order
    /// and repetition of the pairs do not matter.
    pub fn add_pattern(&mut self, members: &[(usize, usize)], weight: f64) -> Result<usize, ModelError> {
        let index = self.weights.len();
        if members.is_empty() {
            return Err(ModelError::Empty(format!("pattern {index}")));
        }
        for &(vertex, state) in members {
            check_index(format_args!("pattern {index}: vertex"), vertex, 0..self.vertices())?;
            let what = format_args!("pattern {index}: state of vertex {vertex}");
            check_index(what, state, 0..self.states(vertex))?;
        }
        check_score(format_args!("pattern {index}"), weight)?;
        let start = self.members.len();
        check_room(start + members.len(), "pattern members")?;
        self.members.extend(members.iter().map(|&(v, s)| Member { vertex: v as u32, state: s as u32 }));
        self.members[start..].sort_unstable();
        let mut kept = start + 1;
        for at in start + 1..self.members.len() {
            let (last, next) = (self.members[kept - 1], self.members[at]);
            if last == next {
                continue;
            }
            if last.vertex == next.vertex {
                self.members.truncate(start);
                let (vertex, first, second) = (last.vertex, last.state, next.state);
                let reason = format_args!("asks vertex {vertex} for states {first} and {second} at once");
                return Err(ModelError::unfit(format_args!("pattern {index}"), reason));
            }
            self.members[kept] = next;
            kept += 1;
        }
        self.members.truncate(kept);
        self.pattern_ends.push(kept as u32);
        self.weights.push(weight);
        let set = self.find_vertex_set(index);
        self.vertex_set.push(set);
        Ok(index)
    }

    /// The number of the vertex set of the pattern added last, new or old.
    fn find_vertex_set(&mut self, pattern: usize) -> u32 {
        let mut hasher = FxHasher::default();
        self.members(pattern).iter().for_each(|m| hasher.write_u32(m.vertex));
        let hash = hasher.finish();
        let first = self.set_by_hash.get(&hash).copied().unwrap_or(NO_SET);
        let mut set = first;
        let vertices = |p: usize| self.members(p).iter().map(|m| m.vertex);
        while set != NO_SET {
            let (same, before) = self.sets[set as usize];
            if vertices(same as usize).eq(vertices(pattern)) {
                return set;
            }
            set = before;
        }
        let new = self.sets.len() as u32;
        self.sets.push((pattern as u32, first));
        self.set_by_hash.insert(hash, new);
        new
    }

    /// Replaces the scores of a vertex's states.
    pub fn set_unary(&mut self, vertex: usize, scores: &[f64]) -> Result<(), ModelError> {
        check_index("vertex", vertex, 0..self.vertices())?;
        let slots = self.slots(vertex);
        check_length(format_args!("vertex {vertex}"), scores.len(), slots.len())?;
        check_scores(format_args!("vertex {vertex}"), scores)?;
        self.unary[slots].copy_from_slice(scores);
        Ok(())
    }

    /// Replaces the values of a table, in the order in which they were first given.
    pub fn set_table(&mut self, table: usize, values: &[f64]) -> Result<(), ModelError> {
        check_index("table", table, 0..self.tables.len())?;
        let Table { values: start, length, .. } = self.tables[table];
        check_length(format_args!("table {table}"), values.len(), length as usize)?;
        check_scores(format_args!("table {table}"), values)?;
        self.values[start as usize..(start + length) as usize].copy_from_slice(values);
        Ok(())
    }

    /// Replaces the weight of a pattern.
    pub fn set_pattern(&mut self, pattern: usize, weight: f64) -> Result<(), ModelError> {
        check_index("pattern", pattern, 0..self.weights.len())?;
        check_score(format_args!("pattern {pattern}"), weight)?;
        self.weights[pattern] = weight;
        Ok(())
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.first_slot.len().saturating_sub(1)
    }

    /// The number of states of a vertex.
    pub fn states(&self, vertex: usize) -> usize {
        self.slots(vertex).len()
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The two ends of an edge.
    pub fn ends(&self, edge: usize) -> (usize, usize) {
        (self.edges[edge].u as usize, self.edges[edge].v as usize)
    }

    /// The number of patterns.
    pub fn patterns(&self) -> usize {
        self.weights.len()
    }

    /// The score of an assignment (one state for each vertex): minus infinity if it is forbidden.
    ///
    /// # Panics
    /// If the assignment is too short or names a state that does not exist.
    pub fn value(&self, assignment: &[u32]) -> f64 {
        let unary: f64 = (0..self.vertices()).map(|v| self.unary(v)[assignment[v] as usize]).sum();
        let edges: f64 = (0..self.edges.len()).map(|e| self.edge_value(e, assignment)).sum();
        let patterns: f64 = (0..self.weights.len()).map(|p| self.pattern_value(p, assignment)).sum();
        unary + edges + patterns
    }

    pub(crate) fn edge_value(&self, edge: usize, assignment: &[u32]) -> f64 {
        let Edge { u, v, table } = self.edges[edge];
        let (row, column) = (assignment[u as usize], assignment[v as usize]);
        match self.table(table as usize) {
            TableView::Dense(values) => {
                values[row as usize * self.tables[table as usize].columns as usize + column as usize]
            }
            TableView::Sparse(cells, values) => {
                cells.iter().zip(values).filter(|(c, _)| **c == (row, column)).map(|(_, w)| w).sum()
            }
        }
    }

    pub(crate) fn pattern_value(&self, pattern: usize, assignment: &[u32]) -> f64 {
        let all = self.members(pattern).iter().all(|m| assignment[m.vertex as usize] == m.state);
        if all { self.weights[pattern] } else { 0.0 }
    }

    pub(crate) fn slots(&self, vertex: usize) -> std::ops::Range<usize> {
        self.first_slot[vertex] as usize..self.first_slot[vertex + 1] as usize
    }

    pub(crate) fn unary(&self, vertex: usize) -> &[f64] {
        &self.unary[self.slots(vertex)]
    }

    pub(crate) fn edge_table(&self, edge: usize) -> TableView<'_> {
        self.table(self.edges[edge].table as usize)
    }

    /// Adds an edge's table to `sum`, which has a row for each state of the edge's lower end if
    /// `lower_is_row`, else of its higher end, and a column for each state of the other.
    pub(crate) fn add_edge_table(&self, edge: usize, lower_is_row: bool, sum: &mut [f64]) {
        let Edge { u, v, .. } = self.edges[edge];
        let straight = (u < v) == lower_is_row;
        let (rows, columns) = (self.states(u as usize), self.states(v as usize));
        let place = |s: usize, t: usize| if straight { s * columns + t } else { t * rows + s };
        match self.edge_table(edge) {
            TableView::Dense(values) => {
                for (s, row) in values.chunks_exact(columns).enumerate() {
                    row.iter().enumerate().for_each(|(t, x)| sum[place(s, t)] += x);
                }
            }
            TableView::Sparse(cells, values) => {
                for (&(s, t), x) in cells.iter().zip(values) {
                    sum[place(s as usize, t as usize)] += x;
                }
            }
        }
    }

    pub(crate) fn members(&self, pattern: usize) -> &[Member] {
        let start = if pattern == 0 { 0 } else { self.pattern_ends[pattern - 1] as usize };
        &self.members[start..self.pattern_ends[pattern] as usize]
    }

    /// Patterns over the same vertices, and only they, have the same number.
    pub(crate) fn vertex_set(&self, pattern: usize) -> u32 {
        self.vertex_set[pattern]
    }

    pub(crate) fn weight(&self, pattern: usize) -> f64 {
        self.weights[pattern]
    }

    fn table(&self, table: usize) -> TableView<'_> {
        let Table { values, length, cells, .. } = self.tables[table];
        let contents = &self.values[values as usize..(values + length) as usize];
        match cells {
            DENSE => TableView::Dense(contents),
            first => TableView::Sparse(&self.cells[first as usize..(first + length) as usize], contents),
        }
    }
}

fn check_room(needed: usize, kind: &'static str) -> Result<(), ModelError> {
    if needed <= LIMIT { Ok(()) } else { Err(ModelError::too_large(kind, LIMIT)) }
}

/// The finite value that occurs most often in a table; zero if there is none.
pub(crate) fn most_frequent(scores: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = scores.iter().copied().filter(|s| s.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(0.0, |run| run[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_know_their_vertex_set() {
        let mut model = PatternModel::new();
        for _ in 0..4 {
            model.add_vertex(&[0.0, 0.0]).unwrap();
        }
        for (members, set) in [([0, 1, 2], 0), ([2, 1, 0], 0), ([1, 2, 3], 1), ([0, 2, 1], 0), ([0, 1, 3], 2)]
        {
            let pattern = model.add_pattern(&members.map(|v| (v, v % 2)), 1.0).unwrap();
            assert_eq!(model.vertex_set(pattern), set);
        }
    }
}
