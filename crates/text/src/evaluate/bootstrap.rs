//! Confidence intervals and a significance test by resampling units (sentences, conversations, topics).
//!
//! Every score here is a ratio of two sums over units: accuracy is correct over all tokens, F1 is twice the
//! correct items over gold plus predicted items, a mean is a sum of scores over a number of units. A resample
//! therefore only adds up two numbers a unit, and one code serves all scorers.

use rayon::prelude::*;
use serde::Serialize;

use super::score::Counts;

/// A score as a ratio of sums: for each unit of the data, what it adds above and below the line.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRatios {
    /// Name of the score, as in the scorer's JSON.
    pub name: String,
    /// Numerator and denominator of each unit.
    pub units: Vec<(f64, f64)>,
}

impl UnitRatios {
    /// A score from its parts.
    pub fn new(name: impl Into<String>, units: impl IntoIterator<Item = (f64, f64)>) -> UnitRatios {
        UnitRatios { name: name.into(), units: units.into_iter().collect() }
    }

    /// Precision, recall and F1 of counts by unit.
    pub fn of_counts(counts: &[Counts]) -> Vec<UnitRatios> {
        let of = |name: &str, parts: fn(&Counts) -> (u64, u64)| {
            UnitRatios::new(name, counts.iter().map(parts).map(|(above, below)| (above as f64, below as f64)))
        };
        vec![
            of("precision", |c| (c.correct, c.predicted)),
            of("recall", |c| (c.correct, c.gold)),
            of("f1", |c| (2 * c.correct, c.gold + c.predicted)),
        ]
    }

    /// The score on the data as it is.
    pub fn value(&self) -> f64 {
        quotient(self.units.iter().fold((0.0, 0.0), |sum, unit| (sum.0 + unit.0, sum.1 + unit.1)))
    }
}

/// How to resample.
#[derive(Clone, Copy, Debug)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// Seed; the same seed gives the same figures for any number of threads.
    pub seed: u64,
}

/// A score and its 95 % percentile interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The score on the data as it is.
    pub value: f64,
    /// 2.5th percentile of the resampled scores.
    pub low: f64,
    /// 97.5th percentile of the resampled scores.
    pub high: f64,
}

/// How one prediction differs from another on the same data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The score of the prediction, with its interval.
    pub this: Interval,
    /// The score of the other prediction, with its interval.
    pub other: Interval,
    /// This minus other, with its paired interval.
    pub difference: Interval,
    /// Two-sided: how often chance alone moves the difference at least as far from zero as it is.
    pub p_value: f64,
}

impl Bootstrap {
    /// The interval of one score.
    pub fn interval(&self, score: &UnitRatios) -> Interval {
        let values = self.resample(&[score]).into_iter().map(|[value, _]| value);
        percentiles(score.value(), values.collect())
    }

    /// Compares two predictions on the same units; nothing if their units differ in number.
    ///
    /// The test is the paired bootstrap of Koehn (2004) in the centred form of Berg-Kirkpatrick, Burkett &
    /// Klein (2012): resampled differences scatter around the observed one, so a difference of zero is as
    /// surprising as a resample that lies twice as far out. One is added above and below the line, which
    /// keeps the test valid with few resamples.
    pub fn compare(&self, this: &UnitRatios, other: &UnitRatios) -> Option<Comparison> {
        if this.units.len() != other.units.len() {
            return None;
        }
        let pairs = self.resample(&[this, other]);
        let difference = this.value() - other.value();
        let differences: Vec<f64> = pairs.iter().map(|[a, b]| a - b).collect();
        // Rounding in sums of fractions must not decide whether two equal distances count as "as far".
        let tolerance = 1e-12;
        let as_far =
            differences.iter().filter(|d| (*d - difference).abs() + tolerance >= difference.abs()).count();
        Some(Comparison {
            this: percentiles(this.value(), pairs.iter().map(|[a, _]| *a).collect()),
            other: percentiles(other.value(), pairs.iter().map(|[_, b]| *b).collect()),
            difference: percentiles(difference, differences),
            p_value: (1 + as_far) as f64 / (1 + self.resamples) as f64,
        })
    }

