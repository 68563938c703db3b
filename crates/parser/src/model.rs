//! A parser on disk, and what it does with sentences.

use std::sync::Arc;
use std::time::Instant;

use consonant_learn::model::Model;
use consonant_learn::names::FeatureNames;
use consonant_learn::table::HashKernel;
use consonant_learn::trainer::{Method, TrainingAlgorithm as _};
use consonant_map::{Graph, solver};
use consonant_task::{
    Answered, Calibration, Certificate, Data, Inspection, NO_CONFIDENCE, Reads, Solver, Source, Task,
    Trained, Unit, Usage, Watch, Worker, Workers, log_odds,
};
use consonant_text::sentence::Layer;
use consonant_text::{Format, Sentence};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::decode::{TreeDecoder, TreeDecoderOptions, graph_of};
use crate::features::{Encoded, Vocabulary};
use crate::label::{self, LabelWorkspace};
use crate::learn;
use crate::parts::{PartKinds, TreeParts};
use crate::prune::long::{LONGEST, LongWorkspace};
use crate::prune::{Pruner, PruningLimits, PruningWorkspace};
use crate::score::ScoreWorkspace;
use crate::{ParserError, ParserOptions, ParserSettings};

/// The name of the task in model files.
pub const TASK: &str = "parser";
/// Nodes that the proof of a sentence's tree may cost.
const NODES: usize = 30;
pub(crate) const PARTS: &str = "parts";
pub(crate) const LABELS: &str = "labels";

/// How a parser was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    #[serde(flatten)]
    pub settings: ParserSettings,
    pub epoch: usize,
    pub accuracy: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
    pub labels: Vec<String>,
}

/// A trained parser. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Parser {
    pub(crate) description: Arc<Description>,
    kinds: PartKinds,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) pruner: Pruner,
    pub(crate) parts: HashKernel,
    pub(crate) labels: HashKernel,
    /// Strongest first.
    names: Option<FeatureNames>,
    calibration: Option<Arc<Calibration>>,
    workers: Workers<Workspace>,
}

/// The factor graph over the candidate arcs of a sentence.
#[derive(Debug)]
pub struct ParseGraph {
    /// Head (0: the root) and modifier of each variable, in order; words count from 1.
    pub arcs: Vec<(usize, usize)>,
    /// A binary variable for each arc; factors for the tree, siblings, grandparents and whatever else the parser scores.
    pub graph: Graph,
}

/// All that one thread needs.
#[derive(Default)]
struct Workspace {
    encoded: Encoded,
    pruning: PruningWorkspace,
    long: LongWorkspace,
    /// How probable the head of each word of the sentence parsed last is, by the model of single arcs.
    probabilities: Vec<f32>,
    /// Candidate modifiers of a word at most.
    modifiers: Option<usize>,
    arcs: Vec<(usize, usize)>,
    parts: TreeParts,
    scoring: ScoreWorkspace,
    scores: Vec<f32>,
    decoder: TreeDecoder,
    heads: Vec<usize>,
    labelling: LabelWorkspace,
    labels: Vec<u32>,
}

impl Workspace {
    /// The log-odds of the head of each word of the sentence parsed last.
    fn beliefs(&self) -> Vec<f32> {
        self.probabilities.iter().map(|&probability| log_odds(probability.into())).collect()
    }
}

