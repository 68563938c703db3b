//! Forests: a graph whose tables tie variables two by two, without a cycle, is solved in one pass from the
//! leaves to the roots and one back (dynamic programming). It needs little more memory than the scores, where
//! a network of tables would hold several copies of them: chains of a million variables come this way.

use super::Limits;
use crate::certificate::{Certificate, Gap};
use crate::factor::Closed;
use crate::group::Factors;
use crate::model::{Graph, Literal};
use crate::oracle::dense::DenseTable;
use crate::oracle::lanes::largest;
use crate::solution::Solution;
use std::time::Instant;

/// What an edge says of joint states.
enum Scores<'a> {
    /// A score for each, the second variable's state changing fastest.
    Table(&'a [f64]),
    /// A score where the two variables are in these states; or, where it says so, in any other.
    Pair(f64, [(u32, bool); 2]),
}

impl Scores<'_> {
    /// The score of a joint state; the second variable has `columns` states.
    fn of(&self, first: usize, second: usize, columns: usize) -> f64 {
        match self {
            Scores::Table(scores) => scores[first * columns + second],
            Scores::Pair(score, literals) => {
                let holds = |(own, negated): (u32, bool), state| (own as usize == state) != negated;
                if holds(literals[0], first) && holds(literals[1], second) { *score } else { 0.0 }
            }
        }
    }

    fn magnitude(&self) -> f64 {
        match self {
            Scores::Table(scores) => largest(scores),
            Scores::Pair(score, _) => score.abs(),
        }
    }
}

/// The optimum of a forest; nothing if the graph is none.
pub(super) fn solve(graph: &Graph, limits: &Limits) -> Option<Solution> {
    let start = Instant::now();
    let forest = Forest::new(graph)?;
    let order = forest.leaves_first()?;
    let (assignment, bound) = forest.best(&order);
    let certificate = match bound {
        f64::NEG_INFINITY => Certificate::infeasible(),
        bound => Certificate::judge(Some(value(graph, &assignment)), bound, Gap::of(limits.gap, graph)),
    };
    let certificate = certificate.after(0, start.elapsed().as_secs_f64());
    let marginals = graph.slots_on(&assignment).into_iter().map(|on| on as u8 as f64).collect();
    Some(Solution::new(graph, certificate, assignment, marginals, Vec::new()))
}

fn first_best(scores: &[f64]) -> (u32, f64) {
    let better = |best: (u32, f64), (state, &score): (usize, &f64)| {
        if score > best.1 { (state as u32, score) } else { best }
    };
    scores.iter().enumerate().fold((0, f64::NEG_INFINITY), better)
}

/// Factors of one type, the first of which has this number among all.
enum Kin<'a> {
    Tables(u32, &'a Factors<DenseTable>),
    Pairs(u32, &'a Factors<Closed>),
}

/// A forest, with what is known of the best values in the states of each variable.
struct Forest<'a> {
    graph: &'a Graph,
    kin: Vec<Kin<'a>>,
    /// The variables of each factor: of a table over one, the same twice.
    ends: Vec<[u32; 2]>,
    starts: Vec<u32>,
    beliefs: Vec<f64>,
}

impl<'a> Forest<'a> {
    /// Variables and edges, where all factors are such.
    fn new(graph: &'a Graph) -> Option<Self> {
        // At most an edge and a table of its own for each variable.
        if graph.factors() > 2 * graph.variables() {
            return None;
        }
        let mut starts = Vec::with_capacity(graph.variables() + 1);
        let mut beliefs = Vec::with_capacity(graph.slots());
        for variable in 0..graph.variables() {
            starts.push(beliefs.len() as u32);
            if graph.is_binary(variable) {
                beliefs.push(0.0);
            }
            beliefs.extend_from_slice(&graph.scores[graph.slots_of(variable)]);
        }
        starts.push(u32::try_from(beliefs.len()).ok()?);
        let ends = Vec::with_capacity(graph.factors());
        let mut forest = Forest { graph, kin: Vec::new(), ends, starts, beliefs };
        for group in &graph.groups {
            let first = forest.ends.len() as u32;
            if let Some(tables) = group.of::<DenseTable>() {
                for (table, literals) in tables.iter() {
                    forest.table(table, literals)?;
                }
                forest.kin.push(Kin::Tables(first, tables));
            } else {
                let closed = group.of::<Closed>()?;
                for (kind, literals) in closed.iter() {
                    let (Closed::Pair(_), &[a, b]) = (kind, literals) else { return None };
                    let ends = [a, b].map(|literal| graph.slot_variable[literal.slot()]);
                    (ends[0] != ends[1]).then(|| forest.ends.push(ends))?;
                }
                forest.kin.push(Kin::Pairs(first, closed));
            }
        }
        Some(forest)
    }

