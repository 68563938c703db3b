//! The scores of the CoNLL 2018 shared task on parsing from raw text to Universal Dependencies.
//!
//! The two sides may cut the text differently: words are aligned by their characters, words of multiword
//! tokens by the longest common subsequence of their forms, and every score counts aligned words that also
//! agree in what it looks at. Relations are compared without subtypes and features only if universal. Empty
//! nodes take no part.

mod alignment;
mod treebank;

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::EvaluationError;
use super::bootstrap::UnitRatios;
use super::mistakes::Mistake;
use super::score::{Counts, ratio};
use alignment::Alignment;
use treebank::{NO_WORD, Symbols, Treebank};

/// A sentence as the scorer reads it.
#[derive(Clone, Debug, Default)]
pub struct TreeSentence<'a> {
    /// Its words, without empty nodes.
    pub words: Vec<TreeWord<'a>>,
    /// Its multiword tokens, in order.
    pub multiword: Vec<MultiwordToken<'a>>,
}

/// A word: the columns of CoNLL-U that are scored, `_` where there is nothing.
#[derive(Clone, Copy, Debug)]
pub struct TreeWord<'a> {
    /// FORM.
    pub form: &'a str,
    /// LEMMA.
    pub lemma: &'a str,
    /// UPOS.
    pub upos: &'a str,
    /// XPOS.
    pub xpos: &'a str,
    /// FEATS.
    pub feats: &'a str,
    /// HEAD: the number of another word from 1, 0 for a root, nothing where the file has no trees.
    pub head: Option<usize>,
    /// DEPREL.
    pub deprel: &'a str,
}

/// A token that stands for several words.
#[derive(Clone, Copy, Debug)]
pub struct MultiwordToken<'a> {
    /// First word, from 1.
    pub first: usize,
    /// Last word, from 1.
    pub last: usize,
    /// FORM.
    pub form: &'a str,
}

/// What the scores look at; `Display` gives the original's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeMetric {
    /// Tokens with the same characters.
    Tokens,
    /// Sentences with the same characters.
    Sentences,
    /// Aligned words.
    Words,
    /// Universal part of speech.
    Upos,
    /// Language's own tag.
    Xpos,
    /// Universal features.
    Ufeats,
    /// The three together.
    AllTags,
    /// Lemma, wherever gold has one.
    Lemmas,
    /// Head.
    Uas,
    /// Head and relation.
    Las,
    /// Head and relation of content words.
    Clas,
    /// Content words with head, relation, tag, features, and the same of their function words.
    Mlas,
    /// Content words with head, relation and lemma.
    Blex,
}

impl TreeMetric {
    /// All, in the order of the original's table.
    pub const ALL: [TreeMetric; 13] = [
        TreeMetric::Tokens,
        TreeMetric::Sentences,
        TreeMetric::Words,
        TreeMetric::Upos,
        TreeMetric::Xpos,
        TreeMetric::Ufeats,
        TreeMetric::AllTags,
        TreeMetric::Lemmas,
        TreeMetric::Uas,
        TreeMetric::Las,
        TreeMetric::Clas,
        TreeMetric::Mlas,
        TreeMetric::Blex,
    ];

    /// The name in the original's table and in our JSON.
    pub fn name(self) -> &'static str {
        match self {
            TreeMetric::Tokens => "Tokens",
            TreeMetric::Sentences => "Sentences",
            TreeMetric::Words => "Words",
            TreeMetric::Upos => "UPOS",
            TreeMetric::Xpos => "XPOS",
            TreeMetric::Ufeats => "UFeats",
            TreeMetric::AllTags => "AllTags",
            TreeMetric::Lemmas => "Lemmas",
            TreeMetric::Uas => "UAS",
            TreeMetric::Las => "LAS",
            TreeMetric::Clas => "CLAS",
            TreeMetric::Mlas => "MLAS",
            TreeMetric::Blex => "BLEX",
        }
    }

    fn needs_trees(self) -> bool {
        matches!(
            self,
            TreeMetric::Uas | TreeMetric::Las | TreeMetric::Clas | TreeMetric::Mlas | TreeMetric::Blex
        )
    }

    fn of_content_words(self) -> bool {
        matches!(self, TreeMetric::Clas | TreeMetric::Mlas | TreeMetric::Blex)
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeScore {
    /// What it looks at.
    pub metric: TreeMetric,
    /// The counts behind precision, recall and F1.
    pub counts: Counts,
    /// Number of aligned words that could have been right, except for tokens, sentences and words themselves.
    pub aligned: Option<u64>,
    /// Counts by gold sentence, for resampling.
    pub by_sentence: Vec<Counts>,
}

impl TreeScore {
    /// Share of the aligned words that are right.
    pub fn aligned_accuracy(&self) -> Option<f64> {
        self.aligned.map(|aligned| ratio(self.counts.correct, aligned))
    }
}

/// The whole table. Where a file has no heads, the rows that need trees are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeScores {
    /// Rows in the order of [`TreeMetric::ALL`].
    pub rows: Vec<TreeScore>,
    /// What is wrong with sentences, words and trees, if it is gathered.
    pub mistakes: Vec<Mistake>,
}

