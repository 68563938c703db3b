//! The contract itself.

use std::fmt::Debug;

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::settings::{SettingValue, Settings, find_name};
use consonant_map::Certificate;
use consonant_map::proof::Answered;
use consonant_map::solver::Method;
use consonant_text::Format;
use consonant_text::input::DEFAULT_MAX_UNPACKED;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Annotate, Batch, Calibration, Explanation, Failure, Inspection, Item, Usage, Watch};

/// A kind of model: what it decodes, how it is trained, opened, applied and looked into.
///
/// `train`, `predict` and `inspect` of every client are one generic function each over this trait; a new task
/// is a crate that implements it and one line in the registry.
pub trait Task: Debug + Send + Sync + Sized + 'static {
    /// Its name in model files, in the registry and on the command line: `tagger`.
    const NAME: &'static str;
    /// What such models are called: `taggers`.
    const PLURAL: &'static str;
    /// What it does, in a sentence; then, if need be, more after an empty line.
    const ABOUT: &'static str;
    /// A command that trains one.
    const EXAMPLE: &'static str;
    /// What it learns from; the first is what most people have.
    const SOURCES: &'static [Source];
    /// The formats of what it decodes.
    const FORMATS: &'static [Format];
    /// The layers that it reads and does not make.
    const READS: Reads = Reads::Tokens;
    /// Whether a training can go on from a model.
    const CONTINUES: bool = false;
    /// Whether [`diagram`](Self::diagram) draws something.
    const DRAWS: bool = false;

    /// What it decodes: a sentence, a conversation, a topic.
    type Item: Item;
    /// How it is trained: the flags of a program, the API, and what the model stores.
    type Settings: Settings;
    /// What is wanted of decoding, and how it is done.
    type Options: Settings;
    /// What can go wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The training algorithms with their parameters, as text for people.
    fn algorithms() -> String;

    /// Whether settings that are each in their range also fit together; asked before any data are read.
    fn check(settings: &Self::Settings) -> Result<(), Usage> {
        let _ = settings;
        Ok(())
    }

    /// Learns from items.
    fn train(
        data: &Data<'_, Self::Item>,
        settings: &Self::Settings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, Self::Error>;

    /// Opens a model; other tasks' models are refused. Takes milliseconds: weights stay where they lie.
    fn open(model: &Model) -> Result<Self, Self::Error>;

    /// The layers that this model reads; never more than its kind.
    fn reads(&self) -> Reads {
        Self::READS
    }

    /// Fills in the layers that a training reads.
    fn prepare(items: &mut [Self::Item], annotator: &dyn Annotate) -> Result<(), Failure> {
        Self::Item::annotate(items, annotator)
    }

    /// Fills in the layers that decoding reads.
    fn annotate(
        &self,
        items: &mut [Self::Item],
        options: &Self::Options,
        annotator: &dyn Annotate,
    ) -> Result<(), Failure> {
        let _ = options;
        Self::prepare(items, annotator)
    }

    /// What should be decoded in one call, where files are large.
    fn batch(&self) -> Batch {
        Batch::Items(4096)
    }

    /// Fills in what the model predicts, with a certificate for each unit that was decoded. On rayon's
    /// threads; the outcome is the same for any number of them.
    fn decode(&self, items: &mut [Self::Item], options: &Self::Options) -> Result<Vec<Unit>, Self::Error>;

    /// What the model is and has learned, with this many of its strongest weights.
    fn inspect(&self, top: usize) -> Inspection;

    /// How sure it may be of its answers, learned from items with gold answers that it did not learn from; `None` for
    /// tasks that do not say, and for too few items.
    fn calibrate(&self, items: &[Self::Item]) -> Result<Option<Calibration>, Self::Error> {
        let _ = items;
        Ok(None)
    }

    /// What decided each choice of an item; `None` for tasks that cannot say.
    fn explain(&self, item: &Self::Item) -> Option<Result<Vec<Explanation>, Self::Error>> {
        let _ = item;
        None
    }

    /// The problems that the engine solves to decode these items, each with the answer that decoding gives, for proofs
    /// and for other solvers; `None` for tasks that have none to show. Units that need no engine, or that are too large
    /// for a bound, are left out.
    fn problems(
        &self,
        items: &[Self::Item],
        options: &Self::Options,
    ) -> Option<Result<Vec<Answered>, Self::Error>> {
        let (_, _) = (items, options);
        None
    }

    /// A drawing (SVG) of what would be trained with these settings; `None` for tasks that have none.
    fn diagram(settings: &Self::Settings) -> Option<Result<String, Self::Error>> {
        let _ = settings;
        None
    }
}

