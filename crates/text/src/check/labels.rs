use rustc_hash::FxHashMap;

use super::report::{LabelCount, LayerReport, UnseenLabels};

/// Most bytes of different labels that are remembered for a layer.
const MOST_BYTES: usize = 8 << 20;

/// How often each label of a layer was seen.
pub(super) struct Labels {
    pub name: String,
    counts: FxHashMap<Box<str>, u64>,
    bytes: usize,
    /// Labels that came when there was no more room.
    others: u64,
    missing: u64,
}

impl Labels {
    pub fn new(name: String) -> Self {
        Labels { name, counts: FxHashMap::default(), bytes: 0, others: 0, missing: 0 }
    }

    pub fn add(&mut self, label: Option<&str>) {
        let Some(label) = label else {
            self.missing += 1;
            return;
        };
        if let Some(count) = self.counts.get_mut(label) {
            *count += 1;
        } else if self.bytes + label.len() <= MOST_BYTES && self.counts.len() * 64 <= MOST_BYTES {
            self.bytes += label.len();
            self.counts.insert(label.into(), 1);
        } else {
            self.others += 1;
        }
    }

    /// Labels by falling count, then by name.
    fn sorted(&self, keep: impl Fn(&str, u64) -> bool) -> Vec<LabelCount> {
        let mut labels: Vec<LabelCount> = self
            .counts
            .iter()
            .filter(|&(label, &count)| keep(label, count))
            .map(|(label, &count)| LabelCount { label: label.to_string(), count })
            .collect();
        labels.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.label.cmp(&b.label)));
        labels
    }

    pub fn report(&self, rare: u64, limit: usize) -> LayerReport {
        let mut labels = self.sorted(|_, _| true);
        let mut rare_labels = self.sorted(|_, count| count <= rare);
        let (distinct, rare_distinct) = (labels.len() as u64, rare_labels.len() as u64);
        labels.truncate(limit);
        rare_labels.truncate(limit);
        let total = self.counts.values().sum::<u64>() + self.others;
        LayerReport {
            name: self.name.clone(),
            total,
            distinct,
            distinct_is_complete: self.others == 0,
            missing: self.missing,
            labels,
            rare_distinct,
            rare: rare_labels,
        }
    }

    /// The labels that another set of the same layer does not have.
    pub fn not_in(&self, seen: &Labels, limit: usize) -> UnseenLabels {
        // Where the other stopped remembering, a label that is not there may still have been seen.
        let known = |label: &str| seen.counts.contains_key(label) || seen.others > 0;
        let mut labels = self.sorted(|label, _| !known(label));
        let (distinct, count) = (labels.len() as u64, labels.iter().map(|label| label.count).sum());
        labels.truncate(limit);
        UnseenLabels { name: self.name.clone(), distinct, count, labels }
    }
}
