//! The commands, one file each. A command is a struct of its flags and a `run` that does the work.

mod annotate;
mod calibrate;
mod check;
mod completions;
mod convert;
mod evaluate;
mod inspect;
mod link;
mod man;
mod predict;
#[cfg(feature = "serve")]
mod serve;
mod solve;
mod summarize;
mod train;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::context::Context;

/// What the user can ask for.
#[derive(Subcommand)]
pub enum Command {
    Annotate(annotate::Annotate),
    Summarize(summarize::Summarize),
    Link(link::Link),
    Train(train::Train),
    Predict(predict::Predict),
    Calibrate(calibrate::Calibrate),
    Evaluate(evaluate::Evaluate),
    Inspect(inspect::Inspect),
    Convert(convert::Convert),
    Check(check::Check),
    Completions(completions::Completions),
    Solve(solve::Solve),
    Verify(verify::Verify),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    Man(man::Man),
}

impl Command {
    /// Runs the command; an error is reported by `main`, with exit code 1 (2 for wrong usage).
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        match self {
            Command::Annotate(command) => command.run(context),
            Command::Summarize(command) => command.run(context),
            Command::Link(command) => command.run(context),
            Command::Train(command) => command.run(context),
            Command::Predict(command) => command.run(context),
            Command::Calibrate(command) => command.run(context),
            Command::Evaluate(command) => command.run(context),
            Command::Inspect(command) => command.run(context),
            Command::Convert(command) => command.run(context),
            Command::Check(command) => command.run(context),
            Command::Completions(command) => command.run(context),
            Command::Solve(command) => command.run(context),
            Command::Verify(command) => command.run(context),
            #[cfg(feature = "serve")]
            Command::Serve(command) => command.run(context),
            Command::Man(command) => command.run(context),
        }
    }
}
