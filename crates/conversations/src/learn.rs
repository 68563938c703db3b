//! Training: links that are decoded together are learned together.

use std::borrow::Cow;

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::model::ModelWriter;
use consonant_learn::names::{FeatureNames, FeatureSink, strongest_numbers};
use consonant_learn::parts::{PartList, PartProblem, Parts};
use consonant_learn::table::{HashKernel, Precision};
use consonant_learn::trainer::{Method, Parameter, Run, Scorer, Training, train as train_online};
use consonant_task::{Data, Trained, Watch};
use consonant_text::evaluate::LinkScores;
use consonant_text::jsonl::{Fault, Record, Thread};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::LinkerError;
use crate::conversation::{Conversation, DAY, minutes};
use crate::features::{self, WordNames};
use crate::model::{Description, Shape, TASK, WEIGHTS, Workspace};
use crate::parts::{Constraint, GraphKind, LinkParts};
use crate::words::Vocabulary;

consonant_task::names! {
    /// How many links a source may have, or that the training data shall tell.
    pub enum Links {
        /// What holds for nearly all sources of the training data.
        Auto = "auto",
        /// [`Constraint::Any`].
        Any = "any",
        /// [`Constraint::AtMostOne`].
        AtMostOne = "at-most-one",
        /// [`Constraint::AtLeastOne`].
        AtLeastOne = "at-least-one",
        /// [`Constraint::ExactlyOne`].
        ExactlyOne = "exactly-one",
    }
}

impl Links {
    /// The constraint, if it is named.
    pub fn constraint(self) -> Option<Constraint> {
        self.name().parse().ok()
    }
}

impl From<Constraint> for Links {
    fn from(constraint: Constraint) -> Self {
        constraint.name().parse().unwrap_or(Self::Auto)
    }
}

consonant_task::settings! {
    /// How a model of links is trained.
    pub struct LinkerSettings {
        algorithm training: Training<Method> = Method::PassiveAggressive;
        /// What is decided together: nothing (pairs), neighbouring links (grid), or triples of them as well: in columns, or
        /// all, as in the paper.
        graph: GraphKind = GraphKind::Triples, "pairs|grid|triples|all-triples";
        /// How many earlier messages a message answers: any, at-most-one, at-least-one, exactly-one, or what
        /// holds for nearly all messages of the training data (auto).
        constraint: Links = Links::Auto, "LINKS" as "links";
        /// How many messages back a link may reach; memory and time grow with it.
        window: usize = 64, "N" in 1.0..=100_000.0;
        /// Mixes so many conversations in a row into one, by their times: the log of a channel has several at
        /// once, and messages that answer nobody.
        mixed: usize = 1, "N" in 1.0..=1000.0;
        /// Passes over the data at most.
        epochs: usize = 20, "N" in 1.0..;
        /// Stops after so many epochs without better links on dev.
        patience: usize = 4, "N";
        /// Conversations that are decoded with the same weights, in parallel.
        batch: usize = 4, "N" in 1.0.., research;
        /// Weights, as a power of two.
        bits: u32 = 21, "N" in 8.0..=30.0, research;
        /// Stores weights in half precision.
        half: bool = false, "";
        /// Seed of the random order of conversations.
        seed: u64 = 1, "N";
    }
}

struct Example {
    conversation: Conversation,
    links: Vec<(usize, usize)>,
}

/// The training problem.
struct Learning<'a> {
    examples: &'a [Example],
    shape: Shape,
    bits: u32,
}

/// Buffers of a training, where the search by rows is tried first.
fn workspace() -> Workspace {
    let mut workspace = Workspace::default();
    workspace.decoder.rows_first = true;
    workspace
}

