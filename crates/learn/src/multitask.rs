//! Several tasks that share what they can: a shared vector and one vector for each task.
//!
//! The score of a feature in task k is (w + v_k) · f. Almeida & Martins (2013, Eq. 10) penalize λ/2 |w|² +
//! Σ_k λ_k/2 |v_k|². Both vectors live in one flat vector of weights: a feature is emitted twice, once at its
//! shared index and once at the index of its task, the latter scaled by √(λ/λ_k), which turns their separate
//! penalties into one common λ (feature augmentation; Daumé III, 2007). Any trainer then learns all of them
//! together.

/// Where the shared and the task weights of a feature stand.
#[derive(Debug, Clone)]
pub struct TaskIndex {
    features: usize,
    scales: Vec<f32>,
}

impl TaskIndex {
    /// For `features` shared features; `strength[k]` is λ/λ_k: large values let task k differ freely from the
    /// others, zero ties it to the shared vector.
    pub fn new(features: usize, strength: &[f32]) -> Self {
        Self { features, scales: strength.iter().map(|ratio| ratio.max(0.0).sqrt()).collect() }
    }

    /// The number of weights of all vectors.
    pub fn parameters(&self) -> usize {
        self.features * (1 + self.scales.len())
    }

    /// The index and value of a feature in the shared and in the task's vector.
    #[inline]
    pub fn expand(&self, task: usize, feature: u32, value: f32) -> [(u32, f32); 2] {
        let offset = (self.features * (1 + task)) as u32;
        [(feature, value), (offset + feature, self.scales[task] * value)]
    }

    /// The weights w + v_k of one task alone, for prediction.
    pub fn task_weights(&self, weights: &[f32], task: usize) -> Vec<f32> {
        let (shared, own) =
            (&weights[..self.features], &weights[self.features * (1 + task)..][..self.features]);
        shared.iter().zip(own).map(|(shared, own)| shared + self.scales[task] * own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_scores_with_the_shared_and_its_own_weights() {
        let index = TaskIndex::new(3, &[4.0, 0.0]);
        assert_eq!(index.parameters(), 9);
        let weights: Vec<f32> = (1..=9).map(|weight| weight as f32).collect();
        assert_eq!(index.task_weights(&weights, 0), [1.0 + 8.0, 2.0 + 10.0, 3.0 + 12.0]);
        assert_eq!(index.task_weights(&weights, 1), [1.0, 2.0, 3.0]);
        let score = |task| {
            index.expand(task, 2, 0.5).iter().map(|&(i, value)| weights[i as usize] * value).sum::<f32>()
        };
        assert_eq!((score(0), score(1)), (7.5, 1.5));
    }
}
