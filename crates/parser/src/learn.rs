//! Training: the pruner, then the parts, then the labels.

use consonant_learn::LearnError;
use consonant_learn::hash::Fingerprint;
use consonant_learn::model::ModelWriter;
use consonant_learn::parts::{PartList, PartProblem, Parts};
use consonant_learn::table::{HashKernel, Precision};
use consonant_learn::trainer::{Run, Scorer, train as train_online};
use consonant_sequence::features::Clusters;
use consonant_task::{Data, Task, Trained, Watch, open_file};
use consonant_text::Sentence;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::decode::{TreeDecoder, TreeDecoderOptions};
use crate::features::{Encoded, Features, Vocabulary};
use crate::inspect;
use crate::label;
use crate::model::{Description, LABELS, PARTS, TASK};
use crate::parts::{PartKinds, TreeParts};
use crate::prune::{self, Pruner, PruningLimits, PruningWorkspace};
use crate::score::ScoreWorkspace;
use crate::{Parser, ParserError, ParserSettings};

/// What is measured on dev.
const METRIC: &str = "right heads";
/// Passes over the data for the pruner.
const PRUNING_EPOCHS: usize = 3;
/// Passes over the data for the labels.
const LABEL_EPOCHS: usize = 6;

/// A sentence to learn from.
#[derive(Debug)]
pub(crate) struct TrainingSentence {
    /// Its place among all sentences.
    pub source: usize,
    pub encoded: Encoded,
    /// The head of each word; 0 is the root.
    pub heads: Vec<usize>,
    pub labels: Vec<u32>,
    /// How much it counts.
    pub weight: f32,
    /// Candidate arcs, the right ones among them.
    pub arcs: Vec<(usize, usize)>,
}

/// The training of the parts.
struct TreeProblem<'a> {
    sentences: &'a [TrainingSentence],
    kinds: PartKinds,
    options: &'a TreeDecoderOptions,
    bits: u32,
}

#[derive(Default)]
struct TreeWorkspace {
    parts: TreeParts,
    features: Features,
    numbers: Vec<u32>,
    gold: Vec<bool>,
    heads: Vec<usize>,
    decoder: TreeDecoder,
}

impl Parts for TreeProblem<'_> {
    type Workspace = TreeWorkspace;

    fn workspace(&self) -> TreeWorkspace {
        TreeWorkspace { decoder: TreeDecoder::new(self.options.clone()), ..TreeWorkspace::default() }
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
        workspace: &mut TreeWorkspace,
        list: &mut PartList,
    ) -> Result<(), LearnError> {
        let TrainingSentence { encoded, heads, arcs, .. } = &self.sentences[example];
        let TreeWorkspace { parts, features, numbers, gold, .. } = workspace;
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
            features.of(encoded, parts, part, numbers);
            numbers.iter().for_each(|&number| list.feature(HashKernel::index(number.into(), self.bits)));
        });
        Ok(())
    }

    fn decode(
        &self,
        _: usize,
        scores: &[f32],
        workspace: &mut TreeWorkspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let TreeWorkspace { parts, heads, decoder, .. } = workspace;
        decoder.decode(parts, scores, heads).map_err(LearnError::task)?;
        parts.of_tree(heads, |part| predicted[part] = 1.0);
        Ok(())
    }

    fn weight(&self, example: usize) -> f32 {
        self.sentences[example].weight
    }
}

/// Checks the tree of a sentence and returns its heads, or what is wrong.
fn gold_heads(sentence: &Sentence, single_root: bool) -> Result<Vec<usize>, String> {
    if let Some(word) = (0..sentence.len()).find(|&word| sentence.head(word).is_none()) {
        return Err(format!("word {} has no head", word + 1));
    }
    let heads: Vec<usize> = sentence.heads().iter().map(|&head| head as usize).collect();
    if let Some(word) = heads.iter().position(|&head| head > heads.len()) {
        return Err(format!("word {} has a head outside the sentence", word + 1));
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
            return Err(format!("word {at} stands in a cycle"));
        }
    }
    let roots = heads.iter().filter(|&&head| head == 0).count();
    if single_root && roots > 1 {
        return Err(format!("{roots} words depend on the root, where one may"));
    }
    Ok(heads)
}

