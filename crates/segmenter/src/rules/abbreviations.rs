//! Words whose period does not end a sentence, and words that begin one.

/// Abbreviations that stand before a name or a number: their period never ends a sentence.
const TITLES: [&str; 42] = [
    "adm", "art", "bros", "capt", "cf", "cmdr", "col", "cpl", "dr", "eq", "esp", "fig", "figs", "fr", "gen",
    "gov", "hon", "hr", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "nr", "pp", "pres",
    "prof", "rep", "rev", "sen", "sgt", "sr", "sra", "st", "supt", "viz", "vol", "vs",
];

/// Other abbreviations, which may also stand at the end.
const ABBREVIATIONS: [&str; 62] = [
    "al", "approx", "apr", "apt", "assn", "aug", "ave", "blvd", "bzw", "ca", "co", "corp", "ct", "dec",
    "dept", "dist", "ed", "eds", "est", "etc", "ext", "feb", "fri", "ft", "govt", "hrs", "inc", "incl",
    "jan", "jr", "jul", "jun", "lbs", "ltd", "mar", "max", "mfg", "min", "misc", "mon", "nos", "nov", "obs",
    "oct", "op", "orig", "oz", "ph", "resp", "sat", "sec", "sep", "sept", "sq", "str", "tel", "thu", "tue",
    "tues", "univ", "usw", "wed",
];

/// English words that begin sentences far more often than names.
const STARTERS: [&str; 44] = [
    "A", "After", "All", "Although", "An", "And", "As", "At", "But", "By", "During", "For", "From", "He",
    "Here", "His", "How", "However", "I", "If", "In", "It", "Its", "Many", "My", "On", "Our", "She", "Since",
    "So", "Some", "That", "The", "Their", "There", "These", "They", "This", "Those", "To", "We", "What",
    "When", "You",
];

fn contains(list: &[&str], word: &str) -> bool {
    // The longest entry has seven letters; nothing longer need be lowered.
    word.len() <= 8 && list.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether a word is known to be shortened.
pub fn is_abbreviation(word: &str) -> bool {
    contains(&TITLES, word) || contains(&ABBREVIATIONS, word)
}

/// Whether a name or a number follows the abbreviation.
pub fn is_title(word: &str) -> bool {
    contains(&TITLES, word)
}

/// Whether a word with a capital letter begins a sentence rather than a name.
pub fn starts_sentences(word: &str) -> bool {
    STARTERS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        for list in [&TITLES[..], &ABBREVIATIONS, &STARTERS] {
            assert!(list.is_sorted(), "{:?}", list.windows(2).find(|pair| pair[0] > pair[1]));
        }
        assert!(is_title("Dr") && is_abbreviation("etc") && !is_title("etc") && starts_sentences("However"));
    }
}
