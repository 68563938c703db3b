//! A model of links on disk, and what it does with conversations.

use std::sync::Arc;
use std::time::Instant;

use consonant_learn::model::Model;
use consonant_learn::names::FeatureNames;
use consonant_learn::table::HashKernel;
use consonant_learn::trainer::{Method, TrainingAlgorithm as _};
use consonant_task::{
    Answered, Batch, Certificate, Data, Explanation, Inspection, Source, Task, Trained, Unit, Usage, Watch,
    Worker, Workers,
};
use consonant_text::Format;
use consonant_text::jsonl::{Thread, ThreadUnit};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::LinkerError;
use crate::conversation::{Conversation, DAY, minutes};
use crate::decode::{LinkDecoder, LinkMethod};
use crate::features::{self, LinkContext, WordNames};
use crate::learn::{self, LinkerSettings};
use crate::parts::{Constraint, GraphKind, LinkParts};
use crate::words::Vocabulary;

/// The name of the task in model files.
pub const TASK: &str = "threads";
pub(crate) const WEIGHTS: &str = "weights";

consonant_task::settings! {
    /// How links are found.
    pub struct LinkerOptions {
        /// How models that must agree are decoded: two-slave, tree-cut, spanning-trees, ad3, subgradient or
        /// exact.
        decoder: LinkMethod = LinkMethod::TwoSlave, "NAME";
        /// Iterations of the decoder at most.
        max_iterations: usize = 200, "N" in 1.0.., research;
        /// Decides beforehand which links need no search, and finishes what two-slave leaves open; without it the
        /// decoder has all links to itself, as in the paper.
        shortcuts: bool = true, "on|off", research;
    }
}

/// How a model was made; the metadata of its file. The constraint is the one that it has, whether it was
/// given or found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub settings: LinkerSettings,
    pub epoch: usize,
    pub f1: Option<f64>,
    pub conversations: usize,
    pub units: usize,
    pub links: usize,
    pub fingerprint: u64,
}

/// A trained model that says which unit answers which. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Linker {
    pub(crate) shape: Shape,
    vocabulary: Arc<Vocabulary>,
    pub(crate) weights: HashKernel,
    names: Option<FeatureNames>,
    workers: Workers<Workspace>,
}

/// Buffers for one thread.
#[derive(Default)]
pub(crate) struct Workspace {
    pub parts: LinkParts,
    pub contexts: Vec<LinkContext>,
    pub keys: Vec<u64>,
    pub scores: Vec<f32>,
    pub decoder: LinkDecoder,
    pub present: Vec<bool>,
}

impl Workspace {
    /// Scores all parts of a conversation and finds its best links.
    pub(crate) fn decode(
        &mut self,
        conversation: &Conversation,
        shape: Shape,
        weigh: impl Fn(&[u64]) -> f32,
    ) -> Result<Certificate, LinkerError> {
        self.score(conversation, shape, weigh);
        self.decoder.decode(&self.parts, &self.scores, &mut self.present)
    }

    fn score(&mut self, conversation: &Conversation, shape: Shape, weigh: impl Fn(&[u64]) -> f32) {
        let Self { parts, contexts, keys, scores, .. } = self;
        shape.lay_out(conversation, parts, contexts);
        scores.clear();
        keys.clear();
        features::for_each_part(conversation, contexts, parts, &WordNames::default(), keys, |_, keys| {
            scores.push(weigh(keys));
            keys.clear();
        });
    }

    /// The links that were found, as (source, target).
    pub(crate) fn links(&self) -> Vec<(usize, usize)> {
        let links = self.parts.links().iter().zip(&self.present);
        links.filter(|(_, on)| **on).map(|(&link, _)| link).collect()
    }
}

/// What decides which parts a conversation has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub graph: GraphKind,
    pub constraint: Constraint,
    pub window: usize,
}

