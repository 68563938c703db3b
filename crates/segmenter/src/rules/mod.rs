//! Rules for languages without a model, and what a trained model hears as first opinion.
//!
//! One pass gives each gap its usual answer by the classes of its two atoms; then web addresses, emoticons,
//! numbers and abbreviations join what belongs together, and sentence ends are looked for. Each step takes
//! linear time.

mod abbreviations;
mod addresses;

use crate::atoms::{Atom, Class, Space};
use crate::parts::Gap;
use abbreviations::{is_abbreviation, is_title, starts_sentences};

/// What to do with the hyphen in `well-known`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hyphens {
    /// Three tokens, as Unicode's word breaks and newer treebanks have it.
    #[default]
    Cut,
    /// One token.
    Keep,
}

/// What to do with `don't`, `Ann's` and `cannot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contractions {
    /// One token, one word.
    #[default]
    Keep,
    /// Several tokens, as the Penn Treebank cuts them: `do` `n't`.
    Cut,
    /// One token of several words, as in newer English treebanks.
    Multiword,
}

/// How the rules cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Hyphens between letters.
    pub hyphens: Hyphens,
    /// English contractions.
    pub contractions: Contractions,
}

impl Rules {
    /// As newer English treebanks cut.
    pub fn english() -> Self {
        Self { hyphens: Hyphens::Cut, contractions: Contractions::Multiword }
    }

    /// Decides the gaps behind all atoms but the last, which ends everything.
    pub(crate) fn gaps(&self, text: &str, atoms: &[Atom], gaps: &mut Vec<Gap>) {
        gaps.clear();
        let count = atoms.len().saturating_sub(1);
        gaps.extend((0..count).map(|at| self.usual(text, atoms, at)));
        join_addresses(text, atoms, gaps);
        join_emoticons(text, atoms, gaps);
        join_abbreviations(text, atoms, gaps);
        end_sentences(text, atoms, gaps);
    }

    /// The gap by the classes of its two sides and little more.
    fn usual(&self, text: &str, atoms: &[Atom], at: usize) -> Gap {
        let (left, right) = (atoms[at], atoms[at + 1]);
        if left.space != Space::None {
            return Gap::Token;
        }
        let joined = match (left.class, right.class) {
            (Class::Letter | Class::Digit, Class::Letter | Class::Digit) => true,
            (Class::Ideograph, Class::Ideograph) => is_katakana(left.of(text)) && is_katakana(right.of(text)),
            (Class::Letter | Class::Digit, Class::Mark) => {
                at + 2 < atoms.len() && right.space == Space::None && self.links(text, &atoms[at..at + 3])
            }
            (Class::Mark, Class::Letter | Class::Digit) => {
                let touches = at > 0 && atoms[at - 1].space == Space::None;
                touches && self.links(text, &atoms[at - 1..at + 2])
                    || !touches && begins_word(left.of(text), right.class)
            }
            (Class::Mark, Class::Mark) => {
                let ends = |atom: Atom| atom.of(text).bytes().all(|byte| matches!(byte, b'!' | b'?'));
                ends(left) && ends(right)
            }
            _ => false,
        };
        if joined { Gap::Join } else { Gap::Token }
    }

    /// Whether the mark in the middle of three touching atoms holds them together.
    fn links(&self, text: &str, three: &[Atom]) -> bool {
        let &[left, mark, right] = three else { return false };
        match (left.class, mark.of(text), right.class) {
            (Class::Letter | Class::Digit, "'" | "’" | "_", Class::Letter | Class::Digit) => true,
            (Class::Digit, "." | "," | ":" | "/", Class::Digit) => true,
            (Class::Digit, "-", Class::Digit) => is_date(text, left, right),
            (Class::Letter, "-" | "‐" | "‑", Class::Letter) => self.hyphens == Hyphens::Keep,
            (Class::Letter, "&", Class::Letter) => {
                [left, right].iter().all(|atom| atom.of(text).chars().all(char::is_uppercase))
            }
            (Class::Letter, ".", Class::Letter) => is_initial(left.of(text)) && is_initial(right.of(text)),
            _ => false,
        }
    }
}

