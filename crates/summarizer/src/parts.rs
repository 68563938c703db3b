//! What the parts are: concepts that are covered, arcs that are cut, clauses that lead, sentences that are
//! chosen.
//!
//! A topic becomes a [`Problem`] in two steps: concepts are scored, then the sentences with the best of them
//! are taken, up to a number of words, as in §5.1 of the paper.

use std::collections::hash_map::Entry;
use std::ops::Range;

use consonant_text::Document;
use rustc_hash::FxHashMap;

use crate::constraints::Constraints;
use crate::features::Features;
use crate::fitness::Fitness;
use crate::material::{Kind, Material};
use crate::problem::{NONE, Problem, Scores, Unit};
use crate::syntax::Tree;
use crate::units::{UnitTree, compressible, whole};

/// Whether sentences are chosen whole or compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Sentences are chosen and compressed at once (Eq. 4).
    #[default]
    Compressive,
    /// Sentences are chosen whole (Eq. 3).
    Extractive,
}

/// What a model is for: three objectives share its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Compressive summaries.
    Compressive = 0,
    /// Extractive summaries.
    Extractive = 1,
    /// Sentences by themselves.
    Compression = 2,
}

impl Objective {
    /// All of them, by number.
    pub const ALL: [Objective; 3] = [Objective::Compressive, Objective::Extractive, Objective::Compression];
}

impl From<Mode> for Objective {
    fn from(mode: Mode) -> Objective {
        match mode {
            Mode::Compressive => Objective::Compressive,
            Mode::Extractive => Objective::Extractive,
        }
    }
}

/// Limits of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Words of the summary at most.
    pub words: usize,
    /// Sentences of the summary at most.
    pub sentences: usize,
    /// Words of the sentences that are considered at all.
    pub candidate_words: usize,
    /// Whether a sentence that points back may come along with the one before it.
    pub followers: bool,
}

/// A problem and what its numbers stand for.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The problem.
    pub problem: Problem,
    /// For each sentence that is considered, its number in the material.
    pub sentences: Vec<usize>,
    /// For each of them, its units.
    pub trees: Vec<UnitTree>,
    /// For each of them, its first unit in the problem. There, a sentence that points back is a part of the one
    /// before it, which may be cut like any other.
    pub starts: Vec<u32>,
    /// For each concept of the problem, its number in the material.
    pub concepts: Vec<u32>,
}

/// Which concepts can count, by the documents they occur in. Texts of a few sentences, such as reviews, have
/// no lead to tell what is important: there, what only one of several says is an aside.
pub fn least_documents(material: &Material) -> u32 {
    match material.kind {
        Kind::Brief if material.documents > 2 => 2,
        _ => 1,
    }
}

impl Assembly {
    /// Chooses sentences and puts the problem together. `concept_scores` are by the material's numbers;
    /// concepts with a score of zero are left out.
    pub fn new(
        documents: &[Document],
        material: &Material,
        concept_scores: &[f64],
        mode: Mode,
        limits: Limits,
    ) -> Self {
        let mut assembly =
            Assembly { problem: Problem::new(limits.words, limits.sentences), ..Assembly::default() };
        assembly.sentences = choose_candidates(material, concept_scores, mode, limits);
        let mut group: Vec<Unit> = Vec::new();
        for (number, &index) in assembly.sentences.iter().enumerate() {
            let source = &material.sentences[index];
            let tokens = &documents[source.document].sentences()[source.sentence];
            let tree = match mode {
                Mode::Compressive => Tree::new(tokens),
                Mode::Extractive => None,
            };
            let units = match tree {
                Some(tree) => compressible(&tree, &source.chunks, Constraints::Grammatical),
                None => whole(tokens, &source.chunks),
            };
            let follows = source.follows && number > 0 && assembly.sentences[number - 1] + 1 == index;
            if !follows && !group.is_empty() {
                assembly.problem.push_sentence(&group);
                group.clear();
            }
            assembly.starts.push((assembly.problem.units.len() + group.len()) as u32);
            let first = assembly.problem.units.len();
            let last = follows.then(|| assembly.starts[number - 1] as usize - first);
            attach(&mut group, last, &units.units);
            assembly.trees.push(units);
        }
        if !group.is_empty() {
            assembly.problem.push_sentence(&group);
        }
        assembly.add_concepts(material, concept_scores);
        assembly
    }

