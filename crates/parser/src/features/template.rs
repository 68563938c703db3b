//! Templates as data: which attribute of each member of a part a feature looks at.
//!
//! The number of a feature is the exclusive or of one random-looking number for each member of the part, and
//! one for how the part lies (tabulation hashing, Zobrist 1970). The numbers of a token in a role are made
//! once for each sentence; a feature then costs a few vector instructions, however many attributes it
//! combines.

use consonant_learn::hash::combine;
use consonant_learn::vectorized;

use super::Token;

consonant_task::names! {
    /// What a template looks at. Pairs of attributes count as one.
    pub enum Attribute {
        /// The member itself.
        Nothing = "",
        /// The form.
        Form = "form",
        /// The lemma.
        Lemma = "lemma",
        /// XPOS, or UPOS where there is none.
        Tag = "tag",
        /// UPOS, or XPOS where there is none.
        Coarse = "coarse",
        /// All morphological features as one.
        Morphology = "morphology",
        /// Form and tag.
        FormTag = "form+tag",
        /// Lemma and tag.
        LemmaTag = "lemma+tag",
        /// Morphological features and coarse tag.
        MorphologyCoarse = "morphology+coarse",
        /// Tag with the tag of the word before.
        TagBefore = "tag+before",
        /// Tag with the tag of the word after.
        TagAfter = "tag+after",
        /// Tag with the tags of both.
        TagAround = "tag+around",
        /// Coarse tag with that of the word before.
        CoarseBefore = "coarse+before",
        /// Coarse tag with that of the word after.
        CoarseAfter = "coarse+after",
        /// Coarse tag with those of both.
        CoarseAround = "coarse+around",
        /// Tag with the lemma of the word before.
        LemmaBefore = "tag+lemma before",
        /// Tag with the lemma of the word after.
        LemmaAfter = "tag+lemma after",
    }
}

impl Attribute {
    pub(crate) const COUNT: usize = Self::ALL.len();
}

/// An attribute for each member of the part.
pub(crate) type Template<const ROLES: usize> = [Attribute; ROLES];

