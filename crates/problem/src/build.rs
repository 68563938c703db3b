//! What people state of a problem beyond single factors: counts, linear constraints, constraints that may be
//! broken at a price, evidence, and costs instead of scores.

use crate::{Factor, Kind, LARGEST_SUM, Literal, Malformed, Problem, Variable};

/// How a sum compares with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
    /// Exactly.
    Equal,
}

impl std::str::FromStr for Relation {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match text {
            "<=" => Ok(Self::AtMost),
            ">=" => Ok(Self::AtLeast),
            "==" | "=" => Ok(Self::Equal),
            other => Err(Malformed(format!("expected <=, >= or ==, found `{other}`"))),
        }
    }
}

impl Problem {
    /// Adds a variable that is true or false, and returns that it is true.
    pub fn binary(&mut self, name: impl Into<String>, score: f64) -> Literal {
        self.variables.push(Variable::binary(name, score));
        Literal { variable: self.variables.len() as u32 - 1, state: 1, negated: false }
    }

    /// Adds a factor over literals.
    pub fn constrain(&mut self, kind: Kind, literals: Vec<Literal>) {
        self.factors.push(Factor { kind, literals, scope: Vec::new() });
    }

    /// Adds the constraint that at least and at most so many of the literals hold.
    pub fn between(&mut self, literals: &[Literal], least: usize, most: usize) -> Result<(), Malformed> {
        let count = literals.len();
        if least > most || least > count {
            return Err(Malformed(format!("between {least} and {most} of {count} literals cannot hold")));
        }
        if most < count {
            self.constrain(Kind::Budget { limit: most }, literals.to_vec());
        }
        if least > 0 {
            let kind = if least == 1 { Kind::AtLeastOne } else { Kind::Budget { limit: count - least } };
            let not = literals.iter().map(|&literal| if least == 1 { literal } else { !literal });
            self.constrain(kind, not.collect());
        }
        Ok(())
    }

    /// Fixes what is known: only states remain in which the literal holds.
    pub fn require(&mut self, literal: Literal) {
        let scores = &mut self.variables[literal.variable as usize].scores;
        for (state, score) in scores.iter_mut().enumerate() {
            if !literal.holds(state as u32) {
                *score = f64::NEG_INFINITY;
            }
        }
    }

    /// Leaves only assignments that differ from `states` in at least `different_by` variables, but for those that say
    /// that a constraint is broken. Nothing is left, and the answer is no, where that is more than there are.
    pub fn exclude(&mut self, states: &[u32], different_by: usize) -> bool {
        let stated = (0..states.len()).filter(|&variable| !self.is_penalty(variable));
        let is = |variable| Literal { variable: variable as u32, state: states[variable], negated: false };
        let same: Vec<Literal> = stated.map(is).collect();
        match same.len().checked_sub(different_by.max(1)) {
            Some(0) => same.into_iter().for_each(|literal| self.require(!literal)),
            Some(limit) => self.constrain(Kind::Budget { limit }, same),
            None => return false,
        }
        true
    }

    /// Reads a literal: the name of a binary variable, `variable=state`, or either with a leading `!`.
    pub fn literal(&self, text: &str) -> Result<Literal, Malformed> {
        self.literal_by(text, |name| self.variables.iter().position(|variable| variable.name == name))
    }

