use std::path::Path;

use consonant_text::evaluate::{EvaluationError, MultiwordToken, TreeScorer, TreeSentence, TreeWord};
use consonant_text::{Layer, RowId, Sentence, SentenceReader};

use super::{Detail, Scored, nothing_to_score};
use crate::Error;

/// The scores of the CoNLL 2018 shared task, from tokens to labelled trees, on CoNLL-U. Gold and prediction may cut the same text into
/// different tokens and sentences.
pub fn trees(gold: &Path, predicted: &Path, detail: Detail) -> Result<Scored, Error> {
    let mut places = Vec::new();
    let mut scorer = TreeScorer::default();
    if detail == Detail::Mistakes {
        scorer = scorer.gathering_mistakes();
    }
    read(gold, |place, sentence| {
        if detail == Detail::Mistakes {
            places.push(place());
        }
        scorer.gold(sentence)
    })?;
    read(predicted, |_, sentence| scorer.predicted(sentence))?;
    let scores = scorer.finish().map_err(Error::task)?;
    Ok(Scored::new(&scores, scores.by_unit())?.with_mistakes(scores.mistakes, places))
}

/// Gives the sentences of a file, each with what says where it stands.
fn read(
    path: &Path,
    mut push: impl FnMut(&dyn Fn() -> String, &TreeSentence) -> Result<(), EvaluationError>,
) -> Result<(), Error> {
    let mut reader = SentenceReader::open_conllu(path)?;
    let mut sentence = Sentence::new();
    let mut is_empty = true;
    while reader.read(&mut sentence)? {
        is_empty = false;
        let place = || format!("{}:{}", path.display(), sentence.line());
        push(&place, &tree_sentence(&sentence))
            .map_err(|error| Error::Score(format!("{}: {error}", place())))?;
    }
    if is_empty { Err(nothing_to_score(reader.name(), "sentences in CoNLL-U")) } else { Ok(()) }
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
