//! What can go wrong.

use std::path::PathBuf;

use consonant_learn::LearnError;

/// What a client of the library hears when something cannot be done: what was expected, what came, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of text or data is wrong, or cannot be read.
    #[error(transparent)]
    Text(#[from] consonant_text::Error),
    /// A model is wrong, or cannot be read.
    #[error(transparent)]
    Model(#[from] LearnError),
    /// A task failed.
    #[error(transparent)]
    Task(Box<dyn std::error::Error + Send + Sync>),
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
    /// A folder of models is none.
    #[error("{} is not a folder; expected one with files such as tagger.model", .0.display())]
    NoFolder(PathBuf),
}

impl Error {
    /// Wraps a task's own error.
    pub fn task(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Task(Box::new(error))
    }
}
