//! Training a chain by any of the algorithms.

use std::fmt;

use consonant_learn::LearnError;
use consonant_learn::hash;
use consonant_learn::model::ModelWriter;
use consonant_learn::table::Precision;
use consonant_learn::trainer::{self, EpochReport, Method, Outcome, Parameter, Run, Stop, TrainingAlgorithm};
use rayon::prelude::*;

use crate::algorithm::{Algorithm, Objective as Kind, SHUFFLE, Training, UPDATE, WIDTH};
use crate::corpus::Corpus;
use crate::decoding::{Assembly, Rule};
use crate::diagram::{Decoding, Diagram, Nota};
use crate::inference::{Candidates, TransitionMask, Update, Workspace};
use crate::objective::{EarlyUpdate, Joint, Negatives, Objective, Scaling, Ties, sentence_scores};
use crate::{Sentences, SequenceError, UNKNOWN};

/// What to train.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By which algorithm, with which parameters.
    pub training: Training,
    /// The user's own pieces instead of the algorithm's.
    pub diagram: Option<Diagram>,
    /// Forbidden label pairs.
    pub mask: Option<TransitionMask>,
}

impl From<Training> for Plan {
    fn from(training: Training) -> Self {
        Self { training, diagram: None, mask: None }
    }
}

impl Plan {
    fn diagram(&self, order: usize) -> Diagram {
        self.diagram.clone().unwrap_or_else(|| Algorithm::diagram(&self.training, order))
    }

    /// The memory that training in so many shards takes at its height, in bytes, the corpus included: an
    /// estimate to compare with what the machine has.
    pub fn memory(&self, corpus: &Corpus, shards: usize, threads: usize) -> u64 {
        let diagram = self.diagram(corpus.space.grams.order());
        let weights = (diagram.groups().len() * corpus.space.group_size()) as u64;
        let by_weight = match self.training.algorithm().method() {
            // x, gradient, both of the last step, direction, steepest descent; single copies; the history; a
            // gradient for each thread.
            Method::Lbfgs => {
                let memory = self.training.get(Parameter::MEMORY) as u64;
                6 * 8 + 2 * 4 + 8 * memory + 8 * threads.clamp(1, 8) as u64
            }
            // Values, their average and the best so far; variances.
            Method::Arow => 4 * 4,
            // Values, drift, their average and the best so far.
            _ => 3 * 4 + 8,
        };
        let by_weight = match self.training.algorithm().method() {
            // The mixture; values and drift of each shard at work, and what it touched.
            method if shards > 1 && method != Method::Lbfgs => {
                by_weight + 8 + 24 * threads.clamp(1, shards) as u64
            }
            _ => by_weight,
        };
        let grams = corpus.space.grams.grams().iter().map(|gram| 64 + 8 * gram.len() as u64).sum::<u64>();
        weights * (by_weight + 4)
            + corpus.sentences.bytes() as u64
            + 40 * corpus.keys.len() as u64
            + 2 * grams
    }
}

/// Scores predicted labels, one list for each sentence; higher is better.
pub type Metric<'a> = &'a mut dyn FnMut(&[Vec<u32>]) -> f64;

/// Data that decides when to stop.
pub struct Dev<'a> {
    /// The sentences.
    pub sentences: &'a Sentences,
    /// The labels that each sentence may have (a tag dictionary).
    pub candidates: Option<&'a [Candidates]>,
    /// What is measured; `None`: the share of right labels.
    pub metric: Option<Metric<'a>>,
}

impl fmt::Debug for Dev<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dev")
            .field("sentences", &self.sentences)
            .field("candidates", &self.candidates)
            .finish_non_exhaustive()
    }
}

/// A trained chain.
#[derive(Debug)]
pub struct TrainedChain<'a> {
    corpus: &'a Corpus,
    rule: Rule,
    /// The weights of all parameter groups.
    pub weights: Vec<f32>,
    /// The diagram that was trained.
    pub diagram: Diagram,
    /// The epoch the weights are from.
    pub epoch: usize,
    /// The best score on dev.
    pub best: Option<f64>,
    /// All epochs.
    pub history: Vec<EpochReport>,
    /// Why training ended.
    pub stop: Stop,
}

