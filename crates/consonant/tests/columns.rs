//! Columns of text, annotated.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use consonant::Pipeline;
use consonant::arrow::{ConlluReader, annotate_batch, concatenate};

const TEXTS: [Option<&str>; 3] = [Some("Ann Smith lives in Kiel."), None, Some("Zoë 😀 ate. Bob left.")];

#[test]
fn places_are_characters_and_nulls_stay() {
    let pipeline = Pipeline::english().unwrap();
    let columns: [ArrayRef; 3] = [
        Arc::new(StringArray::from_iter(TEXTS)),
        Arc::new(LargeStringArray::from_iter(TEXTS)),
        Arc::new(StringViewArray::from_iter(TEXTS)),
    ];
    for text in columns {
        let id: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let given = RecordBatch::try_from_iter([("id", id), ("body", text)]).unwrap();
        let out = annotate_batch(&pipeline, &given, "body", None).unwrap();
        let [sentences, entities] =
            ["sentences", "entities"].map(|name| out.column_by_name(name).unwrap().as_list::<i32>());
        assert!(sentences.is_null(1) && entities.is_null(1) && out.num_columns() == 4);
        assert_eq!((sentences.value_length(0), sentences.value_length(2)), (1, 2));
        for row in [0, 2] {
            let characters: Vec<char> = TEXTS[row].unwrap().chars().collect();
            let sentences = sentences.value(row);
            let tokens = sentences.as_struct().column_by_name("tokens").unwrap().as_list::<i32>().value(0);
            for found in [sentences.as_struct(), tokens.as_struct(), entities.value(row).as_struct()] {
                let number = |name: &str| found.column_by_name(name).unwrap().as_primitive::<Int32Type>();
                let text = found.column_by_name("text").unwrap().as_string::<i32>();
                for place in 0..found.len() {
                    let (start, end) = (number("start").value(place), number("end").value(place));
                    let written: String = characters[start as usize..end as usize].iter().collect();
                    assert_eq!(written, text.value(place));
                }
            }
        }
        assert!(annotate_batch(&pipeline, &out, "body", None).unwrap_err().to_string().contains("already"));
        assert!(
            annotate_batch(&pipeline, &given, "id", None).unwrap_err().to_string().contains("expected text")
        );
        assert!(
            annotate_batch(&pipeline, &given, "text", None).unwrap_err().to_string().contains("id, body")
        );
        assert_eq!(concatenate(&[given.clone(), given]).unwrap().unwrap().num_rows(), 6);
    }
}

#[test]
fn nobody_waits_for_what_was_stopped() {
    let pipeline = Pipeline::english().unwrap();
    let text: ArrayRef = Arc::new(StringArray::from_iter(TEXTS));
    let given = RecordBatch::try_from_iter([("text", text)]).unwrap();
    let [going, stopped] = [false, true].map(std::sync::atomic::AtomicBool::new);
    assert_eq!(annotate_batch(&pipeline, &given, "text", Some(&going)).unwrap().num_rows(), 3);
    assert!(annotate_batch(&pipeline, &given, "text", Some(&stopped)).is_err());
}

#[test]
fn files_of_conllu_are_a_stream_of_columns() {
    let folder = std::env::temp_dir().join(format!("consonant-columns-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [first, second, broken] = ["a", "b", "c"].map(|name| folder.join(format!("{name}.conllu")));
    let text = "# newdoc id = d\n# sent_id = s1\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n\
        1\tca\tcan\tAUX\tMD\t_\t0\troot\t_\tNER=B-X\n2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_\n\n\
        1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    std::fs::write(&first, text).unwrap();
    std::fs::write(&second, "1\tOn\t_\t_\t_\t_\t_\t_\t_\t_\n\n").unwrap();
    std::fs::write(&broken, "1\tOn\n\n").unwrap();
    let batches: Vec<RecordBatch> =
        ConlluReader::open([first.clone(), second], 2).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
    let text = |batch: &RecordBatch, name: &str, row| {
        let column = batch.column_by_name(name).unwrap().as_string::<i32>();
        (!column.is_null(row)).then(|| column.value(row).to_owned())
    };
    assert_eq!(text(&batches[0], "text", 0).as_deref(), Some("can't"));
    assert_eq!([0, 1].map(|row| text(&batches[0], "doc", row).unwrap()), ["d", "d"]);
    assert_eq!((text(&batches[0], "id", 1), text(&batches[1], "doc", 0)), (None, None));
    let [tokens, multiword] = ["tokens", "multiword"]
        .map(|name| batches[0].column_by_name(name).unwrap().as_list::<i32>().value(0));
    let heads = tokens.as_struct().column_by_name("head").unwrap().as_primitive::<Int32Type>();
    assert_eq!(heads.values(), &[0, 1]);
    let entity = tokens.as_struct().column_by_name("entity").unwrap().as_string::<i32>();
    assert_eq!((entity.value(0), entity.is_null(1)), ("B-X", true));
    assert_eq!(
        multiword.as_struct().column_by_name("end").unwrap().as_primitive::<Int32Type>().values(),
        &[2]
    );
    let mut faulty = ConlluReader::open([first, broken], 2).unwrap();
    assert!(faulty.next().unwrap().is_ok());
    assert!(faulty.next().unwrap().unwrap_err().to_string().contains("c.conllu:1"));
    assert!(faulty.next().is_none());
    assert!(ConlluReader::open([folder.join("none.conllu")], 2).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
