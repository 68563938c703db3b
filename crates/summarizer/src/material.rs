//! What a topic's documents offer: sentences worth choosing, and the concepts in them.

use std::ops::Range;

use consonant_learn::hash;
use consonant_text::Document;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fitness::{Fitness, points_back, speaks};
use crate::interest::mark_outdated;
use crate::layout::{Role, date_of, is_letter, roles};
use crate::units::{Chunk, chunks};
use crate::words::{Vocabulary, is_number};

/// The sentences and concepts of a topic.
#[derive(Debug, Default)]
pub struct Material {
    /// All sentences of documents that repeat no other.
    pub sentences: Vec<SourceSentence>,
    /// All concepts, by the order of their first occurrence.
    pub concepts: Vec<Concept>,
    /// Documents that are not copies of another.
    pub documents: usize,
    /// For each document that repeats an earlier one, that one.
    pub copies: Vec<(usize, usize)>,
    /// For each document, its date; all alike if one has none.
    pub dates: Vec<u32>,
    /// What the documents are like.
    pub kind: Kind,
    vocabulary: Vocabulary,
    /// For each stem, where it stands.
    stems: Vec<Stem>,
    /// The stems of all concepts, one concept after the other.
    concept_stems: Vec<u32>,
    ids: FxHashMap<u64, u32>,
    size: usize,
}

/// A sentence of a document.
#[derive(Debug)]
pub struct SourceSentence {
    /// The document.
    pub document: usize,
    /// Its number in the document.
    pub sentence: usize,
    /// How many sentences stand before it that are not headings or the like.
    pub position: usize,
    /// The places of its words in the document's text, in bytes.
    pub places: Vec<Range<usize>>,
    /// Its written words.
    pub chunks: Vec<Chunk>,
    /// Its concepts, each with the first and the last written word.
    pub grams: Vec<Gram>,
    /// Words, as they count against a budget.
    pub length: usize,
    /// Whether it may stand in a summary.
    pub fitness: Fitness,
    /// Whether somebody speaks of themselves or to somebody.
    pub speaks: bool,
    /// Whether it points back to the sentence before it, which may stand in a summary, too.
    pub follows: bool,
    /// Whether a later document corrects a count of it.
    pub outdated: bool,
}

/// A concept at a place in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gram {
    /// The concept.
    pub concept: u32,
    /// The first written word.
    pub first: u32,
    /// The last written word.
    pub last: u32,
}

consonant_task::names! {
    /// What a topic's documents are like. It tells how far counts and places can be trusted, and what people
    /// keep of them. Features say its name.
    #[derive(Default)]
    pub enum Kind {
        /// One text: sentences are counted instead of documents.
        #[default]
        Text = "text",
        /// One text in which somebody speaks, such as an interview.
        Talk = "talk",
        /// One list of remarks about one thing, such as what customers say of it.
        Remarks = "remarks",
        /// Several texts, such as reports of one event.
        Reports = "reports",
        /// Several texts in which people speak to one another, such as letters.
        Exchange = "exchange",
        /// Several texts of a few sentences each, such as reviews.
        Brief = "brief",
    }
}

impl Kind {
    /// Whether there is only one document.
    pub fn is_one(self) -> bool {
        matches!(self, Kind::Text | Kind::Talk | Kind::Remarks)
    }
}

/// Documents with fewer words than this, on average, are brief.
const BRIEF: usize = 60;
/// Somebody speaks, if this share of the sentences has *I*, *we*, *you*, …
const TALK: f64 = 0.25;
/// A list of remarks has at least this many, and this share of them names the thing.
const REMARKS: (usize, f64) = (20, 0.66);

/// A sequence of stems that says something about the topic.
#[derive(Debug, Clone, Default)]
pub struct Concept {
    /// Documents it occurs in.
    pub documents: u32,
    /// Sentences it occurs in.
    pub sentences: u32,
    /// The least position it occurs at.
    pub earliest: u32,
    /// Which of its words are stop words, as bits.
    pub stops: u32,
    /// Whether a heading, or another fragment, has it.
    pub heading: bool,
    /// Where it occurs first: the sentence, and the first and the last written word there.
    pub example: (u32, u32, u32),
    last_document: u32,
    last_sentence: u32,
}

