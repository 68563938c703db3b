//! From documents to a summary.

use std::ops::Range;

use consonant_task::Answered;
use consonant_text::{Document, Sentence};
use rustc_hash::FxHashMap;

use crate::SummarizerError;
use crate::baseline::{self, Baseline};
use crate::constraints::REPORTED;
use crate::decode::{Decoded, SummarizerOptions, decode};
use crate::fitness::Fitness;
use crate::interest;
use crate::marginals::marginals;
use crate::material::{Kind, Material, Profile, SourceSentence};
use crate::model::Summarizer;
use crate::parts::{Assembly, Objective, Part, choose_candidates, least_documents, sentence_features};
use crate::problem::{NONE, Problem, Scores};
use crate::references::best_linear;
use crate::render::{keep_punctuation, text_of, trim_start};
use crate::summary::{Deletion, Empty, Summary, SummaryConcept, SummarySentence, SummaryWord};
use crate::syntax::Tree;
use crate::tree::BudgetTable;
use crate::units::{UnitTree, compressible, whole};

/// A topic made ready for decoding.
#[derive(Debug)]
pub struct Prepared<'d> {
    documents: &'d [Document],
    /// The sentences and concepts of the documents.
    pub material: Material,
    /// The problem and what its numbers stand for.
    pub assembly: Assembly,
    /// The scores of its parts.
    pub scores: Scores,
}

impl Summarizer {
    /// Summarizes documents about one thing. Trees are read from the sentences; those without one are taken
    /// whole.
    pub fn summarize(
        &self,
        documents: &[Document],
        options: &SummarizerOptions,
    ) -> Result<Summary, SummarizerError> {
        self.assemble(documents, options).summary(options)
    }

    /// Scores a topic and puts its problem together.
    pub fn assemble<'d>(&self, documents: &'d [Document], options: &SummarizerOptions) -> Prepared<'d> {
        let task = Objective::from(options.mode());
        let options = &options.for_documents(documents);
        let (material, concept_scores) = self.material(documents, options);
        let assembly = Assembly::new(documents, &material, &concept_scores, options.mode(), options.limits());
        let mut scores = Scores::zeros(&assembly.problem);
        for (score, &concept) in scores.concepts.iter_mut().zip(&assembly.concepts) {
            *score = concept_scores[concept as usize];
        }
        assembly.features(documents, &material, |part, list| {
            let brevity = if matches!(part, Part::Deletion(_)) { options.brevity } else { 0.0 };
            if !matches!(part, Part::Concept(_)) {
                *scores.of(part) = self.score(task, |features| list(features)) + brevity;
            }
        });
        Prepared { documents, material, assembly, scores }
    }

    /// The sentences that would be considered, by document and number there: only these need trees.
    pub fn candidates(&self, documents: &[Document], options: &SummarizerOptions) -> Vec<(usize, usize)> {
        let options = &options.for_documents(documents);
        let (material, scores) = self.material(documents, options);
        choose_candidates(&material, &scores, options.mode(), options.limits())
            .into_iter()
            .map(|index| (material.sentences[index].document, material.sentences[index].sentence))
            .collect()
    }

    /// What documents offer, and what of it is worth how much to this reader.
    fn material(&self, documents: &[Document], options: &SummarizerOptions) -> (Material, Vec<f64>) {
        let mut material = Material::new(documents, self.concept_size());
        let mut scores = self.concept_scores(&material, Objective::from(options.mode()));
        interest::apply(&mut material, &mut scores, options);
        (material, scores)
    }

    /// The scores of all concepts: no concept does harm, and those in too few documents do not count.
    pub(crate) fn concept_scores(&self, material: &Material, task: Objective) -> Vec<f64> {
        let least = least_documents(material);
        let mut scores: FxHashMap<Profile, f64> = FxHashMap::default();
        let mut score = |number: usize| {
            let profile = material.profile(number);
            *scores
                .entry(profile)
                .or_insert_with(|| self.score(task, |features| features.concept(material, &profile)).max(0.0))
        };
        let concepts = material.concepts.iter().enumerate();
        concepts
            .map(|(number, concept)| if concept.documents >= least { score(number) } else { 0.0 })
            .collect()
    }

    /// Compresses one sentence by itself: which words are kept. A sentence without a tree stays whole.
    pub fn compress(&self, sentence: &Sentence) -> Vec<bool> {
        self.compress_within(sentence, &SummarizerOptions::new())
    }

    /// Compresses one sentence by itself to the words or the share of its words that options name, as far as
    /// that is possible.
    pub fn compress_within(&self, sentence: &Sentence, options: &SummarizerOptions) -> Vec<bool> {
        let document = Document::from_sentences(vec![sentence.clone()]);
        let places = document.word_places(0);
        let chunks = crate::units::chunks(&document, 0, &places);
        let tree = Tree::new(sentence);
        let units = match &tree {
            Some(tree) => compressible(tree, &chunks, self.settings.constraints),
            None => whole(sentence, &chunks),
        };
        let mut problem = Problem::new(usize::MAX >> 1, 1);
        problem.push_sentence(&units.units);
        let mut scores = Scores::zeros(&problem);
        if let Some(tree) = &tree {
            sentence_features(tree, &units, 0, None, &mut |part, list| {
                *scores.of(part) = self.score(Objective::Compression, |features| list(features));
            });
        }
        let chosen = match self.settings.threshold {
            Some(threshold) => least_risk(&problem, &scores, &units, threshold),
            None => {
                let documents = std::slice::from_ref(&document);
                let most = options.for_documents(documents).words.unwrap_or(usize::MAX);
                best_compression(&problem, &scores, most.max(problem.shortest_compression(0)))
            }
        };
        finish_compression(sentence, &units, &chosen)
    }
}

