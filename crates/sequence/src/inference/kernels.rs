//! The few loops over contiguous rows where the time goes, compiled for the machine's vectors.
//!
//! Each kernel is written once in plain Rust, and [`vectorized`].

use consonant_learn::vectorized;

/// Rows of scores are padded to a multiple of this many `f32`, so that no kernel needs a scalar tail; short ones to
/// half or a quarter of it.
const SCORE_LANES: usize = 32;
/// Rows of potentials are padded to a multiple of this many `f64`.
pub(crate) const SUM_LANES: usize = 16;

/// Rounds a row length up to whole vectors.
pub(crate) fn padded(length: usize, lanes: usize) -> usize {
    length.div_ceil(lanes) * lanes
}

/// How long a row of so many scores is.
pub(crate) fn score_stride(labels: usize) -> usize {
    padded(
        labels,
        [SCORE_LANES / 4, SCORE_LANES / 2].into_iter().find(|&lanes| labels <= lanes).unwrap_or(SCORE_LANES),
    )
}

/// The larger of two scores; compiles to one instruction, unlike `f32::max` with its care for NaN.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// One block of `WIDTH` columns: the accumulators stay in registers while the rows pass by.
#[inline(always)]
fn max_plus_block<const WIDTH: usize>(
    sources: &[u32],
    values: &[f32],
    rows: &[f32],
    row_step: usize,
    offset: usize,
    out: &mut [f32],
) {
    let mut best = [f32::NEG_INFINITY; WIDTH];
    for &source in sources {
        let value = values[source as usize];
        let start = source as usize * row_step + offset;
        let row: &[f32; WIDTH] = rows[start..start + WIDTH].try_into().expect("a block of this width");
        for lane in 0..WIDTH {
            best[lane] = larger(value + row[lane], best[lane]);
        }
    }
    out[offset..offset + WIDTH].copy_from_slice(&best);
}

vectorized! {
    /// `out[j] = max over sources i of values[i] + rows[i·row_step + j]`; `out` is a padded row.
    fn max_plus(sources: &[u32], values: &[f32], rows: &[f32], row_step: usize, out: &mut [f32]) {
        let mut offset = 0;
        while offset + 2 * SCORE_LANES <= out.len() {
            max_plus_block::<{ 2 * SCORE_LANES }>(sources, values, rows, row_step, offset, out);
            offset += 2 * SCORE_LANES;
        }
        match (out.len() - offset) * 4 / SCORE_LANES {
            0 => {}
            1 => max_plus_block::<{ SCORE_LANES / 4 }>(sources, values, rows, row_step, offset, out),
            2 => max_plus_block::<{ SCORE_LANES / 2 }>(sources, values, rows, row_step, offset, out),
            _ => max_plus_block::<SCORE_LANES>(sources, values, rows, row_step, offset, out),
        }
    }
}

vectorized! {
    /// `out[j] = max(out[j], value + row[j] + edge[j])`: the step for scores that differ by position.
    fn max_plus_edges(value: f32, row: &[f32], edge: &[f32], out: &mut [f32]) {
        for ((out, &row), &edge) in out.iter_mut().zip(row).zip(edge) {
            *out = larger(value + (row + edge), *out);
        }
    }
}

vectorized! {
    /// `out += add`, and the largest of the sums.
    fn add_and_max(add: &[f32], out: &mut [f32]) -> f32 {
        let mut best = [f32::NEG_INFINITY; 16];
        let whole = add.len() / 16 * 16;
        for (out, add) in out[..whole].chunks_exact_mut(16).zip(add[..whole].chunks_exact(16)) {
            for lane in 0..16 {
                out[lane] += add[lane];
                best[lane] = larger(out[lane], best[lane]);
            }
        }
        for (out, &add) in out[whole..].iter_mut().zip(&add[whole..]) {
            *out += add;
            best[0] = larger(*out, best[0]);
        }
        best.iter().fold(f32::NEG_INFINITY, |a, &b| larger(a, b))
    }
}

vectorized! {
    /// `out += nodes`; returns the largest of `out + least`.
    fn add_nodes(nodes: &[f32], least: &[f64], out: &mut [f64]) -> f64 {
        let mut best = [f64::NEG_INFINITY; 8];
        let whole = nodes.len() / 8 * 8;
        let rows = nodes[..whole].chunks_exact(8).zip(least[..whole].chunks_exact(8));
        for ((nodes, least), out) in rows.zip(out[..whole].chunks_exact_mut(8)) {
            for lane in 0..8 {
                out[lane] += nodes[lane] as f64;
                let floor = out[lane] + least[lane];
                best[lane] = if floor > best[lane] { floor } else { best[lane] };
            }
        }
        for ((&node, &least), out) in nodes[whole..].iter().zip(&least[whole..]).zip(&mut out[whole..]) {
            *out += node as f64;
            best[0] = if *out + least > best[0] { *out + least } else { best[0] };
        }
        best.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a })
    }
}

