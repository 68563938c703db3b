//! From documents to a summary.

use consonant_text::{Document, Sentence};
use rustc_hash::FxHashMap;

use crate::SummarizerError;
use crate::baseline::{self, Baseline};
use crate::constraints::Tree;
use crate::decode::{Decoded, SummarizerOptions, decode};
use crate::marginals::marginals;
use crate::material::{Fitness, Material, Profile, SourceSentence};
use crate::model::Summarizer;
use crate::parts::{Assembly, Objective, Part, choose_candidates, least_documents, sentence_features};
use crate::problem::{NONE, Problem, Scores};
use crate::references::best_linear;
use crate::render::{keep_punctuation, text_of, trim_start};
use crate::summary::{Empty, Summary, SummaryConcept, SummarySentence, SummaryWord};
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
        let material = Material::new(documents, self.concept_size());
        let concept_scores = self.concept_scores(&material, task);
        let assembly = Assembly::new(documents, &material, &concept_scores, options.mode(), options.limits());
        let mut scores = Scores::zeros(&assembly.problem);
        for (score, &concept) in scores.concepts.iter_mut().zip(&assembly.concepts) {
            *score = concept_scores[concept as usize];
        }
        assembly.features(documents, &material, |part, list| {
            if !matches!(part, Part::Concept(_)) {
                *scores.of(part) = self.score(task, |features| list(features));
            }
        });
        Prepared { documents, material, assembly, scores }
    }

    /// The sentences that would be considered, by document and number there: only these need trees.
    pub fn candidates(&self, documents: &[Document], options: &SummarizerOptions) -> Vec<(usize, usize)> {
        let material = Material::new(documents, self.concept_size());
        let scores = self.concept_scores(&material, Objective::from(options.mode()));
        choose_candidates(&material, &scores, options.mode(), options.limits())
            .into_iter()
            .map(|index| (material.sentences[index].document, material.sentences[index].sentence))
            .collect()
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
            None => best_compression(&problem, &scores),
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

/// The best compression of a problem of one sentence that is not empty, by dynamic programming.
pub(crate) fn best_compression(problem: &Problem, scores: &Scores) -> Vec<bool> {
    let (units, leads) = scores.linear(problem);
    let mut table = BudgetTable::default();
    let length = problem.total_length();
    table.fill(&problem.units, &units, &leads, 0.0, length);
    let mut chosen = vec![false; units.len()];
    table.choose(&problem.units, &units, length, &mut chosen);
    chosen
}

impl Prepared<'_> {
    /// Decodes the summary and puts it into words. `options` are those that the topic was prepared for.
    pub fn summary(&self, options: &SummarizerOptions) -> Result<Summary, SummarizerError> {
        let decoded = decode(&self.assembly.problem, &self.scores, options)?;
        Ok(self.finish(&decoded, options))
    }

    /// Puts a decoded summary into words.
    pub fn finish(&self, decoded: &Decoded, options: &SummarizerOptions) -> Summary {
        let Assembly { problem, sentences, trees, concepts } = &self.assembly;
        let mut chosen: Vec<SummarySentence> = Vec::new();
        for (number, &index) in sentences.iter().enumerate() {
            let range = problem.units_of(number);
            if !problem.uses(number, &decoded.chosen) {
                continue;
            }
            let source = &self.material.sentences[index];
            let document = &self.documents[source.document];
            let tokens = &document.sentences()[source.sentence];
            let tree = &trees[number];
            let whole = decoded.chosen[range.clone()].iter().all(|&chosen| chosen);
            let mut keep: Vec<bool> = tree
                .unit_of
                .iter()
                .map(|&unit| whole || unit != NONE && decoded.chosen[range.start + unit as usize])
                .collect();
            if !whole {
                keep_punctuation(tokens, &mut keep);
                trim_start(tokens, &mut keep);
            }
            chosen.push(summary_sentence(document, source, &keep));
        }
        let mut sentences = in_reading_order(chosen, &self.material);
        if let Some(opening) = self.opening(decoded)
            && let Some(place) = sentences.iter().position(|s| (s.document, s.sentence) == opening)
        {
            sentences[..=place].rotate_right(1);
        }
        let mut listed: Vec<SummaryConcept> = (0..problem.concepts())
            .map(|number| {
                let concept = &self.material.concepts[concepts[number] as usize];
                SummaryConcept {
                    text: self.written(concept.example),
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

    /// Of the chosen sentences that open their documents, the one that says most: document and number. What
    /// the others tell is read more easily after it.
    fn opening(&self, decoded: &Decoded) -> Option<(usize, usize)> {
        let Assembly { problem, sentences, .. } = &self.assembly;
        let mut worth = vec![0.0; problem.sentences()];
        for (concept, &score) in self.scores.concepts.iter().enumerate() {
            let mut sayers: Vec<usize> = problem
                .occurrences_of(concept)
                .filter(|&occurrence| problem.is_covered(occurrence, &decoded.chosen))
                .map(|occurrence| problem.sentence_of(problem.units_of_occurrence(occurrence)[0]))
                .collect();
            sayers.sort_unstable();
            sayers.dedup();
            sayers.into_iter().for_each(|sentence| worth[sentence] += score);
        }
        let opens = |&number: &usize| {
            self.material.sentences[sentences[number]].position == 0 && problem.uses(number, &decoded.chosen)
        };
        let best = (0..sentences.len())
            .filter(opens)
            .max_by(|&a, &b| worth[a].total_cmp(&worth[b]).then(b.cmp(&a)))?;
        let source = &self.material.sentences[sentences[best]];
        Some((source.document, source.sentence))
    }

    /// A concept as it is written somewhere.
    fn written(&self, (sentence, first, last): (u32, u32, u32)) -> String {
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

/// Sentences are read by how far into their document they stand; within a document, in its order.
fn in_reading_order(mut sentences: Vec<SummarySentence>, material: &Material) -> Vec<SummarySentence> {
    let depth = |s: &SummarySentence| s.sentence as f64 / material.document_lengths[s.document].max(1) as f64;
    sentences.sort_by(|a, b| {
        depth(a).total_cmp(&depth(b)).then((a.document, a.sentence).cmp(&(b.document, b.sentence)))
    });
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
    SummarySentence { document: source.document, sentence: source.sentence, text, words }
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
