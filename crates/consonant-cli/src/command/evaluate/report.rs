//! What all scorers share: which files, how results are shown, intervals and comparisons of two predictions.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use consonant::Error;
use consonant::evaluate::{Detail, Scored};
use consonant::text::evaluate::{
    Bootstrap, Comparison, Difference, Interval, Mistake, MistakeCounts, compare_mistakes,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::output::Destination;
use crate::usage_error;

/// Flags of every scorer.
#[derive(Args)]
pub struct Files {
    /// The gold data.
    #[arg(value_name = "GOLD")]
    pub gold: PathBuf,
    /// The prediction; `-` is standard input.
    #[arg(value_name = "PREDICTED", default_value = "-")]
    predicted: PathBuf,
    /// Another prediction: say whether the two differ by more than chance (paired bootstrap, two-sided), and which
    /// kinds of mistakes each makes.
    #[arg(long, value_name = "OTHER")]
    against: Option<PathBuf>,
    /// List up to N places where the two predictions differ, and which of them is right.
    #[arg(long, value_name = "N", requires = "against")]
    differences: Option<usize>,
    /// Show 95 % confidence intervals (bootstrap).
    #[arg(long)]
    intervals: bool,
    /// How often to resample for intervals and comparisons.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resamples: u32,
    /// How to show the scores.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    output: Destination,
}

/// How to show the scores.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The table of the original scorer.
    Text,
    /// One JSON object.
    Json,
}

impl Files {
    /// Scores the prediction (and the other one) with `score`, which takes its path and what to gather, and shows
    /// the result.
    pub fn report(
        &self,
        context: &Context,
        score: impl Fn(&Path, Detail) -> Result<Scored, Error>,
    ) -> Result<ExitCode> {
        let from_stdin = |path: &PathBuf| path.as_os_str() == "-";
        let files = [Some(&self.gold), Some(&self.predicted), self.against.as_ref()];
        self.output.keep_apart(files.into_iter().flatten())?;
        if files.into_iter().flatten().filter(|path| from_stdin(path)).count() > 1 {
            return Err(usage_error("only one of the files can be standard input"));
        }
        if self.against.is_some() && from_stdin(&self.gold) {
            return Err(usage_error(
                "with --against the gold data is read twice and cannot be standard input",
            ));
        }
        if self.intervals || self.against.is_some() {
            context.detail(format!("{} resamples on {} threads", self.resamples, context.threads));
        }
        let bootstrap = Bootstrap { resamples: self.resamples as usize, seed: context.seed.unwrap_or(1) };
        let detail = if self.against.is_some() { Detail::Mistakes } else { Detail::Scores };
        let this = score(&self.predicted, detail)?;
        let mut shown = this.json;
        let mut table = this.table;
        if self.intervals {
            let intervals = this.by_unit.iter().map(|score| (score.name.as_str(), bootstrap.interval(score)));
            let intervals: Vec<_> = intervals.collect();
            write_intervals(&mut table, &intervals)?;
            insert(&mut shown, "intervals", &intervals)?;
        }
        if let Some(other) = &self.against {
            let other = score(other, detail).with_context(|| format!("in {}", other.display()))?;
            let comparisons = this.by_unit.iter().zip(&other.by_unit);
            let comparisons: Option<Vec<_>> = comparisons
                .map(|(this, other)| Some((this.name.as_str(), bootstrap.compare(this, other)?)))
                .collect();
            let comparisons = comparisons.context("the two predictions do not cover the same data")?;
            write_comparisons(&mut table, &comparisons)?;
            insert(&mut shown, "against", &comparisons)?;
            let (by_kind, differences) = compare_mistakes(&this.mistakes, &other.mistakes);
            if !by_kind.is_empty() {
                let mut by_kind: Vec<_> =
                    by_kind.iter().map(|(kind, counts)| (kind.as_str(), *counts)).collect();
                by_kind.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.this + counts.other));
                write_mistakes(&mut table, &by_kind, &differences)?;
                insert(&mut shown, "mistakes", &by_kind)?;
            }
            if let Some(most) = self.differences {
                let listed = &differences[..differences.len().min(most)];
                write_differences(&mut table, listed, &this.places)?;
                let listed = listed.iter().map(|difference| in_json(difference, &this.places)).collect();
                if let Value::Object(shown) = &mut shown {
                    shown.insert("differences".to_owned(), Value::Array(listed));
                }
            }
        }
        let mut output = self.output.open()?;
        match self.format {
            Format::Text => output.write_all(table.as_bytes())?,
            Format::Json => {
                serde_json::to_writer_pretty(&mut output, &shown)?;
                output.write_all(b"\n")?;
            }
        }
        output.finish()?;
        this.notes.iter().for_each(|note| context.note(note));
        Ok(ExitCode::SUCCESS)
    }
}