vectorized! {
    /// `row -= base`.
    fn subtract(base: f32, row: &mut [f32]) {
        for value in row {
            *value -= base;
        }
    }
}

/// One block of `WIDTH` columns of a vector-matrix product.
#[inline(always)]
fn weighted_sum_block<const WIDTH: usize>(
    weights: &[f64],
    rows: &[f64],
    stride: usize,
    offset: usize,
    out: &mut [f64],
) {
    let mut sum = [0.0f64; WIDTH];
    for (row, &weight) in rows.chunks_exact(stride).zip(weights) {
        let row: &[f64; WIDTH] = row[offset..offset + WIDTH].try_into().expect("a block of this width");
        for lane in 0..WIDTH {
            sum[lane] += weight * row[lane];
        }
    }
    let end = out.len().min(offset + WIDTH);
    out[offset..end].copy_from_slice(&sum[..end - offset]);
}

vectorized! {
    /// `out[j] = Σ_i weights[i] · rows[i·stride + j]`; rows are padded, `out` need not be.
    fn weighted_sum(weights: &[f64], rows: &[f64], stride: usize, out: &mut [f64]) {
        let mut offset = 0;
        while offset < out.len() {
            if offset + 2 * SUM_LANES <= stride {
                weighted_sum_block::<{ 2 * SUM_LANES }>(weights, rows, stride, offset, out);
                offset += 2 * SUM_LANES;
            } else {
                weighted_sum_block::<SUM_LANES>(weights, rows, stride, offset, out);
                offset += SUM_LANES;
            }
        }
    }
}

vectorized! {
    /// `sum[i·width + j] += Σ_k left[k·width + i] · right[k·width + j]` for a whole stretch of positions.
    ///
    /// Four positions at a time, so that each row of `sum` is loaded and stored a quarter as often.
    fn add_outer_products(width: usize, left: &[f64], right: &[f64], sum: &mut [f64]) {
        let mut lefts = left.chunks_exact(4 * width);
        let mut rights = right.chunks_exact(4 * width);
        for (left, right) in (&mut lefts).zip(&mut rights) {
            let (r0, rest) = right.split_at(width);
            let (r1, rest) = rest.split_at(width);
            let (r2, r3) = rest.split_at(width);
            for (i, row) in sum.chunks_exact_mut(width).enumerate() {
                let (a, b, c, d) = (left[i], left[width + i], left[2 * width + i], left[3 * width + i]);
                for ((((cell, &w), &x), &y), &z) in row.iter_mut().zip(r0).zip(r1).zip(r2).zip(r3) {
                    *cell += (a * w + b * x) + (c * y + d * z);
                }
            }
        }
        for (left, right) in lefts.remainder().chunks_exact(width).zip(rights.remainder().chunks_exact(width)) {
            for (row, &a) in sum.chunks_exact_mut(width).zip(left) {
                for (cell, &w) in row.iter_mut().zip(right) {
                    *cell += a * w;
                }
            }
        }
    }
}

/// Below this argument [`exp`] answers 0; the true value would be under 1e-304.
pub(crate) const SMALLEST_EXPONENT: f64 = -700.0;

/// eˣ for x ≤ 700, to within 4 units in the last place; 0 below [`SMALLEST_EXPONENT`].
///
/// x = k·ln 2 + r with |r| ≤ ln 2 / 2, a Taylor polynomial of degree 13 for eʳ (its remainder is under
/// 1e-17), and k added to the exponent bits. Branch-free, so that loops over it vectorize.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52: adding it leaves round(x) in the low bits
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8; // ln 2 with 32 trailing zero bits, so that k·LN2_HIGH is exact
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let kept = if x > SMALLEST_EXPONENT { x } else { SMALLEST_EXPONENT };
    let shifted = kept * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (kept - k * LN2_HIGH) - k * LN2_LOW;
    let mut p = 1.0 / 6_227_020_800.0;
    for inverse in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        p = p * r + inverse;
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x > SMALLEST_EXPONENT { p * power } else { 0.0 }
}

/// Lanes of a reduction over `f64`: minima and sums keep their order of evaluation, so the compiler only
/// vectorizes them when the lanes are spelled out.
const LANES: usize = 8;

/// The smallest of some lanes.
#[inline(always)]
fn smallest_of(lanes: [f64; LANES]) -> f64 {
    lanes.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
}

