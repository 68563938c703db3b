//! AD3's multipliers as those of a proof.

use crate::Graph;
use crate::model::{FactorId, as_product};
use crate::solver::dual::Dual;
use consonant_problem::{Kind, Problem};

/// What a multiplier keeps of its digits: 2⁻³⁰ of the largest, which costs no proof and makes files shorter.
const KEPT: i32 = 30;

/// For each factor of the problem, a number for each literal: what the factor has of the scores at AD3's
/// multipliers.
pub(super) fn read(
    problem: &Problem,
    graph: &Graph,
    factors: &[Option<FactorId>],
    dual: &Dual,
) -> Vec<Vec<f64>> {
    let each = problem.factors.iter().zip(factors).map(|(factor, &id)| {
        let Some(id) = id else {
            // A pattern over one literal is a score: the literal's variable keeps it.
            return match factor.kind {
                Kind::Pattern { score } if score.is_finite() => vec![-score],
                _ => vec![0.0; factor.literals.len()],
            };
        };
        let group = id.group as usize;
        let links = graph.groups[group].offsets();
        let start = dual.layout.group_start[group] + links[id.index as usize] as usize;
        let count = (links[id.index as usize + 1] - links[id.index as usize]) as usize;
        // What the slot of a link gives to the factor.
        let given = |place: usize, slot: usize| dual.share[slot] + dual.multipliers[start + place];
        let literals: Vec<_> = problem.links(factor).map(|literal| graph.literal(literal)).collect();
        if let (Kind::Table { scores }, 2, 4) = (&factor.kind, count, literals.len()) {
            // Two binary variables: the table has become a pair, and its rows and columns scores of slots.
            let [_, first, second, _] = as_product(scores).unwrap_or_default();
            let (a, b) = (given(0, literals[0].slot()), given(1, literals[2].slot()));
            return vec![0.0, a - first, 0.0, b - second];
        }
        let own = |(place, literal): (usize, &crate::Literal)| {
            let given = given(place, literal.slot());
            if literal.is_negated() { -given } else { given }
        };
        literals.iter().enumerate().map(own).collect()
    });
    each.map(|multipliers: Vec<f64>| multipliers.into_iter().map(|m| shorten(m, dual.scale)).collect())
        .collect()
}

/// Fewer digits, in steps that are a power of two.
fn shorten(multiplier: f64, scale: f64) -> f64 {
    if !multiplier.is_finite() {
        return 0.0;
    }
    let step = scale.abs().max(f64::MIN_POSITIVE).log2().floor() as i32 - KEPT;
    let step = 2f64.powi(step.clamp(-1000, 900));
    let short = (multiplier / step).round() * step;
    if short.is_finite() { short } else { multiplier }
}
