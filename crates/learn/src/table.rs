//! Weights on disk: from a feature's key to its row of (label, weight) pairs.
//!
//! A slot of twelve bytes, `[lower half of the key, upper half, row]`, is found by the upper bits of the key
//! and linear probing, so a feature that the model does not know costs one cache line. Keys are stored whole:
//! no feature is taken for another, and training can go on from a model. A row with few labels is a run of
//! label ids beside a run of weights, headed by its length; a row where most labels have a weight is one run
//! of all of them without ids. Weights are single or half precision.

use std::sync::Arc;

use half::f16;

use crate::LearnError;
use crate::model::{Model, ModelWriter, Section};
use crate::vectorized;

/// How weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 32 bits a weight, as they were in training.
    #[default]
    Single,
    /// 16 bits a weight: half the size, three significant digits, at most 65,504.
    Half,
}

const EMPTY: u32 = u32::MAX;
const DENSE: u32 = 1 << 31;

/// Weights in the precision they were stored with.
#[derive(Debug, Clone)]
enum Stored {
    Single(Section<f32>),
    Half(Section<u16>),
}

/// Does the same with weights of either precision: `$single` turns what is stored into a weight.
macro_rules! stored {
    ($stored:expr, |$weights:ident, $single:ident| $body:expr) => {
        match $stored {
            Stored::Single($weights) => {
                let $single = |weight: f32| weight;
                $body
            }
            Stored::Half($weights) => {
                let $single = single;
                $body
            }
        }
    };
}

impl Stored {
    fn open(model: &Model, name: &str) -> Result<Self, LearnError> {
        if model.has(&format!("{name}.half")) {
            return Ok(Self::Half(model.array(&format!("{name}.half"))?));
        }
        Ok(Self::Single(model.array(&format!("{name}.single"))?))
    }

    fn store(writer: &mut ModelWriter, name: &str, weights: &[f32], precision: Precision) {
        match precision {
            Precision::Single => writer.array(format!("{name}.single"), weights),
            Precision::Half => {
                let halves: Vec<u16> = weights.iter().map(|&weight| half_bits(weight)).collect();
                writer.array(format!("{name}.half"), &halves)
            }
        };
    }

    fn get(&self, index: usize) -> f32 {
        stored!(self, |weights, single| weights.get(index).map_or(0.0, |&bits| single(bits)))
    }

    fn len(&self) -> usize {
        stored!(self, |weights, _single| weights.len())
    }
}

fn half_bits(weight: f32) -> u16 {
    f16::from_f32(weight.clamp(-65504.0, 65504.0)).to_bits()
}

/// A half as a single, exactly: the exponent is moved by one multiplication, subnormals included, which
/// compilers turn into vector code on any machine. Halves that are not finite are never stored.
#[inline]
fn single(bits: u16) -> f32 {
    let bits = u32::from(bits);
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * f32::from_bits((112 + 127) << 23)
}

/// A bit for each key in the slots, at the place of its lower end; at most one in eleven is set.
fn known(slots: &[u32]) -> Arc<[u64]> {
    let mut bits = vec![0; (slots.len() / 3 * 8).next_power_of_two().div_ceil(64)];
    for slot in slots.chunks_exact(3).filter(|slot| slot[2] != EMPTY) {
        let at = slot[0] as usize & (64 * bits.len() - 1);
        bits[at / 64] |= 1 << (at % 64);
    }
    bits.into()
}

/// The weights of a model: feature key → row of (label, weight) pairs.
#[derive(Debug, Clone)]
pub struct Table {
    dimension: usize,
    /// A bit for the lower end of every key: most features that the model does not know are seen here, in
    /// memory that stays in the cache.
    known: Arc<[u64]>,
    slots: Section<u32>,
    labels: Section<u16>,
    sparse: Stored,
    dense: Stored,
}

impl Table {
    /// Reads the table that was stored under `prefix`.
    pub fn open(model: &Model, prefix: &str) -> Result<Self, LearnError> {
        let shape = model.array::<u32>(&format!("{prefix}.shape"))?;
        let slots: Section<u32> = model.array(&format!("{prefix}.slots"))?;
        let table = Self {
            dimension: shape.first().copied().unwrap_or(0) as usize,
            known: known(&slots),
            slots,
            labels: model.array(&format!("{prefix}.labels"))?,
            sparse: Stored::open(model, &format!("{prefix}.sparse"))?,
            dense: Stored::open(model, &format!("{prefix}.dense"))?,
        };
        if table.dimension == 0
            || !table.slots.len().is_multiple_of(3)
            || table.sparse.len() != table.labels.len()
            || !table.dense.len().is_multiple_of(table.dimension)
            || !table.rows_fit()
        {
            return Err(
                model.damaged(format!("the sections of the weight table `{prefix}` do not fit each other"))
            );
        }
        Ok(table)
    }

