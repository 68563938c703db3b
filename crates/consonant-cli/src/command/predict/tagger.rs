//! Prediction with a tagger.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use consonant_learn::model::Model;
use consonant_tagger::{Request, Tagger};

use super::Predict;
use super::frame::{self, Conllu};
use super::report::Unit;
use crate::context::Context;

/// Tags CoNLL-U.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if let Some(decoder) = command.decoder.as_deref().filter(|&decoder| decoder != "exact") {
        return Err(crate::usage_error(format!(
            "a tagger's chains are decoded exactly; --decoder {decoder} is for models that must agree"
        )));
    }
    let tagger = Tagger::open(model)?;
    let decoder = tagger.decoder()?;
    let request = Request { marginals: command.marginals, n_best: usize::from(command.n_best) };
    let open = |path: &Path| Conllu::open(path, "taggers");
    frame::predict(command, context, "tagging", open, |_, batch| {
        let decoded = decoder.tag(batch, &request)?;
        Ok(decoded
            .into_iter()
            .map(|unit| Unit { certificate: unit.certificate, tokens: unit.tokens })
            .collect())
    })
}
