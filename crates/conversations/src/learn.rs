//! Training: links that are decoded together are learned together.

use std::sync::atomic::AtomicBool;

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::FeatureNames;
use consonant_learn::parts::{PartList, PartProblem, Parts as LearnParts};
use consonant_learn::table::{HashKernel, Precision};
use consonant_learn::trainer::{EpochReport, Method, Parameter, Run, Training, train as train_online};
use consonant_text::evaluate::LinkScores;
use consonant_text::jsonl::{Fault, Record, Thread};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::conversation::Conversation;
use crate::decode::DecoderOptions;
use crate::features::{self, LinkContext, Names};
use crate::model::{Settings, Shape, TASK, WEIGHTS, Workspace};
use crate::parts::{Constraint, GraphKind, Parts};
use crate::words::Vocabulary;
use crate::{Linker, ThreadsError};

/// How a model of links is trained.
#[derive(Debug, Clone)]
pub struct ThreadsSettings {
    /// Which parts are scored.
    pub graph: GraphKind,
    /// How many links a source gets; without it, what holds for nearly all sources of the training data.
    pub constraint: Option<Constraint>,
    /// How many units back a link may reach; memory and time grow with it.
    pub window: usize,
    /// Passes over the data.
    pub epochs: usize,
    /// Stop when link F1 on dev has not risen for so many epochs.
    pub patience: Option<usize>,
    /// The online method and its parameters.
    pub training: Training<Method>,
    /// Conversations that are decoded with the same weights; they can be decoded in parallel.
    pub batch: usize,
    /// Weights, as a power of two.
    pub bits: u32,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// The seed of the order in which conversations are visited.
    pub seed: u64,
}

impl Default for ThreadsSettings {
    fn default() -> Self {
        Self {
            graph: GraphKind::Triples,
            constraint: None,
            window: 64,
            epochs: 20,
            patience: Some(4),
            training: Method::PassiveAggressive.into(),
            batch: 4,
            bits: 21,
            threads: 1,
            seed: 1,
        }
    }
}

/// What training tells as it goes.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The data was read.
    Data {
        /// How many links each source will get.
        constraint: Constraint,
        /// The share of sources in the training data that it holds for.
        share: f64,
        /// Links that reach further back than the window: they cannot be learned.
        out_of_window: usize,
    },
    /// An epoch is done.
    Epoch(&'a EpochReport),
}

/// A model that was just trained.
#[derive(Debug)]
pub struct TrainedThreads {
    /// The model, to be written to a file.
    pub model: ModelWriter,
    /// The epoch it is from.
    pub epoch: usize,
    /// Link F1 on dev.
    pub f1: Option<f64>,
}

impl TrainedThreads {
    /// The model as it will be when its file is opened.
    pub fn open(&self) -> Result<Linker, ThreadsError> {
        Linker::open(&Model::from_bytes(&self.model.to_bytes())?)
    }
}

struct Example {
    conversation: Conversation,
    links: Vec<(usize, usize)>,
}

/// The training problem.
struct Task<'a> {
    examples: &'a [Example],
    shape: Shape,
    options: &'a DecoderOptions,
    bits: u32,
}

impl LearnParts for Task<'_> {
    type Workspace = Workspace;

    fn workspace(&self) -> Workspace {
        Workspace::new(self.options.clone())
    }

    fn examples(&self) -> usize {
        self.examples.len()
    }

    fn parameters(&self) -> usize {
        1 << self.bits
    }

    fn list(&self, example: usize, workspace: &mut Workspace, list: &mut PartList) -> Result<(), LearnError> {
        let Example { conversation, links } = &self.examples[example];
        let Workspace { parts, contexts, keys, present, .. } = workspace;
        parts.rebuild(conversation.units.len(), self.shape.window, self.shape.graph, self.shape.constraint);
        LinkContext::all(conversation, parts, contexts);
        mark(parts, links, present);
        let is_gold = |part: usize| {
            let pairs = parts.links().len();
            let triples = pairs + parts.pairs().len();
            match part {
                _ if part < pairs => present[part],
                _ if part < triples => parts.pairs()[part - pairs].links.iter().all(|&link| present[link]),
                _ => parts.triples()[part - triples].links.iter().all(|&link| present[link]),
            }
        };
        keys.0.clear();
        features::for_each_part(conversation, contexts, parts, keys, |part, keys| {
            let gold = is_gold(part);
            // A wrong link costs one, and so does a missing one.
            let cost = if part >= parts.links().len() {
                0.0
            } else if gold {
                -1.0
            } else {
                1.0
            };
            list.push(f32::from(gold), cost);
            keys.0.iter().for_each(|&key| list.feature(HashKernel::index(key, self.bits)));
            keys.0.clear();
        });
        Ok(())
    }

    fn decode(
        &self,
        _: usize,
        scores: &[f32],
        workspace: &mut Workspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let Workspace { parts, decoder, present, .. } = workspace;
        decoder.decode(parts, scores, present).map_err(LearnError::task)?;
        parts.of_links(present, |part| predicted[part] = 1.0);
        Ok(())
    }
}

