//! The pieces of a segmentation: what happens at the gap between two atoms.

use std::ops::Range;

use consonant_text::Sentence;

use crate::atoms::Atom;

consonant_task::names! {
    /// What happens at the gap behind an atom; the labels of the chain have these names.
    pub enum Gap {
        /// The token goes on.
        Join = "join",
        /// A token ends.
        Token = "token",
        /// A token and a sentence end.
        Sentence = "sentence",
    }
}

impl Gap {
    /// The numbers of the labels that end a token.
    pub fn ends(labels: &[Self]) -> Vec<u32> {
        Self::labels(labels, |gap| gap != Self::Join)
    }

    /// The numbers of the labels for which something holds.
    pub fn labels(labels: &[Self], holds: impl Fn(Self) -> bool) -> Vec<u32> {
        (0u32..).zip(labels).filter(|(_, gap)| holds(**gap)).map(|(label, _)| label).collect()
    }
}

/// A paragraph whose tokens and sentences are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Passage {
    /// Its text.
    pub text: String,
    /// The places of its tokens.
    pub tokens: Vec<Range<usize>>,
    /// For each token whether it ends a sentence.
    pub ends: Vec<bool>,
}

impl Passage {
    /// Puts sentences together to paragraphs. Sentences are joined by a blank unless the last token says
    /// `SpaceAfter=No`; without marks of documents or paragraphs all of them are one.
    pub fn read(sentences: &[Sentence]) -> Vec<Self> {
        let mut passages: Vec<Self> = Vec::new();
        let mut blank = false;
        for sentence in sentences {
            if sentence.starts_document() || sentence.starts_paragraph() || passages.is_empty() {
                passages.push(Self::default());
                blank = false;
            }
            let Some(passage) = passages.last_mut() else { continue };
            let (text, places) = sentence.aligned_text();
            if blank {
                passage.text.push(' ');
            }
            let start = passage.text.len();
            passage.text.push_str(text.trim_end());
            passage.tokens.extend(places.iter().map(|place| start + place.start..start + place.end));
            passage.ends.resize(passage.tokens.len(), false);
            if let Some(end) = passage.ends.last_mut() {
                *end = true;
            }
            blank = sentence.surface_tokens().last().is_none_or(|token| token.space_after);
        }
        passages.retain(|passage| !passage.tokens.is_empty());
        passages
    }

    /// Whether tokens touch, as they do where people write. Some treebanks have text with a blank between any two tokens.
    pub fn touch(passages: &[Self]) -> bool {
        let all: usize = passages.iter().map(|passage| passage.tokens.len()).sum();
        let touching =
            |passage: &Self| passage.tokens.windows(2).filter(|pair| pair[0].end == pair[1].start).count();
        TOUCHING * passages.iter().map(touching).sum::<usize>() >= all
    }

    /// The same tokens as people write them: stops touch what is before them, opening brackets what is behind them, and quotation marks that stand
    /// alone do so in turn. Some numbers get a mark inside, since such treebanks may cut decimals where people write no blank.
    pub fn closed_up(&self) -> Self {
        let mut closed = Self { ends: self.ends.clone(), ..Self::default() };
        let (mut quoted, mut opens, mut numbers) = (false, true, 0);
        for (at, place) in self.tokens.iter().enumerate() {
            let token = &self.text[place.clone()];
            let is = |marks: &str| token.chars().all(|c| marks.contains(c));
            let (quotes, starts) = (is(QUOTES), at == 0 || self.ends[at - 1]);
            quoted &= !starts;
            let closes = is(CLOSING) || quotes && quoted;
            if !starts && !opens && !closes {
                closed.text.push_str(&self.text[self.tokens[at - 1].end..place.start]);
            } else if starts && at > 0 {
                closed.text.push(' ');
            }
            let start = closed.text.len();
            closed.text.push_str(token);
            if token.len() > 1 && token.bytes().all(|byte| byte.is_ascii_digit()) {
                numbers += 1;
                if numbers % DECIMALS == 0 {
                    closed.text.insert(start + 1, if numbers % (2 * DECIMALS) == 0 { ',' } else { '.' });
                }
            }
            closed.tokens.push(start..closed.text.len());
            quoted ^= quotes;
            opens = is(OPENING) || quotes && quoted;
        }
        closed
    }

    /// Whether a token has white space in it.
    pub fn has_inner_spaces(&self) -> bool {
        self.tokens.iter().any(|token| self.text[token.clone()].contains(char::is_whitespace))
    }

    /// The gold gaps behind the atoms of the paragraph, the last one left out: there all ends.
    pub fn gaps(&self, atoms: &[Atom], gaps: &mut Vec<Gap>) {
        gaps.clear();
        let mut token = 0;
        for atom in &atoms[..atoms.len().saturating_sub(1)] {
            // Ends inside of an atom are lost, but the end of a sentence moves to the end of the atom.
            let mut lost = false;
            while token < self.tokens.len() && self.tokens[token].end < atom.end {
                lost |= self.ends[token];
                token += 1;
            }
            let at_end = self.tokens.get(token).is_some_and(|place| place.end == atom.end);
            if at_end {
                lost |= self.ends[token];
                token += 1;
            }
            gaps.push(match (lost, at_end) {
                (true, _) => Gap::Sentence,
                (false, true) => Gap::Token,
                (false, false) => Gap::Join,
            });
        }
    }
}

