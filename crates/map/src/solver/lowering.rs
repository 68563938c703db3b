//! A graph as a network of tables, where its factors allow it.
//!
//! The exact solver works on tables. Logic factors become tables where they are small; an exactly-one or
//! at-most-one over many binary variables becomes one variable with a state for each; other large logic
//! factors become a chain of small tables over running totals. Factors known only by an oracle have no table:
//! such graphs go to branch and bound over AD3.

use super::exact::network::reordered;
use super::exact::{Network, Table};
use crate::factor::Closed;
use crate::model::{Graph, Literal, ModelError};
use crate::oracle::arborescence::Arborescence;
use crate::oracle::dense::DenseTable;
use crate::oracle::sequence::Sequence;
use crate::oracle::tree_labelling::TreeLabelling;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// A logic factor becomes one table up to this many joint states.
const MAX_JOINT_STATES: usize = 4096;

/// The tables of a running total may have this many entries together; beyond that, branching over AD3 does
/// better.
const MAX_TOTAL_ENTRIES: usize = 1 << 20;

/// So may the tables of all logic factors of a graph: where there are more, making them takes longer than
/// they are worth.
const MAX_LOGIC_ENTRIES: usize = 1 << 23;

/// A network equivalent to a graph, and where each slot went.
pub(crate) struct Lowering {
    pub network: Network,
    sites: Vec<Site>,
    totals: Vec<Total>,
}

/// A variable of the network that is a running total.
struct Total {
    variable: usize,
    before: Option<usize>,
    site: Site,
    negated: bool,
    cost: usize,
    cap: usize,
}

/// A score that counts when all of some (variable, state) pairs hold.
pub(crate) struct SparsePattern {
    pub members: Vec<(usize, usize)>,
    pub weight: f64,
}

/// A slot is on exactly when `variable` of the network is in `state`.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub variable: usize,
    pub state: usize,
}

/// Sizes and tables, gathered before a network or a pattern model is made.
pub(crate) struct Draft {
    pub sizes: Vec<usize>,
    pub sites: Vec<Site>,
    pub tables: Vec<(Vec<usize>, Vec<f64>)>,
    pub patterns: Vec<SparsePattern>,
    pub constant: f64,
    totals: Vec<Total>,
    /// Entries that the tables of logic factors may still have.
    room: usize,
    /// Where the pair tables of at-most-one factors are in `tables`.
    exclusions: FxHashMap<(usize, usize), usize>,
}

impl Draft {
    /// The variables of a graph, without tables, and the factors that merging made superfluous, as (group,
    /// factor).
    pub(crate) fn variables(graph: &Graph) -> (Draft, FxHashSet<(usize, usize)>) {
        let mut draft = Draft {
            sizes: Vec::new(),
            sites: Vec::new(),
            tables: Vec::new(),
            patterns: Vec::new(),
            constant: graph.offset,
            totals: Vec::new(),
            room: usize::MAX,
            exclusions: FxHashMap::default(),
        };
        let merged = draft.place_variables(graph);
        (draft, merged)
    }

    /// The tables of a graph; nothing when a factor has none. With `sparse`, a variable that only stands for
    /// the AND or OR of others becomes a pattern over those; its own table is all zero.
    pub(crate) fn new(graph: &Graph, sparse: bool) -> Option<Draft> {
        let (mut draft, merged) = Draft::variables(graph);
        if !sparse {
            draft.room = MAX_LOGIC_ENTRIES;
        }
        let mut scores = graph.scores.clone();
        let mut degree = vec![0u32; if sparse { graph.slots() } else { 0 }];
        if sparse {
            graph.groups.iter().flat_map(|g| g.links()).for_each(|l| degree[l.slot()] += 1);
        }
        for (g, group) in graph.groups.iter().enumerate() {
            if let Some(closed) = group.of::<Closed>() {
                for (_, (kind, literals)) in
                    closed.iter().enumerate().filter(|(f, _)| !merged.contains(&(g, *f)))
                {
                    let output = literals[literals.len() - 1].slot();
                    let absorbed = *kind == Closed::OrWithOutput
                        && degree.get(output) == Some(&1)
                        && scores[output].is_finite()
                        && draft.place_pattern(literals, scores[output]);
                    if absorbed {
                        scores[output] = 0.0;
                    } else {
                        draft.place_closed(kind, literals)?;
                    }
                }
            } else if let Some(tables) = group.of::<DenseTable>() {
                for (table, literals) in tables.iter() {
                    draft.place_table(literals, table.states(), table.table());
                }
            } else if let Some(sequences) = group.of::<Sequence>() {
                for (sequence, literals) in sequences.iter() {
                    draft.place_sequence(sequence, literals);
                }
            } else if let Some(trees) = group.of::<TreeLabelling>() {
                for (tree, literals) in trees.iter() {
                    draft.place_tree(tree, literals);
                }
            } else {
                return None;
            }
        }
        draft.place_scores(&scores);
        Some(draft)
    }
}

