//! What a model shows of itself.

use std::fmt;

/// Facts and tables about a model, for people and programs.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Inspection {
    /// Names and values, in order.
    pub facts: Vec<(&'static str, String)>,
    /// The strongest weights and their like.
    pub tables: Vec<Table>,
}

impl Inspection {
    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.facts.push((name, value.to_string()));
        self
    }

    /// Adds a table; one without rows is left out.
    #[must_use]
    pub fn table(
        mut self,
        columns: &'static [&'static str],
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        if !rows.is_empty() {
            self.tables.push(Table { columns, rows });
        }
        self
    }
}

/// Rows of numbers and texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What each column is.
    pub columns: &'static [&'static str],
    /// The rows, as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// A number or a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A weight.
    Number(f32),
    /// A label, a feature.
    Text(String),
}

impl From<f32> for Cell {
    fn from(number: f32) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.facts {
            writeln!(f, "{name:<11} {value}")?;
        }
        for (number, table) in self.tables.iter().enumerate() {
            if number > 0 || !self.facts.is_empty() {
                writeln!(f)?;
            }
            table.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.columns.len().saturating_sub(1);
        let is_number = |column: usize| self.rows.iter().any(|row| matches!(row[column], Cell::Number(_)));
        for (column, name) in self.columns.iter().enumerate() {
            match is_number(column) {
                true => write!(f, "{name:>w$}  ", w = name.len().max(9))?,
                false if column == last => write!(f, "{name}")?,
                false => write!(f, "{name:<20} ")?,
            }
        }
        writeln!(f)?;
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                match cell {
                    Cell::Number(number) => {
                        write!(f, "{number:>w$.3}  ", w = self.columns[column].len().max(9))?;
                    }
                    Cell::Text(text) if column == last => write!(f, "{text}")?,
                    Cell::Text(text) => write!(f, "{text:<20} ")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// What one feature says for what was chosen and for its closest rival.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The feature.
    pub feature: String,
    /// Its score for what was chosen.
    pub chosen: f32,
    /// Its score for the rival.
    pub rival: f32,
}

/// Why something was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What was decided about: a word, a message.
    pub subject: String,
    /// What was chosen.
    pub chosen: String,
    /// What came next.
    pub rival: Option<String>,
    /// Features that tell the two apart, those with the largest difference first.
    pub contributions: Vec<Contribution>,
}

impl Explanation {
    /// What decided for `chosen`: the contributions that differ, those with the largest difference first.
    pub fn new(
        subject: impl Into<String>,
        chosen: impl Into<String>,
        rival: Option<String>,
        contributions: impl Iterator<Item = Contribution>,
    ) -> Self {
        let difference = |part: &Contribution| (part.chosen - part.rival).abs();
        let mut contributions: Vec<Contribution> =
            contributions.filter(|part| part.chosen != part.rival).collect();
        contributions
            .sort_by(|a, b| difference(b).total_cmp(&difference(a)).then_with(|| a.feature.cmp(&b.feature)));
        Self { subject: subject.into(), chosen: chosen.into(), rival, contributions }
    }

    /// As text, with at most this many contributions.
    pub fn to_text(&self, most: usize) -> String {
        let rival = self.rival.as_ref().map_or(String::new(), |rival| format!("\t(not {rival})"));
        let mut text = format!("{}\t{}{rival}\n", self.subject, self.chosen);
        for part in self.contributions.iter().take(most) {
            text += &format!("    {:>+9.3}  {:>+9.3}  {}\n", part.chosen, part.rival, part.feature);
        }
        text
    }
}
