//! How a recognizer learns: texts to features, features to weights, all of it into a model.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use consonant_learn::hash::Fingerprint;
use consonant_learn::model::Model;
use consonant_learn::settings::{InputFile, Named};
use consonant_learn::table::Precision;
use consonant_learn::trainer::{Parameter, Run, Stop};
use consonant_sequence::features::{FeatureBuffer, Resources};
use consonant_sequence::{
    Algorithm, ChainModel, CorpusBuilder, CorpusOptions, Dev, Labels, Numbering, Pairs, Plan, TokenReader,
    Training, train as train_chain, train_jointly, train_orders,
};
use consonant_task::{Data, Task, Trained, Watch, open_file, read_file};
use consonant_text::Sentence;
use consonant_text::document::ranges;
use consonant_text::evaluate::Counts;

use crate::choice::{self, Trial};
use crate::documents::MOST_POSTS;
use crate::features::{Features, built_in_templates};
use crate::model::{Agreement, Description, store};
use crate::occurrences::OrdinaryWords;
use crate::parts::{
    LabelScheme, LabelSet, count_entities, gold_entities, gold_labels, has_tags, written_labels,
    written_scheme,
};
use crate::patterns::{Layout, PatternTask, TiedGroups};
use crate::{Consistency, Ner, NerError, Scope};

/// What is measured on dev.
const METRIC: &str = "F";
/// What a likelihood has for a margin: the score of a label that is right at odds of about a hundred.
const LIKELY: f64 = 5.0;
/// The margin of a perceptron, in updates.
const MARGIN: f64 = 2.0;
/// With fewer words in names, halves of the training data tell nothing.
const ENOUGH: usize = 200;
/// Passes of an online method without dev data to say when to stop: later ones only wear in the training
/// data.
const EPOCHS: usize = 12;
/// Passes of joint training, as in the paper.
const JOINT_EPOCHS: usize = 10;
/// With dev data more passes are tried.
const MOST_EPOCHS: usize = 25;

consonant_task::settings! {
    /// How to train a recognizer of names.
    pub struct NerSettings {
        algorithm training: Training = Algorithm::AveragedPerceptron;
        /// How labels of one word in several places agree.
        consistency: Consistency = Consistency::None, "none|words|patterns|equal";
        /// Learns the weights of the chain and of what agrees by patterns together, by decoding groups of sentences in
        /// training (default: the chain first, agreement by halves of the data).
        joint: bool = false, "", research;
        /// How much an update moves the weights of agreement against those of the chain, in joint training.
        tie: f32 = 1.0, "NUMBER" in 0.0.., research;
        /// How entities become labels: bio, bioes, or io without a mark where a name begins.
        scheme: LabelScheme = LabelScheme::Bioes, "SCHEME";
        /// Passes over the data (default: 25, or 12 without dev data; 200 iterations for L-BFGS).
        epochs: Option<usize> = None, "N" in 1.0..;
        /// Stops after so many epochs without a better F on dev.
        patience: usize = 8, "N";
        /// Feature templates instead of the built-in ones (see docs/templates.md).
        template: Option<InputFile> = None, "FILE";
        /// A list of phrases, one a line.
        gazetteers: Vec<Named<InputFile>> = Vec::new(), "NAME=FILE" as "gazetteer";
        /// Word clusters: `bits<TAB>word` or `word<TAB>cluster`.
        clusters: Option<InputFile> = None, "FILE";
        /// Word vectors in text: `word number number …`.
        vectors: Option<InputFile> = None, "FILE", research;
        /// What is taken from the score of O, for more recall (default: what is best on dev, or on halves of
        /// the training data).
        bias: Option<f32> = None, "NUMBER" in ..;
        /// How much agreement counts beside the sentence's own chain (default: what is best on dev, or on
        /// halves of the training data).
        strength: Option<f32> = None, "NUMBER" in 0.0..;
        /// What the word model's scores are multiplied with, to be on the scale of the sentence's (default: what makes
        /// both as likely as they are right on halves of the training data).
        scale: Option<f32> = None, "NUMBER" in 0.0.., research;
        /// Lets words agree document by document, or over all that is decoded together (default: by document
        /// where documents are marked).
        scope: Option<Scope> = None, "document|set", research;
        /// Where no documents are marked, sentences that share more than four words agree by patterns; words of more
        /// sentences than this do not count.
        posts: usize = MOST_POSTS, "N", research;
        /// Looks at other occurrences of a word in its text, and at how lines are set.
        evidence: bool = true, "on|off", research;
        /// Trains so many times, each with another order of the sentences, and takes the mean of the weights: what one
        /// order would change by chance changes less.
        orders: usize = 1, "N" in 1.0..=64.0;
        /// Leaves out features that occur less often.
        min_count: u32 = 2, "N", research;
        /// Gives weights to all pairs of feature and label, or to observed ones only.
        weights: Pairs = Pairs::Observed, "all|observed", research;
        /// Stores weights in half precision.
        half: bool = false, "";
        /// Leaves out weights closer to zero than this, for a smaller model.
        prune: f32 = 0.0, "WEIGHT" in 0.0..;
        /// Trains on so many parts of the data side by side and mixes their weights after each epoch (see docs/scale.md).
        shards: usize = 1, "N" in 1.0..=4096.0;
        /// Seed of the random order of sentences.
        seed: u64 = 1, "N";
    }
}

