//! Where a word occurs again: what word chains, skip edges and phrase patterns are made of.

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use consonant_text::Sentence;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::NerError;

/// A word that was seen this often in training, and never in a name, is not taken for a name.
const ORDINARY: u32 = 10;
/// Longest phrase that has a pattern of its own; the words of longer ones still agree one by one.
const LONGEST: usize = 6;

/// Words that training knows to be no names (articles, verbs, punctuation): they have nothing to agree on.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrdinaryWords {
    keys: FxHashSet<u64>,
}

impl OrdinaryWords {
    /// Finds them in training data; `labels` are those of the sentences' words.
    pub(crate) fn find(sentences: &[Sentence], labels: &[Vec<String>]) -> Self {
        let mut counts: FxHashMap<u64, (u32, bool)> = FxHashMap::default();
        for (sentence, labels) in sentences.iter().zip(labels) {
            for (word, label) in labels.iter().enumerate() {
                let (count, named) = counts.entry(hash::key(sentence.form(word).as_bytes())).or_default();
                *count += 1;
                *named |= label != "O";
            }
        }
        let ordinary = counts.into_iter().filter(|(_, (count, named))| *count >= ORDINARY && !named);
        Self { keys: ordinary.map(|(key, _)| key).collect() }
    }

    /// The key of a word that may be a name.
    pub(crate) fn key(&self, word: &str) -> Option<u64> {
        if !word.chars().any(char::is_alphabetic) {
            return None;
        }
        Some(hash::key(word.as_bytes())).filter(|key| !self.keys.contains(key))
    }

    /// Whether training does not rule out that the word is a name.
    pub(crate) fn may_be_name(&self, word: &str) -> bool {
        self.key(word).is_some()
    }

    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        let mut keys: Vec<u64> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        writer.array("ordinary", &keys);
    }

    pub(crate) fn open(model: &Model) -> Result<Self, NerError> {
        Ok(Self { keys: model.array::<u64>("ordinary")?.iter().copied().collect() })
    }
}

/// The tokens of a group of sentences, counted through, that have the same word: for each word with several
/// occurrences, these in order.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    /// For each token, the number of its chain, or [`ALONE`].
    chain_of: Vec<u32>,
    /// For each token, its place in the chain.
    place: Vec<u32>,
    starts: Vec<usize>,
    tokens: Vec<u32>,
    /// The first token of each sentence; one more at the end.
    pub(crate) sentences: Vec<usize>,
}

const ALONE: u32 = u32::MAX;

