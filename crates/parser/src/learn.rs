//! Training: the pruner, then the parts, then the labels.

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::parts::{PartList, PartProblem, Parts as LearnParts};
use consonant_learn::table::{HashKernel, Precision};
use consonant_learn::trainer::{EpochReport, Method, Parameter, Run, Training, train as train_online};
use consonant_map::oracle::arborescence::RootChildren;
use consonant_text::Sentence;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::decode::{Decoder, DecoderOptions};
use crate::features::{Encoded, Features, IgnoredColumns, Vocabulary};
use crate::inspect;
use crate::label;
use crate::model::{LABELS, NAMES, PARTS, Settings, TASK, VOCABULARY};
use crate::parts::{PartKinds, Parts};
use crate::prune::{self, Pruner, PruningLimits, PruningWorkspace};
use crate::score::{self, ScoreWorkspace};
use crate::{Algorithm, ParserError};

/// How a parser is trained.
#[derive(Debug, Clone)]
pub struct ParserSettings {
    /// Which parts are scored besides arcs.
    pub kinds: PartKinds,
    /// Whether exactly one word depends on the root.
    pub single_root: bool,
    /// Whether trees are searched without crossing arcs; first order only.
    pub projective: bool,
    /// Which heads are candidates.
    pub pruning: PruningLimits,
    /// Passes over the data for the parts.
    pub epochs: usize,
    /// Stop when the share of right heads on dev has not risen for so many epochs.
    pub patience: Option<usize>,
    /// The online method and its parameters.
    pub training: Training<Method>,
    /// Sentences that are decoded with the same weights; they can be decoded in parallel.
    pub batch: usize,
    /// Weights of parts, as a power of two.
    pub bits: u32,
    /// Weights of labels, as a power of two.
    pub label_bits: u32,
    /// Weights of the pruner, as a power of two.
    pub pruner_bits: u32,
    /// Columns that are not looked at.
    pub ignored: IgnoredColumns,
    /// The state of the training of the parts is saved here after each epoch, and training goes on from it.
    pub checkpoint: Option<PathBuf>,
    /// Leave out sentences without a proper tree instead of refusing them.
    pub skip_broken: bool,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// The seed of the order in which sentences are visited.
    pub seed: u64,
}

impl Default for ParserSettings {
    fn default() -> Self {
        Self {
            kinds: PartKinds::of_order(3),
            single_root: true,
            projective: false,
            pruning: PruningLimits::default(),
            epochs: 10,
            patience: None,
            training: Method::PassiveAggressive.into(),
            batch: 4,
            bits: 23,
            label_bits: 22,
            pruner_bits: 20,
            ignored: IgnoredColumns::default(),
            checkpoint: None,
            skip_broken: false,
            threads: 1,
            seed: 1,
        }
    }
}

/// A sentence to learn from.
#[derive(Debug)]
pub(crate) struct TrainingSentence {
    /// Its place among all sentences.
    pub source: usize,
    pub encoded: Encoded,
    /// The head of each word; 0 is the root.
    pub heads: Vec<usize>,
    pub labels: Vec<u32>,
    /// Candidate arcs, the right ones among them.
    pub arcs: Vec<(usize, usize)>,
}

/// What training tells as it goes.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A sentence without a proper tree was left out.
    Skipped(ParserError),
    /// The pruner is there.
    Pruned {
        /// Candidate arcs for each word, on average over the training data.
        arcs_per_word: f64,
        /// The share of right arcs among the candidates of dev, if there is one.
        recall: Option<f64>,
    },
    /// An epoch over the parts is done.
    Epoch(&'a EpochReport),
    /// An epoch over the labels is done.
    Labels(&'a EpochReport),
}

/// A parser that was just trained.
#[derive(Debug)]
pub struct TrainedParser {
    /// The model, to be written to a file.
    pub model: ModelWriter,
    /// The epoch it is from.
    pub epoch: usize,
    /// The share of right heads on dev.
    pub accuracy: Option<f64>,
}

/// The training of the parts.
struct Task<'a> {
    sentences: &'a [TrainingSentence],
    kinds: PartKinds,
    options: &'a DecoderOptions,
    bits: u32,
}

