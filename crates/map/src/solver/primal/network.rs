//! Assignments of networks, for exact search: rounding, local search and diving.

use super::neighbourhoods::States;
use super::{Connected, Fusion, Position};
use crate::solver::exact::branch::{Context, Tree};
use crate::solver::exact::lift::Lift;
use crate::solver::exact::messages::{Schedule, decode};
use crate::solver::exact::network::Network;
use crate::solver::exact::ordering::pair_checks;
use crate::solver::exact::presolve::reduce;
use std::sync::Arc;

/// How much to spend on an assignment.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Effort {
    /// Take it as it is.
    Read,
    /// Tabu search and fusion with the incumbent.
    Quick,
    /// Exact moves of large neighbourhoods as well.
    Full,
}

/// Tables that annealing may look at, as a multiple of all.
const ANNEALING: usize = 100;

impl Tree<'_> {
    /// Fixes the variables that message passing is surest of, quarter by quarter, and reads off the rest: a
    /// descent to one leaf that costs little more than the first steps.
    pub(crate) fn dive(&mut self, network: &Network, lift: &Arc<Lift>, context: &Context) {
        let (mut network, mut lift) = (network.clone(), Arc::clone(lift));
        let reductions = context.reductions(false);
        while !context.limits.expired() {
            let around = network.incidence();
            let (states, margins) = decode(&network, &around);
            let mut surest: Vec<u32> = (0..states.len() as u32).collect();
            surest.sort_by(|&a, &b| margins[b as usize].total_cmp(&margins[a as usize]).then(a.cmp(&b)));
            surest.truncate(states.len() / 4 + 1);
            for v in surest {
                network.keep_only(v as usize, states[v as usize]);
            }
            match reduce(network, Some(lift), self.cut, reductions, &context.limits) {
                Ok((reduced, reduced_lift)) => (network, lift) = (reduced, reduced_lift),
                Err(_) => return,
            }
            if network.sizes.is_empty() {
                self.find_assignment(&network, &[], &lift, Effort::Full, context);
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
    pub(crate) fn find_assignment(
        &mut self,
        reduced: &Network,
        states: &[usize],
        lift: &Arc<Lift>,
        effort: Effort,
        context: &Context,
    ) {
        let assignment = lift.apply(states);
        if effort == Effort::Read {
            self.submit(self.root.value(&assignment), assignment, context);
            return;
        }
        let root = self.root;
        let mut local = States::new(root, assignment);
        local.tabu(root.sizes.len(), 500, &mut self.dice, || context.limits.expired());
        let mut closed = context.cut(root.value(&local.assignment)) >= reduced.constant;
        if effort == Effort::Full && !closed {
            local.anneal_all(ANNEALING * root.tables.len(), &mut self.dice, &context.limits);
            closed = context.cut(root.value(&local.assignment)) >= reduced.constant;
        }
        if effort == Effort::Full && !closed {
            self.improve_widely(&mut local, context);
        }
        // Only now the incumbent comes in: from the start it would draw every search into its own valley.
        if let Some((_, best)) = &self.best {
            local.fuse(0..best.len(), |v| best[v], &mut Fusion::default());
        }
        if effort == Effort::Full && !closed {
            self.improve_doubtful_regions(&mut local, reduced, lift, context);
        }
        self.submit(root.value(&local.assignment), local.assignment, context);
    }

    /// Exact moves of most variables at once, until they stop paying.
    fn improve_widely(&mut self, local: &mut States, context: &Context) {
        let limits = &context.limits;
        if pair_checks(self.root) > 2e7 {
            return;
        }
        for bucket in [256.0, 4096.0] {
            let mut failures = 0;
            while failures < 3 && !limits.expired() {
                let improved = local.improve_jointly(bucket, &mut self.dice, limits);
                failures = if improved { 0 } else { failures + 1 };
            }
        }
        let work = 2e3 * self.root.sizes.len() as f64;
        let mut spacing = 16;
        let mut failures = 0;
        while failures < 6 && spacing > 3 && !limits.expired() {
            match local.improve_bands(spacing, work, &mut self.dice, limits) {
                None => spacing = spacing * 3 / 4,
                Some(true) => failures = 0,
                Some(false) => failures += 1,
            }
        }
    }

    /// Exact moves around the variables where the assignment loses most in the reduced network: by
    /// complementary slackness it can only be wrong there.
    fn improve_doubtful_regions(
        &mut self,
        local: &mut States,
        reduced: &Network,
        lift: &Arc<Lift>,
        context: &Context,
    ) {
        let losses = losses(reduced, &lift.project(&local.assignment), 1e9);
        let mut centers: Vec<u32> = (0..losses.len() as u32).filter(|&v| losses[v as usize] > 1e-6).collect();
        centers.sort_by(|&a, &b| losses[b as usize].total_cmp(&losses[a as usize]).then(a.cmp(&b)));
        let origins = lift.origins();
        let count = self.root.sizes.len();
        let mut size = count.min(150);
        let mut failures = 0;
        for &center in centers.iter().take(16 + count / 16) {
            if failures > 24 || context.limits.expired() {
                return;
            }
            if local.improve_region(origins[center as usize], size, 1e6, &context.limits) {
                failures = 0;
            } else {
                failures += 1;
                size = if failures % 8 == 0 { (size * 3 / 4).max(8.min(count)) } else { size };
            }
        }
    }
}

/// What the tables and vectors around every variable lose under an assignment of a network in normal form,
/// each at most `most`.
pub(crate) fn losses(network: &Network, states: &[usize], most: f64) -> Vec<f64> {
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
