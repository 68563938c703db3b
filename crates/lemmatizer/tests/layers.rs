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
