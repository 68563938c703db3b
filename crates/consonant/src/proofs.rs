//! Proofs of what tasks decode, as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use consonant_learn::file;
use consonant_map::proof::ProofOptions;
use consonant_task::{Answered, Certificate};
use rayon::prelude::*;

use crate::Error;

/// A folder of problems and proofs in pairs, `NAME-1.json` and `NAME-1.proof`, that `consonant verify` reads.
///
/// The proof of an answer is written anew from the problem, whatever found the answer: it needs no trust in decoders, and
/// its bound may be above theirs where the time limit comes first.
#[derive(Debug)]
pub struct Proofs {
    folder: PathBuf,
    options: ProofOptions,
    /// Pairs of each name so far.
    counts: Vec<(&'static str, usize)>,
    proven: usize,
}

impl Proofs {
    /// Makes the folder if need be. Each proof takes so many seconds at most.
    pub fn create(folder: &Path, seconds: f64) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let mut options = ProofOptions::default();
        options.time_limit = seconds;
        Ok(Self { folder: folder.to_owned(), options, counts: Vec::new(), proven: 0 })
    }

    /// Proves answers, on rayon's threads, and writes them in order; `name` is that of their task. Returns what was
    /// proven of each.
    pub fn add(&mut self, name: &'static str, answered: &[Answered]) -> Result<Vec<Certificate>, Error> {
        let proven: Vec<_> = answered.par_iter().map(|answered| answered.prove(&self.options)).collect();
        let mut certificates = Vec::with_capacity(answered.len());
        for (answered, proven) in answered.iter().zip(proven) {
            let (proof, certificate) = proven.map_err(Error::task)?;
            let at = self.counts.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                self.counts.push((name, 0));
                self.counts.len() - 1
            });
            self.counts[at].1 += 1;
            let write = |ending: &str, text: String| {
                let path = self.folder.join(format!("{name}-{}.{ending}", self.counts[at].1));
                file::write(&path, text).map_err(|error| unwritable(&path, &error))
            };
            write("json", answered.problem.to_json())?;
            write("proof", proof.write().map_err(Error::task)?)?;
            self.proven += usize::from(certificate.is_optimal());
            certificates.push(certificate);
        }
        Ok(certificates)
    }

    /// How many pairs there are, and how many of the answers are proven to be the best.
    pub fn count(&self) -> (usize, usize) {
        (self.counts.iter().map(|(_, count)| count).sum(), self.proven)
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())).into()
}
