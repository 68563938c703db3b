//! Where the models of a pipeline come from: embedded in the program, or a folder.

use std::path::PathBuf;

use anyhow::{Result, bail};
use consonant_learn::model::Model;

/// The English models that are part of the program, by task.
#[cfg(feature = "embedded-models")]
mod embedded {
    /// Numbers in a model are used where they lie, so they must lie as they would in a file's pages.
    #[repr(C, align(64))]
    struct Aligned<B: ?Sized>(B);

    macro_rules! embed {
        ($($task:literal),*) => {
            pub const MODELS: &[(&str, &[u8])] = &[$(($task, {
                static MODEL: &Aligned<[u8]> =
                    &Aligned(*include_bytes!(concat!("../../../../models/", $task, ".model")));
                &MODEL.0
            })),*];
        };
    }

    embed!("segmenter", "tagger", "ner", "parser", "summarizer");
}

/// Built without models: a folder must be named.
#[cfg(not(feature = "embedded-models"))]
mod embedded {
    pub const MODELS: &[(&str, &[u8])] = &[];
}

/// A set of models, at most one for each task.
#[derive(Debug, Clone)]
pub enum Models {
    /// Those that are part of the program.
    Embedded,
    /// The files `segmenter.model`, `tagger.model`, `ner.model`, `parser.model` and `summarizer.model` of a folder; each may
    /// be missing.
    Folder(PathBuf),
}

impl Models {
    /// The models of a folder if the user named one (`--models`), the embedded ones otherwise.
    pub fn of(folder: Option<PathBuf>) -> Result<Self> {
        match folder {
            Some(folder) if !folder.is_dir() => {
                bail!(
                    "{} is not a folder; --models wants one with files such as tagger.model",
                    folder.display()
                )
            }
            Some(folder) => Ok(Self::Folder(folder)),
            None if embedded::MODELS.is_empty() => {
                bail!("this program was built without its models; name a folder of models with --models")
            }
            None => Ok(Self::Embedded),
        }
    }

    /// The model for a task, if there is one.
    pub fn open(&self, task: &str) -> Result<Option<Model>> {
        match self {
            Self::Embedded => {
                let model = embedded::MODELS.iter().find(|(name, _)| *name == task);
                Ok(model.map(|(_, bytes)| Model::from_static(bytes)).transpose()?)
            }
            Self::Folder(folder) => {
                let path = folder.join(format!("{task}.model"));
                if path.exists() { Ok(Some(Model::open(&path)?)) } else { Ok(None) }
            }
        }
    }

    /// The model for a task, or an error that says who wants it.
    pub fn expect(&self, task: &str, wanted_by: &str) -> Result<Model> {
        match (self.open(task)?, self) {
            (Some(model), _) => Ok(model),
            (None, Self::Folder(folder)) => {
                bail!("{wanted_by} needs {task}.model, which {} does not have", folder.display())
            }
            (None, Self::Embedded) => {
                bail!("{wanted_by} needs a model for `{task}`, which this program was built without")
            }
        }
    }
}
