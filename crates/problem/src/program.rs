//! Linear programs that others wrote, whose columns are 0 or 1, as problems.

use crate::format::{FormatError, overflows};
use crate::{Factor, Kind, Literal, Problem, Relation};
use std::collections::HashMap;

/// A program as it is read, column by column and row by row.
#[derive(Default)]
pub(crate) struct Program {
    places: HashMap<String, usize>,
    columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) constant: f64,
    pub(crate) minimize: bool,
}

pub(crate) struct Column {
    name: String,
    /// Where it was first named.
    line: usize,
    pub(crate) objective: f64,
    pub(crate) integer: bool,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) relation: Relation,
    pub(crate) right: f64,
}

impl Program {
    /// The number of a column, which is new if nobody has named it.
    pub(crate) fn column(&mut self, name: &str, line: usize) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let (place, name) = (self.columns.len(), name.to_owned());
        self.places.insert(name.clone(), place);
        let (lower, upper) = (0.0, f64::INFINITY);
        self.columns.push(Column { name, line, objective: 0.0, integer: false, lower, upper });
        place
    }

    /// The number of a column that was named before.
    pub(crate) fn known(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    pub(crate) fn column_mut(&mut self, column: usize) -> &mut Column {
        &mut self.columns[column]
    }

    /// The problem; columns that are neither fixed nor 0 or 1 are refused.
    pub(crate) fn finish(self) -> Result<Problem, FormatError> {
        let mut problem = Problem::new();
        problem.constant = self.constant;
        // What each column is: a literal, or the number that it is fixed at.
        let mut meanings: Vec<Result<Literal, f64>> = Vec::with_capacity(self.columns.len());
        for Column { name, line, objective, integer, lower, upper } in self.columns {
            let (least, most) = if integer { (lower.ceil(), upper.floor()) } else { (lower, upper) };
            if least == most && least.is_finite() {
                problem.constant += objective * least;
                meanings.push(Err(least));
            } else if !integer {
                let message = format!(
                    "column `{name}` is not an integer; only programs whose columns are 0 or 1 can be read"
                );
                return Err(FormatError::at(line, message));
            } else if least < 0.0 || most > 1.0 || least > most {
                let message = format!(
                    "column `{name}` lies between {lower} and {upper}; only columns that are 0 or 1 can be read \
                     (declare it binary, or give it the bounds 0 and 1)"
                );
                return Err(FormatError::at(line, message));
            } else {
                meanings.push(Ok(problem.binary(name, objective)));
            }
        }
        for Row { line, mut terms, relation, mut right } in self.rows {
            terms.sort_by_key(|term| term.0);
            let mut literals: Vec<(Literal, f64)> = Vec::with_capacity(terms.len());
            for same in terms.chunk_by(|a, b| a.0 == b.0) {
                let coefficient: f64 = same.iter().map(|term| term.1).sum();
                match meanings[same[0].0] {
                    Ok(literal) if coefficient != 0.0 => literals.push((literal, coefficient)),
                    Ok(_) => {}
                    Err(fixed) => right -= coefficient * fixed,
                }
            }
            let before = problem.factors.len();
            problem
                .linear(&literals, relation, right)
                .map_err(|malformed| FormatError::at(line, malformed.to_string()))?;
            problem.factors[before..].iter_mut().for_each(simplify);
            join(&mut problem.factors, before);
        }
        if self.minimize {
            problem.minimize().map_err(|malformed| FormatError::new(malformed.to_string()))?;
        }
        Ok(problem)
    }
}

/// A knapsack whose costs are all the same counts; counts of one are logic.
fn simplify(factor: &mut Factor) {
    let Kind::Knapsack { costs, limit } = &factor.kind else { return };
    let Some(&cost) = costs.first().filter(|&&cost| costs.iter().all(|&other| other == cost) && cost > 0.0)
    else {
        return;
    };
    // As much as the engine's own tolerance lets pass.
    let most = (limit / cost * (1.0 + 1e-12)).floor();
    let count = factor.literals.len();
    // Of two literals, at most one and at least one of their negations say the same: the plainer one is taken.
    if most == 1.0 && (count != 2 || !factor.literals[0].negated) {
        factor.kind = Kind::AtMostOne;
    } else if most + 1.0 == count as f64 {
        factor.literals.iter_mut().for_each(|literal| *literal = !*literal);
        factor.kind = Kind::AtLeastOne;
    } else if most < count as f64 {
        factor.kind = Kind::Budget { limit: most as usize };
    } else {
        factor.kind = Kind::Budget { limit: count };
    }
}

/// At most one and at least one of the same are exactly one.
fn join(factors: &mut Vec<Factor>, first: usize) {
    if let [a, b] = &factors[first..]
        && a.literals == b.literals
        && matches!(
            (&a.kind, &b.kind),
            (Kind::AtMostOne, Kind::AtLeastOne) | (Kind::AtLeastOne, Kind::AtMostOne)
        )
    {
        factors.pop();
        factors[first].kind = Kind::ExactlyOne;
    }
}

/// A number of a file; infinite where that is allowed.
pub(crate) fn number(word: &str, line: usize) -> Result<f64, FormatError> {
    let found = word.parse::<f64>().ok().filter(|number| !number.is_nan() && !overflows(word));
    found.ok_or_else(|| {
        FormatError::at(line, format!("expected a number, found `{}`", crate::format::shorten(word)))
    })
}
