//! Streams of Arrow: tables in, tables out.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use consonant::Pipeline;
use consonant::arrow::annotate_batch;
use consonant_serve::Limits;

use crate::client::Running;

const KIND: &str = "application/vnd.apache.arrow.stream";

fn rows(texts: &[Option<&str>]) -> RecordBatch {
    let ids = Int64Array::from_iter_values(0..texts.len() as i64);
    let texts = StringArray::from_iter(texts.iter().copied());
    RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("text", Arc::new(texts) as _)]).unwrap()
}

fn written(batches: &[RecordBatch], first: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), first.schema_ref()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn read(bytes: &[u8]) -> RecordBatch {
    let reader = StreamReader::try_new(bytes, None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    consonant::arrow::concatenate(&batches).unwrap().unwrap_or_else(|| RecordBatch::new_empty(schema))
}

#[test]
fn a_table_comes_back_with_what_the_library_says_of_it() {
    let server = Running::plain();
    let long = "Ann Smith met Bob in Kiel. They can't row. ".repeat(400);
    let given: Vec<RecordBatch> = [
        vec![Some("Ann lives in Kiel."), None, Some(""), Some("Zoë 😀 ate.")],
        vec![],
        (0..20).map(|row| Some(if row % 7 == 0 { long.as_str() } else { "She works for Google." })).collect(),
    ]
    .iter()
    .map(|texts| rows(texts))
    .collect();
    let answer = server.post_bytes("/v1/annotate", KIND, &written(&given, &given[0]));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.head.contains(KIND), "{}", answer.head);
    let pipeline = Pipeline::english().unwrap();
    let expected: Vec<RecordBatch> =
        given.iter().map(|batch| annotate_batch(&pipeline, batch, "text", None).unwrap()).collect();
    let came = read(&answer.body);
    assert_eq!(came, consonant::arrow::concatenate(&expected).unwrap().unwrap());
    assert!(came.column_by_name("sentences").unwrap().is_null(1));
    assert_eq!(came.column_by_name("entities").unwrap().as_list::<i32>().value_length(0), 2);
}

#[test]
fn a_table_without_rows_still_has_its_columns() {
    let server = Running::plain();
    let none = rows(&[]);
    let came = read(&server.post_bytes("/v1/annotate", KIND, &written(&[], &none)).body);
    let names: Vec<&str> = came.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!((names, came.num_rows()), (vec!["id", "text", "sentences", "entities"], 0));
}

#[test]
fn what_is_wrong_with_a_table_is_told_or_breaks_the_answer_off() {
    let server = Running::with(Limits::new().max_bytes(70_000_usize));
    let batch = rows(&[Some("Ann sleeps.")]);
    let good = written(std::slice::from_ref(&batch), &batch);
    let column = server.post_bytes("/v1/annotate?text=body", KIND, &good);
    assert_eq!(
        (column.status, column.problem().as_str()),
        (400, "there is no column `body`; the columns are id, text")
    );
    let number = server.post_bytes("/v1/annotate?text=id", KIND, &good).problem();
    assert_eq!(number, "the column `id` is Int64; expected text");
    for broken in [&b""[..], b"{}", &good[..40], &good[..good.len() - 60], &[0xff; 64]] {
        let answer = server.post_bytes("/v1/annotate", KIND, broken);
        assert_eq!(answer.status, 400, "{}", answer.text());
        answer.problem();
    }
    let large = rows(&[Some("x".repeat(80_000).as_str())]);
    let answer = server.post_bytes("/v1/annotate", KIND, &written(std::slice::from_ref(&large), &large));
    assert_eq!(answer.status, 413, "{}", answer.text());
    // The first rows are answered before it is known that the others are too large.
    let small = rows(&[Some("Ann sleeps.")]);
    let answer = server.post_bytes("/v1/annotate", KIND, &written(&[small.clone(), large], &small));
    assert_eq!(answer.status, 200);
    let outcome: Result<Vec<RecordBatch>, _> =
        StreamReader::try_new(&answer.body[..], None).unwrap().collect();
    assert!(outcome.is_err() || outcome.unwrap().len() == 1, "an answer that breaks off has no end");
    assert!(!answer.body.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), "the mark of an end");
}
