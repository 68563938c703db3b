//! What `--report` writes: how the decoding of each unit went, and the totals.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use consonant_map::Certificate;
use serde::Serialize;

use crate::context::Context;
use crate::output::Output;

/// How the decoding of one unit (a sentence, a document, a topic) went.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Unit {
    /// What is known about the output.
    #[serde(flatten)]
    pub certificate: Certificate,
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

/// Gathers units as they are decoded, if anybody wants to know.
pub struct Report {
    out: Option<Output>,
    units: Vec<Unit>,
    total: Total,
}

impl Report {
    /// Opens what `--report` names before anything is decoded, so that no work is lost to a folder that is not there.
    pub fn open(context: &Context, path: Option<&Path>) -> Result<Report> {
        let out = path.map(|path| context.open_output(Some(path))).transpose()?;
        Ok(Report { out, units: Vec::new(), total: Total::default() })
    }

    /// Adds a unit.
    pub fn add(&mut self, unit: Unit) {
        if self.out.is_none() {
            return;
        }
        let total = &mut self.total;
        total.units += 1;
        total.optimal += usize::from(unit.certificate.is_optimal());
        total.value += unit.certificate.value().unwrap_or(0.0);
        total.bound += unit.certificate.bound();
        total.iterations += unit.certificate.iterations;
        total.tokens += unit.tokens;
        self.units.push(unit);
    }

    /// Writes the report; `seconds` is the time that decoding took by the clock, which threads make shorter than the units' sum.
    pub fn finish(mut self, seconds: f64) -> Result<()> {
        let Some(mut out) = self.out else { return Ok(()) };
        self.total.seconds = seconds;
        self.total.tokens_per_second = if seconds > 0.0 { self.total.tokens as f64 / seconds } else { 0.0 };
        serde_json::to_writer_pretty(
            &mut out,
            &serde_json::json!({"units": self.units, "total": self.total}),
        )?;
        writeln!(out)?;
        out.finish()?;
        Ok(())
    }
}
