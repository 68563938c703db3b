//! Sums over all dependency trees by the matrix-tree theorem.
//!
//! With weights w = exp(score), the determinant of a Laplacian matrix is the sum over trees of the product of
//! their arcs' weights (Tutte 1984), and the probability of each arc follows from the inverse. For exactly
//! one child of the root, the first row holds the weights of the root's arcs (Koo, Globerson, Carreras &
//! Collins 2007).

use consonant_learn::vectorized;
use consonant_map::oracle::arborescence::RootChildren;

/// Buffers, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct MatrixTree {
    weights: Vec<f64>,
    matrix: Vec<f64>,
    inverse: Vec<f64>,
    pivots: Vec<usize>,
}

/// Scores further below the best arc into the same word count as this far: their probability is nothing in
/// double precision either way, and the matrix stays away from singularity.
const LOWEST: f64 = -30.0;

impl MatrixTree {
    /// Writes the probability of each arc and returns the logarithm of the sum over all trees. `scores` and
    /// `marginals` are indexed by `modifier - 1` times `words + 1` plus head; entries of a word as its own
    /// head are not looked at. Nothing is returned when the numbers leave what double precision can tell
    /// apart; `marginals` is then undefined.
    pub fn marginals(
        &mut self,
        words: usize,
        scores: &[f32],
        root_children: RootChildren,
        marginals: &mut [f32],
    ) -> Option<f64> {
        let width = words + 1;
        let Self { weights, matrix, inverse, pivots } = self;
        weights.clear();
        weights.resize(words * width, 0.0);
        let mut log_sum = 0.0;
        // Each tree has one arc into each word: dividing all of them by the best only moves the logarithm.
        for m in 0..words {
            let row = &scores[m * width..(m + 1) * width];
            let finite = (0..width).filter(|&h| h != m + 1).map(|h| f64::from(row[h]));
            let best = finite.fold(f64::NEG_INFINITY, f64::max);
            log_sum += best;
            for h in (0..width).filter(|&h| h != m + 1) {
                weights[m * width + h] = (f64::from(row[h]) - best).max(LOWEST).exp();
            }
        }
        let one = root_children == RootChildren::One;
        // And one arc from the root, if it has one child.
        let root_scale = match one {
            true => (0..words).map(|m| weights[m * width]).fold(0.0, f64::max),
            false => 1.0,
        };
        log_sum += root_scale.ln();
        matrix.clear();
        matrix.resize(words * words, 0.0);
        for m in 0..words {
            let row = &weights[m * width..(m + 1) * width];
            for h in (0..words).filter(|&h| h != m) {
                matrix[h * words + m] = -row[h + 1];
                matrix[m * words + m] += row[h + 1];
            }
            match one {
                true => matrix[m] = row[0] / root_scale,
                false => matrix[m * words + m] += row[0],
            }
        }
        log_sum += invert(words, matrix, inverse, pivots)?;
        for m in 0..words {
            for h in 0..width {
                let weight = weights[m * width + h];
                let entry = |row: usize| inverse[m * words + row];
                let probability = match h {
                    0 if one => weight / root_scale * entry(0),
                    0 => weight * entry(m),
                    _ if one => {
                        let own = if m == 0 { 0.0 } else { entry(m) };
                        let other = if h == 1 { 0.0 } else { entry(h - 1) };
                        weight * (own - other)
                    }
                    _ => weight * (entry(m) - entry(h - 1)),
                };
                let probability = if h == m + 1 { 0.0 } else { probability };
                if probability.is_nan() {
                    return None;
                }
                marginals[m * width + h] = probability.clamp(0.0, 1.0) as f32;
            }
        }
        Some(log_sum)
    }
}