#[derive(Default)]
struct TaskWorkspace {
    parts: Parts,
    features: Features,
    numbers: Vec<u32>,
    gold: Vec<bool>,
    heads: Vec<usize>,
    decoder: Decoder,
}

impl LearnParts for Task<'_> {
    type Workspace = TaskWorkspace;

    fn workspace(&self) -> TaskWorkspace {
        TaskWorkspace { decoder: Decoder::new(self.options.clone()), ..TaskWorkspace::default() }
    }

    fn examples(&self) -> usize {
        self.sentences.len()
    }

    fn parameters(&self) -> usize {
        1 << self.bits
    }

    fn list(
        &self,
        example: usize,
        workspace: &mut TaskWorkspace,
        list: &mut PartList,
    ) -> Result<(), LearnError> {
        let TrainingSentence { encoded, heads, arcs, .. } = &self.sentences[example];
        let TaskWorkspace { parts, features, numbers, gold, .. } = workspace;
        features.load(encoded, self.kinds);
        parts
            .rebuild(encoded.words(), arcs, self.kinds, self.options.root_children)
            .map_err(LearnError::task)?;
        gold.clear();
        gold.resize(parts.len(), false);
        parts.of_tree(heads, |part| gold[part] = true);
        let arcs = arcs.len();
        let mut index = 0;
        parts.for_each(|part| {
            let is_gold = gold[index];
            list.push(f32::from(is_gold), f32::from(index < arcs && !is_gold));
            index += 1;
            numbers.clear();
            score::features(encoded, features, parts, part, numbers);
            numbers.iter().for_each(|&number| list.feature(HashKernel::index(number.into(), self.bits)));
        });
        Ok(())
    }

    fn decode(
        &self,
        _: usize,
        scores: &[f32],
        workspace: &mut TaskWorkspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let TaskWorkspace { parts, heads, decoder, .. } = workspace;
        decoder.decode(parts, scores, heads).map_err(LearnError::task)?;
        parts.of_tree(heads, |part| predicted[part] = 1.0);
        Ok(())
    }
}

/// Checks the tree of a sentence and returns its heads.
fn gold_heads(sentence: &Sentence, single_root: bool) -> Result<Vec<usize>, ParserError> {
    let broken = |problem: String| ParserError::Tree { line: sentence.line(), problem };
    if let Some(word) = (0..sentence.len()).find(|&word| sentence.head(word).is_none()) {
        return Err(broken(format!("word {} has no head", word + 1)));
    }
    let heads: Vec<usize> = sentence.heads().iter().map(|&head| head as usize).collect();
    if let Some(word) = heads.iter().position(|&head| head > heads.len()) {
        return Err(broken(format!("word {} has a head outside the sentence", word + 1)));
    }
    // Each word is followed upwards once; words seen on the way in another pass are known to reach the root.
    let mut seen = vec![0; heads.len() + 1];
    for start in 1..=heads.len() {
        let mut at = start;
        while at > 0 && seen[at] == 0 {
            seen[at] = start;
            at = heads[at - 1];
        }
        if at > 0 && seen[at] == start {
            return Err(broken(format!("word {at} stands in a cycle")));
        }
    }
    let roots = heads.iter().filter(|&&head| head == 0).count();
    if single_root && roots > 1 {
        return Err(broken(format!("{roots} words depend on the root, where one may")));
    }
    Ok(heads)
}

