//! Pairs of vertices: which the tree keeps, and how the others reach the cut.

use super::reduce::{NONE, Slaves};
use crate::flat::Refill;
use crate::pattern::{PatternModel, TableView, most_frequent};
use crate::solver::master::Component;

/// A pair of vertices with everything that concerns the two alone: a list of edges and a list of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// Local index of the lower end.
    pub(super) u: u32,
    /// Local index of the higher end.
    pub(super) v: u32,
    first_edge: u32,
    first_cell: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    s: u32,
    t: u32,
    weight: f64,
    next: u32,
}

impl Slaves {
    /// Merges the edges that join the same two vertices.
    pub(super) fn collect_pairs(&mut self, model: &PatternModel, component: &Component, local: &[u32]) {
        for (at, &edge) in component.edges.iter().enumerate() {
            let (u, v) = model.ends(edge as usize);
            let pair = self.pair(local[u], local[v]);
            self.next_edge.push(self.pairs[pair].first_edge);
            self.pairs[pair].first_edge = at as u32;
        }
    }

    fn pair(&mut self, a: u32, b: u32) -> usize {
        let (u, v) = (a.min(b), a.max(b));
        let new = self.pairs.len() as u32;
        let index = *self.pair_index.entry((u, v)).or_insert(new);
        if index == new {
            self.pairs.push(Pair { u, v, first_edge: NONE, first_cell: NONE });
        }
        index as usize
    }

    pub(super) fn add_cell(&mut self, (a, s): (u32, u32), (b, t): (u32, u32), weight: f64) {
        let pair = self.pair(a, b);
        let (s, t) = if a < b { (s, t) } else { (t, s) };
        self.cells.push(Cell { s, t, weight, next: self.pairs[pair].first_cell });
        self.pairs[pair].first_cell = self.cells.len() as u32 - 1;
    }

    /// Chooses the spanning forest and fills its tables.
    pub(super) fn plant(
        &mut self,
        model: &PatternModel,
        component: &Component,
        preferred: impl Fn(u32) -> bool,
    ) {
        let mut tree = std::mem::take(&mut self.tree);
        let vertices = component.vertices.len();
        tree.clear();
        for index in 0..self.pairs.len() {
            let pair = self.pairs[index];
            let given = self.edges_of(pair).any(|at| preferred(component.edges[at]));
            let (hard, dense, strength) = self.weigh(model, component, index);
            tree.offer(pair.u, pair.v, [given, hard, dense], strength);
        }
        tree.choose(vertices);
        self.forest.reset(&self.first_slot);
        let mut forest = std::mem::take(&mut self.forest);
        tree.visit(vertices, |vertex, above| match above {
            None => {
                forest.push(vertex as usize, None);
            }
            Some((parent, pair)) => {
                self.fill_table(model, component, pair);
                let columns = self.states(self.pairs[pair].v);
                let rows_are_child = self.pairs[pair].u == vertex;
                let width = self.states(parent);
                let out = forest.push(vertex as usize, Some(parent as usize));
                for (at, x) in out.iter_mut().enumerate() {
                    let (child, up) = (at / width, at % width);
                    *x = self.table[if rows_are_child { child * columns + up } else { up * columns + child }];
                }
            }
        });
        for (i, &(v, s, loss)) in self.witnesses.iter().enumerate() {
            let width = self.states(v);
            let out = forest.push(vertices + i, Some(v as usize));
            for (state, x) in out[..width].iter_mut().enumerate() {
                *x = if state as u32 == s { 0.0 } else { loss };
            }
        }
        self.forest = forest;
        self.tree = tree;
    }