/// Exponentials of a row and the smallest of them that is not of minus infinity.
#[inline(always)]
fn exp_each<S: Copy + Into<f64>>(scores: &[S], base: f64, out: &mut [f64]) -> f64 {
    #[inline(always)]
    fn one(score: f64, base: f64, out: &mut f64, smallest: &mut f64) {
        *out = exp(score - base);
        let counted = if score > f64::NEG_INFINITY { *out } else { f64::INFINITY };
        *smallest = if counted < *smallest { counted } else { *smallest };
    }
    let mut smallest = [f64::INFINITY; LANES];
    let whole = scores.len() / LANES * LANES;
    let (head, tail) = out.split_at_mut(whole);
    for (scores, out) in scores[..whole].chunks_exact(LANES).zip(head.chunks_exact_mut(LANES)) {
        for lane in 0..LANES {
            one(scores[lane].into(), base, &mut out[lane], &mut smallest[lane]);
        }
    }
    for (&score, out) in scores[whole..].iter().zip(tail) {
        one(score.into(), base, out, &mut smallest[0]);
    }
    smallest_of(smallest)
}

vectorized! {
    /// `out[j] = exp(scores[j] − base)`; returns the smallest result that is not of minus infinity.
    ///
    /// A finite score so low that its exponential is 0 makes the smallest result 0: the caller must know.
    fn exp_row(scores: &[f32], base: f64, out: &mut [f64]) -> f64 {
        exp_each(scores, base, out)
    }
}

vectorized! {
    /// The same as [`exp_row`] for scores in double precision.
    fn exp_row_f64(scores: &[f64], base: f64, out: &mut [f64]) -> f64 {
        exp_each(scores, base, out)
    }
}

vectorized! {
    /// `row *= factor`; returns the smallest positive product (infinity when there is none).
    fn scale_row(factor: f64, row: &mut [f64]) -> f64 {
        let mut smallest = [f64::INFINITY; LANES];
        let mut rest = row.chunks_exact_mut(LANES);
        for values in &mut rest {
            for lane in 0..LANES {
                values[lane] *= factor;
                let counted = if values[lane] > 0.0 { values[lane] } else { f64::INFINITY };
                smallest[lane] = if counted < smallest[lane] { counted } else { smallest[lane] };
            }
        }
        for (value, smallest) in rest.into_remainder().iter_mut().zip(&mut smallest) {
            *value *= factor;
            *smallest = if *value > 0.0 && *value < *smallest { *value } else { *smallest };
        }
        smallest_of(smallest)
    }
}

vectorized! {
    /// The sum of a row, in a fixed order.
    fn sum(row: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let rest = row.chunks_exact(LANES);
        let tail = rest.remainder().iter().sum::<f64>();
        for values in rest {
            for lane in 0..LANES {
                sums[lane] += values[lane];
            }
        }
        sums.iter().sum::<f64>() + tail
    }
}

vectorized! {
    /// The largest of `values + least`.
    fn max_sum(values: &[f32], least: &[f32]) -> f32 {
        let mut best = [f32::NEG_INFINITY; 16];
        let whole = values.len() / 16 * 16;
        for (values, least) in values[..whole].chunks_exact(16).zip(least[..whole].chunks_exact(16)) {
            for lane in 0..16 {
                best[lane] = larger(values[lane] + least[lane], best[lane]);
            }
        }
        for (&value, &least) in values[whole..].iter().zip(&least[whole..]) {
            best[0] = larger(value + least, best[0]);
        }
        best.iter().fold(f32::NEG_INFINITY, |a, &b| larger(a, b))
    }
}

/// ln Σ eˣ without overflow; minus infinity for an empty or all-forbidden list.
pub(crate) fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + values.map(|value| (value - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_close_to_the_library() {
        let mut x = -699.9;
        while x < 700.0 {
            let (ours, theirs) = (exp(x), x.exp());
            assert!(
                (ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs,
                "exp({x}) = {ours}, expected {theirs}"
            );
            x += 0.037_1;
        }
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn outer_products_count_every_position() {
        let width = 3;
        for positions in 0..10 {
            let left: Vec<f64> = (0..positions * width).map(|k| (k * 7 % 11) as f64).collect();
            let right: Vec<f64> = (0..positions * width).map(|k| (k * 5 % 13) as f64).collect();
            let mut sum = vec![0.0; width * width];
            add_outer_products(width, &left, &right, &mut sum);
            for i in 0..width {
                for j in 0..width {
                    let expected: f64 =
                        (0..positions).map(|k| left[k * width + i] * right[k * width + j]).sum();
                    assert_eq!(sum[i * width + j], expected);
                }
            }
        }
    }
}