/// The compression with the greatest sum, over its words, of how much more probable they are than a
/// threshold.
fn least_risk(problem: &Problem, scores: &Scores, units: &UnitTree, threshold: f64) -> Vec<bool> {
    let (relaxed, _) = marginals(problem, scores);
    let mut gains = vec![0.0; problem.units.len()];
    for &unit in units.unit_of.iter().filter(|&&unit| unit != NONE) {
        gains[unit as usize] += relaxed.units[unit as usize] - threshold;
    }
    best_linear(problem, &gains)
}

/// Which words of a sentence are kept when these units are: punctuation follows.
pub(crate) fn finish_compression(sentence: &Sentence, units: &UnitTree, chosen: &[bool]) -> Vec<bool> {
    let mut keep: Vec<bool> =
        units.unit_of.iter().map(|&unit| unit != NONE && chosen[unit as usize]).collect();
    keep_punctuation(sentence, &mut keep);
    trim_start(sentence, &mut keep);
    keep
}

/// The best compression of a problem of one sentence that is not empty, of so many words at most, by dynamic
/// programming.
pub(crate) fn best_compression(problem: &Problem, scores: &Scores, words: usize) -> Vec<bool> {
    let (units, leads) = scores.linear(problem);
    let mut table = BudgetTable::default();
    let length = problem.total_length().min(words);
    table.fill(&problem.units, &units, &leads, 0.0, length);
    let mut chosen = vec![false; units.len()];
    table.choose(&problem.units, &units, length, &mut chosen);
    chosen
}

