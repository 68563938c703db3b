//! `POST /v1/link`: who answers whom.

use consonant::Error;
use consonant::text::chat;
use consonant::text::jsonl::{Thread, ThreadUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::annotate::ProvenUnit;
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Link;

/// A conversation: its messages, or a log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// Its name.
    #[serde(default)]
    id: String,
    /// Its messages, in order.
    #[serde(default)]
    units: Vec<Message>,
    /// A log instead, a message a line: `[10:03] <anna> text`, `10:03 anna: text` and the like.
    #[serde(default)]
    log: Option<String>,
}

/// A message.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
    /// Its messages, as they were given or read from the log.
    units: Vec<Message>,
    /// Pairs of source and target, counted from 0: the source answers the target.
    links: Vec<(usize, usize)>,
    /// What is proven of each stretch between pauses.
    certificates: Vec<ProvenUnit>,
}

impl Operation for Link {
    const PATH: &'static str = "/v1/link";
    const SUMMARY: &'static str = "Who answers whom in a conversation";
    const ABOUT: &'static str = "Without `threads.model` among the models the answer is 501.";
    const LANE: Lane = Lane::Sentences;
    type Query = NoQuery;
    type Request = LinkRequest;
    type Answer = LinkAnswer;

    fn run(work: &Work, _: NoQuery, request: LinkRequest) -> Result<LinkAnswer, Problem> {
        let linker = work.models.linker()?;
        let texts = request.units.iter().map(|unit| unit.text.as_str());
        work.check_words(texts.chain(request.log.as_deref()))?;
        let mut thread = match (request.log, request.units) {
            (Some(log), units) if units.is_empty() => chat::read(&log, &request.id),
            (None, units) if !units.is_empty() => {
                let mut thread = Thread::new(&request.id);
                let unit = |Message { author, time, text }| ThreadUnit { author, time, text };
                thread.units = units.into_iter().map(unit).collect();
                thread
            }
            _ => return Err(Problem::wrong("give either `units` or a `log`")),
        };
        let certificates = linker.link_log(&mut thread, &Default::default()).map_err(Error::task)?;
        let message = |ThreadUnit { author, time, text }| Message { author, time, text };
        Ok(LinkAnswer {
            id: thread.id,
            units: thread.units.into_iter().map(message).collect(),
            links: thread.links,
            certificates: certificates.iter().map(ProvenUnit::from).collect(),
        })
    }
}
