//! Features of parts: numbers of weights, mixed from numbers that each token has once for each sentence.
//!
//! The templates follow the line of MSTParser and TurboParser (McDonald et al. 2005; Martins et al. 2013):
//! words, lemmas, tags and morphology of the words of a part and around it, tags in between, directions and
//! distances.

mod label;
mod part;
mod template;

pub(crate) use label::Surroundings;
pub(crate) use part::Features;
pub(crate) use template::Attribute;

use std::ops::Range;

use consonant_learn::hash::{Fingerprint, combine, key};
use consonant_learn::model::{Model, ModelWriter};
use consonant_sequence::features::Clusters;
use consonant_text::Sentence;
use rustc_hash::FxHashMap;

use crate::ParserError;
use crate::prune::long::{LONGEST, WINDOW};

const VOCABULARY: &str = "vocabulary";

/// Forms and lemmas that occur less often in training are known by their shape alone.
const LEAST_COUNT: u32 = 2;

/// Columns that a parser does not look at: those that its input will not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IgnoredColumns {
    /// Lemmas; forms in lower case stand in for them.
    pub lemmas: bool,
    /// Morphological features.
    pub features: bool,
}

/// The words that have keys of their own, and what is read of them.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Keys of forms and lemmas, sorted.
    keys: Vec<u64>,
    ignored: IgnoredColumns,
    /// What stands for the morphological features of words that have none.
    clusters: Option<Clusters>,
}

impl Vocabulary {
    /// The words that occur often enough in training, and those of a model to go on from, with its clusters.
    pub fn gather<'a>(
        sentences: impl IntoIterator<Item = &'a Sentence>,
        ignored: IgnoredColumns,
        clusters: Option<Clusters>,
        known: Option<&Self>,
    ) -> Self {
        let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
        let mut buffer = String::new();
        for sentence in sentences {
            for word in 0..sentence.len() {
                *counts.entry(form_key(sentence, word)).or_default() += 1;
                *counts.entry(lemma_key(sentence, word, ignored.lemmas, &mut buffer)).or_default() += 1;
            }
        }
        let mut keys: Vec<u64> =
            counts.into_iter().filter(|&(_, count)| count >= LEAST_COUNT).map(|(key, _)| key).collect();
        keys.extend(known.iter().flat_map(|known| &known.keys));
        keys.sort_unstable();
        keys.dedup();
        let clusters = clusters.or_else(|| known.and_then(|known| known.clusters.clone()));
        Self { keys, ignored, clusters }
    }

    pub(crate) fn ignored(&self) -> IgnoredColumns {
        self.ignored
    }

    /// Takes the words out of a model.
    pub(crate) fn open(model: &Model, ignored: IgnoredColumns) -> Result<Self, ParserError> {
        let mut keys = model.array::<u64>(VOCABULARY)?.to_vec();
        keys.sort_unstable();
        Ok(Self { keys, ignored, clusters: Clusters::open(model)? })
    }

    /// Adds the words to a model.
    pub(crate) fn store(&self, writer: &mut ModelWriter) {
        writer.array(VOCABULARY, &self.keys);
        if let Some(clusters) = &self.clusters {
            clusters.store(writer);
        }
    }

    /// What is known of a word's form beside its letters.
    pub(crate) fn morphology<'v>(&'v self, sentence: &'v Sentence, word: usize) -> Morphology<'v> {
        match sentence.feats(word) {
            features if features != "_" && !self.ignored.features => Morphology::Features(features),
            _ => self
                .clusters
                .as_ref()
                .and_then(|clusters| clusters.get(sentence.form(word)))
                .map_or(Morphology::None, Morphology::Cluster),
        }
    }

    fn contains(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

/// Morphological features, or the cluster of a word that has none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Morphology<'v> {
    Features(&'v str),
    Cluster(&'v str),
    None,
}

impl<'v> Morphology<'v> {
    pub(crate) fn text(self) -> &'v str {
        match self {
            Self::Features(text) | Self::Cluster(text) => text,
            Self::None => "_",
        }
    }
}

fn form_key(sentence: &Sentence, word: usize) -> u64 {
    combine(key(sentence.form(word).as_bytes()), 1)
}

/// The lemma, or the form in lower case where there is none.
fn lemma_key(sentence: &Sentence, word: usize, is_ignored: bool, buffer: &mut String) -> u64 {
    buffer.clear();
    match sentence.lemma(word) {
        lemma if is_ignored || lemma == "_" => {
            buffer.extend(sentence.form(word).chars().flat_map(char::to_lowercase))
        }
        lemma => buffer.push_str(lemma),
    }
    combine(key(buffer.as_bytes()), 2)
}

/// What stands for a word that is not in the vocabulary: its last letters, and which sorts of characters it
/// has.
fn shape_key(form: &str) -> u64 {
    let mut state = 3;
    for letter in form.chars().rev().take(3) {
        state = combine(state, u64::from(letter));
    }
    let sort = |letter: char| match letter {
        _ if letter.is_uppercase() => 1u64,
        _ if letter.is_numeric() => 2,
        _ if letter.is_alphabetic() => 4,
        _ => 8,
    };
    combine(state, form.chars().fold(0, |sorts, letter| sorts | sort(letter)))
}

/// The keys of one token. Root, sentence boundaries, and the start and end of modifiers are tokens of their
/// own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Token {
    /// A key for each [`Attribute`].
    values: [u64; Attribute::COUNT],
    /// Where its morphological features begin, one by one.
    first_atom: u32,
    atoms: u32,
    /// A bit that stands for the coarse tag.
    bit: u8,
}

