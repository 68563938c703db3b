//! How a tagger learns: sentences to features, features to weights, all of it into a model.

use std::sync::Arc;

use consonant_learn::hash::Fingerprint;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::names::WantedNames;
use consonant_learn::settings::{InputFile, Named};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{Parameter, Run};
use consonant_sequence::features::{Extractor, FeatureBuffer, Resources, Templates};
use consonant_sequence::inference::Candidates;
use consonant_sequence::{
    Algorithm, Corpus, CorpusBuilder, CorpusOptions, Dev, Diagram, Labels, Numbering, Pairs, Plan, Sentences,
    TokenReader, TrainedChain, Training, train as train_chain,
};
use consonant_task::{Data, Task, Trained, Watch, open_file, read_file};
use consonant_text::Sentence;
use rustc_hash::FxHashSet;

use crate::features::{built_in_templates, templates_beside_tags};
use crate::model::{Description, name_features, store};
use crate::names;
use crate::view::View;
use crate::{Column, ConstantWords, TagDictionary, Tagger, TaggerError};

/// What is measured on dev.
const METRIC: &str = "accuracy";
const DEFAULT_ALGORITHM: Algorithm = Algorithm::AveragedPerceptron;
/// Up to this many labels, every feature gets a weight for every label, unless these are more than [`MOST_FOR_ALL`].
const FEW_LABELS: usize = 64;
/// 1.6 GB of weights in training. A treebank of 200,000 words and 50 tags has 50 million; of millions of words, those pairs
/// that occur say enough.
const MOST_FOR_ALL: usize = 1 << 26;
/// Up to this many labels, chains of order 2 are small enough to be the default.
const FEW_FOR_SECOND_ORDER: usize = 24;
/// The margin of a perceptron, in updates.
const MARGIN: f64 = 0.5;

consonant_task::settings! {
    /// How to train a tagger. The defaults are good for every treebank.
    pub struct TaggerSettings {
        algorithm training: Training = DEFAULT_ALGORITHM;
        /// What to predict: upos, xpos, upos+xpos, upos+feats, feats or lemma.
        column: Column = Column::Upos, "COLUMN";
        /// Tags that are there already and are read beside the forms: upos, upos+xpos, upos+feats (default: none).
        given: Option<Column> = None, "COLUMN", research;
        /// How many labels back the chain looks (default: 1; 2 for few labels with the built-in templates).
        order: Option<usize> = None, "N" in 0.0..=8.0;
        /// Passes over the data (default: 20; 200 iterations for L-BFGS).
        epochs: Option<usize> = None, "N" in 1.0..;
        /// Stops after so many epochs without a better dev accuracy (default: 3; 10 iterations for L-BFGS).
        patience: Option<usize> = None, "N";
        /// Feature templates instead of the built-in ones (see docs/templates.md).
        template: Option<InputFile> = None, "FILE";
        /// A list of phrases, one a line.
        gazetteers: Vec<Named<InputFile>> = Vec::new(), "NAME=FILE" as "gazetteer";
        /// Word clusters: `bits<TAB>word` or `word<TAB>cluster`.
        clusters: Option<InputFile> = None, "FILE";
        /// Word vectors in text: `word number number …`.
        vectors: Option<InputFile> = None, "FILE", research;
        /// Trains on pieces declared in a file instead of the algorithm's.
        pieces: Option<InputFile> = None, "FILE", research;
        /// Leaves out features that occur less often.
        min_count: u32 = 1, "N", research;
        /// Gives weights to all pairs of feature and label, or to observed ones only (default: all for few
        /// labels and up to 67 million weights).
        weights: Option<Pairs> = None, "all|observed", research;
        /// Scores labels as sums of their parts, such as part of speech and features (default: on for many
        /// labels, with the built-in templates).
        parts: Option<bool> = None, "on|off", research;
        /// Limits words seen at least N times to labels that they were seen with; 0: no limit.
        dictionary: u32 = 0, "N", research;
        /// Keeps words to one label in a document if that is how they occur (see docs/tagger.md).
        documents: bool = true, "on|off", research;
        /// Lets tokens with a label count more or less than 1.
        class_weights: Vec<Named<f32>> = Vec::new(), "LABEL=WEIGHT" as "class-weight" in 0.0.., research;
        /// Stores weights in half precision, and says what it costs on dev.
        half: bool = false, "";
        /// Leaves out weights closer to zero than this when the model is stored, and says what it costs on
        /// dev.
        prune: f32 = 0.0, "WEIGHT" in 0.0..;
        /// Trains on so many parts of the data side by side and mixes their weights after each epoch (see docs/scale.md).
        shards: usize = 1, "N" in 1.0..=4096.0;
        /// Seed of the random order of sentences.
        seed: u64 = 1, "N";
    }
}

