//! The search that writes a proof: a bound for each case, and a split where no bound is good enough.

use super::{elimination, multipliers, witness};
use crate::Graph;
use crate::model::FactorId;
use crate::solver::ad3::Ad3;
use consonant_problem::{Factor, Problem};
use consonant_verify::{Bound, Checker, Domains, Step, Up, Witness, is_table};
use std::time::Instant;

/// Entries of all tables together up to which the whole problem is maximized out, variable by variable.
const WIDE: usize = 1 << 24;
/// The same for a case.
const NARROW: usize = 1 << 16;
/// Factors with more literals are not asked which states they rule out.
const MOST_ASKED: usize = 40;
/// Iterations of AD3 for a case; the first has as many as AD3 would take.
const CASE_ITERATIONS: usize = 200;

pub(super) struct Search<'a> {
    pub problem: &'a Problem,
    pub graph: &'a Graph,
    pub factors: &'a [Option<FactorId>],
    pub checker: Checker<'a>,
    pub ad3: Ad3,
    /// A case whose bound is not above this is done.
    pub target: f64,
    pub deadline: Instant,
    pub branch: bool,
    /// Multipliers and witnesses as the steps so far leave them.
    pub written: Vec<Vec<f64>>,
    pub witnesses: Vec<Option<Witness>>,
    /// The factors of each variable.
    pub factors_of: Vec<Vec<usize>>,
    pub steps: Vec<Step>,
}

/// A case that waits for its proof.
struct Case {
    allowed: Domains,
    depth: usize,
    /// The variable whose states were split; none for the case of all states.
    split: Option<usize>,
}

