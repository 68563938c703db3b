//! How text is segmented: atoms to gaps, gaps to tokens and sentences.

use std::ops::Range;

use consonant_sequence::inference::Candidates;
use consonant_sequence::{ChainDecoder, SentenceKeys};
use consonant_text::{Document, Sentence};

use crate::atoms::{Atom, Atoms, Class, Space};
use crate::features::Extractor;
use crate::layout::{Layout, Start};
use crate::lines::mark_length;
use crate::model::{Boundaries, Learned};
use crate::parts::Gap;
use crate::{Contractions, Rules, Segmenter, SegmenterError};

/// Atoms that are looked at together. A paragraph with more is decoded in windows, each of which begins where
/// the one before found the end of a sentence: memory stays bounded and time linear however long it is.
const WINDOW: usize = 1 << 14;

/// Tokens of a sentence at most. Tables and texts without punctuation would give sentences of thousands, for
/// which parsers, whose work grows with the square, have no use.
const LONGEST: usize = 300;

/// The sentences of a text.
#[derive(Debug, Default)]
pub struct Segments {
    /// The sentences, in order.
    pub sentences: Vec<Sentence>,
    /// Their places in the text, in bytes.
    pub places: Vec<Range<usize>>,
    /// The score of the boundaries; rules have none. Chains are decoded exactly, so it is also the bound.
    pub value: f64,
}

consonant_task::settings! {
    /// What is known about the text.
    pub struct SegmenterOptions {
        /// A line is a sentence.
        lines: bool = false, "";
        /// Blanks separate tokens, and nothing else does.
        tokenized: bool = false, "";
    }
}

impl Segmenter {
    /// Finds the sentences and tokens of a text. Blank lines end paragraphs.
    pub fn segment(&self, text: &str) -> Result<Document, SegmenterError> {
        let segments = self.passage(text, Start::Document, None)?;
        let mut document = Document::from_text(None, text.to_owned());
        for (sentence, place) in segments.sentences.into_iter().zip(segments.places) {
            document.push_sentence(sentence, place);
        }
        Ok(document)
    }

    /// Finds the sentences and tokens of a piece of text: the way to stream a long one, passage by passage.
    /// `start` says what starts with the text; with the number of characters that stand before it, each token
    /// says its place in the whole (`TokenRange=0:5`).
    pub fn passage(
        &self,
        text: &str,
        start: Start,
        characters: Option<u64>,
    ) -> Result<Segments, SegmenterError> {
        let contractions = if self.options.tokenized { Contractions::Keep } else { self.contractions };
        let layout = Layout::new(text, characters, &self.multiwords, contractions);
        self.workers.try_take(|| Worker::new(self))?.segment(self, text, start, layout)
    }
}

/// All that one thread needs.
pub(crate) struct Worker {
    chain: Option<ChainDecoder>,
    atoms: Vec<Atom>,
    gaps: Vec<Gap>,
    extractor: Extractor,
    features: Vec<u64>,
    found: Vec<(u32, f32)>,
    keys: SentenceKeys,
    candidates: Candidates,
    path: Vec<u32>,
    tokens: Vec<Range<usize>>,
}

impl Worker {
    fn new(segmenter: &Segmenter) -> Result<Self, SegmenterError> {
        let chain = match &segmenter.boundaries {
            Boundaries::Rules(_) => None,
            Boundaries::Learned(learned) => Some(learned.chain.decoder(None)?),
        };
        Ok(Self {
            chain,
            atoms: Vec::new(),
            gaps: Vec::new(),
            extractor: Extractor::default(),
            features: Vec::new(),
            found: Vec::new(),
            keys: SentenceKeys::new(),
            candidates: Candidates::new(),
            path: Vec::new(),
            tokens: Vec::new(),
        })
    }

    fn segment(
        &mut self,
        segmenter: &Segmenter,
        text: &str,
        start: Start,
        mut layout: Layout<'_>,
    ) -> Result<Segments, SegmenterError> {
        let mut segments = Segments::default();
        self.tokens.clear();
        let cuts = segmenter.cuts();
        let mut at = 0;
        let mut start = Some(start);
        let mut atoms = Atoms::new(text, 0, cuts);
        loop {
            self.read_window(&mut atoms);
            let Some(last) = self.atoms.last() else { break };
            let ends_paragraph = last.space == Space::Paragraph;
            match (&segmenter.boundaries, &mut self.chain) {
                (Boundaries::Learned(learned), Some(chain)) => {
                    self.extractor.load(text, &self.atoms, &learned.statistics);
                    self.keys.clear();
                    (1..self.atoms.len()).for_each(|_| self.keys.token());
                    chain.score_with(&self.keys, |table, _, gap, scores| {
                        self.extractor.features(gap, &mut self.features);
                        table.add_all(self.features.iter().map(|&key| (key, 1.0)), &mut self.found, scores);
                    });
                    allow(text, &self.atoms, learned, &mut self.candidates);
                    segments.value += chain.best(Some(&self.candidates), &mut self.path)?;
                    self.gaps.clear();
                    self.gaps.extend(self.path.iter().map(|&label| learned.gaps[label as usize]));
                }
                (Boundaries::Rules(rules), _) => rules.gaps(text, &self.atoms, &mut self.gaps),
                (Boundaries::Learned(_), None) => Rules::default().gaps(text, &self.atoms, &mut self.gaps),
            }
            respect(&segmenter.options, text, &self.atoms, &mut self.gaps);
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
                    _ if self.tokens.len() == LONGEST && !segmenter.options.lines => {
                        sentence_end(text, &self.tokens)
                    }
                    _ => continue,
                };
                let tokens = &self.tokens[..sentence];
                segments.places.push(tokens[0].start..tokens[sentence - 1].end);
                segments.sentences.push(layout.sentence(tokens, start.take()));
                self.tokens.drain(..sentence);
            }
            if ends_paragraph {
                start = Some(Start::Paragraph);
            } else {
                at = self.atoms.get(end).map_or(at, |next| next.start);
                atoms = Atoms::new(text, at, cuts);
            }
        }
        Ok(segments)
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

