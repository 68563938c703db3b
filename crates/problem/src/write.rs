//! A problem in the JSON form that [`json`](crate::json) reads, a line for each variable and factor.

use crate::{Factor, Kind, Literal, Problem, Variable};
use serde_json::{Value, json};
use std::collections::HashSet;

impl Problem {
    /// The problem in JSON: what is read back has the same variables, factors, values and bounds. Names that the form
    /// has no room for (empty ones, those with `=` or a leading `!`, and any that stand there twice) become numbers.
    ///
    /// ```
    /// use consonant_problem::{Format, Kind, Problem, read};
    ///
    /// let mut problem = Problem::new();
    /// let (a, b) = (problem.binary("a", 1.0), problem.binary("b", 2.5));
    /// problem.constrain(Kind::AtMostOne, vec![a, !b]);
    /// let again = read(&problem.to_json(), Format::Json)?;
    /// assert_eq!((again.variables, again.factors), (problem.variables, problem.factors));
    /// # Ok::<(), consonant_problem::FormatError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let writer = Writer::new(self);
        let lines = |values: Vec<Value>| values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
        let variables = (0..self.variables.len()).map(|variable| writer.variable(variable)).collect();
        let factors = self.factors.iter().map(|factor| writer.factor(factor)).collect();
        let minimize = if self.minimized { "\"minimize\": true, " } else { "" };
        format!(
            "{{{minimize}\"constant\": {}, \"variables\": [\n{}\n], \"factors\": [\n{}\n]}}\n",
            writer.number(self.constant),
            lines(variables),
            lines(factors),
        )
    }
}

/// A problem, and the names of its variables in the file.
struct Writer<'p> {
    problem: &'p Problem,
    names: Vec<String>,
}

/// Whether no two are the same.
fn are_distinct<'n>(names: impl IntoIterator<Item = &'n String>) -> bool {
    let mut seen = HashSet::new();
    names.into_iter().all(|name| seen.insert(name))
}

impl<'p> Writer<'p> {
    fn new(problem: &'p Problem) -> Self {
        let given = || problem.variables.iter().map(|variable| &variable.name);
        let is_name = |name: &String| !name.is_empty() && !name.starts_with('!') && !name.contains('=');
        let names = match given().all(is_name) && are_distinct(given()) {
            true => given().cloned().collect(),
            false => (0..problem.variables.len()).map(|number| number.to_string()).collect(),
        };
        Self { problem, names }
    }

    /// A score or cost as it was stated.
    fn number(&self, score: f64) -> Value {
        let stated = self.problem.stated(score);
        match stated.is_finite() {
            true => json!(stated),
            false => json!(if stated > 0.0 { "inf" } else { "-inf" }),
        }
    }

    fn numbers(&self, scores: &[f64]) -> Value {
        scores.iter().map(|&score| self.number(score)).collect()
    }

    /// Whether the name alone says that a variable is true: nothing is stated of its being false.
    fn is_plain(variable: &Variable) -> bool {
        variable.binary && matches!(variable.scores[..], [0.0, _])
    }

    /// The names of states, where each names one.
    fn states(variable: &Variable) -> Option<&[String]> {
        let named = !variable.states.is_empty() && are_distinct(&variable.states);
        named.then_some(&variable.states[..])
    }

    fn variable(&self, number: usize) -> Value {
        let (variable, name) = (&self.problem.variables[number], &self.names[number]);
        if Self::is_plain(variable) {
            return json!({"name": name, "score": self.number(variable.scores[1])});
        }
        let scores = self.numbers(&variable.scores);
        match Self::states(variable) {
            Some(states) => json!({"name": name, "states": states, "scores": scores}),
            None => json!({"name": name, "scores": scores}),
        }
    }

    fn literal(&self, literal: &Literal) -> String {
        let (variable, name) =
            (&self.problem.variables[literal.variable as usize], &self.names[literal.variable as usize]);
        let not = if literal.negated { "!" } else { "" };
        match (Self::is_plain(variable), literal.state) {
            (true, 1) => format!("{not}{name}"),
            (true, state) => format!("{not}{name}={state}"),
            (false, state) => match Self::states(variable) {
                Some(states) => format!("{not}{name}={}", states[state as usize]),
                None => format!("{not}{name}={state}"),
            },
        }
    }

    fn factor(&self, factor: &Factor) -> Value {
        let literals = factor.literals.iter().map(|literal| json!(self.literal(literal)));
        let scope = factor.scope.iter().map(|&variable| json!(self.names[variable as usize]));
        let mut over: Vec<Value> = literals.chain(scope).collect();
        let mut written = json!({"kind": factor.kind.name()});
        let mut put = |key: &str, value: Value| written[key] = value;
        match &factor.kind {
            Kind::OrWithOutput | Kind::AndWithOutput | Kind::XorWithOutput => {
                put("output", over.pop().unwrap_or_default());
            }
            Kind::Pair { score } | Kind::Pattern { score } => put("score", self.number(*score)),
            Kind::Budget { limit } => put("limit", json!(limit)),
            Kind::Knapsack { costs, limit } => {
                put("costs", json!(costs));
                put("limit", json!(limit));
            }
            Kind::Table { scores } => put("scores", self.numbers(scores)),
            Kind::Sequence { pairs, triples } => {
                put("pairs", self.numbers(pairs));
                if let Some(triples) = triples {
                    put("triples", self.numbers(triples));
                }
            }
            Kind::TreeLabelling { edges, tables } => {
                put("edges", json!(edges));
                put("tables", self.numbers(tables));
            }
            Kind::Arborescence { nodes, arcs, single_root } => {
                put("nodes", json!(nodes));
                put("arcs", json!(arcs));
                put("single_root", json!(single_root));
            }
            Kind::TreeBudget { parents, budget } => {
                put("parents", json!(parents));
                if let Some((lengths, limit)) = budget {
                    put("lengths", json!(lengths));
                    put("limit", json!(limit));
                }
            }
            Kind::Cut { pairs } => {
                let pair = |&(a, b, score): &(usize, usize, f64)| json!([a, b, self.number(score)]);
                put("pairs", pairs.iter().map(pair).collect());
            }
            _ => {}
        }
        put("over", Value::Array(over));
        written
    }
}
