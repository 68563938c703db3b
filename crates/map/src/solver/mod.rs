//! Solvers: all take the same [`Graph`](crate::Graph) and return the same [`Solution`](crate::Solution).

pub mod ad3;
pub mod exact;
pub(crate) mod layout;
pub(crate) mod primal;
