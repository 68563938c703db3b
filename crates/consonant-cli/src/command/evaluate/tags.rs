//! `consonant evaluate tags`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::Args;
use consonant::text::columns::Column;
use consonant::text::evaluate::TagScorer;
use consonant::text::{Layer, Sentence};

use super::report::{Files, Scored, nothing_to_score};
use crate::context::Context;
use crate::sentences::{self, Sentences};

/// Accuracy of tags, over all words and over words not seen in training.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant evaluate tags gold.conllu predicted.conllu --column xpos --train train.conllu")]
pub struct Tags {
    #[command(flatten)]
    files: Files,
    /// What to compare: upos, xpos, feats, lemma, deprel, several joined by `+`, or a column's number in a
    /// file of columns [default: upos; in a file of columns the last]
    #[arg(long, value_name = "COLUMN")]
    column: Option<TagColumn>,
    /// The training data: words that are not in it are unknown.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
}

/// Where the tags stand.
#[derive(Clone)]
enum TagColumn {
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
                format!("no column is called `{name}`; expected upos, xpos, feats, lemma, deprel or a number from 1")
            })
        };
        text.split('+').map(layer).collect::<Result<_, _>>().map(TagColumn::Layers)
    }
}

impl Tags {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let train = match &self.train {
            Some(path) => Some(training_words(path)?),
            None => None,
        };
        self.files.report(context, |predicted| {
            let scorer = train.clone().map_or_else(TagScorer::default, TagScorer::with_training_words);
            self.score(predicted, scorer)
        })
    }

    fn score(&self, predicted: &Path, mut scorer: TagScorer) -> Result<Scored> {
        let mut gold = self.open(&self.files.gold)?;
        let mut predicted = self.open(predicted)?;
        let (mut left, mut right) = (Sentence::new(), Sentence::new());
        let (mut gold_tags, mut predicted_tags) = (Vec::new(), Vec::new());
        loop {
            match (gold.reader.read(&mut left)?, predicted.reader.read(&mut right)?) {
                (true, true) => {}
                (false, false) => break,
                (true, false) => bail!("{} ends before {}:{}", predicted.name, gold.name, left.line()),
                (false, true) => bail!("{} ends before {}:{}", gold.name, predicted.name, right.line()),
            }
            gold.same_words(&left, &predicted, &right)?;
            self.read_tags(&gold, &left, &mut gold_tags)?;
            self.read_tags(&predicted, &right, &mut predicted_tags)?;
            let tags = gold_tags.iter().zip(&predicted_tags).enumerate();
            scorer.sentence(
                tags.map(|(word, (gold, predicted))| (left.form(word), gold.as_str(), predicted.as_str())),
            );
        }
        let scores = scorer.finish();
        if scores.words == 0 {
            return Err(nothing_to_score(&gold.name, sentences::EXPECTED));
        }
        let by_unit = scores.by_unit.clone();
        Scored::new(&scores, by_unit)
    }

    fn open(&self, path: &Path) -> Result<Sentences> {
        match self.column {
            Some(TagColumn::Number(column)) => sentences::open_with_label(path, column),
            _ => sentences::open(path),
        }
    }

    fn read_tags(&self, file: &Sentences, sentence: &Sentence, tags: &mut Vec<String>) -> Result<()> {
        let layers: &[Layer] = match (&self.column, file.is_conllu) {
            (Some(TagColumn::Layers(layers)), _) => layers,
            (None, true) => &[Layer::Upos],
            (_, false) => &[Layer::Entity],
            (Some(TagColumn::Number(_)), true) => bail!(
                "{} is CoNLL-U, whose columns have names; give --column upos, xpos, feats, …",
                file.name
            ),
        };
        if let Some(missing) =
            layers.iter().find(|layer| !file.is_conllu && sentence.layout().column(**layer).is_none())
        {
            bail!(
                "{}: columns have no names, so none is `{}`; give a number with --column",
                file.name,
                missing.name()
            );
        }
        tags.clear();
        tags.extend((0..sentence.len()).map(|word| {
            let values = layers.iter().map(|layer| sentence.get(word, *layer).unwrap_or("_"));
            values.collect::<Vec<_>>().join("\t")
        }));
        Ok(())
    }
}

fn training_words(path: &Path) -> Result<Vec<String>> {
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
        bail!("{}: there is no word, so all words are unknown; expected {}", train.name, sentences::EXPECTED);
    }
    Ok(words.into_iter().collect())
}
