//! `consonant train pipeline`: the models of a treebank, one after the other, each by its own command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, Parser as _, value_parser};
use consonant::text::{Layer, SentenceReader};

use crate::context::Context;
use crate::{Cli, given, interrupt};

pub const NAME: &str = "pipeline";

/// Sentences that tell which columns a treebank fills.
const SAMPLE: usize = 1000;

/// The command with its flags.
pub fn command() -> Command {
    let several =
        |name, help: &'static str| given::file(name, "FILE", help).action(ArgAction::Append).required(true);
    Command::new(NAME)
        .about("Trains segmenter, tagger, lemmatizer and parser of a treebank, for `annotate --models DIR`")
        .long_about(
            "Trains segmenter, tagger, lemmatizer and parser of a treebank, for `annotate --models DIR`.\n\n\
             Each model is trained by a command of its own, which is shown: what it prints can be run again by itself, with other \
             settings. The parser learns from tags that taggers give which have not seen the sentence. A layer that the treebank \
             does not fill has no model.",
        )
        .after_help("Example:\n  consonant train pipeline --train train.conllu --dev dev.conllu --models my-models --order 1 --jackknife 2")
        .arg(several("train", "Training data in CoNLL-U; may be given several times"))
        .arg(several("dev", "Data on which the best epochs are chosen; may be given several times"))
        .arg(given::file("models", "DIR", "The folder of the models").short('o').visible_alias("output").required(true))
        .arg(
            Arg::new("order")
                .long("order")
                .value_name("1|2|3")
                .help("The order of the parser")
                .default_value("2")
                .value_parser(value_parser!(u8).range(1..=3)),
        )
        .arg(
            Arg::new("jackknife")
                .long("jackknife")
                .value_name("K")
                .help("Tags the parser's training data with K taggers, each trained without the sentences that it tags")
                .default_value("5")
                .value_parser(value_parser!(u16).range(2..=100)),
        )
}

/// Trains model after model; an interrupt ends with the one that is being trained.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode> {
    let files = |name: &str| -> Vec<String> {
        let files = matches.get_many::<PathBuf>(name).into_iter().flatten();
        files.flat_map(|path| [format!("--{name}"), path.display().to_string()]).collect()
    };
    let number = |name: &str| match name {
        "order" => matches.get_one::<u8>(name).map(u8::to_string),
        _ => matches.get_one::<u16>(name).map(u16::to_string),
    };
    let [order, jackknife] = ["order", "jackknife"].map(|name| number(name).unwrap_or_default());
    let folder = matches.get_one::<PathBuf>("models").cloned().unwrap_or_default();
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let model = |task: &str| folder.join(format!("{task}.model")).display().to_string();
    let train: Vec<&PathBuf> = matches.get_many("train").into_iter().flatten().collect();
    let [upos, xpos, lemmas, features] = filled(&train)?;
    let column = match (upos, xpos) {
        (true, true) => Some("upos+xpos"),
        (true, false) => Some("upos"),
        (false, true) => Some("xpos"),
        (false, false) => None,
    };
    let tagger = model("tagger");
    let mut steps: Vec<(&str, Vec<&str>)> = vec![("segmenter", vec!["--half"])];
    let mut tree = vec!["--order", &order, "--ignore", "lemmas,features"];
    if let Some(column) = column {
        steps.push(("tagger", vec!["--column", column, "--half"]));
        if lemmas || features {
            steps.push(("lemmatizer", vec!["--half"]));
        }
        tree.extend(["--tagger", &tagger, "--jackknife", &jackknife]);
    }
    steps.push(("parser", tree));
    for (task, flags) in steps {
        let mut words = vec!["consonant".to_owned(), "train".to_owned(), task.to_owned()];
        words.extend(files("train"));
        words.extend(files("dev"));
        words.extend(["--model".to_owned(), model(task)]);
        words.extend(flags.into_iter().map(str::to_owned));
        context.note(words.join(" "));
        let code = Cli::try_parse_from(&words)?.command.run(context)?;
        if interrupt::stop().load(Ordering::Relaxed) {
            return Ok(code);
        }
    }
    context.note(format!("use them with `consonant annotate FILE --models {}`", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Which of UPOS, XPOS, lemmas and features the data have.
fn filled(files: &[impl AsRef<Path>]) -> Result<[bool; 4]> {
    let mut found = [false; 4];
    for file in files {
        for sentence in SentenceReader::open_conllu(file)?.take(SAMPLE) {
            let sentence = sentence?;
            for (layer, found) in
                [Layer::Upos, Layer::Xpos, Layer::Lemma, Layer::Feats].into_iter().zip(&mut found)
            {
                *found |= (0..sentence.len()).any(|word| sentence.get(word, layer).is_some());
            }
        }
    }
    Ok(found)
}