/// Where a stem stands in the documents.
#[derive(Debug, Clone, Copy, Default)]
struct Stem {
    /// Sentences it occurs in.
    sentences: u32,
    /// The sentence that was counted last.
    last_sentence: Option<u32>,
    /// How often it stands within a sentence, not at its beginning.
    inside: u32,
    /// How often it has a capital there.
    capitals: u32,
}

/// All that a concept's score depends on: concepts of the same profile have the same features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Documents, or sentences if there is only one document, that it occurs in.
    pub count: u32,
    /// The least position it occurs at.
    pub earliest: u32,
    /// Which of its words are stop words, as bits.
    pub stops: u32,
    /// Whether a heading has it.
    pub heading: bool,
    /// Its words.
    pub words: [Word; LARGEST],
}

/// From this position on, places are alike.
const LATE: u32 = 17;

/// The largest number of stems in a concept.
pub const LARGEST: usize = 4;

/// A stem as a profile sees it: stop words by themselves, others by their looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// No word: the concept is shorter.
    None,
    /// A stop word.
    Stop(u32),
    /// A number.
    Number,
    /// A word that is mostly written with a capital, within sentences.
    Name,
    /// A word of up to three letters.
    Short,
    /// Any other word.
    Other,
}

/// Words whose stems have so many letters in common at the beginning are of one family: *exploded*, *explosion*.
const FAMILY: usize = 5;

/// Documents whose sets of concepts overlap by this share (estimated) are copies of one another.
const COPY: f64 = 0.8;
/// Numbers of the signature by which copies are found.
const SIGNATURE: usize = 64;

impl Material {
    /// Reads the documents of a topic; concepts are sequences of `size` stems.
    pub fn new(documents: &[Document], size: usize) -> Self {
        let mut material = Material { size: size.clamp(1, LARGEST), ..Material::default() };
        let mut signatures: Vec<(usize, [u64; SIGNATURE])> = Vec::new();
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut stems = Vec::new();
        for (number, document) in documents.iter().enumerate() {
            let read: Vec<ReadSentence> = roles(document)
                .into_iter()
                .enumerate()
                .map(|(sentence, role)| material.read(document, number, sentence, role, &mut stems))
                .collect();
            let signature = signature(&read, material.size);
            if let Some(signature) = signature {
                if let Some((original, _)) =
                    signatures.iter().find(|(_, other)| resemblance(&signature, other) >= COPY)
                {
                    material.copies.push((number, *original));
                    continue;
                }
                signatures.push((number, signature));
            }
            material.documents += 1;
            let mut position = 0;
            for mut read in read {
                let sentence = &mut read.sentence;
                sentence.position = position;
                position += (sentence.fitness == Fitness::Sentence) as usize;
                if sentence.fitness == Fitness::Sentence && !seen.insert(key(&read.stems)) {
                    sentence.fitness = Fitness::Unfit;
                }
                material.push(read, number as u32);
            }
        }
        if material.sentences.iter().all(|sentence| sentence.fitness != Fitness::Sentence) {
            for sentence in material.sentences.iter_mut().filter(|s| s.fitness == Fitness::Fragment) {
                sentence.fitness = Fitness::Sentence;
            }
        }
        let letters = documents.iter().filter(|document| is_letter(document.text())).count();
        material.kind = match 2 * letters > documents.len() {
            true if material.documents > 1 => Kind::Exchange,
            _ => material.judge_kind(),
        };
        material.find_followers(documents);
        let dates: Option<Vec<u32>> = documents.iter().map(|document| date_of(document.text())).collect();
        material.dates = dates.unwrap_or_else(|| vec![0; documents.len()]);
        mark_outdated(&mut material);
        material
    }

    /// When a document was written, next to the others: by their dates, if all have one, and their order.
    pub fn when(&self, document: usize) -> (u32, usize) {
        (self.dates[document], document)
    }

