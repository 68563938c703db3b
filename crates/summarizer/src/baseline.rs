//! Simple summaries to compare with: leading sentences, centroid, and maximal marginal relevance.

use consonant_text::Document;
use rustc_hash::FxHashMap;

use crate::fitness::Fitness;
use crate::material::Material;

consonant_task::names! {
    /// A way to choose sentences without a model.
    pub enum Baseline {
        /// The first sentence of each document, then the second of each, and so on.
        Lead = "lead",
        /// Greedily, likeness to the average less likeness to what is chosen (Carbonell & Goldstein 1998).
        Mmr = "mmr",
        /// Sentences most like the average of all (Radev et al. 2000), unless they repeat one already chosen.
        Centroid = "centroid",
    }
}

/// The weight of relevance against novelty.
const RELEVANCE: f64 = 0.7;
/// Sentences more alike than this repeat each other.
const REPETITION: f64 = 0.5;

/// Chooses sentences of a topic, by their numbers in the material, in the order of choice.
pub(crate) fn choose(baseline: Baseline, documents: &[Document], words: usize) -> (Material, Vec<usize>) {
    // Single stems.
    let material = Material::new(documents, 1);
    let candidates: Vec<usize> = (0..material.sentences.len())
        .filter(|&index| material.sentences[index].fitness == Fitness::Sentence)
        .collect();
    let mut chosen = Vec::new();
    let mut left = words;
    let mut take = |index: usize, chosen: &mut Vec<usize>| {
        let length = material.sentences[index].length;
        if length <= left {
            left -= length;
            chosen.push(index);
        }
    };
    if baseline == Baseline::Lead {
        let mut order = candidates;
        order.sort_by_key(|&index| (material.sentences[index].position, material.sentences[index].document));
        order.iter().for_each(|&index| take(index, &mut chosen));
        return (material, chosen);
    }
    let vectors: Vec<FxHashMap<u32, f64>> =
        candidates.iter().map(|&index| vector(&material, index)).collect();
    let mut centroid: FxHashMap<u32, f64> = FxHashMap::default();
    for vector in &vectors {
        vector.iter().for_each(|(&concept, &weight)| *centroid.entry(concept).or_default() += weight);
    }
    let relevance: Vec<f64> = vectors.iter().map(|vector| cosine(vector, &centroid)).collect();
    let mut repeated = vec![0.0f64; candidates.len()];
    let mut open: Vec<usize> = (0..candidates.len()).collect();
    loop {
        let score = |&at: &usize| match baseline {
            Baseline::Mmr => RELEVANCE * relevance[at] - (1.0 - RELEVANCE) * repeated[at],
            _ => relevance[at],
        };
        open.retain(|&at| baseline == Baseline::Mmr || repeated[at] < REPETITION);
        let Some(best) = open.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)).then(b.cmp(a)))
        else {
            break;
        };
        open.retain(|&at| at != best);
        let before = chosen.len();
        take(candidates[best], &mut chosen);
        if chosen.len() > before {
            open.iter().for_each(|&at| repeated[at] = repeated[at].max(cosine(&vectors[at], &vectors[best])));
        }
    }
    (material, chosen)
}

/// A sentence as weighted stems: counts times the logarithm of how rare they are among the sentences.
fn vector(material: &Material, index: usize) -> FxHashMap<u32, f64> {
    let mut vector: FxHashMap<u32, f64> = FxHashMap::default();
    for gram in &material.sentences[index].grams {
        let concept = &material.concepts[gram.concept as usize];
        if concept.stops == 0 {
            let rarity = (1.0 + material.sentences.len() as f64 / f64::from(concept.sentences)).ln();
            *vector.entry(gram.concept).or_default() += rarity;
        }
    }
    vector
}

fn cosine(a: &FxHashMap<u32, f64>, b: &FxHashMap<u32, f64>) -> f64 {
    let (small, large) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // Summed in a fixed order, so that ties fall the same way in every run.
    let mut terms: Vec<(u32, f64)> =
        small.iter().filter_map(|(key, x)| Some((*key, x * large.get(key)?))).collect();
    terms.sort_unstable_by_key(|&(key, _)| key);
    let norm = |v: &FxHashMap<u32, f64>| {
        let mut squares: Vec<f64> = v.values().map(|x| x * x).collect();
        squares.sort_unstable_by(f64::total_cmp);
        squares.iter().sum::<f64>().sqrt()
    };
    let product: f64 = terms.iter().map(|&(_, x)| x).sum();
    let length = norm(a) * norm(b);
    if length > 0.0 { product / length } else { 0.0 }
}
