//! `consonant evaluate tags|entities|trees|summary|links GOLD PREDICTED`

mod entities;
mod links;
mod report;
mod summary;
mod tags;
mod trees;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::context::Context;

/// Score predictions against gold data, as the field's own scorers do.
#[derive(Args)]
pub struct Evaluate {
    #[command(subcommand)]
    what: What,
}

/// What is scored.
#[derive(Subcommand)]
enum What {
    Tags(tags::Tags),
    Entities(entities::Entities),
    Trees(trees::Trees),
    Summary(summary::Summary),
    Links(links::Links),
}

impl Evaluate {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        match self.what {
            What::Tags(command) => command.run(context),
            What::Entities(command) => command.run(context),
            What::Trees(command) => command.run(context),
            What::Summary(command) => command.run(context),
            What::Links(command) => command.run(context),
        }
    }
}
