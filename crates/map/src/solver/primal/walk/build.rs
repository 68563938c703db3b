//! The terms and tables of a graph, as a walk sees them.

use super::{Dice, Record};
use super::{Lists, Member, Place, Rule, Share, Structured, Term, Walk};
use crate::factor::Closed;
use crate::model::{Graph, Literal};
use crate::oracle::cut::MinimumCut;
use crate::oracle::dense::DenseTable;
use crate::oracle::sequence::Sequence;
use crate::oracle::tree_budget::BudgetedTree;
use crate::oracle::tree_labelling::TreeLabelling;
use crate::solver::dual::Dual;
use crate::solver::lowering::{Draft, off_states};

/// Entries of all tables together, at most.
const MOST_ENTRIES: usize = 1 << 26;

/// What a graph is made of, gathered before it is laid out.
struct Parts {
    draft: Draft,
    terms: Vec<Term>,
    shares: Vec<(u32, Share)>,
    members: Vec<(u32, Member)>,
    /// Where the states of each variable begin among all.
    first: Vec<u32>,
}

impl Parts {
    /// A term over literals, each with what it adds to the load while it holds.
    fn term(&mut self, rule: Rule, literals: impl IntoIterator<Item = (Literal, f64)>) {
        let term = self.terms.len() as u32;
        let mut start = 0.0;
        for (literal, load) in literals {
            let site = self.draft.sites[literal.slot()];
            let slot = self.first[site.variable] + site.state as u32;
            let negated = literal.is_negated();
            start += if negated { load } else { 0.0 };
            self.shares.push((slot, Share { term, load: if negated { -load } else { load } }));
            let (variable, state) = (site.variable as u32, site.state as u32);
            self.members.push((term, Member { variable, state, negated }));
        }
        self.terms.push(Term { load: start, start, weight: 1.0, rule });
    }

    fn count(&mut self, least: f64, most: f64, literals: &[Literal]) {
        self.term(Rule::Range { least, most, unit: 1.0 }, literals.iter().map(|&l| (l, 1.0)));
    }

    /// The costs of literals have to stay below a limit. They are counted as shares of the mean cost.
    fn limit(&mut self, most: f64, costs: impl Iterator<Item = (Literal, f64)> + Clone) {
        let (sum, count) = costs.clone().fold((0.0, 0), |(sum, count), (_, cost)| (sum + cost, count + 1));
        let unit = if sum > 0.0 { sum / count as f64 } else { 1.0 };
        self.term(Rule::Range { least: f64::NEG_INFINITY, most, unit }, costs);
    }

    fn closed(&mut self, kind: &Closed, literals: &[Literal], is_defined: bool) {
        match kind {
            Closed::ExactlyOne => self.count(1.0, 1.0, literals),
            Closed::AtMostOne => self.count(f64::NEG_INFINITY, 1.0, literals),
            Closed::AtLeastOne => self.count(1.0, f64::INFINITY, literals),
            Closed::Budget(limit) => self.count(f64::NEG_INFINITY, *limit as f64, literals),
            Closed::Knapsack { costs, limit } => {
                self.limit(*limit, literals.iter().copied().zip(costs.iter().copied()));
            }
            Closed::Pair(score) => {
                let rule = Rule::Step { from: 2.0, score: *score };
                self.term(rule, literals.iter().map(|&l| (l, 1.0)));
            }
            Closed::OrWithOutput => {
                let Some((&output, inputs)) = literals.split_last() else { return };
                let inputs = inputs.iter().map(|&l| (l, 1.0));
                if is_defined {
                    let variable = self.draft.sites[output.slot()].variable as u32;
                    self.term(Rule::Defines { variable, negated: output.is_negated() }, inputs);
                } else {
                    self.term(Rule::Or, inputs.chain([(output, 0.5)]));
                }
            }
        }
    }

