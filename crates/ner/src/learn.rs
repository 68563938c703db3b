//! How a recognizer learns: texts to features, features to weights, all of it into a model.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::hash::Fingerprint;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{EpochReport, Parameter, Run, Stop};
use consonant_sequence::features::{FeatureBuffer, Resources};
use consonant_sequence::{
    Algorithm, ChainModel, Corpus, CorpusBuilder, CorpusOptions, Dev, Labels, Pairs, Plan, Sentences,
    Training, train as train_chain,
};
use consonant_text::Sentence;
use consonant_text::document::ranges;
use consonant_text::entity::Scheme;
use consonant_text::evaluate::Counts;

use crate::choice::{self, Trial};
use crate::features::{Features, built_in_templates};
use crate::model::{Agreement, Settings, store};
use crate::occurrences::OrdinaryWords;
use crate::parts::{LabelSet, count_entities, gold_entities, gold_labels, written_labels, written_scheme};
use crate::patterns::{Layout, PatternTask};
use crate::{Consistency, NerError, NerModel, Scope};

/// What a likelihood has for a margin: the score of a label that is right at odds of about a hundred.
const LIKELY: f64 = 5.0;
/// The margin of a perceptron, in features of a word: how much a single update moves a score.
const MARGIN: f64 = 2.0;
/// With fewer words in names, halves of the training data tell nothing.
const ENOUGH: usize = 200;
/// Passes of an online method without dev data to say when to stop: later ones only wear in the training data.
const EPOCHS: usize = 12;
/// With dev data more passes are tried.
const MOST_EPOCHS: usize = 25;

/// How to train a recognizer.
#[derive(Debug, Clone)]
pub struct NerSettings {
    /// How labels of one word in several places agree.
    pub consistency: Consistency,
    /// How entities become labels: IOB2 or BIOES.
    pub scheme: Scheme,
    /// The algorithm and its parameters.
    pub training: Training,
    /// The text of a template file; `None`: the built-in templates.
    pub templates: Option<String>,
    /// Clusters, gazetteers, vectors.
    pub resources: Resources,
    /// Whether words have parts of speech to look at.
    pub tags: bool,
    /// Whether other occurrences of a word in the text are looked at, and how lines are set.
    pub evidence: bool,
    /// Features that occur less often get no weight.
    pub min_count: u32,
    /// Which pairs of feature and label get a weight.
    pub pairs: Pairs,
    /// What is taken from the score of `O`; `None`: what is best on dev, or on halves of the training data.
    pub bias: Option<f32>,
    /// How much agreement counts; `None`: what is best on dev, or on halves of the training data, or 1 if they are small.
    pub strength: Option<f32>,
    /// Over what words agree; `None`: by document where documents are marked.
    pub scope: Option<Scope>,
    /// Passes over the data (iterations, for L-BFGS); `None`: what suits the algorithm.
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better F on dev.
    pub patience: usize,
    /// How weights are stored.
    pub precision: Precision,
    /// Weights closer to zero than this are left out of the model.
    pub prune: f32,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// Seed of the random order of sentences.
    pub seed: u64,
    /// Written after each epoch; training goes on from it if it is there.
    pub checkpoint: Option<PathBuf>,
}

impl Default for NerSettings {
    fn default() -> Self {
        Self {
            consistency: Consistency::None,
            scheme: Scheme::Bioes,
            training: Algorithm::AveragedPerceptron.into(),
            templates: None,
            resources: Resources::default(),
            tags: false,
            evidence: true,
            min_count: 2,
            pairs: Pairs::Observed,
            bias: None,
            strength: None,
            scope: None,
            epochs: None,
            patience: 8,
            precision: Precision::Single,
            prune: 0.0,
            threads: 1,
            seed: 1,
            checkpoint: None,
        }
    }
}

/// A finished training.
#[derive(Debug)]
pub struct Trained {
    /// The model, ready to be written.
    pub model: ModelWriter,
    /// The epoch the weights are from.
    pub epoch: usize,
    /// F on dev, as the model decodes.
    pub f1: Option<f64>,
    /// What is taken from the score of `O`.
    pub bias: f32,
    /// How labels agree in the model: as they were asked to, unless an interrupt left that out.
    pub consistency: Consistency,
    /// How much agreement counts.
    pub strength: f32,
    /// Why training ended.
    pub stop: Stop,
    /// What an interrupt left out, in words.
    pub left_out: Vec<&'static str>,
}

