//! Inference on chains: pure algorithms over arrays of scores.
//!
//! A [`Chain`] is one sentence: a row of label scores for each position, [`Transitions`] of any order, and
//! optionally [`Candidates`] for each position. A [`Workspace`] answers questions about it and keeps its
//! buffers from sentence to sentence.
//!
//! | question | method | exact? |
//! |---|---|---|
//! | best sequence, any order | [`Workspace::viterbi`] | yes |
//! | k best sequences, any order | [`Workspace::k_best`] | yes |
//! | good sequence in time linear in the labels | [`Workspace::beam`] | no |
//! | partition function, marginals, expected counts, samples | [`Workspace::forward_backward`] | yes |
//! | sequence with the fewest expected errors among those allowed | [`Workspace::minimum_risk`] | yes |
//!
//! "Exact" means no approximation but the rounding of floating-point numbers: dense Viterbi adds in `f32`,
//! everything else in `f64`.
//!
//! Time for T positions and L labels: O(T·L²) with dense transitions; O(T·(L + arcs)) with sparse ones, where
//! arcs are the listed n-grams and their prefixes; less with candidates. Searches drop what provably cannot
//! win, so that Viterbi on a trained model is much faster than these bounds. Memory is O(T·L) values, or
//! O(T·states) for higher orders ([`Transitions::states`]).
//!
//! ```
//! use consonant_sequence::inference::{Chain, Potentials, Span, Transitions, Workspace};
//!
//! let transitions = Transitions::dense(2, &[1.0, 0.0, 0.0, 1.0], None)?;
//! let nodes = [2.0, 0.0, 0.0, 0.5, 1.0, 0.0];
//! let chain = Chain::new(&nodes, &transitions)?;
//! let mut workspace = Workspace::new();
//! let mut path = Vec::new();
//! let score = workspace.viterbi(&chain, &mut path)?;
//! assert_eq!((path.as_slice(), score), (&[0, 0, 0][..], 5.0));
//!
//! let potentials = Potentials::new(&transitions);
//! let posterior = workspace.forward_backward(&chain, &potentials)?;
//! assert!(posterior.node(0)[0] > 0.8 && posterior.log_partition() > score);
//! let whole = posterior.span(&Span { start: 0, labels: &[0, 0, 0], not_before: &[], not_after: &[] })?;
//! assert!((whole - (score - posterior.log_partition()).exp()).abs() < 1e-12);
//! # Ok::<(), consonant_sequence::inference::InferenceError>(())
//! ```

mod beam;
mod chain;
mod constraints;
mod error;
mod grams;
mod k_best;
pub(crate) mod kernels;
mod marginals;
mod potentials;
mod transitions;
mod trellis;
mod viterbi;
mod workspace;

pub use beam::BeamOutcome;
pub(crate) use beam::Update;
pub use chain::Chain;
pub use constraints::{Candidates, TransitionMask};
pub use error::{InferenceError, Result};
pub use k_best::ScoredPath;
pub use marginals::{Generator, Posterior, Span};
pub use potentials::Potentials;
pub use transitions::Transitions;
pub use workspace::Workspace;
