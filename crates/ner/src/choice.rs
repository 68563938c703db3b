//! What is not learned is chosen: how much is taken from `O`, and how much agreement counts.
//!
//! How freely names are given, on dev data if there is any; otherwise the training data is cut in two, and each
//! half is labelled by a model of the other. Agreement must show its use on all of them: what helps on one small
//! set alone may do harm on text that nobody has seen.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use consonant_sequence::Labels;
use consonant_task::{Task, Watch};
use consonant_text::Sentence;
use consonant_text::evaluate::Counts;

use crate::decode::Readings;
use crate::documents::groups;
use crate::learn::Lesson;
use crate::model::{Agreement, Description};
use crate::parts::{count_entities, gold_entities, written_labels};
use crate::{Consistency, Ner, NerError, NerSettings};

/// The biases of `O` that are tried, in margins.
const BIASES: [f64; 10] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6];
/// How much agreement may count, tried in this order; 0 leaves sentences to themselves.
const STRENGTHS: [f32; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// What agreement must gain in F of each trial, in the mean, to be better than none.
const PRIOR: f64 = 0.0005;
/// Labels that a chain scores this many margins below its best are not looked at when strengths are compared.
const SLACK: f64 = 4.0;
/// Epochs of the models of halves, by methods that learn from one sentence after the other.
const HALF_EPOCHS: usize = 8;

/// Sentences with a model that has not seen them.
#[derive(Debug)]
pub(crate) struct Trial<'d> {
    pub(crate) model: Ner,
    pub(crate) sentences: Cow<'d, [Sentence]>,
    /// What the model says without a bias.
    readings: Readings,
}

impl<'d> Trial<'d> {
    pub(crate) fn new(mut model: Ner, sentences: Cow<'d, [Sentence]>) -> Result<Self, NerError> {
        model.bias = 0.0;
        let readings = model.read(&sentences)?;
        Ok(Self { model, sentences, readings })
    }

    /// What the model says without a bias.
    pub(crate) fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Makes labels agree from now on.
    pub(crate) fn set_agreement(&mut self, agreement: Agreement) {
        self.model.agreement = agreement;
        self.readings.words = self.model.read_words(&self.sentences);
    }

    /// What the model says with a bias.
    pub(crate) fn biased(&self, bias: f32) -> Result<Readings, NerError> {
        let outside = self.model.labels.outside();
        let scores = self.readings.scores.iter();
        let scores = scores.map(|scores| match outside {
            Some(outside) => scores.with_bias(outside as usize, bias, &self.model.transitions),
            None => scores.clone(),
        });
        Ok(Readings { scores: scores.collect(), words: self.readings.words.clone() })
    }

    fn count(&self, readings: &Readings, counts: &mut Counts) -> Result<(), NerError> {
        let slack = (SLACK * self.model.description.margin) as f32;
        let paths = self.model.paths_of(&self.sentences, readings, Some(slack))?;
        count(&self.model, &self.sentences, &paths, counts);
        Ok(())
    }
}

fn count(model: &Ner, sentences: &[Sentence], paths: &[Vec<u32>], counts: &mut Counts) {
    for (sentence, path) in sentences.iter().zip(paths) {
        count_entities(&gold_entities(&written_labels(sentence)), &model.labels.entities(path), counts);
    }
}

/// F of exact matches, as the model decodes.
pub(crate) fn f1(model: &Ner, sentences: &[Sentence]) -> Result<f64, NerError> {
    let paths = model.paths_of(sentences, &model.read(sentences)?, None)?;
    let mut counts = Counts::default();
    count(model, sentences, &paths, &mut counts);
    Ok(counts.score().f1)
}