impl TreeScores {
    /// The row of a metric.
    pub fn get(&self, metric: TreeMetric) -> Option<&TreeScore> {
        self.rows.iter().find(|row| row.metric == metric)
    }

    /// F1 of each row as ratios by gold sentence, for [`super::Bootstrap`].
    pub fn by_unit(&self) -> Vec<UnitRatios> {
        let f1 = |counts: &Counts| (2.0 * counts.correct as f64, (counts.gold + counts.predicted) as f64);
        self.rows
            .iter()
            .map(|row| UnitRatios::new(row.metric.name(), row.by_sentence.iter().map(f1)))
            .collect()
    }
}

/// Takes the sentences of both sides in any order of calls, and compares them.
///
/// ```
/// use consonant_text::evaluate::{TreeMetric, TreeScorer, TreeSentence, TreeWord};
/// let word = |form, head| TreeWord { form, lemma: "_", upos: "X", xpos: "_", feats: "_", head: Some(head), deprel: "dep" };
/// let sentence = |heads: [usize; 2]| TreeSentence { words: vec![word("a", heads[0]), word("b", heads[1])], multiword: vec![] };
/// let mut scorer = TreeScorer::default();
/// scorer.gold(&sentence([0, 1]))?;
/// scorer.predicted(&sentence([2, 0]))?;
/// let scores = scorer.finish()?;
/// assert_eq!(scores.get(TreeMetric::Upos).unwrap().counts.correct, 2);
/// assert_eq!(scores.get(TreeMetric::Uas).unwrap().counts.correct, 0);
/// # Ok::<(), consonant_text::evaluate::EvaluationError>(())
/// ```
#[derive(Debug)]
pub struct TreeScorer {
    symbols: Symbols,
    gold: Treebank,
    predicted: Treebank,
    gathers_mistakes: bool,
}

impl Default for TreeScorer {
    fn default() -> TreeScorer {
        TreeScorer {
            symbols: Symbols::default(),
            gold: Treebank::new("gold"),
            predicted: Treebank::new("predicted"),
            gathers_mistakes: false,
        }
    }
}

impl TreeScorer {
    /// The same scorer, which also lists what is wrong.
    pub fn gathering_mistakes(self) -> TreeScorer {
        TreeScorer { gathers_mistakes: true, ..self }
    }

    /// Adds a gold sentence.
    pub fn gold(&mut self, sentence: &TreeSentence) -> Result<(), EvaluationError> {
        self.gold.push(sentence, &mut self.symbols)
    }

    /// Adds a predicted sentence.
    pub fn predicted(&mut self, sentence: &TreeSentence) -> Result<(), EvaluationError> {
        self.predicted.push(sentence, &mut self.symbols)
    }

    /// Compares the two sides, which must be the same text but for white space.
    pub fn finish(self) -> Result<TreeScores, EvaluationError> {
        EvaluationError::unless_equal(self.gold.text(), self.predicted.text())?;
        let alignment = Alignment::of(&self.gold, &self.predicted)?;
        let parsed = self.gold.has_trees() && self.predicted.has_trees();
        let rows = TreeMetric::ALL.into_iter().filter(|metric| parsed || !metric.needs_trees());
        let rows = rows
            .map(|metric| match metric {
                TreeMetric::Tokens => self.compare_spans(metric, self.gold.tokens(), self.predicted.tokens()),
                TreeMetric::Sentences => {
                    self.compare_spans(metric, self.gold.sentences(), self.predicted.sentences())
                }
                _ => self.compare_words(metric, &alignment),
            })
            .collect();
        let mistakes = if self.gathers_mistakes { self.mistakes(&alignment, parsed) } else { Vec::new() };
        Ok(TreeScores { rows, mistakes })
    }

