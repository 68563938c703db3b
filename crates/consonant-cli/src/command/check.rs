//! `consonant check FILE…`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use consonant::text::check::{Check as Settings, check};
use consonant::text::input::Input;
use consonant::text::{Format, Scheme};

use crate::context::Context;
use crate::inputs;
use crate::output::Destination;

/// Say what is wrong with data, where, and what a trainer would make of it.
///
/// Lists errors with file, line and column, then counts: labels, rare ones, duplicates, trees that are not
/// projective. Of several files the first is taken as training data and the others are held against it. Exit
/// code 1 if there is any error.
#[derive(Args)]
#[command(after_help = "\
Example:
  consonant check train.conllu dev.conllu")]
pub struct Check {
    /// What to check; `-` or nothing is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of the files: conllu, columns, jsonl, text [default: told by name and content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// The scheme of entity labels: iob1, iob2, bioes, bilou [default: told by the labels]
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<Scheme>,
    /// How many errors of a file to list; the others are counted.
    #[arg(long, value_name = "N", default_value_t = Settings::default().error_limit)]
    limit: usize,
    /// How to show the report.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    #[command(flatten)]
    output: Destination,
}

/// How to show the report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

impl Check {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let files = inputs::or_standard_input(self.files, context)?;
        self.output.keep_apart(&files)?;
        let settings = Settings {
            format: self.from,
            scheme: self.scheme,
            error_limit: self.limit,
            ..Settings::default()
        };
        let progress = context.progress("files", Some(files.len() as u64));
        let opened = files.iter().map(|path| {
            progress.advance(1);
            Input::open(path)
        });
        let report = check(opened, &settings)?;
        drop(progress);
        let mut output = self.output.open()?;
        match self.format {
            ReportFormat::Text => write!(output, "{report}")?,
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut output, &report)?;
                writeln!(output)?;
            }
        }
        output.finish()?;
        if let Some(empty) = report.files.iter().find(|file| file.sentences == 0 && file.errors.total == 0) {
            bail!("{} has nothing in it for a model to learn from", empty.file);
        }
        Ok(ExitCode::from(u8::from(report.has_errors())))
    }
}