impl Shape {
    /// Makes the parts of a conversation, and what its links look like.
    pub(crate) fn lay_out(
        self,
        conversation: &Conversation,
        parts: &mut LinkParts,
        contexts: &mut Vec<LinkContext>,
    ) {
        parts.rebuild(conversation.units.len(), self.window, self.graph, self.constraint);
        LinkContext::all(conversation, parts, contexts);
    }
}

impl Task for Linker {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "models of links";
    const ABOUT: &'static str = r#"Trains a model that says which message of a conversation answers which.

Data is JSONL: {"id", "units": [{"author", "time", "text"}], "links": [[source, target], …]} with units counted from 0 and target < source; author and time may be null."#;
    const EXAMPLE: &'static str =
        "consonant train threads --train train.jsonl --dev dev.jsonl --model threads.model --graph triples";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data in JSONL: conversations with links.",
        formats: Self::FORMATS,
    }];
    const FORMATS: &'static [Format] = &[Format::Jsonl];

    type Item = Thread;
    type Settings = LinkerSettings;
    type Options = LinkerOptions;
    type Error = LinkerError;

    fn algorithms() -> String {
        let online = Method::ALL.iter().filter(|method| !method.needs_gradient());
        online.map(|method| method.info().to_string()).collect()
    }

    fn check(settings: &LinkerSettings) -> Result<(), Usage> {
        match settings.training.algorithm().needs_gradient() {
            true => Err(Usage(
                "links are learned by decoding; choose one of the algorithms of `--algorithm list`"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    fn train(
        data: &Data<'_, Thread>,
        settings: &LinkerSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, LinkerError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, LinkerError> {
        let Description { settings: LinkerSettings { graph, constraint, window, .. }, .. } =
            model.settings(TASK)?;
        let constraint = constraint
            .constraint()
            .ok_or_else(|| model.damaged("it does not say how many links there are"))?;
        Ok(Self {
            shape: Shape { graph, constraint, window },
            weights: HashKernel::open(model, WEIGHTS)?,
            vocabulary: Arc::new(Vocabulary::open(model)?),
            names: FeatureNames::open(model, WEIGHTS)?,
            workers: Workers::new(),
        })
    }

    fn batch(&self) -> Batch {
        Batch::Items(256)
    }

    /// Replaces the links of conversations by those it finds.
    fn decode(&self, threads: &mut [Thread], options: &LinkerOptions) -> Result<Vec<Unit>, LinkerError> {
        let link = |thread: &mut Thread| {
            let start = Instant::now();
            let mut workspace = self.workspace(options);
            let mut certificate =
                workspace.decode(&self.read(thread), self.shape, |keys| self.weights.sum(keys))?;
            certificate.seconds = start.elapsed().as_secs_f64();
            thread.links = workspace.links();
            Ok(Unit { certificate, tokens: thread.units.len() })
        };
        threads.par_iter_mut().map(link).collect()
    }

    /// The problem of each conversation whose links depend on each other, with nothing decided beforehand.
    fn problems(
        &self,
        threads: &[Thread],
        options: &LinkerOptions,
    ) -> Option<Result<Vec<Answered>, LinkerError>> {
        let answered = |thread: &Thread| {
            let mut workspace = self.workspace(options);
            workspace.decode(&self.read(thread), self.shape, |keys| self.weights.sum(keys))?;
            let Workspace { parts, scores, present, .. } = &*workspace;
            Ok((parts.len() > parts.links().len()).then(|| parts.answered(scores, present)))
        };
        Some(threads.par_iter().map(answered).filter_map(Result::transpose).collect())
    }

    fn inspect(&self, top: usize) -> Inspection {
        let row = |(weight, feature): (f32, &str)| vec![weight.into(), feature.to_owned().into()];
        Inspection::default().table(&["weight", "feature"], self.strongest(top).into_iter().map(row))
    }

    fn explain(&self, thread: &Thread) -> Option<Result<Vec<Explanation>, LinkerError>> {
        Some(self.explain_links(thread))
    }
}

impl Linker {
    /// Buffers for one thread, set up for these options.
    fn workspace(&self, options: &LinkerOptions) -> Worker<'_, Workspace> {
        let mut workspace = self.workers.take(Workspace::default);
        let decoder = &mut workspace.decoder;
        (decoder.method, decoder.max_iterations) = (options.decoder, options.max_iterations);
        (decoder.reduce, decoder.finish) = (options.shortcuts, options.shortcuts);
        workspace
    }

    /// Which parts it scores.
    pub fn graph(&self) -> GraphKind {
        self.shape.graph
    }

    /// How many links a source gets.
    pub fn constraint(&self) -> Constraint {
        self.shape.constraint
    }

    /// How many units back a link may reach.
    pub fn window(&self) -> usize {
        self.shape.window
    }

    pub(crate) fn read(&self, thread: &Thread) -> Conversation {
        Conversation::new(thread, &self.vocabulary)
    }

    /// Links the messages of a log of any length. A long one is decoded in stretches that end in its pauses;
    /// links do not reach from one to the next, so that memory and time grow with the length alone. Returns a
    /// certificate for each stretch.
    pub fn link_log(&self, log: &mut Thread, options: &LinkerOptions) -> Result<Vec<Unit>, LinkerError> {
        let stretches = stretches(&log.units, STRETCH);
        let mut pieces: Vec<Thread> = stretches
            .windows(2)
            .map(|ends| {
                let mut piece = Thread::new(&log.id);
                piece.units = log.units[ends[0]..ends[1]].to_vec();
                piece
            })
            .collect();
        let units = self.decode(&mut pieces, options)?;
        let shifted = pieces.iter().zip(&stretches).flat_map(|(piece, &start)| {
            piece.links.iter().map(move |&(source, target)| (source + start, target + start))
        });
        log.links = shifted.collect();
        Ok(units)
    }

    /// The parts of a conversation with their scores, for decoding by other means.
    pub fn score(&self, thread: &Thread) -> (LinkParts, Vec<f32>) {
        let mut workspace = Workspace::default();
        workspace.score(&self.read(thread), self.shape, |keys| self.weights.sum(keys));
        (workspace.parts, workspace.scores)
    }

    /// The features with the largest weights among those whose names were kept, with their weights.
    pub fn strongest(&self, count: usize) -> Vec<(f32, &str)> {
        let Some(names) = &self.names else { return Vec::new() };
        names.strongest(count, |key| self.weights.weight(key), |weight| weight.abs())
    }
}

/// Messages that are decoded together at most.
const STRETCH: usize = 400;

/// Where stretches of at most `most` messages begin, and the end: each ends before the longest pause in its
/// later half.
fn stretches(units: &[ThreadUnit], most: usize) -> Vec<usize> {
    let minutes: Vec<Option<u32>> = units.iter().map(|unit| unit.time.as_deref().and_then(minutes)).collect();
    let pause = |unit: usize| Some((minutes[unit]? + DAY - minutes[unit - 1]?) % DAY);
    let mut starts = vec![0];
    let mut start = 0;
    while units.len() - start > most {
        // The last of the longest: as many messages as possible stay together.
        start = (start + most / 2 + 1..=start + most)
            .max_by_key(|&unit| (pause(unit), unit))
            .unwrap_or(start + most);
        starts.push(start);
    }
    starts.push(units.len());
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_text::chat;

    #[test]
    fn long_logs_are_cut_in_their_pauses() {
        let log: String =
            (0..10).map(|n| format!("10:{:02} <a> m\n", if n < 5 { n } else { n + 30 })).collect();
        let units = chat::read(&log, "x").units;
        assert_eq!(stretches(&units, 10), [0, 10]);
        assert_eq!(stretches(&units, 6), [0, 5, 10]);
        assert_eq!(stretches(&units, 4), [0, 4, 8, 10]);
        assert_eq!(stretches(&[], 4), [0, 0]);
    }
}
