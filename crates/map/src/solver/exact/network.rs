//! Networks of tables: the plain form in which the exact solver takes a problem.

use crate::model::{ModelError, check_distinct, check_index, check_length, check_scores, typical_size};
use crate::oracle::lanes::largest;

/// A dense table of log-scores over a few variables, the last variable of the scope fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Variables of the table, in increasing order.
    pub scope: Vec<u32>,
    /// One score for each joint state; `-inf` forbids it.
    pub scores: Vec<f64>,
}

/// Variables with finite domains, and a score that is a sum of a constant, one vector for each
/// variable and any number of tables.
///
/// ```
/// use consonant_map::solver::exact::Network;
///
/// let mut network = Network::new(&[2, 3])?;
/// network.add_table(&[0], &[0.0, 1.0])?;
/// network.add_table(&[1, 0], &[0.0, 0.5, 2.0, f64::NEG_INFINITY, 0.0, 0.0])?;
/// assert_eq!(network.value(&[0, 1]), 2.0);
/// # Ok::<(), consonant_map::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    pub(crate) sizes: Vec<usize>,
    pub(crate) constant: f64,
    pub(crate) unary: Vec<Vec<f64>>,
    pub(crate) tables: Vec<Table>,
}

impl Network {
    /// A network over variables with these numbers of states, all scores zero.
    pub fn new(sizes: &[usize]) -> Result<Self, ModelError> {
        for (variable, &size) in sizes.iter().enumerate() {
            if size > usize::from(u16::MAX) {
                let what = format!("states of variable {variable} of the network");
                return Err(ModelError::TooLarge { what, limit: usize::from(u16::MAX) });
            }
        }
        Ok(Self {
            sizes: sizes.to_vec(),
            constant: 0.0,
            unary: sizes.iter().map(|&size| vec![0.0; size]).collect(),
            tables: Vec::new(),
        })
    }

    /// Numbers of states of the variables.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Adds a table of log-scores; the last variable of `scope` runs fastest. An empty scope with
    /// one score is a constant; tables over the same variables add up.
    pub fn add_table(&mut self, scope: &[usize], scores: &[f64]) -> Result<(), ModelError> {
        for &variable in scope {
            check_index("variable of the network", variable, 0..self.sizes.len())?;
        }
        check_distinct("a table", &mut scope.to_vec())?;
        let expected = scope.iter().try_fold(1usize, |product, &v| product.checked_mul(self.sizes[v]));
        check_length(format_args!("a table over {scope:?}"), scores.len(), expected.unwrap_or(usize::MAX))?;
        check_scores(format_args!("the table over {scope:?}"), scores)?;
        let given: Vec<u32> = scope.iter().map(|&v| v as u32).collect();
        let mut sorted = given.clone();
        sorted.sort_unstable();
        let scores = reordered(&given, scores, &sorted, &self.sizes);
        self.insert(Table { scope: sorted, scores });
        Ok(())
    }

    /// Adds a table with a sorted scope.
    pub(crate) fn insert(&mut self, table: Table) {
        match table.scope[..] {
            [] => self.constant += table.scores[0],
            [v] => self.unary[v as usize].iter_mut().zip(table.scores).for_each(|(own, score)| *own += score),
            _ => self.tables.push(table),
        }
    }

    /// The network of some variables without any table, its constant zero.
    pub(crate) fn part(&self, variables: &[u32]) -> Self {
        Self {
            sizes: variables.iter().map(|&v| self.sizes[v as usize]).collect(),
            constant: 0.0,
            unary: variables.iter().map(|&v| self.unary[v as usize].clone()).collect(),
            tables: Vec::new(),
        }
    }

    /// The best state of every variable, whatever the tables say.
    pub(crate) fn best_alone(&self) -> Vec<usize> {
        let best = |scores: &Vec<f64>| {
            (0..scores.len()).fold(0, |best, state| if scores[state] > scores[best] { state } else { best })
        };
        self.unary.iter().map(best).collect()
    }

    /// Forbids all states of a variable but one.
    pub(crate) fn keep_only(&mut self, variable: usize, kept: usize) {
        let scores = self.unary[variable].iter_mut().enumerate();
        scores.filter(|&(state, _)| state != kept).for_each(|(_, score)| *score = f64::NEG_INFINITY);
    }

    /// The variables that are reached from one, breadth first: `enter(from, to)` says whether to go there.
    /// `around` is the network's [`incidence`](Self::incidence).
    pub(crate) fn reach(
        &self,
        around: &[Vec<u32>],
        start: u32,
        mut enter: impl FnMut(u32, u32) -> bool,
    ) -> Vec<u32> {
        let mut reached = vec![start];
        let mut next = 0;
        while next < reached.len() {
            let from = reached[next];
            for &table in &around[from as usize] {
                let scope = &self.tables[table as usize].scope;
                reached.extend(scope.iter().filter(|&&to| enter(from, to)));
            }
            next += 1;
        }
        reached
    }

    /// Score of a complete assignment: one state for each variable.
    ///
    /// # Panics
    /// If `assignment` has another length than the network or names a state that does not exist.
    pub fn value(&self, assignment: &[usize]) -> f64 {
        assert_eq!(assignment.len(), self.sizes.len());
        let unary: f64 = self.unary.iter().zip(assignment).map(|(scores, &state)| scores[state]).sum();
        let tables: f64 = self.tables.iter().map(|table| table.scores[self.entry(table, assignment)]).sum();
        self.constant + unary + tables
    }

