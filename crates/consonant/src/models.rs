//! Where models come from: embedded in what was built, or a folder.

use std::path::{Path, PathBuf};

use consonant_learn::model::Model;

use crate::Error;

/// The models that became part of the library when it was built.
mod embedded {
    /// Numbers in a model are used where they lie, so they must lie as they would in a file's pages.
    #[allow(dead_code)]
    #[repr(C, align(64))]
    struct Aligned<B: ?Sized>(B);

    #[allow(unused_macros)]
    macro_rules! embed {
        ($path:literal) => {{
            static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
            &MODEL.0
        }};
    }

    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// A set of models, at most one for each task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Models {
    /// Those that are part of the library: English.
    Embedded,
    /// The files `segmenter.model`, `tagger.model`, `ner.model`, `parser.model` and so on of a folder; each
    /// may be missing.
    Folder(PathBuf),
}

impl Models {
    /// The embedded models; an error if the library was built without.
    pub fn embedded() -> Result<Self, Error> {
        if embedded::MODELS.is_empty() { Err(Error::NoModels) } else { Ok(Self::Embedded) }
    }

    /// The models of a folder.
    pub fn folder(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        if folder.is_dir() { Ok(Self::Folder(folder)) } else { Err(Error::NoFolder(folder)) }
    }

    /// The models of a folder if one is named, the embedded ones otherwise.
    pub fn of(folder: Option<&Path>) -> Result<Self, Error> {
        folder.map_or_else(Self::embedded, Self::folder)
    }

    /// The model for a task, if there is one.
    pub fn open(&self, task: &str) -> Result<Option<Model>, Error> {
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

    /// Whether there is a model for a task.
    pub fn has(&self, task: &str) -> bool {
        match self {
            Self::Embedded => embedded::MODELS.iter().any(|(name, _)| *name == task),
            Self::Folder(folder) => folder.join(format!("{task}.model")).exists(),
        }
    }

    /// The model for a task, or an error that says who wants it.
    pub fn expect(&self, task: &'static str, wanted_by: &'static str) -> Result<Model, Error> {
        self.open(task)?.ok_or_else(|| self.missing(task, wanted_by))
    }

    /// The same without opening it.
    pub(crate) fn check(&self, task: &'static str, wanted_by: &'static str) -> Result<(), Error> {
        if self.has(task) { Ok(()) } else { Err(self.missing(task, wanted_by)) }
    }

    fn missing(&self, task: &'static str, wanted_by: &'static str) -> Error {
        let place = match self {
            Self::Embedded => "the library was built without".to_owned(),
            Self::Folder(folder) => format!("{} does not have", folder.display()),
        };
        Error::NoModel { task, wanted_by, place }
    }
}
