//! A line search for the strong Wolfe conditions, as a machine over numbers: it is told value and slope at
//! the step it asked for, and answers with the next step or with acceptance (Nocedal & Wright, Numerical
//! Optimization, 2nd ed., Algorithms 3.5 and 3.6, with cubic interpolation).

/// Sufficient decrease: the value must fall by this part of what the first slope promises.
const DECREASE: f64 = 1e-4;
/// Curvature: the slope must become this much flatter.
const CURVATURE: f64 = 0.9;
const MOST_EVALUATIONS: usize = 20;

/// Value and slope at a step along the direction.
#[derive(Debug, Clone, Copy)]
struct Point {
    step: f64,
    value: f64,
    slope: f64,
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
enum Phase {
    /// Steps grow until they enclose a good one.
    Bracket(Point),
    /// A good step lies between these; the first has the lower value.
    Zoom(Point, Point),
}

#[derive(Debug)]
pub(super) struct LineSearch {
    start: Point,
    step: f64,
    phase: Phase,
    evaluations: usize,
}

impl LineSearch {
    /// Searches from `value` with the (negative) `slope`; `step` is the first to try.
    pub(super) fn new(value: f64, slope: f64, step: f64) -> Self {
        let start = Point { step: 0.0, value, slope };
        Self { start, step, phase: Phase::Bracket(start), evaluations: 0 }
    }

    /// Hears value and slope at the step asked for last (or the first one).
    pub(super) fn next(&mut self, value: f64, slope: f64) -> Next {
        self.evaluations += 1;
        let here = Point { step: self.step, value, slope };
        let promised = |point: &Point| self.start.value + DECREASE * point.step * self.start.slope;
        let decreased = value.is_finite() && value <= promised(&here);
        if decreased && slope.abs() <= -CURVATURE * self.start.slope {
            return Next::Accept;
        }
        if self.evaluations >= MOST_EVALUATIONS {
            // A decrease is worth having even where the curvature is not yet right.
            return if decreased { Next::Accept } else { Next::GiveUp };
        }
        self.phase = match self.phase {
            Phase::Bracket(before) => {
                if !decreased || (self.evaluations > 1 && value >= before.value) {
                    Phase::Zoom(before, here)
                } else if slope >= 0.0 {
                    Phase::Zoom(here, before)
                } else {
                    // Steps that are far too small cost an evaluation each: grow fast.
                    self.step = 4.0 * here.step;
                    self.phase = Phase::Bracket(here);
                    return Next::Try(self.step);
                }
            }
            Phase::Zoom(low, high) => {
                if !decreased || value >= low.value {
                    Phase::Zoom(low, here)
                } else if slope * (high.step - low.step) >= 0.0 {
                    Phase::Zoom(here, low)
                } else {
                    Phase::Zoom(here, high)
                }
            }
        };
        let Phase::Zoom(low, high) = self.phase else { return Next::GiveUp };
        self.step = between(low, high);
        if (self.step - low.step).abs() <= 1e-16 * (1.0 + low.step.abs()) {
            return Next::GiveUp;
        }
        Next::Try(self.step)
    }
}

/// The minimum of the cubic through two points with slopes, kept a tenth of the interval away from its ends.
fn between(low: Point, high: Point) -> f64 {
    let middle = 0.5 * (low.step + high.step);
    if !high.value.is_finite() || !high.slope.is_finite() {
        return low.step + 0.1 * (high.step - low.step);
    }
    let d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step);
    let square = d1 * d1 - low.slope * high.slope;
    if square < 0.0 {
        return middle;
    }
    let d2 = (high.step - low.step).signum() * square.sqrt();
    let step =
        high.step - (high.step - low.step) * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let margin = 0.1 * (high.step - low.step).abs();
    let (least, most) = (low.step.min(high.step) + margin, low.step.max(high.step) - margin);
    if step.is_finite() { step.clamp(least, most) } else { middle }
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
