//! Variables, scores and factors: the model as it stands on paper.
//!
//! Everything rests on *slots*, binary indicators with a score. A binary variable has one slot; a choice among k states
//! has k consecutive ones, of which exactly one is on. Factors link to slots through [`Literal`]s, so that a negation
//! is a property of the link and not another factor.

use crate::factor::{Closed, ClosedGroup};
use crate::group::{Group, OracleGroup};
use crate::oracle::Oracle;
use crate::oracle::dense::DenseTable;
use rustc_hash::FxHashMap;
use std::any::TypeId;

/// A binary variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binary {
    slot: u32,
    variable: u32,
}

impl Binary {
    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(self) -> usize {
        self.variable as usize
    }
}

/// A variable with several states, exactly one of which holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    first_slot: u32,
    states: u32,
    variable: u32,
}

impl Choice {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.states as usize
    }

    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(&self) -> usize {
        self.variable as usize
    }

    /// The literal "this variable is in `state`".
    ///
    /// # Panics
    /// If there is no such state.
    pub fn is(&self, state: usize) -> Literal {
        assert!(state < self.states(), "state {state} of a choice among {}", self.states);
        Literal::new(self.first_slot + state as u32, false)
    }

    /// The literals of all states, in order.
    pub fn literals(&self) -> impl Iterator<Item = Literal> + use<> {
        (self.first_slot..self.first_slot + self.states).map(|slot| Literal::new(slot, false))
    }
}

/// A slot or its negation: what a factor links to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal(u32);

impl Literal {
    pub(crate) fn new(slot: u32, negated: bool) -> Self {
        Literal(slot << 1 | negated as u32)
    }

    /// The index of the slot.
    pub fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the link is negated.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::fmt::Debug for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.slot())
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;
    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

impl std::ops::Not for Binary {
    type Output = Literal;
    fn not(self) -> Literal {
        Literal::new(self.slot, true)
    }
}

impl From<Binary> for Literal {
    fn from(binary: Binary) -> Literal {
        Literal::new(binary.slot, false)
    }
}

impl From<&Binary> for Literal {
    fn from(binary: &Binary) -> Literal {
        (*binary).into()
    }
}

impl From<&Literal> for Literal {
    fn from(literal: &Literal) -> Literal {
        *literal
    }
}

/// A variable of either sort, where a table takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// Two states: 0 is false, 1 is true.
    Binary(Binary),
    /// Several states.
    Choice(Choice),
}

impl Variable {
    /// The number of states: 2 for a binary variable.
    pub fn states(&self) -> usize {
        match self {
            Variable::Binary(_) => 2,
            Variable::Choice(choice) => choice.states(),
        }
    }

    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(&self) -> usize {
        match self {
            Variable::Binary(binary) => binary.variable(),
            Variable::Choice(choice) => choice.variable(),
        }
    }

    /// The literal "this variable is in `state`".
    pub fn is(&self, state: usize) -> Literal {
        match self {
            Variable::Binary(binary) => Literal::new(binary.slot, state == 0),
            Variable::Choice(choice) => choice.is(state),
        }
    }
}

impl From<Binary> for Variable {
    fn from(binary: Binary) -> Self {
        Variable::Binary(binary)
    }
}

impl From<Choice> for Variable {
    fn from(choice: Choice) -> Self {
        Variable::Choice(choice)
    }
}

/// Names a factor of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FactorId {
    pub(crate) group: u32,
    pub(crate) index: u32,
}

