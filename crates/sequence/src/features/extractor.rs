//! Running templates over sentences.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use consonant_learn::hash;
use consonant_learn::names::{FeatureSink, WantedNames};
use rustc_hash::FxHashMap;

use super::program::{ABSENT, Atom, Plural, Templates, phrase_base, piece_key};
use super::resource::{Place, Resources};
use super::template::{Function, Scope};
use super::value::{ValueReader, lower_case};

/// Distinct values of a column that a workspace remembers before it starts afresh: a third of a megabyte of news has
/// as many, and more text takes no more memory.
const MOST_TYPES: usize = 1 << 13;
/// Memories of values that were started in this process.
static EPOCHS: AtomicU64 = AtomicU64::new(1);

/// The keys and values of a token's features.
#[derive(Debug, Clone, Default)]
pub struct FeatureBuffer {
    /// Keys.
    pub keys: Vec<u64>,
    /// One value for each key; empty if all are 1.
    pub values: Vec<f32>,
}

impl FeatureBuffer {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    /// The features with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f32)> {
        self.keys
            .iter()
            .enumerate()
            .map(|(place, &key)| (key, self.values.get(place).copied().unwrap_or(1.0)))
    }
}

/// Makes features of sentences. Shared by all threads; each has its own [`FeatureWorkspace`].
#[derive(Debug, Clone)]
pub struct Extractor {
    templates: Arc<Templates>,
    resources: Arc<Resources>,
}

/// What is known of the distinct values of one column: for each, a row of keys.
#[derive(Debug, Clone, Default)]
struct Types {
    numbers: FxHashMap<Box<str>, u32>,
    rows: Vec<u64>,
    count: usize,
}

/// The current sentence, and what was computed for the values met so far. One for each thread; nothing is
/// allocated for values that were met before.
#[derive(Debug, Default)]
pub struct FeatureWorkspace {
    types: Vec<Types>,
    /// Where a plural function's keys stand; the matrix has its number plus one.
    lists: Vec<Vec<u64>>,
    /// Row of the vector for each type of each column that has a vector.
    reader: ValueReader,
    /// By column, with padding: the type of each token.
    tokens: Vec<Vec<u32>>,
    /// A row of keys for each token, with padding.
    matrix: Vec<u64>,
    places: Vec<Place>,
    phrase_keys: Vec<u64>,
    length: usize,
    epoch: u64,
}

impl FeatureWorkspace {
    /// The number of tokens of the sentence.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the sentence has no token.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A number of its own for every time that a memory of values was started afresh, in this workspace or
    /// another. Types are numbered by the memory, so whoever keeps something by type must drop it when this
    /// changes.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

impl Extractor {
    /// Joins templates and the resources that they were compiled for.
    pub fn new(templates: Arc<Templates>, resources: Arc<Resources>) -> Self {
        Self { templates, resources }
    }

    /// The templates.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The resources.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// A fresh workspace.
    pub fn workspace(&self) -> FeatureWorkspace {
        let mut workspace = FeatureWorkspace {
            types: vec![Types::default(); self.templates.columns.len()],
            ..FeatureWorkspace::default()
        };
        workspace.tokens = vec![Vec::new(); self.templates.columns.len()];
        self.forget(&mut workspace);
        workspace
    }

    /// Reads a sentence: `value(token, column)` for every token and every column of the templates.
    pub fn load<'s>(
        &self,
        workspace: &mut FeatureWorkspace,
        length: usize,
        value: impl Fn(usize, usize) -> &'s str,
    ) {
        if workspace.types.iter().any(|types| types.count > MOST_TYPES) {
            self.forget(workspace);
        }
        let templates = &*self.templates;
        let (before, after) = (templates.before, templates.after);
        workspace.length = length;
        for column in 0..templates.columns.len() {
            let mut tokens = std::mem::take(&mut workspace.tokens[column]);
            tokens.clear();
            // Types 0, 1, … are the places before the sentence, nearest first; then those after it.
            tokens.extend((0..before as u32).rev());
            tokens.extend((0..length).map(|token| self.type_of(workspace, column, value(token, column))));
            tokens.extend((0..after as u32).map(|distance| before as u32 + distance));
            workspace.tokens[column] = tokens;
        }
        self.fill_matrix(workspace);
    }

