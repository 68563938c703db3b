//! What unlabelled text says of a word: how often a period follows it, and how often it is written small.
//!
//! Words that mostly have a period behind them are abbreviations; a word that is mostly written small but has
//! a capital here begins a sentence. Ratios are kept in a byte for each word, in a table of slots that lies
//! in the model file.

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter, Section};
use rustc_hash::FxHashMap;

use crate::atoms::{Atom, Class, Space};

/// Words that occur less often say nothing.
const LEAST_COUNT: u32 = 2;
/// The byte of a slot; the rest of it is the word's key.
const BYTE: u64 = 0xff;

/// Counts of a word.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    all: u32,
    small: u32,
    dotted: u32,
}

impl Counts {
    fn byte(self) -> u8 {
        let often = match self.all {
            ..LEAST_COUNT => return 0,
            2..=3 => 1,
            4..=15 => 2,
            _ => 3,
        };
        let ratio = |part: u32, steps: [f64; 5]| {
            let ratio = f64::from(part) / f64::from(self.all);
            steps.iter().filter(|&&step| ratio > step).count() as u8
        };
        often
            | ratio(self.dotted, [0.0, 0.1, 0.3, 0.6, 0.9]) << 2
            | ratio(self.small, [0.0, 0.1, 0.5, 0.9, 0.999]) << 5
    }
}

/// Gathers statistics from text.
#[derive(Debug, Default)]
pub(crate) struct StatisticsBuilder {
    counts: FxHashMap<u64, Counts>,
}

impl StatisticsBuilder {
    /// Reads the atoms of a paragraph; `key` is that of an atom in lower case.
    pub fn add(&mut self, text: &str, atoms: &[Atom], key: impl Fn(usize) -> u64) {
        for (at, atom) in atoms.iter().enumerate() {
            if atom.class != Class::Letter {
                continue;
            }
            let counts = self.counts.entry(key(at)).or_default();
            counts.all += 1;
            counts.small += u32::from(atom.of(text).starts_with(char::is_lowercase));
            let dotted =
                atom.space == Space::None && atoms.get(at + 1).is_some_and(|next| next.of(text) == ".");
            counts.dotted += u32::from(dotted);
        }
    }

    /// The table. What an older one says stays as it is: weights were learned with it.
    pub fn finish(self, older: Option<&Statistics>) -> Statistics {
        let new = self.counts.into_iter().map(|(key, counts)| (key & !BYTE, counts.byte()));
        let known = older.into_iter().flat_map(Statistics::words);
        let words: FxHashMap<u64, u8> = new.filter(|&(_, byte)| byte != 0).chain(known).collect();
        let mut words: Vec<(u64, u8)> = words.into_iter().collect();
        words.sort_unstable();
        let mut slots = vec![0u64; (words.len() * 2).next_power_of_two()];
        for (key, byte) in words {
            let mut at = slot(key, slots.len());
            while slots[at] != 0 {
                at = (at + 1) % slots.len();
            }
            slots[at] = key | u64::from(byte);
        }
        Statistics { slots: Section::from_slice(&slots) }
    }
}

fn slot(key: u64, slots: usize) -> usize {
    (key >> 32) as usize % slots
}

/// A byte for each word that was seen more than once.
#[derive(Debug, Clone)]
pub(crate) struct Statistics {
    slots: Section<u64>,
}

impl Statistics {
    /// The byte of a word; 0 if nothing is known of it.
    pub fn get(&self, key: u64) -> u8 {
        let slots: &[u64] = &self.slots;
        let mut at = slot(key, slots.len());
        for _ in 0..slots.len() {
            let found = slots[at];
            if found == 0 || found & !BYTE == key & !BYTE {
                return (found & BYTE) as u8;
            }
            at = (at + 1) % slots.len();
        }
        0
    }

    fn words(&self) -> impl Iterator<Item = (u64, u8)> {
        let slots = self.slots.iter().filter(|&&slot| slot != 0);
        slots.map(|slot| (slot & !BYTE, (slot & BYTE) as u8))
    }

    /// Puts the table into a model.
    pub fn store(&self, writer: &mut ModelWriter) {
        writer.array::<u64>("statistics", &self.slots);
    }

    /// Reads the table of a model.
    pub fn open(model: &Model) -> Result<Self, LearnError> {
        let slots: Section<u64> = model.array("statistics")?;
        if slots.is_empty() {
            return Err(model.damaged("its word statistics are empty"));
        }
        Ok(Self { slots })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atoms::{Atoms, Cuts};
    use consonant_learn::hash;

    #[test]
    fn ratios_are_found_again() {
        let text = "etc. the The etc. the the once";
        let cuts = Cuts::default();
        let atoms: Vec<Atom> = Atoms::new(text, 0, &cuts).collect();
        let key = |word: &str| hash::key(word.to_lowercase().as_bytes());
        let mut builder = StatisticsBuilder::default();
        builder.add(text, &atoms, |at| key(atoms[at].of(text)));
        let statistics = builder.finish(None);
        assert_eq!(statistics.get(key("etc")), 1 | 5 << 2 | 5 << 5);
        assert_eq!(statistics.get(key("the")), 2 | 3 << 5);
        assert_eq!((statistics.get(key("once")), statistics.get(key("never"))), (0, 0));
        let text = "never The never The";
        let atoms: Vec<Atom> = Atoms::new(text, 0, &cuts).collect();
        let mut builder = StatisticsBuilder::default();
        builder.add(text, &atoms, |at| key(atoms[at].of(text)));
        let more = builder.finish(Some(&statistics));
        assert_eq!((more.get(key("the")), more.get(key("etc"))), (2 | 3 << 5, 1 | 5 << 2 | 5 << 5));
        assert_eq!(more.get(key("never")), 1 | 5 << 5);
    }
}
