//! The factors of a graph, added one line each.
//!
//! Solvers count on factors that link to a slot once. A slot that a factor names again gets a copy: a binary
//! variable more, at the end of the assignment, which is the OR of that slot alone.

use super::{Binary, FactorId, Graph, Literal, ModelError, Variable};
use super::{check_index, check_length, check_score};
use crate::factor::Closed;
use crate::group::{Factors, Slave};
use crate::oracle::Oracle;
use crate::oracle::dense::DenseTable;
use consonant_problem::LARGEST_SUM;
use rustc_hash::FxHashSet;
use std::any::TypeId;
use std::sync::Arc;

/// A result, or why the model was refused.
type Result<T> = std::result::Result<T, ModelError>;

impl Graph {
    /// The links of a factor, checked; they come back by [`add`](Self::add) or
    /// [`oracle_links`](Self::oracle_links).
    fn literals(
        &mut self,
        factor: &'static str,
        literals: impl IntoIterator<Item: Into<Literal>>,
    ) -> Result<Vec<Literal>> {
        let mut own = std::mem::take(&mut self.literals);
        own.clear();
        own.extend(literals.into_iter().map(Into::into));
        if own.is_empty() {
            return Err(ModelError::Empty(factor.into()));
        }
        let slots = &mut self.sorted;
        slots.clear();
        for literal in &own {
            check_index(format_args!("{factor}: slot"), literal.slot(), 0..self.scores.len())?;
            slots.push(literal.slot());
        }
        slots.sort_unstable();
        if slots.windows(2).any(|pair| pair[0] == pair[1]) {
            self.separate(&mut own)?;
        }
        Ok(own)
    }

    /// Slots that stand among the links of a factor again are replaced by copies.
    fn separate(&mut self, literals: &mut [Literal]) -> Result<()> {
        let mut seen = FxHashSet::default();
        for literal in literals {
            if !seen.insert(literal.slot()) {
                let slot = if literal.is_negated() { !*literal } else { *literal };
                let copy: Literal = self.binary(0.0)?.into();
                self.or_with_output([slot], copy)?;
                *literal = if literal.is_negated() { !copy } else { copy };
            }
        }
        Ok(())
    }

    /// A variable that is always in the same state.
    fn copy(&mut self, variable: Variable) -> Result<Variable> {
        let copy: Variable = match variable {
            Variable::Binary(_) => self.binary(0.0)?.into(),
            Variable::Choice(choice) => self.choice(&vec![0.0; choice.states()])?.into(),
        };
        let is_binary = matches!(variable, Variable::Binary(_));
        for state in usize::from(is_binary)..variable.states() {
            self.or_with_output([variable.is(state)], copy.is(state))?;
        }
        Ok(copy)
    }

    /// A group to be changed: no other graph shares it while it is.
    fn group_mut<F: Slave>(&mut self, group: u32) -> Option<&mut Factors<F>> {
        Arc::get_mut(self.groups.get_mut(group as usize)?)?.of_mut()
    }

    /// Adds a factor to the group of its type, which is made of a spare one if need be and if there is one.
    fn add<F: Slave>(&mut self, factor: F, literals: Vec<Literal>) -> FactorId {
        let group = *self.group_of.entry(TypeId::of::<F>()).or_insert_with(|| {
            let spare = self.spare.iter().position(|group| group.of::<F>().is_some());
            self.groups.push(match spare {
                Some(at) => self.spare.swap_remove(at),
                None => Arc::new(Factors::<F>::default()),
            });
            self.groups.len() as u32 - 1
        });
        self.structure += 1;
        let typed = self.group_mut::<F>(group);
        let index = typed.expect("groups are found by their type").push(factor, &literals);
        self.literals = literals;
        FactorId { group, index }
    }

    /// Exactly one of the literals holds (XOR).
    pub fn exactly_one(&mut self, literals: impl IntoIterator<Item: Into<Literal>>) -> Result<FactorId> {
        let literals = self.literals("exactly-one", literals)?;
        Ok(self.add(Closed::ExactlyOne, literals))
    }

    /// At most one of the literals holds.
    pub fn at_most_one(&mut self, literals: impl IntoIterator<Item: Into<Literal>>) -> Result<FactorId> {
        let literals = self.literals("at-most-one", literals)?;
        Ok(self.add(Closed::AtMostOne, literals))
    }

    /// At least one of the literals holds (OR).
    pub fn at_least_one(&mut self, literals: impl IntoIterator<Item: Into<Literal>>) -> Result<FactorId> {
        let literals = self.literals("at-least-one", literals)?;
        Ok(self.add(Closed::AtLeastOne, literals))
    }

    /// If `premise` holds, so does `conclusion`.
    pub fn implies(
        &mut self,
        premise: impl Into<Literal>,
        conclusion: impl Into<Literal>,
    ) -> Result<FactorId> {
        let literals = self.literals("implication", [!premise.into(), conclusion.into()])?;
        Ok(self.add(Closed::AtLeastOne, literals))
    }

