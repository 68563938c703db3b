//! `consonant train ner`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use consonant_learn::table::Precision;
use consonant_learn::trainer::EpochReport;
use consonant_ner::{Consistency, NerSettings, Scope, Trained, train};
use consonant_sequence::{Algorithm, Pairs};
use consonant_text::Sentence;
use consonant_text::entity::Scheme;

use super::{done, finite, named_number, not_negative, open_model, read_text, resources, store};
use crate::command::predict::ner::tag;
use crate::command::predict::open_tagger;
use crate::context::Context;
use crate::interrupt;
use crate::sentences;

/// Trains a recognizer of named entities.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train ner --train train.tsv --dev dev.tsv --model ner.model --consistency patterns"
)]
pub struct TrainNer {
    /// Training data: `token<TAB>label` columns, or CoNLL-U with `NER=B-LOC` in MISC; may be given several times.
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// Data on which training stops and strengths are chosen.
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: Option<PathBuf>,
    /// How labels of one word in several places agree.
    #[arg(long, value_name = "none|words|patterns", default_value = "none", value_parser = consistency)]
    consistency: Consistency,
    /// How entities become labels: bio or bioes.
    #[arg(long, value_name = "SCHEME", default_value = "bioes", value_parser = scheme)]
    scheme: Scheme,
    /// The training algorithm, or `list` to see all with their parameters.
    #[arg(long, value_name = "NAME", default_value = "averaged-perceptron")]
    algorithm: String,
    /// A parameter of the algorithm.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data (default: 25, or 12 without dev data; 200 iterations for L-BFGS).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Stop after so many epochs without a better F on dev.
    #[arg(long, value_name = "N", default_value_t = 8)]
    patience: u32,
    /// Feature templates instead of the built-in ones (see docs/templates.md).
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Leave out features that occur less often.
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_count: u32,
    /// Give weights to all pairs of feature and label, or to observed ones only.
    #[arg(long, value_name = "all|observed", default_value = "observed", value_parser = pairs)]
    weights: Pairs,
    /// Do not look at other occurrences of a word in its text, nor at how lines are set.
    #[arg(long)]
    no_evidence: bool,
    /// What is taken from the score of O, for more recall (default: what is best on dev, or on halves of the training data).
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = finite)]
    bias: Option<f32>,
    /// How much agreement counts beside the sentence's own chain (default: what is best on dev, or on halves of the training data).
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    strength: Option<f32>,
    /// Let words agree document by document, or over all that is decoded together (default: by document where documents are marked).
    #[arg(long, value_name = "document|set", value_parser = scope)]
    scope: Option<Scope>,
    /// A list of phrases, one a line.
    #[arg(long = "gazetteer", value_name = "NAME=FILE", value_parser = named_file)]
    gazetteers: Vec<(String, PathBuf)>,
    /// Word clusters: `bits<TAB>word` or `word<TAB>cluster`.
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,
    /// Look at parts of speech by this tagger, which prediction then needs as well.
    #[arg(long, value_name = "MODEL")]
    tagger: Option<PathBuf>,
    /// Word vectors in text: `word number number …`.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Store weights in half precision.
    #[arg(long)]
    half: bool,
    /// Leave out weights closer to zero than this, for a smaller model.
    #[arg(long, value_name = "WEIGHT", default_value_t = 0.0, value_parser = not_negative)]
    prune: f32,
    /// Save the state after each epoch; if the file is there, training goes on from it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
}

