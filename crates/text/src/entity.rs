//! Entities as spans of words, and the ways to write them as one label a word.
//!
//! ```
//! use consonant_text::entity::{Scheme, convert};
//!
//! let labels = ["B-PER", "I-PER", "O", "B-LOC"];
//! let entities = Scheme::Iob2.decode(&labels)?;
//! assert_eq!(entities.len(), 2);
//! assert_eq!((entities[0].words.clone(), entities[0].kind), (0..2, "PER"));
//! assert_eq!(convert(&labels, Scheme::Iob2, Scheme::Bioes)?, ["B-PER", "E-PER", "O", "S-LOC"]);
//! assert!(Scheme::Iob2.decode(&["O", "I-PER"]).is_err());
//! assert_eq!(Scheme::Iob2.repair(&["O", "I-PER"]), ["O", "B-PER"]);
//! # Ok::<(), consonant_text::entity::LabelError>(())
//! ```

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A way to write entities as one label a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// `I-` everywhere, `B-` only where an entity follows another of the same type at once.
    Iob1,
    /// `B-` begins every entity, `I-` goes on.
    Iob2,
    /// Like [`Iob2`](Scheme::Iob2), with `E-` at the end and `S-` for a single word.
    Bioes,
    /// Like [`Bioes`](Scheme::Bioes), with the letters `L-` and `U-`.
    Bilou,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Scheme; 4] = [Scheme::Iob1, Scheme::Iob2, Scheme::Bioes, Scheme::Bilou];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Iob1 => "iob1",
            Scheme::Iob2 => "iob2",
            Scheme::Bioes => "bioes",
            Scheme::Bilou => "bilou",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected iob1, iob2 (or bio), bioes or bilou, came `{0}`")]
pub struct UnknownScheme(String);

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        match name {
            "iob1" => Ok(Scheme::Iob1),
            "iob2" | "bio" => Ok(Scheme::Iob2),
            "bioes" => Ok(Scheme::Bioes),
            "bilou" => Ok(Scheme::Bilou),
            _ => Err(UnknownScheme(name.to_owned())),
        }
    }
}

/// An entity: which words, and of which type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity<'a> {
    /// Its words, counted from 0.
    pub words: Range<usize>,
    /// Its type, such as `LOC`.
    pub kind: &'a str,
}

/// The role of a word in its entity, whatever letter the scheme has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The first of several words (in IOB1, the first after an entity of the same type).
    Begin,
    /// Another word of an entity (in IOB1, also the first).
    Inside,
    /// The last of several words.
    End,
    /// The only word.
    Single,
}

/// A label taken apart; nothing is `O`.
pub type Tag<'a> = Option<(Position, &'a str)>;

/// A label that is not of its scheme, or may not stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("label `{label}` of word {} may not stand {after} in {scheme}; {hint}", .word + 1)]
#[non_exhaustive]
pub struct LabelError {
    /// The word, counted from 0.
    pub word: usize,
    /// Its label.
    pub label: String,
    /// Where it stands: after which label, or at which end of the sentence.
    pub after: String,
    /// The scheme.
    pub scheme: Scheme,
    /// What to do.
    pub hint: &'static str,
}

