//! `consonant train segmenter`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant_learn::table::Precision;
use consonant_learn::trainer::EpochReport;
use consonant_segmenter::{SegmenterSettings, train};

use super::{done, named_number, open_model, store};
use crate::context::Context;
use crate::interrupt;

/// Trains a splitter of raw text into sentences and tokens.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train segmenter --train train.conllu --dev dev.conllu --model segmenter.model"
)]
pub struct TrainSegmenter {
    /// Training data in CoNLL-U; the text is put together from `# text`, paragraph and document marks.
    #[arg(long, value_name = "FILE")]
    train: PathBuf,
    /// Data on which training stops; without it all epochs are done.
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: PathBuf,
    /// How many boundaries back the chain looks.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=4))]
    order: u8,
    /// The training algorithm; `train tagger --algorithm list` shows all with their parameters.
    #[arg(long, value_name = "NAME", default_value = "averaged-perceptron")]
    algorithm: String,
    /// A parameter of the algorithm.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data (default: 20; 200 iterations for L-BFGS).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Stop after so many epochs without a better dev score (mean F1 of tokens and sentences).
    #[arg(long, value_name = "N", default_value_t = 3)]
    patience: u32,
    /// Leave out features that occur less often.
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_count: u32,
    /// Store weights in half precision.
    #[arg(long)]
    half: bool,
}

impl TrainSegmenter {
    /// Trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let settings = SegmenterSettings {
            training: super::training(&self.algorithm, &self.parameters)?,
            order: usize::from(self.order),
            min_count: self.min_count,
            epochs: self.epochs.map(|epochs| epochs as usize),
            patience: self.patience as usize,
            precision: if self.half { Precision::Half } else { Precision::Single },
            threads: context.threads,
            seed: context.seed,
        };
        let file = open_model(&self.model, context)?;
        let read = |path: &Path| super::read_conllu(path, "segmenters");
        let sentences = read(&self.train)?;
        let dev = self.dev.as_deref().map(read).transpose()?;
        let trained = train(
            &sentences,
            dev.as_deref(),
            &settings,
            &mut |epoch| context.epoch(describe(epoch)),
            Some(interrupt::stop()),
        )?;
        store(&trained.model, file, &self.model)?;
        let score = trained.score.map_or(String::new(), |score| {
            format!(
                ", dev F1 of tokens {:.2}, of sentences {:.2}",
                100.0 * score.tokens(),
                100.0 * score.sentences()
            )
        });
        context.note(format!("{}: epoch {}{score}", self.model.display(), trained.epoch));
        done()
    }
}

fn describe(epoch: &EpochReport) -> String {
    let dev = epoch.dev.map_or(String::new(), |score| format!("  dev {:.2}%", 100.0 * score));
    format!("epoch {:3}  loss {:.4}{dev}  {:.1} s", epoch.epoch, epoch.loss, epoch.seconds)
}
