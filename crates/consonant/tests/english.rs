//! What the embedded English models make of texts as people write them: `english/examples.txt` says what is right, and where they fail today.

use std::fmt::Write as _;

use consonant::map::proof::ProofOptions;
use consonant::map::verify::verify;
use consonant::text::Sentence;
use consonant::text::jsonl::SentenceRecord;
use consonant::{Pipeline, text};

/// A text with what a reader would say of it.
struct Example<'a> {
    group: &'a str,
    line: usize,
    text: String,
    claims: Vec<(&'a str, Vec<&'a str>)>,
    fails: bool,
}

fn examples(file: &str) -> Vec<Example<'_>> {
    let mut found: Vec<Example<'_>> = Vec::new();
    let mut group = "";
    for (number, line) in file.lines().enumerate() {
        if let Some(name) = line.strip_prefix("== ") {
            group = name;
        } else if let Some(text) = line.strip_prefix("> ") {
            let text = text.replace("\\n", "\n");
            found.push(Example { group, line: number + 1, text, claims: Vec::new(), fails: false });
        } else if !line.is_empty() && !line.starts_with('#') {
            let example = found.last_mut().expect("a text comes before what is said of it");
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "fails" => example.fails = true,
                _ => example
                    .claims
                    .push((kind, rest.split(';').map(str::trim).filter(|item| !item.is_empty()).collect())),
            }
        }
    }
    found
}

/// What is not as a claim says, if anything.
fn wrong(kind: &str, items: &[&str], sentences: &[SentenceRecord]) -> Option<String> {
    let tokens = || sentences.iter().flat_map(|sentence| &sentence.tokens);
    match kind {
        "names" => {
            let names: Vec<String> = sentences
                .iter()
                .flat_map(|sentence| &sentence.entities)
                .map(|name| format!("{} {}", name.kind, name.text))
                .collect();
            (names != items).then(|| format!("names {names:?}"))
        }
        "sentences" => {
            (items != [sentences.len().to_string()]).then(|| format!("{} sentences", sentences.len()))
        }
        "tokens" => {
            let missing = items.iter().find(|item| !tokens().any(|token| token.form == **item))?;
            Some(format!("no token {missing}"))
        }
        "tags" | "lemmas" => items.iter().find_map(|item| {
            let (word, wanted) = item.rsplit_once(' ').expect("a word and what it is");
            let of = |token: &text::jsonl::TokenRecord| {
                if kind == "tags" { token.upos.clone() } else { token.lemma.clone() }
            };
            let came: Vec<String> = tokens()
                .filter(|token| token.form == word)
                .map(|token| of(token).unwrap_or_default())
                .collect();
            (!came.iter().any(|came| came == wanted)).then(|| format!("{word}: {came:?}, not {wanted}"))
        }),
        _ => panic!("there is no claim `{kind}`"),
    }
}

#[test]
fn english_is_as_its_examples_say() {
    let english = Pipeline::english().expect("the embedded models");
    let examples = examples(include_str!("english/examples.txt"));
    assert!(examples.len() >= 100 && examples.iter().all(|example| !example.claims.is_empty()));
    let (mut right, mut surprises) = (0, String::new());
    for Example { group, line, text, claims, fails } in &examples {
        let sentences = english.annotate(text).expect("an annotation").document.records();
        let wrong = claims.iter().find_map(|(kind, items)| wrong(kind, items, &sentences));
        right += usize::from(wrong.is_none());
        match wrong {
            Some(wrong) if !fails => writeln!(surprises, "line {line} ({group}): {wrong}").unwrap(),
            None if *fails => {
                writeln!(surprises, "line {line} ({group}): right now; take out `fails`").unwrap()
            }
            _ => {}
        }
    }
    assert!(surprises.is_empty(), "{right} of {} are right\n{surprises}", examples.len());
}

/// A text is one document, whether it comes whole or as a stream: names agree in the same way.
#[test]
fn whole_texts_and_streams_give_the_same_names() {
    let pipeline = Pipeline::english().unwrap();
    let name = "Olsen met Kate at the ferry. Dr. Olsen of Tessel Bank left Kiel. The Tessel Bank closed. Kiel was wet.\n\n";
    let text = name.repeat(40);
    let labels = |sentences: &[Sentence]| -> Vec<String> {
        let words = |sentence: &Sentence| {
            (0..sentence.len()).map(|word| sentence.entity_label(word).to_string()).collect::<Vec<_>>()
        };
        sentences.iter().flat_map(words).collect()
    };
    let mut streamed = Vec::new();
    pipeline
        .stream(text.as_bytes(), &"text".into(), |sentences, _| {
            streamed.extend(labels(sentences));
            Ok::<(), consonant::Error>(())
        })
        .unwrap();
    let whole = pipeline.annotate(&text).unwrap();
    assert_eq!(labels(whole.document.sentences()), streamed);
    assert_eq!(labels(&pipeline.sentences(&text).unwrap()), streamed);
    assert!(streamed.iter().any(|label| label != "O"));
}

/// Names that agree and trees are proven to be the best, and the proofs are about what was annotated.
#[test]
fn names_and_trees_are_proven() {
    let pipeline = Pipeline::english().unwrap();
    let sentences =
        pipeline.sentences("Ann Smith lives in Kiel. Smith saw Kiel grow, and she liked it.").unwrap();
    let problems = pipeline.problems(&sentences).unwrap();
    assert_eq!(
        problems.iter().map(|(task, found)| (*task, found.len())).collect::<Vec<_>>(),
        [("ner", 1), ("parser", 2)]
    );
    for (task, answered) in problems.iter().flat_map(|(task, all)| all.iter().map(move |one| (task, one))) {
        let (proof, certificate) = answered.prove(&ProofOptions::default()).unwrap();
        assert!(certificate.is_optimal(), "{task}: {certificate:?}");
        assert_eq!(verify(&answered.problem, &proof).unwrap().value, certificate.value());
    }
    for (sentence, answered) in sentences.iter().zip(&problems[1].1) {
        let (variables, states) = (&answered.problem.variables, answered.answer.as_deref().unwrap());
        for word in 0..sentence.len() {
            let arc = format!("{}>{}", sentence.head(word).unwrap(), word + 1);
            let at = variables.iter().position(|variable| variable.name == arc).unwrap();
            assert_eq!(states[at] as usize + 1, variables[at].scores.len(), "{arc}");
        }
    }
}
