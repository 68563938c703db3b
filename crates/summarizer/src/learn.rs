//! How a summarizer learns: from what concepts are [worth](crate::worth) on, by the structured hinge loss
//! with stochastic subgradients and cost-augmented decoding, for three tasks that share a vector of weights
//! (Almeida & Martins 2013, §4).

use consonant_learn::LearnError;
use consonant_learn::model::Model;
use consonant_learn::multitask::TaskIndex;
use consonant_learn::names::NamedFeature;
use consonant_learn::parts::{PartList, PartMarginals, PartProblem, Parts};
use consonant_learn::trainer::{self, Method, Parameter, Run, Scorer, Training};
use consonant_task::{Data, Task as _, Trained, Watch};
use consonant_text::Document;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::SummarizerError;
use crate::constraints::Constraints;
use crate::decode::{SummarizerOptions, relaxed};
use crate::dev::Dev;
use crate::features::Features;
use crate::graph::Relaxed;
use crate::item::{Pair, SummarizerItem, Topic};
use crate::marginals::marginals;
use crate::material::Material;
use crate::model::{Summarizer, write};
use crate::parts::{Assembly, Mode, Objective, Part, sentence_features};
use crate::problem::{Compression, NONE, Problem, Scores};
use crate::references::{concept_recall, nearest_compression, oracle_summary};
use crate::summarize::best_compression;
use crate::syntax::Tree;
use crate::units::{chunks, compressible};
use crate::worth::concept_weights;

consonant_task::settings! {
    /// How to train a summarizer.
    pub struct SummarizerSettings {
        algorithm training: Training<Method> = Method::Pegasos;
        /// Passes over the data.
        epochs: usize = 10, "N" in 1.0..;
        /// Stops after so many epochs without a better dev score (default: does all epochs).
        patience: Option<usize> = None, "N";
        /// How freely an objective may differ from the shared weights; 0 ties all together.
        freedom: f32 = 1.0, "RATIO" in 0.0.., research;
        /// Begins from nothing, not from the weights that were set by hand.
        from_scratch: bool = false, "";
        /// How strongly what concepts are worth by themselves, which is learned first, is held to the weights
        /// that were set by hand; `inf` leaves that step out.
        ridge: f64 = 50.0, "STRENGTH" in 0.0..=f64::INFINITY, research;
        /// Which arcs may be cut in compressions of single sentences: those that grammar allows, or nearly
        /// all.
        constraints: Constraints = Constraints::Grammatical, "grammatical|free";
        /// How much a wrong deletion costs, next to a missing one.
        precision: f32 = 1.0, "COST" in 0.0..;
        /// For likelihood (sgd, lbfgs): keeps words that are more probable than this (default: 0.4).
        threshold: Option<f64> = None, "P" in 0.0..=1.0, research;
        /// Leaves out features that occur less often.
        min_count: u32 = 3, "N", research;
        /// Words in a concept.
        concept_size: u8 = 2, "K" in 1.0..=4.0, research;
        /// Iterations of AD3 for each topic in training.
        iterations: usize = 200, "N" in 1.0.., research;
        /// Seed of the random order of examples.
        seed: u64 = 1, "N";
    }
}

/// Examples that are decoded at once.
const BATCH: usize = 4;

/// For likelihood, words that are more probable than this are kept.
const THRESHOLD: f64 = 0.4;

/// What to learn from; any part may be empty.
struct Lessons<'d> {
    compressive: Vec<&'d Topic>,
    extractive: Vec<&'d Topic>,
    compression: Vec<&'d Pair>,
}

impl<'d> Lessons<'d> {
    fn new(data: &Data<'d, SummarizerItem>) -> Result<Self, SummarizerError> {
        let items = data.sources.iter().copied().chain(data.dev).flatten();
        items.into_iter().try_for_each(SummarizerItem::check)?;
        Ok(Self {
            compressive: data.source(0).iter().map(SummarizerItem::topic).collect::<Result<_, _>>()?,
            extractive: data.source(1).iter().map(SummarizerItem::topic).collect::<Result<_, _>>()?,
            compression: data.source(2).iter().map(SummarizerItem::pair).collect::<Result<_, _>>()?,
        })
    }

