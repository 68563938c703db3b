//! `consonant convert [FILE…] [--from FORMAT] --to FORMAT`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use consonant::text::convert::{Conversion, convert};
use consonant::text::input::Input;
use consonant::text::{Format, Scheme};

use crate::context::Context;
use crate::inputs;
use crate::output::Destination;

/// Convert between conllu, columns, jsonl and text; a format to itself is the identity, byte for byte.
#[derive(Args)]
#[command(after_help = "\
Examples:
  consonant convert names.tsv --to conllu --output names.conllu
  consonant convert --from columns --to columns --scheme bioes names.tsv")]
pub struct Convert {
    /// What to convert, one after the other; `-` or nothing is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format that comes in: conllu, columns, jsonl, text [default: told by name and content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// The format that goes out: conllu, columns, jsonl, text.
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Write entity labels in this scheme: iob1, iob2, bioes, bilou.
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<Scheme>,
    /// The scheme that entity labels come in [default: told by the labels]
    #[arg(long, value_name = "SCHEME", requires = "scheme")]
    source_scheme: Option<Scheme>,
    /// Repair labels that break their scheme instead of refusing them.
    #[arg(long, requires = "scheme")]
    repair: bool,
    #[command(flatten)]
    output: Destination,
}

impl Convert {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let files = inputs::or_standard_input(self.files, context)?;
        let conversion = Conversion {
            scheme: self.scheme,
            source_scheme: self.source_scheme,
            repair: self.repair,
            ..Conversion::new(self.from, self.to)
        };
        let mut output = self.output.open()?;
        let progress = context.progress_beside(&output, "files", Some(files.len() as u64));
        let opened = files.iter().map(|path| {
            let input = Input::open(path);
            progress.advance(1);
            input
        });
        let count = convert(opened, &conversion, &mut output)?;
        output.finish()?;
        context.detail(format!("{count} sentences, records or paragraphs converted"));
        Ok(ExitCode::SUCCESS)
    }
}