impl Lowering {
    /// Nothing when a factor has no tables.
    pub(crate) fn new(graph: &Graph) -> Option<Lowering> {
        Draft::new(graph, false)?.finish().ok()
    }

    /// The graph's assignment that corresponds to the network's.
    pub(crate) fn assignment(&self, graph: &Graph, states: &[usize]) -> Vec<u32> {
        assignment(graph, &self.sites, |variable| states[variable])
    }

    /// The network's assignment that corresponds to the graph's.
    pub(crate) fn states(&self, graph: &Graph, assignment: &[u32]) -> Vec<usize> {
        let mut states = off_states(&self.network.sizes, &self.sites);
        enter(graph, &self.sites, assignment, |variable, state| states[variable] = state);
        for total in &self.totals {
            let holds = (states[total.site.variable] == total.site.state) != total.negated;
            let before = total.before.map_or(0, |before| states[before]);
            states[total.variable] = (before + if holds { total.cost } else { 0 }).min(total.cap);
        }
        states
    }
}

/// The state of each lowered variable while none of its slots is on.
pub(crate) fn off_states(sizes: &[usize], sites: &[Site]) -> Vec<usize> {
    let mut named: Vec<Vec<bool>> = sizes.iter().map(|&size| vec![false; size]).collect();
    sites.iter().for_each(|site| named[site.variable][site.state] = true);
    named.iter().map(|named| named.iter().position(|named| !named).unwrap_or(0)).collect()
}

/// Tells the states of lowered variables that an assignment of the graph switches on.
pub(crate) fn enter(graph: &Graph, sites: &[Site], assignment: &[u32], mut state: impl FnMut(usize, usize)) {
    for (site, on) in sites.iter().zip(graph.slots_on(assignment)) {
        if on {
            state(site.variable, site.state);
        }
    }
}

/// The graph's assignment, given the state of each lowered variable.
pub(crate) fn assignment(graph: &Graph, sites: &[Site], state: impl Fn(usize) -> usize) -> Vec<u32> {
    let on = |slot: usize| state(sites[slot].variable) == sites[slot].state;
    (0..graph.variables()).map(|variable| graph.state_of(variable, on).unwrap_or(0) as u32).collect()
}

impl Draft {
    /// Gives every slot its site. Returns the factors that merging made superfluous, as (group, factor).
    fn place_variables(&mut self, graph: &Graph) -> FxHashSet<(usize, usize)> {
        const UNPLACED: Site = Site { variable: usize::MAX, state: 0 };
        self.sites = vec![UNPLACED; graph.slots()];
        let plain = |l: &Literal| !l.is_negated() && graph.is_binary(graph.slot_variable[l.slot()] as usize);
        let mut candidates = Vec::new();
        for (g, group) in graph.groups.iter().enumerate() {
            if let Some(trees) = group.of::<Arborescence>() {
                // One head for each modifier, which is not all that a tree is.
                for (tree, literals) in trees.iter() {
                    let mut arcs: Vec<(u32, Literal)> = tree
                        .arcs()
                        .iter()
                        .zip(literals)
                        .map(|(&(_, modifier), &link)| (modifier, link))
                        .collect();
                    arcs.sort_by_key(|arc| arc.0);
                    for heads in arcs.chunk_by(|a, b| a.0 == b.0).filter(|heads| heads.len() >= 3) {
                        if heads.iter().all(|(_, link)| plain(link)) {
                            let heads = heads.iter().map(|arc| arc.1).collect();
                            candidates.push((usize::MAX, 0, false, Cow::Owned(heads)));
                        }
                    }
                }
            }
            let Some(closed) = group.of::<Closed>() else { continue };
            for (factor, (kind, literals)) in closed.iter().enumerate() {
                if matches!(kind, Closed::ExactlyOne | Closed::AtMostOne)
                    && literals.len() >= 3
                    && literals.iter().all(plain)
                {
                    candidates.push((g, factor, *kind == Closed::AtMostOne, Cow::Borrowed(literals)));
                }
            }
        }
        // Exactly-one first: it needs no state for "none".
        candidates.sort_by_key(|(_, _, none, literals)| (*none, std::cmp::Reverse(literals.len())));
        let mut merged = FxHashSet::default();
        for (group, factor, none, literals) in candidates {
            if literals.iter().any(|l| self.sites[l.slot()].variable != usize::MAX) {
                continue;
            }
            let variable = self.sizes.len();
            self.sizes.push(literals.len() + none as usize);
            for (state, literal) in literals.iter().enumerate() {
                self.sites[literal.slot()] = Site { variable, state };
            }
            merged.insert((group, factor));
        }
        for variable in 0..graph.variables() {
            let slots = graph.slots_of(variable);
            if self.sites[slots.start].variable != usize::MAX {
                continue;
            }
            let binary = graph.is_binary(variable);
            for (state, slot) in slots.clone().enumerate() {
                self.sites[slot] = Site { variable: self.sizes.len(), state: if binary { 1 } else { state } };
            }
            self.sizes.push(if binary { 2 } else { slots.len() });
        }
        merged
    }

