//! States that another state of the same variable beats.

use super::network::Table;
use super::presolve::Session;

impl Session {
    /// Forbids states that another state of the same variable beats whatever the others do
    /// (Goldstein's criterion). One state at a time, so that two equal states do not remove each other.
    pub(super) fn remove_dominated(&mut self, budget: usize) -> bool {
        let mut changed = false;
        let mut worst = Vec::new();
        for v in 0..self.sizes.len() {
            if !self.alive[v] || self.dominance_budget >= budget {
                continue;
            }
            let size = self.sizes[v];
            for loser in 0..size {
                if self.unary[v][loser] == f64::NEG_INFINITY {
                    continue;
                }
                for winner in 0..size {
                    if winner == loser || self.unary[v][winner] == f64::NEG_INFINITY {
                        continue;
                    }
                    let mut margin = self.unary[v][winner] - self.unary[v][loser];
                    worst.clear();
                    worst.extend_from_slice(&self.around[v]);
                    for &index in &worst {
                        if margin < 0.0 {
                            break;
                        }
                        if let Some(table) = &self.tables[index as usize] {
                            margin += self.least_gain(table, v as u32, winner, loser, -margin);
                            self.dominance_budget += table.scores.len() / size + 1;
                        }
                    }
                    if margin >= 0.0 {
                        self.unary[v][loser] = f64::NEG_INFINITY;
                        self.freshen(v);
                        changed = true;
                        break;
                    }
                }
            }
        }
        changed
    }

    /// Smallest gain of `winner` over `loser` in one table, or any gain below `enough`.
    fn least_gain(&self, table: &Table, v: u32, winner: usize, loser: usize, enough: f64) -> f64 {
        let at = table.scope.iter().position(|&u| u == v).unwrap_or(0);
        let size = self.sizes[v as usize];
        let inner: usize = table.scope[at + 1..].iter().map(|&u| self.sizes[u as usize]).product();
        let gain = |w: f64, l: f64| if l == f64::NEG_INFINITY { f64::INFINITY } else { w - l };
        let mut least = f64::INFINITY;
        if table.scope.len() == 2 {
            let other = &self.unary[table.scope[1 - at] as usize];
            if at == 0 {
                let (win, lose) =
                    (&table.scores[winner * inner..][..inner], &table.scores[loser * inner..][..inner]);
                return least_of_row(win, lose, other);
            }
            for (row, &other) in table.scores.chunks_exact(size).zip(other) {
                let gain = row[winner] - row[loser];
                // Not less is also what is no number: both are forbidden.
                least = if other > f64::NEG_INFINITY && gain < least { gain } else { least };
                if least < enough {
                    break;
                }
            }
            return least;
        }
        for slab in table.scores.chunks_exact(inner * size) {
            let win = &slab[winner * inner..(winner + 1) * inner];
            let lose = &slab[loser * inner..(loser + 1) * inner];
            for (&w, &l) in win.iter().zip(lose) {
                least = least.min(gain(w, l));
            }
            if least < enough {
                break;
            }
        }
        least
    }
}

/// The least that the entries of one row gain over those of another, where they are allowed in a column that is.
fn least_of_row(win: &[f64], lose: &[f64], columns: &[f64]) -> f64 {
    const LANES: usize = 4;
    // Not less is also what is no number: both are forbidden.
    let lower = |least: &mut f64, win: f64, lose: f64, column: f64| {
        let gain = if column > f64::NEG_INFINITY { win - lose } else { f64::INFINITY };
        *least = if gain < *least { gain } else { *least };
    };
    let mut least = [f64::INFINITY; LANES];
    let (wins, wins_rest) = win.as_chunks::<LANES>();
    let (loses, loses_rest) = lose.as_chunks::<LANES>();
    let (others, others_rest) = columns.as_chunks::<LANES>();
    for ((win, lose), column) in wins.iter().zip(loses).zip(others) {
        for lane in 0..LANES {
            lower(&mut least[lane], win[lane], lose[lane], column[lane]);
        }
    }
    for ((&win, &lose), &column) in wins_rest.iter().zip(loses_rest).zip(others_rest) {
        lower(&mut least[0], win, lose, column);
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}