/// Why a model was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A score is NaN or plus infinity.
    #[error("{what} has score {score}; expected a number or -inf (-inf forbids)")]
    Score {
        /// Where the score belongs.
        what: String,
        /// The score that came.
        score: f64,
    },
    /// A factor with no variables, or a choice with no states.
    #[error("{0} is empty; expected at least one element")]
    Empty(&'static str),
    /// A factor names the same variable twice.
    #[error("{factor} links to variable {variable} twice; each variable may stand in a factor once")]
    Repeated {
        /// The factor's name.
        factor: &'static str,
        /// The index of the variable.
        variable: usize,
    },
    /// A literal of another graph.
    #[error("{factor} links to slot {slot}, but the graph has {slots}")]
    Unknown {
        /// The factor's name.
        factor: &'static str,
        /// The slot that was asked for.
        slot: usize,
        /// How many there are.
        slots: usize,
    },
    /// Two lists that should be equally long are not.
    #[error("{what}: expected {expected} entries, got {came}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// The number needed.
        expected: usize,
        /// The number that came.
        came: usize,
    },
    /// A budget or a cost that is negative or not a number.
    #[error("{what} is {value}; expected a number that is zero or more")]
    Negative {
        /// What was negative.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// An oracle refused its parameters.
    #[error("{0}")]
    Oracle(String),
    /// More slots or links than the index type holds.
    #[error("the graph has more than {0} slots or links")]
    TooLarge(usize),
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
/// assert_eq!(solution.status, Status::Optimal);
/// assert!(solution.is_true(rain) && solution.is_true(umbrella));
/// assert!((solution.value - 0.6).abs() < 1e-9);
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
    pub(crate) groups: Vec<Box<dyn Group>>,
    closed_group: Option<u32>,
    oracle_groups: FxHashMap<TypeId, u32>,
    pub(crate) offset: f64,
    /// Changes whenever variables or factors are added, so that a solver knows when its warm state fits.
    pub(crate) structure: u64,
}

