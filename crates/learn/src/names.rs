//! Optional names of features, for people who inspect a model; prediction never reads them.
//!
//! Features are written into a [`FeatureSink`]: a list of keys where they are scored, [`NamedFeature`]s where
//! they are explained. Training chooses the [`strongest`] weights, walks over its data again with
//! [`WantedNames`], which takes the first name that comes for each, and stores them; an open model has them
//! as [`FeatureNames`].

use rustc_hash::FxHashMap;

use crate::LearnError;
use crate::model::{Model, ModelWriter, Section};

/// Where features go.
pub trait FeatureSink {
    /// Takes a feature. A sink that wants no name never makes it: where keys alone count, names cost nothing.
    fn put(&mut self, key: u64, value: f32, name: &dyn Fn() -> String);
}

/// Keys alone, for features whose values are all 1.
impl FeatureSink for Vec<u64> {
    #[inline]
    fn put(&mut self, key: u64, _: f32, _: &dyn Fn() -> String) {
        self.push(key);
    }
}

/// Keys and values, as they come.
impl<F: FnMut(u64, f32)> FeatureSink for F {
    #[inline]
    fn put(&mut self, key: u64, value: f32, _: &dyn Fn() -> String) {
        self(key, value);
    }
}

/// A feature in words, for explanations.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedFeature {
    /// Its key.
    pub key: u64,
    /// Its value.
    pub value: f32,
    /// What it says, in the words of its task.
    pub name: String,
}

impl FeatureSink for Vec<NamedFeature> {
    fn put(&mut self, key: u64, value: f32, name: &dyn Fn() -> String) {
        self.push(NamedFeature { key, value, name: name() });
    }
}

/// A sink for names: of those that are wanted, the first that comes is kept.
#[derive(Debug, Clone)]
pub struct WantedNames {
    /// In the order in which they are stored.
    keys: Vec<u64>,
    names: FxHashMap<u64, Option<String>>,
    missing: usize,
}

impl WantedNames {
    /// Wants names for some keys, all different; they are stored in this order.
    pub fn new(keys: Vec<u64>) -> Self {
        let names: FxHashMap<u64, Option<String>> = keys.iter().map(|&key| (key, None)).collect();
        Self { missing: names.len(), keys, names }
    }

    /// Whether all names were found.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Whether the name of a key is still looked for.
    pub fn wants(&self, key: u64) -> bool {
        self.names.get(&key).is_some_and(Option::is_none)
    }

    /// The names that were found.
    pub fn found(&self) -> impl Iterator<Item = (u64, &str)> {
        self.keys.iter().filter_map(|key| Some((*key, self.names.get(key)?.as_deref()?)))
    }

    /// Stores the names that were found.
    pub fn store(&self, writer: &mut ModelWriter, prefix: &str) {
        FeatureNames::store(writer, prefix, self.found());
    }
}

impl FeatureSink for WantedNames {
    fn put(&mut self, key: u64, _: f32, name: &dyn Fn() -> String) {
        if let Some(known @ None) = self.names.get_mut(&key) {
            *known = Some(name());
            self.missing -= 1;
        }
    }
}

/// Keeps the weights of greatest size, strongest first; of equal ones, those whose features come first.
pub fn strongest<F: Ord>(weights: &mut Vec<(f32, F)>, count: usize) {
    let stronger = |a: &(f32, F), b: &(f32, F)| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.1.cmp(&b.1));
    if weights.len() > count && count > 0 {
        weights.select_nth_unstable_by(count - 1, stronger);
    }
    weights.truncate(count);
    weights.sort_unstable_by(stronger);
}

/// The numbers of a hash kernel's strongest weights, strongest first, without weights of 0.
pub fn strongest_numbers(weights: &[f32], count: usize) -> Vec<u64> {
    let numbered = weights.iter().copied().zip(0u64..);
    let mut found: Vec<(f32, u64)> = numbered.filter(|&(weight, _)| weight != 0.0).collect();
    strongest(&mut found, count);
    found.into_iter().map(|(_, number)| number).collect()
}

