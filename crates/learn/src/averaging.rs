//! Weights that can be shrunk all at once and averaged over all steps, both lazily: the one averaging of all
//! trainers.

use crate::problem::Weights;

/// A vector of weights w = s·v with the running average of all its past values.
///
/// After step τ the weights are s_τ v_τ. With S the sum of the scales of all steps so far, a change δ of v
/// made at S₀ has been part of v for the steps that S - S₀ counts. So Σ_τ s_τ v_τ = S·v - u, where u collects
/// S₀·δ at each change: a change costs two additions, and untouched weights cost nothing (Collins, 2002; the
/// scaled form after Bottou's averaged SGD).
#[derive(Debug, Clone)]
pub struct AveragedWeights {
    values: Vec<f32>,
    /// u; empty when no average is wanted.
    drift: Vec<f64>,
    scale: f64,
    /// S.
    mass: f64,
    steps: f64,
}

/// Below this scale the values are multiplied out, before they overflow single precision.
const SMALLEST_SCALE: f64 = 1e-6;

impl AveragedWeights {
    /// Starts from `values`.
    pub fn new(values: Vec<f32>, averaged: bool) -> Self {
        let drift = if averaged { vec![0.0; values.len()] } else { Vec::new() };
        Self { values, drift, scale: 1.0, mass: 0.0, steps: 0.0 }
    }

    /// The current weights.
    #[inline]
    pub fn current(&self) -> Weights<'_> {
        Weights { values: &self.values, scale: self.scale as f32 }
    }

    /// Adds `change` to one weight.
    #[inline]
    pub fn add(&mut self, index: u32, change: f64) {
        let value = &mut self.values[index as usize];
        let before = *value;
        *value += (change / self.scale) as f32;
        if let Some(drift) = self.drift.get_mut(index as usize) {
            // The change as it was made, after rounding: otherwise S·v and u would drift apart.
            *drift += self.mass * (f64::from(*value) - f64::from(before));
        }
    }

    /// Multiplies all weights with a factor between 0 and 1.
    pub fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if self.scale < SMALLEST_SCALE {
            self.settle();
            self.values.iter_mut().for_each(|value| *value = (f64::from(*value) * self.scale) as f32);
            self.scale = 1.0;
        }
    }

    /// Moves the sum over the past into the drift, so that it no longer depends on the values.
    fn settle(&mut self) {
        if self.mass == 0.0 {
            return;
        }
        for (drift, &value) in self.drift.iter_mut().zip(&self.values) {
            *drift -= self.mass * f64::from(value);
        }
        self.mass = 0.0;
    }

    /// Goes on from other weights, which others reached from these in `steps` steps. What they changed on the
    /// way is told by [`amend`](Self::amend).
    pub(crate) fn replace(&mut self, values: Vec<f32>, steps: f64) {
        self.settle();
        for (drift, &value) in self.drift.iter_mut().zip(&self.values) {
            *drift -= steps * self.scale * f64::from(value);
        }
        (self.values, self.scale) = (values, 1.0);
        self.steps += steps;
    }

    /// Adds to the sum over the past of one weight.
    pub(crate) fn amend(&mut self, index: usize, sum: f64) {
        if let Some(drift) = self.drift.get_mut(index) {
            *drift -= sum;
        }
    }

    /// The places of weights that are not what they were at the start, or were not for some time.
    pub(crate) fn touched<'a>(&'a self, start: &'a [f32]) -> impl Iterator<Item = usize> + 'a {
        let is_moved =
            |&at: &usize| self.value(at) != start[at] || self.drift.get(at).is_some_and(|u| *u != 0.0);
        (0..self.values.len()).filter(is_moved)
    }

    /// One weight.
    pub(crate) fn value(&self, index: usize) -> f32 {
        (f64::from(self.values[index]) * self.scale) as f32
    }

    /// The average of one weight, or its value when no average is kept.
    pub(crate) fn average(&self, index: usize) -> f32 {
        match self.drift.get(index).filter(|_| self.steps > 0.0) {
            Some(&drift) => self.mean(self.values[index], drift),
            None => self.value(index),
        }
    }

    #[inline]
    fn mean(&self, value: f32, drift: f64) -> f32 {
        ((self.mass * f64::from(value) - drift) / self.steps) as f32
    }

    /// The steps so far.
    pub(crate) fn steps(&self) -> f64 {
        self.steps
    }

    /// Ends a step: the weights of now enter the average.
    #[inline]
    pub fn step(&mut self) {
        self.mass += self.scale;
        self.steps += 1.0;
    }

    /// Writes the averaged weights, or the current ones when no average is kept.
    pub fn average_into(&self, weights: &mut Vec<f32>) {
        weights.clear();
        if self.drift.is_empty() || self.steps == 0.0 {
            weights.extend((0..self.values.len()).map(|index| self.value(index)));
        } else {
            let pairs = self.values.iter().zip(&self.drift);
            weights.extend(pairs.map(|(&value, &drift)| self.mean(value, drift)));
        }
    }

    /// Everything needed to go on later: values, drift, and scale, mass, steps.
    pub(crate) fn state(&self) -> (&[f32], &[f64], [f64; 3]) {
        (&self.values, &self.drift, [self.scale, self.mass, self.steps])
    }

    /// Goes on from a saved state.
    pub(crate) fn restore(values: Vec<f32>, drift: Vec<f64>, [scale, mass, steps]: [f64; 3]) -> Self {
        Self { values, drift, scale, mass, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::combine;

    #[test]
    fn lazy_average_is_the_plain_average() {
        let mut lazy = AveragedWeights::new(vec![0.5; 4], true);
        let mut plain = [0.5f64; 4];
        let mut sum = [0.0f64; 4];
        let mut seed = 3;
        for step in 0..2000 {
            seed = combine(seed, step);
            let change = (seed % 1000) as f64 / 500.0 - 1.0;
            lazy.add((seed >> 32) as u32 % 4, change);
            plain[(seed >> 32) as usize % 4] += change;
            let factor = 1.0 - 1.0 / (2.0 + (step % 50) as f64);
            lazy.shrink(factor);
            plain.iter_mut().for_each(|weight| *weight *= factor);
            lazy.step();
            sum.iter_mut().zip(&plain).for_each(|(sum, weight)| *sum += weight);
        }
        let mut average = Vec::new();
        lazy.average_into(&mut average);
        for (&average, sum) in average.iter().zip(sum) {
            assert!((f64::from(average) - sum / 2000.0).abs() < 1e-4, "{average} {}", sum / 2000.0);
        }
    }
}
