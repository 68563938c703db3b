//! `consonant inspect`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use consonant::learn::model::Model;

use crate::context::Context;
use crate::output::Destination;
use crate::{inputs, registry};

/// Show what a model is and what it has learned.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  consonant inspect tagger.model --top 10 --explain sentence.conllu\n  consonant inspect tagger.model --settings > tagger.toml"
)]
pub struct Inspect {
    /// The model, or `embedded:TASK`, the one inside of the program.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// How many of the strongest weights to show, and how many features in an explanation.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Say what decided each label of an input.
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
    /// Print the settings file that would train the model again (`train … --settings FILE`).
    #[arg(long, conflicts_with = "explain")]
    settings: bool,
    #[command(flatten)]
    output: Destination,
}

impl Inspect {
    /// Prints the model's description.
    pub fn run(self, _: &Context) -> Result<ExitCode> {
        let name = self.model.display().to_string();
        let file = inputs::model(&self.model)?;
        let model = registry().open(&file, &name)?;
        let mut out = self.output.open()?;
        if self.settings {
            let task = registry().get(model.task()).context("the task of an opened model is known")?;
            write!(out, "{}", task.stored_settings(&file)?)?;
        } else if let Some(path) = &self.explain {
            model.explain(path, &mut |explanations| {
                explanations
                    .iter()
                    .try_for_each(|explanation| write!(out, "{}", explanation.to_text(self.top)))?;
                Ok(writeln!(out)?)
            })?;
        } else {
            describe(&file, &mut out)?;
            write!(out, "\n{}", model.inspect(self.top))?;
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(model: &Model, out: &mut impl Write) -> Result<()> {
    writeln!(out, "task        {}", model.task())?;
    if let Some(settings) = model.metadata().as_object() {
        for (name, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
            let value = match value {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Number(number) if name == "fingerprint" => {
                    number.as_u64().map_or_else(|| number.to_string(), |number| format!("{number:016x}"))
                }
                other => other.to_string(),
            };
            writeln!(out, "{name:<11} {value}")?;
        }
    }
    writeln!(out, "\nsection                          bytes")?;
    for (name, bytes) in model.sections() {
        writeln!(out, "{name:<24} {bytes:>13}")?;
    }
    Ok(())
}
