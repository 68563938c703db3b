//! `consonant train summarizer`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use consonant_learn::model::Model;
use consonant_learn::trainer::EpochReport;
use consonant_summarizer::{
    Constraints, Dev, Mode, Request, Summarizer, TrainingData, TrainingPair, TrainingSettings, TrainingTopic,
    reference_length, train,
};
use consonant_text::jsonl::{AnyRecord, CompressionPair, JsonlReader, Topic};
use consonant_text::sentence::SentenceBuilder;
use rayon::prelude::*;

use super::{done, named_number, open_model, store};
use crate::command::summarize::{Source, TopicAnnotator};
use crate::context::Context;
use crate::interrupt;

/// Trains a summarizer on summaries, compressions, or both at once.
///
/// Three tasks share their weights (compressive summaries, extractive summaries, compressions of single sentences); any of
/// them may be left out. Topics and compressions are JSONL; texts are annotated with the embedded models, or those of --models.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train summarizer --compressive topics.jsonl --extractive topics.jsonl --compression pairs.jsonl --dev dev.jsonl --model summarizer.model"
)]
pub struct TrainSummarizer {
    /// Topics whose summaries are learned as compressive ones; may be given several times.
    #[arg(long, value_name = "FILE")]
    compressive: Vec<PathBuf>,
    /// Topics whose summaries are learned as extractive ones; may be given several times.
    #[arg(long, value_name = "FILE")]
    extractive: Vec<PathBuf>,
    /// Sentences with the words that people kept; may be given several times.
    #[arg(long, value_name = "FILE")]
    compression: Vec<PathBuf>,
    /// Topics or compressions on which the best epoch is chosen; may be given several times.
    #[arg(long, value_name = "FILE")]
    dev: Vec<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "OUT")]
    model: PathBuf,
    /// Take segmenter.model, tagger.model and parser.model from this folder, not the embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// The training algorithm: pegasos (structured hinge loss by stochastic subgradient), passive-aggressive,
    /// averaged-perceptron, arow; sgd or lbfgs for the likelihood of compressions.
    #[arg(long, value_name = "NAME", default_value = "pegasos")]
    algorithm: String,
    /// A parameter of the algorithm. pegasos has c = 0.0001 for topics, unless training is from scratch.
    #[arg(long = "parameter", short = 'P', value_name = "NAME=VALUE", value_parser = named_number)]
    parameters: Vec<(String, f64)>,
    /// Passes over the data.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Stop after so many epochs without a better dev score (default: do all epochs).
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// How freely a task may differ from the shared weights; 0 ties all tasks together.
    #[arg(long, value_name = "RATIO", default_value_t = 1.0)]
    freedom: f32,
    /// Begin from nothing, not from the weights that were set by hand.
    #[arg(long)]
    from_scratch: bool,
    /// How strongly what concepts are worth by themselves, which is learned first, is held to the weights that were set by hand;
    /// `inf` leaves that step out.
    #[arg(long, value_name = "STRENGTH", default_value_t = 50.0, value_parser = strength)]
    ridge: f64,
    /// Which arcs may be cut in compressions of single sentences: those that grammar allows, or nearly all.
    #[arg(long, value_name = "RULES", default_value = "grammatical")]
    constraints: Rules,
    /// How much a wrong deletion costs, next to a missing one.
    #[arg(long, value_name = "COST", default_value_t = 1.0)]
    precision: f32,
    /// For likelihood: keep words that are more probable than this.
    #[arg(long, value_name = "P", default_value_t = 0.4)]
    threshold: f64,
    /// Leave out features that occur less often.
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_count: u32,
    /// Words in a concept.
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    concept_size: u8,
    /// Iterations of AD3 for each topic in training.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// Subjects, objects, negations, numbers, names, … stay.
    Grammatical,
    /// Only function words stay with what they belong to.
    Free,
}

