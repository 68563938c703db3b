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
    let multipliers = dual.best_multipliers();
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
        let slots = &graph.groups[group].links()[links[id.index as usize] as usize..];
        let given = |place: usize| dual.share[slots[place].slot()] + multipliers[start + place];
        let literals: Vec<_> = problem.links(factor).map(|literal| graph.literal(literal)).collect();
        let own = |place: usize, literal: &crate::Literal| {
            if literal.is_negated() { -given(place) } else { given(place) }
        };
        let all = || literals.iter().enumerate();
        match (&factor.kind, &factor.scope[..]) {
            // Two binary variables: the table has become a pair, and its rows and columns scores of slots.
            (Kind::Table { scores }, [one, other]) if count == 2 && literals.len() == 4 && one != other => {
                let [_, first, second, _] = as_product(scores).unwrap_or_default();
                vec![0.0, given(0) - first, 0.0, given(1) - second]
            }
            // A table that has a variable twice has become its diagonal: the first place has it all.
            (Kind::Table { .. }, _) if count < literals.len() => {
                let mut places = 0..count;
                let mut place =
                    |at: usize| if literals[..at].contains(&literals[at]) { None } else { places.next() };
                all().map(|(at, literal)| place(at).map_or(0.0, |place| own(place, literal))).collect()
            }
            _ => all().map(|(place, literal)| own(place, literal)).collect(),
        }
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
