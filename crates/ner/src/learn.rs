//! How a recognizer learns: texts to features, features to weights, all of it into a model.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{EpochReport, Run, Stop};
use consonant_sequence::features::{FeatureBuffer, Resources};
use consonant_sequence::{
    Algorithm, ChainModel, Corpus, CorpusBuilder, CorpusOptions, Dev, Labels, Pairs, Sentences, Training,
    algorithm, train as train_chain,
};
use consonant_text::Sentence;
use consonant_text::entity::{Entity, Scheme};
use consonant_text::evaluate::Counts;

use crate::documents::{documents, groups};
use crate::features::{Features, built_in_templates};
use crate::model::{Agreement, Settings, store};
use crate::occurrences::OrdinaryWords;
use crate::parts::{LabelSet, count_entities, gold_entities, gold_labels, written_labels, written_scheme};
use crate::patterns::{Layout, PatternTask};
use crate::{Consistency, NerError, NerModel, Scope};

/// The biases of `O` that are tried on dev, in margins.
const BIASES: [f64; 10] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6];
/// What a likelihood has for a margin: the score of a label that is right at odds of about a hundred.
const LIKELY: f64 = 5.0;
/// The margin of a perceptron, in features of a word: how much a single update moves a score.
const MARGIN: f64 = 1.0;
/// How much agreement may count, tried on dev in this order; 0 leaves sentences to themselves.
const STRENGTHS: [f32; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// Labels that a chain scores so many margins below its best are not looked at when strengths are compared.
const SLACK: f64 = 4.0;
/// Epochs of the chains that score the half they have not seen.
const HALF_EPOCHS: usize = 8;

/// How to train a recognizer.
#[derive(Debug, Clone)]
pub struct NerSettings {
    /// How labels of one word in several places agree.
    pub consistency: Consistency,
    /// How entities become labels: IOB2 or BIOES.
    pub scheme: Scheme,
    /// A name of [`consonant_sequence::ALGORITHMS`].
    pub algorithm: String,
    /// The algorithm's parameters that differ from their defaults.
    pub parameters: Vec<(String, f64)>,
    /// The text of a template file; `None`: the built-in templates.
    pub templates: Option<String>,
    /// Clusters, gazetteers, vectors.
    pub resources: Resources,
    /// Whether words have parts of speech to look at.
    pub tags: bool,
    /// Whether other occurrences of a word in the text are looked at.
    pub evidence: bool,
    /// Features that occur less often get no weight.
    pub min_count: u32,
    /// Which pairs of feature and label get a weight.
    pub pairs: Pairs,
    /// What is taken from the score of `O`; `None`: what is best on dev.
    pub bias: Option<f32>,
    /// How much agreement counts; `None`: what is best on dev, or 1 without.
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
            algorithm: "averaged-perceptron".to_owned(),
            parameters: Vec::new(),
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
    /// How much agreement counts.
    pub strength: f32,
    /// Why training ended.
    pub stop: Stop,
}

/// Trains a recognizer; `progress` hears of each epoch. Sentences are in the order of their texts, which begin with document marks.
pub fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: NerSettings,
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
    let Read { corpus, features_per_word } = read_corpus(sentences, &gold, &features, &settings)?;
    let labels = LabelSet::new(corpus.labels(), settings.scheme);
    let mask = labels.mask();
    let algorithm = algorithm(&settings.algorithm)?;
    let mut parameters = settings.parameters.clone();
    let margin = margin(algorithm, &mut parameters, features_per_word);
    let training = Training { algorithm, parameters, diagram: None, mask: Some(mask) };
    let dev_encoded = dev.map(|dev| encode(dev, &corpus, &features, &settings)).transpose()?;
    let dev_labels: Vec<Vec<&str>> = dev.unwrap_or_default().iter().map(written_labels).collect();
    let dev_entities: Vec<Vec<Entity<'_>>> = dev_labels.iter().map(|labels| gold_entities(labels)).collect();
    let mut metric = |paths: &[Vec<u32>]| f1(&labels, &dev_entities, paths);
    let run = Run {
        epochs: settings.epochs.unwrap_or(if algorithm.is_batch() { 200 } else { 25 }),
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
    let mut trained = train_chain(&corpus, &training, dev_run, run)?;
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
        algorithm: algorithm.name.to_owned(),
        parameters: training.parameters.clone(),
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
    let dev = dev.map(|dev| DevData { sentences: dev, entities: &dev_entities });
    if let (None, Some(dev)) = (settings.bias, &dev) {
        let biases = BIASES.map(|bias| (bias * margin) as f32);
        described.bias = dev.best(&mut model, &biases, |model, bias| model.settings.bias = bias)?;
    }
    model.settings.bias = described.bias;
    let local_bias = described.bias;
    if let Some(dev) = &dev {
        described.f1 = Some(dev.f1(&model, None)?);
    }
    described.consistency = settings.consistency;
    let mut words = Vec::new();
    model.agreement = match settings.consistency {
        Consistency::None => Agreement::None,
        Consistency::Words => {
            let ordinary = OrdinaryWords::find(sentences, &gold);
            let marked = documents(sentences).len() < sentences.len();
            let scope = settings.scope.unwrap_or(if marked { Scope::Document } else { Scope::Set });
            let how = (&settings, &training, scope, trained.epoch);
            words = crate::words::learn(sentences, &gold, &features, &ordinary, corpus.labels(), how)?;
            described.scope = Some(scope);
            let chain = Box::new(ChainModel::open(&Model::from_bytes(&words)?)?);
            Agreement::Words { ordinary, chain, scope }
        }
        Consistency::Patterns => {
            let ordinary = OrdinaryWords::find(sentences, &gold);
            let layout = Layout::new(&labels);
            let weights = learn_patterns(
                sentences,
                &gold,
                &ordinary,
                &layout,
                (&settings, &described, corpus.labels()),
            )?;
            Agreement::Patterns { ordinary, layout, weights }
        }
    };
    if let (None, Some(dev), false) = (settings.strength, &dev, settings.consistency == Consistency::None) {
        described.strength =
            dev.best(&mut model, &STRENGTHS, |model, strength| model.settings.strength = strength)?;
    }
    model.settings.strength = described.strength;
    if let (None, Some(dev), true) = (settings.bias, &dev, settings.consistency != Consistency::None) {
        // Agreement finds more names, so `O` may need another bias; the old one is tried first and stays unless another is better.
        let others = BIASES.iter().map(|bias| (bias * margin) as f32);
        let biases: Vec<f32> = std::iter::once(described.bias).chain(others).collect();
        described.bias = dev.best(&mut model, &biases, |model, bias| model.settings.bias = bias)?;
        model.settings.bias = described.bias;
    }
    if let Some(dev) = &dev {
        let local_f1 = described.f1;
        described.f1 = Some(dev.f1(&model, None)?);
        // Choices were made by quick decoding; should the full one disagree with them, sentences are left to themselves.
        if settings.strength.is_none() && described.f1 < local_f1 {
            (described.strength, described.bias) = (0.0, local_bias);
            described.f1 = local_f1;
        }
    }
    let mut writer = begin(&described);
    model.agreement.store(&mut writer, &words);
    Ok(Trained {
        model: writer,
        epoch: trained.epoch,
        f1: described.f1,
        bias: described.bias,
        strength: described.strength,
        stop: trained.stop,
    })
}

/// Data on which what is not learned is chosen.
struct DevData<'d> {
    sentences: &'d [Sentence],
    entities: &'d [Vec<Entity<'d>>],
}

