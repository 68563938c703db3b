//! `consonant train threads`

use consonant_learn::trainer::Method;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use consonant_conversations::{Constraint, GraphKind, Progress, ThreadsSettings, train};
use consonant_text::jsonl::{JsonlReader, Thread};

use crate::context::Context;
use crate::interrupt;

/// Trains a model that says which message of a conversation answers which.
///
/// Data is JSONL: {"id", "units": [{"author", "time", "text"}], "links": [[source, target], …]} with units counted from 0
/// and target < source; author and time may be null.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train threads --train train.jsonl --dev dev.jsonl --model threads.model --graph triples"
)]
pub struct TrainThreads {
    /// Training data in JSONL: conversations with links.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Data on which the best epoch is chosen.
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    /// What is decided together: nothing, neighbouring links, or triples of them as well.
    #[arg(long, value_enum, default_value_t = Graph::Triples)]
    graph: Graph,
    /// How many earlier messages a message answers; auto: what holds for nearly all messages of the training data.
    #[arg(long, value_enum, default_value_t = Links::Auto)]
    links: Links,
    /// How many messages back a link may reach; memory and time grow with it.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    window: u32,
    /// The training algorithm, or `list` to see all with their parameters.
    #[arg(long, value_name = "NAME", default_value = "passive-aggressive")]
    algorithm: String,
    /// A parameter of the algorithm.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = super::named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data at most.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Stop after so many epochs without better links on dev.
    #[arg(long, value_name = "N", default_value_t = 4)]
    patience: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Graph {
    /// Each link for itself.
    Pairs,
    /// Links and their neighbours: sources or targets that follow each other.
    Grid,
    /// Also the three links of two adjacent edges of the grid.
    Triples,
}

#[derive(Clone, Copy, ValueEnum)]
enum Links {
    Auto,
    Any,
    AtMostOne,
    AtLeastOne,
    ExactlyOne,
}

impl Links {
    fn constraint(self) -> Option<Constraint> {
        match self {
            Links::Auto => None,
            Links::Any => Some(Constraint::Any),
            Links::AtMostOne => Some(Constraint::AtMostOne),
            Links::AtLeastOne => Some(Constraint::AtLeastOne),
            Links::ExactlyOne => Some(Constraint::ExactlyOne),
        }
    }
}

impl TrainThreads {
    /// Trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.algorithm == "list" {
            return super::list_algorithms(context, |method: Method| !method.needs_gradient());
        }
        let (Some(data), Some(out)) = (&self.train, &self.model) else {
            return Err(super::no_places());
        };
        let file = super::open_model(out, context)?;
        let settings = ThreadsSettings {
            graph: match self.graph {
                Graph::Pairs => GraphKind::Pairs,
                Graph::Grid => GraphKind::Grid,
                Graph::Triples => GraphKind::Triples,
            },
            constraint: self.links.constraint(),
            window: self.window as usize,
            epochs: self.epochs as usize,
            patience: Some(self.patience as usize),
            training: super::training(&self.algorithm, &self.parameters)?,
            threads: context.threads,
            seed: context.seed,
            ..ThreadsSettings::default()
        };
        let threads = read(data)?;
        let dev = self.dev.as_deref().map(read).transpose()?;
        let trained = train(
            &threads,
            dev.as_deref(),
            &settings,
            &mut |step| tell(&step, context),
            Some(interrupt::stop()),
        )?;
        super::store(&trained.model, file, out)?;
        let f1 = trained.f1.map_or(String::new(), |f1| format!(", link F1 on dev {:.2}", 100.0 * f1));
        context.note(format!("{}: epoch {}{f1}", out.display(), trained.epoch));
        super::done()
    }
}

fn tell(step: &Progress<'_>, context: &Context) {
    match step {
        Progress::Epoch(_) => context.epoch(describe(step)),
        _ => context.note(describe(step)),
    }
}

fn describe(step: &Progress<'_>) -> String {
    match step {
        Progress::Data { constraint, share, out_of_window } => {
            let rule = match constraint {
                Constraint::Any => "any number of links",
                Constraint::AtMostOne => "at most one link",
                Constraint::AtLeastOne => "at least one link",
                Constraint::ExactlyOne => "exactly one link",
            };
            let lost = match out_of_window {
                0 => String::new(),
                lost => format!("; {lost} links reach further back than the window"),
            };
            format!("{rule} a message, as {:.2}% of the training data have{lost}", 100.0 * share)
        }
        Progress::Epoch(epoch) => {
            let dev = epoch.dev.map_or(String::new(), |f1| format!("  dev F1 {:.2}", 100.0 * f1));
            format!(
                "epoch {:3}  loss {:.4}  {} errors{dev}  {:.1} s",
                epoch.epoch, epoch.loss, epoch.errors, epoch.seconds
            )
        }
    }
}

fn read(path: &Path) -> Result<Vec<Thread>> {
    let threads = JsonlReader::<_, Thread>::open(path)?.collect::<Result<Vec<_>, _>>()?;
    if threads.is_empty() {
        bail!(
            r#"{}: there is no conversation; expected lines {{"id", "units": […], "links": [[source, target], …]}}"#,
            path.display()
        );
    }
    Ok(threads)
}
