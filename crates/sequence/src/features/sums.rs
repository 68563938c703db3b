use consonant_learn::table::Table;

use super::{Extractor, FeatureBuffer, FeatureWorkspace};

/// The most numbers that are kept.
const MOST_SUMS: usize = 1 << 24;
/// With more entries than this, rows of sums are longer than the sparse rows they would save.
const MOST_ENTRIES: usize = 256;

/// The weights of a token's features, added up; the sums of features that depend on one word alone (affixes,
/// n-grams, shape) are kept by word.
///
/// Such sums are always made apart and then added, kept or not: scores have the same bits whatever was met
/// before. They are those of one table, so every table wants its own.
#[derive(Debug, Default)]
pub struct TypeSums {
    /// Entries of a row of weights.
    entries: usize,
    groups: usize,
    /// For type and feature group, a row of sums, if it was computed.
    rows: Vec<f32>,
    known: Vec<bool>,
    /// Types that have a place.
    most: usize,
    epoch: u64,
    sum: Vec<f32>,
    buffer: FeatureBuffer,
    /// Rows of the table, with the values of their features.
    found: Vec<(u32, f32)>,
}

impl TypeSums {
    /// For a table with this many entries in a row.
    pub fn new(extractor: &Extractor, entries: usize) -> Self {
        let groups = extractor.type_groups();
        let most = MOST_SUMS / (entries * groups).max(1);
        Self { entries, groups, most, sum: vec![0.0; entries], ..Self::default() }
    }

    /// Adds the weights of all features of a token to `scores`: those of the templates, and those that `more`
    /// appends. Sums are kept unless `keep` is false, as it has to be for any other table.
    pub fn add(
        &mut self,
        (extractor, workspace): (&Extractor, &FeatureWorkspace),
        (table, keep): (&Table, bool),
        token: usize,
        more: impl FnOnce(&mut FeatureBuffer),
        scores: &mut [f32],
    ) {
        if self.entries > MOST_ENTRIES {
            extractor.node_features(workspace, token, &mut self.buffer);
        } else {
            self.add_types((extractor, workspace), (table, keep), token, scores);
            self.buffer.clear();
            extractor.context_features(workspace, token, &mut self.buffer);
        }
        more(&mut self.buffer);
        table.add_all(self.buffer.iter(), &mut self.found, scores);
    }

    fn add_types(
        &mut self,
        (extractor, workspace): (&Extractor, &FeatureWorkspace),
        (table, keep): (&Table, bool),
        token: usize,
        scores: &mut [f32],
    ) {
        if self.epoch != workspace.epoch() {
            self.epoch = workspace.epoch();
            self.known.clear();
            self.rows.clear();
        }
        for group in 0..self.groups {
            let kind = extractor.type_at(workspace, group, token);
            let place = kind as usize * self.groups + group;
            let keep = keep && (kind as usize) < self.most;
            if keep && self.known.get(place).is_some_and(|&known| known) {
                add_row(&self.rows[place * self.entries..][..self.entries], scores);
                continue;
            }
            self.sum.fill(0.0);
            self.buffer.clear();
            extractor.type_features(workspace, group, kind, &mut self.buffer);
            table.add_all(self.buffer.iter(), &mut self.found, &mut self.sum);
            add_row(&self.sum, scores);
            if keep {
                if self.known.len() <= place {
                    let places = extractor.types(workspace).min(self.most) * self.groups;
                    self.known.resize(places, false);
                    self.rows.resize(places * self.entries, 0.0);
                }
                self.known[place] = true;
                self.rows[place * self.entries..][..self.entries].copy_from_slice(&self.sum);
            }
        }
    }
}

