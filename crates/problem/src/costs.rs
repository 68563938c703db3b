//! Cost functions as tables: what WCSP and CFN files are made of.

use crate::{Factor, Kind, Problem};

/// Entries of one table, at most: files name tables much larger than themselves in a few words.
const MOST_ENTRIES: usize = 1 << 24;

/// States of one variable, at most.
pub(crate) const MOST_STATES: usize = 1 << 20;

/// A cost function over some variables, with a cost for all tuples that are not given one.
pub(crate) struct CostFunction {
    scope: Vec<u32>,
    sizes: Vec<usize>,
    costs: Vec<f64>,
}

impl CostFunction {
    /// A function of the same cost everywhere; nothing where its table would be too large, or where a variable
    /// stands in its scope twice.
    pub(crate) fn new(problem: &Problem, scope: Vec<u32>, default: f64) -> Option<Self> {
        let sizes: Vec<usize> =
            scope.iter().map(|&variable| problem.variables[variable as usize].scores.len()).collect();
        let entries = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let entries = entries.filter(|&entries| entries <= MOST_ENTRIES)?;
        let mut distinct = scope.clone();
        distinct.sort_unstable();
        distinct.dedup();
        (distinct.len() == scope.len()).then(|| CostFunction { scope, sizes, costs: vec![default; entries] })
    }

    pub(crate) fn arity(&self) -> usize {
        self.scope.len()
    }

    /// The variable at a place of the scope.
    pub(crate) fn variable(&self, place: usize) -> usize {
        self.scope[place] as usize
    }

    pub(crate) fn entries(&self) -> usize {
        self.costs.len()
    }

    /// Sets the cost of a tuple; false if a variable does not have that state.
    pub(crate) fn set(&mut self, tuple: &[usize], cost: f64) -> bool {
        let fits = tuple.iter().zip(&self.sizes).all(|(state, size)| state < size);
        if fits {
            let entry = tuple.iter().zip(&self.sizes).fold(0, |entry, (state, size)| entry * size + state);
            self.costs[entry] = cost;
        }
        fits
    }

    /// Sets the cost of an entry, the last variable's state changing fastest.
    pub(crate) fn set_entry(&mut self, entry: usize, cost: f64) {
        self.costs[entry] = cost;
    }

    /// Adds the function to a problem whose scores are stated as costs. Costs from `top` on forbid.
    pub(crate) fn add_to(self, problem: &mut Problem, top: f64) {
        let forbid = |cost: f64| if cost >= top { f64::INFINITY } else { cost };
        let mut scores: Vec<f64> = self.costs.into_iter().map(forbid).collect();
        match self.scope[..] {
            // Nothing is allowed then, and the sums of an infinite constant would be no numbers.
            [] if scores[0].is_infinite() && !problem.variables.is_empty() => {
                problem.variables[0].scores.fill(f64::INFINITY);
            }
            [] => problem.constant += scores[0],
            [variable] => {
                let own = &mut problem.variables[variable as usize].scores;
                own.iter_mut().zip(scores).for_each(|(own, score)| *own += score);
            }
            _ => {
                scores.shrink_to_fit();
                let (kind, scope) = (Kind::Table { scores }, self.scope);
                problem.factors.push(Factor { kind, literals: Vec::new(), scope });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::wcsp;

    #[test]
    fn a_constant_that_forbids_leaves_nothing_to_choose() {
        let problem = wcsp::read("none 2 2 2 100\n2 2\n0 7 0\n0 100 0\n").unwrap();
        assert_eq!(problem.constant, -7.0);
        assert_eq!(problem.variables[0].scores, [f64::NEG_INFINITY; 2]);
    }
}
