use std::path::PathBuf;

/// What can go wrong while training or while reading and writing models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are not a model file, or a damaged one.
    #[error("{name}: {problem}")]
    Damaged {
        /// The file, or "the embedded model".
        name: String,
        /// What was expected and what came.
        problem: String,
    },
    /// The model was made for another task.
    #[error(
        "{name} is a model for the task `{found}`, but `{expected}` is needed; give a model trained by `consonant train {expected}`"
    )]
    OtherTask {
        /// The file, or "the embedded model".
        name: String,
        /// The task the model was made for.
        found: String,
        /// The task that was asked for.
        expected: String,
    },
    /// A section that the task needs is not in the file.
    #[error(
        "{name} has no section `{section}`; it was written by another version or for another use, train it again"
    )]
    MissingSection {
        /// The file, or "the embedded model".
        name: String,
        /// The section.
        section: String,
    },
    /// No such training method.
    #[error("unknown algorithm `{name}`; known are: {known}")]
    UnknownAlgorithm {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such parameter of a training method.
    #[error("the algorithm `{algorithm}` has no parameter `{name}`; it has: {known}")]
    UnknownParameter {
        /// The algorithm.
        algorithm: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A parameter outside its range.
    #[error("the parameter `{name}` of `{algorithm}` is {value}; expected {expected}")]
    BadParameter {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        name: String,
        /// The value given.
        value: f64,
        /// Its range in words.
        expected: String,
    },
    /// Nothing to learn from.
    #[error("the training set has no examples; give at least one labelled example")]
    NoExamples,
    /// Weights became infinite or not a number.
    #[error(
        "training diverged in epoch {epoch}: the objective is {value}; use a smaller learning rate or stronger regularization, and look for extreme feature values"
    )]
    Diverged {
        /// The epoch or iteration.
        epoch: usize,
        /// The value of the objective.
        value: f64,
    },
    /// Initial weights or a checkpoint that belong to another problem.
    #[error(
        "{what} has {found} weights, but this training problem has {expected}; it belongs to other data or other settings"
    )]
    OtherProblem {
        /// The initial weights or the checkpoint.
        what: String,
        /// Weights found.
        found: usize,
        /// Weights needed.
        expected: usize,
    },
    /// A checkpoint of other settings, other data, the same in another order, or another version.
    #[error(
        "the checkpoint {path} is of another run: it has `{found}`, this run has `{expected}`; delete it to start anew, or give what it was made with to resume"
    )]
    OtherRun {
        /// The checkpoint.
        path: PathBuf,
        /// What the run that made it has and this one has not.
        found: String,
        /// What this run has instead.
        expected: String,
    },
    /// A share of a training that was made by other settings or of other data.
    #[error(
        "a share of the training was made by `{found}`, this training is `{expected}`; every worker needs the same data, settings and version"
    )]
    OtherShare {
        /// The run that made it.
        found: String,
        /// This run.
        expected: String,
    },
    /// A worker could not work on its share of a training.
    #[error("a worker of the training failed: {problem}")]
    Worker {
        /// What it said.
        problem: String,
    },
    /// A task could not decode an example in training.
    #[error(transparent)]
    Task(Box<dyn std::error::Error + Send + Sync>),
    /// The system refused to start threads.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// What the system said.
        problem: String,
    },
}

impl LearnError {
    /// The error of a task that could not decode an example in training.
    pub fn task(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Task(Box::new(error))
    }

    /// The error of a worker that could not work on its share.
    pub fn worker(problem: impl ToString) -> Self {
        Self::Worker { problem: problem.to_string() }
    }
}