/// Turns sentences into a pruner, weights of parts and of labels.
pub(crate) fn train(
    data: &Data<'_, Sentence>,
    settings: &ParserSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, ParserError> {
    settings.check_together()?;
    let initial = data.initial.map(Parser::open).transpose()?;
    let settings = &mut match &initial {
        Some(initial) => settings.going_on_from(&initial.description.settings)?,
        None => settings.clone(),
    };
    let [part_bits, label_bits, pruner_bits] =
        settings.fit_tables(data.items().iter().map(Sentence::len).sum());
    let (sentences, kinds, root_children) = (data.items(), settings.part_kinds(), settings.root_children());
    let clusters = settings.clusters.as_ref().map(|file| {
        let path = file.path();
        Ok::<_, ParserError>(Clusters::read(
            &path.display().to_string(),
            open_file(path, data.max_unpacked)?,
        )?)
    });
    let known = initial.as_ref().map(|initial| &*initial.vocabulary);
    let vocabulary = Vocabulary::gather(sentences, settings.ignored_columns(), clusters.transpose()?, known);
    let mut labels = initial.as_ref().map_or_else(Vec::new, |initial| initial.labels().to_vec());
    let dev = data.dev;
    let mut data = encode(sentences, settings, &vocabulary, &mut labels, watch)?;
    let (seed, batch, shards) = (settings.seed, settings.batch, settings.shards);
    // The pruner takes moments: nobody hears of its epochs, and there is nothing to go on from. That of a model stays.
    let pruner_weights = match &initial {
        Some(initial) => initial.pruner.weights(),
        None => {
            let run = Run {
                epochs: PRUNING_EPOCHS,
                seed,
                batch,
                shards,
                checkpoint: None,
                progress: None,
                ..watch.run(Some("pruner"), METRIC)
            };
            prune::train(&data, root_children, pruner_bits, run)?
        }
    };
    let pruner = prune::with_weights(&pruner_weights, root_children)?;
    let limits = settings.pruning();
    data.par_iter_mut().try_for_each_init(PruningWorkspace::default, |workspace, sentence| {
        pruner.prune(&sentence.encoded, limits, workspace, &mut sentence.arcs)?;
        sentence.add_gold_arcs();
        Ok::<(), ParserError>(())
    })?;
    let dev = dev.map(|dev| DevSentence::all(dev, &vocabulary, &pruner, limits)).transpose()?;
    let words: usize = data.iter().map(|sentence| sentence.heads.len()).sum();
    let arcs: usize = data.iter().map(|sentence| sentence.arcs.len()).sum();
    let recall = dev
        .as_deref()
        .map_or(String::new(), |dev| format!(", {:.2}% of right heads on dev", 100.0 * recall(dev)));
    watch.note(format!("pruning keeps {:.1} heads a word{recall}", arcs as f64 / words.max(1) as f64));

    let options = &TreeDecoderOptions {
        projective: settings.projective,
        root_children,
        ..TreeDecoderOptions::default()
    };
    let problem = TreeProblem { sentences: &data, kinds, options, bits: part_bits };
    let scorer = |dev| -> Scorer<'_> {
        Box::new(move |weights| accuracy(dev, kinds, options, weights).map_err(LearnError::task))
    };
    let run = Run {
        epochs: settings.epochs,
        patience: settings.patience,
        seed,
        batch,
        shards,
        dev: dev.as_deref().map(scorer),
        initial: initial.as_ref().map(|initial| initial.parts.to_vec()),
        ..watch.run(None, METRIC)
    };
    let trained = train_online(&PartProblem::new(&problem), &settings.method()?, run)?;
    // Labels take moments; a parser that was interrupted has them too.
    let run = Run {
        epochs: LABEL_EPOCHS,
        seed,
        shards,
        checkpoint: None,
        interrupt: None,
        initial: initial.as_ref().map(|initial| initial.labels.to_vec()),
        ..watch.run(Some("labels"), METRIC)
    };
    let label_weights = label::train(&data, labels.len(), label_bits, run)?;

    let description = Description {
        settings: settings.clone(),
        epoch: trained.epoch,
        accuracy: trained.best,
        sentences: data.len(),
        tokens: words,
        fingerprint: fingerprint(&data),
        labels,
    };
    let mut model = ModelWriter::new(TASK, serde_json::json!(description));
    Pruner::store(&mut model, &pruner_weights);
    vocabulary.store(&mut model);
    HashKernel::store(&mut model, PARTS, &trained.weights, Precision::Half);
    HashKernel::store(&mut model, LABELS, &label_weights, Precision::Half);
    let arcs_of =
        data.iter().map(|sentence| (&sentences[sentence.source], &sentence.arcs[..], root_children));
    inspect::names(&trained.weights, kinds, &vocabulary, arcs_of).store(&mut model, PARTS);
    let score =
        trained.best.map_or(String::new(), |share| format!(", {METRIC} on dev {:.2}%", 100.0 * share));
    let summary = format!("epoch {}{score}", trained.epoch);
    Ok(Trained { model, epoch: trained.epoch, score: trained.best, summary })
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
    watch: &mut Watch<'_>,
) -> Result<Vec<TrainingSentence>, ParserError> {
    let mut ids: FxHashMap<String, u32> = (0..).zip(&*names).map(|(id, name)| (name.clone(), id)).collect();
    let mut data = Vec::with_capacity(sentences.len());
    for (source, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| !sentence.is_empty()) {
        let heads = match gold_heads(sentence, settings.single_root) {
            Ok(heads) => heads,
            Err(problem) if settings.skip_broken => {
                watch.note(format!("left out: line {}: {problem}", sentence.line()));
                continue;
            }
            Err(problem) => return Err(ParserError::Tree { line: sentence.line(), problem }),
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
        let weight = sentence.weight();
        let weight =
            weight.map_err(|text| ParserError::Weight { line: sentence.line(), value: text.to_owned() })?;
        let encoded = Encoded::new(sentence, vocabulary);
        data.push(TrainingSentence { source, encoded, heads, labels, weight, arcs: Vec::new() });
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
    options: &TreeDecoderOptions,
    weights: &[f32],
) -> Result<f64, ParserError> {
    #[derive(Default)]
    struct Buffers {
        parts: TreeParts,
        scoring: ScoreWorkspace,
        scores: Vec<f32>,
        heads: Vec<usize>,
        decoder: TreeDecoder,
    }
    let (right, all) = dev
        .par_iter()
        .map_init(
            || Buffers { decoder: TreeDecoder::new(options.clone()), ..Buffers::default() },
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
        if sentence.weight != 1.0 {
            fingerprint.number(sentence.weight.to_bits().into());
        }
    }
    fingerprint.get()
}
