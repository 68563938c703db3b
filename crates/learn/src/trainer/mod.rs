//! Trainers: each in one file, with its parameters declared beside it.
//!
//! Online trainers that compare gold and prediction share one driver ([`train`]) and differ in their update
//! rule; SGD, L-BFGS and OWL-QN ask for a differentiable loss ([`train_differentiable`]). All of them give
//! the same bits for any number of threads: whatever runs in parallel is divided by the data, not by the
//! threads, and summed in the order of the data.

mod arow;
mod averaged_perceptron;
mod checkpoint;
mod lbfgs;
mod line_search;
mod mixing;
mod online;
mod parameters;
mod passive_aggressive;
mod pegasos;
mod sgd;
mod shards;
mod sharing;
mod stopping;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use self::checkpoint::{Checkpoint, Saved};
pub use self::parameters::{AlgorithmInfo, Parameter, ParameterInfo, Training, TrainingAlgorithm};
pub use self::sharing::{Courier, Desk, Place, Trip, Worker};
use crate::LearnError;
use crate::hash::Fingerprint;
use crate::problem::{Differentiate, Problem, Separate};

/// The training methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Collins' averaged perceptron.
    AveragedPerceptron,
    /// Passive-aggressive updates; with cost-augmented decoding, MIRA.
    PassiveAggressive,
    /// Adaptive regularization of weights.
    Arow,
    /// Structured support vector machine by stochastic subgradient.
    Pegasos,
    /// Stochastic gradient descent with L2 regularization.
    Sgd,
    /// Limited-memory BFGS; with an L1 term, OWL-QN.
    Lbfgs,
}

impl TrainingAlgorithm for Method {
    const ALL: &'static [Self] = &[
        Self::AveragedPerceptron,
        Self::PassiveAggressive,
        Self::Arow,
        Self::Pegasos,
        Self::Sgd,
        Self::Lbfgs,
    ];

    fn info(self) -> AlgorithmInfo {
        match self {
            Self::AveragedPerceptron => averaged_perceptron::INFO,
            Self::PassiveAggressive => passive_aggressive::INFO,
            Self::Arow => arow::INFO,
            Self::Pegasos => pegasos::INFO,
            Self::Sgd => sgd::INFO,
            Self::Lbfgs => lbfgs::INFO,
        }
    }
}

impl Method {
    /// Whether the method needs a differentiable loss rather than predictions.
    pub fn needs_gradient(self) -> bool {
        matches!(self, Self::Sgd | Self::Lbfgs)
    }

    /// The error for a problem that the method cannot train.
    fn refuse(self, reason: &str) -> LearnError {
        let suits = |method: &&Self| method.needs_gradient() != self.needs_gradient();
        let names: Vec<&str> = Self::ALL.iter().filter(suits).map(|method| method.name()).collect();
        LearnError::UnknownAlgorithm {
            name: self.name().into(),
            known: format!("{} ({reason})", names.join(", ")),
        }
    }
}

/// Scores weights on data that is not trained on.
pub type Scorer<'a> = Box<dyn FnMut(&[f32]) -> Result<f64, LearnError> + 'a>;

/// Hears how an epoch went.
pub type Listener<'a> = Box<dyn FnMut(&EpochReport) + 'a>;

/// How far an epoch has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Visit {
    /// What is trained, where a task trains several things.
    pub stage: Option<&'static str>,
    /// Which epoch, from 1.
    pub epoch: usize,
    /// Examples that were visited in it.
    pub visited: usize,
    /// All examples.
    pub examples: usize,
}

/// Hears now and then how far an epoch has come, from any thread.
pub type Follower<'a> = &'a (dyn Fn(Visit) + Sync);