impl TrainSummarizer {
    /// Reads, annotates, trains and writes the model.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.compressive.is_empty() && self.extractive.is_empty() && self.compression.is_empty() {
            return Err(crate::usage_error(
                "name something to learn from: --compressive, --extractive or --compression",
            ));
        }
        let file = open_model(&self.model, context)?;
        let annotator = TopicAnnotator::open(self.models.clone(), context)?;
        let reader = Reader { annotator: &annotator, summarizer: Summarizer::built_in()?, context };
        let compressive = reader.topics(&self.compressive)?;
        // The same topics often serve both tasks; trees take most of the time.
        let extractive = match self.extractive == self.compressive {
            true => compressive.clone(),
            false => reader.topics(&self.extractive)?,
        };
        let compression = reader.pairs(&self.compression)?;
        let (mut topics, mut pairs) = (Vec::new(), Vec::new());
        for path in &self.dev {
            match JsonlReader::<_, AnyRecord>::open(path)?.next().transpose()? {
                Some(AnyRecord::Topic(_)) => topics.extend(reader.topics(std::slice::from_ref(path))?),
                Some(AnyRecord::Compression(_)) => pairs.extend(reader.pairs(std::slice::from_ref(path))?),
                _ => bail!(
                    "{}: expected topics (`documents`, `summaries`) or compressions (`tokens`, `keep`)",
                    path.display()
                ),
            }
        }
        let settings = TrainingSettings {
            training: super::training(&self.algorithm, &self.parameters)?,
            epochs: self.epochs as usize,
            patience: self.patience.map(|patience| patience as usize),
            freedom: [self.freedom; 3],
            built_in: !self.from_scratch,
            ridge: self.ridge,
            min_count: self.min_count,
            compression: match self.constraints {
                Rules::Grammatical => Constraints::Grammatical,
                Rules::Free => Constraints::Free,
            },
            precision: self.precision,
            threshold: self.threshold,
            concept_size: usize::from(self.concept_size),
            iterations: self.iterations as usize,
            threads: context.threads,
            seed: context.seed,
            ..TrainingSettings::default()
        };
        let data =
            TrainingData { compressive: &compressive, extractive: &extractive, compression: &compression };
        let dev = Dev { topics: &topics, pairs: &pairs };
        let trained = train(
            data,
            (!self.dev.is_empty()).then_some(&dev),
            &settings,
            &mut |epoch| context.epoch(describe(epoch)),
            Some(interrupt::stop()),
        )?;
        let bytes = trained.model.to_bytes();
        store(&trained.model, file, &self.model)?;
        let summarizer = Summarizer::open(&Model::from_bytes(&bytes)?)?;
        let mut report =
            format!("{}: epoch {}, {} features", self.model.display(), trained.epoch, trained.features);
        if !topics.is_empty() {
            let (compressive, extractive) =
                (dev.rouge_2(&summarizer, Mode::Compressive)?, dev.rouge_2(&summarizer, Mode::Extractive)?);
            report +=
                &format!(", dev ROUGE-2 recall {compressive:.4} compressive, {extractive:.4} extractive");
        }
        if !pairs.is_empty() {
            let kept = dev.kept_words(&summarizer);
            let (predicted, gold) = kept.rates();
            report += &format!(
                ", dev F1 of kept words {:.4} (keeps {:.1}%, people {:.1}%)",
                kept.f1(),
                100.0 * predicted,
                100.0 * gold
            );
        }
        context.note(report);
        done()
    }
}

fn strength(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(strength) if strength >= 0.0 => Ok(strength),
        _ => Err(format!("`{text}` is no strength: give a number from 0 on, or `inf`")),
    }
}

fn describe(epoch: &EpochReport) -> String {
    let dev = epoch.dev.map_or(String::new(), |score| format!("  dev {score:.4}"));
    format!("epoch {:3}  loss {:.4}{dev}  {:.1} s", epoch.epoch, epoch.loss, epoch.seconds)
}

/// Reads training data and annotates it.
struct Reader<'a> {
    annotator: &'a TopicAnnotator,
    summarizer: Summarizer,
    context: &'a Context,
}

impl Reader<'_> {
    fn topics(&self, paths: &[PathBuf]) -> Result<Vec<TrainingTopic>> {
        let mut topics: Vec<Topic> = Vec::new();
        for path in paths {
            for topic in JsonlReader::<_, Topic>::open(path)? {
                let topic = topic?;
                if topic.summaries.is_empty() {
                    bail!("{}: topic `{}` has no summaries to learn from", path.display(), topic.id);
                }
                topics.push(topic);
            }
        }
        let progress = self.context.progress("annotating topics", Some(topics.len() as u64));
        let read = |topic: Topic| -> Result<TrainingTopic> {
            let sources: Vec<Source> = topic
                .documents
                .into_iter()
                .map(|document| Source::of_lines(document.id, document.text))
                .collect();
            let mut documents =
                sources.iter().map(|source| self.annotator.segment(source)).collect::<Result<Vec<_>>>()?;
            let request = Request { words: reference_length(&topic.summaries), ..Request::default() };
            self.annotator.add_trees(&self.summarizer, &mut documents, &request, self.context)?;
            progress.advance(1);
            Ok(TrainingTopic { documents, references: topic.summaries })
        };
        topics.into_par_iter().map(read).collect()
    }

    fn pairs(&self, paths: &[PathBuf]) -> Result<Vec<TrainingPair>> {
        let (mut sentences, mut keeps) = (Vec::new(), Vec::new());
        for path in paths {
            for pair in JsonlReader::<_, CompressionPair>::open(path)? {
                let CompressionPair { tokens, keep, .. } = pair?;
                let mut builder = SentenceBuilder::new();
                tokens.iter().for_each(|token| builder.word(token, true));
                sentences.push(builder.finish());
                keeps.push(keep.iter().map(|&keep| keep == 1).collect());
            }
        }
        self.annotator.parse(&mut sentences)?;
        Ok(sentences.into_iter().zip(keeps).map(|(sentence, keep)| TrainingPair { sentence, keep }).collect())
    }
}
