//! `consonant summarize FILE…`

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use consonant_learn::model::Model;
use consonant_segmenter::{Rules, Segmenter};
use consonant_summarizer::{
    Baseline, CleanText, Decoder, DecoderOptions, Empty, Mode, Request, Summarizer, Summary, looks_english,
    lp_format, summarize_by_baseline,
};
use consonant_text::document::CharOffsets;
use consonant_text::input::Input;
use consonant_text::{Document, Format as InputFormat, Sentence, SentenceReader};
use serde_json::{Value, json};

use crate::context::Context;
use crate::inputs;
use consonant::draw::svg::Svg;
use consonant::{Layers, Models, Pipeline};

/// Summarizes several documents about one thing, in words that they use.
///
/// Sentences are chosen and compressed together, so that they say as much as possible in as few words as wanted; the
/// answer comes with a bound on how much better any other summary could be. Each file is a document of raw text (or of CoNLL-U,
/// whose tags and trees are then used).
#[derive(Args)]
#[command(after_help = "Examples:
  consonant summarize a.txt b.txt c.txt --words 100
  consonant summarize *.txt --format marked
  consonant summarize news/*.txt --words 250 --format json --output summary.json")]
pub struct Summarize {
    /// The documents; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    wanted: Wanted,
    /// How the summary is written; `marked` shows what was deleted, in brackets or, on a terminal, in grey.
    #[arg(long, default_value = "text")]
    format: Format,
    /// A summarizer that `train summarizer` made (default: the one among the models, or weights set by hand).
    #[arg(long, value_name = "M")]
    model: Option<PathBuf>,
    /// Take segmenter.model, tagger.model, parser.model and summarizer.model from this folder, not the embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Choose sentences by a simple rule instead, for comparison.
    #[arg(long, value_name = "NAME")]
    baseline: Option<BaselineName>,
    /// Write the problem that was solved as an integer linear program, for other solvers to check.
    #[arg(long, value_name = "FILE.lp", conflicts_with = "baseline")]
    lp: Option<PathBuf>,
    /// Where the summary goes (default: standard output).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What kind of summary, and how it is found: flags that `predict` has, too.
#[derive(Args, Clone)]
pub struct Wanted {
    /// Words of the summary at most, split at white space.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    words: u32,
    /// Sentences of the summary at most (default: 6 for 100 words, and in proportion).
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    sentences: Option<u32>,
    /// Choose whole sentences, without compressing any.
    #[arg(long)]
    extractive: bool,
    /// Consider only the best-scored sentences, up to so many words in all (default: 1000, or 8 times --words).
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    /// ad3: relax and round, with a bound; exact: branch and bound to the end.
    #[arg(long, default_value = "ad3")]
    decoder: DecoderName,
    /// Steps of the search and iterations of AD3 at most, together.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: u32,
    /// A proven distance to the best summary, relative to its value, that is good enough.
    #[arg(long, value_name = "G", default_value_t = 0.005)]
    gap: f64,
    /// Round AD3's relaxation as the paper does, without a search for better summaries over a tighter bound.
    #[arg(long)]
    no_search: bool,
    /// Seconds of decoding at most (default: 60 for exact).
    #[arg(long, value_name = "S")]
    time_limit: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One sentence a line.
    Text,
    /// With what was deleted.
    Marked,
    /// The same as a picture, with the file that each sentence comes from.
    Svg,
    /// With sources, concepts, value, bound and status.
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BaselineName {
    /// The first sentence of each document, then the second of each, …
    Lead,
    /// Relevance less repetition, greedily.
    Mmr,
    /// Sentences like the average.
    Centroid,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecoderName {
    Ad3,
    Exact,
}

impl Wanted {
    /// The request to a summarizer.
    pub fn request(&self) -> Result<Request> {
        if !(self.gap >= 0.0 && self.gap.is_finite()) {
            return Err(crate::usage_error("--gap is a number that is not negative, such as 0.005"));
        }
        if self.time_limit.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
            return Err(crate::usage_error("--time-limit is a positive number of seconds"));
        }
        let decoder = match self.decoder {
            DecoderName::Ad3 => Decoder::Ad3,
            DecoderName::Exact => Decoder::Exact,
        };
        Ok(Request {
            words: self.words as usize,
            sentences: self.sentences.map(|sentences| sentences as usize),
            mode: if self.extractive { Mode::Extractive } else { Mode::Compressive },
            candidate_words: self.candidates.map(|words| words as usize),
            options: DecoderOptions {
                decoder,
                max_iterations: self.max_iterations as usize,
                gap: self.gap,
                time_limit: self.time_limit.or((decoder == Decoder::Exact).then_some(60.0)),
                search: !self.no_search,
            },
        })
    }
}

impl Summarize {
    /// Reads, summarizes and writes.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let request = self.wanted.request()?;
        let files = inputs::or_standard_input(self.files.clone())?;
        let sources = files.iter().map(|path| Source::read(path)).collect::<Result<Vec<_>>>()?.concat();
        let annotator = TopicAnnotator::open(self.models.clone(), context)?;
        let summarizer = match &self.model {
            Some(path) => Summarizer::open(&Model::open(path)?)?,
            None => annotator.summarizer()?,
        };
        let mut documents =
            sources.iter().map(|source| annotator.segment(source)).collect::<Result<Vec<_>>>()?;
        if request.mode == Mode::Compressive && self.baseline.is_none() {
            annotator.add_trees(&summarizer, &mut documents, &request, context)?;
        }
        let summary = match self.baseline {
            Some(name) => {
                let baseline = match name {
                    BaselineName::Lead => Baseline::Lead,
                    BaselineName::Mmr => Baseline::Mmr,
                    BaselineName::Centroid => Baseline::Centroid,
                };
                summarize_by_baseline(baseline, &documents, request.words)
            }
            None => {
                let prepared = summarizer.prepare(&documents, &request);
                if let Some(path) = &self.lp {
                    let mut out = context.open_output(Some(path))?;
                    out.write_all(lp_format(&prepared.assembly.problem, &prepared.scores).as_bytes())?;
                    out.finish()?;
                }
                prepared.summary(&request)?
            }
        };
        self.explain(&summary, &sources, context);
        self.write(&summary, &sources, context)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Says what the reader of the summary should know.
    fn explain(&self, summary: &Summary, sources: &[Source], context: &Context) {
        for &(copy, original) in &summary.copies {
            context.note(format!(
                "{} repeats {} and was passed over",
                sources[copy].name, sources[original].name
            ));
        }
        match summary.empty {
            Some(Empty::NoText) => context.note("the summary is empty: the documents have no sentences"),
            Some(Empty::Budget(shortest)) => context.note(format!(
                "the summary is empty: the shortest sentence or compression has {shortest} words; raise --words"
            )),
            Some(Empty::NoConcepts) => context.note("the summary is empty: nothing that fits is worth saying; raise --words"),
            None => {}
        }
        if let Some(certificate) = &summary.certificate {
            context.detail(format!(
                "value {:.4}, bound {:.4}, {}, {} iterations, {:.3} s",
                certificate.value().unwrap_or(f64::NAN),
                certificate.bound(),
                certificate.status(),
                certificate.iterations,
                certificate.seconds
            ));
        }
    }

    fn write(&self, summary: &Summary, sources: &[Source], context: &Context) -> Result<()> {
        let colour = self.output.is_none()
            && std::io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none();
        let mut out = context.open_output(self.output.as_deref())?;
        match self.format {
            Format::Text => out.write_all(summary.text().as_bytes())?,
            Format::Marked => {
                for sentence in &summary.sentences {
                    let marked = sentence.marked(|deleted| match colour {
                        true => format!("\x1b[90m{deleted}\x1b[0m"),
                        false => format!("[{deleted}]"),
                    });
                    writeln!(out, "{}", marked.split_whitespace().collect::<Vec<_>>().join(" "))?;
                }
            }
            Format::Svg => {
                let mut svg = Svg::default();
                for sentence in &summary.sentences {
                    let next = sentence.words.iter().skip(1).map(|word| word.space_before).chain([false]);
                    let written: Vec<(String, bool)> = sentence
                        .words
                        .iter()
                        .zip(next)
                        .map(|(word, space)| (word.text.clone() + if space { " " } else { "" }, word.kept))
                        .collect();
                    let words = written.iter().map(|(text, kept)| (text.as_str(), *kept));
                    let source = sources.get(sentence.document).map_or("", |source| source.name.as_str());
                    svg.marked(words, source, PICTURE);
                }
                out.write_all(svg.finish().as_bytes())?;
            }
            Format::Json => {
                serde_json::to_writer_pretty(&mut out, &report(summary, sources))?;
                writeln!(out)?;
            }
        }
        Ok(out.finish()?)
    }
}

/// Letters in a line of a picture.
const PICTURE: usize = 96;

/// The summary as JSON. Places count characters of the file.
fn report(summary: &Summary, sources: &[Source]) -> Value {
    let sentences: Vec<Value> = summary
        .sentences
        .iter()
        .map(|sentence| {
            let source = &sources[sentence.document];
            let mut offsets = CharOffsets::new(&source.raw);
            let words: Vec<Value> = sentence
                .words
                .iter()
                .map(|word| {
                    let place = offsets.range(source.clean.place_in_source(word.place.clone()));
                    json!({"text": word.text, "start": place.start, "end": place.end, "kept": word.kept})
                })
                .collect();
            json!({
                "text": sentence.text,
                "document": source.name,
                "document_index": sentence.document,
                "sentence_index": sentence.sentence,
                "words": words,
            })
        })
        .collect();
    let concepts: Vec<Value> = summary
        .concepts
        .iter()
        .map(|c| json!({"text": c.text, "weight": c.weight, "documents": c.documents, "covered": c.covered}))
        .collect();
    let mut object = json!({
        "summary": summary.text().trim_end(),
        "word_count": summary.words,
        "sentences": sentences,
        "concepts": concepts,
    });
    if let Some(certificate) = &summary.certificate {
        object["value"] = json!(certificate.value());
        object["bound"] = json!(certificate.bound());
        object["status"] = json!(certificate.status());
        object["iterations"] = json!(certificate.iterations);
        object["seconds"] = json!(certificate.seconds);
    }
    object
}

/// A document as it was given.
#[derive(Clone)]
pub struct Source {
    /// Where it comes from.
    pub name: String,
    raw: String,
    clean: CleanText,
    /// Its sentences, if it came with them.
    annotated: Option<Document>,
}

impl Source {
    /// The documents of a file: one for raw text, one or more for CoNLL-U.
    pub fn read(path: &Path) -> Result<Vec<Source>> {
        let mut input = Input::open(path)?;
        let name = input.name().to_string();
        match input.format()? {
            InputFormat::Conllu => {
                let mut sources = Vec::new();
                for document in SentenceReader::conllu(input, name.as_str()).documents() {
                    let document = document?;
                    let raw = document.text().to_string();
                    let name = document.id.clone().unwrap_or_else(|| name.clone());
                    sources.push(Source {
                        name,
                        clean: CleanText::verbatim(&raw),
                        raw,
                        annotated: Some(document),
                    });
                }
                Ok(sources)
            }
            InputFormat::Jsonl => {
                bail!("{name} is JSONL; summarize reads texts, and `predict --model M {name}` topics")
            }
            _ => Ok(vec![Source::from_text(name, input.into_text()?)]),
        }
    }

    /// A document of raw text.
    pub fn from_text(name: String, raw: String) -> Source {
        Source { name, clean: CleanText::new(&raw), raw, annotated: None }
    }

    /// A document whose lines are sentences or paragraphs, as in JSONL.
    pub fn of_lines(name: String, text: String) -> Source {
        Source::from_text(name, text.replace('\n', "\n\n"))
    }
}

/// Annotates topics as far as there are models and the language is theirs.
pub struct TopicAnnotator {
    models: Option<Models>,
    segmenting: Option<Pipeline>,
    parsing: Option<Pipeline>,
    /// Whether the models are the program's own, which know English.
    english_only: bool,
}

impl TopicAnnotator {
    /// Opens the models of a folder, or the embedded ones; a program without any segments by rules.
    pub fn open(folder: Option<PathBuf>, context: &Context) -> Result<Self> {
        let english_only = folder.is_none();
        let models = match (folder, Models::embedded()) {
            (Some(folder), _) => Some(Models::folder(folder)?),
            (None, Ok(models)) => Some(models),
            (None, Err(_)) => None,
        };
        let Some(models) = models else {
            context.note("this program was built without models: sentences are taken whole; name a folder with --models to compress");
            return Ok(TopicAnnotator { models: None, segmenting: None, parsing: None, english_only });
        };
        let layers = Pipeline::layers_of(&models);
        let segmenting = Some(Pipeline::open(&models, Layers { tags: layers.tags, ..Layers::default() })?);
        let parsing = match layers.tree {
            true => Some(Pipeline::open(&models, Layers { tags: true, tree: true, ..Layers::default() })?),
            false => None,
        };
        Ok(TopicAnnotator { models: Some(models), segmenting, parsing, english_only })
    }

    /// The summarizer among the models, or one with weights set by hand.
    pub fn summarizer(&self) -> Result<Summarizer> {
        let model =
            self.models.as_ref().map(|models| models.open(consonant_summarizer::TASK)).transpose()?.flatten();
        Ok(match model {
            Some(model) => Summarizer::open(&model)?,
            None => Summarizer::built_in()?,
        })
    }

    /// The sentences of a source, with tags.
    pub fn segment(&self, source: &Source) -> Result<Document> {
        if let Some(document) = &source.annotated {
            return Ok(document.clone());
        }
        let text = source.clean.text();
        let mut document = match &self.segmenting {
            Some(pipeline) if self.speaks(text) => pipeline.annotator()?.document(text)?,
            _ => Segmenter::rules(Rules::default()).segment(text)?,
        };
        document.id = Some(source.name.clone());
        Ok(document)
    }

    fn speaks(&self, text: &str) -> bool {
        !self.english_only || looks_english(text)
    }

    /// Adds tags and trees to sentences, if there are models for that.
    pub fn parse(&self, sentences: &mut [Sentence]) -> Result<()> {
        match &self.parsing {
            Some(parsing) => Ok(parsing.annotator()?.annotate(sentences)?),
            None => Ok(()),
        }
    }

    /// Adds trees to the sentences that a summary may take.
    pub fn add_trees(
        &self,
        summarizer: &Summarizer,
        documents: &mut [Document],
        request: &Request,
        context: &Context,
    ) -> Result<()> {
        let Some(parsing) = &self.parsing else { return Ok(()) };
        let understood: Vec<bool> = documents.iter().map(|document| self.speaks(document.text())).collect();
        if documents
            .iter()
            .zip(&understood)
            .any(|(document, understood)| !understood && !document.sentences().is_empty())
        {
            context.note("some documents do not look English: their sentences are taken whole");
        }
        let wanted: Vec<(usize, usize)> = summarizer
            .candidates(documents, request)
            .into_iter()
            .filter(|&(document, sentence)| {
                understood[document] && documents[document].sentences()[sentence].tree().is_none()
            })
            .collect();
        let mut sentences: Vec<_> =
            wanted.iter().map(|&(d, s)| documents[d].sentences()[s].clone()).collect();
        parsing.annotator()?.annotate(&mut sentences)?;
        for (&(document, number), sentence) in wanted.iter().zip(sentences) {
            documents[document].sentences_mut()[number] = sentence;
        }
        Ok(())
    }
}