    pub(crate) fn place_scores(&mut self, scores: &[f64]) {
        let mut unary: Vec<Vec<f64>> = self.sizes.iter().map(|&size| vec![0.0; size]).collect();
        for (site, &score) in self.sites.iter().zip(scores) {
            unary[site.variable][site.state] += score;
        }
        self.tables.extend(unary.into_iter().enumerate().map(|(variable, scores)| (vec![variable], scores)));
    }

    /// The output of an OR counts `score`: as a pattern over the inputs, where each is one state of a
    /// variable or the other state of a binary one.
    fn place_pattern(&mut self, literals: &[Literal], score: f64) -> bool {
        let (output, inputs) = literals.split_last().expect("factors are not empty");
        // All inputs off: that is when the OR fails.
        let off = |literal: &Literal| {
            let Site { variable, state } = self.sites[literal.slot()];
            match literal.is_negated() {
                true => Some((variable, state)),
                false if self.sizes[variable] == 2 => Some((variable, 1 - state)),
                false => None,
            }
        };
        let Some(members) = inputs.iter().map(off).collect::<Option<Vec<_>>>() else { return false };
        let mut variables: Vec<usize> = members.iter().map(|member| member.0).collect();
        variables.sort_unstable();
        if variables.windows(2).any(|pair| pair[0] == pair[1]) {
            return false;
        }
        if output.is_negated() {
            self.patterns.push(SparsePattern { members, weight: score });
        } else {
            self.constant += score;
            self.patterns.push(SparsePattern { members, weight: -score });
        }
        true
    }

    fn place_closed(&mut self, kind: &Closed, literals: &[Literal]) -> Option<()> {
        let mut scope: Vec<usize> = literals.iter().map(|l| self.sites[l.slot()].variable).collect();
        scope.sort_unstable();
        scope.dedup();
        let joint = scope.iter().try_fold(1usize, |product, &v| product.checked_mul(self.sizes[v]));
        if joint.is_some_and(|joint| joint <= MAX_JOINT_STATES) {
            let literals: Vec<(usize, usize, bool)> = literals
                .iter()
                .map(|l| {
                    let site = self.sites[l.slot()];
                    let place = scope.binary_search(&site.variable).expect("the scope holds every site");
                    (place, site.state, l.is_negated())
                })
                .collect();
            let mut on = vec![false; literals.len()];
            let scores = enumerate(&scope, &self.sizes, |states| {
                for (on, &(place, state, negated)) in on.iter_mut().zip(&literals) {
                    *on = (states[place] == state) != negated;
                }
                kind.score(&on)
            });
            self.spend(scores.len())?;
            self.tables.push((scope, scores));
            return Some(());
        }
        match kind {
            Closed::AtMostOne => self.place_at_most_one(literals)?,
            Closed::ExactlyOne => {
                self.place_at_most_one(literals)?;
                self.place_totals(literals, &vec![1; literals.len()], 1, |total| total == 1)?;
            }
            Closed::AtLeastOne => {
                self.place_totals(literals, &vec![1; literals.len()], 1, |total| total == 1)?;
            }
            Closed::OrWithOutput => {
                let (output, inputs) = literals.split_last()?;
                let total = self.place_totals(inputs, &vec![1; inputs.len()], 1, |_| true)?;
                let site = self.sites[output.slot()];
                let scores = enumerate(&[total, site.variable], &self.sizes, |states| {
                    let holds = (states[1] == site.state) != output.is_negated();
                    if holds == (states[0] == 1) { 0.0 } else { f64::NEG_INFINITY }
                });
                self.tables.push((vec![total, site.variable], scores));
            }
            Closed::Budget(limit) => {
                // One value more than the limit stands for "too many".
                totals_fit(literals.len(), *limit as f64).then_some(())?;
                self.place_totals(literals, &vec![1; literals.len()], limit + 1, |total| total <= *limit)?;
            }
            Closed::Knapsack { costs, limit } => {
                let whole = costs.iter().all(|c| c.fract() == 0.0);
                (whole && totals_fit(literals.len(), *limit)).then_some(())?;
                let limit = limit.floor() as usize;
                let costs: Vec<usize> = costs.iter().map(|&c| c.min(limit as f64 + 1.0) as usize).collect();
                self.place_totals(literals, &costs, limit + 1, |total| total <= limit)?;
            }
            Closed::Pair(_) => return None,
        }
        Some(())
    }

