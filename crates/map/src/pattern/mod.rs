//! Graphs of multi-valued vertices with edges and sparse patterns: the generalized higher-order CRF of Qian &
//! Liu (2014).
//!
//! A *pattern* is a set of (vertex, state) pairs with a weight that counts when all of them are chosen. Edges
//! carry tables, which many edges may share. [`TwoSlave`](crate::solver::two_slave::TwoSlave) and
//! [`SpanningTrees`](crate::solver::spanning_trees::SpanningTrees) decode such a model.
//!
//! ```
//! use consonant_map::pattern::PatternModel;
//! use consonant_map::solver::two_slave::TwoSlave;
//!
//! let mut model = PatternModel::new();
//! let sun = model.add_vertex(&[0.0, 1.0]).unwrap();
//! let sea = model.add_vertex(&[0.5, 0.0]).unwrap();
//! let air = model.add_vertex(&[0.4, 0.0]).unwrap();
//! let agree = model.add_sparse_table(2, 2, &[(0, 0, 0.2), (1, 1, 0.2)]).unwrap();
//! for (a, b) in [(sun, sea), (sea, air), (sun, air)] {
//!     model.add_edge(a, b, agree).unwrap();
//! }
//! model.add_pattern(&[(sun, 1), (sea, 1), (air, 1)], 0.6).unwrap();
//!
//! let solution = TwoSlave::default().solve(&model);
//! assert_eq!(solution.assignment(), Some(&[1, 1, 1][..]));
//! assert!((solution.certificate.value().unwrap() - 2.2).abs() < 1e-9);
//! ```

mod forest;
mod model;

pub(crate) use forest::{Forest, best_of};
pub use model::PatternModel;
pub(crate) use model::{Member, TableView, most_frequent};
