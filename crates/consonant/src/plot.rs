//! A line chart as SVG: a few series over one axis, with ticks, a legend and nothing else.

use std::fmt::Write as _;

/// One line of a chart.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether the value holds until the next point (a staircase) or is joined by straight lines.
    pub steps: bool,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Above the chart.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;
/// Dark enough on white, and told apart without colour vision.
const COLOURS: [&str; 6] = ["#1f5fa8", "#c8501e", "#3a7d44", "#7b4397", "#8c6d1f", "#444444"];

/// A range with round ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
    ticks: Vec<f64>,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>) -> Axis {
        let finite = values.filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let (low, high) = match low == high {
            // A single moment soon after the start: no time is before that.
            true if (0.0..0.5).contains(&low) => (0.0, 1.0),
            true => (low - 0.5, high + 0.5),
            false => (low, high),
        };
        let rough = (high - low) / 5.0;
        let magnitude = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * magnitude).find(|&s| s >= rough).unwrap_or(rough);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        Axis { low, high, step, ticks: (first..=last).map(|i| i as f64 * step).collect() }
    }

    /// What stands beside a tick: as many decimals as tell it from the next.
    fn label(&self, tick: f64) -> String {
        let decimals = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
        let text = format!("{tick:.decimals$}");
        if text.trim_start_matches('-').bytes().all(|digit| matches!(digit, b'0' | b'.')) {
            "0".into()
        } else {
            text
        }
    }

    fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// A text as XML has it. Characters that XML forbids (controls, U+FFFE and U+FFFF) have a sign in their place.
pub(crate) fn escape(text: &str) -> String {
    let is_forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let text = text.replace(is_forbidden, "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A number for people: six decimals, no trailing zeros.
pub fn digits(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

impl Chart {
    /// The chart as an SVG document.
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x_axis = Axis::over(points().map(|p| p.0));
        let y_axis = Axis::over(points().map(|p| p.1));
        let x = |value: f64| LEFT + x_axis.place(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - y_axis.place(value) * (HEIGHT - TOP - BOTTOM);
        let mut svg = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("writing to a string");
        line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">"#
        ));
        line(format_args!(r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#));
        line(format_args!(r#"<text x="{LEFT}" y="24" font-size="15">{}</text>"#, escape(&self.title)));
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for &tick in &y_axis.ticks {
            let at = y(tick);
            line(format_args!(r##"<path d="M{LEFT} {at:.1}H{right}" stroke="#ddd"/>"##));
            let (x, y) = (LEFT - 8.0, at + 4.0);
            line(format_args!(r#"<text x="{x}" y="{y:.1}" text-anchor="end">{}</text>"#, y_axis.label(tick)));
        }
        for &tick in &x_axis.ticks {
            let at = x(tick);
            line(format_args!(r##"<path d="M{at:.1} {bottom}v5" stroke="#666"/>"##));
            let y = bottom + 20.0;
            line(format_args!(
                r#"<text x="{at:.1}" y="{y}" text-anchor="middle">{}</text>"#,
                x_axis.label(tick)
            ));
        }
        line(format_args!(r##"<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#666"/>"##));
        let (middle, below) = ((LEFT + right) / 2.0, HEIGHT - 14.0);
        line(format_args!(
            r#"<text x="{middle}" y="{below}" text-anchor="middle">{}</text>"#,
            escape(&self.x_label)
        ));
        let centre = (TOP + bottom) / 2.0;
        line(format_args!(
            r#"<text transform="translate(18 {centre}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escape(&self.y_label)
        ));
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let mut path = String::new();
            for &(px, py) in series.points.iter().filter(|p| p.1.is_finite()) {
                let (px, py) = (x(px), y(py));
                let piece = match (path.is_empty(), series.steps) {
                    (true, _) => format!("M{px:.1} {py:.1}"),
                    (false, true) => format!("H{px:.1}V{py:.1}"),
                    (false, false) => format!("L{px:.1} {py:.1}"),
                };
                path.push_str(&piece);
            }
            line(format_args!(r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>"#));
            let (at, text_at) = (right - 150.0, right - 120.0);
            let y = TOP + 12.0 + 20.0 * index as f64;
            line(format_args!(r#"<path d="M{at} {y}h22" stroke="{colour}" stroke-width="2"/>"#));
            let y = y + 4.0;
            line(format_args!(r#"<text x="{text_at}" y="{y}">{}</text>"#, escape(&series.name)));
        }
        line(format_args!("</svg>"));
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::over([0.13, 9.7].into_iter());
        assert_eq!(axis.ticks, [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(Axis::over(std::iter::empty()).low, 0.0);
        assert!(Axis::over([3.0, 3.0].into_iter()).low < 3.0);
        assert_eq!(Axis::over([1e-5].into_iter()).low, 0.0);
    }

    #[test]
    fn every_tick_has_a_label_of_its_own() {
        for range in [[0.0, 1.0], [-3e-9, 2e-9], [5.2, 5.200_000_1], [0.0, 3e7], [99.5, 100.5]] {
            let axis = Axis::over(range.into_iter());
            let labels: Vec<String> = axis.ticks.iter().map(|&tick| axis.label(tick)).collect();
            let mut distinct = labels.clone();
            distinct.dedup();
            assert!(labels.len() >= 2 && distinct == labels, "{range:?}: {labels:?}");
            let series = Series {
                name: String::new(),
                points: vec![(range[0], range[0]), (range[1], range[1])],
                steps: false,
            };
            let chart =
                Chart { title: "t".into(), x_label: "x".into(), y_label: "y".into(), series: vec![series] };
            let svg = chart.to_svg();
            for label in &labels {
                assert_eq!(svg.matches(&format!(">{label}</text>")).count(), 2, "{label} is on both axes");
            }
        }
        assert_eq!(Axis::over([0.0, 1.0].into_iter()).ticks.len(), 6);
    }

    #[test]
    fn infinite_values_are_left_out() {
        let points = vec![(0.0, f64::NEG_INFINITY), (1.0, 2.0), (2.0, 3.0)];
        let series = vec![Series { name: "a<b".into(), points, steps: false }];
        let chart = Chart { title: String::new(), x_label: String::new(), y_label: String::new(), series };
        let svg = chart.to_svg();
        assert!(!svg.contains("inf") && !svg.contains("NaN") && svg.contains("a&lt;b"));
    }
}
