//! `POST /v1/link`: who answers whom.

use consonant::Error;
use consonant::task::Task as _;
use consonant::text::jsonl::{Thread, ThreadUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::annotate::ProvenUnit;
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Link;

/// A conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LinkRequest {
    /// Its name.
    #[serde(default)]
    id: String,
    /// Its messages, in order.
    units: Vec<Message>,
}

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Message {
    /// Who wrote it.
    #[serde(default)]
    author: Option<String>,
    /// When, as `14:02` or a date with a time.
    #[serde(default)]
    time: Option<String>,
    /// What it says.
    text: String,
}

/// The links of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkAnswer {
    /// Its name.
    id: String,
    /// Pairs of source and target, counted from 0: the source answers the target.
    links: Vec<(usize, usize)>,
    /// What is proven.
    #[serde(flatten)]
    certificate: ProvenUnit,
}

impl Operation for Link {
    const PATH: &'static str = "/v1/link";
    const SUMMARY: &'static str = "Who answers whom in a conversation";
    const ABOUT: &'static str = "Needs `threads.model` among the models; 501 says that there is none.";
    const LANE: Lane = Lane::Sentences;
    type Query = NoQuery;
    type Request = LinkRequest;
    type Answer = LinkAnswer;

    fn run(work: &Work, _: NoQuery, request: LinkRequest) -> Result<LinkAnswer, Problem> {
        let linker = work.models.linker()?;
        work.check_words(request.units.iter().map(|unit| unit.text.as_str()))?;
        let mut thread = Thread::default();
        thread.id = request.id;
        let unit = |Message { author, time, text }| ThreadUnit { author, time, text };
        thread.units = request.units.into_iter().map(unit).collect();
        let mut threads = [thread];
        let units = linker.decode(&mut threads, &Default::default()).map_err(Error::task)?;
        let [Thread { id, links, .. }] = threads;
        let certificate =
            units.first().map(ProvenUnit::from).ok_or_else(|| Problem::wrong("there is no message"))?;
        Ok(LinkAnswer { id, links, certificate })
    }
}
