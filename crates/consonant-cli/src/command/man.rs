//! `consonant man DIR`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, CommandFactory};

use crate::context::Context;

/// Write a manual page for every command into a folder.
#[derive(Args)]
#[command(after_help = "Example:\n  consonant man ~/.local/share/man/man1 && man consonant-evaluate")]
pub struct Man {
    /// The folder; made if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(crate::Cli::command(), &self.folder))
            .with_context(|| format!("cannot write manual pages into {}", self.folder.display()))?;
        context.note(format!("manual pages written into {}", self.folder.display()));
        Ok(ExitCode::SUCCESS)
    }
}
