//! What `--report` writes: how the decoding of each unit went, and the totals.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use consonant::task::Unit;
use serde::Serialize;

use crate::output::Output;

#[derive(Default, Serialize)]
struct Total {
    units: usize,
    optimal: usize,
    value: f64,
    bound: f64,
    iterations: usize,
    /// By the clock, which threads make shorter than the sum of the units' seconds.
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
    /// Opens what `--report` names before anything is decoded, so that no work is lost to a folder that is
    /// not there.
    pub fn open(path: Option<&Path>) -> Result<Report> {
        let out = path.map(|path| Output::open(Some(path))).transpose()?;
        Ok(Report { out, units: Vec::new(), total: Total::default() })
    }

    /// Adds units that together took this many seconds by the clock.
    pub fn add(&mut self, units: Vec<Unit>, seconds: f64) {
        if self.out.is_none() {
            return;
        }
        let total = &mut self.total;
        for Unit { certificate, tokens, .. } in &units {
            total.units += 1;
            total.optimal += usize::from(certificate.is_optimal());
            total.value += certificate.value().unwrap_or(0.0);
            total.bound += certificate.bound();
            total.iterations += certificate.iterations;
            total.tokens += tokens;
        }
        total.seconds += seconds;
        self.units.extend(units);
    }

    /// Writes the report.
    pub fn finish(mut self) -> Result<()> {
        let Some(mut out) = self.out else { return Ok(()) };
        let seconds = self.total.seconds;
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
