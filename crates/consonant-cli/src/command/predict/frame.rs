//! The frame of a prediction: batches are read, decoded by the clock, written and reported.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use consonant_text::Sentence;

use super::Predict;
use super::report::{Report, Unit};
use crate::context::Context;
use crate::output::Output;
use crate::sentences::{self, Sentences};

/// Sentences that are in memory at a time.
pub const BATCH: usize = 4096;

/// Where what is predicted comes from, and how it is written.
pub trait Source {
    type Item;

    /// Reads the next batch; an empty one is the end.
    fn read(&mut self, batch: &mut Vec<Self::Item>) -> Result<()>;

    fn write(item: &Self::Item, out: &mut Output) -> Result<()>;

    /// What stands behind the last item.
    fn trailer(&self) -> &str;
}

/// Predicts all of a command's inputs.
pub fn predict<S: Source>(
    command: &Predict,
    context: &Context,
    doing: &'static str,
    open: impl Fn(&Path) -> Result<S>,
    mut decode: impl FnMut(&S, &mut Vec<S::Item>) -> Result<Vec<Unit>>,
) -> Result<ExitCode> {
    let mut report = Report::open(context, command.report.as_deref())?;
    let mut seconds = 0.0;
    let mut out = context.open_output(command.output.as_deref())?;
    let progress = context.progress_beside(&out, doing, None);
    for path in command.inputs()? {
        let mut source = open(&path)?;
        let mut batch = Vec::new();
        loop {
            source.read(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            let start = Instant::now();
            let units = decode(&source, &mut batch)?;
            seconds += start.elapsed().as_secs_f64();
            for item in &batch {
                S::write(item, &mut out)?;
            }
            progress.advance(batch.len() as u64);
            units.into_iter().for_each(|unit| report.add(unit));
        }
        out.write_all(source.trailer().as_bytes())?;
    }
    out.finish()?;
    report.finish(seconds)?;
    Ok(ExitCode::SUCCESS)
}

/// Sentences in CoNLL-U.
pub struct Conllu(Sentences);

impl Conllu {
    /// Opens a file for `readers`, who read nothing else.
    pub fn open(path: &Path, readers: &str) -> Result<Self> {
        let mut input = sentences::open(path)?;
        // A file without sentences has no format, and nothing to predict.
        if !input.is_conllu && input.reader.next().is_some() {
            bail!(
                "{} is not CoNLL-U, which {readers} read; `consonant convert` makes it from columns, `consonant annotate` from text",
                input.name
            );
        }
        Ok(Self(input))
    }
}

impl Source for Conllu {
    type Item = Sentence;

    fn read(&mut self, batch: &mut Vec<Sentence>) -> Result<()> {
        Ok(self.0.reader.read_batch(batch, BATCH)?)
    }

    fn write(sentence: &Sentence, out: &mut Output) -> Result<()> {
        Ok(sentence.write(out)?)
    }

    fn trailer(&self) -> &str {
        self.0.reader.trailer()
    }
}