    fn with_output(
        &mut self,
        factor: &'static str,
        inputs: impl IntoIterator<Item: Into<Literal>>,
        output: Literal,
    ) -> Result<Vec<Literal>> {
        let mut literals: Vec<Literal> = inputs.into_iter().map(Into::into).collect();
        if literals.is_empty() {
            return Err(ModelError::Empty(factor.into()));
        }
        literals.push(output);
        self.literals(factor, literals)
    }

    /// `output` holds exactly when some input does.
    pub fn or_with_output(
        &mut self,
        inputs: impl IntoIterator<Item: Into<Literal>>,
        output: impl Into<Literal>,
    ) -> Result<FactorId> {
        let literals = self.with_output("or-with-output", inputs, output.into())?;
        Ok(self.add(Closed::OrWithOutput, literals))
    }

    /// `output` holds exactly when all inputs do.
    pub fn and_with_output(
        &mut self,
        inputs: impl IntoIterator<Item: Into<Literal>>,
        output: impl Into<Literal>,
    ) -> Result<FactorId> {
        let mut literals = self.with_output("and-with-output", inputs, output.into())?;
        // De Morgan: not-output is the OR of the negated inputs.
        literals.iter_mut().for_each(|literal| *literal = !*literal);
        Ok(self.add(Closed::OrWithOutput, literals))
    }

    /// At most one input holds, and `output` holds exactly when one does.
    pub fn xor_with_output(
        &mut self,
        inputs: impl IntoIterator<Item: Into<Literal>>,
        output: impl Into<Literal>,
    ) -> Result<FactorId> {
        let literals = self.with_output("xor-with-output", inputs, !output.into())?;
        Ok(self.add(Closed::ExactlyOne, literals))
    }

    /// `score` counts when both literals hold.
    pub fn pair(&mut self, a: impl Into<Literal>, b: impl Into<Literal>, score: f64) -> Result<FactorId> {
        let literals = self.literals("pair", [a.into(), b.into()])?;
        check_score(format_args!("the pair {:?}, {:?}", literals[0], literals[1]), score)?;
        if score == f64::NEG_INFINITY {
            return Ok(self.add(Closed::AtMostOne, literals));
        }
        Ok(self.add(Closed::Pair(score), literals))
    }

