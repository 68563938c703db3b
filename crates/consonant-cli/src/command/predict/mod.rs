//! `consonant predict`: the model knows its task; one file a task.

mod frame;
pub(super) mod ner;
mod parser;
mod report;
mod segmenter;
mod summarizer;
mod tagger;
mod threads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use consonant_learn::model::Model;
use consonant_tagger::Tagger;

use crate::context::Context;
use crate::inputs;

/// Fills in what a model predicts; the output has the input's format.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant predict --model tagger.model text.conllu --output tagged.conllu --report report.json"
)]
pub struct Predict {
    /// The model; it knows its task.
    #[arg(long, value_name = "M")]
    model: PathBuf,
    /// Input files; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the output goes (default: standard output).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How models that must agree are decoded: two-slave, spanning-trees, ad3, subgradient or exact.
    #[arg(long, value_name = "NAME")]
    decoder: Option<String>,
    /// Add the probability of each prediction.
    #[arg(long)]
    marginals: bool,
    /// Add the K best outputs of each sentence.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    n_best: u16,
    /// Write the graph of each group of sentences whose names agree into a folder, as problems for `consonant solve`.
    #[arg(long, value_name = "DIR")]
    graphs: Option<PathBuf>,
    /// Words of a summary at most (default: as many as the line's own `summaries` have on average, or 100).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    words: Option<u32>,
    /// Write value, bound, status and time of each unit, and their totals, as JSON.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Tag the input first with this tagger, for a parser or a recognizer of names that reads tags.
    #[arg(long, value_name = "MODEL")]
    tagger: Option<PathBuf>,
}

impl Predict {
    /// Opens the model and lets its task predict.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let model = Model::open(&self.model)?;
        if self.graphs.is_some() && model.task() != consonant_ner::TASK {
            return Err(crate::usage_error("--graphs is for recognizers of names that agree by patterns"));
        }
        if self.tagger.is_some() && ![consonant_parser::TASK, consonant_ner::TASK].contains(&model.task()) {
            return Err(crate::usage_error(
                "--tagger is for parsers and recognizers of names, which read tags",
            ));
        }
        if self.words.is_some() && model.task() != consonant_summarizer::TASK {
            return Err(crate::usage_error("--words is for summarizers"));
        }
        match model.task() {
            consonant_tagger::TASK => tagger::predict(&self, &model, context),
            consonant_ner::TASK => ner::predict(&self, &model, context),
            consonant_parser::TASK => parser::predict(&self, &model, context),
            consonant_segmenter::TASK => segmenter::predict(&self, &model, context),
            consonant_summarizer::TASK => summarizer::predict(&self, &model, context),
            consonant_conversations::TASK => threads::predict(&self, &model, context),
            other => bail!(
                "{} is a model for `{other}`, which this program cannot predict with",
                self.model.display()
            ),
        }
    }

    /// The inputs; standard input if there are none.
    fn inputs(&self) -> Result<Vec<PathBuf>> {
        inputs::or_standard_input(self.files.clone())
    }
}

/// Opens a tagger whose tags another model reads, or that training goes on from.
pub(super) fn open_tagger(path: &Path) -> Result<Tagger> {
    Ok(Tagger::open(&Model::open(path)?)?)
}
