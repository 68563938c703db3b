//! How the sentences of a text are set: headlines in capitals, lines of a table, datelines.
//!
//! In a line of capitals a capital says nothing, and in a table a town is often a team: what the words of
//! such lines are is learned apart from those in running text.

use std::collections::BTreeSet;

use consonant_learn::hash;
use consonant_learn::names::FeatureSink;
use consonant_text::Sentence;

/// How a sentence is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Running text.
    Running,
    /// Every word begins with a capital or has no letter: lines of tables, names of authors.
    Titles,
    /// There is no small letter at all: headlines, datelines.
    Capitals,
}

impl Style {
    pub(crate) fn of(sentence: &Sentence) -> Self {
        let mut capitals = 0;
        let mut style = Self::Capitals;
        for word in 0..sentence.len() {
            let form = sentence.form(word);
            if form.starts_with(|first: char| first.is_alphabetic() && !first.is_uppercase()) {
                return Self::Running;
            }
            if form.chars().any(char::is_lowercase) {
                style = Self::Titles;
            }
            capitals += form.chars().filter(|letter| letter.is_uppercase()).count();
        }
        // A lone `I` or `A` is no headline.
        if capitals < 2 { Self::Running } else { style }
    }
}

/// The sentences before this one in the text that are told apart: headline, dateline, author.
const TOP: usize = 3;

/// The styles of the sentences of a text.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The style of each sentence, and whether it has numbers, as a number from 0 to 5.
    lines: Vec<u64>,
}

impl Layout {
    /// Reads a text.
    pub(crate) fn read(&mut self, sentences: &[Sentence]) {
        self.lines.clear();
        self.lines.extend(sentences.iter().map(|sentence| {
            let has_numbers =
                (0..sentence.len()).any(|word| sentence.form(word).starts_with(|c: char| c.is_numeric()));
            2 * Style::of(sentence) as u64 + u64::from(has_numbers)
        }));
    }

    /// Whether a sentence is in capitals.
    pub(crate) fn is_capitals(&self, sentence: usize) -> bool {
        self.lines[sentence] / 2 == Style::Capitals as u64
    }

    /// Adds the keys of what the sentence's looks say about a word: `near` are the keys of the words before,
    /// here and after, in lower case, and `case` is how the word is written.
    pub(crate) fn features(&self, sentence: usize, near: [u64; 3], case: u64, keys: &mut Vec<u64>) {
        let line = self.lines[sentence];
        let before = sentence.checked_sub(1).map_or(NONE, |before| self.lines[before]);
        let after = self.lines.get(sentence + 1).copied().unwrap_or(NONE);
        keys.push(lines_key(line, before, after, case));
        keys.push(place_key(line, sentence.min(TOP) as u64, case));
        if line / 2 != Style::Running as u64 {
            let near = near.into_iter().enumerate();
            keys.extend(near.map(|(place, word)| word_key(line / 2, place as u64, word)));
        }
    }
}

/// Beyond the ends of the text.
const NONE: u64 = 6;

fn seed(kind: u64) -> u64 {
    hash::combine(0x6c61_796f_7574, kind)
}

fn lines_key(line: u64, before: u64, after: u64, case: u64) -> u64 {
    let lines = hash::combine(hash::combine(line, before), after);
    hash::combine(seed(0), hash::combine(lines, case))
}

fn place_key(line: u64, place: u64, case: u64) -> u64 {
    hash::combine(seed(1), hash::combine(hash::combine(line, place), case))
}

fn word_key(style: u64, place: u64, word: u64) -> u64 {
    hash::combine(seed(2 + place), hash::combine(style, word))
}

/// Writes every feature that the looks of lines may make of words written in one case.
pub(crate) fn name_features(words: &BTreeSet<&str>, case: u64, case_name: &str, sink: &mut impl FeatureSink) {
    const LINES: [&str; 7] = [
        "running",
        "running with numbers",
        "titles",
        "titles with numbers",
        "capitals",
        "capitals with numbers",
        "none",
    ];
    for (line, name) in LINES[..6].iter().enumerate() {
        for (before, name_before) in LINES.iter().enumerate() {
            for (after, name_after) in LINES.iter().enumerate() {
                sink.put(lines_key(line as u64, before as u64, after as u64, case), 1.0, &|| {
                    format!("{case_name}, lines: {name_before} / {name} / {name_after}")
                });
            }
        }
        for place in 0..=TOP {
            sink.put(place_key(line as u64, place as u64, case), 1.0, &|| {
                format!("{case_name}, line {}: {name}", place + 1)
            });
        }
    }
    for word in words {
        let lower = word.to_lowercase();
        for (style, name) in [(Style::Titles, "titles"), (Style::Capitals, "capitals")] {
            for (place, name_of_place) in ["before", "here", "after"].iter().enumerate() {
                sink.put(word_key(style as u64, place as u64, hash::key(lower.as_bytes())), 1.0, &|| {
                    format!("in {name}, {name_of_place}: {lower}")
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sentences;

    #[test]
    fn styles_are_told_apart() {
        let style = |line: &str| Style::of(&sentences(&[line.to_owned()])[0]);
        for line in ["SOCCER - JAPAN GET LUCKY WIN .", "LONDON 1996-08-30", "W L PCT"] {
            assert_eq!(style(line), Style::Capitals, "{line}");
        }
        for line in ["Peter Blackburn", "1. Heike Drechsler ( Germany ) 22.54", "New York 70 56 .556"] {
            assert_eq!(style(line), Style::Titles, "{line}");
        }
        for line in ["EU rejects German call", "I .", "12 - 3", "iPhone"] {
            assert_eq!(style(line), Style::Running, "{line}");
        }
    }

    #[test]
    fn the_same_word_has_other_features_in_a_headline() {
        let text = sentences(&["XU WINS AGAIN".to_owned(), "Xu won again".to_owned()]);
        let mut layout = Layout::default();
        layout.read(&text);
        let features = |sentence| {
            let mut keys = Vec::new();
            layout.features(sentence, [1, 2, 3], 0, &mut keys);
            keys
        };
        assert!(layout.is_capitals(0) && !layout.is_capitals(1));
        assert_eq!((features(0).len(), features(1).len()), (5, 2));
        assert!(features(0).iter().all(|key| !features(1).contains(key)));
    }
}
