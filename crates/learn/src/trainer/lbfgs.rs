use std::borrow::Cow;
use std::time::Instant;

use super::checkpoint::{Checkpoint, Saved};
use super::line_search::{LineSearch, Next};
use super::parameters::{AlgorithmInfo, Parameter, Training};
use super::shards::Shards;
use super::sharing::Place;
use super::stopping::Stopping;
use super::{EpochReport, Method, Outcome, Run, Stop};
use crate::LearnError;
use crate::problem::Differentiate;

pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "lbfgs",
    summary: "Minimizes the loss of all examples plus c2 times the squared length of the weights by limited-memory BFGS; with c1 > 0 plus c1 times their absolute sum, by OWL-QN.",
    citation: "Nocedal 1980, Math. of Computation 35; Andrew & Gao 2007, Scalable training of L1-regularized log-linear models, ICML",
    parameters: Cow::Borrowed(&[
        Parameter::C1.info(0.0, 0.0, 1e9, "L1 regularization; above zero, many weights become exactly zero"),
        Parameter::C2.info(1.0, 0.0, 1e9, "L2 regularization"),
        Parameter::MEMORY.info(6.0, 1.0, 100.0, "past steps that shape the direction"),
        Parameter::EPSILON.info(1e-5, 0.0, 1.0, "stop when the gradient is this small against the weights"),
        Parameter::PERIOD.info(10.0, 1.0, 1e6, "iterations over which the improvement is measured"),
        Parameter::DELTA.info(
            1e-5,
            0.0,
            1.0,
            "stop when the objective improved less than this part of itself over the period",
        ),
    ]),
};

/// The past steps s and changes of gradient y, in a ring. Single precision is enough for a direction.
struct History {
    most: usize,
    steps: Vec<Vec<f32>>,
    changes: Vec<Vec<f32>>,
    /// 1 / (y·s)
    rho: Vec<f64>,
    /// The place of the oldest pair once the ring is full.
    next: usize,
}

impl History {
    fn new(most: usize) -> Self {
        Self { most, steps: Vec::new(), changes: Vec::new(), rho: Vec::new(), next: 0 }
    }

    fn clear(&mut self) {
        *self = Self::new(self.most);
    }

    /// Places from the newest to the oldest.
    fn newest_first(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let (count, next) = (self.rho.len(), self.next);
        (0..count).map(move |back| (next + count - 1 - back) % count)
    }

    /// Remembers a step; one against the curvature would spoil the direction and is left out.
    fn push(&mut self, old: (&[f64], &[f64]), new: (&[f64], &[f64])) {
        let curvature: f64 = (0..old.0.len()).map(|i| (new.0[i] - old.0[i]) * (new.1[i] - old.1[i])).sum();
        let length: f64 = old.1.iter().zip(new.1).map(|(old, new)| (new - old) * (new - old)).sum();
        if curvature <= 1e-12 * length || !curvature.is_finite() {
            return;
        }
        let at = if self.rho.len() < self.most {
            self.steps.push(vec![0.0; old.0.len()]);
            self.changes.push(vec![0.0; old.0.len()]);
            self.rho.push(0.0);
            self.rho.len() - 1
        } else {
            self.next
        };
        for (i, (step, change)) in self.steps[at].iter_mut().zip(&mut self.changes[at]).enumerate() {
            *step = (new.0[i] - old.0[i]) as f32;
            *change = (new.1[i] - old.1[i]) as f32;
        }
        self.rho[at] = 1.0 / curvature;
        self.next = (at + 1) % self.most;
    }

    /// Turns a gradient into the direction −H·gradient, in place (the two-loop recursion).
    fn direct(&self, direction: &mut [f64]) {
        direction.iter_mut().for_each(|value| *value = -*value);
        let mut alpha = vec![0.0; self.rho.len()];
        for at in self.newest_first() {
            alpha[at] = self.rho[at] * dot(&self.steps[at], direction);
            add(direction, -alpha[at], &self.changes[at]);
        }
        if let Some(newest) = self.newest_first().next() {
            let length: f64 = self.changes[newest].iter().map(|&y| f64::from(y) * f64::from(y)).sum();
            let scale = 1.0 / (self.rho[newest] * length);
            direction.iter_mut().for_each(|value| *value *= scale);
        }
        for at in self.newest_first().rev() {
            let beta = self.rho[at] * dot(&self.changes[at], direction);
            add(direction, alpha[at] - beta, &self.steps[at]);
        }
    }

    fn save(&self, saved: &mut Checkpoint) {
        let order: Vec<usize> = self.newest_first().rev().collect();
        let rho: Vec<f64> = order.iter().map(|&at| self.rho[at]).collect();
        saved.put("rho", &rho);
        for (age, &at) in order.iter().enumerate() {
            saved.put(&format!("step{age}"), &self.steps[at]).put(&format!("change{age}"), &self.changes[at]);
        }
    }

