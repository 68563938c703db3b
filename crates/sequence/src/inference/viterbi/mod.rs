//! The best sequence, exactly.

pub(crate) mod dense;
pub(crate) mod grams;
