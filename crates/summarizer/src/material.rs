//! What a topic's documents offer: sentences worth choosing, and the concepts in them.

use std::ops::Range;

use consonant_learn::hash;
use consonant_text::{Document, Sentence};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::units::{Chunk, chunks};
use crate::words::Vocabulary;

/// The sentences and concepts of a topic.
#[derive(Debug, Default)]
pub struct Material {
    /// All sentences of documents that repeat no other.
    pub sentences: Vec<SourceSentence>,
    /// All concepts, by the order of their first occurrence.
    pub concepts: Vec<Concept>,
    /// Documents that are not copies of another.
    pub documents: usize,
    /// For each document, its number of sentences.
    pub document_lengths: Vec<usize>,
    /// For each document that repeats an earlier one, that one.
    pub copies: Vec<(usize, usize)>,
    vocabulary: Vocabulary,
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

/// Whether a sentence may stand in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fitness {
    /// Boilerplate, or a repetition: never.
    Unfit,
    /// A heading or fragment: only where there is nothing else.
    Fragment,
    /// A sentence.
    Sentence,
}

/// What a topic's documents are like: it tells how far counts and places can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One document: sentences are counted instead.
    One,
    /// Several documents.
    Several,
    /// Several documents of a few sentences each, such as reviews.
    Brief,
}

/// Documents with fewer words than this, on average, are brief.
const BRIEF: usize = 60;

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
    /// Where it occurs first: the sentence, and the first and the last written word there.
    pub example: (u32, u32, u32),
    last_document: u32,
    last_sentence: u32,
}

/// Documents whose sets of concepts overlap by this share (estimated) are copies of one another.
const COPY: f64 = 0.8;
/// Numbers of the signature by which copies are found.
const SIGNATURE: usize = 64;
/// Sentences longer than this are seldom sentences.
const LONGEST: usize = 120;

impl Material {
    /// Reads the documents of a topic; concepts are sequences of `size` stems.
    pub fn new(documents: &[Document], size: usize) -> Self {
        let mut material = Material { size: size.max(1), ..Material::default() };
        let mut signatures: Vec<(usize, [u64; SIGNATURE])> = Vec::new();
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut stems = Vec::new();
        for (number, document) in documents.iter().enumerate() {
            material.document_lengths.push(document.sentences().len());
            let read: Vec<(SourceSentence, Vec<u32>)> = (0..document.sentences().len())
                .map(|sentence| material.read(document, number, sentence, &mut stems))
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
            for (mut sentence, stems) in read {
                sentence.position = position;
                position += (sentence.fitness == Fitness::Sentence) as usize;
                if sentence.fitness == Fitness::Sentence && !seen.insert(key(&stems)) {
                    sentence.fitness = Fitness::Unfit;
                }
                material.push(sentence, &stems, number as u32);
            }
        }
        if material.sentences.iter().all(|sentence| sentence.fitness != Fitness::Sentence) {
            for sentence in material.sentences.iter_mut().filter(|s| s.fitness == Fitness::Fragment) {
                sentence.fitness = Fitness::Sentence;
            }
        }
        material
    }

    /// What the documents are like.
    pub fn kind(&self) -> Kind {
        let fit = self.sentences.iter().filter(|sentence| sentence.fitness == Fitness::Sentence);
        let words: usize = fit.map(|sentence| sentence.length).sum();
        match self.documents {
            0 | 1 => Kind::One,
            documents if words < BRIEF * documents => Kind::Brief,
            _ => Kind::Several,
        }
    }

    /// Reads one sentence; its concepts still hold the position of their first stem in `stems`.
    fn read(
        &mut self,
        document: &Document,
        number: usize,
        sentence: usize,
        stems: &mut Vec<u32>,
    ) -> (SourceSentence, Vec<u32>) {
        let places = document.word_places(sentence);
        let chunks = chunks(document, sentence, &places);
        let tokens = &document.sentences()[sentence];
        stems.clear();
        let mut chunk_of = Vec::new();
        for (index, chunk) in chunks.iter().enumerate() {
            self.vocabulary.pieces(&document.text()[chunk.place.clone()], stems);
            chunk_of.resize(stems.len(), index as u32);
        }
        let grams = (0..(stems.len() + 1).saturating_sub(self.size))
            .map(|at| Gram { concept: at as u32, first: chunk_of[at], last: chunk_of[at + self.size - 1] })
            .collect();
        let length = chunks.iter().map(|chunk| chunk.length as usize).sum();
        let fitness =
            fitness(tokens, &document.text()[document.sentence_place(sentence)], stems.len(), length);
        let read = SourceSentence {
            document: number,
            sentence,
            position: 0,
            places,
            chunks,
            grams,
            length,
            fitness,
        };
        (read, stems.clone())
    }

