//! Predictions scored against gold data, file by file, as the field's own scorers do.
//!
//! The scorers themselves are in [`text::evaluate`](consonant_text::evaluate); here files are read, brought together and scored. In all of
//! them `-` is standard input.

mod entities;
mod jsonl;
mod links;
mod sentences;
mod summary;
mod tags;
mod trees;

use std::fmt::Display;

use consonant_text::evaluate::{Mistake, UnitRatios};
use serde::Serialize;
use serde_json::Value;

use crate::Error;

pub use entities::entities;
pub use links::links;
pub use summary::summary;
pub use tags::{TagColumn, TagOptions, tags, training_words};
pub use trees::trees;

/// What is gathered of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Its scores.
    #[default]
    Scores,
    /// Its mistakes, too, which take memory in proportion to their number.
    Mistakes,
}

/// The scores of one prediction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scored {
    /// The table of the original scorer.
    pub table: String,
    /// The same for programs.
    pub json: Value,
    /// What can be resampled, for intervals and comparisons.
    pub by_unit: Vec<UnitRatios>,
    /// What the prediction got wrong, for comparisons; nothing where it was not asked for, or where scores are not made of right and wrong.
    pub mistakes: Vec<Mistake>,
    /// Where each unit that mistakes name stands in the gold data.
    pub places: Vec<String>,
    /// What a person may want to know of how it was scored.
    pub notes: Vec<String>,
}

impl Scored {
    fn new(scores: &(impl Display + Serialize), by_unit: Vec<UnitRatios>) -> Result<Self, Error> {
        let json = serde_json::to_value(scores).map_err(Error::task)?;
        let (mistakes, places, notes) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { table: scores.to_string(), json, by_unit, mistakes, places, notes })
    }

    /// Adds what went wrong, and where the units stand.
    fn with_mistakes(mut self, mistakes: Vec<Mistake>, places: Vec<String>) -> Self {
        (self.mistakes, self.places) = (mistakes, places);
        self
    }

    /// Adds a line to the table.
    fn with_line(mut self, line: &str) -> Self {
        self.table.push_str(line);
        self.table.push('\n');
        self
    }
}

/// Why a file without anything in it has no scores: zeros would pass for a result.
fn nothing_to_score(name: impl Display, expected: &str) -> Error {
    Error::Score(format!("{name}: there is nothing to score; expected {expected}"))
}

/// An error of a comparison that does not come from one file alone.
fn refused<T>(problem: String) -> Result<T, Error> {
    Err(Error::Score(problem))
}