#[inline]
fn add_row(row: &[f32], scores: &mut [f32]) {
    scores.iter_mut().zip(row).for_each(|(score, &sum)| *score += sum);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use consonant_learn::hash::{combine, key};
    use consonant_learn::model::{Model, ModelWriter};
    use consonant_learn::table::{Precision, TableBuilder};

    use super::*;
    use crate::features::{Resources, Templates};

    fn extractor() -> Extractor {
        let resources = Arc::new(Resources::default());
        let templates = "U0:%x[0,0]\nU1:%s[0,0,1-3]\nU2:%x[-1,0]\nU3:%x[-1,0]/%x[0,0]\n";
        Extractor::new(Arc::new(Templates::compile(templates, &["form"], &resources).unwrap()), resources)
    }

    /// A weight for every feature of these sentences and every entry.
    fn table(extractor: &Extractor, sentences: &[&[&str]], entries: usize) -> Table {
        let (mut workspace, mut features) = (extractor.workspace(), FeatureBuffer::default());
        let mut keys = std::collections::BTreeSet::from([key(b"more")]);
        for words in sentences {
            extractor.load(&mut workspace, words.len(), |token, _| words[token]);
            for token in 0..words.len() {
                extractor.node_features(&workspace, token, &mut features);
                keys.extend(&features.keys);
            }
        }
        let mut builder = TableBuilder::new(entries, Precision::Single);
        for key in keys {
            let weight = |entry: u32| (combine(key, entry.into()) % 2001) as f32 / 997.0 - 1.0;
            builder.row(key, (0..entries as u32).map(|entry| (entry, weight(entry))));
        }
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        builder.store(&mut writer, "t");
        Table::open(&Model::from_bytes(&writer.to_bytes()).unwrap(), "t").unwrap()
    }

    #[test]
    fn scores_are_those_of_all_features_with_the_same_bits_whatever_was_met_before() {
        let sentences: [&[&str]; 3] = [&["the", "cat", "the", "dog"], &["dog"], &["a", "the", "cat"]];
        let extractor = extractor();
        assert!(extractor.type_groups() > 0);
        for entries in [3, MOST_ENTRIES, MOST_ENTRIES + 1] {
            let table = table(&extractor, &sentences, entries);
            let (mut workspace, mut features) = (extractor.workspace(), FeatureBuffer::default());
            let mut warm = TypeSums::new(&extractor, entries);
            for words in sentences.into_iter().cycle().take(9) {
                extractor.load(&mut workspace, words.len(), |token, _| words[token]);
                for token in 0..words.len() {
                    let scores = |sums: &mut TypeSums, keep| {
                        let mut scores = vec![0.5; entries];
                        let more = |features: &mut FeatureBuffer| features.keys.push(key(b"more"));
                        sums.add((&extractor, &workspace), (&table, keep), token, more, &mut scores);
                        scores
                    };
                    let kept = scores(&mut warm, true);
                    assert_eq!(kept, scores(&mut TypeSums::new(&extractor, entries), true));
                    assert_eq!(kept, scores(&mut warm, false));
                    extractor.node_features(&workspace, token, &mut features);
                    let mut whole = vec![0.5; entries];
                    features.keys.iter().chain(&[key(b"more")]).for_each(|&key| {
                        table.add(key, 1.0, &mut whole);
                    });
                    assert!(kept.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-4), "{kept:?} {whole:?}");
                }
            }
        }
    }

    #[test]
    fn sums_kept_with_one_workspace_are_not_taken_for_those_of_another() {
        let extractor = extractor();
        let sentences: [&[&str]; 2] = [&["the", "cat"], &["dog", "the"]];
        let table = table(&extractor, &sentences, 3);
        let mut shared = TypeSums::new(&extractor, 3);
        for words in sentences.into_iter().cycle().take(4) {
            // Types are numbered as they are met: a new workspace gives the number of one word to another.
            let mut workspace = extractor.workspace();
            extractor.load(&mut workspace, words.len(), |token, _| words[token]);
            for token in 0..words.len() {
                let scores = |sums: &mut TypeSums| {
                    let mut scores = vec![0.0; 3];
                    sums.add((&extractor, &workspace), (&table, true), token, |_| {}, &mut scores);
                    scores
                };
                assert_eq!(scores(&mut shared), scores(&mut TypeSums::new(&extractor, 3)));
            }
        }
    }
}
