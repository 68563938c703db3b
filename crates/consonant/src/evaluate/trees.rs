use std::path::Path;

use consonant_text::evaluate::{EvaluationError, MultiwordToken, TreeScorer, TreeSentence, TreeWord};
use consonant_text::{Layer, RowId, Sentence, SentenceReader};

use super::{Scored, nothing_to_score};
use crate::Error;

/// The scores of the CoNLL 2018 shared task, from tokens to labelled trees, on CoNLL-U. Gold and prediction may cut the same text into
/// different tokens and sentences.
pub fn trees(gold: &Path, predicted: &Path) -> Result<Scored, Error> {
    let mut scorer = TreeScorer::default();
    let places = read(gold, |sentence| scorer.gold(sentence))?;
    read(predicted, |sentence| scorer.predicted(sentence))?;
    let scores = scorer.finish().map_err(Error::task)?;
    Ok(Scored::new(&scores, scores.by_unit())?.with_mistakes(scores.mistakes, places))
}

/// Takes the sentences of a file; gives where each of them stands.
fn read(
    path: &Path,
    mut push: impl FnMut(&TreeSentence) -> Result<(), EvaluationError>,
) -> Result<Vec<String>, Error> {
    let mut reader = SentenceReader::open_conllu(path)?;
    let mut sentence = Sentence::new();
    let mut places = Vec::new();
    while reader.read(&mut sentence)? {
        let place = format!("{}:{}", path.display(), sentence.line());
        push(&tree_sentence(&sentence)).map_err(|error| Error::Score(format!("{place}: {error}")))?;
        places.push(place);
    }
    if places.is_empty() {
        return Err(nothing_to_score(reader.name(), "sentences in CoNLL-U"));
    }
    Ok(places)
}

fn tree_sentence(sentence: &Sentence) -> TreeSentence<'_> {
    let word = |word| TreeWord {
        form: sentence.form(word),
        lemma: sentence.lemma(word),
        upos: sentence.upos(word),
        xpos: sentence.xpos(word),
        feats: sentence.feats(word),
        head: sentence.head(word).map(|head| head as usize),
        deprel: sentence.deprel(word),
    };
    let multiword = sentence.rows().filter_map(|row| match row.id() {
        RowId::Multiword(first, last) => {
            Some(MultiwordToken { first: first as usize, last: last as usize, form: row.layer(Layer::Form) })
        }
        _ => None,
    });
    TreeSentence { multiword: multiword.collect(), words: (0..sentence.len()).map(word).collect() }
}