impl Prepared<'_> {
    /// Decodes the summary and puts it into words. `options` are those that the topic was prepared for.
    pub fn summary(&self, options: &SummarizerOptions) -> Result<Summary, SummarizerError> {
        Ok(self.finish(&self.decode(options)?, options))
    }

    /// Decides which units are in the summary.
    pub fn decode(&self, options: &SummarizerOptions) -> Result<Decoded, SummarizerError> {
        decode(&self.assembly.problem, &self.scores, options)
    }

    /// The problem as data, with a decoded summary as its answer.
    pub fn answered(&self, decoded: &Decoded) -> Answered {
        self.assembly.problem.answered(&self.scores, &decoded.chosen)
    }

    /// Puts a decoded summary into words.
    pub fn finish(&self, decoded: &Decoded, options: &SummarizerOptions) -> Summary {
        let Assembly { problem, sentences, trees, concepts, .. } = &self.assembly;
        let covers = self.covers(decoded);
        let mut chosen: Vec<SummarySentence> = Vec::new();
        for (number, &index) in sentences.iter().enumerate() {
            let taken = &decoded.chosen[self.assembly.units_of(number)];
            if !taken.contains(&true) {
                continue;
            }
            let source = &self.material.sentences[index];
            let document = &self.documents[source.document];
            let tokens = &document.sentences()[source.sentence];
            let units = &trees[number];
            let whole = taken.iter().all(|&chosen| chosen);
            let mut keep: Vec<bool> =
                units.unit_of.iter().map(|&unit| whole || unit != NONE && taken[unit as usize]).collect();
            if !whole {
                keep_punctuation(tokens, &mut keep);
                trim_start(tokens, &mut keep);
            }
            let mut sentence = summary_sentence(document, source, &keep);
            sentence.covers = covers[number]
                .iter()
                .map(|&concept| (self.written(concept), self.scores.concepts[concept]))
                .collect();
            if let Some(tree) = Tree::new(tokens).filter(|_| !whole) {
                sentence.deletions = deletions(&tree, units, taken, document, source);
            }
            chosen.push(sentence);
        }
        let mut sentences = in_reading_order(chosen, &self.material);
        if let Some((document, _)) = self.opening(decoded, &covers)
            && self.material.kind != Kind::Exchange
            && self.material.dates.iter().all(|&date| date == 0)
        {
            // The document that says most of what the others say comes first.
            sentences.sort_by_key(|sentence| sentence.document != document);
        }
        let mut listed: Vec<SummaryConcept> = (0..problem.concepts())
            .map(|number| {
                let concept = &self.material.concepts[concepts[number] as usize];
                SummaryConcept {
                    text: self.written(number),
                    weight: self.scores.concepts[number],
                    documents: concept.documents,
                    covered: problem.occurrences_of(number).any(|o| problem.is_covered(o, &decoded.chosen)),
                }
            })
            .collect();
        listed.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        Summary {
            words: sentences.iter().map(|sentence| sentence.text.split_whitespace().count()).sum(),
            empty: sentences.is_empty().then(|| self.why_empty(options)),
            sentences,
            concepts: listed,
            certificate: Some(decoded.certificate),
            copies: self.material.copies.clone(),
        }
    }

    /// For each sentence that was considered, the concepts that it covers, best first.
    fn covers(&self, decoded: &Decoded) -> Vec<Vec<usize>> {
        let problem = &self.assembly.problem;
        let mut covers = vec![Vec::new(); self.assembly.sentences.len()];
        for concept in 0..problem.concepts() {
            for occurrence in problem.occurrences_of(concept) {
                if problem.is_covered(occurrence, &decoded.chosen) {
                    let unit = problem.units_of_occurrence(occurrence)[0];
                    let sentence = self.assembly.starts.partition_point(|&start| start <= unit) - 1;
                    if covers[sentence].last() != Some(&concept) {
                        covers[sentence].push(concept);
                    }
                }
            }
        }
        let scores = &self.scores.concepts;
        covers.iter_mut().for_each(|covers| covers.sort_by(|&a, &b| scores[b].total_cmp(&scores[a])));
        covers
    }

    /// Of the chosen sentences that open their documents, the one that says most: document and number. What
    /// the others tell is read more easily after it.
    fn opening(&self, decoded: &Decoded, covers: &[Vec<usize>]) -> Option<(usize, usize)> {
        let sentences = &self.assembly.sentences;
        let worth = |number: usize| -> f64 {
            covers[number].iter().map(|&concept| self.scores.concepts[concept]).sum()
        };
        let opens = |&number: &usize| {
            self.material.sentences[sentences[number]].position == 0
                && decoded.chosen[self.assembly.units_of(number)].contains(&true)
        };
        let best = (0..sentences.len())
            .filter(opens)
            .max_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a)))?;
        let source = &self.material.sentences[sentences[best]];
        Some((source.document, source.sentence))
    }

    /// A concept of the problem as it is written somewhere.
    fn written(&self, concept: usize) -> String {
        let number = self.assembly.concepts[concept] as usize;
        let (sentence, first, last) = self.material.concepts[number].example;
        let source = &self.material.sentences[sentence as usize];
        let place = source.chunks[first as usize].place.start..source.chunks[last as usize].place.end;
        self.documents[source.document].text()[place].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn why_empty(&self, options: &SummarizerOptions) -> Empty {
        let fit = self.material.sentences.iter().filter(|sentence| sentence.fitness == Fitness::Sentence);
        let Some(shortest) = fit.map(|sentence| sentence.length).min() else { return Empty::NoText };
        let shortest = (0..self.assembly.problem.sentences())
            .map(|sentence| self.assembly.problem.shortest_compression(sentence))
            .min()
            .unwrap_or(shortest);
        if shortest > options.limits().words { Empty::Budget(shortest) } else { Empty::NoConcepts }
    }
}