    fn restore(&mut self, saved: &Saved, size: usize) -> Result<(), LearnError> {
        self.rho = saved.array("rho")?;
        for age in 0..self.rho.len() {
            self.steps.push(saved.array_of(&format!("step{age}"), size)?);
            self.changes.push(saved.array_of(&format!("change{age}"), size)?);
        }
        Ok(())
    }
}

fn dot(a: &[f32], b: &[f64]) -> f64 {
    // Eight sums at once: a single one would wait for each addition.
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(&a, b)| f64::from(a) * b).sum();
    for (a, b) in a8.zip(b8) {
        for lane in 0..8 {
            sums[lane] += f64::from(a[lane]) * b[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

fn add(to: &mut [f64], scale: f64, from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += scale * f64::from(from));
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The regularized objective over all examples.
struct Objective<'a, P: Differentiate> {
    problem: &'a P,
    shards: Shards<P::Workspace>,
    pool: rayon::ThreadPool,
    place: Place<'a>,
    description: String,
    single: Vec<f32>,
    c1: f64,
    c2: f64,
}

impl<P: Differentiate> Objective<'_, P> {
    /// The value at `x`; `gradient` gets the gradient of its smooth part.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, LearnError> {
        self.single.clear();
        self.single.extend(x.iter().map(|&value| value as f32));
        let loss = match self.place {
            Place::Elsewhere(courier) => {
                self.shards.fetch(courier, &self.description, &self.single, gradient)?
            }
            _ => self.shards.evaluate(self.problem, &self.single, &self.pool, gradient)?,
        };
        let (mut squares, mut absolutes) = (0.0, 0.0);
        for (gradient, &x) in gradient.iter_mut().zip(x) {
            *gradient += 2.0 * self.c2 * x;
            squares += x * x;
            absolutes += x.abs();
        }
        Ok(loss + self.c2 * squares + self.c1 * absolutes)
    }

    /// The steepest descent of the whole objective, the L1 term included: at zero, the side that descends, if
    /// any.
    fn pseudo_gradient(&self, x: &[f64], gradient: &[f64], out: &mut [f64]) {
        for ((out, &x), &gradient) in out.iter_mut().zip(x).zip(gradient) {
            *out = if x != 0.0 {
                gradient + self.c1 * x.signum()
            } else if gradient < -self.c1 {
                gradient + self.c1
            } else if gradient > self.c1 {
                gradient - self.c1
            } else {
                0.0
            };
        }
    }
}

