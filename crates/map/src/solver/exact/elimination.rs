//! Exact variable elimination (bucket elimination) on dense tables.
//!
//! All tables list their variables in elimination order, first eliminated slowest. The variable
//! that goes next is therefore the slowest of every table in its bucket, and the variables that go last
//! are the fastest of all of them: rows over these *block* variables are contiguous and are added
//! with whole-row operations. The remaining *prefix* variables are walked depth-first, and every table is
//! added at the depth at which its last prefix variable is set, so that most additions are shared
//! between many entries.

use super::limits::Limits;
use super::network::{Network, reordered, strides};
use std::borrow::Cow;

/// Entries of one contiguous block.
const BLOCK: usize = 512;

/// What elimination found.
pub(crate) enum Eliminated {
    /// An optimal assignment.
    Optimum(Vec<usize>),
    /// Every assignment is forbidden.
    Infeasible,
    /// Time ran out.
    Stopped,
}

/// States chosen for an eliminated variable, by the joint state of the variables that stay.
struct Choice {
    variable: u32,
    scope: Vec<u32>,
    states: States,
}

/// Best states, in as few bytes as the domain allows.
enum States {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

struct Bucketed<'a> {
    scope: Cow<'a, [u32]>,
    scores: Cow<'a, [f64]>,
}

/// Maximizes a network by eliminating its variables in this order.
pub(crate) fn eliminate(network: &Network, order: &[u32], limits: &Limits) -> Eliminated {
    let sizes = &network.sizes;
    let mut position = vec![0usize; sizes.len()];
    for (index, &v) in order.iter().enumerate() {
        position[v as usize] = index;
    }
    let mut buckets: Vec<Vec<Bucketed<'_>>> = (0..sizes.len()).map(|_| Vec::new()).collect();
    for table in &network.tables {
        let mut bucketed = Bucketed { scope: table.scope[..].into(), scores: table.scores[..].into() };
        if !table.scope.is_sorted_by_key(|&v| position[v as usize]) {
            bucketed.scope.to_mut().sort_by_key(|&v| position[v as usize]);
            bucketed.scores = reordered(&table.scope, &table.scores, &bucketed.scope, sizes).into();
        }
        buckets[bucketed.scope[0] as usize].push(bucketed);
    }
    let mut total = network.constant;
    let mut choices = Vec::with_capacity(order.len());
    for &v in order {
        if sizes[v as usize] == 0 {
            return Eliminated::Infeasible;
        }
        let tables = std::mem::take(&mut buckets[v as usize]);
        let mut scope: Vec<u32> = tables.iter().flat_map(|t| t.scope[1..].iter().copied()).collect();
        scope.sort_unstable_by_key(|&u| position[u as usize]);
        scope.dedup();
        let Some((scores, states)) =
            maximize_out(v, &network.unary[v as usize], &tables, &scope, sizes, limits)
        else {
            return Eliminated::Stopped;
        };
        if let Some(&first) = scope.first() {
            // Tables over the same variables are summed at once: dense networks would otherwise keep many
            // large ones.
            let bucket = &mut buckets[first as usize];
            if let Some(same) = bucket.iter_mut().find(|table| *table.scope == scope) {
                for (own, score) in same.scores.to_mut().iter_mut().zip(scores) {
                    *own += score;
                }
            } else {
                bucket.push(Bucketed { scope: scope.clone().into(), scores: scores.into() });
            }
        } else {
            total += scores[0];
            if total == f64::NEG_INFINITY {
                return Eliminated::Infeasible;
            }
        }
        choices.push(Choice { variable: v, scope, states });
    }
    if total == f64::NEG_INFINITY {
        return Eliminated::Infeasible;
    }
    let mut assignment = vec![0; sizes.len()];
    for choice in choices.iter().rev() {
        let entry =
            choice.scope.iter().fold(0, |entry, &u| entry * sizes[u as usize] + assignment[u as usize]);
        assignment[choice.variable as usize] = match &choice.states {
            States::Narrow(states) => usize::from(states[entry]),
            States::Wide(states) => usize::from(states[entry]),
        };
    }
    Eliminated::Optimum(assignment)
}

/// How one table takes part in the walk.
struct Part<'a> {
    scores: &'a [f64],
    /// Stride of the eliminated variable.
    stride: usize,
    /// Prefix positions with their strides.
    prefix: Vec<(usize, usize)>,
    /// Offsets of the block entries; empty when the table has no block variable.
    block: Vec<u32>,
    /// Whether the block offsets are 0, 1, 2, ...
    contiguous: bool,
}

impl Part<'_> {
    fn offset(&self, digits: &[usize]) -> usize {
        self.prefix.iter().map(|&(position, stride)| digits[position] * stride).sum()
    }

    /// Adds the rows of this table to `rows` (one for each state), or to `scalars` when it has no block
    /// variable.
    fn add(&self, digits: &[usize], rows: &mut [f64], scalars: &mut [f64], width: usize) {
        let offset = self.offset(digits);
        if self.block.is_empty() {
            for (state, scalar) in scalars.iter_mut().enumerate() {
                *scalar += self.scores[offset + state * self.stride];
            }
            return;
        }
        for (state, row) in rows.chunks_exact_mut(width).enumerate() {
            let source = &self.scores[offset + state * self.stride..];
            if self.contiguous {
                for (target, score) in row.iter_mut().zip(&source[..width]) {
                    *target += score;
                }
            } else {
                for (target, &at) in row.iter_mut().zip(&self.block) {
                    *target += source[at as usize];
                }
            }
        }
    }
}

