//! Prediction of links.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use consonant_conversations::{Algorithm, DecoderOptions, Linked, Linker};
use consonant_learn::model::Model;
use consonant_text::input::Input;
use consonant_text::jsonl::{JsonlReader, Thread, write_record};

use super::Predict;
use super::frame::{self, Source};
use super::report::Unit;
use crate::context::Context;
use crate::output::Output;

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
    let open = |path: &Path| Ok(Conversations(JsonlReader::open(path)?));
    frame::predict(command, context, "linking", open, |_, batch| {
        let unit = |unit: Linked| Unit { certificate: unit.certificate, tokens: unit.units };
        Ok(linker.link(batch, &options)?.into_iter().map(unit).collect())
    })
}

struct Conversations(JsonlReader<Input, Thread>);

impl Source for Conversations {
    type Item = Thread;

    fn read(&mut self, batch: &mut Vec<Thread>) -> Result<()> {
        batch.clear();
        for thread in self.0.by_ref().take(BATCH) {
            batch.push(thread?);
        }
        Ok(())
    }

    fn write(thread: &Thread, out: &mut Output) -> Result<()> {
        Ok(write_record(thread, out)?)
    }

    fn trailer(&self) -> &str {
        self.0.trailer()
    }
}
