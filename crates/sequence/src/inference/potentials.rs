//! Exponentials of the transition scores, shared by all sentences between two changes of the weights.

use super::error::{Result, check_length};
use super::grams::Grams;
use super::kernels::{self, SUM_LANES, padded};
use super::transitions::{Dense, Kind, Transitions};

/// exp(transition scores), for sums and marginals; make it anew (or [`reload`](Self::reload)) when weights
/// change.
///
/// Scores are shifted so that the largest potential is 1.
#[derive(Debug, Clone)]
pub struct Potentials {
    pub(crate) shift: f64,
    /// Smallest positive potential; 0 when one was too small for a floating-point number.
    pub(crate) smallest: f64,
    /// How much a history may gain over another by what follows, as a factor; infinite when a transition is
    /// forbidden.
    pub(crate) advantage: f64,
    /// Dense: rows by previous label, padded with zeros. Grams: one for each arc.
    pub(crate) values: Vec<f64>,
    /// Dense: rows by label. Grams: the potential of the arc that each arc overrides.
    pub(crate) counterpart: Vec<f64>,
    /// How much a history may gain over another with the same last label.
    pub(crate) spread: f64,
    pub(crate) stride: usize,
}

impl Potentials {
    /// The potentials of these transitions.
    pub fn new(transitions: &Transitions) -> Self {
        let mut potentials = Self {
            shift: 0.0,
            smallest: 1.0,
            advantage: 1.0,
            spread: 1.0,
            values: Vec::new(),
            counterpart: Vec::new(),
            stride: padded(transitions.labels(), SUM_LANES),
        };
        potentials.reload(transitions);
        potentials
    }

    /// Takes new scores; memory is reused.
    pub fn reload(&mut self, transitions: &Transitions) {
        self.stride = padded(transitions.labels(), SUM_LANES);
        match &transitions.kind {
            Kind::Dense(dense) => self.load_dense(dense, transitions.labels()),
            Kind::Grams(grams) => self.load_grams(grams),
        }
    }

    /// Refuses transitions of another shape.
    pub(crate) fn check(&self, transitions: &Transitions) -> Result<()> {
        let expected = match &transitions.kind {
            Kind::Dense(dense) if dense.row_step == 0 => 0,
            Kind::Dense(_) => transitions.labels() * padded(transitions.labels(), SUM_LANES),
            Kind::Grams(grams) => grams.arc_count(),
        };
        check_length(
            "potentials (they must be made from the chain's transitions)",
            expected,
            self.values.len(),
        )
    }

    /// Whether histories with the same last label are so unequal that differences between them lose too many
    /// digits.
    pub(crate) fn loses_digits(&self) -> bool {
        self.spread > 1e6
    }

    fn load_dense(&mut self, dense: &Dense, labels: usize) {
        let most = dense.most.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)) as f64;
        self.shift = if most == f64::NEG_INFINITY { 0.0 } else { most };
        self.values.clear();
        self.counterpart.clear();
        self.smallest = f64::INFINITY;
        if dense.row_step == 0 {
            (self.smallest, self.advantage) = (1.0, 1.0);
            return;
        }
        self.values.resize(labels * self.stride, 0.0);
        self.counterpart.resize(labels * self.stride, 0.0);
        for (previous, row) in self.values.chunks_exact_mut(self.stride).enumerate() {
            let smallest = kernels::exp_row(&dense.row(previous)[..labels], self.shift, &mut row[..labels]);
            self.smallest = self.smallest.min(smallest);
            for (label, &value) in row[..labels].iter().enumerate() {
                self.counterpart[label * self.stride + previous] = value;
            }
        }
        let forbids = dense.least.contains(&f32::NEG_INFINITY);
        self.advantage = if forbids { f64::INFINITY } else { 1.0 / self.smallest };
    }

    fn load_grams(&mut self, grams: &Grams) {
        let arcs = 1..grams.arc_count();
        let most = arcs.clone().fold(f64::NEG_INFINITY, |most, arc| most.max(grams.arc_score(arc)));
        self.shift = if most == f64::NEG_INFINITY { 0.0 } else { most };
        self.values.clear();
        self.values.push(0.0);
        self.smallest = f64::INFINITY;
        let mut forbids = false;
        for arc in arcs {
            let score = grams.arc_score(arc);
            let value = kernels::exp(score - self.shift);
            self.values.push(value);
            if score > f64::NEG_INFINITY {
                self.smallest = self.smallest.min(value);
            } else {
                forbids = true;
            }
        }
        self.counterpart.clear();
        self.counterpart.extend((0..grams.arc_count()).map(|arc| self.values[grams.arc_shorter(arc)]));
        self.spread = if grams.order() == 1 { 1.0 } else { grams.spread().exp() };
        self.advantage =
            if forbids { f64::INFINITY } else { (1.0 / self.smallest).powi(grams.order() as i32) };
    }
}
