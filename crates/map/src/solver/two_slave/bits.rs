//! Functions of three bits: bit `i` of an index into the table is the value of the `i`-th.

/// The three pairs among three bits.
pub(super) const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// The coefficient of `x₀x₁x₂` in the multilinear form of a table.
pub(super) fn cubic(table: &[f64; 8]) -> f64 {
    (0..8u32).map(|x| if x.count_ones() % 2 == 1 { table[x as usize] } else { -table[x as usize] }).sum()
}

/// The coefficient of `x_i x_j` in the multilinear form of a table.
pub(super) fn quadratic(table: &[f64; 8], i: usize, j: usize) -> f64 {
    table[1 << i | 1 << j] - table[1 << i] - table[1 << j] + table[0]
}

/// Which bits to flip so that the table becomes supermodular with a cubic coefficient that is not negative;
/// `None` if no choice does. Then the table is a sum of products of (flipped) bits with positive weight, up
/// to linear terms, and a cut relaxes it as tightly as possible.
pub(super) fn supermodular_flips(table: &[f64; 8]) -> Option<usize> {
    let scale = table.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    (0..8usize).find(|flips| {
        let flipped: [f64; 8] = std::array::from_fn(|x| table[x ^ flips]);
        cubic(&flipped) >= 0.0 && PAIRS.iter().all(|&(i, j)| quadratic(&flipped, i, j) >= -1e-12 * scale)
    })
}

/// What remains of a table when its cubic term over flipped bits is taken out: a quadratic function.
pub(super) fn without_cubic(table: &[f64; 8], flips: usize) -> [f64; 8] {
    let mut rest = *table;
    rest[7 ^ flips] -= cubic(table).abs();
    rest
}

/// Small slaves, each a function of three binary vertices, with one multiplier for each of the three.
#[derive(Clone, Debug, Default)]
pub(super) struct Triples {
    pub(super) vertices: Vec<[u32; 3]>,
    tables: Vec<[f64; 8]>,
}

impl Triples {
    pub(super) fn clear(&mut self) {
        self.vertices.clear();
        self.tables.clear();
    }

    pub(super) fn push(&mut self, vertices: [u32; 3], table: [f64; 8]) {
        self.vertices.push(vertices);
        self.tables.push(table);
    }

    /// Multipliers to begin with: each vertex gets a third of what its best completions differ by.
    pub(super) fn start(&self) -> impl Iterator<Item = f64> + '_ {
        self.tables.iter().flat_map(|table| {
            (0..3).map(|i| {
                let best = |bit: usize| {
                    let with_it = (0..8).filter(|x| x >> i & 1 == bit).map(|x| table[x]);
                    with_it.fold(f64::NEG_INFINITY, f64::max)
                };
                (best(0) - best(1)) / 3.0
            })
        })
    }

    /// Solves all slaves under multipliers, three for each; writes how their choices differ from the tree's
    /// `labels`. Returns the sum of their values.
    pub(super) fn solve(&self, lambda: &[f64], labels: &[u32], gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        let slaves = self
            .tables
            .iter()
            .zip(&self.vertices)
            .zip(lambda.chunks_exact(3))
            .zip(gradient.chunks_exact_mut(3));
        for (((table, vertices), l), g) in slaves {
            let both = l[0] + l[1];
            let values = [
                table[0],
                table[1] + l[0],
                table[2] + l[1],
                table[3] + both,
                table[4] + l[2],
                table[5] + (l[0] + l[2]),
                table[6] + (l[1] + l[2]),
                table[7] + (both + l[2]),
            ];
            let mut best = 0;
            for x in 1..8 {
                best = if values[x] > values[best] { x } else { best };
            }
            total += values[best];
            for i in 0..3 {
                g[i] = (best >> i & 1) as f64 - f64::from(labels[vertices[i] as usize]);
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_testing::Random;

    #[test]
    fn tables_are_rebuilt_from_their_parts() {
        let mut found = 0;
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let table: [f64; 8] = std::array::from_fn(|_| random.uniform());
            let Some(flips) = supermodular_flips(&table) else { continue };
            found += 1;
            let rest = without_cubic(&table, flips);
            assert!(cubic(&rest).abs() < 1e-12);
            for x in 0..8usize {
                let on = |i: usize| (x >> i & 1) as f64;
                let linear: f64 = (0..3).map(|i| on(i) * (rest[1 << i] - rest[0])).sum();
                let pairs: f64 = PAIRS.iter().map(|&(i, j)| on(i) * on(j) * quadratic(&rest, i, j)).sum();
                let product = if x ^ flips == 7 { cubic(&table).abs() } else { 0.0 };
                assert!((rest[0] + linear + pairs + product - table[x]).abs() < 1e-12);
            }
        }
        assert!(found > 20, "{found}");
    }
}
