//! Maximizing variables out, one after the other.

use crate::factor::own_score;
use crate::number::Up;
use crate::{Domains, structure};
use consonant_problem::Factor;
use std::collections::HashMap;

/// Entries that one table may have.
const MOST_ENTRIES: usize = 1 << 25;

/// A number for each joint state of a few variables, allowed states only; the last variable moves fastest.
struct Function {
    scope: Vec<usize>,
    values: Vec<Up>,
}

/// Functions whose sum is to be bounded.
pub(crate) struct Pool<'a> {
    case: &'a Domains,
    /// Those maximized out leave an empty place.
    functions: Vec<Option<Function>>,
    functions_of: HashMap<usize, Vec<usize>>,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(case: &'a Domains) -> Self {
        Pool { case, functions: Vec::new(), functions_of: HashMap::new() }
    }

    fn states(&self, variable: usize) -> Vec<usize> {
        let allowed = &self.case[variable];
        (0..allowed.len()).filter(|&state| allowed[state]).collect()
    }

    fn push(&mut self, function: Function) {
        for &variable in &function.scope {
            self.functions_of.entry(variable).or_default().push(self.functions.len());
        }
        self.functions.push(Some(function));
    }

    /// The number of joint states of some variables, if a table may have as many.
    fn size(&self, scope: &[usize]) -> Result<usize, String> {
        let size = scope.iter().try_fold(1usize, |size, &v| size.checked_mul(self.states(v).len()));
        size.filter(|&size| size <= MOST_ENTRIES)
            .ok_or_else(|| format!("a table over variables {scope:?} is too large to check"))
    }

    /// Adds a function by its value at each joint state of `scope`.
    fn add_by(&mut self, scope: Vec<usize>, mut value: impl FnMut(&[usize]) -> Up) -> Result<(), String> {
        let states: Vec<Vec<usize>> = scope.iter().map(|&v| self.states(v)).collect();
        let mut values = Vec::with_capacity(self.size(&scope)?);
        let mut at = vec![0; scope.len()];
        let mut joint: Vec<usize> = states.iter().map(|s| s.first().copied().unwrap_or(0)).collect();
        for _ in 0..values.capacity().min(states.iter().map(Vec::len).product()) {
            values.push(value(&joint));
            for place in (0..scope.len()).rev() {
                at[place] = (at[place] + 1) % states[place].len();
                joint[place] = states[place][at[place]];
                if at[place] > 0 {
                    break;
                }
            }
        }
        self.push(Function { scope, values });
        Ok(())
    }

    /// Adds a table with a value for every joint state, allowed or not.
    pub(crate) fn add(&mut self, scope: Vec<usize>, values: Vec<Up>) -> Result<(), String> {
        let sizes: Vec<usize> = scope.iter().map(|&v| self.case[v].len()).collect();
        self.add_by(scope, |joint| values[joint.iter().zip(&sizes).fold(0, |at, (s, size)| at * size + s)])
    }

    /// Adds a factor with its multipliers.
    pub(crate) fn add_factor(
        &mut self,
        factor: &Factor,
        multipliers: &[f64],
        scores: bool,
    ) -> Result<(), String> {
        let own = |score: f64| Up::from(if scores || score == f64::NEG_INFINITY { score } else { 0.0 });
        if factor.scope.is_empty() {
            if !crate::is_table(&factor.kind) {
                return Err("has no table, so that its variables cannot be eliminated".into());
            }
            let mut scope: Vec<usize> = factor.literals.iter().map(|l| l.variable as usize).collect();
            scope.sort_unstable();
            scope.dedup();
            let place = |l: &consonant_problem::Literal| scope.partition_point(|&v| v < l.variable as usize);
            let places: Vec<usize> = factor.literals.iter().map(place).collect();
            return self.add_by(scope, |joint| {
                let holds = |(l, &place): (&consonant_problem::Literal, &usize)| l.holds(joint[place] as u32);
                let on: Vec<bool> = factor.literals.iter().zip(&places).map(holds).collect();
                let Some(score) = own_score(&factor.kind, &on) else { return Up::NEVER };
                let earned =
                    on.iter().zip(multipliers).filter(|(on, _)| **on).map(|(_, &m)| Up::from(m)).sum();
                if scores { score + earned } else { earned }
            });
        }
        let scope: Vec<usize> = factor.scope.iter().map(|&v| v as usize).collect();
        let sizes: Vec<usize> = scope.iter().map(|&v| self.case[v].len()).collect();
        let mut rest = multipliers;
        for (&variable, &size) in scope.iter().zip(&sizes) {
            let (part, after) = rest.split_at(size);
            rest = after;
            self.add(vec![variable], part.iter().map(|&m| Up::from(m)).collect())?;
        }
        for (places, table) in structure::tables(&factor.kind, &sizes) {
            let members = places.iter().map(|&place| scope[place]).collect();
            let sizes: Vec<usize> = places.iter().map(|&place| sizes[place]).collect();
            self.add_by(members, |joint| {
                own(table[joint.iter().zip(&sizes).fold(0, |at, (state, size)| at * size + state)])
            })?;
        }
        Ok(())
    }

    /// Replaces all functions of a variable by one over the other variables: the maximum of their sum.
    pub(crate) fn eliminate(&mut self, variable: usize) -> Result<(), String> {
        let indices = self.functions_of.remove(&variable).unwrap_or_default();
        let functions: Vec<Function> = indices.iter().filter_map(|&i| self.functions[i].take()).collect();
        let mut scope: Vec<usize> = functions.iter().flat_map(|f| f.scope.iter().copied()).collect();
        scope.sort_unstable();
        scope.dedup();
        scope.retain(|&v| v != variable);
        let mut values = vec![Up::NEVER; self.size(&scope)?];
        scope.push(variable);
        let sizes: Vec<usize> = scope.iter().map(|&v| self.states(v).len()).collect();
        let inner = sizes[scope.len() - 1];
        // How far the index into a function moves with each variable, wherever it stands there.
        let strides = |function: &Function| {
            let mut strides = vec![0; scope.len()];
            let mut stride = 1;
            for &v in function.scope.iter().rev() {
                let place = scope.iter().position(|&u| u == v).unwrap_or(0);
                strides[place] += stride;
                stride *= sizes[place];
            }
            strides
        };
        let strides: Vec<Vec<usize>> = functions.iter().map(strides).collect();
        let mut at = vec![0; scope.len() - 1];
        let mut index = vec![0; functions.len()];
        for value in &mut values {
            for state in 0..inner {
                let parts = functions.iter().zip(&strides).zip(&index);
                let sum = parts.map(|((f, s), &i)| f.values[i + state * s[scope.len() - 1]]).sum();
                *value = value.max(sum);
            }
            for place in (0..at.len()).rev() {
                at[place] += 1;
                let back = if at[place] == sizes[place] { std::mem::take(&mut at[place]) } else { 0 };
                for (index, strides) in index.iter_mut().zip(&strides) {
                    *index = *index + strides[place] - back * strides[place];
                }
                if back == 0 {
                    break;
                }
            }
        }
        scope.pop();
        self.push(Function { scope, values });
        Ok(())
    }

    /// The sum of the maxima of what is left.
    pub(crate) fn maximum(&self) -> Up {
        let best =
            |function: &Function| function.values.iter().fold(Up::NEVER, |best, &value| best.max(value));
        self.functions.iter().flatten().map(best).sum()
    }
}
