//! `consonant link [FILE…]`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use consonant::Models;
use consonant::conversations::{Linker, LinkerOptions};
use consonant::draw::svg::Svg;
use consonant::task::Task as _;
use consonant::text::jsonl::{JsonlReader, Thread};
use consonant::text::{chat, input::Input};

use crate::context::Context;
use crate::given::Flags;
use crate::inputs;
use crate::output::{Destination, shown};

/// Say who answers whom in a chat log.
///
/// A log has a message a line, with a time and an author before it in any of the usual forms
/// (`[10:03] <anna> text`, `2024-03-09 10:03 anna: text`, `anna: text`). Conversations in JSONL
/// (`{"id", "units": [{"author", "time", "text"}]}`) are read as well. Messages that begin something answer
/// nobody.
#[derive(Args)]
#[command(after_help = "Examples:
  consonant link chat.log
  consonant link chat.log --format svg --output chat.svg
  consonant link chat.log --output links.jsonl")]
pub struct Link {
    /// The logs; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    options: Flags<LinkerOptions>,
    /// How links are written (default: by the name of the output, or text).
    #[arg(long)]
    format: Option<Format>,
    /// A model that `train threads` made (default: the embedded one, trained on logs of Ubuntu's channels).
    #[arg(long, value_name = "M")]
    model: Option<PathBuf>,
    #[command(flatten)]
    output: Destination,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A message a line, with its number and those that it answers.
    Text,
    /// A conversation a line, with links, as `train threads` reads them.
    Jsonl,
    /// A picture with an arrow from each answer.
    Svg,
}

/// Letters of a message in a picture.
const PICTURE: usize = 100;

impl Link {
    /// Reads, links and writes.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let format = self.format.unwrap_or_else(|| match self.output.extension().as_deref() {
            Some("svg") => Format::Svg,
            Some("jsonl" | "json") => Format::Jsonl,
            _ => Format::Text,
        });
        let options = self.options.settings()?;
        self.output.keep_apart(&self.files)?;
        let model = match &self.model {
            Some(path) => inputs::model(path)?,
            None => Models::embedded()?.expect(Linker::NAME, "link")?,
        };
        let linker = Linker::open(&model)?;
        let mut svg = Svg::default();
        let mut out = self.output.open()?;
        for file in inputs::found(self.files, context)? {
            for mut thread in read(context.open_whole(&file.path)?)? {
                linker.link_log(&mut thread, &options)?;
                match format {
                    Format::Text => write_text(&thread, &mut out)?,
                    Format::Jsonl => writeln!(out, "{}", serde_json::to_string(&thread)?)?,
                    Format::Svg => svg.conversation(&thread, PICTURE),
                }
            }
        }
        if format == Format::Svg {
            out.write_all(svg.finish().as_bytes())?;
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The conversations of a file: records where it begins with an object, a log otherwise.
fn read(input: Input) -> Result<Vec<Thread>> {
    let name = input.name().to_string();
    let text = input.into_text()?;
    if !text.trim_start().starts_with('{') {
        return Ok(vec![chat::read(&text, &name)]);
    }
    let mut reader = JsonlReader::<_, Thread>::new(text.as_bytes(), name);
    let mut threads = Vec::new();
    while let Some((_, thread)) = reader.read()? {
        threads.push(thread);
    }
    Ok(threads)
}

/// A message a line: its number, what it answers, who says it.
fn write_text(thread: &Thread, out: &mut impl Write) -> Result<()> {
    let mut links = thread.links.clone();
    links.sort_unstable();
    let width = thread.units.len().to_string().len();
    for (number, unit) in thread.units.iter().enumerate() {
        let targets = links.iter().filter(|link| link.0 == number).map(|link| (link.1 + 1).to_string());
        let targets = targets.collect::<Vec<_>>().join(",");
        let arrow = if targets.is_empty() { ' ' } else { '→' };
        write!(out, "{:>width$} {arrow} {targets:<width$}  ", number + 1)?;
        match &unit.author {
            Some(author) => writeln!(out, "{}: {}", shown(author), shown(&unit.text))?,
            None => writeln!(out, "{}", shown(&unit.text))?,
        }
    }
    Ok(())
}
