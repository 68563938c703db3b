//! Summaries to learn from: the best that can be made of a topic's own words, judged by what people wrote,
//! and the nearest compression to one that a person made.

use rustc_hash::FxHashMap;

use crate::SummarizerError;
use crate::decode::{SummarizerOptions, decode};
use crate::material::Material;
use crate::parts::Assembly;
use crate::problem::{NONE, Problem, Scores};
use crate::summarize::best_compression;
use crate::units::UnitTree;

/// What each concept of the documents is worth for recall: the share of the references' concepts that it
/// makes up.
pub fn concept_recall(material: &mut Material, references: &[String]) -> Vec<f64> {
    let size = material.concept_size();
    let mut worth = vec![0.0; material.concepts.len()];
    let mut total = 0.0;
    for reference in references {
        let stems = material.stems(reference);
        let mut seen: FxHashMap<&[u32], ()> = FxHashMap::default();
        for words in stems.windows(size) {
            total += 1.0;
            // The second occurrence in a reference asks for a second one in the summary, which coverage
            // cannot give.
            if seen.insert(words, ()).is_none()
                && let Some(concept) = material.find(words)
            {
                worth[concept as usize] += 1.0;
            }
        }
    }
    if total > 0.0 {
        worth.iter_mut().for_each(|worth| *worth /= total);
    }
    worth
}

/// What a cut costs in an oracle summary, next to a whole reference: cuts that gain nothing are not made.
const CUT: f64 = 1e-4;

/// The summary with the greatest recall of the references' concepts (Berg-Kirkpatrick et al. 2011): which
/// units it has.
pub fn oracle_summary(assembly: &Assembly, worth: &[f64]) -> Result<Vec<bool>, SummarizerError> {
    let mut scores = Scores::zeros(&assembly.problem);
    for (score, &concept) in scores.concepts.iter_mut().zip(&assembly.concepts) {
        *score = worth[concept as usize];
    }
    scores.deletions.fill(-CUT);
    scores.leads.fill(-CUT);
    scores.sentences.fill(-CUT);
    Ok(decode(&assembly.problem, &scores, &SummarizerOptions::new())?.chosen)
}

/// The compression that agrees with a person's on most words, among those the tree allows.
pub fn nearest_compression(units: &UnitTree, keep: &[bool]) -> (Problem, Vec<bool>) {
    let mut problem = Problem::new(usize::MAX >> 1, 1);
    problem.push_sentence(&units.units);
    // Keeping a unit counts what is right in it less what is wrong; as deletions this is the negative, for
    // the subtree.
    let mut balance = vec![0.0; units.units.len()];
    for (&unit, &keep) in units.unit_of.iter().zip(keep) {
        if unit != NONE {
            balance[unit as usize] += if keep { 1.0 } else { -1.0 };
        }
    }
    let chosen = best_linear(&problem, &balance);
    (problem, chosen)
}

/// The compression with the greatest sum over its units.
pub(crate) fn best_linear(problem: &Problem, units: &[f64]) -> Vec<bool> {
    // A deletion's score goes to the parent and against the unit: from the leaves up, choose deletions so
    // that the units' linear scores come out as wanted. The root's score is the same for all compressions
    // that it leads.
    let mut scores = Scores::zeros(problem);
    let mut subtree = units.to_vec();
    for unit in (1..units.len()).rev() {
        subtree[problem.units[unit].parent as usize] += subtree[unit];
    }
    for unit in 1..units.len() {
        scores.deletions[unit] = -subtree[unit];
        if problem.units[unit].may_lead {
            scores.leads[unit] = subtree[unit] - subtree[0];
        }
    }
    best_compression(problem, &scores, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Compression, Unit};

    #[test]
    fn the_nearest_compression_is_the_best_of_all() {
        // Random trees of up to seven units, random balances; against all subsets.
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = consonant_learn::hash::combine(seed, 3);
            seed % below
        };
        for _ in 0..200 {
            let count = 1 + random(7) as usize;
            let units = random_tree(count, &mut random);
            let balance: Vec<f64> = (0..count).map(|_| random(9) as f64 - 4.0).collect();
            let mut problem = Problem::new(1000, 1);
            problem.push_sentence(&units);
            let found = best_linear(&problem, &balance);
            let worth =
                |chosen: &[bool]| -> f64 { (0..count).filter(|&u| chosen[u]).map(|u| balance[u]).sum() };
            let best = (1..1u32 << count)
                .map(|bits| (0..count).map(|u| bits >> u & 1 == 1).collect::<Vec<_>>())
                .filter(|chosen| problem.top_of(0, chosen) != Compression::Broken)
                .map(|chosen| worth(&chosen))
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(matches!(problem.top_of(0, &found), Compression::Under(_)));
            assert!((worth(&found) - best).abs() < 1e-9);
        }
    }

    fn random_tree(count: usize, random: &mut impl FnMut(u64) -> u64) -> Vec<Unit> {
        let mut units = vec![Unit { parent: NONE, end: 0, length: 1, deletable: false, may_lead: false }];
        for unit in 1..count {
            // A parent on the rightmost path keeps the order depth-first.
            let mut path = vec![unit as u32 - 1];
            while units[*path.last().unwrap() as usize].parent != NONE {
                path.push(units[*path.last().unwrap() as usize].parent);
            }
            let parent = path[random(path.len() as u64) as usize];
            units.push(Unit {
                parent,
                end: 0,
                length: 1,
                deletable: random(4) > 0,
                may_lead: random(3) == 0,
            });
        }
        for unit in (0..count).rev() {
            units[unit].end = units[unit].end.max(unit as u32 + 1);
            if units[unit].parent != NONE {
                let (parent, end) = (units[unit].parent as usize, units[unit].end);
                units[parent].end = units[parent].end.max(end);
            }
        }
        units
    }
}
