//! The function to maximize, and the reductions of products to quadratic form.

use crate::flat::Refill;
use crate::model::{ModelError, check_index};

/// `a_ij x_i x_j` written as arcs: `forward · x_i (1 − x_j) + backward · x_j (1 − x_i)` is *lost*.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) tail: u32,
    pub(super) head: u32,
    pub(super) forward: f64,
    pub(super) backward: f64,
    /// Flow to begin with: an auxiliary variable splits its gain evenly among the members.
    pub(super) flow: f64,
}

/// A quadratic supermodular pseudo-Boolean function under construction.
///
/// Variables `0..n` are the caller's; those that reductions introduce follow them.
#[derive(Clone, Debug, Default)]
pub struct PseudoBoolean {
    variables: usize,
    /// Linear terms stated by the caller.
    pub(super) unary: Vec<f64>,
    /// Linear terms that writing products as losses brings along.
    pub(super) induced: Vec<f64>,
    pub(super) pairs: Vec<Pair>,
}

impl PseudoBoolean {
    /// The zero function over `variables` variables.
    pub fn new(variables: usize) -> Self {
        PseudoBoolean {
            variables,
            unary: vec![0.0; variables],
            induced: vec![0.0; variables],
            pairs: Vec::new(),
        }
    }

    /// Becomes the zero function over `variables` variables, keeping the memory.
    pub fn reset(&mut self, variables: usize) {
        self.variables = variables;
        self.unary.refill(variables, 0.0);
        self.induced.refill(variables, 0.0);
        self.pairs.clear();
    }

    /// The number of the caller's variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The number of variables that reductions introduced.
    pub fn auxiliaries(&self) -> usize {
        self.unary.len() - self.variables
    }

    /// Adds `weight · x_i`. The weight must be finite.
    ///
    /// # Panics
    /// If the variable does not exist.
    pub fn add_unary(&mut self, variable: usize, weight: f64) {
        debug_assert!(weight.is_finite());
        self.unary[variable] += weight;
    }

    /// Adds `weight · x_i x_j` with `weight ≥ 0`.
    pub fn add_pair(&mut self, i: usize, j: usize, weight: f64) -> Result<(), ModelError> {
        self.check(&[i as u32, j as u32], weight, 2)?;
        let half = 0.5 * weight;
        self.induced[i] += half;
        self.induced[j] += half;
        self.pairs.push(Pair { tail: i as u32, head: j as u32, forward: half, backward: half, flow: 0.0 });
        Ok(())
    }

    /// Adds `weight · Π x_i` with `weight ≥ 0`: term h2 of the two-slave decomposition.
    ///
    /// `Π x_i = max over u of u (Σ x_i − K + 1)` (Freedman & Drineas 2005). Written as losses this is a gain
    /// `weight` for `u` and an arc from `u` to each member: whoever takes the gain must take the members.
    pub fn add_product(&mut self, members: &[u32], weight: f64) -> Result<(), ModelError> {
        self.check(members, weight, 1)?;
        match *members {
            [i] => self.induced[i as usize] += weight,
            [i, j] => self.add_pair(i as usize, j as usize, weight)?,
            _ => self.add_auxiliary(members, weight, (members.len() - 1) as f64),
        }
        Ok(())
    }

    /// Adds `weight · (Σ over i<j of x_i x_j − Π x_i)` with `weight ≥ 0` and at least three members: terms h3
    /// and h4.
    ///
    /// With `m = Σ x_i` and `K` members this is `max over y of (m − 1) y` for `K = 3`, else `max over y₀ of
    /// y₀ (2m − 3) + Σ over j = 1..K−4 of max over y_j of y_j (m − j − 2)` (Živný & Jeavons 2010).
    pub fn add_pairs_minus_product(&mut self, members: &[u32], weight: f64) -> Result<(), ModelError> {
        self.check(members, weight, 3)?;
        let size = members.len();
        if size == 3 {
            self.add_auxiliary(members, weight, 1.0);
            return Ok(());
        }
        self.add_auxiliary(members, 2.0 * weight, 1.5);
        for j in 1..=size - 4 {
            self.add_auxiliary(members, weight, (j + 2) as f64);
        }
        Ok(())
    }

    /// Adds `weight · max over u of u (Σ x_i − threshold)`.
    fn add_auxiliary(&mut self, members: &[u32], weight: f64, threshold: f64) {
        let auxiliary = self.unary.len() as u32;
        self.unary.push(0.0);
        let gain = weight * (members.len() as f64 - threshold);
        let flow = gain / members.len() as f64;
        self.induced.push(gain);
        for &member in members {
            self.pairs.push(Pair { tail: auxiliary, head: member, forward: weight, backward: 0.0, flow });
        }
    }

    fn check(&self, members: &[u32], weight: f64, needed: usize) -> Result<(), ModelError> {
        if members.len() < needed {
            let (what, came) = ("variables of a product, at least".into(), members.len());
            return Err(ModelError::Length { what, expected: needed, came });
        }
        // Only then is the function supermodular.
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(ModelError::Negative { what: "the weight of a product".into(), value: weight });
        }
        for (at, &member) in members.iter().enumerate() {
            check_index("variable of the function", member as usize, 0..self.variables)?;
            if members[..at].contains(&member) {
                return Err(ModelError::Repeated { factor: "a product", variable: member as usize });
            }
        }
        Ok(())
    }
}
