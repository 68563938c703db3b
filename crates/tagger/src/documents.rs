//! Words that keep one label through a document.
//!
//! Some labels depend on the document more than on the sentence: its style, its topic, or the guidelines that
//! its annotators had. A word that has several labels over a whole treebank but nearly always a single one
//! within a document is called constant here. Its occurrences in a document are first labelled each on its
//! own; then all of them get the label that most of them have, and the other words are labelled again around
//! them (after Gale, Church & Yarowsky 1992, One sense per discourse).

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use consonant_sequence::Labels;
use consonant_text::Sentence;
use consonant_text::document::ranges;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Column, TaggerError};

/// Documents in which a word must occur twice or more before it may be called constant: in fewer, many words
/// are by chance.
const LEAST_DOCUMENTS: usize = 50;
/// The least share of pairs of occurrences in one document that have the same label.
const LEAST_AGREEMENT: f64 = 0.99;
/// The same share over the whole treebank: a word above it has hardly more than one label, and needs no help.
const MOST_AGREEMENT: f64 = 0.9;

/// The words that keep one label through a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConstantWords {
    words: FxHashSet<u64>,
}

/// How often a word had each label, over everything, and how its occurrences agree within documents.
#[derive(Default)]
struct Occurrences {
    labels: FxHashMap<u32, u64>,
    documents: usize,
    agreeing: u64,
    pairs: u64,
}

impl ConstantWords {
    /// Finds the constant words of a training set. Without `# newdoc` comments there are none.
    pub(crate) fn find(sentences: &[Sentence], column: Column, labels: &Labels) -> Self {
        if !sentences.iter().any(Sentence::starts_document) {
            return Self::default();
        }
        let mut words: FxHashMap<u64, Occurrences> = FxHashMap::default();
        let mut here: FxHashMap<u64, FxHashMap<u32, u64>> = FxHashMap::default();
        let mut buffer = String::new();
        for document in ranges(sentences) {
            here.clear();
            for sentence in &sentences[document] {
                for word in 0..sentence.len() {
                    let label = column.label(sentence, word, &mut buffer).and_then(|label| labels.get(label));
                    if let Some(label) = label {
                        let word = hash::key(sentence.form(word).as_bytes());
                        *here.entry(word).or_default().entry(label).or_default() += 1;
                    }
                }
            }
            for (&word, counts) in &here {
                let all = words.entry(word).or_default();
                let pairs = pairs(counts.values().sum());
                all.documents += usize::from(pairs > 0);
                all.pairs += pairs;
                for (&label, &count) in counts {
                    all.agreeing += self::pairs(count);
                    *all.labels.entry(label).or_default() += count;
                }
            }
        }
        let constant = |found: &Occurrences| {
            let everywhere = found.labels.values().map(|&count| pairs(count)).sum::<u64>() as f64;
            let all = pairs(found.labels.values().sum()) as f64;
            found.documents >= LEAST_DOCUMENTS
                && found.agreeing as f64 >= LEAST_AGREEMENT * found.pairs as f64
                && everywhere <= MOST_AGREEMENT * all
        };
        let words = words.into_iter().filter(|(_, found)| constant(found)).map(|(word, _)| word);
        Self { words: words.collect() }
    }

    /// Whether there is no constant word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether a word is constant.
    pub fn contains(&self, word: &str) -> bool {
        !self.words.is_empty() && self.words.contains(&hash::key(word.as_bytes()))
    }