    /// Writes the node features of a token.
    pub fn node_features(&self, workspace: &FeatureWorkspace, token: usize, out: &mut FeatureBuffer) {
        out.clear();
        for group in 0..self.templates.groups.len() {
            self.type_features(workspace, group, self.type_at(workspace, group, token), out);
        }
        self.context_features(workspace, token, out);
    }

    /// Writes the features of a token that look at its label and the one before.
    pub fn pair_features(&self, workspace: &FeatureWorkspace, token: usize, keys: &mut Vec<u64>) {
        keys.clear();
        self.templates.pairs.keys(&workspace.matrix, self.origin(token), keys);
    }

    /// The number of groups of features that depend on a single word's form. The sum of such a group's
    /// weights can be kept by word.
    pub fn type_groups(&self) -> usize {
        self.templates.groups.len()
    }

    /// The type that a group looks at from a token: a number below [`Extractor::types`].
    #[inline]
    pub fn type_at(&self, workspace: &FeatureWorkspace, group: usize, token: usize) -> u32 {
        let place =
            (token + self.templates.before).wrapping_add_signed(self.templates.groups[group].offset as isize);
        workspace.tokens[0][place]
    }

    /// The number of types known so far.
    pub fn types(&self, workspace: &FeatureWorkspace) -> usize {
        workspace.types[0].count
    }

    /// Adds the features of a group for a type.
    pub fn type_features(
        &self,
        workspace: &FeatureWorkspace,
        group: usize,
        kind: u32,
        out: &mut FeatureBuffer,
    ) {
        let group = &self.templates.groups[group];
        let row = kind as usize * self.templates.atoms.len();
        let rows = &workspace.types[0].rows;
        let first = out.keys.len();
        group.joins.keys(rows, row, &mut out.keys);
        self.ones(first, out);
        for plural in &group.plurals {
            self.plural_features(workspace, plural, rows[row + plural.atom], out);
        }
    }

    /// Adds the node features of a token that depend on more than one word, on other columns or on phrases.
    pub fn context_features(&self, workspace: &FeatureWorkspace, token: usize, out: &mut FeatureBuffer) {
        let first = out.keys.len();
        self.templates.context.keys(&workspace.matrix, self.origin(token), &mut out.keys);
        self.ones(first, out);
        for plural in &self.templates.context_plurals {
            let row = self
                .origin(token)
                .wrapping_add_signed(plural.offset as isize * self.templates.atoms.len() as isize);
            self.plural_features(workspace, plural, workspace.matrix[row + plural.atom], out);
        }
    }

