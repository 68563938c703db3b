//! What a text says about a word in other places (the global features of Chieu & Ng 2002, Named entity
//! recognition: a maximum entropy approach using global information, COLING).
//!
//! For each word, its other occurrences in the text tell how they are written and between which words they
//! stand. A word keeps at most [`MOST`] facts, so a text of one word repeated takes no more than linear time.

use std::collections::BTreeSet;

use consonant_learn::hash;
use consonant_learn::names::FeatureSink;
use consonant_sequence::features::{Clusters, Gazetteer, Place, Resources};
use consonant_text::Sentence;
use rustc_hash::FxHashMap;

use crate::layout::{self, Layout};

/// Facts that are kept for a word.
const MOST: usize = 40;

consonant_task::names! {
    /// Kinds of facts about an occurrence.
    pub enum Fact {
        /// It has a capital inside of a sentence.
        Capital = "capital",
        /// It has a capital at the start of a sentence.
        First = "first",
        /// It has no capital.
        Lower = "lower",
        /// It stands in a line of capitals, where they say nothing.
        Headline = "headline",
        /// It follows this word.
        After = "after",
        /// It precedes this word.
        Before = "before",
        /// The capitalized words around it begin with this one.
        Begins = "begins",
        /// The capitalized words around it end with this one.
        Ends = "ends",
        /// It follows a capitalized word of this cluster.
        AfterKind = "after kind",
        /// It precedes a capitalized word of this cluster.
        BeforeKind = "before kind",
        /// It stands in a phrase of several words of this list, at its beginning, inside or at its end.
        Listed = "listed",
    }
}

impl Fact {
    /// The facts about how a word is written.
    const WRITTEN: [Self; 4] = [Self::Capital, Self::First, Self::Lower, Self::Headline];

    /// The facts that name another word.
    const NEXT_TO: [Self; 4] = [Self::After, Self::Before, Self::Begins, Self::Ends];

    fn key(self, word: Option<u64>) -> u64 {
        let kind = hash::combine(0x6576_6964_656e_6365, self as u64);
        word.map_or(kind, |word| hash::combine(kind, word))
    }
}

#[derive(Debug, Clone, Copy)]
struct Known {
    key: u64,
    count: u32,
    /// The token that the fact is from, if it is from one only.
    token: u32,
}

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Capital,
    Lower,
    Other,
}

fn case(word: &str) -> Case {
    match word.chars().next() {
        Some(first) if first.is_uppercase() => Case::Capital,
        Some(first) if first.is_alphabetic() => Case::Lower,
        _ => Case::Other,
    }
}

/// The facts about the words of one text; buffers are reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    layout: Layout,
    types: FxHashMap<u64, u32>,
    facts: Vec<Vec<Known>>,
    /// For each token of the text, the type of its word.
    tokens: Vec<u32>,
    /// For each type of word, the key of its form in lower case.
    words: Vec<u64>,
    /// For each type of word, the key of its cluster.
    clusters: Vec<Option<u64>>,
    cases: Vec<Case>,
    /// The first token of each sentence.
    starts: Vec<usize>,
    /// Which tokens are hyphens that touch the words on both sides.
    hyphens: Vec<bool>,
    lower: String,
    phrase: Vec<u64>,
    places: Vec<Place>,
}

/// What is said of a list: its name, and where in a phrase the word stands.
fn listed(list: &str, place: Place) -> u64 {
    hash::combine(hash::key(list.as_bytes()), u64::from(u32::from(place.letter())))
}

/// The feature of how a word is written here and elsewhere; `written` has a bit for each of
/// [`Fact::WRITTEN`].
fn written_key(case: Case, is_first: bool, written: u64) -> u64 {
    let here = hash::combine(hash::combine(1, case as u64), u64::from(is_first));
    hash::combine(here, written)
}

/// Whether a word is a hyphen without white space around it, as the data say; words beyond the first and before the last.
fn is_inner_hyphen(sentence: &Sentence, word: usize) -> bool {
    let touches = |word: usize| sentence.misc_entry(word, "SpaceAfter") == Some("No");
    sentence.form(word) == "-" && word > 0 && word + 1 < sentence.len() && touches(word - 1) && touches(word)
}

/// The feature of a word before, at or behind an inner hyphen, by how the words on both sides are written.
fn hyphen_key(place: u64, before: Case, after: Case) -> u64 {
    let sides = hash::combine(before as u64, after as u64);
    hash::combine(0x6879_7068_656e, hash::combine(place, sides))
}