/// Trains a parser; `progress` hears of each step.
pub fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: &ParserSettings,
    progress: &mut dyn FnMut(Progress<'_>),
    interrupt: Option<&AtomicBool>,
) -> Result<TrainedParser, ParserError> {
    let mut training = settings.training.clone();
    if training.algorithm() == Method::PassiveAggressive {
        training = training.or(Parameter::COST_AUGMENTED, 1.0)?.or(Parameter::C, 0.01)?;
    }
    if settings.projective && !settings.kinds.is_first_order() {
        return Err(ParserError::Projective);
    }

    let mut names = Vec::new();
    let vocabulary = Vocabulary::gather(sentences, settings.ignored);
    let mut data = encode(sentences, settings, &vocabulary, &mut names, progress)?;
    let root_children = settings.root_children();
    let run = |shuffle: bool| Run {
        seed: settings.seed,
        threads: settings.threads,
        batch: settings.batch,
        shuffle,
        interrupt,
        ..Run::default()
    };
    let pruner_weights = prune::train(
        &data,
        root_children,
        settings.pruner_bits,
        Run { epochs: PRUNING_EPOCHS, ..run(true) },
    )?;
    let pruner = prune::with_weights(&pruner_weights, root_children)?;
    let limits = settings.pruning;
    data.par_iter_mut().try_for_each_init(PruningWorkspace::default, |workspace, sentence| {
        pruner.prune(&sentence.encoded, limits, workspace, &mut sentence.arcs)?;
        sentence.add_gold_arcs();
        Ok::<(), ParserError>(())
    })?;
    let dev = dev.map(|dev| DevSentence::all(dev, &vocabulary, &pruner, limits)).transpose()?;
    let words: usize = data.iter().map(|sentence| sentence.heads.len()).sum();
    let arcs: usize = data.iter().map(|sentence| sentence.arcs.len()).sum();
    progress(Progress::Pruned {
        arcs_per_word: arcs as f64 / words.max(1) as f64,
        recall: dev.as_deref().map(recall),
    });

    let algorithm = if settings.projective { Algorithm::Projective } else { Algorithm::Ad3 };
    let options = DecoderOptions { algorithm, root_children, ..DecoderOptions::default() };
    let task = Task { sentences: &data, kinds: settings.kinds, options: &options, bits: settings.bits };
    let mut scorer = |weights: &[f32]| {
        accuracy(dev.as_deref().unwrap_or_default(), settings.kinds, &options, weights)
            .map_err(LearnError::task)
    };
    let trained = train_online(
        &PartProblem::new(&task),
        &training,
        Run {
            epochs: settings.epochs,
            patience: settings.patience,
            checkpoint: settings.checkpoint.clone(),
            dev: if dev.is_some() { Some(&mut scorer) } else { None },
            progress: Some(&mut |report| progress(Progress::Epoch(report))),
            ..run(true)
        },
    )?;
    let label_weights = label::train(
        &data,
        names.len(),
        settings.label_bits,
        Run {
            epochs: LABEL_EPOCHS,
            progress: Some(&mut |report| progress(Progress::Labels(report))),
            batch: 1,
            // Labels take moments; a parser that was interrupted has them too.
            interrupt: None,
            ..run(true)
        },
    )?;

    let description = Settings {
        kinds: settings.kinds,
        single_root: settings.single_root,
        projective: settings.projective,
        heads: limits.heads,
        share: limits.share,
        training: settings.training.clone(),
        epoch: trained.epoch,
        accuracy: trained.best,
        sentences: data.len(),
        tokens: words,
        fingerprint: fingerprint(&data),
        ignored: settings.ignored,
        labels: names,
    };
    let mut model = ModelWriter::new(TASK, serde_json::json!(description));
    Pruner::store(&mut model, &pruner_weights);
    model.array(VOCABULARY, vocabulary.keys());
    HashKernel::store(&mut model, PARTS, &trained.weights, Precision::Half);
    HashKernel::store(&mut model, LABELS, &label_weights, Precision::Half);
    let arcs_of =
        data.iter().map(|sentence| (&sentences[sentence.source], &sentence.arcs[..], root_children));
    let strongest = inspect::strongest(&trained.weights);
    model.text(NAMES, &inspect::names(&strongest, settings.bits, settings.kinds, &vocabulary, arcs_of));
    Ok(TrainedParser { model, epoch: trained.epoch, accuracy: trained.best })
}

/// Passes over the data for the pruner.
const PRUNING_EPOCHS: usize = 3;
/// Passes over the data for the labels.
const LABEL_EPOCHS: usize = 6;

impl ParserSettings {
    fn root_children(&self) -> RootChildren {
        if self.single_root { RootChildren::One } else { RootChildren::Any }
    }
}

impl TrainingSentence {
    fn add_gold_arcs(&mut self) {
        let gold = self.heads.iter().enumerate().map(|(word, &head)| (head, word + 1));
        self.arcs.extend(gold);
        self.arcs.sort_unstable_by_key(|&(head, modifier)| (modifier, head));
        self.arcs.dedup();
    }
}