    /// Scores of one or two predictions on each resample, all drawn with the same units.
    fn resample(&self, scores: &[&UnitRatios]) -> Vec<[f64; 2]> {
        let units = scores[0].units.len();
        (0..self.resamples)
            .into_par_iter()
            .map(|index| {
                let mut random = SplitMix::new(self.seed, index as u64);
                let mut sums = [(0.0, 0.0); 2];
                for _ in 0..units {
                    let unit = random.below(units);
                    for (sum, score) in sums.iter_mut().zip(scores) {
                        sum.0 += score.units[unit].0;
                        sum.1 += score.units[unit].1;
                    }
                }
                sums.map(quotient)
            })
            .collect()
    }
}

fn quotient((above, below): (f64, f64)) -> f64 {
    if below == 0.0 { 0.0 } else { above / below }
}

fn percentiles(value: f64, mut values: Vec<f64>) -> Interval {
    if values.is_empty() {
        return Interval { value, low: value, high: value };
    }
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Interval { value, low: at(0.025), high: at(0.975) }
}

/// SplitMix64 (Steele, Lea & Flood 2014). Each resample has a stream of its own, so threads share nothing.
struct SplitMix(u64);

impl SplitMix {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

    fn new(seed: u64, stream: u64) -> SplitMix {
        let mut start = SplitMix(seed);
        let base = start.next();
        SplitMix(base ^ SplitMix(stream).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::GOLDEN);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound` by multiplication; its bias is below 2⁻⁴⁰ for any data that fits in memory.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOTSTRAP: Bootstrap = Bootstrap { resamples: 2000, seed: 7 };

    fn accuracy(units: usize, correct: impl Fn(usize) -> bool) -> UnitRatios {
        UnitRatios::new("accuracy", (0..units).map(|u| (f64::from(u8::from(correct(u))), 1.0)))
    }

    #[test]
    fn interval_of_a_proportion_is_near_the_normal_one() {
        let interval = BOOTSTRAP.interval(&accuracy(400, |u| u % 5 != 0));
        let half = 1.96 * (0.8f64 * 0.2 / 400.0).sqrt();
        assert_eq!(interval.value, 0.8);
        assert!((interval.low - (0.8 - half)).abs() < 0.01, "{interval:?}");
        assert!((interval.high - (0.8 + half)).abs() < 0.01, "{interval:?}");
    }

    #[test]
    fn equal_predictions_do_not_differ_and_distant_ones_do() {
        let a = accuracy(300, |u| u % 3 != 0);
        let same = BOOTSTRAP.compare(&a, &a).unwrap();
        assert_eq!((same.difference.value, same.p_value), (0.0, 1.0));
        let worse = accuracy(300, |u| u % 3 == 1);
        let apart = BOOTSTRAP.compare(&a, &worse).unwrap();
        assert!(apart.p_value < 0.001 && apart.difference.low > 0.2, "{apart:?}");
    }

    #[test]
    fn a_small_difference_gets_the_p_value_of_the_paired_test() {
        // 20 units go one way, 10 the other: the paired z-test has z = 10 / sqrt(30 - 1/3 · …) ≈ 1.83, p ≈
        // 0.067.
        let a = accuracy(300, |u| u < 120);
        let b = accuracy(300, |u| (20..130).contains(&u));
        let p = BOOTSTRAP.compare(&a, &b).unwrap().p_value;
        assert!((0.03..0.12).contains(&p), "{p}");
    }

    #[test]
    fn figures_do_not_depend_on_threads() {
        let (a, b) = (accuracy(97, |u| u % 7 > 1), accuracy(97, |u| u % 5 > 1));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| BOOTSTRAP.compare(&a, &b))
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn nothing_to_resample_is_no_error() {
        let empty = UnitRatios::new("f1", []);
        assert_eq!(BOOTSTRAP.interval(&empty).value, 0.0);
        assert!(BOOTSTRAP.compare(&empty, &accuracy(1, |_| true)).is_none());
    }
}
