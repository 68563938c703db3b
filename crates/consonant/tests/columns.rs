//! Columns of text, annotated.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use consonant::Pipeline;
use consonant::arrow::{annotate_batch, concatenate};

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
        let out = annotate_batch(&pipeline, &given, "body").unwrap();
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
        assert!(annotate_batch(&pipeline, &out, "body").unwrap_err().to_string().contains("already"));
        assert!(annotate_batch(&pipeline, &given, "id").unwrap_err().to_string().contains("expected text"));
        assert!(annotate_batch(&pipeline, &given, "text").unwrap_err().to_string().contains("id, body"));
        assert_eq!(concatenate(&[given.clone(), given]).unwrap().unwrap().num_rows(), 6);
    }
}