impl Parts for Learning<'_> {
    type Workspace = Workspace;

    fn workspace(&self) -> Workspace {
        workspace()
    }

    fn examples(&self) -> usize {
        self.examples.len()
    }

    fn parameters(&self) -> usize {
        1 << self.bits
    }

    fn list(&self, example: usize, workspace: &mut Workspace, list: &mut PartList) -> Result<(), LearnError> {
        let Example { conversation, links } = &self.examples[example];
        let Workspace { parts, contexts, keys, present, .. } = workspace;
        self.shape.lay_out(conversation, parts, contexts);
        mark(parts, links, present);
        let mut gold = vec![false; parts.len()];
        parts.of_links(present, |part| gold[part] = true);
        keys.clear();
        features::for_each_part(conversation, contexts, parts, &WordNames::default(), keys, |part, keys| {
            // A wrong link costs one, and so does a missing one.
            let cost = match gold[part] {
                _ if part >= parts.links().len() => 0.0,
                true => -1.0,
                false => 1.0,
            };
            list.push(f32::from(gold[part]), cost);
            keys.iter().for_each(|&key| list.feature(HashKernel::index(key, self.bits)));
            keys.clear();
        });
        Ok(())
    }

    fn decode(
        &self,
        _: usize,
        scores: &[f32],
        workspace: &mut Workspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let Workspace { parts, decoder, present, .. } = workspace;
        decoder.decode(parts, scores, present).map_err(LearnError::task)?;
        parts.of_links(present, |part| predicted[part] = 1.0);
        Ok(())
    }
}

/// Marks the links that are given and possible.
fn mark(parts: &LinkParts, links: &[(usize, usize)], present: &mut Vec<bool>) {
    present.clear();
    present.resize(parts.links().len(), false);
    for &(source, target) in links {
        if let Some(link) = parts.link(source, target) {
            present[link] = true;
        }
    }
}

/// Turns conversations into parts with features, and these into a model.
pub(crate) fn train(
    data: &Data<'_, Thread>,
    settings: &LinkerSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, LinkerError> {
    let (threads, dev) = (data.items(), data.dev);
    let training = suited(settings.training.clone())?;
    threads.iter().chain(dev.unwrap_or_default()).try_for_each(check)?;
    let threads = &*mix(threads, settings.mixed);
    let dev = dev.map(|dev| mix(dev, settings.mixed));
    let counts = LinkCounts::of(threads, settings.window);
    if counts.links == 0 {
        return Err(LinkerError::NoLinks { conversations: threads.len() });
    }
    let constraint = settings.constraint.constraint().unwrap_or_else(|| counts.usual());
    watch.note(counts.describe(constraint));

    let vocabulary = Vocabulary::gather(threads);
    let read = |thread: &Thread| Example {
        conversation: Conversation::new(thread, &vocabulary),
        links: different_links(thread),
    };
    let examples: Vec<Example> = threads.iter().filter(|thread| thread.units.len() > 1).map(read).collect();
    let dev: Option<Vec<Example>> = dev.map(|dev| dev.iter().map(read).collect());
    let (window, bits) = (settings.window, settings.bits);
    let shape = Shape { graph: settings.graph, constraint, window };
    let scorer = |dev| -> Scorer<'_> {
        Box::new(move |weights| evaluate(dev, shape, bits, weights).map_err(LearnError::task))
    };
    let run = Run {
        epochs: settings.epochs,
        patience: Some(settings.patience),
        seed: settings.seed,
        batch: settings.batch,
        dev: dev.as_deref().map(scorer),
        ..watch.run(None, "F1")
    };
    let learning = Learning { examples: &examples, shape, bits };
    let trained = train_online(&PartProblem::new(&learning), &training, run)?;

    let description = Description {
        settings: settings.clone().constraint(constraint),
        epoch: trained.epoch,
        f1: trained.best,
        conversations: threads.len(),
        units: counts.units,
        links: counts.links,
        fingerprint: fingerprint(&examples),
    };
    let mut model = ModelWriter::new(TASK, serde_json::json!(description));
    vocabulary.store(&mut model);
    let precision = if settings.half { Precision::Half } else { Precision::Single };
    HashKernel::store(&mut model, WEIGHTS, &trained.weights, precision);
    let names = strongest_names(threads, &examples, shape, bits, &trained.weights);
    FeatureNames::store(&mut model, WEIGHTS, names.iter().map(|(key, name)| (*key, name.as_str())));
    let f1 = trained.best.map_or(String::new(), |f1| format!(", link F1 on dev {:.2}", 100.0 * f1));
    let summary = format!("epoch {}{f1}", trained.epoch);
    Ok(Trained { model, epoch: trained.epoch, score: trained.best, summary })
}

