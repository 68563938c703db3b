//! ROUGE-1, -2, -L and -SU4 by the rules of ROUGE-1.5.5 (Lin 2004).
//!
//! Several references are pooled: hits and counts are added up before they are divided (the original's mode
//! "A" without jackknife). The original looks words up in WordNet's exception lists before it stems and
//! chains some suffixes of Porter's step 4; here the stemmer is Porter's own.

mod subsequences;

use std::fmt;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::bootstrap::UnitRatios;
use super::porter::porter_stem;
use super::score::{Counts, Score};
use subsequences::{LONGEST, Lines};

/// Words this short are never stemmed.
const STEM_LONGER_THAN: usize = 3;
/// Up to four words may stand between the two of a skip pair.
const SKIP: usize = 4;

/// Settings of the scorer.
///
/// ```
/// use consonant_text::evaluate::Rouge;
/// let scores = Rouge::default().score("the cat sat", &["the cat sat on the mat"]);
/// assert_eq!(scores.rouge_1.precision, 1.0);
/// assert_eq!(scores.rouge_1.recall, 0.5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rouge {
    /// Compare stems instead of words.
    pub stemming: bool,
    /// Look only at this many words (split at white space) of each summary, predicted or reference.
    pub words: Option<usize>,
}

impl Default for Rouge {
    /// With stemming, without a limit.
    fn default() -> Rouge {
        Rouge { stemming: true, words: None }
    }
}

/// The four scores of a summary, or their means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RougeScores {
    /// Single words.
    pub rouge_1: Score,
    /// Pairs of neighbouring words.
    pub rouge_2: Score,
    /// Longest common subsequences by sentence (one sentence a line).
    pub rouge_l: Score,
    /// Pairs of words with up to four others between them, and single words.
    pub rouge_su4: Score,
}

impl Rouge {
    /// Scores a summary against its references; sentences stand on lines of their own.
    pub fn score<S: AsRef<str>>(&self, summary: &str, references: &[S]) -> RougeScores {
        let mut vocabulary = Vocabulary::default();
        let predicted = Tokens::read(summary, self, &mut vocabulary);
        let (unigrams, bigrams, skip_pairs) =
            (predicted.unigrams(), predicted.bigrams(), predicted.skip_pairs());
        let lines = Lines::of(&predicted);
        let mut totals = [Counts::default(); 4];
        for reference in references {
            let gold = Tokens::read(reference.as_ref(), self, &mut vocabulary);
            let counts = [
                overlap(&gold.unigrams(), &unigrams),
                overlap(&gold.bigrams(), &bigrams),
                lines.longest_common_subsequences(&gold, &unigrams),
                overlap(&gold.skip_pairs(), &skip_pairs),
            ];
            totals.iter_mut().zip(counts).for_each(|(total, count)| total.add(count));
        }
        let [rouge_1, rouge_2, rouge_l, rouge_su4] = totals.map(|counts| counts.score());
        RougeScores { rouge_1, rouge_2, rouge_l, rouge_su4 }
    }
}

impl RougeScores {
    /// Means over summaries, each score by itself, as the original reports them.
    pub fn mean(scores: &[RougeScores]) -> RougeScores {
        let of = |part: fn(&RougeScores) -> &Score| {
            let mean = |number: fn(&Score) -> f64| {
                let sum: f64 = scores.iter().map(|s| number(part(s))).sum();
                if scores.is_empty() { 0.0 } else { sum / scores.len() as f64 }
            };
            Score { precision: mean(|s| s.precision), recall: mean(|s| s.recall), f1: mean(|s| s.f1) }
        };
        RougeScores {
            rouge_1: of(|s| &s.rouge_1),
            rouge_2: of(|s| &s.rouge_2),
            rouge_l: of(|s| &s.rouge_l),
            rouge_su4: of(|s| &s.rouge_su4),
        }
    }

    /// The four scores and their names in JSON.
    pub fn named(&self) -> [(&'static str, Score); 4] {
        [
            ("rouge_1", self.rouge_1),
            ("rouge_2", self.rouge_2),
            ("rouge_l", self.rouge_l),
            ("rouge_su4", self.rouge_su4),
        ]
    }

    /// Recall and F1 of each measure as ratios by summary, for [`super::Bootstrap`].
    pub fn by_unit(scores: &[RougeScores]) -> Vec<UnitRatios> {
        let mut ratios = Vec::new();
        for (index, (name, _)) in RougeScores::default().named().into_iter().enumerate() {
            let score = |s: &RougeScores| s.named()[index].1;
            ratios.push(UnitRatios::new(
                format!("{name}.recall"),
                scores.iter().map(|s| (score(s).recall, 1.0)),
            ));
            ratios.push(UnitRatios::new(format!("{name}.f1"), scores.iter().map(|s| (score(s).f1, 1.0))));
        }
        ratios
    }
}

impl fmt::Display for RougeScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Metric     |    Recall | Precision |  F1 Score")?;
        writeln!(f, "-----------+-----------+-----------+-----------")?;
        let names = ["ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-SU4"];
        for (name, (_, score)) in names.iter().zip(self.named()) {
            writeln!(f, "{name:11}|{:10.5} |{:10.5} |{:10.5}", score.recall, score.precision, score.f1)?;
        }
        Ok(())
    }
}

