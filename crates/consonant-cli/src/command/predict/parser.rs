//! Prediction with a parser.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use consonant_learn::model::Model;
use consonant_parser::{Algorithm, Parsed, Parser};
use consonant_tagger::{Request, Tagger};

use super::frame::{self, Conllu};
use super::report::Unit;
use super::{Predict, open_tagger};
use crate::context::Context;

/// Parses CoNLL-U.
pub fn predict(command: &Predict, model: &Model, context: &Context) -> Result<ExitCode> {
    if command.marginals || command.n_best > 1 {
        return Err(crate::usage_error(
            "a parser gives its best tree; --marginals and --n-best are for taggers",
        ));
    }
    let parser = Parser::open(model)?;
    let algorithm = match command.decoder.as_deref() {
        None => parser.algorithm(),
        Some("ad3") => Algorithm::Ad3,
        Some("subgradient") => Algorithm::Subgradient,
        Some("exact") => Algorithm::Exact,
        Some(other) => {
            return Err(crate::usage_error(format!(
                "a parser is decoded by ad3, subgradient or exact, not by {other}"
            )));
        }
    };
    let tagger = command.tagger.as_deref().map(open_tagger).transpose()?;
    let tagging = tagger.as_ref().map(Tagger::decoder).transpose()?;
    let open = |path: &Path| Conllu::open(path, "parsers");
    frame::predict(command, context, "parsing", open, |_, batch| {
        if let Some(tagging) = &tagging {
            tagging.tag(batch, &Request::default())?;
        }
        let unit = |unit: Parsed| Unit { certificate: unit.certificate, tokens: unit.tokens };
        Ok(parser.parse(batch, algorithm)?.into_iter().map(unit).collect())
    })
}