/// Lists the templates of each kind of part, with strokes between the attributes of its members.
macro_rules! templates {
    ($($(#[$about:meta])* $kind:ident: $roles:literal = $($($attribute:ident)/+),+;)+) => {
        $($(#[$about])* pub(super) const $kind: &[Template<$roles>] = &[$([$(Attribute::$attribute),+]),+];)+
    };
}

templates! {
    /// Head and modifier of an arc, each alone and together. The last eight are joined with what stands
    /// between the two, and with single morphological features.
    ARC: 2 =
        Nothing/Nothing,
        Form/Nothing, Lemma/Nothing, Tag/Nothing, Coarse/Nothing, FormTag/Nothing, LemmaTag/Nothing,
        MorphologyCoarse/Nothing, TagBefore/Nothing, LemmaBefore/Nothing, CoarseBefore/Nothing,
        TagAfter/Nothing, LemmaAfter/Nothing, CoarseAfter/Nothing,
        Nothing/Form, Nothing/Lemma, Nothing/Tag, Nothing/Coarse, Nothing/FormTag, Nothing/LemmaTag,
        Nothing/MorphologyCoarse, Nothing/TagBefore, Nothing/LemmaBefore, Nothing/CoarseBefore,
        Nothing/TagAfter, Nothing/LemmaAfter, Nothing/CoarseAfter,
        Tag/Tag, Coarse/Coarse, Form/Form, FormTag/Tag, Tag/FormTag, Form/Tag, Tag/Form, Form/FormTag,
        FormTag/Form, FormTag/FormTag,
        Lemma/Lemma, LemmaTag/Tag, Tag/LemmaTag, Lemma/Tag, Tag/Lemma, LemmaTag/LemmaTag, Lemma/Coarse,
        Coarse/Lemma, MorphologyCoarse/MorphologyCoarse, MorphologyCoarse/Coarse, Coarse/MorphologyCoarse,
        Lemma/Morphology, Morphology/Lemma,
        Tag/TagBefore, Tag/TagAfter, TagBefore/Tag, TagAfter/Tag, TagAfter/TagBefore, TagBefore/TagBefore,
        TagAfter/TagAfter, TagBefore/TagAfter, TagAround/Tag, Tag/TagAround, TagAround/TagAround,
        Coarse/CoarseBefore, Coarse/CoarseAfter, CoarseBefore/Coarse, CoarseAfter/Coarse,
        CoarseAfter/CoarseBefore, CoarseBefore/CoarseBefore, CoarseAfter/CoarseAfter,
        CoarseBefore/CoarseAfter, CoarseAround/Coarse, Coarse/CoarseAround, CoarseAround/CoarseAround,
        Tag/Tag, Coarse/Coarse, Nothing/Nothing, Tag/Tag, Coarse/Coarse, Coarse/Coarse, Coarse/Coarse,
        Coarse/Coarse;

    /// The first pruning templates count with the direction of the arc, the others with direction and
    /// distance. The last three of each are joined with what stands between.
    PRUNING_BY_SIDE: 2 =
        Tag/Tag, Lemma/Tag, Tag/Lemma, Lemma/Lemma, MorphologyCoarse/MorphologyCoarse, Tag/TagBefore,
        Tag/TagAfter, TagBefore/Tag, TagAfter/Tag, TagAfter/TagBefore, TagBefore/TagAfter,
        TagBefore/TagBefore, TagAfter/TagAfter, TagAround/Tag, Tag/TagAround, Coarse/Coarse, Tag/Tag,
        Coarse/Coarse;

    /// See [`PRUNING_BY_SIDE`].
    PRUNING_BY_WAY: 2 =
        Nothing/Nothing, Nothing/Tag, Tag/Nothing, Nothing/Lemma, Lemma/Nothing, Tag/Tag,
        Coarse/MorphologyCoarse, Nothing/TagAround, TagAround/Nothing, Tag/TagBefore, Tag/TagAfter,
        TagBefore/Tag, TagAfter/Tag, Coarse/Coarse, Tag/Tag, Nothing/Nothing;

    /// Head and two neighbouring modifiers. The last three are joined with the gap between the two, and with
    /// what stands there.
    SIBLING: 3 =
        Tag/Tag/Tag, Coarse/Coarse/Coarse, Nothing/Tag/Tag, Tag/Nothing/Tag, Lemma/Tag/Tag, Tag/Lemma/Tag,
        Tag/Tag/Lemma, Form/Coarse/Coarse, Coarse/Form/Coarse, Coarse/Coarse/Form, Nothing/Lemma/Lemma,
        Nothing/Lemma/Tag, Nothing/Tag/Lemma, Lemma/Nothing/Lemma, Lemma/Nothing/Tag, Tag/Nothing/Lemma,
        Lemma/Lemma/Coarse, Lemma/Coarse/Lemma, Coarse/Lemma/Lemma, Morphology/Morphology/Coarse,
        Morphology/Coarse/Morphology, Coarse/Morphology/Morphology, Nothing/Tag/Tag, Tag/Tag/Tag,
        Tag/Tag/Tag;

    /// The head's head, the head, a modifier. The last two are joined with what stands between the outer two,
    /// and with their distance.
    GRANDPARENT: 3 =
        Tag/Tag/Tag, Coarse/Coarse/Coarse, Nothing/Tag/Tag, Tag/Nothing/Tag, Lemma/Tag/Tag, Tag/Lemma/Tag,
        Tag/Tag/Lemma, Form/Coarse/Coarse, Coarse/Form/Coarse, Coarse/Coarse/Form, Nothing/Lemma/Lemma,
        Nothing/Lemma/Tag, Nothing/Tag/Lemma, Lemma/Nothing/Lemma, Lemma/Nothing/Tag, Tag/Nothing/Lemma,
        Lemma/Lemma/Coarse, Lemma/Coarse/Lemma, Coarse/Lemma/Lemma, Morphology/Morphology/Coarse,
        Morphology/Coarse/Morphology, Coarse/Morphology/Morphology, Coarse/Lemma/Coarse, Tag/Nothing/Tag,
        Tag/Tag/Tag;

    /// The head's head, the head, two neighbouring modifiers.
    GRAND_SIBLING: 4 =
        Tag/Tag/Tag/Tag, Coarse/Coarse/Coarse/Coarse, Lemma/Coarse/Coarse/Coarse,
        Coarse/Lemma/Coarse/Coarse, Coarse/Coarse/Lemma/Coarse, Coarse/Coarse/Coarse/Lemma,
        Tag/Nothing/Tag/Tag, Lemma/Nothing/Tag/Tag;

    /// The head and three neighbouring modifiers.
    TRI_SIBLING: 4 =
        Tag/Tag/Tag/Tag, Coarse/Coarse/Coarse/Coarse, Lemma/Coarse/Coarse/Coarse,
        Coarse/Lemma/Coarse/Coarse, Coarse/Coarse/Lemma/Coarse, Coarse/Coarse/Coarse/Lemma,
        Nothing/Tag/Tag/Tag, Nothing/Coarse/Coarse/Coarse, Tag/Tag/Nothing/Tag;

    /// The head and any two modifiers.
    ARBITRARY_SIBLING: 3 =
        Tag/Tag/Tag, Coarse/Coarse/Coarse, Nothing/Tag/Tag, Nothing/Lemma/Lemma, Nothing/Lemma/Tag,
        Nothing/Tag/Lemma, Lemma/Tag/Tag;

    /// A word, the word before, the head of the word, the head of the word before.
    HEAD_BIGRAM: 4 =
        Nothing/Nothing/Nothing/Nothing, Tag/Tag/Nothing/Nothing, Nothing/Nothing/Tag/Tag,
        Tag/Tag/Tag/Nothing, Tag/Tag/Nothing/Tag, Tag/Tag/Tag/Tag, Coarse/Coarse/Coarse/Coarse,
        Lemma/Lemma/Nothing/Nothing, Lemma/Tag/Tag/Nothing, Tag/Lemma/Nothing/Tag;
}

/// The templates of one kind of part, and the numbers of a sentence's tokens in each of its roles: a row of one for each
/// template, whose length is known where rows are joined, so that they stay in registers.
#[derive(Debug, Clone)]
pub(super) struct Family<const ROLES: usize, const WIDTH: usize> {
    /// For each role, the templates that look at its token: which one, at what, and what tells its numbers apart.
    looks: [Vec<(usize, Attribute, u64)>; ROLES],
    roles: [Vec<[u32; WIDTH]>; ROLES],
    /// A row for each way in which a part can lie.
    ways: Vec<[u32; WIDTH]>,
}

/// A number that looks random.
#[inline]
pub(super) fn scatter(value: u64, salt: u64) -> u32 {
    combine(value, salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)) as u32
}

impl<const ROLES: usize, const WIDTH: usize> Family<ROLES, WIDTH> {
    /// The templates of a family, which `id` tells from others.
    pub(super) fn new(id: u64, templates: &'static [Template<ROLES>], ways: usize) -> Self {
        let salt = |role: usize, template: usize| (id << 16 | (role as u64) << 8 | template as u64) + 1;
        let looks = |role: usize| {
            let attributes = templates.iter().map(|template| template[role]).enumerate();
            let some = attributes.filter(|&(_, attribute)| attribute != Attribute::Nothing);
            some.map(|(template, attribute)| (template, attribute, salt(role, template))).collect()
        };
        let row = |way: u64| std::array::from_fn(|template| scatter(way + 1, salt(0xff, template)));
        Self {
            looks: std::array::from_fn(looks),
            roles: std::array::from_fn(|_| Vec::new()),
            ways: (0..ways as u64).map(row).collect(),
        }
    }

    /// Makes the numbers of a sentence's tokens, if such parts are wanted.
    pub(super) fn load(&mut self, is_wanted: bool, tokens: &[Token]) {
        for (rows, looks) in self.roles.iter_mut().zip(&self.looks).filter(|_| is_wanted) {
            rows.clear();
            rows.resize(tokens.len(), [0; WIDTH]);
            for (row, token) in rows.iter_mut().zip(tokens) {
                for &(template, attribute, salt) in looks {
                    row[template] = scatter(token.values[attribute as usize], salt);
                }
            }
        }
    }

    /// Appends the features of a part that lies one way.
    #[inline]
    pub(super) fn write(&self, tokens: [usize; ROLES], way: usize, out: &mut Vec<u32>) {
        append(self.rows(tokens), &self.ways[way], out);
    }

    /// The features of a part without the way in which it lies.
    #[inline]
    pub(super) fn base(&self, tokens: [usize; ROLES]) -> [u32; WIDTH] {
        join(self.rows(tokens), &[0; WIDTH])
    }

    #[inline]
    fn rows(&self, tokens: [usize; ROLES]) -> [&[u32; WIDTH]; ROLES] {
        std::array::from_fn(|role| &self.roles[role][tokens[role]])
    }

    /// The numbers of a way.
    #[inline]
    pub(super) fn way(&self, way: usize) -> &[u32; WIDTH] {
        &self.ways[way]
    }
}

/// The exclusive or of a row with others.
#[inline(always)]
fn join<const ROLES: usize, const WIDTH: usize>(
    rows: [&[u32; WIDTH]; ROLES],
    row: &[u32; WIDTH],
) -> [u32; WIDTH] {
    let mut joined = *row;
    for row in rows {
        joined.iter_mut().zip(row).for_each(|(number, own)| *number ^= own);
    }
    joined
}

vectorized! {
    /// Appends the exclusive or of a row with others.
    fn append[const ROLES: usize, const WIDTH: usize](rows: [&[u32; WIDTH]; ROLES], row: &[u32; WIDTH], out: &mut Vec<u32>) {
        out.extend_from_slice(&join(rows, row));
    }
}
