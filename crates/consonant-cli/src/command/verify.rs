//! `consonant verify PROBLEM CERTIFICATE`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use consonant::map::verify::{Proof, verify};

use super::solve::Stated;
use crate::context::Context;
use crate::output::Output;

/// Check the proof of an answer, without trusting what found it.
#[derive(Args)]
#[command(after_help = "Examples:
  consonant solve problem.json --certificate problem.proof
  consonant verify problem.json problem.proof

The proof is what `solve --certificate FILE` writes (see docs/proofs.md). The check is a small program of its own: it
evaluates the assignment, and computes the bound from the proof's steps with sums that are rounded up. Exit code 1 says
that the proof does not hold, and where it fails.")]
pub struct Verify {
    /// The problem.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    /// The proof.
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    #[command(flatten)]
    stated: Stated,
}

impl Verify {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let (_, problem) = self.stated.read(&self.problem, context)?;
        let input = context.open_whole(&self.certificate)?;
        let name = input.name().to_string();
        let proof = Proof::read(&input.into_text()?).with_context(|| name.clone())?;
        let verified = match verify(&problem, &proof) {
            Ok(verified) => verified,
            Err(refusal) => bail!("{name}: not verified: {refusal}"),
        };
        let mut output = Output::open(None)?;
        match verified.value {
            _ if verified.bound == f64::NEG_INFINITY => writeln!(output, "verified: no solution")?,
            Some(value) => {
                let (value, bound) = (problem.stated(value), problem.stated(verified.bound));
                writeln!(output, "verified: value {value}, bound {bound}")?;
            }
            None => writeln!(output, "verified: bound {}", problem.stated(verified.bound))?,
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}