/// How long to train, on what to stop, and who is told.
pub struct Run<'a> {
    /// The largest number of passes over the data (iterations, for L-BFGS).
    pub epochs: usize,
    /// Stop when the score on dev has not risen for this many epochs; `None`: train all epochs.
    pub patience: Option<usize>,
    /// Visit the examples in a new random order in each epoch.
    pub shuffle: bool,
    /// The seed of the random order.
    pub seed: u64,
    /// Examples that are decoded with the same weights, in parallel, before any of them changes the weights.
    /// Part of the algorithm, not of the machine: 1 is the classic online form.
    pub batch: usize,
    /// Parts of the data that are trained on side by side and mixed after each epoch, for online methods. Part
    /// of the algorithm: 1 visits the examples one after the other. L-BFGS sums the gradients of this many
    /// parts or of a few more, which changes nothing but the last bits.
    pub shards: usize,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// Where the shares of shards are worked on; it changes nothing of the outcome.
    pub place: Place<'a>,
    /// Weights to start from instead of zeros.
    pub initial: Option<Vec<f32>>,
    /// Scores the weights that would be returned now; higher is better. The weights with the best score are
    /// kept.
    pub dev: Option<Scorer<'a>>,
    /// Hears of each epoch.
    pub progress: Option<Listener<'a>>,
    /// Hears how far epochs have come, for online methods whose work is done here.
    pub follower: Option<Follower<'a>>,
    /// What is trained, for the follower.
    pub stage: Option<&'static str>,
    /// A file that is rewritten after each epoch and removed at the end. If it is there at the start,
    /// training goes on from it.
    pub checkpoint: Option<PathBuf>,
    /// What else its checkpoint belongs to, each as `name=value`: settings of a task, data for dev.
    pub bound_to: Vec<String>,
    /// Set from outside to stop at the next example; the checkpoint stays.
    pub interrupt: Option<&'a AtomicBool>,
}

/// All but the weights to start from and who is told.
impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("epochs", &self.epochs)
            .field("patience", &self.patience)
            .field("shuffle", &self.shuffle)
            .field("seed", &self.seed)
            .field("batch", &self.batch)
            .field("shards", &self.shards)
            .field("threads", &self.threads)
            .field("checkpoint", &self.checkpoint)
            .finish_non_exhaustive()
    }
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            epochs: 10,
            patience: None,
            shuffle: false,
            seed: 1,
            batch: 1,
            shards: 1,
            threads: 1,
            place: Place::Here,
            initial: None,
            dev: None,
            progress: None,
            follower: None,
            stage: None,
            checkpoint: None,
            bound_to: Vec::new(),
            interrupt: None,
        }
    }
}

impl Run<'_> {
    /// What a share must have in common with this run to be one of it: the algorithm, the data in their order, and the
    /// program, whose next version may compute something else. Words, each with its name.
    fn description(&self, training: &Training<Method>, problem: &impl Problem) -> Result<String, LearnError> {
        let Self { batch, shuffle, seed, .. } = self;
        let weights = problem.parameters();
        let mut text = training.to_string();
        if training.algorithm() != Method::Lbfgs {
            text += &format!(" batch={batch} shuffle={shuffle} seed={seed}");
            if self.shards() > 1 {
                text += &format!(" shards={}", self.shards);
            }
        }
        text += &format!(" weights={weights} version={}", env!("CARGO_PKG_VERSION"));
        if self.checkpoint.is_some() || !matches!(self.place, Place::Here) {
            text += &format!(" data={:016x}", problem.fingerprint()?);
        }
        Ok(text)
    }

    /// What a checkpoint must have in common with this run, beside what shares must, for the run to go on from it:
    /// where it began, and what it is bound to.
    fn whole_description(&self, description: &str) -> String {
        let mut lines = vec![description.replace(' ', "\n")];
        lines.extend(self.initial.as_ref().map(|initial| {
            let mut start = Fingerprint::default();
            start.numbers(initial.iter().map(|weight| weight.to_bits()));
            format!("start={:016x}", start.get())
        }));
        lines.extend(self.bound_to.iter().cloned());
        lines.join("\n")
    }

    fn shards(&self) -> usize {
        self.shards.max(1)
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed))
    }

    /// A part of this run, for this many epochs from some weights, that has neither dev data nor a
    /// checkpoint.
    pub fn part(&mut self, epochs: usize, initial: Option<Vec<f32>>) -> Run<'_> {
        let &mut Self { shuffle, seed, batch, shards, threads, place, interrupt, follower, stage, .. } = self;
        let (bound_to, progress) = (self.bound_to.clone(), self.progress.as_mut());
        let progress =
            progress.map(|hear| Box::new(move |report: &EpochReport| hear(report)) as Listener<'_>);
        Run {
            epochs,
            initial,
            shuffle,
            seed,
            batch,
            shards,
            threads,
            place,
            interrupt,
            progress,
            follower,
            stage,
            bound_to,
            ..Run::default()
        }
    }

    /// Its threads.
    pub fn pool(&self) -> Result<rayon::ThreadPool, LearnError> {
        let threads = self.threads.max(1);
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| LearnError::Threads { threads, problem: error.to_string() })
    }

    fn start(&mut self, parameters: usize) -> Result<Vec<f32>, LearnError> {
        let Some(initial) = self.initial.take() else { return Ok(vec![0.0; parameters]) };
        if initial.len() != parameters {
            return Err(LearnError::OtherProblem {
                what: "the initial model".into(),
                found: initial.len(),
                expected: parameters,
            });
        }
        Ok(initial)
    }
}