impl NerSettings {
    pub(crate) fn precision(&self) -> Precision {
        if self.half { Precision::Half } else { Precision::Single }
    }
}

/// Learns from texts, which begin with document marks.
pub(crate) fn train(
    data: &Data<'_, Sentence>,
    settings: &NerSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, NerError> {
    let (sentences, dev) = (data.items(), data.dev);
    let given =
        settings.template.as_ref().map(|file| read_file(file.path(), data.max_unpacked)).transpose()?;
    let tags = data.tagged || given.as_deref().is_some_and(reads_tags);
    if tags && !(has_tags(sentences) && dev.is_none_or(has_tags)) {
        return Err(NerError::NoTags);
    }
    if let Some(initial) = data.initial {
        let initial = Ner::open(initial)?;
        check_initial(&initial, settings, tags)?;
        let (features, continued) = (&initial.features, Some(&*initial.chain));
        let settings = &NerSettings { evidence: features.evidence, ..settings.clone() };
        return Lesson { sentences, dev, features, tags, settings, numbered: None, continued }.learn(watch);
    }
    let NerSettings { clusters, gazetteers, vectors, .. } = settings;
    let resources = Resources::read(clusters.as_ref(), gazetteers, vectors.as_ref(), |path| {
        Ok::<_, NerError>(open_file(path, data.max_unpacked)?)
    })?;
    let templates = given.unwrap_or_else(|| built_in_templates(&resources, tags));
    let features = &Features::new(&templates, resources, tags, settings.evidence)?;
    Lesson { sentences, dev, features, tags, settings, numbered: None, continued: None }.learn(watch)
}

/// Whether templates name the column of tags, which the data then have: parts of speech, or what other models say of a word.
fn reads_tags(templates: &str) -> bool {
    templates.lines().any(|line| !line.starts_with('#') && (line.contains(",tag]") || line.contains(",tag,")))
}

/// A model can be gone on from with the features and the labels that it has.
fn check_initial(initial: &Ner, settings: &NerSettings, tags: bool) -> Result<(), NerError> {
    let theirs = &initial.description;
    let differ = |theirs, ours| Err(NerError::Initial { theirs, ours });
    if theirs.settings.scheme != settings.scheme {
        return differ("another scheme of labels", "its own");
    }
    if theirs.tags != tags {
        return match tags {
            true => differ("no parts of speech", "some, by --tagger"),
            false => differ("parts of speech", "none; give --tagger"),
        };
    }
    let NerSettings { clusters, gazetteers, vectors, template, .. } = settings;
    if clusters.is_some() || !gazetteers.is_empty() || vectors.is_some() || template.is_some() {
        return differ("features of its own", "templates, clusters, lists or vectors given again");
    }
    Ok(())
}

/// What is learned from, and how.
#[derive(Clone, Copy)]
pub(crate) struct Lesson<'l> {
    pub(crate) sentences: &'l [Sentence],
    pub(crate) dev: Option<&'l [Sentence]>,
    pub(crate) features: &'l Features,
    /// Whether words have parts of speech to look at.
    pub(crate) tags: bool,
    pub(crate) settings: &'l NerSettings,
    /// Labels that have given numbers, whether they occur or not.
    pub(crate) numbered: Option<&'l Labels>,
    /// The chain of a model to go on from.
    pub(crate) continued: Option<&'l ChainModel>,
}