    /// Adds a table over one or two whole variables.
    fn table(&mut self, table: &DenseTable, literals: &[Literal]) -> Option<()> {
        let mut ends = [u32::MAX; 2];
        let (mut from, mut count) = (0, 0);
        for states in table.states() {
            let variable = self.graph.slot_variable[literals[from].slot()];
            let own = self.graph.variable(variable as usize);
            let of_table = literals[from..from + states].iter().enumerate();
            let is_whole = own.states() == states && { of_table }.all(|(state, l)| *l == own.is(state));
            *ends.get_mut(count).filter(|_| is_whole)? = variable;
            (from, count) = (from + states, count + 1);
        }
        if count == 1 {
            ends[1] = ends[0];
            let start = self.starts[ends[0] as usize] as usize;
            self.beliefs[start..].iter_mut().zip(table.table()).for_each(|(own, score)| *own += score);
        }
        self.ends.push(ends);
        Some(())
    }

    /// The factors over two variables.
    fn edges(&self) -> impl Iterator<Item = u32> {
        (0..self.ends.len() as u32).filter(|&edge| self.ends[edge as usize][0] != self.ends[edge as usize][1])
    }

    fn scores(&self, edge: u32) -> Scores<'a> {
        let first = |kin: &Kin<'_>| match kin {
            Kin::Tables(first, _) | Kin::Pairs(first, _) => *first,
        };
        let place = self.kin.partition_point(|kin| first(kin) <= edge) - 1;
        match &self.kin[place] {
            Kin::Tables(first, tables) => Scores::Table(tables.factor((edge - first) as usize).0.table()),
            Kin::Pairs(first, pairs) => {
                let (kind, literals) = pairs.factor((edge - first) as usize);
                let score = if let Closed::Pair(score) = kind { *score } else { 0.0 };
                Scores::Pair(score, [literals[0], literals[1]].map(|literal| named(self.graph, literal)))
            }
        }
    }

    fn belief(&self, variable: u32) -> &[f64] {
        let v = variable as usize;
        &self.beliefs[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    fn magnitude(&self) -> f64 {
        let own: f64 = (0..self.starts.len() as u32 - 1).map(|v| largest(self.belief(v))).sum();
        own + self.edges().map(|edge| self.scores(edge).magnitude()).sum::<f64>()
    }

    /// The other end of an edge.
    fn other(&self, end: u32, edge: u32) -> u32 {
        let ends = self.ends[edge as usize];
        if ends[0] == end { ends[1] } else { ends[0] }
    }

    /// Every edge once, with the end that has no other edge left; nothing where there is a cycle.
    fn leaves_first(&self) -> Option<Vec<(u32, u32)>> {
        let mut degree = vec![0u32; self.starts.len() - 1];
        // Of the edges that are left around a variable, all numbers together: of one, its own.
        let mut around = vec![0u32; degree.len()];
        let mut edges = 0;
        for edge in self.edges() {
            for end in self.ends[edge as usize] {
                degree[end as usize] += 1;
                around[end as usize] ^= edge;
            }
            edges += 1;
        }
        if edges >= degree.len().max(1) {
            return None;
        }
        let mut order = Vec::with_capacity(edges);
        for first in 0..degree.len() {
            let mut leaf = first as u32;
            while degree[leaf as usize] == 1 {
                let edge = around[leaf as usize];
                order.push((leaf, edge));
                degree[leaf as usize] = 0;
                leaf = self.other(leaf, edge);
                degree[leaf as usize] -= 1;
                around[leaf as usize] ^= edge;
                if leaf as usize > first {
                    break;
                }
            }
        }
        (order.len() == edges).then_some(order)
    }

    /// The best assignment and a bound on its value, minus infinity if nothing is allowed. Edges come in their order.
    fn best(mut self, order: &[(u32, u32)]) -> (Vec<u32>, f64) {
        let graph = self.graph;
        let magnitude = self.magnitude() + graph.offset.abs();
        // What each leaf chooses for every state of the variable that it hangs from.
        let mut choices: Vec<u32> = Vec::with_capacity(
            order.iter().map(|&(leaf, edge)| self.belief(self.other(leaf, edge)).len()).sum(),
        );
        let mut assignment = vec![0; graph.variables()];
        for &(leaf, edge) in order {
            self.send(leaf, edge, &mut choices);
            assignment[leaf as usize] = u32::MAX;
        }
        let mut total = graph.offset;
        for root in 0..graph.variables() as u32 {
            if assignment[root as usize] == 0 {
                let (state, best) = first_best(self.belief(root));
                assignment[root as usize] = state;
                total += best;
            }
        }
        let mut end = choices.len();
        for &(leaf, edge) in order.iter().rev() {
            let from = self.other(leaf, edge);
            end -= self.belief(from).len();
            assignment[leaf as usize] = choices[end + assignment[from as usize] as usize];
        }
        // As many sums as there are variables and factors, each rounded.
        let sums = (8 + graph.variables() + graph.factors()) as f64;
        (assignment, total + f64::EPSILON * sums * magnitude)
    }

    /// Adds to the states at the other end what the leaf is worth with them at best, and its choices.
    fn send(&mut self, leaf: u32, edge: u32, choices: &mut Vec<u32>) {
        let (ends, scores) = (self.ends[edge as usize], self.scores(edge));
        let to = self.other(leaf, edge) as usize;
        let own = self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize;
        let (columns, leaf_first) = (self.belief(ends[1]).len(), ends[0] == leaf);
        for (place, state) in (self.starts[to] as usize..self.starts[to + 1] as usize).zip(0..) {
            let (mut best, mut choice) = (f64::NEG_INFINITY, 0);
            for (own_state, own) in self.beliefs[own.clone()].iter().enumerate() {
                let (first, second) = if leaf_first { (own_state, state) } else { (state, own_state) };
                let value = own + scores.of(first, second, columns);
                if value > best {
                    (best, choice) = (value, own_state as u32);
                }
            }
            self.beliefs[place] += best;
            choices.push(choice);
        }
    }
}

/// The state that a literal names, and whether any other is meant.
fn named(graph: &Graph, literal: Literal) -> (u32, bool) {
    let variable = graph.slot_variable[literal.slot()] as usize;
    let state = if graph.is_binary(variable) { 1 } else { literal.slot() - graph.slots_of(variable).start };
    (state as u32, literal.is_negated())
}

/// The value of an assignment, without what a graph of any factors would need for it.
fn value(graph: &Graph, assignment: &[u32]) -> f64 {
    let on = graph.slots_on(assignment);
    let holds = |literal: Literal| on[literal.slot()] != literal.is_negated();
    let own: f64 = graph.scores.iter().zip(&on).filter(|(_, on)| **on).map(|(score, _)| score).sum();
    let mut sum = graph.offset + own;
    for (kind, literals) in graph.closed() {
        if let Closed::Pair(score) = kind
            && literals.iter().all(|&literal| holds(literal))
        {
            sum += score;
        }
    }
    for (table, mut literals) in
        graph.groups.iter().filter_map(|g| g.of::<DenseTable>()).flat_map(|g| g.iter())
    {
        let mut entry = 0;
        for states in table.states() {
            let (own, rest) = literals.split_at(states);
            entry = entry * states + own.iter().position(|&literal| holds(literal)).unwrap_or(0);
            literals = rest;
        }
        sum += table.table()[entry];
    }
    sum
}
