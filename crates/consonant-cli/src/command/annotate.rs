//! `consonant annotate`: raw text to sentences, tokens, tags, names and trees.

mod shards;
mod table;
mod writer;

use std::io::{self, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use consonant::arrow::table::{Columns, TableReader, is_parquet};
use consonant::draw::terminal::Terminal;
use consonant::segmenter::SegmenterOptions;
use consonant::summarizer::looks_english;
use consonant::text::convert::to_conllu;
use consonant::text::input::{Input, STDIN};
use consonant::text::{self, Format as InputFormat, Sentence, SentenceReader};
use consonant::{Layers, Models, Pipeline, Proofs};

use self::shards::Shards;
use self::writer::Writer;
use crate::certificates::{self, Certificates};
use crate::context::Context;
use crate::given::Flags;
use crate::inputs;
use crate::output::{Destination, Output};
use crate::usage_error;

/// Find sentences, tokens, parts of speech, names and dependency trees in raw text.
///
/// Nothing of the text is lost: tokens carry the white space around them (SpaceAfter, SpacesAfter,
/// SpacesBefore) and their place in the file in characters (TokenRange). Each file is a document; blank lines
/// end paragraphs. CoNLL-U has sentences and tokens already, and so has a file of a
/// token a line (*.tsv): the layers are filled in. Parquet and JSONL are tables:
/// each row has a text, which is a document.
#[derive(Args)]
#[command(after_help = "Example:
  echo 'Ann lives in Kiel.' | consonant annotate --format pretty
  consonant annotate story.txt --layers tags,entities --output story.conllu
  consonant annotate news --format jsonl --output-dir annotated
  consonant annotate posts.jsonl --text-column body --id-column id --output posts.parquet

With --output-dir a file is complete or absent. The same command again annotates what is not there yet, or is
older than its input. Tables become tables: Parquet has the input's columns, `sentences` and `entities`
(docs/scale.md); of other inputs it has a row a sentence.")]
pub struct Annotate {
    /// Files of raw text, CoNLL-U, JSONL or Parquet, folders, or patterns such as 'news/*.txt'; none or `-` is standard input.
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
    /// Say beside each sentence what is proven of its names and its tree: in a comment, and in JSONL under
    /// `certificate`.
    #[arg(long)]
    certificate: bool,
    /// Names of a type that the text may speak of, one a line; a hint to the recognizer, which the sentence may
    /// outweigh. Can be given several times.
    #[arg(long, value_name = "TYPE=FILE", value_parser = listed)]
    gazetteer: Vec<(String, PathBuf)>,
    /// What is certain: lines of a word or phrase, a tab, and its type of names, `O` for none, or its tag.
    #[arg(long = "override", value_name = "FILE")]
    overrides: Vec<PathBuf>,
    /// The column of a table that has the texts; with it, standard input is JSONL (default: text).
    #[arg(long, value_name = "C")]
    text_column: Option<String>,
    /// The column that names the rows of a table (default: the file's name and the row's number).
    #[arg(long, value_name = "C")]
    id_column: Option<String>,
    /// Write a file for each input into this folder, under the input's name.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    output_dir: Option<PathBuf>,
    /// Write several files for each table, of so many rows each.
    #[arg(long, value_name = "N", requires = "output_dir", value_parser = clap::value_parser!(u64).range(1..))]
    rows_per_file: Option<u64>,
    #[command(flatten)]
    certificates: Certificates,
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
    /// Sentences and tokens, which are always found, and nothing else.
    Tokens,
    /// Parts of speech and features.
    Tags,
    /// Lemmas.
    Lemmas,
    /// Names of persons, places and organizations.
    Entities,
    /// Dependency trees.
    Tree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// CoNLL-U, names in MISC.
    Conllu,
    /// One JSON object a sentence.
    Jsonl,
    /// A picture in text: arcs above the words, tags and names below.
    Pretty,
    /// The same picture as one SVG file.
    Svg,
    /// A table of columns, for data frames and SQL.
    Parquet,
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
        let files = inputs::found(self.files, context)?;
        let models = Models::of(self.models.as_deref())?;
        let layers = match &self.layers {
            None => Pipeline::layers_of(&models)?,
            Some(layers) => Layers {
                tags: layers.contains(&Layer::Tags),
                lemmas: layers.contains(&Layer::Lemmas),
                entities: layers.contains(&Layer::Entities),
                tree: layers.contains(&Layer::Tree),
            },
        };
        let on_terminal =
            self.output_dir.is_none() && self.output.is_standard() && io::stdout().is_terminal();
        let format = self.format.unwrap_or_else(|| match self.output.extension().as_deref() {
            Some("jsonl" | "json" | "ndjson") => Format::Jsonl,
            Some("svg") => Format::Svg,
            Some("txt") => Format::Pretty,
            Some("parquet") => Format::Parquet,
            None if on_terminal => Format::Pretty,
            None | Some("conllu" | "conll" | "tsv") => Format::Conllu,
            Some(other) => {
                context.note(format!(
                    "`.{other}` names none of the formats that `--format` has: this is CoNLL-U"
                ));
                Format::Conllu
            }
        });
        if format == Format::Parquet && on_terminal {
            return Err(usage_error("Parquet is not for a terminal; name a file by `--output`"));
        }
        let colour = self.colour;
        let write = move |out: Output| Writer::new(format, out, || terminal(on_terminal, colour));
        let columns = Columns {
            text: self.text_column.clone().unwrap_or_else(|| "text".to_owned()),
            id: self.id_column.clone(),
        };
        let known = self.known.settings()?;
        let made = format!(
            "{layers:?} {format:?} {columns:?} {:?} {known:?} {} {} {:?} {:?}",
            self.rows_per_file, self.confidence, self.certificate, self.gazetteer, self.overrides
        );
        let mut pipeline = Pipeline::open(&models, layers)?.knowing(known);
        if let Some(misfit) = pipeline.misfit() {
            context.note(misfit);
        }
        if self.confidence {
            pipeline = pipeline.with_confidence();
        }
        if self.certificate {
            pipeline = pipeline.with_certificates();
        }
        for (kind, path) in &self.gazetteer {
            let input = context.open_whole(path)?;
            let name = Arc::clone(input.name());
            pipeline = pipeline.with_gazetteer(kind, BufReader::new(input)).with_context(|| name)?;
        }
        for path in &self.overrides {
            let input = context.open_whole(path)?;
            let name = Arc::clone(input.name());
            pipeline = pipeline.with_overrides(&name, BufReader::new(input))?;
        }
        let lists = self.gazetteer.iter().map(|(_, path)| path).chain(&self.overrides);
        let work = Work {
            pipeline,
            english: models == Models::Embedded,
            columns,
            is_table: self.text_column.is_some(),
            proofs: self.certificates.open()?.map(Mutex::new),
            context,
        };
        if let Some(folder) = &self.output_dir {
            let shards = Shards::new(folder, format.ending(), &files, self.rows_per_file.is_some())?;
            let there = shards.resume(&made, &models, lists)?;
            if there > 0 {
                let are = if there == 1 { "file is" } else { "files are" };
                context.note(format!("{there} {are} in {} already", folder.display()));
            }
            let progress = context.progress("annotating files", Some(files.len() as u64));
            for number in 0..files.len() {
                work.shards(&shards, number, self.rows_per_file, write)?;
                progress.advance(1);
            }
            work.tell();
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.output.open()?;
        let progress = context.progress_beside(&out, "annotating sentences", None);
        let mut writer = write(out);
        for file in files {
            let mut source = work.open(&file.path)?;
            work.fill(&mut source, &mut writer, usize::MAX, &|count| progress.advance(count))?;
        }
        writer.finish()?;
        work.tell();
        Ok(ExitCode::SUCCESS)
    }
}

/// What is done with each file.
struct Work<'a> {
    pipeline: Pipeline,
    english: bool,
    columns: Columns,
    /// Whether a column was named: then what looks like JSONL is a table.
    is_table: bool,
    /// Where proofs go, if they are wanted.
    proofs: Option<Mutex<Proofs>>,
    context: &'a Context,
}

