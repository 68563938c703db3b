//! The commands, one file each. A command is a struct of its flags and a `run` that does the work.

mod check;
mod completions;
mod convert;
mod evaluate;
mod man;
mod solve;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::context::Context;

/// What the user can ask for.
#[derive(Subcommand)]
pub enum Command {
    Evaluate(evaluate::Evaluate),
    Convert(convert::Convert),
    Check(check::Check),
    Completions(completions::Completions),
    Solve(solve::Solve),
    Man(man::Man),
}

impl Command {
    /// Runs the command; an error is reported by `main`, with exit code 1 (2 for wrong usage).
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        match self {
            Command::Evaluate(command) => command.run(context),
            Command::Convert(command) => command.run(context),
            Command::Check(command) => command.run(context),
            Command::Completions(command) => command.run(context),
            Command::Solve(command) => command.run(context),
            Command::Man(command) => command.run(context),
        }
    }
}
