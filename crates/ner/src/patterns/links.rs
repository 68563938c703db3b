//! What has to agree in a group of sentences, and which weights speak of it.

use std::ops::Range;

use consonant_learn::hash;
use consonant_text::Sentence;
use consonant_text::entity::Position;
use rustc_hash::FxHashSet;

use crate::documents::groups_by;
use crate::layout::Style;
use crate::occurrences::{Occurrences, OrdinaryWords};
use crate::parts::LabelSet;

/// The words of longer sentences are not linked: reachability prunes by sentence, so that all labels of all its
/// words would stay open.
pub(crate) const LONGEST: usize = 2000;
/// How many later occurrences an occurrence is joined to, and where any equal labels agree: as good as all.
const AHEAD: usize = 2;
const AHEAD_EQUAL: usize = 64;
/// Ways to write a word, which have skip weights of their own: with a capital, without, neither, and once in
/// a line of capitals.
pub(super) const CASES: usize = 4;
/// The last of them.
const HEADLINE: u8 = 3;
/// The weight of phrases with any equal labels.
pub(super) const EQUAL_PHRASE: usize = 1;

/// Where the weights of skip edges and patterns stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(super) labels: usize,
    /// For each label its type; the number of types for `O`.
    type_of: Vec<usize>,
    pub(super) types: usize,
    /// For each type, the labels that begin, continue and end an entity of several words.
    spans: Vec<Option<[u32; 3]>>,
    /// Whether any equal labels agree, `O` too, as in the paper: one weight for words, and one for phrases.
    pub(super) equal: bool,
    /// Words of more posts join none, where no documents are marked.
    posts: usize,
}

impl Layout {
    pub(crate) fn new(labels: &LabelSet, equal: bool, posts: usize) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut spans: Vec<[Option<u32>; 3]> = Vec::new();
        let mut type_of = Vec::new();
        for label in 0..labels.len() as u32 {
            let Some((position, kind)) = labels.tag(label) else {
                type_of.push(usize::MAX);
                continue;
            };
            let number = names.iter().position(|&name| name == kind).unwrap_or_else(|| {
                names.push(kind);
                spans.push([None; 3]);
                names.len() - 1
            });
            type_of.push(number);
            match position {
                Position::Begin => spans[number][0] = Some(label),
                Position::Inside => spans[number][1] = Some(label),
                Position::End => spans[number][2] = Some(label),
                Position::Single => {}
            }
        }
        let types = names.len();
        type_of.iter_mut().for_each(|kind| *kind = (*kind).min(types));
        let complete = |[begin, inside, end]: [Option<u32>; 3]| {
            // In IOB2 an entity goes on to its end; in BIOES nothing may be inside of all entities of two
            // words.
            let end = end.or(inside)?;
            Some([begin?, inside.unwrap_or(u32::MAX), end])
        };
        let spans = spans.into_iter().map(complete).collect();
        Self { labels: labels.len(), type_of, types, spans, equal, posts }
    }

    /// The groups of sentences that agree.
    pub(crate) fn groups(&self, sentences: &[Sentence]) -> Vec<Vec<usize>> {
        groups_by(sentences, self.posts)
    }

    /// The number of weights.
    pub(crate) fn parameters(&self) -> usize {
        if self.equal {
            return 2;
        }
        CASES * (self.labels + self.types) + self.types
    }

    /// Weights that are all the same: for words with a capital, in headlines too, and for phrases.
    pub(crate) fn equal(&self, weight: f32) -> Vec<f32> {
        let case = self.labels + self.types;
        let counts = |number: &usize| {
            let case = number / case;
            case == 0 || case >= usize::from(HEADLINE)
        };
        (0..self.parameters()).map(|number| if counts(&number) { weight } else { 0.0 }).collect()
    }

    /// What each weight speaks of.
    pub(crate) fn names(&self, labels: &LabelSet) -> Vec<String> {
        if self.equal {
            return vec!["same word, same label".into(), "same phrase, same labels".into()];
        }
        let mut kinds = vec![""; self.types];
        for label in 0..labels.len() as u32 {
            if let Some((_, kind)) = labels.tag(label) {
                kinds[self.type_of[label as usize]] = kind;
            }
        }
        let mut names = Vec::with_capacity(self.parameters());
        for case in ["capitalized", "lower-case", "other", "headline's"] {
            names.extend(labels.names().map(|label| format!("same {case} word, both {label}")));
            names.extend(kinds.iter().map(|kind| format!("same {case} word, both in {kind}")));
        }
        names.extend(kinds.iter().map(|kind| format!("same phrase, both {kind}")));
        names
    }

    /// The weight of two labels at the ends of a skip edge: equal labels, or equal types. Words outside of
    /// names have none: what most occurrences are would otherwise outvote the one place where a name is
    /// clear.
    pub(super) fn skip(&self, case: usize, one: usize, other: usize) -> Option<usize> {
        if self.equal {
            return (one == other).then_some(0);
        }
        let start = case * (self.labels + self.types);
        let kind = self.type_of[one];
        if kind < self.types && one == other {
            return Some(start + one);
        }
        (kind < self.types && kind == self.type_of[other]).then_some(start + self.labels + kind)
    }

    /// The weight of a phrase that is an entity of one type in both places.
    pub(super) fn phrase(&self, kind: usize) -> usize {
        CASES * (self.labels + self.types) + kind
    }

    /// The label of a word of an entity of several words; nothing if training had no such label.
    pub(super) fn label_in(&self, kind: usize, word: usize, length: usize) -> Option<u32> {
        let [begin, inside, end] = self.spans[kind]?;
        let label = if word == 0 {
            begin
        } else if word + 1 == length {
            end
        } else {
            inside
        };
        (label != u32::MAX).then_some(label)
    }
}

