//! AD3's text format: binary variables with log-potentials, then factors by name over one-based, possibly negated indices.

use super::{FormatError, NamedVariable, Problem, Words};
use crate::model::{Binary, Graph, Literal, ModelError};

/// Reads a problem in AD3's form.
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let mut words = Words::new(text);
    let variables: usize = words.number("the number of variables")?;
    let factors: usize = words.number("the number of factors")?;
    let mut graph = Graph::new();
    let mut binaries: Vec<Binary> = Vec::new();
    for _ in 0..variables {
        let score: f64 = words.number("a log-potential")?;
        binaries.push(graph.binary(score).map_err(|e| words.model(e))?);
    }
    for factor in 0..factors {
        read_factor(&mut words, &mut graph, &binaries)
            .map_err(|e| FormatError { message: format!("factor {}: {}", factor + 1, e.message), ..e })?;
    }
    // Published files carry remarks after the last factor: what follows is not ours to read.
    let named = |(i, &binary): (usize, &Binary)| NamedVariable {
        name: (i + 1).to_string(),
        states: Vec::new(),
        variable: binary.into(),
    };
    Ok(Problem { graph, variables: binaries.iter().enumerate().map(named).collect() })
}

fn read_factor(words: &mut Words<'_>, graph: &mut Graph, binaries: &[Binary]) -> Result<(), FormatError> {
    let kind = words.expect("the type of a factor")?.to_string();
    let degree: usize = words.number("the number of links of a factor")?;
    if degree > binaries.len() {
        let message = format!("{degree} links, but there are only {} variables", binaries.len());
        return Err(FormatError::at(words.line, message));
    }
    let mut literals: Vec<Literal> = Vec::new();
    for _ in 0..degree {
        let index: i64 = words.number("a variable (from 1; negative to negate)")?;
        let binary = (index.unsigned_abs() as usize).checked_sub(1).and_then(|i| binaries.get(i));
        let binary = *binary.ok_or_else(|| {
            FormatError::at(
                words.line,
                format!("variable {index}; expected 1 to {}, or negated", binaries.len()),
            )
        })?;
        literals.push(if index < 0 { !binary } else { binary.into() });
    }
    let with_output =
        |graph: &mut Graph, add: fn(&mut Graph, &[Literal], Literal) -> Result<(), ModelError>| {
            let (output, inputs) = literals.split_last().ok_or(ModelError::Empty("a factor with output"))?;
            add(graph, inputs, *output)
        };
    let added = match kind.as_str() {
        "XOR" => graph.exactly_one(&literals).map(drop),
        "ATMOSTONE" => graph.at_most_one(&literals).map(drop),
        "OR" => graph.at_least_one(&literals).map(drop),
        "IMPLY" => match literals[..] {
            [] => Err(ModelError::Empty("an implication")),
            // All but the last imply the last.
            [ref premises @ .., conclusion] => {
                graph.at_least_one(premises.iter().map(|&l| !l).chain([conclusion])).map(drop)
            }
        },
        "OROUT" => with_output(graph, |g, inputs, output| g.or_with_output(inputs, output).map(drop)),
        "ANDOUT" => with_output(graph, |g, inputs, output| g.and_with_output(inputs, output).map(drop)),
        "XOROUT" => with_output(graph, |g, inputs, output| g.xor_with_output(inputs, output).map(drop)),
        "BUDGET" => {
            let limit: usize = words.number("the limit of a budget")?;
            graph.budget(&literals, limit).map(drop)
        }
        "KNAPSACK" => {
            let costs: Result<Vec<f64>, _> = (0..degree).map(|_| words.number("a cost")).collect();
            let limit: f64 = words.number("the limit of a knapsack")?;
            graph.knapsack(&literals, &costs?, limit).map(drop)
        }
        "PAIR" => {
            let score: f64 = words.number("the score of a pair")?;
            match literals[..] {
                [a, b] => graph.pair(a, b, score).map(drop),
                _ => Err(ModelError::Length { what: "links of a PAIR", expected: 2, came: degree }),
            }
        }
        other => {
            let message = format!(
                "unknown type `{}`; expected XOR, ATMOSTONE, OR, IMPLY, OROUT, ANDOUT, XOROUT, BUDGET, KNAPSACK or PAIR",
                super::shorten(other)
            );
            return Err(FormatError::at(words.line, message));
        }
    };
    added.map_err(|e| words.model(e))
}
