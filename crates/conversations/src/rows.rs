//! Exact search by dynamic programming over rows, for problems whose rows are short.
//!
//! Parts reach over three rows at most. So, with the open links of a row as one variable whose states are
//! their subsets, the problem is a chain of second order. It takes time and memory in proportion to the
//! product of the states of three (two) rows, which is small when most links are decided beforehand, and
//! hopeless when they are not. The engine eliminates variables through tables over them; here a row's subsets
//! that break its constraint are never listed, and triples never become tables.

use crate::reduce::Problem;

/// Additions at most; some ten milliseconds.
const MAX_WORK: usize = 8_000_000;
/// Open links of a row at most; its subsets are counted in 16 bits.
const MAX_LINKS: usize = 10;

/// The dynamic program and its buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSearch {
    /// Which of the open links are in the best set.
    pub present: Vec<bool>,
    rows: Vec<Stage>,
    /// Subsets of all rows' open links, as bits.
    subsets: Vec<u16>,
    /// By stage and (subset of the row before, own subset): the best predecessor's row before that.
    back: Vec<u16>,
    value: Vec<f64>,
    next: Vec<f64>,
    middle: Vec<f64>,
    outer: Vec<f64>,
    table: Vec<f64>,
    /// Where each open link is: stage and bit.
    place: Vec<(u32, u16)>,
    /// Parts by the stage of their last link, as masks of the three rows that end there.
    parts: Vec<(u32, [u16; 3], f64)>,
}

/// One row, or a gap between rows.
#[derive(Debug, Clone, Copy, Default)]
struct Stage {
    first: usize,
    count: usize,
    back: usize,
}

impl RowSearch {
    /// Finds the best set; says whether rows were short enough for it.
    pub(crate) fn maximize(&mut self, problem: &Problem) -> bool {
        if !self.stage(problem) {
            return false;
        }
        self.sort_parts(problem);
        self.descend();
        self.trace_back(problem);
        true
    }

    /// Lists the subsets of each row. Between rows that are not neighbours there are two empty stages.
    fn stage(&mut self, problem: &Problem) -> bool {
        let Self { rows, subsets, place, .. } = self;
        rows.clear();
        subsets.clear();
        place.clear();
        place.resize(problem.links.len(), (0, 0));
        let gap = |rows: &mut Vec<Stage>, subsets: &mut Vec<u16>| {
            rows.push(Stage { first: subsets.len(), count: 1, back: 0 });
            subsets.push(0);
        };
        gap(rows, subsets);
        gap(rows, subsets);
        let mut last = None;
        for row in &problem.rows {
            if row.links.len() > MAX_LINKS {
                return false;
            }
            let missing = last.map_or(0, |last: usize| row.source - last - 1);
            (0..missing.min(2)).for_each(|_| gap(rows, subsets));
            last = Some(row.source);
            let first = subsets.len();
            let all = 1u32 << row.links.len();
            let is_allowed = |subset: &u32| row.constraint.allows(subset.count_ones() as usize);
            subsets.extend((0..all).filter(is_allowed).map(|subset| subset as u16));
            for (bit, link) in row.links.clone().enumerate() {
                place[link] = (rows.len() as u32, 1 << bit);
            }
            rows.push(Stage { first, count: subsets.len() - first, back: 0 });
        }
        let mut work = 0usize;
        for at in 2..rows.len() {
            work += rows[at - 2].count * rows[at - 1].count * rows[at].count;
            if work > MAX_WORK {
                return false;
            }
        }
        true
    }

    /// Parts as masks over three rows, ordered by the last of them.
    fn sort_parts(&mut self, problem: &Problem) {
        let Self { parts, place, .. } = self;
        parts.clear();
        let mut add = |members: &[usize], score: f64| {
            let end = members.iter().map(|&link| place[link].0).max().unwrap_or_default();
            let mut masks = [0; 3];
            for &link in members {
                let (stage, bit) = place[link];
                masks[2 - (end - stage) as usize] |= bit;
            }
            parts.push((end, masks, score));
        };
        problem.links.iter().enumerate().for_each(|(link, &(_, score))| add(&[link], score));
        problem.pairs.iter().for_each(|(members, score)| add(members, *score));
        problem.triples.iter().for_each(|(members, score)| add(members, *score));
        parts.sort_by_key(|part| part.0);
    }