    /// Gold sentences and words that the prediction does not have, and what it says otherwise of those that it has.
    fn mistakes(&self, alignment: &Alignment, parsed: bool) -> Vec<Mistake> {
        let texts = self.symbols.texts();
        let (gold, predicted) = (self.gold.words(), self.predicted.words());
        let surface = |side: &Treebank, word: u32| match word {
            NO_WORD => "the root".to_owned(),
            word => {
                let word = &side.words()[word as usize];
                side.text()[word.start..word.end].to_owned()
            }
        };
        let mut mistakes = Vec::new();
        let mut add = |word: usize, aspect: usize, kind: &'static str, of_gold: String, predicted: String| {
            mistakes.push(Mistake {
                place: [self.unit_of(gold[word].start), word, aspect],
                kind: Some(kind),
                text: surface(&self.gold, word as u32),
                gold: of_gold,
                predicted,
            });
        };
        for span in self.gold.sentences().iter().filter(|(start, end)| start < end) {
            if self.predicted.sentences().binary_search(span).is_err() {
                let first = gold.partition_point(|word| word.start < span.0);
                add(first, 0, "sentence", String::new(), String::new());
            }
        }
        let mut is_there = vec![false; gold.len()];
        for (g, p) in alignment.pairs() {
            is_there[g] = true;
            let (left, right) = (&gold[g], &predicted[p]);
            for (aspect, metric, of_gold, of_predicted) in [
                (2, TreeMetric::Upos, left.upos, right.upos),
                (3, TreeMetric::Xpos, left.xpos, right.xpos),
                (4, TreeMetric::Ufeats, left.feats, right.feats),
                (5, TreeMetric::Lemmas, left.lemma, right.lemma),
            ] {
                if !self.agree(metric, g, p, alignment) {
                    let text = |symbol: u32| texts[symbol as usize].to_owned();
                    add(g, aspect, metric.name(), text(of_gold), text(of_predicted));
                }
            }
            if parsed && !self.agree(TreeMetric::Uas, g, p, alignment) {
                let heads = (surface(&self.gold, left.head), surface(&self.predicted, right.head));
                add(g, 6, "head", heads.0, heads.1);
            } else if parsed && left.deprel != right.deprel {
                let text = |symbol: u32| texts[symbol as usize].to_owned();
                add(g, 7, "relation", text(left.deprel), text(right.deprel));
            }
        }
        for word in (0..gold.len()).filter(|word| !is_there[*word]) {
            add(word, 1, "word", surface(&self.gold, word as u32), String::new());
        }
        mistakes
    }

    /// Spans, in order on both sides, are equal if they begin and end at the same character.
    fn compare_spans(
        &self,
        metric: TreeMetric,
        gold: &[(usize, usize)],
        predicted: &[(usize, usize)],
    ) -> TreeScore {
        let mut by_sentence = vec![Counts::default(); self.gold.sentences().len()];
        gold.iter().for_each(|span| by_sentence[self.unit_of(span.0)].gold += 1);
        predicted.iter().for_each(|span| by_sentence[self.unit_of(span.0)].predicted += 1);
        let (mut g, mut p) = (0, 0);
        while let (Some(left), Some(right)) = (gold.get(g), predicted.get(p)) {
            if left == right {
                by_sentence[self.unit_of(left.0)].correct += 1;
            }
            g += usize::from(left.0 <= right.0);
            p += usize::from(right.0 <= left.0);
        }
        TreeScore { metric, counts: total(&by_sentence), aligned: None, by_sentence }
    }

    fn compare_words(&self, metric: TreeMetric, alignment: &Alignment) -> TreeScore {
        let (gold, predicted) = (self.gold.words(), self.predicted.words());
        let counted = |content: bool| content || !metric.of_content_words();
        let mut by_sentence = vec![Counts::default(); self.gold.sentences().len()];
        for word in gold.iter().filter(|word| counted(word.is_content)) {
            by_sentence[self.unit_of(word.start)].gold += 1;
        }
        for word in predicted.iter().filter(|word| counted(word.is_content)) {
            by_sentence[self.unit_of(word.start)].predicted += 1;
        }
        let mut aligned = 0;
        for (g, p) in alignment.pairs() {
            if !counted(gold[g].is_content) {
                continue;
            }
            aligned += 1;
            if self.agree(metric, g, p, alignment) {
                by_sentence[self.unit_of(gold[g].start)].correct += 1;
            }
        }
        let aligned = (metric != TreeMetric::Words).then_some(aligned);
        TreeScore { metric, counts: total(&by_sentence), aligned, by_sentence }
    }

    /// Do two aligned words agree in what the metric looks at?
    fn agree(&self, metric: TreeMetric, g: usize, p: usize, alignment: &Alignment) -> bool {
        let (gold, predicted) = (&self.gold.words()[g], &self.predicted.words()[p]);
        let tags = || gold.upos == predicted.upos && gold.feats == predicted.feats;
        // Gold without a lemma asks for none.
        let lemma = || gold.lemma == Symbols::NOTHING || gold.lemma == predicted.lemma;
        // The heads agree if they are aligned with each other, or both words are roots.
        let head = || match (gold.head, predicted.head) {
            (NO_WORD, NO_WORD) => true,
            (NO_WORD, _) | (_, NO_WORD) => false,
            (of_gold, of_predicted) => alignment.gold_of(of_predicted as usize) == Some(of_gold as usize),
        };
        let relation = || head() && gold.deprel == predicted.deprel;
        match metric {
            TreeMetric::Tokens | TreeMetric::Sentences | TreeMetric::Words => true,
            TreeMetric::Upos => gold.upos == predicted.upos,
            TreeMetric::Xpos => gold.xpos == predicted.xpos,
            TreeMetric::Ufeats => gold.feats == predicted.feats,
            TreeMetric::AllTags => tags() && gold.xpos == predicted.xpos,
            TreeMetric::Lemmas => lemma(),
            TreeMetric::Uas => head(),
            TreeMetric::Las | TreeMetric::Clas => relation(),
            TreeMetric::Mlas => relation() && tags() && self.function_words_agree(g, p, alignment),
            TreeMetric::Blex => relation() && lemma(),
        }
    }

    /// The function words under two aligned words: equally many, aligned in order, with equal relation and
    /// tags.
    fn function_words_agree(&self, g: usize, p: usize, alignment: &Alignment) -> bool {
        let (of_gold, of_predicted) = (self.gold.function_words(g), self.predicted.function_words(p));
        of_gold.len() == of_predicted.len()
            && of_gold.iter().zip(of_predicted).all(|(g, p)| {
                let (gold, predicted) =
                    (&self.gold.words()[*g as usize], &self.predicted.words()[*p as usize]);
                alignment.gold_of(*p as usize) == Some(*g as usize)
                    && gold.deprel == predicted.deprel
                    && gold.upos == predicted.upos
                    && gold.feats == predicted.feats
            })
    }

    /// The gold sentence that holds a character: resampling draws gold sentences with all that stands on
    /// them.
    fn unit_of(&self, start: usize) -> usize {
        let sentences = self.gold.sentences();
        sentences.partition_point(|(_, end)| *end <= start).min(sentences.len().saturating_sub(1))
    }
}

