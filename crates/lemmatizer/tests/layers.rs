//! Treebanks that have lemmas without features, features without lemmas, or neither.

use consonant_lemmatizer::{Lemmatizer, LemmatizerError, LemmatizerOptions, LemmatizerSettings};
use consonant_task::{Data, Task, Trained, Watch};
use consonant_text::Sentence;

fn train(lemma: &str, feats: &str) -> Result<Trained, LemmatizerError> {
    let row = format!("1\tdogs\t{lemma}\tNOUN\tNNS\t{feats}\t_\t_\t_\t_\n\n");
    let sentences = vec![Sentence::from_conllu(&row).unwrap(); 4];
    Lemmatizer::train(&Data::new(&sentences), &LemmatizerSettings::new(), &mut Watch::none())
}

#[test]
fn what_the_data_have_is_learned_and_filled_in() {
    for (lemma, feats, expected) in [
        ("dog", "Number=Plur", ("cat", "Number=Plur")),
        ("dog", "_", ("cat", "_")),
        ("_", "Number=Plur", ("_", "Number=Plur")),
    ] {
        let trained = train(lemma, feats).unwrap();
        assert_eq!(trained.summary.contains("lemmas:"), lemma != "_", "{}", trained.summary);
        assert_eq!(trained.summary.contains("features:"), feats != "_", "{}", trained.summary);
        let lemmatizer = Lemmatizer::open(&trained.open().unwrap()).unwrap();
        let mut unknown = vec![Sentence::from_conllu("1\tcats\t_\tNOUN\tNNS\t_\t_\t_\t_\t_\n\n").unwrap()];
        lemmatizer.decode(&mut unknown, &LemmatizerOptions::new()).unwrap();
        assert_eq!((unknown[0].lemma(0), unknown[0].feats(0)), expected);
        assert!(!lemmatizer.inspect(3).facts.is_empty());
    }
}

#[test]
fn data_without_either_are_refused() {
    let message = train("_", "_").map(|trained| trained.summary).unwrap_err().to_string();
    assert!(message.contains("lemma"), "{message}");
}

/// Who goes on from a model keeps the words that only the model knows, and learns those of the new data.
#[test]
fn a_lemmatizer_can_be_gone_on_from() {
    let data = |form: &str, lemma: &str| {
        let row = format!("1\t{form}\t{lemma}\tNOUN\tNNS\tNumber=Plur\t_\t_\t_\t_\n\n");
        vec![Sentence::from_conllu(&row).unwrap(); 6]
    };
    let (mice, oxen) = (data("mice", "mouse"), data("oxen", "ox"));
    let settings = LemmatizerSettings::new();
    let first = Lemmatizer::train(&Data::new(&mice), &settings, &mut Watch::none()).unwrap();
    let first = first.open().unwrap();
    let mut more = Data::new(&oxen);
    more.initial = Some(&first);
    let second = Lemmatizer::train(&more, &settings, &mut Watch::none()).unwrap();
    let lemmatizer = Lemmatizer::open(&second.open().unwrap()).unwrap();
    for (form, lemma) in [("mice", "mouse"), ("oxen", "ox")] {
        let mut sentence = data(form, "_");
        lemmatizer.decode(&mut sentence, &LemmatizerOptions::new()).unwrap();
        assert_eq!((sentence[0].lemma(0), sentence[0].feats(0)), (lemma, "Number=Plur"));
    }
    let other = LemmatizerSettings::new().given(consonant_tagger::Column::Upos);
    let refused = Lemmatizer::train(&more, &other, &mut Watch::none()).unwrap_err().to_string();
    assert!(refused.contains("--given upos+xpos"), "{refused}");
}
