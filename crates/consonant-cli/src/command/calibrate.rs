//! `consonant calibrate`: how sure a model may be of its answers.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use consonant::Tagging;
use consonant::task::Annotate;

use crate::context::Context;
use crate::{inputs, registry};

/// Teach a model how sure it may be of its answers (`--confidence` of annotate and predict).
///
/// A model that was trained with dev data has learned it there. The weights stay as they are.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant calibrate tagger.model --dev dev.conllu --output calibrated.model"
)]
pub struct Calibrate {
    /// The model of a tagger, a recognizer of names or a parser.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Data with gold answers that the model did not learn from; may be given several times.
    #[arg(long, value_name = "FILE", required = true)]
    dev: Vec<PathBuf>,
    /// Tag the data first with this tagger, as prediction then must.
    #[arg(long, value_name = "MODEL")]
    tagger: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

impl Calibrate {
    /// Measures the answers and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let name = self.model.display().to_string();
        let model = inputs::model(&self.model)?;
        let task = registry().task_of(&model, &name)?;
        let tagger = self.tagger.as_deref().map(Tagging::open).transpose()?;
        let annotator = tagger.as_ref().map(|tagger| tagger as &dyn Annotate);
        let Some(calibrated) = task.calibrate(&model, &self.dev, annotator)? else {
            bail!(
                "{name}: there is nothing to learn: {} do not say how sure they are, or the data are too few",
                task.plural()
            );
        };
        calibrated.write(&self.output)?;
        context.note(format!("{}: calibrated", self.output.display()));
        Ok(ExitCode::SUCCESS)
    }
}
