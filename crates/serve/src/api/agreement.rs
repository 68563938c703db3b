//! `POST /v1/agreement`: the names of a text, sentence by sentence and as they agree.

use consonant::Error;
use consonant::ner::Tie;
use consonant::task::Task as _;
use consonant::text::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::annotate::ProvenUnit;
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Agreement;

/// A text, one document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreementRequest {
    /// The text.
    text: String,
    /// How much agreement counts beside what a sentence itself says (default: what the model has learned, or a half).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    strength: Option<f32>,
}

/// Two labellings of a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgreementAnswer {
    /// The sentences.
    sentences: Vec<Labelled>,
    /// What was tied together: phrases first.
    ties: Vec<TiedPlaces>,
    /// What is proven of the labels that agree.
    units: Vec<ProvenUnit>,
    /// How much agreement counted.
    strength: f32,
    /// Whether the model has learned how to agree; all ties count the same otherwise.
    learned: bool,
}

/// A sentence, labelled twice.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Labelled {
    /// Its words.
    words: Vec<String>,
    /// For each word, whether white space follows.
    spaces: Vec<bool>,
    /// Labels of the sentence by itself, such as `B-LOC`.
    alone: Vec<String>,
    /// Labels that agree with other sentences.
    agreed: Vec<String>,
}

/// Two places that should be labelled alike.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TiedPlaces {
    /// What is written there.
    text: String,
    /// The two places.
    places: [Place; 2],
}

/// Words of a sentence.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Place {
    /// The sentence, counted from 0.
    sentence: usize,
    /// The first word.
    start: usize,
    /// The word after the last.
    end: usize,
}

/// What agreement counts where nobody says, for a model that has learned none.
const STRENGTH: f32 = 0.5;

impl Operation for Agreement {
    const PATH: &'static str = "/v1/agreement";
    const SUMMARY: &'static str = "The names of a text, sentence by sentence and as they agree";
    const LANE: Lane = Lane::Sentences;
    type Query = NoQuery;
    type Request = AgreementRequest;
    type Answer = AgreementAnswer;

    fn run(work: &Work, _: NoQuery, request: AgreementRequest) -> Result<AgreementAnswer, Problem> {
        work.check_words(std::iter::once(request.text.as_str()))?;
        if request.strength.is_some_and(|strength| !(0.0..=100.0).contains(&strength)) {
            return Err(Problem::bad("strength is a number from 0 to 100"));
        }
        let pipeline = work.models.whole()?;
        let names =
            pipeline.names().ok_or_else(|| Problem::missing("there is no ner.model among the models"))?;
        let learned = !names.agreement_weights().is_empty();
        let strength = request.strength.unwrap_or(if learned { names.strength() } else { STRENGTH });
        let agreeing = names.agreeing(strength);
        let mut alone = pipeline.annotate(&request.text)?.document.into_sentences();
        alone.first_mut().into_iter().for_each(Sentence::mark_document);
        let mut agreed = alone.clone();
        names.alone().decode(&mut alone, &Default::default()).map_err(Error::task)?;
        let ties = agreeing.ties(&agreed);
        let units = agreeing.decode(&mut agreed, &Default::default()).map_err(Error::task)?;
        let labels = |sentence: &Sentence| -> Vec<String> {
            (0..sentence.len()).map(|word| sentence.entity_label(word).to_owned()).collect()
        };
        let sentences = alone.iter().zip(&agreed).map(|(alone, agreed)| Labelled {
            words: (0..alone.len()).map(|word| alone.form(word).to_owned()).collect(),
            spaces: spaces(alone),
            alone: labels(alone),
            agreed: labels(agreed),
        });
        Ok(AgreementAnswer {
            ties: ties.into_iter().filter_map(|tie| tied(tie, &alone)).collect(),
            sentences: sentences.collect(),
            units: units.iter().map(ProvenUnit::from).collect(),
            strength,
            learned,
        })
    }
}

/// For each word, whether white space follows; none within a token of several words.
fn spaces(sentence: &Sentence) -> Vec<bool> {
    let mut spaces = vec![false; sentence.len()];
    for token in sentence.surface_tokens() {
        if let Some(last) = token.words.end.checked_sub(1)
            && let Some(space) = spaces.get_mut(last)
        {
            *space = !token.spaces().is_empty();
        }
    }
    spaces
}

/// A tie, unless it ties words that are written without a capital: these have no weight.
fn tied(tie: Tie, sentences: &[Sentence]) -> Option<TiedPlaces> {
    let [(sentence, words), _] = &tie.places;
    let forms: Vec<&str> = words.clone().map(|word| sentences[*sentence].form(word)).collect();
    let text = forms.join(" ");
    let places = tie.places.map(|(sentence, words)| Place { sentence, start: words.start, end: words.end });
    text.starts_with(char::is_uppercase).then_some(TiedPlaces { text, places })
}
