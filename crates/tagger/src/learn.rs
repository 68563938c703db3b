//! How a tagger learns: sentences to features, features to weights, all of it into a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use consonant_learn::hash::Fingerprint;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{EpochReport, Parameter, Run, Stop};
use consonant_sequence::features::{Extractor, FeatureBuffer, Resources, Templates};
use consonant_sequence::inference::Candidates;
use consonant_sequence::{
    Algorithm, Corpus, CorpusBuilder, CorpusOptions, Dev, Diagram, Labels, Pairs, Plan, Sentences,
    TrainedChain, Training, train as train_chain,
};
use consonant_text::Sentence;
use rustc_hash::FxHashSet;

use crate::features::built_in_templates;
use crate::model::{Settings, store};
use crate::{Column, ConstantWords, Request, TagDictionary, Tagger, TaggerError};

const DEFAULT_ALGORITHM: Algorithm = Algorithm::AveragedPerceptron;
/// Up to so many labels, every feature gets a weight for every label.
const FEW_LABELS: usize = 64;
/// Up to so many labels, chains of order 2 are small enough to be the default.
const FEW_FOR_SECOND_ORDER: usize = 24;
/// The margin of a perceptron, in features of a token: how much a single update moves a score.
const MARGIN: f64 = 0.5;

/// How to train a tagger. The defaults are good for every treebank.
#[derive(Debug, Clone)]
pub struct TaggerSettings {
    /// What is predicted.
    pub column: Column,
    /// How many labels back the chain looks; `None`: that of the model to continue; or two where the default algorithm and
    /// the built-in templates have few labels; else one.
    pub order: Option<usize>,
    /// The algorithm and its parameters.
    pub training: Training,
    /// The user's own pieces.
    pub diagram: Option<Diagram>,
    /// The text of a template file; `None`: the built-in templates.
    pub templates: Option<String>,
    /// Clusters, gazetteers, vectors.
    pub resources: Resources,
    /// Features that occur less often get no weight.
    pub min_count: u32,
    /// Which pairs of feature and label get a weight; `None`: all for few labels, the observed ones for many.
    pub pairs: Option<Pairs>,
    /// Whether labels are sums of parts (part of speech, each feature); `None`: as in the model to
    /// continue; else where there are many labels and the templates are the built-in ones.
    pub parts: Option<bool>,
    /// Words that occur at least so often take only labels that they had in training; 0: any word may have any label.
    pub dictionary: u32,
    /// Whether words that keep one label through a document are to be found, and kept to one.
    pub documents: bool,
    /// Labels whose tokens count more or less than 1.
    pub class_weights: Vec<(String, f32)>,
    /// Passes over the data (iterations, for L-BFGS); `None`: what suits the algorithm.
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better dev accuracy; `None`: what suits the algorithm.
    pub patience: Option<usize>,
    /// How weights are stored.
    pub precision: Precision,
    /// Weights of features closer to zero than this are not stored.
    pub prune: f32,
    /// A tagger to continue, with its labels, features and templates.
    pub initial: Option<Tagger>,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// Seed of the random order of sentences.
    pub seed: u64,
    /// Written after each epoch; training goes on from it if it is there.
    pub checkpoint: Option<PathBuf>,
}

impl Default for TaggerSettings {
    fn default() -> Self {
        Self {
            column: Column::Upos,
            order: None,
            training: DEFAULT_ALGORITHM.into(),
            diagram: None,
            templates: None,
            resources: Resources::default(),
            min_count: 1,
            pairs: None,
            parts: None,
            dictionary: 0,
            documents: true,
            class_weights: Vec::new(),
            epochs: None,
            patience: None,
            precision: Precision::Single,
            prune: 0.0,
            initial: None,
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
    /// The best accuracy on dev.
    pub accuracy: Option<f64>,
    /// Accuracy lost on dev by half precision and pruning, where they were asked for.
    pub precision_loss: Option<f64>,
    /// Why training ended.
    pub stop: Stop,
}

/// Training and dev data in the form that trainers read.
#[derive(Debug)]
pub struct Corpora<'s> {
    settings: TaggerSettings,
    sentences: &'s [Sentence],
    extractor: Extractor,
    corpus: Corpus,
    features_per_token: f64,
    dictionary: TagDictionary,
    dev: Option<DevData<'s>>,
}

#[derive(Debug)]
struct DevData<'s> {
    text: &'s [Sentence],
    sentences: Sentences,
    candidates: Option<Vec<Candidates>>,
}

