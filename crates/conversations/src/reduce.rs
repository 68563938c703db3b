//! What can be decided about links before any search, without losing the best set.
//!
//! A link is worth at most its score plus all positive scores of parts it is in, and at least its score plus
//! all negative ones. Where that settles a comparison (with zero, or with another link of the same source),
//! the loser is switched off or the winner on; parts with switched links shrink, which may settle more. In a
//! long conversation most links go this way, and the rest falls into small components.

use std::ops::Range;

use crate::parts::{Constraint, LinkParts};

/// The state of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fixed {
    #[default]
    Open,
    Off,
    On,
}

/// The open links of one source.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub source: usize,
    /// Which of the open links are its own.
    pub links: Range<usize>,
    /// What still constrains them.
    pub constraint: Constraint,
}

/// The part of the problem that is left open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    /// The state of every link.
    pub fixed: Vec<Fixed>,
    /// Open links with their scores, ordered; the others' indices refer to this list.
    pub links: Vec<(usize, f64)>,
    /// Sources with open links.
    pub rows: Vec<Row>,
    pub pairs: Vec<([usize; 2], f64)>,
    pub triples: Vec<([usize; 3], f64)>,
    /// The score of what is switched on.
    pub constant: f64,
    gain: Vec<f64>,
    loss: Vec<f64>,
    index: Vec<usize>,
}

/// Rounds of fixing at most; later ones find little.
const ROUNDS: usize = 20;

impl Problem {
    /// Sets the problem up; with `fix`, decides what can be decided.
    pub(crate) fn build(&mut self, parts: &LinkParts, scores: &[f32], fix: bool) {
        self.fixed.clear();
        self.fixed.resize(parts.links().len(), Fixed::Open);
        if fix {
            for _ in 0..ROUNDS {
                self.weigh(parts, scores);
                if !self.fix_rows(parts) {
                    break;
                }
            }
        }
        self.collect(parts, scores);
    }

    /// The most and the least that each open link can be worth.
    fn weigh(&mut self, parts: &LinkParts, scores: &[f32]) {
        let links = parts.links().len();
        self.gain.clear();
        self.gain.extend(scores[..links].iter().map(|&score| f64::from(score)));
        self.loss.clone_from(&self.gain);
        for (members, &score) in parts.members().zip(&scores[links..]) {
            if score == 0.0 || members.iter().any(|&link| self.fixed[link] == Fixed::Off) {
                continue;
            }
            let score = f64::from(score);
            // Members that are on take part, but have nothing to decide.
            for &link in members {
                if score > 0.0 {
                    self.gain[link] += score;
                } else {
                    self.loss[link] += score;
                }
            }
        }
    }

    /// Fixes links of each source; says whether there were any.
    fn fix_rows(&mut self, parts: &LinkParts) -> bool {
        let constraint = parts.constraint();
        let mut changed = false;
        for source in 1..parts.units() {
            let row = parts.row(source);
            let is_served = row.clone().any(|link| self.fixed[link] == Fixed::On);
            let alternatives = row.clone().filter(|&link| self.fixed[link] != Fixed::Off);
            let best = alternatives.max_by(|&a, &b| self.loss[a].total_cmp(&self.loss[b]));
            let Some(best) = best else { continue };
            for link in row.clone() {
                if self.fixed[link] != Fixed::Open {
                    continue;
                }
                let worthless = self.gain[link] < 0.0;
                let beaten = self.gain[link] < self.loss[best];
                let off = match constraint {
                    Constraint::Any | Constraint::AtMostOne if worthless => true,
                    // If the better one is there as well, this one can go; if not, they change places.
                    Constraint::AtLeastOne => worthless && (beaten || is_served),
                    Constraint::ExactlyOne | Constraint::AtMostOne => beaten || is_served,
                    Constraint::Any => false,
                };
                if off {
                    self.fixed[link] = Fixed::Off;
                    changed = true;
                } else if constraint.allows_many() && self.loss[link] > 0.0 {
                    self.fixed[link] = Fixed::On;
                    changed = true;
                }
            }
            if !constraint.allows_none() && !is_served {
                let mut left = row.filter(|&link| self.fixed[link] != Fixed::Off);
                if let (Some(only), None) = (left.next(), left.next())
                    && self.fixed[only] == Fixed::Open
                {
                    self.fixed[only] = Fixed::On;
                    changed = true;
                }
            }
        }
        changed
    }

    /// What is left: open links, their parts, and the constraints of their sources.
    fn collect(&mut self, parts: &LinkParts, scores: &[f32]) {
        let Self { fixed, links, rows, pairs, triples, constant, index, .. } = self;
        links.clear();
        rows.clear();
        pairs.clear();
        triples.clear();
        *constant = 0.0;
        index.clear();
        index.resize(fixed.len(), usize::MAX);
        for source in 1..parts.units() {
            let start = links.len();
            let mut is_served = false;
            for link in parts.row(source) {
                match fixed[link] {
                    Fixed::Off => {}
                    Fixed::On => {
                        is_served = true;
                        *constant += f64::from(scores[link]);
                    }
                    Fixed::Open => {
                        index[link] = links.len();
                        links.push((link, f64::from(scores[link])));
                    }
                }
            }
            if links.len() > start {
                let constraint = if is_served { Constraint::Any } else { parts.constraint() };
                rows.push(Row { source, links: start..links.len(), constraint });
            }
        }
        for (members, &score) in parts.members().zip(&scores[parts.links().len()..]) {
            if score == 0.0 || members.iter().any(|&link| fixed[link] == Fixed::Off) {
                continue;
            }
            let score = f64::from(score);
            let mut open = members.iter().map(|&link| index[link]).filter(|&index| index != usize::MAX);
            match [open.next(), open.next(), open.next()] {
                [None, ..] => *constant += score,
                [Some(a), None, _] => links[a].1 += score,
                [Some(a), Some(b), None] => pairs.push(([a, b], score)),
                [Some(a), Some(b), Some(c)] => triples.push(([a, b, c], score)),
            }
        }
    }

    /// Writes which links are there, given which of the open ones are.
    pub(crate) fn complete(&self, is_on: impl Fn(usize) -> bool, present: &mut [bool]) {
        for (on, fixed) in present.iter_mut().zip(&self.fixed) {
            *on = *fixed == Fixed::On;
        }
        for (index, &(link, _)) in self.links.iter().enumerate() {
            present[link] = is_on(index);
        }
    }
}