/// Training and dev data in the form that trainers read.
#[derive(Debug)]
struct Corpora<'s> {
    settings: &'s TaggerSettings,
    sentences: &'s [Sentence],
    pieces: Option<Diagram>,
    extractor: Extractor,
    corpus: Corpus,
    dictionary: TagDictionary,
    dev: Option<DevData<'s>>,
}

#[derive(Debug)]
struct DevData<'s> {
    text: &'s [Sentence],
    sentences: Sentences,
    candidates: Option<Vec<Candidates>>,
}

/// Turns sentences into features, and these into a model.
pub(crate) fn train(
    data: &Data<'_, Sentence>,
    settings: &TaggerSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, TaggerError> {
    let corpora = prepare(data, settings)?;
    corpora.check_memory(watch)?;
    corpora.train(watch)
}

/// The pieces that the user declared in a file.
pub(crate) fn read_pieces(settings: &TaggerSettings, most: u64) -> Result<Option<Diagram>, TaggerError> {
    let Some(file) = &settings.pieces else { return Ok(None) };
    let wrong = |problem| TaggerError::Pieces { file: file.path().display().to_string(), problem };
    Ok(Some(Diagram::parse(&read_file(file.path(), most)?).map_err(wrong)?))
}

fn prepare<'s>(data: &Data<'s, Sentence>, settings: &'s TaggerSettings) -> Result<Corpora<'s>, TaggerError> {
    let (sentences, dev, most) = (data.items(), data.dev, data.max_unpacked);
    let initial = data.initial.map(Tagger::open).transpose()?;
    let templates = settings.template.as_ref().map(|file| read_file(file.path(), most)).transpose()?;
    let pieces = read_pieces(settings, most)?;
    let (column, view) = (settings.column, View::new(settings.given));
    let labels = count_labels(sentences, column);
    if labels == 0 {
        return Err(TaggerError::NoLabels { column: column.name() });
    }
    let few = labels <= FEW_LABELS;
    let parts = match (settings.parts, &initial) {
        (Some(parts), _) => parts,
        (None, Some(tagger)) => tagger.chain().has_parts(),
        (None, None) => !few && templates.is_none(),
    };
    let options = CorpusOptions {
        order: settings.order.unwrap_or_else(|| match &initial {
            Some(tagger) => tagger.chain().order(),
            None => default_order(labels, settings),
        }),
        min_count: settings.min_count,
        pairs: settings.weights.unwrap_or(if few { Pairs::All } else { Pairs::Observed }),
        most_for_all: if settings.weights.is_some() { usize::MAX } else { MOST_FOR_ALL },
        class_weights: settings
            .class_weights
            .iter()
            .map(|Named(label, weight)| (label.clone(), *weight))
            .collect(),
        parts_of: parts.then(|| column.parts()),
        ..CorpusOptions::default()
    };
    let (extractor, mut builder) = match &initial {
        Some(tagger) => {
            check_initial(tagger, settings, templates.as_deref())?;
            (tagger.extractor().clone(), CorpusBuilder::continuing(options, tagger.chain()))
        }
        None => {
            let TaggerSettings { clusters, gazetteers, vectors, .. } = settings;
            let resources = Resources::read(clusters.as_ref(), gazetteers, vectors.as_ref(), |path| {
                Ok::<_, TaggerError>(open_file(path, most)?)
            })?;
            let built_in = || match settings.given {
                Some(given) => templates_beside_tags(given.layers().len()),
                None => built_in_templates(labels, &resources),
            };
            let text = templates.unwrap_or_else(built_in);
            let templates = Templates::compile(&text, view.columns(), &resources)?;
            (Extractor::new(Arc::new(templates), Arc::new(resources)), CorpusBuilder::new(options))
        }
    };
    let mut reader = Reader::new(&extractor, view);
    for sentence in sentences {
        reader.read(sentence, column, sentence_weight(sentence)?, &mut builder);
    }
    let mut corpus = builder.finish()?;
    if pieces.as_ref().is_some_and(Diagram::has_lines) {
        let mut wanted = WantedNames::new(corpus.keys().to_vec());
        name_features(&extractor, view, sentences, &mut wanted);
        corpus.name_lines(wanted.found());
    }
    let dictionary = match settings.dictionary {
        0 => TagDictionary::default(),
        least => {
            let dictionary = build_dictionary(sentences, view, column, corpus.labels(), least);
            let older = initial.as_ref().and_then(Tagger::dictionary);
            older.map_or(dictionary.clone(), |older| dictionary.after(older))
        }
    };
    let dev = match dev {
        None => None,
        Some(dev) => {
            let mut encoder = corpus.encoder();
            dev.iter().for_each(|sentence| reader.read(sentence, column, 1.0, &mut encoder));
            let candidates = (!dictionary.is_empty())
                .then(|| dev.iter().map(|sentence| candidates_of(&dictionary, view, sentence)).collect());
            Some(DevData { text: dev, sentences: encoder.finish()?, candidates })
        }
    };
    Ok(Corpora { settings, sentences, pieces, extractor, corpus, dictionary, dev })
}

impl Corpora<'_> {
    /// Says what the training takes, and refuses one that takes too much.
    fn check_memory(&self, watch: &mut Watch<'_>) -> Result<(), TaggerError> {
        let needed = self.plan()?.memory(&self.corpus, self.settings.shards, rayon::current_num_threads());
        let megabytes = needed.div_ceil(1_000_000);
        let (labels, weights) = (self.corpus.labels().len(), self.corpus.space().group_size());
        watch.note(format!("{labels} labels, {weights} weights, {megabytes} MB for training"));
        match watch.memory.filter(|&most| needed > most) {
            Some(most) => Err(TaggerError::Memory { needed: megabytes, most: most / 1_000_000 }),
            None => Ok(()),
        }
    }

    fn plan(&self) -> Result<Plan, TaggerError> {
        let training = self.corpus.with_margin(self.settings.training.clone(), MARGIN)?;
        Ok(Plan { training, diagram: self.pieces.clone(), mask: None })
    }

    fn train(&self, watch: &mut Watch<'_>) -> Result<Trained, TaggerError> {
        let settings = self.settings;
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
            seed: settings.seed,
            shards: settings.shards,
            ..watch.run(None, METRIC)
        };
        let mut trained = train_chain(&self.corpus, &plan, dev, run)?;
        let mut described = Description {
            settings: settings.clone().training(plan.training),
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
        let write = |described: &Description, trained: &TrainedChain<'_>, precision| {
            store(described, &self.extractor, &self.dictionary, &constant, |writer| {
                trained.store(writer, precision)
            })
        };
        // Trainers measure sentences one by one, so what documents add shows only in the stored model.
        if let Some(dev) = self.dev.as_ref().filter(|_| !constant.is_empty()) {
            let whole = write(&described, &trained, Precision::Single);
            described.accuracy = Some(Self::stored_accuracy(&whole, dev.text)?);
        }
        trained.prune(settings.prune);
        let precision = if settings.half { Precision::Half } else { Precision::Single };
        let mut model = write(&described, &trained, precision);
        let smaller = settings.half || settings.prune > 0.0;
        let precision_loss = match (&self.dev, described.accuracy) {
            (Some(dev), Some(whole)) if smaller => Some(whole - Self::stored_accuracy(&model, dev.text)?),
            _ => None,
        };
        let tagger = Tagger::open(&Model::from_bytes(&model.to_bytes())?)?;
        tagger.store_names(&mut model, self.sentences);
        let margin = described.settings.training.given(Parameter::MARGIN).unwrap_or(1.0) as f32;
        let (hint, more) = match &self.dev {
            Some(dev) => names::learn(&tagger, dev.text, margin)?,
            None => Default::default(),
        };
        hint.store(&mut model);
        let mut summary = format!("epoch {}", trained.epoch);
        if let Some(accuracy) = described.accuracy {
            summary += &format!(", dev {METRIC} {:.2}%", 100.0 * accuracy);
        }
        summary += &format!(" ({})", trained.stop);
        if let Some(loss) = precision_loss {
            summary += &format!(", what was left out of the file costs {:.3} points", 100.0 * loss);
        }
        if more > 0 {
            summary += &format!(", names set {more} more words right");
        }
        Ok(Trained { model, epoch: trained.epoch, score: described.accuracy, summary })
    }

    /// The dev accuracy of a model as it is stored.
    fn stored_accuracy(model: &ModelWriter, dev: &[Sentence]) -> Result<f64, TaggerError> {
        let tagger = Tagger::open(&Model::from_bytes(&model.to_bytes())?)?;
        let (right, all) = tagger.count_right(dev)?;
        Ok(right as f64 / all.max(1) as f64)
    }
}

