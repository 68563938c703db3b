use super::checkpoint::{Checkpoint, Saved};
use super::{EpochReport, Outcome, Stop};
use crate::LearnError;
use crate::averaging::AveragedWeights;

/// Early stopping: remembers the weights with the best score on dev and counts the epochs since.
pub(super) struct Stopping {
    patience: Option<usize>,
    best: Option<(f64, usize)>,
    weights: Vec<f32>,
    history: Vec<EpochReport>,
}

impl Stopping {
    pub(super) fn new(patience: Option<usize>) -> Self {
        Self { patience, best: None, weights: Vec::new(), history: Vec::new() }
    }

    /// Notes an epoch and the weights that would be returned after it; says whether it was the last.
    pub(super) fn epoch(&mut self, report: EpochReport, weights: &[f32]) -> Option<Stop> {
        let (epoch, dev) = (report.epoch, report.dev);
        let perfect = report.errors == 0 && report.loss == 0.0;
        self.history.push(report);
        if let Some(score) = dev {
            if self.best.is_none_or(|(best, _)| score > best) {
                self.best = Some((score, epoch));
                self.weights.clear();
                self.weights.extend_from_slice(weights);
            }
            let waited = epoch - self.best.map_or(epoch, |(_, epoch)| epoch);
            if self.patience.is_some_and(|patience| waited >= patience.max(1)) {
                return Some(Stop::Patience);
            }
        }
        perfect.then_some(Stop::Converged)
    }

    /// Whether no epoch has ended yet.
    pub(super) fn has_seen_nothing(&self) -> bool {
        self.history.is_empty()
    }

    /// The best weights, or the last ones where there was no dev set.
    pub(super) fn finish(self, stop: Stop, last: &AveragedWeights) -> Outcome {
        let mut weights = Vec::new();
        if self.best.is_none() {
            last.average_into(&mut weights);
        }
        self.finish_with(stop, weights)
    }

    /// As [`finish`](Self::finish), for trainers with their own vector of weights.
    pub(super) fn finish_with(self, stop: Stop, last: Vec<f32>) -> Outcome {
        let epochs = self.history.last().map_or(0, |report| report.epoch);
        match self.best {
            Some((score, epoch)) => {
                Outcome { weights: self.weights, epoch, best: Some(score), history: self.history, stop }
            }
            None => Outcome { weights: last, epoch: epochs, best: None, history: self.history, stop },
        }
    }

    pub(super) fn save(&self, saved: &mut Checkpoint) {
        saved.put("best", &self.weights).note("history", &self.history).note("best", &self.best);
    }

    pub(super) fn restore(&mut self, saved: &Saved) -> Result<(), LearnError> {
        self.weights = saved.array("best")?;
        self.history = saved.read("history")?;
        self.best = saved.read("best")?;
        Ok(())
    }
}
