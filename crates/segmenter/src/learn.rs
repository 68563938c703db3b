//! How a segmenter learns: a treebank's text is put together again, and the gaps between its atoms are labelled.

use std::sync::atomic::AtomicBool;

use consonant_learn::hash::Fingerprint;
use consonant_learn::model::ModelWriter;
use consonant_learn::table::Precision;
use consonant_learn::trainer::Parameter;
use consonant_learn::trainer::{EpochReport, Run, Stop};
use consonant_sequence::inference::Candidates;
use consonant_sequence::{
    Algorithm, CorpusBuilder, CorpusOptions, Dev, Pairs, Training, train as train_chain,
};
use consonant_text::Sentence;
use rustc_hash::FxHashMap;

use crate::SegmenterError;
use crate::atoms::{Atom, Atoms, Class, Cuts, Space, cut_key};
use crate::features::Extractor;
use crate::model::{Settings, store};
use crate::parts::{Gap, Passage, SegmentationScore};
use crate::statistics::{Statistics, StatisticsBuilder};
use crate::words::Multiwords;

/// A run of letters is cut where it was cut in more than half of its occurrences, and so often at least.
const LEAST_CUTS: u32 = 2;
/// Sequences are no longer than this in training: updates come more often.
const LONGEST: usize = 400;

/// How to train a segmenter. The defaults are good for every treebank.
#[derive(Debug, Clone)]
pub struct SegmenterSettings {
    /// The algorithm and its parameters.
    pub training: Training,
    /// How many labels back the chain looks.
    pub order: usize,
    /// Features that occur less often get no weight.
    pub min_count: u32,
    /// Passes over the data (iterations, for L-BFGS); `None`: what suits the algorithm.
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better dev score.
    pub patience: usize,
    /// How weights are stored.
    pub precision: Precision,
    /// Threads; they change the time and nothing else.
    pub threads: usize,
    /// Seed of the random order of paragraphs.
    pub seed: u64,
}

