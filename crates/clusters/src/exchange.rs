//! Words into clusters: each word goes where the clusters tell most about their neighbours, until none moves (the exchange algorithm of
//! Kneser & Ney 1993; Martin, Liermann & Ney 1998).
//!
//! What is maximized is the likelihood of a class bigram model: Σ N(c,d) log N(c,d) − 2 Σ N(c) log N(c) over clusters.

use rayon::prelude::*;

use crate::counts::{Bigrams, SPECIAL};

/// With more neighbouring clusters than this, threads share the clusters that a word may go to.
const WORTH_SHARING: usize = 96;
/// Numbers whose n log n is kept.
const KEPT: usize = 1 << 16;

/// n log n.
pub(crate) struct Entropy(Vec<f64>);

impl Entropy {
    pub(crate) fn new() -> Self {
        Self((0..KEPT as u64).map(compute).collect())
    }

    #[inline]
    pub(crate) fn of(&self, count: u64) -> f64 {
        self.0.get(count as usize).copied().unwrap_or_else(|| compute(count))
    }
}

fn compute(count: u64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * (count as f64).ln() }
}

/// Clusters of words. Behind the clusters that words may be in stand those of boundaries and of rare words.
pub(crate) struct Clustering<'b> {
    bigrams: &'b Bigrams,
    entropy: Entropy,
    /// Clusters that words may be in.
    clusters: usize,
    /// All of them.
    size: usize,
    /// The cluster of each number.
    pub(crate) cluster: Vec<u32>,
    /// How often cluster b stands before cluster g, at `g * size + b`.
    before: Vec<u64>,
    /// How often cluster b stands behind cluster g, at `g * size + b`.
    behind: Vec<u64>,
    /// Occurrences of the words of each cluster.
    members: Vec<u64>,
    left: Neighbours,
    right: Neighbours,
    gains: Vec<f64>,
}

/// How often clusters stand beside a word.
#[derive(Default)]
struct Neighbours {
    counts: Vec<u64>,
    present: Vec<u32>,
}

impl Neighbours {
    /// Counts the clusters of a word's neighbours, itself left out; says how often it is its own neighbour.
    fn read(&mut self, word: usize, list: &[(u32, u32)], cluster: &[u32], size: usize) -> u64 {
        self.present.iter().for_each(|&cluster| self.counts[cluster as usize] = 0);
        self.present.clear();
        self.counts.resize(size, 0);
        let mut own = 0;
        for &(other, count) in list {
            if other as usize == word {
                own = u64::from(count);
                continue;
            }
            let cluster = cluster[other as usize];
            if self.counts[cluster as usize] == 0 {
                self.present.push(cluster);
            }
            self.counts[cluster as usize] += u64::from(count);
        }
        own
    }
}

impl<'b> Clustering<'b> {
    /// Frequent words first, dealt out one to a cluster.
    pub(crate) fn new(bigrams: &'b Bigrams, clusters: usize) -> Self {
        let size = clusters + SPECIAL;
        let specials = (0..SPECIAL).map(|number| (clusters + number) as u32);
        let dealt = (0..bigrams.words.len()).map(|place| (place % clusters) as u32);
        let cluster: Vec<u32> = specials.chain(dealt).collect();
        let (mut before, mut behind) = (vec![0; size * size], vec![0; size * size]);
        let mut members = vec![0; size];
        for number in 0..cluster.len() {
            let own = cluster[number] as usize;
            for &(other, count) in bigrams.right.of(number) {
                let other = cluster[other as usize] as usize;
                before[other * size + own] += u64::from(count);
                behind[own * size + other] += u64::from(count);
                members[own] += u64::from(count);
            }
        }
        Self {
            bigrams,
            entropy: Entropy::new(),
            clusters,
            size,
            cluster,
            before,
            behind,
            members,
            left: Neighbours::default(),
            right: Neighbours::default(),
            gains: vec![0.0; clusters],
        }
    }

    /// How often the words of one cluster stand before those of another.
    pub(crate) fn pairs(&self, first: usize, second: usize) -> u64 {
        self.behind[first * self.size + second]
    }

    /// The number of clusters with those of boundaries and rare words.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Lets every word go where it fits best, frequent ones first; says how many moved.
    pub(crate) fn sweep(&mut self) -> usize {
        (SPECIAL..self.cluster.len()).filter(|&word| self.exchange(word)).count()
    }

    fn exchange(&mut self, word: usize) -> bool {
        let old = self.cluster[word] as usize;
        let own = self.left.read(word, self.bigrams.left.of(word), &self.cluster, self.size);
        self.right.read(word, self.bigrams.right.of(word), &self.cluster, self.size);
        let frequency = self.right.present.iter().map(|&g| self.right.counts[g as usize]).sum::<u64>() + own;
        self.place(old, own, frequency, u64::wrapping_sub);
        self.weigh(own, frequency);
        // Only what is better by more than rounding moves a word.
        let stays = self.gains[old] + 1e-9 * self.gains[old].abs();
        let (best, gain) = self
            .gains
            .iter()
            .enumerate()
            .fold((old, stays), |best, (b, &gain)| if gain > best.1 { (b, gain) } else { best });
        let new = if gain > stays { best } else { old };
        self.place(new, own, frequency, u64::wrapping_add);
        self.cluster[word] = new as u32;
        new != old
    }

