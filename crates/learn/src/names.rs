//! Optional names of features, for people who inspect a model; prediction never reads them.

use crate::LearnError;
use crate::model::{Model, ModelWriter, Section};

/// The names of a model's features beside their keys.
#[derive(Debug, Clone)]
pub struct FeatureNames {
    keys: Section<u64>,
    text: Section<u8>,
}

impl FeatureNames {
    /// Stores names; line breaks in a name become spaces.
    pub fn store<'a>(
        writer: &mut ModelWriter,
        prefix: &str,
        names: impl IntoIterator<Item = (u64, &'a str)>,
    ) {
        let mut keys = Vec::new();
        let mut text = String::new();
        for (key, name) in names {
            keys.push(key);
            text.extend(name.chars().map(|c| if c == '\n' { ' ' } else { c }));
            text.push('\n');
        }
        writer.array(format!("{prefix}.name-keys"), &keys).text(format!("{prefix}.name-text"), &text);
    }

    /// Reads the names if the model kept them.
    pub fn open(model: &Model, prefix: &str) -> Result<Option<Self>, LearnError> {
        let (keys, text) = (format!("{prefix}.name-keys"), format!("{prefix}.name-text"));
        if !model.has(&keys) {
            return Ok(None);
        }
        let names = Self { keys: model.array(&keys)?, text: model.array(&text)? };
        match std::str::from_utf8(&names.text) {
            Ok(text) if text.lines().count() == names.keys.len() => Ok(Some(names)),
            _ => Err(model.damaged("the names of features do not fit their keys")),
        }
    }

    /// Keys and names in the order they were stored.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        self.keys.iter().copied().zip(text.lines())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_with_their_keys_or_not_at_all() {
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        let plain = Model::from_bytes(&writer.to_bytes()).unwrap();
        assert!(FeatureNames::open(&plain, "t").unwrap().is_none());
        FeatureNames::store(&mut writer, "t", [(7, "word=ä"), (9, "a\nb")]);
        let model = Model::from_bytes(&writer.to_bytes()).unwrap();
        let names = FeatureNames::open(&model, "t").unwrap().unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), [(7, "word=ä"), (9, "a b")]);
    }
}
