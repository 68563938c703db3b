//! `consonant train tagger`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use consonant_learn::table::Precision;
use consonant_learn::trainer::EpochReport;
use consonant_sequence::{Algorithm, Diagram, Pairs};
use consonant_tagger::{Column, Corpora, TaggerSettings, Trained, prepare};

use super::{done, open_model, read_text, resources, store};
use crate::context::Context;
use crate::interrupt;

/// Trains a part-of-speech or morphological tagger.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train tagger --train train.conllu --dev dev.conllu --model tagger.model --column xpos"
)]
pub struct TrainTagger {
    /// Training data in CoNLL-U; words with `_` are not labelled.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Data on which training stops; without it all epochs are done.
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    /// What to predict: upos, xpos, upos+feats or feats.
    #[arg(long, value_name = "COLUMN", default_value = "upos")]
    column: Column,
    /// How many labels back the chain looks (default: 1; 2 for few labels with the built-in templates).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=8))]
    order: Option<u8>,
    /// The training algorithm, or `list` to see all with their parameters.
    #[arg(long, value_name = "NAME", default_value = "averaged-perceptron")]
    algorithm: String,
    /// A parameter of the algorithm.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = super::named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data (default: 20; 200 iterations for L-BFGS).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Stops after so many epochs without a better dev accuracy (default: 3; 10 iterations for L-BFGS).
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// Draws the diagram of pieces that is trained; without data this is all that is done.
    #[arg(long, value_name = "FILE.svg")]
    diagram: Option<PathBuf>,
    /// Trains on pieces declared in a file instead of the algorithm's.
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,
    /// Continues a tagger; labels and features are added.
    #[arg(long, value_name = "MODEL")]
    init: Option<PathBuf>,
    /// Feature templates instead of the built-in ones (see docs/templates.md).
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Leaves out features that occur less often.
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_count: u32,
    /// Gives weights to all pairs of feature and label, or to observed ones only (default: all for few labels).
    #[arg(long, value_name = "all|observed", value_parser = pairs)]
    weights: Option<Pairs>,
    /// Scores labels as sums of their parts, such as part of speech and features (default: on for many labels, with the built-in templates).
    #[arg(long, value_name = "on|off", value_parser = switch)]
    parts: Option<bool>,
    /// Limits words seen at least N times to labels that they were seen with; 0: no limit.
    #[arg(long, value_name = "N", default_value_t = 0)]
    dictionary: u32,
    /// Keeps words to one label in a document if that is how they occur (see docs/tagger.md).
    #[arg(long, value_name = "on|off", value_parser = switch, default_value = "on", action = clap::ArgAction::Set)]
    documents: bool,
    /// Word clusters: `bits<TAB>word` or `word<TAB>cluster`.
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,
    /// A list of phrases, one a line.
    #[arg(long = "gazetteer", value_name = "NAME=FILE", value_parser = named_file)]
    gazetteers: Vec<(String, PathBuf)>,
    /// Word vectors in text: `word number number …`.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Lets tokens with a label count more or less than 1.
    #[arg(long = "class-weight", value_name = "LABEL=WEIGHT", value_parser = super::named_number)]
    class_weights: Vec<(String, f64)>,
    /// Stores weights in half precision, and says what it costs on dev.
    #[arg(long)]
    half: bool,
    /// Leaves out weights closer to zero than this when the model is stored, and says what it costs on dev.
    #[arg(long, value_name = "WEIGHT", default_value_t = 0.0, value_parser = super::not_negative)]
    prune: f32,
    /// Saves the state after each epoch; if the file is there, training goes on from it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Refuses trainings that need more memory (default: what is available).
    #[arg(long, value_name = "GIGABYTES", value_parser = super::not_negative)]
    memory: Option<f32>,
}

