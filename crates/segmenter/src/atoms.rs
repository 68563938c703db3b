//! Atoms: runs of characters of one class, the smallest things that tokens are made of.
//!
//! A chain over atoms is four times shorter than one over characters and sees whole words. What is lost are
//! token ends inside of a run; those that the training data has (`can|not`) are kept as cuts, and split the
//! run wherever it occurs.

use rustc_hash::FxHashMap;
use unicode_segmentation::UnicodeSegmentation;

use consonant_learn::hash;
use consonant_sequence::features::is_emoji;

use crate::lines::begins_anew;

/// What an atom is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Letters of scripts that put spaces between words.
    Letter,
    /// Digits.
    Digit,
    /// A character of a script without spaces: Han, kana, Thai, Lao, Khmer, Myanmar.
    Ideograph,
    /// An emoji, with all that joins it.
    Emoji,
    /// Punctuation or a symbol; some come in runs.
    Mark,
}

/// The white space after an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Nothing: the next atom touches it.
    None,
    /// One blank.
    Blank,
    /// More than one blank, or another character.
    Wide,
    /// The end of a line.
    Line,
    /// The end of the paragraph.
    Paragraph,
}

/// A run of characters of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// What it is made of.
    pub class: Class,
    /// What follows it.
    pub space: Space,
}

impl Atom {
    /// How it is written.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }
}

/// Where runs of letters are cut, by the hash of the run in lower case: one bit for each cut, counted in
/// characters.
pub(crate) type Cuts = FxHashMap<u64, u32>;

/// The key of a run in [`Cuts`].
pub(crate) fn cut_key(run: &str) -> u64 {
    let mut lower = [0; 32];
    match lower.get_mut(..run.len()) {
        Some(lower) if run.is_ascii() => {
            lower.copy_from_slice(run.as_bytes());
            lower.make_ascii_lowercase();
            hash::key(lower)
        }
        _ => hash::key(run.to_lowercase().as_bytes()),
    }
}

/// Yields the atoms of a text from a place on.
#[derive(Debug, Clone)]
pub(crate) struct Atoms<'t> {
    text: &'t str,
    at: usize,
    cuts: &'t Cuts,
    /// The rest of a run that was cut: its end and its cuts, counted from where it starts.
    rest: Option<(usize, u32)>,
}

impl<'t> Atoms<'t> {
    /// Atoms from the first character at or behind `at` that is no white space.
    pub fn new(text: &'t str, at: usize, cuts: &'t Cuts) -> Self {
        let at = text.len() - text[at..].trim_start().len();
        Self { text, at, cuts, rest: None }
    }

    fn grapheme(&self, at: usize) -> &'t str {
        let grapheme = self.text[at..].graphemes(true).next().unwrap_or_default();
        // A few signs (Arabic year sign) take what follows into their cluster, blanks too.
        let end = grapheme.find(char::is_whitespace).unwrap_or(grapheme.len());
        &grapheme[..end]
    }

    /// The character at a place with all that combines with it, and its class.
    fn cluster(&self, at: usize) -> Option<(&'t str, Class)> {
        let bytes = self.text.as_bytes();
        let byte = *bytes.get(at)?;
        if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
            let class = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
                b'0'..=b'9' => Class::Digit,
                _ if is_space(char::from(byte)) => return None,
                _ => Class::Mark,
            };
            return Some((&self.text[at..at + 1], class));
        }
        let first = self.text[at..].chars().next()?;
        if is_space(first) {
            return None;
        }
        let cluster = self.grapheme(at);
        Some((cluster, class_of(first, cluster)))
    }

    fn run(&self, start: usize) -> Option<(usize, Class)> {
        let (first, class) = self.cluster(start)?;
        let mut end = start + first.len();
        let runs = match class {
            Class::Letter | Class::Digit => true,
            Class::Ideograph | Class::Emoji => false,
            Class::Mark => RUNS.contains(first),
        };
        while runs && let Some((next, its)) = self.cluster(end) {
            if its != class || (class == Class::Mark && next != first) {
                break;
            }
            end += next.len();
        }
        Some((end, class))
    }

    fn space(&self, from: usize) -> (usize, Space) {
        let rest = &self.text[from..];
        if let [b' ', next, ..] = rest.as_bytes()
            && next.is_ascii_graphic()
        {
            return (from + 1, Space::Blank);
        }
        let behind = rest.trim_start();
        let space = &rest[..rest.len() - behind.len()];
        let kind = if behind.is_empty() || is_paragraph_break(space) {
            Space::Paragraph
        } else if space.is_empty() {
            Space::None
        } else if space == " " {
            Space::Blank
        } else if space.contains(LINE_ENDS) {
            if begins_anew(&self.text[..from], behind) { Space::Paragraph } else { Space::Line }
        } else {
            Space::Wide
        };
        (from + space.len(), kind)
    }
}

