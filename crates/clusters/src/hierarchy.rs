//! Clusters into a tree: the two that lose least by it are joined, until one is left (Brown et al. 1992). The way from the root to a
//! cluster is its name in bits, so that beginnings of names are coarser clusters.

use rayon::prelude::*;

use crate::exchange::{Clustering, Entropy};

/// Counts between clusters, as they are joined.
struct Joining {
    entropy: Entropy,
    size: usize,
    pairs: Vec<u64>,
    members: Vec<u64>,
    /// Clusters that are left to be joined.
    active: Vec<usize>,
}

impl Joining {
    fn at(&self, first: usize, second: usize) -> u64 {
        self.pairs[first * self.size + second]
    }

    /// What two counts lose when they become one; never positive when it is subtracted from a sum of n log n.
    fn joined(&self, a: u64, b: u64) -> f64 {
        if a == 0 || b == 0 {
            return 0.0;
        }
        self.entropy.of(a + b) - self.entropy.of(a) - self.entropy.of(b)
    }

    /// The part of a gain that the counts with a third cluster have.
    fn beside(&self, d: usize, e: usize, g: usize) -> f64 {
        self.joined(self.at(d, g), self.at(e, g)) + self.joined(self.at(g, d), self.at(g, e))
    }

    /// What the objective gains (a loss: it is negative) when two clusters are joined; `alive` says which others there are.
    fn gain(&self, d: usize, e: usize, alive: &[bool]) -> f64 {
        let others = (0..self.size).filter(|&g| alive[g] && g != d && g != e);
        let beside: f64 = others.map(|g| self.beside(d, e, g)).sum();
        let block = [self.at(d, d), self.at(d, e), self.at(e, d), self.at(e, e)];
        let inside = self.entropy.of(block.iter().sum())
            - block.iter().map(|&count| self.entropy.of(count)).sum::<f64>();
        beside + inside - 2.0 * self.joined(self.members[d], self.members[e])
    }

    /// Adds the counts of `b` to those of `a`.
    fn join(&mut self, a: usize, b: usize) {
        let size = self.size;
        for g in 0..size {
            self.pairs[a * size + g] += std::mem::take(&mut self.pairs[b * size + g]);
        }
        for g in 0..size {
            self.pairs[g * size + a] += std::mem::take(&mut self.pairs[g * size + b]);
        }
        self.members[a] += std::mem::take(&mut self.members[b]);
        self.active.retain(|&cluster| cluster != b);
    }
}

/// The name of each cluster in bits.
pub(crate) fn names(clustering: &Clustering<'_>, clusters: usize) -> Vec<String> {
    let size = clustering.size();
    let pairs: Vec<u64> = (0..size * size).map(|at| clustering.pairs(at / size, at % size)).collect();
    let members = pairs.chunks_exact(size).map(|row| row.iter().sum()).collect();
    let mut joining =
        Joining { entropy: Entropy::new(), size, pairs, members, active: (0..clusters).collect() };
    let mut alive = vec![true; size];
    let mut gains = vec![0.0; clusters * clusters];
    gains.par_chunks_exact_mut(clusters).enumerate().for_each(|(d, row)| {
        for (e, gain) in row.iter_mut().enumerate().skip(d + 1) {
            *gain = joining.gain(d, e, &alive);
        }
    });
    // The branches of a joined cluster stand one after the other in the list of its members.
    let mut trees: Vec<Vec<usize>> = (0..clusters).map(|cluster| vec![cluster]).collect();
    let mut names = vec![String::new(); clusters];
    while joining.active.len() > 1 {
        let (a, b) = best(&joining.active, &gains, clusters);
        for (branch, bit) in [(a, '0'), (b, '1')] {
            trees[branch].iter().for_each(|&cluster| names[cluster].push(bit));
        }
        let moved = std::mem::take(&mut trees[b]);
        trees[a].extend(moved);
        // Terms of the two go, the term of what they become comes.
        let change = |joining: &Joining, gains: &mut [f64], sign: f64, third: &[usize]| {
            gains.par_chunks_exact_mut(clusters).enumerate().for_each(|(d, row)| {
                if !alive[d] || d == a || d == b {
                    return;
                }
                for &e in joining.active.iter().filter(|&&e| e > d && e != a && e != b) {
                    row[e] += sign * third.iter().map(|&g| joining.beside(d, e, g)).sum::<f64>();
                }
            });
        };
        change(&joining, &mut gains, -1.0, &[a, b]);
        joining.join(a, b);
        change(&joining, &mut gains, 1.0, &[a]);
        alive[b] = false;
        for &other in joining.active.iter().filter(|&&other| other != a) {
            let (d, e) = (a.min(other), a.max(other));
            gains[d * clusters + e] = joining.gain(d, e, &alive);
        }
    }
    // Bits were written from the leaf to the root.
    names.into_iter().map(|name| name.chars().rev().collect()).collect()
}

/// The two clusters whose joining costs least; the first of equals.
fn best(active: &[usize], gains: &[f64], clusters: usize) -> (usize, usize) {
    let mut best = (f64::NEG_INFINITY, 0, 0);
    for (at, &d) in active.iter().enumerate() {
        for &e in &active[at + 1..] {
            if gains[d * clusters + e] > best.0 {
                best = (gains[d * clusters + e], d, e);
            }
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Collector;

    #[test]
    fn gains_that_are_kept_are_those_that_are_counted_and_like_clusters_are_near() {
        let mut collector = Collector::default();
        for number in 0..400 {
            let day = ["monday", "tuesday", "sunday"][number % 3];
            let city = ["kiel", "bonn", "rome"][number / 3 % 3];
            let first = ["on", "in"][number % 2];
            let words = if number % 2 == 0 { [first, day, "it"] } else { [first, city, "they"] };
            collector.sentence(words.into_iter().chain([["rains", "snows"][number / 2 % 2]]));
        }
        let bigrams = collector.finish(1);
        let clusters = bigrams.words.len();
        let clustering = Clustering::new(&bigrams, clusters);
        let names = names(&clustering, clusters);
        let name = |word: &str| {
            let place = bigrams.words.iter().position(|(known, _)| &**known == word).unwrap();
            &names[place]
        };
        let shared =
            |a: &str, b: &str| name(a).chars().zip(name(b).chars()).take_while(|(a, b)| a == b).count();
        assert!(shared("monday", "sunday") > shared("monday", "kiel"), "{names:?}");
        assert!(shared("rome", "bonn") > shared("rome", "rains"), "{names:?}");
        // No name is the beginning of another.
        for (at, name) in names.iter().enumerate() {
            assert!(names.iter().enumerate().all(|(other, n)| other == at || !n.starts_with(name.as_str())));
        }
    }
}