fn encode(
    sentences: &[Sentence],
    settings: &ParserSettings,
    vocabulary: &Vocabulary,
    names: &mut Vec<String>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<TrainingSentence>, ParserError> {
    let mut ids: FxHashMap<String, u32> = FxHashMap::default();
    let mut data = Vec::with_capacity(sentences.len());
    for (source, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| !sentence.is_empty()) {
        let heads = match gold_heads(sentence, settings.single_root) {
            Ok(heads) => heads,
            Err(problem) if settings.skip_broken => {
                progress(Progress::Skipped(problem));
                continue;
            }
            Err(problem) => return Err(problem),
        };
        let mut label = |word: usize| {
            let name = sentence.deprel(word);
            if let Some(&id) = ids.get(name) {
                return id;
            }
            names.push(name.to_owned());
            *ids.entry(name.to_owned()).or_insert(names.len() as u32 - 1)
        };
        let labels = (0..sentence.len()).map(&mut label).collect();
        let encoded = Encoded::new(sentence, vocabulary);
        data.push(TrainingSentence { source, encoded, heads, labels, arcs: Vec::new() });
    }
    Ok(data)
}

/// A sentence to measure on.
struct DevSentence {
    encoded: Encoded,
    arcs: Vec<(usize, usize)>,
    heads: Vec<Option<usize>>,
}

impl DevSentence {
    fn all(
        sentences: &[Sentence],
        vocabulary: &Vocabulary,
        pruner: &Pruner,
        limits: PruningLimits,
    ) -> Result<Vec<Self>, ParserError> {
        sentences
            .par_iter()
            .filter(|sentence| !sentence.is_empty())
            .map_init(PruningWorkspace::default, |workspace, sentence| {
                let encoded = Encoded::new(sentence, vocabulary);
                let heads = (0..sentence.len()).map(|word| sentence.head(word).map(|head| head as usize));
                let mut arcs = Vec::new();
                pruner.prune(&encoded, limits, workspace, &mut arcs)?;
                Ok(Self { encoded, arcs, heads: heads.collect() })
            })
            .collect()
    }
}

/// The share of right arcs that are candidates.
fn recall(dev: &[DevSentence]) -> f64 {
    let (mut kept, mut all) = (0, 0);
    for sentence in dev {
        for (word, head) in (1..).zip(&sentence.heads) {
            let Some(head) = *head else { continue };
            all += 1;
            kept += usize::from(sentence.arcs.contains(&(head, word)));
        }
    }
    f64::from(kept as u32) / f64::from(all.max(1))
}

/// The share of right heads under some weights.
fn accuracy(
    dev: &[DevSentence],
    kinds: PartKinds,
    options: &DecoderOptions,
    weights: &[f32],
) -> Result<f64, ParserError> {
    #[derive(Default)]
    struct Buffers {
        parts: Parts,
        scoring: ScoreWorkspace,
        scores: Vec<f32>,
        heads: Vec<usize>,
        decoder: Decoder,
    }
    let (right, all) = dev
        .par_iter()
        .map_init(
            || Buffers { decoder: Decoder::new(options.clone()), ..Buffers::default() },
            |Buffers { parts, scoring, scores, heads, decoder }, sentence| {
                let DevSentence { encoded, arcs, heads: gold } = sentence;
                parts.rebuild(encoded.words(), arcs, kinds, options.root_children)?;
                scoring.score(encoded, kinds, parts, weights, scores);
                decoder.decode(parts, scores, heads)?;
                let right = heads.iter().zip(gold).filter(|(head, gold)| Some(**head) == **gold).count();
                Ok::<_, ParserError>((right, gold.iter().flatten().count()))
            },
        )
        .try_reduce(|| (0, 0), |a, b| Ok((a.0 + b.0, a.1 + b.1)))?;
    Ok(right as f64 / all.max(1) as f64)
}

/// A number that other training data will not have.
fn fingerprint(data: &[TrainingSentence]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for sentence in data {
        sentence.encoded.sign(&mut fingerprint);
        sentence.heads.iter().for_each(|&head| fingerprint.number(head as u64));
    }
    fingerprint.get()
}

/// Opens a model that was just trained, without a file.
impl TrainedParser {
    /// The parser, as it will be when its file is opened.
    pub fn open(&self) -> Result<crate::Parser, ParserError> {
        crate::Parser::open(&Model::from_bytes(&self.model.to_bytes())?)
    }
}