    /// For the sentences of one document, as they were labelled: the words that should have another label,
    /// that of most of their occurrences; of labels with equally many, the one that stands first among the
    /// labels.
    pub(crate) fn dissenters(
        &self,
        document: &[Sentence],
        column: Column,
        labels: &Labels,
    ) -> Vec<Vec<(usize, u32)>> {
        let mut buffer = String::new();
        let mut votes: FxHashMap<&str, FxHashMap<u32, u32>> = FxHashMap::default();
        let mut occurrences: Vec<Vec<(usize, &str, u32)>> = Vec::with_capacity(document.len());
        for sentence in document {
            let mut found = Vec::new();
            for word in (0..sentence.len()).filter(|&word| self.contains(sentence.form(word))) {
                let label = column.label(sentence, word, &mut buffer).and_then(|label| labels.get(label));
                if let Some(label) = label {
                    *votes.entry(sentence.form(word)).or_default().entry(label).or_default() += 1;
                    found.push((word, sentence.form(word), label));
                }
            }
            occurrences.push(found);
        }
        let winners: FxHashMap<&str, u32> = votes
            .into_iter()
            .filter_map(|(form, counts)| {
                let most = counts.into_iter().max_by_key(|&(label, count)| (count, std::cmp::Reverse(label)));
                most.map(|(label, _)| (form, label))
            })
            .collect();
        // A sentence with a dissenter is labelled again: all its constant words then stay what they should
        // be.
        let corrections = |found: Vec<(usize, &str, u32)>| {
            let dissents = found.iter().any(|(_, form, label)| winners[form] != *label);
            let fixed = found.iter().filter(|_| dissents).map(|&(word, form, _)| (word, winners[form]));
            fixed.collect()
        };
        occurrences.into_iter().map(corrections).collect()
    }

    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        let mut words: Vec<u64> = self.words.iter().copied().collect();
        words.sort_unstable();
        writer.array("constant.words", &words);
    }

    pub(crate) fn open(model: &Model) -> Result<Self, TaggerError> {
        if !model.has("constant.words") {
            return Ok(Self::default());
        }
        Ok(Self { words: model.array::<u64>("constant.words")?.iter().copied().collect() })
    }
}

/// The number of pairs among so many things.
fn pairs(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use consonant_text::SentenceReader;

    use super::*;

    fn read(text: &str) -> Vec<Sentence> {
        SentenceReader::conllu(text.as_bytes(), "t").collect::<Result<_, _>>().unwrap()
    }

    /// Documents whose full stops are all `P` or all `Q`; `x` is now `A`, now `B`.
    fn styles(documents: usize) -> Vec<Sentence> {
        let mut text = String::new();
        for document in 0..documents {
            let stop = ["P", "Q"][document % 2];
            for sentence in 0..2 {
                if sentence == 0 {
                    text.push_str("# newdoc\n");
                }
                let x = ["A", "B"][sentence];
                text.push_str(&format!(
                    "1\tx\t_\t{x}\t_\t_\t_\t_\t_\t_\n2\t.\t_\t{stop}\t_\t_\t_\t_\t_\t_\n\n"
                ));
            }
        }
        read(&text)
    }

    #[test]
    fn constant_words_are_found_by_document() {
        let labels: Labels = ["A", "B", "P", "Q"].iter().collect();
        let found = ConstantWords::find(&styles(60), Column::Upos, &labels);
        assert!(found.contains(".") && !found.contains("x"));
        assert_eq!(found.len(), 1);
        assert!(
            ConstantWords::find(&styles(40), Column::Upos, &labels).is_empty(),
            "too few documents to tell"
        );
        let unmarked: String = styles(60).iter().map(|s| s.to_string().replace("# newdoc\n", "")).collect();
        assert!(ConstantWords::find(&read(&unmarked), Column::Upos, &labels).is_empty());
        // What stands before the first mark is a document too.
        let all: String = styles(60).iter().map(ToString::to_string).collect();
        let without_first = read(&all.replacen("# newdoc\n", "", 1));
        assert_eq!(ConstantWords::find(&without_first, Column::Upos, &labels), found);
    }

    #[test]
    fn the_minority_of_a_document_follows_the_majority() {
        let labels: Labels = ["A", "B", "P", "Q"].iter().collect();
        let constant = ConstantWords::find(&styles(60), Column::Upos, &labels);
        let text = ["P", "Q", "Q"]
            .map(|stop| format!("1\tx\t_\tA\t_\t_\t_\t_\t_\t_\n2\t.\t_\t{stop}\t_\t_\t_\t_\t_\t_\n\n"));
        let document = read(&text.concat());
        assert_eq!(constant.dissenters(&document, Column::Upos, &labels), [vec![(1, 3)], vec![], vec![]]);
    }
}
