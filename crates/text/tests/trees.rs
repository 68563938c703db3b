//! Trees against trees, as the scorer of the CoNLL 2018 shared task compares them.

use consonant_text::evaluate::{
    EvaluationError, MultiwordToken, TreeMetric, TreeScorer, TreeScores, TreeSentence, TreeWord,
};

/// Rows of a sentence of CoNLL-U with columns separated by blanks; empty nodes are left out as every caller
/// does.
fn read(text: &str) -> Vec<TreeSentence<'_>> {
    let mut sentences = vec![TreeSentence::default()];
    for line in text.lines().map(str::trim) {
        let columns: Vec<&str> = line.split(' ').collect();
        let sentence = sentences.last_mut().unwrap();
        if line.is_empty() {
            sentences.push(TreeSentence::default());
        } else if let Some((first, last)) = columns[0].split_once('-') {
            let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
            sentence.multiword.push(MultiwordToken { first, last, form: columns[1] });
        } else {
            sentence.words.push(TreeWord {
                form: columns[1],
                lemma: columns[2],
                upos: columns[3],
                xpos: columns[4],
                feats: columns[5],
                head: columns[6].parse().ok(),
                deprel: columns[7],
            });
        }
    }
    sentences
}

fn score(gold: &str, predicted: &str) -> Result<TreeScores, EvaluationError> {
    let mut scorer = TreeScorer::default().gathering_mistakes();
    for sentence in read(gold) {
        scorer.gold(&sentence)?;
    }
    for sentence in read(predicted) {
        scorer.predicted(&sentence)?;
    }
    scorer.finish()
}

const GOLD: &str = "\
1-2 Vámonos
1 Vamos ir VERB V Mood=Imp|Number=Plur|Person=1 0 root
2 nos nosotros PRON P Case=Acc|Number=Plur|Person=1|PronType=Prs 1 obj
3-4 al
3 a a ADP S _ 5 case
4 el el DET D Definite=Def|Number=Sing|PronType=Art 5 det
5 mar mar NOUN N Gender=Masc|Number=Sing 1 obl
6 , , PUNCT F _ 7 punct
7 amigo amigo NOUN N Number=Sing 1 vocative
8 . . PUNCT F _ 1 punct

1 El el DET D Definite=Def 2 det
2 perro perro NOUN N Number=Sing 4 nsubj
3 ha haber AUX V Mood=Ind 4 aux:perf
4 comido _ VERB V VerbForm=Part 0 root
5 10\u{a0}000 10000 NUM Z NumForm=Digit 6 nummod
6 panes pan NOUN N Number=Plur 4 obj";

const PREDICTED: &str = "\
1 Vámonos ir VERB V Mood=Imp|Number=Plur|Person=1 0 root
2-3 al
2 A a ADP S _ 4 case
3 el el DET D Definite=Def|PronType=Art 4 det
4 mar mar NOUN X Number=Sing|Gender=Masc|Foo=Bar 1 obl:lmod
5 , , PUNCT F _ 1 punct

1 amigo amiga NOUN N Number=Sing 0 root
2 . . PUNCT F _ 1 punct

1 El el DET D Definite=Def 2 det
2 perro perro NOUN N Number=Sing 4 nsubj
3 ha haber AUX V Mood=Ind 4 aux
4 comido comer VERB V VerbForm=Part 0 root
5 10 10 NUM Z NumForm=Digit 6 nummod
6 000 0 NUM Z NumForm=Digit 7 nummod
7 panes pan NOUN N Number=Plur 4 obj";

/// Multiword tokens on one side and both, sentences and tokens cut differently, a space within a form,
/// subtypes, features out of order and not universal, a missing lemma: what the original printed.
#[test]
fn the_originals_table() {
    let table = "\
Metric     | Precision |    Recall |  F1 Score | AligndAcc
-----------+-----------+-----------+-----------+-----------
Tokens     |     84.62 |     91.67 |     88.00 |
Sentences  |     33.33 |     50.00 |     40.00 |
Words      |     78.57 |     78.57 |     78.57 |
UPOS       |     78.57 |     78.57 |     78.57 |    100.00
XPOS       |     71.43 |     71.43 |     71.43 |     90.91
UFeats     |     71.43 |     71.43 |     71.43 |     90.91
AllTags    |     64.29 |     64.29 |     64.29 |     81.82
Lemmas     |     71.43 |     71.43 |     71.43 |     90.91
UAS        |     50.00 |     50.00 |     50.00 |     63.64
LAS        |     50.00 |     50.00 |     50.00 |     63.64
CLAS       |     37.50 |     37.50 |     37.50 |     60.00
MLAS       |     37.50 |     37.50 |     37.50 |     60.00
BLEX       |     37.50 |     37.50 |     37.50 |     60.00
";
    let scores = score(GOLD, PREDICTED).unwrap();
    assert_eq!(scores.to_string(), table);
    for (row, ratios) in scores.rows.iter().zip(scores.by_unit()) {
        assert_eq!(row.by_sentence.len(), 2);
        assert!((ratios.value() - row.counts.score().f1).abs() < 1e-15, "{}", ratios.name);
    }
    let json = serde_json::to_value(&scores).unwrap();
    assert_eq!(json["LAS"]["f1"], 0.5);
    assert_eq!(json["Tokens"].get("aligned_accuracy"), None);
}

