//! Words of a text and how often one follows another.

use rustc_hash::FxHashMap;

/// Stands before the first word of a sentence and behind the last.
const BOUNDARY: u32 = 0;
/// Stands for all words that are too rare for a cluster.
const RARE: u32 = 1;
/// Numbers below this are no words.
pub(crate) const SPECIAL: usize = 2;

/// Collects words as they come.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    numbers: FxHashMap<Box<str>, u32>,
    frequencies: Vec<u64>,
    /// All sentences, words by number in the order of their first occurrence, each sentence with a boundary behind it.
    text: Vec<u32>,
}

impl Collector {
    /// Adds a sentence.
    pub(crate) fn sentence<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let before = self.text.len();
        for word in words {
            let number = match self.numbers.get(word) {
                Some(&number) => number,
                None => {
                    let number = (SPECIAL + self.frequencies.len()) as u32;
                    self.numbers.insert(word.into(), number);
                    self.frequencies.push(0);
                    number
                }
            };
            self.frequencies[number as usize - SPECIAL] += 1;
            self.text.push(number);
        }
        if self.text.len() > before {
            self.text.push(BOUNDARY);
        }
    }

    /// Words that occur so often at least, the most frequent first, and who follows whom.
    pub(crate) fn finish(self, min_count: u64) -> Bigrams {
        let mut words: Vec<(Box<str>, u32)> = self.numbers.into_iter().collect();
        let frequency = |number: u32| self.frequencies[number as usize - SPECIAL];
        words.retain(|&(_, number)| frequency(number) >= min_count);
        words.sort_unstable_by(|(a, at), (b, bt)| frequency(*bt).cmp(&frequency(*at)).then_with(|| a.cmp(b)));
        let mut renumbered = vec![RARE; SPECIAL + self.frequencies.len()];
        renumbered[BOUNDARY as usize] = BOUNDARY;
        for (place, &(_, number)) in words.iter().enumerate() {
            renumbered[number as usize] = (SPECIAL + place) as u32;
        }
        let mut pairs = Vec::with_capacity(self.text.len());
        let mut previous = BOUNDARY;
        for number in self.text {
            let number = renumbered[number as usize];
            pairs.push((previous, number));
            previous = number;
        }
        pairs.sort_unstable();
        let mut counted: Vec<(u32, u32, u32)> = Vec::new();
        for (first, second) in pairs {
            match counted.last_mut() {
                Some((a, b, count)) if (*a, *b) == (first, second) => *count += 1,
                _ => counted.push((first, second, 1)),
            }
        }
        let size = SPECIAL + words.len();
        let right = Lists::new(size, counted.iter().map(|&(a, b, count)| (a, b, count)));
        counted.sort_unstable_by_key(|&(a, b, _)| (b, a));
        let left = Lists::new(size, counted.iter().map(|&(a, b, count)| (b, a, count)));
        let words =
            words.into_iter().map(|(word, number)| (word, self.frequencies[number as usize - SPECIAL]));
        Bigrams { words: words.collect(), left, right }
    }
}

/// Words and their neighbours.
#[derive(Debug)]
pub(crate) struct Bigrams {
    /// Words with their frequencies, the most frequent first. The number of the first is [`SPECIAL`].
    pub(crate) words: Vec<(Box<str>, u64)>,
    /// Who stands before a number, and how often.
    pub(crate) left: Lists,
    /// Who stands behind a number, and how often.
    pub(crate) right: Lists,
}

/// A list of (number, count) for each number.
#[derive(Debug)]
pub(crate) struct Lists {
    starts: Vec<usize>,
    pairs: Vec<(u32, u32)>,
}

impl Lists {
    /// From triples sorted by their first number.
    fn new(size: usize, triples: impl Iterator<Item = (u32, u32, u32)>) -> Self {
        let (mut starts, mut pairs) = (vec![0], Vec::new());
        for (number, other, count) in triples {
            starts.resize(number as usize + 1, pairs.len());
            pairs.push((other, count));
        }
        starts.resize(size + 1, pairs.len());
        Self { starts, pairs }
    }

    /// The list of a number.
    pub(crate) fn of(&self, number: usize) -> &[(u32, u32)] {
        &self.pairs[self.starts[number]..self.starts[number + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_counted_on_both_sides_and_rare_words_are_one() {
        let mut collector = Collector::default();
        for _ in 0..2 {
            collector.sentence("a b a b".split(' '));
        }
        collector.sentence("b once a".split(' '));
        collector.sentence("".split_whitespace());
        let bigrams = collector.finish(2);
        let words: Vec<_> = bigrams.words.iter().map(|(word, count)| (&**word, *count)).collect();
        assert_eq!(words, [("a", 5), ("b", 5)]);
        // Boundary, rare, a, b.
        assert_eq!(bigrams.right.of(2), [(0, 1), (3, 4)]);
        assert_eq!(bigrams.right.of(0), [(2, 2), (3, 1)]);
        assert_eq!(bigrams.left.of(2), [(0, 2), (1, 1), (3, 2)]);
        assert_eq!(bigrams.left.of(1), [(3, 1)]);
    }
}
