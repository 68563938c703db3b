//! What is predicted: one label for each word, which together say where entities are.

use consonant_sequence::Labels;
use consonant_sequence::inference::TransitionMask;
use consonant_text::entity::{Entity, Position, Scheme, SchemeEvidence, Tag, decode_any};
use consonant_text::{Sentence, evaluate::Counts};

consonant_task::names! {
    /// How entities become labels in training.
    pub enum LabelScheme {
        /// `B-` begins every entity, `I-` goes on.
        Bio = "bio" | "iob2",
        /// The same, with `E-` at the end and `S-` for a single word.
        Bioes = "bioes",
        /// `I-` alone: names of one type that follow each other at once become one.
        Io = "io",
    }
}

impl From<LabelScheme> for Scheme {
    fn from(scheme: LabelScheme) -> Self {
        match scheme {
            LabelScheme::Bio => Self::Iob2,
            LabelScheme::Bioes => Self::Bioes,
            // Without the `B-` that tells two names apart.
            LabelScheme::Io => Self::Iob1,
        }
    }
}

/// The labels of a sentence's words as they stand in the data.
pub(crate) fn written_labels(sentence: &Sentence) -> Vec<&str> {
    (0..sentence.len()).map(|word| sentence.entity_label(word)).collect()
}

/// The gold labels of a sentence in a scheme. Labels that break their own scheme (an entity that crosses into
/// the sentence, say) are read as conlleval reads them.
pub(crate) fn gold_labels(sentence: &Sentence, scheme: LabelScheme) -> Vec<String> {
    let mut labels = Scheme::from(scheme).repair(&written_labels(sentence));
    if scheme == LabelScheme::Io {
        let begins = labels.iter_mut().filter(|label| label.starts_with("B-"));
        begins.for_each(|label| label.replace_range(..1, "I"));
    }
    labels
}

/// Whether any word has a part of speech; nothing is missing where there is no word.
pub(crate) fn has_tags(sentences: &[Sentence]) -> bool {
    let mut tags = sentences.iter().flat_map(|sentence| (0..sentence.len()).map(|word| sentence.upos(word)));
    tags.clone().next().is_none() || tags.any(|tag| tag != "_" && !tag.is_empty())
}

/// The scheme that the labels of sentences are written in.
pub(crate) fn written_scheme(sentences: &[Sentence]) -> Scheme {
    let mut evidence = SchemeEvidence::default();
    sentences.iter().for_each(|sentence| evidence.add(&written_labels(sentence)));
    evidence.scheme()
}

/// Labels by number, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct LabelSet {
    scheme: Scheme,
    names: Vec<String>,
    outside: Option<u32>,
}

impl LabelSet {
    pub(crate) fn new(labels: &Labels, scheme: Scheme) -> Self {
        Self { scheme, names: labels.names().to_vec(), outside: labels.get("O") }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn name(&self, label: u32) -> &str {
        &self.names[label as usize]
    }

    /// The number of the label `O`.
    pub(crate) fn outside(&self) -> Option<u32> {
        self.outside
    }

    pub(crate) fn tag(&self, label: u32) -> Tag<'_> {
        // Every name was written by the scheme itself.
        self.scheme.parse(&self.names[label as usize]).flatten()
    }

    /// Which labels may follow one another.
    pub(crate) fn mask(&self) -> TransitionMask {
        allowed_transitions(&self.names, self.scheme)
    }

    /// The entities that a sequence of labels says.
    pub(crate) fn entities(&self, path: &[u32]) -> Vec<Entity<'_>> {
        let mut entities: Vec<Entity<'_>> = Vec::new();
        let mut open = false;
        for (word, &label) in path.iter().enumerate() {
            let Some((position, kind)) = self.tag(label) else {
                open = false;
                continue;
            };
            match entities.last_mut() {
                Some(last)
                    if open && matches!(position, Position::Inside | Position::End) && last.kind == kind =>
                {
                    last.words.end = word + 1;
                }
                _ => entities.push(Entity { words: word..word + 1, kind }),
            }
            open = matches!(position, Position::Begin | Position::Inside);
        }
        entities
    }
}

