//! From one component of a pattern model to its two slaves.
//!
//! The tree slave keeps the vertices' scores and a spanning forest of the edges. Everything else becomes products with
//! positive weight over *literals* ("vertex `v` has state `s`", or "has not"), which the cut slave takes. The two forms of
//! reduction differ in how negative weights get there; see [`Reduction`].

use super::Reduction;
use crate::cut::PseudoBoolean;
use crate::pattern::{Forest, Member, PatternModel, TableView};
use crate::solver::master::{Component, SpanningTree, magnitude};
use rustc_hash::FxHashMap;

pub(super) const NONE: u32 = u32::MAX;

/// What the cut slave knows of a vertex: whether it has a state, or whether it has not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal {
    pub(super) vertex: u32,
    pub(super) state: u32,
    pub(super) slot: u32,
    pub(super) negated: bool,
}

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
struct Cell {
    s: u32,
    t: u32,
    weight: f64,
    next: u32,
}

/// A product of literals with positive weight, or (for [`Reduction::Lifted`]) the sum of pairs minus the product.
#[derive(Clone, Copy, Debug)]
struct Term {
    end: u32,
    weight: f64,
    lifted: bool,
}

/// The two slaves of one component, with the buffers to build them.
#[derive(Clone, Debug, Default)]
pub(super) struct Slaves {
    /// Slots of local vertex `v` are `first_slot[v]..first_slot[v + 1]`; the vertices of the component come first, then
    /// the witnesses of negative patterns.
    pub(super) first_slot: Vec<u32>,
    /// Scores of the tree slave before multipliers.
    pub(super) base: Vec<f64>,
    /// What both slaves leave out of the model's value.
    pub(super) constant: f64,
    pub(super) forest: Forest,
    pub(super) function: PseudoBoolean,
    pub(super) literals: Vec<Literal>,
    /// The literal that says a slot is on, or `NONE`.
    pub(super) plain: Vec<u32>,
    /// The literal that says a slot is off, or `NONE`.
    pub(super) negated: Vec<u32>,
    /// The weight that products would give each literal if they split it evenly.
    pub(super) share: Vec<f64>,
    /// Sum of the largest absolute scores of all parts: no feasible assignment scores below its negative.
    pub(super) magnitude: f64,
    /// What breaking a hard constraint costs: more than all finite scores can bring.
    pub(super) penalty: f64,

    pairs: Vec<Pair>,
    pair_index: FxHashMap<(u32, u32), u32>,
    next_edge: Vec<u32>,
    cells: Vec<Cell>,
    triples: Vec<u32>,
    members: Vec<u32>,
    terms: Vec<Term>,
    witnesses: Vec<(u32, u32, f64)>,
    tree: SpanningTree,
    table: Vec<f64>,
}

impl Slaves {
    /// Builds the slaves of a component. `local` maps its vertices to `0..n`; edges for which `preferred` holds go to the tree first.
    pub(super) fn build(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        reduction: Reduction,
        preferred: impl Fn(u32) -> bool,
    ) {
        self.reset(model, component);
        self.collect_pairs(model, component, local);
        self.split_patterns(model, component, local, reduction);
        if reduction == Reduction::Witness {
            self.merge_triples(model, local);
        }
        self.plant(model, component, preferred);
        for index in 0..self.pairs.len() {
            if !self.tree.has(index) {
                match reduction {
                    Reduction::Witness => self.split_pair(model, component, index),
                    Reduction::Lifted => self.lift_pair(model, component, index),
                }
            }
        }
        self.state_function();
    }