    /// As what concepts count that do not count as themselves. Reports of one event say the same in other words: there, concepts of
    /// one family count once, as the best of them.
    fn merged(&self, material: &Material, concept_scores: &[f64]) -> FxHashMap<u32, u32> {
        if material.kind != Kind::Reports {
            return FxHashMap::default();
        }
        let mut families: FxHashMap<u32, u64> = FxHashMap::default();
        let mut best: FxHashMap<u64, u32> = FxHashMap::default();
        for gram in self.sentences.iter().flat_map(|&index| &material.sentences[index].grams) {
            let concept = gram.concept;
            let Entry::Vacant(new) = families.entry(concept) else { continue };
            let family = *new.insert(material.family(material.stems_of(concept as usize)));
            let best = best.entry(family).or_insert(concept);
            if concept_scores[concept as usize] > concept_scores[*best as usize] {
                *best = concept;
            }
        }
        let merged = families.into_iter().map(|(concept, family)| (concept, best[&family]));
        merged.filter(|(concept, best)| concept != best).collect()
    }

    fn add_concepts(&mut self, material: &Material, concept_scores: &[f64]) {
        let merged = self.merged(material, concept_scores);
        let mut occurrences: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
        for (number, &index) in self.sentences.iter().enumerate() {
            let source = &material.sentences[index];
            let (tree, start) = (&self.trees[number], self.starts[number]);
            for gram in &source.grams {
                let concept = merged.get(&gram.concept).copied().unwrap_or(gram.concept);
                if concept_scores[concept as usize] == 0.0 {
                    continue;
                }
                let mut needed: Vec<u32> = source.chunks[gram.first as usize..=gram.last as usize]
                    .iter()
                    .filter_map(|chunk| {
                        chunk.words.clone().map(|w| tree.unit_of[w]).find(|&unit| unit != NONE)
                    })
                    .collect();
                needed.sort_unstable();
                needed.dedup();
                drop_implied(&mut needed, &tree.units);
                needed.iter_mut().for_each(|unit| *unit += start);
                if needed.is_empty() {
                    continue;
                }
                let known = occurrences.entry(concept).or_default();
                if !known.contains(&needed) {
                    known.push(needed);
                }
            }
        }
        self.concepts = occurrences.keys().copied().collect();
        self.concepts.sort_unstable();
        for concept in &self.concepts {
            for needed in &occurrences[concept] {
                self.problem.push_occurrence(needed.iter().copied());
            }
            self.problem.end_concept();
        }
    }

