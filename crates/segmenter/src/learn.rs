//! How a segmenter learns: a treebank's text is put together again, and the gaps between its atoms are
//! labelled.

use consonant_learn::hash::{Fingerprint, key};
use consonant_learn::table::Precision;
use consonant_learn::trainer::Run;
use consonant_sequence::inference::Candidates;
use consonant_sequence::{
    Algorithm, CorpusBuilder, CorpusOptions, Dev, Pairs, Training, train as train_chain, train_orders,
};
use consonant_task::{Data, Task, Trained, Watch};
use consonant_text::Sentence;
use rustc_hash::FxHashMap;

use crate::atoms::{Atom, Atoms, Class, Cuts, Space, cut_key};
use crate::features::Extractor;
use crate::item::Piece;
use crate::model::{Description, store};
use crate::parts::{Gap, Passage, SegmentationScore};
use crate::statistics::{Statistics, StatisticsBuilder};
use crate::words::Multiwords;
use crate::{Segmenter, SegmenterError};

/// A run of letters is cut as it was cut most often, if that was at least this often and in a tenth of its
/// occurrences.
const LEAST_CUTS: u32 = 2;
/// Sequences are no longer than this in training: updates come more often.
const LONGEST: usize = 400;

consonant_task::settings! {
    /// How to train a segmenter. The defaults are good for every treebank.
    pub struct SegmenterSettings {
        algorithm training: Training = Algorithm::AveragedPerceptron;
        /// How many boundaries back the chain looks.
        order: usize = 1, "N" in 0.0..=4.0;
        /// Passes over the data (default: 20; 200 iterations for L-BFGS).
        epochs: Option<usize> = None, "N" in 1.0..;
        /// Stops after so many epochs without a better dev score (mean F1 of tokens and sentences).
        patience: usize = 3, "N";
        /// Leaves out features that occur less often.
        min_count: u32 = 1, "N", research;
        /// Trains by so many orders of the data and takes the mean of the weights: steadier, in so many times the time.
        orders: usize = 1, "N" in 1.0..=64.0;
        /// Leaves out weights closer to zero than this, for a smaller model.
        prune: f32 = 0.0, "WEIGHT" in 0.0..;
        /// Stores weights in half precision.
        half: bool = false, "";
        /// Seed of the random order of paragraphs.
        seed: u64 = 1, "N";
    }
}