/// Sentences are read by the dates of their documents; within a document, in its order.
fn in_reading_order(mut sentences: Vec<SummarySentence>, material: &Material) -> Vec<SummarySentence> {
    sentences.sort_by_key(|sentence| (material.when(sentence.document), sentence.sentence));
    sentences
}

fn summary_sentence(document: &Document, source: &SourceSentence, keep: &[bool]) -> SummarySentence {
    let tokens = &document.sentences()[source.sentence];
    let mut words: Vec<SummaryWord> = Vec::new();
    for chunk in &source.chunks {
        for word in chunk.words.clone() {
            let place = source.places[word].clone();
            if place.is_empty() || words.last().is_some_and(|last| last.place == place) {
                continue;
            }
            words.push(SummaryWord {
                text: document.text()[place.clone()].to_string(),
                space_before: word == chunk.words.start && !words.is_empty(),
                place,
                kept: keep[word],
            });
        }
    }
    let text = text_of(document.text(), tokens, &source.chunks, &source.places, keep);
    SummarySentence {
        document: source.document,
        sentence: source.sentence,
        text,
        words,
        covers: Vec::new(),
        deletions: Vec::new(),
    }
}

/// What was cut from a sentence, of which these units were taken.
fn deletions(
    tree: &Tree<'_>,
    units: &UnitTree,
    taken: &[bool],
    document: &Document,
    source: &SourceSentence,
) -> Vec<Deletion> {
    let place = |first: usize, last: usize| source.places[first].start..source.places[last].end;
    let written = |place: &Range<usize>| {
        document.text()[place.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut found = Vec::new();
    if !taken[0]
        && let Some(lead) = taken.iter().position(|&taken| taken)
    {
        let (first, last) = tree.span(units.tops[lead]);
        for side in [(0, first), (last + 1, tree.sentence.len())] {
            if (side.0..side.1).any(|word| !tree.is_mark(word)) {
                let place = place(side.0, side.1 - 1);
                let (rule, example) = REPORTED;
                found.push(Deletion { text: written(&place), place, rule, example });
            }
        }
    }
    for (unit, &top) in units.tops.iter().enumerate().skip(1) {
        if taken[unit] || !taken[units.units[unit].parent as usize] {
            continue;
        }
        if let (Some(rule), Some(phrase)) = (tree.cut_rule(top), tree.phrase(top)) {
            let place = place(*phrase.start(), *phrase.end());
            found.push(Deletion { text: written(&place), place, rule: rule.name, example: rule.example });
        }
    }
    found.sort_by_key(|deletion| deletion.place.start);
    found
}

/// A summary without a model, for comparison.
pub fn summarize_by_baseline(baseline: Baseline, documents: &[Document], words: usize) -> Summary {
    let (material, chosen) = baseline::choose(baseline, documents, words);
    let sentences = chosen
        .iter()
        .map(|&index| {
            let source = &material.sentences[index];
            let document = &documents[source.document];
            summary_sentence(document, source, &vec![true; document.sentences()[source.sentence].len()])
        })
        .collect();
    let sentences = in_reading_order(sentences, &material);
    let shortest =
        material.sentences.iter().filter(|s| s.fitness == Fitness::Sentence).map(|s| s.length).min();
    Summary {
        words: sentences.iter().map(|sentence| sentence.text.split_whitespace().count()).sum(),
        empty: sentences.is_empty().then(|| shortest.map_or(Empty::NoText, Empty::Budget)),
        sentences,
        concepts: Vec::new(),
        certificate: None,
        copies: material.copies.clone(),
    }
}
