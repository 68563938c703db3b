//! Proofs as data, and the file they come in (`docs/proofs.md`).

use serde::{Deserialize, Serialize};

/// The version of the form that this checker reads.
pub const VERSION: u32 = 1;

/// What is claimed of a problem, and the steps that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The version of the form.
    pub consonant_proof: u32,
    /// A state for each variable; nothing when no assignment is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Vec<u32>>,
    /// The assignment's value, rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// No assignment is worth more; nothing when no assignment is allowed.
    pub bound: Option<f64>,
    /// Every score is a multiple of this, so that bounds may be rounded down to one; nothing when that is not
    /// used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
    /// The tree of cases in preorder: a split is followed by the proofs of its parts, one after the other.
    pub steps: Vec<Step>,
}

/// One step of a proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Cases of one variable: together, the parts hold every state that is still allowed.
    Split {
        /// The variable.
        variable: u32,
        /// The states of each case.
        parts: Vec<Vec<u32>>,
    },
    /// States that a factor alone rules out, as variable, state and factor, one after the other; what follows
    /// proves the rest.
    Prune(Vec<(u32, u32, u32)>),
    /// A bound on this case.
    Bound(Bound),
}

/// A dual solution. Multipliers and witnesses stay as they are from one bound to the next: only changes are
/// written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// For some factors, a number for each literal: the factor earns it when the literal holds, the variable
    /// pays it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multipliers: Vec<(u32, Vec<f64>)>,
    /// For some factors, what shows their maximum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<(u32, Witness)>,
    /// Variables to maximize out, in this order, before the rest is bounded part by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub eliminate: Vec<u32>,
    /// Whether this case has no assignment at all: with all scores at zero, the bound is below zero.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
}

/// What shows the maximum of a factor that has no closed form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Witness {
    /// The dual of an arborescence (Edmonds 1967): sets of nodes, each of which some arc must enter, with
    /// their prices.
    Sets(Vec<(Vec<u32>, f64)>),
    /// A flow for a cut: how much of each pair's score its first literal takes.
    Flow(Vec<f64>),
}

impl Proof {
    /// Reads a proof.
    pub fn read(text: &str) -> Result<Proof, crate::Refusal> {
        serde_json::from_str(text).map_err(not_a_proof)
    }

    /// Reads proofs that stand one after the other.
    pub fn read_all(text: &str) -> Result<Vec<Proof>, crate::Refusal> {
        serde_json::Deserializer::from_str(text).into_iter().map(|proof| proof.map_err(not_a_proof)).collect()
    }

    /// Writes it, a line for each step.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let head = serde_json::to_string(&Proof { steps: Vec::new(), ..self.clone() })?;
        let steps: Result<Vec<String>, _> = self.steps.iter().map(serde_json::to_string).collect();
        Ok(format!("{}\n{}\n]}}\n", head.trim_end_matches("]}"), steps?.join(",\n")))
    }
}

fn not_a_proof(error: serde_json::Error) -> crate::Refusal {
    crate::Refusal::new("the proof", format!("not a proof: {error}"))
}
