//! What concepts are worth by themselves, learned before any summary is decoded.
//!
//! A summary's recall is a sum over concepts, so the score that serves it best is the share of references
//! that a concept can be expected to be in. That share is known for every concept of a training topic, chosen
//! or not: some hundreds of targets a topic, where the hinge loss of a whole summary has one. Least squares
//! on them, held to the built-in weights, is where training begins.

use consonant_learn::names::NamedFeature;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::features::Features;
use crate::item::Topic;
use crate::material::{Material, Profile};
use crate::model::Summarizer;
use crate::parts::{Objective, least_documents};
use crate::references::concept_recall;

/// Concepts of one topic and profile.
struct Row {
    features: Vec<NamedFeature>,
    /// How many there are.
    concepts: f64,
    /// How much they count: topics count alike.
    weight: f64,
    /// Their built-in score.
    built_in: f64,
    /// The share of references that have one of them, on average.
    share: f64,
}

/// Each topic counts as much as this many concepts.
const CONCEPTS: f64 = 500.0;
/// Weights below this are not worth keeping.
const LEAST: f64 = 1e-3;
/// When equations count as solved, relative to their right side, and the most steps towards that.
const ACCURACY: f64 = 1e-6;
const STEPS: usize = 500;

/// Weights to add to the built-in ones, by name. Only features of a [kind](crate::material::Kind) are
/// learned: what holds for letters says nothing about news. `strength` holds weights to zero; features of
/// fewer than `min_count` concepts are left out.
pub fn concept_weights(
    topics: &[&Topic],
    built_in: &Summarizer,
    strength: f64,
    min_count: u32,
) -> Vec<(String, f32)> {
    let rows: Vec<Row> = topics.par_iter().flat_map_iter(|topic| rows(topic, built_in)).collect();
    let mut counts: FxHashMap<&str, f64> = FxHashMap::default();
    for row in &rows {
        row.features.iter().for_each(|feature| *counts.entry(&feature.name).or_default() += row.concepts);
    }
    counts.retain(|_, count| *count >= f64::from(min_count));
    let mut names: Vec<&str> = counts.into_keys().collect();
    names.sort_unstable();
    let ids: FxHashMap<&str, u32> = names.iter().copied().zip(0..).collect();

    // Built-in scores are no shares; this is how much of one they stand for.
    let sum = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let scale = sum(&|r| r.weight * r.built_in * r.share) / sum(&|r| r.weight * r.built_in * r.built_in);
    if !scale.is_finite() || scale <= 0.0 {
        return Vec::new();
    }
    let mut equations = Equations::default();
    for row in &rows {
        let features =
            row.features.iter().filter_map(|feature| Some((*ids.get(feature.name.as_str())?, feature.value)));
        equations.push(features, row.weight, row.share - scale * row.built_in);
    }
    let weights = equations.solve(names.len(), strength).into_iter().map(|weight| weight / scale);
    let weights = names.iter().map(|name| name.to_string()).zip(weights.map(|weight| weight as f32));
    weights.filter(|&(_, weight)| f64::from(weight.abs()) >= LEAST).collect()
}

/// The concepts of a topic, those of one profile together.
fn rows(topic: &Topic, built_in: &Summarizer) -> Vec<Row> {
    let mut material = Material::new(&topic.documents, built_in.concept_size());
    let shares = concept_shares(&mut material, &topic.references);
    let least = least_documents(&material);
    let mut groups: FxHashMap<Profile, (f64, f64)> = FxHashMap::default();
    let mut order: Vec<Profile> = Vec::new();
    let mut all = 0.0;
    for (number, share) in shares.into_iter().enumerate() {
        if material.concepts[number].documents >= least {
            let profile = material.profile(number);
            let (concepts, sum) = groups.entry(profile).or_insert_with(|| {
                order.push(profile);
                (0.0, 0.0)
            });
            *concepts += 1.0;
            *sum += share;
            all += 1.0;
        }
    }
    let row = |profile: Profile| {
        let (concepts, sum) = groups[&profile];
        let mut features = Vec::new();
        Features::new(&mut features).concept_of_kind(&material, &profile);
        Row {
            features,
            concepts,
            weight: CONCEPTS * concepts / all,
            built_in: built_in.score(Objective::Compressive, |f| f.concept(&material, &profile)).max(0.0),
            share: sum / concepts,
        }
    };
    order.into_iter().map(row).collect()
}