    /// Whether every label is below the dimension and every slot leads to a row.
    fn rows_fit(&self) -> bool {
        let mut rest: &[u16] = &self.labels;
        while let Some((&length, after)) = rest.split_first() {
            let Some((labels, next)) = after.split_at_checked(length as usize) else { return false };
            // The largest first: a loop without an exit is compiled to vectors.
            if labels.iter().fold(0, |most, &label| most.max(label)) as usize >= self.dimension {
                return false;
            }
            rest = next;
        }
        let (sparse, dense) = (self.labels.len() as u32, (self.dense.len() / self.dimension) as u32);
        let leads = |row: u32| match row & DENSE {
            0 => row < sparse,
            _ => row == EMPTY || row & !DENSE < dense,
        };
        self.slots.chunks_exact(3).fold(true, |all, slot| all & leads(slot[2]))
    }

    /// The number of labels a row can speak of.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of features with a row.
    pub fn features(&self) -> usize {
        self.slots.chunks_exact(3).filter(|slot| slot[2] != EMPTY).count()
    }

    /// The number of weights stored.
    pub fn parameters(&self) -> usize {
        self.rows().map(|(_, row)| row.count()).sum()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        let bit = key as u32 as usize & (64 * self.known.len() - 1);
        if self.known[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        let slots: &[u32] = &self.slots;
        let capacity = slots.len() / 3;
        let mut at = ((u128::from(key) * capacity as u128) >> 64) as usize;
        for _ in 0..capacity {
            let &[low, high, row] = &slots[3 * at..3 * at + 3] else { return None };
            if row == EMPTY {
                return None;
            }
            if low == key as u32 && high == (key >> 32) as u32 {
                return Some(row);
            }
            at += 1;
            if at == capacity {
                at = 0;
            }
        }
        None
    }

    /// Adds `value` times the feature's weights to the scores of the labels. Says whether the feature is
    /// known.
    ///
    /// This is the inner loop of every prediction.
    #[inline]
    pub fn add(&self, key: u64, value: f32, scores: &mut [f32]) -> bool {
        let Some(row) = self.find(key) else { return false };
        self.add_row(row, value, scores);
        true
    }

    /// As [`add`](Self::add) for the features of a whole token. All are looked up before the first row is
    /// added: lookups that do not wait for each other overlap their cache misses. `found` is scratch space.
    #[inline]
    pub fn add_all(
        &self,
        features: impl Iterator<Item = (u64, f32)>,
        found: &mut Vec<(u32, f32)>,
        scores: &mut [f32],
    ) {
        found.clear();
        features.for_each(|(key, value)| {
            if let Some(row) = self.find(key) {
                found.push((row, value));
            }
        });
        found.iter().for_each(|&(row, value)| self.add_row(row, value, scores));
    }

    #[inline]
    fn add_row(&self, row: u32, value: f32, scores: &mut [f32]) {
        if row & DENSE != 0 {
            let start = (row & !DENSE) as usize * self.dimension;
            stored!(&self.dense, |weights, single| {
                let weights = weights.get(start..start + self.dimension).unwrap_or(&[]);
                scores.iter_mut().zip(weights).for_each(|(score, &bits)| *score += value * single(bits));
            });
        } else {
            let labels = self.sparse_labels(row);
            let start = row as usize + 1;
            stored!(&self.sparse, |weights, single| {
                for (&label, &bits) in labels.iter().zip(weights.get(start..).unwrap_or(&[])) {
                    if let Some(score) = scores.get_mut(label as usize) {
                        *score += value * single(bits);
                    }
                }
            });
        }
    }

    /// The label ids of a sparse row; empty where a row would leave the section.
    #[inline]
    fn sparse_labels(&self, row: u32) -> &[u16] {
        let start = row as usize;
        let Some(&length) = self.labels.get(start) else { return &[] };
        self.labels.get(start + 1..start + 1 + length as usize).unwrap_or(&[])
    }

    /// The (label, weight) pairs of a feature, without zeros; `None` if the feature is unknown.
    pub fn row(&self, key: u64) -> Option<impl Iterator<Item = (u32, f32)>> {
        self.find(key).map(|row| self.pairs(row))
    }

    fn pairs(&self, row: u32) -> impl Iterator<Item = (u32, f32)> {
        let dense = row & DENSE != 0;
        let labels = if dense { &[] } else { self.sparse_labels(row) };
        let length = if dense { self.dimension } else { labels.len() };
        let base = (row & !DENSE) as usize;
        (0..length)
            .map(move |i| match dense {
                true => (i as u32, self.dense.get(base * self.dimension + i)),
                false => (u32::from(labels[i]), self.sparse.get(base + 1 + i)),
            })
            // A slot that leads into the middle of a row might take its length for a label.
            .filter(|&(label, weight)| weight != 0.0 && (label as usize) < self.dimension)
    }

    /// Every key with its row. Names, where they were kept, are in
    /// [`FeatureNames`](crate::names::FeatureNames).
    pub fn rows(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = (u32, f32)>)> {
        self.slots
            .chunks_exact(3)
            .filter(|slot| slot[2] != EMPTY)
            .map(|slot| (u64::from(slot[0]) | u64::from(slot[1]) << 32, self.pairs(slot[2])))
    }
}

/// Gathers rows and stores them as a [`Table`].
#[derive(Debug)]
pub struct TableBuilder {
    dimension: usize,
    precision: Precision,
    keys: Vec<(u64, u32)>,
    labels: Vec<u16>,
    sparse: Vec<f32>,
    dense: Vec<f32>,
}

impl TableBuilder {
    /// A table whose rows speak of the labels `0..dimension`.
    ///
    /// # Panics
    /// If there are more than 65,535 labels: label ids take 16 bits.
    pub fn new(dimension: usize, precision: Precision) -> Self {
        assert!(dimension <= usize::from(u16::MAX), "a table holds at most 65,535 labels");
        Self {
            dimension: dimension.max(1),
            precision,
            keys: Vec::new(),
            labels: Vec::new(),
            sparse: Vec::new(),
            dense: Vec::new(),
        }
    }