impl TrainNer {
    /// Trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.algorithm == "list" {
            return super::list_algorithms::<Algorithm>(context, |_| true);
        }
        let (false, Some(out)) = (self.train.is_empty(), &self.model) else {
            return Err(super::no_places());
        };
        let file = open_model(out, context)?;
        let settings = self.settings(context)?;
        let tagger = self.tagger.as_deref().map(open_tagger).transpose()?;
        let read = |path: &Path| {
            let mut sentences = read(path)?;
            tagger.iter().try_for_each(|tagger| tag(&mut sentences, tagger))?;
            Ok(sentences)
        };
        let files = self.train.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let sentences = join(files);
        let dev = self.dev.as_deref().map(read).transpose()?;
        let trained = train(
            &sentences,
            dev.as_deref(),
            settings,
            &mut |epoch| context.epoch(describe(epoch)),
            Some(interrupt::stop()),
        )?;
        store(&trained.model, file, out)?;
        context.note(summary(&trained, out));
        done()
    }

    fn settings(&self, context: &Context) -> Result<NerSettings> {
        Ok(NerSettings {
            consistency: self.consistency,
            scheme: self.scheme,
            training: super::training(&self.algorithm, &self.parameters)?,
            templates: self.template.as_deref().map(read_text).transpose()?,
            resources: resources::read(self.clusters.as_deref(), &self.gazetteers, self.vectors.as_deref())?,
            tags: self.tagger.is_some(),
            evidence: !self.no_evidence,
            min_count: self.min_count,
            pairs: self.weights,
            bias: self.bias,
            strength: self.strength,
            scope: self.scope,
            epochs: self.epochs.map(|epochs| epochs as usize),
            patience: self.patience as usize,
            precision: if self.half { Precision::Half } else { Precision::Single },
            prune: self.prune,
            threads: context.threads,
            seed: context.seed,
            checkpoint: self.checkpoint.clone(),
        })
    }
}

fn describe(epoch: &EpochReport) -> String {
    let dev = epoch.dev.map_or(String::new(), |score| format!("  dev F {:.2}", 100.0 * score));
    let errors = if epoch.errors > 0 { format!("  {} errors", epoch.errors) } else { String::new() };
    format!("epoch {:3}  loss {:.4}{errors}{dev}  {:.1} s", epoch.epoch, epoch.loss, epoch.seconds)
}

fn summary(trained: &Trained, out: &Path) -> String {
    let mut why = trained.stop.to_string();
    if !trained.left_out.is_empty() {
        why += &format!("; the model is complete but for {}", trained.left_out.join(" and "));
    }
    let f1 = trained.f1.map_or(String::new(), |score| format!(", dev F {:.2}", 100.0 * score));
    let strength = match trained.consistency {
        Consistency::None => String::new(),
        _ => format!(", strength of agreement {}", trained.strength),
    };
    format!("{}: epoch {}{f1} with bias {:.1}{strength} ({why})", out.display(), trained.epoch, trained.bias)
}

fn read(path: &Path) -> Result<Vec<Sentence>> {
    let opened = sentences::open(path)?;
    let sentences = opened.reader.collect::<Result<Vec<_>, _>>()?;
    if sentences.is_empty() {
        bail!("{} has no sentence; recognizers of names are trained on CoNLL-U or columns", opened.name);
    }
    Ok(sentences)
}

/// The sentences of all files. Where some files mark documents, the sentences of those that do not are documents of their own, instead of
/// the end of another file's last one.
fn join(mut files: Vec<Vec<Sentence>>) -> Vec<Sentence> {
    let is_marked = |file: &Vec<Sentence>| file.iter().any(Sentence::starts_document);
    if files.iter().any(is_marked) {
        let unmarked = files.iter_mut().filter(|file| !is_marked(file));
        unmarked.flatten().for_each(Sentence::mark_document);
    }
    files.into_iter().flatten().collect()
}

fn consistency(text: &str) -> Result<Consistency, String> {
    Consistency::ALL
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| "expected none, words or patterns".to_owned())
}

fn scope(text: &str) -> Result<Scope, String> {
    [Scope::Document, Scope::Set]
        .into_iter()
        .find(|scope| scope.name() == text)
        .ok_or_else(|| "expected document or set".to_owned())
}

fn scheme(text: &str) -> Result<Scheme, String> {
    match text {
        "bio" => Ok(Scheme::Iob2),
        "bioes" => Ok(Scheme::Bioes),
        _ => Err("expected bio or bioes".to_owned()),
    }
}

fn pairs(text: &str) -> Result<Pairs, String> {
    match text {
        "all" => Ok(Pairs::All),
        "observed" => Ok(Pairs::Observed),
        _ => Err("expected all or observed".to_owned()),
    }
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("expected NAME=FILE".to_owned()),
    }
}
