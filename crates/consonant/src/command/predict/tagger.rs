//! Prediction with a tagger.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use consonant_learn::model::Model;
use consonant_tagger::{Request, Tagger};

use super::Predict;
use super::report::{Report, Unit};
use crate::context::Context;
use crate::sentences;

/// Sentences that are in memory at a time.
const BATCH: usize = 4096;

/// Tags CoNLL-U.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if let Some(decoder) = command.decoder.as_deref().filter(|&decoder| decoder != "exact") {
        return Err(crate::usage_error(format!(
            "a tagger's chains are decoded exactly; --decoder {decoder} is for models that must agree"
        )));
    }
    let tagger = Tagger::open(model)?;
    let decoder = tagger.decoder()?;
    let request = Request { marginals: command.marginals, n_best: usize::from(command.n_best) };
    let mut report = Report::default();
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress("tagging", None);
    for path in command.inputs() {
        let mut input = sentences::open(&path)?;
        // A file without sentences has no format, and nothing to tag.
        if !input.is_conllu && input.reader.next().is_some() {
            bail!("{} is not CoNLL-U, which taggers read; `consonant convert` makes it", input.name);
        }
        let mut batch = Vec::new();
        loop {
            input.reader.read_batch(&mut batch, BATCH)?;
            if batch.is_empty() {
                break;
            }
            let start = Instant::now();
            let decoded = decoder.tag(&mut batch, &request)?;
            seconds += start.elapsed().as_secs_f64();
            for sentence in &batch {
                sentence.write(&mut out)?;
            }
            progress.advance(batch.len() as u64);
            if command.report.is_some() {
                for unit in decoded {
                    report.add(Unit {
                        value: unit.value,
                        bound: unit.value,
                        status: "optimal",
                        iterations: 1,
                        seconds: unit.seconds,
                        tokens: unit.tokens,
                    });
                }
            }
        }
        std::io::Write::write_all(&mut out, input.reader.trailer().as_bytes())?;
    }
    out.finish()?;
    if let Some(path) = &command.report {
        report.write(context, path, seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}
