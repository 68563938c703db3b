//! Prediction with a segmenter: raw text to CoNLL-U.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use consonant_learn::model::Model;
use consonant_map::Certificate;
use consonant_segmenter::{Segmenter, Segments, Start};
use consonant_text::Format;
use consonant_text::input::Input;
use consonant_text::plain::{Passage, PassageReader};

use super::Predict;
use super::report::{Report, Unit};
use crate::context::Context;

/// Segments raw text, passage by passage; each file is a document.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if command.decoder.is_some() || command.marginals || command.n_best > 1 {
        return Err(crate::usage_error(
            "a segmenter gives one segmentation, decoded exactly; leave out --decoder, --marginals and --n-best",
        ));
    }
    let segmenter = Segmenter::open(model)?;
    let decoder = segmenter.decoder();
    let mut report = Report::open(context, command.report.as_deref())?;
    let began = Instant::now();
    let mut out = context.open_output(command.output.as_deref())?;
    for path in command.inputs()? {
        let mut input = Input::open(&path)?;
        let name = Arc::clone(input.name());
        if input.format()? == Format::Conllu {
            bail!("{name} is CoNLL-U, which has its tokens already; segmenters read raw text");
        }
        let mut reader = PassageReader::new(input, name);
        let mut passage = Passage::default();
        while reader.read(&mut passage)? {
            let start = if passage.byte == 0 { Start::Document } else { Start::Paragraph };
            let unit = Instant::now();
            let Segments { sentences, value, .. } =
                decoder.passage(&passage.text, start, Some(passage.character))?;
            let tokens = sentences.iter().map(|sentence| sentence.rows().len()).sum();
            sentences.iter().try_for_each(|sentence| sentence.write(&mut out))?;
            report.add(Unit {
                certificate: Certificate::exact(value).after(1, unit.elapsed().as_secs_f64()),
                tokens,
            });
        }
    }
    out.finish()?;
    report.finish(began.elapsed().as_secs_f64())?;
    Ok(ExitCode::SUCCESS)
}
