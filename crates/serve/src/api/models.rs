//! `GET /v1/models`, and their reload.

use consonant::registry::Registry;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::loaded::Loaded;

/// The models that are open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelsAnswer {
    /// The folder that they are from; none for those that are part of the program.
    folder: Option<String>,
    /// The models.
    models: Vec<ModelAnswer>,
}

/// A model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelAnswer {
    /// What it is for.
    task: &'static str,
    /// What such models do.
    about: Option<&'static str>,
    /// How it was trained, as it says itself.
    metadata: Value,
}

/// Tells of the models.
pub fn list(models: &Loaded) -> ModelsAnswer {
    let registry = Registry::default();
    let answer = |(task, metadata): &(&'static str, Value)| ModelAnswer {
        task,
        about: registry.get(task).map(|task| task.about().split("\n\n").next().unwrap_or_default()),
        metadata: metadata.clone(),
    };
    ModelsAnswer {
        folder: models.place().map(|folder| folder.display().to_string()),
        models: models.described().iter().map(answer).collect(),
    }
}