    /// Adds a feature with its weights. Weights that the chosen precision cannot tell from zero are left out;
    /// a feature without weights takes no room.
    pub fn row(&mut self, key: u64, pairs: impl IntoIterator<Item = (u32, f32)>) {
        let zero = |weight: f32| match self.precision {
            Precision::Single => weight == 0.0,
            Precision::Half => half_bits(weight) & 0x7fff == 0,
        };
        let start = self.sparse.len();
        self.labels.push(0);
        self.sparse.push(0.0);
        for (label, weight) in pairs {
            if (label as usize) < self.dimension && !zero(weight) {
                self.labels.push(label as u16);
                self.sparse.push(weight);
            }
        }
        let length = self.sparse.len() - start - 1;
        let size = if self.precision == Precision::Half { 2 } else { 4 };
        if length == 0 {
            self.labels.truncate(start);
            self.sparse.truncate(start);
        } else if size * self.dimension <= (size + 2) * (length + 1) {
            let row = self.dense.len() / self.dimension;
            self.dense.resize(self.dense.len() + self.dimension, 0.0);
            for (&label, &weight) in self.labels[start + 1..].iter().zip(&self.sparse[start + 1..]) {
                self.dense[row * self.dimension + label as usize] = weight;
            }
            self.labels.truncate(start);
            self.sparse.truncate(start);
            self.keys.push((key, row as u32 | DENSE));
        } else {
            self.labels[start] = length as u16;
            self.keys.push((key, start as u32));
        }
    }

