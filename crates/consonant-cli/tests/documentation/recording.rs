//! What a terminal shows, as a picture that plays: commands are run, and what they print is drawn in SVG, line after
//! line. Where nothing plays (print, readers that ask for no motion) the last moment stands still.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// A recording: its file, what it shows, and the commands, each as people type it and as it is run here, where there
/// is no terminal. They run one after another in one folder.
pub type Recording = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

pub const RECORDINGS: [Recording; 2] = [
    (
        "docs/terminal.svg",
        "a tree with names, a summary, and scores under rules with a proof that is checked",
        &[
            (
                "echo 'Ann Smith works for Google in London.' | consonant annotate",
                "echo 'Ann Smith works for Google in London.' | consonant annotate --format pretty --color always",
            ),
            (
                "consonant summarize examples/reviews/*.txt --words 35",
                "consonant summarize examples/reviews/*.txt --words 35",
            ),
            (
                "consonant solve examples/solve/names.json --certificate names.proof",
                "consonant solve examples/solve/names.json --certificate names.proof",
            ),
            (
                "consonant verify examples/solve/names.json names.proof",
                "consonant verify examples/solve/names.json names.proof",
            ),
        ],
    ),
    (
        "docs/agreement.svg",
        "a name that is a person in a sentence of its own, and a place where another sentence says so",
        &[
            (
                "echo 'Norholm was quiet.' | consonant annotate --layers entities",
                "echo 'Norholm was quiet.' | consonant annotate --layers entities --format pretty --color always",
            ),
            (
                "echo 'We stayed in Norholm for a week. Norholm was quiet.' | consonant annotate --layers entities",
                "echo 'We stayed in Norholm for a week. Norholm was quiet.' | consonant annotate --layers entities --format pretty --color always",
            ),
        ],
    ),
];

/// Columns of the terminal.
pub const COLUMNS: usize = 100;

/// A cell in units of the picture, the letters in it, and what lies around all cells.
const CELL: (f64, f64) = (8.0, 17.0);
const LETTERS: f64 = 13.3;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 28.0;

/// How long things take, in seconds: a letter to be typed, a command to answer, its answer to be read.
const LETTER: f64 = 0.035;
const ANSWER: f64 = 0.5;
const READING: f64 = 2.0;

/// Letters that look the same and begin in a column.
#[derive(Debug, PartialEq)]
struct Run {
    column: usize,
    text: String,
    /// Classes of the style below.
    look: String,
}

/// The lines of an output on a terminal: escapes are colours, tabs reach to the next eighth column, and what is too
/// long goes on below.
fn lines(printed: &str) -> Vec<Vec<Run>> {
    let mut lines = Vec::new();
    let mut look = String::new();
    for line in printed.lines() {
        let (mut runs, mut column): (Vec<Run>, usize) = (Vec::new(), 0);
        let mut rest = line.chars();
        while let Some(letter) = rest.next() {
            if letter == '\u{1b}' {
                let code: String = rest.by_ref().skip(1).take_while(|letter| *letter != 'm').collect();
                look = look_of(&code);
                continue;
            }
            let (letter, width) = match letter {
                '\t' => (' ', 8 - column % 8),
                letter => (letter, letter.width().unwrap_or(0)),
            };
            if column + width > COLUMNS {
                lines.push(std::mem::take(&mut runs));
                column = 0;
            }
            let text = letter.to_string().repeat(if letter == ' ' { width } else { 1 });
            match runs.last_mut() {
                Some(run) if run.look == look => run.text += &text,
                _ => runs.push(Run { column, text, look: look.clone() }),
            }
            column += width;
        }
        lines.push(runs);
    }
    lines
}

