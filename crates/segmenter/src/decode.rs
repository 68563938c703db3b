//! How text is segmented: atoms to gaps, gaps to tokens and sentences.

use std::ops::Range;

use consonant_sequence::inference::Candidates;
use consonant_sequence::{ChainDecoder, SentenceKeys};
use consonant_text::Document;

use crate::atoms::{Atom, Atoms, Space};
use crate::features::Extractor;
use crate::layout::{Layout, Start};
use crate::model::{Boundaries, Learned};
use crate::parts::Gap;
use crate::{Rules, Segmenter, SegmenterError};

/// Atoms that are looked at together. A paragraph with more is decoded in windows, each of which begins where the one before
/// found the end of a sentence: memory stays bounded and time linear however long it is.
const WINDOW: usize = 1 << 14;

/// Tokens of a sentence at most. Tables and texts without punctuation would give sentences of thousands, for which parsers, whose
/// work grows with the square, have no use.
const LONGEST: usize = 300;

/// Segments texts with buffers that are reused: one for each thread.
pub struct Decoder<'s> {
    segmenter: &'s Segmenter,
    chain: Option<ChainDecoder<'s>>,
    atoms: Vec<Atom>,
    gaps: Vec<Gap>,
    extractor: Extractor,
    features: Vec<u64>,
    keys: SentenceKeys,
    candidates: Candidates,
    path: Vec<u32>,
    tokens: Vec<Range<usize>>,
    layout: Layout,
    value: f64,
}

impl<'s> Decoder<'s> {
    pub(crate) fn new(segmenter: &'s Segmenter) -> Result<Self, SegmenterError> {
        let chain = match &segmenter.boundaries {
            Boundaries::Rules(_) => None,
            Boundaries::Learned(learned) => Some(learned.chain.decoder(None)?),
        };
        Ok(Self {
            segmenter,
            chain,
            atoms: Vec::new(),
            gaps: Vec::new(),
            extractor: Extractor::default(),
            features: Vec::new(),
            keys: SentenceKeys::new(),
            candidates: Candidates::new(),
            path: Vec::new(),
            tokens: Vec::new(),
            layout: Layout::default(),
            value: 0.0,
        })
    }

    /// Finds the sentences and tokens of a text. Blank lines end paragraphs.
    pub fn segment(&mut self, text: &str) -> Result<Document, SegmenterError> {
        self.lay_out(text, Start::Document, None)?;
        self.layout.document(text)
    }

    /// Finds the sentences and tokens of a text and gives them as CoNLL-U: the way to stream a long text, passage by
    /// passage. `start` says what starts with the text; with the number of characters that stand before it, each token
    /// says its place in the whole (`TokenRange=0:5`).
    pub fn conllu(
        &mut self,
        text: &str,
        start: Start,
        characters: Option<u64>,
    ) -> Result<&str, SegmenterError> {
        self.lay_out(text, start, characters)?;
        Ok(&self.layout.conllu)
    }

    /// The score of the boundaries that were found last; rules have none.
    pub fn value(&self) -> f64 {
        self.value
    }