/// Marks that stand for one thing however often they are repeated.
const RUNS: &str = ".!?-–—*=_~#+…。！？";

/// What ends a line.
const LINE_ENDS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Whether white space has a blank line in it.
fn is_paragraph_break(space: &str) -> bool {
    let newlines = space.bytes().filter(|&byte| byte == b'\n').count();
    let returns = space.bytes().filter(|&byte| byte == b'\r').count();
    newlines.max(returns) > 1 || space.contains('\u{2029}')
}

impl Iterator for Atoms<'_> {
    type Item = Atom;

    fn next(&mut self) -> Option<Atom> {
        let start = self.at;
        let (run, mask, class) = match self.rest.take() {
            Some((end, mask)) => (end, mask, Class::Letter),
            None => {
                let (end, class) = self.run(start)?;
                let mask = if class == Class::Letter && !self.cuts.is_empty() {
                    self.cuts.get(&cut_key(&self.text[start..end])).copied().unwrap_or(0)
                } else {
                    0
                };
                (end, mask, class)
            }
        };
        let length = mask.trailing_zeros();
        if mask != 0
            && let Some((cut, _)) = self.text[start..run].char_indices().nth(length as usize)
            && cut > 0
        {
            self.at = start + cut;
            // A cut at bit 31 leaves nothing behind it.
            self.rest = Some((run, mask.checked_shr(length).unwrap_or(0) & !1));
            return Some(Atom { start, end: self.at, class, space: Space::None });
        }
        let (at, space) = self.space(run);
        self.at = at;
        Some(Atom { start, end: run, class, space })
    }
}

fn class_of(first: char, cluster: &str) -> Class {
    if cluster.contains(['\u{fe0f}', '\u{20e3}']) || is_emoji(first) {
        Class::Emoji
    } else if first.is_numeric() {
        Class::Digit
    } else if is_spaceless(first) {
        Class::Ideograph
    } else if first.is_alphabetic() {
        Class::Letter
    } else {
        Class::Mark
    }
}

/// Letters of scripts that are written without spaces between words.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{e01}'..='\u{e7f}' | '\u{e80}'..='\u{eff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}')
        && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, cuts: &Cuts) -> Vec<String> {
        Atoms::new(text, 0, cuts).map(|atom| atom.of(text).to_owned()).collect()
    }

    #[test]
    fn runs_of_one_class_are_atoms() {
        let none = Cuts::default();
        assert_eq!(written(" don't 4th!!! ((", &none), ["don", "'", "t", "4", "th", "!!!", "(", "("]);
        assert_eq!(written("cafe\u{301}s naïve", &none), ["cafe\u{301}s", "naïve"]);
        assert_eq!(written("漢字かな", &none), ["漢", "字", "か", "な"]);
        assert_eq!(written("👩‍👩‍👧🇩🇪🇫🇷👍🏽1️⃣", &none), ["👩‍👩‍👧", "🇩🇪", "🇫🇷", "👍🏽", "1️⃣"]);
        assert_eq!(written("हिन्दी में", &none), ["हिन्दी", "में"]);
        assert!(written(" \n\t ", &none).is_empty());
    }

    #[test]
    fn cuts_split_runs_at_characters() {
        let cuts = Cuts::from_iter([(cut_key("cannot"), 1 << 3), (cut_key("éüö"), 0b110)]);
        assert_eq!(written("Cannot éüö not", &cuts), ["Can", "not", "é", "ü", "ö", "not"]);
    }

    #[test]
    fn white_space_is_told_apart() {
        let cuts = Cuts::default();
        let spaces: Vec<Space> =
            Atoms::new("a b  c\td\ne\r\n\r\nf\n \ng h", 0, &cuts).map(|atom| atom.space).collect();
        use Space::*;
        assert_eq!(spaces, [Blank, Wide, Wide, Line, Paragraph, Paragraph, Blank, Paragraph]);
    }
}