/// Prepares and trains in one go; `progress` hears of each epoch.
pub fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: TaggerSettings,
    progress: &mut dyn FnMut(&EpochReport),
) -> Result<Trained, TaggerError> {
    prepare(sentences, dev, settings)?.train(progress, None)
}

/// Turns sentences into features. What the training will need is known afterwards.
pub fn prepare<'s>(
    sentences: &'s [Sentence],
    dev: Option<&'s [Sentence]>,
    settings: TaggerSettings,
) -> Result<Corpora<'s>, TaggerError> {
    let column = settings.column;
    let labels = count_labels(sentences, column);
    if labels == 0 {
        return Err(TaggerError::NoLabels { column: column.name() });
    }
    let few = labels <= FEW_LABELS;
    let parts = match (settings.parts, &settings.initial) {
        (Some(parts), _) => parts,
        (None, Some(tagger)) => tagger.chain().has_parts(),
        (None, None) => !few && settings.templates.is_none(),
    };
    let options = CorpusOptions {
        order: settings.order.unwrap_or_else(|| match &settings.initial {
            Some(tagger) => tagger.chain().order(),
            None => default_order(labels, &settings),
        }),
        min_count: settings.min_count,
        pairs: settings.pairs.unwrap_or(if few { Pairs::All } else { Pairs::Observed }),
        class_weights: settings.class_weights.clone(),
        parts_of: parts.then(|| column.parts()),
    };
    let (extractor, mut builder) = match &settings.initial {
        Some(tagger) => {
            check_initial(tagger, &settings)?;
            (tagger.extractor().clone(), CorpusBuilder::continuing(options, tagger.chain()))
        }
        None => {
            let text =
                settings.templates.clone().unwrap_or_else(|| built_in_templates(labels, &settings.resources));
            let templates = Templates::compile(&text, &["form"], &settings.resources)?;
            (
                Extractor::new(Arc::new(templates), Arc::new(settings.resources.clone())),
                CorpusBuilder::new(options),
            )
        }
    };
    let mut reader = Reader::new(&extractor);
    let (mut features, mut tokens) = (0usize, 0u32);
    for sentence in sentences {
        builder.begin(sentence_weight(sentence)?);
        reader.tokens(sentence, column, |label, keys, values, pairs| {
            features += keys.len();
            tokens += 1;
            builder.token(label, keys, values, pairs);
        });
        builder.end();
    }
    let corpus = builder.finish()?;
    let dictionary = match settings.dictionary {
        0 => TagDictionary::default(),
        least => build_dictionary(sentences, column, corpus.labels(), least),
    };
    let dev = match dev {
        None => None,
        Some(dev) => {
            let mut encoder = corpus.encoder();
            for sentence in dev {
                encoder.begin();
                let mut failure = Ok(());
                reader.tokens(sentence, column, |label, keys, values, pairs| {
                    let added = encoder.token(label, keys, values, pairs);
                    if failure.is_ok() {
                        failure = added;
                    }
                });
                failure?;
                encoder.end();
            }
            let candidates = (!dictionary.is_empty())
                .then(|| dev.iter().map(|sentence| candidates_of(&dictionary, sentence)).collect());
            Some(DevData { text: dev, sentences: encoder.finish(), candidates })
        }
    };
    let features_per_token = features as f64 / f64::from(tokens.max(1));
    Ok(Corpora { settings, sentences, extractor, corpus, features_per_token, dictionary, dev })
}

