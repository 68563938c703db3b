//! How a parser is trained and applied: flags, API and what the model stores.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Bound;
use std::str::FromStr;

use consonant_learn::settings::{Arity, InputFile, SettingValue};
use consonant_learn::trainer::{Method, Parameter, Training};
use consonant_map::oracle::arborescence::RootChildren;
use consonant_task::{Solver, Usage};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ParserError;
use crate::features::IgnoredColumns;
use crate::parts::PartKinds;
use crate::prune::PruningLimits;

consonant_task::names! {
    /// A kind of parts besides arcs; see [`PartKinds`].
    pub enum PartKind {
        /// Neighbouring modifiers.
        Siblings = "siblings",
        /// A head's head, the head, and a modifier.
        Grandparents = "grandparents",
        /// Siblings together with their head's head.
        GrandSiblings = "grand-siblings",
        /// Three neighbouring modifiers.
        TriSiblings = "tri-siblings",
        /// Any two modifiers on one side of a head.
        ArbitrarySiblings = "arbitrary-siblings",
        /// The heads of two neighbouring words.
        HeadBigrams = "head-bigrams",
        /// All of these.
        Full = "full",
    }
}

consonant_task::names! {
    /// A column that a parser need not look at.
    pub enum Column {
        /// Lemmas; forms in lower case stand in for them.
        Lemmas = "lemmas",
        /// Morphological features.
        Features = "features",
    }
}

consonant_task::settings! {
    /// How a parser is trained.
    pub struct ParserSettings {
        algorithm training: Training<Method> = Method::PassiveAggressive;
        /// 1: arcs; 2: siblings and grandparents; 3: grand-siblings, tri-siblings and head bigrams as well.
        order: usize = 3, "1|2|3" in 1.0..=3.0;
        /// Switches kinds of parts on or off: siblings, grandparents, grand-siblings, tri-siblings,
        /// arbitrary-siblings, head-bigrams, or full, all of them; with `-` before the name, off.
        kinds: Switches<PartKind> = Switches::default(), "[-]KIND,…" as "parts", research;
        /// Looks for trees without crossing arcs; first order only.
        projective: bool = false, "";
        /// Whether exactly one word depends on the root.
        single_root: bool = true, "on|off";
        /// Keeps at most so many candidate heads for a word.
        heads: usize = 10, "K" in 1.0..=65535.0;
        /// Drops candidate heads that are less probable than this share of the most probable one.
        share: f32 = 3e-5, "SHARE" as "head-share" in 0.0.., research;
        /// Passes over the data.
        epochs: usize = 10, "N" in 1.0..;
        /// Stops after so many epochs without better heads on dev (default: do all epochs).
        patience: Option<usize> = None, "N";
        /// Leaves out sentences whose heads are no tree instead of refusing them.
        skip_broken: bool = false, "";
        /// Columns not to look at, because the input will not have them: lemmas, features.
        ignored: Switches<Column> = Switches::default(), "COLUMN,…" as "ignore";
        /// Word clusters: `bits<TAB>word` or `word<TAB>cluster`, or what `train clusters` writes. They stand in for morphological
        /// features where a word has none.
        clusters: Option<InputFile> = None, "FILE";
        /// Weights of parts, as a power of two: one less halves most of the model (default: 32 to 64 for each training word, at most 2^23).
        bits: Option<u32> = None, "N" in 8.0..=30.0;
        /// Weights of labels, as a power of two (default: half as many as parts would have by default).
        label_bits: Option<u32> = None, "N" in 8.0..=30.0, research;
        /// Weights of the pruner, as a power of two (default: an eighth of what parts would have by default).
        pruner_bits: Option<u32> = None, "N" in 8.0..=30.0, research;
        /// Sentences that are decoded with the same weights; they can be decoded in parallel.
        batch: usize = 4, "N" in 1.0.., research;
        /// Trains on so many parts of the data side by side and mixes their weights after each epoch (see docs/scale.md).
        shards: usize = 1, "N" in 1.0..=4096.0;
        /// Seed of the random order of sentences.
        seed: u64 = 1, "N";
    }
}

consonant_task::settings! {
    /// How trees are found.
    pub struct ParserOptions {
        /// How trees are found: ad3, subgradient or exact (default: ad3; for projective models, dynamic
        /// programming).
        decoder: Option<Solver> = None, "NAME";
        /// Keeps at most so many candidate modifiers of a word, so that time grows with the length of sentences (default: all).
        modifiers: Option<usize> = None, "J" in 1.0.., research;
        /// The first step of subgradient, in units of the largest score.
        first_step: f64 = 1.0, "STEP" in (Bound::Excluded(0.0), Bound::Unbounded), research;
        /// Adds how sure the model is of each head, in MISC as `HeadConfidence=0.87`: of all heads with this number,
        /// so many are right. Known from the dev data of the training, or from `consonant calibrate`.
        confidence: bool = false, "";
    }
}

