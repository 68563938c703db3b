//! Witnesses of maxima that have no closed form.

use crate::cut::{Cut, PseudoBoolean};
use consonant_problem::{Factor, Kind};
use consonant_verify::{Domains, Witness};

/// The witness of a factor under these multipliers, if its kind has one.
pub(super) fn of(factor: &Factor, multipliers: &[f64], case: &Domains) -> Option<Witness> {
    let states = |on: bool| {
        factor.literals.iter().map(move |l| {
            let allowed = &case[l.variable as usize];
            (0..allowed.len()).any(|s| allowed[s] && l.holds(s as u32) == on)
        })
    };
    let (can_hold, can_fail): (Vec<bool>, Vec<bool>) = (states(true).collect(), states(false).collect());
    match &factor.kind {
        Kind::Arborescence { nodes, arcs, single_root } => {
            let is_forced = |link: usize| can_hold[link] && !can_fail[link];
            let mut forced = vec![false; *nodes];
            (0..arcs.len()).filter(|&link| is_forced(link)).for_each(|link| forced[arcs[link].1] = true);
            let scored: Vec<(usize, usize, f64)> = (0..arcs.len())
                .filter(|&link| can_hold[link] && (is_forced(link) || !forced[arcs[link].1]))
                .map(|link| (arcs[link].0, arcs[link].1, multipliers[link]))
                .collect();
            Some(Witness::Sets(arborescence(*nodes, &scored, *single_root)))
        }
        Kind::Cut { pairs } => {
            let linear: Vec<f64> = (0..multipliers.len())
                .map(|i| match (can_hold[i], can_fail[i]) {
                    (false, _) => f64::NEG_INFINITY,
                    (true, false) => f64::INFINITY,
                    _ => multipliers[i],
                })
                .collect();
            Some(Witness::Flow(flow(&linear, pairs)))
        }
        _ => None,
    }
}

/// Sets of nodes with prices that prove the best arborescence.
fn arborescence(nodes: usize, arcs: &[(usize, usize, f64)], single_root: bool) -> Vec<(Vec<u32>, f64)> {
    let free = contract(nodes, arcs, 0.0);
    let Ok((sets, root_arcs)) = free else { return vec![(free.err().unwrap_or_default(), 0.0)] };
    if !single_root || root_arcs <= 1 {
        return sets;
    }
    // A toll on root arcs: the least with which one is left, by bisection. A toll is a negative price of all
    // nodes.
    let (mut low, mut high) = (0.0, 1.0);
    let span = arcs.iter().map(|arc| arc.2.abs()).fold(1e-300, f64::max) * 4.0 * nodes as f64;
    let mut best = sets;
    for round in 0..200 {
        let toll = if round == 0 { span } else { (low + high) / 2.0 };
        if round > 0 && (toll <= low || toll >= high) {
            break;
        }
        let Ok((mut sets, root_arcs)) = contract(nodes, arcs, toll) else { break };
        sets.push(((1..nodes as u32).collect(), -toll));
        match root_arcs {
            1 => (high, best) = (toll, sets),
            _ if round == 0 => return sets,
            _ => low = toll,
        }
    }
    best
}

/// Edmonds' contractions (1967): every node takes its best arc; a cycle becomes one node, whose entering arcs
/// compete by what they lose against the arc that they replace. The price of the cycle's set is what its best
/// entering arc loses. Gives the sets with their prices and how many arcs leave the root; or a set of nodes
/// that no arc enters.
#[allow(clippy::type_complexity)]
fn contract(
    nodes: usize,
    arcs: &[(usize, usize, f64)],
    toll: f64,
) -> Result<(Vec<(Vec<u32>, f64)>, usize), Vec<u32>> {
    // The outermost set of each node, and the members of each set; sets 0.. are the nodes themselves.
    let mut set_of: Vec<usize> = (0..nodes).collect();
    let mut members: Vec<Vec<u32>> = (0..nodes as u32).map(|node| vec![node]).collect();
    let mut sets = Vec::new();
    // What is left of each arc after its set has paid.
    let mut rest: Vec<f64> =
        arcs.iter().map(|&(head, _, score)| if head == 0 { score - toll } else { score }).collect();
    let mut chosen: Vec<Option<usize>> = vec![None; nodes];
    let mut waiting: Vec<usize> = (1..nodes).collect();
    while let Some(set) = waiting.pop() {
        // The best arc that enters the set from outside.
        let enters = |&i: &usize| set_of[arcs[i].1] == set && set_of[arcs[i].0] != set;
        let best =
            (0..arcs.len()).filter(enters).max_by(|&a, &b| rest[a].total_cmp(&rest[b]).then(b.cmp(&a)));
        let Some(best) = best else { return Err(std::mem::take(&mut members[set])) };
        let most = rest[best];
        if members[set].len() > 1 {
            // Entering arcs may gain up to zero: then the best replaces an arc inside at no loss.
            sets.push((members[set].clone(), (-most).max(0.0)));
        }
        for i in 0..arcs.len() {
            if set_of[arcs[i].1] == set && set_of[arcs[i].0] != set {
                rest[i] -= most;
            }
        }
        chosen[set] = Some(best);
        // Does the way up from here come back?
        let mut cycle = vec![set];
        let mut at = set_of[arcs[best].0];
        while at != 0 && at != set {
            let Some(arc) = chosen[at] else { break };
            cycle.push(at);
            at = set_of[arcs[arc].0];
        }
        if at == set {
            let index = members.len();
            let mut all = Vec::new();
            for &part in &cycle {
                all.extend(std::mem::take(&mut members[part]));
            }
            all.sort_unstable();
            all.iter().for_each(|&node| set_of[node as usize] = index);
            members.push(all);
            chosen.push(None);
            waiting.push(index);
        }
    }
    Ok((sets, open_cycles(nodes, arcs, &chosen)))
}

/// How many root arcs the tree has: sets are opened from the outermost to the innermost, each kept arc drops
/// the choice that it replaces inside.
fn open_cycles(nodes: usize, arcs: &[(usize, usize, f64)], chosen: &[Option<usize>]) -> usize {
    let mut taken = vec![false; nodes];
    let mut root_arcs = 0;
    for &arc in chosen.iter().rev().flatten() {
        if !std::mem::replace(&mut taken[arcs[arc].1], true) {
            root_arcs += (arcs[arc].0 == 0) as usize;
        }
    }
    root_arcs
}

/// How much of each pair's score its first literal takes, so that the positive sums are least: a maximum flow
/// tells.
fn flow(linear: &[f64], pairs: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut function = PseudoBoolean::new(linear.len());
    // Beyond this a literal's own number decides, whatever it takes of its pairs; infinite ones become
    // finite.
    let mut decisive = vec![1.0; linear.len()];
    for &(a, b, score) in pairs {
        let added = function.add_pair(a, b, score);
        debug_assert!(added.is_ok(), "{added:?}");
        decisive[a] += 2.0 * score;
        decisive[b] += 2.0 * score;
    }
    let mut cut = Cut::new(&function);
    for (i, (&own, &decisive)) in linear.iter().zip(&decisive).enumerate() {
        cut.set_unary(i, own.clamp(-decisive, decisive));
    }
    cut.solve();
    cut.shares().collect()
}
