//! What every command shares: the thread pool, the seed, what to say on standard error, where results go.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;
use consonant::text::input::{DEFAULT_MAX_UNPACKED, Input};

use crate::interrupt;
use crate::output::Output;
use crate::progress::{Progress, Reporter};

/// Flags that every command takes, before or after its name.
#[derive(Args)]
pub struct GlobalOptions {
    /// How many threads to use (default: all cores); results do not depend on it.
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Global options")]
    threads: Option<u16>,
    /// Seed of every random choice (default: 1).
    #[arg(long, value_name = "N", global = true, help_heading = "Global options")]
    seed: Option<u64>,
    /// How much may come out of a compressed file that is kept as a whole: 500M, 4G [default: 1G]; for other files and streams there is no limit.
    #[arg(long, value_name = "SIZE", global = true, value_parser = size, help_heading = "Global options", hide_short_help = true)]
    max_size: Option<u64>,
    /// Say nothing on standard error but errors.
    #[arg(long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    quiet: bool,
    /// Say more on standard error.
    #[arg(long, global = true, help_heading = "Global options")]
    verbose: bool,
}

/// Handed to every command; the only door to threads, randomness and messages.
pub struct Context {
    /// Seed of every random choice, if `--seed` gives one; a settings file may give another.
    pub seed: Option<u64>,
    /// Number of threads in rayon's global pool (`--threads`), for libraries that want to be told.
    pub threads: usize,
    /// How many bytes may come out of a compressed file that is kept as a whole (`--max-size`).
    pub max_size: u64,
    reporter: Reporter,
}

impl Context {
    /// Sets up the process once: thread pool, interrupt handler.
    pub fn start(options: &GlobalOptions) -> Result<Context> {
        let reporter = Reporter::new(options.quiet, options.verbose);
        rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.map_or(0, usize::from))
            .build_global()
            .context("cannot start the thread pool")?;
        interrupt::install()?;
        Ok(Context {
            seed: options.seed,
            threads: rayon::current_num_threads(),
            max_size: options.max_size.unwrap_or(DEFAULT_MAX_UNPACKED),
            reporter,
        })
    }

    /// Opens a file whose whole content will be in memory: a compressed one is held to `--max-size`.
    pub fn open_whole(&self, path: impl AsRef<Path>) -> Result<Input> {
        Ok(Input::open(path)?.at_most(self.max_size))
    }

    /// With `--verbose`, says how much memory the process took at most, where the system tells.
    pub fn tell_memory(&self) {
        if !self.reporter.is_verbose() {
            return;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        if let Some(kilobytes) = peak.and_then(|peak| peak.parse::<u64>().ok()) {
            self.detail(format!("peak memory {} MB", kilobytes.div_ceil(1000)));
        }
    }

    /// A line on standard error, unless `--quiet`.
    pub fn note(&self, message: impl AsRef<str>) {
        self.reporter.note(message.as_ref());
    }

    /// What speaks, for work that tells of itself from another thread.
    #[cfg(feature = "serve")]
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Tells of an epoch of training that is done. From the first one on, an interrupt ends the training
    /// ([`interrupt::stop`]) and not the process, so that its model is written.
    pub fn epoch(&self, message: impl AsRef<str>) {
        interrupt::keep_work();
        self.note(message);
    }

    /// A line on standard error with `--verbose` only.
    pub fn detail(&self, message: impl AsRef<str>) {
        self.reporter.detail(message.as_ref());
    }

    /// Reports how far a long piece of work has come: a bar on a terminal, plain lines in a log.
    pub fn progress(&self, label: &str, total: Option<u64>) -> Progress {
        self.reporter.progress(label, total)
    }

    /// The same for work whose results come bit by bit: on a terminal they are progress enough, and a bar
    /// would stand between them.
    pub fn progress_beside(&self, out: &Output, label: &str, total: Option<u64>) -> Progress {
        if out.is_terminal() { self.reporter.silent_progress() } else { self.progress(label, total) }
    }
}

/// A number of bytes, or of KiB, MiB or GiB with the letter of these.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let bytes = digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number of bytes, or one with K, M or G".to_owned())
}
