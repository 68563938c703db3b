//! Conversions between formats.

use consonant_text::convert::{Conversion, convert};
use consonant_text::input::Input;
use consonant_text::{Error, Format, Scheme};

fn run(texts: &[&str], conversion: &Conversion) -> Result<String, Error> {
    let inputs: Vec<_> =
        texts.iter().map(|text| Input::new(std::io::Cursor::new(text.to_string()), "test")).collect();
    let mut out = Vec::new();
    convert(inputs, conversion, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

const CONLLU: &str = "# newdoc\n# text = Kiel ist da.\n1\tKiel\t_\tPROPN\t_\t_\t2\tnsubj\t_\tNER=B-LOC\n\
    2\tist\t_\tAUX\t_\t_\t0\troot\t_\t_\n3\tda\t_\tADV\t_\t_\t2\tadvmod\t_\tSpaceAfter=No\n\
    4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n1\tJa\t_\t_\t_\t_\t_\t_\t_\t_\n\n";

#[test]
fn a_format_to_itself_is_the_identity() {
    let jsonl = "{\"id\":\"1\", \"tokens\":[\"a\"],\"keep\":[0]}\n\n";
    let cases = [
        (Format::Conllu, CONLLU.replace('\n', "\r\n") + "\n\n"),
        (Format::Columns, "-DOCSTART- O\n\na  O\n\n\nb O\n \n-DOCSTART-".to_owned()),
        (Format::Jsonl, jsonl.to_owned()),
        (Format::Text, "a\n\n\u{a0}b".to_owned()),
    ];
    for (format, text) in cases {
        assert_eq!(run(&[&text], &Conversion::new(format, format)).unwrap(), text);
    }
}

#[test]
fn files_are_kept_apart() {
    let row = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_";
    let conllu = Conversion::new(Format::Conllu, Format::Conllu);
    assert_eq!(run(&[row, row], &conllu).unwrap(), format!("{row}\n\n{row}"));
    assert_eq!(
        run(&["a\tO\n", "b\tO\n\n"], &Conversion::new(Format::Columns, Format::Columns)).unwrap(),
        "a\tO\n\nb\tO\n\n"
    );
}

#[test]
fn conllu_to_the_others_and_back() {
    let to = |format| run(&[CONLLU], &Conversion::new(Format::Conllu, format)).unwrap();
    assert_eq!(to(Format::Text), "Kiel ist da. Ja\n");
    let columns = to(Format::Columns);
    assert_eq!(columns, "-DOCSTART-\tO\n\nKiel\tB-LOC\nist\tO\nda\tO\n.\tO\n\nJa\tO\n\n");
    let back = run(&[&columns], &Conversion::new(Format::Columns, Format::Conllu)).unwrap();
    assert!(back.starts_with("# newdoc\n1\tKiel\t_\t_\t_\t_\t_\t_\t_\tNER=B-LOC\n2\tist\t_"), "{back}");
    assert_eq!(run(&[&back], &Conversion::new(Format::Conllu, Format::Columns)).unwrap(), columns);
    let jsonl = to(Format::Jsonl);
    assert_eq!(jsonl.lines().count(), 2);
    let again = run(&[&jsonl], &Conversion::new(Format::Jsonl, Format::Conllu)).unwrap();
    assert_eq!(again, CONLLU.replace("1\tJa", "# text = Ja\n1\tJa"));
}

#[test]
fn schemes_are_converted_and_repaired_only_on_request() {
    let bioes = Conversion {
        source_scheme: Some(Scheme::Iob2),
        scheme: Some(Scheme::Bioes),
        ..Conversion::new(Format::Columns, Format::Columns)
    };
    assert_eq!(run(&["a  B-X\nb I-X \nc O\n"], &bioes).unwrap(), "a  B-X\nb E-X \nc O\n");
    let broken = "a O\nb I-X\n";
    let error = run(&[broken], &bioes).unwrap_err().to_string();
    assert!(error.starts_with("test:2:3: expected labels in iob2, came `I-X` after `O`"), "{error}");
    let detected = Conversion { source_scheme: None, ..bioes.clone() };
    let error = run(&["a B-X\nb I-X\n\na B-X\n\na O\nb I-X\n"], &detected).unwrap_err().to_string();
    assert!(error.starts_with("test:7:3: expected labels in iob2"), "{error}");
    assert_eq!(run(&["a I-X\nb B-X\n"], &detected).unwrap(), "a S-X\nb S-X\n");
    let repair = Conversion { repair: true, ..bioes };
    assert_eq!(run(&[broken], &repair).unwrap(), "a O\nb S-X\n");
}

#[test]
fn text_needs_a_tokenizer() {
    assert!(run(&["a"], &Conversion::new(Format::Text, Format::Conllu)).is_err());
    let lines = run(&["é\n\nb c\n"], &Conversion::new(Format::Text, Format::Jsonl)).unwrap();
    assert_eq!(lines.lines().nth(1).unwrap(), r#"{"id":"2","text":"b c","start":3,"end":6}"#);
}
