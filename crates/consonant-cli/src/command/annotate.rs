//! `consonant annotate`: raw text to sentences, tokens, tags, names and trees.

use std::collections::HashMap;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use consonant::text::input::Input;
use consonant::text::jsonl::{SentenceRecord, write_record};
use consonant::text::{Format as InputFormat, Sentence, SentenceReader};

use crate::context::Context;
use crate::given::Flags;
use crate::inputs::{self, Found};
use crate::output::{Destination, Output};
use crate::usage_error;
use consonant::draw::Sketch;
use consonant::draw::svg::Svg;
use consonant::draw::terminal::Terminal;
use consonant::segmenter::SegmenterOptions;
use consonant::summarizer::looks_english;
use consonant::{Layers, Models, Pipeline};

/// Find sentences, tokens, parts of speech, names and dependency trees in raw text.
///
/// Nothing of the text is lost: tokens carry the white space around them (SpaceAfter, SpacesAfter,
/// SpacesBefore) and their place in the file in characters (TokenRange). Each file is a document; blank lines
/// end paragraphs. CoNLL-U has sentences and tokens already: the layers are filled in.
#[derive(Args)]
#[command(
    after_help = "Example:\n  echo 'Ann lives in Kiel.' | consonant annotate --format pretty\n  consonant annotate story.txt --layers tags,entities --output story.conllu\n  consonant annotate news --format jsonl --output-dir annotated"
)]
pub struct Annotate {
    /// Files of raw text or CoNLL-U, folders, or patterns such as 'news/*.txt'; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to find beside sentences and tokens (default: all that there are models for). A tree comes with
    /// tags.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',')]
    layers: Option<Vec<Layer>>,
    /// How the output is written (default: as the name of the output says, pretty on a terminal, else conllu).
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
    /// Say how sure the models are of tags, names and heads: in MISC, and beside them in JSONL.
    #[arg(long)]
    confidence: bool,
    /// Names of a type that the text may speak of, one a line; a hint to the recognizer, which the sentence may
    /// outweigh. Can be given several times.
    #[arg(long, value_name = "TYPE=FILE", value_parser = listed)]
    gazetteer: Vec<(String, PathBuf)>,
    /// What is certain: lines of a word or phrase, a tab, and its type of names, `O` for none, or its tag.
    #[arg(long = "override", value_name = "FILE")]
    overrides: Vec<PathBuf>,
    /// Write a file for each input into this folder, under the input's name.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
    #[command(flatten)]
    output: Destination,
}