    /// Stores the table under `prefix`.
    pub fn store(mut self, writer: &mut ModelWriter, prefix: &str) {
        // Sorted by key, a feature's slot and its neighbours depend on the set of features, not on their
        // order.
        self.keys.sort_unstable();
        // The fuller, the more slots are looked at on the way to a key. Half precision is for models that are to be
        // small.
        let spare = match self.precision {
            Precision::Half => self.keys.len() * 2 / 5,
            Precision::Single => self.keys.len(),
        };
        let capacity = self.keys.len() + spare + 1;
        let mut slots = vec![EMPTY; 3 * capacity];
        for &(key, row) in &self.keys {
            let mut at = ((u128::from(key) * capacity as u128) >> 64) as usize;
            while slots[3 * at + 2] != EMPTY {
                at = if at + 1 == capacity { 0 } else { at + 1 };
            }
            slots[3 * at..3 * at + 3].copy_from_slice(&[key as u32, (key >> 32) as u32, row]);
        }
        writer.array(format!("{prefix}.shape"), &[self.dimension as u32]);
        writer.array(format!("{prefix}.slots"), &slots);
        writer.array(format!("{prefix}.labels"), &self.labels);
        Stored::store(writer, &format!("{prefix}.sparse"), &self.sparse, self.precision);
        Stored::store(writer, &format!("{prefix}.dense"), &self.dense, self.precision);
    }
}

/// Weights addressed by the key's own bits, without keys: the hash kernel. Its size is fixed, and features
/// that fall on one weight share it, which large models with tens of millions of part features bear well.
#[derive(Debug, Clone)]
pub struct HashKernel {
    weights: Stored,
    mask: u64,
}

/// So many halves are gathered at a time, and become singles in vector registers.
const BLOCK: usize = 64;

vectorized! {
    /// Appends the weights of many keys; there are as many weights as a power of two.
    fn gather_halves(weights: &[u16], keys: &[u32], out: &mut Vec<f32>) {
        let (full, rest) = keys.as_chunks::<BLOCK>();
        let mut found = [0; BLOCK];
        for keys in full {
            for (found, &key) in found.iter_mut().zip(keys) {
                *found = weights[key as usize & (weights.len() - 1)];
            }
            out.extend_from_slice(&found.map(single));
        }
        out.extend(rest.iter().map(|&key| single(weights[key as usize & (weights.len() - 1)])));
    }
}

vectorized! {
    /// Adds weights to sums, one to each.
    fn add_halves(weights: &[u16], out: &mut [f32]) {
        out.iter_mut().zip(weights).for_each(|(sum, &bits)| *sum += single(bits));
    }
}

impl HashKernel {
    /// The weight index of a key in a kernel of 2^`bits` weights; training uses the same.
    #[inline]
    pub fn index(key: u64, bits: u32) -> u32 {
        (key & ((1 << bits) - 1)) as u32
    }

    /// Reads the kernel that was stored under `prefix`.
    pub fn open(model: &Model, prefix: &str) -> Result<Self, LearnError> {
        let weights = Stored::open(model, prefix)?;
        let size = weights.len();
        if !size.is_power_of_two() {
            return Err(model.damaged(format!(
                "the hash kernel `{prefix}` has {size} weights, which is no power of two"
            )));
        }
        Ok(Self { weights, mask: size as u64 - 1 })
    }

    /// Stores weights whose number is a power of two under `prefix`.
    pub fn store(writer: &mut ModelWriter, prefix: &str, weights: &[f32], precision: Precision) {
        Stored::store(writer, prefix, weights, precision);
    }

    /// The weight of a key.
    #[inline]
    pub fn weight(&self, key: u64) -> f32 {
        self.weights.get((key & self.mask) as usize)
    }

    /// The sum of the weights of many keys: the score of a part.
    #[inline]
    pub fn sum(&self, keys: &[u64]) -> f32 {
        stored!(&self.weights, |weights, single| {
            keys.iter().map(|key| single(weights[(key & self.mask) as usize])).sum()
        })
    }

    /// Appends the weights of many keys of 32 bits. The keys of a whole example at once keep more reads from
    /// memory under way than sums over the few keys of a part.
    pub fn gather(&self, keys: &[u32], out: &mut Vec<f32>) {
        match &self.weights {
            Stored::Single(weights) => {
                let weights: &[f32] = weights;
                out.extend(keys.iter().map(|&key| weights[key as usize & (weights.len() - 1)]));
            }
            Stored::Half(weights) => gather_halves(weights, keys, out),
        }
    }

    /// Adds the weights of a key and of those that follow it to `out`, one to each.
    pub fn add_run(&self, key: u64, out: &mut [f32]) {
        let start = (key & self.mask) as usize;
        let range = start..start + out.len();
        match &self.weights {
            Stored::Half(weights) if range.end <= weights.len() => add_halves(&weights[range], out),
            Stored::Single(weights) if range.end <= weights.len() => {
                out.iter_mut().zip(&weights[range]).for_each(|(sum, weight)| *sum += weight);
            }
            _ => (0..).zip(out).for_each(|(next, sum)| *sum += self.weight(key.wrapping_add(next))),
        }
    }