#[test]
fn mistakes_are_what_scores_count() {
    let scores = score(GOLD, PREDICTED).unwrap();
    let count = |kind: &str| scores.mistakes.iter().filter(|mistake| mistake.kind() == kind).count() as u64;
    for (kind, metric) in [
        ("sentence", TreeMetric::Sentences),
        ("word", TreeMetric::Words),
        ("UPOS", TreeMetric::Upos),
        ("XPOS", TreeMetric::Xpos),
        ("UFeats", TreeMetric::Ufeats),
        ("Lemmas", TreeMetric::Lemmas),
        ("head", TreeMetric::Uas),
    ] {
        let row = scores.get(metric).unwrap();
        assert_eq!(count(kind), row.aligned.unwrap_or(row.counts.gold) - row.counts.correct, "{kind}");
    }
    let [uas, las] =
        [TreeMetric::Uas, TreeMetric::Las].map(|metric| scores.get(metric).unwrap().counts.correct);
    assert_eq!(count("relation"), uas - las);
    let comma = scores.mistakes.iter().find(|mistake| mistake.text == ",").unwrap();
    assert_eq!((comma.gold.as_str(), comma.predicted.as_str()), ("amigo", "Vámonos"));
    assert_eq!(comma.place[0], 0);
}

#[test]
fn a_file_is_perfect_against_itself() {
    assert_eq!(score(GOLD, GOLD).unwrap().mistakes, []);
    for row in score(GOLD, GOLD).unwrap().rows {
        assert_eq!(row.counts.score().f1, 1.0, "{}", row.metric.name());
    }
}

/// Tokens as in the original's own tests: `whole part part …` is a multiword token.
fn words(tokens: &[&str]) -> String {
    let (mut rows, mut next) = (String::new(), 1);
    for token in tokens {
        let mut parts = token.split(' ');
        let whole = parts.next().unwrap();
        let parts: Vec<&str> = parts.collect();
        if !parts.is_empty() {
            rows += &format!("{next}-{} {whole}\n", next + parts.len() - 1);
        }
        for part in if parts.is_empty() { vec![whole] } else { parts } {
            rows += &format!("{next} {part} _ _ _ _ {} _\n", usize::from(next > 1));
            next += 1;
        }
    }
    rows.trim_end().to_owned()
}

#[test]
fn words_are_aligned_as_the_original_aligns_them() {
    let cases: &[(&[&str], &[&str], u64)] = &[
        (&["abc a b c"], &["a", "b", "c"], 3),
        (&["a", "bc b c", "d"], &["a", "b", "c", "d"], 4),
        (&["abcd a b c d"], &["ab a b", "cd c d"], 4),
        (&["abc a b c", "de d e"], &["a", "bcd b c d", "e"], 5),
        (&["abcd"], &["a", "b", "c", "d"], 0),
        (&["abc", "d"], &["a", "b", "c", "d"], 1),
        (&["a", "bc", "d"], &["a", "b", "c", "d"], 2),
        (&["a", "bc b c", "d"], &["a", "b", "cd"], 2),
        (&["abc a BX c", "def d EX f"], &["ab a b", "cd c d", "ef e f"], 4),
        (&["ab a b", "cd bc d"], &["a", "bc", "d"], 2),
        (&["a", "bc b c", "d"], &["ab AX BX", "cd CX a"], 1),
    ];
    for (gold, predicted, aligned) in cases {
        let scores = score(&words(gold), &words(predicted)).unwrap();
        assert_eq!(scores.get(TreeMetric::Words).unwrap().counts.correct, *aligned, "{gold:?} {predicted:?}");
    }
}

#[test]
fn without_heads_the_rows_on_trees_are_missing() {
    let bare = "1 a _ X _ _ _ _\n2 b _ Y _ _ _ _";
    let scores = score(&words(&["a", "b"]), bare).unwrap();
    assert!(scores.get(TreeMetric::Upos).is_some() && scores.get(TreeMetric::Las).is_none());
}

#[test]
fn several_roots_are_scored() {
    let scores =
        score("1 a _ _ _ _ 0 root\n2 b _ _ _ _ 0 root", "1 a _ _ _ _ 0 root\n2 b _ _ _ _ 1 dep").unwrap();
    assert_eq!(scores.get(TreeMetric::Uas).unwrap().counts.correct, 1);
}

#[test]
fn bad_input_is_named() {
    let good = &words(&["a", "b"]);
    let error = |predicted: &str| score(good, predicted).unwrap_err().to_string();
    assert!(error("1 a _ _ _ _ 3 dep\n2 b _ _ _ _ 1 dep").contains("word 1 has head 3"));
    assert!(error("1 a _ _ _ _ 2 dep\n2 b _ _ _ _ 1 dep").contains("circle"));
    assert!(error("1 a _ _ _ _ 1 dep\n2 b _ _ _ _ 0 dep").contains("circle through word 1"));
    assert!(error("1 a _ _ _ _ 0 dep\n2 b _ _ _ _ _ dep").contains("word 2 has no head"));
    assert!(error("1-3 ab\n1 a _ _ _ _ 0 dep\n2 b _ _ _ _ 1 dep").contains("covers words 1 to 3"));
    assert!(error("1 a _ _ _ _ 0 dep\n2 c _ _ _ _ 1 dep").contains("differ after 1 characters"));
    assert!(error("1 a _ _ _ _ 0 dep\n2 \u{a0} _ _ _ _ 1 dep").contains("empty form"));
}