/// Conversations of which `count` in a row are one, their messages ordered by time.
fn mix(threads: &[Thread], count: usize) -> Cow<'_, [Thread]> {
    if count < 2 {
        return threads.into();
    }
    let mixed = threads.chunks(count).map(|chunk| {
        // Message by message from the conversation whose next one is the earliest; clocks pass midnight.
        let mut all: Vec<(u32, usize, usize)> = Vec::new();
        for (number, thread) in chunk.iter().enumerate() {
            let mut now = 0;
            for (unit, said) in thread.units.iter().enumerate() {
                let minutes = said.time.as_deref().and_then(minutes).unwrap_or(now % DAY);
                now += (minutes + DAY - now % DAY) % DAY;
                all.push((now, number, unit));
            }
        }
        all.sort_unstable();
        let places: FxHashMap<(usize, usize), usize> =
            all.iter().enumerate().map(|(place, &(_, number, unit))| ((number, unit), place)).collect();
        let mut thread = Thread::new(&chunk[0].id);
        thread.units = all.iter().map(|&(_, number, unit)| chunk[number].units[unit].clone()).collect();
        for (number, own) in chunk.iter().enumerate() {
            let place = |unit| places[&(number, unit)];
            thread.links.extend(own.links.iter().map(|&(source, target)| (place(source), place(target))));
        }
        thread
    });
    mixed.collect()
}

/// The algorithm with the parameters that suit this task, unless others were asked for.
fn suited(training: Training<Method>) -> Result<Training<Method>, LearnError> {
    match training.algorithm() {
        Method::PassiveAggressive => training.or(Parameter::COST_AUGMENTED, 1.0)?.or(Parameter::C, 0.01),
        _ => training.or(Parameter::MARGIN, 1.0),
    }
}

/// Link F1 under some weights.
fn evaluate(dev: &[Example], shape: Shape, bits: u32, weights: &[f32]) -> Result<f64, LinkerError> {
    let weigh = |keys: &[u64]| keys.iter().map(|&key| weights[HashKernel::index(key, bits) as usize]).sum();
    let found: Vec<Vec<(usize, usize)>> = dev
        .par_iter()
        .map_init(workspace, |workspace, example| {
            workspace.decode(&example.conversation, shape, weigh)?;
            Ok(workspace.links())
        })
        .collect::<Result<_, LinkerError>>()?;
    let mut scores = LinkScores::default();
    for (example, found) in dev.iter().zip(found) {
        scores.conversation(example.links.iter().copied(), found);
    }
    Ok(scores.score().f1)
}

/// Readers check what they read; conversations may come from elsewhere.
fn check(thread: &Thread) -> Result<(), LinkerError> {
    thread.check().map_err(|Fault { expected, came, hint, .. }| LinkerError::Link {
        conversation: thread.id.clone(),
        expected,
        came,
        hint,
    })
}

/// The links of a conversation, each once.
fn different_links(thread: &Thread) -> Vec<(usize, usize)> {
    let mut links = thread.links.clone();
    links.sort_unstable();
    links.dedup();
    links
}

/// How many links the sources of some conversations have.
#[derive(Debug, Default)]
struct LinkCounts {
    units: usize,
    links: usize,
    out_of_window: usize,
    /// Sources with no link, with one, with more.
    sources: [usize; 3],
}

/// A constraint that fewer sources break is taken for a rule.
const EXCEPTIONS: f64 = 0.01;

impl LinkCounts {
    fn of(threads: &[Thread], window: usize) -> Self {
        let mut counts = Self::default();
        let mut by_source = Vec::new();
        for thread in threads {
            let links = different_links(thread);
            counts.units += thread.units.len();
            counts.links += links.len();
            counts.out_of_window +=
                links.iter().filter(|&&(source, target)| source - target > window).count();
            by_source.clear();
            by_source.resize(thread.units.len(), 0);
            links.iter().for_each(|&(source, _)| by_source[source] += 1);
            by_source.iter().skip(1).for_each(|&count: &usize| counts.sources[count.min(2)] += 1);
        }
        counts
    }

    /// The share of sources that satisfy a constraint.
    fn share(&self, constraint: Constraint) -> f64 {
        let [none, _, many] = self.sources;
        let all = self.sources.iter().sum::<usize>();
        let broken =
            usize::from(!constraint.allows_none()) * none + usize::from(!constraint.allows_many()) * many;
        1.0 - broken as f64 / all.max(1) as f64
    }

