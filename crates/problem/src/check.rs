//! Whether a problem is one: what any reader of it may rely on.

use crate::{Factor, Kind, Literal, Problem};

/// All scores together, and the costs of a knapsack with its limit, are at most this in size, so that no sum
/// of them overflows.
pub const LARGEST_SUM: f64 = 1e300;

/// What is wrong with a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);

impl Problem {
    /// All scores and the constant, in no order that matters.
    pub fn scores(&self) -> impl Iterator<Item = f64> + '_ {
        let own = self.variables.iter().flat_map(|v| v.scores.iter().copied());
        own.chain(self.factors.iter().flat_map(|f| f.kind.scores())).chain([self.constant])
    }

    /// Checks that indices are in range, lists as long as they must be, and scores numbers whose sums do not
    /// overflow. Constraints that contradict each other are no error.
    pub fn check(&self) -> Result<(), Malformed> {
        let size = self.scores().try_fold(0.0, |sum, score| match score {
            f64::NEG_INFINITY => Ok(sum),
            score if score < f64::INFINITY => Ok(sum + score.abs()),
            _ => Err(Malformed(format!("a score is {score}; expected a number or -inf"))),
        })?;
        if size > LARGEST_SUM {
            let advice = "their sums would overflow; divide all scores by a constant";
            return Err(Malformed(format!("the scores sum to more than {LARGEST_SUM:e} in size: {advice}")));
        }
        if let Some(variable) = self.variables.iter().find(|v| v.scores.is_empty()) {
            return Err(Malformed(format!("variable {} has no states", variable.name)));
        }
        (0..self.factors.len()).try_for_each(|factor| self.check_factor(factor))
    }

    /// The same for one factor alone; its scores are left to [`check`](Self::check).
    ///
    /// # Panics
    /// If there are not that many factors.
    pub fn check_factor(&self, index: usize) -> Result<(), Malformed> {
        let factor = &self.factors[index];
        let place = |problem| Malformed(format!("factor {index} ({}): {problem}", factor.kind.name()));
        self.problem_of(factor).map_err(place)
    }

    fn problem_of(&self, factor: &Factor) -> Result<(), &'static str> {
        let known = |l: &Literal| {
            self.variables.get(l.variable as usize).is_some_and(|v| (l.state as usize) < v.scores.len())
        };
        let ensure = |holds: bool, problem: &'static str| if holds { Ok(()) } else { Err(problem) };
        ensure(factor.literals.iter().all(known), "a literal of a variable or state that is not there")?;
        let in_range = factor.scope.iter().all(|&v| (v as usize) < self.variables.len());
        ensure(in_range, "a variable that is not there")?;
        let sizes: Vec<usize> =
            factor.scope.iter().map(|&v| self.variables[v as usize].scores.len()).collect();
        let over_variables =
            matches!(factor.kind, Kind::Table { .. } | Kind::Sequence { .. } | Kind::TreeLabelling { .. });
        let links = factor.literals.len();
        ensure((if over_variables { sizes.len() } else { links }) > 0, "it is over nothing")?;
        ensure(
            (if over_variables { links } else { sizes.len() }) == 0,
            "over literals and variables at once",
        )?;
        let windows = |width: usize| {
            let sizes = sizes.windows(width).map(|w| w.iter().try_fold(1usize, |a, &b| a.checked_mul(b)));
            sizes.collect::<Option<Vec<usize>>>()
        };
        let fits = |width: usize, length: usize| {
            let Some(lengths) = windows(width) else { return false };
            let uniform = sizes.windows(2).all(|w| w[0] == w[1]);
            lengths.iter().sum::<usize>() == length
                || uniform && sizes[0].checked_pow(width as u32) == Some(length)
        };
        match &factor.kind {
            Kind::Implies | Kind::Pair { .. } => ensure(links == 2, "expected two literals"),
            Kind::OrWithOutput | Kind::AndWithOutput | Kind::XorWithOutput => {
                ensure(links >= 2, "expected an input and an output")
            }
            Kind::Knapsack { costs, limit } => {
                ensure(costs.len() == links, "expected a cost for each literal")?;
                ensure(
                    costs.iter().chain([limit]).all(|x| *x >= 0.0),
                    "costs and limit must be zero or more",
                )?;
                let sum = costs.iter().sum::<f64>() + limit;
                ensure(
                    sum <= LARGEST_SUM,
                    "costs and limit sum to more than 1e300; divide them by a constant",
                )
            }
            Kind::Table { scores } => {
                let size = sizes.iter().try_fold(1usize, |a, &b| a.checked_mul(b));
                ensure(size == Some(scores.len()), "expected a score for each joint state")
            }
            Kind::Sequence { pairs, triples } => {
                ensure(fits(2, pairs.len()), "expected a table for each two neighbours")?;
                ensure(triples.as_ref().is_none_or(|t| fits(3, t.len())), "expected a table for each three")
            }
            Kind::TreeLabelling { edges, tables } => {
                let size = |&(a, b): &(usize, usize)| sizes.get(a)?.checked_mul(*sizes.get(b)?);
                let total = edges.iter().try_fold(0usize, |sum, edge| sum.checked_add(size(edge)?));
                ensure(edges.iter().all(|(a, b)| a != b), "an edge from a variable to itself")?;
                ensure(total == Some(tables.len()), "expected a table for each edge")
            }
            Kind::Arborescence { nodes, arcs, .. } => {
                let fine = |&(head, modifier): &(usize, usize)| {
                    head < *nodes && (1..*nodes).contains(&modifier) && head != modifier
                };
                ensure(arcs.len() == links, "expected an arc for each literal")?;
                ensure(*nodes <= links.saturating_add(1), "more nodes than arcs can reach")?;
                ensure(*nodes >= 2 && arcs.iter().all(fine), "an arc enters the root, or is none")
            }
            Kind::TreeBudget { parents, budget } => {
                ensure(parents.len() == links, "expected a parent, or none, for each literal")?;
                let lengths = budget.as_ref().map_or(links, |(lengths, _)| lengths.len());
                ensure(lengths == links, "expected a length for each literal")?;
                ensure(parents.iter().flatten().all(|&p| p < links), "a parent that is not there")?;
                ensure(is_forest(parents), "the parents go round in a circle")
            }
            Kind::Cut { pairs } => {
                let fine =
                    |&(a, b, score): &(usize, usize, f64)| a < links && b < links && a != b && score >= 0.0;
                ensure(pairs.iter().all(fine), "a pair of one literal, or with a score below zero")
            }
            _ => Ok(()),
        }
    }
}

/// Whether going up from any node ends.
fn is_forest(parents: &[Option<usize>]) -> bool {
    // Nodes seen on an earlier way up are known to end.
    let mut seen = vec![usize::MAX; parents.len()];
    (0..parents.len()).all(|start| {
        let mut node = start;
        while seen[node] == usize::MAX {
            seen[node] = start;
            match parents[node] {
                Some(parent) => node = parent,
                None => return true,
            }
        }
        seen[node] != start
    })
}

impl Kind {
    /// The scores that a factor has of its own.
    pub fn scores(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Kind::Pair { score } | Kind::Pattern { score } => Box::new([*score].into_iter()),
            Kind::Table { scores } => Box::new(scores.iter().copied()),
            Kind::Sequence { pairs, triples } => {
                Box::new(pairs.iter().chain(triples.iter().flatten()).copied())
            }
            Kind::TreeLabelling { tables, .. } => Box::new(tables.iter().copied()),
            Kind::Cut { pairs } => Box::new(pairs.iter().map(|pair| pair.2)),
            _ => Box::new(std::iter::empty()),
        }
    }
}