impl ParserSettings {
    /// The kinds of parts that are scored: those of the order, as they were switched on and off.
    pub fn part_kinds(&self) -> PartKinds {
        let mut kinds = PartKinds::of_order(self.order);
        for &(kind, is_on) in &self.kinds.0 {
            *match kind {
                PartKind::Full => {
                    kinds = if is_on { PartKinds::full() } else { PartKinds::default() };
                    continue;
                }
                PartKind::Siblings => &mut kinds.siblings,
                PartKind::Grandparents => &mut kinds.grandparents,
                PartKind::GrandSiblings => &mut kinds.grand_siblings,
                PartKind::TriSiblings => &mut kinds.tri_siblings,
                PartKind::ArbitrarySiblings => &mut kinds.arbitrary_siblings,
                PartKind::HeadBigrams => &mut kinds.head_bigrams,
            } = is_on;
        }
        kinds
    }

    pub(crate) fn ignored_columns(&self) -> IgnoredColumns {
        let mut ignored = IgnoredColumns::default();
        for &(column, is_on) in &self.ignored.0 {
            *match column {
                Column::Lemmas => &mut ignored.lemmas,
                Column::Features => &mut ignored.features,
            } = is_on;
        }
        ignored
    }

    pub(crate) fn root_children(&self) -> RootChildren {
        if self.single_root { RootChildren::One } else { RootChildren::Any }
    }

    pub(crate) fn pruning(&self) -> PruningLimits {
        PruningLimits { heads: self.heads, share: self.share, modifiers: None }
    }

    /// The algorithm with its parameters, of which some have defaults of their own here.
    pub(crate) fn method(&self) -> Result<Training<Method>, ParserError> {
        let training = self.training.clone();
        Ok(match training.algorithm() {
            Method::PassiveAggressive => {
                training.or(Parameter::COST_AUGMENTED, 1.0)?.or(Parameter::C, 0.01)?
            }
            _ => training,
        })
    }

    /// The sizes of the tables of parts, labels and the pruner, as powers of two: those that were given, and for so many words of
    /// training data where none was. Larger tables would mostly be empty, and every look into them slower.
    pub(crate) fn fit_tables(&mut self, words: usize) -> [u32; 3] {
        let parts = (words.max(1).next_power_of_two().ilog2() + 5).clamp(16, 23);
        let tables =
            [(&mut self.bits, parts), (&mut self.label_bits, parts - 1), (&mut self.pruner_bits, parts - 3)];
        tables.map(|(given, usual)| *given.get_or_insert(usual))
    }

    /// The settings of a training that goes on from a model: what decides which weights there are is the model's, and
    /// may not be given otherwise.
    pub(crate) fn going_on_from(&self, theirs: &Self) -> Result<Self, Usage> {
        let shown = |settings: &Self| serde_json::to_value(settings).unwrap_or_default();
        let (ours, given, usual) = (shown(self), shown(theirs), shown(&Self::default()));
        for name in ["order", "kinds", "projective", "single_root", "heads", "share", "ignored", "clusters"]
            .into_iter()
            .chain(["bits", "label_bits", "pruner_bits"])
        {
            if ours[name] != usual[name] && ours[name] != given[name] {
                let (ours, theirs) = (&ours[name], &given[name]);
                let text = format!("{name}: the model to go on from has {theirs}, which stays, not {ours}");
                return Err(Usage(text));
            }
        }
        Ok(Self {
            training: self.training.clone(),
            epochs: self.epochs,
            patience: self.patience,
            skip_broken: self.skip_broken,
            batch: self.batch,
            shards: self.shards,
            seed: self.seed,
            clusters: None,
            ..theirs.clone()
        })
    }

    /// Refuses what cannot be, whatever the data are.
    pub(crate) fn check_together(&self) -> Result<(), Usage> {
        if self.training.algorithm().needs_gradient() {
            let text = "a parser learns by decoding; choose one of the algorithms of `--algorithm list`";
            return Err(Usage(text.to_owned()));
        }
        if self.projective && !self.part_kinds().is_first_order() {
            return Err(Usage("--projective knows arcs only: add --order 1".to_owned()));
        }
        Ok(())
    }
}

/// Names that are switched on or, with `-` before them, off; commas stand between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switches<N>(pub Vec<(N, bool)>);

impl<N> Default for Switches<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// All of these are on.
impl<N, const COUNT: usize> From<[N; COUNT]> for Switches<N> {
    fn from(names: [N; COUNT]) -> Self {
        Self(names.into_iter().map(|name| (name, true)).collect())
    }
}

