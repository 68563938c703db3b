use std::fmt;

use serde::Serialize;

use crate::entity::Scheme;
use crate::error::ErrorList;
use crate::format::Format;

/// What was found in all files.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Each file by itself.
    pub files: Vec<FileReport>,
    /// Each other file against the first.
    pub against: Vec<Against>,
}

impl Report {
    /// Whether any file has an error; warnings do not count.
    pub fn has_errors(&self) -> bool {
        self.files.iter().any(|file| file.errors.total > 0)
    }
}

/// What was found in a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Its name.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Sentences, records or paragraphs without errors of format.
    pub sentences: u64,
    /// Words in them.
    pub words: u64,
    /// Marks of a document's start.
    pub documents: u64,
    /// Multiword tokens.
    pub multiword_tokens: u64,
    /// Empty nodes.
    pub empty_nodes: u64,
    /// Different forms (counted up to about a million).
    pub distinct_forms: u64,
    /// What must be corrected.
    pub errors: ErrorList,
    /// What may be meant, but is worth a look.
    pub warnings: ErrorList,
    /// Sentences that were there before, in this file.
    pub duplicates: Duplicates,
    /// Labels by layer or column.
    pub layers: Vec<LayerReport>,
    /// Trees, if there are heads.
    pub trees: Option<TreeReport>,
    /// Entities, if there are labels for them.
    pub entities: Option<EntityReport>,
    /// Records, in JSONL.
    pub records: Option<RecordReport>,
}

impl FileReport {
    pub(super) fn new(file: &str, format: Format, error_limit: usize) -> Self {
        FileReport {
            file: file.to_owned(),
            format,
            sentences: 0,
            words: 0,
            documents: 0,
            multiword_tokens: 0,
            empty_nodes: 0,
            distinct_forms: 0,
            errors: ErrorList::with_limit(error_limit),
            warnings: ErrorList::with_limit(error_limit),
            duplicates: Duplicates::default(),
            layers: Vec::new(),
            trees: None,
            entities: None,
            records: None,
        }
    }
}

/// Sentences that were seen before.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Duplicates {
    /// How many.
    pub count: u64,
    /// The lines on which the first of them start.
    pub lines: Vec<u64>,
    /// Whether there were too many sentences to remember, so that the count may be too low.
    pub capped: bool,
}

impl Duplicates {
    pub(super) fn push(&mut self, line: u64) {
        const KEPT: usize = 10;
        self.count += 1;
        if self.lines.len() < KEPT {
            self.lines.push(line);
        }
    }
}

/// A label and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// How often.
    pub count: u64,
}

/// The labels of a layer.
#[derive(Clone, Debug, Serialize)]
pub struct LayerReport {
    /// The name of the layer, or `column N`.
    pub name: String,
    /// How many words have a label.
    pub total: u64,
    /// How many different labels there are.
    pub distinct: u64,
    /// Whether all were remembered.
    pub distinct_is_complete: bool,
    /// How many words have none.
    pub missing: u64,
    /// The most frequent labels, the most frequent first.
    pub labels: Vec<LabelCount>,
    /// How many different labels are rare.
    pub rare_distinct: u64,
    /// Rare labels.
    pub rare: Vec<LabelCount>,
}

/// The trees of a file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TreeReport {
    /// Sentences in which every word has a head.
    pub sentences: u64,
    /// Sentences in which some word has none.
    pub without: u64,
    /// Trees with crossing arcs.
    pub nonprojective: u64,
    /// Sentences whose heads run in a cycle.
    pub cyclic: u64,
    /// Sentences with more than one root.
    pub several_roots: u64,
}

/// The entities of a file.
#[derive(Clone, Debug, Serialize)]
pub struct EntityReport {
    /// The scheme, given or told from the labels; none if they are no entity labels.
    pub scheme: Option<Scheme>,
    /// How many entities there are.
    pub entities: u64,
    /// Labels that may not stand where they stand.
    pub illegal_transitions: u64,
}

/// The records of a JSONL file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordReport {
    /// Raw texts.
    pub texts: u64,
    /// Topics.
    pub topics: u64,
    /// Documents of topics.
    pub documents: u64,
    /// Summaries of topics.
    pub summaries: u64,
    /// Conversations.
    pub threads: u64,
    /// Messages of conversations.
    pub units: u64,
    /// Links between messages.
    pub links: u64,
    /// Pairs of sentence and compression.
    pub compressions: u64,
    /// Words in them.
    pub tokens: u64,
    /// Words that were kept.
    pub kept_tokens: u64,
    /// Annotated sentences.
    pub sentences: u64,
}

/// A file against the one that would be trained on.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Against {
    /// The first file.
    pub train: String,
    /// This file.
    pub dev: String,
    /// Its sentences.
    pub sentences: u64,
    /// Those of them that the first file has too.
    pub duplicates: Duplicates,
    /// Its words.
    pub words: u64,
    /// Those of them whose form the first file does not have.
    pub unknown_words: u64,
    /// Labels that the first file does not have.
    pub unseen: Vec<UnseenLabels>,
}