/// Trains a recognizer; `progress` hears of each epoch. Sentences are in the order of their texts, which begin with document marks.
///
/// `interrupt` ends training at the next example. What was not complete by then is left out, so that the model may be one of sentences
/// alone although agreement was asked for.
pub fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: NerSettings,
    progress: &mut dyn FnMut(&EpochReport),
    interrupt: Option<&AtomicBool>,
) -> Result<Trained, NerError> {
    train_with_labels(sentences, dev, settings, None, progress, interrupt)
}

/// Trains with labels that have given numbers, whether they occur or not.
pub(crate) fn train_with_labels(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: NerSettings,
    numbered: Option<&Labels>,
    progress: &mut dyn FnMut(&EpochReport),
    interrupt: Option<&AtomicBool>,
) -> Result<Trained, NerError> {
    let gold: Vec<Vec<String>> =
        sentences.iter().map(|sentence| gold_labels(sentence, settings.scheme)).collect();
    if gold.iter().flatten().all(|label| label == "O") {
        return Err(NerError::NoEntities);
    }
    let templates =
        settings.templates.clone().unwrap_or_else(|| built_in_templates(&settings.resources, settings.tags));
    let features = Features::new(&templates, settings.resources.clone(), settings.tags, settings.evidence)?;
    let Read { corpus, features_per_word } = read_corpus(sentences, &gold, &features, (&settings, numbered))?;
    let labels = LabelSet::new(corpus.labels(), settings.scheme);
    let mask = labels.mask();
    // Perceptrons get a margin unless the user says otherwise: without one they stop to learn once the training data is
    // right, however closely.
    let usual = (MARGIN * features_per_word).round();
    let plan = Plan {
        training: settings.training.clone().or(Parameter::MARGIN, usual)?,
        diagram: None,
        mask: Some(mask),
    };
    let algorithm = plan.training.algorithm();
    // By how much right labels are to stand out.
    let margin = plan.training.given(Parameter::MARGIN).unwrap_or(LIKELY);
    let dev_encoded = dev.map(|dev| encode(dev, &corpus, &features, &settings)).transpose()?;
    let mut metric = |paths: &[Vec<u32>]| {
        let mut counts = Counts::default();
        for (sentence, path) in dev.unwrap_or_default().iter().zip(paths) {
            count_entities(&gold_entities(&written_labels(sentence)), &labels.entities(path), &mut counts);
        }
        counts.score().f1
    };
    let run = Run {
        epochs: settings.epochs.unwrap_or(match (algorithm.is_batch(), dev.is_some()) {
            (true, _) => 200,
            (false, true) => MOST_EPOCHS,
            (false, false) => EPOCHS,
        }),
        patience: dev.map(|_| settings.patience),
        shuffle: !algorithm.is_batch(),
        seed: settings.seed,
        threads: settings.threads,
        progress: Some(progress),
        checkpoint: settings.checkpoint.clone(),
        interrupt,
        ..Run::default()
    };
    let dev_run =
        dev_encoded.as_ref().map(|sentences| Dev { sentences, candidates: None, metric: Some(&mut metric) });
    let mut trained = train_chain(&corpus, &plan, dev_run, run)?;
    trained.prune(settings.prune);
    let mut described = Settings {
        consistency: Consistency::None,
        scheme: settings.scheme,
        written: written_scheme(sentences),
        tags: settings.tags,
        evidence: settings.evidence,
        bias: settings.bias.unwrap_or_default(),
        strength: settings.strength.unwrap_or(1.0),
        scope: None,
        margin,
        training: plan.training.clone(),
        epoch: trained.epoch,
        f1: trained.best,
        sentences: sentences.len(),
        tokens: corpus.sentences().tokens(),
        fingerprint: fingerprint(sentences, &gold),
    };
    let begin = |described: &Settings| {
        store(described, &features, |writer| trained.store(writer, settings.precision))
    };
    let mut model = NerModel::from_bytes(&begin(&described).to_bytes())?;
    let enough = gold.iter().flatten().filter(|label| *label != "O").count() >= ENOUGH;
    let open =
        settings.bias.is_none() || (settings.strength.is_none() && settings.consistency != Consistency::None);
    let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
    let asks_halves = settings.consistency == Consistency::Patterns || (open && enough && dev.is_none());
    let mut halves = match asks_halves && !is_interrupted() {
        true => choice::halves(sentences, &settings, &described, corpus.labels(), interrupt)?,
        false => Vec::new(),
    };
    let mut left_out = Vec::new();
    if is_interrupted() {
        // Models that learned less than the chain tell nothing about it.
        halves.clear();
        if settings.bias.is_none() && dev.is_none() && enough {
            left_out.push("the choice of a bias");
        }
    }
    let mut on_dev = dev.map(|dev| Trial::new(model.clone(), Cow::Borrowed(dev))).transpose()?;
    // A half comes with a word model of its own, which has not seen the half either. It speaks later.
    let half_words =
        halves.iter_mut().map(|half| std::mem::replace(&mut half.model.agreement, Agreement::None));
    let half_words: Vec<Agreement> = half_words.collect();
    if let (None, Some(trials)) = (settings.bias, trials(&mut on_dev, &mut halves, enough)) {
        // Without agreement this takes moments, which an interrupted training has too.
        described.bias = choice::bias(trials, margin, 0.0, &|| false)?;
    }
    model.settings.bias = described.bias;
    described.f1 = dev.map(|dev| choice::f1(&model, dev)).transpose()?;
    let local = (described.bias, described.f1);
    described.consistency = if is_interrupted() { Consistency::None } else { settings.consistency };
    let mut words = Vec::new();
    model.agreement = match described.consistency {
        Consistency::None => Agreement::None,
        Consistency::Words => {
            let ordinary = OrdinaryWords::find(sentences, &gold);
            let marked = ranges(sentences).len() < sentences.len();
            let scope = settings.scope.unwrap_or(if marked { Scope::Document } else { Scope::Set });
            let how = (&settings, &plan.training, scope, trained.epoch, interrupt);
            words = crate::words::learn(sentences, &gold, &features, &ordinary, corpus.labels(), how)?;
            described.scope = Some(scope);
            let chain = Box::new(ChainModel::open(&Model::from_bytes(&words)?)?);
            Agreement::Words { ordinary, chain, scope }
        }
        Consistency::Patterns => {
            let ordinary = OrdinaryWords::find(sentences, &gold);
            let layout = Layout::new(&labels);
            let mut task = PatternTask::new(layout.clone(), margin);
            for half in &halves {
                task.add(half, described.bias, corpus.labels(), &ordinary)?;
            }
            let weights = task.learn(settings.seed, settings.threads, interrupt)?;
            Agreement::Patterns { ordinary, layout, weights }
        }
    };
    if described.consistency != Consistency::None
        && !is_interrupted()
        && let Some(trials) = trials(&mut on_dev, &mut halves, enough)
    {
        let own =
            half_words.into_iter().filter(|own| dev.is_none() && matches!(own, Agreement::Words { .. }));
        let agreements = own.chain(std::iter::repeat_with(|| model.agreement.clone()));
        for (trial, agreement) in trials.iter_mut().zip(agreements) {
            trial.set_agreement(agreement)?;
        }
        if settings.strength.is_none() {
            described.strength = choice::strength(trials, described.bias, &is_interrupted)?;
        }
        trials.iter_mut().for_each(|trial| trial.model.settings.strength = described.strength);
        if settings.bias.is_none() {
            // Agreement finds more names, so `O` may need another bias.
            described.bias = choice::bias(trials, margin, described.bias, &is_interrupted)?;
        }
    }
    let interrupted = is_interrupted();
    if interrupted && settings.consistency != Consistency::None {
        // Agreement that was cut short might do harm; sentences by themselves are complete.
        left_out.push("the agreement of labels");
        (model.agreement, described.consistency, described.scope) =
            (Agreement::None, Consistency::None, None);
        (described.strength, (described.bias, described.f1)) = (settings.strength.unwrap_or(1.0), local);
        words.clear();
    }
    (model.settings.strength, model.settings.bias) = (described.strength, described.bias);
    if let (Some(dev), true) = (dev, described.consistency != Consistency::None) {
        described.f1 = Some(choice::f1(&model, dev)?);
        // Choices were made by quick decoding; should the full one disagree with them, sentences are left to themselves.
        if settings.strength.is_none() && described.f1 < local.1 {
            (described.strength, (described.bias, described.f1)) = (0.0, local);
        }
    }
    let mut writer = begin(&described);
    model.agreement.store(&mut writer, &words);
    // Models of halves are for training alone: nobody inspects them.
    if numbered.is_none() {
        model.store_names(&mut writer, sentences);
    }
    Ok(Trained {
        model: writer,
        epoch: trained.epoch,
        f1: described.f1,
        bias: described.bias,
        consistency: described.consistency,
        strength: described.strength,
        stop: if interrupted { Stop::Interrupted } else { trained.stop },
        left_out,
    })
}