impl Token {
    fn special(name: &str) -> Self {
        Self { values: [key(name.as_bytes()); Attribute::COUNT], bit: 63, ..Self::default() }
    }

    /// Where its morphological features stand among those of the sentence.
    fn atoms_range(&self) -> Range<usize> {
        self.first_atom as usize..(self.first_atom + self.atoms) as usize
    }

    #[inline]
    fn get(&self, attribute: Attribute) -> u64 {
        self.values[attribute as usize]
    }
}

/// A sentence as features see it.
#[derive(Debug, Clone, Default)]
pub struct Encoded {
    words: usize,
    /// Before the first word, the root, the words, after the last word, start, end.
    tokens: Vec<Token>,
    atoms: Vec<u64>,
    /// For each pair of positions a < b that are at most `reach` apart, the coarse tags between them as bits: at
    /// a * reach + b - a - 1.
    between: Vec<u64>,
    reach: usize,
    /// The coarse tags between the root and each position.
    from_root: Vec<u64>,
    /// For each position, the numbers of verbs and of punctuation marks up to it.
    verbs: Vec<u32>,
    punctuation: Vec<u32>,
}

/// The most morphological features of a token that are looked at one by one.
const MOST_ATOMS: usize = 8;
/// How much of a cluster's name is looked at besides all of it.
const CLUSTER_BITS: [usize; 2] = [4, 6];

impl Encoded {
    /// Encodes a sentence.
    pub fn new(sentence: &Sentence, vocabulary: &Vocabulary) -> Self {
        let mut encoded = Self::default();
        encoded.load(sentence, vocabulary);
        encoded
    }

    /// Makes this another sentence, in the same memory.
    pub fn load(&mut self, sentence: &Sentence, vocabulary: &Vocabulary) {
        self.words = sentence.len();
        self.tokens.clear();
        self.atoms.clear();
        self.verbs.clear();
        self.punctuation.clear();
        self.tokens.extend([Token::special("<before>"), Token::special("<root>")]);
        self.verbs.push(0);
        self.punctuation.push(0);
        let mut buffer = String::new();
        for word in 0..sentence.len() {
            self.verbs.push(self.verbs[word] + u32::from(matches!(sentence.upos(word), "VERB" | "AUX")));
            self.punctuation.push(self.punctuation[word] + u32::from(sentence.upos(word) == "PUNCT"));
            let token = self.token(sentence, word, vocabulary, &mut buffer);
            self.tokens.push(token);
        }
        self.tokens.extend(["<after>", "<start>", "<end>"].map(Token::special));
        for position in 0..=self.words {
            self.look_around(position);
        }
        // Of a very long sentence, arcs between distant words are looked at in training alone.
        self.reach = if self.words > LONGEST { WINDOW } else { self.words };
        let (width, reach) = (self.words + 1, self.reach);
        self.between.clear();
        self.between.resize(width * reach, 0);
        for a in 0..width {
            let mut tags = 0;
            for b in (a + 1..width).take(reach) {
                self.between[a * reach + b - a - 1] = tags;
                tags |= 1 << self.at(b).bit;
            }
        }
        self.from_root.clear();
        self.from_root.push(0);
        let mut tags = 0;
        for b in 1..width {
            self.from_root.push(tags);
            tags |= 1 << self.at(b).bit;
        }
    }

