//! Sums that are never too low.
//!
//! An [`Up`] is the unevaluated sum of two floating-point numbers, some 106 bits, so that a penalty of 1e15
//! beside scores of 1e-15 costs nothing that matters. Whatever an operation cannot represent is rounded up:
//! the result is never below the exact one.

use std::cmp::Ordering;
use std::ops::Add;

/// A number that is at least the exact result of the operations that led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Up {
    high: f64,
    low: f64,
}

/// The rounded sum of two numbers and what rounding left out, exactly (Knuth 1969; no overflow, see
/// `limits`).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The sum of two numbers, rounded up.
fn sum_up(a: f64, b: f64) -> f64 {
    let (sum, rest) = two_sum(a, b);
    if rest > 0.0 { sum.next_up() } else { sum }
}

impl Up {
    /// Nothing.
    pub const ZERO: Up = Up { high: 0.0, low: 0.0 };
    /// Minus infinity: what cannot be.
    pub const NEVER: Up = Up { high: f64::NEG_INFINITY, low: 0.0 };

    /// The product of two numbers: exact but for results so small that they have no digits to spare, which
    /// are rounded up.
    pub fn product(a: f64, b: f64) -> Up {
        let high = a * b;
        if high == 0.0 || high.abs() < 1e-250 {
            let low = if a == 0.0 || b == 0.0 { 0.0 } else { 1e-250 };
            return Up { high: high + low, low: 0.0 };
        }
        Up { high, low: a.mul_add(b, -high) }
    }

    /// Whether it is minus infinity.
    pub fn is_never(self) -> bool {
        self.high == f64::NEG_INFINITY
    }

    /// The larger of two.
    #[must_use]
    pub fn max(self, other: Up) -> Up {
        if self.partial_cmp(&other) == Some(Ordering::Less) { other } else { self }
    }

    /// The least floating-point number that is not below.
    pub fn ceiling(self) -> f64 {
        sum_up(self.high, self.low)
    }
}

impl From<f64> for Up {
    fn from(number: f64) -> Up {
        Up { high: number, low: 0.0 }
    }
}

impl Add for Up {
    type Output = Up;

    fn add(self, other: Up) -> Up {
        if self.is_never() || other.is_never() {
            return Up::NEVER;
        }
        let (high, first) = two_sum(self.high, other.high);
        let low = sum_up(sum_up(first, self.low), other.low);
        let (high, low) = two_sum(high, low);
        Up { high, low }
    }
}

impl std::iter::Sum for Up {
    fn sum<I: Iterator<Item = Up>>(numbers: I) -> Up {
        numbers.fold(Up::ZERO, Add::add)
    }
}

/// By value: the low part is at most half a unit in the last place of the high one.
impl PartialOrd for Up {
    fn partial_cmp(&self, other: &Up) -> Option<Ordering> {
        Some(self.high.partial_cmp(&other.high)?.then(self.low.partial_cmp(&other.low)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_keep_apart() {
        let up = |numbers: &[f64]| numbers.iter().map(|&x| Up::from(x)).sum::<Up>();
        assert_eq!(up(&[1e15, 1e-15, -1e15]).ceiling(), 1e-15);
        assert!(up(&[1e300, 1.0, -1e300]).ceiling() >= 1.0);
        assert_eq!(up(&[1.0, f64::NEG_INFINITY]), Up::NEVER);
        assert_eq!(up(&[0.1, 0.2]).ceiling(), 0.3f64.next_up());
        assert!(up(&[1.0, 1e-30]) > Up::from(1.0) && up(&[1.0, -1e-30]) < Up::from(1.0));
        assert_eq!(Up::from(1.0).max(Up::NEVER), Up::from(1.0));
    }

    #[test]
    fn products_are_never_too_low() {
        let third = 1.0 / 3.0;
        let exact = Up::product(third, third) + Up::from(-third * third);
        assert_eq!(exact.ceiling(), third.mul_add(third, -third * third));
        assert!(Up::product(1e-200, 1e-200).ceiling() > 0.0);
        assert!(Up::product(-1e-200, 1e-200).ceiling() > -1e-249);
        assert_eq!(Up::product(0.0, 3.0), Up::ZERO);
    }
}
