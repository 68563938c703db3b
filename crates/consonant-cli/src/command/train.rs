//! `consonant train TASK`: one command for every task of the registry, and one for those of a pipeline.

mod pipeline;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, value_parser};
use consonant::learn::file::remove_orphans;
use consonant::learn::model::Model;
use consonant::learn::trainer::Visit;
use consonant::registry::{AnyTask, Given, Jackknife, Registry, TrainingFiles};
use consonant::task::{Annotate, Event, Reads, Watch};
use consonant::{Tagging, TopicAnnotator};
use serde_json::json;

use crate::context::Context;
use crate::output::{self, Compression, Output};
use crate::progress::Progress;
use crate::{given, inputs, interrupt, registry, usage_error};

/// Trains a model for a task.
#[derive(Args)]
#[command(
    after_help = "Example:\n  consonant train tagger --train train.conllu --dev dev.conllu --model tagger.model"
)]
pub struct Train {
    #[command(subcommand)]
    task: Chosen,
}

/// The task and its flags; all tasks of a pipeline where none is named.
struct Chosen {
    task: Option<&'static dyn AnyTask>,
    matches: ArgMatches,
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let task = registry().get(name);
        if task.is_none() && name != pipeline::NAME {
            return Err(missing());
        }
        Ok(Self { task, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        // Hundreds of flags, which other commands need not wait for.
        let all = |command: Command| {
            let tasks = commands(registry()).into_iter().fold(command, Command::subcommand);
            tasks.subcommand(pipeline::command())
        };
        command.subcommand_required(true).defer(all)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        registry().get(name).is_some() || name == pipeline::NAME
    }
}

/// A command for each task.
fn commands(registry: &Registry) -> Vec<Command> {
    registry.tasks().map(command).collect()
}

fn command(task: &dyn AnyTask) -> Command {
    let (about, more) = task.about().split_once("\n\n").unwrap_or((task.about(), ""));
    let mut command = Command::new(task.name()).about(about.trim_end_matches('.').to_owned());
    if !more.is_empty() {
        command = command.long_about(task.about());
    }
    command = command.after_help(format!("Example:\n  {}", task.example()));
    for source in task.sources() {
        let more = "; may be given several times";
        let help = format!("{}{more}", source.help.trim_end_matches('.'));
        command = command.arg(given::file(source.name, "FILE", "").help(help).action(ArgAction::Append));
    }
    command = command
        .arg(given::file("dev", "FILE", "Data on which the best epoch is chosen").action(ArgAction::Append))
        .arg(given::file("model", "OUT", "Where the model goes").short('o').visible_alias("output"));
    command = given::augment(command, &task.settings());
    command = command
        .arg(given::file(
            "settings",
            "FILE.toml",
            "Settings from a file; flags win (`inspect --settings` prints one)",
        ))
        .arg(given::file(
            "checkpoint",
            "FILE",
            "Saves the state after each epoch; if the file is there, training goes on from it",
        ))
        .arg(given::file(
            "log",
            "FILE",
            "Writes each event as a line of JSON, for programs and the page of `serve`",
        ))
        .arg(
            given::file(
                "init",
                "MODEL",
                "Continues a model, with its labels and features; `embedded:TASK` is the one inside of the program",
            )
                .hide(!task.continues()),
        )
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("GIGABYTES")
                .help("Refuses trainings that need more memory (default: what is available)")
                .value_parser(gigabytes)
                .hide_short_help(true),
        );
    if task.draws() {
        let help = "Draws the diagram of pieces that is trained; without data this is all that is done";
        command = command.arg(given::file("diagram", "FILE.svg", help).hide_short_help(true));
    }
    match task.reads() {
        Reads::Tokens => command,
        Reads::Tags => command
            .arg(given::file("tagger", "MODEL", "Tags all data with this tagger first, as prediction then must"))
            .arg(
                Arg::new("jackknife")
                    .long("jackknife")
                    .value_name("K")
                    .help("Tags the training data with K taggers like --tagger, each trained without the sentences that it tags")
                    .value_parser(value_parser!(u16).range(2..=100))
                    .requires("tagger"),
            ),
        Reads::Trees => {
            command.arg(given::file("models", "DIR", "Annotates with the models of this folder, not the embedded English ones"))
        }
    }
}