    fn token(
        &mut self,
        sentence: &Sentence,
        word: usize,
        vocabulary: &Vocabulary,
        buffer: &mut String,
    ) -> Token {
        let known = |own: u64| if vocabulary.contains(own) { own } else { shape_key(sentence.form(word)) };
        let (upos, xpos) = (sentence.upos(word), sentence.xpos(word));
        let coarse = key(if upos == "_" { xpos } else { upos }.as_bytes());
        let tag = key(if xpos == "_" { upos } else { xpos }.as_bytes());
        let first_atom = self.atoms.len() as u32;
        let morphology = vocabulary.morphology(sentence, word);
        match morphology {
            Morphology::Features(features) => {
                self.atoms.extend(features.split('|').take(MOST_ATOMS).map(|atom| key(atom.as_bytes())));
            }
            Morphology::Cluster(bits) => {
                let beginnings = CLUSTER_BITS.iter().filter_map(|&length| bits.get(..length));
                self.atoms.extend(beginnings.map(|bits| key(bits.as_bytes())));
            }
            Morphology::None => {}
        }
        let mut values = [0; Attribute::COUNT];
        let mut set = |attribute: Attribute, value: u64| values[attribute as usize] = value;
        set(Attribute::Form, known(form_key(sentence, word)));
        set(Attribute::Lemma, known(lemma_key(sentence, word, vocabulary.ignored.lemmas, buffer)));
        set(Attribute::Tag, combine(tag, 4));
        set(Attribute::Coarse, combine(coarse, 5));
        set(Attribute::Morphology, combine(key(morphology.text().as_bytes()), 6));
        Token { values, first_atom, atoms: self.atoms.len() as u32 - first_atom, bit: (coarse >> 58) as u8 }
    }

    /// Fills in the attributes that join others.
    fn look_around(&mut self, position: usize) {
        use Attribute::*;
        let (before, own, after) = (*self.before(position), *self.at(position), *self.after(position));
        let values = &mut self.tokens[position + 1].values;
        let mut join = |attribute: Attribute, a: u64, b: u64| {
            values[attribute as usize] = combine(a, b);
            values[attribute as usize]
        };
        join(FormTag, own.get(Form), own.get(Tag));
        join(LemmaTag, own.get(Lemma), own.get(Tag));
        join(MorphologyCoarse, own.get(Morphology), own.get(Coarse));
        let tag = join(TagBefore, own.get(Tag), before.get(Tag));
        join(TagAfter, own.get(Tag), after.get(Tag));
        join(TagAround, tag, after.get(Tag));
        let coarse = join(CoarseBefore, own.get(Coarse), before.get(Coarse));
        join(CoarseAfter, own.get(Coarse), after.get(Coarse));
        join(CoarseAround, coarse, after.get(Coarse));
        join(LemmaBefore, own.get(Tag), before.get(Lemma));
        join(LemmaAfter, own.get(Tag), after.get(Lemma));
    }

    /// Adds forms and tags to the fingerprint of the training data.
    pub(crate) fn sign(&self, fingerprint: &mut Fingerprint) {
        for token in &self.tokens {
            fingerprint.number(token.get(Attribute::Form));
            fingerprint.number(token.get(Attribute::Tag));
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The token at a position: 0 is the root, words are counted from 1.
    #[inline]
    fn at(&self, position: usize) -> &Token {
        &self.tokens[position + 1]
    }

    #[inline]
    fn before(&self, position: usize) -> &Token {
        &self.tokens[position]
    }

    #[inline]
    fn after(&self, position: usize) -> &Token {
        &self.tokens[position + 2]
    }

    #[inline]
    fn end(&self) -> &Token {
        &self.tokens[self.words + 4]
    }

    fn atoms(&self, token: &Token) -> &[u64] {
        &self.atoms[token.atoms_range()]
    }

    /// The coarse tags strictly between two positions, as bits.
    #[inline]
    fn tags_between(&self, a: usize, b: usize) -> u64 {
        let (a, b) = (a.min(b), a.max(b));
        match b - a - 1 {
            _ if a == 0 => self.from_root[b],
            gap if gap < self.reach => self.between[a * self.reach + gap],
            _ => (a + 1..b).fold(0, |tags, position| tags | 1 << self.at(position).bit),
        }
    }

    /// How many verbs and punctuation marks stand strictly between two positions, each up to 3.
    #[inline]
    fn counts_between(&self, a: usize, b: usize) -> usize {
        let (a, b) = (a.min(b), a.max(b));
        let count = |counts: &[u32]| (counts[b - 1] - counts[a]).min(3) as usize;
        count(&self.verbs) * 4 + count(&self.punctuation)
    }
}

/// Collects the keys of one part; templates are told apart by the order in which they come.
struct Keys<'a> {
    out: &'a mut Vec<u64>,
    template: u64,
}

impl<'a> Keys<'a> {
    /// Templates are numbered from `first`, which differs for each kind of part.
    fn new(out: &'a mut Vec<u64>, first: u64) -> Self {
        Self { out, template: first }
    }

    #[inline]
    fn push(&mut self, parts: impl IntoIterator<Item = u64>) {
        self.template += 1;
        let key = parts.into_iter().fold(self.template, combine);
        self.out.push(key);
    }
}

/// The distance between two positions in eight steps.
#[inline]
fn distance(a: usize, b: usize) -> usize {
    match a.abs_diff(b) {
        d @ 0..=5 => d,
        6..=10 => 6,
        11..=20 => 7,
        _ => 8,
    }
}
