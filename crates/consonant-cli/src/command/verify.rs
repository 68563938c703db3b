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
evaluates the assignment, and computes the bound from the proof's steps with sums that are rounded up;
both are shown to twelve decimals. Exit code 1 says that the proof does not hold, and where it fails. Of several proofs, as `--n-best K` writes them, each is of the problem
without the assignments before it.")]
pub struct Verify {
    /// The problem.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    /// The proof.
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// Of several proofs: in how many variables at least each assignment differs from all before it.
    #[arg(long, value_name = "K", default_value_t = 1)]
    different_by: usize,
    #[command(flatten)]
    stated: Stated,
}

impl Verify {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let (_, mut problem) = self.stated.read(&self.problem, context)?;
        let input = context.open_whole(&self.certificate)?;
        let name = input.name().to_string();
        let proofs = Proof::read_all(&input.into_text()?).with_context(|| name.clone())?;
        if proofs.is_empty() {
            bail!("{name}: the file is empty; expected a proof");
        }
        let variables = problem.variables.len();
        let mut output = Output::open(None)?;
        for (number, proof) in proofs.iter().enumerate() {
            let which = if proofs.len() > 1 { format!("proof {}: ", number + 1) } else { String::new() };
            let verified = match verify(&problem, proof) {
                Ok(verified) => verified,
                Err(refusal) => bail!("{name}: {which}not verified: {refusal}"),
            };
            match verified.value {
                _ if verified.bound == f64::NEG_INFINITY => writeln!(output, "verified: no solution")?,
                Some(value) => {
                    let (value, bound) = (problem.stated(value), problem.stated(verified.bound));
                    writeln!(output, "verified: value {}, bound {}", shown(value), shown(bound))?;
                }
                None => writeln!(output, "verified: bound {}", shown(problem.stated(verified.bound)))?,
            }
            let is_last = number + 1 == proofs.len();
            match &proof.assignment {
                Some(states) if !is_last && problem.exclude(&states[..variables], self.different_by) => {}
                _ if is_last => {}
                _ => bail!("{name}: {which}nothing is left to prove after it"),
            }
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A number to twelve decimals: what sums of floating-point numbers add beyond is not of interest to people.
fn shown(number: f64) -> String {
    let text = format!("{number:.12}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}