/// The bias with the best F over all trials. `first` stays unless another is better, among those tried before
/// an interrupt.
pub(crate) fn bias(
    trials: &[Trial<'_>],
    margin: f64,
    first: f32,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<f32, NerError> {
    let others = BIASES.iter().map(|bias| (bias * margin) as f32).filter(|&bias| bias != first);
    best(std::iter::once(first).chain(others), is_interrupted, |bias| {
        let mut counts = Counts::default();
        trials.iter().try_for_each(|trial| trial.count(&trial.biased(bias)?, &mut counts))?;
        Ok(counts.score().f1)
    })
}

/// The strength of agreement with the best F over all trials, among those tried before an interrupt. None is
/// best unless another gains enough, and loses in no trial.
pub(crate) fn strength(
    trials: &mut [Trial<'_>],
    bias: f32,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<f32, NerError> {
    let readings = trials.iter().map(|trial| trial.biased(bias)).collect::<Result<Vec<_>, _>>()?;
    let mut alone: Vec<f64> = Vec::new();
    best(STRENGTHS.into_iter(), is_interrupted, |strength| {
        let mut each: Vec<f64> = Vec::with_capacity(trials.len());
        for (trial, readings) in trials.iter_mut().zip(&readings) {
            trial.model.strength = strength;
            let mut counts = Counts::default();
            trial.count(readings, &mut counts)?;
            each.push(counts.score().f1);
        }
        if alone.is_empty() {
            alone = each;
            return Ok(alone.iter().sum());
        }
        if each.iter().zip(&alone).any(|(with, without)| with < without) {
            return Ok(f64::NEG_INFINITY);
        }
        Ok(each.iter().sum::<f64>() - PRIOR * each.len() as f64)
    })
}

/// The choice with the highest score; the first of equal ones. The first is always looked at, others until an
/// interrupt.
fn best(
    choices: impl Iterator<Item = f32>,
    is_interrupted: &dyn Fn() -> bool,
    mut score: impl FnMut(f32) -> Result<f64, NerError>,
) -> Result<f32, NerError> {
    let mut best = (f64::NEG_INFINITY, 0.0);
    for (tried, choice) in choices.enumerate() {
        if tried > 0 && is_interrupted() {
            break;
        }
        let score = score(choice)?;
        if score > best.0 {
            best = (score, choice);
        }
    }
    Ok(best.1)
}

/// Both halves of the training data, each with a model of the other one. A half without any entity teaches
/// nothing and is left out.
pub(crate) fn halves(
    lesson: &Lesson<'_>,
    described: &Description,
    labels: &Labels,
    stop: Option<&AtomicBool>,
) -> Result<Vec<Trial<'static>>, NerError> {
    let halves = cut(lesson.sentences);
    let pick = |half: usize| -> Vec<Sentence> {
        halves[half].iter().map(|&number| lesson.sentences[number].clone()).collect()
    };
    let settings = NerSettings {
        // Patterns are learned from what chains say; word models have to be there to be tried.
        consistency: match lesson.settings.consistency {
            Consistency::Words => Consistency::Words,
            _ => Consistency::None,
        },
        training: described.settings.training.clone(),
        bias: Some(0.0),
        strength: Some(1.0),
        scale: Some(1.0),
        // As many epochs as were of use to the whole, or a few.
        epochs: Some(match described.settings.training.algorithm().is_batch() {
            true => described.epoch,
            false => described.epoch.min(HALF_EPOCHS),
        }),
        orders: 1,
        ..lesson.settings.clone()
    };
    let mut watch = Watch::none();
    watch.stop = stop;
    let mut trials = Vec::new();
    for half in 0..2 {
        let others = pick(1 - half);
        let part =
            Lesson { sentences: &others, dev: None, settings: &settings, numbered: Some(labels), ..*lesson };
        match part.learn(&mut watch) {
            Err(NerError::NoEntities) => {}
            trained => trials.push(Trial::new(Ner::open(&trained?.open()?)?, Cow::Owned(pick(half)))?),
        }
    }
    Ok(trials)
}

/// Sentences in two halves, group by group in turn.
fn cut(sentences: &[Sentence]) -> [Vec<usize>; 2] {
    let mut halves = [Vec::new(), Vec::new()];
    for (number, group) in groups(sentences).into_iter().enumerate() {
        halves[number % 2].extend(group);
    }
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}
