use std::time::Instant;

use rayon::prelude::*;

use super::checkpoint::Checkpoint;
use super::online::visiting_order;
use super::parameters::{AlgorithmInfo, ParameterInfo, Parameters};
use super::stopping::Stopping;
use super::{EpochReport, Run, Stop, Trained};
use crate::LearnError;
use crate::averaging::AveragedWeights;
use crate::problem::Differentiate;
use crate::sparse::SparseVector;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "sgd",
    summary: "Stochastic gradient descent on the loss plus c2 times the squared length of the weights, with a falling rate.",
    citation: "Bottou 2010, Large-scale machine learning with stochastic gradient descent, COMPSTAT",
    parameters: &[
        ParameterInfo {
            name: "c2",
            default: 1.0,
            least: 0.0,
            most: 1e9,
            help: "L2 regularization, in the same unit as that of lbfgs",
        },
        ParameterInfo {
            name: "rate",
            default: 0.1,
            least: 1e-9,
            most: 1e3,
            help: "the learning rate at the start",
        },
        ParameterInfo {
            name: "average",
            default: 0.0,
            least: 0.0,
            most: 1.0,
            help: "1: averaged weights, 0: the last ones",
        },
    ],
};

/// w ← (1 − ηλ) w − η ∇ℓ with λ = 2·c2/n and η = rate / (1 + rate·λ·t).
pub(super) fn train<P: Differentiate>(
    problem: &P,
    parameters: &Parameters,
    mut run: Run<'_>,
) -> Result<Trained, LearnError> {
    let examples = problem.examples();
    if examples == 0 {
        return Err(LearnError::NoExamples);
    }
    let begin = Instant::now();
    let description = run.description(parameters, problem.parameters());
    let (rate, lambda) = (parameters.get("rate"), 2.0 * parameters.get("c2") / examples as f64);
    let mut weights = AveragedWeights::new(run.start(problem.parameters())?, parameters.is_on("average"));
    let mut stopping = Stopping::new(run.patience);
    let (mut time, mut first) = (0.0f64, 1);
    if let Some(saved) = Checkpoint::load(run.checkpoint.as_deref(), &description)? {
        first = saved.epoch()? + 1;
        weights = saved.weights()?;
        [time] = saved.numbers("clock")?;
        stopping.restore(&saved)?;
    }

    let pool = (run.batch > 1).then(|| run.pool()).transpose()?;
    let mut slots: Vec<(P::Workspace, SparseVector, f64)> =
        (0..run.batch.max(1)).map(|_| (problem.workspace(), SparseVector::new(), 0.0)).collect();
    let mut current = Vec::new();
    for epoch in first..=run.epochs {
        let mut loss = 0.0;
        for chunk in visiting_order(examples, &run, epoch).chunks(run.batch.max(1)) {
            if run.interrupted() {
                return Ok(stopping.finish(Stop::Interrupted, &weights));
            }
            let now = weights.current();
            let differentiate =
                |((workspace, gradient, loss), &example): (&mut (P::Workspace, SparseVector, f64), &u32)| {
                    gradient.clear();
                    *loss = problem.differentiate(example as usize, now, workspace, gradient);
                };
            match &pool {
                Some(pool) => pool.install(|| slots.par_iter_mut().zip(chunk).for_each(differentiate)),
                None => slots.iter_mut().zip(chunk).for_each(differentiate),
            }
            for (_, gradient, example_loss) in &slots[..chunk.len()] {
                let step = rate / (1.0 + rate * lambda * time);
                time += 1.0;
                weights.shrink((1.0 - step * lambda).max(0.0));
                gradient
                    .pairs()
                    .iter()
                    .for_each(|&(index, value)| weights.add(index, -step * f64::from(value)));
                weights.step();
                loss += example_loss;
            }
        }
        if !loss.is_finite() {
            return Err(LearnError::Diverged { epoch, value: loss });
        }
        weights.average_into(&mut current);
        let dev = run.dev.as_mut().map(|dev| dev(&current));
        let report = EpochReport { epoch, loss, errors: 0, dev, seconds: begin.elapsed().as_secs_f64() };
        if let Some(progress) = &mut run.progress {
            progress(&report);
        }
        let enough = stopping.epoch(report, &current);
        if let Some(path) = &run.checkpoint {
            let mut saved = Checkpoint::new(&description, epoch);
            saved.put_weights(&weights).put("clock", &[time]);
            stopping.save(&mut saved);
            saved.write(path)?;
        }
        if let Some(stop) = enough {
            Checkpoint::remove(run.checkpoint.as_deref());
            return Ok(stopping.finish(stop, &weights));
        }
    }
    Checkpoint::remove(run.checkpoint.as_deref());
    Ok(stopping.finish(Stop::Epochs, &weights))
}