/// Trains on sentences in the order of their text.
pub(crate) fn train(
    data: &Data<'_, Piece>,
    settings: &SegmenterSettings,
    watch: &mut Watch<'_>,
) -> Result<Trained, SegmenterError> {
    let sentences_of = |pieces: &[Piece]| -> Vec<Sentence> {
        pieces.iter().flat_map(|piece| &piece.sentences).cloned().collect()
    };
    let mut sentences = sentences_of(data.items());
    mark_paragraphs(&mut sentences, settings.seed);
    let sentences = &sentences[..];
    let dev = data.dev.map(sentences_of);
    let dev = dev.as_deref();
    let mut passages = Passage::read(sentences);
    let tokens = passages.iter().map(|passage| passage.tokens.len()).sum();
    let fingerprint = fingerprint(&passages);
    if !Passage::touch(&passages) {
        // What is taught by blanks alone does not know what to do without them, so all is learned both ways.
        let closed: Vec<Passage> = passages.iter().map(Passage::closed_up).collect();
        passages.extend(closed);
    }
    let initial = data.initial.map(Segmenter::open).transpose()?;
    let older = initial.as_ref().and_then(Segmenter::learned);
    let mut cuts = initial.as_ref().map_or_else(Cuts::default, |initial| initial.cuts().clone());
    cuts.extend(find_cuts(&passages));
    let inner_spaces =
        older.is_some_and(|older| older.inner_spaces) || passages.iter().any(Passage::has_inner_spaces);
    let mut reader =
        Reader { extractor: Extractor::default(), statistics: None, atoms: Vec::new(), gaps: Vec::new() };
    let statistics = reader.statistics(&passages, &cuts, older.map(|older| &older.statistics));
    reader.statistics = Some(statistics.clone());

    let options = CorpusOptions {
        order: settings.order,
        min_count: settings.min_count,
        pairs: Pairs::All,
        ..CorpusOptions::default()
    };
    let mut builder = match older {
        Some(older) if older.chain.order() != settings.order => {
            return Err(SegmenterError::Order { theirs: older.chain.order(), ours: settings.order });
        }
        Some(older) => CorpusBuilder::continuing(options, &older.chain),
        None => CorpusBuilder::new(options),
    };
    let mut gaps = 0;
    for passage in &passages {
        let mut length = 0;
        reader.gaps(passage, &cuts, |gap, _, keys| {
            if length == 0 {
                builder.begin(1.0);
            }
            builder.token(Some(gap.name()), keys, &[], &[]);
            (gaps, length) = (gaps + 1, length + 1);
            if length >= LONGEST && gap == Gap::Sentence {
                builder.end();
                length = 0;
            }
        });
        if length > 0 {
            builder.end();
        }
    }
    if gaps == 0 {
        return Err(SegmenterError::NoBoundaries);
    }
    let corpus = builder.finish()?;
    let labels: Vec<Gap> = corpus.labels().names().iter().filter_map(|name| name.parse().ok()).collect();
    let ends = Gap::ends(&labels);

    let mut encoder = corpus.encoder();
    let (mut gold, mut candidates) = (Vec::new(), Vec::new());
    for passage in &Passage::read(dev.unwrap_or_default()) {
        encoder.begin(1.0);
        let mut allowed = Candidates::new();
        let mut golden = Vec::new();
        reader.gaps(passage, &cuts, |gap, space, keys| {
            golden.push(gap);
            if space == Space::None || inner_spaces || ends.is_empty() {
                allowed.push_all();
            } else {
                allowed.push(&ends);
            }
            encoder.token(Some(gap.name()), keys, &[], &[]);
        });
        encoder.end();
        gold.push(golden);
        candidates.push(allowed);
    }
    let dev_sentences = encoder.finish()?;
    let measure = |paths: &[Vec<u32>]| {
        let mut score = SegmentationScore::default();
        for (gold, path) in gold.iter().zip(paths) {
            score.add(gold, path.iter().map(|&label| labels[label as usize]));
        }
        score
    };
    let mut metric = |paths: &[Vec<u32>]| {
        let score = measure(paths);
        (score.tokens() + score.sentences()) / 2.0
    };

    let training = corpus.with_margin(settings.training.clone(), MARGIN)?;
    let mut trained = train_orders(settings.orders, settings.seed, |order, seed| {
        let run = watch.run(None, "F1");
        let run = Run {
            epochs: settings.epochs.unwrap_or(if training.algorithm().is_batch() { 200 } else { 20 }),
            patience: dev.is_some().then_some(settings.patience),
            seed,
            // A checkpoint is of the first order: nobody could tell it from that of another.
            checkpoint: run.checkpoint.clone().filter(|_| order == 0),
            ..run
        };
        let metric: &mut dyn FnMut(&[Vec<u32>]) -> f64 = &mut metric;
        let held = dev.is_some().then_some(Dev {
            sentences: &dev_sentences,
            candidates: Some(&candidates),
            metric: Some(metric),
        });
        train_chain(&corpus, &training.clone().into(), held, run)
    })?;
    trained.prune(settings.prune);
    let score = match dev {
        Some(_) => Some(measure(&trained.predict(&dev_sentences, Some(&candidates), None)?)),
        None => None,
    };
    let described = Description {
        settings: settings.clone().training(training),
        epoch: trained.epoch,
        tokens_f1: score.map(|score| score.tokens()),
        sentences_f1: score.map(|score| score.sentences()),
        sentences: sentences.len(),
        tokens,
        fingerprint,
        inner_spaces,
    };
    let multiwords = Multiwords::learn(sentences);
    let multiwords = match &initial {
        Some(initial) => multiwords.after(&initial.multiwords),
        None => multiwords,
    };
    let mut model = store(&described, &statistics, &multiwords, &cuts);
    trained.store(&mut model, if settings.half { Precision::Half } else { Precision::Single });
    let mut summary = format!("epoch {}", trained.epoch);
    if let Some(score) = score {
        let (tokens, sentences) = (100.0 * score.tokens(), 100.0 * score.sentences());
        summary += &format!(", dev F1 of tokens {tokens:.2}, of sentences {sentences:.2}");
    }
    summary += &format!(" ({})", trained.stop);
    let score = score.map(|score| (score.tokens() + score.sentences()) / 2.0);
    Ok(Trained { model, epoch: trained.epoch, score, summary })
}

/// Paragraphs are taken as marked if one sentence in so many begins one.
const MARKED: usize = 20;
/// Sentences of a paragraph on average, where none are marked.
const PARAGRAPH: u64 = 3;

/// Lets paragraphs begin at some sentences of data in which they are not marked. Without that the text would be one
/// paragraph, and a model of it would not know what the end of a text looks like, nor a sentence alone.
fn mark_paragraphs(sentences: &mut [Sentence], seed: u64) {
    let marked = sentences.iter().filter(|sentence| sentence.starts_paragraph()).count();
    if marked * MARKED >= sentences.len() {
        return;
    }
    for (number, sentence) in sentences.iter_mut().enumerate() {
        let chance = key(&[seed.to_le_bytes(), (number as u64).to_le_bytes()].concat());
        if chance.is_multiple_of(PARAGRAPH) {
            sentence.mark_document();
        }
    }
}

