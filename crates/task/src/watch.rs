//! Who follows a training: hears how far it is, and may end it.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::trainer::{EpochReport, Follower, Place, Run};

/// What a training tells as it goes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Something that a person may want to know.
    Note(String),
    /// An epoch is done. From here on there is something to keep if the training is interrupted.
    Epoch {
        /// What is trained, where a task trains several things: `labels`.
        stage: Option<&'static str>,
        /// How it went.
        report: EpochReport,
        /// What is measured on dev: `accuracy`, `F1`.
        metric: &'static str,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(text) => f.write_str(text),
            Self::Epoch { stage, report, metric } => {
                if let Some(stage) = stage {
                    write!(f, "{stage}, ")?;
                }
                write!(f, "epoch {:3}  loss {:.4}", report.epoch, report.loss)?;
                if report.errors > 0 {
                    write!(f, "  {} errors", report.errors)?;
                }
                if let Some(score) = report.dev {
                    write!(f, "  dev {metric} {:.2}", 100.0 * score)?;
                }
                write!(f, "  {:.1} s", report.seconds)
            }
        }
    }
}

/// What surrounds a training. It changes nothing of the outcome, unless it ends the training early.
#[derive(Default)]
#[non_exhaustive]
pub struct Watch<'w> {
    /// Raised from outside to end the training; the model is then made from what has been learned.
    pub stop: Option<&'w AtomicBool>,
    /// Written after each epoch; if it is there, training goes on from it.
    pub checkpoint: Option<PathBuf>,
    /// What the checkpoint belongs to, each as `name=value`, beside the data as a trainer sees them.
    pub bound_to: Vec<String>,
    /// Bytes of memory that the training may take.
    pub memory: Option<u64>,
    /// Where the shares of shards are worked on.
    pub place: Place<'w>,
    /// Hears how far epochs have come.
    pub follower: Option<Follower<'w>>,
    listener: Option<&'w mut dyn FnMut(Event)>,
}

impl<'w> Watch<'w> {
    /// Nobody follows.
    pub fn none() -> Self {
        Self::default()
    }

    /// Somebody hears every event.
    pub fn with(listener: &'w mut dyn FnMut(Event)) -> Self {
        Self { listener: Some(listener), ..Self::default() }
    }

    /// Tells of an event.
    pub fn tell(&mut self, event: Event) {
        if let Some(listener) = &mut self.listener {
            listener(event);
        }
    }

    /// Tells something that a person may want to know.
    pub fn note(&mut self, text: impl Into<String>) {
        self.tell(Event::Note(text.into()));
    }

    /// Tells of an epoch.
    pub fn epoch(&mut self, stage: Option<&'static str>, report: &EpochReport, metric: &'static str) {
        self.tell(Event::Epoch { stage, report: *report, metric });
    }

    /// A run that tells of its epochs, ends when somebody asks for it, keeps the checkpoint, uses all of
    /// rayon's threads and has its shares worked on where they are to be.
    pub fn run(&mut self, stage: Option<&'static str>, metric: &'static str) -> Run<'_> {
        Run {
            shuffle: true,
            threads: rayon::current_num_threads(),
            checkpoint: self.checkpoint.clone(),
            bound_to: self.bound_to.clone(),
            interrupt: self.stop,
            place: self.place,
            follower: self.follower,
            stage,
            progress: Some(Box::new(move |report| self.epoch(stage, report, metric))),
            ..Run::default()
        }
    }

    /// Whether somebody asked for an end.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("checkpoint", &self.checkpoint).field("memory", &self.memory).finish()
    }
}
