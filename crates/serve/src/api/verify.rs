//! `POST /v1/verify`: checks a proof without trusting what found it.

use consonant::map::verify::{Proof, verify};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use consonant::map::problem::Format;

use super::choice::Choice;
use super::solve::GivenProblem;
use super::{Lane, NoQuery, Operation, Work};
use crate::problem::Problem;

/// The operation.
pub struct Verify;

/// A problem and a proof.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyRequest {
    /// The problem.
    problem: GivenProblem,
    /// The proof: an object as `/v1/solve?proof=true` gives it, or the text of a file.
    proof: Value,
    /// How a problem of text is written.
    #[serde(default)]
    from: Option<Choice<Format>>,
}

/// What the proof proves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyAnswer {
    /// Whether it holds.
    verified: bool,
    /// The value of the assignment.
    value: Option<f64>,
    /// No assignment is worth more; none for a proof that there is no solution.
    bound: Option<f64>,
    /// Where it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Operation for Verify {
    const PATH: &'static str = "/v1/verify";
    const SUMMARY: &'static str = "Whether a proof holds, by an independent check";
    const LANE: Lane = Lane::Solvers;
    type Query = NoQuery;
    type Request = VerifyRequest;
    type Answer = VerifyAnswer;

    fn run(work: &Work, _: NoQuery, request: VerifyRequest) -> Result<VerifyAnswer, Problem> {
        let problem = request.problem.read(work, request.from)?;
        let text = match request.proof {
            Value::String(text) => text,
            value => value.to_string(),
        };
        let proof = Proof::read(&text).map_err(|error| Problem::wrong(format!("the proof: {error}")))?;
        Ok(match verify(&problem, &proof) {
            Ok(verified) => VerifyAnswer {
                verified: true,
                value: verified.value.map(|value| problem.stated(value)),
                bound: Some(problem.stated(verified.bound)).filter(|bound| bound.is_finite()),
                reason: None,
            },
            Err(refusal) => {
                VerifyAnswer { verified: false, value: None, bound: None, reason: Some(refusal.to_string()) }
            }
        })
    }
}
