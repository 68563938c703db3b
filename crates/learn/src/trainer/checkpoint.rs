use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::LearnError;
use crate::averaging::AveragedWeights;
use crate::model::{Model, ModelWriter, Number};

const TASK: &str = "checkpoint";

/// The state of an unfinished run, in the form of a model file. Resuming from it gives the same bits as never
/// stopping.
pub(super) struct Checkpoint {
    writer: ModelWriter,
    notes: Value,
}

impl Checkpoint {
    /// The state after an epoch of the run that `description` describes.
    pub(super) fn new(description: &str, epoch: usize) -> Self {
        Self {
            writer: ModelWriter::new(TASK, Value::Null),
            notes: json!({"run": description, "epoch": epoch}),
        }
    }

    /// Adds an array.
    pub(super) fn put<T: Number>(&mut self, name: &str, numbers: &[T]) -> &mut Self {
        self.writer.array(name, numbers);
        self
    }

    /// Adds weights with what their average needs.
    pub(super) fn put_weights(&mut self, weights: &AveragedWeights) -> &mut Self {
        let (values, drift, numbers) = weights.state();
        self.put("values", values).put("drift", drift).put("average", &numbers)
    }

    /// Adds a small value.
    pub(super) fn note(&mut self, name: &str, value: &impl Serialize) -> &mut Self {
        self.notes[name] = serde_json::to_value(value).expect("reports always serialize");
        self
    }

    pub(super) fn write(self, path: &Path) -> Result<(), LearnError> {
        self.noted().write(path)
    }

    /// The state as it goes to a worker or comes back from one.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.noted().to_bytes()
    }

    fn noted(mut self) -> ModelWriter {
        self.writer.text("notes", &self.notes.to_string());
        self.writer
    }

    /// Reads the checkpoint of the same run, if there is one. One of another run is an error: it may be hours
    /// of work.
    pub(super) fn load(path: Option<&Path>, description: &str) -> Result<Option<Saved>, LearnError> {
        let Some(path) = path.filter(|path| path.exists()) else { return Ok(None) };
        let saved = Saved::read_from(Model::open(path)?)?;
        match saved.description() {
            found if found == description => Ok(Some(saved)),
            found => Err(LearnError::OtherRun {
                path: path.to_path_buf(),
                found: beyond(found, description),
                expected: beyond(description, found),
            }),
        }
    }

    /// Removes the checkpoint of a finished run.
    pub(super) fn remove(path: Option<&Path>) {
        if let Some(path) = path {
            // A checkpoint that stays by accident is refused or resumed later; it does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The lines of a description that another one does not have.
fn beyond(description: &str, other: &str) -> String {
    let lines = description.lines().filter(|line| !other.lines().any(|theirs| theirs == *line));
    lines.collect::<Vec<_>>().join(", ")
}

/// A checkpoint that was read.
pub(super) struct Saved {
    model: Model,
    notes: Value,
}

impl Saved {
    /// The state of the same run, from bytes that a worker or its employer sent.
    pub(super) fn from_bytes(bytes: &[u8], description: &str) -> Result<Self, LearnError> {
        let saved = Self::read_from(Model::from_bytes(bytes)?)?;
        match saved.description() {
            found if found == description => Ok(saved),
            found => Err(LearnError::OtherShare { found: found.into(), expected: description.into() }),
        }
    }

    fn read_from(model: Model) -> Result<Self, LearnError> {
        model.expect_task(TASK)?;
        let notes =
            serde_json::from_str(&model.text("notes")?).map_err(|error| model.damaged(error.to_string()))?;
        Ok(Self { model, notes })
    }

    fn description(&self) -> &str {
        self.notes["run"].as_str().unwrap_or_default()
    }

    pub(super) fn epoch(&self) -> Result<usize, LearnError> {
        self.read("epoch")
    }

    pub(super) fn weights(&self, size: usize, averaged: bool) -> Result<AveragedWeights, LearnError> {
        let drift = self.array_of("drift", if averaged { size } else { 0 })?;
        Ok(AveragedWeights::restore(self.array_of("values", size)?, drift, self.numbers("average")?))
    }

    pub(super) fn array<T: Number>(&self, name: &str) -> Result<Vec<T>, LearnError> {
        Ok(self.model.array(name)?.to_vec())
    }

    pub(super) fn array_of<T: Number>(&self, name: &str, size: usize) -> Result<Vec<T>, LearnError> {
        let array = self.array(name)?;
        match array.len() == size {
            true => Ok(array),
            false => {
                Err(self.model.damaged(format!("`{name}` has {} numbers instead of {size}", array.len())))
            }
        }
    }

    pub(super) fn numbers<const N: usize>(&self, name: &str) -> Result<[f64; N], LearnError> {
        self.array(name)?
            .try_into()
            .map_err(|_| self.model.damaged(format!("`{name}` should have {N} numbers")))
    }

    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, LearnError> {
        serde_json::from_value(self.notes[name].clone())
            .map_err(|error| self.model.damaged(format!("`{name}`: {error}")))
    }
}
