//! What a gap looks at: the atoms around it, what the rules say, and what is known of the words.

use consonant_learn::hash::{self, combine};

use crate::Rules;
use crate::atoms::{Atom, Class, Space};
use crate::parts::Gap;
use crate::statistics::Statistics;

/// Atoms beyond the ends of the text.
const OUTSIDE: View = View { low: 1, shape: 2, known: 0, space: Space::Paragraph, class: Class::Mark };

/// What features see of an atom.
#[derive(Debug, Clone, Copy)]
struct View {
    /// The key of how it is written, in lower case.
    low: u64,
    /// Its class, capitals and length; a mark is its own shape.
    shape: u64,
    /// What statistics say.
    known: u8,
    space: Space,
    class: Class,
}

/// Makes the features of the gaps of a text, with buffers that are reused.
#[derive(Debug, Default)]
pub(crate) struct Extractor {
    views: Vec<View>,
    rules: Vec<Gap>,
    /// The key of what stands between the last white space and the end of each atom.
    before: Vec<u64>,
    /// The key of what stands between the start of each atom and the next white space.
    after: Vec<u64>,
    /// Atoms since the last stop, up to the atom.
    since: Vec<u32>,
    /// Atoms until the next stop, from the atom on.
    until: Vec<u32>,
    /// Whether an odd number of straight quotes stands before the end of each atom.
    quoted: Vec<bool>,
    lower: String,
}

