//! Cost function networks in JSON (`.cfn`), as toulbar2 reads them.

use crate::costs::{CostFunction, MOST_STATES};
use crate::format::{FormatError, overflows};
use crate::{Problem, Variable};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Reads a problem whose cost functions are tables. With `"mustbe": "<N"` the least sum is wanted, and where no
/// cost is negative, one of N forbids; with `">N"` the largest is wanted. The number itself is no constraint.
///
/// ```
/// use consonant_problem::cfn;
///
/// let text = r#"{"problem": {"name": "two", "mustbe": "<100"}, "variables": {"a": ["x", "y"], "b": 2},
///                "functions": {"f": {"scope": ["a", "b"], "defaultcost": 0, "costs": ["x", 1, 7]}}}"#;
/// let problem = cfn::read(text)?;
/// assert!(problem.minimized && problem.factors.len() == 1);
/// # Ok::<(), consonant_problem::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let root: Value =
        serde_json::from_str(text).map_err(|error| FormatError::at(error.line(), error.to_string()))?;
    let mustbe = root.pointer("/problem/mustbe").and_then(Value::as_str).unwrap_or("<inf");
    let wrong =
        || FormatError::new(format!("problem.mustbe: expected `<` or `>` and a number, found `{mustbe}`"));
    let (minimize, limit) = match (mustbe.strip_prefix('<'), mustbe.strip_prefix('>')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Err(wrong()),
    };
    let limit: f64 = limit.trim().parse().ok().filter(|_| !overflows(limit.trim())).ok_or_else(wrong)?;
    let mut reader = Reader { problem: Problem::new(), places: HashMap::new(), lists: HashMap::new() };
    for (name, states) in object(&root, "variables")? {
        reader.variable(name, states)?;
    }
    // Costs of the opposite sign are wanted least.
    let sign = if minimize { 1.0 } else { -1.0 };
    let functions = object(&root, "functions")?;
    let top = if minimize && !functions.values().any(has_negative) { limit } else { f64::INFINITY };
    for (name, function) in functions {
        let place = format!("functions.{name}");
        reader.function(name, function, &place, sign, top)?;
    }
    let mut problem = reader.problem;
    problem.minimize().map_err(|malformed| FormatError::new(malformed.to_string()))?;
    problem.minimized = minimize;
    Ok(problem)
}

fn object<'a>(root: &'a Value, key: &str) -> Result<&'a Map<String, Value>, FormatError> {
    let missing = || FormatError::new(format!("{key}: expected an object"));
    root.get(key).and_then(Value::as_object).ok_or_else(missing)
}

struct Reader<'a> {
    problem: Problem,
    places: HashMap<&'a str, u32>,
    /// The costs of functions, which later ones may name.
    lists: HashMap<&'a str, &'a [Value]>,
}

impl<'a> Reader<'a> {
    fn variable(&mut self, name: &'a str, states: &'a Value) -> Result<(), FormatError> {
        let error = |message: &str| FormatError::new(format!("variables.{name}: {message}"));
        let names: Vec<String> = match states {
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        let count = match states.as_u64() {
            Some(count) => count as usize,
            None => names.len(),
        };
        if count == 0 || count > MOST_STATES {
            return Err(error(&format!("expected a list of states or their number, 1 to {MOST_STATES}")));
        }
        self.places.insert(name, self.problem.variables.len() as u32);
        let (name, scores) = (name.to_owned(), vec![0.0; count]);
        self.problem.variables.push(Variable { name, states: names, scores, binary: false });
        Ok(())
    }

    fn function(
        &mut self,
        name: &'a str,
        function: &'a Value,
        place: &str,
        sign: f64,
        top: f64,
    ) -> Result<(), FormatError> {
        let error = |message: String| FormatError::new(format!("{place}: {message}"));
        if function.get("type").is_some() {
            return Err(error("cost functions by type are not read; only tables are".into()));
        }
        let scope = function.get("scope").and_then(Value::as_array);
        let scope = scope.ok_or_else(|| error("expected `scope`, a list of variables".into()))?;
        let find = |variable: &Value| match variable {
            Value::String(name) => self.places.get(&**name).copied(),
            number => number.as_u64().filter(|&n| n < self.problem.variables.len() as u64).map(|n| n as u32),
        };
        let scope: Option<Vec<u32>> = scope.iter().map(find).collect();
        let scope = scope.ok_or_else(|| error("`scope` names a variable that does not exist".into()))?;
        let costs = match function.get("costs") {
            Some(Value::Array(costs)) => &costs[..],
            Some(Value::String(other)) => self
                .lists
                .get(&**other)
                .copied()
                .ok_or_else(|| error(format!("no function `{other}` before")))?,
            _ => return Err(error("expected `costs`, a list of numbers".into())),
        };
        self.lists.insert(name, costs);
        let default = function.get("defaultcost").map(|cost| number(cost).ok_or(cost)).transpose();
        let default = default.map_err(|cost| error(format!("expected a number, found {cost}")))?;
        let refused = || error("the table is too large, or a variable stands in it twice".into());
        let mut table =
            CostFunction::new(&self.problem, scope, sign * default.unwrap_or(0.0)).ok_or_else(refused)?;
        let cost =
            |value: &Value| number(value).ok_or_else(|| error(format!("expected a number, found {value}")));
        if default.is_none() {
            if costs.len() != table.entries() {
                return Err(error(format!("expected {} costs, found {}", table.entries(), costs.len())));
            }
            for (entry, value) in costs.iter().enumerate() {
                table.set_entry(entry, sign * cost(value)?);
            }
        } else {
            let width = table.arity() + 1;
            if costs.len() % width != 0 {
                return Err(error(format!("expected tuples of {} states and a cost", width - 1)));
            }
            let mut tuple = vec![0; width - 1];
            for given in costs.chunks(width) {
                for (at, (state, value)) in tuple.iter_mut().zip(given).enumerate() {
                    let variable = &self.problem.variables[table.variable(at)];
                    let found = match value {
                        Value::String(name) => variable.states.iter().position(|own| own == name),
                        number => number.as_u64().map(|state| state as usize),
                    };
                    let unknown = || error(format!("`{}` has no state {value}", variable.name));
                    *state = found.filter(|&state| state < variable.scores.len()).ok_or_else(unknown)?;
                }
                table.set(&tuple, sign * cost(&given[width - 1])?);
            }
        }
        table.add_to(&mut self.problem, top);
        Ok(())
    }
}

/// Whether a number in it is below zero.
fn has_negative(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(has_negative),
        Value::Object(values) => values.values().any(has_negative),
        other => number(other).is_some_and(|number| number < 0.0),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse().ok().filter(|number: &f64| !number.is_nan() && !overflows(text)),
        other => other.as_f64(),
    }
}