impl TrainedChain<'_> {
    /// Adds the chain to a model, to be read by [`ChainModel::open`](crate::ChainModel::open).
    pub fn store(&self, writer: &mut ModelWriter, precision: Precision) {
        crate::model::store(writer, self.corpus, &self.rule, &self.weights, precision);
    }

    /// Sets the weights of features to zero that are closer to it than `least`; weights of label n-grams
    /// stay. Small weights decide little and are most of a model.
    pub fn prune(&mut self, least: f32) {
        let (size, grams) = (self.corpus.space.group_size(), self.corpus.space.gram_start());
        for group in self.weights.chunks_exact_mut(size.max(1)) {
            group[..grams].iter_mut().filter(|weight| weight.abs() < least).for_each(|weight| *weight = 0.0);
        }
    }

    /// Predicts the labels of encoded sentences.
    pub fn predict(
        &self,
        sentences: &Sentences,
        candidates: Option<&[Candidates]>,
        mask: Option<&TransitionMask>,
    ) -> Result<Vec<Vec<u32>>, SequenceError> {
        predict(self.corpus, &self.rule, &self.weights, sentences, candidates, mask)
    }
}

/// Trains by several orders of the data and takes the mean of the weights, which one order more or less changes little. `train` is given the number of
/// an order and its seed; what is interrupted does not count, unless it is the first.
pub fn train_orders<'a, E>(
    orders: usize,
    seed: u64,
    mut train: impl FnMut(usize, u64) -> Result<TrainedChain<'a>, E>,
) -> Result<TrainedChain<'a>, E> {
    let mut trained = train(0, seed)?;
    let mut sums: Vec<f64> = trained.weights.iter().map(|&weight| f64::from(weight)).collect();
    let mut done = 1;
    while done < orders && trained.stop != Stop::Interrupted {
        let again = train(done, hash::combine(seed, done as u64))?;
        trained.stop = again.stop;
        if again.stop != Stop::Interrupted {
            sums.iter_mut().zip(&again.weights).for_each(|(sum, &weight)| *sum += f64::from(weight));
            done += 1;
        }
    }
    let means = sums.iter().map(|sum| (sum / done as f64) as f32);
    trained.weights.iter_mut().zip(means).for_each(|(weight, mean)| *weight = mean);
    Ok(trained)
}