    /// Numbers the concepts of a sentence and counts them. Boilerplate does not count.
    fn push(&mut self, mut sentence: SourceSentence, stems: &[u32], document: u32) {
        let index = self.sentences.len() as u32;
        for gram in &mut sentence.grams {
            let words = &stems[gram.concept as usize..][..self.size];
            let next = self.concepts.len() as u32;
            gram.concept = *self.ids.entry(key(words)).or_insert(next);
            if gram.concept == next {
                let stops =
                    words.iter().rev().fold(0, |bits, &w| bits << 1 | self.vocabulary.is_stop(w) as u32);
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

    /// How many stems a concept has.
    pub fn concept_size(&self) -> usize {
        self.size
    }
}

fn key(stems: &[u32]) -> u64 {
    stems.iter().fold(hash::key(b"stems"), |key, &stem| hash::combine(key, u64::from(stem) + 1))
}

/// The least of several hash functions over a document's concepts (Broder 1997): two documents share a number with the
/// probability that a concept of either is in both. Short documents have none.
fn signature(sentences: &[(SourceSentence, Vec<u32>)], size: usize) -> Option<[u64; SIGNATURE]> {
    let mut least = [u64::MAX; SIGNATURE];
    let mut count = 0;
    for (_, stems) in sentences {
        for words in stems.windows(size) {
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

/// Judges a sentence by its looks, its tags if it has any, and its length.
fn fitness(sentence: &Sentence, text: &str, stems: usize, length: usize) -> Fitness {
    let trimmed = text.trim();
    if stems == 0 || length > LONGEST || is_boilerplate(trimmed) {
        return Fitness::Unfit;
    }
    let tagged = (0..sentence.len()).any(|word| sentence.upos(word) != "_");
    let has_verb = (0..sentence.len()).any(|word| matches!(sentence.upos(word), "VERB" | "AUX"));
    let last = trimmed.trim_end_matches(['"', '\'', '”', '’', ')', ']', '»']).chars().next_back();
    let ends = last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟'));
    let quotes = trimmed.matches(['"', '“', '”']).count();
    if stems < 5 || (tagged && !has_verb) || !ends || quotes % 2 == 1 {
        return Fitness::Fragment;
    }
    Fitness::Sentence
}

/// Lines that come with pages and messages, not with what they say.
fn is_boilerplate(text: &str) -> bool {
    if text.starts_with(['>', '|', '©']) || text.contains("://") || text.contains("www.") {
        return true;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let others = text.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    if letters < others {
        return true;
    }
    let lower = text.to_lowercase();
    [
        "all rights reserved",
        "click here",
        "sign up for",
        "subscribe to",
        "terms of use",
        "privacy policy",
        "cookie policy",
        "this article was originally published",
        "follow us on",
        "share this",
        "read more:",
        "advertisement",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Whether a sentence begins with a word that points back to what stood before.
pub fn points_back(sentence: &Sentence) -> bool {
    let Some(first) =
        (0..sentence.len()).find(|&word| sentence.form(word).chars().any(char::is_alphanumeric))
    else {
        return false;
    };
    let word = sentence.form(first).to_lowercase();
    let pronoun = matches!(
        word.as_str(),
        "he" | "she"
            | "they"
            | "it"
            | "his"
            | "her"
            | "their"
            | "its"
            | "this"
            | "these"
            | "those"
            | "that"
            | "such"
    );
    let connective = matches!(
        word.as_str(),
        "but"
            | "and"
            | "so"
            | "or"
            | "however"
            | "also"
            | "then"
            | "therefore"
            | "moreover"
            | "meanwhile"
            | "besides"
            | "thus"
            | "furthermore"
            | "additionally"
            | "instead"
            | "yet"
    );
    pronoun || connective
}