    /// All weights as single precision.
    pub fn to_vec(&self) -> Vec<f32> {
        (0..self.weights.len()).map(|index| self.weights.get(index)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{combine, key};
    use std::collections::BTreeMap;

    fn random(seed: &mut u64) -> u64 {
        *seed = combine(*seed, 77);
        *seed
    }

    #[test]
    fn every_row_comes_back_sparse_or_dense_single_or_half() {
        for (dimension, features, precision) in [
            (1, 500, Precision::Single),
            (7, 300, Precision::Half),
            (300, 200, Precision::Single),
            (3, 0, Precision::Half),
        ] {
            let mut seed = key(b"table");
            let mut builder = TableBuilder::new(dimension, precision);
            let mut rows = BTreeMap::new();
            for feature in 0..features {
                let key = key(&[1, feature as u8, (feature >> 8) as u8]);
                let mut row = vec![0.0f32; dimension];
                for _ in 0..1 + random(&mut seed) as usize % (2 * dimension) {
                    let label = random(&mut seed) as usize % dimension;
                    row[label] = (random(&mut seed) % 4001) as f32 / 8.0 - 250.0;
                }
                builder.row(key, row.iter().enumerate().map(|(label, &weight)| (label as u32, weight)));
                rows.insert(key, row);
            }
            let mut writer = ModelWriter::new("test", serde_json::Value::Null);
            builder.store(&mut writer, "t");
            let model = Model::from_bytes(&writer.to_bytes()).unwrap();
            let table = Table::open(&model, "t").unwrap();
            assert_eq!(
                table.features(),
                rows.values().filter(|row| row.iter().any(|&weight| weight != 0.0)).count()
            );
            assert!(
                table
                    .rows()
                    .all(|(key, row)| row.count() == table.row(key).unwrap().count()
                        && rows.contains_key(&key))
            );
            for (&key, row) in &rows {
                let mut scores = vec![1.0; dimension];
                table.add(key, 2.0, &mut scores);
                let expected: Vec<f32> = row.iter().map(|weight| 1.0 + 2.0 * weight).collect();
                for (score, wanted) in scores.iter().zip(&expected) {
                    let tolerance = if precision == Precision::Half { wanted.abs() / 900.0 } else { 0.0 };
                    assert!((score - wanted).abs() <= tolerance, "{score} is not {wanted}");
                }
                let count = table.row(key).map_or(0, Iterator::count);
                assert_eq!(count, row.iter().filter(|&&weight| weight != 0.0).count());
            }
            // Many at once, an unknown one among them, give the bits of one after the other.
            let features = || rows.keys().map(|&key| (key, 0.5)).chain([(key(b"unknown"), 1.0)]);
            let (mut apart, mut together) = (vec![0.0; dimension], vec![0.0; dimension]);
            features().for_each(|(key, value)| {
                table.add(key, value, &mut apart);
            });
            table.add_all(features(), &mut Vec::new(), &mut together);
            assert_eq!(apart, together);
            let unknown = (0..1000u32)
                .filter(|i| table.add(key(&i.to_le_bytes()), 1.0, &mut vec![0.0; dimension]))
                .count();
            assert_eq!(unknown, 0);
        }
    }

    #[test]
    fn halves_convert_exactly() {
        for bits in (0..0x7c00u16).chain(0x8000..0xfc00) {
            assert_eq!(single(bits), f16::from_bits(bits).to_f32());
        }
    }

    #[test]
    fn kernel_weights_come_back_and_a_wrong_size_is_refused() {
        let weights: Vec<f32> = (0..16).map(|i| i as f32 / 2.0).collect();
        let mut writer = ModelWriter::new("test", serde_json::Value::Null);
        HashKernel::store(&mut writer, "k", &weights, Precision::Half);
        HashKernel::store(&mut writer, "odd", &weights[..5], Precision::Single);
        let model = Model::from_bytes(&writer.to_bytes()).unwrap();
        let kernel = HashKernel::open(&model, "k").unwrap();
        assert_eq!(kernel.to_vec(), weights);
        assert_eq!(kernel.weight(16 * 7 + 3), 1.5);
        assert_eq!(kernel.sum(&[3, 16 + 4]), 3.5);
        let mut found = Vec::new();
        kernel.gather(&[3, 16 + 4], &mut found);
        assert_eq!(found, [1.5, 2.0]);
        let mut run = [1.0; 3];
        kernel.add_run(2, &mut run);
        assert_eq!(run, [2.0, 2.5, 3.0]);
        kernel.add_run(15, &mut run);
        assert_eq!(run, [9.5, 2.5, 3.5]);
        assert_eq!(HashKernel::index(16 * 7 + 3, 4), 3);
        assert!(HashKernel::open(&model, "odd").is_err());
    }
}
