//! The UAI format: `MARKOV`, cardinalities, scopes, tables; entries are potentials, or their logarithms
//! (log-UAI).

use crate::format::{FormatError, Words, shorten};
use crate::{Factor, Kind, Problem, Variable};

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

/// States that may be declared in all, whatever the length of the file; a longer file may declare as many as
/// it has bytes, since every state that matters has entries.
const MAX_DECLARED: usize = 1 << 20;

/// Reads a problem in UAI form.
pub fn read(text: &str, entries: Entries) -> Result<Problem, FormatError> {
    let mut words = Words::new(text);
    let kind = words.expect("`MARKOV` or `BAYES`")?;
    if !kind.eq_ignore_ascii_case("MARKOV") && !kind.eq_ignore_ascii_case("BAYES") {
        let message = format!("expected `MARKOV` or `BAYES`, found `{}`", shorten(kind));
        return Err(FormatError::at(words.line, message));
    }
    let count: usize = words.number("the number of variables")?;
    let mut problem = Problem::new();
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
        // A variable of two states is binary; scores are added as tables are read.
        let (name, scores) = (index.to_string(), vec![0.0; states]);
        problem.variables.push(Variable { name, states: Vec::new(), scores, binary: states == 2 });
        problem.lines.push(words.line as u32);
    }
    let factors: usize = words.number("the number of factors")?;
    let mut scopes: Vec<Vec<u32>> = Vec::new();
    let mut last_factor_of = vec![usize::MAX; count];
    for factor in 0..factors {
        let arity: usize = words.number("the number of variables of a factor")?;
        if arity > count {
            let message = format!("factor {factor} has {arity} variables, but there are only {count}");
            return Err(FormatError::at(words.line, message));
        }
        let mut scope = Vec::with_capacity(arity.min(64));
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
            scope.push(variable as u32);
        }
        scopes.push(scope);
    }
    for (factor, scope) in scopes.into_iter().enumerate() {
        let states = |v: &u32| problem.variables[*v as usize].scores.len();
        let size = scope.iter().try_fold(1usize, |product, v| product.checked_mul(states(v)));
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
        let mut scores = Vec::with_capacity(size.min(4096));
        for _ in 0..size {
            scores.push(entry(&mut words, entries)?);
        }
        // A table over nothing is a constant, one over a variable adds to its scores.
        match scope[..] {
            [] => problem.constant += scores[0],
            [v] => problem.variables[v as usize].scores.iter_mut().zip(scores).for_each(|(sum, s)| *sum += s),
            _ => {
                let kind = Kind::Table { scores };
                problem.factors.push(Factor { kind, literals: Vec::new(), scope });
                problem.lines.push(words.line as u32);
            }
        }
    }
    words.finished()?;
    Ok(problem)
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
