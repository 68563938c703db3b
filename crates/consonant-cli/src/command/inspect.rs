//! `consonant inspect`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use consonant_conversations::Linker;
use consonant_learn::model::Model;
use consonant_ner::NerModel;
use consonant_parser::Parser;
use consonant_summarizer::Summarizer;
use consonant_tagger::Tagger;
use consonant_text::jsonl::{JsonlReader, Thread};

use crate::context::Context;
use crate::sentences;

/// Shows what a model is and what it has learned.
#[derive(Args)]
#[command(after_help = "Example:\n  consonant inspect tagger.model --top 10 --explain sentence.conllu")]
pub struct Inspect {
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// How many of the strongest weights to show, and how many features in an explanation.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Say what decided each label of an input.
    #[arg(long, value_name = "FILE")]
    explain: Option<PathBuf>,
}

impl Inspect {
    /// Prints the model's description.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let model = Model::open(&self.model)?;
        let mut out = context.open_output(None)?;
        if self.explain.is_none() {
            describe(&model, &mut out)?;
        }
        match model.task() {
            consonant_tagger::TASK => {
                let tagger = Tagger::open(&model)?;
                match &self.explain {
                    Some(path) => explain_tags(&tagger, path, self.top, &mut out)?,
                    None => describe_tagger(&tagger, self.top, &mut out)?,
                }
            }
            consonant_ner::TASK if self.explain.is_none() => {
                describe_names(&NerModel::open(&model)?, self.top, &mut out)?;
            }
            consonant_parser::TASK if self.explain.is_none() => {
                describe_parser(&Parser::open(&model)?, self.top, &mut out)?;
            }
            consonant_conversations::TASK => {
                let linker = Linker::open(&model)?;
                match &self.explain {
                    Some(path) => explain_links(&linker, path, self.top, &mut out)?,
                    None => describe_links(&linker, self.top, &mut out)?,
                }
            }
            consonant_summarizer::TASK if self.explain.is_none() => {
                describe_summarizer(&Summarizer::open(&model)?, self.top, &mut out)?;
            }
            other if self.explain.is_some() => bail!("models for `{other}` give no explanations"),
            _ => {}
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(model: &Model, out: &mut impl Write) -> Result<()> {
    writeln!(out, "task        {}", model.task())?;
    if let Some(settings) = model.metadata().as_object() {
        for (name, value) in settings {
            let value = match value {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Number(number) if name == "fingerprint" => {
                    number.as_u64().map_or_else(|| number.to_string(), |number| format!("{number:016x}"))
                }
                other => other.to_string(),
            };
            writeln!(out, "{name:<11} {value}")?;
        }
    }
    writeln!(out, "\nsection                          bytes")?;
    for (name, bytes) in model.sections() {
        writeln!(out, "{name:<24} {bytes:>13}")?;
    }
    Ok(())
}

fn describe_tagger(tagger: &Tagger, top: usize, out: &mut impl Write) -> Result<()> {
    let chain = tagger.chain();
    writeln!(out, "\nlabels      {}", chain.labels().len())?;
    writeln!(out, "order       {}", chain.order())?;
    writeln!(out, "features    {}", chain.node_table().features())?;
    writeln!(out, "weights     {}", chain.node_table().parameters())?;
    writeln!(out, "templates   {}", tagger.extractor().templates().len())?;
    writeln!(out, "dictionary  {} words", tagger.dictionary().map_or(0, |dictionary| dictionary.len()))?;
    writeln!(out, "\n   weight  label                feature")?;
    for strength in tagger.strongest(top) {
        writeln!(out, "{:>9.3}  {:<20} {}", strength.weight, strength.label, strength.feature)?;
    }
    Ok(())
}

fn describe_names(names: &NerModel, top: usize, out: &mut impl Write) -> Result<()> {
    let chain = names.chain();
    writeln!(out, "\ntypes       {}", names.types().join(" "))?;
    writeln!(out, "labels      {}", chain.labels().names().join(" "))?;
    writeln!(out, "features    {}", chain.node_table().features())?;
    writeln!(out, "weights     {}", chain.node_table().parameters())?;
    writeln!(out, "\n   weight  label                feature")?;
    for strength in names.strongest(top) {
        writeln!(out, "{:>9.3}  {:<20} {}", strength.weight, strength.label, strength.feature)?;
    }
    let mut agreement = names.agreement_weights();
    agreement.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    agreement.retain(|(_, weight)| *weight != 0.0);
    if !agreement.is_empty() {
        writeln!(out, "\n   weight  agreement")?;
    }
    for (name, weight) in agreement.iter().take(top) {
        writeln!(out, "{weight:>9.3}  {name}")?;
    }
    Ok(())
}

fn describe_parser(parser: &Parser, top: usize, out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n   weight  part and feature")?;
    for strength in parser.strongest(top) {
        writeln!(out, "{:>9.3}  {}", strength.weight, strength.feature)?;
    }
    Ok(())
}

fn describe_summarizer(summarizer: &Summarizer, top: usize, out: &mut impl Write) -> Result<()> {
    writeln!(out, "\ncompressive  extractive  compression  feature")?;
    for ([compressive, extractive, compression], feature) in summarizer.strongest(top) {
        writeln!(out, "{compressive:>11.3} {extractive:>11.3} {compression:>12.3}  {feature}")?;
    }
    Ok(())
}

fn explain_tags(tagger: &Tagger, path: &Path, top: usize, out: &mut impl Write) -> Result<()> {
    for sentence in sentences::open(path)?.reader {
        for word in tagger.explain(&sentence?)? {
            match &word.rival {
                Some(rival) => writeln!(out, "{}\t{}\t(not {rival})", word.word, word.label)?,
                None => writeln!(out, "{}\t{}", word.word, word.label)?,
            }
            for part in word.contributions.iter().take(top) {
                writeln!(out, "    {:>+9.3}  {:>+9.3}  {}", part.chosen, part.rival, part.feature)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn describe_links(linker: &Linker, top: usize, out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n   weight  feature")?;
    for (weight, feature) in linker.strongest(top) {
        writeln!(out, "{weight:>9.3}  {feature}")?;
    }
    Ok(())
}

fn explain_links(linker: &Linker, path: &Path, top: usize, out: &mut impl Write) -> Result<()> {
    for thread in JsonlReader::<_, Thread>::open(path)? {
        let thread = thread?;
        for link in linker.explain(&thread)? {
            let rival = link.rival.map_or(String::new(), |rival| format!("\t(not {rival})"));
            writeln!(out, "{}\t{} answers {}{rival}", thread.id, link.source, link.target)?;
            for part in link.contributions.iter().take(top) {
                writeln!(out, "    {:>+9.3}  {:>+9.3}  {}", part.chosen, part.rival, part.feature)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
