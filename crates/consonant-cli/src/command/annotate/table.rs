//! Tables: each row has a text, which is a document.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use consonant::arrow::annotate_batch;
use consonant::arrow::table::TableReader;
use consonant::arrow::{Batch, table::Row};
use consonant::text::Sentence;
use rayon::prelude::*;

use super::writer::Writer;
use super::{Work, give_ids};

/// Rows that are annotated, in the form in which they are written.
enum Made {
    Table(Batch),
    /// The sentences of each row, with what it is called.
    Documents(Vec<(String, Vec<Sentence>)>),
}

impl Work<'_> {
    /// Annotates the next rows of a table, `most` of them. Several batches are annotated side by side, while those before them are written.
    pub fn rows(
        &self,
        table: &mut TableReader,
        writer: &mut Writer,
        mut most: usize,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let name = Arc::clone(table.name());
        let as_table = matches!(writer, Writer::Parquet(_));
        let mut made = Vec::new();
        loop {
            let mut batches = Vec::new();
            while batches.len() < self.context.threads
                && most > 0
                && let Some((first, batch)) = table.read(most)?
            {
                most -= batch.num_rows();
                batches.push((first, batch));
            }
            if batches.is_empty() && made.is_empty() {
                return Ok(());
            }
            let annotate = |(first, batch): &(u64, Batch)| {
                let annotated = match as_table {
                    true => annotate_batch(&self.pipeline, batch, &self.columns.text, None).map(Made::Table),
                    false => self.columns.rows(batch, &name, *first).and_then(|rows| self.documents(rows)),
                };
                annotated
                    .with_context(|| format!("{name}: rows {first} to {}", first + batch.num_rows() as u64))
            };
            let (written, next) = rayon::join(
                || made.drain(..).try_for_each(|made| write(made, writer, &name, advance)),
                || batches.par_iter().map(annotate).collect::<Result<Vec<Made>>>(),
            );
            written?;
            made = next?;
        }
    }

    fn documents(&self, rows: Vec<Row<'_>>) -> Result<Made, consonant::Error> {
        let document = |row: Row<'_>| {
            let id = row.id.unwrap_or_default();
            let mut sentences = row.text.map_or(Ok(Vec::new()), |text| self.pipeline.sentences(text))?;
            give_ids(&mut sentences, &id, &mut 0);
            Ok((id, sentences))
        };
        rows.into_par_iter().map(document).collect::<Result<_, _>>().map(Made::Documents)
    }
}

fn write(made: Made, writer: &mut Writer, name: &str, advance: &(dyn Fn(u64) + Sync)) -> Result<()> {
    match (made, &mut *writer) {
        (Made::Table(batch), Writer::Parquet(out)) => {
            out.write(&batch).with_context(|| name.to_owned())?;
            advance(batch.num_rows() as u64);
        }
        (Made::Table(_), _) => {}
        (Made::Documents(documents), writer) => {
            for (id, sentences) in documents {
                writer.sentences(&sentences, &id)?;
                advance(sentences.len() as u64);
            }
        }
    }
    writer.flush()
}
