//! Messages and progress on standard error: bars on a terminal, plain lines elsewhere, silence with
//! `--quiet`.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::output::shown_lines;
use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressState, ProgressStyle};

/// How often a log that is no terminal is told of work in progress.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Speaks on standard error; clones speak through the same bars.
#[derive(Clone)]
pub struct Reporter {
    quiet: bool,
    verbose: bool,
    /// Present on a terminal only.
    bars: Option<MultiProgress>,
}

impl Reporter {
    pub fn new(quiet: bool, verbose: bool) -> Reporter {
        let bars = (!quiet && io::stderr().is_terminal()).then(MultiProgress::new);
        Reporter { quiet, verbose, bars }
    }

    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.line(message);
        }
    }

    pub fn detail(&self, message: &str) {
        if self.verbose {
            self.line(message);
        }
    }

    /// A closed standard error is no reason to stop working, so failures to write are ignored.
    fn line(&self, message: &str) {
        let message = &shown_lines(message)[..];
        let print = || {
            let _ = writeln!(io::stderr(), "{message}");
        };
        match &self.bars {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }

    pub fn silent_progress(&self) -> Progress {
        self.progress_with(Some(ProgressBar::hidden()), "", None)
    }

    pub fn progress(&self, label: &str, total: Option<u64>) -> Progress {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = match total {
                Some(total) => ProgressBar::new(total)
                    .with_style(style("{prefix} {wide_bar} {human_pos}/{human_len} {per_sec} {eta} {msg}")),
                None => ProgressBar::new_spinner()
                    .with_style(style("{prefix} {spinner} {human_pos} {per_sec} {elapsed} {msg}")),
            };
            bars.add(bar.with_prefix(label.to_owned()))
        });
        self.progress_with(bar, label, total)
    }

    fn progress_with(&self, bar: Option<ProgressBar>, label: &str, total: Option<u64>) -> Progress {
        Progress {
            reporter: self.clone(),
            bar,
            label: label.to_owned(),
            total,
            done: AtomicU64::new(0),
            begun: Instant::now(),
            last_line: Mutex::new(Instant::now()),
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Nobody reads four decimals of a number that changes.
    style.with_key("per_sec", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let rate = state.per_sec();
        let _ = if rate < 10.0 {
            write!(out, "{rate:.1}/s")
        } else {
            write!(out, "{}/s", HumanCount(rate as u64))
        };
    })
}

/// How far one piece of work has come; may be advanced from any thread. It disappears when dropped.
pub struct Progress {
    reporter: Reporter,
    bar: Option<ProgressBar>,
    label: String,
    total: Option<u64>,
    done: AtomicU64,
    begun: Instant,
    last_line: Mutex<Instant>,
}

impl Progress {
    /// `count` more units are done.
    pub fn advance(&self, count: u64) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(bar) = &self.bar {
            bar.inc(count);
        } else if let Ok(mut last) = self.last_line.try_lock()
            && last.elapsed() >= LOG_INTERVAL
        {
            *last = Instant::now();
            self.reporter.note(&self.line(done));
        }
    }
}

impl Progress {
    /// How far the work is, how fast, and what is left of it.
    fn line(&self, done: u64) -> String {
        let rate = done as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
        let per = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
        match self.total {
            Some(total) => {
                let left = total.saturating_sub(done) as f64 / rate.max(1e-9);
                let left = Duration::from_secs(left.min(1e9) as u64);
                format!("{}: {done} of {total}, {per} a second, {left:?} left", self.label)
            }
            None => format!("{}: {done}, {per} a second", self.label),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