impl Search<'_> {
    pub(super) fn run(mut self) -> Vec<Step> {
        self.written = self.checker.multipliers().to_vec();
        // What is best for all states together serves cases that are given up.
        let mut best = self.written.clone();
        let mut open = vec![Case { allowed: self.checker.all_states(), depth: 0, split: None }];
        while let Some(mut case) = open.pop() {
            if self.branch && !self.is_late() {
                self.propagate(&mut case);
            }
            let Case { allowed, depth, .. } = &case;
            if allowed.iter().any(|states| !states.contains(&true)) {
                self.write(allowed, Bound::default());
                continue;
            }
            let current = self.checker.multipliers().to_vec();
            if *depth > 0 && self.reaches(allowed, &current) {
                continue;
            }
            if *depth > 0 && self.is_late() {
                self.bound(allowed, &best);
                self.write(allowed, Bound::default());
                continue;
            }
            let most = if *depth == 0 { WIDE } else { NARROW };
            let order = elimination::order(self.problem, allowed, most);
            if order.is_some_and(|order| self.try_elimination(allowed, order)) {
                continue;
            }
            let mut marginals = None;
            if self.target > f64::NEG_INFINITY || *depth == 0 {
                let (found, relaxed) = self.relax(allowed, *depth);
                if self.reaches(allowed, &found) {
                    continue;
                }
                if *depth == 0 {
                    let [zero, relaxed] = [&best, &found].map(|m| self.bound(allowed, m));
                    best = if relaxed < zero { found } else { best };
                }
                marginals = Some(relaxed);
            }
            match self.branch_on(allowed, marginals.as_deref()).filter(|_| self.branch && !self.is_late()) {
                Some((variable, state)) => {
                    let others: Vec<u32> = states_of(allowed, variable).filter(|&s| s != state).collect();
                    let parts = vec![vec![state], others];
                    for part in parts.iter().rev() {
                        let mut child = allowed.clone();
                        child[variable].fill(false);
                        part.iter().for_each(|&s| child[variable][s as usize] = true);
                        open.push(Case { allowed: child, depth: depth + 1, split: Some(variable) });
                    }
                    self.steps.push(Step::Split { variable: variable as u32, parts });
                }
                None => {
                    self.bound(allowed, &best);
                    self.write(allowed, Bound::default());
                }
            }
        }
        self.steps
    }

    /// What these multipliers prove of a case; the checker keeps them.
    fn bound(&mut self, case: &Domains, multipliers: &[Vec<f64>]) -> Up {
        let changed = changes(self.checker.multipliers(), multipliers);
        let witnesses = self.new_witnesses(case, multipliers);
        let bound = Bound { multipliers: changed, witnesses, ..Bound::default() };
        self.checker.leaf(case, &bound).unwrap_or(Up::from(f64::MAX))
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Rules out states that a factor alone does not allow, until nothing changes.
    fn propagate(&mut self, case: &mut Case) {
        let mut pruned = Vec::new();
        let mut waiting: Vec<usize> = match case.split {
            None => (0..self.problem.factors.len()).collect(),
            Some(variable) => self.factors_of[variable].clone(),
        };
        while let Some(factor) = waiting.pop() {
            if self.is_late() {
                break;
            }
            if !self.rules_out_states(factor) {
                continue;
            }
            for variable in variables_of(&self.problem.factors[factor]) {
                let open: Vec<u32> = states_of(&case.allowed, variable).collect();
                for state in open {
                    if self.checker.rules_out(&mut case.allowed, variable, state as usize, factor) {
                        case.allowed[variable][state as usize] = false;
                        pruned.push((variable as u32, state, factor as u32));
                        let others = self.factors_of[variable].iter().copied().filter(|&f| f != factor);
                        waiting.extend(others);
                    }
                }
                if states_of(&case.allowed, variable).next().is_none() {
                    waiting.clear();
                    break;
                }
            }
        }
        if !pruned.is_empty() {
            self.steps.push(Step::Prune(pruned));
        }
    }

    /// Whether a factor is small and forbids anything at all.
    fn rules_out_states(&self, factor: usize) -> bool {
        let data = &self.problem.factors[factor];
        let mut scores = data.kind.scores().peekable();
        let forbids = scores.peek().is_none() || scores.any(|s| s == f64::NEG_INFINITY);
        is_table(&data.kind) && forbids && self.checker.multipliers()[factor].len() <= MOST_ASKED
    }

    /// The multipliers of AD3 for a case, and its relaxed solution.
    fn relax(&mut self, case: &Domains, depth: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut fixed = vec![None; self.graph.slots()];
        for (variable, states) in case.iter().enumerate() {
            let only = states.iter().filter(|&&ok| ok).count() == 1;
            for (state, &allowed) in states.iter().enumerate() {
                let literal = self.graph.variable(variable).is(state);
                if !allowed {
                    fixed[literal.slot()] = Some(literal.is_negated());
                } else if only {
                    fixed[literal.slot()] = Some(!literal.is_negated());
                }
            }
        }
        self.ad3.options.cutoff = self.target;
        if depth > 0 {
            self.ad3.options.max_iterations = CASE_ITERATIONS;
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.ad3.options.time_limit = Some(left.as_secs_f64());
        let solution = self.ad3.solve_fixed(self.graph, &fixed);
        let found = match self.ad3.dual() {
            Some(dual) => multipliers::read(self.problem, self.graph, self.factors, dual),
            None => self.written.clone(),
        };
        (found, solution.marginals)
    }

    /// Gives the checker these multipliers; if they close the case, writes that down.
    fn reaches(&mut self, case: &Domains, found: &[Vec<f64>]) -> bool {
        let reached = self.bound(case, found) <= Up::from(self.target);
        if reached {
            self.write(case, Bound::default());
        }
        reached
    }

    /// Maximizes all variables out; whether that closes the case, or says all there is to say about it.
    fn try_elimination(&mut self, case: &Domains, order: Vec<u32>) -> bool {
        let bound = Bound { eliminate: order, ..Bound::default() };
        if self.checker.leaf(case, &bound).is_err() {
            return false;
        }
        self.write(case, bound);
        true
    }

    fn new_witnesses(&self, case: &Domains, multipliers: &[Vec<f64>]) -> Vec<(u32, Witness)> {
        let factors = self.problem.factors.iter().enumerate();
        let witness =
            |(f, factor): (usize, &Factor)| witness::of(factor, &multipliers[f], case).map(|w| (f as u32, w));
        factors.filter_map(witness).collect()
    }

    /// Writes a bound with what changed since the last one.
    fn write(&mut self, case: &Domains, bound: Bound) {
        let current = self.checker.multipliers();
        let multipliers = changes(&self.written, current);
        let mut witnesses = self.new_witnesses(case, current);
        witnesses.retain(|(factor, witness)| self.witnesses[*factor as usize].as_ref() != Some(witness));
        for (factor, multipliers) in &multipliers {
            self.written[*factor as usize].clone_from(multipliers);
        }
        for (factor, witness) in &witnesses {
            self.witnesses[*factor as usize] = Some(witness.clone());
        }
        self.steps.push(Step::Bound(Bound { multipliers, witnesses, ..bound }));
    }

    /// The variable the relaxation is least decided about, those of many factors before others, and its
    /// preferred state.
    fn branch_on(&self, case: &Domains, marginals: Option<&[f64]>) -> Option<(usize, u32)> {
        let belief = |variable: usize, state: u32| {
            let literal = self.graph.variable(variable).is(state as usize);
            marginals.map_or(0.5, |m| {
                if literal.is_negated() { 1.0 - m[literal.slot()] } else { m[literal.slot()] }
            })
        };
        let mut best: Option<(f64, usize, u32)> = None;
        for variable in 0..case.len() {
            let states: Vec<u32> = states_of(case, variable).collect();
            if states.len() < 2 {
                continue;
            }
            let top = states
                .iter()
                .copied()
                .max_by(|&a, &b| belief(variable, a).total_cmp(&belief(variable, b)))?;
            let doubt =
                (1.0 - belief(variable, top) + 1e-3) * ((self.factors_of[variable].len() + 1) as f64).sqrt();
            if best.is_none_or(|(most, ..)| doubt > most) {
                best = Some((doubt, variable, top));
            }
        }
        best.map(|(_, variable, state)| (variable, state))
    }
}

/// The variables of a factor, each once.
pub(super) fn variables_of(factor: &Factor) -> Vec<usize> {
    let literals = factor.literals.iter().map(|l| l.variable);
    let mut variables: Vec<usize> =
        factor.scope.iter().copied().chain(literals).map(|v| v as usize).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// The states of a variable that are allowed.
fn states_of(case: &Domains, variable: usize) -> impl Iterator<Item = u32> + '_ {
    case[variable].iter().enumerate().filter(|(_, ok)| **ok).map(|(state, _)| state as u32)
}

/// The factors whose multipliers differ.
fn changes(before: &[Vec<f64>], after: &[Vec<f64>]) -> Vec<(u32, Vec<f64>)> {
    let pairs = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after);
    pairs.map(|(factor, (_, after))| (factor as u32, after.clone())).collect()
}
