//! What can go wrong.

use std::path::PathBuf;

use consonant_learn::LearnError;
use consonant_task::{ItemError, Usage};

/// What a client of the library is told when something cannot be done: what was expected, what came, and what
/// to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for makes no sense, whatever the data are.
    #[error(transparent)]
    Usage(#[from] Usage),
    /// A file of text or data is wrong, or cannot be read.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// Items cannot be read.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// A model is wrong, or cannot be read.
    #[error(transparent)]
    Model(#[from] LearnError),
    /// A task failed.
    #[error(transparent)]
    Task(Box<dyn std::error::Error + Send + Sync>),
    /// A training failed.
    #[error("{files}: {source}")]
    Training {
        /// What it learned from.
        files: String,
        /// What is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Gold data and predictions cannot be compared.
    #[error("{0}")]
    Score(String),
    /// Output cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// A model is missing.
    #[error("{wanted_by} needs {task}.model, which {place}")]
    NoModel {
        /// The task that the model is for.
        task: &'static str,
        /// Who wants it.
        wanted_by: &'static str,
        /// Where it is not.
        place: String,
    },
    /// There are no embedded models.
    #[error("this was built without models; name a folder of models (--models DIR, `Models::folder`)")]
    NoModels,
    /// What should be a folder of models is not one.
    #[error("{} is not a folder; expected one with files such as tagger.model", .0.display())]
    NoFolder(PathBuf),
    /// A folder has no model for any layer.
    #[error("{} has none of segmenter.model, tagger.model, lemmatizer.model, ner.model and parser.model; name a folder with models of your own, such as \
             `train pipeline` makes", .0.display())]
    EmptyFolder(PathBuf),
    /// A model of a task that is not in the registry.
    #[error("{name} is a model for `{task}`; known are {known}")]
    UnknownTask {
        /// The model.
        name: String,
        /// Its task.
        task: String,
        /// The tasks of the registry.
        known: String,
    },
}

impl Error {
    /// Wraps a task's own error; wrong usage stays wrong usage.
    pub fn task(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::boxed(Box::new(error))
    }

    /// The same for an error whose type was erased.
    pub fn boxed(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
        while let Some(error) = cause {
            if let Some(usage) = error.downcast_ref::<Usage>() {
                return Self::Usage(usage.clone());
            }
            cause = error.source();
        }
        Self::Task(error)
    }
}
