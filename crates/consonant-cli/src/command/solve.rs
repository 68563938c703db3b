//! `consonant solve PROBLEM`

use std::fmt::Write as _;
use std::fs;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use consonant::map::problem::{self, Format, FormatError, Problem};
use consonant::map::proof::{ProofOptions, prove};
use consonant::map::questions::{conflict, n_best, otherwise, proven_n_best};
use consonant::map::solver::{Limits, Method, solve};
use consonant::map::verify::Proof;
use consonant::map::{Certificate, Graph, Solution, Status};
use consonant::text::input::Input;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::output::{self, Destination, shown};
use consonant::plot::{Chart, Series, digits};

/// Find the best assignment of a factor graph: bring your own scores.
#[derive(Args)]
#[command(after_help = "Examples:
  consonant solve problem.json
  consonant solve grid.uai --method exact --time-limit 10 --format json
  consonant solve grid.uai --trace trace.csv --plot trace.svg
  consonant solve problem.json --certificate problem.proof
  consonant solve problem.json --n-best 3
  consonant solve problem.json --explain
  consonant solve problem.json --format json --output answer.json
  consonant solve problem.json --hint answer.json

The problem is UAI, log-UAI (.loguai), AD3's .fg, a linear program over 0 and 1 (.lp, .mps), cost functions
(.wcsp, .cfn), or our JSON (see docs/map.md). A problem without a solution is told as
\"infeasible\", with exit code 0: that is an answer.")]
pub struct Solve {
    /// The problem; `-` or none is standard input.
    #[arg(value_name = "PROBLEM", default_value = "-")]
    problem: PathBuf,
    #[command(flatten)]
    stated: Stated,
    /// Find so many assignments, the best first; each is certified as the best of those that are left, and
    /// --certificate writes their proofs in a row.
    #[arg(long, value_name = "K", conflicts_with_all = ["trace", "plot", "explain"])]
    n_best: Option<usize>,
    /// With --n-best: in how many variables at least each differs from all before it.
    #[arg(long, value_name = "K", default_value_t = 1, requires = "n_best")]
    different_by: usize,
    /// Say what each variable's state is worth: how much would be lost if it were another. Where there is no
    /// solution, say which constraints contradict each other. Solves a problem for each.
    #[arg(long)]
    explain: bool,
    /// How to solve it.
    #[arg(long, default_value = "exact", value_parser = one_of(Method::NAMES))]
    method: Method,
    /// Iterations at most (search nodes for exact).
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Seconds at most (default: 60 for exact, none for the others).
    #[arg(long, value_name = "S")]
    time_limit: Option<f64>,
    /// Relative difference of value and bound that counts as a proof.
    #[arg(long, value_name = "G", default_value_t = 1e-6)]
    gap: f64,
    /// Begin from this assignment, in the JSON that --format json writes; the answer is not worse.
    #[arg(long, value_name = "FILE")]
    hint: Option<PathBuf>,
    /// Write value and bound over time as CSV.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw value and bound over time as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the proof of the answer, for `consonant verify`. What is printed then is what it proves.
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write the problem as a linear program with integers, in CPLEX's LP form, for other solvers.
    #[arg(long, value_name = "FILE")]
    lp: Option<PathBuf>,
    /// The same in free MPS.
    #[arg(long, value_name = "FILE")]
    mps: Option<PathBuf>,
    /// How to write the answer.
    #[arg(long, default_value = "text")]
    format: AnswerFormat,
    #[command(flatten)]
    output: Destination,
}

