//! Clusters as a task: trained, opened, looked into, and written into MISC.

use std::collections::BTreeMap;

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};
use consonant_segmenter::{Piece, Rules, Segmenter, SegmenterError};
use consonant_sequence::features::{Clusters, FeatureError};
use consonant_task::{Certificate, Data, Inspection, Source, Task, Trained, Unit, Usage, Watch};
use consonant_text::sentence::EditError;
use consonant_text::{Format, Sentence};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::counts::{Collector, SPECIAL};
use crate::exchange::Clustering;
use crate::hierarchy;

const TASK: &str = "clusters";
/// Pieces of text that are cut into words together.
const BATCH: usize = 4096;
/// Words of a cluster that are shown.
const SHOWN: usize = 12;

consonant_task::settings! {
    /// How words are put into clusters.
    pub struct ClustersSettings {
        /// The number of clusters.
        count: usize = 512, "N" in 2.0..=65535.0;
        /// Words that occur less often are in no cluster.
        min_count: u64 = 5, "N" in 1.0..;
        /// Sweeps over all words at most; the last ones move few.
        epochs: usize = 12, "N" in 1.0..;
    }
}

consonant_task::settings! {
    /// What is wanted of clusters.
    pub struct ClustersOptions {
        /// Writes so many bits of a cluster's name, all if 0.
        bits: usize = 0, "N";
    }
}

/// What can go wrong with clusters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClustersError {
    /// The model is damaged or another task's.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The clusters in it are none.
    #[error(transparent)]
    Features(#[from] FeatureError),
    /// The text could not be cut into words.
    #[error(transparent)]
    Segmenter(#[from] SegmenterError),
    /// The sentences have no place for clusters.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Settings that do not fit the data.
    #[error(transparent)]
    Usage(#[from] Usage),
}

/// How clusters were made; the metadata of their file.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    #[serde(flatten)]
    settings: ClustersSettings,
    words: usize,
    epoch: usize,
    objective: f64,
}

/// Words and the clusters that they are in.
#[derive(Debug)]
pub struct WordClusters {
    clusters: Clusters,
    description: Description,
}

impl WordClusters {
    /// Writes the clusters of a piece's words.
    fn write(&self, piece: &mut Piece, options: &ClustersOptions) -> Result<Unit, ClustersError> {
        if piece.sentences.is_empty() {
            piece.sentences = found(piece)?;
        }
        let (mut tokens, mut known) = (0, 0);
        for sentence in &mut piece.sentences {
            tokens += sentence.len();
            for word in 0..sentence.len() {
                let Some(name) = self.clusters.get(sentence.form(word)) else { continue };
                let bits = if options.bits == 0 { name.len() } else { options.bits.min(name.len()) };
                sentence.set_misc(word, "Cluster", Some(&name[..bits]))?;
                known += 1;
            }
        }
        Ok(Unit { certificate: Certificate::exact(f64::from(known)), tokens })
    }
}

/// The sentences of a piece that has only its text.
fn found(piece: &Piece) -> Result<Vec<Sentence>, ClustersError> {
    let segmenter = Segmenter::rules(Rules::english());
    Ok(segmenter.passage(&piece.text, piece.start, Some(piece.character))?.sentences)
}

impl Task for WordClusters {
    const NAME: &'static str = TASK;
    const PLURAL: &'static str = "word clusters";
    const ABOUT: &'static str = "Learns clusters of words from raw text.\n\nTaggers, recognizers of names and parsers take them by `--clusters`. Words that stand in the same surroundings are in one cluster; the name of a cluster is its path in a tree, so that its first bits are a coarser cluster.";
    const EXAMPLE: &'static str =
        "consonant train clusters --train story.txt --model words.clusters --count 8 --min-count 1";
    const SOURCES: &'static [Source] = &[Source {
        name: "train",
        help: "Raw text, or sentences in CoNLL-U.",
        formats: &[Format::Text, Format::Conllu],
    }];
    const FORMATS: &'static [Format] = &[Format::Text, Format::Conllu];

    type Item = Piece;
    type Settings = ClustersSettings;
    type Options = ClustersOptions;
    type Error = ClustersError;

    fn algorithms() -> String {
        "exchange\n".to_owned()
    }

    fn train(
        data: &Data<'_, Piece>,
        settings: &ClustersSettings,
        watch: &mut Watch<'_>,
    ) -> Result<Trained, ClustersError> {
        if watch.checkpoint.is_some() {
            return Err(
                Usage("clusters have no state to go on from; leave out --checkpoint".to_owned()).into()
            );
        }
        let mut collector = Collector::default();
        for batch in data.items().chunks(BATCH) {
            let sentences: Result<Vec<Vec<Sentence>>, ClustersError> = batch.par_iter().map(found).collect();
            for (piece, found) in batch.iter().zip(sentences?) {
                for sentence in piece.sentences.iter().chain(&found) {
                    collector.sentence((0..sentence.len()).map(|word| sentence.form(word)));
                }
            }
        }
        let bigrams = collector.finish(settings.min_count);
        let words = bigrams.words.len();
        if words < settings.count {
            let text = format!(
                "{words} words occur {} times or more, too few for {} clusters; expected more text, or smaller --count or --min-count",
                settings.min_count, settings.count
            );
            return Err(Usage(text).into());
        }
        watch.note(format!("{words} words in {} clusters", settings.count));
        let mut clustering = Clustering::new(&bigrams, settings.count);
        let (mut epoch, mut objective) = (0, clustering.objective());
        while epoch < settings.epochs && !watch.is_stopped() {
            epoch += 1;
            let moved = clustering.sweep();
            objective = clustering.objective();
            watch.note(format!("sweep {epoch}: {moved} words moved, objective {objective:.0}"));
            // The last thousandth of the words goes back and forth.
            if moved * 1000 <= words {
                break;
            }
        }
        let names = hierarchy::names(&clustering, settings.count);
        let named = bigrams.words.iter().zip(&clustering.cluster[SPECIAL..]);
        let named =
            named.map(|((word, _), &cluster)| (word.clone(), names[cluster as usize].as_str().into()));
        let description = Description { settings: settings.clone(), words, epoch, objective };
        let mut model = ModelWriter::new(TASK, json!(description));
        named.collect::<Clusters>().store(&mut model);
        let summary =
            format!("{words} words in {} clusters, sweep {epoch}, objective {objective:.0}", settings.count);
        Ok(Trained { model, epoch, score: None, summary })
    }

    fn open(model: &Model) -> Result<Self, ClustersError> {
        let description = model.settings(TASK)?;
        let clusters = Clusters::open(model)?.ok_or_else(|| model.damaged("it has no clusters"))?;
        Ok(Self { clusters, description })
    }

    fn decode(&self, items: &mut [Piece], options: &ClustersOptions) -> Result<Vec<Unit>, ClustersError> {
        items.par_iter_mut().map(|piece| self.write(piece, options)).collect()
    }

    fn inspect(&self, top: usize) -> Inspection {
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (word, cluster) in self.clusters.iter() {
            members.entry(cluster).or_default().push(word);
        }
        let rows = members.into_iter().take(top).map(|(cluster, mut words)| {
            words.sort_unstable();
            words.truncate(SHOWN);
            vec![cluster.to_owned().into(), words.join(" ").into()]
        });
        let facts = Inspection::default()
            .fact("words", self.description.words)
            .fact("sweeps", self.description.epoch);
        facts.table(&["cluster", "words"], rows)
    }
}
