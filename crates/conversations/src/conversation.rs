//! A conversation as features see it: who speaks, to whom, when, and with which words.

use consonant_learn::hash::{Fingerprint, key};
use consonant_text::jsonl::Thread;
use rustc_hash::FxHashMap;

use crate::words::{Cues, Vocabulary, for_each_word};

/// Whom a message speaks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Addressee {
    /// Nobody in particular.
    #[default]
    Nobody,
    /// An author of the conversation, named at the start.
    Author(u32),
    /// A name at the start, followed by a colon, that no author has.
    Stranger,
}

/// One message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    /// Who wrote it; lines without an author have authors of their own.
    pub author: u32,
    /// Minutes since midnight.
    pub minutes: Option<u32>,
    pub addressee: Addressee,
    pub cues: Cues,
    /// Its first words behind the addressee, and its last; zero where there is none.
    pub opening: [u64; 2],
    pub ending: u64,
    /// How many words it has.
    pub length: u32,
    /// Its place among the messages of one author in a row.
    pub run: u32,
    /// The message of the same author before and after it.
    pub before: Option<u32>,
    pub after: Option<u32>,
    /// Its different words, ordered by key, with their rarity.
    pub words: Vec<(u64, f32)>,
    /// Length of the vector of rarities.
    pub norm: f32,
    /// Authors who are named anywhere in it.
    pub named: Vec<u32>,
}

/// A conversation, ready for features.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    pub units: Vec<Unit>,
    pub authors: u32,
}

impl Conversation {
    pub(crate) fn new(thread: &Thread, vocabulary: &Vocabulary) -> Self {
        let mut names: FxHashMap<String, u32> = FxHashMap::default();
        let mut nameless = 0;
        let mut authors = Vec::with_capacity(thread.units.len());
        for unit in &thread.units {
            let count = names.len() as u32 + nameless;
            authors.push(match &unit.author {
                Some(name) => *names.entry(name.to_lowercase()).or_insert(count),
                None => {
                    nameless += 1;
                    count
                }
            });
        }
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        let mut units: Vec<Unit> = Vec::with_capacity(thread.units.len());
        for (index, (unit, &author)) in thread.units.iter().zip(&authors).enumerate() {
            let mut new = read(&unit.text, author, &names, vocabulary);
            new.minutes = unit.time.as_deref().and_then(minutes);
            new.before = last.insert(author, index as u32);
            if let Some(before) = new.before {
                units[before as usize].after = Some(index as u32);
                if before as usize + 1 == index {
                    new.run = units[before as usize].run + 1;
                }
            }
            units.push(new);
        }
        Self { units, authors: names.len() as u32 + nameless }
    }

    /// Minutes from one unit to a later one, over midnight if need be.
    pub(crate) fn minutes_between(&self, target: usize, source: usize) -> Option<u32> {
        let (from, to) = (self.units[target].minutes?, self.units[source].minutes?);
        Some((to + DAY - from) % DAY)
    }

    /// Adds authors and words to the fingerprint of the training data.
    pub(crate) fn sign(&self, fingerprint: &mut Fingerprint) {
        fingerprint.number(u64::from(self.authors));
        for unit in &self.units {
            fingerprint.number(u64::from(unit.author));
            unit.words.iter().for_each(|word| fingerprint.number(word.0));
        }
    }
}

/// The minutes of a day.
pub(crate) const DAY: u32 = 24 * 60;

/// `HH:MM`, with or without seconds, or the time in a date such as `2024-03-09T14:02:11Z`.
pub(crate) fn minutes(time: &str) -> Option<u32> {
    let clock = time.rsplit(['T', ' ']).next()?;
    let mut numbers = clock.split(':').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).map_or(part, |end| &part[..end]);
        digits.parse::<u32>().ok()
    });
    let (hours, minutes) = (numbers.next()??, numbers.next()??);
    (hours < 24 && minutes < 60).then_some(60 * hours + minutes)
}