impl Lesson<'_> {
    /// Trains a recognizer. What an interrupt leaves incomplete is left out, so that the model may be one of
    /// sentences alone although agreement was asked for.
    pub(crate) fn learn(&self, watch: &mut Watch<'_>) -> Result<Trained, NerError> {
        let Self { sentences, dev, features, settings, numbered, .. } = *self;
        let gold_of = |sentences: &[Sentence]| -> Vec<Vec<String>> {
            sentences.iter().map(|sentence| gold_labels(sentence, settings.scheme)).collect()
        };
        let gold = gold_of(sentences);
        if gold.iter().flatten().all(|label| label == "O") {
            return Err(NerError::NoEntities);
        }
        let mut builder = match self.continued {
            Some(chain) => CorpusBuilder::continuing(corpus_options(settings), chain),
            None => CorpusBuilder::new(corpus_options(settings)),
        };
        if let Some(labels) = numbered {
            settle_numbers(&mut builder, labels);
        }
        read(sentences, &gold, features, &mut builder);
        let corpus = builder.finish()?;
        let labels = LabelSet::new(corpus.labels(), settings.scheme.into());
        let mask = labels.mask();
        let training = corpus.with_margin(settings.training.clone(), MARGIN)?;
        let plan = Plan { training, diagram: None, mask: Some(mask) };
        let algorithm = plan.training.algorithm();
        // By how much right labels are to stand out.
        let margin = plan.training.given(Parameter::MARGIN).unwrap_or(LIKELY);
        let encode = |dev: &[Sentence]| {
            let mut encoder = corpus.encoder();
            read(dev, &gold_of(dev), features, &mut encoder);
            encoder.finish()
        };
        let dev_encoded = dev.map(encode).transpose()?;
        let mut metric = |paths: &[Vec<u32>]| {
            let mut counts = Counts::default();
            for (sentence, path) in dev.unwrap_or_default().iter().zip(paths) {
                count_entities(
                    &gold_entities(&written_labels(sentence)),
                    &labels.entities(path),
                    &mut counts,
                );
            }
            counts.score().f1
        };
        let interrupt = watch.stop;
        let epochs = settings.epochs.unwrap_or(match (algorithm.is_batch(), dev.is_some()) {
            (true, _) => 200,
            (false, true) => MOST_EPOCHS,
            (false, false) => EPOCHS,
        });
        let ordinary = OrdinaryWords::find(sentences, &gold);
        let equal = settings.consistency == Consistency::Equal;
        let layout = Layout::new(&labels, equal, settings.posts);
        let is_joint = settings.joint && (equal || settings.consistency == Consistency::Patterns);
        let groups = match is_joint {
            true => TiedGroups::read(sentences, &ordinary, layout.clone(), settings.tie),
            false => TiedGroups::default(),
        };
        let mut tied_weights = None;
        let mut trained = train_orders(settings.orders, settings.seed, |order, seed| {
            let run = watch.run(None, METRIC);
            let run = Run {
                epochs,
                patience: dev.map(|_| settings.patience),
                seed,
                shards: settings.shards,
                // A checkpoint is of the first order: nobody could tell it from that of another.
                checkpoint: run.checkpoint.clone().filter(|_| order == 0),
                ..run
            };
            if is_joint {
                // Chains alone say nothing about when to stop.
                let run = Run {
                    epochs: settings.epochs.unwrap_or(JOINT_EPOCHS),
                    patience: None,
                    checkpoint: None,
                    ..run
                };
                let (trained, weights) = train_jointly(&corpus, &plan, &groups, run)?;
                tied_weights = Some(groups.weights(&weights));
                return Ok(trained);
            }
            let metric: &mut dyn FnMut(&[Vec<u32>]) -> f64 = &mut metric;
            let dev = dev_encoded.as_ref();
            let dev = dev.map(|sentences| Dev { sentences, candidates: None, metric: Some(metric) });
            train_chain(&corpus, &plan, dev, run)
        })?;
        trained.prune(settings.prune);
        let mut described = Description {
            settings: NerSettings {
                training: plan.training.clone(),
                consistency: Consistency::None,
                bias: Some(settings.bias.unwrap_or_default()),
                strength: Some(settings.strength.unwrap_or(1.0)),
                scope: None,
                ..settings.clone()
            },
            written: written_scheme(sentences),
            tags: self.tags,
            margin,
            epoch: trained.epoch,
            f1: trained.best,
            sentences: sentences.len(),
            tokens: corpus.sentences().tokens(),
            fingerprint: fingerprint(sentences, &gold),
        };
        let begin = |described: &Description| {
            store(described, features, |writer| trained.store(writer, settings.precision()))
        };
        let mut model = Ner::open(&Model::from_bytes(&begin(&described).to_bytes())?)?;
        let enough = gold.iter().flatten().filter(|label| *label != "O").count() >= ENOUGH;
        let agrees = settings.consistency != Consistency::None;
        let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        // Patterns are learned from halves; whether agreement is of use is asked of dev and halves alike.
        let learns_by_halves = !is_joint && (equal || settings.consistency == Consistency::Patterns);
        let asks_halves = learns_by_halves
            || (enough
                && (settings.strength.is_none() && agrees && !is_joint
                    || settings.scale.is_none() && settings.consistency == Consistency::Words
                    || settings.bias.is_none() && dev.is_none()));
        let mut halves = match asks_halves && !is_interrupted() {
            true => choice::halves(self, &described, corpus.labels(), interrupt)?,
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
        // A half comes with a word model of its own, which has not seen the half either. It speaks later.
        let half_words =
            halves.iter_mut().map(|half| std::mem::replace(&mut half.model.agreement, Agreement::None));
        let half_words: Vec<Agreement> = half_words.collect();
        let on_dev = dev.map(|dev| Trial::new(model.clone(), Cow::Borrowed(dev))).transpose()?;
        let first_half = usize::from(on_dev.is_some());
        let mut trials: Vec<Trial<'_>> = on_dev.into_iter().chain(halves).collect();
        // Halves that are too small tell nothing.
        let telling = if enough { trials.len() } else { first_half };
        // How freely names are given is asked of dev, and of halves where there is none.
        let decisive = if first_half > 0 { first_half } else { telling };
        if settings.bias.is_none() && decisive > 0 {
            // Without agreement this takes moments, which an interrupted training has too.
            model.bias = choice::bias(&trials[..decisive], margin, 0.0, &|| false)?;
        }
        described.f1 = dev.map(|dev| choice::f1(&model, dev)).transpose()?;
        let local = (model.bias, described.f1);
        let consistency = if is_interrupted() { Consistency::None } else { settings.consistency };
        let mut words = Vec::new();
        model.agreement = match consistency {
            Consistency::None => Agreement::None,
            Consistency::Words => {
                let marked = ranges(sentences).len() < sentences.len();
                let scope = settings.scope.unwrap_or(if marked { Scope::Document } else { Scope::Set });
                let how = (&described.settings, scope, trained.epoch, interrupt);
                words = crate::words::learn(sentences, &gold, features, &ordinary, corpus.labels(), how)?;
                described.settings.scope = Some(scope);
                let chain = ChainModel::open(&Model::from_bytes(&words)?)?;
                Agreement::words(ordinary, chain, scope, settings.scale.unwrap_or(1.0))
            }
            Consistency::Patterns | Consistency::Equal if let Some(weights) = tied_weights => {
                Agreement::Patterns { ordinary, layout, weights }
            }
            Consistency::Patterns | Consistency::Equal => {
                let mut task = PatternTask::new(layout.clone(), margin);
                for half in &trials[first_half..] {
                    task.add(half, model.bias, corpus.labels(), &ordinary)?;
                }
                let weights = task.learn(settings.seed, interrupt)?;
                Agreement::Patterns { ordinary, layout, weights }
            }
        };
        if consistency != Consistency::None && !is_joint && !is_interrupted() && telling > 0 {
            let own = half_words.into_iter().map(|own| match own {
                Agreement::None => model.agreement.clone(),
                own => own,
            });
            let agreements = (0..first_half).map(|_| model.agreement.clone()).chain(own);
            for (trial, agreement) in trials.iter_mut().zip(agreements) {
                trial.set_agreement(agreement);
            }
            if settings.scale.is_none() && consistency == Consistency::Words {
                let scale = crate::words::scale(&trials[first_half..]).unwrap_or(1.0);
                model.agreement.set_scale(scale);
                for trial in &mut trials {
                    let mut agreement = trial.model.agreement.clone();
                    agreement.set_scale(scale);
                    trial.set_agreement(agreement);
                }
            }
            if settings.strength.is_none() {
                model.strength = choice::strength(&mut trials[..telling], model.bias, &is_interrupted)?;
            }
            trials.iter_mut().for_each(|trial| trial.model.strength = model.strength);
            if settings.bias.is_none() {
                // Agreement finds more names, so `O` may need another bias.
                model.bias = choice::bias(&trials[..decisive], margin, model.bias, &is_interrupted)?;
            }
        }
        described.settings.consistency = consistency;
        let interrupted = is_interrupted();
        if interrupted && settings.consistency != Consistency::None {
            // Agreement that was cut short might do harm; sentences by themselves are complete.
            left_out.push("the agreement of labels");
            (described.settings.consistency, described.settings.scope) = (Consistency::None, None);
            (model.agreement, model.strength) = (Agreement::None, settings.strength.unwrap_or(1.0));
            (model.bias, described.f1) = local;
        }
        let agrees = described.settings.consistency != Consistency::None;
        if let (Some(dev), true) = (dev, agrees) {
            described.f1 = Some(choice::f1(&model, dev)?);
            // Choices were made by quick decoding; should the full one disagree with them, sentences are left
            // to themselves.
            if settings.strength.is_none() && !is_joint && described.f1 < local.1 {
                (model.strength, (model.bias, described.f1)) = (0.0, local);
            }
        }
        (described.settings.bias, described.settings.strength) = (Some(model.bias), Some(model.strength));
        described.settings.scale = model.agreement.scale();
        let mut writer = begin(&described);
        model.agreement.store(&mut writer, &words);
        // Models of halves are for training alone: nobody inspects them.
        if numbered.is_none() {
            model.store_names(&mut writer, sentences);
        }
        let mut summary = format!("epoch {}", trained.epoch);
        if let Some(f1) = described.f1 {
            summary += &format!(", dev {METRIC} {:.2}", 100.0 * f1);
        }
        summary += &format!(" with bias {:.1}", model.bias);
        if agrees {
            summary += &format!(", strength of agreement {}", model.strength);
        }
        let stop = if interrupted { Stop::Interrupted } else { trained.stop };
        summary += &format!(" ({stop}");
        if !left_out.is_empty() {
            summary += &format!("; the model is complete but for {}", left_out.join(" and "));
        }
        summary.push(')');
        Ok(Trained { model: writer, epoch: trained.epoch, score: described.f1, summary })
    }
}