/// `2024-05-01`: a number of four digits and others of two, hyphens between them.
fn is_date(text: &str, left: Atom, right: Atom) -> bool {
    let digits = |end: usize| {
        text.as_bytes()[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).take(5).count()
    };
    let two = right.end - right.start == 2;
    let bytes = text.as_bytes();
    let at = left.start;
    match left.end - left.start {
        4 => {
            two && bytes.get(right.end) == Some(&b'-')
                && bytes[right.end + 1..].first().is_some_and(u8::is_ascii_digit)
        }
        2 => two && at > 4 && bytes[at - 1] == b'-' && digits(at - 1) == 4,
        _ => false,
    }
}

/// Signs before numbers, marks of hash tags and user names.
fn begins_word(mark: &str, next: Class) -> bool {
    match mark {
        "#" | "@" | "_" => true,
        "-" | "+" | "±" => next == Class::Digit,
        _ => false,
    }
}

fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

fn is_katakana(character: &str) -> bool {
    character.chars().next().is_some_and(|c| matches!(c, '\u{30a1}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'))
}

/// Joins the atoms of each web and mail address.
fn join_addresses(text: &str, atoms: &[Atom], gaps: &mut [Gap]) {
    let mut chunk_end = 0;
    let mut chunk_has_addresses = false;
    let mut at = 0;
    let mut chunk_start = 0;
    while at < atoms.len() {
        if atoms[at].start >= chunk_end {
            chunk_start = atoms[at].start;
            let last =
                atoms[at..].iter().find(|atom| atom.space != Space::None).unwrap_or(&atoms[atoms.len() - 1]);
            chunk_end = last.end;
            chunk_has_addresses = addresses::possible(&text[chunk_start..chunk_end]);
        }
        let start = atoms[at].start;
        let found = if chunk_has_addresses && atoms[at].class != Class::Mark {
            addresses::end_of(&text[chunk_start..chunk_end], start - chunk_start)
        } else {
            None
        };
        if let Some(end) = found {
            while atoms[at].end < chunk_start + end {
                gaps[at] = Gap::Join;
                at += 1;
            }
            if at < gaps.len() {
                gaps[at] = Gap::Token;
            }
        }
        at += 1;
    }
}

const EMOTICONS: [&str; 31] = [
    ":)", ":(", ";)", ":-)", ":-(", ";-)", ":D", ":-D", ";D", ":P", ":-P", ":p", ":-p", ";P", ":O", ":o",
    ":/", ":-/", ":|", ":-|", ":*", ":'(", "=)", "=(", "=D", "=P", "<3", "^^", "^_^", "-_-", ":))",
];

fn join_emoticons(text: &str, atoms: &[Atom], gaps: &mut [Gap]) {
    for at in 0..gaps.len() {
        if atoms[at].class != Class::Mark
            || !matches!(text.as_bytes()[atoms[at].start], b':' | b';' | b'=' | b'<' | b'^' | b'-')
        {
            continue;
        }
        // Short faces only: three atoms more at most, then white space or the end.
        let last = (at..atoms.len().min(at + 4)).find(|&last| atoms[last].space != Space::None);
        let last = last.or((atoms.len() <= at + 4).then(|| atoms.len() - 1));
        if let Some(last) = last
            && EMOTICONS.contains(&&text[atoms[at].start..atoms[last].end])
        {
            gaps[at..last].fill(Gap::Join);
            if at > 0 && atoms[at - 1].space == Space::None {
                gaps[at - 1] = Gap::Token;
            }
        }
    }
}

