//! How multipliers move: the step rules of subgradient descent on the dual.

use crate::flat::Refill;

/// How long a step along the subgradient is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRule {
    /// A constant divided by one plus the number of times the dual went up (Rush et al. 2010). The constant
    /// is `first` times the step that would close the first gap if the dual were linear.
    Rush {
        /// The first step, relative to the one that Polyak's rule would take.
        first: f64,
    },
    /// The step that would bring the dual down to a target (Polyak), which is the best value known or, if
    /// that proves out of reach, a level between it and the bound that rises as progress fails and falls as
    /// it succeeds; directions are deflected by the last one (Camerini, Fratta & Maffioli 1975).
    Level,
}

/// The state of a descent: multipliers, direction, and what the step rules remember.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descent {
    pub(crate) lambda: Vec<f64>,
    best_lambda: Vec<f64>,
    direction: Vec<f64>,
    best: f64,
    last: f64,
    /// Distance from the best dual value down to the level aimed at.
    reach: f64,
    /// The dual value at which the present reach began to count.
    record: f64,
    fruitless: usize,
    best_at_restart: f64,
    first_reach: f64,
    rises: usize,
    first_step: f64,
    started: bool,
}

/// Iterations without progress after which the level is raised.
const PATIENCE: usize = 15;

/// How many times its reach the dual may rise above the best before the descent goes back there.
const RUNAWAY: f64 = 8.0;

impl Descent {
    /// Forgets everything but the memory; `lambda` is all zero and has the given size.
    pub(crate) fn reset(&mut self, size: usize) {
        self.lambda.refill(size, 0.0);
        self.best_lambda.clear();
        self.direction.refill(size, 0.0);
        self.best = f64::INFINITY;
        self.last = f64::INFINITY;
        self.record = f64::INFINITY;
        self.best_at_restart = f64::INFINITY;
        self.fruitless = 0;
        self.rises = 0;
        self.started = false;
    }

    /// Whether no more progress is to be expected: the level has come nearer to the bound than `resolution`,
    /// and so it had before, and the bound is still the same. The first time, the level is lowered again:
    /// steps that only ever get shorter may stop short of the optimum.
    pub(crate) fn is_exhausted(&mut self, resolution: f64, value: f64) -> bool {
        if !self.started || self.reach >= resolution {
            return false;
        }
        if self.best > self.best_at_restart - 10.0 * resolution {
            return true;
        }
        self.best_at_restart = self.best;
        self.record = self.best;
        self.fruitless = 0;
        self.reach = if value.is_finite() { 0.5 * (self.best - value) } else { self.first_reach };
        false
    }

    /// Moves the multipliers, given the dual value `dual` and its subgradient there, and the best primal
    /// `value` known (minus infinity if none). `scale` is the size of scores, for when there is no value.
    pub(crate) fn step(&mut self, rule: StepRule, dual: f64, gradient: &[f64], value: f64, scale: f64) {
        let norm = squared(gradient);
        if norm == 0.0 {
            return;
        }
        if !self.started {
            self.started = true;
            self.reach = if value.is_finite() { (dual - value).max(1e-9 * scale) } else { scale };
            self.first_reach = self.reach;
            self.first_step = self.reach / norm;
            self.record = dual;
        }
        match rule {
            StepRule::Rush { first } => {
                self.rises += usize::from(dual > self.last);
                self.last = dual;
                let step = first * self.first_step / (1 + self.rises) as f64;
                advance(&mut self.lambda, gradient, step);
            }
            StepRule::Level => self.level_step(dual, gradient, value),
        }
    }

    fn level_step(&mut self, dual: f64, gradient: &[f64], value: f64) {
        if dual < self.best {
            self.best = dual;
            self.best_lambda.clone_from(&self.lambda);
        } else if dual > self.best + RUNAWAY * self.reach {
            // A target below the optimum makes steps grow without end: back to where it was best, with a
            // nearer target.
            self.lambda.clone_from(&self.best_lambda);
            self.direction.fill(0.0);
            self.reach *= 0.5;
            self.record = self.best;
            self.fruitless = 0;
            return;
        }
        if self.best <= self.record - 0.5 * self.reach {
            self.record = self.best;
            self.fruitless = 0;
            self.reach *= 1.5;
        } else {
            self.fruitless += 1;
        }
        if self.fruitless > PATIENCE {
            self.record = self.best;
            self.fruitless = 0;
            self.reach *= 0.5;
        }
        if value.is_finite() {
            self.reach = self.reach.min(self.best - value);
        }
        let last = squared(&self.direction);
        let along: f64 = gradient.iter().zip(&self.direction).map(|(g, d)| g * d).sum();
        let deflection = if last > 0.0 && along < 0.0 { -1.5 * along / last } else { 0.0 };
        for (d, g) in self.direction.iter_mut().zip(gradient) {
            *d = g + deflection * *d;
        }
        let length = squared(&self.direction);
        if length > 0.0 {
            let step = (dual - (self.best - self.reach)) / length;
            advance(&mut self.lambda, &self.direction, step);
        }
    }
}

fn squared(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

fn advance(lambda: &mut [f64], direction: &[f64], step: f64) {
    for (l, d) in lambda.iter_mut().zip(direction) {
        *l -= step * d;
    }
}
