use std::sync::Arc;

use super::Desk;
use super::labels::Labels;
use super::report::{EntityReport, FileReport, TreeReport};
use crate::conllu::{DEPS, FEATS, HEAD, NAMES};
use crate::entity::{Scheme, SchemeEvidence, decode_any};
use crate::error::{Error, ErrorList, Fault, Kind, excerpt};
use crate::input::Input;
use crate::reader::SentenceReader;
use crate::sentence::{Layer, RowId, Sentence, parse_enhanced};

impl Desk<'_> {
    /// Reads all sentences and notes what there is to note.
    pub(super) fn sentences(&mut self, reader: SentenceReader<Input>) -> Result<(), Error> {
        let mut reader = reader.max_length(self.check.max_length);
        let name = Arc::clone(reader.name());
        let mut look = Look {
            name,
            labels: Vec::new(),
            trees: TreeReport::default(),
            entities: Entities::new(self.check.error_limit),
            has_entities: false,
        };
        let mut sentence = Sentence::new();
        while reader.read_valid(&mut sentence, &mut self.file.errors)? {
            look.count(&sentence, &mut self.file);
            look.layers(&sentence);
            look.fields(&sentence, &mut self.file);
            look.tree(&sentence, &mut self.file);
            look.entity_labels(&sentence);
            let words = (0..sentence.len()).map(|word| sentence.form(word));
            self.note(words, sentence.line());
        }
        self.memory.labels = look.labels.into_iter().map(|(_, labels)| labels).collect();
        if look.trees.sentences > 0 {
            self.file.trees = Some(look.trees);
        }
        if look.has_entities {
            self.file.entities =
                Some(look.entities.finish(self.check.scheme, &look.name, &mut self.file.errors));
        }
        Ok(())
    }
}

/// Where a set of labels comes from.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Layer(Layer),
    Column(usize),
}

struct Look {
    name: Arc<str>,
    labels: Vec<(Place, Labels)>,
    trees: TreeReport,
    entities: Entities,
    has_entities: bool,
}

impl Look {
    fn count(&self, sentence: &Sentence, file: &mut FileReport) {
        file.sentences += 1;
        file.words += sentence.len() as u64;
        file.documents += u64::from(sentence.starts_document());
        for row in sentence.rows() {
            match row.id() {
                RowId::Multiword(..) => file.multiword_tokens += 1,
                RowId::Empty(..) => file.empty_nodes += 1,
                RowId::Word(_) => {}
            }
        }
        let text = sentence.comment("text").filter(|text| !text.is_empty());
        if let Some(text) = text
            && sentence.aligned_text().0 != text
        {
            file.warnings.report(&self.name, (sentence.line(), 1), || {
                Fault::new(
                    Kind::Text,
                    "a comment `# text` that spells the tokens",
                    excerpt(text),
                    "correct the comment, the forms or SpaceAfter=No",
                )
            });
        }
    }

    fn layers(&mut self, sentence: &Sentence) {
        let layout = sentence.layout();
        if self.labels.is_empty() {
            self.labels = if layout.is_conllu() {
                [Layer::Upos, Layer::Xpos, Layer::Feats, Layer::Deprel, Layer::Entity]
                    .map(|layer| (Place::Layer(layer), Labels::new(layer.name().to_owned())))
                    .into()
            } else {
                let form = layout.column(Layer::Form);
                (0..layout.width())
                    .filter(|&column| Some(column) != form)
                    // A file of thousands of columns is no table of labels.
                    .take(32)
                    .map(|column| {
                        let layer =
                            Layer::ALL.into_iter().find(|&layer| layout.column(layer) == Some(column));
                        let name =
                            layer.map_or(format!("column {}", column + 1), |layer| layer.name().to_owned());
                        (Place::Column(column), Labels::new(name))
                    })
                    .collect()
            };
        }
        for (place, labels) in &mut self.labels {
            for word in 0..sentence.len() {
                labels.add(match *place {
                    Place::Layer(layer) => sentence.get(word, layer),
                    Place::Column(column) => Some(sentence.row_of_word(word).field(column)),
                });
            }
        }
    }

    /// Checks features and enhanced dependencies, which the reader passes as they are.
    fn fields(&self, sentence: &Sentence, file: &mut FileReport) {
        if !sentence.layout().is_conllu() {
            return;
        }
        let words = sentence.len() as u32;
        // In the order of the file, which is theirs.
        let empty: Vec<RowId> =
            sentence.rows().map(|row| row.id()).filter(|id| matches!(id, RowId::Empty(..))).collect();
        for row in sentence.rows() {
            for (column, name) in NAMES.iter().enumerate().filter(|&(column, _)| row.field(column).is_empty())
            {
                let expected = format!("a value in column {} ({name})", column + 1);
                let hint = "write `_` for a value that is missing";
                file.errors.report(&self.name, (row.line(), row.character(column)), || {
                    Fault::new(Kind::EmptyField, expected, "nothing", hint)
                });
            }
            let feats = row.layer(Layer::Feats);
            let pair =
                |feature: &str| feature.split_once('=').is_some_and(|(k, v)| !k.is_empty() && !v.is_empty());
            if !matches!(feats, "_" | "") && !feats.split('|').all(pair) {
                file.errors.report(&self.name, (row.line(), row.character(FEATS)), || {
                    Fault::new(
                        Kind::Attribute,
                        "features as `Name=Value|Name=Value`",
                        excerpt(feats),
                        "write `_` for no features",
                    )
                });
            }
            let deps = row.layer(Layer::Deps);
            if matches!(deps, "_" | "") {
                continue;
            }
            let valid = parse_enhanced(deps).is_some_and(|arcs| {
                arcs.iter().all(|&(head, _)| match head {
                    RowId::Word(word) => word <= words,
                    RowId::Empty(..) => empty.binary_search(&head).is_ok(),
                    RowId::Multiword(..) => false,
                })
            });
            if !valid {
                file.errors.report(&self.name, (row.line(), row.character(DEPS)), || {
                    Fault::new(
                        Kind::EnhancedDependency,
                        "enhanced dependencies as `head:relation|head:relation`",
                        excerpt(deps),
                        "heads are words or empty nodes of the sentence",
                    )
                });
            }
        }
    }

