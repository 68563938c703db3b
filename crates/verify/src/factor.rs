//! The maximum of a factor over literals: closed forms.

use crate::number::Up;
use crate::proof::Witness;
use crate::structure;
use consonant_problem::Kind;

/// A literal of a factor in the case at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// What the factor earns when it holds.
    pub multiplier: f64,
    /// Whether it can hold.
    pub can_hold: bool,
    /// Whether it can fail to hold.
    pub can_fail: bool,
}

impl Link {
    /// The negation; a multiplier m on x is m, less m on not-x.
    fn negated(self) -> Link {
        Link { multiplier: -self.multiplier, can_hold: self.can_fail, can_fail: self.can_hold }
    }

    pub(crate) fn is_forced(&self) -> bool {
        self.can_hold && !self.can_fail
    }
}

/// The most that a factor and the multipliers of its literals can be worth together.
pub(crate) fn maximum(
    kind: &Kind,
    links: &[Link],
    scores: bool,
    witness: Option<&Witness>,
) -> Result<Up, String> {
    if links.iter().any(|link| !link.can_hold && !link.can_fail) {
        return Ok(Up::NEVER);
    }
    let own = |score: f64| Up::from(if scores || score == f64::NEG_INFINITY { score } else { 0.0 });
    let (inputs, output) = links.split_at(links.len().saturating_sub(1));
    Ok(match kind {
        Kind::ExactlyOne => count(links, 1, 1),
        Kind::AtMostOne => count(links, 0, 1),
        Kind::AtLeastOne => count(links, 1, links.len()),
        Kind::Implies => {
            let clause = [links[0].negated(), links[1]];
            Up::from(links[0].multiplier) + count(&clause, 1, 2)
        }
        Kind::OrWithOutput => or(inputs, output[0]),
        Kind::AndWithOutput => {
            // De Morgan: not-output is the OR of the negated inputs.
            let negated: Vec<Link> = inputs.iter().map(|link| link.negated()).collect();
            let all: Up = links.iter().map(|link| Up::from(link.multiplier)).sum();
            all + or(&negated, output[0].negated())
        }
        Kind::XorWithOutput => {
            let one: Vec<Link> = inputs.iter().copied().chain([output[0].negated()]).collect();
            Up::from(output[0].multiplier) + count(&one, 1, 1)
        }
        Kind::Budget { limit } => count(links, 0, *limit),
        Kind::Pair { score } | Kind::Pattern { score } => {
            let all = own(*score) + count(links, links.len(), links.len());
            all.max(count(links, 0, links.len() - 1))
        }
        Kind::Knapsack { costs, limit } => knapsack(links, costs, structure::widened(*limit)),
        Kind::Arborescence { nodes, arcs, single_root } => {
            structure::arborescence(links, *nodes, arcs, *single_root, witness)?
        }
        Kind::TreeBudget { parents, budget } => structure::tree_budget(links, parents, budget.as_ref())?,
        Kind::Cut { pairs } => structure::cut(links, pairs, scores, witness)?,
        other => return Err(format!("a {} is not over literals", other.name())),
    })
}

/// Between `least` and `most` literals hold: those that must, and the best of the others.
fn count(links: &[Link], least: usize, most: usize) -> Up {
    let forced = links.iter().filter(|link| link.is_forced());
    let (held, mut total) =
        forced.fold((0, Up::ZERO), |(n, sum), link| (n + 1, sum + Up::from(link.multiplier)));
    let mut free: Vec<f64> =
        links.iter().filter(|l| l.can_hold && l.can_fail).map(|l| l.multiplier).collect();
    free.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut best = Up::NEVER;
    for taken in 0..=free.len() {
        if (least..=most).contains(&(held + taken)) {
            best = best.max(total);
        }
        if let Some(&next) = free.get(taken) {
            total = total + Up::from(next);
        }
    }
    best
}

/// The output holds exactly when some input does.
fn or(inputs: &[Link], output: Link) -> Up {
    let some = match output.can_hold {
        true => Up::from(output.multiplier) + count(inputs, 1, inputs.len()),
        false => Up::NEVER,
    };
    let none = if output.can_fail { count(inputs, 0, 0) } else { Up::NEVER };
    some.max(none)
}

/// A price on the limit: whatever it is, price · room plus what the items gain beyond their costs is a bound.
/// The price at which the fractional knapsack is full gives the least one.
fn knapsack(links: &[Link], costs: &[f64], limit: f64) -> Up {
    let forced = links.iter().zip(costs).filter(|(link, _)| link.is_forced());
    let (mut total, mut room) = (Up::ZERO, Up::from(limit));
    for (link, &cost) in forced {
        total = total + Up::from(link.multiplier);
        room = room + Up::from(-cost);
    }
    if room < Up::ZERO {
        return Up::NEVER;
    }
    let room = room.ceiling();
    let gains = |(link, cost): &(&Link, &f64)| {
        link.can_hold && link.can_fail && link.multiplier > 0.0 && **cost <= room
    };
    let mut items: Vec<(f64, f64)> =
        links.iter().zip(costs).filter(gains).map(|(link, &cost)| (link.multiplier, cost)).collect();
    items.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
    let (mut used, mut price) = (0.0, 0.0);
    for &(gain, cost) in &items {
        used += cost;
        if used > room && cost > 0.0 {
            price = gain / cost;
            break;
        }
    }
    if !f64::is_finite(price) || !f64::is_finite(price * room) {
        price = 0.0;
    }
    for (gain, cost) in items {
        total = total + (Up::from(gain) + Up::product(-price, cost)).max(Up::ZERO);
    }
    total + Up::product(price, room)
}

/// What a factor over literals earns by itself when these hold; nothing when it does not allow that.
pub(crate) fn own_score(kind: &Kind, on: &[bool]) -> Option<Up> {
    let link = |&on: &bool| Link { multiplier: 0.0, can_hold: on, can_fail: !on };
    let links: Vec<Link> = on.iter().map(link).collect();
    maximum(kind, &links, true, None).ok().filter(|score| !score.is_never())
}