impl Extractor {
    /// The key of an atom in lower case, by which statistics know it.
    pub fn low(&mut self, word: &str) -> u64 {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
        } else {
            self.lower.extend(word.chars().flat_map(char::to_lowercase));
        }
        hash::key(self.lower.as_bytes())
    }

    /// Looks at a text; `features` then speaks of its gaps.
    pub fn load(&mut self, text: &str, atoms: &[Atom], statistics: &Statistics) {
        Rules::default().gaps(text, atoms, &mut self.rules);
        self.views.clear();
        for atom in atoms {
            let word = atom.of(text);
            let low = self.low(word);
            let known = if atom.class == Class::Letter { statistics.get(low) } else { 0 };
            let shape = if atom.class == Class::Mark { low } else { shape(word, atom.class) };
            // Treebanks have no line ends inside of paragraphs, raw text is full of them: a line end is a
            // blank.
            let space = if atom.space == Space::Line { Space::Blank } else { atom.space };
            self.views.push(View { low, shape, known, space, class: atom.class });
        }
        let count = atoms.len();
        for keys in [&mut self.before, &mut self.after] {
            keys.clear();
            keys.resize(count, 0);
        }
        for lengths in [&mut self.since, &mut self.until] {
            lengths.clear();
            lengths.resize(count, 0);
        }
        self.quoted.clear();
        let (mut key, mut since, mut quoted) = (0, 0, false);
        for (at, view) in self.views.iter().enumerate() {
            let touches = at > 0 && self.views[at - 1].space == Space::None;
            key = if touches { combine(key, view.low) } else { view.low };
            self.before[at] = key;
            since = if is_stop(atoms[at], text) { 0 } else { since + 1 };
            self.since[at] = since;
            quoted ^= atoms[at].of(text) == "\"";
            self.quoted.push(quoted);
        }
        let mut until = 0;
        for (at, view) in self.views.iter().enumerate().rev() {
            key = if view.space == Space::None && at + 1 < count { combine(key, view.low) } else { view.low };
            self.after[at] = key;
            until = if is_stop(atoms[at], text) { 0 } else { until + 1 };
            self.until[at] = until;
        }
    }

    fn view(&self, at: usize, offset: isize) -> View {
        at.checked_add_signed(offset).and_then(|at| self.views.get(at)).copied().unwrap_or(OUTSIDE)
    }

    /// The features of the gap behind an atom.
    pub fn features(&self, at: usize, keys: &mut Vec<u64>) {
        keys.clear();
        let (a2, a1, a0) = (self.view(at, -2), self.view(at, -1), self.view(at, 0));
        let (b0, b1, b2) = (self.view(at, 1), self.view(at, 2), self.view(at, 3));
        let space = a0.space as u64;
        // White space on both sides and in the gap, in one number.
        let spaces = space + 5 * a1.space as u64 + 25 * b0.space as u64;
        let rule = self.rules[at] as u64;
        let rule_before = if at > 0 { self.rules[at - 1] as u64 } else { 3 };
        let rule_after = self.rules.get(at + 1).map_or(3, |&rule| rule as u64);
        let around = rule + 4 * rule_before + 16 * rule_after;
        let mut template = space << 8;
        let mut add = |parts: &[u64]| {
            template += 1;
            keys.push(parts.iter().fold(combine(0x5e9, template), |key, &part| combine(key, part)));
        };
        add(&[]);
        add(&[around]);
        add(&[rule, a0.low]);
        add(&[rule, b0.low]);
        add(&[around, a0.shape, b0.shape]);
        add(&[a0.low, b0.low]);
        add(&[a0.shape, b0.shape, spaces]);
        add(&[a1.low, a0.low]);
        add(&[b0.low, b1.low]);
        add(&[a1.low, a0.low, b0.low]);
        add(&[a0.low, b0.low, b1.low]);
        add(&[a0.low, b0.shape]);
        add(&[a0.shape, b0.low]);
        add(&[a1.shape, a0.shape, b0.shape, spaces]);
        add(&[a0.shape, b0.shape, b1.shape, spaces]);
        add(&[a1.shape, a0.shape, b0.shape, b1.shape, spaces]);
        add(&[a2.shape, a1.shape, a0.shape, b0.shape]);
        add(&[a0.shape, b0.shape, b1.shape, b2.shape]);
        add(&[a1.low, a0.shape, b0.shape]);
        add(&[a2.low, a1.low, a0.low]);
        if a0.space == Space::None {
            add(&[self.before[at]]);
            add(&[self.after[at + 1]]);
            add(&[self.before[at], self.after[at + 1]]);
            return;
        }
        let case = u64::from(b0.known >> 5);
        let left = u64::from(if a0.class == Class::Mark { a1.known } else { a0.known });
        let since = bucket(self.since[at]);
        let until = bucket(self.until[at + 1]);
        add(&[self.before[at], b0.shape]);
        add(&[left, a0.shape, b0.shape]);
        add(&[case, a0.shape, b0.shape]);
        add(&[u64::from(b0.known), left, b0.shape]);
        add(&[since, a0.class as u64, b0.shape, rule]);
        add(&[until, a0.class as u64, b0.shape, rule]);
        add(&[since, until, case, b0.shape, a0.class as u64]);
        add(&[u64::from(self.quoted[at]), a0.low, b0.shape]);
        add(&[case, b1.shape, b0.shape, u64::from(b1.known >> 5), a0.class as u64]);
        add(&[case, b0.shape, a0.low]);
        // An abbreviation is one whatever follows.
        add(&[self.before[at]]);
    }
}

fn is_stop(atom: Atom, text: &str) -> bool {
    atom.class == Class::Mark && atom.of(text).starts_with(['.', '!', '?', '…', '。', '！', '？', ':'])
}

/// Lengths on a scale that grows coarser.
fn bucket(length: u32) -> u64 {
    u64::from(match length {
        0..=4 => length,
        5..=6 => 5,
        7..=9 => 6,
        10..=14 => 7,
        15..=24 => 8,
        25..=49 => 9,
        _ => 10,
    })
}

/// Class, capitals and length of a word in one number.
fn shape(word: &str, class: Class) -> u64 {
    let length = word.chars().take(5).count() as u64;
    let mut characters = word.chars();
    let case = match class {
        Class::Letter => {
            let first = characters.next().is_some_and(char::is_uppercase);
            let (mut upper, mut lower) = (false, false);
            characters.for_each(|c| {
                upper |= c.is_uppercase();
                lower |= c.is_lowercase();
            });
            u64::from(first) | u64::from(upper) << 1 | u64::from(lower) << 2
        }
        // Kana and Han have a shape each.
        Class::Ideograph => characters.next().map_or(0, |c| u64::from(u32::from(c) >> 7)),
        Class::Digit | Class::Emoji | Class::Mark => 0,
    };
    combine(combine(0x5ba9e, class as u64), case << 3 | length)
}