    /// The same with an index of names.
    pub(crate) fn literal_by(
        &self,
        text: &str,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Result<Literal, Malformed> {
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let (name, state) = text.split_once('=').map_or((text, None), |(name, state)| (name, Some(state)));
        let variable = find(name).ok_or_else(|| Malformed(format!("unknown variable `{name}`")))?;
        let named = &self.variables[variable];
        let state = match state {
            None if named.binary => 1,
            None => return Err(Malformed(format!("`{name}` has several states; write `{name}=STATE`"))),
            Some(state) => {
                let by_name = named.states.iter().position(|s| s == state);
                let index = by_name.or_else(|| state.parse().ok()).filter(|&s| s < named.scores.len());
                index.ok_or_else(|| Malformed(format!("`{name}` has no state `{state}`")))?
            }
        };
        Ok(Literal { variable: variable as u32, state: state as u32, negated })
    }

    /// A value or a bound as it was stated: a cost has the opposite sign.
    pub fn stated(&self, number: f64) -> f64 {
        if self.minimized { 0.0 - number } else { number }
    }

    /// An assignment with the names that variables and states have in the file; a state without a name is a number.
    pub fn named(&self, states: &[u32]) -> serde_json::Map<String, serde_json::Value> {
        let state = |(variable, &state): (&Variable, &u32)| {
            let name = variable.states.get(state as usize).cloned();
            (variable.name.clone(), name.map_or_else(|| state.into(), serde_json::Value::String))
        };
        self.variables.iter().zip(states).map(state).collect()
    }

    /// The states of an assignment as [`named`](Self::named) writes it, or as `assignment` of an object. What it
    /// does not name is in its first state.
    pub fn unnamed(&self, assignment: &serde_json::Value) -> Result<Vec<u32>, Malformed> {
        let named = assignment.get("assignment").unwrap_or(assignment);
        let expected = || Malformed("expected an object with the state of each variable".into());
        let named = named.as_object().ok_or_else(expected)?;
        let places: std::collections::HashMap<&str, usize> =
            self.variables.iter().enumerate().map(|(place, variable)| (&*variable.name, place)).collect();
        let mut states = vec![0; self.variables.len()];
        for (name, state) in named {
            let place =
                *places.get(&**name).ok_or_else(|| Malformed(format!("unknown variable `{name}`")))?;
            let variable = &self.variables[place];
            let by_name = |state: &str| variable.states.iter().position(|own| own == state);
            let number = match state {
                serde_json::Value::String(state) => by_name(state),
                other => other.as_u64().map(|state| state as usize),
            };
            let number = number.filter(|&number| number < variable.scores.len());
            states[place] = number.ok_or_else(|| Malformed(format!("`{name}` has no state {state}")))? as u32;
        }
        Ok(states)
    }

    /// Takes all scores for costs, of which the least sum is wanted. Infinite costs forbid.
    pub fn minimize(&mut self) -> Result<(), Malformed> {
        self.minimized = !self.minimized;
        self.constant = -self.constant;
        let stated = self.variables.iter_mut().enumerate();
        let stated = stated.filter(|(number, _)| !self.penalties.contains(&(*number as u32)));
        let mut scores: Vec<&mut f64> = stated.flat_map(|(_, variable)| &mut variable.scores).collect();
        for factor in &mut self.factors {
            match &mut factor.kind {
                Kind::Pair { score } | Kind::Pattern { score } => scores.push(score),
                Kind::Table { scores: all } | Kind::TreeLabelling { tables: all, .. } => scores.extend(all),
                Kind::Sequence { pairs, triples } => {
                    scores.extend(pairs.iter_mut().chain(triples.iter_mut().flatten()))
                }
                Kind::Cut { pairs } => scores.extend(pairs.iter_mut().map(|(_, _, score)| score)),
                _ => {}
            }
        }
        for score in scores {
            if *score == f64::NEG_INFINITY {
                return Err(Malformed(
                    "a cost of minus infinity cannot be made up for; \"inf\" forbids".to_owned(),
                ));
            }
            // A score of zero stays what it is.
            *score = if *score == 0.0 { 0.0 } else { -*score };
        }
        Ok(())
    }

    /// Adds the constraint that the sum of the coefficients of literals that hold is at most, at least or exactly `limit`.
    ///
    /// ```
    /// use consonant_problem::{Problem, Relation};
    ///
    /// let mut problem = Problem::new();
    /// let (a, b) = (problem.binary("a", 1.0), problem.binary("b", 1.0));
    /// problem.linear(&[(a, 2.0), (b, -1.0)], Relation::AtMost, 1.0)?; // a only with b
    /// assert_eq!(problem.factors.len(), 1);
    /// # Ok::<(), consonant_problem::Malformed>(())
    /// ```
    pub fn linear(
        &mut self,
        terms: &[(Literal, f64)],
        relation: Relation,
        limit: f64,
    ) -> Result<(), Malformed> {
        let sum = terms.iter().fold(limit.abs(), |sum, (_, coefficient)| sum + coefficient.abs());
        if sum.is_nan() || sum > LARGEST_SUM {
            return Err(Malformed(format!(
                "the numbers of a linear constraint are neither infinite nor NaN and sum to at most {LARGEST_SUM:e} \
                 in size; divide them by a constant"
            )));
        }
        if relation != Relation::AtLeast {
            self.at_most(terms.iter().copied(), limit);
        }
        if relation != Relation::AtMost {
            self.at_most(terms.iter().map(|&(literal, coefficient)| (literal, -coefficient)), -limit);
        }
        Ok(())
    }

    /// A knapsack: a literal with a negative coefficient c counts as c, plus −c when it does not hold.
    fn at_most(&mut self, terms: impl Iterator<Item = (Literal, f64)>, mut limit: f64) {
        let (mut literals, mut costs) = (Vec::new(), Vec::new());
        for (literal, coefficient) in terms {
            literals.push(if coefficient < 0.0 { !literal } else { literal });
            limit -= coefficient.min(0.0);
            costs.push(coefficient.abs());
        }
        match (literals.first(), limit < 0.0) {
            (Some(_), false) => self.constrain(Kind::Knapsack { costs, limit }, literals),
            // Nothing is below zero, so there is no solution: some literal would have to hold and not to hold.
            (first, true) => {
                let literal = first.copied().unwrap_or_else(|| self.binary(self.fresh("never"), 0.0));
                self.constrain(Kind::AtLeastOne, vec![literal]);
                self.constrain(Kind::AtLeastOne, vec![!literal]);
            }
            (None, false) => {}
        }
    }

    /// Lets a constraint be broken at a price: a variable of its own says that it is, and costs `penalty`. Returns that variable.
    ///
    /// Logic over literals, budgets and knapsacks can be broken; factors with scores of their own cannot.
    ///
    /// ```
    /// use consonant_problem::{Kind, Problem};
    ///
    /// let mut problem = Problem::new();
    /// let (a, b) = (problem.binary("a", 3.0), problem.binary("b", 2.0));
    /// problem.constrain(Kind::AtMostOne, vec![a, b]);
    /// problem.soften(0, 1.5)?; // both are worth 5 - 1.5
    /// assert_eq!(problem.variables[2].scores[1], -1.5);
    /// # Ok::<(), consonant_problem::Malformed>(())
    /// ```
    pub fn soften(&mut self, factor: usize, penalty: f64) -> Result<Literal, Malformed> {
        if !(penalty >= 0.0 && penalty.is_finite()) {
            return Err(Malformed(format!("a penalty is a number that is zero or more, not {penalty}")));
        }
        let Some(Factor { kind, literals, .. }) = self.factors.get(factor).cloned() else {
            return Err(Malformed(format!("there is no factor {factor}")));
        };
        let ones = vec![1.0; literals.len()];
        // The output and its inputs, in the sense in which the output is their OR.
        let or = || {
            let negate = |literal: Literal| if kind == Kind::AndWithOutput { !literal } else { literal };
            let (output, inputs) = literals.split_last()?;
            Some((negate(*output), inputs.iter().map(|&input| negate(input)).collect::<Vec<_>>()))
        };
        // Clauses that one more literal satisfies; a sum that one more literal lets be as large as it can be.
        let (clauses, sum) = match &kind {
            Kind::AtLeastOne => (vec![literals], None),
            Kind::Implies => (vec![vec![!literals[0], literals[1]]], None),
            Kind::AtMostOne => (Vec::new(), Some((literals, ones, 1.0))),
            Kind::ExactlyOne => (vec![literals.clone()], Some((literals, ones, 1.0))),
            Kind::XorWithOutput => {
                let mut literals = literals;
                if let Some(output) = literals.last_mut() {
                    *output = !*output;
                }
                (vec![literals.clone()], Some((literals, ones, 1.0)))
            }
            Kind::OrWithOutput | Kind::AndWithOutput => {
                let Some((output, inputs)) = or() else {
                    return Err(Malformed(format!("factor {factor} has no output")));
                };
                let mut clauses: Vec<_> = inputs.iter().map(|&input| vec![!input, output]).collect();
                clauses.push(inputs.into_iter().chain([!output]).collect());
                (clauses, None)
            }
            Kind::Budget { limit } => (Vec::new(), Some((literals, ones, *limit as f64))),
            Kind::Knapsack { costs, limit } => (Vec::new(), Some((literals, costs.clone(), *limit))),
            other => {
                return Err(Malformed(format!("a factor of kind {} cannot be softened", other.name())));
            }
        };
        let broken = self.binary(self.fresh(&format!("broken{factor}")), -penalty);
        self.penalties.push(broken.variable);
        let mut softened = Vec::new();
        for mut clause in clauses {
            clause.push(broken);
            softened.push(Factor { kind: Kind::AtLeastOne, literals: clause, scope: Vec::new() });
        }
        if let Some((mut over, mut costs, limit)) = sum {
            let most: f64 = costs.iter().sum();
            costs.push((most - limit).max(0.0));
            over.push(!broken);
            let limit = limit.max(most);
            softened.push(Factor {
                kind: Kind::Knapsack { costs, limit },
                literals: over,
                scope: Vec::new(),
            });
        }
        // Other factors keep their numbers.
        let mut softened = softened.into_iter();
        if let Some(first) = softened.next() {
            self.factors[factor] = first;
        }
        self.factors.extend(softened);
        Ok(broken)
    }

    /// Whether a variable only says that a constraint is broken.
    pub fn is_penalty(&self, variable: usize) -> bool {
        self.penalties.contains(&(variable as u32))
    }

    /// A name that no variable has.
    fn fresh(&self, name: &str) -> String {
        let taken = |name: &str| self.variables.iter().any(|variable| variable.name == name);
        let mut fresh = name.to_owned();
        while taken(&fresh) {
            fresh.push('\'');
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    #[test]
    fn costs_are_negated_and_penalties_are_not() {
        let text = r#"{"minimize": true, "constant": 1,
            "variables": [{"name": "a", "score": 2}, {"name": "x", "states": ["p", "q"], "scores": [3, "inf"]}],
            "factors": [{"kind": "at-least-one", "over": ["a"], "penalty": 5},
                        {"kind": "pair", "over": ["a", "x=p"], "score": 4}]}"#;
        let problem = read(text, Format::Json).unwrap();
        assert!(problem.minimized && problem.constant == -1.0);
        let scores: Vec<&[f64]> = problem.variables.iter().map(|v| &v.scores[..]).collect();
        assert_eq!(scores, [&[0.0, -2.0][..], &[-3.0, f64::NEG_INFINITY], &[0.0, -5.0]]);
        assert!(read(&text.replace("\"inf\"", "\"-inf\""), Format::Json).is_err());
    }

    #[test]
    fn counts_become_budgets_and_wrong_ones_are_refused_with_their_place() {
        let problem = |factor: &str| {
            let text = format!(
                r#"{{"variables": [{{"name": "a"}}, {{"name": "b"}}, {{"name": "c", "states": ["x", "y"]}}], "factors": [{factor}]}}"#
            );
            read(&text, Format::Json)
        };
        for (factor, kinds) in [
            (r#"{"kind": "exactly-k", "over": ["a", "b", "c=y"], "k": 2}"#, &["budget", "budget"][..]),
            (r#"{"kind": "at-least-k", "over": ["a", "b", "c=y"], "k": 1}"#, &["at-least-one"]),
            (r#"{"kind": "at-most-k", "over": ["a", "b"], "k": 1}"#, &["budget"]),
            (r#"{"kind": "between", "over": ["a", "b"], "least": 1, "most": 2}"#, &["at-least-one"]),
            (
                r#"{"kind": "linear", "over": ["a", "b"], "coefficients": [1, -2], "relation": "=", "limit": 0}"#,
                &["knapsack", "knapsack"],
            ),
        ] {
            let problem = problem(factor).unwrap();
            let found: Vec<&str> = problem.factors.iter().map(|factor| factor.kind.name()).collect();
            assert_eq!(found, kinds, "{factor}");
            assert_eq!(problem.variables[2].scores, [0.0, 0.0]);
        }
        for (factor, message) in [
            (r#"{"kind": "exactly-k", "over": ["a"], "k": 2}"#, "between 2 and 2 of 1 literals cannot hold"),
            (
                r#"{"kind": "linear", "over": ["a"], "coefficients": [], "relation": "<=", "limit": 0}"#,
                "0 coefficients, but 1 literals",
            ),
            (r#"{"kind": "between", "over": ["d"], "least": 0, "most": 1}"#, "unknown variable `d`"),
            (r#"{"kind": "table", "over": ["a"], "scores": [0, 1], "penalty": 1}"#, "cannot be softened"),
        ] {
            let error = problem(factor).unwrap_err().to_string();
            assert!(error.contains("factors[0]") && error.contains(message), "{error}");
        }
    }
}