/// How a problem is read, and what is known beside it. A proof is checked under the same words.
#[derive(Args)]
pub struct Stated {
    /// How the problem is written (default: by its name, then by its content).
    #[arg(long, value_name = "FORMAT", value_parser = one_of(Format::NAMES))]
    from: Option<Format>,
    /// Take scores for costs, and look for the least.
    #[arg(long)]
    minimize: bool,
    /// What holds: a binary variable's name, `variable=state`, or either with `!` before it.
    #[arg(long, value_name = "A=b", value_delimiter = ',')]
    fix: Vec<String>,
    /// What does not hold.
    #[arg(long, value_name = "A=b", value_delimiter = ',')]
    forbid: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum AnswerFormat {
    Text,
    Json,
}

impl Solve {
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        if self.time_limit.is_some_and(|limit| limit.is_nan() || limit < 0.0)
            || self.gap.is_nan()
            || self.gap < 0.0
        {
            return Err(crate::usage_error("--time-limit and --gap take numbers that are zero or more"));
        }
        if self.n_best == Some(0) || self.different_by == 0 {
            return Err(crate::usage_error("--n-best and --different-by take numbers from 1"));
        }
        self.output.keep_apart([&self.problem])?;
        let (name, mut problem) = self.stated.read(&self.problem, context)?;
        let is_asked_again = self.certificate.is_some()
            || self.n_best.is_some()
            || self.explain
            || self.lp.is_some()
            || self.mps.is_some()
            || self.hint.is_some();
        let graph = match is_asked_again {
            true => Graph::from_problem(&problem),
            // Of a million variables, the factors take hundreds of megabytes.
            false => Graph::take_problem(&mut problem),
        };
        let graph = graph.map_err(|error| placed(&name, error))?;
        if let Some(path) = &self.lp {
            output::write(path, &problem.linear_program().to_lp())?;
        }
        if let Some(path) = &self.mps {
            output::write(path, &problem.linear_program().to_mps())?;
        }
        context.detail(format!(
            "{} variables, {} factors, {} links",
            graph.variables(),
            graph.factors(),
            graph.links()
        ));
        let limits = Limits {
            max_iterations: self.max_iterations,
            time_limit: self.time_limit.or((self.method == Method::Exact).then_some(60.0)),
            gap: self.gap,
            parallel: context.threads > 1,
            trace: self.trace.is_some() || self.plot.is_some(),
            hint: self
                .hint
                .as_deref()
                .map(|path| read_hint(context.open_whole(path)?, &problem))
                .transpose()?,
            ..Limits::default()
        };
        let method = self.method;
        let start = Instant::now();
        if let Some(count) = self.n_best {
            let best = match &self.certificate {
                None => n_best(&problem, count, self.different_by, method, &limits)?,
                Some(path) => {
                    let seconds = limits.time_limit.unwrap_or(60.0);
                    let proven = proven_n_best(&problem, count, self.different_by, method, &limits, seconds)?;
                    let (proofs, best): (Vec<_>, Vec<_>) = proven.into_iter().unzip();
                    let proofs: Result<Vec<String>, _> = proofs.iter().map(Proof::write).collect();
                    output::write(path, &proofs?.concat())?;
                    best
                }
            };
            let answer = |solution: Solution| self.answer(&problem, &solution.stated(&problem));
            return self.write(&best.into_iter().map(answer).collect::<Vec<_>>());
        }
        let mut solution = solve(&graph, method, &limits)?;
        drop(graph);
        if let Some(path) = &self.certificate {
            // Finding and proving share the time.
            let mut options = ProofOptions::default();
            options.time_limit = limits.time_limit.unwrap_or(60.0) - start.elapsed().as_secs_f64();
            options.time_limit = options.time_limit.max(0.2 * limits.time_limit.unwrap_or(60.0));
            options.gap = self.gap;
            options.branch = method == Method::Exact;
            let (proof, proven) = prove(&problem, solution, &options)?;
            output::write(path, &proof.write()?)?;
            solution = proven;
        }
        let explained = self.explain.then(|| solution.clone());
        let stated = solution.stated(&problem);
        if let Some(path) = &self.trace {
            output::write(path, &trace_csv(&stated))?;
        }
        if let Some(path) = &self.plot {
            output::write(path, &self.chart(&stated).to_svg())?;
        }
        let mut answer = self.answer(&problem, &stated);
        if let Some(solution) = explained {
            self.explain(&problem, &solution, method, &limits, &mut answer)?;
        }
        self.write(&[answer])
    }

