//! Prediction of links.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use consonant_learn::model::Model;
use consonant_text::jsonl::{JsonlReader, Thread, write_record};
use consonant_threads::{Algorithm, DecoderOptions, Linker};

use super::Predict;
use super::report::{Report, Unit};
use crate::context::Context;

/// Conversations that are in memory at a time.
const BATCH: usize = 256;

/// Replaces the links of conversations in JSONL.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if command.marginals || command.n_best > 1 {
        return Err(crate::usage_error(
            "a conversation gets its best links; --marginals and --n-best are for taggers",
        ));
    }
    let linker = Linker::open(model)?;
    let name = command.decoder.as_deref().unwrap_or("two-slave");
    let Some(&(_, algorithm)) = Algorithm::NAMES.iter().find(|(known, _)| *known == name) else {
        return Err(crate::usage_error(format!(
            "links are decoded by two-slave, spanning-trees, ad3, subgradient or exact, not by {name}"
        )));
    };
    let options = DecoderOptions { algorithm, ..DecoderOptions::default() };
    let mut report = Report::default();
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress("linking", None);
    for path in command.inputs() {
        let mut reader = JsonlReader::<_, Thread>::open(&path)?;
        loop {
            let mut batch = reader.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                break;
            }
            let start = Instant::now();
            let linked = linker.link(&mut batch, &options)?;
            seconds += start.elapsed().as_secs_f64();
            for thread in &batch {
                write_record(thread, &mut out)?;
            }
            progress.advance(batch.len() as u64);
            for unit in linked {
                report.add(Unit {
                    value: unit.certificate.value,
                    bound: unit.certificate.bound,
                    status: unit.certificate.status.name(),
                    iterations: unit.certificate.iterations,
                    seconds: unit.certificate.seconds,
                    tokens: unit.units,
                });
            }
        }
        std::io::Write::write_all(&mut out, reader.trailer().as_bytes())?;
    }
    out.finish()?;
    if let Some(path) = &command.report {
        report.write(context, path, seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}
