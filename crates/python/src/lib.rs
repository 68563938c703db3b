//! The module `consonant._consonant`: the library for Python, without logic of its own. What people import is the Python in `python/consonant/`.

#![allow(missing_debug_implementations)] // Python has its own way to show things.

mod arrow;
mod crf;
mod decode;
mod doc;
mod errors;
mod evaluate;
mod formats;
mod link;
mod nlp;
mod problem;
mod questions;
mod run;
mod solution;
mod task;

#[pyo3::pymodule]
mod _consonant {
    #[pymodule_export]
    use crate::arrow::Batch;
    #[pymodule_export]
    use crate::crf::Crf;
    #[pymodule_export]
    use crate::decode::{best_batch, best_labels, best_tree, label_marginals, soft_batch, sparse_tree};
    #[pymodule_export]
    use crate::doc::{Certificate, Doc, Entity, Sentence, Token};
    #[pymodule_export]
    use crate::evaluate::{
        evaluate_entities, evaluate_links, evaluate_summary, evaluate_tags, evaluate_trees,
    };
    #[pymodule_export]
    use crate::formats::{ConlluBatches, ConlluStream, check_files, convert_files};
    #[pymodule_export]
    use crate::link::link;
    #[pymodule_export]
    use crate::nlp::{DocStream, Nlp};
    #[pymodule_export]
    use crate::problem::{Constraint, Literal, Problem, Variable};
    #[pymodule_export]
    use crate::run::main;
    #[pymodule_export]
    use crate::solution::{ProvenCertificate, Solution};
    #[pymodule_export]
    use crate::task::{Model, Worker, tasks, train};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
