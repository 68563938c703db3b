use std::fmt::Write;

use super::{Decoding, Diagram, Factor, Nota, Piece, Variables};
use crate::SequenceError;

impl Diagram {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, SequenceError> {
        let mut diagram = Self { name: "unnamed".into(), pieces: Vec::new(), decoding: Decoding::Global };
        for (at, line) in text.lines().enumerate() {
            let wrong = |problem: String| SequenceError::Diagram { line: at + 1, problem };
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let Some((&keyword, rest)) = words.split_first() else { continue };
            match keyword {
                "diagram" => diagram.name = rest.join(" "),
                "decode" => diagram.decoding = decoding(rest).map_err(wrong)?,
                "piece" => {
                    let variables = Variables::Offsets(vec![0]);
                    diagram.pieces.push(Piece {
                        name: rest.join(" "),
                        variables,
                        factors: Vec::new(),
                        nota: None,
                    });
                }
                "variables" | "factor" | "nota" => {
                    let piece = diagram
                        .pieces
                        .last_mut()
                        .ok_or_else(|| wrong(format!("`{keyword}` stands before the first `piece`")))?;
                    match keyword {
                        "variables" if rest == ["all"] => piece.variables = Variables::All,
                        "variables" => piece.variables = Variables::Offsets(offsets(rest).map_err(wrong)?),
                        "factor" => piece.factors.push(factor(rest).map_err(wrong)?),
                        _ => piece.nota = Some(nota(rest).map_err(wrong)?),
                    }
                }
                _ => {
                    return Err(wrong(format!(
                        "`{keyword}` is not known here; expected diagram, piece, variables, factor, nota or decode"
                    )));
                }
            }
        }
        diagram.check()?;
        Ok(diagram)
    }

    /// Writes the text form, which [`parse`](Self::parse) reads back.
    pub fn to_text(&self) -> String {
        let mut text = format!("diagram {}\n", self.name);
        let words = |offsets: &[i32]| offsets.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
        for piece in &self.pieces {
            let variables = match &piece.variables {
                Variables::All => "all".to_string(),
                Variables::Offsets(offsets) => words(offsets),
            };
            let _ = writeln!(text, "piece {}\n    variables {variables}", piece.name);
            for factor in &piece.factors {
                let group =
                    if factor.group.is_empty() { String::new() } else { format!(" in {}", factor.group) };
                let of = if factor.lines.is_empty() {
                    String::new()
                } else {
                    format!(" of {}", factor.lines.join(" "))
                };
                let _ = writeln!(
                    text,
                    "    factor {}{group}{of}{}",
                    words(&factor.offsets),
                    if factor.locked { " locked" } else { "" }
                );
            }
            match piece.nota {
                None => {}
                Some(Nota::Exhaustive) => text.push_str("    nota exhaustive\n"),
                Some(Nota::Sampled { count, draws: 1 }) => {
                    text.push_str(&format!("    nota sampled {count}\n"))
                }
                Some(Nota::Sampled { count, draws }) => {
                    text.push_str(&format!("    nota sampled {count} drawn {draws}\n"))
                }
                Some(Nota::Threshold { probability, after }) => {
                    text.push_str(&format!("    nota threshold {probability} after {after}\n"))
                }
            }
        }
        text + "decode " + self.decoding.name() + "\n"
    }
}

fn decoding(words: &[&str]) -> Result<Decoding, String> {
    let words = words.join(" ");
    words
        .parse()
        .map_err(|_| format!("`decode {words}`; expected `decode global`, `decode local` or `decode scaled`"))
}

/// How far from its position a piece may look: more is a slip of the pen.
const FARTHEST: i32 = 16;

fn offsets(words: &[&str]) -> Result<Vec<i32>, String> {
    let number = |word: &&str| match word.parse::<i32>() {
        Ok(offset) if offset.abs() <= FARTHEST => Ok(offset),
        Ok(offset) => Err(format!("offset {offset} is too far; at most {FARTHEST} either way")),
        Err(_) => Err(format!("`{word}` is no offset; expected whole numbers such as -1 0 1")),
    };
    if words.is_empty() {
        return Err("offsets are missing; write for instance `0` or `-1 0`".into());
    }
    words.iter().map(number).collect()
}