    /// Position of the joint state of `assignment` in `table`.
    pub(crate) fn entry(&self, table: &Table, assignment: &[usize]) -> usize {
        table.scope.iter().fold(0, |entry, &v| entry * self.sizes[v as usize] + assignment[v as usize])
    }

    /// Number of scores held in tables of two or more variables.
    pub(crate) fn entries(&self) -> usize {
        self.tables.iter().map(|table| table.scores.len()).sum()
    }

    /// Tables around every variable, as indices.
    pub(crate) fn incidence(&self) -> Vec<Vec<u32>> {
        let mut around = vec![Vec::new(); self.sizes.len()];
        for (index, table) in self.tables.iter().enumerate() {
            for &v in &table.scope {
                around[v as usize].push(index as u32);
            }
        }
        around
    }

    /// The power of two just below the largest finite score, or one when all are zero.
    pub(in crate::solver) fn scale(&self) -> f64 {
        let tables = self.tables.iter().map(|table| &table.scores);
        let largest = self.unary.iter().chain(tables).map(|scores| largest(scores)).fold(0.0, f64::max);
        if largest > 0.0 { largest.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
    }

    /// The typical size of a score.
    pub(super) fn typical_size(&self) -> f64 {
        let tables = self.tables.iter().map(|table| &table.scores);
        typical_size(self.unary.iter().chain(tables).flatten().copied()).unwrap_or(1.0)
    }

    /// Divides all scores by `scale`, exactly so if that is a power of two.
    pub(crate) fn divide(&mut self, scale: f64) {
        if scale == 1.0 {
            return;
        }
        self.constant /= scale;
        let tables = self.tables.iter_mut().map(|table| &mut table.scores);
        self.unary.iter_mut().chain(tables).flatten().for_each(|score| *score /= scale);
    }

    /// The unit of which every value is a multiple, see [`common_unit`].
    pub(crate) fn score_unit(&self) -> f64 {
        let scores = self.unary.iter().flatten().chain(self.tables.iter().flat_map(|t| &t.scores));
        common_unit(scores.copied().chain([self.constant]))
    }
}

/// The unit of which every finite score is a multiple, when scores are whole numbers: bounds may then be
/// rounded down to it. Zero when there is none.
pub(crate) fn common_unit(scores: impl Iterator<Item = f64>) -> f64 {
    let mut divisor: u64 = 0;
    for score in scores.filter(|&score| score != f64::NEG_INFINITY) {
        if score.fract() != 0.0 || score.abs() > 1e9 {
            return 0.0;
        }
        divisor = greatest_common_divisor(divisor, score.abs() as u64);
    }
    divisor as f64
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Row-major strides of a scope.
pub(crate) fn strides(scope: &[u32], sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; scope.len()];
    for position in (1..scope.len()).rev() {
        strides[position - 1] = strides[position] * sizes[scope[position] as usize];
    }
    strides
}

/// The same table with its variables in the order of `wanted`.
pub(crate) fn reordered(given: &[u32], scores: &[f64], wanted: &[u32], sizes: &[usize]) -> Vec<f64> {
    if given == wanted {
        return scores.to_vec();
    }
    if let (&[rows, columns], [_, _]) = (given, wanted) {
        let (rows, columns) = (sizes[rows as usize], sizes[columns as usize]);
        return (0..columns).flat_map(|j| (0..rows).map(move |i| scores[i * columns + j])).collect();
    }
    let given_strides = strides(given, sizes);
    let steps: Vec<usize> =
        wanted.iter().map(|v| given.iter().position(|g| g == v).map_or(0, |p| given_strides[p])).collect();
    let mut walk = Walk::new(wanted.iter().map(|&v| sizes[v as usize]).collect(), vec![steps]);
    let mut out = Vec::with_capacity(scores.len());
    if !scores.is_empty() {
        loop {
            out.push(scores[walk.offsets[0]]);
            if !walk.advance() {
                break;
            }
        }
    }
    out
}

/// Walks over all joint states in row-major order while keeping the offset into several tables.
pub(crate) struct Walk {
    extents: Vec<usize>,
    /// Current joint state.
    pub(crate) digits: Vec<usize>,
    steps: Vec<Vec<usize>>,
    /// Offset of the current joint state in each table.
    pub(crate) offsets: Vec<usize>,
}

impl Walk {
    /// `steps[t][position]` is the stride of the walk's variable `position` in table `t` (zero when absent).
    pub(crate) fn new(extents: Vec<usize>, steps: Vec<Vec<usize>>) -> Self {
        Self { digits: vec![0; extents.len()], offsets: vec![0; steps.len()], extents, steps }
    }

    /// Moves to the next joint state; false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        for position in (0..self.extents.len()).rev() {
            self.digits[position] += 1;
            if self.digits[position] < self.extents[position] {
                for (offset, steps) in self.offsets.iter_mut().zip(&self.steps) {
                    *offset += steps[position];
                }
                return true;
            }
            self.digits[position] = 0;
            for (offset, steps) in self.offsets.iter_mut().zip(&self.steps) {
                *offset -= steps[position] * (self.extents[position] - 1);
            }
        }
        false
    }
}

/// For each variable of `wide`, its stride in a table over `narrow` (zero when absent).
pub(crate) fn steps_within(wide: &[u32], narrow: &[u32], sizes: &[usize]) -> Vec<usize> {
    let narrow_strides = strides(narrow, sizes);
    wide.iter().map(|v| narrow.iter().position(|n| n == v).map_or(0, |p| narrow_strides[p])).collect()
}
