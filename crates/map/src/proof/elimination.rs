//! An order in which all variables of a case can be maximized out, if the case is narrow.

use consonant_problem::Problem;
use consonant_verify::{Domains, is_table, table_scopes};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The variables, those whose elimination leaves the smallest table first; nothing if the tables would have more than `most` entries
/// together, or if a factor has none.
pub(super) fn order(problem: &Problem, case: &Domains, most: usize) -> Option<Vec<u32>> {
    if !problem.factors.iter().all(|factor| is_table(&factor.kind)) {
        return None;
    }
    let sizes: Vec<usize> = case.iter().map(|states| states.iter().filter(|&&ok| ok).count()).collect();
    let mut neighbours = vec![FxHashSet::default(); case.len()];
    for factor in &problem.factors {
        for scope in table_scopes(problem, factor) {
            let open: Vec<u32> = scope.into_iter().filter(|&v| sizes[v as usize] > 1).collect();
            let size = open.iter().try_fold(1usize, |size, &v| size.checked_mul(sizes[v as usize]));
            if size.is_none_or(|size| size > most) {
                return None;
            }
            for &a in &open {
                neighbours[a as usize].extend(open.iter().copied().filter(|&b| b != a));
            }
        }
    }
    let cost = |neighbours: &FxHashSet<u32>, v: usize| {
        neighbours.iter().fold(sizes[v] as f64, |product, &u| product * sizes[u as usize] as f64)
    };
    let mut heap: BinaryHeap<(Reverse<u64>, Reverse<u32>)> = BinaryHeap::new();
    let key = |cost: f64| Reverse(cost.min(1e18) as u64);
    heap.extend((0..case.len()).map(|v| (key(cost(&neighbours[v], v)), Reverse(v as u32))));
    let mut gone = vec![false; case.len()];
    let (mut order, mut total) = (Vec::with_capacity(case.len()), 0.0);
    while let Some((seen, Reverse(v))) = heap.pop() {
        let own = cost(&neighbours[v as usize], v as usize);
        if gone[v as usize] || key(own) != seen {
            continue;
        }
        total += own;
        if total > most as f64 {
            return None;
        }
        gone[v as usize] = true;
        order.push(v);
        let around = std::mem::take(&mut neighbours[v as usize]);
        for &a in &around {
            let own = &mut neighbours[a as usize];
            own.remove(&v);
            own.extend(around.iter().copied().filter(|&b| b != a));
            heap.push((key(cost(&neighbours[a as usize], a as usize)), Reverse(a)));
        }
    }
    Some(order)
}
