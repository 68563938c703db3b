//! The `consonant` program: a thin layer of commands over the library crates.
//!
//! Each command is one file in `command/`; what they share (threads, seed, progress, outputs) is in `context`. It is a library so that
//! the Python package can bring the same program.

#![forbid(unsafe_code)]

mod certificates;
mod command;
mod context;
mod given;
mod inputs;
mod interrupt;
mod output;
mod progress;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::Parser;
use consonant::registry::Registry;
use consonant::task::Usage;

use command::Command;
use context::{Context, GlobalOptions};

/// Structured prediction in language: models that agree, and prove it.
///
/// Exit codes: 0 done; 1 the input or the work failed; 2 wrong usage.
#[derive(Parser)]
#[command(name = "consonant", version, propagate_version = true, subcommand_required = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

/// The tasks that the program knows: those of the library.
fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::default)
}

/// An error that ends the program with exit code 2: flags that contradict each other, values that cannot be.
fn usage_error(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(message.into()))
}

/// Whether an error lies in how the user asked, not in the data or the work.
fn is_usage(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.is::<Usage>() || matches!(cause.downcast_ref(), Some(consonant::Error::Usage(_))))
}

/// Runs the program with its arguments, of which the first is its name, and says how it ended: 0, 1 or 2. To be called once, at the
/// start of a process: it sets up threads and signals.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(told) => {
            // Help that cannot be written has nobody who reads it.
            let _ = told.print();
            return ExitCode::from(told.exit_code() as u8);
        }
    };
    let outcome = Context::start(&cli.global).and_then(|context| {
        let outcome = cli.command.run(&context);
        context.tell_memory();
        outcome
    });
    match outcome {
        Ok(code) => code,
        // The reader of our output went away (`| head`): nothing is wrong and there is nobody to tell.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", output::shown_lines(&explain(&error)));
            ExitCode::from(if is_usage(&error) { 2 } else { 1 })
        }
    }
}

/// An error and its causes on one line; a cause that the text already repeats is left out.
fn explain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn visit(command: &clap::Command) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "`{name}` does not say what it does");
            if command.has_subcommands() {
                command.get_subcommands().filter(|sub| sub.get_name() != "help").for_each(visit);
            } else {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example"), "`{name} --help` has no example");
            }
        }
        let mut all = super::Cli::command();
        all.build();
        visit(&all);
    }
}