/// The data on which choices are made: dev, or else halves of the training data, unless they are too small to tell anything.
fn trials<'t, 'd>(
    on_dev: &'t mut Option<Trial<'d>>,
    halves: &'t mut [Trial<'d>],
    enough: bool,
) -> Option<&'t mut [Trial<'d>]> {
    match on_dev {
        Some(trial) => Some(std::slice::from_mut(trial)),
        None => Some(halves).filter(|halves| enough && !halves.is_empty()),
    }
}

struct Read {
    corpus: Corpus,
    features_per_word: f64,
}

fn read_corpus(
    sentences: &[Sentence],
    gold: &[Vec<String>],
    features: &Features,
    (settings, numbered): (&NerSettings, Option<&Labels>),
) -> Result<Read, NerError> {
    let mut builder = corpus_builder(settings);
    if let Some(labels) = numbered {
        settle_numbers(&mut builder, labels);
    }
    let mut made = 0;
    let mut reader = features.reader();
    let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
    for text in ranges(sentences) {
        reader.document(&sentences[text.clone()]);
        for (number, sentence) in text.enumerate() {
            reader.sentence(number, &sentences[sentence]);
            builder.begin(1.0);
            for (word, label) in gold[sentence].iter().enumerate() {
                reader.word(word, &mut buffer, &mut pairs);
                made += buffer.keys.len();
                builder.token(Some(label), &buffer.keys, &buffer.values, &pairs);
            }
            builder.end();
        }
    }
    let features_per_word = made as f64 / gold.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    Ok(Read { corpus: builder.finish()?, features_per_word })
}

