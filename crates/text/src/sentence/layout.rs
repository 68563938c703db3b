use std::ops::Range;

/// A kind of annotation that words carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The word itself.
    Form,
    /// Its dictionary form.
    Lemma,
    /// Its universal part of speech.
    Upos,
    /// Its part of speech in the language's own tag set.
    Xpos,
    /// Its morphological features.
    Feats,
    /// Its relation to its head.
    Deprel,
    /// Its enhanced dependencies.
    Deps,
    /// Everything else, as a list `Key=Value|…`.
    Misc,
    /// Its entity label, such as `B-LOC`: a column of its own, or `NER=` in MISC.
    Entity,
}

impl Layer {
    /// All layers.
    pub const ALL: [Layer; 9] = [
        Layer::Form,
        Layer::Lemma,
        Layer::Upos,
        Layer::Xpos,
        Layer::Feats,
        Layer::Deprel,
        Layer::Deps,
        Layer::Misc,
        Layer::Entity,
    ];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Form => "form",
            Layer::Lemma => "lemma",
            Layer::Upos => "upos",
            Layer::Xpos => "xpos",
            Layer::Feats => "feats",
            Layer::Deprel => "deprel",
            Layer::Deps => "deps",
            Layer::Misc => "misc",
            Layer::Entity => "entity",
        }
    }
}

/// The MISC key under which CoNLL-U carries entity labels.
pub(crate) const ENTITY_KEY: &str = "NER";

/// What stands between the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separator {
    /// One tab; fields may hold spaces or be empty.
    Tab,
    /// One or more spaces or tabs.
    Blank,
}

/// How the rows of a sentence are laid out: how many columns, what separates them and which layer each holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    columns: [u16; Layer::ALL.len()],
    width: u16,
    separator: Separator,
    conllu: bool,
}

const MISSING: u16 = u16::MAX;

impl Default for Layout {
    fn default() -> Self {
        Layout::CONLLU
    }
}

impl Layout {
    /// The ten columns of CoNLL-U.
    pub const CONLLU: Layout = Layout {
        columns: [1, 2, 3, 4, 5, 7, 8, 9, MISSING],
        width: 10,
        separator: Separator::Tab,
        conllu: true,
    };

    /// A columns file of which no layer is known yet.
    ///
    /// Rows wider than 65,534 fields are not supported; a reader reports them.
    pub(crate) fn columns(width: u16, separator: Separator) -> Layout {
        Layout { columns: [MISSING; Layer::ALL.len()], width, separator, conllu: false }
    }

    pub(crate) fn with(mut self, layer: Layer, column: u16) -> Layout {
        self.columns[layer as usize] = column;
        self
    }

    /// How many fields a row has.
    #[inline]
    pub fn width(&self) -> usize {
        usize::from(self.width)
    }

    /// The column of a layer, counted from 0.
    #[inline]
    pub fn column(&self, layer: Layer) -> Option<usize> {
        let column = self.columns[layer as usize];
        (column != MISSING).then_some(usize::from(column))
    }

    /// What separates the fields.
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Whether it is CoNLL-U, with ids, multiword tokens and comments.
    pub fn is_conllu(&self) -> bool {
        self.conllu
    }

    /// The places of the fields of a line, its end not among them.
    pub(crate) fn fields<'a>(&self, line: &'a str) -> Fields<'a> {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        Fields { line: line.as_bytes(), position: 0, separator: self.separator, done: false }
    }
}

/// The places of the fields of one line.
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    position: usize,
    separator: Separator,
    done: bool,
}

impl Iterator for Fields<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.done {
            return None;
        }
        match self.separator {
            Separator::Tab => {
                let start = self.position;
                match memchr::memchr(b'\t', &self.line[start..]) {
                    Some(length) => {
                        self.position = start + length + 1;
                        Some(start..start + length)
                    }
                    None => {
                        self.done = true;
                        Some(start..self.line.len())
                    }
                }
            }
            Separator::Blank => {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                let rest = &self.line[self.position..];
                let Some(start) = rest.iter().position(|byte| !blank(byte)) else {
                    self.done = true;
                    return None;
                };
                let length = rest[start..].iter().position(blank).unwrap_or(rest.len() - start);
                let start = self.position + start;
                self.position = start + length;
                Some(start..start + length)
            }
        }
    }
}