    fn reset(&mut self, model: &PatternModel, component: &Component) {
        self.first_slot.clear();
        self.first_slot.push(0);
        self.base.clear();
        for &v in &component.vertices {
            self.base.extend_from_slice(model.unary(v as usize));
            self.first_slot.push(self.base.len() as u32);
        }
        self.constant = 0.0;
        self.literals.clear();
        self.plain.clear();
        self.plain.resize(self.base.len(), NONE);
        self.negated.clear();
        self.negated.resize(self.base.len(), NONE);
        self.pairs.clear();
        self.pair_index.clear();
        self.next_edge.clear();
        self.cells.clear();
        self.triples.clear();
        self.members.clear();
        self.terms.clear();
        self.witnesses.clear();
        self.magnitude = magnitude(model, component);
        self.penalty = if self.magnitude > 0.0 { 2.5 * self.magnitude } else { 1.0 };
    }

    fn slot(&self, vertex: u32, state: u32) -> usize {
        (self.first_slot[vertex as usize] + state) as usize
    }

    pub(super) fn states(&self, vertex: u32) -> usize {
        (self.first_slot[vertex as usize + 1] - self.first_slot[vertex as usize]) as usize
    }

    /// Adds to the score of a slot; a forbidden one stays forbidden.
    fn add_base(&mut self, vertex: u32, state: u32, weight: f64) {
        let slot = self.slot(vertex, state);
        self.base[slot] += weight;
    }

    fn soft(&self, weight: f64) -> f64 {
        weight.max(-self.penalty)
    }

