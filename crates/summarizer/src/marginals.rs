//! Sums over all compressions of one sentence: how probable each is under a log-linear model.

use crate::graph::Relaxed;
use crate::problem::{Problem, Scores};

fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The probability of every part of a problem of one sentence without concepts, and the logarithm of the sum
/// over all of its compressions, by inside and outside sums along the tree. The empty compression does not
/// count.
pub fn marginals(problem: &Problem, scores: &Scores) -> (Relaxed, f64) {
    let units = &problem.units;
    let count = units.len();
    // Over everything below a unit, given that it is chosen; and with its own deletion as the other way.
    let mut inside = vec![0.0; count];
    let mut either = vec![0.0; count];
    for unit in (0..count).rev() {
        either[unit] = match units[unit].deletable {
            true => log_add(inside[unit], scores.deletions[unit]),
            false => inside[unit],
        };
        if unit > 0 {
            inside[units[unit].parent as usize] += either[unit];
        }
    }
    let lead = |unit: usize| if unit == 0 { 0.0 } else { scores.leads[unit] };
    let tops = || (0..count).filter(|&unit| unit == 0 || units[unit].may_lead);
    let sum = tops().fold(f64::NEG_INFINITY, |sum, unit| log_add(sum, lead(unit) + inside[unit]));
    let mut chosen = vec![0.0; count];
    let mut leads = vec![0.0; count];
    for unit in 0..count {
        if unit == 0 || units[unit].may_lead {
            let top = (lead(unit) + inside[unit] - sum).exp();
            chosen[unit] += top;
            leads[unit] = if unit > 0 { top } else { 0.0 };
        }
        if unit > 0 {
            chosen[unit] += chosen[units[unit].parent as usize] * (inside[unit] - either[unit]).exp();
        }
    }
    (Relaxed { sentences: vec![1.0], units: chosen, leads, concepts: Vec::new() }, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{NONE, Unit};

    #[test]
    fn probabilities_are_those_of_all_compressions() {
        let unit = |parent, end, deletable, may_lead| Unit { parent, end, length: 1, deletable, may_lead };
        let mut problem = Problem::new(100, 1);
        problem.push_sentence(&[
            unit(NONE, 5, false, false),
            unit(0, 4, false, true),
            unit(1, 3, true, false),
            unit(1, 4, true, true),
            unit(0, 5, true, false),
        ]);
        let mut scores = Scores::zeros(&problem);
        scores.deletions = vec![0.0, 0.0, 0.7, -1.1, 0.4];
        scores.leads = vec![0.0, -0.3, 0.0, 0.9, 0.0];
        let (relaxed, sum) = marginals(&problem, &scores);
        let mut total = 0.0;
        let mut chosen_sums = [0.0; 5];
        for bits in 1..32u32 {
            let chosen: Vec<bool> = (0..5).map(|u| bits >> u & 1 == 1).collect();
            let weight = problem.value(&scores, &chosen).exp();
            total += weight;
            (0..5).filter(|&u| chosen[u]).for_each(|u| chosen_sums[u] += weight);
        }
        assert!((total.ln() - sum).abs() < 1e-12);
        for (share, sum) in relaxed.units.iter().zip(chosen_sums) {
            assert!((share - sum / total).abs() < 1e-12);
        }
    }
}
