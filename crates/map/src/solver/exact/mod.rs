//! Exact maximization of networks of tables.

mod branch;
mod elimination;
mod lift;
mod limits;
mod local_search;
mod messages;
mod network;
mod ordering;
mod presolve;
#[cfg(test)]
mod tests;

pub use branch::{Answer, Certificate, Options, Progress, solve};
pub use network::{Network, NetworkError, Table};
