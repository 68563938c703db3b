//! `consonant solve PROBLEM`

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use consonant::map::problem::{self, Format, FormatError, Problem};
use consonant::map::proof::{ProofOptions, prove};
use consonant::map::solver::{Limits, Method, solve};
use consonant::map::{Graph, Solution};
use consonant::text::input::Input;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::output::{self, Destination};
use consonant::plot::{Chart, Series, digits};

/// Find the best assignment of a factor graph: bring your own scores.
#[derive(Args)]
#[command(after_help = "Examples:
  consonant solve problem.json
  consonant solve grid.uai --method exact --time-limit 10 --format json
  consonant solve grid.uai --trace trace.csv --plot trace.svg
  consonant solve problem.json --certificate problem.proof

The problem is UAI, log-UAI (.loguai), AD3's .fg, or our JSON (see docs/map.md). A problem without a solution is
told as \"infeasible\", with exit code 0: that is an answer.")]
pub struct Solve {
    /// The problem; `-` or none is standard input.
    #[arg(value_name = "PROBLEM", default_value = "-")]
    problem: PathBuf,
    /// How the problem is written (default: by its name, then by its content).
    #[arg(long, value_name = "FORMAT")]
    from: Option<ProblemFormat>,
    /// How to solve it.
    #[arg(long, default_value = "exact")]
    method: MethodName,
    /// Iterations at most (search nodes for exact).
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Seconds at most (default: 60 for exact, none for the others).
    #[arg(long, value_name = "S")]
    time_limit: Option<f64>,
    /// Relative difference of value and bound that counts as a proof.
    #[arg(long, value_name = "G", default_value_t = 1e-6)]
    gap: f64,
    /// Write value and bound over time as CSV.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw value and bound over time as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the proof of the answer, for `consonant verify`. What is printed then is what it proves.
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// How to write the answer.
    #[arg(long, default_value = "text")]
    format: AnswerFormat,
    #[command(flatten)]
    output: Destination,
}

/// How a problem is written.
#[derive(Clone, Copy, ValueEnum)]
pub enum ProblemFormat {
    Uai,
    Loguai,
    Fg,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum MethodName {
    Ad3,
    Subgradient,
    TwoSlave,
    SpanningTrees,
    Exact,
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
        let (name, problem) = read_problem(&self.problem, self.from)?;
        let graph = Graph::from_problem(&problem).map_err(|error| placed(&name, error))?;
        context.detail(format!(
            "{} variables, {} factors, {} links",
            graph.variables(),
            graph.factors(),
            graph.links()
        ));
        let limits = Limits {
            max_iterations: self.max_iterations,
            time_limit: self.time_limit.or(matches!(self.method, MethodName::Exact).then_some(60.0)),
            gap: self.gap,
            parallel: context.threads > 1,
            trace: self.trace.is_some() || self.plot.is_some(),
        };
        let method = match self.method {
            MethodName::Ad3 => Method::Ad3,
            MethodName::Subgradient => Method::Subgradient,
            MethodName::TwoSlave => Method::TwoSlave,
            MethodName::SpanningTrees => Method::SpanningTrees,
            MethodName::Exact => Method::Exact,
        };
        let start = Instant::now();
        let mut solution = solve(&graph, method, &limits)?;
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
        if let Some(path) = &self.trace {
            output::write(path, &trace_csv(&solution))?;
        }
        if let Some(path) = &self.plot {
            output::write(path, &self.chart(&solution).to_svg())?;
        }
        let answer = match self.format {
            AnswerFormat::Text => text_answer(&problem, &solution),
            AnswerFormat::Json => format!("{}\n", serde_json::to_string(&json_answer(&problem, &solution))?),
        };
        let mut output = self.output.open()?;
        output.write_all(answer.as_bytes())?;
        output.finish()?;
        Ok(ExitCode::SUCCESS)
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

/// An error of a file with its place.
fn placed(name: &str, error: FormatError) -> anyhow::Error {
    match error.line {
        Some(line) => anyhow::anyhow!("{name}:{line}: {}", error.message),
        None => anyhow::anyhow!("{name}: {}", error.message),
    }
}

/// Reads a problem in the form that is named, or that its name and content show; also what to call the file.
pub fn read_problem(path: &Path, format: Option<ProblemFormat>) -> Result<(String, Problem)> {
    let input = Input::open(path)?;
    let name = input.name().to_string();
    let text = input.into_text()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        bail!("{name}: the file is empty; expected a problem");
    }
    let format = match format {
        Some(ProblemFormat::Uai) => Format::Uai,
        Some(ProblemFormat::Loguai) => Format::LogUai,
        Some(ProblemFormat::Fg) => Format::Fg,
        Some(ProblemFormat::Json) => Format::Json,
        None => match Format::guess(&name, text) {
            Some(format) => format,
            None => bail!("{name}: cannot tell the format; say --from uai, loguai, fg or json"),
        },
    };
    let problem = problem::read(text, format).map_err(|error| placed(&name, error))?;
    Ok((name, problem))
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
            line(format_args!("{}\t{}", variable.name, variable.state_name(state as usize)));
        }
    }
    text
}

fn json_answer(problem: &Problem, solution: &Solution) -> Value {
    let mut answer = json!(solution.certificate);
    if let Some(states) = solution.assignment() {
        let state = |(variable, &state): (&problem::Variable, &u32)| {
            let name = variable.states.get(state as usize);
            (variable.name.clone(), name.map_or_else(|| json!(state), |name| json!(name)))
        };
        let assignment: Map<String, Value> = problem.variables.iter().zip(states).map(state).collect();
        answer["assignment"] = Value::Object(assignment);
    }
    answer
}