/// Kinds of mistakes beyond this many are told together.
const MOST_KINDS: usize = 20;

fn insert(object: &mut Value, key: &str, entries: &[(&str, impl Serialize)]) -> Result<()> {
    let mut map = Map::new();
    for (name, value) in entries {
        map.insert((*name).to_owned(), serde_json::to_value(value)?);
    }
    if let Value::Object(object) = object {
        object.insert(key.to_owned(), Value::Object(map));
    }
    Ok(())
}

fn write_intervals(table: &mut String, intervals: &[(&str, Interval)]) -> Result<()> {
    writeln!(table, "\n{:18} {:>8}   95% interval", "", "score")?;
    for (name, Interval { value, low, high }) in intervals {
        writeln!(table, "{name:18} {:8.2}   [{:.2}, {:.2}]", 100.0 * value, 100.0 * low, 100.0 * high)?;
    }
    Ok(())
}

fn write_comparisons(table: &mut String, comparisons: &[(&str, Comparison)]) -> Result<()> {
    writeln!(
        table,
        "\n{:18} {:>8} {:>8} {:>11}   {:17} {:>7}",
        "", "this", "other", "difference", "95% interval", "p"
    )?;
    for (name, Comparison { this, other, difference, p_value }) in comparisons {
        let interval = format!("[{:+.2}, {:+.2}]", 100.0 * difference.low, 100.0 * difference.high);
        writeln!(
            table,
            "{name:18} {:8.2} {:8.2} {:+11.2}   {interval:17} {p_value:7.4}",
            100.0 * this.value,
            100.0 * other.value,
            100.0 * difference.value
        )?;
    }
    Ok(())
}

fn write_mistakes(
    table: &mut String,
    by_kind: &[(&str, MistakeCounts)],
    differences: &[Difference<'_>],
) -> Result<()> {
    writeln!(
        table,
        "\n{:34} {:>8} {:>8} {:>11} {:>11}",
        "mistakes", "this", "other", "only this", "only other"
    )?;
    let mut row = |kind: &str, counts: MistakeCounts| {
        let MistakeCounts { this, other, only_this, only_other } = counts;
        writeln!(table, "{kind:34} {this:8} {other:8} {only_this:11} {only_other:11}")
    };
    let (shown, others) = by_kind.split_at(by_kind.len().min(MOST_KINDS));
    shown.iter().try_for_each(|(kind, counts)| row(kind, *counts))?;
    let rest = others.iter().fold(MistakeCounts::default(), |mut sum, (_, counts)| {
        sum.this += counts.this;
        sum.other += counts.other;
        sum.only_this += counts.only_this;
        sum.only_other += counts.only_other;
        sum
    });
    if !others.is_empty() {
        row(&format!("{} other kinds", others.len()), rest)?;
    }
    let count =
        |right: &str| differences.iter().filter(|difference| who_is_right(difference) == right).count();
    writeln!(
        table,
        "\nThe two differ in {} place{}: this one is right in {}, the other in {}, neither in {}.",
        differences.len(),
        if differences.len() == 1 { "" } else { "s" },
        count("this"),
        count("other"),
        count("neither")
    )?;
    Ok(())
}

fn who_is_right(difference: &Difference<'_>) -> &'static str {
    match (difference.this, difference.other) {
        (None, _) => "this",
        (_, None) => "other",
        _ => "neither",
    }
}

/// What is said of a place: where, the words, what gold has.
fn place<'d>(difference: &Difference<'d>, places: &'d [String]) -> Option<(&'d str, &'d Mistake)> {
    let mistake = difference.this.or(difference.other)?;
    Some((places.get(mistake.place[0]).map_or("", String::as_str), mistake))
}

fn write_differences(table: &mut String, differences: &[Difference<'_>], places: &[String]) -> Result<()> {
    let said = |mistake: Option<&Mistake>| match mistake {
        None => "right".to_owned(),
        Some(mistake) => format!("{} ({})", or_nothing(&mistake.predicted), mistake.kind()),
    };
    for difference in differences {
        if let Some((place, mistake)) = place(difference, places) {
            let (text, gold) = (&mistake.text, or_nothing(&mistake.gold));
            let (this, other) = (said(difference.this), said(difference.other));
            writeln!(table, "{place}: {text}: gold {gold}; this {this}; other {other}")?;
        }
    }
    Ok(())
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn in_json(difference: &Difference<'_>, places: &[String]) -> Value {
    let Some((place, mistake)) = place(difference, places) else { return Value::Null };
    let said = |mistake: Option<&Mistake>| {
        mistake.map(|mistake| json!({"kind": mistake.kind(), "predicted": mistake.predicted}))
    };
    json!({
        "place": place,
        "text": mistake.text,
        "gold": mistake.gold,
        "right": who_is_right(difference),
        "this": said(difference.this),
        "other": said(difference.other),
    })
}
