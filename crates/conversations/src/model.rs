//! A model of links on disk, and what it does with conversations.

use std::sync::Arc;

use consonant_learn::model::Model;
use consonant_learn::names::FeatureNames;
use consonant_learn::table::HashKernel;
use consonant_learn::trainer::{Method, Training};
use consonant_map::Certificate;
use consonant_text::jsonl::Thread;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ThreadsError;
use crate::conversation::Conversation;
use crate::decode::{Decoder, DecoderOptions};
use crate::features::{self, Keys, LinkContext};
use crate::parts::{Constraint, GraphKind, Parts};
use crate::words::Vocabulary;

/// The name of the task in model files.
pub const TASK: &str = "threads";
pub(crate) const WEIGHTS: &str = "weights";

/// How a model was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub graph: GraphKind,
    pub constraint: Constraint,
    pub window: usize,
    #[serde(flatten)]
    pub training: Training<Method>,
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
    settings: Arc<Settings>,
    vocabulary: Arc<Vocabulary>,
    pub(crate) weights: HashKernel,
    names: Option<FeatureNames>,
}

/// How the linking of one conversation went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linked {
    /// Value, bound, status, iterations and time of decoding; the time includes features and scores.
    pub certificate: Certificate,
    /// Units in the conversation.
    pub units: usize,
}

/// Buffers for one thread.
#[derive(Default)]
pub(crate) struct Workspace {
    pub parts: Parts,
    pub contexts: Vec<LinkContext>,
    pub keys: Keys,
    pub scores: Vec<f32>,
    pub decoder: Decoder,
    pub present: Vec<bool>,
}

impl Workspace {
    pub(crate) fn new(options: DecoderOptions) -> Self {
        Self { decoder: Decoder::new(options), ..Self::default() }
    }

    /// Scores all parts of a conversation and finds its best links.
    pub(crate) fn decode(
        &mut self,
        conversation: &Conversation,
        shape: Shape,
        weigh: impl Fn(&[u64]) -> f32,
    ) -> Result<Certificate, ThreadsError> {
        self.score(conversation, shape, weigh);
        self.decoder.decode(&self.parts, &self.scores, &mut self.present)
    }

    fn score(&mut self, conversation: &Conversation, shape: Shape, weigh: impl Fn(&[u64]) -> f32) {
        let Self { parts, contexts, keys, scores, .. } = self;
        parts.rebuild(conversation.units.len(), shape.window, shape.graph, shape.constraint);
        LinkContext::all(conversation, parts, contexts);
        scores.clear();
        keys.0.clear();
        features::for_each_part(conversation, contexts, parts, keys, |_, keys| {
            scores.push(weigh(&keys.0));
            keys.0.clear();
        });
    }
}

/// What decides which parts a conversation has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub graph: GraphKind,
    pub constraint: Constraint,
    pub window: usize,
}

impl Linker {
    /// Opens a model of links; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, ThreadsError> {
        let settings: Settings = model.settings(TASK)?;
        Ok(Self {
            weights: HashKernel::open(model, WEIGHTS)?,
            vocabulary: Arc::new(Vocabulary::open(model)?),
            names: FeatureNames::open(model, WEIGHTS)?,
            settings: Arc::new(settings),
        })
    }

    /// Which parts it scores.
    pub fn graph(&self) -> GraphKind {
        self.settings.graph
    }

    /// How many links a source gets.
    pub fn constraint(&self) -> Constraint {
        self.settings.constraint
    }

    /// How many units back a link may reach.
    pub fn window(&self) -> usize {
        self.settings.window
    }

    pub(crate) fn shape(&self) -> Shape {
        let Settings { graph, constraint, window, .. } = *self.settings;
        Shape { graph, constraint, window }
    }

    pub(crate) fn read(&self, thread: &Thread) -> Conversation {
        Conversation::new(thread, &self.vocabulary)
    }

    /// Replaces the links of conversations by those it finds, in parallel on rayon's threads.
    pub fn link(
        &self,
        threads: &mut [Thread],
        options: &DecoderOptions,
    ) -> Result<Vec<Linked>, ThreadsError> {
        threads
            .par_iter_mut()
            .map_init(
                || Workspace::new(options.clone()),
                |workspace, thread| {
                    let start = std::time::Instant::now();
                    let conversation = self.read(thread);
                    let mut certificate =
                        workspace.decode(&conversation, self.shape(), |keys| self.weights.sum(keys))?;
                    let links = workspace.parts.links().iter().zip(&workspace.present);
                    thread.links = links.filter(|(_, on)| **on).map(|(&link, _)| link).collect();
                    certificate.seconds = start.elapsed().as_secs_f64();
                    Ok(Linked { certificate, units: thread.units.len() })
                },
            )
            .collect()
    }

    /// The parts of a conversation with their scores, for decoding by other means.
    pub fn score(&self, thread: &Thread) -> (Parts, Vec<f32>) {
        let mut workspace = Workspace::default();
        workspace.score(&self.read(thread), self.shape(), |keys| self.weights.sum(keys));
        (workspace.parts, workspace.scores)
    }

    /// The features with the largest weights among those whose names were kept, with their weights.
    pub fn strongest(&self, count: usize) -> Vec<(f32, &str)> {
        let Some(names) = &self.names else { return Vec::new() };
        let weight = |(key, name)| (self.weights.weight(key), name);
        let mut all: Vec<(f32, &str)> = names.iter().map(weight).collect();
        all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.1.cmp(b.1)));
        all.truncate(count);
        all
    }
}