impl Default for SegmenterSettings {
    fn default() -> Self {
        Self {
            training: Algorithm::AveragedPerceptron.into(),
            order: 1,
            min_count: 1,
            epochs: None,
            patience: 3,
            precision: Precision::Single,
            threads: 1,
            seed: 1,
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
    /// The score on dev; what lies inside of atoms is not counted.
    pub score: Option<SegmentationScore>,
    /// Why training ended.
    pub stop: Stop,
}

/// Trains on sentences in the order of their text; `progress` hears of each epoch, `interrupt` ends training at the next
/// example.
pub fn train(
    sentences: &[Sentence],
    dev: Option<&[Sentence]>,
    settings: &SegmenterSettings,
    progress: &mut dyn FnMut(&EpochReport),
    interrupt: Option<&AtomicBool>,
) -> Result<Trained, SegmenterError> {
    let passages = Passage::read(sentences);
    let cuts = find_cuts(&passages);
    let inner_spaces = passages.iter().any(Passage::has_inner_spaces);
    let mut reader =
        Reader { extractor: Extractor::default(), statistics: None, atoms: Vec::new(), gaps: Vec::new() };
    let statistics = reader.statistics(&passages, &cuts);
    reader.statistics = Some(statistics.clone());

    let options = CorpusOptions {
        order: settings.order,
        min_count: settings.min_count,
        pairs: Pairs::All,
        ..CorpusOptions::default()
    };
    let mut builder = CorpusBuilder::new(options);
    let mut gaps = 0;
    let mut features = 0;
    for passage in &passages {
        let mut length = 0;
        reader.gaps(passage, &cuts, |gap, _, keys| {
            if length == 0 {
                builder.begin(1.0);
            }
            builder.token(Some(gap.name()), keys, &[], &[]);
            (gaps, length, features) = (gaps + 1, length + 1, features + keys.len());
            if length >= LONGEST && gap == Gap::Sentence {
                builder.end();
                length = 0;
            }
        });
        if length > 0 {
            builder.end();
        }
    }
    if gaps == 0 {
        return Err(SegmenterError::NoBoundaries);
    }
    let corpus = builder.finish()?;
    let labels: Vec<Gap> = corpus.labels().names().iter().filter_map(|name| Gap::from_name(name)).collect();
    let ends: Vec<u32> =
        (0u32..).zip(&labels).filter(|(_, gap)| **gap != Gap::Join).map(|(label, _)| label).collect();

    let mut encoder = corpus.encoder();
    let (mut gold, mut candidates) = (Vec::new(), Vec::new());
    for passage in &Passage::read(dev.unwrap_or_default()) {
        encoder.begin();
        let mut allowed = Candidates::new();
        let mut failure = Ok(());
        let mut golden = Vec::new();
        reader.gaps(passage, &cuts, |gap, space, keys| {
            golden.push(gap);
            if space == Space::None || inner_spaces || ends.is_empty() {
                allowed.push_all();
            } else {
                allowed.push(&ends);
            }
            let added = encoder.token(Some(gap.name()), keys, &[], &[]);
            if failure.is_ok() {
                failure = added;
            }
        });
        failure?;
        encoder.end();
        gold.push(golden);
        candidates.push(allowed);
    }
    let dev_sentences = encoder.finish();
    let measure = |paths: &[Vec<u32>]| {
        let mut score = SegmentationScore::default();
        for (gold, path) in gold.iter().zip(paths) {
            score.add(gold, path.iter().map(|&label| labels[label as usize]));
        }
        score
    };
    let mut metric = |paths: &[Vec<u32>]| {
        let score = measure(paths);
        (score.tokens() + score.sentences()) / 2.0
    };

    let margin = (MARGIN * features as f64 / f64::from(gaps)).round();
    let training = settings.training.clone().or(Parameter::MARGIN, margin)?;
    let algorithm = training.algorithm();
    let run = Run {
        epochs: settings.epochs.unwrap_or(if algorithm.is_batch() { 200 } else { 20 }),
        patience: dev.is_some().then_some(settings.patience),
        shuffle: !algorithm.is_batch(),
        seed: settings.seed,
        threads: settings.threads,
        progress: Some(progress),
        interrupt,
        ..Run::default()
    };
    let held = dev.is_some().then_some(Dev {
        sentences: &dev_sentences,
        candidates: Some(&candidates),
        metric: Some(&mut metric),
    });
    let trained = train_chain(&corpus, &training.clone().into(), held, run)?;
    let score = match dev {
        Some(_) => Some(measure(&trained.predict(&dev_sentences, Some(&candidates), None)?)),
        None => None,
    };
    let described = Settings {
        training,
        epoch: trained.epoch,
        tokens_f1: score.map(|score| score.tokens()),
        sentences_f1: score.map(|score| score.sentences()),
        sentences: sentences.len(),
        tokens: passages.iter().map(|passage| passage.tokens.len()).sum(),
        seed: settings.seed,
        fingerprint: fingerprint(&passages),
        inner_spaces,
    };
    let mut model = store(&described, &statistics, &Multiwords::learn(sentences), &cuts);
    trained.store(&mut model, settings.precision);
    Ok(Trained { model, epoch: trained.epoch, score, stop: trained.stop })
}

/// The margin of a perceptron, in features of a gap: how much a single update moves a score.
const MARGIN: f64 = 0.5;

/// Gaps and features of paragraphs, with buffers that are reused.
struct Reader {
    extractor: Extractor,
    statistics: Option<Statistics>,
    atoms: Vec<Atom>,
    gaps: Vec<Gap>,
}

impl Reader {
    fn statistics(&mut self, passages: &[Passage], cuts: &Cuts) -> Statistics {
        let mut builder = StatisticsBuilder::default();
        let mut keys = Vec::new();
        for passage in passages {
            self.read(passage, cuts);
            keys.clear();
            keys.extend(self.atoms.iter().map(|atom| self.extractor.low(atom.of(&passage.text))));
            builder.add(&passage.text, &self.atoms, |at| keys[at]);
        }
        builder.finish()
    }

    fn read(&mut self, passage: &Passage, cuts: &Cuts) {
        self.atoms.clear();
        self.atoms.extend(Atoms::new(&passage.text, 0, cuts));
    }

    fn gaps(&mut self, passage: &Passage, cuts: &Cuts, mut gap: impl FnMut(Gap, Space, &[u64])) {
        self.read(passage, cuts);
        let Some(statistics) = &self.statistics else { return };
        self.extractor.load(&passage.text, &self.atoms, statistics);
        passage.gaps(&self.atoms, &mut self.gaps);
        let mut keys = Vec::new();
        for (at, &gold) in self.gaps.iter().enumerate() {
            self.extractor.features(at, &mut keys);
            gap(gold, self.atoms[at].space, &keys);
        }
    }
}

/// The runs of letters that tokens end in the middle of.
fn find_cuts(passages: &[Passage]) -> Cuts {
    let none = Cuts::default();
    let mut counts: FxHashMap<u64, (u32, FxHashMap<u32, u32>)> = FxHashMap::default();
    for passage in passages {
        let mut token = 0;
        for atom in Atoms::new(&passage.text, 0, &none).filter(|atom| atom.class == Class::Letter) {
            let mut mask = 0u32;
            while token < passage.tokens.len() && passage.tokens[token].end < atom.end {
                let end = passage.tokens[token].end;
                if end > atom.start {
                    let characters = passage.text[atom.start..end].chars().count();
                    mask |= u32::try_from(characters).ok().and_then(|bit| 1u32.checked_shl(bit)).unwrap_or(0);
                }
                token += 1;
            }
            let (all, cuts) = counts.entry(cut_key(atom.of(&passage.text))).or_default();
            *all += 1;
            if mask != 0 {
                *cuts.entry(mask).or_default() += 1;
            }
        }
    }
    let chosen = counts.into_iter().filter_map(|(key, (all, cuts))| {
        let (mask, often) = cuts.into_iter().max_by_key(|&(mask, often)| (often, mask))?;
        (often >= LEAST_CUTS && 10 * often >= all).then_some((key, mask))
    });
    chosen.collect()
}

/// A number that other training data will not have.
fn fingerprint(passages: &[Passage]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for passage in passages {
        fingerprint.text(&passage.text);
        for (token, &end) in passage.tokens.iter().zip(&passage.ends) {
            fingerprint.number((token.end as u64) << 1 | u64::from(end));
        }
    }
    fingerprint.get()
}