impl Occurrences {
    /// Reads a group of sentences, in which words are the same if they are written the same.
    pub(crate) fn read<'s>(sentences: impl Iterator<Item = &'s Sentence>, ordinary: &OrdinaryWords) -> Self {
        Self::read_by(sentences, |_, form| ordinary.key(form))
    }

    /// Reads a group of sentences, in which words are the same if they have the same key by the number of
    /// their sentence and their form.
    pub(crate) fn read_by<'s>(
        sentences: impl Iterator<Item = &'s Sentence>,
        key: impl Fn(usize, &str) -> Option<u64>,
    ) -> Self {
        let mut words: FxHashMap<u64, u32> = FxHashMap::default();
        let mut counts: Vec<u32> = Vec::new();
        let mut found = Self { sentences: vec![0], ..Self::default() };
        for (number, sentence) in sentences.enumerate() {
            for word in 0..sentence.len() {
                let number = key(number, sentence.form(word)).map_or(ALONE, |key| {
                    let next = counts.len() as u32;
                    let number = *words.entry(key).or_insert(next);
                    if number == next {
                        counts.push(0);
                    }
                    counts[number as usize] += 1;
                    number
                });
                found.chain_of.push(number);
            }
            found.sentences.push(found.chain_of.len());
        }
        // Words that occur once have nothing to agree with.
        let mut renumbered = vec![ALONE; counts.len()];
        found.starts.push(0);
        for (number, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 1) {
            renumbered[number] = found.starts.len() as u32 - 1;
            found.starts.push(found.starts[found.starts.len() - 1] + count as usize);
        }
        let mut next: Vec<usize> = found.starts.clone();
        found.tokens = vec![0; found.starts[found.starts.len() - 1]];
        found.place = vec![0; found.chain_of.len()];
        for (token, chain) in found.chain_of.iter_mut().enumerate() {
            *chain = if *chain == ALONE { ALONE } else { renumbered[*chain as usize] };
            if *chain != ALONE {
                let at = &mut next[*chain as usize];
                found.tokens[*at] = token as u32;
                found.place[token] = (*at - found.starts[*chain as usize]) as u32;
                *at += 1;
            }
        }
        found
    }

    /// The number of words that occur more than once.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The occurrences of a word.
    pub(crate) fn chain(&self, number: usize) -> &[u32] {
        &self.tokens[self.starts[number]..self.starts[number + 1]]
    }

    /// The number of tokens of the group.
    pub(crate) fn tokens(&self) -> usize {
        self.chain_of.len()
    }

    /// Whether a token's word occurs again.
    pub(crate) fn is_linked(&self, token: usize) -> bool {
        self.chain_of[token] != ALONE
    }

    /// Pairs of a phrase of several words with its next occurrence: first tokens and length. Phrases are as
    /// long as both places agree, up to a limit, and do not cross sentences; parts of a longer phrase are not
    /// listed again.
    pub(crate) fn phrases(&self) -> Vec<(usize, usize, usize)> {
        let mut phrases = Vec::new();
        for sentence in self.sentences.windows(2) {
            let mut from = sentence[0];
            while from < sentence[1] {
                let best = self.next_phrase(from, sentence[1]);
                match best {
                    Some((other, length)) if length > 1 => {
                        phrases.push((from, other, length));
                        from += length;
                    }
                    _ => from += 1,
                }
            }
        }
        phrases
    }

    /// The nearest later place with the longest match among the next few occurrences.
    fn next_phrase(&self, token: usize, end: usize) -> Option<(usize, usize)> {
        const TRIED: usize = 8;
        if self.chain_of[token] == ALONE {
            return None;
        }
        let chain = self.chain(self.chain_of[token] as usize);
        let later = chain[self.place[token] as usize + 1..].iter().take(TRIED);
        let mut best: Option<(usize, usize)> = None;
        for &other in later {
            let other = other as usize;
            let limit = (end - token).min(self.end_of(other) - other).min(LONGEST);
            // A phrase does not overlap with itself.
            let limit = limit.min(other - token);
            let length = (0..limit)
                .take_while(|&at| {
                    let word = self.chain_of[token + at];
                    word != ALONE && word == self.chain_of[other + at]
                })
                .count();
            if best.is_none_or(|(_, longest)| length > longest) {
                best = Some((other, length));
            }
        }
        best
    }

    fn end_of(&self, token: usize) -> usize {
        self.sentences[self.sentences.partition_point(|&start| start <= token)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sentences;

    #[test]
    fn words_that_recur_are_linked_and_phrases_found() {
        let text = sentences(&[
            "Mary Kay sold , Kay said",
            "Mary Kay Inc. of Texas",
            "in Texas , Mary Kay Inc. grew",
        ]);
        let ordinary = OrdinaryWords::default();
        let found = Occurrences::read(text.iter(), &ordinary);
        let chains: Vec<&[u32]> = (0..found.len()).map(|number| found.chain(number)).collect();
        assert_eq!(chains, [&[0, 6, 14][..], &[1, 4, 7, 15], &[8, 16], &[10, 12]]);
        assert_eq!(found.phrases(), [(0, 6, 2), (6, 14, 3)]);
        assert!(found.is_linked(0) && !found.is_linked(3));
    }

    #[test]
    fn ordinary_words_are_left_out() {
        let text = sentences(&["the the the the the the Xu"; 2]);
        let labels = vec![["O"; 6].iter().chain(&["B-PER"]).map(|&label| label.to_owned()).collect(); 2];
        let ordinary = OrdinaryWords::find(&text, &labels);
        let found = Occurrences::read(text.iter(), &ordinary);
        assert_eq!((found.len(), found.chain(0)), (1, &[6, 13][..]));
    }

    #[test]
    fn one_word_without_end_takes_linear_space() {
        let text = sentences(&[vec!["Xu"; 5000].join(" ")]);
        let found = Occurrences::read(text.iter(), &OrdinaryWords::default());
        assert_eq!(found.chain(0).len(), 5000);
        assert!(found.phrases().len() < 5000);
    }
}
