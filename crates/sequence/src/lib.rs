//! Chains of any order.