/// Where a training finds its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The flag, and the argument in other languages.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// The formats that it may have.
    pub formats: &'static [Format],
}

/// The layers that a task reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// None but the tokens, or raw text.
    Tokens,
    /// Parts of speech, if they are there or a tagger is named.
    Tags,
    /// Sentences, tags and trees, from a pipeline.
    Trees,
}

/// What a training learns from.
#[derive(Debug)]
#[non_exhaustive]
pub struct Data<'d, I> {
    /// The items of each of the task's sources, in the order of [`Task::SOURCES`].
    pub sources: Vec<&'d [I]>,
    /// Items on which the best epoch is chosen.
    pub dev: Option<&'d [I]>,
    /// A model to go on from.
    pub initial: Option<&'d Model>,
    /// Whether parts of speech come from a tagger, as they will in prediction.
    pub tagged: bool,
    /// How many bytes may come out of each compressed file that settings name.
    pub max_unpacked: u64,
}

impl<'d, I> Data<'d, I> {
    /// Items of the first source, and nothing else.
    pub fn new(items: &'d [I]) -> Self {
        let max_unpacked = DEFAULT_MAX_UNPACKED;
        Self { sources: vec![items], dev: None, initial: None, tagged: false, max_unpacked }
    }

    /// With items on which the best epoch is chosen.
    #[must_use]
    pub fn with_dev(mut self, dev: &'d [I]) -> Self {
        self.dev = Some(dev);
        self
    }

    /// The same items, to go on from another model or from none.
    #[must_use]
    pub fn going_on_from<'e>(&self, initial: Option<&'e Model>) -> Data<'e, I>
    where
        'd: 'e,
    {
        Data { sources: self.sources.clone(), initial, ..*self }
    }

    /// The items of a source; none where it was left out.
    pub fn source(&self, number: usize) -> &'d [I] {
        self.sources.get(number).copied().unwrap_or_default()
    }

    /// The items of the first source.
    pub fn items(&self) -> &'d [I] {
        self.source(0)
    }
}

/// A finished training.
#[derive(Debug)]
#[must_use]
pub struct Trained {
    /// The model, ready to be written.
    pub model: ModelWriter,
    /// The epoch that it is from.
    pub epoch: usize,
    /// The best score on dev.
    pub score: Option<f64>,
    /// How it went, for people: `epoch 7, dev accuracy 95.20 (no better on dev)`.
    pub summary: String,
}

impl Trained {
    /// The model as it will be when its file is opened.
    pub fn open(&self) -> Result<Model, LearnError> {
        Model::from_bytes(&self.model.to_bytes())
    }
}

/// How the decoding of a unit went: a sentence, a conversation, or sentences that had to agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unit {
    /// What is proven of the answer.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Tokens of the unit (messages, for conversations).
    pub tokens: usize,
}

/// The name of a solver in decode options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solver(pub Method);

impl Solver {
    /// Its name.
    pub fn name(self) -> &'static str {
        Method::NAMES.iter().find(|(_, method)| *method == self.0).map_or("", |(name, _)| name)
    }

    fn find(name: &str) -> Result<Self, String> {
        let found = find_name(&Method::NAMES, |(known, _)| known, name);
        found.map(|(_, method)| Self(method)).map_err(|error| error.0)
    }
}

impl SettingValue for Solver {
    fn read(given: &[&str]) -> Result<Self, String> {
        Self::find(&String::read(given)?)
    }

    fn show(&self) -> Option<String> {
        Some(self.name().to_owned())
    }
}

impl Serialize for Solver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Solver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::find(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