/// Trains a chain.
pub fn train<'a>(
    corpus: &'a Corpus,
    plan: &Plan,
    dev: Option<Dev<'_>>,
    mut run: Run<'_>,
) -> Result<TrainedChain<'a>, SequenceError> {
    let algorithm = plan.training.algorithm();
    let training = Algorithm::for_method(&plan.training)?;
    let order = corpus.space.grams.order();
    let diagram = plan.diagram(order);
    diagram.check()?;
    if diagram.order() > order {
        let message = format!(
            "the diagram has factors of order {}, the corpus was made for order {order}; give the larger one",
            diagram.order()
        );
        return Err(SequenceError::Unsupported(message));
    }
    if diagram.pieces.iter().any(|piece| piece.nota.is_some()) && !algorithm.method().needs_gradient() {
        return Err(SequenceError::Unsupported(format!(
            "NOTA is a likelihood; `{}` cannot train it, use `piecewise-nota` or `sgd`",
            algorithm.name()
        )));
    }
    let mut rule = Rule::of(&diagram);
    let groups = rule.sides.len();
    // Scales are learned at the end; until then the pieces are decoded as they were trained.
    let scaled = rule.decoding == Decoding::Scaled;
    if scaled {
        rule.decoding = Decoding::Local;
    }
    let Run { epochs, patience, seed, threads, .. } = run;
    let base = || corpus.base.as_ref().map(|model| model.initial_weights(corpus, groups));
    let (pool, rule_so_far, mask) = (run.pool()?, rule.clone(), plan.mask.as_ref());
    let dev = dev.map(|Dev { sentences, candidates, mut metric }| {
        Box::new(move |weights: &[f32]| {
            let found = pool.install(|| predict(corpus, &rule_so_far, weights, sentences, candidates, mask));
            let paths = found.map_err(LearnError::task)?;
            Ok(match &mut metric {
                Some(metric) => metric(&paths),
                None => accuracy(sentences, &paths),
            })
        }) as trainer::Scorer<'_>
    });

    if plan.training.has(SHUFFLE) {
        run.shuffle &= plan.training.is_on(SHUFFLE);
    }
    let (mut initial, mut negatives, mut history) = (run.initial.take().or_else(base), None, Vec::new());
    // Earlier stages are short and come out the same each time, so only the last is worth a checkpoint; dev is measured there.
    let (mut left, mut draw_seed) = (epochs, seed);
    for stage in stages(&diagram, epochs) {
        let objective = Objective::new(corpus, &diagram, mask, draw_seed, negatives.take())?;
        let later = later_of(&history);
        let mut part = run.part(stage.epochs, initial);
        part.progress = part.progress.take().map(|hear| heard_later(hear, later));
        let trained = trainer::train_differentiable(&objective, &training, part)?;
        left -= trained.history.len();
        history.extend(trained.history.iter().map(later));
        match stage.probability {
            Some(probability) => {
                let both = diagram.pieces.iter().any(|piece| piece.nota.is_some() && piece.factors.len() > 2);
                negatives = Some(Negatives::above(corpus, &trained.weights, probability, both)?);
            }
            None => draw_seed = hash::combine(draw_seed, 1),
        }
        initial = Some(trained.weights);
    }
    let later = later_of(&history);
    let done = epochs - left;
    let checkpoint = run.checkpoint.take();
    let mut run = Run { patience, checkpoint, dev, ..run.part(left, initial) };
    run.progress = run.progress.take().map(|hear| heard_later(hear, later));
    let Outcome { weights, epoch, best, history: second, stop } = match algorithm.objective() {
        Kind::EarlyUpdate if plan.diagram.is_none() => {
            let update = match plan.training.get(UPDATE).round() as usize {
                0 => Update::Early,
                1 => Update::Latest,
                _ => Update::Most,
            };
            let beam = (plan.training.get(WIDTH) as usize, update);
            let objective = EarlyUpdate::new(corpus, beam, mask)?;
            trainer::train(&objective, &training, run)?
        }
        _ => {
            let objective = Objective::new(corpus, &diagram, mask, draw_seed, negatives)?;
            match algorithm.method().needs_gradient() {
                true => trainer::train_differentiable(&objective, &training, run)?,
                false => trainer::train(&objective, &training, run)?,
            }
        }
    };
    history.extend(second.iter().map(later));
    if scaled {
        rule.decoding = Decoding::Scaled;
        rule.scales = learn_scales(corpus, &weights, threads)?;
    }
    Ok(TrainedChain { corpus, rule, weights, diagram, epoch: epoch + done, best, history, stop })
}

/// Trains a chain of first order together with what ties its sentences, by a perceptron or another method that compares
/// gold with what is found. Returns the weights of the ties, too.
pub fn train_jointly<'a, T: Ties>(
    corpus: &'a Corpus,
    plan: &Plan,
    ties: &T,
    mut run: Run<'_>,
) -> Result<(TrainedChain<'a>, Vec<f32>), SequenceError> {
    let algorithm = plan.training.algorithm();
    if algorithm.method().needs_gradient()
        || algorithm.objective() != Kind::Likelihood
        || plan.diagram.is_some()
    {
        return Err(SequenceError::Unsupported(format!(
            "`{}` cannot train chains together with their ties; use `averaged-perceptron` or another method that decodes sentences",
            algorithm.name()
        )));
    }
    let diagram = Diagram::likelihood(1);
    let rule = Rule::of(&diagram);
    let objective = Joint::new(corpus, plan.mask.as_ref(), ties)?;
    if let Some(initial) =
        run.initial.take().or_else(|| Some(corpus.base.as_ref()?.initial_weights(corpus, 1)))
    {
        let own = std::iter::repeat_n(0.0, ties.parameters());
        run.initial = Some(initial.into_iter().chain(own).collect());
    }
    let trained = trainer::train(&objective, &Algorithm::for_method(&plan.training)?, run)?;
    let Outcome { mut weights, epoch, best, history, stop } = trained;
    let own = weights.split_off(corpus.space.group_size());
    Ok((TrainedChain { corpus, rule, weights, diagram, epoch, best, history, stop }, own))
}

/// A part of the training of NOTA that comes before the last.
struct Stage {
    epochs: usize,
    /// Wrong labels above this probability are chosen at its end; without it, samples are drawn anew.
    probability: Option<f64>,
}