/// Tokens are taken to touch where people write if one in so many does.
const TOUCHING: usize = 1000;
/// One number in so many is made a decimal.
const DECIMALS: usize = 3;
/// Marks that touch the token before them.
const CLOSING: &str = ".,;:!?…)]}。，、；：！？";
/// Marks that touch the token behind them.
const OPENING: &str = "([{¿¡";
/// Marks that do the one or the other.
const QUOTES: &str = "\"“”„»«";

/// Gold, predicted and common spans, of tokens or of sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Spans {
    gold: usize,
    predicted: usize,
    right: usize,
}

impl Spans {
    fn f1(self) -> f64 {
        if self.gold + self.predicted == 0 {
            1.0
        } else {
            2.0 * self.right as f64 / (self.gold + self.predicted) as f64
        }
    }

    /// Counts spans between ends; the paragraph's start and end are common.
    fn add(&mut self, gaps: impl Iterator<Item = (bool, bool)>) {
        let mut started_together = true;
        for (gold, predicted) in gaps.chain([(true, true)]) {
            self.gold += usize::from(gold);
            self.predicted += usize::from(predicted);
            match (gold, predicted) {
                (true, true) => {
                    self.right += usize::from(started_together);
                    started_together = true;
                }
                (false, false) => {}
                _ => started_together = false,
            }
        }
    }
}

/// How well tokens and sentences of paragraphs were found: F1 of their spans.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SegmentationScore {
    tokens: Spans,
    sentences: Spans,
}

impl SegmentationScore {
    /// Adds a paragraph.
    pub(crate) fn add(&mut self, gold: &[Gap], predicted: impl Iterator<Item = Gap> + Clone) {
        let pairs = gold.iter().copied().zip(predicted);
        self.tokens.add(pairs.clone().map(|(gold, found)| (gold != Gap::Join, found != Gap::Join)));
        self.sentences.add(pairs.map(|(gold, found)| (gold == Gap::Sentence, found == Gap::Sentence)));
    }

    /// F1 of tokens.
    pub fn tokens(&self) -> f64 {
        self.tokens.f1()
    }

    /// F1 of sentences.
    pub fn sentences(&self) -> f64 {
        self.sentences.f1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atoms::{Atoms, Cuts};

    #[test]
    fn tokens_with_blanks_between_them_close_up() {
        let read = |spaced: &str| {
            let mut passage = Passage { text: spaced.replace('|', ""), ..Passage::default() };
            let mut start = 0;
            for sentence in spaced.split('|') {
                for token in sentence.split(' ').filter(|token| !token.is_empty()) {
                    start += passage.text[start..].find(token).unwrap();
                    passage.tokens.push(start..start + token.len());
                    start += token.len();
                }
                passage.ends.resize(passage.tokens.len(), false);
                *passage.ends.last_mut().unwrap() = true;
            }
            passage
        };
        let spaced = read("Nem tudom ( 107,5 %, dr. X. ) . |\" Igen , \" mondta \" nem \" ! |) .");
        assert!(!Passage::touch(std::slice::from_ref(&spaced)));
        let closed = spaced.closed_up();
        assert_eq!(closed.text, "Nem tudom (107,5 %, dr. X.). \"Igen,\" mondta \"nem\"! ).");
        assert!(Passage::touch(std::slice::from_ref(&closed)));
        let numbers = read("10 11 1234 5 60 70 80").closed_up();
        assert_eq!(numbers.text, "10 11 1.234 5 60 70 8,0");
        let forms = |passage: &Passage| -> Vec<String> {
            passage.tokens.iter().map(|place| passage.text[place.clone()].to_owned()).collect()
        };
        assert_eq!((forms(&closed), &closed.ends), (forms(&spaced), &spaced.ends));
    }

    #[test]
    fn gold_gaps_come_from_the_treebank() {
        let text = "# newpar\n1\tNo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n\
                    1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\tdo\t_\t_\t_\t_\t_\t_\t_\t_\n\
                    2\tn't\t_\t_\t_\t_\t_\t_\t_\t_\n3\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
        let sentences: Vec<Sentence> =
            consonant_text::SentenceReader::conllu(text.as_bytes(), "x").collect::<Result<_, _>>().unwrap();
        let passages = Passage::read(&sentences);
        assert_eq!(passages.len(), 1);
        assert_eq!(passages[0].text, "No. don't!");
        let cuts = Cuts::default();
        let atoms: Vec<_> = Atoms::new(&passages[0].text, 0, &cuts).collect();
        let mut gaps = Vec::new();
        passages[0].gaps(&atoms, &mut gaps);
        assert_eq!(gaps, [Gap::Token, Gap::Sentence, Gap::Join, Gap::Join, Gap::Token]);
        let mut score = SegmentationScore::default();
        score.add(&gaps, [Gap::Token, Gap::Token, Gap::Join, Gap::Join, Gap::Token].into_iter());
        assert_eq!((score.tokens(), score.sentences()), (1.0, 0.0));
        score.add(&gaps, gaps.clone().into_iter());
        assert_eq!(score.sentences(), 2.0 * 2.0 / 7.0);
    }
}