/// The names of a model's features beside their keys.
#[derive(Debug, Clone)]
pub struct FeatureNames {
    /// Without them, lines of text begin with the key and a tab.
    keys: Option<Section<u64>>,
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
            name.split('\n').for_each(|line| {
                text.push_str(line);
                text.push(' ');
            });
            text.pop();
            text.push('\n');
        }
        writer.array(format!("{prefix}.name-keys"), &keys).text(format!("{prefix}.name-text"), &text);
    }

    /// Reads the names if the model kept them. Older parsers kept theirs in one section of text.
    pub fn open(model: &Model, prefix: &str) -> Result<Option<Self>, LearnError> {
        let (keys, text) = (format!("{prefix}.name-keys"), format!("{prefix}.name-text"));
        let names = if model.has(&keys) {
            Self { keys: Some(model.array(&keys)?), text: model.array(&text)? }
        } else if model.has(OLDER) {
            Self { keys: None, text: model.array(OLDER)? }
        } else {
            return Ok(None);
        };
        let fits = |text: &str| names.keys.as_ref().is_none_or(|keys| text.lines().count() == keys.len());
        match std::str::from_utf8(&names.text) {
            Ok(text) if fits(text) => Ok(Some(names)),
            _ => Err(model.damaged("the names of features do not fit their keys")),
        }
    }

    /// Keys and names in the order they were stored.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        text.lines().enumerate().filter_map(|(at, line)| match &self.keys {
            Some(keys) => Some((*keys.get(at)?, line)),
            None => line.split_once('\t').and_then(|(key, name)| Some((key.parse().ok()?, name))),
        })
    }

    /// The features whose weights are strongest, with these weights; of equal ones, by name.
    pub fn strongest<W>(
        &self,
        count: usize,
        weigh: impl Fn(u64) -> W,
        strength: impl Fn(&W) -> f32,
    ) -> Vec<(W, &str)> {
        let mut all: Vec<(W, &str)> = self.iter().map(|(key, name)| (weigh(key), name)).collect();
        all.sort_by(|a, b| strength(&b.0).total_cmp(&strength(&a.0)).then_with(|| a.1.cmp(b.1)));
        all.truncate(count);
        all
    }
}

/// The section that older parsers kept names in.
const OLDER: &str = "names";

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

    #[test]
    fn names_of_older_files_stand_behind_their_keys() {
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        writer.text(OLDER, "12\tarc right\n3\ta\tb\n");
        let model = Model::from_bytes(&writer.to_bytes()).unwrap();
        let names = FeatureNames::open(&model, "t").unwrap().unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), [(12, "arc right"), (3, "a\tb")]);
    }

    #[test]
    fn the_first_name_of_what_is_wanted_is_kept() {
        let mut wanted = WantedNames::new(vec![9, 7, 8]);
        for (key, name) in [(7, "seven"), (1, "one"), (7, "again"), (9, "nine")] {
            wanted.put(key, 1.0, &|| name.to_owned());
        }
        assert!(wanted.wants(8) && !wanted.wants(7) && !wanted.wants(1) && !wanted.is_complete());
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        wanted.store(&mut writer, "t");
        let model = Model::from_bytes(&writer.to_bytes()).unwrap();
        let names = FeatureNames::open(&model, "t").unwrap().unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), [(9, "nine"), (7, "seven")]);
        let size = |key: u64| if key == 7 { -2.0f32 } else { 1.0 };
        assert_eq!(names.strongest(1, size, |weight| weight.abs()), [(-2.0, "seven")]);
    }

    #[test]
    fn sinks_take_what_they_want() {
        let unnamed = || -> String { unreachable!("nobody wants this name") };
        let mut keys: Vec<u64> = Vec::new();
        keys.put(3, 0.5, &unnamed);
        let mut sum = 0.0;
        let mut weigh = |key: u64, value: f32| sum += key as f32 * value;
        weigh.put(3, 0.5, &unnamed);
        let mut named: Vec<NamedFeature> = Vec::new();
        named.put(3, 0.5, &|| "three".to_owned());
        assert_eq!((keys, sum), (vec![3], 1.5));
        assert_eq!(named, [NamedFeature { key: 3, value: 0.5, name: "three".to_owned() }]);
    }

    #[test]
    fn the_strongest_come_by_size_and_then_in_order() {
        let mut weights = vec![(1.0, 4), (-3.0, 2), (1.0, 1), (0.5, 0), (3.0, 1)];
        strongest(&mut weights, 3);
        assert_eq!(weights, [(3.0, 1), (-3.0, 2), (1.0, 1)]);
        strongest(&mut weights, 0);
        assert!(weights.is_empty());
        assert_eq!(strongest_numbers(&[0.0, 1.0, -2.0, 0.0, 1.0], 4), [2, 1, 4]);
    }
}