fn stages(diagram: &Diagram, epochs: usize) -> Vec<Stage> {
    let nota = diagram.pieces.iter().find_map(|piece| piece.nota);
    match nota {
        // Half of the epochs at most: what it chooses is to be learned, and measured on dev.
        Some(Nota::Threshold { probability, after }) => {
            vec![Stage { epochs: after.min(epochs / 2), probability: Some(probability) }]
        }
        Some(Nota::Sampled { draws, .. }) => {
            let draws = draws.min(epochs).max(1);
            (1..draws).map(|_| Stage { epochs: epochs / draws, probability: None }).collect()
        }
        _ => Vec::new(),
    }
}

/// Counts epochs and seconds on from what was before.
fn later_of(history: &[EpochReport]) -> impl Fn(&EpochReport) -> EpochReport + Copy + use<> {
    let (done, before) = history.last().map_or((0, 0.0), |last| (last.epoch, last.seconds));
    move |report| EpochReport { epoch: report.epoch + done, seconds: report.seconds + before, ..*report }
}

fn heard_later<'h>(
    mut hear: trainer::Listener<'h>,
    later: impl Fn(&EpochReport) -> EpochReport + 'h,
) -> trainer::Listener<'h> {
    Box::new(move |report: &EpochReport| hear(&later(report)))
}

/// A few iterations are enough for so few parameters (McCallum & Sutton 2004).
const SCALE_ITERATIONS: usize = 20;

fn learn_scales(corpus: &Corpus, weights: &[f32], threads: usize) -> Result<Vec<f32>, SequenceError> {
    let training = trainer::Training::new(Method::Lbfgs).with(Parameter::C2, 0.0)?;
    let initial = Some(vec![1.0; corpus.space.labels() + 1]);
    let run = Run { epochs: SCALE_ITERATIONS, threads, initial, ..Run::default() };
    Ok(trainer::train_differentiable(&Scaling::new(corpus, weights)?, &training, run)?.weights)
}

/// The share of right labels among those that are known.
fn accuracy(sentences: &Sentences, paths: &[Vec<u32>]) -> f64 {
    let (mut right, mut all) = (0usize, 0usize);
    for (sentence, path) in paths.iter().enumerate() {
        for (found, &gold) in path.iter().zip(sentences.gold(sentence)).filter(|&(_, &gold)| gold != UNKNOWN)
        {
            right += usize::from(*found == gold);
            all += 1;
        }
    }
    right as f64 / all.max(1) as f64
}

/// Sentences that one thread decodes with one set of buffers.
const BLOCK: usize = 64;

fn predict(
    corpus: &Corpus,
    rule: &Rule,
    weights: &[f32],
    sentences: &Sentences,
    candidates: Option<&[Candidates]>,
    mask: Option<&TransitionMask>,
) -> Result<Vec<Vec<u32>>, SequenceError> {
    let (space, labels) = (&corpus.space, corpus.space.labels());
    let groups: Vec<&[f32]> = weights.chunks_exact(space.group_size()).collect();
    let gram_weights: Vec<&[f32]> = groups.iter().map(|group| space.gram_weights(group)).collect();
    let template = Assembly::new(&space.grams, labels, rule, &gram_weights, mask)?;
    let blocks: Vec<usize> = (0..sentences.len()).step_by(BLOCK).collect();
    let decode = |assembly: &mut Assembly,
                  workspace: &mut Workspace,
                  entries: &mut Vec<f32>,
                  sentence: usize|
     -> Result<Vec<u32>, SequenceError> {
        for (at, group) in groups.iter().enumerate() {
            let (nodes, edges) = (&mut assembly.nodes[at], &mut assembly.edges[at]);
            sentence_scores(corpus, (sentences, sentence), (group, 1.0), entries, nodes, edges);
        }
        assembly.assemble();
        let chain = assembly.chain()?.among(candidates.map(|candidates| &candidates[sentence]))?;
        let mut path = Vec::with_capacity(chain.len());
        workspace.viterbi(&chain, &mut path)?;
        Ok(path)
    };
    let decoded: Result<Vec<Vec<Vec<u32>>>, SequenceError> = blocks
        .into_par_iter()
        .map_init(
            || (template.clone(), Workspace::new(), Vec::new()),
            |(assembly, workspace, entries), first| {
                (first..(first + BLOCK).min(sentences.len()))
                    .map(|sentence| decode(assembly, workspace, entries, sentence))
                    .collect()
            },
        )
        .collect();
    Ok(decoded?.into_iter().flatten().collect())
}
