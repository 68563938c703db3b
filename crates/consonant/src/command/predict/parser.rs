//! Prediction with a parser.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use consonant_learn::model::Model;
use consonant_parser::{Algorithm, Parser};
use consonant_tagger::{Request, Tagger};

use super::report::{Report, Unit};
use super::{Predict, open_tagger};
use crate::context::Context;
use crate::sentences;

/// Sentences that are in memory at a time.
const BATCH: usize = 4096;

/// Parses CoNLL-U.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if command.marginals || command.n_best > 1 {
        return Err(crate::usage_error(
            "a parser gives its best tree; --marginals and --n-best are for taggers",
        ));
    }
    let parser = Parser::open(model)?;
    let algorithm = match command.decoder.as_deref() {
        None => parser.algorithm(),
        Some("ad3") => Algorithm::Ad3,
        Some("subgradient") => Algorithm::Subgradient,
        Some("exact") => Algorithm::Exact,
        Some(other) => {
            return Err(crate::usage_error(format!(
                "a parser is decoded by ad3, subgradient or exact, not by {other}"
            )));
        }
    };
    let tagger = command.tagger.as_deref().map(open_tagger).transpose()?;
    let tagging = tagger.as_ref().map(Tagger::decoder).transpose()?;
    let mut report = Report::default();
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress("parsing", None);
    for path in command.inputs() {
        let mut input = sentences::open(&path)?;
        // A file without sentences has no format, and nothing to parse.
        if !input.is_conllu && input.reader.next().is_some() {
            bail!("{} is not CoNLL-U, which parsers read; `consonant convert` makes it", input.name);
        }
        let mut batch = Vec::new();
        loop {
            input.reader.read_batch(&mut batch, BATCH)?;
            if batch.is_empty() {
                break;
            }
            let start = Instant::now();
            if let Some(tagging) = &tagging {
                tagging.tag(&mut batch, &Request::default())?;
            }
            let parsed = parser.parse(&mut batch, algorithm)?;
            seconds += start.elapsed().as_secs_f64();
            for sentence in &batch {
                sentence.write(&mut out)?;
            }
            progress.advance(batch.len() as u64);
            for unit in parsed {
                report.add(Unit {
                    value: unit.certificate.value,
                    bound: unit.certificate.bound,
                    status: unit.certificate.status.name(),
                    iterations: unit.certificate.iterations,
                    seconds: unit.certificate.seconds,
                    tokens: unit.tokens,
                });
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