/// Writes every feature that evidence may make of words. Slow: for explanations.
pub(crate) fn name_features(words: &BTreeSet<&str>, resources: &Resources, sink: &mut impl FeatureSink) {
    let clusters: BTreeSet<&str> =
        resources.clusters.iter().flat_map(Clusters::iter).map(|(_, name)| name).collect();
    for cluster in clusters {
        for fact in [Fact::AfterKind, Fact::BeforeKind] {
            let key = fact.key(Some(hash::key(cluster.as_bytes())));
            sink.put(key, 1.0, &|| format!("elsewhere {}: {cluster}", fact.name()));
        }
    }
    for list in &resources.gazetteers {
        for place in [Place::Begin, Place::Inside, Place::End] {
            sink.put(Fact::Listed.key(Some(listed(list.name(), place))), 1.0, &|| {
                format!("elsewhere {}: {}-{}", Fact::Listed.name(), place.letter(), list.name())
            });
        }
    }
    for word in words {
        for fact in Fact::NEXT_TO {
            let key = fact.key(Some(hash::key(word.as_bytes())));
            sink.put(key, 1.0, &|| format!("elsewhere {}: {word}", fact.name()));
        }
    }
    const CASES: [(Case, &str); 3] =
        [(Case::Capital, "capital"), (Case::Lower, "lower"), (Case::Other, "other")];
    for (place, name) in
        ["before an inner hyphen", "an inner hyphen", "behind an inner hyphen"].iter().enumerate()
    {
        for (before, name_before) in CASES {
            for (after, name_after) in CASES {
                sink.put(hyphen_key(place as u64, before, after), 1.0, &|| {
                    format!("{name}: {name_before} - {name_after}")
                });
            }
        }
    }
    for (case, name) in CASES {
        for (is_first, place) in [(false, ""), (true, ", first word")] {
            for written in 0..1 << Fact::WRITTEN.len() {
                sink.put(written_key(case, is_first, written), 1.0, &|| {
                    let facts = Fact::WRITTEN.iter().enumerate().filter(|(bit, _)| written >> bit & 1 == 1);
                    let facts: Vec<&str> = facts.map(|(_, fact)| fact.name()).collect();
                    format!("{name}{place}, elsewhere: {}", facts.join(" "))
                });
            }
        }
        layout::name_features(words, case as u64, name, sink);
    }
}

impl Evidence {
    /// Reads a text, with what clusters and lists say of its words.
    pub(crate) fn read(&mut self, sentences: &[Sentence], resources: &Resources) {
        self.layout.read(sentences);
        self.types.clear();
        self.tokens.clear();
        self.words.clear();
        self.clusters.clear();
        self.cases.clear();
        self.starts.clear();
        self.hyphens.clear();
        self.facts.iter_mut().for_each(Vec::clear);
        for sentence in sentences {
            self.starts.push(self.tokens.len());
            for word in 0..sentence.len() {
                let kind = self.type_of(sentence.form(word), resources.clusters.as_ref());
                self.tokens.push(kind);
                self.cases.push(case(sentence.form(word)));
                self.hyphens.push(is_inner_hyphen(sentence, word));
            }
        }
        for (number, sentence) in sentences.iter().enumerate() {
            self.observe(sentence, self.starts[number], self.layout.is_capitals(number));
            self.observe_lists(self.starts[number], sentence.len(), &resources.gazetteers);
        }
    }

    fn type_of(&mut self, form: &str, clusters: Option<&Clusters>) -> u32 {
        self.lower.clear();
        self.lower.extend(form.chars().flat_map(char::to_lowercase));
        let (next, word) = (self.types.len() as u32, hash::key(self.lower.as_bytes()));
        let kind = *self.types.entry(word).or_insert(next);
        if kind == next {
            self.words.push(word);
            let cluster =
                clusters.and_then(|clusters| clusters.get(form).or_else(|| clusters.get(&self.lower)));
            self.clusters.push(cluster.map(|cluster| hash::key(cluster.as_bytes())));
            if self.facts.len() <= kind as usize {
                self.facts.push(Vec::new());
            }
        }
        kind
    }