    fn lay_out(&mut self, text: &str, start: Start, characters: Option<u64>) -> Result<(), SegmenterError> {
        self.layout.clear(characters);
        self.value = 0.0;
        let segmenter = self.segmenter;
        let cuts = segmenter.cuts();
        let (mut at, mut written) = (0, 0);
        let mut start = Some(start);
        let mut atoms = Atoms::new(text, 0, cuts);
        loop {
            self.read_window(&mut atoms);
            let Some(last) = self.atoms.last() else { break };
            let ends_paragraph = last.space == Space::Paragraph;
            match (&segmenter.boundaries, &mut self.chain) {
                (Boundaries::Learned(learned), Some(chain)) => {
                    score(
                        text,
                        &self.atoms,
                        learned,
                        chain,
                        &mut self.extractor,
                        (&mut self.keys, &mut self.features),
                    );
                    allow(&self.atoms, learned, &mut self.candidates);
                    self.value += chain.best(Some(&self.candidates), &mut self.path)?;
                    self.gaps.clear();
                    self.gaps.extend(self.path.iter().map(|&label| learned.gaps[label as usize]));
                }
                (Boundaries::Rules(rules), _) => rules.gaps(text, &self.atoms, &mut self.gaps),
                (Boundaries::Learned(_), None) => Rules::default().gaps(text, &self.atoms, &mut self.gaps),
            }
            let end = if ends_paragraph { self.atoms.len() } else { window_end(&self.gaps) };
            let mut token = self.atoms[0].start;
            for (number, atom) in self.atoms[..end].iter().enumerate() {
                let gap = if number + 1 == end { Gap::Sentence } else { self.gaps[number] };
                if gap == Gap::Join {
                    continue;
                }
                self.tokens.push(token..atom.end);
                token = self.atoms.get(number + 1).map_or(atom.end, |next| next.start);
                let sentence = match gap {
                    Gap::Sentence => self.tokens.len(),
                    _ if self.tokens.len() == LONGEST => sentence_end(text, &self.tokens),
                    _ => continue,
                };
                let words = (&*segmenter.multiwords, segmenter.contractions);
                self.layout.sentence(text, &self.tokens[..sentence], start.take(), &mut written, words);
                self.tokens.drain(..sentence);
            }
            if ends_paragraph {
                start = Some(Start::Paragraph);
            } else {
                at = self.atoms.get(end).map_or(at, |next| next.start);
                atoms = Atoms::new(text, at, cuts);
            }
        }
        Ok(())
    }

    fn read_window(&mut self, atoms: &mut Atoms<'_>) {
        self.atoms.clear();
        for atom in atoms {
            self.atoms.push(atom);
            if atom.space == Space::Paragraph || self.atoms.len() == WINDOW {
                break;
            }
        }
    }
}

/// Scores the gaps between atoms.
fn score(
    text: &str,
    atoms: &[Atom],
    learned: &Learned,
    chain: &mut ChainDecoder<'_>,
    extractor: &mut Extractor,
    (keys, features): (&mut SentenceKeys, &mut Vec<u64>),
) {
    extractor.load(text, atoms, &learned.statistics);
    keys.clear();
    for at in 0..atoms.len() - 1 {
        extractor.features(at, features);
        keys.token();
        keys.keys(features);
    }
    chain.score(keys);
}

/// Tokens go on over white space only if the training data has such tokens.
fn allow(atoms: &[Atom], learned: &Learned, candidates: &mut Candidates) {
    candidates.clear();
    for atom in &atoms[..atoms.len().saturating_sub(1)] {
        if atom.space == Space::None || learned.inner_spaces {
            candidates.push_all();
        } else {
            candidates.push(&learned.ends);
        }
    }
}

/// Where a sentence that is too long ends: behind the last punctuation of its second half, or else where it stands.
fn sentence_end(text: &str, tokens: &[Range<usize>]) -> usize {
    let punctuation = |token: &Range<usize>| !text[token.clone()].contains(char::is_alphanumeric);
    tokens
        .iter()
        .rposition(punctuation)
        .filter(|&at| at >= tokens.len() / 2)
        .map_or(tokens.len(), |at| at + 1)
}

/// How many atoms of a window that does not reach the end of its paragraph are done: up to the last sentence end of its second
/// half, or else to its last token end.
fn window_end(gaps: &[Gap]) -> usize {
    let last = |wanted: fn(Gap) -> bool| gaps.iter().rposition(|&gap| wanted(gap));
    match last(|gap| gap == Gap::Sentence) {
        Some(end) if end >= gaps.len() / 2 => end + 1,
        _ => last(|gap| gap != Gap::Join)
            .filter(|&end| end >= gaps.len() / 2)
            .map_or(gaps.len(), |end| end + 1),
    }
}