fn read(text: &str, author: u32, names: &FxHashMap<String, u32>, vocabulary: &Vocabulary) -> Unit {
    let mut unit = Unit { author, ..Unit::default() };
    let mut opening = String::new();
    let mut found = 0;
    let mut name = String::new();
    let mut buffer = String::new();
    for_each_word(text, &mut buffer, |word, raw| {
        let own = key(word.as_bytes());
        unit.length += 1;
        unit.ending = own;
        // Names may begin or end with signs that words are stripped of.
        name.clear();
        name.extend(
            raw.trim_matches([':', ',', ';', '.', '!', '?', '@', '(', ')', '"', '\''])
                .chars()
                .flat_map(char::to_lowercase),
        );
        let named = names.get(&name).or_else(|| names.get(word)).copied();
        if let Some(named) = named {
            if !unit.named.contains(&named) {
                unit.named.push(named);
            }
            if unit.length == 1 {
                unit.addressee = Addressee::Author(named);
                return;
            }
        } else if unit.length == 1 && raw.ends_with(':') {
            unit.addressee = Addressee::Stranger;
            return;
        }
        if found < 2 {
            unit.opening[found] = own;
            if found == 0 {
                opening.push_str(word);
            }
            found += 1;
        }
        unit.words.push((own, vocabulary.rarity(own)));
    });
    unit.cues = Cues::of(text, &opening);
    unit.words.sort_unstable_by_key(|word| word.0);
    unit.words.dedup_by_key(|word| word.0);
    unit.norm = unit.words.iter().map(|word| word.1 * word.1).sum::<f32>().sqrt();
    unit
}

/// How much two messages have in common.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Overlap {
    /// Cosine of the vectors of rarities.
    pub cosine: f32,
    /// Common words that are not frequent.
    pub words: u32,
    /// The rarest common word.
    pub rarest: f32,
}

/// A word that fewer than one message in fifty has says what a message is about.
const FREQUENT: f32 = 4.0;

impl Overlap {
    pub(crate) fn of(a: &Unit, b: &Unit) -> Self {
        let mut overlap = Self::default();
        let (mut i, mut j) = (0, 0);
        let mut product = 0.0;
        while i < a.words.len() && j < b.words.len() {
            let (left, right) = (a.words[i], b.words[j]);
            if left.0 == right.0 {
                product += left.1 * left.1;
                overlap.words += u32::from(left.1 >= FREQUENT);
                overlap.rarest = overlap.rarest.max(left.1);
            }
            i += usize::from(left.0 <= right.0);
            j += usize::from(right.0 <= left.0);
        }
        if product > 0.0 {
            overlap.cosine = product / (a.norm * b.norm);
        }
        overlap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_text::jsonl::ThreadUnit;

    fn thread(units: &[(Option<&str>, Option<&str>, &str)]) -> Thread {
        let units = units.iter().map(|&(author, time, text)| ThreadUnit {
            author: author.map(str::to_owned),
            time: time.map(str::to_owned),
            text: text.to_owned(),
        });
        let mut thread = Thread::default();
        thread.units = units.collect();
        thread
    }

    #[test]
    fn names_times_and_runs_are_read() {
        let thread = thread(&[
            (Some("Ann"), Some("23:58"), "which modem, bob?"),
            (Some("bob_"), None, "ann: the blue one"),
            (Some("bob_"), Some("00:03"), "eve: or the other modem"),
            (None, Some("late"), ""),
            (Some("ann"), Some("2024-03-09T00:05:11Z"), "@Bob_ thanks"),
        ]);
        let conversation = Conversation::new(&thread, &Vocabulary::gather(std::slice::from_ref(&thread)));
        let units = &conversation.units;
        assert_eq!(units[0].addressee, Addressee::Nobody);
        assert_eq!(units[1].addressee, Addressee::Author(0));
        assert_eq!(units[2].addressee, Addressee::Stranger);
        assert_eq!(units[4].addressee, Addressee::Author(1));
        assert_eq!((units[1].run, units[2].run, units[4].run), (0, 1, 0));
        assert_eq!((units[0].after, units[4].before), (Some(4), Some(0)));
        assert_eq!(conversation.minutes_between(0, 2), Some(5));
        assert_eq!(conversation.minutes_between(0, 4), Some(7));
        assert_eq!(conversation.minutes_between(0, 1), None);
        assert_eq!((units[3].minutes, units[3].length), (None, 0));
        assert_eq!(conversation.authors, 3);
        assert_eq!(Overlap::of(&units[0], &units[3]), Overlap::default());
        assert!(Overlap::of(&units[0], &units[2]).cosine > 0.0);
    }
}