/// Features of sentences, with buffers that are reused.
struct Reader<'e> {
    extractor: &'e Extractor,
    view: View,
    workspace: consonant_sequence::features::FeatureWorkspace,
    features: FeatureBuffer,
    pairs: Vec<u64>,
    label: String,
}

impl<'e> Reader<'e> {
    fn new(extractor: &'e Extractor, view: View) -> Self {
        Self {
            extractor,
            view,
            workspace: extractor.workspace(),
            features: FeatureBuffer::default(),
            pairs: Vec::new(),
            label: String::new(),
        }
    }

    fn read<N: Numbering>(
        &mut self,
        sentence: &Sentence,
        column: Column,
        weight: f32,
        tokens: &mut TokenReader<N>,
    ) {
        tokens.begin(weight);
        let view = self.view;
        let text = |word: usize, column: usize| view.text(sentence, word, column);
        self.extractor.load(&mut self.workspace, sentence.len(), text);
        for word in 0..sentence.len() {
            self.extractor.node_features(&self.workspace, word, &mut self.features);
            self.extractor.pair_features(&self.workspace, word, &mut self.pairs);
            let label = column.label(sentence, word, &mut self.label);
            tokens.token(label, &self.features.keys, &self.features.values, &self.pairs);
        }
        tokens.end();
    }
}

