//! `consonant completions SHELL`

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::context::Context;
use crate::output::Output;

/// Print the completion script of a shell.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant completions bash > ~/.local/share/bash-completion/completions/consonant"
)]
pub struct Completions {
    /// Which shell.
    shell: Shell,
}

impl Completions {
    pub fn run(self, _: &Context) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "consonant", &mut script);
        let mut output = Output::open(None)?;
        output.write_all(&script)?;
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}
