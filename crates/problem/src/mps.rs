//! Linear programs in MPS, free or fixed, whose columns are 0 or 1.

use crate::format::{FormatError, shorten};
use crate::program::{Program, Row, number};
use crate::{Problem, Relation};
use std::collections::HashMap;

/// Reads a program. Names must not have blanks, also where the form is fixed.
///
/// ```
/// use consonant_problem::{Kind, mps};
///
/// let text = "NAME one\nROWS\n N cost\n L both\nCOLUMNS\n x cost -1 both 1\n y cost -2 both 1\n\
///             RHS\n r both 1\nBOUNDS\n BV b x\n BV b y\nENDATA\n";
/// let problem = mps::read(text)?;
/// assert_eq!((problem.variables.len(), &problem.factors[0].kind), (2, &Kind::AtMostOne));
/// # Ok::<(), consonant_problem::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let mut reader = Reader::default();
    reader.program.minimize = true;
    let mut section = String::new();
    for (number, line) in text.lines().enumerate() {
        let (number, is_header) = (number + 1, !line.starts_with([' ', '\t']));
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.is_empty() || line.starts_with('*') {
            continue;
        }
        if is_header {
            section = words[0].to_ascii_uppercase();
            match &*section {
                "ENDATA" => return reader.program.finish(),
                "OBJSENSE" if words.len() > 1 => reader.sense(words[1], number)?,
                "NAME" | "OBJSENSE" | "ROWS" | "COLUMNS" | "RHS" | "RANGES" | "BOUNDS" => {}
                other => {
                    let message = format!("the section `{}` is not read", shorten(other));
                    return Err(FormatError::at(number, message));
                }
            }
            continue;
        }
        match &*section {
            "OBJSENSE" => reader.sense(words[0], number)?,
            "ROWS" => reader.row(&words, number)?,
            "COLUMNS" => reader.column(&words, number)?,
            "RHS" => reader.right(&words, number)?,
            "RANGES" => reader.range(&words, number)?,
            "BOUNDS" => reader.bound(&words, number)?,
            _ => return Err(FormatError::at(number, "expected a section, as ROWS; found an indented line")),
        }
    }
    Err(FormatError::at(text.lines().count(), "the file ends without ENDATA; it may have been cut short"))
}

#[derive(Default)]
struct Reader {
    program: Program,
    rows: HashMap<String, Place>,
    objective: Option<String>,
    integers: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Objective,
    /// A row without a right-hand side, which says nothing.
    Free,
    Row(usize),
}

impl Reader {
    fn sense(&mut self, word: &str, line: usize) -> Result<(), FormatError> {
        self.program.minimize = match &*word.to_ascii_uppercase() {
            "MIN" | "MINIMIZE" | "MINIMISE" => true,
            "MAX" | "MAXIMIZE" | "MAXIMISE" => false,
            other => {
                return Err(FormatError::at(
                    line,
                    format!("expected MIN or MAX, found `{}`", shorten(other)),
                ));
            }
        };
        Ok(())
    }

    fn row(&mut self, words: &[&str], line: usize) -> Result<(), FormatError> {
        let &[kind, name] = words else {
            return Err(FormatError::at(line, "expected the type and the name of a row"));
        };
        let relation = match &*kind.to_ascii_uppercase() {
            "N" => None,
            "L" => Some(Relation::AtMost),
            "G" => Some(Relation::AtLeast),
            "E" => Some(Relation::Equal),
            other => {
                let message = format!("expected a row of type N, L, G or E, found `{}`", shorten(other));
                return Err(FormatError::at(line, message));
            }
        };
        let place = match relation {
            None if self.objective.is_none() => {
                self.objective = Some(name.to_owned());
                Place::Objective
            }
            None => Place::Free,
            Some(relation) => {
                self.program.rows.push(Row { line, terms: Vec::new(), relation, right: 0.0 });
                Place::Row(self.program.rows.len() - 1)
            }
        };
        match self.rows.insert(name.to_owned(), place) {
            None => Ok(()),
            Some(_) => Err(FormatError::at(line, format!("the row `{}` stands here twice", shorten(name)))),
        }
    }