/// Which labels may follow one another, begin and end a sentence in a scheme; a label that is none of it counts as `O`.
pub fn allowed_transitions<L: AsRef<str>>(labels: &[L], scheme: Scheme) -> TransitionMask {
    let tags: Vec<Tag<'_>> = labels.iter().map(|label| scheme.parse(label.as_ref()).flatten()).collect();
    TransitionMask::from_fn(
        labels.len(),
        |label| scheme.allows(None, tags[label as usize]),
        |before, after| scheme.allows(tags[before as usize], tags[after as usize]),
        |label| scheme.allows(tags[label as usize], None),
    )
}

/// Writes a sequence of labels into a sentence.
pub(crate) fn write(
    sentence: &mut Sentence,
    labels: &LabelSet,
    path: &[u32],
    scheme: Scheme,
) -> Result<(), consonant_text::sentence::EditError> {
    sentence.set_entities(&labels.entities(path), scheme)
}

/// Entities of two lists of labels, counted by exact match.
pub(crate) fn count_entities(gold: &[Entity<'_>], predicted: &[Entity<'_>], counts: &mut Counts) {
    counts.gold += gold.len() as u64;
    counts.predicted += predicted.len() as u64;
    // Both lists are in order and do not overlap.
    let mut rest = gold.iter().peekable();
    for entity in predicted {
        while rest.next_if(|gold| gold.words.start < entity.words.start).is_some() {}
        counts.correct += u64::from(rest.peek().is_some_and(|gold| *gold == entity));
    }
}

/// The gold entities of a sentence, whatever the scheme.
pub(crate) fn gold_entities<'a>(labels: &'a [&'a str]) -> Vec<Entity<'a>> {
    decode_any(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scheme: Scheme) -> LabelSet {
        let mut labels = Labels::new();
        for name in scheme
            .encode(&[Entity { words: 0..3, kind: "A" }, Entity { words: 3..4, kind: "B" }], 5)
            .iter()
            .chain(&scheme.encode(&[Entity { words: 0..1, kind: "A" }], 1))
        {
            labels.intern(name);
        }
        LabelSet::new(&labels, scheme)
    }

    #[test]
    fn masks_allow_what_the_scheme_allows() {
        for scheme in [Scheme::Iob2, Scheme::Bioes] {
            let labels = labels(scheme);
            let mask = labels.mask();
            let outside = labels.outside().unwrap();
            assert!(mask.allows_start(outside) && mask.allows_end(outside) && mask.allows(outside, outside));
            for a in 0..labels.len() as u32 {
                for b in 0..labels.len() as u32 {
                    let pair = [labels.name(a), labels.name(b)];
                    let valid = scheme.decode(&pair).is_ok();
                    assert_eq!(
                        valid,
                        mask.allows_start(a) && mask.allows(a, b) && mask.allows_end(b),
                        "{pair:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn entities_are_those_of_the_scheme() {
        let labels = labels(Scheme::Bioes);
        for a in 0..labels.len() as u32 {
            for b in 0..labels.len() as u32 {
                for c in 0..labels.len() as u32 {
                    let names = [labels.name(a), labels.name(b), labels.name(c)];
                    assert_eq!(labels.entities(&[a, b, c]), decode_any(&names), "{names:?}");
                }
            }
        }
    }

    #[test]
    fn counts_are_those_of_exact_match() {
        let entity = |words, kind| Entity { words, kind };
        let gold = [entity(0..2, "A"), entity(3..4, "B"), entity(5..6, "A")];
        let predicted = [entity(0..1, "A"), entity(3..4, "B"), entity(4..5, "B"), entity(5..6, "B")];
        let mut counts = Counts::default();
        count_entities(&gold, &predicted, &mut counts);
        assert_eq!((counts.gold, counts.predicted, counts.correct), (3, 4, 1));
    }
}