/// The margin of a perceptron, in updates.
const MARGIN: f64 = 0.5;

/// Gaps and features of paragraphs, with buffers that are reused.
struct Reader {
    extractor: Extractor,
    statistics: Option<Statistics>,
    atoms: Vec<Atom>,
    gaps: Vec<Gap>,
}

impl Reader {
    fn statistics(&mut self, passages: &[Passage], cuts: &Cuts, older: Option<&Statistics>) -> Statistics {
        let mut builder = StatisticsBuilder::default();
        let mut keys = Vec::new();
        for passage in passages {
            self.read(passage, cuts);
            keys.clear();
            keys.extend(self.atoms.iter().map(|atom| self.extractor.low(atom.of(&passage.text))));
            builder.add(&passage.text, &self.atoms, |at| keys[at]);
        }
        builder.finish(older)
    }

    fn read(&mut self, passage: &Passage, cuts: &Cuts) {
        self.atoms.clear();
        self.atoms.extend(Atoms::new(&passage.text, 0, cuts));
    }

    fn gaps(&mut self, passage: &Passage, cuts: &Cuts, mut gap: impl FnMut(Gap, Space, &[u64])) {
        self.read(passage, cuts);
        let Some(statistics) = &self.statistics else { return };
        self.extractor.load(&passage.text, &self.atoms, statistics);
        passage.gaps(&self.atoms, &mut self.gaps);
        let mut keys = Vec::new();
        for (at, &gold) in self.gaps.iter().enumerate() {
            self.extractor.features(at, &mut keys);
            gap(gold, self.atoms[at].space, &keys);
        }
    }
}

/// The runs of letters that tokens end in the middle of.
fn find_cuts(passages: &[Passage]) -> Cuts {
    let none = Cuts::default();
    let mut counts: FxHashMap<u64, (u32, FxHashMap<u32, u32>)> = FxHashMap::default();
    for passage in passages {
        let mut token = 0;
        for atom in Atoms::new(&passage.text, 0, &none).filter(|atom| atom.class == Class::Letter) {
            let mut mask = 0u32;
            while token < passage.tokens.len() && passage.tokens[token].end < atom.end {
                let end = passage.tokens[token].end;
                if end > atom.start {
                    let characters = passage.text[atom.start..end].chars().count();
                    mask |= u32::try_from(characters).ok().and_then(|bit| 1u32.checked_shl(bit)).unwrap_or(0);
                }
                token += 1;
            }
            let (all, cuts) = counts.entry(cut_key(atom.of(&passage.text))).or_default();
            *all += 1;
            if mask != 0 {
                *cuts.entry(mask).or_default() += 1;
            }
        }
    }
    let chosen = counts.into_iter().filter_map(|(key, (all, cuts))| {
        let (mask, often) = cuts.into_iter().max_by_key(|&(mask, often)| (often, mask))?;
        (often >= LEAST_CUTS && 10 * often >= all).then_some((key, mask))
    });
    chosen.collect()
}

/// A number that other training data will not have.
fn fingerprint(passages: &[Passage]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for passage in passages {
        fingerprint.text(&passage.text);
        for (token, &end) in passage.tokens.iter().zip(&passage.ends) {
            fingerprint.number((token.end as u64) << 1 | u64::from(end));
        }
    }
    fingerprint.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_text::SentenceReader;

    /// Sentences of one word and a full stop; with `mark`, each begins a paragraph.
    fn sentences(count: usize, mark: &str) -> Vec<Sentence> {
        let one = |n| {
            format!("{mark}1\tw{n}\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
        };
        let text: String = (0..count).map(one).collect();
        SentenceReader::conllu(text.as_bytes(), "toy")
            .map(|sentence| sentence.expect("well formed"))
            .collect()
    }

    #[test]
    fn paragraphs_end_in_data_that_mark_none() {
        let mut unmarked = sentences(300, "");
        mark_paragraphs(&mut unmarked, 1);
        let paragraphs = Passage::read(&unmarked);
        assert!((60..150).contains(&paragraphs.len()), "{}", paragraphs.len());
        // Some sentences stand alone, some with others.
        let alone = paragraphs.iter().filter(|passage| passage.tokens.len() == 2).count();
        assert!(alone > 10 && alone < paragraphs.len() - 10, "{alone}");
        let mut marked = sentences(30, "# newpar\n");
        mark_paragraphs(&mut marked, 1);
        assert_eq!(Passage::read(&marked).len(), 30);
        let (mut one, mut two) = (sentences(50, ""), sentences(50, ""));
        mark_paragraphs(&mut one, 1);
        mark_paragraphs(&mut two, 2);
        assert_ne!(Passage::read(&one).len(), 0);
        assert!(one.iter().zip(&two).any(|(a, b)| a.starts_paragraph() != b.starts_paragraph()));
    }
}
