//! The same problem as an integer linear program, in the LP format that solvers read.

use std::fmt::Write;

use crate::problem::{Problem, Scores};

/// Writes a problem as an ILP: maximize concepts, cuts, leads and sentences, subject to trees and budgets.
///
/// Variables: `s` sentences, `z` units, `l` leads, `c` concepts, `o` occurrences that need several units.
pub fn lp_format(problem: &Problem, scores: &Scores) -> String {
    let (units, leads) = scores.linear(problem);
    let mut objective = String::new();
    let mut rows = String::new();
    let mut binaries = String::new();
    let mut term = |score: f64, name: std::fmt::Arguments<'_>| {
        let _ = write!(objective, " {score:+.12} {name}");
        let _ = write!(binaries, " {name}");
        if objective.len() - objective.rfind('\n').unwrap_or(0) > 200 {
            objective.push('\n');
            binaries.push('\n');
        }
    };
    let mut row = |text: std::fmt::Arguments<'_>| {
        let _ = writeln!(rows, " {text}");
    };
    for sentence in 0..problem.sentences() {
        let range = problem.units_of(sentence);
        term(scores.sentences[sentence], format_args!("s{sentence}"));
        let mut tops = format!("z{}", range.start);
        for unit in range.clone() {
            term(units[unit], format_args!("z{unit}"));
            let this = &problem.units[unit];
            if unit > range.start {
                let parent = range.start + this.parent as usize;
                if this.may_lead {
                    term(leads[unit], format_args!("l{unit}"));
                    let _ = write!(tops, " + l{unit}");
                    row(format_args!("z{unit} - z{parent} - l{unit} <= 0"));
                    row(format_args!("l{unit} - z{unit} <= 0"));
                } else {
                    row(format_args!("z{unit} - z{parent} <= 0"));
                }
                if !this.deletable {
                    row(format_args!("z{parent} - z{unit} <= 0"));
                }
            }
        }
        row(format_args!("{tops} - s{sentence} = 0"));
    }
    for concept in 0..problem.concepts() {
        term(scores.concepts[concept], format_args!("c{concept}"));
        let mut covered = format!("c{concept}");
        for occurrence in problem.occurrences_of(concept) {
            let needed = problem.units_of_occurrence(occurrence);
            let name = match needed {
                [unit] => format!("z{unit}"),
                _ => {
                    term(0.0, format_args!("o{occurrence}"));
                    let mut all = format!("- o{occurrence}");
                    for unit in needed {
                        row(format_args!("o{occurrence} - z{unit} <= 0"));
                        let _ = write!(all, " + z{unit}");
                    }
                    row(format_args!("{all} <= {}", needed.len() - 1));
                    format!("o{occurrence}")
                }
            };
            row(format_args!("{name} - c{concept} <= 0"));
            let _ = write!(covered, " - {name}");
        }
        row(format_args!("{covered} <= 0"));
    }
    let mut budget = String::new();
    for (unit, this) in problem.units.iter().enumerate() {
        let _ = write!(budget, " + {} z{unit}{}", this.length, if unit % 20 == 19 { "\n" } else { "" });
    }
    row(format_args!("{budget} <= {}", problem.words));
    let sentences: Vec<String> = (0..problem.sentences()).map(|sentence| format!("s{sentence}")).collect();
    row(format_args!("{} <= {}", sentences.join(" + "), problem.most_sentences));
    format!("Maximize\n{objective}\nSubject To\n{rows}Binary\n{binaries}\nEnd\n")
}
