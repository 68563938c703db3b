//! Factor graphs that agree, with a certificate.
//!
//! Bring scores and constraints; get the best assignment, an upper bound on every assignment, and a status
//! that says what is proven. Nothing here is about language.
//!
//! Three dishes for two guests, one of whom does not eat fish, and a budget:
//!
//! ```
//! use consonant_map::solver::{Limits, Method, solve};
//! use consonant_map::{Graph, Status};
//!
//! let mut graph = Graph::new();
//! let dishes = graph.binaries(&[3.0, 2.5, 1.5])?; // fish, curry, salad: how much they are liked
//! let vegan = graph.binary(0.5)?; // being able to say so is worth something, too
//! graph.knapsack(&dishes, &[7.0, 5.0, 3.0], 10.0)?;
//! graph.implies(vegan, !dishes[0])?;
//! graph.pair(dishes[1], dishes[2], 0.25)?; // they go well together
//!
//! let solution = solve(&graph, Method::Exact, &Limits::default())?;
//! assert_eq!(solution.certificate.status(), Status::Optimal);
//! assert!(solution.is_true(dishes[1]) && solution.is_true(dishes[2]) && solution.is_true(vegan));
//! assert_eq!(solution.certificate.value(), Some(4.75));
//! assert!(solution.certificate.bound() >= 4.75);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Graph`]: variables, scores, factors; scores may change between solves.
//! - [`oracle`]: factors known by their best configuration: chains, trees, cuts, and whatever implements
//!   [`Oracle`](oracle::Oracle).
//! - [`solver`]: AD3, subgradient, two-slave, spanning trees, exact; all return a [`Solution`].
//! - [`pattern`]: sparse patterns over any set of vertices, for the two-slave decomposition.
//! - [`proof`]: what proves an answer, for the independent checker in [`verify`].
//! - [`problem`]: UAI, log-UAI, AD3's `.fg` and JSON problems, from which [`Graph::from_problem`] makes a
//!   graph.

#![forbid(unsafe_code)]

mod certificate;
pub mod cut;
mod factor;
mod flat;
mod group;
mod model;
pub mod oracle;
pub mod pattern;
pub mod proof;
pub mod questions;
mod solution;
pub mod solver;

pub use certificate::{Certificate, Gap, Status};
pub use consonant_problem as problem;
pub use consonant_verify as verify;
pub use model::{Binary, Choice, FactorId, Graph, Literal, ModelError, Variable};
pub use solution::{Solution, TracePoint};
pub use solver::ad3::{Ad3, Ad3Options};