/// Joins the period of an abbreviation to it.
fn join_abbreviations(text: &str, atoms: &[Atom], gaps: &mut [Gap]) {
    for at in 1..atoms.len() {
        if atoms[at].of(text) != "."
            || atoms[at - 1].class != Class::Letter
            || atoms[at - 1].space != Space::None
        {
            continue;
        }
        let word = atoms[at - 1].of(text);
        let dotted = at >= 2 && gaps[at - 2] == Gap::Join && atoms[at - 2].of(text) == ".";
        let starts = at < 2 || gaps[at - 2] != Gap::Join;
        let initial = starts
            && is_initial(word)
            && word.chars().all(char::is_uppercase)
            && atoms[at].space == Space::Blank
            && atoms.get(at + 1).is_some_and(|next| begins_upper(next.of(text)));
        if dotted && is_initial(word) || starts && is_abbreviation(word) || initial {
            gaps[at - 1] = Gap::Join;
        }
    }
}

fn begins_upper(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

fn begins_lower(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_lowercase)
}

/// Marks that may stand between a full stop and the end of its sentence.
const CLOSERS: [&str; 15] =
    [")", "]", "}", "\"", "'", "”", "’", "»", "」", "』", "）", "】", "››", "›", "``"];
/// Marks that may stand before the first word of a sentence.
const OPENERS: [&str; 17] =
    ["(", "[", "{", "\"", "'", "“", "‘", "«", "‹", "「", "『", "（", "¿", "¡", "-", "–", "*"];

/// How surely a mark ends a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// A period, which does other work too.
    Period,
    /// Dots that trail off.
    Ellipsis,
    /// `!`, `?` and their like.
    Strong,
    /// Full stops of scripts without spaces.
    Spaceless,
}

fn stop(mark: &str) -> Option<Stop> {
    Some(match mark.chars().next()? {
        '.' if mark.len() == 1 => Stop::Period,
        '.' | '…' => Stop::Ellipsis,
        '!' | '?' | '؟' | '۔' | '।' | '॥' | '።' | '‼' | '⁇' | '⁈' | '⁉' => Stop::Strong,
        '。' | '！' | '？' | '｡' => Stop::Spaceless,
        _ => return None,
    })
}

fn end_sentences(text: &str, atoms: &[Atom], gaps: &mut [Gap]) {
    let mut sentence = 0;
    let mut at = 0;
    while at < gaps.len() {
        let Some(stop) = (atoms[at].class == Class::Mark).then(|| stop(atoms[at].of(text))).flatten() else {
            at += 1;
            continue;
        };
        if gaps[at] == Gap::Join {
            at += 1;
            continue;
        }
        let mut end = at;
        while end + 1 < atoms.len()
            && atoms[end].space == Space::None
            && CLOSERS.contains(&atoms[end + 1].of(text))
        {
            end += 1;
        }
        if end < gaps.len()
            && (stop == Stop::Spaceless || atoms[end].space != Space::None)
            && ends_sentence(text, atoms, gaps, stop, sentence, at, end + 1)
        {
            gaps[end] = Gap::Sentence;
            sentence = end + 1;
        }
        at = end + 1;
    }
}

/// Whether a stop at `at` ends the sentence that began at `sentence`, when `next` would begin another.
fn ends_sentence(
    text: &str,
    atoms: &[Atom],
    gaps: &[Gap],
    stop: Stop,
    sentence: usize,
    at: usize,
    next: usize,
) -> bool {
    let first =
        atoms[next..].iter().find(|atom| !OPENERS.contains(&atom.of(text))).map_or("", |atom| atom.of(text));
    match stop {
        Stop::Spaceless => true,
        Stop::Strong => !begins_lower(first),
        Stop::Ellipsis => begins_upper(first),
        Stop::Period if at == 0 => false,
        Stop::Period if gaps[at - 1] == Gap::Join => {
            // The period belongs to an abbreviation: only words that often begin sentences tell.
            !is_title(atoms[at - 1].of(text)) && begins_upper(first) && starts_sentences(first)
        }
        // `1.` at the start of a sentence numbers an item.
        Stop::Period if atoms[at - 1].class == Class::Digit && at - 1 == sentence => false,
        Stop::Period => !begins_lower(first),
    }
}
