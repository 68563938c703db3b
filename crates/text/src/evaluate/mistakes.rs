//! What a prediction got wrong and how, so that two predictions can be held against each other.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

/// One thing that a prediction got wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The gold unit from 0, and numbers that name what is wrong in it: the same in every prediction.
    pub place: [usize; 3],
    /// What kind of mistake it is; without one, that of taking gold's label for the predicted one.
    pub kind: Option<&'static str>,
    /// The words that it is about.
    pub text: String,
    /// What gold says there; empty for nothing.
    pub gold: String,
    /// What the prediction says there; empty for nothing.
    pub predicted: String,
}

impl Mistake {
    /// The kind of mistake as people read it: `missed`, `NOUN as VERB`.
    pub fn kind(&self) -> Cow<'static, str> {
        match self.kind {
            Some(kind) => Cow::Borrowed(kind),
            None => Cow::Owned(format!("{} as {}", self.gold, self.predicted)),
        }
    }
}

/// How often two predictions make one kind of mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MistakeCounts {
    /// Mistakes of this prediction.
    pub this: u64,
    /// Mistakes of the other one.
    pub other: u64,
    /// Those of this prediction where the other is right.
    pub only_this: u64,
    /// Those of the other one where this prediction is right.
    pub only_other: u64,
}

/// A place where two predictions differ, with the mistake of each. The one that has none is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'m> {
    /// What this prediction got wrong.
    pub this: Option<&'m Mistake>,
    /// What the other one got wrong.
    pub other: Option<&'m Mistake>,
}

/// Holds the mistakes of two predictions against each other: how often each kind is made, and where the two differ,
/// in the order of the data.
///
/// ```
/// use consonant_text::evaluate::{TagScorer, compare_mistakes};
/// let mistakes = |predicted: [&str; 2]| {
///     let mut scorer = TagScorer::default().gathering_mistakes();
///     scorer.sentence([("the", "DET", predicted[0]), ("walk", "NOUN", predicted[1])]);
///     scorer.finish().mistakes
/// };
/// let (this, other) = (mistakes(["DET", "VERB"]), mistakes(["PRON", "VERB"]));
/// let (by_kind, differences) = compare_mistakes(&this, &other);
/// assert_eq!((by_kind["NOUN as VERB"].this, by_kind["NOUN as VERB"].only_this), (1, 0));
/// assert_eq!(differences.len(), 1);
/// assert!(differences[0].this.is_none());
/// ```
pub fn compare_mistakes<'m>(
    this: &'m [Mistake],
    other: &'m [Mistake],
) -> (BTreeMap<String, MistakeCounts>, Vec<Difference<'m>>) {
    let sorted = |mistakes: &'m [Mistake]| {
        let mut mistakes: Vec<&Mistake> = mistakes.iter().collect();
        mistakes.sort_by_key(|mistake| mistake.place);
        mistakes.into_iter().peekable()
    };
    let (mut these, mut others) = (sorted(this), sorted(other));
    let mut by_kind = BTreeMap::<String, MistakeCounts>::new();
    let mut differences = Vec::new();
    loop {
        let order = match (these.peek(), others.peek()) {
            (Some(this), Some(other)) => this.place.cmp(&other.place),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let this = if order.is_le() { these.next() } else { None };
        let other = if order.is_ge() { others.next() } else { None };
        if let Some(this) = this {
            let counts = by_kind.entry(this.kind().into_owned()).or_default();
            counts.this += 1;
            counts.only_this += u64::from(other.is_none());
        }
        if let Some(other) = other {
            let counts = by_kind.entry(other.kind().into_owned()).or_default();
            counts.other += 1;
            counts.only_other += u64::from(this.is_none());
        }
        if this.map(|mistake| &mistake.predicted) != other.map(|mistake| &mistake.predicted) {
            differences.push(Difference { this, other });
        }
    }
    (by_kind, differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(word: usize, kind: Option<&'static str>, predicted: &str) -> Mistake {
        let (text, gold) = ("w".to_owned(), "X".to_owned());
        Mistake { place: [0, word, 0], kind, text, gold, predicted: predicted.to_owned() }
    }

    #[test]
    fn mistakes_meet_by_their_places_in_any_order() {
        let this = [mistake(3, None, "Y"), mistake(1, Some("missed"), ""), mistake(5, None, "Z")];
        let other =
            [mistake(1, Some("missed"), ""), mistake(5, None, "Y"), mistake(4, Some("invented"), "Y")];
        let (by_kind, differences) = compare_mistakes(&this, &other);
        let counts =
            |this, other, only_this, only_other| MistakeCounts { this, other, only_this, only_other };
        assert_eq!(by_kind["missed"], counts(1, 1, 0, 0));
        assert_eq!(by_kind["invented"], counts(0, 1, 0, 1));
        assert_eq!(by_kind["X as Y"], counts(1, 1, 1, 0));
        assert_eq!(by_kind["X as Z"], counts(1, 0, 0, 0));
        assert_eq!(
            differences,
            [
                Difference { this: Some(&this[0]), other: None },
                Difference { this: None, other: Some(&other[2]) },
                Difference { this: Some(&this[2]), other: Some(&other[1]) },
            ]
        );
    }
}
