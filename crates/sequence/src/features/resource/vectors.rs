//! Word vectors, as word2vec, GloVe and fastText write them in text.

use std::io::BufRead;

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use rustc_hash::FxHashMap;

use super::super::FeatureError;

const FORMAT: &str = "`word number number …`, the same count of finite numbers in every line";
const MOST_WORDS: usize = 1 << 26;

/// A vector for each of many words.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    dimension: usize,
    words: FxHashMap<u64, u32>,
    values: Vec<f32>,
}

impl Vectors {
    /// Reads a file of vectors; a first line `words dimension` is accepted. `name` stands in messages.
    pub fn read(name: &str, input: impl BufRead) -> Result<Self, FeatureError> {
        let mut vectors = Self::default();
        for (number, line) in input.lines().enumerate() {
            let line = line.map_err(|source| FeatureError::Read { resource: name.to_owned(), source })?;
            let line = line.trim_end();
            let bad = |what: String| FeatureError::Resource {
                resource: name.to_owned(),
                line: number + 1,
                what,
                expected: FORMAT,
            };
            let mut fields = line.split([' ', '\t']);
            let Some(word) = fields.next().filter(|word| !word.is_empty()) else { continue };
            let start = vectors.values.len();
            for field in fields {
                let value: f32 = field.parse().map_err(|_| bad(format!("`{field}` is no number")))?;
                if !value.is_finite() {
                    return Err(bad(format!("`{field}` is not finite")));
                }
                vectors.values.push(value);
            }
            let dimension = vectors.values.len() - start;
            if number == 0 && dimension == 1 && word.parse::<u64>().is_ok() {
                vectors.values.clear();
                continue;
            }
            if vectors.words.is_empty() && dimension > 0 {
                vectors.dimension = dimension;
            }
            if dimension != vectors.dimension || dimension == 0 {
                return Err(bad(format!(
                    "{dimension} numbers where the first word has {}",
                    vectors.dimension
                )));
            }
            let row = (start / dimension) as u32;
            vectors.words.insert(hash::key(word.as_bytes()), row);
            if vectors.words.len() > MOST_WORDS {
                return Err(FeatureError::TooLarge {
                    resource: name.to_owned(),
                    found: vectors.words.len(),
                    most: MOST_WORDS,
                });
            }
        }
        if vectors.words.is_empty() {
            return Err(FeatureError::EmptyResource { resource: name.to_owned(), expected: FORMAT });
        }
        Ok(vectors)
    }

    /// How many numbers a word has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vector of a word, else of its lower-cased form.
    pub fn row(&self, word: &str, lower: &str) -> Option<u32> {
        let row = self.words.get(&hash::key(word.as_bytes()));
        row.or_else(|| self.words.get(&hash::key(lower.as_bytes()))).copied()
    }

    /// The numbers of a row.
    pub fn values(&self, row: u32) -> &[f32] {
        &self.values[row as usize * self.dimension..][..self.dimension]
    }

    pub(super) fn store(&self, writer: &mut ModelWriter) {
        let mut words: Vec<(u64, u32)> = self.words.iter().map(|(&word, &row)| (word, row)).collect();
        words.sort_unstable();
        let (keys, rows): (Vec<u64>, Vec<u32>) = words.into_iter().unzip();
        writer.array("vectors.words", &keys);
        writer.array("vectors.rows", &rows);
        writer.array("vectors.values", &self.values);
        writer.array("vectors.dimension", &[self.dimension as u32]);
    }

    pub(super) fn open(model: &Model) -> Result<Option<Self>, FeatureError> {
        if !model.has("vectors.words") {
            return Ok(None);
        }
        let damaged =
            |what: &str| FeatureError::Damaged { section: "vectors".to_owned(), what: what.to_owned() };
        let dimension = model.array::<u32>("vectors.dimension")?.first().copied().unwrap_or(0) as usize;
        let keys = model.array::<u64>("vectors.words")?;
        let rows = model.array::<u32>("vectors.rows")?;
        let values = model.array::<f32>("vectors.values")?.to_vec();
        if dimension == 0 || keys.len() != rows.len() || values.iter().any(|value| !value.is_finite()) {
            return Err(damaged("its parts do not fit together"));
        }
        if rows.iter().any(|&row| (row as usize + 1) * dimension > values.len()) {
            return Err(damaged("a word points outside of the values"));
        }
        Ok(Some(Self { dimension, words: keys.iter().copied().zip(rows.iter().copied()).collect(), values }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_skipped_and_case_falls_back() {
        let vectors = Vectors::read("v", "2 3\nthe 1 2 3\ndog 4 5 6\n".as_bytes()).unwrap();
        assert_eq!(vectors.dimension(), 3);
        let row = vectors.row("Dog", "dog").unwrap();
        assert_eq!(vectors.values(row), [4.0, 5.0, 6.0]);
        assert!(vectors.row("cat", "cat").is_none());
    }

    #[test]
    fn numbers_that_are_none_are_refused_with_their_line() {
        for (text, line) in [("a 1 2\nb 1 NaN\n", 2), ("a 1 2\nb 1\n", 2), ("a 1 x\n", 1), ("a 1 inf\n", 1)] {
            let error = Vectors::read("v.txt", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("v.txt, line {line}:")), "{error}");
        }
    }
}
