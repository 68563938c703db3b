//! Which sentences may stand in a summary, by their looks.

use consonant_text::Sentence;

/// Sentences longer than this are seldom sentences.
const LONGEST: usize = 120;

/// Whether a sentence may stand in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fitness {
    /// Boilerplate, or a repetition: never.
    Unfit,
    /// A heading or fragment: only where there is nothing else.
    Fragment,
    /// A sentence.
    Sentence,
}

impl Fitness {
    /// Judges a sentence by its looks, its tags if it has any, and its length.
    pub fn of(sentence: &Sentence, text: &str, stems: usize, length: usize) -> Self {
        let trimmed = text.trim();
        if stems == 0 || length > LONGEST || is_boilerplate(trimmed) {
            return Fitness::Unfit;
        }
        let tagged = (0..sentence.len()).any(|word| sentence.upos(word) != "_");
        let has_verb = (0..sentence.len()).any(|word| matches!(sentence.upos(word), "VERB" | "AUX"));
        let last = trimmed.trim_end_matches(['"', '\'', '”', '’', ')', ']', '»']).chars().next_back();
        let ends = last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟'));
        let quotes = trimmed.matches(['"', '“', '”']).count();
        if stems < 5 || (tagged && !has_verb) || !ends || quotes % 2 == 1 {
            return Fitness::Fragment;
        }
        Fitness::Sentence
    }
}

/// Lines that come with pages and messages, not with what they say.
fn is_boilerplate(text: &str) -> bool {
    if text.starts_with(['>', '|', '©']) || text.contains("://") || text.contains("www.") {
        return true;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let others = text.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    if letters < others {
        return true;
    }
    let lower = text.to_lowercase();
    [
        "all rights reserved",
        "click here",
        "sign up for",
        "subscribe to",
        "terms of use",
        "privacy policy",
        "cookie policy",
        "this article was originally published",
        "follow us on",
        "share this",
        "read more:",
        "advertisement",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Whether somebody speaks of themselves or to somebody.
pub fn speaks(sentence: &Sentence) -> bool {
    (0..sentence.len()).any(|word| {
        ["I", "we", "you", "my", "our"]
            .iter()
            .any(|pronoun| pronoun.eq_ignore_ascii_case(sentence.form(word)))
    })
}

/// Whether a sentence begins with a word that points back to what stood before.
pub fn points_back(sentence: &Sentence) -> bool {
    let Some(first) =
        (0..sentence.len()).find(|&word| sentence.form(word).chars().any(char::is_alphanumeric))
    else {
        return false;
    };
    let word = sentence.form(first).to_lowercase();
    BACKWARD.contains(&word.as_str())
}

/// Pronouns and connectives that point back at the beginning of a sentence.
#[rustfmt::skip]
const BACKWARD: &[&str] = &[
    "he", "she", "they", "it", "his", "her", "their", "its", "this", "these", "those", "that", "such",
    "but", "and", "so", "or", "however", "also", "then", "therefore", "moreover", "meanwhile", "besides",
    "thus", "furthermore", "additionally", "instead", "yet",
];