impl Corpora<'_> {
    /// The labels of the training data.
    pub fn labels(&self) -> &Labels {
        self.corpus.labels()
    }

    /// How many labels back the chain looks.
    pub fn order(&self) -> usize {
        self.corpus.space().order()
    }

    /// The number of weights.
    pub fn weights(&self) -> usize {
        self.corpus.space().group_size()
    }

    /// An estimate of the memory that training takes at its height, in bytes.
    pub fn memory(&self) -> Result<u64, TaggerError> {
        Ok(self.plan()?.memory(&self.corpus, self.settings.threads))
    }

    /// The algorithm with its parameters. Perceptrons get a margin unless the user says otherwise: without one they stop
    /// to learn once the training data is right, however closely.
    fn plan(&self) -> Result<Plan, TaggerError> {
        let margin = (MARGIN * self.features_per_token).round();
        let training = self.settings.training.clone().or(Parameter::MARGIN, margin)?;
        Ok(Plan { training, diagram: self.settings.diagram.clone(), mask: None })
    }

    /// Trains. `interrupt` ends it at the next example; a checkpoint then stays.
    pub fn train(
        &self,
        progress: &mut dyn FnMut(&EpochReport),
        interrupt: Option<&AtomicBool>,
    ) -> Result<Trained, TaggerError> {
        let settings = &self.settings;
        let plan = self.plan()?;
        let algorithm = plan.training.algorithm();
        let dev = self.dev.as_ref().map(|dev| Dev {
            sentences: &dev.sentences,
            candidates: dev.candidates.as_deref(),
            metric: None,
        });
        let run = Run {
            epochs: settings.epochs.unwrap_or(if algorithm.is_batch() { 200 } else { 20 }),
            // L-BFGS goes up and down on its way.
            patience: self
                .dev
                .is_some()
                .then(|| settings.patience.unwrap_or(if algorithm.is_batch() { 10 } else { 3 })),
            shuffle: !algorithm.is_batch(),
            seed: settings.seed,
            threads: settings.threads,
            progress: Some(progress),
            checkpoint: settings.checkpoint.clone(),
            interrupt,
            ..Run::default()
        };
        let mut trained = train_chain(&self.corpus, &plan, dev, run)?;
        let mut described = Settings {
            column: settings.column,
            training: plan.training,
            epoch: trained.epoch,
            accuracy: trained.best,
            sentences: self.sentences.len(),
            tokens: self.corpus.sentences().tokens(),
            fingerprint: fingerprint(self.sentences, settings.column),
        };
        let constant = match settings.documents {
            true => ConstantWords::find(self.sentences, settings.column, self.corpus.labels()),
            false => ConstantWords::default(),
        };
        let write = |described: &Settings, trained: &TrainedChain<'_>, precision| {
            store(described, &self.extractor, &self.dictionary, &constant, |writer| {
                trained.store(writer, precision)
            })
        };
        // Trainers measure sentences one by one, so what documents add shows only in the stored model.
        if let Some(dev) = self.dev.as_ref().filter(|_| !constant.is_empty()) {
            let whole = write(&described, &trained, Precision::Single);
            described.accuracy = Some(self.stored_accuracy(&whole, dev.text)?);
        }
        trained.prune(settings.prune);
        let mut model = write(&described, &trained, settings.precision);
        let smaller = settings.precision == Precision::Half || settings.prune > 0.0;
        let precision_loss = match (&self.dev, described.accuracy) {
            (Some(dev), Some(whole)) if smaller => Some(whole - self.stored_accuracy(&model, dev.text)?),
            _ => None,
        };
        Tagger::open(&Model::from_bytes(&model.to_bytes())?)?.store_names(&mut model, self.sentences);
        Ok(Trained {
            model,
            epoch: trained.epoch,
            accuracy: described.accuracy,
            precision_loss,
            stop: trained.stop,
        })
    }

    /// The dev accuracy of a model as it is stored.
    fn stored_accuracy(&self, model: &ModelWriter, dev: &[Sentence]) -> Result<f64, TaggerError> {
        let tagger = Tagger::open(&Model::from_bytes(&model.to_bytes())?)?;
        let mut tagged = dev.to_vec();
        tagger.decoder()?.tag(&mut tagged, &Request::default())?;
        let column = self.settings.column;
        let (mut gold, mut found) = (String::new(), String::new());
        let (mut right, mut all) = (0usize, 0usize);
        for (before, after) in dev.iter().zip(&tagged) {
            for word in 0..before.len() {
                if let Some(gold) = column.label(before, word, &mut gold) {
                    right += usize::from(column.label(after, word, &mut found) == Some(gold));
                    all += 1;
                }
            }
        }
        Ok(right as f64 / all.max(1) as f64)
    }
}

/// Features of sentences, with buffers that are reused.
struct Reader<'e> {
    extractor: &'e Extractor,
    workspace: consonant_sequence::features::FeatureWorkspace,
    features: FeatureBuffer,
    pairs: Vec<u64>,
    label: String,
}