    /// Writes answers, with a blank line between them or as one a line.
    fn write(&self, answers: &[Answer<'_>]) -> Result<ExitCode> {
        let mut output = self.output.open()?;
        for (number, answer) in answers.iter().enumerate() {
            match answer {
                Answer::Text(text) if number == 0 => write!(output, "{text}")?,
                Answer::Text(text) => write!(output, "\n{text}")?,
                Answer::Json(json) => {
                    serde_json::to_writer(&mut output, json)?;
                    writeln!(output)?;
                }
            }
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    fn answer<'a>(&self, problem: &'a Problem, solution: &Solution) -> Answer<'a> {
        match self.format {
            AnswerFormat::Text => Answer::Text(text_answer(problem, solution)),
            AnswerFormat::Json => Answer::Json(json_answer(problem, solution)),
        }
    }

    /// Adds what each state is worth, or why there is no solution.
    fn explain(
        &self,
        problem: &Problem,
        solution: &Solution,
        method: Method,
        limits: &Limits,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let Some(states) = solution.assignment() else {
            return explain_conflict(problem, limits, answer);
        };
        let value = solution.certificate.value().unwrap_or_default();
        for other in otherwise(problem, states, method, limits)? {
            let (variable, certificate) = (&problem.variables[other.variable], &other.solution.certificate);
            let state = |states: &[u32]| variable.state_name(states[other.variable] as usize);
            // What is lost at least, by the bound on everything else.
            let loss = value - certificate.bound();
            match answer {
                Answer::Text(text) => {
                    let otherwise = match other.solution.assignment() {
                        _ if certificate.status() == Status::Infeasible => {
                            "nothing else is possible".to_owned()
                        }
                        Some(others) => format!("{} would cost {}", state(others), digits(loss.max(0.0))),
                        None => format!("anything else would cost {} or more", digits(loss.max(0.0))),
                    };
                    writeln!(
                        text,
                        "{}",
                        shown(&format!("{} is {}: {otherwise}", variable.name, state(states)))
                    )
                    .expect("writing to a string");
                }
                Answer::Json(json) => {
                    let loss = loss.is_finite().then_some(loss.max(0.0));
                    json.more.entry("otherwise").or_insert_with(|| json!({}))[&variable.name] =
                        json!({"loss": loss, "status": certificate.status().name()});
                }
            }
        }
        Ok(())
    }

    fn chart(&self, solution: &Solution) -> Chart {
        let series = |name: &str, y: fn(&consonant::map::TracePoint) -> f64| Series {
            name: name.into(),
            points: solution.trace.iter().map(|p| (p.seconds, y(p))).collect(),
            steps: true,
        };
        let name = self.problem.file_name().unwrap_or_default().to_string_lossy();
        Chart {
            title: format!("{name}: {}", solution.certificate.status()),
            x_label: "seconds".into(),
            y_label: "score".into(),
            series: vec![series("bound", |p| p.bound), series("value", |p| p.value)],
        }
    }
}

/// An answer as it is written.
enum Answer<'a> {
    Text(String),
    Json(JsonAnswer<'a>),
}

/// Adds the constraints that contradict each other, once the checker of proofs has confirmed that they do.
fn explain_conflict(problem: &Problem, limits: &Limits, answer: &mut Answer<'_>) -> Result<()> {
    let Some(conflict) = conflict(problem, limits)? else {
        if let Answer::Text(text) = answer {
            text.push_str(
                "whether the constraints contradict each other was not found out within the limits\n",
            );
        }
        return Ok(());
    };
    let (confirmed, pieces) = (conflict.confirm(limits)?, conflict.describe(problem));
    match answer {
        Answer::Text(text) => {
            let smallest = if conflict.smallest { ", and none can be left out" } else { "" };
            let checked = if confirmed { " (verified)" } else { "" };
            writeln!(text, "these contradict each other{smallest}{checked}:").expect("writing to a string");
            pieces
                .iter()
                .for_each(|piece| writeln!(text, "  {}", shown(piece)).expect("writing to a string"));
        }
        Answer::Json(json) => {
            let conflict =
                json!({"constraints": pieces, "smallest": conflict.smallest, "verified": confirmed});
            json.more.insert("conflict".into(), conflict);
        }
    }
    Ok(())
}

impl Stated {
    /// Reads a problem with all that is known; also what to call the file.
    pub fn read(&self, path: &Path, context: &Context) -> Result<(String, Problem)> {
        let (name, mut problem) = read_problem(path, self.from, context)?;
        if self.minimize {
            problem.minimize().map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        }
        for (literals, holds) in [(&self.fix, true), (&self.forbid, false)] {
            for text in literals {
                let literal = problem.literal(text).map_err(|error| crate::usage_error(error.to_string()))?;
                problem.require(if holds { literal } else { !literal });
            }
        }
        Ok((name, problem))
    }
}

/// One of several things by their names.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    names: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names.map(|(name, _)| name))
        .map(move |given| names.iter().find(|(name, _)| *name == given).expect("one of the names").1)
}

