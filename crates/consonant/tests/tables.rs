//! Tables in files: what is written is read back, batch by batch, and what is wrong is told with its row or line.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use consonant::arrow::annotate_batch;
use consonant::arrow::table::{Columns, TableReader, TableWriter, is_parquet};
use consonant::text::input::Input;
use consonant::{Layers, Models, Pipeline};

fn columns(id: Option<&str>) -> Columns {
    Columns { text: "text".into(), id: id.map(str::to_owned) }
}

/// 300 rows with an id and a text, of which every hundredth is null.
fn rows() -> RecordBatch {
    let texts = (0..300).map(|row| (row % 100 != 7).then(|| format!("Ann met {row} people. Bob left.")));
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(1000..1300))),
        ("text", Arc::new(StringArray::from_iter(texts))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

fn written(path: &Path, batches: &[RecordBatch]) {
    let mut writer = TableWriter::new(File::create(path).unwrap());
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
}

fn segmenter() -> Pipeline {
    let folder = tempfile::tempdir().unwrap();
    Pipeline::open(&Models::folder(folder.path()).unwrap(), Layers::default()).unwrap()
}

#[test]
fn rows_come_back_in_pieces_of_any_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let rows = rows();
    written(&path, &[rows.slice(0, 17), rows.slice(17, 283)]);
    assert!(is_parquet(&path) && !is_parquet(folder.path()));
    for size in [1, 7, 128, usize::MAX] {
        let mut reader = TableReader::parquet(&path, columns(Some("id"))).unwrap();
        let mut next = 0;
        while let Some((first, batch)) = reader.read(size).unwrap() {
            assert!(first == next && batch.num_rows() <= size.min(128));
            assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(0), 1000 + first as i64);
            let named = columns(Some("id")).rows(&batch, "rows", first).unwrap();
            assert_eq!(named[0].id, Some((1000 + first).to_string()));
            next += batch.num_rows() as u64;
        }
        assert!(next == 300 && reader.is_done().unwrap());
    }
    let mut reader = TableReader::parquet(&path, columns(None)).unwrap();
    reader.skip(290).unwrap();
    let (first, batch) = reader.read(100).unwrap().unwrap();
    assert_eq!((first, batch.num_rows()), (290, 10));
    assert_eq!(columns(None).rows(&batch, "rows", first).unwrap()[0].id.as_deref(), Some("rows:290"));
}

#[test]
fn annotated_rows_are_written_and_keep_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("annotated.parquet");
    let annotated = annotate_batch(&segmenter(), &rows(), "text", None).unwrap();
    written(&path, std::slice::from_ref(&annotated));
    let mut reader = TableReader::parquet(&path, columns(None)).unwrap();
    let mut seen = 0;
    while let Some((_, batch)) = reader.read(usize::MAX).unwrap() {
        assert_eq!(batch.columns(), annotated.slice(seen, batch.num_rows()).columns());
        seen += batch.num_rows();
    }
    assert_eq!(seen, 300);
    let empty = folder.path().join("empty.parquet");
    written(&empty, &[rows().slice(0, 0)]);
    let mut reader = TableReader::parquet(&empty, columns(None)).unwrap();
    assert_eq!(reader.read(5).unwrap().unwrap().1.num_rows(), 0);
    assert!(reader.read(5).unwrap().is_none());
}

#[test]
fn lines_of_json_are_rows() {
    let lines = "{\"id\": 7, \"text\": \"Ann left.\", \"more\": [1]}\n\n{\"text\": null, \"id\": \"x\"}\n";
    let mut reader =
        TableReader::jsonl(Input::new(lines.as_bytes(), "posts.jsonl").unwrap(), columns(Some("id")));
    let (first, batch) = reader.read(9).unwrap().unwrap();
    let rows = columns(Some("id")).rows(&batch, "posts", first).unwrap();
    assert_eq!((rows[0].id.as_deref(), rows[0].text), (Some("7"), Some("Ann left.")));
    assert_eq!((rows[1].id.as_deref(), rows[1].text), (Some("x"), None));
    assert!(reader.read(9).unwrap().is_none());
    for (lines, said) in [
        ("{\"text\": \"a\"}\n{\"body\": \"b\"}\n", "t: line 2: there is no `text`; the fields are body"),
        ("{\"text\": 1}\n", "t: line 1: `text` is not text"),
        ("\n[1]\n", "t: line 2: expected an object"),
    ] {
        let mut reader = TableReader::jsonl(Input::new(lines.as_bytes(), "t").unwrap(), columns(None));
        let error = reader.read(9).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes.parquet");
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"Ann left."[..]), None, Some(b"a\xff")]));
    written(&path, &[RecordBatch::try_from_iter_with_nullable([("text", bytes, true)]).unwrap()]);
    let said = TableReader::parquet(&path, columns(None)).unwrap().read(9).unwrap_err().to_string();
    assert!(said.ends_with("bytes.parquet: row 2: `text` is not UTF-8 (byte 1)"), "{said}");
    let said = TableReader::parquet(&path, columns(Some("key"))).unwrap_err().to_string();
    assert!(said.ends_with("there is no column `key`; the columns are text"), "{said}");
    let half = std::fs::read(&path).unwrap();
    std::fs::write(&path, &half[..half.len() / 2]).unwrap();
    assert!(TableReader::parquet(&path, columns(None)).unwrap_err().to_string().contains("bytes.parquet"));
    let mut writer = TableWriter::new(Vec::new());
    writer.write(&rows()).unwrap();
    let other = rows().project(&[1]).unwrap();
    assert!(writer.write(&other).unwrap_err().to_string().contains("its columns are not those"));
    assert!(TableWriter::new(Vec::new()).finish().is_err());
}
