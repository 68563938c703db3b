//! What decided a link: the features that speak for it and for its rival.

use consonant_text::jsonl::Thread;
use rustc_hash::FxHashMap;

use crate::decode::DecoderOptions;
use crate::features::{self, LinkContext, Names};
use crate::model::Workspace;
use crate::parts::{Constraint, GraphKind, Parts};
use crate::{Linker, ThreadsError};

/// Why a unit answers another.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkExplanation {
    /// The unit that answers.
    pub source: usize,
    /// The unit that is answered.
    pub target: usize,
    /// The other unit that it would most likely have answered, as far as the link alone tells.
    pub rival: Option<usize>,
    /// The features of the link and of its rival, the most decisive first.
    pub contributions: Vec<Contribution>,
}

/// What one feature adds to a link and to its rival.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// Its name.
    pub feature: String,
    /// What it adds to the link.
    pub chosen: f32,
    /// What it adds to the rival.
    pub rival: f32,
}

impl Linker {
    /// Finds the links of a conversation and says what decided each. Pairs and triples, which let links decide about each
    /// other, are used in finding them and are not part of the explanation.
    pub fn explain(&self, thread: &Thread) -> Result<Vec<LinkExplanation>, ThreadsError> {
        let conversation = self.read(thread);
        let mut workspace = Workspace::new(DecoderOptions::default());
        workspace.decode(&conversation, self.shape(), |keys| self.weights.sum(keys))?;
        let Workspace { parts, present, scores, .. } = &workspace;

        let alone = Parts::new(conversation.units.len(), self.window(), GraphKind::Pairs, Constraint::Any);
        let mut contexts = Vec::new();
        LinkContext::all(&conversation, &alone, &mut contexts);
        let mut names = Names::default();
        thread.units.iter().for_each(|unit| names.read(&unit.text));
        let mut by_link: Vec<FxHashMap<String, f32>> = Vec::with_capacity(alone.len());
        features::for_each_part(&conversation, &contexts, &alone, &mut names, |_, names| {
            let mut features = FxHashMap::default();
            for (key, name) in names.features.drain(..) {
                *features.entry(name).or_default() += self.weights.weight(key);
            }
            by_link.push(features);
        });

        let mut explanations = Vec::new();
        for link in (0..parts.links().len()).filter(|&link| present[link]) {
            let (source, target) = parts.links()[link];
            let rivals = parts.row(source).filter(|&other| !present[other]);
            let rival = rivals.max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            let none = FxHashMap::default();
            let (own, others) = (&by_link[link], rival.map_or(&none, |rival| &by_link[rival]));
            let mut all: Vec<&String> =
                own.keys().chain(others.keys().filter(|name| !own.contains_key(*name))).collect();
            all.sort_unstable();
            let weight = |features: &FxHashMap<String, f32>, name: &str| {
                features.get(name).copied().unwrap_or_default()
            };
            let mut contributions: Vec<Contribution> = all
                .into_iter()
                .map(|name| Contribution {
                    feature: name.clone(),
                    chosen: weight(own, name),
                    rival: weight(others, name),
                })
                .filter(|part| part.chosen != part.rival)
                .collect();
            let decisive = |part: &Contribution| (part.chosen - part.rival).abs();
            contributions.sort_by(|a, b| decisive(b).total_cmp(&decisive(a)));
            let rival = rival.map(|rival| parts.links()[rival].1);
            explanations.push(LinkExplanation { source, target, rival, contributions });
        }
        Ok(explanations)
    }
}
