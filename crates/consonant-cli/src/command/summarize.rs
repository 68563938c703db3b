//! `consonant summarize FILE…`

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use consonant::TopicAnnotator;
use consonant::draw::svg::Svg;
use consonant::summarizer::{
    Baseline, Empty, Source, Summarizer, SummarizerOptions, Summary, SummarySentence, lp_format,
    summarize_by_baseline,
};
use consonant::task::Task as _;
use consonant::text::Document;

use crate::certificates::{self, Certificates};
use crate::context::Context;
use crate::given::Flags;
use crate::inputs;
use crate::output::{self, Destination};
use crate::usage_error;

/// Summarize several documents about one thing, in words that they use.
///
/// Sentences are chosen and compressed together, so that they say as much as possible in as few words as
/// wanted; the answer comes with a bound on how much better any other summary could be. Each file is a
/// document of raw text (or of CoNLL-U, whose tags and trees are then used).
#[derive(Args)]
#[command(after_help = "Examples:
  consonant summarize a.txt b.txt c.txt --words 100
  consonant summarize *.txt --format marked
  consonant summarize news/*.txt --words 250 --format json --output summary.json
  consonant summarize news/*.txt --query \"Who was hurt?\" --explain
  consonant summarize c.txt --known a.txt --ratio 0.2")]
pub struct Summarize {
    /// The documents: files, folders, or patterns such as 'news/*.txt'; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    options: Flags<SummarizerOptions>,
    /// How the summary is written; `marked` shows what was deleted, in brackets or, on a terminal, in grey.
    #[arg(long, default_value = "text")]
    format: Format,
    /// A summarizer that `train summarizer` made (default: the one among the models, or weights set by hand).
    #[arg(long, value_name = "M")]
    model: Option<PathBuf>,
    /// Take segmenter.model, tagger.model, parser.model and summarizer.model from this folder, not the
    /// embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// A text that the reader has read: what it says is left out. May be given several times.
    #[arg(long = "known", value_name = "FILE")]
    read: Vec<PathBuf>,
    /// Say below each sentence which concepts it is there for, and by which rule of grammar each cut was
    /// allowed.
    #[arg(long, conflicts_with = "baseline")]
    explain: bool,
    /// Choose sentences by a simple rule instead, for comparison.
    #[arg(long, value_name = "lead|mmr|centroid")]
    baseline: Option<Baseline>,
    /// Write the problem that was solved as an integer linear program, for other solvers to check.
    #[arg(long, value_name = "FILE.lp", conflicts_with = "baseline")]
    lp: Option<PathBuf>,
    #[command(flatten)]
    certificates: Certificates,
    #[command(flatten)]
    output: Destination,
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

impl Summarize {
    /// Reads, summarizes and writes.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.baseline.is_some() && self.certificates.is_wanted() {
            return Err(usage_error(
                "a baseline solves no problem, so that --certificates has nothing to prove",
            ));
        }
        let mut options = self.options.settings()?;
        for path in &self.read {
            for known in Source::read(context.open_whole(path)?)? {
                *options.known.get_or_insert_default() += known.text();
            }
        }
        let options = &options;
        let files = inputs::found(self.files.clone(), context)?;
        self.output.keep_apart(files.iter().map(|file| &file.path).chain(&self.read))?;
        let sources: Vec<Source> = files
            .iter()
            .map(|file| Ok(Source::read(context.open_whole(&file.path)?)?))
            .collect::<Result<Vec<_>>>()?
            .concat();
        let annotator = TopicAnnotator::open(self.models.as_deref())?;
        if !annotator.has_trees() && !options.extractive && self.baseline.is_none() {
            context.note("there is no parser among the models: sentences are taken whole");
        }
        let summarizer = match &self.model {
            Some(path) => Summarizer::open(&inputs::model(path)?)?,
            None => annotator.summarizer()?,
        };
        let mut documents: Vec<Document> = sources.iter().map(Source::document).collect();
        let summary = match self.baseline {
            Some(baseline) => {
                let whole = SummarizerOptions::new().extractive(true);
                summarizer
                    .annotate_documents(&mut documents, &whole, &annotator)
                    .map_err(consonant::Error::boxed)?;
                summarize_by_baseline(baseline, &documents, options.for_documents(&documents).limits().words)
            }
            None => {
                let foreign = summarizer
                    .annotate_documents(&mut documents, options, &annotator)
                    .map_err(consonant::Error::boxed)?;
                if !foreign.is_empty() && annotator.has_trees() {
                    context.note("some documents do not look English: their sentences are taken whole");
                }
                let prepared = summarizer.assemble(&documents, options);
                if let Some(path) = &self.lp {
                    output::write(path, &lp_format(&prepared.assembly.problem, &prepared.scores))?;
                }
                let decoded = prepared.decode(options)?;
                if let Some(mut proofs) = self.certificates.open()? {
                    proofs.add(Summarizer::NAME, &[prepared.answered(&decoded)])?;
                    certificates::tell(&proofs, context);
                }
                prepared.finish(&decoded, options)
            }
        };
        self.explain(&summary, &sources, context);
        self.write(&summary, &sources)?;
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
        if let Some(why) = summary.empty {
            let remedy = if why == Empty::NoText { "" } else { "; raise --words" };
            context.note(format!("the summary is empty: {why}{remedy}"));
        }
        if let Some(certificate) = &summary.certificate {
            context.detail(format!(
                "value {:.4}, bound {:.4}, {}, {} iterations, {:.3} s",
                certificate.value().unwrap_or_default(),
                certificate.bound(),
                certificate.status(),
                certificate.iterations,
                certificate.seconds
            ));
        }
    }

    fn write(&self, summary: &Summary, sources: &[Source]) -> Result<()> {
        let colour = self.output.is_standard()
            && std::io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none();
        let mut out = self.output.open()?;
        match self.format {
            Format::Text => {
                for sentence in &summary.sentences {
                    writeln!(out, "{}", output::shown(&sentence.text))?;
                    self.write_reasons(sentence, sources, &mut out)?;
                }
            }
            Format::Marked => {
                for sentence in &summary.sentences {
                    let marked = sentence.marked(|deleted| match colour {
                        true => format!("\x1b[90m{deleted}\x1b[0m"),
                        false => format!("[{deleted}]"),
                    });
                    writeln!(out, "{}", marked.split_whitespace().collect::<Vec<_>>().join(" "))?;
                    self.write_reasons(sentence, sources, &mut out)?;
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
                serde_json::to_writer_pretty(&mut out, &summary.to_json(sources))?;
                writeln!(out)?;
            }
        }
        Ok(out.finish()?)
    }
}

impl Summarize {
    /// Says why a sentence is there, if that is asked for.
    fn write_reasons(
        &self,
        sentence: &SummarySentence,
        sources: &[Source],
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        if !self.explain {
            return Ok(());
        }
        let source = sources.get(sentence.document).map_or("", |source| source.name.as_str());
        writeln!(out, "  {source}, sentence {}", sentence.sentence + 1)?;
        sentence.explanation().iter().try_for_each(|line| writeln!(out, "  {line}"))
    }
}

/// Letters in a line of a picture.
const PICTURE: usize = 96;