impl DevData<'_> {
    fn f1(&self, model: &NerModel, slack: Option<f32>) -> Result<f64, NerError> {
        Ok(f1(&model.labels, self.entities, &model.decoder()?.paths(self.sentences, slack)?))
    }

    /// The choice with the best F; the first of equal ones.
    fn best(
        &self,
        model: &mut NerModel,
        choices: &[f32],
        set: impl Fn(&mut NerModel, f32),
    ) -> Result<f32, NerError> {
        let mut best = (f64::NEG_INFINITY, 0.0);
        for &choice in choices {
            set(model, choice);
            let score = self.f1(model, Some((SLACK * model.settings.margin) as f32))?;
            tracing::debug!("{choice}: F {:.2} on dev", 100.0 * score);
            if score > best.0 {
                best = (score, choice);
            }
        }
        Ok(best.1)
    }
}

/// Learns how labels agree, on scores from chains that have not seen the sentences.
fn learn_patterns(
    sentences: &[Sentence],
    gold: &[Vec<String>],
    ordinary: &OrdinaryWords,
    layout: &Layout,
    (settings, described, labels): (&NerSettings, &Settings, &Labels),
) -> Result<Vec<f32>, NerError> {
    let halves = halves(sentences);
    let mut task = PatternTask::new(layout.clone(), described.margin);
    for half in 0..2 {
        let (seen, unseen) = (&halves[1 - half], &halves[half]);
        let pick = |numbers: &[usize]| -> Vec<Sentence> {
            numbers.iter().map(|&number| sentences[number].clone()).collect()
        };
        let local = NerSettings {
            consistency: Consistency::None,
            parameters: described.parameters.clone(),
            bias: Some(described.bias),
            // As many epochs as were of use to the whole, or a few.
            epochs: Some(described.epoch.min(HALF_EPOCHS)),
            checkpoint: None,
            ..settings.clone()
        };
        // A half without any entity teaches nothing.
        let trained = match train(&pick(seen), None, local, &mut |_| {}, None) {
            Err(NerError::NoEntities) => continue,
            trained => trained?,
        };
        let model = NerModel::from_bytes(&trained.model.to_bytes())?;
        let unseen_gold: Vec<Vec<String>> = unseen.iter().map(|&number| gold[number].clone()).collect();
        task.add(&model, &pick(unseen), &unseen_gold, labels, ordinary)?;
    }
    task.learn(settings.seed, settings.threads)
}

