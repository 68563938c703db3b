//! What the user knows beside the training data: clusters, gazetteers, vectors. All of it travels inside the model.

mod clusters;
mod gazetteer;
mod vectors;

use consonant_learn::model::{Model, ModelWriter};

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
