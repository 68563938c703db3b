//! Clusters of words that stand in the same surroundings, learned from raw text.
//!
//! Words are exchanged between clusters until the clusters tell most about their neighbours, and the clusters are joined into a tree,
//! whose paths are their names: what Brown clustering gives, in time that is linear in the text. Taggers, recognizers of names and parsers
//! read the file as features (`--clusters`).
//!
//! ```
//! use consonant_clusters::{ClustersSettings, WordClusters};
//! use consonant_segmenter::Piece;
//! use consonant_task::{Data, Settings as _, Task, Watch};
//!
//! let text = "Ann sees Bob. Bob sees Ann. Ann hears Bob. Bob hears Ann.";
//! let pieces = vec![Piece { text: text.into(), ..Piece::default() }];
//! let mut settings = ClustersSettings::default();
//! settings.set("count", &["2".into()])?;
//! settings.set("min_count", &["1".into()])?;
//! let trained = WordClusters::train(&Data::new(&pieces), &settings, &mut Watch::none())?;
//! # let _ = trained;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod counts;
mod exchange;
mod hierarchy;
mod task;

pub use task::{ClustersError, ClustersOptions, ClustersSettings, WordClusters};
