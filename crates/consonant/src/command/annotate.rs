//! `consonant annotate`: raw text to sentences, tokens, tags, names and trees.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
use consonant_text::Sentence;
use consonant_text::input::Input;
use consonant_text::jsonl::{SentenceRecord, write_record};

use crate::context::Context;
use crate::inputs;
use crate::pipeline::{Layers, Models, Pipeline};

/// Finds sentences, tokens, parts of speech, names and dependency trees in raw text.
///
/// Nothing of the text is lost: tokens carry the white space around them (SpaceAfter, SpacesAfter, SpacesBefore) and their
/// place in the file in characters (TokenRange). Each file is a document; blank lines end paragraphs.
#[derive(Args)]
#[command(
    after_help = "Example:\n  echo 'Ann lives in Kiel.' | consonant annotate --format pretty\n  consonant annotate story.txt --layers tags,entities --output story.conllu"
)]
pub struct Annotate {
    /// Files of raw text; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to find beside sentences and tokens (default: all that there are models for). A tree comes with tags.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',')]
    layers: Option<Vec<Layer>>,
    /// How the output is written (default: pretty on a terminal, conllu elsewhere).
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Take segmenter.model, tagger.model, ner.model and parser.model from this folder, not the embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Where the output goes (default: standard output).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// Parts of speech.
    Tags,
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
}

impl Annotate {
    /// Annotates file after file.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let files = inputs::or_standard_input(self.files)?;
        let models = Models::of(self.models)?;
        let layers = match &self.layers {
            None => Pipeline::layers_of(&models)?,
            Some(layers) => Layers {
                tags: layers.contains(&Layer::Tags),
                entities: layers.contains(&Layer::Entities),
                tree: layers.contains(&Layer::Tree),
            },
        };
        let format = self.format.unwrap_or(Format::Conllu);
        let pipeline = Pipeline::open(&models, layers)?;
        let annotator = pipeline.annotator()?;
        let mut out = context.open_output(self.output.as_deref())?;
        let progress = context.progress("annotating sentences", None);
        for path in files {
            let input = Input::open(&path)?;
            let name = Arc::clone(input.name());
            annotator.stream(input, &name, |sentences| {
                for sentence in sentences {
                    write(sentence, format, &mut out)?;
                }
                progress.advance(sentences.len() as u64);
                Ok(out.flush()?)
            })?;
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write(sentence: &Sentence, format: Format, out: &mut impl Write) -> Result<()> {
    match format {
        Format::Conllu => sentence.write(out)?,
        Format::Jsonl => write_record(&SentenceRecord::from(sentence), out)?,
    }
    Ok(())
}
