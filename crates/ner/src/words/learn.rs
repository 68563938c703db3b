//! Learning the word model: the features of the sentence model, over chains of the same word.

use std::sync::atomic::AtomicBool;

use consonant_learn::model::ModelWriter;
use consonant_learn::trainer::Run;
use consonant_sequence::features::FeatureBuffer;
use consonant_sequence::{CorpusBuilder, Labels, train};
use consonant_text::Sentence;
use consonant_text::document::ranges;

use crate::decode::token_starts;
use crate::features::Features;
use crate::learn::{corpus_options, settle_numbers};
use crate::model::{Scope, TASK};
use crate::occurrences::{Occurrences, OrdinaryWords};
use crate::{NerError, NerSettings};

/// Trains the word model and returns it as a model of its own. Its labels have the numbers of the sentence
/// model's.
pub(crate) fn learn(
    sentences: &[Sentence],
    gold: &[Vec<String>],
    features: &Features,
    ordinary: &OrdinaryWords,
    labels: &Labels,
    (settings, scope, epochs, interrupt): (&NerSettings, Scope, usize, Option<&AtomicBool>),
) -> Result<Vec<u8>, NerError> {
    let rows = FeatureRows::read(sentences, features, ordinary);
    let mut builder = CorpusBuilder::new(corpus_options(settings));
    settle_numbers(&mut builder, labels);
    let groups = match scope {
        Scope::Document => ranges(sentences),
        Scope::Set => std::iter::once(0..sentences.len()).collect(),
    };
    let starts = token_starts(sentences);
    let flat: Vec<&str> = gold.iter().flatten().map(String::as_str).collect();
    for group in groups {
        let first = starts[group.start];
        let occurrences = Occurrences::read(sentences[group].iter(), ordinary);
        for number in 0..occurrences.len() {
            builder.begin(1.0);
            for &token in occurrences.chain(number) {
                let token = first + token as usize;
                let (keys, values, pairs) = rows.row(token);
                builder.token(Some(flat[token]), keys, values, pairs);
            }
            builder.end();
        }
    }
    let corpus = builder.finish()?;
    // Any label may follow any other in the next occurrence of a word.
    let plan = settings.training.clone().into();
    let run = Run {
        epochs,
        shuffle: !settings.training.algorithm().is_batch(),
        seed: settings.seed,
        threads: rayon::current_num_threads(),
        interrupt,
        ..Run::default()
    };
    let trained = train(&corpus, &plan, None, run)?;
    let mut writer = ModelWriter::new(TASK, serde_json::Value::Null);
    trained.store(&mut writer, settings.precision());
    Ok(writer.to_bytes())
}

/// The features of all words that may be names.
#[derive(Default)]
struct FeatureRows {
    starts: Vec<usize>,
    keys: Vec<u64>,
    values: Vec<f32>,
    pair_starts: Vec<usize>,
    pairs: Vec<u64>,
}

impl FeatureRows {
    fn read(sentences: &[Sentence], features: &Features, ordinary: &OrdinaryWords) -> Self {
        let mut rows = Self { starts: vec![0], pair_starts: vec![0], ..Self::default() };
        let mut reader = features.reader();
        let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
        for text in ranges(sentences) {
            reader.document(&sentences[text.clone()]);
            for (number, sentence) in sentences[text].iter().enumerate() {
                reader.sentence(number, sentence);
                for word in 0..sentence.len() {
                    if ordinary.may_be_name(sentence.form(word)) {
                        reader.word(word, &mut buffer, &mut pairs);
                        rows.keys.extend_from_slice(&buffer.keys);
                        rows.values.extend_from_slice(&buffer.values);
                        rows.pairs.extend_from_slice(&pairs);
                    }
                    rows.starts.push(rows.keys.len());
                    rows.pair_starts.push(rows.pairs.len());
                }
            }
        }
        rows
    }

    fn row(&self, token: usize) -> (&[u64], &[f32], &[u64]) {
        let range = self.starts[token]..self.starts[token + 1];
        let pairs = &self.pairs[self.pair_starts[token]..self.pair_starts[token + 1]];
        (&self.keys[range.clone()], self.values.get(range).unwrap_or_default(), pairs)
    }
}
