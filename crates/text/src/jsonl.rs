//! JSONL: one object a line, for summaries, compressions, conversations and annotated sentences.
//!
//! What is read can be changed and written back: lines that were not changed come out byte for byte, and
//! fields that this crate does not know stay where they were.
//!
//! ```
//! use consonant_text::jsonl::{JsonlReader, Thread, write_record};
//!
//! let line = r#"{"id": "t1", "room": 7, "units": [{"author": "ann", "time": null, "text": "hi"}, {"author": "bob", "time": null, "text": "ann: hi"}], "links": []}"#;
//! let mut thread: Thread = JsonlReader::new(line.as_bytes(), "t.jsonl").next().unwrap()?;
//! let mut out = Vec::new();
//! write_record(&thread, &mut out)?;
//! assert_eq!(String::from_utf8(out.clone())?, line);
//! thread.links.push((1, 0));
//! out.clear();
//! write_record(&thread, &mut out)?;
//! assert!(String::from_utf8(out)?.contains(r#""room":7"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod reader;
mod record;
mod sentence;

pub use crate::error::Fault;
pub use reader::JsonlReader;
pub use record::{
    AnyRecord, CompressionPair, Record, Source, TextRecord, Thread, ThreadUnit, Topic, TopicDocument,
    TopicSentence, write_record,
};
pub use sentence::{EntityRecord, MultiwordRecord, SCHEMA, SentenceRecord, TokenRecord};
