//! What `--report` writes: how the decoding of each unit went, and the totals.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::context::Context;

/// How the decoding of one unit (a sentence, a document, a topic) went.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Unit {
    /// The score of the output.
    pub value: f64,
    /// An upper bound on any output's score.
    pub bound: f64,
    /// `optimal`, `feasible`, `infeasible` or `stopped`.
    pub status: &'static str,
    /// Iterations of the decoder.
    pub iterations: usize,
    /// Seconds taken.
    pub seconds: f64,
    /// Tokens of the unit.
    pub tokens: usize,
}

#[derive(Default, Serialize)]
struct Total {
    units: usize,
    optimal: usize,
    value: f64,
    bound: f64,
    iterations: usize,
    seconds: f64,
    tokens: usize,
    tokens_per_second: f64,
}

/// Gathers units as they are decoded.
#[derive(Default)]
pub struct Report {
    units: Vec<Unit>,
    total: Total,
}

impl Report {
    /// Adds a unit.
    pub fn add(&mut self, unit: Unit) {
        let total = &mut self.total;
        total.units += 1;
        total.optimal += usize::from(unit.status == "optimal");
        total.value += unit.value;
        total.bound += unit.bound;
        total.iterations += unit.iterations;
        total.tokens += unit.tokens;
        self.units.push(unit);
    }

    /// Writes the report; `seconds` is the time that decoding took by the clock, which threads make shorter than the units' sum.
    pub fn write(mut self, context: &Context, path: &Path, seconds: f64) -> Result<()> {
        self.total.seconds = seconds;
        self.total.tokens_per_second = if seconds > 0.0 { self.total.tokens as f64 / seconds } else { 0.0 };
        let mut out = context.open_output(Some(path))?;
        serde_json::to_writer_pretty(
            &mut out,
            &serde_json::json!({"units": self.units, "total": self.total}),
        )?;
        writeln!(out)?;
        out.finish()?;
        Ok(())
    }
}
