//! Assignments from bounds: rounding, local search and diving.

use super::branch::{Context, Tree};
use super::lift::Lift;
use super::local_search::LocalSearch;
use super::messages::{Schedule, decode};
use super::network::Network;
use super::ordering::pair_checks;
use super::presolve::reduce;
use std::sync::Arc;

impl Tree<'_> {
    /// Fixes the variables that message passing is surest of, quarter by quarter, and reads off the rest: a
    /// descent to one leaf that costs little more than the first steps.
    pub(super) fn dive(&mut self, network: &Network, lift: &Arc<Lift>, context: &Context) {
        let (mut network, mut lift) = (network.clone(), Arc::clone(lift));
        let reductions = context.reductions(false);
        while !context.limits.expired() {
            let around = network.incidence();
            let (states, margins) = decode(&network, &around);
            let mut surest: Vec<u32> = (0..states.len() as u32).collect();
            surest.sort_by(|&a, &b| margins[b as usize].total_cmp(&margins[a as usize]).then(a.cmp(&b)));
            surest.truncate(states.len() / 4 + 1);
            for v in surest {
                for (state, score) in network.unary[v as usize].iter_mut().enumerate() {
                    if state != states[v as usize] {
                        *score = f64::NEG_INFINITY;
                    }
                }
            }
            match reduce(network, Some(lift), self.cut, reductions, &context.limits) {
                Ok((reduced, reduced_lift)) => (network, lift) = (reduced, reduced_lift),
                Err(_) => return,
            }
            if network.sizes.is_empty() {
                self.find_assignment(&network, &[], &lift, true, context);
                return;
            }
            let mut schedule = Schedule::new(&network);
            for _ in 0..10 {
                if !schedule.sweep(&mut network, self.cut, &context.limits) {
                    return;
                }
            }
        }
    }

    /// Starts from states read off a reduced network, and improves them on the network as given.
    pub(super) fn find_assignment(
        &mut self,
        reduced: &Network,
        states: &[usize],
        lift: &Arc<Lift>,
        thorough: bool,
        context: &Context,
    ) {
        let assignment = lift.apply(states);
        if !thorough {
            self.submit(self.root.value(&assignment), assignment, context);
            return;
        }
        let root = self.root;
        let limits = &context.limits;
        let mut local = LocalSearch::new(root, assignment);
        local.tabu(500, &mut self.dice, limits);
        let mut failures = 0;
        let mut bucket = 256.0;
        let joint = pair_checks(root) <= 2e7;
        while joint && failures < 8 && !limits.expired() {
            if local.improve_jointly(bucket, &mut self.dice, limits) {
                failures = 0;
            } else {
                failures += 1;
                bucket = if failures < 4 { bucket } else { 4096.0 };
            }
        }
        failures = 0;
        let mut spacing = 16;
        while joint && failures < 6 && spacing > 3 && !limits.expired() {
            match local.improve_bands(spacing, 2e3 * root.sizes.len() as f64, &mut self.dice, limits) {
                None => spacing = spacing * 3 / 4,
                Some(true) => failures = 0,
                Some(false) => failures += 1,
            }
        }
        // Only now the incumbent comes in: from the start it would draw every search into its own valley.
        if let Some((_, best)) = &self.best {
            local.fuse(best);
        }
        // Where an assignment loses in the reduced network, it may not be optimal (complementary slackness).
        let losses = losses(reduced, &lift.project(&local.assignment), 1e9);
        let mut centers: Vec<u32> = (0..losses.len() as u32).filter(|&v| losses[v as usize] > 1e-6).collect();
        centers.sort_by(|&a, &b| losses[b as usize].total_cmp(&losses[a as usize]).then(a.cmp(&b)));
        let origins = lift.origins();
        let mut size = root.sizes.len().min(150);
        failures = 0;
        for &center in centers.iter().take(16 + root.sizes.len() / 16) {
            if failures > 24 || limits.expired() {
                break;
            }
            if local.improve_region(origins[center as usize], size, 1e6, limits) {
                failures = 0;
            } else {
                failures += 1;
                size = if failures % 8 == 0 { (size * 3 / 4).max(8.min(size)) } else { size };
            }
        }
        self.submit(root.value(&local.assignment), local.assignment, context);
    }
}

/// What the tables and vectors around every variable lose under an assignment of a network in normal form, each at most `most`.
pub(super) fn losses(network: &Network, states: &[usize], most: f64) -> Vec<f64> {
    let mut losses: Vec<f64> =
        network.unary.iter().zip(states).map(|(scores, &state)| (-scores[state]).min(most)).collect();
    for table in &network.tables {
        let loss = (-table.scores[network.entry(table, states)]).min(most);
        for &v in &table.scope {
            losses[v as usize] += loss;
        }
    }
    losses
}