    /// Takes a word's counts out of a cluster or adds them.
    fn place(&mut self, cluster: usize, own: u64, frequency: u64, change: fn(u64, u64) -> u64) {
        let size = self.size;
        let mut add = |first: usize, second: usize, count: u64| {
            let (before, behind) = (second * size + first, first * size + second);
            self.before[before] = change(self.before[before], count);
            self.behind[behind] = change(self.behind[behind], count);
        };
        self.right.present.iter().for_each(|&g| add(cluster, g as usize, self.right.counts[g as usize]));
        self.left.present.iter().for_each(|&g| add(g as usize, cluster, self.left.counts[g as usize]));
        add(cluster, cluster, own);
        self.members[cluster] = change(self.members[cluster], frequency);
    }

    /// What the word would be worth in each cluster.
    fn weigh(&mut self, own: u64, frequency: u64) {
        let Self { entropy, clusters, size, before, behind, members, left, right, gains, .. } = self;
        let (entropy, size) = (&*entropy, *size);
        let rise = |count: u64, more: u64| entropy.of(count + more) - entropy.of(count);
        let weigh = |first: usize, gains: &mut [f64]| {
            let range = first..first + gains.len();
            for (gain, &members) in gains.iter_mut().zip(&members[range.clone()]) {
                *gain = -2.0 * rise(members, frequency);
            }
            for (neighbours, table) in [(&*right, &*before), (&*left, &*behind)] {
                for &g in &neighbours.present {
                    let more = neighbours.counts[g as usize];
                    let row = &table[g as usize * size..][range.clone()];
                    gains.iter_mut().zip(row).for_each(|(gain, &count)| *gain += rise(count, more));
                }
            }
            // A neighbour in the same cluster stands on both sides of one count.
            for (b, gain) in range.zip(gains) {
                let (more, less) = (right.counts[b], left.counts[b]);
                let count = behind[b * size + b];
                *gain += rise(count, more + less + own) - rise(count, more) - rise(count, less);
            }
        };
        let threads = rayon::current_num_threads();
        if threads > 1 && left.present.len() + right.present.len() > WORTH_SHARING {
            let share = clusters.div_ceil(threads);
            gains.par_chunks_mut(share).enumerate().for_each(|(at, gains)| weigh(at * share, gains));
        } else {
            weigh(0, gains);
        }
    }

    /// The logarithm of the likelihood, but for a constant; per word it is the information that clusters have of their neighbours.
    pub(crate) fn objective(&self) -> f64 {
        let pairs: f64 = self.behind.iter().map(|&count| self.entropy.of(count)).sum();
        pairs - 2.0 * self.members.iter().map(|&count| self.entropy.of(count)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Collector;

    fn bigrams(seed: u64) -> Bigrams {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut collector = Collector::default();
        for _ in 0..60 {
            let length = 1 + random(7);
            let words: Vec<String> = (0..length).map(|_| format!("w{}", random(9))).collect();
            collector.sentence(words.iter().map(String::as_str));
        }
        collector.finish(1)
    }

    #[test]
    fn what_a_word_is_worth_in_a_cluster_is_the_difference_of_the_objective() {
        for seed in 0..20 {
            let bigrams = bigrams(seed);
            let mut clustering = Clustering::new(&bigrams, 3);
            for word in SPECIAL..clustering.cluster.len() {
                // The gain of each cluster against the first, by counting everything anew.
                let mut anew = Vec::new();
                for b in 0..3 {
                    let mut other = Clustering::new(&bigrams, 3);
                    other.cluster.copy_from_slice(&clustering.cluster);
                    other.cluster[word] = b;
                    other.behind.fill(0);
                    other.members.fill(0);
                    for number in 0..other.cluster.len() {
                        for &(next, count) in bigrams.right.of(number) {
                            let (a, c) =
                                (other.cluster[number] as usize, other.cluster[next as usize] as usize);
                            other.behind[a * other.size + c] += u64::from(count);
                            other.members[a] += u64::from(count);
                        }
                    }
                    anew.push(other.objective());
                }
                let before = clustering.objective();
                clustering.exchange(word);
                let gains = &clustering.gains;
                for b in 1..3 {
                    let (kept, counted) = (gains[b] - gains[0], anew[b] - anew[0]);
                    assert!((kept - counted).abs() < 1e-6, "seed {seed}: {kept} {counted}");
                }
                assert!(clustering.objective() >= before - 1e-9);
            }
        }
    }

    #[test]
    fn words_of_one_kind_end_in_one_cluster() {
        let mut collector = Collector::default();
        for (number, verb) in ["sees", "hears", "likes"].iter().cycle().take(300).enumerate() {
            let (subject, object) =
                (["ann", "bob", "eve"][number % 3], ["tea", "milk", "rice"][number / 3 % 3]);
            collector.sentence([subject, verb, object].into_iter());
        }
        let bigrams = collector.finish(1);
        let mut clustering = Clustering::new(&bigrams, 3);
        while clustering.sweep() > 0 {}
        let cluster = |word: &str| {
            let place = bigrams.words.iter().position(|(known, _)| &**known == word).unwrap();
            clustering.cluster[SPECIAL + place]
        };
        for kind in [["ann", "bob", "eve"], ["tea", "milk", "rice"], ["sees", "hears", "likes"]] {
            assert!(kind.iter().all(|word| cluster(word) == cluster(kind[0])), "{kind:?}");
        }
    }
}