/// An error of a file with its place.
fn placed(name: &str, error: FormatError) -> anyhow::Error {
    match error.line {
        Some(line) => anyhow::anyhow!("{name}:{line}: {}", error.message),
        None => anyhow::anyhow!("{name}: {}", error.message),
    }
}

/// Bytes of a file in JSON from which on it is read as a stream.
const LARGE: u64 = 1 << 24;

/// Reads a problem in the form that is named, or that its name and content show; also what to call the file.
fn read_problem(path: &Path, format: Option<Format>, context: &Context) -> Result<(String, Problem)> {
    let input = context.open_whole(path)?;
    let name = input.name().to_string();
    let is_large = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > LARGE);
    if is_large && format.or_else(|| Format::guess(&name, "")) == Some(Format::Json) {
        let problem =
            problem::json::read_from(BufReader::new(input)).map_err(|error| placed(&name, error))?;
        return Ok((name, problem));
    }
    let text = input.into_text()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        bail!("{name}: the file is empty; expected a problem");
    }
    let Some(format) = format.or_else(|| Format::guess(&name, text)) else {
        bail!(
            "{name}: not a problem in a format that can be told by its name or first word; say --from uai, loguai, fg, json, lp, mps, wcsp or cfn"
        );
    };
    let problem = problem::read(text, format).map_err(|error| placed(&name, error))?;
    Ok((name, problem))
}

/// Reads an assignment of the problem; of several in a file, the first.
fn read_hint(input: Input, problem: &Problem) -> Result<Vec<u32>> {
    let name = input.name().to_string();
    let text = input.into_text()?;
    let first = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next();
    let Some(answer) = first else { bail!("{name}: the file is empty; expected an assignment as JSON") };
    let answer = answer.map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
    problem.unnamed(&answer).map_err(|error| anyhow::anyhow!("{name}: {error}"))
}

fn trace_csv(solution: &Solution) -> String {
    let mut csv = String::from("iteration,seconds,bound,value\n");
    for point in &solution.trace {
        let value = if point.value.is_finite() { point.value.to_string() } else { String::new() };
        writeln!(csv, "{},{:.6},{},{value}", point.iteration, point.seconds, point.bound)
            .expect("writing to a string");
    }
    csv
}

fn text_answer(problem: &Problem, solution: &Solution) -> String {
    let mut text = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| writeln!(text, "{args}").expect("writing to a string");
    let certificate = &solution.certificate;
    line(format_args!("status {}", certificate.status()));
    if let Some(value) = certificate.value() {
        line(format_args!("value {}", digits(value)));
    }
    if certificate.bound().is_finite() {
        line(format_args!("bound {}", digits(certificate.bound())));
    }
    line(format_args!("iterations {}", certificate.iterations));
    if let Some(states) = solution.assignment() {
        for (variable, &state) in problem.variables.iter().zip(states) {
            line(format_args!("{}\t{}", shown(&variable.name), shown(&variable.state_name(state as usize))));
        }
    }
    text
}

fn json_answer<'a>(problem: &'a Problem, solution: &Solution) -> JsonAnswer<'a> {
    let states = solution.assignment().map(<[u32]>::to_vec);
    JsonAnswer { certificate: solution.certificate, problem, states, more: Map::new() }
}

/// An answer as it is written in JSON; the states get their names as they are written, which are many.
struct JsonAnswer<'a> {
    certificate: Certificate,
    problem: &'a Problem,
    states: Option<Vec<u32>>,
    more: Map<String, Value>,
}

impl Serialize for JsonAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            #[serde(flatten)]
            certificate: Certificate,
            #[serde(skip_serializing_if = "Option::is_none")]
            assignment: Option<Named<'a>>,
            #[serde(flatten)]
            more: &'a Map<String, Value>,
        }
        let assignment = self.states.as_deref().map(|states| Named { problem: self.problem, states });
        Keys { certificate: self.certificate, assignment, more: &self.more }.serialize(serializer)
    }
}

/// The states of variables by their names.
struct Named<'a> {
    problem: &'a Problem,
    states: &'a [u32],
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.problem.variables.iter().zip(self.states);
        serializer.collect_map(named.map(|(variable, &state)| match variable.states.get(state as usize) {
            Some(name) => (&variable.name, StateName::Name(name)),
            None => (&variable.name, StateName::Number(state)),
        }))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum StateName<'a> {
    Name(&'a str),
    Number(u32),
}