    /// Finds the sentences that need the one before them. In remarks and reviews, *it* is what all are about, and
    /// in letters and talks, what somebody else has said.
    fn find_followers(&mut self, documents: &[Document]) {
        if !matches!(self.kind, Kind::Text | Kind::Reports) {
            return;
        }
        for index in 1..self.sentences.len() {
            let (before, this) = (&self.sentences[index - 1], &self.sentences[index]);
            let follows = before.document == this.document
                && before.fitness == Fitness::Sentence
                && this.fitness == Fitness::Sentence
                && points_back(&documents[this.document].sentences()[this.sentence]);
            self.sentences[index].follows = follows;
        }
    }

    fn judge_kind(&self) -> Kind {
        let fit = || self.sentences.iter().filter(|sentence| sentence.fitness == Fitness::Sentence);
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let sentences = fit().count();
        let speaks = share(fit().filter(|sentence| sentence.speaks).count(), sentences) >= TALK;
        if self.documents > 1 {
            let words: usize = fit().map(|sentence| sentence.length).sum();
            return match speaks {
                _ if words < BRIEF * self.documents => Kind::Brief,
                true => Kind::Exchange,
                false => Kind::Reports,
            };
        }
        let content = self.stems.iter().enumerate().filter(|&(id, _)| !self.vocabulary.is_stop(id as u32));
        let most = content.map(|(_, stem)| stem.sentences as usize).max().unwrap_or(0);
        let (least, named) = REMARKS;
        match speaks {
            true if sentences >= least && share(most, self.sentences.len()) >= named => Kind::Remarks,
            true => Kind::Talk,
            false => Kind::Text,
        }
    }

    /// Reads one sentence; its concepts still hold the position of their first stem in `stems`.
    fn read(
        &mut self,
        document: &Document,
        number: usize,
        sentence: usize,
        role: Role,
        stems: &mut Vec<u32>,
    ) -> ReadSentence {
        let places = document.word_places(sentence);
        let chunks = chunks(document, sentence, &places);
        let tokens = &document.sentences()[sentence];
        stems.clear();
        let (mut chunk_of, mut capitals) = (Vec::new(), Vec::new());
        for (index, chunk) in chunks.iter().enumerate() {
            let written = &document.text()[chunk.place.clone()];
            self.vocabulary.pieces(written, stems);
            chunk_of.resize(stems.len(), index as u32);
            let first = written.chars().find(|c| c.is_alphanumeric());
            capitals.resize(stems.len(), first.is_some_and(char::is_uppercase));
        }
        let grams = (0..(stems.len() + 1).saturating_sub(self.size))
            .map(|at| Gram { concept: at as u32, first: chunk_of[at], last: chunk_of[at + self.size - 1] })
            .collect();
        let length = chunks.iter().map(|chunk| chunk.length as usize).sum();
        let written = &document.text()[document.sentence_place(sentence)];
        let fitness = match role {
            Role::Text => Fitness::of(tokens, written, stems.len(), length),
            Role::Heading => Fitness::Fragment,
            Role::Aside => Fitness::Unfit,
        };
        let sentence = SourceSentence {
            document: number,
            sentence,
            position: 0,
            places,
            chunks,
            grams,
            length,
            fitness,
            speaks: speaks(tokens),
            follows: false,
            outdated: false,
        };
        ReadSentence { sentence, stems: stems.clone(), capitals }
    }