/// Two labels back pay where they are few; more labels do as well with one. Not every algorithm has a second
/// order, and who brings templates gets the plain chain that other tools would train.
fn default_order(labels: usize, settings: &TaggerSettings) -> usize {
    // What follows from a word and its tag does not follow from what was said of the word before.
    if settings.given.is_some() {
        return 0;
    }
    let built_in = settings.training.algorithm() == DEFAULT_ALGORITHM
        && settings.pieces.is_none()
        && settings.template.is_none();
    if built_in && labels <= FEW_FOR_SECOND_ORDER { 2 } else { 1 }
}

fn check_initial(
    tagger: &Tagger,
    settings: &TaggerSettings,
    templates: Option<&str>,
) -> Result<(), TaggerError> {
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
    if tagger.given() != settings.given {
        let shown = |given: Option<Column>| {
            given.map_or("no tags given".to_owned(), |given| format!("{given} given"))
        };
        return differ(shown(tagger.given()), shown(settings.given));
    }
    let TaggerSettings { clusters, gazetteers, vectors, .. } = settings;
    if clusters.is_some() || !gazetteers.is_empty() || vectors.is_some() {
        return differ("lists of its own".to_owned(), "clusters, lists or vectors given again".to_owned());
    }
    if templates.is_some_and(|text| text != tagger.extractor().templates().text()) {
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
    let weight = sentence.weight();
    weight.map_err(|text| TaggerError::Weight { line: sentence.line(), value: text.to_owned() })
}

fn build_dictionary(
    sentences: &[Sentence],
    view: View,
    column: Column,
    labels: &Labels,
    least: u32,
) -> TagDictionary {
    let mut buffer = String::new();
    let mut tokens = Vec::new();
    for sentence in sentences {
        for word in 0..sentence.len() {
            let label = column.label(sentence, word, &mut buffer).and_then(|label| labels.get(label));
            tokens.push((view.key(sentence, word), label));
        }
    }
    TagDictionary::build(tokens.into_iter(), least)
}

fn candidates_of(dictionary: &TagDictionary, view: View, sentence: &Sentence) -> Candidates {
    let mut candidates = Candidates::new();
    (0..sentence.len()).for_each(|word| dictionary.push(view.key(sentence, word), &mut candidates));
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