const MAX_SLOTS: usize = (u32::MAX >> 1) as usize;

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Graph { first_slot: vec![0], ..Default::default() }
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
        let slots = (self.first_slot[variable + 1] - self.first_slot[variable]) as usize;
        if self.is_binary(variable) { 2 } else { slots }
    }

    pub(crate) fn is_binary(&self, variable: usize) -> bool {
        self.binary[variable]
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
                let slots = &on[self.first_slot[variable] as usize..self.first_slot[variable + 1] as usize];
                if self.is_binary(variable) {
                    return Some(slots[0] as u32);
                }
                let state = slots.iter().position(|&on| on)?;
                (slots.iter().filter(|&&on| on).count() == 1).then_some(state as u32)
            })
            .collect()
    }

    /// The value of an assignment (a state for each variable): minus infinity if it breaks a constraint.
    ///
    /// # Panics
    /// If the assignment does not have a state for each variable.
    pub fn value(&self, assignment: &[u32]) -> f64 {
        assert_eq!(assignment.len(), self.variables(), "an assignment has one state for each variable");
        crate::solver::primal::evaluate(self, assignment)
    }

    fn check_score(what: impl FnOnce() -> String, score: f64) -> Result<(), ModelError> {
        if score.is_nan() || score == f64::INFINITY {
            return Err(ModelError::Score { what: what(), score });
        }
        Ok(())
    }

    fn new_variable(&mut self, scores: &[f64]) -> Result<(u32, u32), ModelError> {
        let variable = self.variables() as u32;
        for (state, &score) in scores.iter().enumerate() {
            Self::check_score(|| format!("variable {variable}, state {state},"), score)?;
        }
        if self.slots() + scores.len() > MAX_SLOTS {
            return Err(ModelError::TooLarge(MAX_SLOTS));
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
            return Err(ModelError::Empty("a choice"));
        }
        let (first_slot, variable) = self.new_variable(scores)?;
        self.binary.push(false);
        self.covered.push(false);
        Ok(Choice { first_slot, states: scores.len() as u32, variable })
    }

    /// A number added to the value of every assignment.
    pub fn add_constant(&mut self, constant: f64) -> Result<(), ModelError> {
        Self::check_score(|| "a constant".into(), constant)?;
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
        Self::check_score(|| format!("slot {slot}"), score)?;
        self.scores[slot] = score;
        Ok(())
    }

    /// Adds to the score of a literal: for a negated one, `score` counts when the slot is off.
    pub fn add_score(&mut self, literal: impl Into<Literal>, score: f64) -> Result<(), ModelError> {
        let literal = literal.into();
        Self::check_score(|| format!("slot {}", literal.slot()), score)?;
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

    /// All scores, one for each slot.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Replaces all scores at once.
    pub fn set_scores(&mut self, scores: &[f64]) -> Result<(), ModelError> {
        if scores.len() != self.slots() {
            return Err(ModelError::Length { what: "scores", expected: self.slots(), came: scores.len() });
        }
        for (slot, &score) in scores.iter().enumerate() {
            Self::check_score(|| format!("slot {slot}"), score)?;
        }
        self.scores.copy_from_slice(scores);
        Ok(())
    }

    fn literals<L: Into<Literal>>(
        &self,
        factor: &'static str,
        literals: impl IntoIterator<Item = L>,
    ) -> Result<Vec<Literal>, ModelError> {
        let literals: Vec<Literal> = literals.into_iter().map(Into::into).collect();
        if literals.is_empty() {
            return Err(ModelError::Empty(factor));
        }
        let mut slots: Vec<usize> = literals.iter().map(|l| l.slot()).collect();
        slots.sort_unstable();
        if let Some(&slot) = slots.last().filter(|&&s| s >= self.slots()) {
            return Err(ModelError::Unknown { factor, slot, slots: self.slots() });
        }
        if let Some(pair) = slots.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ModelError::Repeated { factor, variable: self.slot_variable[pair[0]] as usize });
        }
        Ok(literals)
    }

    fn closed(&mut self, factor: Closed, literals: &[Literal]) -> FactorId {
        let group = match self.closed_group {
            Some(group) => group,
            None => {
                self.groups.push(Box::new(ClosedGroup::default()));
                *self.closed_group.insert(self.groups.len() as u32 - 1)
            }
        };
        self.structure += 1;
        let closed = self.groups[group as usize].as_any_mut().downcast_mut::<ClosedGroup>();
        let index = closed.expect("the closed group holds closed-form factors").push(factor, literals);
        FactorId { group, index }
    }

    /// Exactly one of the literals holds (XOR).
    pub fn exactly_one<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("exactly-one", literals)?;
        Ok(self.closed(Closed::ExactlyOne, &literals))
    }

    /// At most one of the literals holds.
    pub fn at_most_one<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("at-most-one", literals)?;
        Ok(self.closed(Closed::AtMostOne, &literals))
    }

    /// At least one of the literals holds (OR).
    pub fn at_least_one<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("at-least-one", literals)?;
        Ok(self.closed(Closed::AtLeastOne, &literals))
    }

    /// If `premise` holds, so does `conclusion`.
    pub fn implies(
        &mut self,
        premise: impl Into<Literal>,
        conclusion: impl Into<Literal>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("implication", [!premise.into(), conclusion.into()])?;
        Ok(self.closed(Closed::AtLeastOne, &literals))
    }

    fn with_output<L: Into<Literal>>(
        &self,
        factor: &'static str,
        inputs: impl IntoIterator<Item = L>,
        output: Literal,
    ) -> Result<Vec<Literal>, ModelError> {
        let mut literals: Vec<Literal> = inputs.into_iter().map(Into::into).collect();
        if literals.is_empty() {
            return Err(ModelError::Empty(factor));
        }
        literals.push(output);
        self.literals(factor, literals)
    }

    /// `output` holds exactly when some input does.
    pub fn or_with_output<L: Into<Literal>>(
        &mut self,
        inputs: impl IntoIterator<Item = L>,
        output: impl Into<Literal>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.with_output("or-with-output", inputs, output.into())?;
        Ok(self.closed(Closed::OrWithOutput, &literals))
    }

    /// `output` holds exactly when all inputs do.
    pub fn and_with_output<L: Into<Literal>>(
        &mut self,
        inputs: impl IntoIterator<Item = L>,
        output: impl Into<Literal>,
    ) -> Result<FactorId, ModelError> {
        let mut literals = self.with_output("and-with-output", inputs, output.into())?;
        // De Morgan: not-output is the OR of the negated inputs.
        literals.iter_mut().for_each(|literal| *literal = !*literal);
        Ok(self.closed(Closed::OrWithOutput, &literals))
    }

    /// At most one input holds, and `output` holds exactly when one does.
    pub fn xor_with_output<L: Into<Literal>>(
        &mut self,
        inputs: impl IntoIterator<Item = L>,
        output: impl Into<Literal>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.with_output("xor-with-output", inputs, !output.into())?;
        Ok(self.closed(Closed::ExactlyOne, &literals))
    }

    /// `score` counts when both literals hold.
    pub fn pair(
        &mut self,
        a: impl Into<Literal>,
        b: impl Into<Literal>,
        score: f64,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("pair", [a.into(), b.into()])?;
        Self::check_score(|| format!("the pair {:?}, {:?}", literals[0], literals[1]), score)?;
        if score == f64::NEG_INFINITY {
            return Ok(self.closed(Closed::AtMostOne, &literals));
        }
        Ok(self.closed(Closed::Pair(score), &literals))
    }

    /// `score` counts when all literals hold. For three or more, a binary variable of its own stands for that; it is
    /// returned, and is one more variable of the assignment.
    pub fn pattern<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
        score: f64,
    ) -> Result<Option<Binary>, ModelError> {
        let literals = self.literals("pattern", literals)?;
        match literals[..] {
            [literal] => self.add_score(literal, score).map(|()| None),
            [a, b] => self.pair(a, b, score).map(|_| None),
            _ => {
                let all = self.binary(score)?;
                self.and_with_output(&literals, all)?;
                Ok(Some(all))
            }
        }
    }

    /// At most `limit` of the literals hold.
    pub fn budget<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
        limit: usize,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("budget", literals)?;
        Ok(self.closed(Closed::Budget(limit), &literals))
    }

    /// The costs of the literals that hold sum to at most `limit`.
    pub fn knapsack<L: Into<Literal>>(
        &mut self,
        literals: impl IntoIterator<Item = L>,
        costs: &[f64],
        limit: f64,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("knapsack", literals)?;
        if costs.len() != literals.len() {
            return Err(ModelError::Length {
                what: "knapsack costs",
                expected: literals.len(),
                came: costs.len(),
            });
        }
        let bad = |x: f64| x.is_nan() || x < 0.0;
        if let Some(&value) = costs.iter().find(|&&c| bad(c) || c.is_infinite()) {
            return Err(ModelError::Negative { what: "a knapsack cost", value });
        }
        if bad(limit) {
            return Err(ModelError::Negative { what: "a knapsack limit", value: limit });
        }
        Ok(self.closed(Closed::Knapsack { costs: costs.into(), limit }, &literals))
    }

    /// A score for every joint state of several variables, the last variable's state changing fastest.
    pub fn table(&mut self, variables: &[Variable], scores: &[f64]) -> Result<FactorId, ModelError> {
        if variables.is_empty() {
            return Err(ModelError::Empty("a table"));
        }
        let sizes: Vec<usize> = variables.iter().map(Variable::states).collect();
        let mut indices: Vec<usize> = variables.iter().map(Variable::variable).collect();
        indices.sort_unstable();
        if let Some(pair) = indices.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ModelError::Repeated { factor: "a table", variable: pair[0] });
        }
        if let [Variable::Binary(a), Variable::Binary(b)] = variables
            && scores.len() == 4
            && scores.iter().all(|s| s.is_finite())
        {
            // Two binary variables: a constant, two scores and a product, whose quadratic step has a closed form.
            let [s00, s01, s10, s11] = [scores[0], scores[1], scores[2], scores[3]];
            self.offset += s00;
            self.scores[a.slot as usize] += s10 - s00;
            self.scores[b.slot as usize] += s01 - s00;
            return self.pair(*a, *b, s11 - s10 - s01 + s00);
        }
        let dense =
            DenseTable::new(&sizes, scores.to_vec()).map_err(|e| ModelError::Oracle(e.to_string()))?;
        let literals: Vec<Literal> =
            variables.iter().flat_map(|v| (0..v.states()).map(|state| v.is(state))).collect();
        self.cover(variables.iter().map(Variable::variable));
        self.oracle_links(dense, literals)
    }

    fn cover(&mut self, variables: impl IntoIterator<Item = usize>) {
        for variable in variables {
            self.covered[variable] = true;
        }
    }

    /// A factor known by its oracle, over literals.
    pub fn oracle<O: Oracle, L: Into<Literal>>(
        &mut self,
        oracle: O,
        literals: impl IntoIterator<Item = L>,
    ) -> Result<FactorId, ModelError> {
        let literals = self.literals("an oracle factor", literals)?;
        self.oracle_links(oracle, literals)
    }

    /// A factor known by its oracle, over all states of several variables in turn, one of which it makes hold for
    /// each (sequences, labelled trees).
    pub fn oracle_over<O: Oracle>(
        &mut self,
        oracle: O,
        variables: &[Variable],
    ) -> Result<FactorId, ModelError> {
        let mut indices: Vec<usize> = variables.iter().map(Variable::variable).collect();
        indices.sort_unstable();
        if let Some(pair) = indices.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ModelError::Repeated { factor: "an oracle factor", variable: pair[0] });
        }
        let literals = variables.iter().flat_map(|v| (0..v.states()).map(|state| v.is(state))).collect();
        self.cover(variables.iter().map(Variable::variable));
        self.oracle_links(oracle, literals)
    }

    fn oracle_links<O: Oracle>(&mut self, oracle: O, literals: Vec<Literal>) -> Result<FactorId, ModelError> {
        if oracle.links() != literals.len() {
            return Err(ModelError::Length {
                what: "oracle links",
                expected: oracle.links(),
                came: literals.len(),
            });
        }
        let groups = &mut self.groups;
        let group = *self.oracle_groups.entry(TypeId::of::<O>()).or_insert_with(|| {
            groups.push(Box::new(OracleGroup::<O>::default()));
            groups.len() as u32 - 1
        });
        self.structure += 1;
        let typed = self.groups[group as usize].as_any_mut().downcast_mut::<OracleGroup<O>>();
        let index = typed.expect("groups are found by their type").push(oracle, &literals);
        Ok(FactorId { group, index })
    }

    /// The oracle of a factor, if it is of type `O`.
    pub fn oracle_ref<O: Oracle>(&self, factor: FactorId) -> Option<&O> {
        let group = self.groups.get(factor.group as usize)?.as_any().downcast_ref::<OracleGroup<O>>()?;
        group.oracle(factor.index as usize)
    }

    /// The oracle of a factor, to change its own scores between solves; the links must stay as they are.
    pub fn oracle_mut<O: Oracle>(&mut self, factor: FactorId) -> Option<&mut O> {
        let group =
            self.groups.get_mut(factor.group as usize)?.as_any_mut().downcast_mut::<OracleGroup<O>>()?;
        group.oracle_mut(factor.index as usize)
    }

    /// Changes the score of a [`pair`](Graph::pair).
    pub fn set_pair_score(&mut self, factor: FactorId, score: f64) -> Result<(), ModelError> {
        if !score.is_finite() {
            return Err(ModelError::Score { what: "a pair".into(), score });
        }
        let group = self
            .groups
            .get_mut(factor.group as usize)
            .and_then(|g| g.as_any_mut().downcast_mut::<ClosedGroup>());
        match group.and_then(|g| g.factor_mut(factor.index as usize)) {
            Some(Closed::Pair(old)) => {
                *old = score;
                Ok(())
            }
            _ => Err(ModelError::Oracle("the factor is not a pair".into())),
        }
    }
}
