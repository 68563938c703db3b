//! AD3's text format: binary variables with log-potentials, then factors by name over one-based, possibly
//! negated indices.

use crate::format::{FormatError, Words, shorten};
use crate::{Factor, Kind, Literal, Problem, Variable};

/// Reads a problem in AD3's form.
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let mut words = Words::new(text);
    let variables: usize = words.number("the number of variables")?;
    let factors: usize = words.number("the number of factors")?;
    let mut problem = Problem::new();
    for index in 0..variables {
        let score: f64 = words.number("a log-potential")?;
        problem.variables.push(Variable::binary((index + 1).to_string(), score));
        problem.lines.push(words.line as u32);
    }
    for factor in 0..factors {
        let read = read_factor(&mut words, variables)
            .map_err(|e| FormatError { message: format!("factor {}: {}", factor + 1, e.message), ..e })?;
        problem.factors.push(read);
        problem.lines.push(words.line as u32);
    }
    // Published files carry remarks after the last factor: what follows is not ours to read.
    Ok(problem)
}

fn read_factor(words: &mut Words<'_>, variables: usize) -> Result<Factor, FormatError> {
    let kind = words.expect("the type of a factor")?;
    let degree: usize = words.number("the number of links of a factor")?;
    if degree > variables {
        let message = format!("{degree} links, but there are only {variables} variables");
        return Err(FormatError::at(words.line, message));
    }
    let mut literals: Vec<Literal> = Vec::with_capacity(degree.min(1024));
    for _ in 0..degree {
        let index: i64 = words.number("a variable (from 1; negative to negate)")?;
        let variable = (index.unsigned_abs() as usize).checked_sub(1).filter(|&i| i < variables);
        let variable = variable.ok_or_else(|| {
            FormatError::at(words.line, format!("variable {index}; expected 1 to {variables}, or negated"))
        })?;
        literals.push(Literal { variable: variable as u32, state: 1, negated: index < 0 });
    }
    let kind = match kind {
        "XOR" => Kind::ExactlyOne,
        "ATMOSTONE" => Kind::AtMostOne,
        "OR" => Kind::AtLeastOne,
        "IMPLY" => {
            // All but the last imply the last.
            let premises = literals.len().saturating_sub(1);
            literals[..premises].iter_mut().for_each(|premise| *premise = !*premise);
            Kind::AtLeastOne
        }
        "OROUT" => Kind::OrWithOutput,
        "ANDOUT" => Kind::AndWithOutput,
        "XOROUT" => Kind::XorWithOutput,
        "BUDGET" => Kind::Budget { limit: words.number("the limit of a budget")? },
        "KNAPSACK" => {
            let costs: Result<Vec<f64>, _> = (0..degree).map(|_| words.number("a cost")).collect();
            Kind::Knapsack { costs: costs?, limit: words.number("the limit of a knapsack")? }
        }
        "PAIR" => Kind::Pair { score: words.number("the score of a pair")? },
        other => {
            let message = format!(
                "unknown type `{}`; expected XOR, ATMOSTONE, OR, IMPLY, OROUT, ANDOUT, XOROUT, BUDGET, KNAPSACK or PAIR",
                shorten(other)
            );
            return Err(FormatError::at(words.line, message));
        }
    };
    Ok(Factor { kind, literals, scope: Vec::new() })
}