/// What happened in one epoch.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EpochReport {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The objective, or the summed loss of the examples as they were visited.
    pub loss: f64,
    /// Examples with a wrong prediction; zero for methods that do not predict.
    pub errors: usize,
    /// The score on dev.
    pub dev: Option<f64>,
    /// Seconds since training began, dev included.
    pub seconds: f64,
}

/// Why training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All epochs were done.
    Epochs,
    /// The score on dev did not rise any more.
    Patience,
    /// Nothing left to learn: no errors, or a vanishing gradient.
    Converged,
    /// The interrupt flag was set.
    Interrupted,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Epochs => "all epochs done",
            Self::Patience => "no better on dev",
            Self::Converged => "nothing left to learn",
            Self::Interrupted => "interrupted",
        })
    }
}

/// The outcome of training.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The weights: the best on dev if there was one, otherwise the last.
    pub weights: Vec<f32>,
    /// The epoch the weights are from.
    pub epoch: usize,
    /// The best score on dev.
    pub best: Option<f64>,
    /// All epochs.
    pub history: Vec<EpochReport>,
    /// Why training ended.
    pub stop: Stop,
}

impl Outcome {
    /// What workers need of it, once it is known to those that they work for.
    fn tell(&self, place: Place<'_>) {
        if let Place::Elsewhere(courier) = place {
            let mut saved = Checkpoint::new("", self.epoch);
            saved.put("weights", &self.weights);
            courier.finish(saved.into_bytes());
        }
    }

    fn from_bytes(bytes: &[u8], weights: usize) -> Result<Self, LearnError> {
        let saved = Saved::from_bytes(bytes, "")?;
        let (weights, epoch) = (saved.array_of("weights", weights)?, saved.epoch()?);
        Ok(Self { weights, epoch, best: None, history: Vec::new(), stop: Stop::Epochs })
    }
}

/// Trains by an online method that compares gold and prediction.
pub fn train<P: Separate>(
    problem: &P,
    training: &Training<Method>,
    run: Run<'_>,
) -> Result<Outcome, LearnError> {
    let place = run.place;
    let outcome = match training.algorithm() {
        Method::AveragedPerceptron => {
            online::train(problem, P::separate, averaged_perceptron::Perceptron::new(training), training, run)
        }
        Method::PassiveAggressive => {
            let rule = passive_aggressive::PassiveAggressive::new(training);
            online::train(problem, P::separate, rule, training, run)
        }
        Method::Arow => {
            let rule = arow::Arow::new(training, problem.parameters());
            online::train(problem, P::separate, rule, training, run)
        }
        Method::Pegasos => {
            let rule = pegasos::Pegasos::new(training, problem.examples());
            online::train(problem, P::separate, rule, training, run)
        }
        method => Err(method.refuse("the problem can only be decoded")),
    }?;
    outcome.tell(place);
    Ok(outcome)
}

/// Trains by a method that follows the gradient of the loss.
pub fn train_differentiable<P: Differentiate>(
    problem: &P,
    training: &Training<Method>,
    run: Run<'_>,
) -> Result<Outcome, LearnError> {
    let place = run.place;
    let outcome = match training.algorithm() {
        Method::Sgd => sgd::train(problem, training, run),
        Method::Lbfgs => lbfgs::train(problem, training, run),
        method => Err(method.refuse("the loss is differentiable")),
    }?;
    outcome.tell(place);
    Ok(outcome)
}