/// Numbers for words, so that n-grams are integers.
#[derive(Default)]
struct Vocabulary {
    ids: FxHashMap<String, u32>,
}

impl Vocabulary {
    fn id(&mut self, word: &str) -> u32 {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let id = self.ids.len() as u32;
        self.ids.insert(word.to_owned(), id);
        id
    }
}

/// The words of a text and where its sentences end.
struct Tokens {
    ids: Vec<u32>,
    sentence_ends: Vec<usize>,
}

impl Tokens {
    fn read(text: &str, settings: &Rouge, vocabulary: &mut Vocabulary) -> Tokens {
        let mut tokens = Tokens { ids: Vec::new(), sentence_ends: Vec::new() };
        let mut left = settings.words.unwrap_or(usize::MAX);
        let mut word = String::new();
        for line in text.lines() {
            for raw in line.split_whitespace().take(left) {
                left -= 1;
                // Hyphens become tokens of their own in the original and are then dropped for not beginning
                // with a letter or digit: every character but those separates.
                for piece in raw.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty())
                {
                    word.clear();
                    word.push_str(piece);
                    word.make_ascii_lowercase();
                    if settings.stemming && word.len() > STEM_LONGER_THAN {
                        porter_stem(&mut word);
                    }
                    tokens.ids.push(vocabulary.id(&word));
                }
            }
            tokens.sentence_ends.push(tokens.ids.len());
        }
        tokens
    }

    /// Its sentences; longer ones than [`LONGEST`] in pieces.
    fn lines(&self) -> impl Iterator<Item = &[u32]> {
        let ends = self.sentence_ends.iter().scan(0, |start, &end| Some(std::mem::replace(start, end)..end));
        ends.flat_map(|line| self.ids[line].chunks(LONGEST))
    }

    fn unigrams(&self) -> Bag {
        Bag::of(self.ids.iter().map(|id| single(*id)))
    }

    fn bigrams(&self) -> Bag {
        Bag::of(self.ids.windows(2).map(|two| pair(two[0], two[1])))
    }

    /// The original walks the first words of pairs, and so never counts the last word by itself.
    fn skip_pairs(&self) -> Bag {
        let firsts = 0..self.ids.len().saturating_sub(1);
        Bag::of(firsts.flat_map(|first| {
            let end = (first + SKIP + 2).min(self.ids.len());
            let seconds = self.ids[first + 1..end].iter();
            std::iter::once(single(self.ids[first]))
                .chain(seconds.map(move |second| pair(self.ids[first], *second)))
        }))
    }
}

/// Second words are shifted by one, so that zero is "no second word".
fn single(id: u32) -> u64 {
    u64::from(id) << 32
}

fn pair(first: u32, second: u32) -> u64 {
    (u64::from(first) << 32) | (u64::from(second) + 1)
}

/// A multiset of n-grams.
struct Bag {
    total: u64,
    counts: FxHashMap<u64, u64>,
}

impl Bag {
    fn of(grams: impl Iterator<Item = u64>) -> Bag {
        let mut bag = Bag { total: 0, counts: FxHashMap::default() };
        for gram in grams {
            bag.total += 1;
            *bag.counts.entry(gram).or_default() += 1;
        }
        bag
    }
}

