use std::path::Path;
use std::sync::Arc;

use consonant_text::Sentence;
use consonant_text::entity::{self, Scheme};
use consonant_text::evaluate::{CharacterSpans, Conlleval, compare_spans};

use super::{Scored, nothing_to_score, sentences};
use crate::Error;

/// Entities as conlleval counts them; by characters where the tokens differ. Labels stand in the last column of a file of columns, and as
/// `NER=B-LOC` in the MISC of CoNLL-U.
pub fn entities(gold: &Path, predicted: &Path) -> Result<Scored, Error> {
    let gold = Labelled::read(gold)?;
    let predicted = Labelled::read(predicted)?;
    if gold.has_words_of(&predicted) {
        score_tokens(&gold, &predicted)
    } else {
        score_characters(&gold, &predicted)
    }
}

/// A file's sentences with their labels, brought into a scheme that conlleval knows.
struct Labelled {
    name: Arc<str>,
    sentences: Vec<Sentence>,
    labels: Vec<Vec<String>>,
}

impl Labelled {
    fn read(path: &Path) -> Result<Labelled, Error> {
        let file = sentences::open(path)?;
        let sentences = file.reader.collect::<Result<Vec<Sentence>, _>>()?;
        if sentences.is_empty() {
            return Err(nothing_to_score(file.name, sentences::EXPECTED));
        }
        let mut labels: Vec<Vec<String>> = sentences
            .iter()
            .map(|sentence| (0..sentence.len()).map(|word| sentence.entity_label(word).to_owned()).collect())
            .collect();
        let unknown_to_conlleval =
            |label: &String| matches!(label.split_once('-'), Some(("S" | "L" | "U", _)));
        if labels.iter().flatten().any(unknown_to_conlleval) {
            labels.iter_mut().for_each(|sentence| *sentence = Scheme::Iob2.repair(sentence));
        }
        Ok(Labelled { name: file.name, sentences, labels })
    }

    fn has_words_of(&self, other: &Labelled) -> bool {
        let same = |(left, right): (&Sentence, &Sentence)| {
            left.len() == right.len() && (0..left.len()).all(|word| left.form(word) == right.form(word))
        };
        self.sentences.len() == other.sentences.len() && self.sentences.iter().zip(&other.sentences).all(same)
    }

    /// Entities over tokens that a function gives, each with the number of its words.
    fn spans<'l>(&'l self, tokens: impl Fn(&'l Sentence) -> Vec<(&'l str, usize)>) -> CharacterSpans {
        let mut spans = CharacterSpans::default();
        for (sentence, labels) in self.sentences.iter().zip(&self.labels) {
            let entities = entity::decode_any(labels).into_iter();
            spans.sentence(tokens(sentence), entities.map(|found| (found.words, found.kind)));
        }
        spans
    }

    fn places(&self) -> Vec<String> {
        self.sentences.iter().map(|sentence| format!("{}:{}", self.name, sentence.line())).collect()
    }
}

fn words(sentence: &Sentence) -> Vec<(&str, usize)> {
    (0..sentence.len()).map(|word| (sentence.form(word), 1)).collect()
}

/// The tokens of the text. Words that spell their multiword token stand for their part of it.
fn surface(sentence: &Sentence) -> Vec<(&str, usize)> {
    let mut tokens = Vec::with_capacity(sentence.len());
    for token in sentence.surface_tokens() {
        let words = token.words.clone().map(|word| sentence.form(word));
        if words.clone().collect::<String>() == token.form {
            tokens.extend(words.map(|form| (form, 1)));
        } else {
            tokens.push((token.form, token.words.len()));
        }
    }
    tokens
}

fn score_tokens(gold: &Labelled, predicted: &Labelled) -> Result<Scored, Error> {
    let mut scorer = Conlleval::default();
    for (gold, predicted) in gold.labels.iter().zip(&predicted.labels) {
        scorer.sentence(gold.iter().map(String::as_str).zip(predicted.iter().map(String::as_str)));
    }
    let scores = scorer.finish();
    let spans = compare_spans(&gold.spans(words), &predicted.spans(words)).map_err(Error::task)?;
    let scored = Scored::new(&scores, scores.by_unit())?.with_mistakes(spans.mistakes, gold.places());
    Ok(scored.with_line(&macro_line(scores.macro_f1())))
}

fn score_characters(gold: &Labelled, predicted: &Labelled) -> Result<Scored, Error> {
    let scores = compare_spans(&gold.spans(surface), &predicted.spans(surface)).map_err(Error::task)?;
    let scored = Scored::new(&scores, scores.by_unit.clone())?;
    Ok(scored.with_line(&macro_line(scores.macro_f1)).with_mistakes(scores.mistakes, gold.places()))
}

fn macro_line(macro_f1: f64) -> String {
    format!("{:>17}: FB1: {:6.2}", "mean over types", 100.0 * macro_f1)
}
