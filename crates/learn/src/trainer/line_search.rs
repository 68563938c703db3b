//! A line search for the strong Wolfe conditions, as a machine over numbers: it is told value and slope at
//! the step it asked for, and answers with the next step or with acceptance (Moré & Thuente 1994, Line search
//! algorithms with guaranteed sufficient decrease, ACM TOMS 20). CRFsuite searches in the same way, so that an
//! iteration here is worth an iteration there.

/// Sufficient decrease: the value must fall by this part of what the first slope promises.
const DECREASE: f64 = 1e-4;
/// Curvature: the slope must become this much flatter.
const CURVATURE: f64 = 0.9;
/// While no interval is known to hold a good step, a step goes this many times farther than the last.
const GROWTH: f64 = 4.0;
/// An interval must shrink to this part of itself in two steps, and a step may go this far into it.
const SHRINKING: f64 = 0.66;
const MOST_EVALUATIONS: usize = 20;

/// Value and slope at a step along the direction.
#[derive(Debug, Clone, Copy)]
struct Point {
    step: f64,
    value: f64,
    slope: f64,
}

impl Point {
    /// The point on the function less what its first slope promises, whose minimum is a step that descends
    /// enough.
    fn beneath(self, promise: f64) -> Self {
        Self { value: self.value - self.step * promise, slope: self.slope - promise, ..self }
    }
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// Evaluate at this step.
    Try(f64),
    /// The step last evaluated is good.
    Accept,
    /// No acceptable step was found.
    GiveUp,
}

#[derive(Debug)]
pub(super) struct LineSearch {
    start: Point,
    step: f64,
    /// The best step so far, and the other end of the interval.
    best: Point,
    other: Point,
    /// Whether a good step lies between the two.
    bracketed: bool,
    /// Whether a step is still wanted that descends at all.
    descending: bool,
    /// The widths of the last two intervals.
    widths: [f64; 2],
    evaluations: usize,
}

impl LineSearch {
    /// Searches from `value` with the (negative) `slope`; `step` is the first to try.
    pub(super) fn new(value: f64, slope: f64, step: f64) -> Self {
        let start = Point { step: 0.0, value, slope };
        Self {
            start,
            step,
            best: start,
            other: start,
            bracketed: false,
            descending: true,
            widths: [f64::INFINITY; 2],
            evaluations: 0,
        }
    }

    /// Hears value and slope at the step asked for last (or the first one).
    pub(super) fn next(&mut self, value: f64, slope: f64) -> Next {
        self.evaluations += 1;
        let here = Point { step: self.step, value, slope };
        let promise = DECREASE * self.start.slope;
        let decreased = value.is_finite() && value <= self.start.value + here.step * promise;
        if decreased && slope.abs() <= -CURVATURE * self.start.slope {
            return Next::Accept;
        }
        if self.evaluations >= MOST_EVALUATIONS {
            // A decrease is worth having even where the curvature is not yet right.
            return if decreased { Next::Accept } else { Next::GiveUp };
        }
        if !value.is_finite() || !slope.is_finite() {
            (self.other, self.bracketed) = (here, true);
            self.step = self.best.step + 0.1 * (here.step - self.best.step);
            return Next::Try(self.step);
        }
        self.descending &= !(decreased && slope >= promise);
        if self.descending && !decreased && value <= self.best.value {
            // Lower than before, but by less than was promised.
            let (best, other) = (self.best.beneath(promise), self.other.beneath(promise));
            self.narrow(best, other, here.beneath(promise), here);
        } else {
            self.narrow(self.best, self.other, here, here);
        }
        let (low, high) = (self.best.step, self.other.step);
        if self.bracketed {
            if (high - low).abs() >= SHRINKING * self.widths[0] {
                self.step = low + 0.5 * (high - low);
            }
            self.widths = [self.widths[1], (high - low).abs()];
            if (self.step - low).abs() <= 1e-16 * (1.0 + low.abs()) {
                return Next::GiveUp;
            }
        }
        Next::Try(self.step)
    }

