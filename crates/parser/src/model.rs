//! A parser on disk, and what it does with sentences.

use std::sync::Arc;

use consonant_learn::model::Model;
use consonant_learn::table::HashKernel;
use consonant_learn::trainer::{Method, Training};
use consonant_map::Certificate;
use consonant_map::oracle::arborescence::RootChildren;
use consonant_text::Sentence;
use consonant_text::sentence::Layer;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ParserError;
use crate::decode::{Algorithm, Decoder, DecoderOptions};
use crate::features::{Encoded, IgnoredColumns, Vocabulary};
use crate::inspect::Strength;
use crate::label::{self, LabelWorkspace};
use crate::parts::{PartKinds, Parts};
use crate::prune::{Pruner, PruningLimits, PruningWorkspace};
use crate::score::ScoreWorkspace;

/// The name of the task in model files.
pub const TASK: &str = "parser";
/// Nodes that the proof of a sentence's tree may cost.
const NODES: usize = 30;
pub(crate) const PARTS: &str = "parts";
pub(crate) const LABELS: &str = "labels";
pub(crate) const VOCABULARY: &str = "vocabulary";
pub(crate) const NAMES: &str = "names";

/// How a parser was made; the metadata of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub kinds: PartKinds,
    pub single_root: bool,
    pub projective: bool,
    pub heads: usize,
    pub share: f32,
    #[serde(flatten)]
    pub training: Training<Method>,
    pub epoch: usize,
    pub accuracy: Option<f64>,
    pub sentences: usize,
    pub tokens: usize,
    pub fingerprint: u64,
    #[serde(default)]
    pub ignored: IgnoredColumns,
    pub labels: Vec<String>,
}

/// A trained parser. Cheap to clone; the clones share the weights.
#[derive(Debug, Clone)]
pub struct Parser {
    settings: Arc<Settings>,
    vocabulary: Arc<Vocabulary>,
    pruner: Pruner,
    parts: HashKernel,
    labels: HashKernel,
    /// Lines of number, tab, name.
    names: Arc<str>,
}

/// How the parsing of one sentence went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parsed {
    /// Value, bound, status, iterations and time of decoding; the time includes pruning and scoring.
    pub certificate: Certificate,
    /// Words in the sentence.
    pub tokens: usize,
}

#[derive(Default)]
struct Workspace {
    encoded: Encoded,
    pruning: PruningWorkspace,
    arcs: Vec<(usize, usize)>,
    parts: Parts,
    scoring: ScoreWorkspace,
    scores: Vec<f32>,
    decoder: Decoder,
    heads: Vec<usize>,
    labelling: LabelWorkspace,
    labels: Vec<u32>,
}

impl Parser {
    /// Opens a parser's model; other tasks' models are refused.
    pub fn open(model: &Model) -> Result<Self, ParserError> {
        let settings: Settings = model.settings(TASK)?;
        let root_children = if settings.single_root { RootChildren::One } else { RootChildren::Any };
        Ok(Self {
            pruner: Pruner::open(model, root_children)?,
            parts: HashKernel::open(model, PARTS)?,
            labels: HashKernel::open(model, LABELS)?,
            names: model.text(NAMES)?.into(),
            vocabulary: Arc::new(Vocabulary::from_keys(
                model.array::<u64>(VOCABULARY)?.to_vec(),
                settings.ignored,
            )),
            settings: Arc::new(settings),
        })
    }

    /// The kinds of parts that it scores.
    pub fn kinds(&self) -> PartKinds {
        self.settings.kinds
    }

    /// The labels of arcs.
    pub fn labels(&self) -> &[String] {
        &self.settings.labels
    }

    /// The strongest weights of parts, strongest first.
    pub fn strongest(&self, count: usize) -> Vec<Strength> {
        let named = self.names.lines().filter_map(|line| line.split_once('\t'));
        let found = named.filter_map(|(number, name)| {
            let weight = self.parts.weight(number.parse().ok()?);
            Some(Strength { weight, feature: name.to_owned() })
        });
        found.take(count).collect()
    }

    /// How trees are found unless something else is asked for.
    pub fn algorithm(&self) -> Algorithm {
        if self.settings.projective { Algorithm::Projective } else { Algorithm::Ad3 }
    }

    /// Writes heads and labels into sentences, in parallel on rayon's threads.
    pub fn parse(
        &self,
        sentences: &mut [Sentence],
        algorithm: Algorithm,
    ) -> Result<Vec<Parsed>, ParserError> {
        let root_children = if self.settings.single_root { RootChildren::One } else { RootChildren::Any };
        let options = DecoderOptions { algorithm, root_children, nodes: NODES, ..DecoderOptions::default() };
        sentences
            .par_iter_mut()
            .map_init(
                || Workspace { decoder: Decoder::new(options.clone()), ..Workspace::default() },
                |workspace, sentence| self.parse_one(sentence, workspace),
            )
            .collect()
    }

    fn parse_one(&self, sentence: &mut Sentence, workspace: &mut Workspace) -> Result<Parsed, ParserError> {
        let start = std::time::Instant::now();
        let Workspace { encoded, pruning, arcs, parts, scoring, scores, decoder, heads, labelling, labels } =
            workspace;
        if sentence.is_empty() {
            return Ok(Parsed { certificate: Certificate::exact(0.0), tokens: 0 });
        }
        encoded.load(sentence, &self.vocabulary);
        let limits = PruningLimits { heads: self.settings.heads, share: self.settings.share };
        self.pruner.prune(encoded, limits, pruning, arcs)?;
        let root_children = if self.settings.single_root { RootChildren::One } else { RootChildren::Any };
        parts.rebuild(encoded.words(), arcs, self.settings.kinds, root_children)?;
        scoring.score(encoded, self.settings.kinds, parts, &self.parts, scores);
        let mut certificate = decoder.decode(parts, scores, heads)?;
        label::label(encoded, heads, &self.labels, self.settings.labels.len(), labelling, labels);
        for (word, (&head, &label)) in heads.iter().zip(labels.iter()).enumerate() {
            sentence.set_head(word, Some(head as u32))?;
            let name = self.settings.labels.get(label as usize).map_or("_", String::as_str);
            sentence.set(word, Layer::Deprel, name)?;
        }
        certificate.seconds = start.elapsed().as_secs_f64();
        Ok(Parsed { certificate, tokens: sentence.len() })
    }
}
