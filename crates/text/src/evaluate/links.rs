//! Links between the units of a conversation: precision, recall, F1.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};

use super::bootstrap::UnitRatios;
use super::mistakes::Mistake;
use super::score::{Counts, Score};

/// Counts links over conversations.
///
/// ```
/// use consonant_text::evaluate::LinkScores;
/// let mut scores = LinkScores::default();
/// scores.conversation([(1, 0), (2, 1)], [(1, 0), (2, 0)]);
/// assert_eq!(scores.score().f1, 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkScores {
    /// Counts of each conversation, in order.
    pub by_conversation: Vec<Counts>,
    /// Links that only one side has.
    pub mistakes: Vec<Mistake>,
}

impl LinkScores {
    /// Adds a conversation; a link that is given twice counts once.
    pub fn conversation(
        &mut self,
        gold: impl IntoIterator<Item = (usize, usize)>,
        predicted: impl IntoIterator<Item = (usize, usize)>,
    ) {
        let gold: BTreeSet<_> = gold.into_iter().collect();
        let predicted: BTreeSet<_> = predicted.into_iter().collect();
        let shown = |link: Option<(usize, usize)>| {
            link.map(|(source, target)| format!("{source} to {target}")).unwrap_or_default()
        };
        for &link in gold.symmetric_difference(&predicted) {
            let missed = gold.contains(&link);
            self.mistakes.push(Mistake {
                place: [self.by_conversation.len(), link.0, link.1],
                kind: Some(if missed { "missed" } else { "invented" }),
                text: shown(Some(link)),
                gold: shown(missed.then_some(link)),
                predicted: shown((!missed).then_some(link)),
            });
        }
        self.by_conversation.push(Counts {
            correct: gold.intersection(&predicted).count() as u64,
            gold: gold.len() as u64,
            predicted: predicted.len() as u64,
        });
    }

    /// Counts over all conversations.
    pub fn overall(&self) -> Counts {
        let mut overall = Counts::default();
        self.by_conversation.iter().for_each(|counts| overall.add(*counts));
        overall
    }

    /// Precision, recall and F1 over all conversations.
    pub fn score(&self) -> Score {
        self.overall().score()
    }

    /// The scores as ratios by conversation, for [`super::Bootstrap`].
    pub fn by_unit(&self) -> Vec<UnitRatios> {
        UnitRatios::of_counts(&self.by_conversation)
    }
}

impl fmt::Display for LinkScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { correct, gold, predicted } = self.overall();
        let score = self.score();
        writeln!(
            f,
            "{} conversations with {gold} links; found: {predicted} links; correct: {correct}.",
            self.by_conversation.len()
        )?;
        writeln!(
            f,
            "precision: {:6.2}%; recall: {:6.2}%; F1: {:6.2}",
            100.0 * score.precision,
            100.0 * score.recall,
            100.0 * score.f1
        )
    }
}

impl Serialize for LinkScores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.score().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_sets_and_pooled() {
        let mut scores = LinkScores::default();
        scores.conversation([(1, 0), (1, 0), (2, 0)], [(1, 0)]);
        scores.conversation([(3, 1)], [(3, 1), (3, 2), (4, 0)]);
        assert_eq!(scores.overall(), Counts { correct: 2, gold: 3, predicted: 4 });
        let kinds: Vec<_> = scores.mistakes.iter().map(|mistake| (mistake.place, mistake.kind)).collect();
        let [missed, invented] = [Some("missed"), Some("invented")];
        assert_eq!(kinds, [([0, 2, 0], missed), ([1, 3, 2], invented), ([1, 4, 0], invented)]);
        assert_eq!(scores.by_unit()[2].value(), scores.score().f1);
        let json = serde_json::to_value(&scores).unwrap();
        assert_eq!(json["precision"], 0.5);
        assert!(scores.to_string().ends_with("precision:  50.00%; recall:  66.67%; F1:  57.14\n"));
    }
}
