use std::io::Read;
use std::sync::Arc;

use super::report::{Against, FileReport, RecordReport};
use super::{Check, Memory};
use crate::error::Error;
use crate::jsonl::{AnyRecord, JsonlReader};

/// Reads all records and notes what there is to note.
pub(super) fn look_through(
    stream: impl Read,
    name: Arc<str>,
    check: &Check,
    file: &mut FileReport,
    memory: &mut Memory,
    train: Option<&Memory>,
    against: &mut Against,
) -> Result<(), Error> {
    let mut reader = JsonlReader::<_, AnyRecord>::new(stream, name).max_length(check.max_length);
    let mut counts = RecordReport::default();
    while let Some((line, record)) = reader.read_valid(&mut file.errors)? {
        file.sentences += 1;
        // What makes a record: two with the same texts are duplicates.
        let texts: Vec<&str> = match &record {
            AnyRecord::Topic(topic) => {
                counts.topics += 1;
                counts.documents += topic.documents.len() as u64;
                counts.summaries += topic.summaries.len() as u64;
                topic.documents.iter().flat_map(|document| document.text.split_whitespace()).collect()
            }
            AnyRecord::Thread(thread) => {
                counts.threads += 1;
                counts.units += thread.units.len() as u64;
                counts.links += thread.links.len() as u64;
                thread.units.iter().flat_map(|unit| unit.text.split_whitespace()).collect()
            }
            AnyRecord::Compression(pair) => {
                counts.compressions += 1;
                counts.tokens += pair.tokens.len() as u64;
                counts.kept_tokens += pair.keep.iter().map(|&keep| u64::from(keep)).sum::<u64>();
                pair.tokens.iter().map(String::as_str).collect()
            }
            AnyRecord::Sentence(sentence) => {
                counts.sentences += 1;
                sentence.tokens.iter().map(|token| token.form.as_str()).collect()
            }
        };
        file.words += texts.len() as u64;
        memory.note(texts.into_iter(), line, file, train, against);
    }
    file.records = Some(counts);
    Ok(())
}