/// What the user knows about tokens and sentences goes before what was found.
fn respect(options: &SegmenterOptions, text: &str, atoms: &[Atom], gaps: &mut [Gap]) {
    if !options.lines && !options.tokenized {
        return;
    }
    for (gap, pair) in gaps.iter_mut().zip(atoms.windows(2)) {
        let between = &text[pair[0].end..pair[1].start];
        let found = *gap;
        if options.tokenized {
            *gap = match between.is_empty() {
                true => Gap::Join,
                false if found == Gap::Sentence => Gap::Sentence,
                false => Gap::Token,
            };
        }
        if options.lines {
            *gap = match (between.contains('\n'), *gap) {
                (true, _) => Gap::Sentence,
                (false, Gap::Sentence) => Gap::Token,
                (false, gap) => gap,
            };
        }
    }
}

/// Tokens go on over white space only if the training data has such tokens, no sentence ends with the mark that opens a line, a date with
/// the name of its month is one token, and so is a unit with its period in the middle of a sentence.
fn allow(text: &str, atoms: &[Atom], learned: &Learned, candidates: &mut Candidates) {
    candidates.clear();
    let (mut starts_line, mut mark_end, mut date_end, mut period) = (true, 0, 0, usize::MAX);
    for (number, atom) in atoms[..atoms.len().saturating_sub(1)].iter().enumerate() {
        if starts_line {
            mark_end = atom.start + mark_length(&text[atom.start..]);
        }
        starts_line = atom.space == Space::Line;
        if is_date(text, &atoms[number..]) {
            date_end = number + DATE - 1;
        }
        if is_measure(text, &atoms[number..]) {
            period = number + 2;
        }
        if (number < date_end || number + 1 == period) && !learned.joins.is_empty() {
            candidates.push(&learned.joins);
            continue;
        }
        let is_free = atom.space == Space::None || learned.inner_spaces;
        if (atom.end == mark_end || number == period) && !is_free && !learned.goes_on.is_empty() {
            candidates.push(&learned.goes_on);
        } else if is_free {
            candidates.push_all();
        } else {
            candidates.push(&learned.ends);
        }
    }
}

/// Atoms of a date such as `01-Feb-02`.
const DATE: usize = 5;

/// Whether atoms begin with a date that has the name of its month, in English.
fn is_date(text: &str, atoms: &[Atom]) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let Some([day, first, month, second, year]) = atoms.first_chunk::<DATE>() else { return false };
    let is_number = |atom: &Atom, lengths: [usize; 2]| {
        atom.class == Class::Digit && lengths.contains(&(atom.end - atom.start))
    };
    is_number(day, [1, 2])
        && is_number(year, [2, 4])
        && [day, first, month, second].iter().all(|atom| atom.space == Space::None)
        && [first, second].iter().all(|atom| atom.of(text) == "-")
        && MONTHS.iter().any(|name| month.of(text).eq_ignore_ascii_case(name))
}

/// Whether atoms begin with a number and a unit that has a period, and the sentence goes on in small letters: `2 lb. beef`.
fn is_measure(text: &str, atoms: &[Atom]) -> bool {
    const UNITS: [&str; 25] = [
        "cm", "deg", "doz", "ft", "gal", "hr", "hrs", "kg", "km", "lb", "lbs", "mg", "mi", "min", "ml", "mm",
        "oz", "pkg", "pt", "qt", "sec", "tbs", "tbsp", "tsp", "yd",
    ];
    let Some([count, unit, period, next]) = atoms.first_chunk::<4>() else { return false };
    count.class == Class::Digit
        && (count.space, unit.space) == (Space::Blank, Space::None)
        && matches!(period.space, Space::Blank | Space::Line)
        && period.of(text) == "."
        && next.of(text).starts_with(char::is_lowercase)
        && UNITS.iter().any(|name| unit.of(text).eq_ignore_ascii_case(name))
}

/// Where a sentence that is too long ends: behind the last punctuation of its second half, or else where it
/// stands.
fn sentence_end(text: &str, tokens: &[Range<usize>]) -> usize {
    let punctuation = |token: &Range<usize>| !text[token.clone()].contains(char::is_alphanumeric);
    tokens
        .iter()
        .rposition(punctuation)
        .filter(|&at| at >= tokens.len() / 2)
        .map_or(tokens.len(), |at| at + 1)
}

/// How many atoms of a window that does not reach the end of its paragraph are done: up to the last sentence
/// end of its second half, or else to its last token end.
fn window_end(gaps: &[Gap]) -> usize {
    let last = |wanted: fn(Gap) -> bool| gaps.iter().rposition(|&gap| wanted(gap));
    match last(|gap| gap == Gap::Sentence) {
        Some(end) if end >= gaps.len() / 2 => end + 1,
        _ => last(|gap| gap != Gap::Join)
            .filter(|&end| end >= gaps.len() / 2)
            .map_or(gaps.len(), |end| end + 1),
    }
}