/// A file, as it is read.
enum Source {
    Table(TableReader),
    /// Sentences of tokens, in CoNLL-U or in columns.
    Tokens(Input, InputFormat),
    Text(Input),
}

impl Work<'_> {
    fn open(&self, path: &Path) -> Result<Source> {
        if is_parquet(path) {
            return Ok(Source::Table(TableReader::parquet(path, self.columns.clone())?));
        }
        let mut input = Input::open(path)?;
        let named = InputFormat::from_path(path);
        Ok(match input.format()? {
            InputFormat::Conllu => Source::Tokens(input, InputFormat::Conllu),
            // A tab in a text makes no table of it: the name must say so.
            InputFormat::Columns if named == Some(InputFormat::Columns) => {
                Source::Tokens(input, InputFormat::Columns)
            }
            InputFormat::Jsonl if self.is_table || named == Some(InputFormat::Jsonl) => {
                Source::Table(TableReader::jsonl(input, self.columns.clone()))
            }
            found => {
                let hint = match found {
                    InputFormat::Jsonl => "`--text-column C` reads rows, `consonant predict` keeps formats",
                    InputFormat::Columns => "a file of a token a line is called *.tsv",
                    _ => "",
                };
                if !hint.is_empty() {
                    let name = input.name();
                    self.context.note(format!(
                        "{name} looks like data with a format, but is read as raw text; {hint}"
                    ));
                }
                Source::Text(input)
            }
        })
    }

    /// Annotates a file, or the next rows of a table, `most` of them.
    fn fill(
        &self,
        source: &mut Source,
        writer: &mut Writer,
        most: usize,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let mut judged = !self.english;
        let mut write = |sentences: &[Sentence], name: &str, writer: &mut Writer| {
            if !std::mem::replace(&mut judged, true) && !may_be_english(sentences) {
                self.context.note(format!(
                    "{name} does not look English, and the embedded models know nothing else; `--models DIR` takes others"
                ));
            }
            writer.sentences(sentences, name)?;
            self.prove(sentences)?;
            advance(sentences.len() as u64);
            writer.flush()
        };
        match source {
            Source::Table(_) if self.proofs.is_some() => Err(usage_error(
                "--certificates is for texts and CoNLL-U; rows of tables are annotated without",
            )),
            Source::Table(table) => self.rows(table, writer, most, advance),
            Source::Tokens(input, format) => {
                let name = Arc::clone(input.name());
                let reader = match format {
                    InputFormat::Columns => {
                        SentenceReader::columns(input, Arc::clone(&name), text::Columns::default())
                    }
                    _ => SentenceReader::conllu(input, Arc::clone(&name)),
                };
                for batch in reader.batches(BATCH) {
                    let mut sentences = batch?;
                    if *format == InputFormat::Columns {
                        sentences = sentences.iter().map(to_conllu).collect::<Result<_, _>>()?;
                    }
                    self.pipeline.annotate_sentences(&mut sentences)?;
                    write(&sentences, &name, writer)?;
                }
                Ok(())
            }
            Source::Text(input) => {
                let (name, mut before) = (Arc::clone(input.name()), 0);
                let id = if &*name == STDIN { "" } else { &*name };
                self.pipeline.stream(input, &name, |sentences, _| {
                    give_ids(sentences, id, &mut before);
                    write(sentences, &name, writer)
                })
            }
        }
    }

    /// Writes what proves the names and trees of sentences that were annotated together, if that is wanted.
    fn prove(&self, sentences: &[Sentence]) -> Result<()> {
        let Some(proofs) = &self.proofs else { return Ok(()) };
        let mut proofs = proofs.lock().unwrap_or_else(PoisonError::into_inner);
        for (task, answered) in self.pipeline.problems(sentences)? {
            proofs.add(task, &answered)?;
        }
        Ok(())
    }

    /// Says how much was proven.
    fn tell(&self) {
        let proofs = self.proofs.as_ref().map(|proofs| proofs.lock().unwrap_or_else(PoisonError::into_inner));
        proofs.iter().for_each(|proofs| certificates::tell(proofs, self.context));
    }

    /// Annotates a file into one of its own, or a table into several, unless they are there already.
    fn shards(
        &self,
        shards: &Shards<'_>,
        number: usize,
        rows: Option<u64>,
        write: impl Fn(Output) -> Writer,
    ) -> Result<()> {
        let mut source = None;
        for shard in 0.. {
            let place = shards.place(number, shard);
            let is_there = shards.is_there(number, &place);
            if is_there && rows.is_none() {
                return Ok(());
            }
            let source = match &mut source {
                Some(source) => source,
                none => none.insert(self.open(&shards.files[number].path)?),
            };
            let most = rows.map_or(usize::MAX, |rows| usize::try_from(rows).unwrap_or(usize::MAX));
            match source {
                Source::Table(table) if is_there => table.skip(most)?,
                _ if is_there => return Ok(()),
                _ => {
                    let mut writer = write(shards.open(&place)?);
                    self.fill(source, &mut writer, most, &|_| ())?;
                    writer.finish()?;
                }
            }
            let done = if let Source::Table(table) = source { table.is_done()? } else { true };
            if done {
                return shards.clear_from(number, shard + 1);
            }
        }
        Ok(())
    }
}