impl TrainTagger {
    /// Trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.algorithm == "list" {
            return super::list_algorithms::<Algorithm>(context, |_| true);
        }
        let pieces = self.pieces.as_deref().map(read_pieces).transpose()?;
        if let (Some(path), None) = (&self.diagram, &self.train) {
            self.draw(context, path, pieces.as_ref(), usize::from(self.order.unwrap_or(1)))?;
            return Ok(ExitCode::SUCCESS);
        }
        let (Some(train), Some(out)) = (&self.train, &self.model) else {
            return Err(super::no_places());
        };
        let file = open_model(out, context)?;
        let settings = self.settings(context, pieces.clone())?;
        let read = |path: &Path| super::read_conllu(path, "taggers");
        let sentences = read(train)?;
        let dev = self.dev.as_deref().map(read).transpose()?;
        let corpora = prepare(&sentences, dev.as_deref(), settings)?;
        self.check_memory(context, &corpora)?;
        if let Some(path) = &self.diagram {
            self.draw(context, path, pieces.as_ref(), corpora.order())?;
        }
        let trained = corpora.train(&mut |epoch| context.epoch(describe(epoch)), Some(interrupt::stop()))?;
        store(&trained.model, file, out)?;
        context.note(summary(&trained, out));
        done()
    }

    fn settings(&self, context: &Context, pieces: Option<Diagram>) -> Result<TaggerSettings> {
        Ok(TaggerSettings {
            column: self.column,
            order: self.order.map(usize::from),
            training: super::training(&self.algorithm, &self.parameters)?,
            diagram: pieces,
            templates: self.template.as_deref().map(read_text).transpose()?,
            resources: resources::read(self.clusters.as_deref(), &self.gazetteers, self.vectors.as_deref())?,
            min_count: self.min_count,
            pairs: self.weights,
            parts: self.parts,
            dictionary: self.dictionary,
            documents: self.documents,
            class_weights: self
                .class_weights
                .iter()
                .map(|(label, weight)| (label.clone(), *weight as f32))
                .collect(),
            epochs: self.epochs.map(|epochs| epochs as usize),
            patience: self.patience.map(|patience| patience as usize),
            precision: if self.half { Precision::Half } else { Precision::Single },
            prune: self.prune,
            initial: self.init.as_deref().map(crate::command::predict::open_tagger).transpose()?,
            threads: context.threads,
            seed: context.seed,
            checkpoint: self.checkpoint.clone(),
        })
    }

    fn draw(&self, context: &Context, path: &Path, pieces: Option<&Diagram>, order: usize) -> Result<()> {
        use std::io::Write as _;
        let svg = match pieces {
            Some(diagram) => diagram.to_svg(),
            None => Algorithm::diagram(&super::training(&self.algorithm, &self.parameters)?, order).to_svg(),
        };
        let mut out = context.open_output(Some(path))?;
        out.write_all(svg.as_bytes())?;
        out.finish()?;
        Ok(())
    }

    fn check_memory(&self, context: &Context, corpora: &Corpora<'_>) -> Result<()> {
        let (needed, labels) = (corpora.memory()?, corpora.labels().len());
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        context.note(format!(
            "{labels} labels, {} weights, {} MB for training",
            corpora.weights(),
            megabytes(needed)
        ));
        let limit = self.memory.map(|gigabytes| (f64::from(gigabytes) * 1e9) as u64).or_else(available_bytes);
        if let Some(limit) = limit.filter(|&limit| needed > limit) {
            bail!(
                "training needs about {} MB and may have {} MB; give fewer features (--min-count 2, --weights observed, \
                 a shorter --template) or allow more with --memory",
                megabytes(needed),
                limit / 1_000_000
            );
        }
        Ok(())
    }
}

fn describe(epoch: &EpochReport) -> String {
    let dev = epoch.dev.map_or(String::new(), |score| format!("  dev {:.2}%", 100.0 * score));
    let errors = if epoch.errors > 0 { format!("  {} errors", epoch.errors) } else { String::new() };
    format!("epoch {:3}  loss {:.4}{errors}{dev}  {:.1} s", epoch.epoch, epoch.loss, epoch.seconds)
}

fn summary(trained: &Trained, out: &Path) -> String {
    let accuracy =
        trained.accuracy.map_or(String::new(), |score| format!(", dev accuracy {:.2}%", 100.0 * score));
    let half = trained.precision_loss.map_or(String::new(), |loss| {
        format!(", what was left out of the file costs {:.3} points", 100.0 * loss)
    });
    format!("{}: epoch {}{accuracy} ({}){half}", out.display(), trained.epoch, trained.stop)
}

fn read_pieces(path: &Path) -> Result<Diagram> {
    Diagram::parse(&read_text(path)?).with_context(|| format!("in {}", path.display()))
}

/// What the system says is free for new work; nothing where it does not say.
fn available_bytes() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn pairs(text: &str) -> Result<Pairs, String> {
    match text {
        "all" => Ok(Pairs::All),
        "observed" => Ok(Pairs::Observed),
        _ => Err("expected `all` or `observed`".to_owned()),
    }
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected `on` or `off`".to_owned()),
    }
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("expected NAME=FILE".to_owned()),
    }
}