/// Sentences in two halves, group by group in turn.
fn halves(sentences: &[Sentence]) -> [Vec<usize>; 2] {
    let mut halves = [Vec::new(), Vec::new()];
    for (number, group) in groups(sentences).into_iter().enumerate() {
        halves[number % 2].extend(group);
    }
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}

/// Perceptrons get a margin unless the user says otherwise: without one they stop to learn once the training data is right, however
/// closely. Returns by how much right labels are to stand out.
fn margin(algorithm: &Algorithm, parameters: &mut Vec<(String, f64)>, features_per_word: f64) -> f64 {
    if !algorithm.parameters().iter().any(|parameter| parameter.name == "margin") {
        return LIKELY;
    }
    if let Some((_, margin)) = parameters.iter().find(|(name, _)| name == "margin") {
        return *margin;
    }
    let margin = (MARGIN * features_per_word).round();
    parameters.push(("margin".to_owned(), margin));
    margin
}

struct Read {
    corpus: Corpus,
    features_per_word: f64,
}

fn read_corpus(
    sentences: &[Sentence],
    gold: &[Vec<String>],
    features: &Features,
    settings: &NerSettings,
) -> Result<Read, NerError> {
    let options = CorpusOptions {
        order: 1,
        min_count: settings.min_count,
        pairs: settings.pairs,
        ..CorpusOptions::default()
    };
    let mut builder = CorpusBuilder::new(options);
    let mut made = 0;
    let mut reader = features.reader();
    let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
    for text in documents(sentences) {
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

fn encode(
    sentences: &[Sentence],
    corpus: &Corpus,
    features: &Features,
    settings: &NerSettings,
) -> Result<Sentences, NerError> {
    let mut encoder = corpus.encoder();
    let mut reader = features.reader();
    let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
    for text in documents(sentences) {
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

/// F of exact matches.
pub(crate) fn f1(labels: &LabelSet, gold: &[Vec<Entity<'_>>], paths: &[Vec<u32>]) -> f64 {
    let mut counts = Counts::default();
    for (gold, path) in gold.iter().zip(paths) {
        count_entities(gold, &labels.entities(path), &mut counts);
    }
    counts.score().f1
}

/// A number that other training data will not have.
fn fingerprint(sentences: &[Sentence], gold: &[Vec<String>]) -> u64 {
    let mut state = 0;
    for (sentence, labels) in sentences.iter().zip(gold) {
        for (word, label) in labels.iter().enumerate() {
            state = hash::combine(state, hash::key(sentence.form(word).as_bytes()));
            state = hash::combine(state, hash::key(label.as_bytes()));
        }
        state = hash::combine(state, 1);
    }
    state
}