pub(super) fn train<P: Differentiate>(
    problem: &P,
    training: &Training<Method>,
    mut run: Run<'_>,
) -> Result<Outcome, LearnError> {
    if problem.examples() == 0 {
        return Err(LearnError::NoExamples);
    }
    let begin = Instant::now();
    let size = problem.parameters();
    let description = run.description(training, problem)?;
    let sparse = training.get(Parameter::C1) > 0.0;
    let (epsilon, delta, period) = (
        training.get(Parameter::EPSILON),
        training.get(Parameter::DELTA),
        training.get(Parameter::PERIOD) as usize,
    );
    let elsewhere = !matches!(run.place, Place::Here);
    let mut objective = Objective {
        problem,
        shards: Shards::new(problem, run.shards(), if elsewhere { 1 } else { run.threads }),
        pool: run.pool()?,
        place: run.place,
        description,
        single: Vec::with_capacity(size),
        c1: training.get(Parameter::C1),
        c2: training.get(Parameter::C2),
    };
    if let Place::Worker(desk) = run.place {
        let outcome = objective.shards.serve(problem, desk, &objective.description)?;
        return Outcome::from_bytes(&outcome, size);
    }
    let whole = run.whole_description(&objective.description);
    let mut history = History::new(training.get(Parameter::MEMORY) as usize);
    let mut stopping = Stopping::new(run.patience);
    let mut x: Vec<f64> = run.start(size)?.into_iter().map(f64::from).collect();
    let mut gradient = vec![0.0; size];
    let (mut first, mut values) = (1, Vec::new());
    if let Some(saved) = Checkpoint::load(run.checkpoint.as_deref(), &whole)? {
        first = saved.epoch()? + 1;
        (x, gradient) = (saved.array_of("x", size)?, saved.array_of("gradient", size)?);
        values = saved.array("values")?;
        history.restore(&saved, size)?;
        stopping.restore(&saved)?;
    }
    if values.is_empty() {
        values.push(objective.evaluate(&x, &mut gradient)?);
    }
    let mut value = values[values.len() - 1];

    let (mut direction, mut steepest) = (vec![0.0; size], vec![0.0; size]);
    let (mut old_x, mut old_gradient) = (vec![0.0; size], vec![0.0; size]);
    let mut stop = Stop::Epochs;
    for epoch in first..=run.epochs {
        if run.interrupted() {
            return Ok(stopping.finish_with(Stop::Interrupted, objective.single));
        }
        if !value.is_finite() {
            return Err(LearnError::Diverged { epoch, value });
        }
        objective.pseudo_gradient(&x, &gradient, &mut steepest);
        if norm(&steepest) <= epsilon * norm(&x).max(1.0) {
            stop = Stop::Converged;
            break;
        }
        old_x.copy_from_slice(&x);
        old_gradient.copy_from_slice(&gradient);
        let mut found = None;
        for _ in 0..2 {
            direction.copy_from_slice(&steepest);
            history.direct(&mut direction);
            if sparse {
                // The direction may not leave the orthant that the steepest descent points into.
                direction
                    .iter_mut()
                    .zip(&steepest)
                    .for_each(|(d, g)| *d = if *d * g < 0.0 { *d } else { 0.0 });
            }
            let slope: f64 = direction.iter().zip(&steepest).map(|(d, g)| d * g).sum();
            let step = if history.rho.is_empty() { 1.0 / norm(&direction) } else { 1.0 };
            if slope < 0.0 && step.is_finite() {
                let old = (old_x.as_slice(), value);
                found = match sparse {
                    true => search_orthant(
                        &mut objective,
                        old,
                        &steepest,
                        &direction,
                        step,
                        &mut x,
                        &mut gradient,
                    )?,
                    false => {
                        search_line(&mut objective, old, slope, &direction, step, &mut x, &mut gradient)?
                    }
                };
            }
            if found.is_some() || history.rho.is_empty() {
                break;
            }
            // The remembered curvature misled the search: once more, straight down.
            history.clear();
        }
        let Some(reached) = found else {
            x.copy_from_slice(&old_x);
            objective.single.clear();
            objective.single.extend(x.iter().map(|&value| value as f32));
            stop = Stop::Converged;
            break;
        };
        history.push((&old_x, &old_gradient), (&x, &gradient));
        value = reached;
        values.push(value);
        let dev = run.dev.as_mut().map(|dev| dev(&objective.single)).transpose()?;
        let report =
            EpochReport { epoch, loss: value, errors: 0, dev, seconds: begin.elapsed().as_secs_f64() };
        if let Some(progress) = &mut run.progress {
            progress(&report);
        }
        let enough = stopping.epoch(report, &objective.single);
        if let Some(path) = &run.checkpoint {
            let mut saved = Checkpoint::new(&whole, epoch);
            saved.put("x", &x).put("gradient", &gradient).put("values", &values);
            history.save(&mut saved);
            stopping.save(&mut saved);
            saved.write(path)?;
        }
        if let Some(reason) = enough {
            stop = reason;
            break;
        }
        if values.len() > period && (values[values.len() - 1 - period] - value) < delta * value.abs() {
            stop = Stop::Converged;
            break;
        }
    }
    Checkpoint::remove(run.checkpoint.as_deref());
    let last: Vec<f32> = x.iter().map(|&value| value as f32).collect();
    if let (true, Some(dev)) = (stopping.has_seen_nothing(), &mut run.dev) {
        // There was nothing left to learn; what the weights are worth is asked for all the same.
        let dev = Some(dev(&last)?);
        let seconds = begin.elapsed().as_secs_f64();
        stopping.epoch(EpochReport { epoch: first - 1, loss: value, errors: 0, dev, seconds }, &last);
    }
    Ok(stopping.finish_with(stop, last))
}

/// Moves `x` along the direction to a step that satisfies the strong Wolfe conditions; returns the value
/// there.
fn search_line<P: Differentiate>(
    objective: &mut Objective<'_, P>,
    (old_x, old_value): (&[f64], f64),
    slope: f64,
    direction: &[f64],
    mut step: f64,
    x: &mut [f64],
    gradient: &mut [f64],
) -> Result<Option<f64>, LearnError> {
    let mut search = LineSearch::new(old_value, slope, step);
    loop {
        (0..x.len()).for_each(|i| x[i] = old_x[i] + step * direction[i]);
        let value = objective.evaluate(x, gradient)?;
        let slope = direction.iter().zip(gradient.iter()).map(|(d, g)| d * g).sum();
        match search.next(value, slope) {
            Next::Accept => return Ok(Some(value)),
            Next::Try(next) => step = next,
            Next::GiveUp => return Ok(None),
        }
    }
}

/// Backtracks along the direction, every point projected onto the orthant of the start (Andrew & Gao 2007,
/// Eq. 4 to 6).
fn search_orthant<P: Differentiate>(
    objective: &mut Objective<'_, P>,
    (old_x, old_value): (&[f64], f64),
    steepest: &[f64],
    direction: &[f64],
    mut step: f64,
    x: &mut [f64],
    gradient: &mut [f64],
) -> Result<Option<f64>, LearnError> {
    for _ in 0..30 {
        let mut promised = 0.0;
        for i in 0..x.len() {
            let moved = old_x[i] + step * direction[i];
            let side = if old_x[i] != 0.0 { old_x[i] } else { -steepest[i] };
            x[i] = if moved * side > 0.0 { moved } else { 0.0 };
            promised += (x[i] - old_x[i]) * steepest[i];
        }
        let value = objective.evaluate(x, gradient)?;
        if value.is_finite() && value <= old_value + 1e-4 * promised {
            return Ok(Some(value));
        }
        step *= 0.5;
    }
    Ok(None)
}