    /// What the data are like under a constraint, for people.
    fn describe(&self, constraint: Constraint) -> String {
        let rule = match constraint {
            Constraint::Any => "any number of links",
            Constraint::AtMostOne => "at most one link",
            Constraint::AtLeastOne => "at least one link",
            Constraint::ExactlyOne => "exactly one link",
        };
        let lost = match self.out_of_window {
            0 => String::new(),
            lost => format!("; {lost} links reach further back than the window"),
        };
        format!("{rule} a message, as {:.2}% of the training data have{lost}", 100.0 * self.share(constraint))
    }

    /// The strongest constraint that nearly all sources satisfy.
    fn usual(&self) -> Constraint {
        [Constraint::ExactlyOne, Constraint::AtLeastOne, Constraint::AtMostOne]
            .into_iter()
            .find(|&constraint| self.share(constraint) >= 1.0 - EXCEPTIONS)
            .unwrap_or(Constraint::Any)
    }
}

/// How many features keep their names, for people who inspect the model.
const NAMED: usize = 2000;

/// Counts features whose weights are strong, and keeps their names.
struct Strong<'a> {
    is_strong: &'a dyn Fn(u64) -> bool,
    found: FxHashMap<u64, (usize, String)>,
}

impl FeatureSink for Strong<'_> {
    fn put(&mut self, key: u64, _: f32, name: &dyn Fn() -> String) {
        if (self.is_strong)(key) {
            self.found.entry(key).or_insert_with(|| (0, name())).0 += 1;
        }
    }
}

/// The names of the features with the largest weights.
fn strongest_names(
    threads: &[Thread],
    examples: &[Example],
    shape: Shape,
    bits: u32,
    weights: &[f32],
) -> Vec<(u64, String)> {
    let index = |key: u64| u64::from(HashKernel::index(key, bits));
    let numbers: FxHashSet<u64> = strongest_numbers(weights, NAMED).into_iter().collect();
    let is_strong = |key: u64| numbers.contains(&index(key));
    let mut strong = Strong { is_strong: &is_strong, found: FxHashMap::default() };
    let mut words = WordNames::default();
    let (mut parts, mut contexts) = (LinkParts::default(), Vec::new());
    for (thread, example) in threads.iter().filter(|thread| thread.units.len() > 1).zip(examples) {
        thread.units.iter().for_each(|unit| words.read(&unit.text));
        let conversation = &example.conversation;
        shape.lay_out(conversation, &mut parts, &mut contexts);
        features::for_each_part(conversation, &contexts, &parts, &words, &mut strong, |_, _| ());
    }
    // Where features share a weight, the most frequent one has made it what it is.
    let mut found: Vec<(u64, usize, String)> =
        strong.found.into_iter().map(|(key, (count, name))| (key, count, name)).collect();
    found.sort_unstable_by_key(|&(key, count, _)| (index(key), std::cmp::Reverse(count), key));
    found.dedup_by_key(|(key, ..)| index(*key));
    found.into_iter().map(|(key, _, name)| (key, name)).collect()
}

/// A number that other training data will not have.
fn fingerprint(examples: &[Example]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for example in examples {
        example.conversation.sign(&mut fingerprint);
        for &(source, target) in &example.links {
            fingerprint.number(source as u64);
            fingerprint.number(target as u64);
        }
    }
    fingerprint.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_text::chat;

    #[test]
    fn mixed_conversations_keep_their_links_and_the_order_of_time() {
        let mut one = chat::read("23:50 <a> q\n23:59 <b> r\n00:04 <a> s", "1");
        let mut two = chat::read("23:55 <c> t\n00:01 <d> u\n<c> v", "2");
        (one.links, two.links) = (vec![(1, 0), (2, 0)], vec![(1, 0), (2, 1)]);
        let mixed = mix(&[one, two], 2).into_owned();
        let texts: String = mixed[0].units.iter().map(|unit| unit.text.as_str()).collect();
        assert_eq!(texts, "qtruvs");
        assert_eq!(mixed[0].links, [(2, 0), (5, 0), (3, 1), (4, 3)]);
        assert!(check(&mixed[0]).is_ok());
    }
}
