//! The UAI format: `MARKOV`, cardinalities, scopes, tables; entries are potentials, or their logarithms (log-UAI).

use super::{FormatError, NamedVariable, Problem, Words};
use crate::model::{Graph, ModelError, Variable};

/// How the entries of a file are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// Potentials: zero or more; zero forbids.
    Linear,
    /// Natural logarithms of potentials; `-inf` forbids.
    Log,
}

/// The largest number of joint states one table may have.
const MAX_TABLE: usize = 1 << 28;

/// States that may be declared in all, whatever the length of the file; a longer file may declare as many as it has bytes,
/// since every state that matters has entries.
const MAX_DECLARED: usize = 1 << 20;

/// Reads a problem in UAI form.
pub fn read(text: &str, entries: Entries) -> Result<Problem, FormatError> {
    let mut words = Words::new(text);
    let kind = words.expect("`MARKOV` or `BAYES`")?;
    if !kind.eq_ignore_ascii_case("MARKOV") && !kind.eq_ignore_ascii_case("BAYES") {
        let message = format!("expected `MARKOV` or `BAYES`, found `{}`", super::shorten(kind));
        return Err(FormatError::at(words.line, message));
    }
    let count: usize = words.number("the number of variables")?;
    // A variable of two states is binary; its scores are added as its tables are read.
    let mut graph = Graph::new();
    let mut variables = Vec::new();
    let mut declared_states = 0;
    for index in 0..count {
        let states: usize = words.number("a number of states")?;
        if states == 0 || states > MAX_DECLARED {
            let message = format!("variable {index} has {states} states; expected 1 to {MAX_DECLARED}");
            return Err(FormatError::at(words.line, message));
        }
        declared_states += states;
        if declared_states > MAX_DECLARED.max(text.len()) {
            let message =
                format!("variables 0 to {index} have {declared_states} states, more than the file has bytes");
            return Err(FormatError::at(words.line, message));
        }
        let variable: Result<Variable, ModelError> = match states {
            2 => graph.binary(0.0).map(Into::into),
            _ => graph.choice(&vec![0.0; states]).map(Into::into),
        };
        let variable = variable.map_err(|e| words.model(e))?;
        variables.push(NamedVariable { name: index.to_string(), states: Vec::new(), variable });
    }
    let factors: usize = words.number("the number of factors")?;
    let mut scopes: Vec<Vec<usize>> = Vec::new();
    let mut last_factor_of = vec![usize::MAX; count];
    for factor in 0..factors {
        let arity: usize = words.number("the number of variables of a factor")?;
        if arity > count {
            let message = format!("factor {factor} has {arity} variables, but there are only {count}");
            return Err(FormatError::at(words.line, message));
        }
        let mut scope = Vec::new();
        for _ in 0..arity {
            let variable: usize = words.number("a variable of a factor")?;
            if variable >= count {
                let message =
                    format!("factor {factor} names variable {variable}; expected 0 to {}", count as i64 - 1);
                return Err(FormatError::at(words.line, message));
            }
            if std::mem::replace(&mut last_factor_of[variable], factor) == factor {
                let message = format!("factor {factor} names variable {variable} twice");
                return Err(FormatError::at(words.line, message));
            }
            scope.push(variable);
        }
        scopes.push(scope);
    }
    let mut table = Vec::new();
    for (factor, scope) in scopes.iter().enumerate() {
        let scope: Vec<Variable> = scope.iter().map(|&v| variables[v].variable).collect();
        let size = scope.iter().try_fold(1usize, |product, v| product.checked_mul(v.states()));
        let size = size.filter(|&size| size <= MAX_TABLE).ok_or_else(|| {
            FormatError::at(words.line, format!("factor {factor} has more than {MAX_TABLE} joint states"))
        })?;
        let declared: usize = words.number("the number of entries of a table")?;
        if declared != size {
            let message = format!(
                "factor {factor} declares {declared} entries; its variables have {size} joint states"
            );
            return Err(FormatError::at(words.line, message));
        }
        table.clear();
        for _ in 0..size {
            table.push(entry(&mut words, entries)?);
        }
        add_factor(&mut graph, &scope, &table).map_err(|e| words.model(e))?;
    }
    words.finished()?;
    Ok(Problem { graph, variables })
}

fn entry(words: &mut Words<'_>, entries: Entries) -> Result<f64, FormatError> {
    let number: f64 = words.number("a table entry")?;
    let bad = |expected: &str| {
        Err(FormatError::at(words.line, format!("a table entry is {number}; expected {expected}")))
    };
    match entries {
        Entries::Linear if number >= 0.0 && number.is_finite() => Ok(number.ln()),
        Entries::Linear => bad("a number that is zero or more"),
        Entries::Log if number < f64::INFINITY => Ok(number),
        Entries::Log => bad("a number or -inf"),
    }
}

/// Adds a table of any arity: none is a constant, one a score.
fn add_factor(graph: &mut Graph, scope: &[Variable], table: &[f64]) -> Result<(), ModelError> {
    match scope {
        [] => graph.add_constant(table[0]),
        [variable] => (0..variable.states()).try_for_each(|state| {
            let score = table[state];
            if score == 0.0 { Ok(()) } else { graph.add_score(variable.is(state), score) }
        }),
        _ => graph.table(scope, table).map(drop),
    }
}