    /// No two of the literals hold: entries of the pair tables, which all such factors share.
    fn place_at_most_one(&mut self, literals: &[Literal]) -> Option<()> {
        for (i, a) in literals.iter().enumerate() {
            for b in &literals[i + 1..] {
                let (x, y) = (self.sites[a.slot()], self.sites[b.slot()]);
                let ((x, a), (y, b)) =
                    if x.variable <= y.variable { ((x, a), (y, b)) } else { ((y, b), (x, a)) };
                let same = x.variable == y.variable;
                let (rows, columns) = (self.sizes[x.variable], self.sizes[y.variable]);
                let table = match self.exclusions.get(&(x.variable, y.variable)) {
                    Some(&table) => table,
                    None => {
                        let scope = if same { vec![x.variable] } else { vec![x.variable, y.variable] };
                        let entries = if same { rows } else { rows * columns };
                        self.spend(entries)?;
                        self.tables.push((scope, vec![0.0; entries]));
                        self.exclusions.insert((x.variable, y.variable), self.tables.len() - 1);
                        self.tables.len() - 1
                    }
                };
                let scores = &mut self.tables[table].1;
                for row in holding(x.state, a.is_negated(), rows) {
                    for column in holding(y.state, b.is_negated(), columns) {
                        if !same {
                            scores[row * columns + column] = f64::NEG_INFINITY;
                        } else if row == column {
                            scores[row] = f64::NEG_INFINITY;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Takes entries from what is left; nothing if it does not suffice.
    fn spend(&mut self, entries: usize) -> Option<()> {
        self.room = self.room.checked_sub(entries)?;
        Some(())
    }

    /// Running totals of the costs of literals that hold, capped at `cap`; the last total must satisfy
    /// `allowed`. Returns the variable of the last total.
    fn place_totals(
        &mut self,
        literals: &[Literal],
        costs: &[usize],
        cap: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut previous: Option<usize> = None;
        for (index, (literal, &cost)) in literals.iter().zip(costs).enumerate() {
            let site = self.sites[literal.slot()];
            let total = self.sizes.len();
            self.sizes.push(cap + 1);
            let last = index + 1 == literals.len();
            let mut scope = vec![site.variable, total];
            scope.extend(previous);
            self.spend(scope.iter().map(|&v| self.sizes[v]).product())?;
            let scores = enumerate(&scope, &self.sizes, |states| {
                let holds = (states[0] == site.state) != literal.is_negated();
                let before = if states.len() == 3 { states[2] } else { 0 };
                let after = (before + if holds { cost } else { 0 }).min(cap);
                if states[1] == after && (!last || allowed(after)) { 0.0 } else { f64::NEG_INFINITY }
            });
            self.tables.push((scope, scores));
            let (before, negated) = (previous, literal.is_negated());
            self.totals.push(Total { variable: total, before, site, negated, cost, cap });
            previous = Some(total);
        }
        previous
    }

    /// Whether these literals are the states of one variable, in their order.
    fn are_states(&self, literals: &[Literal]) -> bool {
        let variable = self.sites[literals[0].slot()].variable;
        let size = self.sizes[variable];
        literals.len() == size
            && literals.iter().enumerate().all(|(state, literal)| {
                let site = self.sites[literal.slot()];
                let holds_at = if literal.is_negated() && size == 2 { 1 - site.state } else { site.state };
                site.variable == variable && holds_at == state && (size == 2 || !literal.is_negated())
            })
    }

    /// A table over variables given by the literals of all their states.
    pub(crate) fn place_table(
        &mut self,
        literals: &[Literal],
        states: impl Iterator<Item = usize>,
        scores: &[f64],
    ) {
        let mut rest = literals;
        let mut parts: Vec<&[Literal]> = Vec::new();
        for count in states {
            let (part, others) = rest.split_at(count);
            parts.push(part);
            rest = others;
        }
        let mut scope: Vec<usize> = parts.iter().map(|part| self.sites[part[0].slot()].variable).collect();
        let given: Vec<u32> = scope.iter().map(|&variable| variable as u32).collect();
        scope.sort_unstable();
        scope.dedup();
        if scope.len() == given.len() && parts.iter().all(|part| self.are_states(part)) {
            let sorted: Vec<u32> = scope.iter().map(|&variable| variable as u32).collect();
            self.tables.push((scope, reordered(&given, scores, &sorted, &self.sizes)));
            return;
        }
        let table = enumerate(&scope, &self.sizes, |joint| {
            let holds = |literal: &Literal| {
                let site = self.sites[literal.slot()];
                let place = scope.binary_search(&site.variable).expect("the scope holds every site");
                (joint[place] == site.state) != literal.is_negated()
            };
            let entry = parts.iter().try_fold(0, |entry, part| {
                part.iter().position(holds).map(|state| entry * part.len() + state)
            });
            entry.map_or(f64::NEG_INFINITY, |entry| scores[entry])
        });
        self.tables.push((scope, table));
    }

    pub(crate) fn place_sequence(&mut self, sequence: &Sequence, literals: &[Literal]) {
        let mut starts = vec![0];
        for position in 0..sequence.length() {
            starts.push(starts[position] + sequence.states(position));
        }
        for position in 1..sequence.length() {
            let sizes = [sequence.states(position - 1), sequence.states(position)];
            let part = &literals[starts[position - 1]..starts[position + 1]];
            self.place_table(part, sizes.into_iter(), sequence.pairs(position));
            if let Some(triples) = sequence.triples(position) {
                let sizes = [sequence.states(position - 2), sizes[0], sizes[1]];
                let part = &literals[starts[position - 2]..starts[position + 1]];
                self.place_table(part, sizes.into_iter(), triples);
            }
        }
    }

    pub(crate) fn place_tree(&mut self, tree: &TreeLabelling, literals: &[Literal]) {
        for (first, second, table) in tree.edge_tables() {
            let sizes = [first.len(), second.len()];
            let part = [&literals[first], &literals[second]].concat();
            self.place_table(&part, sizes.into_iter(), table);
        }
    }

    fn finish(self) -> Result<Lowering, ModelError> {
        let mut network = Network::new(&self.sizes)?;
        network.add_table(&[], &[self.constant])?;
        for (scope, scores) in self.tables {
            // Large tables are not copied once more.
            match scope.len() > 1 && scope.is_sorted_by(|a, b| a < b) {
                true => network.insert(Table { scope: scope.iter().map(|&v| v as u32).collect(), scores }),
                false => network.add_table(&scope, &scores)?,
            }
        }
        Ok(Lowering { network, sites: self.sites, totals: self.totals })
    }
}

/// The states in which a literal holds: a plain one in its own, a negated one in all others.
fn holding(state: usize, negated: bool, size: usize) -> impl Iterator<Item = usize> {
    let [first, second] = if negated { [0..state, state + 1..size] } else { [state..state + 1, 0..0] };
    first.chain(second)
}

/// Whether running totals of up to `limit` over this many literals stay small.
fn totals_fit(literals: usize, limit: f64) -> bool {
    2.0 * literals as f64 * (limit + 2.0).powi(2) <= MAX_TOTAL_ENTRIES as f64
}

/// The table of a function over the joint states of a scope, the last variable fastest.
fn enumerate(scope: &[usize], sizes: &[usize], mut score: impl FnMut(&[usize]) -> f64) -> Vec<f64> {
    let count = scope.iter().map(|&v| sizes[v]).product();
    let mut states = vec![0; scope.len()];
    let mut scores = Vec::with_capacity(count);
    for _ in 0..count {
        scores.push(score(&states));
        for place in (0..scope.len()).rev() {
            states[place] += 1;
            if states[place] < sizes[scope[place]] {
                break;
            }
            states[place] = 0;
        }
    }
    scores
}
