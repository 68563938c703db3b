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
    /// Lines `cluster<TAB>word<TAB>word…`, sorted. Older models have a line for each word.
    lines: String,
    /// Where the line and the word begin, by the word's key: opening a model makes no string for each word.
    places: FxHashMap<u64, (u32, u32)>,
}

impl Clusters {
    fn new(lines: String) -> Self {
        let mut places = FxHashMap::default();
        places.reserve(lines.len() / 8);
        let (mut line, mut field) = (0, 0);
        for (end, byte) in lines.bytes().enumerate().filter(|&(_, byte)| byte == b'\t' || byte == b'\n') {
            // The first field of a line is the cluster's name.
            if field > line {
                places.insert(hash::key(&lines.as_bytes()[field..end]), (line as u32, field as u32));
            }
            field = end + 1;
            line = if byte == b'\n' { field } else { line };
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
        let clusters = self.lines.lines().filter_map(|line| line.split_once('\t'));
        clusters.flat_map(|(cluster, words)| words.split('\t').map(move |word| (word, cluster)))
    }

    /// The cluster of a word.
    pub fn get(&self, word: &str) -> Option<&str> {
        let &(line, place) = self.places.get(&hash::key(word.as_bytes()))?;
        let (cluster, _) = self.lines[line as usize..].split_once('\t')?;
        let found = self.lines[place as usize..].strip_prefix(word)?;
        found.starts_with(['\t', '\n']).then_some(cluster)
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
        let mut pairs: Vec<(Box<str>, Box<str>)> = pairs.into_iter().collect();
        pairs.sort_unstable_by(|(a, one), (b, other)| (one, a).cmp(&(other, b)));
        let mut lines = String::new();
        for same in pairs.chunk_by(|(_, one), (_, other)| one == other) {
            lines.push_str(&same[0].1);
            for (word, _) in same {
                lines.push('\t');
                lines.push_str(word);
            }
            lines.push('\n');
        }
        Self::new(lines)
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
    fn a_line_for_each_word_is_read_too() {
        let one = Clusters::new("01\tcat\n01\tdog\n1\tran\n".to_owned());
        let several = Clusters::new("01\tcat\tdog\n1\tran\n".to_owned());
        for word in ["cat", "dog", "ran", "do", "01", ""] {
            assert_eq!(one.get(word), several.get(word), "{word}");
        }
        assert_eq!(several.get("dog"), Some("01"));
        assert!(one.iter().eq(several.iter()));
        assert!(
            several.iter().map(|(w, c)| (w.into(), c.into())).collect::<Clusters>().iter().eq(one.iter())
        );
    }

    #[test]
    fn a_line_without_tab_is_named() {
        let error = Clusters::read("c.txt", "0\ta\nnothing\n".as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("c.txt, line 2: only one column"), "{error}");
        assert!(Clusters::read("c.txt", "".as_bytes()).unwrap_err().to_string().contains("is empty"));
    }
}
