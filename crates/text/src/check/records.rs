use super::Desk;
use super::report::RecordReport;
use crate::error::Error;
use crate::input::Input;
use crate::jsonl::{AnyRecord, JsonlReader};

impl Desk<'_> {
    /// Reads all records and notes what there is to note.
    pub(super) fn records(&mut self, reader: JsonlReader<Input, AnyRecord>) -> Result<(), Error> {
        let mut reader = reader.max_length(self.check.max_length);
        let mut counts = RecordReport::default();
        while let Some((line, record)) = reader.read_valid(&mut self.file.errors)? {
            self.file.sentences += 1;
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
                AnyRecord::Text(record) => {
                    counts.texts += 1;
                    record.text.split_whitespace().collect()
                }
                AnyRecord::Sentence(sentence) => {
                    counts.sentences += 1;
                    sentence.tokens.iter().map(|token| token.form.as_str()).collect()
                }
            };
            self.file.words += texts.len() as u64;
            self.note(texts.into_iter(), line);
        }
        self.file.records = Some(counts);
        Ok(())
    }
}