fn listed(text: &str) -> Result<(String, PathBuf), String> {
    let (kind, path) = text
        .split_once('=')
        .filter(|(kind, path)| !kind.is_empty() && !path.is_empty())
        .ok_or("expected TYPE=FILE, as in PER=people.txt")?;
    Ok((kind.to_owned(), path.into()))
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
        let files = inputs::found(self.files)?;
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
        let on_terminal =
            self.output_dir.is_none() && self.output.is_standard() && io::stdout().is_terminal();
        let default = match self.output.extension().as_deref() {
            Some("jsonl" | "json" | "ndjson") => Format::Jsonl,
            Some("svg") => Format::Svg,
            Some("txt") => Format::Pretty,
            None if on_terminal => Format::Pretty,
            _ => Format::Conllu,
        };
        let format = self.format.unwrap_or(default);
        let writer = || match format {
            Format::Conllu => Writer::Conllu,
            Format::Jsonl => Writer::Jsonl,
            Format::Pretty => Writer::Pretty(terminal(on_terminal, self.colour)),
            Format::Svg => Writer::Svg(Svg::default()),
        };
        let english = models == Models::Embedded;
        let mut pipeline = Pipeline::open(&models, layers)?.knowing(self.known.settings()?);
        if self.confidence {
            pipeline = pipeline.with_confidence();
        }
        for (kind, path) in &self.gazetteer {
            let input = Input::open(path)?;
            let name = Arc::clone(input.name());
            pipeline = pipeline.with_gazetteer(kind, BufReader::new(input)).with_context(|| name)?;
        }
        for path in &self.overrides {
            let input = Input::open(path)?;
            let name = Arc::clone(input.name());
            pipeline = pipeline.with_overrides(&name, BufReader::new(input))?;
        }
        if let Some(folder) = &self.output_dir {
            let outputs = places(&files, folder, format)?;
            let progress = context.progress("annotating files", Some(files.len() as u64));
            for (file, place) in files.iter().zip(outputs) {
                if let Some(parent) = place.parent() {
                    std::fs::create_dir_all(parent)
                        .with_context(|| format!("cannot make {}", parent.display()))?;
                }
                let (mut writer, mut out) = (writer(), Output::open(Some(&place))?);
                annotate(&pipeline, &file.path, &mut writer, &mut out, context, english, |_| ())?;
                writer.finish(out)?;
                progress.advance(1);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let (mut writer, mut out) = (writer(), self.output.open()?);
        let progress = context.progress_beside(&out, "annotating sentences", None);
        for file in files {
            annotate(&pipeline, &file.path, &mut writer, &mut out, context, english, |count| {
                progress.advance(count)
            })?;
        }
        writer.finish(out)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The output of each file; two of one name would lose one of them.
fn places(files: &[Found], folder: &Path, format: Format) -> Result<Vec<PathBuf>> {
    let ending = match format {
        Format::Conllu => "conllu",
        Format::Jsonl => "jsonl",
        Format::Pretty => "txt",
        Format::Svg => "svg",
    };
    let mut known: HashMap<PathBuf, &Path> = HashMap::new();
    let mut places = Vec::with_capacity(files.len());
    for Found { path, place } in files {
        if path.as_os_str() == "-" {
            return Err(usage_error("standard input has no name for a file of `--output-dir`; name files"));
        }
        let output = folder.join(place).with_extension(ending);
        if output == *path {
            return Err(usage_error(format!("{} would be written over itself", path.display())));
        }
        if let Some(other) = known.insert(output.clone(), path) {
            let (other, path, output) = (other.display(), path.display(), output.display());
            return Err(usage_error(format!("{other} and {path} would both be written to {output}")));
        }
        places.push(output);
    }
    Ok(places)
}

/// Annotates one file.
fn annotate(
    pipeline: &Pipeline,
    path: &Path,
    writer: &mut Writer,
    out: &mut Output,
    context: &Context,
    english: bool,
    advance: impl Fn(u64),
) -> Result<()> {
    let mut input = Input::open(path)?;
    let name = Arc::clone(input.name());
    let mut judged = !english;
    let mut write = |sentences: &[Sentence]| -> Result<()> {
        if !std::mem::replace(&mut judged, true) && !may_be_english(sentences) {
            context.note(format!(
                "{name} does not look English, and the embedded models know nothing else; `--models DIR` takes others"
            ));
        }
        for sentence in sentences {
            writer.write(sentence, &name, out)?;
        }
        advance(sentences.len() as u64);
        Ok(out.flush()?)
    };
    match input.format()? {
        InputFormat::Conllu => {
            for batch in SentenceReader::conllu(input, Arc::clone(&name)).batches(BATCH) {
                let mut sentences = batch?;
                pipeline.annotate_sentences(&mut sentences)?;
                write(&sentences)?;
            }
            return Ok(());
        }
        InputFormat::Jsonl => context.note(format!(
            "{name} looks like data with a format, but is read as raw text; `consonant predict` keeps formats"
        )),
        _ => {}
    }
    pipeline.stream(input, &name, |sentences, _| write(sentences))
}

/// Whether the beginning of a text is English, or too short to tell.
fn may_be_english(sentences: &[Sentence]) -> bool {
    let mut text = String::new();
    let mut words = 0;
    for word in
        sentences.iter().flat_map(|sentence| (0..sentence.len()).map(|word| sentence.form(word))).take(1000)
    {
        words += usize::from(word.starts_with(char::is_alphabetic));
        text.push_str(word);
        text.push(' ');
    }
    words < FEW || looks_english(&text)
}

/// Fewer words do not tell a language.
const FEW: usize = 30;

/// Sentences of CoNLL-U that are annotated together.
const BATCH: usize = 512;

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

    fn finish(self, mut out: Output) -> Result<()> {
        if let Self::Svg(svg) = self {
            out.write_all(svg.finish().as_bytes())?;
        }
        Ok(out.finish()?)
    }
}