    /// `score` counts when all literals hold. For three or more, a binary variable of its own stands for
    /// that; it is returned, and is one more variable of the assignment.
    pub fn pattern(
        &mut self,
        literals: impl IntoIterator<Item: Into<Literal>>,
        score: f64,
    ) -> Result<Option<Binary>> {
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
    pub fn budget(
        &mut self,
        literals: impl IntoIterator<Item: Into<Literal>>,
        limit: usize,
    ) -> Result<FactorId> {
        let literals = self.literals("budget", literals)?;
        Ok(self.add(Closed::Budget(limit), literals))
    }

    /// The costs of the literals that hold sum to at most `limit`.
    pub fn knapsack(
        &mut self,
        literals: impl IntoIterator<Item: Into<Literal>>,
        costs: &[f64],
        limit: f64,
    ) -> Result<FactorId> {
        let literals = self.literals("knapsack", literals)?;
        check_length("knapsack costs", costs.len(), literals.len())?;
        let bad = |x: f64| x.is_nan() || x < 0.0;
        if let Some(&value) = costs.iter().find(|&&cost| bad(cost)) {
            return Err(ModelError::Negative { what: "a knapsack cost".into(), value });
        }
        if bad(limit) {
            return Err(ModelError::Negative { what: "a knapsack limit".into(), value: limit });
        }
        if costs.iter().sum::<f64>() + limit > LARGEST_SUM {
            let reason = format!(
                "has costs and a limit that sum to more than {LARGEST_SUM:e}; divide them by a constant"
            );
            return Err(ModelError::unfit("a knapsack", reason));
        }
        Ok(self.add(Closed::knapsack(costs, limit), literals))
    }

    /// A score for every joint state of several variables, the last variable's state changing fastest. Of a variable
    /// that stands there twice the diagonal counts.
    pub fn table(&mut self, variables: &[Variable], scores: &[f64]) -> Result<FactorId> {
        if variables.is_empty() {
            return Err(ModelError::Empty("a table".into()));
        }
        let sizes: Vec<usize> = variables.iter().map(Variable::states).collect();
        if !are_distinct(variables) {
            let size = sizes.iter().try_fold(1usize, |size, &states| size.checked_mul(states));
            check_length("the table", scores.len(), size.unwrap_or(usize::MAX))?;
            let (variables, scores) = diagonal(variables, scores);
            return self.table(&variables, &scores);
        }
        if let [Variable::Binary(a), Variable::Binary(b)] = variables
            && let Some([constant, first, second, both]) = as_product(scores)
            && keeps(self.offset, constant)
            && keeps(self.scores[a.slot as usize], first)
            && keeps(self.scores[b.slot as usize], second)
        {
            self.offset += constant;
            self.scores[a.slot as usize] += first;
            self.scores[b.slot as usize] += second;
            return self.pair(*a, *b, both);
        }
        self.oracle_over(DenseTable::new(&sizes, scores.to_vec())?, variables)
    }

    /// A factor known by its oracle, over literals.
    pub fn oracle<O: Oracle>(
        &mut self,
        oracle: O,
        literals: impl IntoIterator<Item: Into<Literal>>,
    ) -> Result<FactorId> {
        let literals = self.literals("an oracle factor", literals)?;
        self.oracle_links(oracle, literals)
    }

    /// A factor known by its oracle, over all states of several variables in turn, one of which it makes hold
    /// for each (sequences, labelled trees). Where a variable stands again, a copy takes its place.
    pub fn oracle_over<O: Oracle>(&mut self, oracle: O, variables: &[Variable]) -> Result<FactorId> {
        let mut variables = variables.to_vec();
        if !are_distinct(&variables) {
            let mut seen = FxHashSet::default();
            for variable in variables.iter_mut().filter(|variable| !seen.insert(variable.variable())) {
                *variable = self.copy(*variable)?;
            }
        }
        let literals = variables.iter().flat_map(|v| (0..v.states()).map(|state| v.is(state))).collect();
        variables.iter().for_each(|variable| self.covered[variable.variable()] = true);
        self.oracle_links(oracle, literals)
    }

    fn oracle_links<O: Oracle>(&mut self, oracle: O, literals: Vec<Literal>) -> Result<FactorId> {
        check_length("oracle links", literals.len(), oracle.links())?;
        Ok(self.add(oracle, literals))
    }

    /// An oracle of a factor that was there before the graph was [cleared](Self::clear), to be filled anew.
    pub fn spare_oracle<O: Oracle>(&mut self) -> Option<O> {
        let groups = self.groups.iter_mut().chain(&mut self.spare);
        groups.filter_map(Arc::get_mut).find_map(|group| group.of_mut::<O>())?.spare()
    }

    /// The oracle of a factor, if it is of type `O`.
    pub fn oracle_ref<O: Oracle>(&self, factor: FactorId) -> Option<&O> {
        self.groups.get(factor.group as usize)?.of::<O>()?.get(factor.index as usize)
    }

    /// The oracle of a factor, to change its own scores between solves; the links must stay as they are.
    pub fn oracle_mut<O: Oracle>(&mut self, factor: FactorId) -> Option<&mut O> {
        self.group_mut::<O>(factor.group)?.get_mut(factor.index as usize)
    }

    /// Changes the score of a [`pair`](Graph::pair).
    pub fn set_pair_score(&mut self, factor: FactorId, score: f64) -> Result<()> {
        if !score.is_finite() {
            return Err(ModelError::Score { what: "a pair".into(), score });
        }
        let group = self.group_mut::<Closed>(factor.group);
        match group.and_then(|g| g.get_mut(factor.index as usize)) {
            Some(Closed::Pair(old)) => {
                *old = score;
                Ok(())
            }
            _ => Err(ModelError::unfit("the factor", "is not a pair")),
        }
    }
}

/// Whether no variable stands there twice.
fn are_distinct(variables: &[Variable]) -> bool {
    let mut indices: Vec<usize> = variables.iter().map(Variable::variable).collect();
    indices.sort_unstable();
    indices.windows(2).all(|pair| pair[0] != pair[1])
}

/// Each variable once, and of a table the entries at which all places of a variable have the same state.
fn diagonal(variables: &[Variable], scores: &[f64]) -> (Vec<Variable>, Vec<f64>) {
    let mut distinct: Vec<Variable> = Vec::new();
    // How far the entry moves with the state of each distinct variable.
    let mut strides: Vec<usize> = Vec::new();
    let mut stride = scores.len();
    for variable in variables {
        stride /= variable.states();
        match distinct.iter().position(|other| other == variable) {
            Some(place) => strides[place] += stride,
            None => {
                distinct.push(*variable);
                strides.push(stride);
            }
        }
    }
    let mut entries = vec![0];
    for (variable, stride) in distinct.iter().zip(strides) {
        entries =
            entries.iter().flat_map(|at| (0..variable.states()).map(move |s| at + s * stride)).collect();
    }
    (distinct, entries.into_iter().map(|entry| scores[entry]).collect())
}

/// Whether neither of two numbers drowns in their sum.
pub(super) fn keeps(a: f64, b: f64) -> bool {
    let sum = a + b;
    ((sum - b) - a).abs() <= 1e-12 * a.abs() && ((sum - a) - b).abs() <= 1e-12 * b.abs()
}

/// A table of two binary variables as a constant, two scores and a product, whose quadratic step has a closed
/// form; nothing where a large entry would drown a small one.
pub(crate) fn as_product(scores: &[f64]) -> Option<[f64; 4]> {
    let &[s00, s01, s10, s11] = scores else { return None };
    let (first, second) = (s10 - s00, s01 - s00);
    let both = s11 - s10 - s01 + s00;
    let least = scores.iter().map(|s| s.abs()).filter(|&s| s > 0.0).fold(f64::INFINITY, f64::min);
    let same = |entry: f64, sum: f64| (entry - sum).abs() <= 1e-12 * least.max(entry.abs());
    let kept = same(s10, s00 + first) && same(s01, s00 + second) && same(s11, s00 + first + second + both);
    (kept || scores.iter().all(|&s| s == 0.0)).then_some([s00, first, second, both])
}
