//! `consonant predict`: the model knows its task.

mod report;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use consonant::learn::file;
use consonant::registry::{AnyTask, Given, Prediction};
use consonant::task::{Annotate, Answered, Reads};
use consonant::{Error, Tagging, TopicAnnotator};

use self::report::Report;
use crate::certificates::{self, Certificates};
use crate::context::Context;
use crate::given::Setting;
use crate::output::{self, Destination};
use crate::{given, inputs, registry, usage_error};

/// Fill in what a model predicts; the output has the input's format.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant predict --model tagger.model text.conllu --output tagged.conllu --report report.json"
)]
pub struct Predict {
    /// The model; it knows its task. `embedded:TASK` is the one inside of the program.
    #[arg(long, value_name = "M")]
    model: PathBuf,
    /// Input files; none or `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Destination,
    #[command(flatten)]
    options: Options,
    /// Write each problem that the engine solves (a group of sentences whose names agree, a tree, a summary, a
    /// conversation) into a folder, for `consonant solve`.
    #[arg(long, value_name = "DIR")]
    graphs: Option<PathBuf>,
    #[command(flatten)]
    certificates: Certificates,
    /// Write value, bound, status and time of each unit, and their totals, as JSON. The totals' seconds and
    /// tokens_per_second are those of decoding, by the clock: with several threads less than the units' seconds together.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Tag the input first with this tagger, for a parser or a recognizer of names that reads tags.
    #[arg(long, value_name = "MODEL")]
    tagger: Option<PathBuf>,
}

/// The decode options of all tasks; the model's task takes its own.
struct Options(Given);

/// Each option once, however many tasks have it.
fn options() -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    for setting in registry().tasks().flat_map(AnyTask::options) {
        if !all.iter().any(|(field, _)| field.name == setting.0.name) {
            all.push(setting);
        }
    }
    all
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given::flags(matches, &options())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| given::augment(command, &options()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Predict {
    /// Opens the model and lets its task predict.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let name = self.model.display().to_string();
        let file = inputs::model(&self.model)?;
        let model = registry().open(&file, &name)?;
        self.check_options(model.task())?;
        let files = inputs::or_standard_input(self.files, context)?;
        let annotator: Option<Box<dyn Annotate>> = match (&self.tagger, model.reads()) {
            (Some(path), Reads::Tags) => Some(Box::new(Tagging::open(path)?)),
            (Some(_), _) => {
                return Err(usage_error(format!(
                    "{name} does not read tags, so --tagger is of no use to it"
                )));
            }
            (None, Reads::Trees) => {
                let beside = self.model.parent().filter(|folder| folder.join("parser.model").exists());
                Some(Box::new(TopicAnnotator::open(beside)?))
            }
            (None, _) => None,
        };
        if let Some(report) = &self.report {
            output::keep_apart(report, files.iter().chain(self.output.path()))?;
        }
        let mut report = Report::open(self.report.as_deref())?;
        let mut out = self.output.open()?;
        let progress = context.progress_beside(&out, "predicting", None);
        if let Some(folder) = &self.graphs {
            fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
        }
        let mut proofs = self.certificates.open()?;
        let mut number = 0;
        let mut write_problems = |answered: Vec<Answered>| -> Result<(), Error> {
            if let Some(folder) = &self.graphs {
                for Answered { problem, .. } in &answered {
                    number += 1;
                    file::write(folder.join(format!("{number}.json")), problem.to_json())?;
                }
            }
            proofs.iter_mut().try_for_each(|proofs| proofs.add(model.task(), &answered).map(drop))
        };
        let is_wanted = self.graphs.is_some() || self.certificates.is_wanted();
        model.predict(Prediction {
            inputs: &files,
            out: &mut out,
            given: &self.options.0,
            annotator: annotator.as_deref(),
            problems: is_wanted.then_some(&mut write_problems),
            done: &mut |items, units, seconds| {
                progress.advance(items as u64);
                report.add(units, seconds);
            },
            note: &mut |text| context.note(text),
        })?;
        out.finish()?;
        report.finish()?;
        proofs.iter().for_each(|proofs| certificates::tell(proofs, context));
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses options of other tasks by name.
    fn check_options(&self, task: &str) -> Result<()> {
        let known = registry().get(task).map(AnyTask::options).unwrap_or_default();
        for (name, _) in &self.options.0.flags {
            if !known.iter().any(|(field, _)| field.name == name) {
                let whose = |task: &&dyn AnyTask| task.options().iter().any(|(field, _)| field.name == name);
                let others: Vec<&str> = registry().tasks().filter(whose).map(AnyTask::plural).collect();
                let flag = name.replace('_', "-");
                let whose = others.join(" and ");
                return Err(usage_error(format!("--{flag} is for {whose}; this is a model for `{task}`")));
            }
        }
        Ok(())
    }
}
