//! Factor graphs, factors by oracle, and solvers that carry a certificate.

pub mod cut;
mod factor;
pub mod format;
mod group;
mod model;
pub mod oracle;
pub mod pattern;
mod solution;
pub mod solver;

pub use model::{Binary, Choice, FactorId, Graph, Literal, ModelError, Variable};
pub use solution::{Solution, Status, TracePoint};
pub use solver::ad3::{Ad3, Ad3Options};
