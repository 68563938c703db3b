//! Words as concepts see them: pieces of letters and digits, lower-cased and stemmed, as ROUGE counts them.

use consonant_text::evaluate::porter_stem;
use rustc_hash::FxHashMap;

/// Numbers for stems, and which of them are stop words.
#[derive(Debug, Default)]
pub struct Vocabulary {
    ids: FxHashMap<String, u32>,
    stems: Vec<(String, bool)>,
    buffer: String,
}

impl Vocabulary {
    /// The numbers of the pieces of a written word, in order.
    pub fn pieces(&mut self, written: &str, out: &mut Vec<u32>) {
        for piece in written.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
            let mut word = std::mem::take(&mut self.buffer);
            word.clear();
            word.extend(piece.chars().flat_map(char::to_lowercase));
            let stop = is_stop_word(&word);
            if word.len() > 3 && word.is_ascii() {
                porter_stem(&mut word);
            }
            let id = match self.ids.get(&word) {
                Some(&id) => id,
                None => {
                    let id = self.stems.len() as u32;
                    self.ids.insert(word.clone(), id);
                    self.stems.push((word.clone(), stop));
                    id
                }
            };
            out.push(id);
            self.buffer = word;
        }
    }

    /// A stem, written out.
    pub fn stem(&self, id: u32) -> &str {
        &self.stems[id as usize].0
    }

    /// Whether a stem was first seen as a stop word.
    pub fn is_stop(&self, id: u32) -> bool {
        self.stems[id as usize].1
    }
}

/// Whether a lower-cased English word carries little meaning of its own.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a text looks English. Of words that are no names or numbers more than half are then stop words, and a third in
/// lists; in other languages, some of whose words look the same, one in eight.
pub fn looks_english(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(5000);
    let (mut all, mut stop) = (0usize, 0usize);
    for word in words {
        let is_stop = is_stop_word(&word.to_lowercase());
        stop += usize::from(is_stop);
        all += usize::from(is_stop || !word.starts_with(|c: char| c.is_uppercase() || c.is_numeric()));
    }
    5 * stop >= all
}

/// Whether a character belongs to a script that is written without spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a written token is punctuation: nothing in it is a letter, a digit or a sign that is read aloud.
pub fn is_punctuation(form: &str) -> bool {
    !form.chars().any(|c| {
        c.is_alphanumeric() || matches!(c, '$' | '%' | '£' | '€' | '¥' | '&' | '+' | '=' | '#' | '@' | '°')
    })
}

/// Whether a stem is a number: it begins with a digit.
pub fn is_number(stem: &str) -> bool {
    stem.starts_with(char::is_numeric)
}

/// Words that say when something was.
pub fn is_temporal(word: &str) -> bool {
    TEMPORAL_WORDS.binary_search(&word).is_ok()
}

/// Words that turn a sentence around.
pub fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word)
}

#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "not", "n't", "n’t", "no", "never", "none", "neither", "nor", "nobody", "nothing", "without", "cannot",
    "hardly", "barely",
];

#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "aren", "as", "at",
    "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "d",
    "did", "didn", "do", "does", "doesn", "doing", "don", "down", "during", "each", "few", "for", "from", "further", "had",
    "has", "have", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "in",
    "into", "is", "isn", "it", "its", "itself", "just", "ll", "m", "may", "me", "might", "more", "most", "must", "my",
    "myself", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves",
    "out", "over", "own", "re", "s", "same", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the",
    "their", "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "upon", "us", "ve", "very", "was", "wasn", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "won", "would", "you", "your", "yours", "yourself", "yourselves",
];

#[rustfmt::skip]
const TEMPORAL_WORDS: &[&str] = &[
    "afternoon", "ago", "april", "august", "autumn", "century", "day", "days", "decade", "decades", "december", "earlier", "early",
    "evening", "february", "friday", "hour", "hours", "january", "july", "june", "late", "later", "march", "minute",
    "minutes", "monday", "month", "months", "morning", "night", "november", "now", "october", "recently", "saturday", "season",
    "september", "spring", "summer", "sunday", "thursday", "today", "tomorrow", "tonight", "tuesday", "wednesday", "week", "weekend",
    "weeks", "winter", "year", "years", "yesterday",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_binary_search() {
        assert!(STOP_WORDS.is_sorted());
        let mut sorted = TEMPORAL_WORDS.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, TEMPORAL_WORDS);
    }

    #[test]
    fn pieces_are_those_of_rouge() {
        let mut vocabulary = Vocabulary::default();
        let mut ids = Vec::new();
        vocabulary.pieces("U.S.-led", &mut ids);
        vocabulary.pieces("running", &mut ids);
        vocabulary.pieces("runs", &mut ids);
        vocabulary.pieces("—", &mut ids);
        assert_eq!(ids, [0, 1, 2, 3, 3]);
    }
}
