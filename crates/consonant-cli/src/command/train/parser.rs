//! `consonant train parser`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use consonant_learn::model::Model;
use consonant_learn::trainer::Method;
use consonant_parser::{
    IgnoredColumns, ParserError, ParserSettings, PartKinds, Progress, PruningLimits, train,
};
use consonant_tagger::{Request, Tagger, TaggerSettings};
use consonant_text::Sentence;

use crate::command::predict::open_tagger;
use crate::context::Context;
use crate::interrupt;

/// Trains a dependency parser.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train parser --train train.conllu --dev dev.conllu --model parser.model --order 2"
)]
pub struct TrainParser {
    /// Training data in CoNLL-U, with tags and trees.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Data on which the best epoch is chosen.
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    /// 1: arcs; 2: siblings and grandparents; 3: grand-siblings, tri-siblings and head bigrams as well.
    #[arg(long, value_name = "1|2|3", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    order: u8,
    /// Switches kinds of parts on or off: siblings, grandparents, grand-siblings, tri-siblings, arbitrary-siblings,
    /// head-bigrams; with `-` before the name, off.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', allow_hyphen_values = true)]
    parts: Vec<String>,
    /// Looks for trees without crossing arcs; first order only.
    #[arg(long)]
    projective: bool,
    /// Whether exactly one word depends on the root.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    single_root: bool,
    /// Keeps at most so many candidate heads for a word.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    heads: u16,
    /// Drops candidate heads that are less probable than this share of the most probable one.
    #[arg(long, value_name = "SHARE", default_value_t = 3e-5, value_parser = super::not_negative)]
    head_share: f32,
    /// The training algorithm, or `list` to see all with their parameters.
    #[arg(long, value_name = "NAME", default_value = "passive-aggressive")]
    algorithm: String,
    /// A parameter of the algorithm.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = super::named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Stops after so many epochs without better heads on dev (default: do all epochs).
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// Leaves out sentences whose heads are no tree instead of refusing them.
    #[arg(long)]
    skip_broken: bool,
    /// Tags all data with this tagger first; columns that it does not predict stay as they are.
    #[arg(long, value_name = "MODEL")]
    tagger: Option<PathBuf>,
    /// Tags the training data with K taggers like --tagger, each trained without the sentences that it tags, so that the
    /// parser learns from tags as wrong as those it will meet.
    #[arg(long, value_name = "K", requires = "tagger", value_parser = clap::value_parser!(u16).range(2..=100))]
    jackknife: Option<u16>,
    /// Columns not to look at, because the input will not have them: lemmas, features.
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Weights of parts, as a power of two: one less halves most of the model.
    #[arg(long, value_name = "N", default_value_t = 23, value_parser = clap::value_parser!(u8).range(8..=30))]
    bits: u8,
    /// Weights of labels, as a power of two.
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u8).range(8..=30))]
    label_bits: u8,
    /// Weights of the pruner, as a power of two.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(8..=30))]
    pruner_bits: u8,
    /// Saves the state after each epoch; if the file is there, training goes on from it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
}