    /// Lists the features of every part, in the order of [`Scores`]: concepts, deletions, leads, sentences.
    pub fn features(
        &self,
        documents: &[Document],
        material: &Material,
        mut part: impl FnMut(Part, &mut dyn FnMut(&mut Features<'_>)),
    ) {
        for (number, &concept) in self.concepts.iter().enumerate() {
            part(Part::Concept(number), &mut |f| f.concept(material, &material.profile(concept as usize)));
        }
        for (number, &index) in self.sentences.iter().enumerate() {
            let source = &material.sentences[index];
            let tokens = &documents[source.document].sentences()[source.sentence];
            let start = self.starts[number] as usize;
            let units = &self.trees[number];
            if units.units.len() > 1
                && let Some(tree) = Tree::new(tokens)
            {
                sentence_features(&tree, units, start, Some(material.kind), &mut part);
            }
            let part_of_all = match self.problem.units[start].parent {
                NONE => Part::Sentence(self.problem.sentence_of(start as u32)),
                _ => Part::Follower(start),
            };
            part(part_of_all, &mut |f| f.sentence(material.kind, source, tokens));
        }
    }

    /// The units of a sentence that is considered, in the problem.
    pub fn units_of(&self, number: usize) -> Range<usize> {
        let start = self.starts[number] as usize;
        start..start + self.trees[number].units.len()
    }
}

/// Adds the units of a sentence to a group: the first, or one that hangs from the top of the last.
fn attach(group: &mut Vec<Unit>, last: Option<usize>, units: &[Unit]) {
    let start = group.len() as u32;
    let mut above = last;
    while let Some(top) = above {
        group[top].end = start + units.len() as u32;
        above = (group[top].parent != NONE).then_some(group[top].parent as usize);
    }
    for unit in units {
        let is_top = unit.parent == NONE;
        group.push(Unit {
            parent: match last {
                Some(last) if is_top => last as u32,
                _ if is_top => NONE,
                _ => unit.parent + start,
            },
            end: unit.end + start,
            deletable: unit.deletable || is_top && last.is_some(),
            may_lead: unit.may_lead && last.is_none(),
            length: unit.length,
        });
    }
}

/// Lists the features of the deletions and leads of one sentence, whose units begin at `start`; `kind` is its
/// topic's, if it has one.
pub fn sentence_features(
    tree: &Tree<'_>,
    units: &UnitTree,
    start: usize,
    kind: Option<Kind>,
    part: &mut impl FnMut(Part, &mut dyn FnMut(&mut Features<'_>)),
) {
    for (unit, &top) in units.tops.iter().enumerate().skip(1) {
        if units.units[unit].deletable {
            part(Part::Deletion(start + unit), &mut |f| f.deletion(tree, top, kind));
        }
        if units.units[unit].may_lead {
            part(Part::Lead(start + unit), &mut |f| f.lead(tree, top));
        }
    }
}

/// A part of a problem, by its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// A concept.
    Concept(usize),
    /// A unit that is deleted under its parent.
    Deletion(usize),
    /// A unit that leads.
    Lead(usize),
    /// A sentence of which something is chosen.
    Sentence(usize),
    /// The top unit of a sentence that goes only with the one before it.
    Follower(usize),
}

impl Scores {
    /// The score of a part.
    pub fn of(&mut self, part: Part) -> &mut f64 {
        match part {
            Part::Concept(concept) => &mut self.concepts[concept],
            Part::Deletion(unit) => &mut self.deletions[unit],
            Part::Lead(unit) => &mut self.leads[unit],
            Part::Sentence(sentence) => &mut self.sentences[sentence],
            Part::Follower(unit) => &mut self.followers[unit],
        }
    }
}

/// Drops units that are chosen whenever another one of the list is: its ancestors, unless a unit on the way
/// may lead.
fn drop_implied(needed: &mut Vec<u32>, units: &[Unit]) {
    let all = needed.clone();
    needed.retain(|&unit| {
        !all.iter().any(|&other| {
            let mut at = other;
            while at != unit {
                let Unit { parent, may_lead, .. } = units[at as usize];
                if parent == NONE || may_lead {
                    return false;
                }
                at = parent;
            }
            other != unit
        })
    });
}

/// The sentences with the best concepts, up to a number of words; in the order of the documents.
pub(crate) fn choose_candidates(
    material: &Material,
    concept_scores: &[f64],
    mode: Mode,
    limits: Limits,
) -> Vec<usize> {
    let mut rated: Vec<(f64, usize)> = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    for (index, sentence) in material.sentences.iter().enumerate() {
        if sentence.fitness != Fitness::Sentence
            || sentence.outdated
            || (mode == Mode::Extractive && sentence.length > limits.words)
        {
            continue;
        }
        seen.clear();
        seen.extend(sentence.grams.iter().map(|gram| gram.concept));
        seen.sort_unstable();
        seen.dedup();
        let score: f64 = seen.iter().map(|&concept| concept_scores[concept as usize].max(0.0)).sum();
        // Between the sum, which favours long sentences, and the density, which favours short ones.
        rated.push((score / (sentence.length.max(1) as f64).sqrt(), index));
    }
    rated.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut words = 0;
    let mut chosen: Vec<usize> = rated
        .into_iter()
        .take_while(|&(_, index)| {
            let before = words;
            words += material.sentences[index].length;
            before == 0 || words <= limits.candidate_words
        })
        .map(|(_, index)| index)
        .collect();
    // What points back goes with the sentence before it, or not at all.
    chosen.retain(|&index| limits.followers || !material.sentences[index].follows);
    for at in 0..chosen.len() {
        let mut index = chosen[at];
        while material.sentences[index].follows {
            index -= 1;
            chosen.push(index);
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