/// One name with or without `-` before it.
fn switch<N: FromStr<Err = Usage>>(text: &str) -> Result<(N, bool), String> {
    let name = text.strip_prefix('-').unwrap_or(text);
    name.parse().map(|known| (known, name == text)).map_err(|error: Usage| error.0)
}

fn written<N: Display>((name, is_on): &(N, bool)) -> String {
    format!("{}{name}", if *is_on { "" } else { "-" })
}

impl<N: FromStr<Err = Usage> + Display> SettingValue for Switches<N> {
    const ARITY: Arity = Arity::Many;

    fn read(given: &[&str]) -> Result<Self, String> {
        given.iter().flat_map(|text| text.split(',')).map(switch).collect::<Result<_, _>>().map(Self)
    }

    fn show(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.iter().map(written).collect::<Vec<_>>().join(","))
    }
}

impl<N: Display> Serialize for Switches<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(written))
    }
}

impl<'de, N: FromStr<Err = Usage>> Deserialize<'de> for Switches<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A list of names or, from older models, an object that says of each name whether it is on.
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a list of names")]
        enum Written {
            Names(Vec<String>),
            Older(BTreeMap<String, bool>),
        }
        let switches: Result<Vec<_>, String> = match Written::deserialize(deserializer)? {
            Written::Names(names) => names.iter().map(|name| switch(name)).collect(),
            Written::Older(names) => {
                let older = |(name, is_on): (String, bool)| Ok((switch(&name.replace('_', "-"))?.0, is_on));
                names.into_iter().map(older).collect()
            }
        };
        switches.map(Switches).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consonant_task::Settings;

    #[test]
    fn parts_are_switched_on_and_off() {
        let mut settings = ParserSettings::new().order(2usize);
        settings.set("kinds", &["arbitrary-siblings,-grandparents", "head-bigrams"]).unwrap();
        let expected = PartKinds {
            siblings: true,
            arbitrary_siblings: true,
            head_bigrams: true,
            ..PartKinds::default()
        };
        assert_eq!(settings.part_kinds(), expected);
        let mut full = ParserSettings::new().order(2usize);
        full.set("kinds", &["full,-tri-siblings"]).unwrap();
        assert_eq!(full.part_kinds(), PartKinds { tri_siblings: false, ..PartKinds::full() });
        let error = settings.set("kinds", &["uncles"]).unwrap_err().0;
        assert!(
            error.starts_with("--parts: expected siblings,") && error.ends_with("not `uncles`"),
            "{error}"
        );
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains(r#""kinds":["arbitrary-siblings","-grandparents","head-bigrams"]"#), "{json}");
        assert_eq!(serde_json::from_str::<ParserSettings>(&json).unwrap(), settings);
    }

    #[test]
    fn settings_of_older_models_are_read() {
        let json = r#"{"kinds": {"siblings": true, "grandparents": false, "grand_siblings": false, "tri_siblings": false,
            "arbitrary_siblings": true, "head_bigrams": false}, "heads": 4, "share": 0.5,
            "algorithm": "passive-aggressive", "parameters": [], "ignored": {"lemmas": true, "features": false}}"#;
        let settings: ParserSettings = serde_json::from_str(json).unwrap();
        let expected = PartKinds { siblings: true, arbitrary_siblings: true, ..PartKinds::default() };
        assert_eq!(settings.part_kinds(), expected);
        assert_eq!((settings.heads, settings.share), (4, 0.5));
        assert_eq!(settings.ignored_columns(), IgnoredColumns { lemmas: true, features: false });
    }

    #[test]
    fn what_cannot_be_together_is_refused() {
        let refused = |settings: ParserSettings| settings.check_together().unwrap_err().0;
        assert!(refused(ParserSettings::new().projective(true)).contains("--order 1"));
        assert!(refused(ParserSettings::new().training(Method::Lbfgs)).contains("--algorithm list"));
        assert!(ParserSettings::new().projective(true).order(1usize).check_together().is_ok());
    }

    #[test]
    fn tables_follow_the_words_unless_their_sizes_are_given() {
        let tables = |words| ParserSettings::new().fit_tables(words);
        // A table of parts has 32 to 64 weights a word, within limits.
        for bits in 11..=18 {
            assert_eq!(tables(1 << bits), [bits + 5, bits + 4, bits + 2]);
            assert_eq!(tables((1 << bits) - 1), tables(1 << bits));
        }
        assert_eq!((tables(0), tables(usize::MAX / 2)), ([16, 15, 13], [23, 22, 20]));
        let mut settings = ParserSettings::new().bits(12u32);
        assert_eq!(settings.fit_tables(17_000), [12, 19, 17]);
        assert_eq!((settings.bits, settings.label_bits), (Some(12), Some(19)));
    }
}
