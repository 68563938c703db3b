//! The two inner loops of max-sum dynamic programs, written so that they become vector instructions.
//!
//! Maxima are taken with a plain comparison instead of [`f64::max`], whose promise about NaN costs three instructions
//! where one suffices: scores are never NaN here.

/// The larger of two numbers that are not NaN.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Raises each `best[i]` to at least `values[i] + shift`.
#[inline(always)]
pub(super) fn raise(best: &mut [f64], values: &[f64], shift: f64) {
    for (best, value) in best.iter_mut().zip(values) {
        *best = larger(*best, value + shift);
    }
}

/// The largest of `values[i] + shifts[i]`.
#[inline]
pub(super) fn maximum_of_sums(values: &[f64], shifts: &[f64]) -> f64 {
    let ((value_blocks, value_rest), (shift_blocks, shift_rest)) =
        (values.as_chunks::<4>(), shifts.as_chunks::<4>());
    let mut best = [f64::NEG_INFINITY; 4];
    for (values, shifts) in value_blocks.iter().zip(shift_blocks) {
        for lane in 0..4 {
            best[lane] = larger(best[lane], values[lane] + shifts[lane]);
        }
    }
    let mut maximum = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    for (value, shift) in value_rest.iter().zip(shift_rest) {
        maximum = larger(maximum, value + shift);
    }
    maximum
}

/// The index of the first maximum and its value; 0 and minus infinity if there are no values.
///
/// Two sweeps, one for the value and one for its place, beat one that carries both: neither has a data-dependent branch
/// that the processor must guess.
#[inline]
pub(super) fn first_maximum(values: &[f64]) -> (usize, f64) {
    let (blocks, rest) = values.as_chunks::<4>();
    let mut best = [f64::NEG_INFINITY; 4];
    for block in blocks {
        for lane in 0..4 {
            best[lane] = larger(best[lane], block[lane]);
        }
    }
    let mut maximum = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    for &value in rest {
        maximum = larger(maximum, value);
    }
    (values.iter().position(|&value| value == maximum).unwrap_or(0), maximum)
}

/// The first index that maximizes `value(index)` over `0..count`.
#[inline(always)]
pub(super) fn first_best(count: usize, value: impl Fn(usize) -> f64) -> usize {
    let (mut best, mut maximum) = (0, f64::NEG_INFINITY);
    for index in 0..count {
        let candidate = value(index);
        if candidate > maximum {
            (best, maximum) = (index, candidate);
        }
    }
    best
}