    fn topics(&self) -> impl Iterator<Item = &'d Topic> {
        self.compressive.iter().chain(&self.extractive).copied()
    }

    /// For people.
    fn describe(&self) -> Vec<String> {
        let of = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        [
            of(self.compressive.len(), "topics with compressive summaries"),
            of(self.extractive.len(), "topics with extractive summaries"),
            of(self.compression.len(), "compressed sentences"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// One training example: a problem whose parts have features and a gold share.
struct Example {
    task: Objective,
    problem: Problem,
    parts: Vec<Part>,
    gold: Vec<f32>,
    costs: Vec<f32>,
    /// The first feature of each part, and the number of features at the end.
    starts: Vec<u32>,
    features: Vec<(u32, f32)>,
    weight: f32,
}

/// All examples, and the names of their features.
struct Corpus {
    examples: Vec<Example>,
    names: Vec<String>,
    counts: Vec<u32>,
    index: TaskIndex,
    iterations: usize,
    /// The weights that training begins from.
    beginning: Vec<(String, f32)>,
}

/// The feature that stands for the weights that training begins from.
const PRIOR: &str = "beginning";

/// The weight of the hinge loss of topics, if none is given and training begins from built-in weights: a few
/// hundred topics say more about single concepts than about whole summaries, and with a usual weight they
/// undo what is there.
const GENTLE: f64 = 1e-4;

/// Learns a summarizer. Dev items score weights; the best are kept.
pub(crate) fn train(
    data: &Data<'_, SummarizerItem>,
    settings: &SummarizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, SummarizerError> {
    let lessons = Lessons::new(data)?;
    let dev = data.dev.map(Dev::new);
    let foreign: usize = lessons.topics().map(|topic| topic.foreign).sum();
    if foreign > 0 {
        watch.note(format!(
            "{foreign} documents are in other languages than the models: their sentences are taken whole"
        ));
    }
    let mut settings = settings.clone();
    let method = settings.training.algorithm();
    if method == Method::Pegasos && !settings.from_scratch && lessons.topics().next().is_some() {
        settings.training = settings.training.or(Parameter::C, GENTLE)?;
    }
    let threshold = settings.threshold.unwrap_or(THRESHOLD);
    settings.threshold = method.needs_gradient().then_some(threshold);
    let corpus = Corpus::new(&lessons, &settings)?;
    if corpus.examples.is_empty() {
        return Err(SummarizerError::NoData);
    }
    // Files have no infinity.
    settings.ridge = settings.ridge.min(f64::MAX);
    let mut initial = vec![0.0; corpus.index.parameters()];
    initial[0] = f32::from(u8::from(!settings.from_scratch));
    let (corpus, settings) = (&corpus, &settings);
    let score = |dev: &Dev<'_>, weights: &[f32]| {
        let rows = corpus.rows(weights);
        Summarizer::with_weights(settings, rows.iter().map(|(name, w)| (name.as_str(), *w)))
            .and_then(|summarizer| dev.score(&summarizer))
            .map_err(LearnError::task)
    };
    let problem = PartProblem::new(corpus);
    let run = Run {
        epochs: settings.epochs,
        patience: settings.patience,
        seed: settings.seed,
        batch: BATCH,
        initial: Some(initial),
        dev: dev.as_ref().map(|dev| Box::new(move |weights: &[f32]| score(dev, weights)) as Scorer<'_>),
        ..watch.run(None, dev.as_ref().map_or("", Dev::metric))
    };
    let trained = match method.needs_gradient() {
        true => trainer::train_differentiable(&problem, &settings.training, run)?,
        false => trainer::train(&problem, &settings.training, run)?,
    };
    let rows = corpus.rows(&trained.weights);
    let weights = rows.iter().map(|(name, weights)| (name.as_str(), *weights));
    let model = write(settings, lessons.describe(), weights);
    let mut summary = format!("epoch {}, {} features", trained.epoch, rows.len());
    if let Some(dev) = &dev {
        summary += &dev.describe(&Summarizer::open(&Model::from_bytes(&model.to_bytes())?)?)?;
    }
    Ok(Trained { model, epoch: trained.epoch, score: trained.best, summary })
}

impl Corpus {
    fn new(lessons: &Lessons<'_>, settings: &SummarizerSettings) -> Result<Self, SummarizerError> {
        let beginning = beginning(lessons, settings)?;
        let start = of_weights(&beginning, settings)?;
        let mut named: Vec<NamedExample> = Vec::new();
        for (topics, mode) in
            [(&lessons.compressive, Mode::Compressive), (&lessons.extractive, Mode::Extractive)]
        {
            let examples = topics
                .par_iter()
                .map(|topic| topic_example(topic, mode, &start))
                .collect::<Result<Vec<_>, SummarizerError>>()?;
            named.extend(examples.into_iter().flatten());
        }
        let pairs: Vec<NamedExample> =
            lessons.compression.par_iter().filter_map(|pair| pair_example(pair, settings, &start)).collect();
        named.extend(pairs);

        let freedom = [settings.freedom; 3];
        // The first feature is the score that training begins from.
        let mut corpus = Corpus {
            examples: Vec::with_capacity(named.len()),
            names: vec![PRIOR.to_string()],
            counts: vec![u32::MAX],
            index: TaskIndex::new(0, &freedom),
            iterations: settings.iterations,
            beginning,
        };
        let mut ids: FxHashMap<String, u32> = FxHashMap::default();
        let mut of_task = [0usize; 3];
        for mut example in named {
            for (feature, name) in example.example.features.iter_mut().zip(example.names) {
                let Some(name) = name else { continue };
                let next = corpus.names.len() as u32;
                feature.0 = *ids.entry(name).or_insert_with_key(|name| {
                    corpus.names.push(name.clone());
                    corpus.counts.push(0);
                    next
                });
                corpus.counts[feature.0 as usize] += 1;
            }
            of_task[example.example.task as usize] += 1;
            corpus.examples.push(example.example);
        }
        let smallest = of_task.iter().copied().filter(|&count| count > 0).min().unwrap_or(0) as f32;
        for example in &mut corpus.examples {
            // Tasks count evenly, whatever their sizes (§4: σ_k = N / N_k). Dividing by that of the smallest
            // task keeps its steps as long as they are without the others.
            example.weight *= smallest / of_task[example.task as usize] as f32;
            example.drop_features(|feature| corpus.counts[feature as usize] < settings.min_count);
        }
        corpus.index = TaskIndex::new(corpus.names.len(), &freedom);
        Ok(corpus)
    }

    /// The weights of each objective by the names of features, those of the beginning added in.
    fn rows(&self, weights: &[f32]) -> Vec<(String, [f32; 3])> {
        let tasks: Vec<Vec<f32>> =
            Objective::ALL.iter().map(|&task| self.index.task_weights(weights, task as usize)).collect();
        let mut rows: FxHashMap<&str, [f32; 3]> = FxHashMap::default();
        for (feature, name) in self.names.iter().enumerate().skip(1) {
            let row = [0, 1, 2].map(|task| tasks[task][feature]);
            if row.iter().any(|&weight| weight != 0.0) {
                rows.insert(name, row);
            }
        }
        for (name, weight) in &self.beginning {
            let row = rows.entry(name).or_default();
            row.iter_mut().enumerate().for_each(|(task, sum)| *sum += weight * tasks[task][0]);
        }
        let mut rows: Vec<(String, [f32; 3])> =
            rows.into_iter().map(|(name, row)| (name.to_string(), row)).collect();
        rows.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        rows
    }
}

/// The weights that training begins from: the built-in ones, and what concepts are worth by themselves.
fn beginning(
    lessons: &Lessons<'_>,
    settings: &SummarizerSettings,
) -> Result<Vec<(String, f32)>, SummarizerError> {
    let mut weights: Vec<(String, f32)> =
        Summarizer::built_in_weights().map(|(name, weight)| (name.to_string(), weight)).collect();
    // Topics are often given for both.
    let mut seen: FxHashSet<&[String]> = FxHashSet::default();
    let topics: Vec<&Topic> = lessons.topics().filter(|topic| seen.insert(&topic.references)).collect();
    if !settings.from_scratch && settings.ridge < f64::MAX {
        let built_in = of_weights(&weights, settings)?;
        weights.extend(concept_weights(&topics, &built_in, settings.ridge, settings.min_count));
    }
    Ok(weights)
}

/// A summarizer with the same weights for all objectives.
fn of_weights(
    weights: &[(String, f32)],
    settings: &SummarizerSettings,
) -> Result<Summarizer, SummarizerError> {
    let settings = SummarizerSettings::new().concept_size(settings.concept_size);
    Summarizer::with_weights(&settings, weights.iter().map(|(name, weight)| (name.as_str(), [*weight; 3])))
}

/// An example whose features still have names; the score that training begins from has none.
struct NamedExample {
    example: Example,
    names: Vec<Option<String>>,
}

impl NamedExample {
    fn new(task: Objective, problem: Problem) -> Self {
        let example = Example {
            task,
            problem,
            parts: Vec::new(),
            gold: Vec::new(),
            costs: Vec::new(),
            starts: vec![0],
            features: Vec::new(),
            weight: 1.0,
        };
        NamedExample { example, names: Vec::new() }
    }

    fn push(
        &mut self,
        start: &Summarizer,
        part: Part,
        gold: f32,
        cost: f32,
        list: &mut dyn FnMut(&mut Features<'_>),
    ) {
        let example = &mut self.example;
        example.parts.push(part);
        example.gold.push(gold);
        example.costs.push(cost);
        let prior = start.score(example.task, |features| list(features));
        example.features.push((0, prior as f32));
        self.names.push(None);
        let mut named: Vec<NamedFeature> = Vec::new();
        list(&mut Features::new(&mut named));
        for NamedFeature { value, name, .. } in named {
            example.features.push((0, value));
            self.names.push(Some(name));
        }
        example.starts.push(example.features.len() as u32);
    }
}

impl Example {
    fn drop_features(&mut self, is_dropped: impl Fn(u32) -> bool) {
        let mut kept = Vec::with_capacity(self.features.len());
        let mut starts = vec![0];
        for part in 0..self.parts.len() {
            let range = self.starts[part] as usize..self.starts[part + 1] as usize;
            kept.extend(self.features[range].iter().copied().filter(|&(feature, _)| !is_dropped(feature)));
            starts.push(kept.len() as u32);
        }
        (self.features, self.starts) = (kept, starts);
    }

    /// Puts the scores of parts where they belong.
    fn load(&self, scores: &[f32], out: &mut Scores) {
        *out = Scores::zeros(&self.problem);
        self.parts.iter().zip(scores).for_each(|(&part, &score)| *out.of(part) = f64::from(score));
    }

    /// How much of each part a relaxed solution has.
    fn shares(&self, relaxed: &Relaxed, out: &mut [f32]) {
        for (share, &part) in out.iter_mut().zip(&self.parts) {
            *share = match part {
                Part::Concept(concept) => relaxed.concepts[concept],
                Part::Lead(unit) => relaxed.leads[unit],
                Part::Sentence(sentence) => relaxed.sentences[sentence],
                Part::Follower(unit) => relaxed.units[unit],
                Part::Deletion(unit) => {
                    let start = self.problem.starts[self.problem.sentence_of(unit as u32)] as usize;
                    let parent = start + self.problem.units[unit].parent as usize;
                    relaxed.units[parent] - relaxed.units[unit] + relaxed.leads[unit]
                }
            } as f32;
        }
    }
}

/// A choice of units as a solution with whole parts.
fn integral(problem: &Problem, chosen: &[bool]) -> Relaxed {
    let one = |on: bool| on as u8 as f64;
    let mut relaxed = Relaxed {
        sentences: vec![0.0; problem.sentences()],
        units: chosen.iter().map(|&on| one(on)).collect(),
        leads: vec![0.0; chosen.len()],
        concepts: (0..problem.concepts())
            .map(|concept| one(problem.occurrences_of(concept).any(|o| problem.is_covered(o, chosen))))
            .collect(),
    };
    for sentence in 0..problem.sentences() {
        if let Compression::Under(top) = problem.top_of(sentence, chosen) {
            relaxed.sentences[sentence] = 1.0;
            if top > 0 {
                relaxed.leads[problem.starts[sentence] as usize + top] = 1.0;
            }
        }
    }
    relaxed
}

/// A topic as an example; nothing if there is nothing to learn from it.
fn topic_example(
    topic: &Topic,
    mode: Mode,
    start: &Summarizer,
) -> Result<Option<NamedExample>, SummarizerError> {
    let task = Objective::from(mode);
    let limits = topic.options(&SummarizerOptions::new()).limits();
    let mut material = Material::new(&topic.documents, start.concept_size());
    let scores = start.concept_scores(&material, task);
    let assembly = Assembly::new(&topic.documents, &material, &scores, mode, limits);
    let worth = concept_recall(&mut material, &topic.references);
    let chosen = oracle_summary(&assembly, &worth)?;
    let gold = integral(&assembly.problem, &chosen);
    let worth: Vec<f64> = assembly.concepts.iter().map(|&concept| worth[concept as usize]).collect();
    let reached: f64 = gold.concepts.iter().zip(&worth).map(|(gold, worth)| gold * worth).sum();
    if reached <= 0.0 {
        return Ok(None);
    }
    let mut named = NamedExample::new(task, assembly.problem.clone());
    let share = 1.0 / gold.concepts.iter().sum::<f64>() as f32;
    assembly.features(&topic.documents, &material, |part, list| {
        // Concept recall: what the prediction does not cover costs its share of what the oracle reaches.
        // Deletions that the oracle does not make cost as much as a concept of average worth (precision of
        // arc deletions).
        let (in_gold, cost) = match part {
            Part::Concept(concept) => (gold.concepts[concept] as f32, -(worth[concept] / reached) as f32),
            Part::Lead(unit) => (gold.leads[unit] as f32, share * (1.0 - gold.leads[unit] as f32)),
            Part::Sentence(sentence) => (gold.sentences[sentence] as f32, 0.0),
            Part::Follower(unit) => (gold.units[unit] as f32, 0.0),
            Part::Deletion(_) => (0.0, 0.0),
        };
        named.push(start, part, in_gold, cost, list);
    });
    let example = &mut named.example;
    let mut shares = vec![0.0; example.parts.len()];
    example.shares(&gold, &mut shares);
    for (part, share_of_gold) in shares.into_iter().enumerate() {
        example.gold[part] = share_of_gold;
        if matches!(example.parts[part], Part::Deletion(_)) {
            example.costs[part] = share * (1.0 - share_of_gold);
        }
    }
    example.weight = share;
    Ok(Some(named))
}

/// A compression as an example; nothing for a sentence without a tree or with nothing to decide.
fn pair_example(pair: &Pair, settings: &SummarizerSettings, start: &Summarizer) -> Option<NamedExample> {
    let tree = Tree::new(&pair.sentence)?;
    let document = Document::from_sentences(vec![pair.sentence.clone()]);
    let places = document.word_places(0);
    let units = compressible(&tree, &chunks(&document, 0, &places), settings.constraints);
    if units.units.len() < 2 || !pair.keep.iter().any(|&keep| keep) {
        return None;
    }
    let (problem, chosen) = nearest_compression(&units, &pair.keep);
    let gold = integral(&problem, &chosen);
    let mut lengths = vec![0f32; units.units.len()];
    units.unit_of.iter().filter(|&&unit| unit != NONE).for_each(|&unit| lengths[unit as usize] += 1.0);
    for unit in (1..lengths.len()).rev() {
        lengths[units.units[unit].parent as usize] += lengths[unit];
    }
    let total = lengths[0].max(1.0);
    let mut named = NamedExample::new(Objective::Compression, problem);
    sentence_features(&tree, &units, 0, None, &mut |part, list| named.push(start, part, 0.0, 0.0, list));
    let example = &mut named.example;
    let mut shares = vec![0.0; example.parts.len()];
    example.shares(&gold, &mut shares);
    for (part, share) in shares.into_iter().enumerate() {
        example.gold[part] = share;
        let unit = match example.parts[part] {
            Part::Deletion(unit) | Part::Lead(unit) => unit,
            _ => continue,
        };
        // Errors count by the words they concern: a wrong deletion loses a subtree.
        let words = match example.parts[part] {
            Part::Lead(_) => total - lengths[unit],
            _ => lengths[unit],
        };
        let words = words.max(1.0).sqrt();
        example.costs[part] = if share > 0.5 { -words } else { settings.precision * words };
    }
    example.weight = 1.0 / total.sqrt();
    Some(named)
}

impl Parts for Corpus {
    type Workspace = Scores;

    fn workspace(&self) -> Scores {
        Scores::default()
    }

    fn examples(&self) -> usize {
        self.examples.len()
    }

    fn parameters(&self) -> usize {
        self.index.parameters()
    }

    fn list(&self, example: usize, _: &mut Scores, parts: &mut PartList) -> Result<(), LearnError> {
        let example = &self.examples[example];
        for part in 0..example.parts.len() {
            parts.push(example.gold[part], example.costs[part]);
            let range = example.starts[part] as usize..example.starts[part + 1] as usize;
            for &(feature, value) in &example.features[range] {
                for (index, value) in self.index.expand(example.task as usize, feature, value) {
                    if value != 0.0 {
                        parts.feature_with(index, value);
                    }
                }
            }
        }
        Ok(())
    }

    fn decode(
        &self,
        example: usize,
        scores: &[f32],
        workspace: &mut Scores,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let example = &self.examples[example];
        let problem = &example.problem;
        example.load(scores, workspace);
        let solution = match example.task {
            Objective::Compression => integral(problem, &best_compression(problem, workspace, usize::MAX)),
            _ => relaxed(problem, workspace, self.iterations).map_err(LearnError::task)?,
        };
        example.shares(&solution, predicted);
        Ok(())
    }

    fn weight(&self, example: usize) -> f32 {
        self.examples[example].weight
    }
}

impl PartMarginals for Corpus {
    /// Probabilities for single sentences. The sum over all summaries of a topic is out of reach; its
    /// greatest term stands for it, as in a perceptron.
    fn marginals(
        &self,
        example: usize,
        scores: &[f32],
        workspace: &mut Scores,
        shares: &mut [f32],
    ) -> Result<f64, LearnError> {
        if self.examples[example].task != Objective::Compression {
            self.decode(example, scores, workspace, shares)?;
            let values = scores.iter().zip(shares.iter());
            return Ok(values.map(|(&score, &share)| f64::from(score) * f64::from(share)).sum());
        }
        let example = &self.examples[example];
        example.load(scores, workspace);
        let (relaxed, sum) = marginals(&example.problem, workspace);
        example.shares(&relaxed, shares);
        Ok(sum)
    }
}
