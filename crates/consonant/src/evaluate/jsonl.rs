//! Reading JSON, one object a line, into types of a scorer's own.

use std::path::Path;

use consonant_text::jsonl::{Fault, JsonlReader, Record, Source};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::Error;

/// All objects of a file (`-` is standard input); keys that `T` does not have are passed over.
pub fn read<T: DeserializeOwned + Serialize + PartialEq>(path: &Path) -> Result<Vec<T>, Error> {
    let mut objects = Vec::new();
    for line in JsonlReader::<_, Line<T>>::open(path)? {
        objects.push(line?.object);
    }
    Ok(objects)
}

/// An object and the line it came from.
#[derive(PartialEq)]
struct Line<T> {
    object: T,
    source: Source,
}

impl<T: Serialize> Serialize for Line<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl<T: DeserializeOwned + Serialize + PartialEq> Record for Line<T> {
    fn parse(json: &str) -> serde_json::Result<Self> {
        Ok(Line { object: serde_json::from_str(json)?, source: Source::default() })
    }

    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }
}