/// What is linked in a group: tokens are counted through the group's sentences.
#[derive(Debug)]
pub(crate) struct GroupLinks {
    /// The first token of each sentence; one more at the end.
    pub(super) starts: Vec<usize>,
    /// Pairs of tokens with the case of their word.
    pub(super) skips: Vec<(u32, u32, u8)>,
    /// First tokens of two places, and the length of the phrase.
    pub(super) phrases: Vec<(u32, u32, u32)>,
    /// For each sentence, whether anything in it is linked.
    pub(super) linked: Vec<bool>,
    /// Whether a sentence was too long for its words to be linked.
    pub(crate) is_cut: bool,
}

impl GroupLinks {
    pub(crate) fn read(sentences: &[&Sentence], ordinary: &OrdinaryWords, layout: &Layout) -> Self {
        let ahead = if layout.equal { AHEAD_EQUAL } else { AHEAD };
        let capitals: Vec<bool> =
            sentences.iter().map(|sentence| Style::of(sentence) == Style::Capitals).collect();
        let running = sentences.iter().zip(&capitals).filter(|(_, capitals)| !**capitals);
        let written: FxHashSet<u64> = match capitals.contains(&true) {
            true => running
                .flat_map(|(sentence, _)| {
                    (0..sentence.len()).map(|word| hash::key(sentence.form(word).as_bytes()))
                })
                .collect(),
            false => FxHashSet::default(),
        };
        // In a line of capitals a word is the one that running text writes with one capital.
        let is_cut = sentences.iter().any(|sentence| sentence.len() > LONGEST);
        let found = Occurrences::read_by(sentences.iter().copied(), |sentence, form| {
            if sentences[sentence].len() > LONGEST {
                return None;
            }
            if capitals[sentence] {
                let title = title_case(form);
                if written.contains(&hash::key(title.as_bytes())) {
                    return ordinary.key(&title);
                }
            }
            ordinary.key(form)
        });
        let place = |token: u32| {
            let sentence = found.sentences.partition_point(|&start| start <= token as usize) - 1;
            (sentence, token as usize - found.sentences[sentence])
        };
        let mut skips = Vec::new();
        for number in 0..found.len() {
            let chain = found.chain(number);
            for (at, &one) in chain.iter().enumerate() {
                for &other in chain[at + 1..].iter().take(ahead) {
                    let ((sentence, word), (other_sentence, _)) = (place(one), place(other));
                    let case = match capitals[sentence] == capitals[other_sentence] {
                        true => case_of(sentences[sentence].form(word)),
                        false => HEADLINE,
                    };
                    skips.push((one, other, case));
                }
            }
        }
        let phrases = found.phrases().into_iter().map(|(a, b, length)| (a as u32, b as u32, length as u32));
        let linked = found
            .sentences
            .windows(2)
            .map(|range| (range[0]..range[1]).any(|token| found.is_linked(token)))
            .collect();
        Self { skips, phrases: phrases.collect(), linked, starts: found.sentences, is_cut }
    }

    /// Whether nothing has to agree.
    pub(crate) fn is_empty(&self) -> bool {
        self.skips.is_empty()
    }

    /// The places that are linked: sentence of the group, and words there. Phrases first.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [(usize, Range<usize>); 2]> + '_ {
        let place = |token: u32, length: u32| {
            let sentence = self.starts.partition_point(|&start| start <= token as usize) - 1;
            let word = token as usize - self.starts[sentence];
            (sentence, word..word + length as usize)
        };
        let phrases =
            self.phrases.iter().map(move |&(one, other, length)| [place(one, length), place(other, length)]);
        phrases.chain(self.skips.iter().map(move |&(one, other, _)| [place(one, 1), place(other, 1)]))
    }

    /// Calls `each` with the weights that an assignment of labels to all tokens earns.
    pub(crate) fn features(&self, layout: &Layout, labels: &[u32], mut each: impl FnMut(usize)) {
        for &(one, other, case) in &self.skips {
            let (one, other) = (labels[one as usize] as usize, labels[other as usize] as usize);
            layout.skip(case.into(), one, other).into_iter().for_each(&mut each);
        }
        for &(one, other, length) in &self.phrases {
            if layout.equal {
                let from = |from: u32| &labels[from as usize..][..length as usize];
                if from(one) == from(other) {
                    each(EQUAL_PHRASE);
                }
                continue;
            }
            for kind in 0..layout.types {
                let holds = |from: u32| {
                    (0..length as usize).all(|word| {
                        layout.label_in(kind, word, length as usize) == Some(labels[from as usize + word])
                    })
                };
                if holds(one) && holds(other) {
                    each(layout.phrase(kind));
                }
            }
        }
    }
}

/// The first letter large, the others small.
fn title_case(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter();
    first.chain(letters.flat_map(char::to_lowercase)).collect()
}

fn case_of(word: &str) -> u8 {
    match word.chars().next() {
        Some(first) if first.is_uppercase() => 0,
        Some(first) if first.is_alphabetic() => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sentences;

    #[test]
    fn a_headline_is_linked_with_the_running_text() {
        let layout = Layout::new(&crate::sample::labels(), false, 64);
        let text =
            sentences(&["XU WINS IN BONN".to_owned(), "Xu wins in Bonn".to_owned(), "Xu IN".to_owned()]);
        let links = GroupLinks::read(&text.iter().collect::<Vec<_>>(), &OrdinaryWords::default(), &layout);
        // What running text writes small is no name, and stays apart from the headline's word.
        let mut skips = links.skips.clone();
        skips.sort_unstable();
        assert_eq!(
            skips,
            [(0, 4, HEADLINE), (0, 8, HEADLINE), (2, 9, HEADLINE), (3, 7, HEADLINE), (4, 8, 0)]
        );
    }
}
