//! The inner loops of max-sum dynamic programs, written so that they become vector instructions.
//!
//! Maxima are taken with a plain comparison instead of [`f64::max`], whose promise about NaN costs three
//! instructions where one suffices: scores are never NaN here.

/// The largest finite score in size.
pub(crate) fn largest(scores: &[f64]) -> f64 {
    scores.iter().filter(|s| s.is_finite()).fold(0.0, |most, s| f64::max(most, s.abs()))
}

/// The larger of two numbers that are not NaN.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Raises each `best[i]` to at least `values[i] + shift`.
#[inline(always)]
pub(super) fn raise(best: &mut [f64], values: &[f64], shift: f64) {
    for (best, value) in best.iter_mut().zip(values) {
        *best = larger(*best, value + shift);
    }
}

/// Sets each `best[column]` to the maximum over the rows of a table of `table[row, column] + shifts[row]`.
///
/// The rows start `stride` apart. Columns are taken eight at a time, so that their maxima stay in registers
/// while the rows pass by.
#[inline]
pub(super) fn max_plus(best: &mut [f64], table: &[f64], stride: usize, shifts: &[f64]) {
    let (blocks, rest) = best.as_chunks_mut::<8>();
    let mut column = 0;
    for block in blocks {
        *block = max_plus_columns(&table[column..], stride, shifts);
        column += 8;
    }
    let table = &table[column.min(table.len())..];
    match rest.len() {
        0 => {}
        1 => rest.copy_from_slice(&max_plus_columns::<1>(table, stride, shifts)),
        2 => rest.copy_from_slice(&max_plus_columns::<2>(table, stride, shifts)),
        3 => rest.copy_from_slice(&max_plus_columns::<3>(table, stride, shifts)),
        4 => rest.copy_from_slice(&max_plus_columns::<4>(table, stride, shifts)),
        5 => rest.copy_from_slice(&max_plus_columns::<5>(table, stride, shifts)),
        6 => rest.copy_from_slice(&max_plus_columns::<6>(table, stride, shifts)),
        _ => rest.copy_from_slice(&max_plus_columns::<7>(table, stride, shifts)),
    }
}

/// The same for so few columns that their number is best known to the compiler.
#[inline(always)]
pub(super) fn max_plus_columns<const COLUMNS: usize>(
    table: &[f64],
    stride: usize,
    shifts: &[f64],
) -> [f64; COLUMNS] {
    let mut best = [f64::NEG_INFINITY; COLUMNS];
    let mut rest = table;
    for &shift in shifts {
        let (row, _) = rest.split_first_chunk::<COLUMNS>().expect("a row for each shift");
        for column in 0..COLUMNS {
            best[column] = larger(best[column], row[column] + shift);
        }
        rest = rest.get(stride..).unwrap_or_default();
    }
    best
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

/// The largest of some numbers, minus infinity if there are none.
#[inline]
pub(crate) fn maximum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<4>();
    let mut best = [f64::NEG_INFINITY; 4];
    for block in blocks {
        for lane in 0..4 {
            best[lane] = larger(best[lane], block[lane]);
        }
    }
    let maximum = larger(larger(best[0], best[1]), larger(best[2], best[3]));
    rest.iter().fold(maximum, |maximum, &value| larger(maximum, value))
}

/// The index of the first maximum and its value; 0 and minus infinity if there are no values.
///
/// Two sweeps, one for the value and one for its place, beat one that carries both: neither has a branch on
/// the data that the processor must guess, but for the last.
#[inline]
pub(super) fn first_maximum(values: &[f64]) -> (usize, f64) {
    let (blocks, maximum) = (values.as_chunks::<4>().0, maximum(values));
    let holds = |block: &[f64; 4]| block.iter().fold(false, |any, &value| any | (value == maximum));
    let start = 4 * blocks.iter().position(holds).unwrap_or(blocks.len());
    let place = values[start..].iter().position(|&value| value == maximum);
    (place.map_or(0, |place| start + place), maximum)
}

/// The first index that maximizes `value(index)` over `0..count`.
#[inline(always)]
pub(super) fn first_best(count: usize, value: impl Fn(usize) -> f64) -> usize {
    let (mut best, mut maximum) = (0, f64::NEG_INFINITY);
    for index in 0..count {
        let candidate = value(index);
        let is_better = candidate > maximum;
        best = if is_better { index } else { best };
        maximum = larger(candidate, maximum);
    }
    best
}