    fn observe(&mut self, sentence: &Sentence, start: usize, in_capitals: bool) {
        let word_key = |word: usize| hash::key(sentence.form(word).as_bytes());
        let mut run = 0..0;
        for word in 0..sentence.len() {
            let (case, token) = (self.cases[start + word], start + word);
            let written = match case {
                _ if in_capitals => Some(Fact::Headline),
                Case::Capital => Some(if word == 0 { Fact::First } else { Fact::Capital }),
                Case::Lower => Some(Fact::Lower),
                Case::Other => None,
            };
            written.into_iter().for_each(|written| self.note(token, written.key(None)));
            if case != Case::Capital {
                continue;
            }
            if word > 0 {
                self.note(token, Fact::After.key(Some(word_key(word - 1))));
                self.note_kind(token, Fact::AfterKind, token - 1);
            }
            if word + 1 < sentence.len() {
                self.note(token, Fact::Before.key(Some(word_key(word + 1))));
                self.note_kind(token, Fact::BeforeKind, token + 1);
            }
            // In a line of capitals nobody can say where a name begins and ends.
            if in_capitals {
                continue;
            }
            if word >= run.end {
                let length = (word..sentence.len())
                    .take_while(|&other| self.cases[start + other] == Case::Capital)
                    .count();
                run = word..word + length;
            }
            if run.len() > 1 {
                self.note(token, Fact::Begins.key(Some(word_key(run.start))));
                self.note(token, Fact::Ends.key(Some(word_key(run.end - 1))));
            }
        }
    }

    /// Phrases of several words that a list has; one word says the same wherever it stands.
    fn observe_lists(&mut self, start: usize, length: usize, lists: &[Gazetteer]) {
        if !self.cases[start..start + length].contains(&Case::Capital) {
            return;
        }
        self.phrase.clear();
        let words = &self.words;
        self.phrase.extend(self.tokens[start..start + length].iter().map(|&kind| words[kind as usize]));
        for list in lists.iter().filter(|list| list.is_any_case()) {
            let mut places = std::mem::take(&mut self.places);
            list.places(&self.phrase, &mut places);
            for (word, &place) in places.iter().enumerate() {
                if !matches!(place, Place::Outside | Place::Single)
                    && self.cases[start + word] == Case::Capital
                {
                    self.note(start + word, Fact::Listed.key(Some(listed(list.name(), place))));
                }
            }
            self.places = places;
        }
    }

    /// Notes the cluster of a capitalized neighbour.
    fn note_kind(&mut self, token: usize, fact: Fact, neighbour: usize) {
        if self.cases[neighbour] == Case::Capital
            && let Some(cluster) = self.clusters[self.tokens[neighbour] as usize]
        {
            self.note(token, fact.key(Some(cluster)));
        }
    }

    fn note(&mut self, token: usize, key: u64) {
        let facts = &mut self.facts[self.tokens[token] as usize];
        if let Some(fact) = facts.iter_mut().find(|fact| fact.key == key) {
            fact.count += 1;
        } else if facts.len() < MOST {
            facts.push(Known { key, count: 1, token: token as u32 });
        }
    }

    /// What a hyphen without blanks says: of itself, and to the words on both sides. Where blanks are not known, or all
    /// tokens have them, it says nothing.
    fn add_hyphens(&self, token: usize, keys: &mut Vec<u64>) {
        let places = [token.checked_add(1), Some(token), token.checked_sub(1)];
        for (place, hyphen) in places.into_iter().enumerate() {
            let Some(hyphen) = hyphen.filter(|&hyphen| self.hyphens.get(hyphen) == Some(&true)) else {
                continue;
            };
            let sides = (self.cases[hyphen - 1], self.cases[hyphen + 1]);
            keys.push(hyphen_key(place as u64, sides.0, sides.1));
        }
    }

    /// The keys of the features of a word: facts from its other occurrences.
    pub(crate) fn features(&self, sentence: usize, word_number: usize, keys: &mut Vec<u64>) {
        let token = self.starts[sentence] + word_number;
        let mut written = 0u64;
        for fact in &self.facts[self.tokens[token] as usize] {
            if fact.count == 1 && fact.token as usize == token {
                continue;
            }
            match Fact::WRITTEN.iter().position(|kind| kind.key(None) == fact.key) {
                Some(kind) => written |= 1 << kind,
                None if self.cases[token] == Case::Capital => keys.push(fact.key),
                None => {}
            }
        }
        keys.push(written_key(self.cases[token], word_number == 0, written));
        self.add_hyphens(token, keys);
        let sentence_end = self.starts.get(sentence + 1).copied().unwrap_or(self.tokens.len());
        // Outside of the sentence.
        const NONE: u64 = 1;
        let word = |token: usize| self.words[self.tokens[token] as usize];
        let before = if word_number == 0 { NONE } else { word(token - 1) };
        let after = if token + 1 == sentence_end { NONE } else { word(token + 1) };
        self.layout.features(sentence, [before, word(token), after], self.cases[token] as u64, keys);
    }
}