    fn tree(&mut self, sentence: &Sentence, file: &mut FileReport) {
        let Some(tree) = sentence.tree() else {
            self.trees.without += 1;
            return;
        };
        self.trees.sentences += 1;
        let roots = tree.roots().count();
        if let Some(cycle) = tree.cycle() {
            self.trees.cyclic += 1;
            let row = sentence.row_of_word(cycle[0] as usize - 1);
            let shown: Vec<String> = cycle.iter().take(8).map(u32::to_string).collect();
            file.errors.report(&self.name, (row.line(), row.character(HEAD)), || {
                Fault::new(
                    Kind::Tree,
                    "a tree",
                    format!("a cycle through the words {}", shown.join(", ")),
                    "every word must lead to the root",
                )
            });
        } else if !tree.is_projective() {
            self.trees.nonprojective += 1;
        }
        if roots > 1 {
            self.trees.several_roots += 1;
            let second = sentence.row_of_word(tree.roots().nth(1).unwrap_or(1) as usize - 1);
            file.warnings.report(&self.name, (second.line(), second.character(HEAD)), || {
                Fault::new(
                    Kind::Tree,
                    "one root",
                    roots.to_string(),
                    "Universal Dependencies allow one word with head 0",
                )
            });
        }
    }

    fn entity_labels(&mut self, sentence: &Sentence) {
        let written = |word| sentence.get(word, Layer::Entity);
        if sentence.layout().is_conllu() && (0..sentence.len()).all(|word| written(word).is_none()) {
            return;
        }
        self.has_entities = true;
        let labels: Vec<&str> = (0..sentence.len()).map(|word| sentence.entity_label(word)).collect();
        self.entities.add(sentence, &labels);
    }
}

/// Entity labels, held against all schemes at once, since the scheme is known only in the end.
struct Entities {
    evidence: SchemeEvidence,
    /// Labels that look like entity labels, and all labels; a column of tags has none of the first.
    shaped: u64,
    total: u64,
    count: u64,
    broken: [(u64, Vec<Violation>); Scheme::ALL.len()],
    limit: usize,
}

struct Violation {
    place: (u64, u64),
    label: String,
    before: Option<String>,
}

impl Entities {
    fn new(limit: usize) -> Self {
        let broken = Default::default();
        Entities { evidence: SchemeEvidence::default(), shaped: 0, total: 0, count: 0, broken, limit }
    }

    fn add(&mut self, sentence: &Sentence, labels: &[&str]) {
        self.evidence.add(labels);
        self.count += decode_any(labels).len() as u64;
        self.total += labels.len() as u64;
        let shaped = |label: &&&str| {
            **label == "O" || label.split_once('-').is_some_and(|(letter, _)| letter.len() == 1)
        };
        self.shaped += labels.iter().filter(shaped).count() as u64;
        for scheme in Scheme::ALL {
            let (count, kept) = &mut self.broken[scheme as usize];
            let mut note = |word: usize| {
                *count += 1;
                if kept.len() < self.limit {
                    let before = word.checked_sub(1).map(|before| labels[before].to_owned());
                    let label = labels[word].to_owned();
                    let row = sentence.row_of_word(word);
                    let layout = sentence.layout();
                    let field =
                        layout.column(Layer::Entity).or_else(|| layout.column(Layer::Misc)).unwrap_or(0);
                    kept.push(Violation { place: (row.line(), row.character(field)), label, before });
                }
            };
            let mut before = None;
            for (word, label) in labels.iter().enumerate() {
                let tag = scheme.parse(label);
                if !tag.is_some_and(|tag| scheme.allows(before, tag)) {
                    note(word);
                }
                before = tag.flatten();
            }
            if !scheme.allows(before, None) {
                note(labels.len() - 1);
            }
        }
    }

    fn finish(mut self, scheme: Option<Scheme>, file: &Arc<str>, errors: &mut ErrorList) -> EntityReport {
        // Labels of another kind (part-of-speech tags in a last column) are no broken entities.
        let entities = scheme.is_some() || self.shaped * 2 > self.total;
        let scheme = scheme.unwrap_or_else(|| self.evidence.scheme());
        if !entities {
            return EntityReport { scheme: None, entities: 0, illegal_transitions: 0 };
        }
        let (count, kept) = std::mem::take(&mut self.broken[scheme as usize]);
        errors.total += count - kept.len() as u64;
        for violation in kept {
            let after = violation
                .before
                .map_or("at the start".to_owned(), |label| format!("after {}", excerpt(&label)));
            let came = format!("{} {after}", excerpt(&violation.label));
            let expected = format!("a label that fits {scheme}");
            let fault = Fault::new(Kind::LabelSequence, expected, came, "convert or repair the labels");
            errors.push(fault.at(file, violation.place));
        }
        EntityReport { scheme: Some(scheme), entities: self.count, illegal_transitions: count }
    }
}
