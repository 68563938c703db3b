//! Prediction with a recognizer of named entities.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use consonant_learn::model::Model;
use consonant_map::solver::Method;
use consonant_ner::{NerModel, Request};
use consonant_text::Sentence;

use super::Predict;
use super::report::{Report, Unit};
use crate::context::Context;
use crate::sentences;

/// Labels CoNLL-U or columns.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    let model = NerModel::open(model)?;
    let decoder = model.decoder()?;
    let request = Request {
        marginals: command.marginals,
        n_best: usize::from(command.n_best),
        method: command.decoder.as_deref().map(method).transpose()?,
    };
    let mut report = Report::default();
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress("finding names", None);
    for path in command.inputs() {
        let mut input = sentences::open(&path)?;
        let mut batch: Vec<Sentence> = input.reader.by_ref().collect::<Result<_, _>>()?;
        if let Some(folder) = &command.graphs {
            write_graphs(&decoder.graphs(&batch)?, folder)?;
        }
        let start = Instant::now();
        let decoded = decoder.decode(&mut batch, &request)?;
        seconds += start.elapsed().as_secs_f64();
        for sentence in &batch {
            sentence.write(&mut out)?;
        }
        progress.advance(batch.len() as u64);
        for unit in decoded {
            report.add(Unit {
                value: unit.value,
                bound: unit.bound,
                status: unit.status.name(),
                iterations: unit.iterations,
                seconds: unit.seconds,
                tokens: unit.tokens,
            });
        }
        std::io::Write::write_all(&mut out, input.reader.trailer().as_bytes())?;
    }
    out.finish()?;
    if let Some(path) = &command.report {
        report.write(context, path, seconds)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Each graph a file `1.json`, `2.json`, … of the folder.
fn write_graphs(graphs: &[String], folder: &Path) -> Result<()> {
    let place = |path: &Path| format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(|| place(folder))?;
    for (number, graph) in graphs.iter().enumerate() {
        let path = folder.join(format!("{}.json", number + 1));
        fs::write(&path, graph).with_context(|| place(&path))?;
    }
    Ok(())
}

fn method(name: &str) -> Result<Method> {
    let known = Method::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, method)| *method).ok_or_else(|| {
        let names: Vec<&str> = Method::NAMES.iter().map(|(name, _)| *name).collect();
        crate::usage_error(format!("unknown decoder `{name}`; the decoders are {}", names.join(", ")))
    })
}