/// Chains of first order, of sentences or of words.
pub(crate) fn corpus_builder(settings: &NerSettings) -> CorpusBuilder {
    CorpusBuilder::new(CorpusOptions {
        order: 1,
        min_count: settings.min_count,
        pairs: settings.pairs,
        ..CorpusOptions::default()
    })
}

/// A sentence that counts nothing settles the numbers of labels.
pub(crate) fn settle_numbers(builder: &mut CorpusBuilder, labels: &Labels) {
    builder.begin(0.0);
    labels.names().iter().for_each(|name| builder.token(Some(name), &[], &[], &[]));
    builder.end();
}

fn encode(
    sentences: &[Sentence],
    corpus: &Corpus,
    features: &Features,
    settings: &NerSettings,
) -> Result<Sentences, NerError> {
    let mut encoder = corpus.encoder();
    let mut reader = features.reader();
    let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
    for text in ranges(sentences) {
        reader.document(&sentences[text.clone()]);
        for (number, sentence) in text.enumerate() {
            reader.sentence(number, &sentences[sentence]);
            encoder.begin();
            for (word, label) in gold_labels(&sentences[sentence], settings.scheme).iter().enumerate() {
                reader.word(word, &mut buffer, &mut pairs);
                encoder.token(Some(label), &buffer.keys, &buffer.values, &pairs)?;
            }
            encoder.end();
        }
    }
    Ok(encoder.finish())
}

/// A number that other training data will not have.
fn fingerprint(sentences: &[Sentence], gold: &[Vec<String>]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for (sentence, labels) in sentences.iter().zip(gold) {
        for (word, label) in labels.iter().enumerate() {
            fingerprint.text(sentence.form(word));
            fingerprint.text(label);
        }
        fingerprint.number(1);
    }
    fingerprint.get()
}