impl Task for Parser {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "parsers";
    const ABOUT: &'static str = "Trains a dependency parser.";
    const EXAMPLE: &'static str =
        "consonant train parser --train train.conllu --dev dev.conllu --model parser.model --order 2";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Training data in CoNLL-U, with tags and trees.",
        formats: &[Format::Conllu],
    }];
    const FORMATS: &'static [Format] = &[Format::Conllu];
    const READS: Reads = Reads::Tags;
    const CONTINUES: bool = true;

    type Item = Sentence;
    type Settings = ParserSettings;
    type Options = ParserOptions;
    type Error = ParserError;

    fn algorithms() -> String {
        let online = Method::ALL.iter().filter(|method| !method.needs_gradient());
        online.map(|method| method.info().to_string()).collect()
    }

    fn check(settings: &ParserSettings) -> Result<(), Usage> {
        settings.check_together()
    }

    fn train(
        data: &Data<'_, Sentence>,
        settings: &ParserSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, ParserError> {
        learn::train(data, settings, watch)
    }

    fn open(model: &Model) -> Result<Self, ParserError> {
        let description: Description = model.settings(TASK)?;
        let settings = &description.settings;
        Ok(Self {
            kinds: settings.part_kinds(),
            pruner: Pruner::open(model, settings.root_children())?,
            parts: HashKernel::open(model, PARTS)?,
            labels: HashKernel::open(model, LABELS)?,
            names: FeatureNames::open(model, PARTS)?,
            vocabulary: Arc::new(Vocabulary::open(model, settings.ignored_columns())?),
            description: Arc::new(description),
            calibration: Calibration::open(model)?.map(Arc::new),
            workers: Workers::new(),
        })
    }

    fn decode(&self, items: &mut [Sentence], options: &ParserOptions) -> Result<Vec<Unit>, ParserError> {
        let confidence = options.confidence;
        if confidence && self.calibration.is_none() {
            return Err(Usage(NO_CONFIDENCE.to_owned()).into());
        }
        let take = || self.worker(options);
        let parse = |worker: &mut _, sentence: &mut Sentence| self.parse(sentence, worker, confidence);
        items.par_iter_mut().map_init(take, |worker, sentence| parse(worker, sentence)).collect()
    }

    /// The problem of each sentence, without those of more than 500 words; none of a parser of trees without crossing
    /// arcs, which asks for less than what the problem allows.
    fn problems(
        &self,
        items: &[Sentence],
        options: &ParserOptions,
    ) -> Option<Result<Vec<Answered>, ParserError>> {
        let is_decoded = |sentence: &&Sentence| !sentence.is_empty() && sentence.len() <= LONGEST;
        let answered = |worker: &mut Worker<'_, Workspace>, sentence: &Sentence| {
            self.score(sentence, worker)?;
            let Workspace { parts, scores, decoder, heads, .. } = &mut **worker;
            if decoder.options.projective {
                return Ok(None);
            }
            decoder.decode(parts, scores, heads)?;
            Ok(Some(parts.answered(scores, heads)))
        };
        let take = || self.worker(options);
        let all = items.par_iter().filter(is_decoded).map_init(take, answered);
        Some(all.filter_map(Result::transpose).collect())
    }

    fn calibrate(&self, items: &[Sentence]) -> Result<Option<Calibration>, ParserError> {
        let mut parsed = items.to_vec();
        let answers: Result<Vec<Vec<(f32, bool)>>, ParserError> = items
            .par_iter()
            .zip(&mut parsed)
            .map(|(gold, parsed)| {
                let mut worker = self.workers.take(Workspace::default);
                self.parse(parsed, &mut worker, false)?;
                let beliefs = if parsed.is_empty() { Vec::new() } else { worker.beliefs() };
                let beliefs = beliefs.into_iter().enumerate().filter(|(word, _)| gold.head(*word).is_some());
                Ok(beliefs.map(|(word, belief)| (belief, gold.head(word) == parsed.head(word))).collect())
            })
            .collect();
        Ok(Calibration::fit(1.0, answers?.into_iter().flatten().collect()))
    }

    fn inspect(&self, top: usize) -> Inspection {
        let row = |(weight, feature): (f32, &str)| vec![weight.into(), feature.to_owned().into()];
        Inspection::default().table(&["weight", "part and feature"], self.strongest(top).into_iter().map(row))
    }
}

