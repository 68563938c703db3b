//! The strongest weights of a chain, for people who inspect a model.

use consonant_learn::names::{self, FeatureNames};
use rustc_hash::FxHashMap;

use crate::ChainModel;

/// A weight and what it speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Strength {
    /// The feature, or the labels of an n-gram.
    pub feature: String,
    /// The label.
    pub label: String,
    /// The weight.
    pub weight: f32,
}

impl ChainModel {
    /// The strongest weights, label n-grams included, strongest first. Features without a name are shown by
    /// their keys.
    pub fn strongest(&self, names: Option<&FeatureNames>, count: usize) -> Vec<Strength> {
        let known: FxHashMap<u64, &str> = names.into_iter().flat_map(FeatureNames::iter).collect();
        let label = |entry: u32| self.entry_name(entry).to_owned();
        let mut found: Vec<(f32, (u64, u32))> = Vec::new();
        for (key, pairs) in self.node_table().rows() {
            found.extend(pairs.map(|(label, weight)| (weight, (key, label))));
        }
        names::strongest(&mut found, count);
        let mut strengths: Vec<Strength> = found
            .into_iter()
            .map(|(weight, (key, of))| Strength {
                feature: known.get(&key).map_or_else(|| format!("#{key:016x}"), |name| (*name).to_owned()),
                label: label(of),
                weight,
            })
            .collect();
        for gram in self.grams().grams() {
            let Some((last, history)) = gram.split_last() else { continue };
            let history: Vec<String> = history.iter().map(|&of| label(of)).collect();
            strengths.push(Strength {
                feature: format!("after {}", history.join(" ")),
                label: label(*last),
                weight: self.gram_weight(gram),
            });
        }
        strengths.sort_by(|a, b| {
            b.weight.abs().total_cmp(&a.weight.abs()).then_with(|| a.feature.cmp(&b.feature))
        });
        strengths.truncate(count);
        strengths
    }

    /// The keys of the features with the strongest weights, in their own order.
    pub fn strongest_features(&self, count: usize) -> Vec<u64> {
        let mut found: Vec<(f32, u64)> = Vec::new();
        for (key, pairs) in self.node_table().rows() {
            let strongest = pairs.map(|(_, weight)| weight).max_by(|a, b| a.abs().total_cmp(&b.abs()));
            found.extend(strongest.map(|weight| (weight, key)));
        }
        names::strongest(&mut found, count);
        let mut keys: Vec<u64> = found.into_iter().map(|(_, key)| key).collect();
        keys.sort_unstable();
        keys
    }
}
