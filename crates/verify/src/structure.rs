//! Factors with a structure of their own: the tables they are made of, or the witness that shows their
//! maximum.

use crate::factor::Link;
use crate::number::Up;
use crate::proof::Witness;
use consonant_problem::Kind;

/// Cells that a dynamic program may have.
const MOST_CELLS: usize = 1 << 26;

/// A limit on a sum of costs, with the tolerance that costs such as 0.1 need.
pub(crate) fn widened(limit: f64) -> f64 {
    limit * (1.0 + 1e-12)
}

/// The tables of a kind over variables with these sizes, each with the places of its variables; the last
/// moves fastest.
pub(crate) fn tables<'a>(kind: &'a Kind, sizes: &[usize]) -> Vec<(Vec<usize>, &'a [f64])> {
    match kind {
        Kind::Table { scores } => vec![((0..sizes.len()).collect(), scores)],
        Kind::Sequence { pairs, triples } => {
            let mut parts = windows(sizes, 2, pairs);
            parts.extend(triples.iter().flat_map(|triples| windows(sizes, 3, triples)));
            parts
        }
        Kind::TreeLabelling { edges, tables } => {
            let mut rest = &tables[..];
            let table = |&(a, b): &(usize, usize)| {
                let (table, after) = rest.split_at(sizes[a] * sizes[b]);
                rest = after;
                (vec![a, b], table)
            };
            edges.iter().map(table).collect()
        }
        _ => Vec::new(),
    }
}

/// One table for each window of neighbours, or one for all of them.
fn windows<'a>(sizes: &[usize], width: usize, scores: &'a [f64]) -> Vec<(Vec<usize>, &'a [f64])> {
    let lengths: Vec<usize> = sizes.windows(width).map(|w| w.iter().product()).collect();
    let shared = lengths.iter().sum::<usize>() != scores.len();
    let mut start = 0;
    let table = |(first, &length): (usize, &usize)| {
        let from = if shared { 0 } else { start };
        start += length;
        ((first..first + width).collect(), &scores[from..from + length])
    };
    lengths.iter().enumerate().map(table).collect()
}

