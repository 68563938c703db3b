//! An order in which all variables of a case can be maximized out, if the case is narrow.

use crate::solver::exact::ordering::smallest_tables;
use consonant_problem::Problem;
use consonant_verify::{Domains, is_table, table_scopes};

/// The variables, those whose elimination leaves the smallest table first; nothing if the tables would have
/// more than `most` entries together, or if a factor has none.
pub(super) fn order(problem: &Problem, case: &Domains, most: usize) -> Option<Vec<u32>> {
    if !problem.factors.iter().all(|factor| is_table(&factor.kind)) {
        return None;
    }
    let sizes: Vec<usize> = case.iter().map(|states| states.iter().filter(|&&ok| ok).count()).collect();
    let mut scopes = Vec::new();
    for mut scope in problem.factors.iter().flat_map(|factor| table_scopes(problem, factor)) {
        scope.retain(|&v| sizes[v as usize] > 1);
        scope.sort_unstable();
        scope.dedup();
        let size = scope.iter().try_fold(1usize, |size, &v| size.checked_mul(sizes[v as usize]));
        if size.is_none_or(|size| size > most) {
            return None;
        }
        scopes.push(scope);
    }
    let order = smallest_tables(&sizes, scopes.iter().map(|scope| &scope[..]), most as f64);
    order.map(|order| order.variables)
}