    /// Merges the edges that join the same two vertices.
    fn collect_pairs(&mut self, model: &PatternModel, component: &Component, local: &[u32]) {
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

    fn add_cell(&mut self, (a, s): (u32, u32), (b, t): (u32, u32), weight: f64) {
        let pair = self.pair(a, b);
        let (s, t) = if a < b { (s, t) } else { (t, s) };
        self.cells.push(Cell { s, t, weight, next: self.pairs[pair].first_cell });
        self.pairs[pair].first_cell = self.cells.len() as u32 - 1;
    }

    /// Sends each pattern where it belongs: to a vertex, to a pair, to the triples that wait to be merged, to the cut.
    fn split_patterns(
        &mut self,
        model: &PatternModel,
        component: &Component,
        local: &[u32],
        reduction: Reduction,
    ) {
        for &p in &component.patterns {
            if let [m] = model.members(p as usize) {
                self.add_base(local[m.vertex as usize], m.state, model.weight(p as usize));
            }
        }
        for &p in &component.patterns {
            let members = model.members(p as usize);
            let weight = self.soft(model.weight(p as usize));
            let here = |m: &Member| (local[m.vertex as usize], m.state);
            let possible = members.iter().all(|m| {
                let (v, s) = here(m);
                self.base[self.slot(v, s)] > f64::NEG_INFINITY
            });
            if members.len() < 2 || weight == 0.0 || !possible {
                continue;
            }
            if let [a, b] = members {
                self.add_cell(here(a), here(b), model.weight(p as usize));
            } else if reduction == Reduction::Lifted {
                if weight < 0.0 {
                    for (i, a) in members.iter().enumerate() {
                        for b in &members[..i] {
                            self.add_cell(here(a), here(b), weight);
                        }
                    }
                }
                self.add_term(members.iter().map(|m| (here(m), false)), weight.abs(), weight < 0.0);
            } else if members.len() == 3 && members.iter().all(|m| self.states(here(m).0) == 2) {
                self.triples.push(p);
            } else {
                self.add_signed_product(members.iter().map(here), weight);
            }
        }
    }

    /// Adds `weight · Π x_i` of either sign.
    ///
    /// A negative product is `−w Π x_i = max over i of w (1 − x_i) − w`: whichever member fails is the *witness* that it
    /// does not count. The choice of witness becomes a vertex of the tree slave, its link to each member a pair. Relaxed this
    /// is `w min(1, Σ (1 − μ_i)) − w`, the tightest concave bound, whereas reductions by pair products are looser.
    fn add_signed_product(&mut self, members: impl Iterator<Item = (u32, u32)> + Clone, weight: f64) {
        if weight > 0.0 {
            self.add_term(members.map(|m| (m, false)), weight, false);
            return;
        }
        let loss = -weight;
        self.constant -= loss;
        let witness = self.first_slot.len() as u32 - 1;
        let size = members.clone().count();
        self.base.extend(std::iter::repeat_n(0.0, size));
        self.plain.resize(self.base.len(), NONE);
        self.negated.resize(self.base.len(), NONE);
        self.first_slot.push(self.base.len() as u32);
        for (i, (v, s)) in members.enumerate() {
            if i == 0 {
                self.witnesses.push((v, s, loss));
            } else {
                self.add_term([((v, s), true), ((witness, i as u32), false)].into_iter(), loss, false);
            }
        }
    }

    /// Merges patterns over the same three binary vertices into one product and three pairs.
    ///
    /// A function of three bits is `C l₁l₂l₃` plus a quadratic rest, for literals `l` with the parity that makes `C`
    /// positive. Of the four choices the one with the weakest pairs is taken; pairs join the edges, so that many meet on one
    /// and some end up in the tree.
    fn merge_triples(&mut self, model: &PatternModel, local: &[u32]) {
        let mut triples = std::mem::take(&mut self.triples);
        let vertices = |p: u32| {
            let m = model.members(p as usize);
            [m[0].vertex, m[1].vertex, m[2].vertex]
        };
        triples.sort_by_key(|&p| (vertices(p), p));
        for group in triples.chunk_by(|&p, &q| vertices(p) == vertices(q)) {
            let ends = vertices(group[0]).map(|v| local[v as usize]);
            if let [p] = *group {
                let weight = self.soft(model.weight(p as usize));
                self.add_signed_product(
                    model.members(p as usize).iter().map(|m| (local[m.vertex as usize], m.state)),
                    weight,
                );
                continue;
            }
            let mut table = [0.0; 8];
            for &p in group {
                let m = model.members(p as usize);
                table[(m[0].state | m[1].state << 1 | m[2].state << 2) as usize] +=
                    self.soft(model.weight(p as usize));
            }
            self.add_bits(ends, &table);
        }
        self.triples = triples;
    }

    fn add_bits(&mut self, ends: [u32; 3], table: &[f64; 8]) {
        let cubic: f64 = (0..8u32)
            .map(|x| if x.count_ones() % 2 == 1 { table[x as usize] } else { -table[x as usize] })
            .sum();
        let rest_without = |flips: u32| {
            let mut rest = *table;
            rest[(7 ^ flips) as usize] -= cubic.abs();
            rest
        };
        let pair_weight = |rest: &[f64; 8], i: usize, j: usize| {
            rest[1 << i | 1 << j] - rest[1 << i] - rest[1 << j] + rest[0]
        };
        const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];
        let strength = |flips: u32| {
            let rest = rest_without(flips);
            PAIRS.iter().map(|&(i, j)| pair_weight(&rest, i, j).abs()).sum::<f64>()
        };
        let parity = u32::from(cubic < 0.0);
        let choices = (0..8u32).filter(|f| f.count_ones() % 2 == parity);
        let flips = choices.min_by(|&a, &b| strength(a).total_cmp(&strength(b))).unwrap_or(0);
        let rest = rest_without(flips);
        self.constant += rest[0];
        for i in 0..3 {
            self.add_base(ends[i], 1, rest[1 << i] - rest[0]);
        }
        for (i, j) in PAIRS {
            self.add_cell((ends[i], 1), (ends[j], 1), pair_weight(&rest, i, j));
        }
        if cubic != 0.0 {
            let literal = |i: usize| ((ends[i], 1 ^ (flips >> i & 1)), false);
            self.add_term([literal(0), literal(1), literal(2)].into_iter(), cubic.abs(), false);
        }
    }

    /// Adds a term over literals given as ((vertex, state), negated); drops it if a literal can never hold.
    fn add_term(&mut self, literals: impl Iterator<Item = ((u32, u32), bool)>, weight: f64, lifted: bool) {
        let start = self.members.len();
        for ((vertex, state), negated) in literals {
            match self.literal(vertex, state, negated) {
                Some(literal) => self.members.push(literal),
                None => return self.members.truncate(start),
            }
        }
        self.terms.push(Term { end: self.members.len() as u32, weight, lifted });
    }