/// An order in which a kind's variables are maximized out without growing tables.
pub(crate) fn order(kind: &Kind, variables: usize) -> Vec<usize> {
    let Kind::TreeLabelling { edges, .. } = kind else { return (0..variables).collect() };
    // Leaves first: going over the nodes from a root in breadth-first order, backwards.
    let mut neighbours = vec![Vec::new(); variables];
    for &(a, b) in edges {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let (mut order, mut seen) = (Vec::new(), vec![false; variables]);
    for root in 0..variables {
        let mut next = order.len();
        if !std::mem::replace(&mut seen[root], true) {
            order.push(root);
        }
        while next < order.len() {
            for &node in &neighbours[order[next]] {
                if !std::mem::replace(&mut seen[node], true) {
                    order.push(node);
                }
            }
            next += 1;
        }
    }
    order.reverse();
    order
}

/// The dual of maximum arborescences. At least one arc of a tree enters a set of nodes without the root: a
/// price on that, added to every arc that enters, is taken back once for each tree. Each node then takes its
/// best arc. If only one arc may leave the root, exactly one enters the set of all other nodes, whose price
/// may be negative.
pub(crate) fn arborescence(
    links: &[Link],
    nodes: usize,
    arcs: &[(usize, usize)],
    single_root: bool,
    witness: Option<&Witness>,
) -> Result<Up, String> {
    let sets: &[(Vec<u32>, f64)] = match witness {
        Some(Witness::Sets(sets)) => sets,
        Some(_) => return Err("expected sets as witness".into()),
        None => &[],
    };
    let mut inside = vec![vec![false; nodes]; sets.len()];
    let mut sets_of = vec![Vec::new(); nodes];
    let mut total = Up::ZERO;
    for (index, (members, price)) in sets.iter().enumerate() {
        for &node in members {
            if node == 0
                || node as usize >= nodes
                || std::mem::replace(&mut inside[index][node as usize], true)
            {
                return Err(format!("node {node} of set {index} is the root, unknown, or there twice"));
            }
            sets_of[node as usize].push(index);
        }
        let whole = single_root && members.len() == nodes - 1;
        if !price.is_finite() || price.abs() > 1e290 || (*price < 0.0 && !whole) {
            return Err(format!("set {index} has price {price}"));
        }
        total = total + Up::from(-price);
    }
    let mut forced = vec![false; nodes];
    let mut roots = 0;
    for (&(head, modifier), _) in arcs.iter().zip(links).filter(|(_, link)| link.is_forced()) {
        roots += (head == 0) as usize;
        if std::mem::replace(&mut forced[modifier], true) || (single_root && roots > 1) {
            return Ok(Up::NEVER);
        }
    }
    let mut best = vec![Up::NEVER; nodes];
    let mut entered = vec![false; sets.len()];
    for (&(head, modifier), link) in arcs.iter().zip(links) {
        if link.can_hold && (link.is_forced() || !forced[modifier]) {
            let mut score = Up::from(link.multiplier);
            for &set in sets_of[modifier].iter().filter(|&&set| !inside[set][head]) {
                score = score + Up::from(sets[set].1);
                entered[set] = true;
            }
            best[modifier] = best[modifier].max(score);
        }
    }
    // A set that no arc can enter leaves no tree.
    if entered.contains(&false) {
        return Ok(Up::NEVER);
    }
    Ok(best[1..].iter().fold(total, |total, &best| total + best))
}

/// A flow bounds a cut: a·x·y is at most f·x + (a − f)·y for any f between 0 and a.
pub(crate) fn cut(
    links: &[Link],
    pairs: &[(usize, usize, f64)],
    scores: bool,
    witness: Option<&Witness>,
) -> Result<Up, String> {
    let flow: Option<&[f64]> = match witness {
        Some(Witness::Flow(flow)) if flow.len() == pairs.len() => Some(flow),
        Some(_) => return Err("expected a flow with a number for each pair as witness".into()),
        None => None,
    };
    let mut gains: Vec<Up> = links.iter().map(|link| Up::from(link.multiplier)).collect();
    for (index, &(a, b, score)) in pairs.iter().enumerate() {
        if !scores || !links[a].can_hold || !links[b].can_hold {
            continue;
        }
        let first = match (links[a].is_forced(), links[b].is_forced()) {
            (false, true) => score,
            (true, false) => 0.0,
            _ => flow.map_or(score / 2.0, |flow| flow[index]),
        };
        if !(0.0..=score).contains(&first) {
            return Err(format!("the flow of pair {index} is {first}, not between 0 and {score}"));
        }
        gains[a] = gains[a] + Up::from(first);
        gains[b] = gains[b] + Up::from(score) + Up::from(-first);
    }
    let gain = |(link, gain): (&Link, Up)| match (link.can_hold, link.can_fail) {
        (true, true) => gain.max(Up::ZERO),
        (true, false) => gain,
        (false, _) => Up::ZERO,
    };
    Ok(links.iter().zip(gains).map(gain).sum())
}

/// A knapsack along a tree, depth first: a node is taken and the next one decided on, or its whole subtree is
/// skipped.
pub(crate) fn tree_budget(
    links: &[Link],
    parents: &[Option<usize>],
    budget: Option<&(Vec<usize>, usize)>,
) -> Result<Up, String> {
    let (order, ends) = depth_first(parents);
    let length = |node: usize| budget.map_or(0, |(lengths, _)| lengths[node]);
    let all = (0..parents.len()).try_fold(0usize, |sum, node| sum.checked_add(length(node)));
    let limit = budget.map_or(0, |&(_, limit)| all.map_or(limit, |all| limit.min(all)));
    if (limit + 1).saturating_mul(order.len() + 1) > MOST_CELLS {
        return Err("its nodes times its limit are too many to check".into());
    }
    // The best of this place and all later ones with so much to spend, given that the parent is taken.
    let mut rows = vec![vec![Up::ZERO; limit + 1]; order.len() + 1];
    let mut first_required = order.len();
    for (place, &node) in order.iter().enumerate().rev() {
        let link = links[node];
        if !link.can_fail {
            first_required = place;
        }
        let can_skip = !(place..ends[place]).contains(&first_required);
        for spare in 0..=limit {
            let skipped = if can_skip { rows[ends[place]][spare] } else { Up::NEVER };
            let taken = match spare.checked_sub(length(node)).filter(|_| link.can_hold) {
                Some(left) => Up::from(link.multiplier) + rows[place + 1][left],
                None => Up::NEVER,
            };
            rows[place][spare] = skipped.max(taken);
        }
    }
    Ok(rows[0][limit])
}

/// Every node right before its descendants, and for each place the one after its last descendant.
fn depth_first(parents: &[Option<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut children = vec![Vec::new(); parents.len()];
    let mut stack = Vec::new();
    for (node, parent) in parents.iter().enumerate().rev() {
        match parent {
            Some(parent) => children[*parent].push(node),
            None => stack.push(node),
        }
    }
    let (mut order, mut place) = (Vec::new(), vec![0; parents.len()]);
    while let Some(node) = stack.pop() {
        place[node] = order.len();
        order.push(node);
        stack.extend(&children[node]);
    }
    let mut ends: Vec<usize> = (1..=order.len()).collect();
    for &node in order.iter().rev() {
        if let Some(parent) = parents[node] {
            ends[place[parent]] = ends[place[parent]].max(ends[place[node]]);
        }
    }
    (order, ends)
}