/// Labels of a layer that the file to train on does not have.
#[derive(Clone, Debug, Serialize)]
pub struct UnseenLabels {
    /// The name of the layer, or `column N`.
    pub name: String,
    /// How many different ones.
    pub distinct: u64,
    /// How many words have one.
    pub count: u64,
    /// The most frequent of them.
    pub labels: Vec<LabelCount>,
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn list(labels: &[LabelCount], distinct: u64) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<String> =
        labels.iter().take(SHOWN).map(|label| format!("{} {}", label.label, label.count)).collect();
    if distinct > shown.len() as u64 {
        shown.push(format!("… {} more", distinct - shown.len() as u64));
    }
    shown.join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, file) in self.files.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{file}")?;
        }
        for against in &self.against {
            write!(f, "\n{against}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in &self.errors.errors {
            writeln!(f, "error: {error}")?;
        }
        if self.errors.total > self.errors.errors.len() as u64 {
            writeln!(f, "error: … {} more", self.errors.total - self.errors.errors.len() as u64)?;
        }
        for warning in &self.warnings.errors {
            writeln!(f, "warning: {warning}")?;
        }
        if self.warnings.total > self.warnings.errors.len() as u64 {
            writeln!(f, "warning: … {} more", self.warnings.total - self.warnings.errors.len() as u64)?;
        }
        let what = match self.format {
            Format::Conllu | Format::Columns => "sentences",
            Format::Jsonl => "records",
            Format::Text => "paragraphs",
        };
        writeln!(f, "{} ({})", self.file, self.format)?;
        writeln!(f, "  {} {what}, {} words, {} forms", self.sentences, self.words, self.distinct_forms)?;
        let others = [
            (self.documents, "documents"),
            (self.multiword_tokens, "multiword tokens"),
            (self.empty_nodes, "empty nodes"),
        ];
        let others: Vec<String> = others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        if !others.is_empty() {
            writeln!(f, "  {}", others.join(", "))?;
        }
        if let Some(records) = &self.records {
            write!(f, "{records}")?;
        }
        for layer in self.layers.iter().filter(|layer| layer.total > 0) {
            write!(f, "{layer}")?;
        }
        if let Some(trees) = &self.trees {
            write!(f, "{trees}")?;
        }
        if let Some(EntityReport { scheme: Some(scheme), entities, illegal_transitions }) = &self.entities {
            writeln!(f, "  entities: {entities} in {scheme}, {illegal_transitions} illegal transitions")?;
        }
        if self.duplicates.count > 0 {
            writeln!(
                f,
                "  duplicates: {} of {} {what}{}",
                self.duplicates.count, self.sentences, self.duplicates
            )?;
        }
        writeln!(f, "  {} errors, {} warnings", self.errors.total, self.warnings.total)
    }
}

impl fmt::Display for Duplicates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        write!(f, " (lines {}", lines.join(", "))?;
        if self.count > self.lines.len() as u64 {
            write!(f, ", …")?;
        }
        write!(f, ")")?;
        if self.capped {
            write!(f, "; too many sentences to remember all, so there may be more")?;
        }
        Ok(())
    }
}

impl fmt::Display for LayerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.distinct_is_complete { "" } else { " or more" };
        write!(f, "  {}: {}{more} labels", self.name, self.distinct)?;
        if self.missing > 0 {
            write!(f, ", {} words without", self.missing)?;
        }
        writeln!(f, ": {}", list(&self.labels, self.distinct))?;
        if self.rare_distinct > 0 {
            writeln!(f, "    rare: {}: {}", self.rare_distinct, list(&self.rare, self.rare_distinct))?;
        }
        Ok(())
    }
}

impl fmt::Display for TreeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  trees: {}, of which {} not projective ({:.1} %), {} with cycles, {} with several roots",
            self.sentences,
            self.nonprojective,
            percent(self.nonprojective, self.sentences),
            self.cyclic,
            self.several_roots
        )?;
        if self.without > 0 {
            write!(f, "; {} sentences without", self.without)?;
        }
        writeln!(f)
    }
}

impl fmt::Display for RecordReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.texts > 0 {
            writeln!(f, "  texts: {}", self.texts)?;
        }
        if self.topics > 0 {
            writeln!(
                f,
                "  topics: {}, {} documents, {} summaries",
                self.topics, self.documents, self.summaries
            )?;
        }
        if self.threads > 0 {
            writeln!(f, "  conversations: {}, {} units, {} links", self.threads, self.units, self.links)?;
        }
        if self.compressions > 0 {
            let kept = percent(self.kept_tokens, self.tokens);
            writeln!(f, "  compressions: {}, {} tokens, {kept:.1} % kept", self.compressions, self.tokens)?;
        }
        if self.sentences > 0 {
            writeln!(f, "  annotated sentences: {}", self.sentences)?;
        }
        Ok(())
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} against {}", self.dev, self.train)?;
        let share = percent(self.duplicates.count, self.sentences);
        write!(f, "  seen before: {} of {} ({share:.1} %)", self.duplicates.count, self.sentences)?;
        if self.duplicates.count > 0 {
            write!(f, "{}", self.duplicates)?;
        }
        let unknown = percent(self.unknown_words, self.words);
        writeln!(f, "\n  unknown words: {} of {} ({unknown:.1} %)", self.unknown_words, self.words)?;
        for unseen in &self.unseen {
            let labels = list(&unseen.labels, unseen.distinct);
            writeln!(
                f,
                "  unseen {}: {} labels on {} words: {labels}",
                unseen.name, unseen.distinct, unseen.count
            )?;
        }
        Ok(())
    }
}