/// Says which document and which sentences these are; `before` are those of the document that came earlier.
fn give_ids(sentences: &mut [Sentence], document: &str, before: &mut usize) {
    let short: String =
        document.chars().map(|c| if c.is_whitespace() || c == '/' { '_' } else { c }).collect();
    for sentence in sentences {
        *before += 1;
        // What cannot stand in a comment is left out there; other formats have it.
        if *before == 1 && !document.is_empty() {
            let _ = sentence.set_document_id(document);
        }
        let _ = match short.is_empty() {
            true => sentence.set_id(&before.to_string()),
            false => sentence.set_id(&format!("{short}-{before}")),
        };
    }
}

/// Whether the beginning of a text is English, or too short to tell.
fn may_be_english(sentences: &[Sentence]) -> bool {
    // The text as it is written: the words of a token are those that English would have (`im` is `i` and `m`).
    let mut text = String::new();
    for sentence in sentences.iter().take(ENOUGH) {
        text.push_str(&sentence.text());
        text.push(' ');
    }
    let written = text.split(|c: char| !c.is_alphanumeric());
    written.filter(|word| word.starts_with(char::is_alphabetic)).count() < FEW || looks_english(&text)
}

/// Fewer words do not tell a language.
const FEW: usize = 30;
/// More sentences do not tell it better.
const ENOUGH: usize = 50;

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
