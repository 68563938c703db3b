//! Variables, scores and factors: the model as it stands on paper.
//!
//! Everything rests on *slots*, binary indicators with a score. A binary variable has one slot; a choice
//! among k states has k consecutive ones, of which exactly one is on. Factors link to slots through
//! [`Literal`]s, so that a negation is a property of the link and not another factor.

mod error;
mod factors;
mod problem;
mod variable;

pub use error::ModelError;
pub(crate) use error::{check_distinct, check_index, check_length, check_score, check_scores, link_offsets};
pub(crate) use factors::as_product;
pub use variable::{Binary, Choice, Literal, Variable};

use crate::factor::Closed;
use crate::group::Group;
use rustc_hash::FxHashMap;
use std::any::TypeId;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Names a factor of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FactorId {
    pub(crate) group: u32,
    pub(crate) index: u32,
}

/// A factor graph: variables with scores, and factors over them.
///
/// ```
/// use consonant_map::{Ad3, Graph, Status};
///
/// let mut graph = Graph::new();
/// let rain = graph.binary(1.0)?;
/// let umbrella = graph.binary(-0.4)?;
/// graph.implies(rain, umbrella)?;
/// let solution = Ad3::default().solve(&graph);
/// assert_eq!(solution.certificate.status(), Status::Optimal);
/// assert!(solution.is_true(rain) && solution.is_true(umbrella));
/// assert!((solution.certificate.value().unwrap() - 0.6).abs() < 1e-9);
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Default)]
pub struct Graph {
    pub(crate) scores: Vec<f64>,
    pub(crate) first_slot: Vec<u32>,
    pub(crate) slot_variable: Vec<u32>,
    pub(crate) binary: Vec<bool>,
    /// For each variable: whether some factor already makes exactly one of its states hold.
    pub(crate) covered: Vec<bool>,
    /// Shared with graphs that differ in their scores alone.
    pub(crate) groups: Vec<Arc<dyn Group>>,
    /// The group of each type of factor.
    group_of: FxHashMap<TypeId, u32>,
    /// Groups of what the graph was before it was cleared.
    spare: Vec<Arc<dyn Group>>,
    /// Buffers for the links of one factor.
    literals: Vec<Literal>,
    sorted: Vec<usize>,
    pub(crate) offset: f64,
    /// Changes whenever variables or factors are added, so that a solver knows when its warm state fits.
    pub(crate) structure: u64,
}

/// The geometric mean of the scores that are neither zero nor infinite, to a power of two: some large penalties leave
/// it where it is.
pub(crate) fn typical_size(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let exponents = scores.filter(|score| score.is_finite() && *score != 0.0).map(|score| {
        // The exponent as it stands in the number.
        (score.to_bits() >> 52 & 0x7ff) as i64 - 1023
    });
    let (sum, count) = exponents.fold((0, 0), |(sum, count), exponent| (sum + exponent, count + 1));
    (count > 0).then(|| 2f64.powi(i64::div_euclid(sum, count) as i32))
}

const MAX_SLOTS: usize = (u32::MAX >> 1) as usize;

