//! Word clusters, as bit strings (Brown) or names.

use std::io::{BufRead, Read as _};

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use rustc_hash::FxHashMap;

use super::super::FeatureError;

const FORMAT: &str = "what `train clusters` writes, `bits<TAB>word[<TAB>count]` as Brown clustering does, or `word<TAB>cluster`";

/// Which cluster a word is in.
#[derive(Debug, Clone, Default)]
pub struct Clusters {
    /// Lines `cluster<TAB>word`, sorted.
    lines: String,
    /// Where the line of a word begins, by the word's key: opening a model makes no string for each word.
    places: FxHashMap<u64, u32>,
}

impl Clusters {
    fn new(lines: String) -> Self {
        let mut places = FxHashMap::default();
        places.reserve(lines.len() / 20);
        let mut start = 0;
        for line in lines.split_inclusive('\n') {
            if let Some((_, word)) = line.trim_end_matches('\n').split_once('\t') {
                places.insert(hash::key(word.as_bytes()), start);
            }
            start += line.len() as u32;
        }
        Self { lines, places }
    }

    /// Reads a file of clusters; `name` stands in messages.
    pub fn read(name: &str, mut input: impl BufRead) -> Result<Self, FeatureError> {
        let failed = |source| FeatureError::Read { resource: name.to_owned(), source };
        let empty = || FeatureError::EmptyResource { resource: name.to_owned(), expected: FORMAT };
        let mut bytes = Vec::new();
        input.by_ref().take(64).read_to_end(&mut bytes).map_err(failed)?;
        if Model::has_signature(&bytes) {
            input.read_to_end(&mut bytes).map_err(failed)?;
            return Self::open(&Model::from_bytes(&bytes)?)?.ok_or_else(empty);
        }
        let mut clusters: FxHashMap<Box<str>, Box<str>> = FxHashMap::default();
        for (number, line) in bytes.as_slice().chain(input).lines().enumerate() {
            let line = line.map_err(failed)?;
            if line.trim().is_empty() {
                continue;
            }
            let mut fields = line.split('\t');
            let (Some(first), Some(second)) = (fields.next(), fields.next()) else {
                return Err(FeatureError::Resource {
                    resource: name.to_owned(),
                    line: number + 1,
                    what: "only one column".to_owned(),
                    expected: FORMAT,
                });
            };
            let brown = !first.is_empty() && first.bytes().all(|byte| byte == b'0' || byte == b'1');
            let (word, cluster) = if brown { (second, first) } else { (first, second) };
            clusters.insert(word.into(), cluster.into());
        }
        if clusters.is_empty() { Err(empty()) } else { Ok(clusters.into_iter().collect()) }
    }

    /// Every word with its cluster, sorted by cluster.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.lines().filter_map(|line| line.split_once('\t')).map(|(cluster, word)| (word, cluster))
    }

    /// The cluster of a word.
    pub fn get(&self, word: &str) -> Option<&str> {
        let &start = self.places.get(&hash::key(word.as_bytes()))?;
        let (cluster, found) = self.lines[start as usize..].lines().next()?.split_once('\t')?;
        (found == word).then_some(cluster)
    }

    /// Adds the clusters to a model.
    pub fn store(&self, writer: &mut ModelWriter) {
        writer.text("clusters", &self.lines);
    }

    /// The clusters of a model, if it has any.
    pub fn open(model: &Model) -> Result<Option<Self>, FeatureError> {
        Ok(if model.has("clusters") { Some(Self::new(model.text("clusters")?)) } else { None })
    }
}

impl FromIterator<(Box<str>, Box<str>)> for Clusters {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Box<str>)>>(pairs: I) -> Self {
        let lines = pairs.into_iter().map(|(word, cluster)| format!("{cluster}\t{word}\n"));
        let mut lines: Vec<String> = lines.collect();
        lines.sort_unstable();
        Self::new(lines.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read() {
        let clusters = Clusters::read("c", "0110\tdog\t12\nrun\tverbs\n".as_bytes()).unwrap();
        assert_eq!(clusters.get("dog"), Some("0110"));
        assert_eq!(clusters.get("run"), Some("verbs"));
        assert_eq!(clusters.get("cat"), None);
        let mut writer = ModelWriter::new("clusters", serde_json::Value::Null);
        clusters.store(&mut writer);
        let (bytes, rest) = (writer.to_bytes(), &[][..]);
        // Readers may give a few bytes at a time.
        let again = Clusters::read("c", bytes[..3].chain(&bytes[3..]).chain(rest)).unwrap();
        assert_eq!(again.get("dog"), Some("0110"));
    }

    #[test]
    fn a_line_without_tab_is_named() {
        let error = Clusters::read("c.txt", "0\ta\nnothing\n".as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("c.txt, line 2: only one column"), "{error}");
        assert!(Clusters::read("c.txt", "".as_bytes()).unwrap_err().to_string().contains("is empty"));
    }
}
