use std::path::Path;
use std::sync::Arc;

use consonant_text::Sentence;
use consonant_text::entity::{self, Scheme};
use consonant_text::evaluate::{CharacterSpans, Conlleval, compare_spans};

use super::{Detail, Scored, nothing_to_score, sentences};
use crate::Error;

/// Entities as conlleval counts them; by characters where the tokens differ. Labels stand in the last column of a file of columns, and as
/// `NER=B-LOC` in the MISC of CoNLL-U.
pub fn entities(gold: &Path, predicted: &Path, detail: Detail) -> Result<Scored, Error> {
    let gold = Labelled::read(gold)?;
    let predicted = Labelled::read(predicted)?;
    if gold.has_words_of(&predicted) {
        score_tokens(&gold, &predicted, detail)
    } else {
        score_characters(&gold, &predicted, detail)
    }
}

/// A file's sentences, with their labels in a scheme that conlleval knows.
struct Labelled {
    name: Arc<str>,
    sentences: Vec<Sentence>,
    /// The labels of each sentence, where they are not those of the file.
    repaired: Option<Vec<Vec<String>>>,
}

impl Labelled {
    fn read(path: &Path) -> Result<Labelled, Error> {
        let file = sentences::open(path)?;
        let sentences = file.reader.collect::<Result<Vec<Sentence>, _>>()?;
        if sentences.is_empty() {
            return Err(nothing_to_score(file.name, sentences::EXPECTED));
        }
        let unknown_to_conlleval = |label: &&str| matches!(label.split_once('-'), Some(("S" | "L" | "U", _)));
        let needs_repair =
            sentences.iter().any(|sentence| labels_of(sentence).iter().any(unknown_to_conlleval));
        let repaired =
            || sentences.iter().map(|sentence| Scheme::Iob2.repair(&labels_of(sentence))).collect::<Vec<_>>();
        let repaired = needs_repair.then(repaired);
        Ok(Labelled { name: file.name, sentences, repaired })
    }

    /// The labels of a sentence.
    fn labels(&self, sentence: usize) -> Vec<&str> {
        match &self.repaired {
            Some(repaired) => repaired[sentence].iter().map(String::as_str).collect(),
            None => labels_of(&self.sentences[sentence]),
        }
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
        for (number, sentence) in self.sentences.iter().enumerate() {
            let labels = self.labels(number);
            let entities = entity::decode_any(&labels).into_iter();
            spans.sentence(tokens(sentence), entities.map(|found| (found.words, found.kind)));
        }
        spans
    }

    fn places(&self) -> Vec<String> {
        self.sentences.iter().map(|sentence| format!("{}:{}", self.name, sentence.line())).collect()
    }
}

fn labels_of(sentence: &Sentence) -> Vec<&str> {
    (0..sentence.len()).map(|word| sentence.entity_label(word)).collect()
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

fn score_tokens(gold: &Labelled, predicted: &Labelled, detail: Detail) -> Result<Scored, Error> {
    let mut scorer = Conlleval::default();
    for sentence in 0..gold.sentences.len() {
        scorer.sentence(gold.labels(sentence).into_iter().zip(predicted.labels(sentence)));
    }
    let scores = scorer.finish();
    let scored = Scored::new(&scores, scores.by_unit())?.with_line(&macro_line(scores.macro_f1()));
    match detail {
        Detail::Scores => Ok(scored),
        Detail::Mistakes => {
            let spans = compare_spans(&gold.spans(words), &predicted.spans(words)).map_err(Error::task)?;
            Ok(scored.with_mistakes(spans.mistakes, gold.places()))
        }
    }
}

fn score_characters(gold: &Labelled, predicted: &Labelled, detail: Detail) -> Result<Scored, Error> {
    let scores = compare_spans(&gold.spans(surface), &predicted.spans(surface)).map_err(Error::task)?;
    let scored = Scored::new(&scores, scores.by_unit.clone())?.with_line(&macro_line(scores.macro_f1));
    match detail {
        Detail::Scores => Ok(scored),
        Detail::Mistakes => Ok(scored.with_mistakes(scores.mistakes, gold.places())),
    }
}

fn macro_line(macro_f1: f64) -> String {
    format!("{:>17}: FB1: {:6.2}", "mean over types", 100.0 * macro_f1)
}
