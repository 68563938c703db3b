//! `--certificates DIR`: problems and proofs in pairs.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use consonant::Proofs;

use crate::context::Context;

/// Where proofs go, if they are wanted.
#[derive(Args)]
pub struct Certificates {
    /// Write each problem that the engine solved, and a proof of its answer, into a folder, in pairs for `consonant
    /// verify`.
    #[arg(long, value_name = "DIR")]
    certificates: Option<PathBuf>,
    /// Seconds for each of these proofs at most; where one ends early, its bound is larger.
    #[arg(long, value_name = "S", default_value_t = 10.0, requires = "certificates")]
    proof_seconds: f64,
}

impl Certificates {
    /// Whether there is a folder.
    pub fn is_wanted(&self) -> bool {
        self.certificates.is_some()
    }

    /// Makes the folder.
    pub fn open(&self) -> Result<Option<Proofs>> {
        let folder = self.certificates.as_deref();
        Ok(folder.map(|folder| Proofs::create(folder, self.proof_seconds)).transpose()?)
    }
}

/// Says how much was proven.
pub fn tell(proofs: &Proofs, context: &Context) {
    let (all, proven) = proofs.count();
    let written = if all == 1 { "certificate" } else { "certificates" };
    let answers = if proven == 1 { "answer is" } else { "answers are" };
    context.note(format!("{all} {written} written; {proven} {answers} proven to be the best"));
}
