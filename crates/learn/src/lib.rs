//! Weights, feature hashing, the model file, online and batch trainers.
//!
//! One weight structure and one file form serve every task. In training, weights are one flat vector, and a
//! [`layout::RowLayout`] says where the row of a feature stands; in a model, a [`table::Table`] leads from a
//! feature's 64-bit key to its row, used as it lies in the file. Trainers see a task through two small traits
//! ([`problem::Separate`], [`problem::Differentiate`]); a task whose outputs are sets of parts implements
//! [`parts::Parts`] and gets both.
//!
//! ```
//! use consonant_learn::parts::{PartList, PartProblem, Parts};
//! use consonant_learn::LearnError;
//! use consonant_learn::trainer::{Method, Run, train};
//!
//! /// Chooses one of three colours for a number; the feature of a part is (number, colour).
//! struct Colours;
//!
//! impl Parts for Colours {
//!     type Workspace = ();
//!     fn workspace(&self) {}
//!     fn examples(&self) -> usize { 5 }
//!     fn parameters(&self) -> usize { 15 }
//!     fn list(&self, example: usize, _: &mut (), parts: &mut PartList) -> Result<(), LearnError> {
//!         for colour in 0..3 {
//!             let gold = colour == example % 3;
//!             parts.push(if gold { 1.0 } else { 0.0 }, if gold { 0.0 } else { 1.0 });
//!             parts.feature((3 * example + colour) as u32);
//!         }
//!         Ok(())
//!     }
//!     fn decode(&self, _: usize, scores: &[f32], _: &mut (), predicted: &mut [f32]) -> Result<(), LearnError> {
//!         let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
//!         predicted[best] = 1.0;
//!         Ok(())
//!     }
//! }
//!
//! let trained = train(&PartProblem::new(&Colours), &Method::AveragedPerceptron.into(), Run::default())?;
//! assert_eq!(trained.history.last().unwrap().errors, 0);
//! # Ok::<(), LearnError>(())
//! ```

#![deny(unsafe_code)]

// For what integration tests share with the tests of faults.
#[cfg(test)]
extern crate self as consonant_learn;

pub mod averaging;
mod disk;
mod error;
pub mod file;
pub mod hash;
pub mod layout;
pub mod model;
pub mod multitask;
pub mod names;
pub mod parts;
pub mod problem;
pub mod settings;
pub mod sparse;
pub mod table;
pub mod trainer;
pub mod vector;

pub use error::LearnError;
