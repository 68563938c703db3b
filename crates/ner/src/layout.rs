//! How the sentences of a text are set: headlines in capitals, lines of a table, datelines.
//!
//! In a line of capitals a capital says nothing, and in a table a town is often a team: what the words of such lines are is learned
//! apart from those in running text.

use consonant_learn::hash;
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
    fn of(sentence: &Sentence) -> Self {
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

    /// Adds the keys of what the sentence's looks say about a word; `near` are the keys of the words before, here and after, in lower case, and `case` is how the word is written.
    pub(crate) fn features(&self, sentence: usize, near: [u64; 3], case: u64, keys: &mut Vec<u64>) {
        // Outside of the text.
        const NONE: u64 = 6;
        let seed = |kind: u64| hash::combine(0x6c61_796f_7574, kind);
        let line = self.lines[sentence];
        let before = sentence.checked_sub(1).map_or(NONE, |before| self.lines[before]);
        let after = self.lines.get(sentence + 1).copied().unwrap_or(NONE);
        let lines = hash::combine(hash::combine(line, before), after);
        keys.push(hash::combine(seed(0), hash::combine(lines, case)));
        let place = hash::combine(line, sentence.min(TOP) as u64);
        keys.push(hash::combine(seed(1), hash::combine(place, case)));
        if line / 2 != Style::Running as u64 {
            for (kind, word) in near.into_iter().enumerate() {
                keys.push(hash::combine(seed(2 + kind as u64), hash::combine(line / 2, word)));
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
