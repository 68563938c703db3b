//! `consonant annotate`: raw text to sentences, tokens, tags, names and trees.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
use consonant::text::input::Input;
use consonant::text::jsonl::{SentenceRecord, write_record};
use consonant::text::{Format as InputFormat, Sentence};

use crate::context::Context;
use crate::given::Flags;
use crate::inputs;
use crate::output::Destination;
use consonant::draw::Sketch;
use consonant::draw::svg::Svg;
use consonant::draw::terminal::Terminal;
use consonant::segmenter::SegmenterOptions;
use consonant::{Layers, Models, Pipeline};

/// Find sentences, tokens, parts of speech, names and dependency trees in raw text.
///
/// Nothing of the text is lost: tokens carry the white space around them (SpaceAfter, SpacesAfter,
/// SpacesBefore) and their place in the file in characters (TokenRange). Each file is a document; blank lines
/// end paragraphs.
#[derive(Args)]
#[command(
    after_help = "Example:\n  echo 'Ann lives in Kiel.' | consonant annotate --format pretty\n  consonant annotate story.txt --layers tags,entities --output story.conllu"
)]
pub struct Annotate {
    /// Files of raw text; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to find beside sentences and tokens (default: all that there are models for). A tree comes with
    /// tags.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',')]
    layers: Option<Vec<Layer>>,
    /// How the output is written (default: pretty on a terminal, conllu elsewhere).
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Whether `pretty` uses colours.
    #[arg(long = "color", value_name = "WHEN", default_value = "auto")]
    colour: Colour,
    /// Take segmenter.model, tagger.model, lemmatizer.model, ner.model and parser.model from this folder, not
    /// the embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    #[command(flatten)]
    known: Flags<SegmenterOptions>,
    #[command(flatten)]
    output: Destination,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// Parts of speech and features.
    Tags,
    /// Lemmas.
    Lemmas,
    /// Names of persons, places and organizations.
    Entities,
    /// Dependency trees.
    Tree,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// CoNLL-U, names in MISC.
    Conllu,
    /// One JSON object a sentence.
    Jsonl,
    /// A picture in text: arcs above the words, tags and names below.
    Pretty,
    /// The same picture as one SVG file.
    Svg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

impl Annotate {
    /// Annotates file after file.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let files = inputs::or_standard_input(self.files)?;
        let models = Models::of(self.models.as_deref())?;
        let layers = match &self.layers {
            None => Pipeline::layers_of(&models),
            Some(layers) => Layers {
                tags: layers.contains(&Layer::Tags),
                lemmas: layers.contains(&Layer::Lemmas),
                entities: layers.contains(&Layer::Entities),
                tree: layers.contains(&Layer::Tree),
            },
        };
        let on_terminal = self.output.is_standard() && io::stdout().is_terminal();
        let default = if on_terminal { Format::Pretty } else { Format::Conllu };
        let mut writer = match self.format.unwrap_or(default) {
            Format::Conllu => Writer::Conllu,
            Format::Jsonl => Writer::Jsonl,
            Format::Pretty => Writer::Pretty(terminal(on_terminal, self.colour)),
            Format::Svg => Writer::Svg(Svg::default()),
        };
        let pipeline = Pipeline::open(&models, layers)?.knowing(self.known.settings()?);
        let mut out = self.output.open()?;
        let progress = context.progress_beside(&out, "annotating sentences", None);
        for path in files {
            let mut input = Input::open(&path)?;
            let name = Arc::clone(input.name());
            if matches!(input.format()?, InputFormat::Conllu | InputFormat::Jsonl) {
                context.note(format!(
                    "{name} looks like data with a format, but is read as raw text; `consonant predict` keeps formats"
                ));
            }
            pipeline.stream(input, &name, |sentences, _| -> Result<()> {
                for sentence in sentences {
                    writer.write(sentence, &name, &mut out)?;
                }
                progress.advance(sentences.len() as u64);
                Ok(out.flush()?)
            })?;
        }
        if let Writer::Svg(svg) = writer {
            out.write_all(svg.finish().as_bytes())?;
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The terminal's width (or that of a page) and whether it shows colours.
fn terminal(is_there: bool, colour: Colour) -> Terminal {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen =
        || is_there.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    let colour = match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => is_there && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    Terminal { width: told.or_else(seen).unwrap_or(PAGE), colour }
}

/// Columns of a picture that goes to a file or a pipe.
const PAGE: usize = 100;

/// Writes sentences in a format.
enum Writer {
    Conllu,
    Jsonl,
    Pretty(Terminal),
    /// A picture is written when all of it is there.
    Svg(Svg),
}

impl Writer {
    fn write(&mut self, sentence: &Sentence, document: &str, out: &mut impl Write) -> Result<()> {
        match self {
            Self::Conllu => sentence.write(out)?,
            Self::Jsonl => {
                let mut record = SentenceRecord::from(sentence);
                record.doc = Some(document.to_owned());
                write_record(&record, out)?;
            }
            Self::Pretty(terminal) => out.write_all(terminal.draw(&Sketch::of(sentence)).as_bytes())?,
            Self::Svg(svg) => svg.sentence(&Sketch::of(sentence)),
        }
        Ok(())
    }
}
