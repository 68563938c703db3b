//! What a parser has learned: its strongest weights, with the names of their features.
//!
//! A hash kernel knows no names. So training writes down those of the strongest weights, as it finds them in
//! the parts of the training data. Where features share a weight, the first one found gives the name.

use consonant_learn::names::{self, FeatureSink, WantedNames};
use consonant_text::Sentence;

use crate::features::{Attribute, Encoded, Features, Vocabulary};
use crate::parts::{PartKinds, Side, TreeParts};
use crate::score::Part;

/// This many weights have names in a model.
const NAMED: usize = 500;
/// Names are looked for in this many sentences.
const SENTENCES: usize = 3000;

/// Looks for the names of the strongest weights in sentences and their candidate arcs.
pub(crate) fn names<'a>(
    weights: &[f32],
    kinds: PartKinds,
    vocabulary: &Vocabulary,
    data: impl Iterator<
        Item = (&'a Sentence, &'a [(usize, usize)], consonant_map::oracle::arborescence::RootChildren),
    >,
) -> WantedNames {
    let mut wanted = WantedNames::new(names::strongest_numbers(weights, NAMED));
    let (mut features, mut list) = (Features::default(), Vec::new());
    let mask = (weights.len() - 1) as u32;
    for (sentence, arcs, root_children) in data.take(SENTENCES) {
        if wanted.is_complete() {
            break;
        }
        let Ok(parts) = TreeParts::new(sentence.len(), arcs, kinds, root_children) else { continue };
        let encoded = Encoded::new(sentence, vocabulary);
        features.load(&encoded, kinds);
        parts.for_each(|part| {
            list.clear();
            features.of(&encoded, &parts, part, &mut list);
            for (position, number) in list.iter().map(|number| number & mask).enumerate() {
                wanted.put(number.into(), 1.0, &|| name(sentence, vocabulary, &parts, part, position));
            }
        });
    }
    wanted
}

/// The name of a feature, given its place in the list of its part's features.
fn name(
    sentence: &Sentence,
    vocabulary: &Vocabulary,
    parts: &TreeParts,
    part: Part<'_>,
    position: usize,
) -> String {
    // Words; 0 is the root, nothing stands for the start or end of a side.
    let member = |side: &Side, j: usize| (1..=side.modifiers()).contains(&j).then(|| parts.modifier(side, j));
    let grandparent = |side: &Side, g: usize| Some(parts.arcs()[side.incoming.start + g].0);
    let way = |is_right: bool| if is_right { "right" } else { "left" };
    let (kind, way, roles, members): (&str, &str, &[&str], Vec<Option<usize>>) = match part {
        Part::Arc(head, modifier) => {
            ("arc", way(head < modifier), &["head", "modifier"], vec![Some(head), Some(modifier)])
        }
        Part::Sibling(side, i, j) | Part::ArbitrarySibling(side, i, j) => {
            let kind = if matches!(part, Part::Sibling(..)) { "siblings" } else { "any siblings" };
            let members = vec![Some(side.head), member(side, i), member(side, j)];
            (kind, way(side.is_right), &["head", "sibling", "modifier"], members)
        }
        Part::Grandparent(side, g, j) => {
            let members = vec![grandparent(side, g), Some(side.head), member(side, j)];
            ("grandparent", way(side.is_right), &["grandparent", "head", "modifier"], members)
        }
        Part::GrandSibling(side, g, i, j) => {
            let members = vec![grandparent(side, g), Some(side.head), member(side, i), member(side, j)];
            ("grand-siblings", way(side.is_right), &["grandparent", "head", "sibling", "modifier"], members)
        }
        Part::TriSibling(side, i, j, k) => {
            let members = vec![Some(side.head), member(side, i), member(side, j), member(side, k)];
            ("tri-siblings", way(side.is_right), &["head", "first", "second", "third"], members)
        }
        Part::HeadBigram { word, before, own } => {
            let members = [word, word - 1, own, before].map(Some).to_vec();
            ("head bigram", "", &["word", "before", "head", "head before"], members)
        }
    };
    let (attributes, joined) = Features::template(part, position);
    let mut name = format!("{kind} {way}").trim_end().to_owned();
    for (attribute, (role, word)) in attributes.iter().zip(roles.iter().zip(members)) {
        if *attribute != Attribute::Nothing {
            let value = |word| value(*attribute, sentence, vocabulary, word);
            let value = word.map_or_else(|| "<none>".to_owned(), value);
            name += &format!(" {role}.{}={value}", attribute.name());
        }
    }
    if !joined.is_empty() {
        name += &format!(" with {joined}");
    }
    name
}

/// An attribute of a word as the parser reads it.
fn value(attribute: Attribute, sentence: &Sentence, vocabulary: &Vocabulary, position: usize) -> String {
    use Attribute::*;
    let column = |attribute: Attribute, position: usize| {
        let Some(word) = position.checked_sub(1).filter(|&word| word < sentence.len()) else {
            return if position == 0 { "<root>" } else { "<end>" }.to_owned();
        };
        let other = |first: &str, second: &str| if first == "_" { second } else { first }.to_owned();
        match attribute {
            Form => sentence.form(word).to_owned(),
            Lemma => other(sentence.lemma(word), sentence.form(word)),
            Tag => other(sentence.xpos(word), sentence.upos(word)),
            Coarse => other(sentence.upos(word), sentence.xpos(word)),
            _ => vocabulary.morphology(sentence, word).text().to_owned(),
        }
    };
    let before = |attribute| match position {
        0 => "<before>".to_owned(),
        _ => column(attribute, position - 1),
    };
    let (own, after) = (|attribute| column(attribute, position), |attribute| column(attribute, position + 1));
    match attribute {
        Nothing => String::new(),
        Form | Lemma | Tag | Coarse | Morphology => own(attribute),
        FormTag => format!("{}/{}", own(Form), own(Tag)),
        LemmaTag => format!("{}/{}", own(Lemma), own(Tag)),
        MorphologyCoarse => format!("{}/{}", own(Morphology), own(Coarse)),
        TagBefore => format!("[{}] {}", before(Tag), own(Tag)),
        TagAfter => format!("{} [{}]", own(Tag), after(Tag)),
        TagAround => format!("[{}] {} [{}]", before(Tag), own(Tag), after(Tag)),
        CoarseBefore => format!("[{}] {}", before(Coarse), own(Coarse)),
        CoarseAfter => format!("{} [{}]", own(Coarse), after(Coarse)),
        CoarseAround => format!("[{}] {} [{}]", before(Coarse), own(Coarse), after(Coarse)),
        LemmaBefore => format!("[{}] {}", before(Lemma), own(Tag)),
        LemmaAfter => format!("{} [{}]", own(Tag), after(Lemma)),
    }
}
