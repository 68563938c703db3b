//! Linear programs in CPLEX's LP form whose columns are 0 or 1.

use crate::format::{FormatError, shorten};
use crate::program::{Program, Row};
use crate::{Problem, Relation};

/// Reads a program.
///
/// ```
/// use consonant_problem::{Kind, lp};
///
/// let text = "Maximize\n value: x + 2 y\nSubject To\n both: x + y <= 1\nBinaries\n x y\nEnd\n";
/// let problem = lp::read(text)?;
/// assert_eq!((problem.variables.len(), &problem.factors[0].kind), (2, &Kind::AtMostOne));
/// # Ok::<(), consonant_problem::FormatError>(())
/// ```
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0, program: Program::default() };
    match reader.section() {
        Some(Section::Objective { minimize }) => reader.program.minimize = minimize,
        _ => return Err(reader.error("expected Maximize or Minimize")),
    }
    let objective = reader.sum();
    reader.program.constant = objective.constant;
    for (column, coefficient) in objective.terms {
        reader.program.column_mut(column).objective += coefficient;
    }
    loop {
        match reader.section() {
            Some(Section::Rows) => {
                while !reader.is_at_section() {
                    reader.row()?;
                }
            }
            Some(Section::Bounds) => {
                while !reader.is_at_section() {
                    reader.bound()?;
                }
            }
            Some(Section::Integers { binary }) => {
                while !reader.is_at_section() {
                    let line = reader.line();
                    let Some(Token::Name(name)) = reader.next() else {
                        return Err(FormatError::at(line, "expected the name of a column"));
                    };
                    let column = reader.program.column(name, line);
                    let column = reader.program.column_mut(column);
                    column.integer = true;
                    if binary {
                        (column.lower, column.upper) = (0.0, 1.0);
                    }
                }
            }
            Some(Section::End) => return reader.program.finish(),
            Some(Section::Objective { .. }) | None => {
                return Err(reader.error("expected Subject To, Bounds, Binaries, Generals or End"));
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    Number(f64),
    Relation(Relation),
    Plus,
    Minus,
    Colon,
}

/// A token, its line, and whether it is the first there.
type Placed<'a> = (Token<'a>, usize, bool);

fn tokens(text: &str) -> Result<Vec<Placed<'_>>, FormatError> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.split('\\').next().unwrap_or("").trim_start();
        let mut first = true;
        while let Some(start) = rest.chars().next() {
            let (token, length) = match start {
                '+' => (Token::Plus, 1),
                '-' => (Token::Minus, 1),
                ':' => (Token::Colon, 1),
                '<' | '>' | '=' => {
                    let length = rest.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(rest.len());
                    let relation = match &rest[..length] {
                        "<" | "<=" | "=<" => Relation::AtMost,
                        ">" | ">=" | "=>" => Relation::AtLeast,
                        "=" => Relation::Equal,
                        other => {
                            let message = format!("expected <=, >= or =, found `{}`", shorten(other));
                            return Err(FormatError::at(number + 1, message));
                        }
                    };
                    (Token::Relation(relation), length)
                }
                '0'..='9' | '.' => {
                    let length = number_length(rest);
                    let value = rest[..length].parse().ok().filter(|value: &f64| value.is_finite());
                    let value = value.ok_or_else(|| {
                        FormatError::at(number + 1, format!("expected a number, found `{}`", shorten(rest)))
                    })?;
                    (Token::Number(value), length)
                }
                '[' | ']' | '*' | '^' => {
                    return Err(FormatError::at(number + 1, "products of columns are not read"));
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || matches!(c, '+' | '-' | ':' | '<' | '>' | '=');
                    let length = rest.find(ends).unwrap_or(rest.len());
                    (Token::Name(&rest[..length]), length)
                }
            };
            tokens.push((token, number + 1, first));
            first = false;
            rest = rest[length..].trim_start();
        }
    }
    Ok(tokens)
}

/// How long the number is with which a text begins.
fn number_length(text: &str) -> usize {
    let digits =
        |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| from + n);
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

enum Section {
    Objective { minimize: bool },
    Rows,
    Bounds,
    Integers { binary: bool },
    End,
}

/// A sum of columns and a constant.
#[derive(Default)]
struct Sum {
    terms: Vec<(usize, f64)>,
    constant: f64,
}

struct Reader<'a> {
    tokens: &'a [Placed<'a>],
    at: usize,
    program: Program,
}

