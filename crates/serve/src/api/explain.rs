//! `POST /v1/explain`: what decided the tags of a text.

use consonant::Error;
use consonant::task::Task as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Explain;

/// A text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The text.
    text: String,
    /// Features that are told for each word.
    #[serde(default)]
    top: Option<usize>,
}

/// Why each word has its tag.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainAnswer {
    /// For each sentence, its words.
    sentences: Vec<Vec<Explained>>,
}

/// Why a word has its tag.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The word.
    word: String,
    /// Its tag.
    chosen: String,
    /// The tag that came next.
    rival: Option<String>,
    /// Features that tell the two apart, those with the largest difference first.
    features: Vec<Feature>,
}

/// What one feature says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Feature {
    /// The feature.
    name: String,
    /// Its score for the tag.
    chosen: f32,
    /// Its score for the rival.
    rival: f32,
}

const TOP: usize = 6;

impl Operation for Explain {
    const PATH: &'static str = "/v1/explain";
    const SUMMARY: &'static str = "What decided the part of speech of each word";
    const LANE: Lane = Lane::Sentences;
    type Query = NoQuery;
    type Request = ExplainRequest;
    type Answer = ExplainAnswer;

    fn run(work: &Work, _: NoQuery, request: ExplainRequest) -> Result<ExplainAnswer, Problem> {
        work.check_words(std::iter::once(request.text.as_str()))?;
        let pipeline = work.models.whole()?;
        let tagger =
            pipeline.tagger().ok_or_else(|| Problem::missing("there is no tagger.model among the models"))?;
        let document = pipeline.annotate(&request.text)?.document;
        let top = request.top.unwrap_or(TOP);
        let mut sentences = Vec::with_capacity(document.sentences().len());
        for sentence in document.sentences() {
            work.check_time()?;
            let explained = tagger.explain(sentence).transpose().map_err(Error::task)?.unwrap_or_default();
            let words = explained.into_iter().map(|explanation| Explained {
                word: explanation.subject,
                chosen: explanation.chosen,
                rival: explanation.rival,
                features: explanation
                    .contributions
                    .into_iter()
                    .take(top)
                    .map(|part| Feature { name: part.feature, chosen: part.chosen, rival: part.rival })
                    .collect(),
            });
            sentences.push(words.collect());
        }
        Ok(ExplainAnswer { sentences })
    }
}