    fn edges_of(&self, pair: Pair) -> impl Iterator<Item = usize> + '_ {
        let first = (pair.first_edge != NONE).then_some(pair.first_edge);
        std::iter::successors(first, |&at| Some(self.next_edge[at as usize]).filter(|&next| next != NONE))
            .map(|at| at as usize)
    }

    fn cells_of(&self, pair: Pair) -> impl Iterator<Item = Cell> + '_ {
        let first = (pair.first_cell != NONE).then_some(pair.first_cell);
        std::iter::successors(first, |&at| Some(self.cells[at as usize].next).filter(|&next| next != NONE))
            .map(|at| self.cells[at as usize])
    }

    /// Whether a pair forbids something, whether the cut slave would be loose on it, and how much it can
    /// change the value.
    fn weigh(&mut self, model: &PatternModel, component: &Component, index: usize) -> (bool, bool, f64) {
        let pair = self.pairs[index];
        let binary = self.states(pair.u) == 2 && self.states(pair.v) == 2;
        let dense = self
            .edges_of(pair)
            .any(|at| matches!(model.edge_table(component.edges[at] as usize), TableView::Dense(_)));
        if binary {
            self.fill_table(model, component, index);
            let hard = self.table.contains(&f64::NEG_INFINITY);
            return (hard, false, self.interaction().abs());
        }
        let (mut low, mut high, mut hard) = (0.0f64, 0.0f64, false);
        let mut note = |x: f64| {
            hard |= x == f64::NEG_INFINITY;
            if x.is_finite() {
                (low, high) = (low.min(x), high.max(x));
            }
        };
        for at in self.edges_of(pair) {
            match model.edge_table(component.edges[at] as usize) {
                TableView::Dense(values) | TableView::Sparse(_, values) => {
                    values.iter().for_each(|&x| note(x))
                }
            }
        }
        self.cells_of(pair).for_each(|c| note(c.weight));
        (hard, dense, high - low)
    }

    /// The mixed difference of a 2 by 2 table: all that remains when unary parts are taken out.
    fn interaction(&self) -> f64 {
        let t = [0, 1, 2, 3].map(|i| self.soft(self.table[i]));
        t[0] + t[3] - t[1] - t[2]
    }

    /// Sums everything that concerns a pair into `table`, rows for the states of its lower end.
    fn fill_table(&mut self, model: &PatternModel, component: &Component, index: usize) {
        let pair = self.pairs[index];
        let columns = self.states(pair.v);
        let mut table = std::mem::take(&mut self.table);
        table.refill(self.states(pair.u) * columns, 0.0);
        for at in self.edges_of(pair) {
            model.add_edge_table(component.edges[at] as usize, true, &mut table);
        }
        for cell in self.cells_of(pair) {
            table[cell.s as usize * columns + cell.t as usize] += cell.weight;
        }
        self.table = table;
    }

    /// Sends a pair to the cut slave, with no more psi than needed: parts that depend on one end alone are
    /// taken out first. If the cut would be looser than a slave of its own, it gets one.
    pub(super) fn split_pair(&mut self, model: &PatternModel, component: &Component, index: usize) {
        let Pair { u, v, .. } = self.pairs[index];
        self.fill_table(model, component, index);
        let mut table = std::mem::take(&mut self.table);
        table.iter_mut().for_each(|x| *x = x.max(-self.penalty));
        let columns = self.states(v);
        if (self.states(u), columns) == (2, 2) {
            let interaction = table[0] + table[3] - table[1] - table[2];
            self.constant += table[0];
            self.add_base(u, 1, table[2] - table[0]);
            self.add_base(v, 1, table[1] - table[0]);
            self.add_signed_pair(u, 1, v, 1, interaction);
            self.table = table;
            return;
        }
        let usual = most_frequent(&table);
        self.constant += usual;
        table.iter_mut().for_each(|x| *x -= usual);
        let same_sign = table.iter().all(|&x| x >= 0.0) || table.iter().all(|&x| x <= 0.0);
        let mut disjoint = same_sign && is_matching(&table, columns);
        if !disjoint {
            self.take_out_minima(u, v, &mut table);
            disjoint = is_matching(&table, columns);
        }
        if disjoint {
            for (at, &x) in table.iter().enumerate() {
                self.add_signed_pair(u, (at / columns) as u32, v, (at % columns) as u32, x);
            }
        } else {
            self.group_vertices.extend([u, v]);
            let cell =
                |(at, &x): (usize, &f64)| ([(at / columns) as u32, (at % columns) as u32].into_iter(), x);
            self.groups.push([self.states(u), columns].into_iter(), table.iter().enumerate().map(cell));
        }
        self.table = table;
    }

    /// Moves the minimum of each row, then of each column, to the vertices' scores.
    fn take_out_minima(&mut self, u: u32, v: u32, table: &mut [f64]) {
        let columns = self.states(v);
        for (s, row) in table.chunks_exact_mut(columns).enumerate() {
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            row.iter_mut().for_each(|x| *x -= least);
            self.add_base(u, s as u32, least);
        }
        for t in 0..columns {
            let least = table[t..].iter().step_by(columns).copied().fold(f64::INFINITY, f64::min);
            table[t..].iter_mut().step_by(columns).for_each(|x| *x -= least);
            self.add_base(v, t as u32, least);
        }
    }

    /// Adds `weight · x_u x_v`; a negative weight through `−w x_u x_v = w (1 − x_u) x_v − w x_v`.
    fn add_signed_pair(&mut self, u: u32, s: u32, v: u32, t: u32, weight: f64) {
        let forbidden = |this: &Self, v, s| this.base[this.slot(v, s)] == f64::NEG_INFINITY;
        if weight == 0.0 || forbidden(self, u, s) || forbidden(self, v, t) {
            return;
        }
        if weight < 0.0 {
            self.add_base(v, t, weight);
        }
        self.add_term([((u, s), weight < 0.0), ((v, t), false)].into_iter(), weight.abs(), false);
    }

    /// Sends a pair to the cut slave as in the paper: psi is added to every cell, so that none is negative.
    pub(super) fn lift_pair(&mut self, model: &PatternModel, component: &Component, index: usize) {
        let Pair { u, v, .. } = self.pairs[index];
        self.fill_table(model, component, index);
        let table = std::mem::take(&mut self.table);
        let columns = self.states(v);
        let psi = -table.iter().map(|&x| self.soft(x)).fold(0.0, f64::min);
        self.constant -= psi;
        for (at, &x) in table.iter().enumerate() {
            let weight = self.soft(x) + psi;
            if weight > 0.0 {
                let (s, t) = ((at / columns) as u32, (at % columns) as u32);
                self.add_term([((u, s), false), ((v, t), false)].into_iter(), weight, false);
            }
        }
        self.table = table;
    }
}

/// Whether no row and no column of a table has two cells that are not zero.
fn is_matching(table: &[f64], columns: usize) -> bool {
    let at_most_one =
        |mut cells: &mut dyn Iterator<Item = &f64>| (&mut cells).filter(|&&x| x != 0.0).count() <= 1;
    table.chunks_exact(columns).all(|row| at_most_one(&mut row.iter()))
        && (0..columns).all(|t| at_most_one(&mut table[t..].iter().step_by(columns)))
}