/// The look that the program asks for: `1;35` is bold and purple.
fn look_of(code: &str) -> String {
    let class = |code| match code {
        "" | "0" => "",
        "1" => "bold",
        "2" => "faint",
        "32" => "green",
        "33" => "yellow",
        "34" => "blue",
        "35" => "purple",
        "36" => "cyan",
        other => panic!("a recording does not know how `{other}` looks"),
    };
    code.split(';').map(class).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A run at its place, in pieces between blanks, which viewers would draw together. The length of each is given, so
/// that columns stay columns in any font.
fn draw(run: &Run, row: usize) -> String {
    let class = if run.look.is_empty() { String::new() } else { format!(" class=\"{}\"", run.look) };
    let width = |text: &str| text.chars().filter_map(UnicodeWidthChar::width).sum::<usize>();
    let y = TITLE + MARGIN + (row as f64 + 0.75) * CELL.1;
    let (mut drawn, mut column) = (String::new(), run.column);
    for piece in run.text.split("  ") {
        let text = piece.trim();
        if !text.is_empty() {
            let x = MARGIN + (column + piece.len() - piece.trim_start().len()) as f64 * CELL.0;
            let length = width(text) as f64 * CELL.0;
            let fit = "lengthAdjust=\"spacingAndGlyphs\"";
            write!(
                drawn,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" {fit}{class}>{}</text>",
                escaped(text)
            )
            .unwrap();
        }
        column += width(piece) + 2;
    }
    drawn
}

/// A terminal in which commands are typed and answered: each with what it prints. The first one has been, before anybody
/// looks, so that nobody looks at an empty picture.
pub fn recording(title: &str, steps: &[(&str, String)]) -> String {
    let first = steps.first().map_or(0, |(command, _)| command.chars().count());
    let (mut body, mut row, mut time) = (String::new(), 0, -(first as f64 * LETTER + ANSWER));
    for (command, printed) in steps {
        let prompt = Run { column: 0, text: "$".to_owned(), look: "green".to_owned() };
        writeln!(body, "<g class=\"at\" style=\"animation-delay:{time:.2}s\">{}</g>", draw(&prompt, row))
            .unwrap();
        // A command is typed letter by letter: the part of it that can be seen grows.
        for (number, typed) in lines(command).iter_mut().enumerate() {
            let length = typed.iter().map(|run| run.text.chars().count()).sum::<usize>();
            let typing = length as f64 * LETTER;
            let indent = if number == 0 { 2 } else { 4 };
            typed.iter_mut().for_each(|run| {
                run.column += indent;
                run.look = "command".to_owned();
            });
            let drawn: String = typed.iter().map(|run| draw(run, row)).collect();
            writeln!(
                body,
                "<g class=\"typed\" style=\"animation:typed {typing:.2}s steps({length}) {time:.2}s backwards\">{drawn}</g>"
            )
            .unwrap();
            time += typing;
            row += 1;
        }
        time += ANSWER;
        write!(body, "<g class=\"at\" style=\"animation-delay:{time:.2}s\">").unwrap();
        for line in lines(printed) {
            line.iter().for_each(|run| body += &draw(run, row));
            row += 1;
        }
        body += "</g>\n";
        time += READING;
    }
    let (width, height) =
        (2.0 * MARGIN + COLUMNS as f64 * CELL.0, TITLE + 2.0 * MARGIN + row as f64 * CELL.1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"{LETTERS}\" fill=\"#d8dee9\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1f2430\"/>\n\
         <circle cx=\"20\" cy=\"18\" r=\"5\" fill=\"#e0604f\"/><circle cx=\"38\" cy=\"18\" r=\"5\" fill=\"#e3b341\"/>\
         <circle cx=\"56\" cy=\"18\" r=\"5\" fill=\"#57a64a\"/>\n{body}</svg>\n",
        escaped(title)
    )
}

const STYLE: &str = "\
.command{fill:#fff;font-weight:600}.bold{font-weight:700}.faint{fill:#8b93a5}
.green{fill:#8fce72}.yellow{fill:#ecc56b}.blue{fill:#79b8ff}.purple{fill:#d2a8ff}.cyan{fill:#6fd3d3}
.at{animation:at 1ms backwards}
@keyframes at{from{visibility:hidden}}
@keyframes typed{from{clip-path:inset(0 100% 0 0)}to{clip-path:inset(0 0 0 0)}}
@media (prefers-reduced-motion:reduce){.at,.typed{animation:none!important}}
";

#[test]
fn what_a_terminal_shows_is_drawn() {
    let shown = lines("a\tb\u{1b}[1;34mblue\u{1b}[0m <\n\n");
    assert_eq!(shown.len(), 2);
    let run = |column, text: &str, look: &str| Run { column, text: text.to_owned(), look: look.to_owned() };
    assert_eq!(shown[0], [run(0, "a       b", ""), run(9, "blue", "bold blue"), run(13, " <", "")]);
    assert_eq!(lines(&"x".repeat(COLUMNS + 1)).len(), 2);
    assert_eq!(lines(&"漢".repeat(COLUMNS / 2)).len(), 1);
    let drawn = recording("one & two", &[("echo '<'", "<".to_owned())]);
    assert!(drawn.contains("<title>one &amp; two</title>") && drawn.contains(">&lt;</text>"), "{drawn}");
    assert!(drawn.contains("textLength=\"8\""), "{drawn}");
}
