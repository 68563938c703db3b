//! The costs of the links that are on sum to at most a limit.

use super::Scratch;

/// Projection onto {x ∈ [0,1]^n : Σ c_i x_i ≤ limit}: x_i = clip(a_i − t c_i) for one t ≥ 0 (Pardalos &
/// Kovoor 1990; Almeida & Martins 2013, Algorithm 1, where τ = −t).
pub(super) fn project(point: &mut [f64], costs: &[f64], limit: f64, scratch: &mut Scratch) {
    let used: f64 = point.iter().zip(costs).map(|(x, c)| c * x.clamp(0.0, 1.0)).sum();
    if used > limit {
        let shift = shift_to_limit(point.iter().copied().zip(costs.iter().copied()), limit, scratch);
        for (x, cost) in point.iter_mut().zip(costs) {
            *x -= shift * cost;
        }
    }
    for x in point {
        *x = x.clamp(0.0, 1.0);
    }
}

/// The t ≥ 0 at which Σ c_i · clip(a_i − t c_i) = limit, for items (a_i, c_i) whose sum at t = 0 exceeds the
/// limit.
///
/// The sum falls as t grows, linearly between the breakpoints (a_i − 1)/c_i and a_i/c_i. The median
/// breakpoint of the working set tells on which side the answer lies; items whose part is settled there leave
/// the set, so that the work shrinks geometrically: linear time by selection, no sorting.
pub(super) fn shift_to_limit(
    items: impl Iterator<Item = (f64, f64)>,
    limit: f64,
    scratch: &mut Scratch,
) -> f64 {
    let Scratch { values: breakpoints, items: working } = scratch;
    working.clear();
    working.extend(items.filter(|&(a, c)| c > 0.0 && a > 0.0));
    let (mut low, mut high) = (0.0, f64::INFINITY);
    // What settled items add to the sum at t: `at_one` from those clipped at 1, `level − slope·t` from
    // interior ones.
    let (mut at_one, mut level, mut slope) = (0.0, 0.0, 0.0);
    loop {
        breakpoints.clear();
        for &(a, c) in working.iter() {
            breakpoints.extend([(a - 1.0) / c, a / c].into_iter().filter(|&t| t > low && t < high));
        }
        if breakpoints.is_empty() {
            break;
        }
        let middle = breakpoints.len() / 2;
        let (_, &mut pivot, _) = breakpoints.select_nth_unstable_by(middle, f64::total_cmp);
        let used: f64 = working.iter().map(|&(a, c)| c * (a - pivot * c).clamp(0.0, 1.0)).sum();
        if at_one + level - slope * pivot + used > limit {
            low = pivot;
        } else {
            high = pivot;
        }
        working.retain(|&(a, c)| {
            let (leaves_one, reaches_zero) = ((a - 1.0) / c, a / c);
            if reaches_zero <= low {
                return false;
            }
            if leaves_one >= high {
                at_one += c;
                return false;
            }
            let interior = leaves_one <= low && reaches_zero >= high;
            if interior {
                level += c * a;
                slope += c * c;
            }
            !interior
        });
    }
    // No breakpoint is left between `low` and `high`: every item still at work is at one, at zero or interior
    // there.
    for &(a, c) in working.iter() {
        let (leaves_one, reaches_zero) = ((a - 1.0) / c, a / c);
        if leaves_one >= high {
            at_one += c;
        } else if reaches_zero > low {
            level += c * a;
            slope += c * c;
        }
    }
    if slope > 0.0 { ((at_one + level - limit) / slope).clamp(low, high) } else { low }
}

/// The best point of the continuous knapsack: items by density, the last one in part.
pub(super) fn maximize(
    scores: &[f64],
    costs: &[f64],
    limit: f64,
    best: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let threshold = density_threshold(scores, costs, limit, scratch);
    let mut left = limit;
    for i in 0..scores.len() {
        let on = scores[i] > 0.0 && (costs[i] == 0.0 || scores[i] / costs[i] > threshold);
        best[i] = on as u8 as f64;
        if on {
            left -= costs[i];
        }
    }
    // What room is left goes to the items at the threshold.
    for i in 0..scores.len() {
        if threshold > 0.0
            && left > 0.0
            && best[i] == 0.0
            && costs[i] > 0.0
            && scores[i] / costs[i] == threshold
        {
            best[i] = (left / costs[i]).min(1.0);
            left -= best[i] * costs[i];
        }
    }
    scores.iter().zip(best.iter()).map(|(s, x)| if *x > 0.0 { s * x } else { 0.0 }).sum()
}

/// The density (score by cost) of the item that fits only in part: everything denser fits whole. By weighted
/// selection, in linear time; zero when all wanted items fit.
fn density_threshold(scores: &[f64], costs: &[f64], limit: f64, scratch: &mut Scratch) -> f64 {
    let items = &mut scratch.items;
    items.clear();
    items.extend(scores.iter().zip(costs).filter(|(s, c)| **s > 0.0 && **c > 0.0).map(|(s, c)| (s / c, *c)));
    let mut room = limit;
    let mut candidates = &mut items[..];
    while !candidates.is_empty() {
        let middle = candidates.len() / 2;
        let (denser, &mut (density, cost), sparser) =
            candidates.select_nth_unstable_by(middle, |x, y| y.0.total_cmp(&x.0));
        let needed: f64 = denser.iter().map(|item| item.1).sum();
        if needed > room {
            candidates = denser;
        } else if needed + cost > room {
            return density;
        } else {
            room -= needed + cost;
            candidates = sparser;
        }
    }
    0.0
}