    /// Numbers the concepts of a sentence and counts them. Boilerplate does not count.
    fn push(&mut self, read: ReadSentence, document: u32) {
        let ReadSentence { mut sentence, stems, capitals } = read;
        let index = self.sentences.len() as u32;
        for (place, (&id, &capital)) in stems.iter().zip(&capitals).enumerate() {
            self.stems.resize(self.stems.len().max(id as usize + 1), Stem::default());
            let stem = &mut self.stems[id as usize];
            stem.sentences += (stem.last_sentence.replace(index) != Some(index)) as u32;
            if place > 0 && sentence.fitness == Fitness::Sentence {
                stem.inside += 1;
                stem.capitals += capital as u32;
            }
        }
        for gram in &mut sentence.grams {
            let words = &stems[gram.concept as usize..][..self.size];
            let next = self.concepts.len() as u32;
            gram.concept = *self.ids.entry(key(words)).or_insert(next);
            if gram.concept == next {
                let stops =
                    words.iter().rev().fold(0, |bits, &w| bits << 1 | self.vocabulary.is_stop(w) as u32);
                self.concept_stems.extend_from_slice(words);
                let example = (index, gram.first, gram.last);
                let (last_document, last_sentence) = (u32::MAX, u32::MAX);
                self.concepts.push(Concept {
                    earliest: u32::MAX,
                    stops,
                    example,
                    last_document,
                    last_sentence,
                    ..Concept::default()
                });
            }
            let concept = &mut self.concepts[gram.concept as usize];
            concept.documents += (concept.last_document != document) as u32;
            concept.sentences += (concept.last_sentence != index) as u32;
            concept.earliest = concept.earliest.min(sentence.position as u32);
            concept.heading |= sentence.fitness == Fitness::Fragment;
            (concept.last_document, concept.last_sentence) = (document, index);
        }
        self.sentences.push(sentence);
    }

    /// The concept of a sequence of stems, if the documents have it.
    pub fn find(&self, stems: &[u32]) -> Option<u32> {
        self.ids.get(&key(stems)).copied()
    }

    /// The stems of a text, numbered as those of the documents.
    pub fn stems(&mut self, text: &str) -> Vec<u32> {
        let mut stems = Vec::new();
        text.split_whitespace().for_each(|word| self.vocabulary.pieces(word, &mut stems));
        stems
    }

    /// What the score of a concept depends on.
    pub fn profile(&self, concept: usize) -> Profile {
        let mut words = [Word::None; LARGEST];
        for (word, &id) in words.iter_mut().zip(self.stems_of(concept)) {
            let Stem { inside, capitals, .. } = self.stems[id as usize];
            *word = match self.vocabulary.stem(id) {
                _ if self.vocabulary.is_stop(id) => Word::Stop(id),
                stem if is_number(stem) => Word::Number,
                _ if 2 * capitals > inside => Word::Name,
                stem if stem.chars().nth(3).is_none() => Word::Short,
                _ => Word::Other,
            };
        }
        let Concept { documents, sentences, earliest, stops, heading, .. } = self.concepts[concept];
        let count = if self.kind.is_one() { sentences } else { documents };
        // Later places are all alike to features.
        let earliest = earliest.min(LATE);
        Profile { count, earliest, stops, heading, words }
    }

    /// A stem as it is written.
    pub fn stem(&self, stem: u32) -> &str {
        self.vocabulary.stem(stem)
    }

    /// Whether a stem is a stop word.
    pub fn is_stop(&self, stem: u32) -> bool {
        self.vocabulary.is_stop(stem)
    }

    /// The stems of a concept.
    pub fn stems_of(&self, concept: usize) -> &[u32] {
        &self.concept_stems[concept * self.size..][..self.size]
    }

    /// What sequences of stems have in common whose words are of the same families, one by one: they say the same.
    pub fn family(&self, stems: &[u32]) -> u64 {
        stems.iter().fold(hash::key(b"family"), |key, &stem| {
            let stem = self.stem(stem);
            let end = stem.char_indices().nth(FAMILY).map_or(stem.len(), |(end, _)| end);
            hash::combine(key, hash::key(&stem.as_bytes()[..end]))
        })
    }

    /// The stems of a sentence that has as many as a concept.
    pub fn stems_of_sentence(&self, sentence: usize) -> Vec<u32> {
        let grams = &self.sentences[sentence].grams;
        let first = grams.first().map(|gram| self.stems_of(gram.concept as usize)).unwrap_or_default();
        let rest = grams.iter().skip(1).map(|gram| self.stems_of(gram.concept as usize)[self.size - 1]);
        first.iter().copied().chain(rest).collect()
    }

    /// How many stems a concept has.
    pub fn concept_size(&self) -> usize {
        self.size
    }
}