/// For each concept, the share of references that have it.
fn concept_shares(material: &mut Material, references: &[String]) -> Vec<f64> {
    let size = material.concept_size();
    let concepts: usize =
        references.iter().map(|reference| (material.stems(reference).len() + 1).saturating_sub(size)).sum();
    let scale = concepts as f64 / references.len().max(1) as f64;
    concept_recall(material, references).into_iter().map(|recall| recall * scale).collect()
}

/// Weighted equations, one for each row: the sum of its features' weights should be its target.
#[derive(Default)]
struct Equations {
    /// The end of each row in `features`.
    ends: Vec<usize>,
    features: Vec<(u32, f32)>,
    weights: Vec<f64>,
    targets: Vec<f64>,
}

impl Equations {
    fn push(&mut self, features: impl Iterator<Item = (u32, f32)>, weight: f64, target: f64) {
        self.features.extend(features);
        self.ends.push(self.features.len());
        self.weights.push(weight);
        self.targets.push(target);
    }

    /// Calls `visit` with each row's features, weight and target.
    fn for_rows(&self, mut visit: impl FnMut(&[(u32, f32)], f64, f64)) {
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            visit(&self.features[start..end], self.weights[row], self.targets[row]);
            start = end;
        }
    }

    /// The solution with the least sum of weighted squared errors plus `strength` times its squared length,
    /// by conjugate gradients (Hestenes & Stiefel 1952), with the diagonal as preconditioner.
    fn solve(&self, unknowns: usize, strength: f64) -> Vec<f64> {
        // Nothing at all would leave features that always occur together undecided.
        let strength = strength.max(1e-9);
        let mut diagonal = vec![strength; unknowns];
        let mut residual = vec![0.0; unknowns];
        self.for_rows(|features, weight, target| {
            for &(id, value) in features {
                let (id, value) = (id as usize, f64::from(value));
                diagonal[id] += weight * value * value;
                residual[id] += weight * value * target;
            }
        });
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let enough = ACCURACY * ACCURACY * dot(&residual, &residual);
        let precondition = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&diagonal).map(|(residual, diagonal)| residual / diagonal).collect()
        };
        let mut solution = vec![0.0; unknowns];
        let mut scaled = precondition(&residual);
        let mut direction = scaled.clone();
        let mut size = dot(&residual, &scaled);
        let mut image = vec![0.0; unknowns];
        for _ in 0..STEPS {
            if dot(&residual, &residual) <= enough {
                break;
            }
            self.multiply(&direction, strength, &mut image);
            let step = size / dot(&direction, &image);
            for id in 0..unknowns {
                solution[id] += step * direction[id];
                residual[id] -= step * image[id];
            }
            scaled = precondition(&residual);
            let last = std::mem::replace(&mut size, dot(&residual, &scaled));
            for (direction, scaled) in direction.iter_mut().zip(&scaled) {
                *direction = scaled + size / last * *direction;
            }
        }
        solution
    }

    /// The matrix of the normal equations times a vector.
    fn multiply(&self, vector: &[f64], strength: f64, out: &mut [f64]) {
        out.iter_mut().zip(vector).for_each(|(out, value)| *out = strength * value);
        self.for_rows(|features, weight, _| {
            let sum: f64 = features.iter().map(|&(id, value)| vector[id as usize] * f64::from(value)).sum();
            features.iter().for_each(|&(id, value)| out[id as usize] += weight * sum * f64::from(value));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_has_no_gradient() {
        let mut seed = 11u64;
        let mut random = |below: u64| {
            seed = consonant_learn::hash::combine(seed, 5);
            seed % below
        };
        for strength in [0.1, 10.0] {
            let mut equations = Equations::default();
            for _ in 0..60 {
                let count = 1 + random(4);
                let features: Vec<(u32, f32)> =
                    (0..count).map(|_| (random(12) as u32, random(9) as f32 - 4.0)).collect();
                equations.push(features.into_iter(), 1.0 + random(5) as f64, random(100) as f64 / 10.0);
            }
            let solution = equations.solve(12, strength);
            let mut gradient: Vec<f64> = solution.iter().map(|weight| strength * weight).collect();
            equations.for_rows(|features, weight, target| {
                let sum: f64 =
                    features.iter().map(|&(id, value)| solution[id as usize] * f64::from(value)).sum();
                for &(id, value) in features {
                    gradient[id as usize] += weight * (sum - target) * f64::from(value);
                }
            });
            assert!(solution.iter().any(|weight| weight.abs() > 0.01));
            assert!(gradient.iter().all(|slope| slope.abs() < 1e-2), "{gradient:?}");
        }
    }
}