    /// Writes the features of a token with their names: the templates filled in, as CRF++ would write them.
    /// Slow: for explanations.
    pub fn describe<'s>(
        &self,
        length: usize,
        value: impl Fn(usize, usize) -> &'s str,
        token: usize,
        scope: Scope,
        sink: &mut impl FeatureSink,
    ) {
        let phrases = self.phrase_places(length, &value);
        for template in &self.templates.templates {
            if template.scope != scope && template.scope != Scope::Both {
                continue;
            }
            let seed = template.seed();
            if let [piece] = template.pieces[..]
                && piece.function.is_plural()
            {
                let Some(place) =
                    token.checked_add_signed(piece.offset as isize).filter(|&place| place < length)
                else {
                    continue;
                };
                let mut reader = ValueReader::default();
                reader.load(value(place, piece.column));
                let (head, tail) = (&template.literals[0], &template.literals[1]);
                reader.ngrams(piece.function, |gram| {
                    sink.put(hash::combine(seed, piece_key(gram)), 1.0, &|| format!("{head}{gram}{tail}"));
                });
                if let (Function::Vector, Some(vectors)) = (piece.function, &self.resources.vectors)
                    && let Some(row) = vectors.row(reader.value(), reader.lower())
                {
                    for (dimension, &number) in vectors.values(row).iter().enumerate() {
                        let key = hash::combine(seed, dimension as u64 + 1);
                        sink.put(key, number, &|| format!("{head}{dimension}{tail}"));
                    }
                }
                continue;
            }
            let texts = template.pieces.iter().map(|piece| {
                let place = token as isize + piece.offset as isize;
                match usize::try_from(place).ok().filter(|&place| place < length) {
                    None if is_resource(piece.function) => None,
                    None if place < 0 => Some(boundary(place)),
                    None => Some(boundary(place - length as isize + 1)),
                    Some(place) => match piece.function {
                        Function::Gazetteer(number) => phrases[usize::from(number)][place].clone(),
                        function => {
                            let mut reader = ValueReader::default();
                            reader.load(value(place, piece.column));
                            reader
                                .single(function, &self.templates.patterns, &self.resources)
                                .map(str::to_owned)
                        }
                    },
                }
            });
            let Some(texts) = texts.collect::<Option<Vec<String>>>() else { continue };
            let key = texts.iter().fold(seed, |key, text| hash::combine(key, piece_key(text)));
            sink.put(key, 1.0, &|| {
                let filled = texts.iter().zip(&template.literals[1..]);
                filled.fold(template.literals[0].clone(), |name, (text, literal)| name + text + literal)
            });
        }
    }

    /// Finds names for a loaded sentence's node features.
    pub fn name_features<'s>(
        &self,
        workspace: &FeatureWorkspace,
        length: usize,
        value: impl Fn(usize, usize) -> &'s str,
        wanted: &mut WantedNames,
    ) {
        let mut features = FeatureBuffer::default();
        for token in 0..length {
            self.node_features(workspace, token, &mut features);
            // Texts are slow to make.
            if features.keys.iter().any(|&key| wanted.wants(key)) {
                self.describe(length, &value, token, Scope::Node, wanted);
            }
        }
    }

    fn phrase_places<'s>(
        &self,
        length: usize,
        value: impl Fn(usize, usize) -> &'s str,
    ) -> Vec<Vec<Option<String>>> {
        let mut lower = String::new();
        let written: Vec<u64> = (0..length).map(|token| piece_key(value(token, 0))).collect();
        let any_case: Vec<u64> =
            (0..length).map(|token| piece_key(lower_case(value(token, 0), &mut lower))).collect();
        let mut places = Vec::new();
        self.resources
            .gazetteers
            .iter()
            .map(|gazetteer| {
                let keys = if gazetteer.is_any_case() { &any_case } else { &written };
                gazetteer.places(keys, &mut places);
                places.iter().map(|&place| phrase_text(place, gazetteer.name())).collect()
            })
            .collect()
    }

    #[inline]
    fn origin(&self, token: usize) -> usize {
        (token + self.templates.before) * self.templates.atoms.len()
    }

    #[inline]
    fn ones(&self, first: usize, out: &mut FeatureBuffer) {
        if self.templates.real_valued {
            out.values.resize(out.values.len() + out.keys.len() - first, 1.0);
        }
    }

    fn plural_features(
        &self,
        workspace: &FeatureWorkspace,
        plural: &Plural,
        cell: u64,
        out: &mut FeatureBuffer,
    ) {
        if cell == ABSENT {
            return;
        }
        if self.templates.atoms[plural.atom].function != Function::Vector {
            let first = out.keys.len();
            out.keys.extend(
                workspace.lists[cell as usize - 1].iter().map(|&key| hash::combine(plural.seed, key)),
            );
            self.ones(first, out);
        } else if let Some(vectors) = &self.resources.vectors {
            for (dimension, &value) in vectors.values(cell as u32 - 1).iter().enumerate() {
                out.keys.push(hash::combine(plural.seed, dimension as u64 + 1));
                out.values.push(value);
            }
        }
    }

    /// Starts the memory of values afresh, with the places outside of the sentence.
    fn forget(&self, workspace: &mut FeatureWorkspace) {
        workspace.epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        workspace.lists.clear();
        let templates = &*self.templates;
        let outside = (1..=templates.before as isize).map(|distance| boundary(-distance));
        let outside: Vec<u64> = outside
            .chain((1..=templates.after as isize).map(boundary))
            .map(|text| piece_key(&text))
            .collect();
        for types in &mut workspace.types {
            types.numbers.clear();
            types.rows.clear();
            types.count = outside.len();
            for &key in &outside {
                types.rows.extend(templates.atoms.iter().map(|atom| {
                    if atom.function.is_plural() || is_resource(atom.function) { ABSENT } else { key }
                }));
            }
        }
    }

    fn type_of(&self, workspace: &mut FeatureWorkspace, column: usize, value: &str) -> u32 {
        if let Some(&number) = workspace.types[column].numbers.get(value) {
            return number;
        }
        let templates = &*self.templates;
        workspace.reader.load(value);
        let types = &mut workspace.types[column];
        let start = types.rows.len();
        types.rows.resize(start + templates.atoms.len(), ABSENT);
        for &atom in &templates.column_atoms[column] {
            let function = templates.atoms[atom].function;
            types.rows[start + atom] = match function {
                Function::NGrams(_) | Function::LowerNGrams(_) => {
                    let mut grams = Vec::new();
                    workspace.reader.ngrams(function, |gram| {
                        let key = piece_key(gram);
                        if !grams.contains(&key) {
                            grams.push(key);
                        }
                    });
                    workspace.lists.push(grams);
                    workspace.lists.len() as u64
                }
                Function::Vector => {
                    let row = self
                        .resources
                        .vectors
                        .as_ref()
                        .and_then(|vectors| vectors.row(value, workspace.reader.lower()));
                    row.map_or(ABSENT, |row| u64::from(row) + 1)
                }
                _ => workspace
                    .reader
                    .single(function, &templates.patterns, &self.resources)
                    .map_or(ABSENT, piece_key),
            };
        }
        let number = types.count as u32;
        types.count += 1;
        types.numbers.insert(value.into(), number);
        number
    }

    fn fill_matrix(&self, workspace: &mut FeatureWorkspace) {
        let templates = &*self.templates;
        let width = templates.atoms.len();
        let rows = templates.before + workspace.length + templates.after;
        workspace.matrix.clear();
        if let [types] = &workspace.types[..] {
            for &kind in &workspace.tokens[0] {
                workspace.matrix.extend_from_slice(&types.rows[kind as usize * width..][..width]);
            }
        } else {
            workspace.matrix.resize(rows * width, ABSENT);
            for (column, types) in workspace.types.iter().enumerate() {
                for (place, &kind) in workspace.tokens[column].iter().enumerate() {
                    for &atom in &templates.column_atoms[column] {
                        workspace.matrix[place * width + atom] = types.rows[kind as usize * width + atom];
                    }
                }
            }
        }
        self.place_phrases(workspace);
    }

    fn place_phrases(&self, workspace: &mut FeatureWorkspace) {
        let templates = &*self.templates;
        let width = templates.atoms.len();
        let FeatureWorkspace { phrase_keys, places, matrix, length, .. } = workspace;
        for (number, gazetteer) in self.resources.gazetteers.iter().enumerate() {
            let wanted = Function::Gazetteer(number as u16);
            let place_of = |wanted: Atom| templates.atoms.iter().position(|atom| *atom == wanted);
            let column = templates.atoms.iter().position(|atom| atom.function == wanted);
            let (Some(column), Some(base)) = (column, place_of(phrase_base(gazetteer))) else {
                continue;
            };
            phrase_keys.clear();
            phrase_keys.extend((0..*length).map(|token| matrix[(token + templates.before) * width + base]));
            gazetteer.places(phrase_keys, places);
            for (token, &place) in places.iter().enumerate() {
                let key = phrase_text(place, gazetteer.name()).map_or(ABSENT, |text| piece_key(&text));
                matrix[(token + templates.before) * width + column] = key;
            }
        }
    }
}

/// What only a resource can say has no value outside of the sentence.
fn is_resource(function: Function) -> bool {
    matches!(
        function,
        Function::Cluster(_) | Function::AnyCaseCluster(_) | Function::Gazetteer(_) | Function::Vector
    )
}

/// What stands before and after the sentence, in CRF++'s notation.
fn boundary(distance: isize) -> String {
    format!("_B{distance:+}")
}

fn phrase_text(place: Place, name: &str) -> Option<String> {
    (place != Place::Outside).then(|| format!("{}-{name}", place.letter()))
}
