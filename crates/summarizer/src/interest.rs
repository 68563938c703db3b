//! What a reader wants: answers to a question, nothing that is known already, and of a count that documents
//! correct, the latest.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::decode::SummarizerOptions;
use crate::fitness::Fitness;
use crate::material::{Kind, Material};
use crate::words::is_number;

/// What a concept is worth for each word of the question that it has; at least as much as this many of the mean.
const ASKED: f64 = 2.0;
/// What a concept is worth that no sentence has with a word of the question.
const UNASKED: f64 = 0.15;

/// Fits the scores of concepts to the reader.
pub fn apply(material: &mut Material, scores: &mut [f64], options: &SummarizerOptions) {
    if let Some(known) = &options.known {
        let stems = material.stems(known);
        let read: FxHashSet<u64> =
            stems.windows(material.concept_size()).map(|words| material.family(words)).collect();
        for (concept, score) in scores.iter_mut().enumerate() {
            if read.contains(&material.family(material.stems_of(concept))) {
                *score = 0.0;
            }
        }
    }
    if let Some(query) = &options.query {
        let asked: FxHashSet<u32> =
            material.stems(query).into_iter().filter(|&stem| !material.is_stop(stem)).collect();
        let words_of = |concept: u32| {
            material.stems_of(concept as usize).iter().filter(|stem| asked.contains(stem)).count()
        };
        let has = |concept: u32| words_of(concept) > 0;
        // What is asked for may be said once, by the way, and then its concepts alone are worth next to nothing.
        let worth = scores.iter().filter(|&&score| score > 0.0);
        let mean = worth.clone().sum::<f64>() / worth.count().max(1) as f64;
        let mut near = vec![false; scores.len()];
        for sentence in &material.sentences {
            if sentence.grams.iter().any(|gram| has(gram.concept)) {
                sentence.grams.iter().for_each(|gram| near[gram.concept as usize] = true);
            }
        }
        for (concept, score) in scores.iter_mut().enumerate() {
            *score = match (words_of(concept as u32), near[concept]) {
                (0, false) => *score * UNASKED,
                (0, true) => *score,
                // What the reader knows already is worth nothing.
                _ if *score == 0.0 => 0.0,
                (words, _) => score.max(mean) * ASKED * words as f64,
            };
        }
    }
}

/// What is counted in reports of one event, and corrected from one to the next: each line is one thing.
#[rustfmt::skip]
const TOLLS: &[&[&str]] = &[
    &["kill", "dead", "die", "death", "deaths"], &["injur", "wound", "hurt"], &["miss"], &["homeless"], &["arrest", "detain"],
    &["evacu"], &["rescu"],
];
/// Stems between a count and what it counts, at most.
const APART: usize = 4;
/// Stems between the words *death toll* and the count, at most.
const TOLD: usize = 15;

/// Marks sentences of reports that give a count which a later report gives differently. Later is what the dates
/// of the documents say or, if not all have one, their order.
pub fn mark_outdated(material: &mut Material) {
    if material.kind != Kind::Reports {
        return;
    }
    let counts: Vec<Vec<(usize, u32)>> =
        (0..material.sentences.len()).map(|at| tolls(material, at)).collect();
    let mut latest: FxHashMap<usize, ((u32, usize), Vec<u32>)> = FxHashMap::default();
    for (sentence, counts) in material.sentences.iter().zip(&counts) {
        for &(toll, number) in counts {
            let when = material.when(sentence.document);
            let (last, numbers) = latest.entry(toll).or_insert_with(|| (when, Vec::new()));
            if when > *last {
                (*last, *numbers) = (when, Vec::new());
            }
            if when == *last {
                numbers.push(number);
            }
        }
    }
    for (index, counts) in counts.iter().enumerate() {
        let when = material.when(material.sentences[index].document);
        let outdated = |&(toll, number): &(usize, u32)| {
            let (last, numbers) = &latest[&toll];
            when < *last && !numbers.contains(&number)
        };
        material.sentences[index].outdated = counts.iter().any(outdated);
    }
}

/// The counts of a sentence: what is counted, and the stem of its number.
fn tolls(material: &Material, sentence: usize) -> Vec<(usize, u32)> {
    if material.sentences[sentence].fitness != Fitness::Sentence {
        return Vec::new();
    }
    let stems = material.stems_of_sentence(sentence);
    let mut found = Vec::new();
    for (at, &stem) in stems.iter().enumerate() {
        let Some(toll) = TOLLS.iter().position(|toll| toll.contains(&material.stem(stem))) else { continue };
        // "The death toll of the earthquake … rose to 23."
        let named = stems.get(at + 1).is_some_and(|&next| material.stem(next) == "toll");
        let after = if named { TOLD } else { APART };
        let around = at.saturating_sub(APART)..(at + after + 1).min(stems.len());
        let numbers = around.filter(|&other| is_count(material.stem(stems[other])));
        if let Some(number) = numbers.min_by_key(|other| other.abs_diff(at)) {
            found.push((toll, stems[number]));
        }
    }
    found
}

fn is_count(stem: &str) -> bool {
    // Years count nothing.
    is_number(stem) && !(stem.len() == 4 && (stem.starts_with("19") || stem.starts_with("20")))
}