/// Table over `scope` of the best score of variable `v`, with the states that reach it; `None` when time runs
/// out.
fn maximize_out(
    v: u32,
    unary: &[f64],
    tables: &[Bucketed<'_>],
    scope: &[u32],
    sizes: &[usize],
    limits: &Limits,
) -> Option<(Vec<f64>, States)> {
    let states = unary.len();
    let mut split = scope.len();
    let mut width = 1;
    while split > 0 && width * sizes[scope[split - 1] as usize] <= BLOCK {
        split -= 1;
        width *= sizes[scope[split] as usize];
    }
    let (prefix, block) = scope.split_at(split);
    let extents: Vec<usize> = prefix.iter().map(|&u| sizes[u as usize]).collect();
    let entries = extents.iter().product::<usize>() * width;
    let mut levels: Vec<Vec<Part>> = (0..=prefix.len()).map(|_| Vec::new()).collect();
    for table in tables {
        let own = strides(&table.scope, sizes);
        let prefix_steps = prefix
            .iter()
            .enumerate()
            .filter_map(|(index, u)| {
                let at = table.scope.iter().position(|w| w == u)?;
                Some((index, own[at]))
            })
            .collect::<Vec<_>>();
        let level = prefix_steps.last().map_or(0, |&(index, _)| index + 1);
        let steps: Vec<usize> =
            block.iter().map(|u| table.scope.iter().position(|w| w == u).map_or(0, |at| own[at])).collect();
        let offsets = if steps.iter().all(|&step| step == 0) {
            Vec::new()
        } else {
            block_offsets(block, &steps, sizes)
        };
        let contiguous = offsets.iter().enumerate().all(|(index, &at)| index == at as usize);
        debug_assert_eq!(table.scope[0], v);
        levels[level].push(Part {
            scores: &table.scores,
            stride: own[0],
            prefix: prefix_steps,
            block: offsets,
            contiguous,
        });
    }
    // One accumulator for each depth at which tables arrive; the others share their parent's.
    let mut slot_of_level = vec![0usize; levels.len()];
    let mut slots = 1;
    for level in 1..levels.len() {
        if !levels[level].is_empty() {
            slots += 1;
        }
        slot_of_level[level] = slots - 1;
    }
    let mut rows = vec![0.0; slots * states * width];
    let mut scalars = vec![0.0; slots * states];
    scalars[..states].copy_from_slice(unary);
    let mut digits = vec![0usize; prefix.len()];
    for part in &levels[0] {
        part.add(&digits, &mut rows[..states * width], &mut scalars[..states], width);
    }
    let mut best = vec![0.0; entries];
    let mut narrow = vec![0u8; if states <= 256 { entries } else { 0 }];
    let mut wide = vec![0u16; if states > 256 { entries } else { 0 }];
    let mut from_level = 1;
    let mut clock = 0;
    for chunk in 0..entries / width {
        for level in from_level..levels.len() {
            if levels[level].is_empty() {
                continue;
            }
            let slot = slot_of_level[level];
            let (before, after) = rows.split_at_mut(slot * states * width);
            let target = &mut after[..states * width];
            target.copy_from_slice(&before[(slot - 1) * states * width..]);
            let (scalars_before, scalars_after) = scalars.split_at_mut(slot * states);
            let target_scalars = &mut scalars_after[..states];
            target_scalars.copy_from_slice(&scalars_before[(slot - 1) * states..]);
            for part in &levels[level] {
                part.add(&digits, target, target_scalars, width);
            }
        }
        let last_rows = &rows[(slots - 1) * states * width..];
        let last_scalars = &scalars[(slots - 1) * states..];
        let out = &mut best[chunk * width..(chunk + 1) * width];
        for (target, row) in out.iter_mut().zip(&last_rows[..width]) {
            *target = row + last_scalars[0];
        }
        for state in 1..states {
            let row = &last_rows[state * width..(state + 1) * width];
            let scalar = last_scalars[state];
            if states <= 256 {
                let chosen = &mut narrow[chunk * width..(chunk + 1) * width];
                for ((target, choice), score) in out.iter_mut().zip(chosen).zip(row) {
                    let score = score + scalar;
                    let better = score > *target;
                    *choice = if better { state as u8 } else { *choice };
                    *target = if better { score } else { *target };
                }
            } else {
                let chosen = &mut wide[chunk * width..(chunk + 1) * width];
                for ((target, choice), score) in out.iter_mut().zip(chosen).zip(row) {
                    let score = score + scalar;
                    if score > *target {
                        *target = score;
                        *choice = state as u16;
                    }
                }
            }
        }
        clock += width * states;
        if clock > 1 << 20 {
            clock = 0;
            if limits.expired() {
                return None;
            }
        }
        for index in (0..digits.len()).rev() {
            digits[index] += 1;
            if digits[index] < extents[index] {
                from_level = index + 1;
                break;
            }
            digits[index] = 0;
        }
    }
    let chosen = if states <= 256 { States::Narrow(narrow) } else { States::Wide(wide) };
    Some((best, chosen))
}

/// Offset in a table of every joint state of the block variables.
fn block_offsets(block: &[u32], steps: &[usize], sizes: &[usize]) -> Vec<u32> {
    let mut offsets = vec![0u32];
    for (&u, &step) in block.iter().zip(steps) {
        let mut next = Vec::with_capacity(offsets.len() * sizes[u as usize]);
        for &base in &offsets {
            next.extend((0..sizes[u as usize]).map(|state| base + (state * step) as u32));
        }
        offsets = next;
    }
    offsets
}
