//! Chains of any order.

pub mod inference;