    fn literal(&mut self, vertex: u32, state: u32, negated: bool) -> Option<u32> {
        // "Not the one" is "the other" when there are two.
        let (state, negated) =
            if negated && self.states(vertex) == 2 { (1 - state, false) } else { (state, negated) };
        let slot = self.slot(vertex, state);
        if !negated && self.base[slot] == f64::NEG_INFINITY {
            return None;
        }
        let index = if negated { &mut self.negated[slot] } else { &mut self.plain[slot] };
        if *index == NONE {
            *index = self.literals.len() as u32;
            self.literals.push(Literal { vertex, state, slot: slot as u32, negated });
        }
        Some(*index)
    }

    /// Chooses the spanning forest and fills its tables.
    fn plant(&mut self, model: &PatternModel, component: &Component, preferred: impl Fn(u32) -> bool) {
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

    /// Whether a pair forbids something, whether the cut slave would be loose on it, and how much it can change the value.
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
        table.clear();
        table.resize(self.states(pair.u) * columns, 0.0);
        for at in self.edges_of(pair) {
            model.add_edge_table(component.edges[at] as usize, true, &mut table);
        }
        for cell in self.cells_of(pair) {
            table[cell.s as usize * columns + cell.t as usize] += cell.weight;
        }
        self.table = table;
    }

    /// Sends a pair to the cut slave, with as little psi as suffices: unary parts are taken out first.
    fn split_pair(&mut self, model: &PatternModel, component: &Component, index: usize) {
        let Pair { u, v, .. } = self.pairs[index];
        self.fill_table(model, component, index);
        let mut table = std::mem::take(&mut self.table);
        table.iter_mut().for_each(|x| *x = x.max(-self.penalty));
        let (rows, columns) = (self.states(u), self.states(v));
        if (rows, columns) == (2, 2) {
            let interaction = table[0] + table[3] - table[1] - table[2];
            self.constant += table[0];
            self.add_base(u, 1, table[2] - table[0]);
            self.add_base(v, 1, table[1] - table[0]);
            self.add_signed_pair(u, 1, v, 1, interaction);
        } else {
            let usual = most_frequent(&table);
            let exceptions = table.iter().filter(|&&x| x != usual).count();
            if exceptions <= rows.max(columns) {
                self.constant += usual;
                for (at, &x) in table.iter().enumerate().filter(|&(_, &x)| x != usual) {
                    self.add_signed_pair(u, (at / columns) as u32, v, (at % columns) as u32, x - usual);
                }
            } else {
                self.take_out_minima(u, v, &mut table);
                for (at, &x) in table.iter().enumerate().filter(|&(_, &x)| x > 0.0) {
                    self.add_signed_pair(u, (at / columns) as u32, v, (at % columns) as u32, x);
                }
            }
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
    fn lift_pair(&mut self, model: &PatternModel, component: &Component, index: usize) {
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

    fn state_function(&mut self) {
        self.function.reset(self.literals.len());
        self.share.clear();
        self.share.resize(self.literals.len(), 0.0);
        let mut start = 0;
        for term in &self.terms {
            let members = &self.members[start..term.end as usize];
            start = term.end as usize;
            let added = if term.lifted {
                self.function.add_pairs_minus_product(members, term.weight)
            } else {
                self.function.add_product(members, term.weight)
            };
            debug_assert!(added.is_ok(), "{added:?}");
            let top = if term.lifted { (members.len() * (members.len() - 1) / 2 - 1) as f64 } else { 1.0 };
            for &m in members {
                self.share[m as usize] += top * term.weight / members.len() as f64;
            }
        }
    }
}

fn most_frequent(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let longest = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
    longest.map_or(0.0, |run| run[0])
}