    fn place(&self, name: &str, line: usize) -> Result<Place, FormatError> {
        let unknown = || FormatError::at(line, format!("unknown row `{}`", shorten(name)));
        self.rows.get(name).copied().ok_or_else(unknown)
    }

    fn column(&mut self, words: &[&str], line: usize) -> Result<(), FormatError> {
        if let &[_, marker, kind] = words
            && marker.trim_matches('\'') == "MARKER"
        {
            self.integers = kind.trim_matches('\'') == "INTORG";
            return Ok(());
        }
        let column = self.program.column(words[0], line);
        self.program.column_mut(column).integer |= self.integers;
        for (place, value) in self.pairs(&words[1..], line)? {
            match place {
                Place::Objective => self.program.column_mut(column).objective += value,
                Place::Free => {}
                Place::Row(row) => self.program.rows[row].terms.push((column, value)),
            }
        }
        Ok(())
    }

    /// Rows with numbers, one or two on a line.
    fn pairs(&self, words: &[&str], line: usize) -> Result<Vec<(Place, f64)>, FormatError> {
        if words.is_empty() || words.len() % 2 == 1 {
            return Err(FormatError::at(line, "expected the name of a row and a number, once or twice"));
        }
        words.chunks(2).map(|pair| Ok((self.place(pair[0], line)?, number(pair[1], line)?))).collect()
    }

    fn right(&mut self, words: &[&str], line: usize) -> Result<(), FormatError> {
        // The name of the set may be left out.
        for (place, value) in self.pairs(&words[words.len() % 2..], line)? {
            match place {
                Place::Objective => self.program.constant = -value,
                Place::Free => {}
                Place::Row(row) => self.program.rows[row].right = value,
            }
        }
        Ok(())
    }

    /// A row with a range has another one for its other side.
    fn range(&mut self, words: &[&str], line: usize) -> Result<(), FormatError> {
        for (place, value) in self.pairs(&words[words.len() % 2..], line)? {
            let Place::Row(row) = place else { continue };
            let Row { terms, relation, right, .. } = &mut self.program.rows[row];
            let (relation, right) = match *relation {
                Relation::AtMost => (Relation::AtLeast, *right - value.abs()),
                Relation::AtLeast => (Relation::AtMost, *right + value.abs()),
                Relation::Equal => {
                    *relation = if value < 0.0 { Relation::AtMost } else { Relation::AtLeast };
                    let other = if value < 0.0 { Relation::AtLeast } else { Relation::AtMost };
                    (other, *right + value)
                }
            };
            let terms = terms.clone();
            self.program.rows.push(Row { line, terms, relation, right });
        }
        Ok(())
    }

    fn bound(&mut self, words: &[&str], line: usize) -> Result<(), FormatError> {
        let kind = words[0].to_ascii_uppercase();
        let has_value = !matches!(&*kind, "FR" | "MI" | "PL" | "BV");
        let rest = &words[1..];
        // The name of the set may be left out; some write a value where none is needed.
        let (name, value) = match (has_value, rest) {
            (true, &[name, value] | &[_, name, value]) => (name, number(value, line)?),
            (false, &[name] | &[_, name] | &[_, name, _]) => (name, 0.0),
            _ => return Err(FormatError::at(line, "expected a type, a set, a column and a number")),
        };
        let unknown = || FormatError::at(line, format!("unknown column `{}`", shorten(name)));
        let column = self.program.known(name).ok_or_else(unknown)?;
        let column = self.program.column_mut(column);
        match &*kind {
            "UP" | "UI" => {
                if value < 0.0 && column.lower == 0.0 {
                    column.lower = f64::NEG_INFINITY;
                }
                column.upper = value;
            }
            "LO" | "LI" => column.lower = value,
            "FX" => (column.lower, column.upper) = (value, value),
            "FR" => (column.lower, column.upper) = (f64::NEG_INFINITY, f64::INFINITY),
            "MI" => column.lower = f64::NEG_INFINITY,
            "PL" => column.upper = f64::INFINITY,
            "BV" => (column.lower, column.upper) = (0.0, 1.0),
            other => {
                let message = format!("bounds of type `{}` are not read", shorten(other));
                return Err(FormatError::at(line, message));
            }
        }
        column.integer |= matches!(&*kind, "BV" | "UI" | "LI");
        Ok(())
    }
}
