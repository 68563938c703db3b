//! Weighted constraint satisfaction (`.wcsp`): variables with costs for tuples of their states, of which the
//! least sum is wanted.

use crate::costs::{CostFunction, MOST_STATES};
use crate::format::{FormatError, Words, shorten};
use crate::{Problem, Variable};

/// Reads a problem whose cost functions are tables. A cost that reaches the upper bound in the first line
/// forbids.
///
/// ```
/// use consonant_problem::wcsp;
///
/// // Two variables of two states that must differ; being in state 1 costs the first one 3.
/// let problem = wcsp::read("example 2 2 2 100\n2 2\n2 0 1 0 2\n0 0 100\n1 1 100\n1 0 0 1\n1 3\n")?;
/// assert_eq!(problem.variables[0].scores, [0.0, -3.0]);
/// assert!(problem.minimized && problem.factors.len() == 1);
/// # Ok::<(), consonant_problem::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let mut words = Words::new(text);
    words.expect("the name of the problem")?;
    let variables: usize = words.number("the number of variables")?;
    let _: usize = words.number("the largest number of states")?;
    let functions: usize = words.number("the number of cost functions")?;
    let top: f64 = words.number("the upper bound")?;
    let mut problem = Problem::new();
    for number in 0..variables {
        let states: i64 = words.number("the number of states of a variable")?;
        let Some(states) = usize::try_from(states).ok().filter(|states| (1..=MOST_STATES).contains(states))
        else {
            let message = format!("expected 1 to {MOST_STATES} states, found {states}");
            return Err(FormatError::at(words.line, message));
        };
        let (name, scores) = (number.to_string(), vec![0.0; states]);
        problem.variables.push(Variable { name, states: Vec::new(), scores, binary: false });
    }
    for _ in 0..functions {
        read_function(&mut words, &mut problem, top)?;
    }
    words.finished()?;
    problem.minimize().map_err(|malformed| FormatError::new(malformed.to_string()))?;
    Ok(problem)
}

fn read_function(words: &mut Words<'_>, problem: &mut Problem, top: f64) -> Result<(), FormatError> {
    let arity: i64 = words.number("the number of variables of a cost function")?;
    let begin = words.line;
    let Ok(arity) = usize::try_from(arity) else {
        return Err(FormatError::at(
            begin,
            "cost functions that others share (a negative arity) are not read",
        ));
    };
    let mut scope = Vec::new();
    for _ in 0..arity {
        let variable: usize = words.number("a variable of a cost function")?;
        if variable >= problem.variables.len() {
            let most = problem.variables.len().saturating_sub(1);
            return Err(FormatError::at(words.line, format!("variable {variable}; expected 0 to {most}")));
        }
        scope.push(variable as u32);
    }
    let default: f64 = words.number("the default cost")?;
    let tuples = words.expect("the number of tuples")?;
    let Ok(tuples) = tuples.parse::<usize>() else {
        let message =
            format!("cost functions by name, as `{}`, are not read; only tables are", shorten(tuples));
        return Err(FormatError::at(words.line, message));
    };
    let mut function = CostFunction::new(problem, scope, default).ok_or_else(|| {
        FormatError::at(
            begin,
            "the table of this cost function is too large, or a variable stands in it twice",
        )
    })?;
    let mut tuple = vec![0; arity];
    for _ in 0..tuples {
        for state in &mut tuple {
            *state = words.number("a state")?;
        }
        let cost: f64 = words.number("a cost")?;
        if !(cost >= 0.0 && function.set(&tuple, cost)) {
            let message = format!("{tuple:?} with {cost} is not a tuple of states with a cost, zero or more");
            return Err(FormatError::at(words.line, message));
        }
    }
    function.add_to(problem, top);
    Ok(())
}
