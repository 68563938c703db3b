//! What decided a link: the features that speak for it and for its rival.

use std::collections::BTreeMap;

use consonant_learn::names::NamedFeature;
use consonant_task::{Contribution, Explanation};
use consonant_text::jsonl::Thread;
use rustc_hash::FxHashMap;

use crate::features::{self, WordNames};
use crate::model::{Shape, Workspace};
use crate::parts::{Constraint, GraphKind, LinkParts};
use crate::{Linker, LinkerError};

impl Linker {
    /// Finds the links of a conversation and says what decided each, against the other unit that its source
    /// would most likely have answered, as far as the link alone tells. Pairs and triples, which let links
    /// decide about each other, are used in finding them and are not part of the explanation.
    pub(crate) fn explain_links(&self, thread: &Thread) -> Result<Vec<Explanation>, LinkerError> {
        let conversation = self.read(thread);
        let mut workspace = Workspace::default();
        workspace.decode(&conversation, self.shape, |keys| self.weights.sum(keys))?;
        let Workspace { parts, present, scores, .. } = &workspace;

        let (mut alone, mut contexts) = (LinkParts::default(), Vec::new());
        let shape = Shape { graph: GraphKind::Pairs, constraint: Constraint::Any, ..self.shape };
        shape.lay_out(&conversation, &mut alone, &mut contexts);
        let mut words = WordNames::default();
        thread.units.iter().for_each(|unit| words.read(&unit.text));
        let mut named: Vec<NamedFeature> = Vec::new();
        let mut by_link: Vec<FxHashMap<String, f32>> = Vec::with_capacity(alone.len());
        features::for_each_part(&conversation, &contexts, &alone, &words, &mut named, |_, named| {
            let mut features = FxHashMap::default();
            for NamedFeature { key, name, .. } in named.drain(..) {
                *features.entry(name).or_default() += self.weights.weight(key);
            }
            by_link.push(features);
        });

        let mut explanations = Vec::new();
        for link in (0..parts.links().len()).filter(|&link| present[link]) {
            let (source, target) = parts.links()[link];
            let rivals = parts.row(source).filter(|&other| !present[other]);
            let rival = rivals.max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            // What each feature adds to the link and to its rival.
            let mut both: BTreeMap<&str, [f32; 2]> = BTreeMap::new();
            for (side, link) in [Some(link), rival].into_iter().flatten().enumerate() {
                by_link[link].iter().for_each(|(name, weight)| both.entry(name).or_default()[side] = *weight);
            }
            let contributions = both.into_iter().map(|(name, [chosen, rival])| Contribution {
                feature: name.to_owned(),
                chosen,
                rival,
            });
            let rival = rival.map(|rival| parts.links()[rival].1.to_string());
            let chosen = format!("{source} answers {target}");
            explanations.push(Explanation::new(&thread.id, chosen, rival, contributions));
        }
        Ok(explanations)
    }
}