    /// Finds the next step and the next interval from the ends of the last one and the step between or behind
    /// them; `found` is this step as it was evaluated.
    fn narrow(&mut self, best: Point, other: Point, here: Point, found: Point) {
        let farthest = here.step + GROWTH * (here.step - best.step);
        let turned = here.slope * best.slope < 0.0;
        let nearer = |a: f64, b: f64| (a - here.step).abs() < (b - here.step).abs();
        let mut bounded = false;
        let next = if here.value > best.value {
            // The minimum was passed: between the cubic's and the parabola's, nearer to the best step.
            (self.bracketed, bounded) = (true, true);
            let (cubic, parabola) = (minimum_of_cubic(best, here), minimum_of_parabola(best, here));
            if (cubic - best.step).abs() < (parabola - best.step).abs() {
                cubic
            } else {
                cubic + 0.5 * (parabola - cubic)
            }
        } else if turned {
            self.bracketed = true;
            let (cubic, secant) = (minimum_of_cubic(best, here), zero_of_slope(best, here));
            if nearer(secant, cubic) { cubic } else { secant }
        } else if here.slope.abs() < best.slope.abs() {
            // The slope flattens: the cubic may have its minimum beyond the step, or none.
            bounded = true;
            let cubic = minimum_of_cubic(best, here);
            let beyond = (cubic - here.step) * (here.step - best.step) > 0.0;
            let end = if self.bracketed { other.step } else { farthest };
            let cubic = if beyond { cubic } else { end };
            let secant = zero_of_slope(best, here);
            if self.bracketed == nearer(cubic, secant) { cubic } else { secant }
        } else if self.bracketed {
            minimum_of_cubic(other, here)
        } else {
            farthest
        };
        if here.value > best.value {
            self.other = found;
        } else {
            if turned {
                self.other = self.best;
            }
            self.best = found;
        }
        let (low, high) = (self.best.step, self.other.step);
        self.step = if self.bracketed {
            let most = if bounded { low + SHRINKING * (high - low) } else { high };
            let next = if next.is_finite() { next } else { 0.5 * (low + high) };
            next.clamp(low.min(most), low.max(most))
        } else if next.is_finite() {
            next.clamp(low.min(farthest), low.max(farthest))
        } else {
            farthest
        };
    }
}

/// Where the cubic through two points with slopes has its minimum; no number where it has none.
fn minimum_of_cubic(a: Point, b: Point) -> f64 {
    let width = b.step - a.step;
    let theta = 3.0 * (a.value - b.value) / width + a.slope + b.slope;
    let most = theta.abs().max(a.slope.abs()).max(b.slope.abs());
    let square = (theta / most).powi(2) - (a.slope / most) * (b.slope / most);
    let gamma = most * square.sqrt() * width.signum();
    a.step + width * (gamma - a.slope + theta) / (2.0 * gamma - a.slope + b.slope)
}

/// Where the parabola through two points has its minimum, with the slope of the first.
fn minimum_of_parabola(a: Point, b: Point) -> f64 {
    let width = b.step - a.step;
    a.step + 0.5 * width * a.slope / ((a.value - b.value) / width + a.slope)
}

/// Where the parabola with two slopes has its minimum.
fn zero_of_slope(a: Point, b: Point) -> f64 {
    a.step + (b.step - a.step) * a.slope / (a.slope - b.slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_steps_satisfy_the_strong_wolfe_conditions() {
        type Curve = (fn(f64) -> f64, fn(f64) -> f64);
        let curves: [Curve; 3] = [
            (|t| (t - 3.0) * (t - 3.0), |t| 2.0 * (t - 3.0)),
            (|t| (t - 2.0).cosh() - 0.1 * t, |t| (t - 2.0).sinh() - 0.1),
            (|t| -t / (t * t + 2.0), |t| (t * t - 2.0) / (t * t + 2.0).powi(2)),
        ];
        for (value, slope) in curves {
            for first in [1e-3, 0.1, 1.0, 10.0, 50.0] {
                let mut search = LineSearch::new(value(0.0), slope(0.0), first);
                let mut step = first;
                loop {
                    match search.next(value(step), slope(step)) {
                        Next::Try(next) => step = next,
                        Next::Accept => break,
                        Next::GiveUp => panic!("no step from {first}"),
                    }
                }
                assert!(value(step) <= value(0.0) + DECREASE * step * slope(0.0));
                assert!(slope(step).abs() <= -CURVATURE * slope(0.0));
            }
        }
    }
}
