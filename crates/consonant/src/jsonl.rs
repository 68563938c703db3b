//! Reading JSON, one object a line.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use consonant_text::Error;
use consonant_text::input::Input;
use serde::de::DeserializeOwned;

/// All objects of a file (`-` is standard input); blank lines are passed over.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let input = Input::open(path)?;
    let name = Arc::clone(input.name());
    let mut objects = Vec::new();
    for (index, line) in BufReader::new(input).lines().enumerate() {
        let line = line.map_err(|source| Error::io(&name, source))?;
        if line.trim().is_empty() {
            continue;
        }
        let object = serde_json::from_str(&line);
        // serde_json counts lines within the line; only its column means something here.
        objects.push(object.map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            anyhow!(
                "{name}:{}:{}: {message}; expected one JSON object a line",
                index + 1,
                error.column().max(1)
            )
        })?);
    }
    Ok(objects)
}
