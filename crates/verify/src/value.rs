//! The value of an assignment.

use crate::factor::own_score;
use crate::number::Up;
use crate::{Refusal, structure};
use consonant_problem::{Kind, Problem};

/// The value of an assignment, rounded down; or the constraint that it breaks.
pub fn value(problem: &Problem, assignment: &[u32]) -> Result<f64, Refusal> {
    problem.check().map_err(|e| Refusal::new("the problem", e.to_string()))?;
    if assignment.len() != problem.variables.len() {
        let counts = format!("{} states for {} variables", assignment.len(), problem.variables.len());
        return Err(Refusal::new("assignment", counts));
    }
    // Negated, so that rounding up is rounding down.
    let mut cost = Up::from(-problem.constant);
    for (variable, &state) in problem.variables.iter().zip(assignment) {
        let score = variable.scores.get(state as usize).copied();
        let place = format!("assignment of {}", variable.name);
        let score = score.ok_or_else(|| Refusal::new(&place, format!("there is no state {state}")))?;
        if score == f64::NEG_INFINITY {
            return Err(Refusal::new(place, format!("state {state} is forbidden")));
        }
        cost = cost + Up::from(-score);
    }
    for (index, factor) in problem.factors.iter().enumerate() {
        let broken = || Refusal::new(format!("factor {index} ({})", factor.kind.name()), "not satisfied");
        let on: Vec<bool> =
            factor.literals.iter().map(|l| l.holds(assignment[l.variable as usize])).collect();
        let states: Vec<usize> = factor.scope.iter().map(|&v| assignment[v as usize] as usize).collect();
        let sizes: Vec<usize> =
            factor.scope.iter().map(|&v| problem.variables[v as usize].scores.len()).collect();
        let allowed = match &factor.kind {
            Kind::Arborescence { nodes, arcs, single_root } => is_tree(*nodes, arcs, *single_root, &on),
            Kind::Pair { score } | Kind::Pattern { score } if on.iter().all(|&on| on) => {
                cost = cost + Up::from(-score.max(f64::MIN));
                *score > f64::NEG_INFINITY
            }
            Kind::Cut { pairs } => {
                let both = pairs.iter().filter(|(a, b, _)| on[*a] && on[*b]);
                cost = both.fold(cost, |cost, pair| cost + Up::from(-pair.2));
                true
            }
            kind if factor.scope.is_empty() => own_score(kind, &on).is_some(),
            kind => {
                let mut finite = true;
                for (places, table) in structure::tables(kind, &sizes) {
                    let entry = places.iter().fold(0, |entry, &place| entry * sizes[place] + states[place]);
                    finite &= table[entry] > f64::NEG_INFINITY;
                    cost = cost + Up::from(-table[entry].max(f64::MIN));
                }
                finite
            }
        };
        if !allowed {
            return Err(broken());
        }
    }
    Ok(0.0 - cost.ceiling())
}

/// Whether the arcs that are on form a tree from node 0 that spans all nodes.
fn is_tree(nodes: usize, arcs: &[(usize, usize)], single_root: bool, on: &[bool]) -> bool {
    let mut head = vec![None; nodes];
    let mut roots = 0;
    for (&(from, to), _) in arcs.iter().zip(on).filter(|(_, on)| **on) {
        roots += (from == 0) as usize;
        if head[to].replace(from).is_some() {
            return false;
        }
    }
    let reaches_root = |mut node: usize| {
        for _ in 0..nodes {
            match head[node] {
                Some(above) => node = above,
                None => return node == 0,
            }
        }
        false
    };
    (0..nodes).all(reaches_root) && (!single_root || roots == 1)
}
