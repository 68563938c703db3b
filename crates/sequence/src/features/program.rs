//! Templates compiled to flat arrays.

use consonant_learn::hash;

use super::FeatureError;
use super::resource::{Gazetteer, Resources};
use super::template::{Function, Pattern, Piece, Scope, Template, Vocabulary, parse};

/// A function of a column: computed once for each distinct value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Atom {
    pub column: usize,
    pub function: Function,
}

/// A template whose pieces each have one value: the feature's key is the seed combined with the pieces' keys
/// in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Join {
    pub seed: u64,
    pub first: u32,
    pub last: u32,
}

/// A template with a function of many values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plural {
    pub seed: u64,
    pub offset: i32,
    pub atom: usize,
}

/// The templates of one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Joins {
    pub joins: Vec<Join>,
    /// Cells of the sentence's matrix, counted from the current token's row.
    pub cells: Vec<i32>,
}

impl Joins {
    fn push(&mut self, seed: u64, cells: Vec<i32>) {
        let first = self.cells.len() as u32;
        self.cells.extend(cells);
        self.joins.push(Join { seed, first, last: self.cells.len() as u32 });
    }

    /// Writes the keys of all features of the token whose row begins at `origin`.
    #[inline]
    pub fn keys(&self, matrix: &[u64], origin: usize, keys: &mut Vec<u64>) {
        'joins: for join in &self.joins {
            let mut key = join.seed;
            for &cell in &self.cells[join.first as usize..join.last as usize] {
                let value = matrix[origin.wrapping_add_signed(cell as isize)];
                if value == ABSENT {
                    continue 'joins;
                }
                key = hash::combine(key, value);
            }
            keys.push(key);
        }
    }
}

/// Stands in the matrix where a function has no value.
pub(super) const ABSENT: u64 = 0;

/// The key of a piece's text, never [`ABSENT`].
#[inline]
pub(super) fn piece_key(text: &str) -> u64 {
    hash::key(text.as_bytes()).max(1)
}

/// The features that depend on one token's own value in column 0: what makes it worth to keep their sum for
/// each word.
#[derive(Debug, Clone)]
pub(super) struct TypeGroup {
    pub offset: i32,
    pub joins: Joins,
    pub plurals: Vec<Plural>,
}

/// A template file, compiled for an input with named columns and for given resources.
#[derive(Debug, Clone)]
pub struct Templates {
    pub(super) text: String,
    pub(super) columns: Vec<String>,
    pub(super) templates: Vec<Template>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) atoms: Vec<Atom>,
    /// By column: which atoms are its own.
    pub(super) column_atoms: Vec<Vec<usize>>,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) groups: Vec<TypeGroup>,
    pub(super) context: Joins,
    pub(super) context_plurals: Vec<Plural>,
    pub(super) pairs: Joins,
    pub(super) real_valued: bool,
}

impl Templates {
    /// Compiles a template file. Macros may name columns by number or by the names given here.
    pub fn compile(text: &str, columns: &[&str], resources: &Resources) -> Result<Self, FeatureError> {
        let gazetteers: Vec<String> =
            resources.gazetteers.iter().map(|gazetteer| gazetteer.name().to_owned()).collect();
        let vocabulary = Vocabulary {
            columns,
            gazetteers: &gazetteers,
            clusters: resources.clusters.is_some(),
            vectors: resources.vectors.is_some(),
        };
        let (templates, patterns) = parse(text, vocabulary)?;
        let mut atoms: Vec<Atom> = Vec::new();
        for Piece { column, function, .. } in templates.iter().flat_map(|template| &template.pieces) {
            let atom = Atom { column: *column, function: *function };
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
        // Phrases are matched by the keys of the first column's values.
        for base in resources.gazetteers.iter().map(phrase_base) {
            if !atoms.contains(&base) {
                atoms.push(base);
            }
        }
        let offsets = || templates.iter().flat_map(|template| &template.pieces).map(|piece| piece.offset);
        let mut compiled = Self {
            text: text.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            column_atoms: (0..columns.len())
                .map(|column| (0..atoms.len()).filter(|&atom| atoms[atom].column == column).collect())
                .collect(),
            before: offsets().map(|offset| (-offset).max(0)).max().unwrap_or(0) as usize,
            after: offsets().max().unwrap_or(0).max(0) as usize,
            groups: Vec::new(),
            context: Joins::default(),
            context_plurals: Vec::new(),
            pairs: Joins::default(),
            real_valued: templates
                .iter()
                .flat_map(|template| &template.pieces)
                .any(|piece| piece.function == Function::Vector),
            templates,
            patterns,
            atoms,
        };
        compiled.distribute();
        Ok(compiled)
    }

    /// The text that was compiled.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The columns that tokens must have.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether some templates look at pairs of labels.
    pub fn has_pairs(&self) -> bool {
        !self.pairs.joins.is_empty()
    }

    /// The number of templates, ranges written out.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Whether there is no template; never, once compiled.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    pub(super) fn atom(&self, piece: &Piece) -> usize {
        let wanted = Atom { column: piece.column, function: piece.function };
        self.atoms.iter().position(|atom| *atom == wanted).unwrap_or_default()
    }

    /// The cells of a template's pieces, counted from the row of the current token.
    fn cells(&self, template: &Template) -> Vec<i32> {
        let width = self.atoms.len() as i32;
        template.pieces.iter().map(|piece| piece.offset * width + self.atom(piece) as i32).collect()
    }

    /// Each template goes where it costs least: to the words, to the context, to the pairs.
    fn distribute(&mut self) {
        for template in std::mem::take(&mut self.templates).iter() {
            let seed = template.seed();
            if template.scope != Scope::Node {
                let cells = self.cells(template);
                self.pairs.push(seed, cells);
            }
            if template.scope != Scope::Pair {
                self.distribute_node(template, seed);
            }
            self.templates.push(template.clone());
        }
    }

    fn distribute_node(&mut self, template: &Template, seed: u64) {
        let offset = template.pieces.first().map_or(0, |piece| piece.offset);
        let own = template.pieces.iter().all(|piece| {
            piece.offset == offset && piece.column == 0 && !matches!(piece.function, Function::Gazetteer(_))
        });
        let plural = match template.pieces[..] {
            [piece] if piece.function.is_plural() => {
                Some(Plural { seed, offset: piece.offset, atom: self.atom(&piece) })
            }
            _ => None,
        };
        if !own {
            match plural {
                Some(plural) => self.context_plurals.push(plural),
                None => {
                    let cells = self.cells(template);
                    self.context.push(seed, cells);
                }
            }
            return;
        }
        let cells: Vec<i32> = template.pieces.iter().map(|piece| self.atom(piece) as i32).collect();
        let group = match self.groups.iter().position(|group| group.offset == offset) {
            Some(group) => &mut self.groups[group],
            None => {
                self.groups.push(TypeGroup { offset, joins: Joins::default(), plurals: Vec::new() });
                self.groups.last_mut().expect("just pushed")
            }
        };
        match plural {
            Some(plural) => group.plurals.push(plural),
            None => group.joins.push(seed, cells),
        }
    }
}

/// By what a gazetteer is matched: the first column as it stands, or in lower case.
pub(super) fn phrase_base(gazetteer: &Gazetteer) -> Atom {
    Atom { column: 0, function: if gazetteer.is_any_case() { Function::Lower } else { Function::Value } }
}

impl Template {
    /// The key of the text around the pieces: as in CRF++, two templates of one name share their features.
    pub(super) fn seed(&self) -> u64 {
        hash::key(self.literals.join("%").as_bytes())
    }
}
