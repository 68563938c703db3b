//! What the user knows beside the training data: clusters, gazetteers, vectors. All of it travels inside the
//! model.

mod clusters;
mod gazetteer;
mod vectors;

use std::io::BufRead;
use std::path::Path;

use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::settings::{InputFile, Named};

pub use clusters::Clusters;
pub use gazetteer::{Gazetteer, Place};
pub use vectors::Vectors;

use super::FeatureError;

/// The resources that templates refer to.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// Word clusters, for `%c`.
    pub clusters: Option<Clusters>,
    /// Lists of phrases, for `%g`.
    pub gazetteers: Vec<Gazetteer>,
    /// Word vectors, for `%v`.
    pub vectors: Option<Vectors>,
}

impl Resources {
    /// Reads the files that settings name; `open` opens one. Phrases are found in any case.
    pub fn read<R: BufRead, E: From<FeatureError>>(
        clusters: Option<&InputFile>,
        gazetteers: &[Named<InputFile>],
        vectors: Option<&InputFile>,
        open: impl Fn(&Path) -> Result<R, E>,
    ) -> Result<Self, E> {
        let name = |file: &InputFile| file.path().display().to_string();
        let read_clusters = |file: &InputFile| Ok::<_, E>(Clusters::read(&name(file), open(file.path())?)?);
        let read_vectors = |file: &InputFile| Ok::<_, E>(Vectors::read(&name(file), open(file.path())?)?);
        let read_list =
            |Named(name, file): &Named<InputFile>| Ok(Gazetteer::read_any_case(name, open(file.path())?)?);
        Ok(Self {
            clusters: clusters.map(read_clusters).transpose()?,
            gazetteers: gazetteers.iter().map(read_list).collect::<Result<_, E>>()?,
            vectors: vectors.map(read_vectors).transpose()?,
        })
    }

    /// Adds them to a model.
    pub fn store(&self, writer: &mut ModelWriter) {
        if let Some(clusters) = &self.clusters {
            clusters.store(writer);
        }
        if let Some(vectors) = &self.vectors {
            vectors.store(writer);
        }
        let names: Vec<&str> = self.gazetteers.iter().map(Gazetteer::name).collect();
        if !names.is_empty() {
            writer.text("gazetteer.names", &names.join("\n"));
        }
        for (number, gazetteer) in self.gazetteers.iter().enumerate() {
            gazetteer.store(writer, number);
        }
    }

    /// Takes them out of a model.
    pub fn open(model: &Model) -> Result<Self, FeatureError> {
        let mut gazetteers = Vec::new();
        if model.has("gazetteer.names") {
            for (number, name) in model.text("gazetteer.names")?.lines().enumerate() {
                gazetteers.push(Gazetteer::open(model, number, name)?);
            }
        }
        Ok(Self { clusters: Clusters::open(model)?, gazetteers, vectors: Vectors::open(model)? })
    }
}