fn overlap(gold: &Bag, predicted: &Bag) -> Counts {
    let hits = gold
        .counts
        .iter()
        .map(|(gram, count)| predicted.counts.get(gram).map_or(0, |other| *count.min(other)));
    Counts { correct: hits.sum(), gold: gold.total, predicted: predicted.total }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "The ferry sank on Tuesday near the northern islands, killing 12 passengers.\n\
        Rescue workers searched the cold waters for survivors until nightfall.\n\
        The owner's well-known company said the vessel was inspected in May.\n";
    const REFERENCES: [&str; 2] = [
        "A ferry carrying 80 passengers sank near the islands on Tuesday.\n\
        Twelve people were killed; rescuers kept searching until night.\n\
        The company says that its vessel had been inspected recently.\n",
        "Twelve passengers died when a ferry sank.\n\
        The well known owner said inspections of the ferries were made in May.\n",
    ];
    const STEMMED: Rouge = Rouge { stemming: true, words: None };
    const PLAIN: Rouge = Rouge { stemming: false, words: None };
    const SHORT: Rouge = Rouge { stemming: true, words: Some(15) };

    /// Three bytes for each pair of words would be a gigabyte.
    #[test]
    fn a_long_line_is_scored_in_bounded_memory() {
        let line = |shift: usize| (0..40_000).map(|i| format!("w{} ", (i + shift) % 997)).collect::<String>();
        let scores = PLAIN.score(&line(3), &[line(0)]);
        assert!(scores.rouge_l.f1 > 0.99, "{scores}");
    }

    /// Recall, precision and F1 of the four measures, as the original printed them (its exception list
    /// empty).
    #[test]
    fn the_originals_scores() {
        let two = &REFERENCES[..];
        let one = &REFERENCES[..1];
        let cases = [
            (
                STEMMED,
                two,
                [
                    [0.54, 0.38571, 0.45],
                    [0.125, 0.08824, 0.10345],
                    [0.44, 0.31429, 0.36667],
                    [0.24254, 0.16753, 0.19817],
                ],
            ),
            (
                PLAIN,
                two,
                [
                    [0.48, 0.34286, 0.4],
                    [0.10417, 0.07353, 0.08621],
                    [0.38, 0.27143, 0.31667],
                    [0.20896, 0.14433, 0.17073],
                ],
            ),
            (
                SHORT,
                two,
                [
                    [0.46667, 0.46667, 0.46667],
                    [0.10714, 0.10714, 0.10714],
                    [0.33333, 0.33333, 0.33333],
                    [0.18919, 0.18919, 0.18919],
                ],
            ),
            (
                STEMMED,
                one,
                [
                    [0.5, 0.42857, 0.46154],
                    [0.06897, 0.05882, 0.06349],
                    [0.4, 0.34286, 0.36923],
                    [0.21951, 0.18557, 0.20112],
                ],
            ),
            (
                PLAIN,
                one,
                [
                    [0.43333, 0.37143, 0.4],
                    [0.06897, 0.05882, 0.06349],
                    [0.33333, 0.28571, 0.30769],
                    [0.18902, 0.15979, 0.17318],
                ],
            ),
            (
                SHORT,
                one,
                [[0.6, 0.6, 0.6], [0.14286, 0.14286, 0.14286], [0.4, 0.4, 0.4], [0.28378, 0.28378, 0.28378]],
            ),
        ];
        for (settings, references, expected) in cases {
            let scores = settings.score(SUMMARY, references);
            for ((name, score), [recall, precision, f1]) in scores.named().into_iter().zip(expected) {
                let near = |a: f64, b: f64| (a - b).abs() < 1.1e-5;
                assert!(
                    near(score.recall, recall) && near(score.precision, precision) && near(score.f1, f1),
                    "{name} with {settings:?} and {} references: {score:?}",
                    references.len()
                );
            }
        }
    }

    /// The Python package `rouge-score` with `rougeLsum`, for one reference, where its rules are the same.
    #[test]
    fn the_python_packages_scores() {
        let scores = STEMMED.score(SUMMARY, &REFERENCES[..1]);
        assert!((scores.rouge_1.f1 - 0.4615384615384615).abs() < 1e-15);
        assert!((scores.rouge_2.recall - 0.06896551724137931).abs() < 1e-15);
        assert!((scores.rouge_l.precision - 0.34285714285714286).abs() < 1e-15);
        let scores = PLAIN.score(SUMMARY, &REFERENCES[..1]);
        assert!((scores.rouge_1.precision - 0.37142857142857144).abs() < 1e-15);
        assert!((scores.rouge_l.f1 - 0.30769230769230765).abs() < 1e-15);
    }

    #[test]
    fn a_summary_scores_one_against_itself_and_nothing_scores_zero() {
        for (_, score) in STEMMED.score(SUMMARY, &[SUMMARY]).named() {
            assert_eq!(score, Score { precision: 1.0, recall: 1.0, f1: 1.0 });
        }
        assert_eq!(STEMMED.score("", &REFERENCES), RougeScores::default());
        assert_eq!(STEMMED.score("…—!", &[""]), RougeScores::default());
        assert_eq!(STEMMED.score(SUMMARY, &[] as &[&str]), RougeScores::default());
    }

    #[test]
    fn the_last_word_is_no_unigram_of_su4() {
        assert_eq!(PLAIN.score("word", &["word"]).rouge_su4, Score::default());
        // a, b and the pair count; c does not count by itself: (a, b, ab, ac, bc) on both sides.
        assert_eq!(PLAIN.score("a b c", &["a b d"]).rouge_su4.recall, 3.0 / 5.0);
    }

    #[test]
    fn means_are_taken_score_by_score() {
        let scores = [STEMMED.score("a b", &["a b"]), STEMMED.score("c d", &["a b"])];
        assert_eq!(RougeScores::mean(&scores).rouge_1.f1, 0.5);
        assert_eq!(RougeScores::by_unit(&scores)[0].value(), 0.5);
        assert_eq!(RougeScores::mean(&[]), RougeScores::default());
    }
}
