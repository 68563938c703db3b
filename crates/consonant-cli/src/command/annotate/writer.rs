//! Sentences and tables in the format that was asked for.

use std::io::Write as _;

use anyhow::Result;
use consonant::arrow::sentence_batch;
use consonant::arrow::table::TableWriter;
use consonant::draw::Sketch;
use consonant::draw::svg::Svg;
use consonant::draw::terminal::Terminal;
use consonant::text::Sentence;
use consonant::text::jsonl::{SentenceRecord, write_record};

use super::Format;
use crate::output::Output;

impl Format {
    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Conllu => "conllu",
            Self::Jsonl => "jsonl",
            Self::Pretty => "txt",
            Self::Svg => "svg",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes into an output, which is there only when all is written.
pub enum Writer {
    Conllu(Output),
    Jsonl(Output),
    Pretty(Terminal, Output),
    /// A picture is written when all of it is there.
    Svg(Svg, Output),
    Parquet(TableWriter<Output>),
}

impl Writer {
    pub fn new(format: Format, out: Output, terminal: impl Fn() -> Terminal) -> Self {
        match format {
            Format::Conllu => Self::Conllu(out),
            Format::Jsonl => Self::Jsonl(out),
            Format::Pretty => Self::Pretty(terminal(), out),
            Format::Svg => Self::Svg(Svg::default(), out),
            Format::Parquet => Self::Parquet(TableWriter::new(out)),
        }
    }

    /// Writes sentences of a document.
    pub fn sentences(&mut self, sentences: &[Sentence], document: &str) -> Result<()> {
        if let Self::Parquet(table) = self {
            return Ok(table.write(&sentence_batch(sentences, Some(document))?)?);
        }
        for sentence in sentences {
            match self {
                Self::Conllu(out) => sentence.write(out)?,
                Self::Jsonl(out) => {
                    let mut record = SentenceRecord::from(sentence);
                    record.doc = Some(document.to_owned());
                    write_record(&record, out)?;
                }
                Self::Pretty(terminal, out) => {
                    out.write_all(terminal.draw(&Sketch::of(sentence)).as_bytes())?;
                }
                Self::Svg(svg, _) => svg.sentence(&Sketch::of(sentence)),
                Self::Parquet(_) => {}
            }
        }
        Ok(())
    }

    /// Lets a reader at the other end of a pipe see what there is.
    pub fn flush(&mut self) -> Result<()> {
        match self {
            Self::Conllu(out) | Self::Jsonl(out) | Self::Pretty(_, out) => Ok(out.flush()?),
            Self::Svg(..) | Self::Parquet(_) => Ok(()),
        }
    }

    pub fn finish(self) -> Result<()> {
        match self {
            Self::Conllu(out) | Self::Jsonl(out) | Self::Pretty(_, out) => out.finish()?,
            Self::Svg(svg, mut out) => {
                out.write_all(svg.finish().as_bytes())?;
                out.finish()?;
            }
            Self::Parquet(table) => table.finish()?.finish()?,
        }
        Ok(())
    }
}