/// Hands on the words of sentences, with their gold labels and features.
fn read<N: Numbering>(
    sentences: &[Sentence],
    gold: &[Vec<String>],
    features: &Features,
    words: &mut TokenReader<N>,
) {
    let mut reader = features.reader();
    let (mut buffer, mut pairs) = (FeatureBuffer::default(), Vec::new());
    for text in ranges(sentences) {
        reader.document(&sentences[text.clone()]);
        for (number, sentence) in text.enumerate() {
            reader.sentence(number, &sentences[sentence]);
            words.begin(1.0);
            for (word, label) in gold[sentence].iter().enumerate() {
                reader.word(word, &mut buffer, &mut pairs);
                words.token(Some(label), &buffer.keys, &buffer.values, &pairs);
            }
            words.end();
        }
    }
}

/// Chains of first order, of sentences or of words.
pub(crate) fn corpus_options(settings: &NerSettings) -> CorpusOptions {
    CorpusOptions {
        order: 1,
        min_count: settings.min_count,
        pairs: settings.weights,
        ..CorpusOptions::default()
    }
}

/// A sentence that counts nothing settles the numbers of labels.
pub(crate) fn settle_numbers(builder: &mut CorpusBuilder, labels: &Labels) {
    builder.begin(0.0);
    labels.names().iter().for_each(|name| builder.token(Some(name), &[], &[], &[]));
    builder.end();
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