impl<'e> Reader<'e> {
    fn new(extractor: &'e Extractor) -> Self {
        Self {
            extractor,
            workspace: extractor.workspace(),
            features: FeatureBuffer::default(),
            pairs: Vec::new(),
            label: String::new(),
        }
    }

    fn tokens(
        &mut self,
        sentence: &Sentence,
        column: Column,
        mut token: impl FnMut(Option<&str>, &[u64], &[f32], &[u64]),
    ) {
        self.extractor.load(&mut self.workspace, sentence.len(), |word, _| sentence.form(word));
        for word in 0..sentence.len() {
            self.extractor.node_features(&self.workspace, word, &mut self.features);
            self.extractor.pair_features(&self.workspace, word, &mut self.pairs);
            let label = column.label(sentence, word, &mut self.label);
            token(label, &self.features.keys, &self.features.values, &self.pairs);
        }
    }
}

/// Two labels back pay where they are few; more labels do as well with one. Not every algorithm has a second order, and who
/// brings templates gets the plain chain that other tools would train.
fn default_order(labels: usize, settings: &TaggerSettings) -> usize {
    let built_in = settings.training.algorithm() == DEFAULT_ALGORITHM
        && settings.diagram.is_none()
        && settings.templates.is_none();
    if built_in && labels <= FEW_FOR_SECOND_ORDER { 2 } else { 1 }
}

fn check_initial(tagger: &Tagger, settings: &TaggerSettings) -> Result<(), TaggerError> {
    let differ = |theirs: String, ours: String| Err(TaggerError::Initial { theirs, ours });
    if tagger.column() != settings.column {
        return differ(format!("column {}", tagger.column()), format!("column {}", settings.column));
    }
    if settings.order.is_some_and(|order| order != tagger.chain().order()) {
        return differ(
            format!("order {}", tagger.chain().order()),
            format!("order {}", settings.order.unwrap_or_default()),
        );
    }
    if settings.templates.as_deref().is_some_and(|text| text != tagger.extractor().templates().text()) {
        return differ("other templates".to_owned(), "its own".to_owned());
    }
    Ok(())
}

fn count_labels(sentences: &[Sentence], column: Column) -> usize {
    let mut labels: FxHashSet<String> = FxHashSet::default();
    let mut buffer = String::new();
    for sentence in sentences {
        for word in 0..sentence.len() {
            if let Some(label) = column.label(sentence, word, &mut buffer)
                && !labels.contains(label)
            {
                labels.insert(label.to_owned());
            }
        }
    }
    labels.len()
}

fn sentence_weight(sentence: &Sentence) -> Result<f32, TaggerError> {
    match sentence.comment("weight") {
        None => Ok(1.0),
        Some(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|weight: &f32| weight.is_finite() && *weight >= 0.0)
            .ok_or_else(|| TaggerError::Weight { line: sentence.line(), value: text.to_owned() }),
    }
}

fn build_dictionary(sentences: &[Sentence], column: Column, labels: &Labels, least: u32) -> TagDictionary {
    let mut buffer = String::new();
    let mut tokens = Vec::new();
    for sentence in sentences {
        for word in 0..sentence.len() {
            let label = column.label(sentence, word, &mut buffer).and_then(|label| labels.get(label));
            tokens.push((sentence.form(word), label));
        }
    }
    TagDictionary::build(tokens.into_iter(), least)
}

fn candidates_of(dictionary: &TagDictionary, sentence: &Sentence) -> Candidates {
    let mut candidates = Candidates::new();
    (0..sentence.len()).for_each(|word| dictionary.push(sentence.form(word), &mut candidates));
    candidates
}

/// A number that other training data will not have.
fn fingerprint(sentences: &[Sentence], column: Column) -> u64 {
    let mut buffer = String::new();
    let mut fingerprint = Fingerprint::default();
    for sentence in sentences {
        for word in 0..sentence.len() {
            fingerprint.text(sentence.form(word));
            match column.label(sentence, word, &mut buffer) {
                Some(label) => fingerprint.text(label),
                None => fingerprint.number(0),
            }
        }
        fingerprint.number(1);
    }
    fingerprint.get()
}