impl Train {
    /// Trains the task's model and writes it.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let Chosen { task, matches } = self.task;
        let Some(task) = task else { return pipeline::run(&matches, context) };
        if matches.try_get_one::<String>("algorithm").ok().flatten().is_some_and(|name| name == "list") {
            let mut out = Output::open(None)?;
            out.write_all(task.algorithms().as_bytes())?;
            out.finish()?;
            return Ok(ExitCode::SUCCESS);
        }
        let path = |name: &str| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
        let paths = |name: &str| -> Vec<PathBuf> {
            matches.get_many::<PathBuf>(name).map(|paths| paths.cloned().collect()).unwrap_or_default()
        };
        let mut given = given::flags(&matches, &task.settings());
        if let Some(path) = path("settings") {
            given.values = given::read_file(&path, context)?;
        }
        given.flags.extend(context.seed.map(|seed| ("seed".to_owned(), vec![seed.to_string()])));
        task.check(&given)?;
        let sources: Vec<Vec<PathBuf>> = task.sources().iter().map(|source| paths(source.name)).collect();
        let is_empty = sources.iter().all(Vec::is_empty);
        if let Some(svg) = path("diagram") {
            draw(task, &given, &svg)?;
            if is_empty {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let (false, Some(out)) = (is_empty, path("model")) else {
            let flags: Vec<String> =
                task.sources().iter().map(|source| format!("--{}", source.name)).collect();
            return Err(usage_error(format!(
                "give the training data with {} FILE and the model's place with --model OUT",
                flags.join(" or ")
            )));
        };
        interrupt::begin_training();
        let file = open_model(&out)?;
        let tagger = path("tagger").map(|path| Tagging::open(&path)).transpose()?;
        let jackknife = matches.try_get_one::<u16>("jackknife").ok().flatten();
        let jackknife = jackknife.zip(tagger.as_ref()).map(|(&parts, tagger)| Jackknife {
            tagger: &tagger.0,
            parts: usize::from(parts),
            seed: context.seed.unwrap_or(1),
        });
        let pipeline = match task.reads() {
            Reads::Trees => Some(TopicAnnotator::open(path("models").as_deref())?),
            _ => None,
        };
        let annotator = tagger.as_ref().map(|tagger| tagger as &dyn Annotate);
        let annotator = annotator.or(pipeline.as_ref().map(|pipeline| pipeline as &dyn Annotate));
        let initial = path("init").map(|path| inputs::model(&path)).transpose()?;
        let files = TrainingFiles {
            sources,
            dev: paths("dev"),
            initial,
            max_unpacked: Some(context.max_size),
            annotator,
            jackknife,
        };
        let mut log = path("log").map(|path| Log::create(&path)).transpose()?;
        let epochs = Epochs { context, current: Mutex::new(None) };
        let follow = |visit: Visit| epochs.advance(visit);
        let mut listener = |event: Event| {
            if let Some(log) = &mut log {
                log.write(&event);
            }
            match &event {
                Event::Epoch { .. } => {
                    epochs.end();
                    context.epoch(event.to_string());
                }
                _ => context.note(event.to_string()),
            }
        };
        let mut watch = Watch::with(&mut listener);
        watch.stop = Some(interrupt::stop());
        watch.follower = Some(&follow);
        watch.checkpoint = path("checkpoint");
        let memory = matches.get_one::<f64>("memory").map(|gigabytes| (gigabytes * 1e9) as u64);
        watch.memory = memory.or_else(available_bytes);
        let mut trained = task.train(&files, &given, &mut watch)?;
        let is_whole = !interrupt::stop().load(Ordering::Relaxed);
        if !is_whole {
            trained.model.note("interrupted", true);
        }
        epochs.end();
        store(trained.model.to_bytes(), file, &out)?;
        interrupt::end_training();
        context.note(format!("{}: {}", out.display(), trained.summary));
        // The model is there, but whoever interrupted its training should not be told that it succeeded.
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(interrupt::exit_code()) })
    }
}

/// Shows how far the epoch is that is under way.
struct Epochs<'c> {
    context: &'c Context,
    current: Mutex<Option<Epoch>>,
}

struct Epoch {
    stage: Option<&'static str>,
    number: usize,
    visited: usize,
    progress: Progress,
}

impl Epochs<'_> {
    /// Called from any thread, now and then out of order.
    fn advance(&self, Visit { stage, epoch, visited, examples, .. }: Visit) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |shown: &Epoch| (shown.stage, shown.number) == (stage, epoch);
        if !current.as_ref().is_some_and(is_same) {
            let stage_of = stage.map(|stage| format!("{stage}, ")).unwrap_or_default();
            let progress = self.context.progress(&format!("{stage_of}epoch {epoch}"), Some(examples as u64));
            *current = Some(Epoch { stage, number: epoch, visited: 0, progress });
        }
        if let Some(shown) = &mut *current
            && visited > shown.visited
        {
            shown.progress.advance((visited - shown.visited) as u64);
            shown.visited = visited;
        }
    }

    fn end(&self) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// The events of a training, a line of JSON each. Written as they come, so that others can follow.
struct Log(Option<fs::File>);

impl Log {
    fn create(path: &Path) -> Result<Self> {
        let file = fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(Some(file)))
    }

    /// Adds a line. A disk that is full ends the log, not the training.
    fn write(&mut self, event: &Event) {
        let line = match event {
            Event::Epoch { stage, report, metric } => json!({
                "event": "epoch", "stage": stage, "epoch": report.epoch, "loss": report.loss, "errors": report.errors,
                "metric": metric, "dev": report.dev, "seconds": report.seconds,
            }),
            other => json!({"event": "note", "text": other.to_string()}),
        };
        if self.0.as_mut().is_some_and(|file| writeln!(file, "{line}").is_err()) {
            self.0 = None;
        }
    }
}

fn gigabytes(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number from 0 on".to_owned())
}

fn draw(task: &dyn AnyTask, given: &Given, path: &Path) -> Result<()> {
    Ok(output::write(path, &task.diagram(given)?.unwrap_or_default())?)
}

/// Opens the file of a model before the training, so that no work is lost to a folder that is not there. A
/// file that holds anything but a model, such as the training data, is not written over.
fn open_model(path: &Path) -> Result<Output> {
    let mut beginning = Vec::new();
    if path.is_file() {
        let file = fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        file.take(64).read_to_end(&mut beginning)?;
    }
    if !beginning.is_empty() && !Model::has_signature(&beginning) {
        bail!("{} is there and is no model; name another file for the model, or remove it", path.display());
    }
    if Compression::of(path).is_some() {
        let path = path.display();
        return Err(usage_error(format!("{path}: a model is not compressed; name it without this ending")));
    }
    remove_orphans(path);
    Ok(Output::replace(Some(path))?)
}

fn store(bytes: Vec<u8>, mut file: Output, path: &Path) -> Result<()> {
    let written = file.write_all(&bytes).and_then(|()| file.finish());
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// What the system says is free for new work; nothing where it does not say.
fn available_bytes() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