/// How large it is; scores are read one by one.
impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (variables, factors) = (self.variables(), self.factors());
        f.debug_struct("Graph")
            .field("variables", &variables)
            .field("factors", &factors)
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Graph { first_slot: vec![0], ..Default::default() }
    }

    /// Takes all variables and factors out, and keeps the memory: a graph that is filled again and again,
    /// with problems of the same sort, soon allocates nothing. [`spare_oracle`](Self::spare_oracle) gives the
    /// factors' own memory back.
    pub fn clear(&mut self) {
        self.scores.clear();
        self.first_slot.clear();
        self.first_slot.push(0);
        self.slot_variable.clear();
        self.binary.clear();
        self.covered.clear();
        self.groups.retain_mut(|group| Arc::get_mut(group).map(|group| group.clear()).is_some());
        self.spare.append(&mut self.groups);
        self.group_of.clear();
        self.offset = 0.0;
        self.structure += 1;
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.covered.len()
    }

    /// The number of slots: one for a binary variable, one for each state of a choice.
    pub fn slots(&self) -> usize {
        self.scores.len()
    }

    /// The number of factors.
    pub fn factors(&self) -> usize {
        self.groups.iter().map(|g| g.factors()).sum()
    }

    /// The number of links from factors to slots.
    pub fn links(&self) -> usize {
        self.groups.iter().map(|g| g.links().len()).sum()
    }

    /// The number of states of a variable: 2 for a binary one.
    pub fn states(&self, variable: usize) -> usize {
        if self.is_binary(variable) { 2 } else { self.slots_of(variable).len() }
    }

    /// The slots of a variable.
    pub(crate) fn slots_of(&self, variable: usize) -> Range<usize> {
        self.first_slot[variable] as usize..self.first_slot[variable + 1] as usize
    }

    /// The state of a variable whose slots are on as `on` says; none if a choice has no state that is on.
    pub(crate) fn state_of(&self, variable: usize, on: impl Fn(usize) -> bool) -> Option<usize> {
        let mut slots = self.slots_of(variable);
        if self.is_binary(variable) { Some(on(slots.start) as usize) } else { slots.position(on) }
    }

    pub(crate) fn is_binary(&self, variable: usize) -> bool {
        self.binary[variable]
    }

    /// All factors with closed forms, with their links.
    pub(crate) fn closed(&self) -> impl Iterator<Item = (&Closed, &[Literal])> {
        self.groups.iter().filter_map(|group| group.of::<Closed>()).flat_map(|closed| closed.iter())
    }

    /// The variable with this index.
    pub fn variable(&self, variable: usize) -> Variable {
        let (first_slot, end) = (self.first_slot[variable], self.first_slot[variable + 1]);
        let variable_index = variable as u32;
        if self.is_binary(variable) {
            Variable::Binary(Binary { slot: first_slot, variable: variable_index })
        } else {
            Variable::Choice(Choice { first_slot, states: end - first_slot, variable: variable_index })
        }
    }

    /// For each slot, whether an assignment switches it on; empty for an empty assignment.
    pub(crate) fn slots_on(&self, assignment: &[u32]) -> Vec<bool> {
        let mut on = vec![false; if assignment.is_empty() { 0 } else { self.slots() }];
        for (variable, &state) in assignment.iter().enumerate() {
            let first = self.first_slot[variable] as usize;
            if self.is_binary(variable) {
                on[first] = state == 1;
            } else {
                on[first + state as usize] = true;
            }
        }
        on
    }

    /// The assignment that switches exactly these slots on; nothing if a choice would not have one state.
    pub(crate) fn assignment_of(&self, on: &[bool]) -> Option<Vec<u32>> {
        (0..self.variables())
            .map(|variable| {
                let state = self.state_of(variable, |slot| on[slot])?;
                let is_one = on[self.slots_of(variable)].iter().filter(|&&on| on).count() == 1;
                (is_one || self.is_binary(variable)).then_some(state as u32)
            })
            .collect()
    }

    /// The value of an assignment (a state for each variable): minus infinity if it breaks a constraint.
    ///
    /// # Panics
    /// If the assignment does not have a state for each variable, or one that the variable does not have.
    pub fn value(&self, assignment: &[u32]) -> f64 {
        assert_eq!(assignment.len(), self.variables(), "an assignment has one state for each variable");
        for (variable, &state) in assignment.iter().enumerate() {
            assert!((state as usize) < self.states(variable), "variable {variable} has no state {state}");
        }
        crate::solver::primal::evaluate(self, assignment)
    }

    fn new_variable(&mut self, scores: &[f64]) -> Result<(u32, u32), ModelError> {
        let variable = self.variables() as u32;
        check_scores(format_args!("variable {variable}"), scores)?;
        if self.slots() + scores.len() > MAX_SLOTS {
            return Err(ModelError::too_large("slots of the graph", MAX_SLOTS));
        }
        let first = self.slots() as u32;
        self.scores.extend_from_slice(scores);
        self.slot_variable.resize(self.scores.len(), variable);
        self.first_slot.push(self.scores.len() as u32);
        self.structure += 1;
        Ok((first, variable))
    }

    /// A binary variable; `score` counts when it is true.
    pub fn binary(&mut self, score: f64) -> Result<Binary, ModelError> {
        let (slot, variable) = self.new_variable(&[score])?;
        self.binary.push(true);
        self.covered.push(true);
        Ok(Binary { slot, variable })
    }

    /// One binary variable for each score.
    pub fn binaries(&mut self, scores: &[f64]) -> Result<Vec<Binary>, ModelError> {
        scores.iter().map(|&score| self.binary(score)).collect()
    }

    /// A variable that is in exactly one of several states, each with a score.
    pub fn choice(&mut self, scores: &[f64]) -> Result<Choice, ModelError> {
        if scores.is_empty() {
            return Err(ModelError::Empty("a choice".into()));
        }
        let (first_slot, variable) = self.new_variable(scores)?;
        self.binary.push(false);
        self.covered.push(false);
        Ok(Choice { first_slot, states: scores.len() as u32, variable })
    }

    /// A number added to the value of every assignment.
    pub fn add_constant(&mut self, constant: f64) -> Result<(), ModelError> {
        check_score("a constant", constant)?;
        self.offset += constant;
        Ok(())
    }

    /// The score of a slot (of the literal's slot, whether the literal is negated or not).
    pub fn score(&self, literal: impl Into<Literal>) -> f64 {
        self.scores[literal.into().slot()]
    }

    /// Changes the score of a slot; the structure stays, so that solvers keep their warm state.
    pub fn set_score(&mut self, literal: impl Into<Literal>, score: f64) -> Result<(), ModelError> {
        let slot = literal.into().slot();
        check_score(format_args!("slot {slot}"), score)?;
        self.scores[slot] = score;
        Ok(())
    }

    /// Adds to the score of a literal: for a negated one, `score` counts when the slot is off.
    pub fn add_score(&mut self, literal: impl Into<Literal>, score: f64) -> Result<(), ModelError> {
        let literal = literal.into();
        check_score(format_args!("slot {}", literal.slot()), score)?;
        let slot = self.scores[literal.slot()];
        let given = if literal.is_negated() { (-score, score) } else { (score, 0.0) };
        let slot_keeps = slot == f64::NEG_INFINITY || factors::keeps(slot, given.0);
        if score.is_finite() && !(slot_keeps && factors::keeps(self.offset, given.1)) {
            // One score would drown in the other: this one stands apart, as a table.
            let variable = self.variable(self.slot_variable[literal.slot()] as usize);
            let counts = |state: usize| {
                variable.is(state) == literal || (literal.is_negated() && variable.is(state) != !literal)
            };
            let table: Vec<f64> =
                (0..variable.states()).map(|s| if counts(s) { score } else { 0.0 }).collect();
            return self.table(&[variable], &table).map(drop);
        }
        if literal.is_negated() {
            if score == f64::NEG_INFINITY {
                self.at_least_one([!literal])?;
            } else {
                self.scores[literal.slot()] -= score;
                self.offset += score;
            }
        } else {
            self.scores[literal.slot()] += score;
        }
        Ok(())
    }

    /// The typical size of a score: of variables, or of factors where no variable has any.
    pub(crate) fn typical_size(&self) -> f64 {
        typical_size(self.scores.iter().copied()).unwrap_or_else(|| {
            let factors = self.groups.iter().filter_map(|group| group.magnitude()).sum::<f64>();
            if factors > 0.0 { factors / self.factors() as f64 } else { 1.0 }
        })
    }

    /// The same factors under other scores. Factors that are added later are not shared.
    pub(crate) fn rescored(&self, scores: Vec<f64>, offset: f64) -> Graph {
        Graph {
            scores,
            first_slot: self.first_slot.clone(),
            slot_variable: self.slot_variable.clone(),
            binary: self.binary.clone(),
            covered: self.covered.clone(),
            groups: self.groups.clone(),
            offset,
            structure: self.structure,
            ..Graph::default()
        }
    }

    /// All scores, one for each slot.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Replaces all scores at once.
    pub fn set_scores(&mut self, scores: &[f64]) -> Result<(), ModelError> {
        check_length("scores", scores.len(), self.slots())?;
        check_scores("the list of scores", scores)?;
        self.scores.copy_from_slice(scores);
        Ok(())
    }
}