impl TrainParser {
    /// Trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.algorithm == "list" {
            return super::list_algorithms(context, |method: Method| !method.needs_gradient());
        }
        let (Some(data), Some(out)) = (&self.train, &self.model) else {
            return Err(super::no_places());
        };
        let file = super::open_model(out, context)?;
        let settings = ParserSettings {
            kinds: self.kinds()?,
            single_root: self.single_root,
            projective: self.projective,
            pruning: PruningLimits { heads: usize::from(self.heads), share: self.head_share },
            epochs: self.epochs as usize,
            patience: self.patience.map(|patience| patience as usize),
            training: super::training(&self.algorithm, &self.parameters)?,
            skip_broken: self.skip_broken,
            ignored: self.ignored()?,
            bits: u32::from(self.bits),
            label_bits: u32::from(self.label_bits),
            pruner_bits: u32::from(self.pruner_bits),
            checkpoint: self.checkpoint.clone(),
            threads: context.threads,
            seed: context.seed,
            ..ParserSettings::default()
        };
        let read = |path: &Path| super::read_conllu(path, "parsers");
        let mut sentences = read(data)?;
        let mut dev = self.dev.as_deref().map(read).transpose()?;
        if let Some(path) = &self.tagger {
            let tagger = open_tagger(path)?;
            if let Some(dev) = &mut dev {
                tagger.decoder()?.tag(dev, &Request::default())?;
            }
            match self.jackknife {
                Some(folds) => jackknife(&tagger, usize::from(folds), &mut sentences, context)?,
                None => drop(tagger.decoder()?.tag(&mut sentences, &Request::default())?),
            }
        }
        let trained = train(
            &sentences,
            dev.as_deref(),
            &settings,
            &mut |step| tell(&step, context),
            Some(interrupt::stop()),
        );
        let trained = trained.map_err(|error| match error {
            ParserError::Tree { line, problem } => anyhow!(
                "{}, line {line}: {problem}; mend the sentence, leave out such ones with --skip-broken, or allow several \
                 roots with --single-root false",
                data.display()
            ),
            other => other.into(),
        })?;
        super::store(&trained.model, file, out)?;
        let accuracy = trained
            .accuracy
            .map_or(String::new(), |share| format!(", right heads on dev {:.2}%", 100.0 * share));
        context.note(format!("{}: epoch {}{accuracy}", out.display(), trained.epoch));
        super::done()
    }

    fn ignored(&self) -> Result<IgnoredColumns> {
        let mut ignored = IgnoredColumns::default();
        for column in &self.ignore {
            match column.as_str() {
                "lemmas" => ignored.lemmas = true,
                "features" => ignored.features = true,
                other => {
                    return Err(crate::usage_error(format!(
                        "--ignore knows lemmas and features, not `{other}`"
                    )));
                }
            }
        }
        Ok(ignored)
    }

    fn kinds(&self) -> Result<PartKinds> {
        let mut kinds = PartKinds::of_order(usize::from(self.order));
        for name in &self.parts {
            let (name, is_on) = match name.strip_prefix('-') {
                Some(name) => (name, false),
                None => (name.as_str(), true),
            };
            match name {
                "siblings" => kinds.siblings = is_on,
                "grandparents" => kinds.grandparents = is_on,
                "grand-siblings" => kinds.grand_siblings = is_on,
                "tri-siblings" => kinds.tri_siblings = is_on,
                "arbitrary-siblings" => kinds.arbitrary_siblings = is_on,
                "head-bigrams" => kinds.head_bigrams = is_on,
                _ => {
                    return Err(crate::usage_error(format!(
                        "`{name}` is no kind of part; expected siblings, grandparents, grand-siblings, tri-siblings, \
                         arbitrary-siblings or head-bigrams"
                    )));
                }
            }
        }
        if self.projective && !kinds.is_first_order() {
            return Err(crate::usage_error("--projective knows arcs only: add --order 1"));
        }
        Ok(kinds)
    }
}

/// Tags each of `folds` parts of the training data with a tagger trained on the others.
fn jackknife(tagger: &Tagger, folds: usize, sentences: &mut [Sentence], context: &Context) -> Result<()> {
    if sentences.len() < folds {
        bail!("{} sentences cannot be split into {folds} parts; give a smaller --jackknife", sentences.len());
    }
    let settings = TaggerSettings {
        column: tagger.column(),
        threads: context.threads,
        seed: context.seed,
        ..TaggerSettings::default()
    };
    let gold = sentences.to_vec();
    for fold in 0..folds {
        let others = gold.iter().enumerate().filter(|(i, _)| i % folds != fold);
        let others: Vec<Sentence> = others.map(|(_, sentence)| sentence.clone()).collect();
        let trained = consonant_tagger::train(&others, None, settings.clone(), &mut |_| {})?;
        let tagger = Tagger::open(&Model::from_bytes(&trained.model.to_bytes())?)?;
        let mut own: Vec<Sentence> = gold.iter().skip(fold).step_by(folds).cloned().collect();
        tagger.decoder()?.tag(&mut own, &Request::default())?;
        sentences.iter_mut().skip(fold).step_by(folds).zip(own).for_each(|(place, tagged)| *place = tagged);
        context.note(format!("tagged part {} of {folds} with a tagger trained on the others", fold + 1));
    }
    Ok(())
}

fn tell(step: &Progress<'_>, context: &Context) {
    match step {
        Progress::Epoch(_) => context.epoch(describe(step)),
        _ => context.note(describe(step)),
    }
}

fn describe(step: &Progress<'_>) -> String {
    match step {
        Progress::Skipped(ParserError::Tree { line, problem }) => format!("left out: line {line}: {problem}"),
        Progress::Skipped(problem) => format!("left out: {problem}"),
        Progress::Pruned { arcs_per_word, recall } => {
            let recall = recall
                .map_or(String::new(), |share| format!(", {:.2}% of right heads on dev", 100.0 * share));
            format!("pruning keeps {arcs_per_word:.1} heads a word{recall}")
        }
        Progress::Epoch(epoch) => {
            let dev = epoch.dev.map_or(String::new(), |share| format!("  dev {:.2}%", 100.0 * share));
            format!(
                "epoch {:3}  loss {:.4}  {} errors{dev}  {:.1} s",
                epoch.epoch, epoch.loss, epoch.errors, epoch.seconds
            )
        }
        Progress::Labels(epoch) => {
            format!("labels, epoch {:3}  {} errors  {:.1} s", epoch.epoch, epoch.errors, epoch.seconds)
        }
    }
}