impl Parser {
    /// What it reads of words besides forms and tags, in words: nothing if training ignored both.
    pub fn reads(&self) -> Vec<&'static str> {
        let ignored = self.vocabulary.ignored();
        let columns = [("lemmas", ignored.lemmas), ("features", ignored.features)];
        columns.iter().filter(|(_, is_ignored)| !is_ignored).map(|(name, _)| *name).collect()
    }

    /// Whether it can say how sure it is of heads.
    pub fn has_confidence(&self) -> bool {
        self.calibration.is_some()
    }

    /// Buffers for one thread, set up for these options.
    fn worker(&self, options: &ParserOptions) -> Worker<'_, Workspace> {
        let settings = &self.description.settings;
        let mut worker = self.workers.take(Workspace::default);
        worker.modifiers = options.modifiers;
        worker.decoder.options = TreeDecoderOptions {
            method: options.decoder.map_or(solver::Method::Ad3, |Solver(method)| method),
            projective: settings.projective && options.decoder.is_none(),
            root_children: settings.root_children(),
            nodes: NODES,
            max_iterations: None,
            first_step: options.first_step,
        };
        worker
    }

    /// The kinds of parts that it scores.
    pub fn kinds(&self) -> PartKinds {
        self.kinds
    }

    /// The labels of arcs.
    pub fn labels(&self) -> &[String] {
        &self.description.labels
    }

    /// The strongest weights of parts with their features, strongest first.
    pub fn strongest(&self, count: usize) -> Vec<(f32, &str)> {
        let named = self.names.iter().flat_map(FeatureNames::iter).take(count);
        named.map(|(number, name)| (self.parts.weight(number), name)).collect()
    }

    /// The problem that decoding a tagged sentence solves, for solvers of one's own; none for a sentence
    /// without words, or with so many (more than 500) that it is decoded by single arcs.
    pub fn graph(&self, sentence: &Sentence) -> Result<Option<ParseGraph>, ParserError> {
        if sentence.is_empty() || sentence.len() > LONGEST {
            return Ok(None);
        }
        let mut worker = self.workers.take(Workspace::default);
        self.score(sentence, &mut worker)?;
        let graph = graph_of(&worker.parts, &worker.scores, self.description.settings.root_children())?;
        Ok(Some(ParseGraph { arcs: worker.parts.arcs().to_vec(), graph }))
    }

    /// Finds the candidate arcs of a sentence with words, and scores its parts.
    fn score(&self, sentence: &Sentence, worker: &mut Workspace) -> Result<(), ParserError> {
        let Workspace { encoded, pruning, modifiers, arcs, parts, scoring, scores, .. } = worker;
        let settings = &self.description.settings;
        encoded.load(sentence, &self.vocabulary);
        let limits = PruningLimits { modifiers: *modifiers, ..settings.pruning() };
        self.pruner.prune(encoded, limits, pruning, arcs)?;
        parts.rebuild(encoded.words(), arcs, self.kinds, settings.root_children())?;
        scoring.score(encoded, self.kinds, parts, &self.parts, scores);
        Ok(())
    }

    fn parse(
        &self,
        sentence: &mut Sentence,
        worker: &mut Workspace,
        confidence: bool,
    ) -> Result<Unit, ParserError> {
        let start = Instant::now();
        if sentence.is_empty() {
            return Ok(Unit { certificate: Certificate::exact(0.0), tokens: 0 });
        }
        let is_long = sentence.len() > LONGEST;
        match is_long {
            true => worker.encoded.load(sentence, &self.vocabulary),
            false => self.score(sentence, worker)?,
        }
        let Workspace { encoded, pruning, long, probabilities, parts, scores, decoder, heads, .. } = worker;
        let mut certificate = match is_long {
            true => self.pruner.parse_long(encoded, long, heads, probabilities)?,
            false => decoder.decode(parts, scores, heads)?,
        };
        if !is_long {
            probabilities.clear();
            probabilities
                .extend(heads.iter().zip(1..).map(|(&head, modifier)| pruning.probability(head, modifier)));
        }
        let Workspace { encoded, heads, labelling, labels, .. } = worker;
        let names = &self.description.labels;
        label::label(encoded, heads, &self.labels, names.len(), labelling, labels);
        for (word, (&head, &label)) in heads.iter().zip(labels.iter()).enumerate() {
            sentence.set_head(word, Some(head as u32))?;
            sentence.set(word, Layer::Deprel, names.get(label as usize).map_or("_", String::as_str))?;
        }
        if let Some(calibration) = self.calibration.as_deref().filter(|_| confidence) {
            for (word, belief) in worker.beliefs().into_iter().enumerate() {
                let confidence = format!("{:.3}", calibration.confidence(belief));
                sentence.set_misc(word, "HeadConfidence", Some(&confidence))?;
            }
        }
        // With pruning, scoring and labelling.
        certificate.seconds = start.elapsed().as_secs_f64();
        Ok(Unit { certificate, tokens: sentence.len() })
    }
}