vectorized! {
/// Writes the inverse of a square matrix and returns the logarithm of its determinant; nothing if that is not
/// positive. LU with partial pivoting; the matrix is destroyed.
fn invert(n: usize, a: &mut [f64], inverse: &mut Vec<f64>, pivots: &mut Vec<usize>) -> Option<f64> {
    let (mut log_determinant, mut is_positive) = (0.0, true);
    pivots.clear();
    pivots.extend(0..n);
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))?;
        if pivot != column {
            let (upper, lower) = a.split_at_mut(pivot * n);
            upper[column * n..(column + 1) * n].swap_with_slice(&mut lower[..n]);
            pivots.swap(column, pivot);
            is_positive = !is_positive;
        }
        let value = a[column * n + column];
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        is_positive ^= value < 0.0;
        log_determinant += value.abs().ln();
        let (upper, lower) = a.split_at_mut((column + 1) * n);
        let row = &upper[column * n + column + 1..];
        for target in lower.chunks_exact_mut(n) {
            let factor = target[column] / value;
            if factor != 0.0 {
                target[column] = factor;
                target[column + 1..].iter_mut().zip(row).for_each(|(t, r)| *t -= factor * r);
            }
        }
    }
    if !is_positive {
        return None;
    }
    // Solves for all columns of the permuted identity at once, row by row.
    inverse.clear();
    inverse.resize(n * n, 0.0);
    for (row, &source) in pivots.iter().enumerate() {
        inverse[row * n + source] = 1.0;
    }
    for i in 0..n {
        let (solved, rest) = inverse.split_at_mut(i * n);
        for j in 0..i {
            let factor = a[i * n + j];
            if factor != 0.0 {
                rest[..n].iter_mut().zip(&solved[j * n..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    for i in (0..n).rev() {
        let (rest, solved) = inverse.split_at_mut((i + 1) * n);
        let row = &mut rest[i * n..];
        for j in i + 1..n {
            let factor = a[i * n + j];
            if factor != 0.0 {
                row.iter_mut().zip(&solved[(j - i - 1) * n..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        let value = a[i * n + i];
        row.iter_mut().for_each(|x| *x /= value);
    }
    Some(log_determinant)
}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Heads of all words, counted up; those that are trees.
    fn trees(words: usize, one: bool) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for code in 0..(words + 1).pow(words as u32) {
            let heads: Vec<usize> =
                (0..words).map(|m| code / (words + 1).pow(m as u32) % (words + 1)).collect();
            let reaches =
                |word: usize| (0..words).fold(word, |at, _| if at == 0 { 0 } else { heads[at - 1] }) == 0;
            let roots = heads.iter().filter(|&&head| head == 0).count();
            if (1..=words).all(reaches) && (!one || roots == 1) {
                all.push(heads);
            }
        }
        all
    }

    #[test]
    fn sums_and_marginals_agree_with_enumeration() {
        let mut seed = 11u64;
        for round in 0..60 {
            let words = 1 + round % 4;
            let width = words + 1;
            let size = [1.0, 12.0][round / 30];
            let scores: Vec<f32> = (0..words * width)
                .map(|_| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((seed >> 33) % 2001) as f32 / 1000.0 * size - size
                })
                .collect();
            for root in [RootChildren::One, RootChildren::Any] {
                let mut expected = vec![0.0; words * width];
                let mut total = 0.0;
                for heads in trees(words, root == RootChildren::One) {
                    let arcs = heads.iter().enumerate().map(|(m, &h)| m * width + h);
                    let weight = arcs.clone().map(|arc| f64::from(scores[arc])).sum::<f64>().exp();
                    total += weight;
                    arcs.for_each(|arc| expected[arc] += weight);
                }
                let mut marginals = vec![0.0; words * width];
                let found = MatrixTree::default().marginals(words, &scores, root, &mut marginals).unwrap();
                assert!((found - total.ln()).abs() < 1e-6, "{found} is not {}", total.ln());
                for (found, expected) in marginals.iter().zip(&expected) {
                    assert!((f64::from(*found) - expected / total).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn extreme_scores_give_probabilities_or_nothing() {
        let words = 12;
        let width = words + 1;
        for size in [0.0, 100.0, 1e30] {
            // Each word wants its right neighbour, the last one the first: a long cycle.
            let scores: Vec<f32> = (0..words * width)
                .map(|arc| if arc % width == (arc / width + 1) % words + 1 { size } else { 0.0 })
                .collect();
            let mut marginals = vec![0.0; words * width];
            let sum = MatrixTree::default().marginals(words, &scores, RootChildren::One, &mut marginals);
            assert!(sum.is_none() || marginals.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}
