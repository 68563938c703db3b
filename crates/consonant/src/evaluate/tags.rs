use std::path::Path;
use std::str::FromStr;

use consonant_text::columns::Column;
use consonant_text::evaluate::TagScorer;
use consonant_text::{Layer, Sentence};

use super::sentences::{self, Sentences};
use super::{Detail, Scored, nothing_to_score, refused};
use crate::Error;

/// Where the tags stand.
#[derive(Debug, Clone)]
pub enum TagColumn {
    /// Layers of CoNLL-U, compared together.
    Layers(Vec<Layer>),
    /// A column of a file of columns.
    Number(Column),
}

impl FromStr for TagColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<TagColumn, String> {
        if let Ok(number) = text.parse() {
            return Ok(TagColumn::Number(number));
        }
        let layer = |name: &str| {
            Layer::ALL.into_iter().find(|layer| layer.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
                format!("no column is called `{name}`; expected {} or a number from 1", TagColumn::names())
            })
        };
        text.split('+').map(layer).collect::<Result<_, _>>().map(TagColumn::Layers)
    }
}

impl TagColumn {
    /// The names of all layers, for messages and help.
    pub fn names() -> String {
        Layer::ALL.map(Layer::name).join(", ")
    }
}

/// How tags are compared.
#[derive(Debug, Clone, Default)]
pub struct TagOptions {
    /// What is compared: by default the parts of speech; in a file of columns the last.
    pub column: Option<TagColumn>,
    /// The words of the training data, if unknown words are to be counted apart.
    pub train: Option<Vec<String>>,
    /// What is gathered beside the scores.
    pub detail: Detail,
}

/// Accuracy of tags, over all words and over words not seen in training. Both files must have the same words.
pub fn tags(gold: &Path, predicted: &Path, options: &TagOptions) -> Result<Scored, Error> {
    options.score(gold, predicted)
}

impl TagOptions {
    fn score(&self, gold: &Path, predicted: &Path) -> Result<Scored, Error> {
        let mut scorer = self.train.clone().map_or_else(TagScorer::default, TagScorer::with_training_words);
        if self.detail == Detail::Mistakes {
            scorer = scorer.gathering_mistakes();
        }
        let mut gold = self.open(gold)?;
        let mut predicted = self.open(predicted)?;
        let (mut left, mut right) = (Sentence::new(), Sentence::new());
        let (mut gold_tags, mut predicted_tags, mut places) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match (gold.reader.read(&mut left)?, predicted.reader.read(&mut right)?) {
                (true, true) => {}
                (false, false) => break,
                (true, false) => {
                    return refused(format!("{} ends before {}:{}", predicted.name, gold.name, left.line()));
                }
                (false, true) => {
                    return refused(format!("{} ends before {}:{}", gold.name, predicted.name, right.line()));
                }
            }
            gold.same_words(&left, &predicted, &right)?;
            if self.detail == Detail::Mistakes {
                places.push(format!("{}:{}", gold.name, left.line()));
            }
            self.read_tags(&gold, &left, &mut gold_tags)?;
            self.read_tags(&predicted, &right, &mut predicted_tags)?;
            let tags = gold_tags.iter().zip(&predicted_tags).enumerate();
            scorer.sentence(
                tags.map(|(word, (gold, predicted))| (left.form(word), gold.as_str(), predicted.as_str())),
            );
        }
        let mut scores = scorer.finish();
        if scores.words == 0 {
            return Err(nothing_to_score(&gold.name, sentences::EXPECTED));
        }
        let (by_unit, mut mistakes) =
            (std::mem::take(&mut scores.by_unit), std::mem::take(&mut scores.mistakes));
        for text in mistakes.iter_mut().flat_map(|mistake| [&mut mistake.gold, &mut mistake.predicted]) {
            *text = text.replace('\t', "+");
        }
        let mut scored = Scored::new(&scores, by_unit)?.with_mistakes(mistakes, places);
        if self.column.is_none() {
            let taken = if gold.is_conllu { "upos" } else { "the last column" };
            scored.notes.push(format!("compared: {taken} (--column names another)"));
        }
        Ok(scored)
    }

    fn open(&self, path: &Path) -> Result<Sentences, Error> {
        match self.column {
            Some(TagColumn::Number(column)) => sentences::open_with_label(path, column),
            _ => sentences::open(path),
        }
    }

    fn read_tags(&self, file: &Sentences, sentence: &Sentence, tags: &mut Vec<String>) -> Result<(), Error> {
        let layers: &[Layer] = match (&self.column, file.is_conllu) {
            (Some(TagColumn::Layers(layers)), _) => layers,
            (None, true) => &[Layer::Upos],
            (_, false) => &[Layer::Entity],
            (Some(TagColumn::Number(_)), true) => {
                return refused(format!(
                    "{} is CoNLL-U, whose columns have names; give --column upos, xpos, feats, …",
                    file.name
                ));
            }
        };
        if let Some(missing) =
            layers.iter().find(|layer| !file.is_conllu && sentence.layout().column(**layer).is_none())
        {
            return refused(format!(
                "{}: columns have no names, so none is `{}`; give a number with --column",
                file.name,
                missing.name()
            ));
        }
        tags.clear();
        tags.extend((0..sentence.len()).map(|word| {
            let values = layers.iter().map(|layer| sentence.get(word, *layer).unwrap_or("_"));
            values.collect::<Vec<_>>().join("\t")
        }));
        Ok(())
    }
}

/// The words of training data: others are unknown.
pub fn training_words(path: &Path) -> Result<Vec<String>, Error> {
    let mut train = sentences::open(path)?;
    let mut words = std::collections::BTreeSet::new();
    let mut sentence = Sentence::new();
    while train.reader.read(&mut sentence)? {
        for word in 0..sentence.len() {
            if !words.contains(sentence.form(word)) {
                words.insert(sentence.form(word).to_owned());
            }
        }
    }
    if words.is_empty() {
        return refused(format!(
            "{}: there is no word, so all words are unknown; expected {}",
            train.name,
            sentences::EXPECTED
        ));
    }
    Ok(words.into_iter().collect())
}