/// A sentence and its stems, each with whether it is written with a capital.
struct ReadSentence {
    sentence: SourceSentence,
    stems: Vec<u32>,
    capitals: Vec<bool>,
}

fn key(stems: &[u32]) -> u64 {
    stems.iter().fold(hash::key(b"stems"), |key, &stem| hash::combine(key, u64::from(stem) + 1))
}

/// The least of several hash functions over a document's concepts (Broder 1997): two documents share a number
/// with the probability that a concept of either is in both. Short documents have none.
fn signature(sentences: &[ReadSentence], size: usize) -> Option<[u64; SIGNATURE]> {
    let mut least = [u64::MAX; SIGNATURE];
    let mut count = 0;
    for sentence in sentences {
        for words in sentence.stems.windows(size) {
            let mut hash = key(words);
            for least in &mut least {
                hash = hash::combine(hash, 0x5bd1_e995);
                *least = hash.min(*least);
            }
            count += 1;
        }
    }
    (count >= 5).then_some(least)
}

fn resemblance(a: &[u64; SIGNATURE], b: &[u64; SIGNATURE]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / SIGNATURE as f64
}

#[cfg(test)]
mod tests {
    use consonant_text::sentence::SentenceBuilder;

    use super::*;

    fn document(sentences: &[String]) -> Document {
        let sentence = |text: &String| {
            let mut builder = SentenceBuilder::new();
            text.split(' ').for_each(|word| builder.word(word, true));
            builder.finish()
        };
        Document::from_sentences(sentences.iter().map(sentence).collect())
    }

    fn numbered(count: usize, sentence: impl Fn(usize) -> String) -> Document {
        document(&(0..count).map(sentence).collect::<Vec<_>>())
    }

    #[test]
    fn kinds_are_told_by_number_length_and_voice() {
        let kind = |documents: &[Document]| Material::new(documents, 2).kind;
        let story = |n: usize| format!("the city number{n} opened its new bridge{n} on day{n} .");
        let letter = |n: usize| format!("I told{n} you that we may move{n} our meeting{n} to room{n} .");
        let remark = |n: usize| format!("I like the battery and its colour{n} in mode{n} .");
        assert_eq!(kind(&[numbered(30, story)]), Kind::Text);
        assert_eq!(kind(&[numbered(30, letter)]), Kind::Talk);
        assert_eq!(kind(&[numbered(30, remark)]), Kind::Remarks);
        assert_eq!(kind(&[numbered(10, remark)]), Kind::Talk);
        assert_eq!(kind(&[numbered(10, story), numbered(9, |n| story(n + 50))]), Kind::Reports);
        assert_eq!(kind(&[numbered(10, letter), numbered(9, |n| letter(n + 50))]), Kind::Exchange);
        assert_eq!(kind(&[numbered(3, letter), numbered(4, |n| letter(n + 50))]), Kind::Brief);
        assert_eq!(kind(&[]), Kind::Text);
    }

    #[test]
    fn profiles_tell_stop_words_names_numbers_and_headings() {
        let material = Material::new(
            &[document(&[
                "Storm in Genoa".into(),
                "In 1970 the storm in Genoa took 40 of its ships .".into(),
            ])],
            2,
        );
        let profile = |first: &str, second: &str| {
            let find = |(number, _): &(usize, &Concept)| {
                let stems = &material.concept_stems[2 * number..][..2];
                material.vocabulary.stem(stems[0]) == first && material.vocabulary.stem(stems[1]) == second
            };
            material.profile(material.concepts.iter().enumerate().find(find).unwrap().0)
        };
        let Profile { words, heading, count, .. } = profile("in", "genoa");
        assert!(matches!(words, [Word::Stop(_), Word::Name, Word::None, Word::None]));
        assert!(heading && count == 2);
        let Profile { words, heading, .. } = profile("in", "1970");
        assert!(matches!(words[..2], [Word::Stop(_), Word::Number]) && !heading);
        assert!(matches!(profile("the", "storm").words[..2], [Word::Stop(_), Word::Other]));
    }
}