impl<'a> Reader<'a> {
    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.1)
    }

    fn error(&self, message: &str) -> FormatError {
        FormatError::at(self.line(), message)
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|token| token.0)
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The section that begins here, and how many words name it.
    fn section_here(&self) -> Option<(Section, usize)> {
        let &(Token::Name(name), _, true) = self.tokens.get(self.at)? else { return None };
        let second = match self.tokens.get(self.at + 1) {
            Some((Token::Name(second), ..)) => second.to_ascii_lowercase(),
            _ => String::new(),
        };
        // A name with a colon behind it is a row's.
        if self.tokens.get(self.at + 1).is_some_and(|token| token.0 == Token::Colon) {
            return None;
        }
        let section = match (&*name.to_ascii_lowercase(), &*second) {
            ("maximize" | "maximise" | "maximum" | "max", _) => Section::Objective { minimize: false },
            ("minimize" | "minimise" | "minimum" | "min", _) => Section::Objective { minimize: true },
            ("subject", "to") | ("such", "that") => return Some((Section::Rows, 2)),
            ("st" | "s.t." | "st.", _) => Section::Rows,
            ("bounds" | "bound", _) => Section::Bounds,
            ("binary" | "binaries" | "bin", _) => Section::Integers { binary: true },
            ("general" | "generals" | "gen" | "integer" | "integers" | "int", _) => {
                Section::Integers { binary: false }
            }
            ("end", _) => Section::End,
            _ => return None,
        };
        Some((section, 1))
    }

    fn section(&mut self) -> Option<Section> {
        let (section, words) = self.section_here()?;
        self.at += words;
        Some(section)
    }

    fn is_at_section(&self) -> bool {
        self.at >= self.tokens.len() || self.section_here().is_some()
    }

    /// A sum, up to a relation, another row or a section; the name before a colon is passed over.
    fn sum(&mut self) -> Sum {
        if self.is_at_row() {
            self.at += 2;
        }
        let (mut sum, mut sign, mut number) = (Sum::default(), 1.0, None);
        while !self.is_at_section() && !self.is_at_row() {
            let line = self.line();
            match self.peek() {
                Some(Token::Plus | Token::Minus) => {
                    if let Some(constant) = number.take() {
                        sum.constant += sign * constant;
                        sign = 1.0;
                    }
                    sign = if self.peek() == Some(Token::Minus) { -sign } else { sign };
                }
                Some(Token::Number(value)) if number.is_none() => number = Some(value),
                Some(Token::Name(name)) => {
                    let column = self.program.column(name, line);
                    sum.terms.push((column, sign * number.take().unwrap_or(1.0)));
                    sign = 1.0;
                }
                // The other side begins.
                _ => break,
            }
            self.at += 1;
        }
        sum.constant += sign * number.unwrap_or(0.0);
        sum
    }

    /// Whether the name of a row comes next, and a colon.
    fn is_at_row(&self) -> bool {
        matches!(self.tokens.get(self.at..), Some([(Token::Name(_), ..), (Token::Colon, ..), ..]))
    }

    /// A right-hand side: one number, with its sign.
    fn right(&mut self) -> Result<f64, FormatError> {
        let mut sign = 1.0;
        loop {
            match self.next() {
                Some(Token::Plus) => {}
                Some(Token::Minus) => sign = -sign,
                Some(Token::Number(value)) => return Ok(sign * value),
                Some(Token::Name(name)) if matches!(&*name.to_ascii_lowercase(), "inf" | "infinity") => {
                    return Ok(sign * f64::INFINITY);
                }
                _ => {
                    self.at -= 1;
                    return Err(self.error("expected a number on the right"));
                }
            }
        }
    }

    fn relation(&mut self) -> Result<Relation, FormatError> {
        match self.next() {
            Some(Token::Relation(relation)) => Ok(relation),
            _ => {
                self.at -= 1;
                Err(self.error("expected <=, >= or ="))
            }
        }
    }

    /// `sum <= number`, or `number <= sum <= number`.
    fn row(&mut self) -> Result<(), FormatError> {
        let line = self.line();
        let first = self.sum();
        let relation = self.relation()?;
        if !first.terms.is_empty() {
            let right = self.right()? - first.constant;
            self.program.rows.push(Row { line, terms: first.terms, relation, right });
            return Ok(());
        }
        let sum = self.sum();
        let right = first.constant - sum.constant;
        self.program.rows.push(Row { line, terms: sum.terms.clone(), relation: turned(relation), right });
        if let Some(Token::Relation(relation)) = self.peek() {
            self.at += 1;
            let right = self.right()? - sum.constant;
            self.program.rows.push(Row { line, terms: sum.terms, relation, right });
        }
        Ok(())
    }

    fn bound(&mut self) -> Result<(), FormatError> {
        let line = self.line();
        let left = match self.peek() {
            Some(Token::Name(name)) if !matches!(&*name.to_ascii_lowercase(), "inf" | "infinity") => None,
            _ => Some((self.right()?, turned(self.relation()?))),
        };
        let Some(Token::Name(name)) = self.next() else {
            return Err(FormatError::at(line, "expected the name of a column"));
        };
        let column = self.program.column(name, line);
        if let Some((value, relation)) = left {
            self.limit(column, relation, value);
        }
        match self.peek() {
            Some(Token::Relation(relation)) => {
                self.at += 1;
                let value = self.right()?;
                self.limit(column, relation, value);
            }
            Some(Token::Name(word)) if left.is_none() && word.eq_ignore_ascii_case("free") => {
                self.at += 1;
                self.limit(column, Relation::AtLeast, f64::NEG_INFINITY);
            }
            _ if left.is_none() => return Err(self.error("expected <=, >=, = or free")),
            _ => {}
        }
        Ok(())
    }

    fn limit(&mut self, column: usize, relation: Relation, value: f64) {
        let column = self.program.column_mut(column);
        if relation != Relation::AtMost {
            column.lower = value;
        }
        if relation != Relation::AtLeast {
            column.upper = value;
        }
    }
}

/// The same relation with its sides exchanged.
fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::AtMost => Relation::AtLeast,
        Relation::AtLeast => Relation::AtMost,
        Relation::Equal => Relation::Equal,
    }
}
