//! What people state of a problem beyond single factors: linear constraints, and constraints that may be broken at a price.

use crate::{Factor, Kind, Literal, Malformed, Problem, Variable};

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
        if !limit.is_finite() || terms.iter().any(|(_, coefficient)| !coefficient.is_finite()) {
            return Err(Malformed(
                "a linear constraint has numbers only, neither infinite nor NaN".to_owned(),
            ));
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
        // A clause that one more literal satisfies; a sum that one more literal lets be as large as it can be.
        let (clause, sum) = match &kind {
            Kind::AtLeastOne => (Some(literals.clone()), None),
            Kind::Implies => (Some(vec![!literals[0], literals[1]]), None),
            Kind::AtMostOne => (None, Some((ones, 1.0))),
            Kind::ExactlyOne => (Some(literals.clone()), Some((ones, 1.0))),
            Kind::Budget { limit } => (None, Some((ones, *limit as f64))),
            Kind::Knapsack { costs, limit } => (None, Some((costs.clone(), *limit))),
            other => {
                return Err(Malformed(format!("a factor of kind {} cannot be softened", other.name())));
            }
        };
        let broken = self.binary(self.fresh(&format!("broken{factor}")), -penalty);
        let mut softened = Vec::new();
        if let Some(mut clause) = clause {
            clause.push(broken);
            softened.push(Factor { kind: Kind::AtLeastOne, literals: clause, scope: Vec::new() });
        }
        if let Some((mut costs, limit)) = sum {
            let most: f64 = costs.iter().sum();
            costs.push((most - limit).max(0.0));
            let mut over = literals;
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