    fn tree_budget(&mut self, tree: &BudgetedTree, literals: &[Literal]) {
        for (node, parent) in tree.parents() {
            let rule = Rule::Range { least: f64::NEG_INFINITY, most: 0.0, unit: 1.0 };
            self.term(rule, [(literals[node], 1.0), (literals[parent], -1.0)]);
        }
        let (lengths, budget) = tree.lengths();
        self.limit(budget as f64, lengths.map(|(node, length)| (literals[node], length as f64)));
    }
}

/// Which OR-with-output factors, by their number among those, define their output: each variable is defined
/// once, and not by itself.
fn definitions(graph: &Graph, draft: &Draft) -> Vec<bool> {
    let ors: Vec<&[Literal]> =
        graph.closed().filter(|(kind, _)| **kind == Closed::OrWithOutput).map(|(_, links)| links).collect();
    let variable = |literal: &Literal| draft.sites[literal.slot()].variable;
    const NOBODY: u32 = u32::MAX;
    let mut definer = vec![NOBODY; draft.sizes.len()];
    for (number, links) in ors.iter().enumerate() {
        let output = links[links.len() - 1];
        let is_plain = graph.is_binary(graph.slot_variable[output.slot()] as usize)
            && draft.sizes[variable(&output)] == 2
            && draft.sites[output.slot()].state == 1
            && graph.scores[output.slot()].is_finite();
        if is_plain && definer[variable(&output)] == NOBODY {
            definer[variable(&output)] = number as u32;
        }
    }
    // In the order in which they follow from each other; what is left stands in a circle, or behind one.
    let mut uses: Vec<(u32, u32)> = Vec::new();
    let mut waits_for = vec![0u32; ors.len()];
    let mut ready = Vec::new();
    for (number, links) in ors.iter().enumerate() {
        let (output, inputs) = links.split_last().expect("factors are not empty");
        if definer[variable(output)] != number as u32 {
            continue;
        }
        for input in inputs.iter().map(variable).filter(|&input| definer[input] != NOBODY) {
            uses.push((definer[input], number as u32));
            waits_for[number] += 1;
        }
        if waits_for[number] == 0 {
            ready.push(number as u32);
        }
    }
    let uses = Lists::new(ors.len(), &uses);
    let mut defines = vec![false; ors.len()];
    while let Some(number) = ready.pop() {
        defines[number as usize] = true;
        for &user in uses.of(number as usize) {
            waits_for[user as usize] -= 1;
            if waits_for[user as usize] == 0 {
                ready.push(user);
            }
        }
    }
    defines
}