fn total(counts: &[Counts]) -> Counts {
    let mut sum = Counts::default();
    counts.iter().for_each(|part| sum.add(*part));
    sum
}

impl fmt::Display for TreeScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Metric     | Precision |    Recall |  F1 Score | AligndAcc")?;
        writeln!(f, "-----------+-----------+-----------+-----------+-----------")?;
        for row in &self.rows {
            let score = row.counts.score();
            write!(
                f,
                "{:11}|{:10.2} |{:10.2} |{:10.2} |",
                row.metric.name(),
                100.0 * score.precision,
                100.0 * score.recall,
                100.0 * score.f1
            )?;
            match row.aligned_accuracy() {
                Some(accuracy) => writeln!(f, "{:10.2}", 100.0 * accuracy)?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl Serialize for TreeScores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.rows.len()))?;
        for row in &self.rows {
            object.serialize_entry(row.metric.name(), row)?;
        }
        object.end()
    }
}

impl Serialize for TreeScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let score = self.counts.score();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("precision", &score.precision)?;
        object.serialize_entry("recall", &score.recall)?;
        object.serialize_entry("f1", &score.f1)?;
        if let Some(accuracy) = self.aligned_accuracy() {
            object.serialize_entry("aligned_accuracy", &accuracy)?;
        }
        object.end()
    }
}