impl Scheme {
    /// Takes a label apart; nothing at all if it is none of this scheme.
    pub fn parse(self, label: &str) -> Option<Tag<'_>> {
        if label == "O" {
            return Some(None);
        }
        let (letter, kind) = label.split_once('-')?;
        let position = match (letter, self) {
            ("B", _) => Position::Begin,
            ("I", _) => Position::Inside,
            ("E", Scheme::Bioes) | ("L", Scheme::Bilou) => Position::End,
            ("S", Scheme::Bioes) | ("U", Scheme::Bilou) => Position::Single,
            _ => return None,
        };
        (!kind.is_empty()).then_some(Some((position, kind)))
    }

    /// Whether a label may follow another; before the first and after the last word stands `O` (nothing).
    pub fn allows(self, before: Tag<'_>, after: Tag<'_>) -> bool {
        use Position::{Begin, End, Inside, Single};
        let same_kind = matches!((before, after), (Some(a), Some(b)) if a.1 == b.1);
        match self {
            Scheme::Iob1 => !matches!(after, Some((Begin, _))) || same_kind,
            Scheme::Iob2 => !matches!(after, Some((Inside, _))) || same_kind,
            Scheme::Bioes | Scheme::Bilou => {
                let open = matches!(before, Some((Begin | Inside, _)));
                match after {
                    Some((Inside | End, _)) => open && same_kind,
                    Some((Begin | Single, _)) | None => !open,
                }
            }
        }
    }

    /// Calls for every label that is not of this scheme or may not stand where it stands.
    pub fn violations<L: AsRef<str>>(self, labels: &[L], mut report: impl FnMut(LabelError)) {
        const NO_LABEL: &str = "labels are `O`, or a letter of the scheme, a hyphen and a type";
        const BROKEN: &str = "repair the labels, or name the scheme they are in";
        const OPEN: &str = "the entity is not closed: repair the labels, or name the scheme they are in";
        let error = |word: usize, after: String, hint| LabelError {
            word,
            label: labels[word].as_ref().to_owned(),
            after,
            scheme: self,
            hint,
        };
        let after = |word: usize| match word.checked_sub(1) {
            None => "at the start".to_owned(),
            Some(before) => format!("after `{}`", labels[before].as_ref()),
        };
        let mut before: Tag<'_> = None;
        for (word, label) in labels.iter().enumerate() {
            let parsed = self.parse(label.as_ref());
            match parsed {
                None => report(error(word, after(word), NO_LABEL)),
                Some(tag) if !self.allows(before, tag) => report(error(word, after(word), BROKEN)),
                Some(_) => {}
            }
            before = parsed.flatten();
        }
        if !self.allows(before, None) {
            report(error(labels.len() - 1, "at the end".to_owned(), OPEN));
        }
    }

    /// The entities of labels in this scheme.
    ///
    /// # Errors
    /// The first label that is not of the scheme or may not stand where it stands.
    pub fn decode<L: AsRef<str>>(self, labels: &[L]) -> Result<Vec<Entity<'_>>, LabelError> {
        let mut first = None;
        self.violations(labels, |error| {
            first.get_or_insert(error);
        });
        match first {
            Some(error) => Err(error),
            None => Ok(decode_any(labels)),
        }
    }

    /// Writes the entities of a sentence of `length` words as labels; they must not overlap.
    ///
    /// # Panics
    /// If entities overlap, are empty or out of range.
    pub fn encode(self, entities: &[Entity<'_>], length: usize) -> Vec<String> {
        let mut labels = Vec::with_capacity(length);
        let Ok(()) = self.encode_each(entities, length, |_, label| {
            labels.push(label.to_owned());
            Ok::<(), std::convert::Infallible>(())
        });
        labels
    }

    /// Calls `each` with the label of each word, in order.
    pub(crate) fn encode_each<E>(
        self,
        entities: &[Entity<'_>],
        length: usize,
        mut each: impl FnMut(usize, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut order: Vec<&Entity<'_>> = entities.iter().collect();
        order.sort_by_key(|entity| entity.words.start);
        let mut label = String::new();
        let mut previous: Option<&Entity<'_>> = None;
        let mut done = 0;
        for entity in order {
            let Range { start, end } = entity.words.clone();
            assert!(start < end && end <= length, "{:?} of {length} words", entity.words);
            assert!(done <= start, "entities must not overlap");
            (done..start).try_for_each(|word| each(word, "O"))?;
            let adjacent =
                previous.is_some_and(|previous| previous.words.end == start && previous.kind == entity.kind);
            for word in start..end {
                label.clear();
                label.push(self.letter(word == start, word + 1 == end, adjacent));
                label.push('-');
                label.push_str(entity.kind);
                each(word, &label)?;
            }
            (previous, done) = (Some(entity), end);
        }
        (done..length).try_for_each(|word| each(word, "O"))
    }

    fn letter(self, first: bool, last: bool, adjacent: bool) -> char {
        match (self, first, last) {
            (Scheme::Iob1, true, _) if adjacent => 'B',
            (Scheme::Iob1, ..) => 'I',
            (Scheme::Bioes, true, true) => 'S',
            (Scheme::Bilou, true, true) => 'U',
            (_, true, _) => 'B',
            (Scheme::Bioes, false, true) => 'E',
            (Scheme::Bilou, false, true) => 'L',
            (_, false, _) => 'I',
        }
    }

    /// Reads labels as [`decode_any`] does, and writes what it found in this scheme.
    pub fn repair<L: AsRef<str>>(self, labels: &[L]) -> Vec<String> {
        self.encode(&decode_any(labels), labels.len())
    }

    /// The scheme that labels are in, judged by their letters, and between IOB1 and IOB2 by which is broken
    /// less.
    pub fn detect<'a, L: AsRef<str> + 'a>(sentences: impl IntoIterator<Item = &'a [L]>) -> Scheme {
        let mut evidence = SchemeEvidence::default();
        for labels in sentences {
            evidence.add(labels);
        }
        evidence.scheme()
    }
}

/// What was seen of labels, to tell their scheme.
#[derive(Clone, Debug, Default)]
pub struct SchemeEvidence {
    bioes: bool,
    bilou: bool,
    broken_iob1: u64,
    broken_iob2: u64,
}

impl SchemeEvidence {
    /// Looks at the labels of another sentence.
    pub fn add<L: AsRef<str>>(&mut self, labels: &[L]) {
        let mut before = None;
        for label in labels.iter().map(AsRef::as_ref) {
            self.bioes |= label.starts_with("E-") || label.starts_with("S-");
            self.bilou |= label.starts_with("L-") || label.starts_with("U-");
            let tag = Scheme::Iob2.parse(label).flatten();
            self.broken_iob1 += u64::from(!Scheme::Iob1.allows(before, tag));
            self.broken_iob2 += u64::from(!Scheme::Iob2.allows(before, tag));
            before = tag;
        }
    }

    /// The scheme that fits best.
    pub fn scheme(&self) -> Scheme {
        match (self.bioes, self.bilou) {
            (true, _) => Scheme::Bioes,
            (_, true) => Scheme::Bilou,
            _ if self.broken_iob1 < self.broken_iob2 => Scheme::Iob1,
            _ => Scheme::Iob2,
        }
    }
}

/// The entities of labels in whatever scheme, broken or not, as conlleval reads them.
///
/// An entity begins at `B-`, `S-`, `U-`, at another type, and after anything that is not part of an entity
/// still open; a label that is none counts as `O`.
pub fn decode_any<L: AsRef<str>>(labels: &[L]) -> Vec<Entity<'_>> {
    let mut entities: Vec<Entity<'_>> = Vec::new();
    let mut open = false;
    for (word, label) in labels.iter().map(AsRef::as_ref).enumerate() {
        let (letter, kind) = match label.split_once('-') {
            Some((letter @ ("B" | "I" | "E" | "S" | "L" | "U"), kind)) if !kind.is_empty() => (letter, kind),
            _ => {
                open = false;
                continue;
            }
        };
        match entities.last_mut() {
            Some(last) if open && matches!(letter, "I" | "E" | "L") && last.kind == kind => {
                last.words.end = word + 1
            }
            _ => entities.push(Entity { words: word..word + 1, kind }),
        }
        open = matches!(letter, "B" | "I");
    }
    entities
}

/// Rewrites labels of one scheme in another.
///
/// # Errors
/// The first label that is not of the scheme or may not stand where it stands.
pub fn convert<L: AsRef<str>>(labels: &[L], from: Scheme, to: Scheme) -> Result<Vec<String>, LabelError> {
    Ok(to.encode(&from.decode(labels)?, labels.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Random entities over a sentence: a kind and a length for each, or words outside.
    fn sentence() -> impl Strategy<Value = (Vec<Entity<'static>>, usize)> {
        prop::collection::vec(
            (prop::sample::select(vec!["", "LOC", "PER", "creative-work"]), 1usize..4),
            0..8,
        )
        .prop_map(|pieces| {
            let mut entities = Vec::new();
            let mut word = 0;
            for (kind, length) in pieces {
                if !kind.is_empty() {
                    entities.push(Entity { words: word..word + length, kind });
                }
                word += length;
            }
            (entities, word)
        })
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded((entities, length) in sentence()) {
            for scheme in Scheme::ALL {
                let labels = scheme.encode(&entities, length);
                prop_assert_eq!(&scheme.decode(&labels).unwrap(), &entities);
                prop_assert_eq!(&decode_any(&labels), &entities);
                for other in Scheme::ALL {
                    let there = convert(&labels, scheme, other).unwrap();
                    prop_assert_eq!(&there, &other.encode(&entities, length));
                }
            }
        }

        #[test]
        fn repair_gives_valid_labels(labels in prop::collection::vec("(O|[BIESLUX]-(LOC|PER|)|-|)", 0..8)) {
            for scheme in Scheme::ALL {
                let repaired = scheme.repair(&labels);
                prop_assert!(scheme.decode(&repaired).is_ok());
                if scheme.decode(&labels).is_ok() {
                    prop_assert_eq!(repaired, labels.clone());
                }
            }
        }
    }

    #[test]
    fn violations_are_found_where_they_are() {
        let found = |scheme: Scheme, labels: &[&str]| {
            let mut words = Vec::new();
            scheme.violations(labels, |error| words.push(error.word));
            words
        };
        assert_eq!(found(Scheme::Iob2, &["I-A", "I-A", "I-B", "O", "I-A", "X", "B-"]), [0, 2, 4, 5, 6]);
        assert_eq!(found(Scheme::Iob1, &["I-A", "B-A", "B-B", "O", "B-A"]), [2, 4]);
        assert_eq!(found(Scheme::Bioes, &["B-A", "O", "E-A", "S-A", "I-A", "E-A", "B-A"]), [1, 2, 4, 6]);
        assert_eq!(found(Scheme::Bilou, &["U-A", "B-A", "L-A", "S-A"]), [3]);
    }

    #[test]
    fn schemes_are_detected() {
        let cases: [(&[&str], Scheme); 5] = [
            (&["O", "I-A", "I-A", "B-A"], Scheme::Iob1),
            (&["O", "B-A", "I-A"], Scheme::Iob2),
            (&["S-A"], Scheme::Bioes),
            (&["U-A"], Scheme::Bilou),
            (&[], Scheme::Iob2),
        ];
        for (labels, scheme) in cases {
            assert_eq!(Scheme::detect([labels]), scheme, "{labels:?}");
        }
    }
}