impl<'a> Walk<'a> {
    /// A walk over a graph; nothing where its tables are too large.
    pub(crate) fn new(graph: &'a Graph) -> Option<Walk<'a>> {
        let (draft, merged) = Draft::variables(graph);
        let mut first = vec![0u32];
        for &size in &draft.sizes {
            first.push(first[first.len() - 1] + size as u32);
        }
        let defines = definitions(graph, &draft);
        let mut ors = 0;
        let mut parts = Parts { draft, first, terms: Vec::new(), shares: Vec::new(), members: Vec::new() };
        let (mut structured, mut structured_of) = (Vec::new(), Vec::new());
        for (number, group) in graph.groups.iter().enumerate() {
            if let Some(closed) = group.of::<Closed>() {
                for (factor, (kind, literals)) in closed.iter().enumerate() {
                    let is_or = *kind == Closed::OrWithOutput;
                    if !merged.contains(&(number, factor)) {
                        parts.closed(kind, literals, is_or && defines[ors]);
                    }
                    ors += is_or as usize;
                }
            } else if let Some(tables) = group.of::<DenseTable>() {
                for (table, literals) in tables.iter() {
                    parts.draft.place_table(literals, table.states(), table.table());
                }
            } else if let Some(sequences) = group.of::<Sequence>() {
                sequences.iter().for_each(|(sequence, links)| parts.draft.place_sequence(sequence, links));
            } else if let Some(trees) = group.of::<TreeLabelling>() {
                trees.iter().for_each(|(tree, links)| parts.draft.place_tree(tree, links));
            } else if let Some(trees) = group.of::<BudgetedTree>() {
                trees.iter().for_each(|(tree, links)| parts.tree_budget(tree, links));
            } else if let Some(cuts) = group.of::<MinimumCut>() {
                for (cut, links) in cuts.iter() {
                    for &(a, b, score) in cut.pairs() {
                        parts.closed(&Closed::Pair(score), &[links[a as usize], links[b as usize]], false);
                    }
                }
            } else {
                for factor in 0..group.factors() {
                    let links = &group.links()[group.range(factor)];
                    let index = structured.len() as u32;
                    let variables = links.iter().map(|link| parts.draft.sites[link.slot()].variable as u32);
                    structured_of.extend(variables.map(|variable| (variable, index)));
                    let (group, factor) = (number as u32, factor as u32);
                    structured.push(Structured { group, factor, value: 0.0, is_stale: false });
                }
            }
        }
        structured_of.sort_unstable();
        structured_of.dedup();
        parts.draft.place_scores(&graph.scores);
        let links = graph.links() + graph.slots();
        let (large, warm) = if structured.is_empty() {
            (0.0, Vec::new())
        } else {
            let mut dual = Dual::new(graph);
            dual.read_scores(graph, &[]);
            (dual.large, dual.warm)
        };
        let Parts { draft, terms, shares, members, first } = parts;
        let count = draft.sizes.len();
        let total: usize = draft.tables.iter().map(|(_, scores)| scores.len()).sum();
        if total > MOST_ENTRIES {
            return None;
        }
        let mut unary = vec![0.0; first[count] as usize];
        let (mut tables, mut entries, mut places) = (Vec::new(), Vec::with_capacity(total), Vec::new());
        for (scope, scores) in &draft.tables {
            if let &[variable] = &scope[..] {
                let own = &mut unary[first[variable] as usize..first[variable + 1] as usize];
                own.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
                continue;
            }
            let mut stride = 1;
            for &variable in scope.iter().rev() {
                let table = tables.len() as u32;
                places.push((variable as u32, Place { table, stride: stride as u32 }));
                stride *= draft.sizes[variable];
            }
            tables.push((entries.len() as u32, 0));
            entries.extend_from_slice(scores);
        }
        let off: Vec<u32> =
            off_states(&draft.sizes, &draft.sites).into_iter().map(|state| state as u32).collect();
        let mut is_free: Vec<bool> = (0..count).map(|variable| draft.sizes[variable] > 1).collect();
        let mut definer = vec![u32::MAX; count];
        for (number, term) in terms.iter().enumerate() {
            if let Rule::Defines { variable, .. } = term.rule {
                is_free[variable as usize] = false;
                definer[variable as usize] = number as u32;
            }
        }
        let sizes = unary.iter().chain(&entries).map(|score: &f64| score.abs());
        let steps = terms.iter().filter_map(|term| match term.rule {
            Rule::Step { score, .. } => Some(score.abs()),
            _ => None,
        });
        let finite = sizes.chain(steps).filter(|size| size.is_finite() && *size > 0.0);
        let (sum, number) = finite.fold((0.0, 0), |(sum, number), size| (sum + size, number + 1));
        let scale = if number > 0 { sum / number as f64 } else { 1.0 };
        let slots = unary.len();
        let mut walk = Walk {
            graph,
            sites: draft.sites,
            states: off.clone(),
            off,
            first,
            unary,
            tables,
            entries,
            places: Lists::new(count, &places),
            shares: Lists::new(slots, &shares),
            members: Lists::new(terms.len(), &members),
            broken_terms: Vec::new(),
            broken_at: vec![u32::MAX; terms.len()],
            terms,
            structured,
            structured_of: Lists::new(count, &structured_of),
            stale: Vec::new(),
            warm,
            on: Vec::new(),
            large,
            free: (0..count as u32).filter(|&variable| is_free[variable as usize]).collect(),
            is_free,
            definer,
            pending: Vec::new(),
            score: 0.0,
            broken: 0.0,
            price: 4.0 * scale,
            links,
            work: 0,
            record: Record::new(count),
            scores: Vec::new(),
            dice: Dice::default(),
            scale,
        };
        walk.recount();
        Some(walk)
    }
}