fn factor(words: &[&str]) -> Result<Factor, String> {
    let (words, locked) = match words {
        [before @ .., "locked"] => (before, true),
        _ => (words, false),
    };
    let (words, lines) = match words.iter().position(|&word| word == "of") {
        Some(of) if of + 1 < words.len() => {
            (&words[..of], words[of + 1..].iter().map(|&line| line.into()).collect())
        }
        Some(_) => return Err("`of` wants names of template lines, such as `U00 U01`".into()),
        None => (words, Vec::new()),
    };
    let (words, group) = match words {
        [before @ .., "in", group] => (before, group.to_string()),
        _ => (words, String::new()),
    };
    Ok(Factor { offsets: offsets(words)?, group, locked, lines })
}

fn nota(words: &[&str]) -> Result<Nota, String> {
    let wrong = || {
        format!(
            "`nota {}`; expected `nota exhaustive`, `nota sampled 3`, `nota sampled 3 drawn 5` or `nota threshold 0.2 after 20`",
            words.join(" ")
        )
    };
    match words {
        ["exhaustive"] => Ok(Nota::Exhaustive),
        ["sampled", count, drawn @ ..] => {
            let draws = match drawn {
                [] => Some(1),
                ["drawn", draws] => draws.parse().ok().filter(|&draws| draws > 0),
                _ => None,
            };
            let count = count.parse().map_err(|_| wrong())?;
            Ok(Nota::Sampled { count, draws: draws.ok_or_else(wrong)? })
        }
        ["threshold", probability, "after", after] => {
            let probability =
                probability.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p)).ok_or_else(wrong)?;
            Ok(Nota::Threshold { probability, after: after.parse().map_err(|_| wrong())? })
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use consonant_learn::trainer::TrainingAlgorithm as _;

    use super::*;
    use crate::Algorithm;

    #[test]
    fn text_comes_back_and_errors_name_their_line() {
        let algorithms = Algorithm::ALL.iter();
        let mut diagrams: Vec<Diagram> =
            algorithms.map(|&algorithm| Algorithm::diagram(&algorithm.into(), 1)).collect();
        diagrams.push(Diagram::nota(Nota::Threshold { probability: 0.2, after: 20 }, Decoding::Scaled));
        diagrams.push(Diagram::nota(Nota::Sampled { count: 3, draws: 5 }, Decoding::Local));
        diagrams[0].pieces[0].factors[1].locked = true;
        diagrams.push(Diagram::memm(0));
        let node = &mut diagrams.last_mut().unwrap().pieces[0].factors[0];
        (node.group, node.lines) = ("words".into(), vec!["U00".into(), "U01".into()]);
        for diagram in diagrams {
            assert_eq!(Diagram::parse(&diagram.to_text()).unwrap(), diagram);
        }
        for (text, line, part) in [
            ("", 0, "no piece"),
            ("factor 0", 1, "before the first"),
            ("piece a\n\nfactor x", 3, "`x`"),
            ("piece a\nfactor 0 2", 0, "follow each other"),
            ("piece a\nvariables 0\nfactor 1", 0, "touches none"),
            ("piece a\nfactor 0\nnota maybe", 3, "expected"),
            ("piece a\nfactor 0\nnota sampled 3 drawn 0", 3, "expected"),
            ("piece a\nfactor 0\nfactor 0 1\nnota exhaustive", 0, "exactly"),
            ("piece a\nvariables 0 1\nfactor 0\nfactor 1", 0, "every edge"),
            ("piece a\nfactor 99", 2, "too far"),
            ("piece a\nfactor 0 in b of", 2, "`of` wants"),
            ("piece a\nfactor 0 of U00", 0, "no group"),
            ("piece a\nfactor 0\nfactor 0 1\nfactor -1 0\ndecode local", 0, "one side"),
            ("pieces", 1, "pieces"),
        ] {
            let error = Diagram::parse(text).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(matches!(error, SequenceError::Diagram { line: found, .. } if found == line), "{error}");
        }
    }
}
