//! What the functions of the template language make of one value.

use super::resource::Resources;
use super::template::{Function, Pattern};

/// Most n-grams that are taken from one value: a bound for tokens without end.
const MOST_NGRAMS: usize = 64;

/// Whether a character is an emoji or another pictogram.
pub fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
}

/// The shape of a word: `X` for capitals, `x` for other letters, `d` for digits, `☺` for emoji and what joins or colours them, the rest as
/// it is; runs of one kind are cut to `run` characters.
pub fn shape(word: &str, run: usize, out: &mut String) {
    out.clear();
    let (mut last, mut length) = ('\0', 0);
    for character in word.chars() {
        let kind = match character {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => 'd',
            c if is_emoji(c) => '☺',
            '\u{fe0f}' | '\u{200d}' | '\u{20e3}' => '☺',
            c => c,
        };
        length = if kind == last { length + 1 } else { 1 };
        last = kind;
        if length <= run {
            out.push(kind);
        }
    }
}

/// A value with what its functions share: its lower-cased form, and scratch space.
#[derive(Debug, Default)]
pub struct ValueReader {
    value: String,
    lower: String,
    shape: String,
}

impl ValueReader {
    /// Turns to another value.
    pub fn load(&mut self, value: &str) {
        self.value.clear();
        self.value.push_str(value);
        lower_case(value, &mut self.lower);
    }

    /// What a function of one value yields; `None` where it has none (an affix longer than the word, a word
    /// without cluster, a pattern without match).
    pub fn single<'s>(
        &'s mut self,
        function: Function,
        patterns: &[Pattern],
        resources: &'s Resources,
    ) -> Option<&'s str> {
        match function {
            Function::Value => Some(&self.value),
            Function::Lower => Some(&self.lower),
            Function::Prefix(size) => prefix(&self.value, size),
            Function::LowerPrefix(size) => prefix(&self.lower, size),
            Function::Suffix(size) => suffix(&self.value, size),
            Function::LowerSuffix(size) => suffix(&self.lower, size),
            Function::Shape => {
                shape(&self.value, 3, &mut self.shape);
                Some(&self.shape)
            }
            Function::ShortShape => {
                shape(&self.value, 1, &mut self.shape);
                Some(&self.shape)
            }
            Function::Cluster(size) => {
                let clusters = resources.clusters.as_ref()?;
                let bits = clusters.get(&self.value).or_else(|| clusters.get(&self.lower))?;
                bits_of(bits, size)
            }
            Function::AnyCaseCluster(size) => {
                let clusters = resources.clusters.as_ref()?;
                let bits = clusters.get(&self.value).or_else(|| clusters.get(&self.lower)).or_else(|| {
                    let mut letters = self.lower.chars();
                    self.shape.clear();
                    self.shape.extend(letters.next()?.to_uppercase());
                    self.shape.push_str(letters.as_str());
                    clusters.get(&self.shape)
                })?;
                bits_of(bits, size)
            }
            Function::Test(pattern) => {
                let pattern = &patterns[usize::from(pattern)];
                let value = if pattern.lower { &self.lower } else { &self.value };
                Some(if pattern.regex.is_match(value) { "true" } else { "false" })
            }
            Function::Match(pattern) => {
                let pattern = &patterns[usize::from(pattern)];
                let value = if pattern.lower { &self.lower } else { &self.value };
                pattern.regex.find(value).map(|found| found.as_str())
            }
            Function::NGrams(_) | Function::LowerNGrams(_) | Function::Vector | Function::Gazetteer(_) => {
                None
            }
        }
    }

    /// Every n-gram of characters of the value, its ends marked with `^` and `$`.
    pub fn ngrams(&self, function: Function, mut found: impl FnMut(&str)) {
        let (size, value) = match function {
            Function::NGrams(size) => (usize::from(size), &self.value),
            Function::LowerNGrams(size) => (usize::from(size), &self.lower),
            _ => return,
        };
        let marked: Vec<char> = std::iter::once('^')
            .chain(value.chars())
            .chain(std::iter::once('$'))
            .take(MOST_NGRAMS + size)
            .collect();
        let mut gram = String::new();
        for window in marked.windows(size) {
            gram.clear();
            gram.extend(window);
            found(&gram);
        }
    }

    /// The value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The value in lower case.
    pub fn lower(&self) -> &str {
        &self.lower
    }
}

/// Writes a value in lower case.
pub(super) fn lower_case<'s>(value: &str, lower: &'s mut String) -> &'s str {
    lower.clear();
    if value.is_ascii() {
        lower.push_str(value);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(value.chars().flat_map(char::to_lowercase));
    }
    lower
}

/// The first bits of a cluster, or all.
fn bits_of(bits: &str, size: Option<u8>) -> Option<&str> {
    size.map_or(Some(bits), |size| prefix(bits, size))
}

fn prefix(value: &str, size: u8) -> Option<&str> {
    let (last, character) = value.char_indices().nth(usize::from(size) - 1)?;
    Some(&value[..last + character.len_utf8()])
}

fn suffix(value: &str, size: u8) -> Option<&str> {
    let (first, _) = value.char_indices().rev().nth(usize::from(size) - 1)?;
    Some(&value[first..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_the_papers_example() {
        let mut out = String::new();
        shape("ex-England", 3, &mut out);
        assert_eq!(out, "xx-Xxxx");
        shape("37-run", 3, &mut out);
        assert_eq!(out, "dd-xxx");
        shape("Überraschung", 1, &mut out);
        assert_eq!(out, "Xx");
    }

    #[test]
    fn emoji_that_were_never_seen_have_the_shape_of_others() {
        let mut out = String::new();
        for word in ["🚀", "❤️", "😀😀", "👩‍👩‍👧"] {
            shape(word, 1, &mut out);
            assert_eq!(out, "☺");
        }
    }

    #[test]
    fn affixes_are_counted_in_characters_and_end_with_the_word() {
        assert_eq!(prefix("žena", 2), Some("že"));
        assert_eq!(suffix("naisteõhtu", 4), Some("õhtu"));
        assert_eq!(suffix("ab", 3), None);
        assert_eq!(prefix("", 1), None);
    }

    #[test]
    fn ngrams_mark_both_ends() {
        let mut reader = ValueReader::default();
        reader.load("Ab");
        let mut grams = Vec::new();
        reader.ngrams(Function::LowerNGrams(3), |gram| grams.push(gram.to_owned()));
        assert_eq!(grams, ["^ab", "ab$"]);
    }
}
