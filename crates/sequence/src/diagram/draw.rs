use std::fmt::Write;

use super::{Diagram, Factor, Nota, Piece, Variables};

const COLUMN: f64 = 90.0;
const TOP: f64 = 40.0;
const NODE: f64 = 14.0;
const BOX: f64 = 7.0;

impl Diagram {
    /// Draws the diagram as SVG: circles are labels, grey ones are conditioned on, squares are factors
    /// (numbered by parameter group, hollow when locked), and a dashed line surrounds each piece.
    pub fn to_svg(&self) -> String {
        let groups = self.groups();
        let rows: Vec<String> = self.pieces.iter().map(|piece| draw_piece(piece, &groups)).collect();
        let width =
            self.pieces.iter().map(|piece| COLUMN * (span(piece).count() as f64 + 1.0)).fold(360.0, f64::max);
        let height = TOP + 170.0 * rows.len() as f64;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"20\" y=\"24\" font-size=\"16\">{}</text>\n",
            escape(&self.name)
        );
        for (row, piece) in rows.iter().enumerate() {
            let _ = writeln!(svg, "<g transform=\"translate(0 {})\">\n{piece}</g>", TOP + 170.0 * row as f64);
        }
        svg + "</svg>\n"
    }
}

/// The offsets a picture of the piece shows.
fn span(piece: &Piece) -> std::ops::RangeInclusive<i32> {
    let factors = piece.factors.iter().flat_map(|factor| factor.offsets.iter().copied());
    match &piece.variables {
        // A stretch of the sentence stands for all of it.
        Variables::All => {
            -2..=1 + piece.factors.iter().map(|factor| factor.offsets.len() as i32 - 1).max().unwrap_or(0)
        }
        Variables::Offsets(offsets) => {
            let all: Vec<i32> = factors.chain(offsets.iter().copied()).collect();
            *all.iter().min().unwrap_or(&0)..=*all.iter().max().unwrap_or(&0)
        }
    }
}

fn draw_piece(piece: &Piece, groups: &[&str]) -> String {
    let span = span(piece);
    let first = *span.start();
    let x = |offset: f64| 60.0 + COLUMN * (offset - f64::from(first));
    let inside = |offset: i32| match &piece.variables {
        Variables::All => true,
        Variables::Offsets(offsets) => offsets.contains(&offset),
    };
    let group = |factor: &Factor| groups.iter().position(|&group| group == factor.group).unwrap_or(0) + 1;
    let mut svg =
        format!("<text x=\"20\" y=\"16\">{}{}</text>\n", escape(&piece.name), describe_nota(piece.nota));
    let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
    for offset in span.clone().filter(|&offset| inside(offset)) {
        (left, right) = (left.min(x(offset.into())), right.max(x(offset.into())));
    }
    let shown: Vec<Factor> = match &piece.variables {
        Variables::Offsets(_) => piece.factors.clone(),
        Variables::All => {
            let moved = |factor: &Factor, by: i32| Factor {
                offsets: factor.offsets.iter().map(|offset| offset + by).collect(),
                ..factor.clone()
            };
            let copies =
                piece.factors.iter().flat_map(|factor| span.clone().map(move |by| moved(factor, by)));
            copies.filter(|factor| factor.offsets.iter().all(|offset| span.contains(offset))).collect()
        }
    };
    for factor in &shown {
        let center =
            factor.offsets.iter().map(|&offset| x(offset.into())).sum::<f64>() / factor.offsets.len() as f64;
        let y =
            if factor.offsets.len() == 1 { 116.0 } else { 70.0 - 18.0 * (factor.offsets.len() as f64 - 2.0) };
        for &offset in &factor.offsets {
            let _ = writeln!(
                svg,
                "<line x1=\"{center}\" y1=\"{y}\" x2=\"{}\" y2=\"70\" stroke=\"black\"/>",
                x(offset.into())
            );
        }
        let fill = if factor.locked { "white" } else { "black" };
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"black\"/>\n<text x=\"{}\" y=\"{}\" font-size=\"10\">{}</text>",
            center - BOX,
            y - BOX,
            2.0 * BOX,
            2.0 * BOX,
            center + BOX + 2.0,
            y - BOX,
            group(factor)
        );
        (left, right) = (left.min(center), right.max(center));
    }
    for offset in span {
        let fill = if inside(offset) { "white" } else { "#bbb" };
        let name = match offset {
            0 => "y(t)".to_string(),
            _ => format!("y(t{offset:+})"),
        };
        let _ = writeln!(
            svg,
            "<circle cx=\"{0}\" cy=\"70\" r=\"{NODE}\" fill=\"{fill}\" stroke=\"black\"/>\n<text x=\"{0}\" y=\"102\" text-anchor=\"middle\" font-size=\"10\">{name}</text>",
            x(offset.into())
        );
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"26\" width=\"{}\" height=\"108\" rx=\"20\" fill=\"none\" stroke=\"black\" stroke-dasharray=\"5 4\"/>",
        left - 24.0,
        right - left + 48.0
    );
    svg
}

fn describe_nota(nota: Option<Nota>) -> String {
    match nota {
        None => String::new(),
        Some(Nota::Exhaustive) => ", NOTA for every wrong condition".into(),
        Some(Nota::Sampled { count, draws: 1 }) => format!(", NOTA for {count} sampled wrong conditions"),
        Some(Nota::Sampled { count, draws }) => {
            format!(", NOTA for {count} sampled wrong conditions, drawn {draws} times")
        }
        Some(Nota::Threshold { probability, after }) => {
            format!(", NOTA for wrong conditions above {probability} after {after} iterations")
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use consonant_learn::trainer::TrainingAlgorithm as _;

    use crate::Algorithm;

    #[test]
    fn every_built_in_diagram_draws_its_pieces() {
        for &algorithm in Algorithm::ALL {
            let diagram = Algorithm::diagram(&algorithm.into(), 1);
            let svg = diagram.to_svg();
            assert_eq!(svg.matches("stroke-dasharray").count(), diagram.pieces.len());
            assert!(svg.matches("<circle").count() >= 2 * diagram.pieces.len());
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
