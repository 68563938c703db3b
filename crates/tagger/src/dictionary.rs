//! Tags that words were seen with (Ratnaparkhi 1996, A maximum entropy model for part-of-speech tagging).

use consonant_learn::model::{Model, ModelWriter};
use consonant_sequence::inference::Candidates;
use rustc_hash::FxHashMap;

use crate::TaggerError;

/// For frequent words, the labels that they had in training: other labels need not be considered.
#[derive(Debug, Clone, Default)]
pub struct TagDictionary {
    /// Keys of words, sorted.
    words: Vec<u64>,
    starts: Vec<u32>,
    labels: Vec<u32>,
}

impl TagDictionary {
    /// Lists the labels of every word that occurs at least `least` times. Words with an occurrence of unknown
    /// label (`None`) are left out: they may have any.
    pub(crate) fn build(tokens: impl Iterator<Item = (u64, Option<u32>)>, least: u32) -> Self {
        let mut seen: FxHashMap<u64, (u32, Option<Vec<u32>>)> = FxHashMap::default();
        for (word, label) in tokens {
            let (count, labels) = seen.entry(word).or_insert((0, Some(Vec::new())));
            *count += 1;
            match (label, &mut *labels) {
                (Some(label), Some(labels)) if !labels.contains(&label) => labels.push(label),
                (None, _) => *labels = None,
                _ => {}
            }
        }
        let mut kept: Vec<(u64, Vec<u32>)> = seen
            .into_iter()
            .filter(|(_, (count, _))| *count >= least)
            .filter_map(|(word, (_, labels))| labels.map(|labels| (word, labels)))
            .collect();
        kept.sort_unstable();
        Self::from_rows(kept)
    }

    /// With the words and labels of an older one, whose labels have the same numbers.
    pub(crate) fn after(&self, older: &Self) -> Self {
        let rows = |of: &Self| -> Vec<(u64, Vec<u32>)> {
            of.words.iter().filter_map(|&word| Some((word, of.get(word)?.to_vec()))).collect()
        };
        let mut all = rows(self);
        all.extend(rows(older));
        all.sort_by_key(|(word, _)| *word);
        all.dedup_by(|next, row| {
            next.0 == row.0 && {
                row.1.append(&mut next.1);
                true
            }
        });
        Self::from_rows(all)
    }

    /// From words in order.
    fn from_rows(rows: Vec<(u64, Vec<u32>)>) -> Self {
        let mut dictionary = Self { starts: vec![0], ..Self::default() };
        for (word, mut labels) in rows {
            labels.sort_unstable();
            labels.dedup();
            dictionary.words.push(word);
            dictionary.labels.extend(labels);
            dictionary.starts.push(dictionary.labels.len() as u32);
        }
        dictionary
    }

    /// The labels of a word, by its key, if it is listed.
    pub fn get(&self, word: u64) -> Option<&[u32]> {
        let row = self.words.binary_search(&word).ok()?;
        Some(&self.labels[self.starts[row] as usize..self.starts[row + 1] as usize])
    }

    /// Adds a position with the candidates of a word.
    pub(crate) fn push(&self, word: u64, candidates: &mut Candidates) {
        match self.get(word) {
            Some(labels) => candidates.push(labels),
            None => candidates.push_all(),
        }
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        writer.array("dictionary.words", &self.words);
        writer.array("dictionary.starts", &self.starts);
        writer.array("dictionary.labels", &self.labels);
    }

    pub(crate) fn open(model: &Model, labels: usize) -> Result<Option<Self>, TaggerError> {
        if !model.has("dictionary.words") {
            return Ok(None);
        }
        let words = model.array::<u64>("dictionary.words")?.to_vec();
        let starts = model.array::<u32>("dictionary.starts")?.to_vec();
        let listed = model.array::<u32>("dictionary.labels")?.to_vec();
        let fits = starts.len() == words.len() + 1
            && words.is_sorted()
            && starts.windows(2).all(|pair| pair[0] < pair[1])
            && starts.last().is_some_and(|&end| end as usize == listed.len())
            && listed.iter().all(|&label| (label as usize) < labels);
        if !fits {
            return Err(model.damaged("the tag dictionary does not fit the labels").into());
        }
        Ok(Some(Self { words, starts, labels: listed }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frequent_and_fully_labelled_words_are_listed() {
        let tokens = [(10, Some(2)), (10, Some(0)), (10, Some(2)), (11, Some(1)), (12, Some(1)), (12, None)];
        let dictionary = TagDictionary::build(tokens.into_iter(), 2);
        assert_eq!(dictionary.get(10), Some(&[0, 2][..]));
        assert_eq!(dictionary.get(11), None);
        assert_eq!(dictionary.get(12), None);
        assert_eq!(dictionary.len(), 1);
        let older = TagDictionary::build([(10, Some(1)), (10, Some(2)), (13, Some(3))].into_iter(), 1);
        let both = dictionary.after(&older);
        assert_eq!((both.get(10), both.get(13)), (Some(&[0, 1, 2][..]), Some(&[3][..])));
        assert_eq!(both.len(), 2);
    }
}