/// Marks the links that are given and possible.
fn mark(parts: &Parts, links: &[(usize, usize)], present: &mut Vec<bool>) {
    present.clear();
    present.resize(parts.links().len(), false);
    for &(source, target) in links {
        if let Some(link) = parts.link(source, target) {
            present[link] = true;
        }
    }
}

/// Trains a model of links; `progress` hears of each step.
pub fn train(
    threads: &[Thread],
    dev: Option<&[Thread]>,
    settings: &ThreadsSettings,
    progress: &mut dyn FnMut(Progress<'_>),
    interrupt: Option<&AtomicBool>,
) -> Result<TrainedThreads, ThreadsError> {
    let training = suited(settings.training.clone())?;
    threads.iter().chain(dev.unwrap_or_default()).try_for_each(check)?;
    let counts = LinkCounts::of(threads, settings.window);
    if counts.links == 0 {
        return Err(ThreadsError::NoLinks { conversations: threads.len() });
    }
    let constraint = settings.constraint.unwrap_or_else(|| counts.usual());
    progress(Progress::Data {
        constraint,
        share: counts.share(constraint),
        out_of_window: counts.out_of_window,
    });

    let vocabulary = Vocabulary::gather(threads);
    let read = |thread: &Thread| Example {
        conversation: Conversation::new(thread, &vocabulary),
        links: different_links(thread),
    };
    let examples: Vec<Example> = threads.iter().filter(|thread| thread.units.len() > 1).map(read).collect();
    let dev: Option<Vec<Example>> = dev.map(|dev| dev.iter().map(read).collect());
    let shape = Shape { graph: settings.graph, constraint, window: settings.window };
    let options = DecoderOptions { rows_first: true, ..DecoderOptions::default() };
    let task = Task { examples: &examples, shape, options: &options, bits: settings.bits };
    let mut scorer = |weights: &[f32]| {
        let dev = dev.as_deref().unwrap_or_default();
        evaluate(dev, shape, settings.bits, weights).map_err(LearnError::task)
    };
    let trained = train_online(
        &PartProblem::new(&task),
        &training,
        Run {
            epochs: settings.epochs,
            patience: settings.patience,
            shuffle: true,
            seed: settings.seed,
            batch: settings.batch,
            threads: settings.threads,
            dev: if dev.is_some() { Some(&mut scorer) } else { None },
            progress: Some(&mut |report| progress(Progress::Epoch(report))),
            interrupt,
            ..Run::default()
        },
    )?;

    let description = Settings {
        graph: settings.graph,
        constraint,
        window: settings.window,
        training: settings.training.clone(),
        epoch: trained.epoch,
        f1: trained.best,
        conversations: threads.len(),
        units: counts.units,
        links: counts.links,
        fingerprint: fingerprint(&examples),
    };
    let mut model = ModelWriter::new(TASK, serde_json::json!(description));
    vocabulary.store(&mut model);
    HashKernel::store(&mut model, WEIGHTS, &trained.weights, Precision::Single);
    let names = strongest_names(threads, &examples, shape, settings.bits, &trained.weights);
    FeatureNames::store(&mut model, WEIGHTS, names.iter().map(|(key, name)| (*key, name.as_str())));
    Ok(TrainedThreads { model, epoch: trained.epoch, f1: trained.best })
}

/// The algorithm with the parameters that suit this task, unless others were asked for.
fn suited(training: Training<Method>) -> Result<Training<Method>, LearnError> {
    match training.algorithm() {
        Method::PassiveAggressive => training.or(Parameter::COST_AUGMENTED, 1.0)?.or(Parameter::C, 0.01),
        _ => training.or(Parameter::MARGIN, 1.0),
    }
}

/// Link F1 under some weights.
fn evaluate(dev: &[Example], shape: Shape, bits: u32, weights: &[f32]) -> Result<f64, ThreadsError> {
    let weigh = |keys: &[u64]| keys.iter().map(|&key| weights[HashKernel::index(key, bits) as usize]).sum();
    let found: Vec<Vec<(usize, usize)>> = dev
        .par_iter()
        .map_init(
            || Workspace::new(DecoderOptions { rows_first: true, ..DecoderOptions::default() }),
            |workspace, example| {
                workspace.decode(&example.conversation, shape, weigh)?;
                let links = workspace.parts.links().iter().zip(&workspace.present);
                Ok(links.filter(|(_, on)| **on).map(|(&link, _)| link).collect())
            },
        )
        .collect::<Result<_, ThreadsError>>()?;
    let mut scores = LinkScores::default();
    for (example, found) in dev.iter().zip(found) {
        scores.conversation(example.links.iter().copied(), found);
    }
    Ok(scores.score().f1)
}

/// Readers check what they read; conversations may come from elsewhere.
fn check(thread: &Thread) -> Result<(), ThreadsError> {
    thread.check().map_err(|Fault { expected, came, hint, .. }| ThreadsError::Link {
        conversation: thread.id.clone(),
        expected,
        came,
        hint,
    })
}

/// The links of a conversation, each once.
fn different_links(thread: &Thread) -> Vec<(usize, usize)> {
    let mut links = thread.links.clone();
    links.sort_unstable();
    links.dedup();
    links
}

/// How many links the sources of some conversations have.
#[derive(Debug, Default)]
struct LinkCounts {
    units: usize,
    links: usize,
    out_of_window: usize,
    /// Sources with no link, with one, with more.
    sources: [usize; 3],
}

/// A constraint that fewer sources break is taken for a rule.
const EXCEPTIONS: f64 = 0.01;

impl LinkCounts {
    fn of(threads: &[Thread], window: usize) -> Self {
        let mut counts = Self::default();
        let mut by_source = Vec::new();
        for thread in threads {
            let links = different_links(thread);
            counts.units += thread.units.len();
            counts.links += links.len();
            counts.out_of_window +=
                links.iter().filter(|&&(source, target)| source - target > window).count();
            by_source.clear();
            by_source.resize(thread.units.len(), 0);
            links.iter().for_each(|&(source, _)| by_source[source] += 1);
            by_source.iter().skip(1).for_each(|&count: &usize| counts.sources[count.min(2)] += 1);
        }
        counts
    }

    /// The share of sources that satisfy a constraint.
    fn share(&self, constraint: Constraint) -> f64 {
        let [none, _, many] = self.sources;
        let all = self.sources.iter().sum::<usize>();
        let broken =
            if constraint.allows_none() { 0 } else { none } + if constraint.allows_many() { 0 } else { many };
        1.0 - broken as f64 / all.max(1) as f64
    }

    /// The strongest constraint that nearly all sources satisfy.
    fn usual(&self) -> Constraint {
        [Constraint::ExactlyOne, Constraint::AtLeastOne, Constraint::AtMostOne]
            .into_iter()
            .find(|&constraint| self.share(constraint) >= 1.0 - EXCEPTIONS)
            .unwrap_or(Constraint::Any)
    }
}

/// How many features keep their names, for people who inspect the model.
const NAMED: usize = 2000;

/// The names of the features with the largest weights.
fn strongest_names(
    threads: &[Thread],
    examples: &[Example],
    shape: Shape,
    bits: u32,
    weights: &[f32],
) -> Vec<(u64, String)> {
    let mut sizes: Vec<f32> = weights.iter().map(|weight| weight.abs()).filter(|&size| size > 0.0).collect();
    let at = sizes.len().saturating_sub(NAMED);
    let least =
        if sizes.is_empty() { f32::INFINITY } else { *sizes.select_nth_unstable_by(at, f32::total_cmp).1 };
    let mut found: FxHashMap<u64, (usize, String)> = FxHashMap::default();
    let mut names = Names::default();
    let (mut parts, mut contexts) = (Parts::default(), Vec::new());
    for (thread, example) in threads.iter().filter(|thread| thread.units.len() > 1).zip(examples) {
        thread.units.iter().for_each(|unit| names.read(&unit.text));
        let conversation = &example.conversation;
        parts.rebuild(conversation.units.len(), shape.window, shape.graph, shape.constraint);
        LinkContext::all(conversation, &parts, &mut contexts);
        let is_strong = |key: u64| weights[HashKernel::index(key, bits) as usize].abs() >= least;
        features::for_each_part(conversation, &contexts, &parts, &mut names, |_, names| {
            for (key, name) in names.features.drain(..).filter(|(key, _)| is_strong(*key)) {
                found.entry(key).or_insert((0, name)).0 += 1;
            }
        });
    }
    // Where features share a weight, the most frequent one has made it what it is.
    let mut found: Vec<(u64, usize, String)> =
        found.into_iter().map(|(key, (count, name))| (key, count, name)).collect();
    let index = |key: u64| HashKernel::index(key, bits);
    found.sort_unstable_by_key(|&(key, count, _)| (index(key), std::cmp::Reverse(count), key));
    found.dedup_by_key(|(key, ..)| index(*key));
    found.into_iter().map(|(key, _, name)| (key, name)).collect()
}

/// A number that other training data will not have.
fn fingerprint(examples: &[Example]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for example in examples {
        example.conversation.sign(&mut fingerprint);
        for &(source, target) in &example.links {
            fingerprint.number(source as u64);
            fingerprint.number(target as u64);
        }
    }
    fingerprint.get()
}
