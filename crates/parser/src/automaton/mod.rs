//! Head automata: which modifiers a head takes on one side, and under which head of its own.
//!
//! All are factors known by their best configuration, written against the public [`Oracle`](consonant_map::oracle::Oracle)
//! trait. A configuration is the sorted list of the links it switches on.

pub mod grand_siblings;
pub mod head;
pub mod tri_siblings;

/// The links that two sorted configurations share.
fn overlap(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (left, right) = (a[i], b[j]);
        shared += usize::from(left == right);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    shared
}

/// The largest sum of two entries at the same place; minus infinity for none.
#[inline]
fn maximum_of_sums(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(f64::NEG_INFINITY, |best, (a, b)| if a + b > best { a + b } else { best })
}

/// The first place where the sum is `maximum`, as found by [`maximum_of_sums`].
#[inline]
fn place_of_sum(a: &[f64], b: &[f64], maximum: f64) -> usize {
    a.iter().zip(b).position(|(a, b)| a + b == maximum).unwrap_or(0)
}
