//! At most this many links are on.

use super::Scratch;
use super::knapsack::shift_to_limit;

pub(super) fn project(point: &mut [f64], limit: usize, scratch: &mut Scratch) {
    if point.iter().map(|x| x.clamp(0.0, 1.0)).sum::<f64>() > limit as f64 {
        let shift = shift_to_limit(point.iter().map(|&a| (a, 1.0)), limit as f64, scratch);
        for x in point.iter_mut() {
            *x -= shift;
        }
    }
    for x in point {
        *x = x.clamp(0.0, 1.0);
    }
}

/// The best `limit` links with positive scores, found by selection.
pub(super) fn maximize(scores: &[f64], limit: usize, best: &mut [f64], scratch: &mut Scratch) -> f64 {
    let positive = &mut scratch.values;
    positive.clear();
    positive.extend(scores.iter().copied().filter(|&s| s > 0.0));
    let mut threshold = 0.0;
    let mut spare = usize::MAX;
    if positive.len() > limit {
        if limit == 0 {
            best.fill(0.0);
            return 0.0;
        }
        let (_, &mut nth, _) = positive.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
        threshold = nth;
        // Links that tie with the last one chosen are taken from the left until the limit is reached.
        spare = limit - positive.iter().filter(|&&s| s > threshold).count();
    }
    let mut value = 0.0;
    for (x, &score) in best.iter_mut().zip(scores) {
        let tie = score == threshold && threshold > 0.0 && spare > 0;
        if tie {
            spare -= 1;
        }
        let on = score > threshold || tie;
        *x = on as u8 as f64;
        if on {
            value += score;
        }
    }
    value
}
