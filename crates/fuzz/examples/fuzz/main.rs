//! Broken files for every reader, models with right checksums and wrong contents, and problems of the engine against
//! enumeration and the checker of proofs.
//!
//! ```text
//! consonant-fuzz [--seconds S] [--executions N] [--seed N] [--findings DIR] [TARGET…]
//! consonant-fuzz --again FILE TARGET
//! ```
//!
//! Time and executions are for each target. What panics is written into the folder of findings, and the program ends
//! with 1. `crates/fuzz/run` builds it with counters of edges, so that inputs which reach something new are kept and
//! changed further.

mod engine;
mod models;
mod mutate;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use consonant_fuzz::Seen;
use consonant_testing::Random;

/// Something to run on bytes.
struct Target {
    name: &'static str,
    run: fn(&[u8]),
    /// What it begins with, besides the files of its folder below `seeds`.
    seeds: fn() -> Vec<Vec<u8>>,
    /// The longest input.
    most: usize,
}

const TARGETS: &[Target] = &[
    Target { name: "conllu", run: text::conllu, seeds: Vec::new, most: 2000 },
    Target { name: "columns", run: text::columns, seeds: Vec::new, most: 1000 },
    Target { name: "jsonl", run: text::jsonl, seeds: Vec::new, most: 2000 },
    Target { name: "plain", run: text::plain, seeds: packed, most: 2000 },
    Target { name: "lists", run: text::lists, seeds: Vec::new, most: 2000 },
    Target { name: "problems", run: engine::read_and_solve, seeds: Vec::new, most: 1000 },
    Target { name: "random", run: engine::solve_random, seeds: numbers, most: 8 },
    Target { name: "proofs", run: engine::check_proof, seeds: engine::proofs, most: 4000 },
    Target { name: "models", run: models::open_and_use, seeds: models::seeds, most: 8 },
];

fn numbers() -> Vec<Vec<u8>> {
    (0..64u8).map(|number| vec![number, 1]).collect()
}

/// A text in both compressions.
fn packed() -> Vec<Vec<u8>> {
    let text = "One line.\nAnother line, by the same.\n\n".repeat(3).into_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let gzip = std::io::Write::write_all(&mut gzip, &text).and_then(|()| gzip.finish());
    [gzip, zstd::stream::encode_all(&text[..], 1)].into_iter().flatten().collect()
}

/// Inputs that are kept at most; the seeds are always among them.
const MOST_KEPT: usize = 20_000;
/// An execution that takes longer is a finding.
const SLOW: Duration = Duration::from_secs(20);

struct Options {
    time: Duration,
    executions: u64,
    seed: u64,
    findings: PathBuf,
    again: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        time: Duration::from_secs(10),
        executions: u64::MAX,
        seed: 1,
        findings: "findings".into(),
        again: None,
        targets: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: expected a value"));
        let number =
            |text: String| text.parse::<u64>().map_err(|_| format!("expected a number, came `{text}`"));
        match argument.as_str() {
            "--seconds" => options.time = Duration::from_secs(number(value()?)?),
            "--executions" => options.executions = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--findings" => options.findings = value()?.into(),
            "--again" => options.again = Some(value()?.into()),
            name => {
                let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
                let found = TARGETS.iter().find(|target| target.name == name);
                options
                    .targets
                    .push(found.ok_or_else(|| format!("expected a target ({}), came `{name}`", names()))?);
            }
        }
    }
    if options.targets.is_empty() {
        options.targets.extend(TARGETS);
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    if let Some(path) = &options.again {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        options.targets.iter().for_each(|target| (target.run)(&bytes));
        return ExitCode::SUCCESS;
    }
    // What is told of a panic is its place; the input is written down.
    static PLACE: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), ToString::to_string);
        *PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
            format!("{place} {}", message(info.payload()));
    }));
    let mut findings = 0;
    for target in &options.targets {
        findings += fuzz(target, &options, || PLACE.lock().map(|place| place.clone()).unwrap_or_default());
    }
    ExitCode::from(u8::from(findings > 0))
}

fn message(payload: &dyn std::any::Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default()
}

fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target.name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut seeds = (target.seeds)();
    seeds.extend(files.iter().filter_map(|file| fs::read(file).ok()));
    seeds
}

/// Runs a target, and returns how many different findings there were.
fn fuzz(target: &Target, options: &Options, place: impl Fn() -> String) -> usize {
    let mut random = Random::new(options.seed);
    let mut kept = seeds(target);
    let (mut seen, mut found) = (Seen::default(), BTreeSet::new());
    let (start, mut executions, mut given) = (Instant::now(), 0u64, 0);
    while executions < options.executions && (start.elapsed() < options.time || given < kept.len()) {
        let is_seed = given < kept.len();
        let input = match kept.get(given) {
            // The seeds themselves come first.
            Some(seed) => seed.clone(),
            None => {
                let mut input = kept[random.below(kept.len())].clone();
                mutate::mutate(&mut input, &kept[random.below(kept.len())], &mut random, target.most);
                input
            }
        };
        Seen::begin();
        let before = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        let is_slow = before.elapsed() > SLOW;
        executions += 1;
        let is_new = seen.add();
        if is_seed {
            given += 1;
        } else if is_new && kept.len() < MOST_KEPT {
            kept.push(input.clone());
            given += 1;
        }
        let what = if is_slow { "slow".to_owned() } else { place() };
        if (outcome.is_err() || is_slow) && found.insert(what.chars().take(80).collect::<String>()) {
            let path = options.findings.join(format!("{}-{executions}", target.name));
            let written = fs::create_dir_all(&options.findings).and_then(|()| fs::write(&path, &input));
            println!("{}: {what}\n  in {} {written:?}", target.name, path.display());
        }
    }
    println!(
        "{:10} {executions:9} executions in {:6.1} s, {:6} of {} edges, {:5} inputs kept, {} findings",
        target.name,
        start.elapsed().as_secs_f64(),
        seen.taken(),
        Seen::edges(),
        kept.len(),
        found.len()
    );
    found.len()
}