    /// From the first row to the last: the best value for each two subsets of neighbouring rows.
    fn descend(&mut self) {
        let Self { rows, subsets, back, value, next, middle, outer, table, parts, .. } = self;
        back.clear();
        value.clear();
        value.push(0.0);
        let mut from = 0;
        for at in 2..rows.len() {
            let [a, b, c] =
                [at - 2, at - 1, at].map(|stage| &subsets[rows[stage].first..][..rows[stage].count]);
            let to = from + parts[from..].iter().take_while(|part| part.0 as usize == at).count();
            let own = &parts[from..to];
            from = to;
            // Parts of the last two rows, of the outer two, and of all three apart.
            fill(
                middle,
                b,
                c,
                own.iter().filter(|part| part.1[0] == 0).map(|part| (part.1[1], part.1[2], part.2)),
            );
            let is_outer = |masks: [u16; 3]| masks[0] != 0 && masks[1] == 0;
            fill(
                outer,
                a,
                c,
                own.iter().filter(|part| is_outer(part.1)).map(|part| (part.1[0], part.1[2], part.2)),
            );
            rows[at].back = back.len();
            back.resize(back.len() + b.len() * c.len(), 0);
            let choice = &mut back[rows[at].back..];
            next.clear();
            next.resize(b.len() * c.len(), f64::NEG_INFINITY);
            for (j, &subset) in b.iter().enumerate() {
                let full = |masks: [u16; 3]| masks[0] != 0 && masks[1] != 0 && subset & masks[1] == masks[1];
                table.clone_from(outer);
                for &(_, masks, score) in own.iter().filter(|part| full(part.1)) {
                    add_product(table, a, c, masks[0], masks[2], score);
                }
                for i in 0..a.len() {
                    let before = value[i * b.len() + j];
                    for k in 0..c.len() {
                        let total = before + table[i * c.len() + k];
                        if total > next[j * c.len() + k] {
                            next[j * c.len() + k] = total;
                            choice[j * c.len() + k] = i as u16;
                        }
                    }
                }
                for k in 0..c.len() {
                    next[j * c.len() + k] += middle[j * c.len() + k];
                }
            }
            std::mem::swap(value, next);
        }
    }

    fn trace_back(&mut self, problem: &Problem) {
        let Self { rows, subsets, back, value, place, present, .. } = self;
        let last = rows[rows.len() - 1].count;
        let best = (0..value.len()).max_by(|&x, &y| value[x].total_cmp(&value[y])).unwrap_or_default();
        let mut chosen = vec![0; rows.len()];
        let end = rows.len() - 1;
        (chosen[end - 1], chosen[end]) = (best / last, best % last);
        for at in (2..rows.len()).rev() {
            chosen[at - 2] = back[rows[at].back + chosen[at - 1] * rows[at].count + chosen[at]] as usize;
        }
        present.clear();
        present.extend((0..problem.links.len()).map(|link| {
            let (stage, bit) = place[link];
            subsets[rows[stage as usize].first + chosen[stage as usize]] & bit != 0
        }));
    }
}

/// Makes a table of zeros over two lists of subsets and adds products to it.
fn fill(
    table: &mut Vec<f64>,
    rows: &[u16],
    columns: &[u16],
    products: impl Iterator<Item = (u16, u16, f64)>,
) {
    table.clear();
    table.resize(rows.len() * columns.len(), 0.0);
    products.for_each(|(row, column, score)| add_product(table, rows, columns, row, column, score));
}

/// Adds a score to all cells whose subsets contain both masks.
fn add_product(table: &mut [f64], rows: &[u16], columns: &[u16], row: u16, column: u16, score: f64) {
    for (cells, _) in
        table.chunks_exact_mut(columns.len()).zip(rows).filter(|(_, subset)| **subset & row == row)
    {
        for (cell, _) in cells.iter_mut().zip(columns).filter(|(_, subset)| **subset & column == column) {
            *cell += score;
        }
    }
}
